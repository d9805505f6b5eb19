//! The fields of the input.

use leptos::prelude::*;
use volary_tokens::Builtin;

use super::examples::EXAMPLES;
use super::input::FieldErrors;
use super::page::{Lab, OWN};
use crate::browser::files::pick;
use crate::components::erased::{dynamic, flag, maybe_words, shown, words};
use crate::components::markup::{El, button, el, nothing};
use crate::playground::controls::{choice, field, help, option, typed};

/// All fields.
pub(super) fn controls(lab: Lab) -> El {
    el("section")
        .class("lab-input")
        .attr("aria-label", "Input")
        .child(examples(lab))
        .child(template(lab))
        .child(tokenizer(lab))
        .child(file_error(lab))
        .child(json_field(
            lab,
            "lab-messages",
            "Messages (JSON)",
            lab.messages,
            |errors| errors.messages.clone(),
        ))
        .child(json_field(
            lab,
            "lab-tools",
            "Tools (JSON, may be blank)",
            lab.tools,
            |errors| errors.tools.clone(),
        ))
        .child(prompt(lab))
        .child(error(lab, "lab-whole-error", |errors| errors.whole.clone()))
}

fn examples(lab: Lab) -> El {
    let names = EXAMPLES.iter().enumerate();
    let options = names.map(|(place, example)| option(place.to_string(), example.name));
    let control = choice(words(move || lab.example.get().to_string()), move |place| {
        if let Ok(place) = place.parse() {
            lab.show_example(place);
        }
    })
    .child(options.collect::<Vec<_>>())
    .attr("aria-describedby", "lab-lesson");
    field("lab-example", "Worked example", control).child(
        el("p")
            .class("help")
            .attr("id", "lab-lesson")
            .child(words(move || {
                let example = EXAMPLES.get(lab.example.get());
                example.map_or("", |example| example.lesson).to_owned()
            })),
    )
}

fn template(lab: Lab) -> El {
    let names = [
        (Builtin::Qwen25, "Qwen2.5"),
        (Builtin::Qwen3, "Qwen3 (hybrid thinking)"),
        (Builtin::Qwen3Instruct2507, "Qwen3-2507"),
    ];
    let builtin = names.map(|(builtin, name)| option(builtin.name(), name));
    let control = choice(words(move || lab.template.get()), move |name| {
        // Own text begins as a copy of the template that was shown.
        let shown = Builtin::from_name(&lab.template.get_untracked());
        if let Some(shown) = shown.filter(|_| name == OWN)
            && lab.source.with_untracked(String::is_empty)
        {
            lab.source.set(shown.source().to_owned());
        }
        lab.template.set(name);
    })
    .child(Vec::from(builtin))
    .child(option(OWN, "Own text"));
    let open = button("small")
        .on_click(move || pick("", move |files| lab.take(files)))
        .child("Open a template file");
    let is_own = move || lab.template.with(|name| name == OWN);
    let source = shown(is_own, move || {
        let control = typed(el("textarea").class("mono").attr("rows", "10"), lab.source);
        let control = faulty(lab, control, "lab-source-error", |errors| {
            errors.template.clone()
        });
        field("lab-source", "Template (Jinja)", control).view()
    });
    el("div")
        .class("lab-group")
        .child(field("lab-template", "Template", control))
        .child(source)
        .child(error(lab, "lab-source-error", |errors| {
            errors.template.clone()
        }))
        .child(el("div").class("button-row").child(open))
}

fn tokenizer(lab: Lab) -> El {
    let name = words(move || match lab.tokenizer_file.get() {
        None => "Toy: each byte is a token, <|im_start|> and <|im_end|> are one each.".to_owned(),
        Some(file) => format!("From {file}."),
    });
    let open = button("small")
        .on_click(move || pick("", move |files| lab.take(files)))
        .child("Open a tokenizer file");
    let toy = button("quiet small")
        .attr("disabled", flag(move || lab.tokenizer_file.get().is_none()))
        .on_click(move || lab.use_toy())
        .child("Use the toy");
    el("div")
        .class("lab-group")
        .attr("role", "group")
        .attr("aria-label", "Tokenizer")
        .child(el("span").class("label").child("Tokenizer"))
        .child(el("p").attr("role", "status").child(name))
        .child(help(
            "tokenizer.json or a tiktoken file. Files can be dropped on the page.",
        ))
        .child(el("div").class("button-row").child(open).child(toy))
}

fn file_error(lab: Lab) -> AnyView {
    dynamic(move || match lab.file_error.get() {
        Some(reason) => el("p")
            .class("error")
            .attr("role", "alert")
            .child(reason)
            .view(),
        None => nothing(),
    })
}

fn json_field(
    lab: Lab,
    id: &'static str,
    label: &'static str,
    text: RwSignal<String>,
    of: fn(&FieldErrors) -> Option<String>,
) -> El {
    let error_id = match id {
        "lab-messages" => "lab-messages-error",
        _ => "lab-tools-error",
    };
    let control = typed(el("textarea").class("mono").attr("rows", "6"), text);
    let control = faulty(lab, control.attr("spellcheck", "false"), error_id, of);
    field(id, label, control).child(error(lab, error_id, of))
}

fn prompt(lab: Lab) -> El {
    el("label")
        .class("lab-check")
        .child(
            el("input")
                .attr("type", "checkbox")
                .flag_property("checked", lab.add_generation_prompt.into())
                .on("change", move |event: leptos::ev::Event| {
                    lab.add_generation_prompt.set(event_target_checked(&event));
                }),
        )
        .child(" Add the generation prompt to the rendered text")
}

/// Ties a control to the error that is shown below it.
fn faulty(
    lab: Lab,
    control: El,
    error_id: &'static str,
    of: fn(&FieldErrors) -> Option<String>,
) -> El {
    let has = move || error_of(lab, of).is_some();
    control
        .attr(
            "aria-invalid",
            maybe_words(move || has().then(|| "true".to_owned())),
        )
        .attr(
            "aria-describedby",
            maybe_words(move || has().then(|| error_id.to_owned())),
        )
}

fn error(lab: Lab, id: &'static str, of: fn(&FieldErrors) -> Option<String>) -> AnyView {
    dynamic(move || match error_of(lab, of) {
        Some(reason) => el("p")
            .class("error")
            .attr("id", id)
            .attr("role", "alert")
            .child(reason)
            .view(),
        None => nothing(),
    })
}

fn error_of(lab: Lab, of: fn(&FieldErrors) -> Option<String>) -> Option<String> {
    lab.report.with(|report| match report {
        Some(Err(errors)) => of(errors),
        _ => None,
    })
}
