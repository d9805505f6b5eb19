//! The school: a run of reinforcement learning in a worker, while somebody watches.
//!
//! Invariants:
//! - Replies name the run that they belong to, so those of an earlier run change nothing.
//! - `history` has the figures of every update of the run in order; `samples` has samples of each.
//! - A worker that is lost is replaced, and the run continues from the last checkpoint. If that one is lost before another
//!   checkpoint, the run stops.

pub mod class_files;
mod contest;
mod event;
mod fact;
mod task;

use volary_core::Text;
use volary_protocol::school as protocol;
pub use volary_protocol::school::ClassFile;
use volary_protocol::school::{Checkpoint, Taught, Updated, WarmStartBytes};
use volary_school::record::SampleRecord;
use volary_school::{Difficulty, Finding, GroupRecord, Knobs, UpdateMetrics, findings, link};

use crate::notice::Notice;
pub use contest::Contest;
pub use event::{SchoolEffect, SchoolEvent};
pub use fact::{FactSet, FactTracker, SchoolDeed, SchoolFact};
pub use task::{SchoolGoal, SchoolRecord, SchoolTask};

/// The number of tasks of an exam.
pub const EXAM_TASKS: u32 = 64;

/// The parameter of an address by which a lesson opens a task; its value is the id of the task.
pub const LESSON: &str = "lesson=";

/// The updates after which a policy answers a prompt, if there were as many.
const ASKED: [u32; 4] = [0, 10, 40, 180];

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchoolPhase {
    /// No worker has it.
    #[default]
    Unbegun,
    /// A worker is loading it, and then makes this many updates: none, some, or as many as there are until it is stopped.
    Beginning {
        then: TrainingOrder,
    },
    Ready,
    /// Updates are being made.
    Training {
        /// Whether it ends after the current one.
        is_stopping: bool,
    },
}

/// The number of updates after which training stops by itself: several times what any run needs. A tab that was forgotten
/// does not compute for hours.
pub const LONGEST_TRAINING: u32 = 1000;

/// How many updates are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainingOrder {
    #[default]
    Nothing,
    One,
    /// Until it is stopped, or [`LONGEST_TRAINING`] updates were made.
    UntilStopped,
}

impl TrainingOrder {
    fn request(self) -> Option<protocol::Request> {
        let updates = match self {
            TrainingOrder::Nothing => return None,
            TrainingOrder::One => Some(1),
            TrainingOrder::UntilStopped => Some(LONGEST_TRAINING),
        };
        Some(protocol::Request::Train { updates })
    }
}

/// What a policy did with a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The policy after this many updates.
    pub update: u32,
    pub sample: SampleRecord,
}

/// The result of an exam.
#[derive(Clone, Debug, PartialEq)]
pub struct Exam {
    /// The policy after this many updates.
    pub update: u32,
    pub difficulty: Difficulty,
    pub success: f64,
    pub samples: Vec<SampleRecord>,
}

/// Stored for Review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storing {
    /// The number of groups of each update.
    pub groups: u32,
    /// The number of trajectories so far.
    pub episodes: u32,
}

/// The work of a class, and what it did to the warm start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassTeaching {
    /// The opened files. They stay here: a worker that is replaced gets them again.
    files: Vec<ClassFile>,
    /// The environment that it is about.
    environment: String,
    /// Whether a result is awaited.
    pub is_teaching: bool,
    /// The result with all pupils first, then those without one of them.
    pub results: Vec<Taught>,
    /// The result that the run begins with.
    pub used: Option<usize>,
}

/// The state of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct School {
    pub knobs: Knobs,
    pub phase: SchoolPhase,
    /// Counts runs, and workers of a run.
    run: u32,
    /// The figures of each update.
    pub history: Vec<UpdateMetrics>,
    /// Samples of each update: whole groups.
    pub samples: Vec<Vec<SampleRecord>>,
    /// The number of parameters of the policy; 0 before the run is begun.
    pub parameters: u32,
    /// An example of a prompt.
    pub prompt: String,
    /// The update that is looked at; `None` for the latest.
    pub selected: Option<u32>,
    /// The updates before which knobs were changed: the link alone does not repeat such a run.
    pub changes: Vec<u32>,
    pub answers: Vec<Answer>,
    pub exams: Vec<Exam>,
    /// The explained group, and its update.
    pub group: Option<(u32, GroupRecord)>,
    pub storing: Storing,
    pub contest: Contest,
    pub class: ClassTeaching,
    pub notice: Option<Notice>,
    /// The parameters of the address with which the run began.
    began: String,
    facts: FactTracker,
    /// The number of updates of the checkpoint, and its bytes.
    checkpoint: Option<(u32, Checkpoint)>,
    /// Whether a group of the next update is explained.
    explains_next: bool,
    /// Whether the worker was replaced since the last checkpoint.
    was_replaced: bool,
}

