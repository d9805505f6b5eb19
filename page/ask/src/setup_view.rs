//! The form of a question: what is asked, about which trajectories, and of which model.

use std::sync::Arc;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_analysis::table::Row;
use volary_app::ask::{AskRow, Event};
use volary_ask::calibration::sample;
use volary_ask::presets::{QUESTION_PRESETS, QuestionPreset};
use volary_browser as browser;
use volary_connections::models::connections;
use volary_connections::models::model_select::ModelSelect;
use volary_core::json::{Json, Text};
use volary_core::quantity::{count_text, plural};
use volary_ui::SchemaForm;
use volary_ui::field::Field;
use volary_ui::number_field::NumberField;
use volary_view::ask::AskPlace;
use volary_view::form::Form;

use super::plan_view::PlanView;
use super::setup::{self, AnswerKind, QuestionDraft};
use super::state::{AskState, use_ask};

const FORM: &str = "ask-form";

/// The signals of the form.
#[derive(Clone, Copy)]
pub(super) struct SetupFields {
    pub(super) draft: RwSignal<QuestionDraft>,
    /// The id of the chosen connection; `None` for the default one.
    connection: RwSignal<Option<Text>>,
    /// The number of trajectories to sample; `None` for all.
    sampled: RwSignal<Option<usize>>,
    seed: RwSignal<u64>,
    limits: RwSignal<Form>,
    details: RwSignal<Form>,
    /// The question that this one is a change of.
    pub(super) former: RwSignal<Option<Text>>,
}

impl SetupFields {
    fn new() -> SetupFields {
        SetupFields {
            draft: RwSignal::default(),
            connection: RwSignal::new(None),
            sampled: RwSignal::new(None),
            seed: RwSignal::new(1),
            limits: RwSignal::new(Form::new(setup::limits_schema())),
            details: RwSignal::new(Form::new(setup::details_schema())),
            former: RwSignal::new(None),
        }
    }

    /// Fills the form with a question that was asked before.
    fn fill(self, state: AskState, id: &Text) {
        let asked = state
            .history
            .with_untracked(|history| history.question(id).cloned());
        let Some(asked) = asked else {
            return;
        };
        self.draft.set(QuestionDraft {
            name: asked.name.to_string(),
            ..QuestionDraft::of(&asked.setup.question)
        });
        self.connection.set(Some(asked.setup.connection.clone()));
        let (limits, details) = setup::values(&asked.setup);
        let limits = Form::with_value(setup::limits_schema(), &limits);
        self.limits.set(limits);
        let details = Form::with_value(setup::details_schema(), &details);
        self.details.set(details);
        self.former.set(Some(asked.id));
    }

    /// The id of the connection that is used.
    fn chosen(self) -> Option<Text> {
        connections::chosen(self.connection.get().as_deref())
    }

    /// The trajectories that are asked about.
    fn rows(self, state: AskState) -> Vec<AskRow> {
        let rows = state.host.shown.get();
        let name = |row: &Arc<Row>| AskRow {
            id: row.id.clone(),
            name: row.name.clone(),
        };
        match self.sampled.get() {
            None => rows.iter().map(name).collect(),
            Some(count) => {
                let chosen = sample(&groups(&rows), count, self.seed.get());
                let chosen = chosen.into_iter().filter_map(|index| rows.get(index));
                chosen.map(name).collect()
            }
        }
    }

    /// Shows what the question will send and cost, unless a field is invalid.
    fn plan(self, state: AskState) {
        let submit = |form: RwSignal<Form>| form.try_update(Form::submit).flatten();
        let (limits, details): (Option<Json>, _) = (submit(self.limits), submit(self.details));
        let connection = untrack(|| connections::get(&self.chosen()?));
        let (Some(limits), Some(details), Some(saved)) = (limits, details, connection) else {
            return browser::show_fault(FORM);
        };
        let question = self.draft.with_untracked(QuestionDraft::question);
        let model = saved.connection.model.clone();
        let facts = untrack(|| state.facts(&saved.id, &model));
        let Some(facts) = facts else {
            return;
        };
        let setup = setup::setup(question, saved.id, model, &limits, &details);
        state.plan(Event::Plan {
            setup: Box::new(setup),
            facts,
            rows: untrack(|| self.rows(state)),
        });
    }
}

