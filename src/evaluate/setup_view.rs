//! The form of a new evaluation.

mod planning;
mod source;

use leptos::prelude::*;

use super::pool::idle_workers;
use super::rate_limits;
use super::setup::tasks::{CHOICES, Source, tasks_schema};
use super::setup::{self, Kind, MOST_CELLS};
use super::state::Evaluations;
use crate::browser;
use crate::components::SchemaForm;
use crate::components::erased::{dynamic, shown, watch, words};
use crate::components::icon::{Glyph, named_icon};
use crate::components::markup::{El, all, button, el, keyed, nothing};
use crate::models::connections;
use crate::playground::controls::{choice, form, help, option};
use crate::playground::intents::Intent;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::projection::text::{count_text, plural};

/// The id of the form.
const FORM: &str = "evaluation-form";

/// The state of the form.
#[derive(Clone, Copy)]
struct Setup {
    evaluations: Evaluations,
    /// The task source: `dataset:n`, the n-th list of tasks, `environment:name`, or `server:url`.
    source: RwSignal<String>,
    /// How tasks are selected.
    choice: RwSignal<String>,
    tasks: RwSignal<Form>,
    configuration: RwSignal<Form>,
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
pub fn setup_view(evaluations: Evaluations) -> El {
    let setup = Setup {
        evaluations,
        source: RwSignal::new("dataset:0".to_owned()),
        choice: RwSignal::new(CHOICES[0].to_owned()),
        tasks: RwSignal::new(Form::new(tasks_schema(Source::Dataset(1), CHOICES[0]))),
        configuration: RwSignal::default(),
        policies: RwSignal::new(Vec::new()),
        next: RwSignal::new(0),
        general: RwSignal::new(Form::new(setup::general_schema())),
        pace: RwSignal::new(Form::new(rate_limits::schema())),
    };
    setup.add_policy();
    let playground = evaluations.playground;
    playground.intend(Intent::Nothing);
    watch(move || {
        if playground.whole.get() {
            untrack(|| setup.refresh());
            idle_workers::start();
        }
    });
    let tasks = el("fieldset")
        .class("group")
        .child(el("legend").child("Tasks"))
        .child(setup.source_field())
        .child(setup.tasks_fields());
    let policies = el("fieldset")
        .class("group")
        .child(el("legend").child("Policies"))
        .child(keyed(
            move || {
                setup
                    .policies
                    .with(|posts| posts.iter().map(|post| post.key).collect())
            },
            move |key| setup.policy_view(key),
        ))
        .child(
            button("")
                .on_click(move || setup.add_policy())
                .child("Add policy"),
        );
    let schema_form = |form: RwSignal<Form>, id: &'static str, legend: &'static str| {
        view! { <SchemaForm form=form id_prefix=id legend=legend/> }.into_any()
    };
    let limits = shown(
        move || setup.has_model(),
        move || schema_form(setup.pace, "evaluation-pace", "Limits for models"),
    );
    let side = || el("div").class("setup-side");
    form("evaluation-form", "New evaluation", move || setup.start())
        .attr("id", FORM)
        .child(
            side()
                .child(tasks)
                .child(schema_form(
                    setup.general,
                    "evaluation-general",
                    "Repeats and success",
                ))
                .child(limits),
        )
        .child(side().child(policies))
        .child(
            el("div")
                .class("start-row")
                .child(
                    el("button")
                        .attr("type", "submit")
                        .class("primary")
                        .child("Start"),
                )
                .child(
                    el("span")
                        .class("faint")
                        .attr("role", "status")
                        .attr("aria-label", "Size")
                        .child(words(move || setup.size_text())),
                ),
        )
}

impl Setup {
    fn policy_view(self, key: u64) -> AnyView {
        let post = self
            .policies
            .with_untracked(|posts| posts.iter().find(|post| post.key == key).copied());
        let Some(post) = post else {
            return nothing();
        };
        let options = dynamic(move || {
            let built_in =
                Kind::BUILT_IN.map(|kind| option(kind.to_value(), kind.name().to_owned()).view());
            let models = connections::read(|known| {
                let list = known.list().iter();
                list.map(|saved| {
                    let name = &saved.connection.name;
                    let value = Kind::Model(name.clone()).to_value();
                    option(value, format!("Model: {name}")).view()
                })
                .collect::<Vec<_>>()
            });
            all(built_in.into_iter().chain(models).collect())
        });
        let value = words(move || post.kind.with(Kind::to_value));
        let summary = words(move || post.kind.with(Kind::summary).to_owned());
        let id = format!("policy-{key}");
        let pick = move |value: String| {
            if let Some(kind) = Kind::of_value(&value) {
                post.pick(kind);
            }
        };
        let select = choice(value, pick).attr("id", id.clone()).child(options);
        let remove = button("quiet icon-button")
            .on_click(move || {
                self.policies
                    .update(|posts| posts.retain(|post| post.key != key))
            })
            .child(named_icon(Glyph::Close, "Remove policy"));
        let head = el("div")
            .class("policy-head")
            .child(
                el("div")
                    .class("field")
                    .child(el("label").attr("for", id).child("Policy"))
                    .child(select),
            )
            .child(remove);
        el("div")
            .class("policy-post")
            .child(head)
            .child(help(summary))
            .child(
                view! { <SchemaForm form=post.form id_prefix=format!("policy-{key}-settings")/> }
                    .into_any(),
            )
            .view()
    }

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

fn product(size: [usize; 3]) -> usize {
    size.into_iter().fold(1, usize::saturating_mul)
}