impl School {
    /// Handles an event.
    pub fn update(&mut self, event: SchoolEvent) -> Vec<SchoolEffect> {
        let deed = self.deed(&event);
        let mut effects = self.handle(event);
        let changed = self.changes.last().map(|update| *update as usize);
        let mut facts = self.facts.observe(&self.history, changed);
        facts.extend(deed.and_then(|deed| self.facts.note(deed)));
        effects.extend(facts.into_iter().map(|fact| SchoolEffect::Happened {
            began: self.began.clone(),
            fact,
        }));
        effects
    }

    /// What a person achieved by a reply.
    fn deed(&self, event: &SchoolEvent) -> Option<SchoolDeed> {
        let SchoolEvent::Replied { run, event } = event else {
            return None;
        };
        if *run != self.run {
            return None;
        }
        Some(match event {
            protocol::Event::Explained(_) => SchoolDeed::OneGroupSlowly,
            protocol::Event::Examined { exam, .. } => match exam.difficulty {
                Difficulty::Trained => SchoolDeed::NewTasks,
                Difficulty::Beyond => SchoolDeed::HarderTasks,
            },
            protocol::Event::Played {
                policy: Some(_), ..
            } => SchoolDeed::PlayedAgainst,
            protocol::Event::Taught(taught) if taught.examples > 0 => SchoolDeed::ClassTaught,
            _ => return None,
        })
    }

    fn handle(&mut self, event: SchoolEvent) -> Vec<SchoolEffect> {
        match event {
            SchoolEvent::Open(query) => self.open(&query),
            SchoolEvent::Train(training) => self.train(training),
            SchoolEvent::Stop => self.stop(),
            SchoolEvent::Restart => self.restart(),
            SchoolEvent::Change(knobs) => self.change(knobs),
            SchoolEvent::Plant(preset) => {
                let mut knobs = self.knobs.clone();
                preset.plant(&mut knobs);
                self.knobs = knobs;
                self.restart()
            }
            SchoolEvent::Repair(finding) => {
                let mut knobs = self.knobs.clone();
                finding.repair(&mut knobs);
                self.change(knobs)
            }
            SchoolEvent::Select(update) => {
                self.selected = update.filter(|update| *update + 1 < self.done());
                Vec::new()
            }
            SchoolEvent::Ask { prompt } => {
                let policies = self.asked_policies();
                let requests = policies
                    .into_iter()
                    .map(|update| protocol::Request::Answer {
                        update,
                        prompt: prompt.trim().into(),
                        temperature: 0.0,
                        seed: self.knobs.seed,
                    });
                self.answers.clear();
                requests.flat_map(|request| self.ask(request)).collect()
            }
            SchoolEvent::Examine(difficulty) => {
                let request = protocol::Request::Examine {
                    update: self.asked_policy(),
                    difficulty,
                    tasks: EXAM_TASKS,
                };
                self.ask(request)
            }
            SchoolEvent::Slowly => {
                self.explains_next = true;
                self.train(TrainingOrder::One)
            }
            SchoolEvent::Store(groups) => {
                self.storing.groups = groups;
                self.ask(protocol::Request::Store { groups })
            }
            SchoolEvent::Challenge => {
                let number = self.contest.next();
                self.ask(protocol::Request::Draw { number })
            }
            SchoolEvent::PlayTurn(turn) => {
                if !self.contest.write(turn) {
                    return Vec::new();
                }
                let turns = self.contest.turns.iter();
                self.ask(protocol::Request::Play {
                    prompt: self.contest.prompt.as_str().into(),
                    turns: turns.map(|turn| turn.as_str().into()).collect(),
                    update: self.asked_policy(),
                })
            }
            SchoolEvent::TakeClass(files) => {
                self.class = ClassTeaching {
                    files,
                    environment: self.knobs.environment.clone(),
                    ..ClassTeaching::default()
                };
                self.teach(None)
            }
            SchoolEvent::LeaveOut(pupil) => self.teach(Some(pupil)),
            SchoolEvent::UseTaught(index) => {
                self.class.used = index.filter(|index| *index < self.class.results.len());
                self.restart()
            }
            SchoolEvent::Dismiss => {
                self.notice = None;
                Vec::new()
            }
            SchoolEvent::Replied { run, event } if run == self.run => self.replied(event),
            SchoolEvent::TrainingEnded { run } if run == self.run => {
                if let SchoolPhase::Training { .. } = self.phase {
                    self.phase = SchoolPhase::Ready;
                }
                if std::mem::take(&mut self.explains_next) && !self.history.is_empty() {
                    self.ask(protocol::Request::Explain)
                } else {
                    Vec::new()
                }
            }
            SchoolEvent::Lost { run, reason } if run == self.run => self.lost(reason),
            // Of an earlier run.
            SchoolEvent::Replied { .. }
            | SchoolEvent::TrainingEnded { .. }
            | SchoolEvent::Lost { .. } => Vec::new(),
        }
    }

