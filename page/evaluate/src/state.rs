//! The state of the evaluations page: stored evaluations, the open one, and actions.

use std::rc::Rc;

use leptos::prelude::*;
use volary_agent::evaluation::{CellResult, Plan, episode_id, export};
use volary_analysis::sensitive::{self, check_document, masked_document};
use volary_app::evaluation::open_evaluation::{Deleted, OpenEffect, OpenEvaluation};
use volary_app::evaluation::summary;
use volary_app::evaluation::tasks::unsuccessful;
use volary_app::notice::Notice;
use volary_core::json::Text;
use volary_episode::native;
use volary_view::route::{ReviewPlace, Route};
use volary_view::sharing_texts::OwnedFinding;

use super::delete_dialog::Doomed;
use super::run::{OpenRun, lock};
use volary_browser::database::DatabaseError;
use volary_browser::{self as browser, files, location, timers};
use volary_playground::state::Playground;
use volary_playground::url_sync;
use volary_storage::evaluations::{self as kept, Head};
use volary_storage::{self as storage, episodes};
use volary_ui::sharing_check::CheckedExport;

#[derive(Clone, Copy)]
pub struct Evaluations {
    /// The playground, which shows episodes and alerts.
    pub playground: Playground,
    /// The stored evaluations, latest first.
    pub heads: RwSignal<Vec<Head>>,
    /// The open evaluation.
    pub open: RwSignal<Option<Rc<OpenRun>>, LocalStorage>,
    /// Whether the evaluation in the address is loading, which takes longer after a crash.
    pub(super) is_loading: RwSignal<bool>,
    /// The evaluation to delete, while the dialog asks for confirmation.
    pub(super) doomed: RwSignal<Option<Doomed>>,
    /// Whether the deletion dialog is open.
    pub(super) is_asking: RwSignal<bool>,
    /// A file of results or episodes, checked for sensitive data before it is saved.
    pub(super) export: CheckedExport,
    /// The open evaluation and those that were left, which may still have requests in flight.
    page: StoredValue<OpenEvaluation<Rc<OpenRun>>, LocalStorage>,
    /// The plan to copy into the form for a new evaluation.
    pub(super) copied: RwSignal<Option<Plan>>,
}

impl Evaluations {
    pub fn new(playground: Playground) -> Self {
        let evaluations = Evaluations {
            playground,
            heads: RwSignal::new(Vec::new()),
            open: RwSignal::new_local(None),
            is_loading: RwSignal::new(false),
            doomed: RwSignal::new(None),
            is_asking: RwSignal::new(false),
            export: CheckedExport::new(),
            page: StoredValue::new_local(OpenEvaluation::default()),
            copied: RwSignal::new(None),
        };
        evaluations.list();
        evaluations
    }

    /// Reloads the list of stored evaluations.
    pub fn list(self) {
        browser::spawn(async move {
            match kept::list().await {
                Ok(heads) => {
                    let outdated = heads.iter().filter(|head| !summary::has_summary(head));
                    let outdated = outdated.filter(|head| head.finished + head.failed > 0);
                    let outdated: Vec<Text> = outdated.map(|head| head.id.clone()).collect();
                    self.heads.set(heads);
                    for id in outdated {
                        self.summarize(&id).await;
                    }
                }
                Err(error) => self.say_refused("Previous evaluations cannot be read.", &error),
            }
        });
    }

    /// Computes the list's summary of an evaluation that an earlier version played or that was interrupted.
    async fn summarize(self, id: &str) {
        // An unreadable evaluation stays without a summary; opening it reports the reason.
        let Ok(Some(loaded)) = kept::load(id).await else {
            return;
        };
        let head = summary::summarized_head(&loaded);
        self.heads.try_update(|heads| {
            if let Some(known) = heads.iter_mut().find(|known| *known.id == *id) {
                known.clone_from(&head);
            }
        });
        // If another tab plays it, that tab stores its own summary.
        if let Some(_lock) = lock(id).await {
            // If the write fails, the summary is computed again at the next visit.
            let _ = storage::write(vec![kept::keeping_head(&head)]).await;
        }
    }

