//! The fields of a connection to the browser's built-in model: what is missing, and its download.

use futures_util::future::{AbortHandle, Abortable};
use leptos::prelude::*;
use volary_agent::model::prompt_api::Availability;
use volary_app::built_in_model::{BuiltInModel, Effect, Event};

use super::Editor;
use volary_browser::{self as browser, language_model};

#[component]
pub(super) fn BuiltInFields(editor: Editor) -> impl IntoView {
    let model = RwSignal::new(BuiltInModel::default());
    let download = Download {
        model,
        abort: StoredValue::new(None),
    };
    download.dispatch(Event::CheckPressed);
    let what = move || model.with(BuiltInModel::what);
    let remedy = move || model.with(BuiltInModel::remedy);
    let press = move |event: Event| {
        // An earlier test no longer tells whether it works.
        editor.test.forget(editor);
        download.dispatch(event);
    };
    let can_download = Memo::new(move |_| model.with(BuiltInModel::can_download));
    let is_downloading =
        Memo::new(move |_| model.with(|it| matches!(it, BuiltInModel::Downloading { .. })));
    let can_change = Memo::new(move |_| {
        model.with(|it| matches!(it, BuiltInModel::Known(it) if *it != Availability::Available))
    });
    let done = move || match model.get() {
        BuiltInModel::Downloading { done } => done.map(|done| done.to_string()),
        _ => None,
    };
    view! {
        <div class="built-in" role="group" aria-label="Built-in model">
            <div role="status" aria-label="Built-in model">
                <p>
                    <strong>{what}</strong>
                </p>
                <p class="help">{remedy}</p>
            </div>
            <Show when=move || is_downloading.get()>
                <progress max="1" aria-label="Downloading the model" value=done></progress>
            </Show>
            <div class="button-row">
                <Show when=move || can_download.get()>
                    <button type="button" on:click=move |_| press(Event::DownloadPressed)>
                        {"Download"}
                    </button>
                </Show>
                <Show when=move || is_downloading.get()>
                    <button type="button" on:click=move |_| press(Event::CancelPressed)>
                        {"Cancel download"}
                    </button>
                </Show>
                <Show when=move || can_change.get()>
                    <button
                        type="button"
                        class="quiet small"
                        on:click=move |_| press(Event::CheckPressed)
                    >
                        {"Check again"}
                    </button>
                </Show>
            </div>
        </div>
    }
}

/// Carries out effects.
#[derive(Clone, Copy)]
struct Download {
    model: RwSignal<BuiltInModel>,
    abort: StoredValue<Option<AbortHandle>>,
}

impl Download {
    fn dispatch(self, event: Event) {
        let effects = self.model.try_update(|model| model.update(event));
        for effect in effects.into_iter().flatten() {
            match effect {
                Effect::Check => browser::spawn(async move {
                    self.dispatch(Event::Checked(language_model::availability().await));
                }),
                Effect::Download => self.start(),
                Effect::Cancel => self.cancel(),
            }
        }
    }

    /// Starts the download while the click is being handled, as browsers require.
    fn start(self) {
        let (abort, registration) = AbortHandle::new_pair();
        self.abort.set_value(Some(abort));
        let download = language_model::download(move |part| self.dispatch(Event::Progressed(part)));
        browser::spawn(async move {
            // Aborting drops the future and with it the download.
            if let Ok(end) = Abortable::new(download, registration).await {
                let end = end.map_err(|fault| fault.error());
                self.dispatch(Event::Downloaded(end));
            }
        });
    }

    fn cancel(self) {
        let abort = self.abort.try_update_value(Option::take).flatten();
        if let Some(abort) = abort {
            abort.abort();
        }
    }
}
