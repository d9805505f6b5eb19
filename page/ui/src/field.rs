//! A form control below its label.

use leptos::prelude::*;

/// A form control below its label.
#[component]
pub fn Field(
    /// The id of the control.
    id: &'static str,
    label: &'static str,
    /// Whether an explanation of terms follows the label.
    #[prop(optional)]
    explained: bool,
    /// The control and its related content.
    children: Children,
) -> impl IntoView {
    let class = if explained {
        "field explained"
    } else {
        "field"
    };
    view! {
        <div class=class>
            <label for=id>{label}</label>
            {children()}
        </div>
    }
}
