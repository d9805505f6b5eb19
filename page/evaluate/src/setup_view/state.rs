//! Signals of the form for a new evaluation, and its estimate of size and cost.

use leptos::prelude::*;
use volary_agent::evaluation::Plan;
use volary_agent::model::Usage;
use volary_app::evaluation::estimate::{self, Forecast};
use volary_app::evaluation::task_source::EvaluationTasks;
use volary_app::notice::Notice;
use volary_core::quantity::large_count_text;
use volary_view::form::Form;

use super::size::EvaluationSize;
use super::{FORM, planning, source};
use crate::rate_limits;
use crate::setup::tasks::{CHOICES, SelectableTasks, tasks_schema};
use crate::setup::{self, PolicyChoice};
use crate::state::Evaluations;
use volary_browser as browser;
use volary_connections::models::{connections, prices};

#[derive(Clone, Copy)]
pub struct EvaluationSetup {
    pub evaluations: Evaluations,
    pub source: RwSignal<EvaluationTasks>,
    /// The chosen way to select tasks.
    pub choice: RwSignal<String>,
    pub tasks: RwSignal<Form>,
    pub configuration: RwSignal<Form>,
    /// The plan whose tasks [`EvaluationTasks::Copy`] selects.
    pub copied: RwSignal<Option<Plan>>,
    pub policies: RwSignal<Vec<PolicyEntry>>,
    next: RwSignal<u64>,
    pub general: RwSignal<Form>,
    pub pace: RwSignal<Form>,
}

/// A policy of the form, with a key that is never reused.
#[derive(Clone, Copy)]
pub struct PolicyEntry {
    pub key: u64,
    pub kind: RwSignal<PolicyChoice>,
    pub form: RwSignal<Form>,
}

impl PolicyEntry {
    /// Changes the kind and resets the settings to its defaults.
    pub fn pick(self, kind: PolicyChoice) {
        self.form.set(Form::new(setup::policy_schema(&kind)));
        self.kind.set(kind);
    }
}

impl EvaluationSetup {
    pub fn new(evaluations: Evaluations) -> EvaluationSetup {
        let setup = EvaluationSetup {
            evaluations,
            source: RwSignal::new(EvaluationTasks::Dataset(0)),
            choice: RwSignal::new(CHOICES[0].to_owned()),
            tasks: RwSignal::new(Form::new(tasks_schema(
                SelectableTasks::Dataset(1),
                CHOICES[0],
            ))),
            configuration: RwSignal::default(),
            copied: RwSignal::new(None),
            policies: RwSignal::new(Vec::new()),
            next: RwSignal::new(0),
            general: RwSignal::new(Form::new(setup::general_schema())),
            pace: RwSignal::new(Form::new(rate_limits::schema())),
        };
        setup.add_policy();
        setup
    }

    /// Returns whether any policy is a model.
    pub fn has_model(self) -> bool {
        let entries = self.policies.get();
        entries
            .iter()
            .any(|entry| entry.kind.with(PolicyChoice::is_model))
    }

    /// Adds a policy with random actions.
    pub fn add_policy(self) {
        let key = self.next.get_untracked();
        self.next.set(key + 1);
        let entry = PolicyEntry {
            key,
            kind: RwSignal::new(PolicyChoice::Random),
            form: RwSignal::new(Form::new(setup::policy_schema(&PolicyChoice::Random))),
        };
        self.policies.update(|entries| entries.push(entry));
    }

    /// `None` while a field is invalid.
    fn size(self) -> Option<EvaluationSize> {
        let tasks = self.tasks.with(Form::value).ok()?;
        let general = self.general.with(Form::value).ok()?;
        let tasks = source::shape(self).count(&self.choice.get(), &tasks);
        Some(EvaluationSize {
            tasks,
            policies: self.policies.with(Vec::len),
            trials: setup::trials(&general),
        })
    }