/// The group of each row: its environment, and whether it failed.
pub(super) fn groups(rows: &[Arc<Row>]) -> Vec<(Option<Text>, bool)> {
    let groups = rows.iter();
    groups
        .map(|row| (row.environment.clone(), row.failed()))
        .collect()
}

#[component]
pub(super) fn SetupForm(place: Memo<AskPlace>) -> impl IntoView {
    let state = use_ask();
    let fields = SetupFields::new();
    let wanted = Memo::new(move |_| match place.get() {
        AskPlace::New(Some(id)) if state.is_read.get() => Some(id),
        _ => None,
    });
    Effect::watch(
        move || wanted.get(),
        move |wanted, _, _| {
            if let Some(id) = wanted {
                fields.fill(state, id);
                state.dispatch(Event::DropPlan);
            }
        },
        true,
    );
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        fields.plan(state);
    };
    let drop_plan = move |_| state.dispatch(Event::DropPlan);
    let has_model = Memo::new(move |_| connections::read(|known| !known.list().is_empty()));
    view! {
        <form
            class="ask-form"
            id=FORM
            aria-label="Question"
            novalidate
            on:submit=submitted
            on:input=drop_plan
            on:change=drop_plan
        >
            <div class="ask-main">
                <QuestionFields fields/>
                <RowFields fields/>
            </div>
            <div class="ask-side">
                <ModelFields fields/>
                <SchemaForm form=fields.limits id_prefix="ask-limits" legend="Limits"/>
                <details class="ask-details">
                    <summary>{"What the model sees, and how it samples"}</summary>
                    <SchemaForm form=fields.details id_prefix="ask-details"/>
                </details>
            </div>
            <div class="start-row">
                <button type="submit" disabled=move || !has_model.get()>
                    {"Plan"}
                </button>
                <span class="faint">
                    {"Nothing is sent before you have seen what it costs."}
                </span>
            </div>
        </form>
        <PlanView fields/>
    }
}

/// The question and the type of its answer.
#[component]
fn QuestionFields(fields: SetupFields) -> impl IntoView {
    let draft = fields.draft;
    let presets = QUESTION_PRESETS
        .iter()
        .map(|preset| view! { <option value=preset.id>{preset.title}</option> });
    let preset = move || {
        draft.with(|draft| {
            let mut presets = QUESTION_PRESETS.iter();
            let same = |preset: &&QuestionPreset| QuestionDraft::of_preset(preset) == *draft;
            presets.find(same).map_or("", |preset| preset.id)
        })
    };
    let pick = move |event| {
        let new = match QuestionPreset::named(&event_target_value(&event)) {
            Some(preset) => QuestionDraft::of_preset(preset),
            None => QuestionDraft::default(),
        };
        fields.former.set(None);
        draft.set(new);
    };
    let kinds =
        AnswerKind::ALL.map(|(_, value, name)| view! { <option value=value>{name}</option> });
    let set_kind = move |event| {
        if let Some(kind) = AnswerKind::named(&event_target_value(&event)) {
            draft.update(|draft| draft.kind = kind);
        }
    };
    let kind = Memo::new(move |_| draft.with(|draft| draft.kind));
    view! {
        <fieldset class="group">
            <legend>{"Question"}</legend>
            <Field id="ask-preset" label="Start from">
                <select id="ask-preset" prop:value=preset on:change=pick>
                    <option value="">{"A question of your own"}</option>
                    {presets.collect_view()}
                </select>
            </Field>
            <DraftText
                id="ask-text"
                label="Question"
                rows=4
                placeholder="Such as: Did the agent tell the user about the fee before it charged it?"
                text=create_slice(draft, |draft| draft.text.clone(), |draft, text| draft.text = text)
            />
            <div class="ask-pair">
                <Field id="ask-kind" label="Answer">
                    <select
                        id="ask-kind"
                        prop:value=move || kind.get().value()
                        on:change=set_kind
                    >
                        {kinds.into_iter().collect_view()}
                    </select>
                </Field>
                <DraftText
                    id="ask-name"
                    label="Name of the column"
                    placeholder="The beginning of the question"
                    text=create_slice(draft, |draft| draft.name.clone(), |draft, text| draft.name = text)
                />
            </div>
            <Show when=move || kind.get() == AnswerKind::Label>
                <DraftText
                    id="ask-labels"
                    label="Labels, one a line"
                    rows=5
                    text=create_slice(draft, |draft| draft.labels.clone(), |draft, text| draft.labels = text)
                />
            </Show>
            <Show when=move || kind.get() == AnswerKind::Score>
                <div class="ask-pair">
                    <DraftText
                        id="ask-least"
                        label="Lowest score"
                        inputmode="decimal"
                        text=create_slice(draft, |draft| draft.least.clone(), |draft, text| draft.least = text)
                    />
                    <DraftText
                        id="ask-most"
                        label="Highest score"
                        inputmode="decimal"
                        text=create_slice(draft, |draft| draft.most.clone(), |draft, text| draft.most = text)
                    />
                </div>
            </Show>
        </fieldset>
    }
}

