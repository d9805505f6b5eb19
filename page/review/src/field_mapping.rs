//! Mapping of fields: which members of records of an unknown shape hold the prompt, the answer, the reward and so on.
//!
//! After the import of a file that no reader recognizes, the dialog is offered for it. The mapping is stored for the
//! shape of its records, so that later files of the same shape are read without a question.

use leptos::prelude::*;
use volary_app::library::replies::NoReply;
use volary_core::json::{Json, Text};
use volary_core::quantity::plural;
use volary_episode::Episode;
use volary_formats::import::fields::{Field, FieldMapping, PathSample, Shape, paths};
use volary_protocol::library::UnmappedFile;

use volary_library_client::mappings;
use volary_library_client::{LibraryClient, imports, requests};
use volary_ui::text::inert;
use volary_ui::{Dialog, UnsavedNotice};
use volary_view::review::mapping_texts::{
    ChoiceText, PreviewTexts, choices, label, list_paths, names_text, offer_text, sample,
    unmapped_text, unread_text,
};

/// The number of offers that are shown at once. More are behind one line, so that they leave room for the table.
const SHOWN_OFFERS: usize = 2;

/// Offers to map the fields of files that the last import could not read.
#[component]
pub(super) fn FieldMappings(mapping: Mapping) -> impl IntoView {
    let offers = move || {
        let files = mapping.client.unmapped.get();
        let count = files.len();
        let offers = files.into_iter();
        let offers = offers
            .map(|file| view! { <Offer mapping file/> })
            .collect_view();
        if count <= SHOWN_OFFERS {
            return offers.into_any();
        }
        view! {
            <details class="import-report mapping-offers">
                <summary>{format!("Unknown formats: {}", plural(count, "file"))}</summary>
                <div class="mapping-list">{offers}</div>
            </details>
        }
        .into_any()
    };
    view! {
        {offers}
        <Dialog open=mapping.open title="Map fields">
            <Show when=move || mapping.open.get()>
                <Form mapping/>
            </Show>
        </Dialog>
    }
}

/// The state of the dialog.
#[derive(Clone, Copy)]
pub struct Mapping {
    client: LibraryClient,
    open: RwSignal<bool>,
    /// The file to read once its fields are mapped; `None` while a stored mapping is edited.
    file: RwSignal<Option<Text>>,
    shape: RwSignal<Shape>,
    /// The first record of the file, as JSON.
    head: RwSignal<Option<Text>>,
    fields: RwSignal<FieldMapping>,
    /// The shapes with a stored mapping, and the mapping of each.
    remembered: RwSignal<Vec<(Shape, FieldMapping)>>,
}

impl Mapping {
    /// A closed dialog.
    pub(super) fn new(client: LibraryClient) -> Mapping {
        let mapping = Mapping {
            client,
            open: RwSignal::new(false),
            file: RwSignal::new(None),
            shape: RwSignal::default(),
            head: RwSignal::new(None),
            fields: RwSignal::default(),
            remembered: RwSignal::default(),
        };
        mapping.renew();
        mapping
    }

    fn renew(self) {
        let stored = mappings::stored();
        let list = stored.list().iter().rev();
        let list = list.map(|known| (known.shape.clone(), known.fields.clone()));
        self.remembered.set(list.collect());
    }

    /// Opens the dialog for a file, prefilled from the names and values of its members.
    fn begin(self, file: &UnmappedFile) {
        let head = Json::parse(&file.head).unwrap_or_default();
        self.fields.set(FieldMapping::suggested(&head));
        self.shape.set(file.shape.clone());
        self.head.set(Some(file.head.clone()));
        self.file.set(Some(file.file.clone()));
        self.open.set(true);
    }

    /// Opens the dialog for a stored mapping.
    fn change(self, shape: Shape, fields: FieldMapping) {
        self.fields.set(fields);
        self.shape.set(shape);
        self.head.set(None);
        self.file.set(None);
        self.open.set(true);
    }

