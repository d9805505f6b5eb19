//! The user's checkout of tau-bench: a summary of its content, and the simulated customer of its tasks. All tabs share
//! both. The files are in the browser's database; a worker reads and checks them.
//!
//! Invariant: a checkout that is removed or replaced is first removed from the database, so the page never offers what
//! is not stored.

use std::rc::Rc;

use futures_util::StreamExt;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use volary_core::Json;
use volary_core::json::Text;
use volary_envs::tau::Task;
use volary_envs::tau::checkout::{Original, Split};
use volary_envs::tau::original::{CUSTOMERS, OriginalData, know_tasks};
use volary_protocol::WorkerPart;
use volary_protocol::checkout::{Event, Request, Summary};

use volary_browser::files::GivenFile;
use volary_browser::shared::{Shared, Unsaved};
use volary_browser::transferable::Attachment;
use volary_browser::worker_client::WorkerClient;
use volary_storage::checkout as storage;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout {
    /// A summary of the checkout; `None` without one.
    pub summary: Option<Summary>,
    /// The customer in listed tasks, if the user chose one.
    #[serde(default)]
    customer: Option<String>,
}

/// The origin of a checkout that is added.
pub enum CheckoutOrigin {
    /// A zip file, or the files of a folder.
    Files(Vec<GivenFile>),
    /// The URL of a zip file, which the user agreed to fetch.
    Address(String),
}

impl Checkout {
    /// The kind of customer in listed tasks.
    pub fn customer(&self) -> &str {
        self.customer.as_deref().unwrap_or(CUSTOMERS[0])
    }
}

thread_local! {
    static CHECKOUT: Shared<Checkout> = Shared::new(
        "tau-bench",
        |text| serde_json::from_str(text).ok(),
        |checkout| serde_json::to_string(checkout).unwrap_or_default(),
        |_| {},
    );
}

/// The current state. Tracks changes.
pub fn checkout() -> Checkout {
    CHECKOUT.with(Shared::signal).get()
}

/// Whether changes of the state are only in memory.
pub fn unsaved() -> Unsaved {
    CHECKOUT.with(Shared::unsaved)
}

/// Sets the customer in listed tasks.
pub fn choose_customer(kind: &str) {
    let customer = Some(kind.to_owned());
    CHECKOUT.with(|shared| shared.change(|checkout| checkout.customer = customer));
}

/// Reads and stores a checkout, replacing the previous one. `progress` receives the current operation and the completed
/// fraction, if known. Dropping the future cancels the operation.
pub async fn add(
    source: CheckoutOrigin,
    progress: impl Fn(Text, Option<f64>),
) -> Result<(), String> {
    let worker = WorkerClient::start(WorkerPart::Environments)?;
    let mut replies = match source {
        CheckoutOrigin::Files(files) => {
            let files = files.into_iter().map(Attachment::File).collect();
            worker.call_with(&Request::Read, files)
        }
        CheckoutOrigin::Address(url) => worker.call(&Request::Fetch { url: url.into() }),
    };
    while let Some(reply) = replies.next().await {
        match reply.map_err(|loss| loss.to_string())?.event {
            Event::Progress { doing, done } => progress(doing, done),
            Event::Refused { reason } => return Err(reason.to_string()),
            Event::Stored(summary) => {
                CHECKOUT.with(|shared| shared.change(|checkout| checkout.summary = Some(summary)));
                return Ok(());
            }
        }
    }
    Err("The worker ended without a reply.".to_owned())
}

/// Deletes the checkout from the database.
pub async fn forget() -> Result<(), String> {
    let forgotten = storage::forget().await;
    forgotten.map_err(|error| error.to_string())?;
    forgotten_elsewhere();
    Ok(())
}

/// Clears the summary, because the database was cleared.
pub fn forgotten_elsewhere() {
    CHECKOUT.with(|shared| shared.change(|checkout| checkout.summary = None));
}

/// Passes the tasks of the stored checkout to the page's oracle. Splits that cannot be read stay unknown to it.
pub async fn tell_oracle(summary: Summary) {
    for domain in &summary.domains {
        for split in &domain.splits {
            let names = Original::from_name(&domain.name).zip(Split::from_name(&split.name).ok());
            let Some((original, split)) = names else {
                continue;
            };
            let stored = storage::tasks(&OriginalData::name(original, split)).await;
            let tasks = stored.ok().flatten().and_then(|text| read_tasks(&text));
            if let Some(tasks) = tasks {
                know_tasks(original, split, tasks);
            }
        }
    }
}

fn read_tasks(text: &str) -> Option<Rc<[Task]>> {
    let list = Json::parse(text).ok()?;
    list.as_list()?.iter().map(Task::from_json).collect()
}