    /// Renames an evaluation.
    pub fn rename(self, id: String, name: String) {
        browser::spawn(async move {
            let Some(_lock) = lock(&id).await else {
                return self.playground.alert(Notice::new(
                    "The evaluation was not renamed.",
                    "It is running, here or in another tab.",
                    "Pause it first.",
                ));
            };
            let renamed = async {
                if let Some(mut loaded) = kept::load(&id).await? {
                    loaded.head.name = name.as_str().into();
                    loaded.plan.name = name.as_str().into();
                    let plan = kept::keeping_plan(&id, &loaded.plan);
                    storage::write(vec![kept::keeping_head(&loaded.head), plan]).await?;
                }
                Ok(())
            };
            if let Err(error) = renamed.await {
                self.say_refused("The evaluation cannot be renamed.", &error);
            }
            self.list();
        });
    }

    /// Fills the form for a new evaluation with the tasks, policies and limits of another one.
    pub fn duplicate(self, id: String) {
        browser::spawn(async move {
            match kept::load(&id).await {
                Ok(Some(loaded)) => {
                    self.copied.set(Some(loaded.plan));
                    browser::element::focus_id("evaluation-source");
                }
                Ok(None) => self.list(),
                Err(error) => self.say_refused("The evaluation cannot be read.", &error),
            }
        });
    }

    /// Opens the first unsuccessful episode in Review, which links to the next ones.
    pub fn read_failures(self) {
        let Some(run) = self.open.get_untracked() else {
            return;
        };
        browser::spawn(async move {
            let own = match kept::own_episodes(&run.id).await {
                Ok(own) => own,
                Err(error) => return self.say_refused("The episodes cannot be read.", &error),
            };
            let results = run.results();
            let cells = unsuccessful(&run.plan, &results);
            let mut episodes = cells.iter().map(|cell| episode_id(&run.id, *cell));
            let first = episodes.find(|id| own.iter().any(|known| **known == **id));
            match first {
                Some(first) => location::go(&review_address(&run.id, &first)),
                None => self.playground.alert(Notice::new(
                    "There is no episode to read.",
                    "All of them failed before their environments started.",
                    "Retry the failures.",
                )),
            }
        });
    }

    /// Opens the evaluation in the address.
    pub fn follow(self, id: Option<String>) {
        self.update(|page| page.follow(id, |run| run.has_lock()));
    }

    fn update(
        self,
        change: impl FnOnce(&mut OpenEvaluation<Rc<OpenRun>>) -> Vec<OpenEffect<Rc<OpenRun>>>,
    ) {
        let effects = self.page.try_update_value(change).unwrap_or_default();
        for effect in effects {
            match effect {
                OpenEffect::Leave(run) => run.leave(),
                OpenEffect::Show(run) => self.open.set(run),
                OpenEffect::Loading(is_loading) => self.is_loading.set(is_loading),
                OpenEffect::Load(id) => browser::spawn(self.load(id)),
                OpenEffect::List => self.list(),
            }
        }
    }

    async fn load(self, id: String) {
        let loaded = kept::load(&id).await;
        if !self.page.with_value(|page| page.expects(&id)) {
            // The user navigated elsewhere meanwhile, or elsewhere and back.
            return;
        }
        match loaded {
            Ok(Some(kept)) => return self.update(|page| page.opened(&id, OpenRun::open(kept))),
            Ok(None) => self.playground.alert(Notice::new(
                "Evaluation not found.",
                "It was deleted or belongs to another browser.",
                "Set up a new evaluation or open a previous one.",
            )),
            Err(error) => self.say_refused("The evaluation cannot be read.", &error),
        }
        self.is_loading.set(false);
    }

