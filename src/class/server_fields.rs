//! The form fields of a class server: its address and the teacher's key.

use leptos::prelude::*;

use crate::components::field::Field;

/// The address of a class server and the teacher's key. `help` says how the key is used.
#[component]
pub fn ServerFields(
    url: RwSignal<String>,
    key: RwSignal<String>,
    help: Signal<&'static str>,
) -> impl IntoView {
    view! {
        <Field id="class-url" label="Address of the class server">
            <input
                type="url"
                id="class-url"
                autocomplete="off"
                placeholder="http://192.168.1.20:8041"
                prop:value=move || url.get()
                on:input=move |event| url.set(event_target_value(&event))
            />
        </Field>
        <Field id="class-key" label="Class key">
            <input
                type="password"
                id="class-key"
                autocomplete="off"
                aria-describedby="class-key-help"
                prop:value=move || key.get()
                on:input=move |event| key.set(event_target_value(&event))
            />
            <p class="help" id="class-key-help">
                {move || help.get()}
            </p>
        </Field>
    }
}
