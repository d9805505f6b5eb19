//! A form control below its label.

use leptos::prelude::*;

/// A form control below its label.
#[component]
pub fn Field(
    /// The id of the control.
    id: &'static str,
    label: &'static str,
    /// The control and its related content.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {children()}
        </div>
    }
}