    /// Stores a plan and starts it.
    pub fn start(self, plan: Plan) {
        let id = browser::random_id();
        let head = Head {
            id: id.clone(),
            name: plan.name.clone(),
            made: timers::wall_clock(),
            total: plan.length(),
            finished: 0,
            failed: 0,
            source: summary::source(&plan),
            policies: Vec::new(),
        };
        let (stored_head, stored_plan) = (head.clone(), plan.clone());
        let run = OpenRun::start(head, plan, async move {
            let changes = vec![
                kept::keeping_head(&stored_head),
                kept::keeping_plan(&stored_head.id, &stored_plan),
            ];
            if let Err(error) = storage::write(changes).await {
                self.say_refused("The evaluation cannot be stored.", &error);
            }
        });
        browser::element::let_go();
        self.update(|page| page.opened(&id, run));
        let route = Route::Evaluate {
            evaluation: Some(id.to_string()),
            beside: None,
        };
        location::go(&route.to_hash());
    }

    /// Asks the user to confirm a deletion, and shows the number of episodes.
    pub fn ask_to_delete(self, id: String, name: String) {
        browser::spawn(async move {
            match kept::own_episodes(&id).await {
                Ok(episodes) => {
                    let episodes = episodes.len();
                    self.doomed.set(Some(Doomed { id, name, episodes }));
                    self.is_asking.set(true);
                }
                Err(error) => self.say_refused("The evaluation cannot be deleted.", &error),
            }
        });
    }

    /// Deletes an evaluation and its episodes.
    pub fn delete(self, id: String) {
        let deleted = self.page.try_update_value(|page| page.deleted(&id));
        let Some(Deleted { run, was_open }) = deleted else {
            return;
        };
        let is_here = run.as_ref().is_some_and(|run| run.has_lock());
        if let Some(run) = run {
            run.cancel();
        }
        // If it was only a row of the list, the form above the list stays as it is.
        if was_open {
            self.open.set(None);
            location::go("#/evaluate");
        }
        browser::spawn(async move {
            // This tab has dropped its work on it; another tab may still be playing it.
            let is_elsewhere = !is_here && lock(&id).await.is_none();
            if is_elsewhere {
                self.playground.alert(Notice::new(
                    "The evaluation was not deleted.",
                    "It is running in another tab.",
                    "Cancel it there first.",
                ));
                return;
            }
            if let Err(error) = kept::forget(&id).await {
                self.say_refused("The evaluation cannot be deleted.", &error);
            }
            self.list();
        });
    }

    /// Shows the episode of a cell in the playground.
    pub fn show_episode(self, cell: usize) {
        let Some(run) = self.open.get_untracked() else {
            return;
        };
        browser::spawn(async move {
            let text = match episodes::text(&episode_id(&run.id, cell)).await {
                Ok(text) => text,
                Err(error) => return self.say_refused("The episode cannot be read.", &error),
            };
            let read = text.map(|text| native::read(&text.to_text()));
            match read {
                Some(Ok(reading)) => {
                    if let Some(episode) = reading.episodes.into_iter().next() {
                        url_sync::visit(self.playground, episode);
                    }
                }
                Some(Err(error)) => self.playground.alert(Notice::new(
                    "The episode cannot be read.",
                    error.to_string(),
                    "Run this cell again.",
                )),
                None => self.playground.alert(Notice::new(
                    "This cell has no episode.",
                    "It failed before its environment started, or it was deleted.",
                    "Retry the failures.",
                )),
            }
        });
    }

    /// Saves the results as a file.
    pub fn export_results(self, as_csv: bool) {
        let Some(run) = self.open.get_untracked() else {
            return;
        };
        let results: Vec<CellResult> = run.results();
        let (text, ending, kind) = if as_csv {
            (export::to_csv(&run.plan, &results), "csv", "text/csv")
        } else {
            (
                export::to_jsonl(&run.plan, &results),
                "jsonl",
                "application/jsonl",
            )
        };
        let name = format!("evaluation-{}.{ending}", run.id);
        let found = OwnedFinding::all(check_document(&text));
        self.export.save("The results", found, move |is_masked| {
            let masked = is_masked.then(|| masked_document(&text));
            let text = masked.as_ref().unwrap_or(&text);
            files::download(&name, kind, text.as_bytes());
        });
    }

