//! The form of a new evaluation.

mod planning;
mod source;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_agent::evaluation::Plan;
use volary_agent::model::Usage;
use volary_app::evaluation::estimate::{self, Forecast};

use self::source::{COPY, SourceField, TasksFields};
use super::pool::idle_workers;
use super::rate_limits;
use super::setup::tasks::{CHOICES, Source, tasks_schema};
use super::setup::{self, Kind, MOST_CELLS};
use super::state::Evaluations;
use crate::browser;
use crate::components::SchemaForm;
use crate::components::icon::{Glyph, NamedIcon};
use crate::models::{connections, prices};
use crate::playground::intents::Intent;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::projection::text::{count_text, large_count_text, plural};

/// The id of the form.
const FORM: &str = "evaluation-form";

/// The state of the form.
#[derive(Clone, Copy)]
struct Setup {
    evaluations: Evaluations,
    /// The task source: `dataset:n`, the n-th list of tasks, `environment:name`, `server:url`, or `copy`, the tasks of
    /// another evaluation.
    source: RwSignal<String>,
    /// How tasks are selected.
    choice: RwSignal<String>,
    tasks: RwSignal<Form>,
    configuration: RwSignal<Form>,
    /// The evaluation whose tasks are the source `copy`.
    copied: RwSignal<Option<Plan>>,
    policies: RwSignal<Vec<Post>>,
    next: RwSignal<u64>,
    general: RwSignal<Form>,
    pace: RwSignal<Form>,
}

/// A policy of the form.
#[derive(Clone, Copy)]
struct Post {
    key: u64,
    kind: RwSignal<Kind>,
    form: RwSignal<Form>,
}

impl Post {
    fn pick(self, kind: Kind) {
        self.form.set(Form::new(setup::policy_schema(&kind)));
        self.kind.set(kind);
    }
}

/// The form of a new evaluation.
#[component]
pub(super) fn SetupForm(evaluations: Evaluations) -> impl IntoView {
    let setup = Setup {
        evaluations,
        source: RwSignal::new("dataset:0".to_owned()),
        choice: RwSignal::new(CHOICES[0].to_owned()),
        tasks: RwSignal::new(Form::new(tasks_schema(Source::Dataset(1), CHOICES[0]))),
        configuration: RwSignal::default(),
        copied: RwSignal::new(None),
        policies: RwSignal::new(Vec::new()),
        next: RwSignal::new(0),
        general: RwSignal::new(Form::new(setup::general_schema())),
        pace: RwSignal::new(Form::new(rate_limits::schema())),
    };
    setup.add_policy();
    let playground = evaluations.playground;
    playground.intend(Intent::Nothing);
    Effect::new(move |_| {
        if playground.whole.get() {
            untrack(|| setup.refresh());
            idle_workers::start();
        }
    });
    // What the effect itself owned would be disposed of when it runs again; the policies live as long as the form.
    let owner = Owner::current().unwrap_or_default();
    Effect::new(move |_| {
        if let Some(plan) = evaluations.copied.get() {
            owner.with(|| untrack(|| setup.fill(plan)));
            evaluations.copied.set(None);
        }
    });
    let submitted = move |event: SubmitEvent| {
        event.prevent_default();
        setup.start();
    };
    view! {
        <form
            class="evaluation-form"
            aria-label="New evaluation"
            novalidate
            id=FORM
            on:submit=submitted
        >
            <div class="setup-side">
                <fieldset class="group">
                    <legend>{"Tasks"}</legend>
                    <SourceField setup/>
                    <TasksFields setup/>
                </fieldset>
                <SchemaForm
                    form=setup.general
                    id_prefix="evaluation-general"
                    legend="Repeats and success"
                />
                <Show when=move || setup.has_model()>
                    <SchemaForm
                        form=setup.pace
                        id_prefix="evaluation-pace"
                        legend="Limits for models"
                    />
                </Show>
            </div>
            <div class="setup-side">
                <fieldset class="group">
                    <legend>{"Policies"}</legend>
                    <For each=move || setup.policies.get() key=|post| post.key let(post)>
                        <PolicyFields setup post/>
                    </For>
                    <button type="button" on:click=move |_| setup.add_policy()>
                        {"Add policy"}
                    </button>
                </fieldset>
            </div>
            <div class="start-row">
                <button type="submit" class="primary">
                    {"Start"}
                </button>
                <span class="faint" role="status" aria-label="Size">
                    {move || setup.size_text()}
                </span>
                <span class="faint" role="status" aria-label="Estimate">
                    {move || setup.estimate_text()}
                </span>
            </div>
        </form>
    }
}