    /// The number of updates that the run has behind it.
    pub fn done(&self) -> u32 {
        u32::try_from(self.history.len()).unwrap_or(u32::MAX)
    }

    pub fn is_training(&self) -> bool {
        matches!(
            self.phase,
            SchoolPhase::Training { .. }
                | SchoolPhase::Beginning {
                    then: TrainingOrder::UntilStopped
                }
        )
    }

    /// The update that is shown; `None` before the first one.
    pub fn shown(&self) -> Option<u32> {
        self.selected.or_else(|| self.done().checked_sub(1))
    }

    /// What looks wrong now.
    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.history)
    }

    /// The policy that questions go to: after the selected update, or the latest.
    fn asked_policy(&self) -> u32 {
        self.selected.map_or(self.done(), |update| update + 1)
    }

    /// The policies that a prompt goes to: after some early updates, and the one that questions go to.
    fn asked_policies(&self) -> Vec<u32> {
        let asked = self.asked_policy();
        let early = ASKED.into_iter().filter(|update| *update < asked);
        early.chain([asked]).collect()
    }

    fn open(&mut self, query: &str) -> Vec<SchoolEffect> {
        // A lesson's task begins afresh, also if the run of now has the same settings.
        let parameters = query
            .split('&')
            .filter(|parameter| !parameter.starts_with(LESSON));
        let settings = parameters.collect::<Vec<_>>().join("&");
        let is_task = settings.len() != query.len();
        if is_task {
            self.class = ClassTeaching::default();
            self.contest = Contest::default();
        }
        match link::from_query(&settings) {
            // The address that this run wrote.
            Ok(knobs) if knobs == self.knobs && self.phase != SchoolPhase::Unbegun && !is_task => {
                Vec::new()
            }
            Ok(knobs) => {
                self.knobs = knobs;
                self.restart()
            }
            Err(error) => {
                let effects = self.restart();
                self.notice = Some(Notice::new(
                    "The link could not be read, so the run has the usual settings.",
                    error.to_string(),
                    "Ask for the link again, or set the knobs yourself.",
                ));
                effects
            }
        }
    }

    /// Begins again with the warm start.
    fn restart(&mut self) -> Vec<SchoolEffect> {
        // What a class taught fits one environment only.
        let has_class = self.class.environment == self.knobs.environment;
        *self = School {
            began: link::to_query(&self.knobs),
            knobs: std::mem::take(&mut self.knobs),
            run: self.run,
            class: if has_class {
                std::mem::take(&mut self.class)
            } else {
                ClassTeaching::default()
            },
            storing: Storing {
                groups: self.storing.groups,
                episodes: 0,
            },
            ..School::default()
        };
        self.begin(TrainingOrder::Nothing, None, true)
    }

    fn begin(
        &mut self,
        then: TrainingOrder,
        checkpoint: Option<Checkpoint>,
        with_address: bool,
    ) -> Vec<SchoolEffect> {
        self.run += 1;
        self.phase = SchoolPhase::Beginning { then };
        // Replies of the former worker do not arrive any more.
        self.class.is_teaching = false;
        let knobs = self.knobs.clone();
        let warm_start = self.warm_start();
        let mut effects = vec![
            SchoolEffect::StartWorker,
            SchoolEffect::Call {
                run: self.run,
                request: protocol::Request::Begin {
                    knobs,
                    checkpoint,
                    warm_start,
                },
            },
        ];
        if with_address {
            effects.push(self.address());
        }
        effects
    }

    /// The warm start of a class, if the run begins with one.
    fn warm_start(&self) -> Option<WarmStartBytes> {
        let result = self.class.results.get(self.class.used?)?;
        Some(result.warm_start.clone())
    }

    /// Teaches by the work of the class, without that of a pupil.
    fn teach(&mut self, without: Option<Text>) -> Vec<SchoolEffect> {
        if self.class.is_teaching || self.class.files.is_empty() {
            return Vec::new();
        }
        let files = self.class.files.clone();
        let effects = self.ask(protocol::Request::Teach { files, without });
        self.class.is_teaching = !effects.is_empty();
        effects
    }

    fn address(&self) -> SchoolEffect {
        SchoolEffect::WriteAddress(link::to_query(&self.knobs))
    }

    fn train(&mut self, training: TrainingOrder) -> Vec<SchoolEffect> {
        self.notice = None;
        self.selected = None;
        match &mut self.phase {
            SchoolPhase::Unbegun => self.begin(training, None, false),
            SchoolPhase::Beginning { then } => {
                *then = training;
                Vec::new()
            }
            SchoolPhase::Ready => {
                let Some(request) = training.request() else {
                    return Vec::new();
                };
                self.phase = SchoolPhase::Training { is_stopping: false };
                self.ask(request)
            }
            SchoolPhase::Training { .. } => Vec::new(),
        }
    }

    fn stop(&mut self) -> Vec<SchoolEffect> {
        match &mut self.phase {
            SchoolPhase::Beginning { then } => {
                *then = TrainingOrder::Nothing;
                Vec::new()
            }
            SchoolPhase::Training { is_stopping } if !*is_stopping => {
                *is_stopping = true;
                self.ask(protocol::Request::Stop)
            }
            _ => Vec::new(),
        }
    }

    fn change(&mut self, knobs: Knobs) -> Vec<SchoolEffect> {
        if let Err(error) = knobs.check() {
            self.notice = Some(Notice::new(
                "This setting is not used.",
                error.to_string(),
                "Choose a value in the range.",
            ));
            return Vec::new();
        }
        self.notice = None;
        if knobs == self.knobs {
            return Vec::new();
        }
        // Before the first update, or with other tasks, it is another run from its start.
        let is_another = self.history.is_empty()
            || knobs.environment != self.knobs.environment
            || knobs.seed != self.knobs.seed;
        self.knobs = knobs;
        if is_another {
            return self.restart();
        }
        let done = self.done();
        if self.changes.last() != Some(&done) {
            self.changes.push(done);
        }
        let knobs = self.knobs.clone();
        let mut effects = self.ask(protocol::Request::Tune { knobs });
        effects.push(self.address());
        effects
    }

    /// A request to the worker, if it has the run.
    fn ask(&self, request: protocol::Request) -> Vec<SchoolEffect> {
        match self.phase {
            SchoolPhase::Ready | SchoolPhase::Training { .. } => vec![SchoolEffect::Call {
                run: self.run,
                request,
            }],
            SchoolPhase::Unbegun | SchoolPhase::Beginning { .. } => Vec::new(),
        }
    }

    fn replied(&mut self, event: protocol::Event) -> Vec<SchoolEffect> {
        match event {
            protocol::Event::Started {
                updates,
                parameters,
                prompt,
            } => return self.started(updates, parameters, &prompt),
            protocol::Event::Updated(updated) => self.updated(*updated),
            protocol::Event::Answered { update, sample } => {
                let sample = *sample;
                self.answers.retain(|answer| answer.update != update);
                self.answers.push(Answer { update, sample });
                self.answers.sort_by_key(|answer| answer.update);
            }
            protocol::Event::Examined { update, exam } => {
                let difficulty = exam.difficulty;
                self.exams
                    .retain(|of| (of.update, of.difficulty) != (update, difficulty));
                self.exams.insert(
                    0,
                    Exam {
                        update,
                        difficulty,
                        success: exam.success,
                        samples: exam.samples,
                    },
                );
                self.exams.truncate(6);
            }
            protocol::Event::Explained(group) => {
                self.group = self.done().checked_sub(1).map(|update| (update, *group));
            }
            protocol::Event::Tuned => {}
            protocol::Event::Drawn { number, prompt } => self.contest.drawn(number, &prompt),
            protocol::Event::Played { person, policy, .. } => {
                let policy = policy.map(|(update, sample)| Answer {
                    update,
                    sample: *sample,
                });
                self.contest.played(*person, policy);
            }
            protocol::Event::Refused { reason } => self.contest.refused(&reason),
            protocol::Event::Taught(taught) => {
                self.class.is_teaching = false;
                let known = self.class.results.iter_mut();
                match known
                    .into_iter()
                    .find(|result| result.without == taught.without)
                {
                    Some(result) => *result = *taught,
                    None => self.class.results.push(*taught),
                }
            }
            protocol::Event::Stored { episodes } => self.storing.episodes += episodes,
            protocol::Event::Unstored { reason } => {
                self.storing.groups = 0;
                self.notice = Some(Notice::new(
                    "Samples are not stored for Review any more.",
                    reason.to_string(),
                    "Delete trajectories in Review, and choose again what is stored.",
                ));
            }
            protocol::Event::Failed { reason } => {
                if let SchoolPhase::Beginning { .. } = self.phase {
                    self.phase = SchoolPhase::Unbegun;
                }
                self.class.is_teaching = false;
                self.notice = Some(Notice::new(
                    "That did not work.",
                    reason.to_string(),
                    "The run is as it was before.",
                ));
            }
        }
        Vec::new()
    }

    fn started(&mut self, updates: u32, parameters: u32, prompt: &str) -> Vec<SchoolEffect> {
        let SchoolPhase::Beginning { then } = self.phase else {
            return Vec::new();
        };
        self.parameters = parameters;
        prompt.clone_into(&mut self.prompt);
        // The updates after the checkpoint are made again.
        self.history.truncate(updates as usize);
        self.samples.truncate(updates as usize);
        self.selected = self.selected.filter(|update| *update < updates);
        self.phase = SchoolPhase::Ready;
        let mut effects = Vec::new();
        if self.storing.groups > 0 {
            let groups = self.storing.groups;
            effects.extend(self.ask(protocol::Request::Store { groups }));
        }
        if then != TrainingOrder::Nothing {
            effects.extend(self.train(then));
        }
        effects
    }

    fn updated(&mut self, updated: Updated) {
        // A doubled reply.
        if updated.metrics.update != self.done() {
            return;
        }
        self.history.push(updated.metrics);
        self.samples.push(updated.samples);
        if let Some(checkpoint) = updated.checkpoint {
            self.checkpoint = Some((self.done(), checkpoint));
            self.was_replaced = false;
        }
    }

    fn lost(&mut self, reason: String) -> Vec<SchoolEffect> {
        // A person who pressed Stop meanwhile wants no more updates.
        let is_stopping = matches!(self.phase, SchoolPhase::Training { is_stopping: true });
        let was_training = self.is_training() && !is_stopping;
        if self.was_replaced || self.phase == SchoolPhase::Unbegun {
            self.phase = SchoolPhase::Unbegun;
            self.notice = Some(Notice::new(
                "The training stopped: its worker ended twice.",
                reason,
                "Begin again, or reload the page.",
            ));
            return Vec::new();
        }
        self.was_replaced = true;
        let (updates, bytes) = self.checkpoint.clone().unzip();
        self.notice = Some(Notice::new(
            format!(
                "The worker that trained ended. The run continues from update {}.",
                updates.unwrap_or(0)
            ),
            reason,
            "You need to do nothing.",
        ));
        let then = if was_training {
            TrainingOrder::UntilStopped
        } else {
            TrainingOrder::Nothing
        };
        self.begin(then, bytes, false)
    }
}

#[cfg(test)]
mod tests;
