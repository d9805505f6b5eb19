//! Fields of connections whose prompts are rendered in this page: chat template, tokenizer and loss mask.

use leptos::prelude::*;
use volary_agent::model::ProviderKind;
use volary_agent::model::sglang::setup::GenerateSetup;
use volary_tokens::{Builtin, MaskMode};

use super::Editor;
use volary_connections::tokenizer;
use volary_ui::field::Field;

/// The option value for a custom template.
const OWN: &str = "own";
/// The option values of the tokenizer.
const STORED: &str = "stored";
const TOY: &str = "toy";

/// The fields; empty for other wire formats.
#[component]
pub(super) fn GenerateFields(editor: Editor) -> impl IntoView {
    let is_shown = Memo::new(move |_| editor.shown().connection.kind == ProviderKind::Sglang);
    view! {
        <Show when=move || is_shown.get()>
            <Template editor/>
            <Tokenizer editor/>
            <Mask editor/>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || generate(editor).send_tokens
                    on:change=move |event| {
                        let checked = event_target_checked(&event);
                        edit(editor, |generate| generate.send_tokens = checked);
                    }
                />
                {" Send prompts as tokens (input_ids)"}
            </label>
        </Show>
    }
}

fn generate(editor: Editor) -> GenerateSetup {
    editor.shown().connection.generate
}

fn edit(editor: Editor, change: impl FnOnce(&mut GenerateSetup)) {
    editor.edit(|saved| change(&mut saved.connection.generate));
}

#[component]
fn Template(editor: Editor) -> impl IntoView {
    let names = [
        (Builtin::Qwen25.name(), "Qwen2.5"),
        (Builtin::Qwen3.name(), "Qwen3 (hybrid thinking)"),
        (Builtin::Qwen3Instruct2507.name(), "Qwen3-2507"),
        (OWN, "Own text"),
    ];
    let options = names.map(|(value, name)| view! { <option value=value>{name}</option> });
    let options = options.into_iter().collect_view();
    let is_own = Memo::new(move |_| Builtin::from_name(&generate(editor).template).is_none());
    let chosen = move || {
        if is_own.get() {
            OWN.to_owned()
        } else {
            generate(editor).template.to_string()
        }
    };
    let choose = move |event| {
        let name = event_target_value(&event);
        edit(editor, |generate| {
            // A custom template starts as a copy of the previously selected one.
            generate.template = match Builtin::from_name(&generate.template) {
                Some(former) if name == OWN => former.source().into(),
                _ => name.as_str().into(),
            };
        });
    };
    let typed = move |event| {
        let text = event_target_value(&event);
        edit(editor, |generate| generate.template = text.as_str().into());
    };
    view! {
        <Field id="connection-template" label="Chat template">
            <select id="connection-template" prop:value=chosen on:change=choose>
                {options}
            </select>
            <p class="help">
                {"It must be the model's. Compare templates in the "}
                <a href="#/template">{"template lab"}</a>
                {"."}
            </p>
        </Field>
        <Show when=move || is_own.get()>
            <Field id="connection-template-text" label="Template (Jinja)">
                <textarea
                    id="connection-template-text"
                    class="mono"
                    rows="8"
                    spellcheck="false"
                    prop:value=move || generate(editor).template.to_string()
                    on:change=typed
                ></textarea>
            </Field>
        </Show>
    }
}

#[component]
fn Tokenizer(editor: Editor) -> impl IntoView {
    let stored = tokenizer::stored_name();
    let known = match &stored {
        Some(name) => format!("Stored file: {name}"),
        None => "Stored file (none yet: the toy is used)".to_owned(),
    };
    let chosen = move || {
        if generate(editor).stored_tokenizer {
            STORED
        } else {
            TOY
        }
    };
    let choose = move |event| {
        let is_stored = event_target_value(&event) == STORED;
        edit(editor, |generate| generate.stored_tokenizer = is_stored);
    };
    view! {
        <Field id="connection-tokenizer" label="Tokenizer">
            <select
                id="connection-tokenizer"
                aria-describedby="connection-tokenizer-help"
                prop:value=chosen
                on:change=choose
            >
                <option value=STORED>{known}</option>
                <option value=TOY>{"Toy: each byte is a token"}</option>
            </select>
            <p class="help" id="connection-tokenizer-help">
                {"Store the model's tokenizer.json in the "}
                <a href="#/template">{"template lab"}</a>
                {". With the toy, tokens are made from the text, not taken from the server."}
            </p>
        </Field>
    }
}

#[component]
fn Mask(editor: Editor) -> impl IntoView {
    let options = MaskMode::ALL.map(|mode| {
        let name = mode.name();
        view! { <option value=name>{name}</option> }
    });
    let options = options.into_iter().collect_view();
    let choose = move |event| {
        let name = event_target_value(&event);
        edit(editor, |generate| generate.mask = name.as_str().into());
    };
    view! {
        <Field id="connection-mask" label="Loss mask">
            <select
                id="connection-mask"
                prop:value=move || generate(editor).mask.to_string()
                on:change=choose
            >
                {options}
            </select>
        </Field>
    }
}