/// The choice of a policy and its settings.
#[component]
fn PolicyFields(setup: Setup, post: Post) -> impl IntoView {
    let built_in = Kind::BUILT_IN
        .map(|kind| view! { <option value=kind.to_value()>{kind.name().to_owned()}</option> });
    let models = move || {
        connections::read(|known| {
            let list = known.list().iter();
            list.map(|saved| {
                let name = &saved.connection.name;
                let value = Kind::Model(name.clone()).to_value();
                view! { <option value=value>{format!("Model: {name}")}</option> }
            })
            .collect_view()
        })
    };
    let pick = move |event| {
        if let Some(kind) = Kind::of_value(&event_target_value(&event)) {
            post.pick(kind);
        }
    };
    let remove = move |_| {
        let policies = setup.policies;
        policies.update(|posts| posts.retain(|other| other.key != post.key));
    };
    let id = format!("policy-{}", post.key);
    view! {
        <div class="policy-post">
            <div class="policy-head">
                <div class="field">
                    <label for=id.clone()>{"Policy"}</label>
                    <select
                        id=id.clone()
                        prop:value=move || post.kind.with(Kind::to_value)
                        on:change=pick
                    >
                        {built_in.into_iter().collect_view()}
                        {models}
                    </select>
                </div>
                <button type="button" class="quiet icon-button" on:click=remove>
                    <NamedIcon glyph=Glyph::Close name="Remove policy"/>
                </button>
            </div>
            <p class="help">{move || post.kind.with(Kind::summary)}</p>
            <SchemaForm form=post.form id_prefix=format!("{id}-settings")/>
        </div>
    }
}

impl Setup {
    fn has_model(self) -> bool {
        let posts = self.policies.get();
        posts.iter().any(|post| post.kind.with(Kind::is_model))
    }

    fn add_policy(self) {
        let key = self.next.get_untracked();
        self.next.set(key + 1);
        let post = Post {
            key,
            kind: RwSignal::new(Kind::Random),
            form: RwSignal::new(Form::new(setup::policy_schema(&Kind::Random))),
        };
        self.policies.update(|posts| posts.push(post));
    }

    /// The number of tasks, policies and tries; `None` while a field is invalid.
    fn size(self) -> Option<[usize; 3]> {
        let tasks = self.tasks.with(Form::value).ok()?;
        let general = self.general.with(Form::value).ok()?;
        let tasks = self.origin().count(&self.choice.get(), &tasks);
        Some([
            tasks,
            self.policies.with(Vec::len),
            setup::repeats(&general),
        ])
    }

    fn size_text(self) -> String {
        let Some(size @ [tasks, policies, tries]) = self.size() else {
            return String::new();
        };
        format!(
            "{} × {} × {} = {}",
            plural(tasks, "task"),
            match policies {
                1 => "1 policy".to_owned(),
                _ => format!("{policies} policies"),
            },
            match tries {
                1 => "1 try".to_owned(),
                _ => format!("{tries} tries"),
            },
            plural(product(size), "episode")
        )
    }

    /// Takes over tasks, policies and limits of another evaluation.
    fn fill(self, plan: Plan) {
        self.general.set(Form::with_value(
            setup::general_schema(),
            &setup::general_form(&plan),
        ));
        self.pace.set(Form::with_value(
            rate_limits::schema(),
            &rate_limits::value(&plan.pace),
        ));
        let first = self.next.get_untracked();
        let posts = plan.policies.iter().zip(first..).map(|(policy, key)| {
            let (kind, value) = setup::policy_form(policy);
            Post {
                key,
                form: RwSignal::new(Form::with_value(setup::policy_schema(&kind), &value)),
                kind: RwSignal::new(kind),
            }
        });
        let posts: Vec<Post> = posts.collect();
        self.next.set(first + posts.len() as u64);
        self.policies.set(posts);
        self.copied.set(Some(plan));
        self.choice.set(CHOICES[0].to_owned());
        self.source.set(COPY.to_owned());
        self.refresh();
    }