    /// Exports all episodes as one JSONL file.
    pub fn export_episodes(self) {
        let Some(run) = self.open.get_untracked() else {
            return;
        };
        browser::spawn(async move {
            let (mut lines, mut found) = (Vec::new(), Vec::new());
            for result in run.results() {
                match episodes::text(&episode_id(&run.id, result.cell)).await {
                    Ok(Some(text)) => {
                        let line = text.to_text().to_string();
                        found.extend(found_in(&line));
                        lines.push(line);
                    }
                    Ok(None) => {}
                    Err(error) => return self.say_refused("The episodes cannot be read.", &error),
                }
            }
            let name = format!("episodes-{}.jsonl", run.id);
            self.export.save("The file", found, move |is_masked| {
                let lines = lines.iter().map(|line| {
                    if is_masked {
                        masked_lines(line)
                    } else {
                        format!("{line}\n")
                    }
                });
                let text: String = lines.collect();
                files::download(&name, "application/jsonl", text.as_bytes());
            });
        });
    }

    fn say_refused(self, what: &str, error: &DatabaseError) {
        self.playground
            .alert(Notice::new(what, error.to_string(), error.advice()));
    }
}

/// Finds sensitive data in stored episodes.
fn found_in(text: &str) -> Vec<OwnedFinding> {
    let episodes = native::read(text).map_or_else(|_| Vec::new(), |reading| reading.episodes);
    let found = episodes.iter().flat_map(|episode| {
        let findings = sensitive::check(episode).into_iter();
        findings.map(|finding| OwnedFinding {
            owner: Some(episode.name.clone()),
            finding,
        })
    });
    found.collect()
}

/// Masks episodes and encodes them as JSONL. An episode that cannot be masked is omitted.
fn masked_lines(text: &str) -> String {
    let episodes = native::read(text).map_or_else(|_| Vec::new(), |reading| reading.episodes);
    let masked = episodes.iter().filter_map(|episode| {
        let masked = sensitive::masked(episode).ok()?;
        Some(native::to_text(&masked) + "\n")
    });
    masked.collect()
}

/// The address in Review of an evaluation's episode, at its last step, where it failed.
pub(super) fn review_address(evaluation: &str, episode: &str) -> String {
    let place = ReviewPlace {
        episode: Some(episode.to_owned()),
        step: Some(usize::MAX),
        evaluation: Some(evaluation.to_owned()),
        ..ReviewPlace::default()
    };
    Route::Review(place).to_hash()
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Episode;

    use super::*;

    const KEY: &str = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghij";

    fn lines() -> String {
        let episode = |name: &str, text: &str| {
            native::to_text(&Episode {
                name: name.into(),
                start: vec![Message::user(text).into()],
                ..Episode::default()
            })
        };
        let key = format!("The key is {KEY}.");
        format!("{}\n{}\n", episode("a", "No secret."), episode("b", &key))
    }

    #[test]
    fn a_finding_names_the_episode_that_it_is_in() {
        let found = found_in(&lines());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].owner.as_deref(), Some("b"));
    }

    #[test]
    fn masked_episodes_are_complete_but_for_what_was_found() {
        let masked = masked_lines(&lines());
        assert!(!masked.contains(KEY));
        assert_eq!(masked.lines().count(), 2);
        assert_eq!(found_in(&masked).len(), 0);
        let read = native::read(&masked).unwrap().episodes;
        let names: Vec<&str> = read.iter().map(|episode| &*episode.name).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn nothing_is_found_in_no_episodes() {
        assert_eq!(found_in("").len(), 0);
        assert_eq!(masked_lines(""), "");
    }

    #[test]
    fn a_result_leads_to_the_end_of_its_episode_in_review() {
        let hash = review_address("an evaluation", "a/b 1");
        let Route::Review(place) = Route::parse(&hash) else {
            panic!("{hash}");
        };
        assert_eq!(place.episode.as_deref(), Some("a/b 1"));
        assert_eq!(place.evaluation.as_deref(), Some("an evaluation"));
        assert_eq!(place.step, Some(usize::MAX));
    }
}