    /// Stores the mapping and reads the file with it.
    fn apply(self) {
        let (shape, fields) = (self.shape.get_untracked(), self.fields.get_untracked());
        mappings::remember(shape, fields);
        self.renew();
        self.open.set(false);
        if let Some(file) = self.file.get_untracked() {
            imports::read_again(self.client, &file);
        }
    }
}

/// The offer for a file that no reader recognizes.
#[component]
fn Offer(mapping: Mapping, file: UnmappedFile) -> impl IntoView {
    let text = offer_text(&file);
    view! {
        <div class="reading mapping-offer">
            <span dir="auto" title=text.clone()>
                {inert(&text)}
            </span>
            <button type="button" class="small" on:click=move |_| mapping.begin(&file)>
                {"Map fields"}
            </button>
        </div>
    }
}

/// The list of stored mappings, which apply to future files.
#[component]
pub(super) fn Remembered(mapping: Mapping) -> impl IntoView {
    let list = move || {
        let known = mapping.remembered.get().into_iter();
        let items = known.map(|(shape, fields)| {
            let names = names_text(&shape);
            let (change, forget) = (format!("Change {names}"), format!("Forget {names}"));
            let (forgotten, changed) = (shape.clone(), (shape, fields));
            view! {
                <li>
                    <span dir="auto">{inert(&names)}</span>
                    <span class="button-row">
                        <button
                            type="button"
                            class="quiet small"
                            aria-label=change
                            on:click=move |_| mapping.change(changed.0.clone(), changed.1.clone())
                        >
                            {"Change"}
                        </button>
                        <button
                            type="button"
                            class="quiet small"
                            aria-label=forget
                            on:click=move |_| {
                                mappings::forget(&forgotten);
                                mapping.renew();
                            }
                        >
                            {"Forget"}
                        </button>
                    </span>
                </li>
            }
        });
        items.collect_view()
    };
    let title = move || {
        let count = mapping.remembered.with(Vec::len);
        format!("Mapped fields: {}", plural(count, "shape"))
    };
    view! {
        <UnsavedNotice what="mapped fields" unsaved=mappings::unsaved()/>
        <Show when=move || mapping.remembered.with(|known| !known.is_empty())>
            <details class="import-report mapped-shapes">
                <summary>{title}</summary>
                <ul aria-label="Mapped shapes">{list}</ul>
            </details>
        </Show>
    }
}

#[component]
fn Form(mapping: Mapping) -> impl IntoView {
    let sample = Memo::new(move |_| {
        let head = mapping.head.get();
        mapping.shape.with(|shape| sample(head.as_deref(), shape))
    });
    let options = Memo::new(move |_| {
        sample.with(|sample| {
            mapping
                .fields
                .with(|fields| paths(fields.first_record(sample)))
        })
    });
    let lists = Memo::new(move |_| sample.with(list_paths));
    let has_lists = lists.with_untracked(|lists| !lists.is_empty())
        || mapping
            .fields
            .with_untracked(|fields| fields.records.is_some());
    let records = has_lists.then(|| {
        let path = Signal::derive(move || mapping.fields.with(|fields| fields.records.clone()));
        let choose = Callback::new(move |path: Option<String>| {
            mapping.fields.update(|fields| fields.records = path);
        });
        view! { <Choice name="Records" none="the file itself" options=lists path choose/> }
    });
    let selects = Field::ALL.map(|field| {
        let path = Signal::derive(move || {
            mapping
                .fields
                .with(|fields| fields.get(field).map(str::to_owned))
        });
        let choose =
            Callback::new(move |path| mapping.fields.update(|fields| fields.set(field, path)));
        view! { <Choice name=label(field) none="not mapped" options path choose/> }
    });
    let about = move || match mapping.file.get() {
        Some(file) => format!("Choose what the members of {file} hold."),
        None => format!("Records with {}.", mapping.shape.with(names_text)),
    };
    let action = move || {
        if mapping.file.with(Option::is_some) {
            "Read the file"
        } else {
            "Save"
        }
    };
    let is_unusable = move || mapping.fields.with(|fields| !fields.is_usable());
    view! {
        <p dir="auto">{move || inert(&about())}</p>
        <div class="mapping-form">
            <div class="mapping-choices" role="group" aria-label="Fields">
                {records}
                {selects.into_iter().collect_view()}
            </div>
            <Preview mapping/>
        </div>
        <p class="help">
            {"Later files with the same members are read the same way. Trajectories that were \
              read before stay as they are."}
        </p>
        <div class="button-row">
            <button type="button" on:click=move |_| mapping.open.set(false)>
                {"Cancel"}
            </button>
            <button
                type="button"
                class="primary"
                disabled=is_unusable
                on:click=move |_| mapping.apply()
            >
                {action}
            </button>
        </div>
    }
}