    /// What the models will probably spend; empty if no model acts, or while a field is invalid.
    fn estimate_text(self) -> String {
        let Some([tasks, _, tries]) = self.size() else {
            return String::new();
        };
        let source = self.source_name();
        let measured = source.and_then(|source| {
            let heads = self.evaluations.heads;
            heads.with(|heads| estimate::measured(heads, &source))
        });
        let posts = self.policies.get();
        let forecasts = posts.iter().filter_map(|post| {
            let Kind::Model(name) = post.kind.get() else {
                return None;
            };
            let steps = setup::max_steps(&post.form.with(Form::value).ok()?);
            let model = connections::read(|known| {
                let mut list = known.list().iter();
                let saved = list.find(|saved| saved.connection.name == name)?;
                Some(saved.connection.model.clone())
            });
            let price = |usage: &Usage| {
                let model = model.as_ref()?;
                prices::read(|prices| prices.cost(model, usage))
            };
            Some(Forecast::of(
                tasks.saturating_mul(tries),
                steps,
                measured,
                price,
            ))
        });
        Forecast::sum(forecasts.collect::<Vec<_>>()).map_or_else(String::new, forecast_words)
    }

    fn start(self) {
        let size = untrack(|| self.size()).map(product);
        if let Some(size) = size.filter(|size| *size > MOST_CELLS) {
            return self.refuse(
                "This evaluation is too large.",
                &format!(
                    "{} exceed the limit of {} per evaluation.",
                    plural(size, "episode"),
                    count_text(MOST_CELLS)
                ),
                "Use fewer tasks or repeats, or split it into several evaluations.",
            );
        }
        if untrack(|| self.wants_what_servers_lack()) {
            return self.refuse(
                "The oracle cannot play on a server.",
                "It only knows the answers of built-in environments.",
                "Choose another policy or built-in tasks.",
            );
        }
        match self.plan() {
            Some(plan) if plan.length() == 0 => self.refuse(
                "Nothing to run.",
                "No tasks or no policies are selected.",
                "Choose tasks and add a policy.",
            ),
            Some(plan) => self.evaluations.start(plan),
            None => browser::show_fault(FORM),
        }
    }

    fn refuse(self, what: &str, why: &str, advice: &str) {
        self.evaluations
            .playground
            .alert(Notice::new(what, why, advice));
    }
}

/// An estimate, and what it is based on.
fn forecast_words(forecast: Forecast) -> String {
    let count = large_count_text;
    let cost = match forecast.cost {
        None => ", price unknown".to_owned(),
        Some((low, high)) if forecast.is_measured || low == high => {
            format!(", {}", estimated_cost(high))
        }
        Some((low, high)) => format!(", {} to {}", estimated_cost(low), estimated_cost(high)),
    };
    match forecast.is_measured {
        true => format!(
            "Estimate: about {} tokens{cost}, as in earlier evaluations of these tasks.",
            count(forecast.high)
        ),
        false => format!(
            "Estimate: {} to {} tokens{cost}, from one short step to the maximum number of steps. \
             Nothing was measured on these tasks yet.",
            count(forecast.low),
            count(forecast.high)
        ),
    }
}

fn estimated_cost(cost: f64) -> String {
    match cost < 0.01 {
        true => "less than $0.01".to_owned(),
        false => format!("${cost:.2}"),
    }
}

fn product(size: [usize; 3]) -> usize {
    size.into_iter().fold(1, usize::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_says_what_it_is_based_on() {
        let range = Forecast {
            low: 950,
            high: 77_000,
            cost: Some((0.001, 0.25)),
            is_measured: false,
        };
        let words = forecast_words(range);
        assert!(words.starts_with("Estimate: 950 to 77"), "{words}");
        assert!(
            words.contains("tokens, less than $0.01 to $0.25, from one short step"),
            "{words}"
        );
        let measured = Forecast {
            low: 1_000,
            high: 1_000,
            cost: None,
            is_measured: true,
        };
        let words = forecast_words(measured);
        assert!(
            words.ends_with("tokens, price unknown, as in earlier evaluations of these tasks.")
        );
    }
}
