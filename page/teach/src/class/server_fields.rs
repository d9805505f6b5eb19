//! The form fields of a class server: its address and the teacher's key.

use leptos::prelude::*;

use volary_ui::field::Field;

/// The address of a class server and the teacher's key. `help` says how the key is used.
#[component]
pub fn ServerFields(
    #[prop(into)] url: Signal<String>,
    set_url: Callback<String>,
    #[prop(into)] key: Signal<String>,
    set_key: Callback<String>,
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
                on:input=move |event| set_url.run(event_target_value(&event))
            />
        </Field>
        <Field id="class-key" label="Class key">
            <input
                type="password"
                id="class-key"
                autocomplete="off"
                aria-describedby="class-key-help"
                prop:value=move || key.get()
                on:input=move |event| set_key.run(event_target_value(&event))
            />
            <p class="help" id="class-key-help">
                {move || help.get()}
            </p>
        </Field>
    }
}
