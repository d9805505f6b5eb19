//! A pupil's work on an assignment: its steps, what the browser keeps of it, and handing it in.
//!
//! Invariants: a step is kept as soon as it is known. A stored record that this version cannot read is never
//! overwritten, because a newer version may have written it. What is handed in is what was played, so a task need not be open.
//! One hand-in is on its way at a time; what changed meanwhile counts as changed since. A failed hand-in changes nothing
//! but the state of the delivery.

use std::collections::BTreeSet;
use std::sync::Arc;

use volary_classroom::wire::Submission;
use volary_classroom::work::Delivery;
use volary_classroom::{Assignment, Class, HandIn, Name, Standing, Work};
use volary_core::AnyMessage;
use volary_episode::{Episode, native};

use super::download_name::download_name;
use crate::notice::Notice;

/// A record of the work in the browser. The episodes are apart, because each step changes one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkRecord {
    /// The name, the secret and the state of the delivery.
    Work,
    /// The episode of the task at this index.
    Episode(usize),
}

impl WorkRecord {
    /// The key in the browser's storage.
    pub fn key(self, assignment: &Assignment) -> String {
        match self {
            WorkRecord::Work => format!("class.{}", assignment.id),
            WorkRecord::Episode(place) => format!("class.{}.{place}", assignment.id),
        }
    }
}

/// Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A player shows this episode of a task, and nothing is in progress.
    Played { place: usize, episode: Arc<Episode> },
    /// The pupil entered a name.
    Named(Name),
    /// The pupil hands in: to the class if it can be reached, otherwise as a file.
    HandIn { now: f64 },
    /// The pupil saves the work as a file.
    Save { now: f64 },
    /// The response to [`Effect::Submit`]: when the class received it.
    Answered(Result<f64, Notice>),
    /// The result of [`Effect::Keep`].
    Kept { record: WorkRecord, is_kept: bool },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Write a record to the browser's storage, and report [`Event::Kept`].
    Keep {
        record: WorkRecord,
        text: String,
    },
    /// Remove a record from the browser's storage.
    Remove(WorkRecord),
    /// Send the hand-in, and report [`Event::Answered`].
    Submit {
        class: Class,
        submission: Submission,
    },
    Download {
        name: String,
        text: String,
    },
}

/// How the work gets to the teacher.
#[derive(Clone, Debug, PartialEq)]
pub enum HandInRoute {
    Class(Class),
    /// The assignment names no class, or one whose address cannot be used.
    File,
}

/// A pupil's work, and the state of handing it in.
#[derive(Debug)]
pub struct WorkDesk {
    assignment: Arc<Assignment>,
    route: HandInRoute,
    work: Work,
    /// The episode of each task; `None` if no step was taken.
    episodes: Vec<Option<Arc<Episode>>>,
    /// The hand-in on its way, if there is one.
    sent: Option<SentWork>,
    /// Why the last attempt to hand in failed.
    failure: Option<Notice>,
    /// What the browser refused to keep.
    unkept: BTreeSet<WorkRecord>,
    /// The records of another version, which stay as they are.
    unreadable: BTreeSet<WorkRecord>,
}

/// A hand-in on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SentWork {
    /// Whether the work was changed since.
    is_changed: bool,
}