/// A text of the draft, in a field of one line or several.
#[component]
fn DraftText(
    id: &'static str,
    label: &'static str,
    text: (Signal<String>, SignalSetter<String>),
    #[prop(default = 1)] rows: u32,
    #[prop(optional)] placeholder: &'static str,
    #[prop(default = "text")] inputmode: &'static str,
) -> impl IntoView {
    let (text, set_text) = text;
    let set = move |event| set_text.set(event_target_value(&event));
    let field = if rows > 1 {
        view! {
            <textarea
                id=id
                rows=rows.to_string()
                placeholder=placeholder
                prop:value=move || text.get()
                on:input=set
            ></textarea>
        }
        .into_any()
    } else {
        view! {
            <input
                id=id
                type="text"
                inputmode=inputmode
                placeholder=placeholder
                prop:value=move || text.get()
                on:input=set
            />
        }
        .into_any()
    };
    view! {
        <Field id label>
            {field}
        </Field>
    }
}

/// The trajectories: all of the table, or a sample.
#[component]
fn RowFields(fields: SetupFields) -> impl IntoView {
    let state = use_ask();
    let shown = Memo::new(move |_| state.host.shown.with(|rows| rows.len()));
    let all = Memo::new(move |_| state.host.rows.with(|rows| rows.len()));
    let all_text = move || {
        let (shown, all) = (shown.get(), all.get());
        if shown == all {
            format!("All {}", plural(all, "trajectory"))
        } else {
            format!(
                "The {} of {} that pass the filters of the table",
                count_text(shown),
                count_text(all)
            )
        }
    };
    let is_sample = Memo::new(move |_| fields.sampled.with(Option::is_some));
    view! {
        <fieldset class="group">
            <legend>{"Trajectories"}</legend>
            <div class="ask-rows">
                <label>
                    <input
                        type="radio"
                        name="ask-rows"
                        prop:checked=move || !is_sample.get()
                        on:change=move |_| fields.sampled.set(None)
                    />
                    {all_text}
                </label>
                <label>
                    <input
                        type="radio"
                        name="ask-rows"
                        prop:checked=move || is_sample.get()
                        on:change=move |_| fields.sampled.set(Some(20))
                    />
                    {"A sample of each environment and outcome, in proportion"}
                </label>
            </div>
            <Show when=move || is_sample.get()>
                <div class="ask-numbers">
                    <NumberField
                        id="ask-sample"
                        label="Trajectories"
                        value=Signal::derive(move || fields.sampled.get().unwrap_or(20) as f64)
                        allows=|count| count.fract() == 0.0 && (1.0..=1e6).contains(&count)
                        change=move |count| fields.sampled.set(Some(count as usize))
                    />
                    <NumberField
                        id="ask-seed"
                        label="Seed"
                        value=Signal::derive(move || fields.seed.get() as f64)
                        allows=|seed| seed.fract() == 0.0 && (0.0..=1e9).contains(&seed)
                        change=move |seed| fields.seed.set(seed as u64)
                    />
                </div>
            </Show>
        </fieldset>
    }
}

/// The connection of the model.
#[component]
fn ModelFields(fields: SetupFields) -> impl IntoView {
    let pick = move |id| fields.connection.set(Some(id));
    view! {
        <fieldset class="group">
            <legend>{"Model"}</legend>
            <ModelSelect id="ask-model" chosen=Signal::derive(move || fields.chosen()) pick/>
        </fieldset>
    }
}