/// The select for the member that a field is read from.
#[component]
fn Choice(
    name: &'static str,
    /// The label of the option without a member.
    none: &'static str,
    #[prop(into)] options: Signal<Vec<PathSample>>,
    path: Signal<Option<String>>,
    choose: Callback<Option<String>>,
) -> impl IntoView {
    let list = move || {
        let options = choices(options.get(), path.get().as_deref()).into_iter();
        let options = options.map(
            |ChoiceText {
                 path,
                 text,
                 is_chosen,
             }| {
                view! {
                    <option value=path selected=is_chosen>
                        {inert(&text)}
                    </option>
                }
            },
        );
        options.collect_view()
    };
    let is_none = move || path.with(Option::is_none);
    let change = move |event| {
        let path = event_target_value(&event);
        choose.run((!path.is_empty()).then_some(path));
    };
    view! {
        <label class="mapping-choice">
            <span>{name}</span>
            <select on:change=change>
                <option value="" selected=is_none>
                    {none}
                </option>
                {list}
            </select>
        </label>
    }
}

/// A preview of the first record, read with the current mapping.
#[component]
fn Preview(mapping: Mapping) -> impl IntoView {
    let shown = RwSignal::new(None::<Result<Episode, NoReply>>);
    Effect::new(move |_| {
        let fields = mapping.fields.get();
        let Some(head) = mapping.head.get().filter(|_| fields.is_usable()) else {
            return shown.set(None);
        };
        requests::preview(mapping.client, &head, fields.clone(), move |made| {
            // The mapping may have changed meanwhile, or the dialog may be closed.
            if mapping
                .fields
                .try_with_untracked(|now| *now == fields)
                .unwrap_or_default()
            {
                let _ = shown.try_set(Some(made));
            }
        });
    });
    let content = move || match shown.get() {
        None => {
            let text = unmapped_text(mapping.head.with(Option::is_some));
            view! { <p class="help">{text}</p> }.into_any()
        }
        Some(Err(error)) => {
            view! { <p class="help">{inert(&unread_text(error.to_string()))}</p> }.into_any()
        }
        Some(Ok(episode)) => preview_of(&episode),
    };
    view! {
        <section class="mapping-preview" aria-label="Preview of the first record" aria-live="polite">
            <h3>{"First record"}</h3>
            {content}
        </section>
    }
}

fn preview_of(episode: &Episode) -> AnyView {
    let PreviewTexts {
        messages,
        more,
        facts,
    } = PreviewTexts::of(episode);
    let messages = messages.into_iter().map(|(role, text)| {
        view! {
            <li>
                <span class="badge">{role}</span>
                <span dir="auto">{inert(&text)}</span>
            </li>
        }
    });
    let facts = facts.into_iter().map(|(name, value)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd dir="auto">{inert(&value)}</dd>
            </div>
        }
    });
    view! {
        <ol class="mapping-messages">{messages.collect_view()}</ol>
        {more.map(|more| view! { <p class="help">{more}</p> })}
        <dl class="mapping-facts">{facts.collect_view()}</dl>
    }
    .into_any()
}