impl WorkDesk {
    /// The work that the browser keeps, of which `kept` returns the records. Otherwise a new one with a secret that
    /// `secret` makes.
    pub fn open(
        assignment: Arc<Assignment>,
        route: HandInRoute,
        kept: impl Fn(WorkRecord) -> Option<String>,
        secret: impl FnOnce() -> String,
    ) -> WorkDesk {
        let mut unreadable = BTreeSet::new();
        let work = kept(WorkRecord::Work).and_then(|text| {
            let work = Work::read(&text);
            if work.is_none() {
                unreadable.insert(WorkRecord::Work);
            }
            work.filter(|work| work.is_of(&assignment))
        });
        let has_work = work.is_some();
        let episodes = (0..assignment.tasks.len()).map(|place| {
            let record = WorkRecord::Episode(place);
            let text = kept(record)?;
            if !has_work {
                // Episodes of work that cannot be read belong to it.
                if unreadable.contains(&WorkRecord::Work) {
                    unreadable.insert(record);
                }
                return None;
            }
            let read = native::read(&text).ok();
            let episode = read.and_then(|read| read.episodes.into_iter().next());
            if episode.is_none() {
                unreadable.insert(record);
            }
            episode.map(Arc::new)
        });
        let episodes = episodes.collect();
        WorkDesk {
            work: work.unwrap_or_else(|| Work::new(&assignment, secret())),
            route,
            episodes,
            assignment,
            sent: None,
            failure: None,
            unkept: BTreeSet::new(),
            unreadable,
        }
    }

    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.handle(event);
        effects.retain(|effect| match effect {
            Effect::Keep { record, .. } | Effect::Remove(record) => {
                !self.unreadable.contains(record)
            }
            Effect::Submit { .. } | Effect::Download { .. } => true,
        });
        effects
    }

    fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Played { place, episode } => self.played_on(place, &episode),
            Event::Named(name) if name == self.work.pupil => Vec::new(),
            Event::Named(name) => {
                self.work.pupil = name;
                vec![self.changed()]
            }
            Event::HandIn { .. } if self.is_sending() => Vec::new(),
            Event::HandIn { now } => match self.route.clone() {
                HandInRoute::Class(class) => self.send(class, now),
                HandInRoute::File => self.save(now),
            },
            Event::Save { now } => self.save(now),
            Event::Answered(receipt) => self.answered(receipt).into_iter().collect(),
            Event::Kept { record, is_kept } => {
                if is_kept {
                    self.unkept.remove(&record)
                } else {
                    self.unkept.insert(record)
                };
                Vec::new()
            }
        }
    }

    pub fn assignment(&self) -> &Arc<Assignment> {
        &self.assignment
    }

    pub fn pupil(&self) -> &Name {
        &self.work.pupil
    }

    /// Whether the class has the work, or a file was saved.
    pub fn delivery(&self) -> &Delivery {
        &self.work.delivery
    }

    pub fn is_sending(&self) -> bool {
        self.sent.is_some()
    }

    /// Why the last attempt to hand in failed.
    pub fn failure(&self) -> Option<&Notice> {
        self.failure.as_ref()
    }

    /// Whether the browser keeps the work. Some do not, in private windows or without space.
    pub fn is_kept(&self) -> bool {
        self.unkept.is_empty()
    }

    /// Whether the browser keeps work of another version of this page, which this version cannot read. What is done here
    /// is not kept then.
    pub fn is_unreadable(&self) -> bool {
        !self.unreadable.is_empty()
    }

    /// Whether a hand-in was sent and never confirmed, in this visit or an earlier one.
    pub fn is_unconfirmed(&self) -> bool {
        !self.is_sending() && self.failure.is_none() && self.work.delivery == Delivery::Unconfirmed
    }

    /// The actions that were taken in a task.
    pub fn actions(&self, place: usize) -> Vec<AnyMessage> {
        let episode = self.episode(place);
        let actions = episode.map(|episode| episode.actions().cloned().collect());
        actions.unwrap_or_default()
    }

    /// What was reached in a task.
    pub fn standing(&self, place: usize) -> Standing {
        Standing::of(Name::default(), self.episode(place))
    }

    /// The number of tasks with at least one step.
    pub fn played(&self) -> usize {
        self.episodes.iter().flatten().count()
    }

    fn episode(&self, place: usize) -> Option<&Episode> {
        self.episodes.get(place)?.as_deref()
    }

    fn played_on(&mut self, place: usize, episode: &Arc<Episode>) -> Vec<Effect> {
        let Some(known) = self.episodes.get_mut(place) else {
            return Vec::new();
        };
        let episode = (!episode.steps.is_empty()).then(|| Arc::clone(episode));
        let is_known = match (&*known, &episode) {
            (Some(known), Some(episode)) => known.actions().eq(episode.actions()),
            (known, episode) => known.is_none() && episode.is_none(),
        };
        if is_known {
            return Vec::new();
        }
        let record = WorkRecord::Episode(place);
        let stored = match &episode {
            Some(episode) => Effect::Keep {
                record,
                text: native::to_text(episode),
            },
            None => {
                self.unkept.remove(&record);
                Effect::Remove(record)
            }
        };
        *known = episode;
        vec![stored, self.changed()]
    }

    /// Notes that the work is no longer the one that was handed in.
    fn changed(&mut self) -> Effect {
        if let Some(sent) = &mut self.sent {
            sent.is_changed = true;
        }
        self.work.change();
        self.kept_work()
    }

    fn kept_work(&self) -> Effect {
        Effect::Keep {
            record: WorkRecord::Work,
            text: self.work.to_text(),
        }
    }

    fn send(&mut self, class: Class, now: f64) -> Vec<Effect> {
        let Some(hand_in) = self.hand_in(now) else {
            return Vec::new();
        };
        let secret = self.work.secret.clone();
        let submission = Submission { secret, hand_in };
        self.sent = Some(SentWork { is_changed: false });
        self.work.send();
        // Kept first, so that a page that is closed meanwhile knows that the class may have the work.
        vec![self.kept_work(), Effect::Submit { class, submission }]
    }

    fn answered(&mut self, receipt: Result<f64, Notice>) -> Option<Effect> {
        let SentWork { is_changed } = self.sent.take()?;
        match receipt {
            Ok(received) => {
                self.work.confirm(received, is_changed);
                Some(self.kept_work())
            }
            Err(notice) => {
                self.failure = Some(notice);
                None
            }
        }
    }

    fn save(&mut self, now: f64) -> Vec<Effect> {
        let Some(hand_in) = self.hand_in(now) else {
            return Vec::new();
        };
        let name = download_name(&[hand_in.pupil.as_str(), hand_in.title.as_str()]);
        let mut effects = vec![Effect::Download {
            name: format!("{name}.json"),
            text: hand_in.to_text(),
        }];
        if self.route == HandInRoute::File {
            self.work.confirm(now, false);
            effects.push(self.kept_work());
        }
        effects
    }

    /// The hand-in; `None` if something is missing, which is then the failure.
    fn hand_in(&mut self, now: f64) -> Option<HandIn> {
        let episodes = self.episodes.iter();
        let episodes = episodes.map(|episode| episode.as_deref().cloned());
        let pupil = self.work.pupil.clone();
        let made = HandIn::new(&self.assignment, pupil, now, episodes);
        self.failure = made
            .as_ref()
            .err()
            .map(|error| Notice::new("Your work was not handed in.", error.to_string(), ""));
        made.ok()
    }
}

#[cfg(test)]
mod tests;
