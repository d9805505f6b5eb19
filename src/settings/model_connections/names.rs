//! The field **Model**: free text, with suggestions once the provider listed its models.

use leptos::prelude::*;
use volary_core::json::Text;

use super::super::section::{small, trouble};
use super::Editor;
use super::form::text_input;
use crate::browser;
use crate::components::erased::{dynamic, flag, words};
use crate::components::markup::{El, all, el, nothing};
use crate::models::{diagnose, list};
use crate::playground::controls::{choice, field, option};
use crate::projection::notice::Notice;
use crate::projection::text::count_text;

/// The list of models.
#[derive(Clone, Debug, Default, PartialEq)]
enum Listed {
    /// Not requested.
    #[default]
    NotYet,
    /// Requested.
    Asking,
    /// Received.
    Names(list::Names),
    /// Failed.
    Failed(Notice),
}

#[derive(Clone, Copy)]
pub(super) struct Names {
    listed: RwSignal<Listed>,
    /// Counts requests, so that late responses to old ones are dropped.
    asked: StoredValue<u32>,
}

impl Names {
    pub(super) fn new() -> Self {
        Names {
            listed: RwSignal::default(),
            asked: StoredValue::new(0),
        }
    }

    /// The list belongs to another connection.
    pub(super) fn forget(self) {
        self.asked.update_value(|asked| *asked += 1);
        if self
            .listed
            .with_untracked(|listed| *listed != Listed::NotYet)
        {
            self.listed.set(Listed::NotYet);
        }
    }

    /// Requests the list.
    pub(super) fn ask(self, editor: Editor) {
        self.forget();
        self.listed.set(Listed::Asking);
        let asked = self.asked.get_value();
        let saved = editor.shown_untracked();
        browser::spawn(async move {
            let listed = match list::list(&saved).await {
                Ok(names) if names.shown.is_empty() => Listed::Failed(Notice::new(
                    "The list of models is empty.",
                    "The server responded but listed no models.",
                    "Install or load a model on the server, or type a name.",
                )),
                Ok(names) => Listed::Names(names),
                Err(unanswered) => {
                    let found = diagnose(&saved, untrack(|| saved.has_key()), &unanswered).await;
                    Listed::Failed(Notice::new(found.what, found.why, found.remedy))
                }
            };
            if self.asked.try_get_value() == Some(asked) {
                self.listed.set(listed);
            }
        });
    }

    /// The field.
    pub(super) fn field(self, editor: Editor) -> El {
        let take = move |model: String| {
            editor.edit(|saved| saved.connection.model = model.trim().into());
        };
        let input = text_input(editor, |saved| saved.connection.model.to_string(), take)
            .attr("list", "connection-names")
            .attr("id", "connection-model");
        let known = dynamic(move || {
            let names = match self.listed.get() {
                Listed::Names(names) => names.shown,
                _ => examples(editor),
            };
            let options = names.iter().map(|name| option(name.to_string(), "").view());
            all(options.collect())
        });
        let asking = flag(move || self.listed.with(|listed| *listed == Listed::Asking));
        let ask = small("", move || self.ask(editor))
            .attr("disabled", asking)
            .child(words(move || match asking.get() {
                true => "Loading…".to_owned(),
                false => "List models".to_owned(),
            }));
        field("connection-model", "Model", input)
            .child(el("datalist").attr("id", "connection-names").child(known))
            .child(
                el("div")
                    .class("button-row")
                    .child(ask)
                    .child(self.pick(editor)),
            )
            .child(self.failure())
    }

    /// A select of all listed models: the suggestions show only those that start with the current text.
    fn pick(self, editor: Editor) -> AnyView {
        dynamic(move || {
            let Listed::Names(names) = self.listed.get() else {
                return nothing();
            };
            let first = match names.more {
                0 => format!("Choose one of {}", count_text(names.shown.len())),
                more => format!(
                    "Choose one of the first {}, or type one of the {} others",
                    count_text(names.shown.len()),
                    count_text(more)
                ),
            };
            let first = option("", first);
            let options = names
                .shown
                .into_iter()
                .map(|name| option(name.to_string(), name.to_string()).view());
            let value = words(move || {
                let model = editor.shown().connection.model;
                model.to_string()
            });
            let pick = move |model: String| {
                if !model.is_empty() {
                    editor.edit(|saved| saved.connection.model = model.as_str().into());
                }
            };
            choice(value, pick)
                .class("pick")
                .attr("aria-label", "Listed models")
                .child(first)
                .child(options.collect::<Vec<_>>())
                .view()
        })
    }

    fn failure(self) -> AnyView {
        dynamic(move || match self.listed.get() {
            Listed::Failed(notice) => trouble(&notice).view(),
            _ => nothing(),
        })
    }
}

fn examples(editor: Editor) -> Vec<Text> {
    let preset = editor.shown().preset;
    let models = preset.map_or(&[][..], |preset| preset.models);
    models.iter().map(|model| (*model).into()).collect()
}
