//! The input fields of the lab.

use leptos::prelude::*;
use volary_tokens::Builtin;

use super::address::AddressField;
use super::examples::EXAMPLES;
use super::input::FieldErrors;
use super::page::{Lab, OWN};
use volary_browser::files::pick;
use volary_browser::spawn;
use volary_connections::tokenizer;
use volary_ui::CopyButton;
use volary_ui::field::Field;

/// Reads the error of a field.
type ErrorOf = fn(&FieldErrors) -> Option<String>;

/// All input fields.
#[component]
pub(super) fn Controls(lab: Lab) -> impl IntoView {
    let file_error = move || {
        let reason = lab.file_error.get()?;
        Some(view! {
            <p class="error" role="alert">
                {reason}
            </p>
        })
    };
    view! {
        <section class="lab-input" aria-label="Input">
            <Examples lab/>
            <Template lab/>
            <TokenizerChoice lab/>
            <AddressField lab/>
            {file_error}
            <TextField
                lab
                id="lab-messages"
                label="Messages (JSON)"
                error_id="lab-messages-error"
                text=lab.messages
                of=|errors| errors.messages.clone()
            />
            <TextField
                lab
                id="lab-tools"
                label="Tools (JSON, may be blank)"
                error_id="lab-tools-error"
                text=lab.tools
                of=|errors| errors.tools.clone()
            />
            <label class="lab-check">
                <input
                    type="checkbox"
                    prop:checked=lab.add_generation_prompt
                    on:change=move |event| {
                        lab.add_generation_prompt.set(event_target_checked(&event));
                    }
                />
                {" Add the generation prompt to the rendered text"}
            </label>
            <LinkButton lab/>
            <FieldError lab id="lab-whole-error" of=|errors| errors.whole.clone()/>
        </section>
    }
}

/// The button that copies a link to the input, unless the link is too long.
#[component]
fn LinkButton(lab: Lab) -> impl IntoView {
    // An old link is never copied: an input without a link copies nothing and shows the reason.
    let link = move || match lab.link() {
        Ok(link) => {
            lab.file_error.set(None);
            link
        }
        Err(reason) => {
            lab.file_error.set(Some(reason));
            String::new()
        }
    };
    view! {
        <div class="button-row">
            <CopyButton text=link label="Copy link"/>
        </div>
    }
}

#[component]
fn Examples(lab: Lab) -> impl IntoView {
    let names = EXAMPLES.iter().enumerate();
    let options = names
        .map(|(place, example)| view! { <option value=place.to_string()>{example.name}</option> });
    let options = options.collect_view();
    let choose = move |event| {
        if let Ok(place) = event_target_value(&event).parse() {
            lab.show_example(place);
        }
    };
    let lesson = move || {
        let example = EXAMPLES.get(lab.example.get());
        example.map_or("", |example| example.lesson)
    };
    view! {
        <Field id="lab-example" label="Worked example">
            <select
                id="lab-example"
                aria-describedby="lab-lesson"
                prop:value=move || lab.example.get().to_string()
                on:change=choose
            >
                {options}
            </select>
            <p class="help" id="lab-lesson">
                {lesson}
            </p>
        </Field>
    }
}

#[component]
fn Template(lab: Lab) -> impl IntoView {
    let names = [
        (Builtin::Qwen25.name(), "Qwen2.5"),
        (Builtin::Qwen3.name(), "Qwen3 (hybrid thinking)"),
        (Builtin::Qwen3Instruct2507.name(), "Qwen3-2507"),
        (OWN, "Own text"),
    ];
    let options = names.map(|(value, name)| view! { <option value=value>{name}</option> });
    let options = options.into_iter().collect_view();
    let choose = move |event| {
        let name = event_target_value(&event);
        // The user's own template starts as a copy of the one that was shown.
        let shown = Builtin::from_name(&lab.template.get_untracked());
        if let Some(shown) = shown.filter(|_| name == OWN)
            && lab.source.with_untracked(String::is_empty)
        {
            lab.source.set(shown.source().to_owned());
        }
        lab.template.set(name);
    };
    let of: ErrorOf = |errors| errors.template.clone();
    view! {
        <div class="lab-group">
            <Field id="lab-template" label="Template">
                <select
                    id="lab-template"
                    prop:value=move || lab.template.get()
                    on:change=choose
                >
                    {options}
                </select>
            </Field>
            <Show when=move || lab.template.with(|name| name == OWN)>
                <Field id="lab-source" label="Template (Jinja)">
                    <TextInput
                        lab
                        id="lab-source"
                        rows="10"
                        error_id="lab-source-error"
                        text=lab.source
                        of
                    />
                </Field>
            </Show>
            <FieldError lab id="lab-source-error" of/>
            <div class="button-row">
                <button
                    type="button"
                    class="small"
                    on:click=move |_| pick("", move |files| lab.take(files))
                >
                    {"Open a template file"}
                </button>
            </div>
        </div>
    }
}

#[component]
fn TokenizerChoice(lab: Lab) -> impl IntoView {
    let name = move || match tokenizer::given() {
        None => "Toy: each byte is a token, <|im_start|> and <|im_end|> are one each.".to_owned(),
        Some(given) => format!("From {}.", given.name),
    };
    view! {
        <div class="lab-group" role="group" aria-label="Tokenizer">
            <span class="label">{"Tokenizer"}</span>
            <p role="status">{name}</p>
            <p class="help">
                {"tokenizer.json or a tiktoken file. Files can be dropped on the page. The file stays in \
                  your browser until you use the toy."}
            </p>
            <div class="button-row">
                <button
                    type="button"
                    class="small"
                    on:click=move |_| pick("", move |files| lab.take(files))
                >
                    {"Open a tokenizer file"}
                </button>
                <button
                    type="button"
                    class="quiet small"
                    disabled=move || tokenizer::given().is_none()
                    on:click=move |_| spawn(tokenizer::forget())
                >
                    {"Use the toy"}
                </button>
            </div>
        </div>
    }
}

/// A field for JSON, with its error.
#[component]
fn TextField(
    lab: Lab,
    id: &'static str,
    label: &'static str,
    error_id: &'static str,
    text: RwSignal<String>,
    of: ErrorOf,
) -> impl IntoView {
    view! {
        <Field id label>
            <TextInput lab id rows="6" error_id text of attr:spellcheck="false"/>
            <FieldError lab id=error_id of/>
        </Field>
    }
}

/// A text area that refers to its error message.
#[component]
fn TextInput(
    lab: Lab,
    id: &'static str,
    rows: &'static str,
    error_id: &'static str,
    text: RwSignal<String>,
    of: ErrorOf,
) -> impl IntoView {
    let has_error = move || error_of(lab, of).is_some();
    view! {
        <textarea
            class="mono"
            rows=rows
            id=id
            aria-invalid=move || has_error().then_some("true")
            aria-describedby=move || has_error().then_some(error_id)
            bind:value=text
        ></textarea>
    }
}

#[component]
fn FieldError(lab: Lab, id: &'static str, of: ErrorOf) -> impl IntoView {
    move || {
        let reason = error_of(lab, of)?;
        Some(view! {
            <p class="error" id=id role="alert">
                {reason}
            </p>
        })
    }
}

fn error_of(lab: Lab, of: ErrorOf) -> Option<String> {
    lab.report.with(|report| match report {
        Some(Err(errors)) => of(errors),
        _ => None,
    })
}
