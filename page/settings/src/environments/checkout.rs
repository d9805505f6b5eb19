//! tau-bench in the catalogue: the user adds a checkout, sees its content and whether it is unmodified, and plays its
//! tasks.

use futures_util::future::{AbortHandle, abortable};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_connectivity::linked_file::LinkedFile;
use volary_core::json::Text;
use volary_core::quantity::plural;
use volary_envs::tau::checkout::Original;
use volary_envs::tau::original::{CUSTOMERS, environment_name};
use volary_protocol::checkout::{Domain, Summary};

use super::catalogue::{Group, PlayButton, Row};
use super::python_import::checkout_files;
use volary_browser::files::{GivenFile, pick, pick_folder};
use volary_browser::{network, spawn};
use volary_connections::tau_bench::{self, CheckoutOrigin};
use volary_playground::state::use_playground;
use volary_ui::UnsavedNotice;
use volary_ui::field::Field;

/// Signals of the checkout that is being added.
#[derive(Clone, Copy)]
pub(super) struct Adding {
    /// The current operation and the completed fraction, if known.
    progress: RwSignal<Option<(Text, Option<f64>)>>,
    /// Why the last checkout was not added.
    problem: RwSignal<String>,
    /// Aborts the operation.
    end: StoredValue<Option<AbortHandle>>,
}

impl Adding {
    /// Nothing is being added.
    pub(super) fn new() -> Adding {
        Adding {
            progress: RwSignal::new(None),
            problem: RwSignal::default(),
            end: StoredValue::new(None),
        }
    }

    /// Adds a zip file, or the files of a folder.
    pub(super) fn take(self, files: Vec<GivenFile>) {
        match checkout_files(files, |file| &file.name) {
            Ok(files) if files.is_empty() => {}
            Ok(files) => self.begin(CheckoutOrigin::Files(files)),
            Err(reason) => self.problem.set(reason.to_owned()),
        }
    }

    fn fetch(self, address: &str) {
        let address = address.trim();
        match LinkedFile::of(address, &network::page().origin) {
            LinkedFile::Refused(reason) => self.problem.set(reason.to_string()),
            LinkedFile::SameOrigin { url } => self.begin(CheckoutOrigin::Address(url)),
            LinkedFile::Elsewhere(file) => self.begin(CheckoutOrigin::Address(file.url)),
        }
    }

    fn begin(self, source: CheckoutOrigin) {
        self.stop();
        self.problem.set(String::new());
        self.progress.set(Some(("Starting".into(), None)));
        let progress = move |doing, done| self.progress.set(Some((doing, done)));
        let (adding, end) = abortable(tau_bench::add(source, progress));
        self.end.set_value(Some(end));
        spawn(async move {
            // An aborted operation was replaced, or its end is already shown.
            if let Ok(added) = adding.await {
                self.progress.set(None);
                self.problem.set(added.err().unwrap_or_default());
            }
        });
    }

    fn stop(self) {
        if let Some(end) = self.end.try_update_value(Option::take).flatten() {
            end.abort();
        }
        self.progress.set(None);
    }
}

/// The group of tau-bench in the catalogue.
#[component]
pub(super) fn CheckoutGroup(adding: Adding) -> impl IntoView {
    let checkout = Memo::new(|_| tau_bench::checkout());
    let content = move || {
        match checkout.get().summary {
        Some(summary) => view! { <Stored adding summary/> }.into_any(),
        None => view! {
            <p class="help">
                "Retail and airline tasks of tau-bench. Their data are not part of this page: add "
                "your copy of the repository sierra-research/tau-bench. It is checked and stored in "
                "this browser, and sent nowhere."
            </p>
        }
        .into_any(),
    }
    };
    let has_problem = move || adding.problem.with(|problem| !problem.is_empty());
    view! {
        <Group id="tau-bench" title="tau-bench">
            <UnsavedNotice what="the settings of tau-bench" unsaved=tau_bench::unsaved()/>
            {content}
            <p class="error" role="alert" hidden=move || !has_problem()>
                {move || adding.problem.get()}
            </p>
            <Show
                when=move || adding.progress.with(Option::is_some)
                fallback=move || view! { <Sources adding/> }
            >
                <Progress adding/>
            </Show>
        </Group>
    }
}

#[component]
fn Progress(adding: Adding) -> impl IntoView {
    let doing = move || {
        let progress = adding.progress.get();
        progress.map_or_else(String::new, |(doing, _)| doing.to_string())
    };
    let done = move || {
        let done = adding.progress.get().and_then(|(_, done)| done);
        done.map(|done| done.to_string())
    };
    view! {
        <p role="status">{doing}</p>
        <div class="button-row">
            <progress max="1" aria-label="Adding tau-bench" value=done></progress>
            <button type="button" class="small" on:click=move |_| adding.stop()>
                {"Cancel"}
            </button>
        </div>
    }
}