    pub fn size_text(self) -> String {
        self.size().map_or_else(String::new, EvaluationSize::words)
    }

    /// Fills the form with the tasks, policies and limits of another plan.
    pub fn fill(self, plan: Plan) {
        self.general.set(Form::with_value(
            setup::general_schema(),
            &setup::general_form(&plan),
        ));
        self.pace.set(Form::with_value(
            rate_limits::schema(),
            &rate_limits::value(&plan.pace),
        ));
        let first = self.next.get_untracked();
        let entries = plan.policies.iter().zip(first..).map(|(policy, key)| {
            let (kind, value) = setup::policy_form(policy);
            PolicyEntry {
                key,
                form: RwSignal::new(Form::with_value(setup::policy_schema(&kind), &value)),
                kind: RwSignal::new(kind),
            }
        });
        let entries: Vec<PolicyEntry> = entries.collect();
        self.next.set(first + entries.len() as u64);
        self.policies.set(entries);
        self.copied.set(Some(plan));
        self.choice.set(CHOICES[0].to_owned());
        self.source.set(EvaluationTasks::Copy);
        source::refresh(self);
    }

    /// Estimates what the models will spend; empty if no policy is a model, or while a field is invalid.
    pub fn estimate_text(self) -> String {
        let Some(EvaluationSize { tasks, trials, .. }) = self.size() else {
            return String::new();
        };
        let source = source::name(self);
        let measured = source.and_then(|source| {
            let heads = self.evaluations.heads;
            heads.with(|heads| estimate::measured(heads, &source))
        });
        let entries = self.policies.get();
        let forecasts = entries.iter().filter_map(|entry| {
            let PolicyChoice::Model(name) = entry.kind.get() else {
                return None;
            };
            let steps = setup::max_steps(&entry.form.with(Form::value).ok()?);
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
                tasks.saturating_mul(trials),
                steps,
                measured,
                price,
            ))
        });
        Forecast::sum(forecasts.collect::<Vec<_>>()).map_or_else(String::new, forecast_words)
    }

    pub fn start(self) {
        let size = untrack(|| self.size());
        if let Some(notice) = size.and_then(EvaluationSize::refusal) {
            return self.evaluations.playground.alert(notice);
        }
        if untrack(|| source::lacks_oracle(self)) {
            return self.refuse(
                "The oracle cannot play on a server.",
                "It only knows the answers of built-in environments.",
                "Choose another policy or built-in tasks.",
            );
        }
        match planning::plan(self) {
            Some(plan) if plan.length() == 0 => self.refuse(
                "Nothing to run.",
                "No tasks or no policies are selected.",
                "Choose tasks and add a policy.",
            ),
            Some(plan) => self.evaluations.start(plan),
            None => browser::show_fault(FORM),
        }
    }

    pub fn refuse(self, what: &str, why: &str, advice: &str) {
        self.evaluations
            .playground
            .alert(Notice::new(what, why, advice));
    }
}

/// Describes an estimate and its basis.
fn forecast_words(forecast: Forecast) -> String {
    let count = large_count_text;
    let cost = match forecast.cost {
        None => ", price unknown".to_owned(),
        Some((low, high)) if forecast.is_measured || low == high => {
            format!(", {}", estimated_cost(high))
        }
        Some((low, high)) => format!(", {} to {}", estimated_cost(low), estimated_cost(high)),
    };
    if forecast.is_measured {
        format!(
            "Estimate: about {} tokens{cost}, as in earlier evaluations of these tasks.",
            count(forecast.high)
        )
    } else {
        format!(
            "Estimate: {} to {} tokens{cost}, from one short step to the maximum number of steps. \
             Nothing was measured on these tasks yet.",
            count(forecast.low),
            count(forecast.high)
        )
    }
}

fn estimated_cost(cost: f64) -> String {
    if cost < 0.01 {
        "less than $0.01".to_owned()
    } else {
        format!("${cost:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_names_its_basis() {
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