/// The ways to add a checkout.
#[component]
fn Sources(adding: Adding) -> impl IntoView {
    let address = RwSignal::new(String::new());
    let pick_zip = move |_| pick(".zip,application/zip", move |files| adding.take(files));
    let pick_repository = move |_| pick_folder(move |files| adding.take(files));
    let fetch = move |event: SubmitEvent| {
        event.prevent_default();
        adding.fetch(&address.get_untracked());
    };
    view! {
        <form aria-label="Add tau-bench" novalidate on:submit=fetch>
            <Field id="checkout-address" label="Address of a zip file">
                <input
                    type="url"
                    id="checkout-address"
                    autocomplete="off"
                    aria-describedby="checkout-address-help"
                    bind:value=address
                />
                <p class="help" id="checkout-address-help">
                    "Or drop the folder or its zip file on this page."
                </p>
            </Field>
            <div class="button-row">
                <button type="submit" class="small">
                    {"Fetch"}
                </button>
                <button type="button" class="small" on:click=pick_zip>
                    {"Add zip file"}
                </button>
                <button type="button" class="small" on:click=pick_repository>
                    {"Add folder"}
                </button>
            </div>
        </form>
    }
}

/// The stored checkout.
#[component]
fn Stored(adding: Adding, summary: Summary) -> impl IntoView {
    let domains = summary.domains.into_iter();
    let rows = domains.filter_map(|domain| {
        let original = Original::from_name(&domain.name)?;
        Some(view! { <DomainRow original domain/> })
    });
    let problems = summary.problems.into_iter();
    let problems = problems.map(|problem| {
        view! {
            <p class="error" dir="auto">
                {problem.to_string()}
            </p>
        }
    });
    let options = CUSTOMERS.map(|kind| view! { <option value=kind>{kind}</option> });
    let customer = move || tau_bench::checkout().customer().to_owned();
    view! {
        <ul class="environment-list">{rows.collect_view()}</ul>
        {problems.collect_view()}
        <Field id="checkout-customer" label="Customer in tasks">
            <select
                id="checkout-customer"
                aria-describedby="checkout-customer-help"
                prop:value=customer
                on:change=move |event| tau_bench::choose_customer(&event_target_value(&event))
            >
                {options.into_iter().collect_view()}
            </select>
            <p class="help" id="checkout-customer-help">
                "Published results have a model as the customer (llm). A script says all at once and "
                "needs no model; person is you."
            </p>
        </Field>
        <div class="button-row">
            <RemoveCheckout adding/>
        </div>
        <p class="help">"Add another checkout in its place:"</p>
    }
}

#[component]
fn DomainRow(original: Original, domain: Domain) -> impl IntoView {
    let playground = use_playground();
    let name = environment_name(original);
    let splits = domain.splits.iter();
    let splits: Vec<String> = splits
        .map(|split| format!("{}: {}", split.name, plural(split.tasks, "task")))
        .collect();
    let splits = splits.join(", ");
    let state = match &*domain.differences {
        [] => view! {
            <span class="faint">{"Identical to tau-bench at its commit 59a200c."}</span>
        }
        .into_any(),
        differences => {
            let differences: Vec<&str> = differences.iter().map(|path| &**path).collect();
            let words = format!(
                "Not the original (commit 59a200c): {} {}. Results cannot be compared with \
                 published ones.",
                differences.join(", "),
                if differences.len() == 1 {
                    "differs"
                } else {
                    "differ"
                }
            );
            view! {
                <span class="error" dir="auto">
                    {words}
                </span>
            }
            .into_any()
        }
    };
    view! {
        <Row name summary=splits more=state>
            <PlayButton playground name=name.to_owned() environment=name.to_owned()/>
        </Row>
    }
}

/// A button that asks for confirmation before it removes the checkout.
#[component]
fn RemoveCheckout(adding: Adding) -> impl IntoView {
    let asked = RwSignal::new(false);
    let remove = move |_| {
        if !asked.get_untracked() {
            return asked.set(true);
        }
        spawn(async move {
            let forgotten = tau_bench::forget().await;
            adding.problem.set(forgotten.err().unwrap_or_default());
        });
    };
    let label = move || {
        if asked.get() {
            "Confirm: remove tau-bench"
        } else {
            "Remove tau-bench"
        }
    };
    view! {
        <button type="button" class="quiet small" aria-label=label on:click=remove>
            {move || if asked.get() { "Remove for good" } else { "Remove" }}
        </button>
    }
}
