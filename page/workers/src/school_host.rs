//! The part of a worker that trains a small policy.
//!
//! Invariants: between two updates, the worker reads its messages, so that Stop and questions do not wait for the end of the
//! training. It keeps the weights after at most [`KEPT`] updates; if there are more, every other one is dropped.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use leptos::wasm_split::wasm_split;
use volary_analysis::table::Row;
use volary_app::school::class_files;
use volary_core::json::Text;
use volary_core::random::Random;
use volary_episode::native;
use volary_protocol::envelope::decode_request;
use volary_protocol::school::{
    Checkpoint, ClassFile, Event, Request, Taught, Updated, WarmStartBytes,
};
use volary_protocol::{Channel, DecodeError};
use volary_school::inspect::{answer, examine};
use volary_school::policy::file::{read_8_bit, write_8_bit};
use volary_school::policy::{Network, Weights};
use volary_school::record::SampleRecord;
use volary_school::{
    Classwork, Difficulty, Knobs, Learnable, Run, RunError, SchoolError, Update, episodes, link,
    person, shipped,
};

use super::services::{Incoming, Replies, Services, listen};
use volary_browser::database::{DatabaseError, KeptText};
use volary_browser::lazy::Loaded;
use volary_browser::worker_port::WorkerPort;
use volary_browser::{spawn, timers};
use volary_storage as storage;
use volary_storage::episodes::{StoredEpisode, storing};
use volary_storage::origin::PLAYED;

/// The largest number of policies that are kept: 27 MB.
const KEPT: usize = 256;
/// A checkpoint is sent after this many updates: 300 KB.
const CHECKPOINT: u32 = 10;
/// The number of groups of a batch whose samples are sent.
const SHOWN_GROUPS: usize = 2;
/// The number of tasks by which a class is compared with and without a pupil.
const TAUGHT_TASKS: u32 = 512;
/// The number of tasks of an exam may be larger than anyone waits for.
const MOST_TASKS: u32 = 1024;

/// Serves the page.
#[wasm_split(school, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn serve(port: WorkerPort) -> Loaded<()> {
    port.report_panics();
    listen(&port, Rc::new(SchoolHost::default()));
    Ok(())
}

/// Why a request was refused. Each text is for people.
#[derive(Debug, thiserror::Error)]
enum SchoolRefusal {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    School(#[from] SchoolError),
    #[error("There is no run in this worker: begin one first.")]
    NoRun,
    #[error("`{prompt}` is no task of this environment. One is written like the example.")]
    NoTask { prompt: Text },
    #[error("There is no episode.")]
    NoEpisode,
    #[error("This request needs more than an answer.")]
    NoAnswer,
    #[error("The samples are not stored: {error} {}", .error.advice())]
    NotStored { error: DatabaseError },
}

#[derive(Default)]
struct SchoolHost {
    state: RefCell<Option<Held>>,
    /// Whether training ends after the current update.
    is_stopping: Cell<bool>,
}

/// The run of this worker.
struct Held {
    run: Run,
    /// The weights after a number of updates.
    kept: BTreeMap<u32, Weights>,
    /// The latest batch.
    last: Option<Update>,
    /// The number of groups of a batch that are stored for Review.
    stored_groups: usize,
    /// Names the run among stored trajectories. Equal names mean equal trajectories, so that a repeated run replaces them.
    name: String,
}

impl Services for SchoolHost {
    fn handle(self: Rc<Self>, request: Incoming, replies: Replies) -> Result<(), DecodeError> {
        // On other channels, the call completes without a reply: they are not of this part.
        if request.channel == Channel::School {
            let request = decode_request(&request.body)?;
            spawn(async move {
                if let Err(refusal) = self.handle_request(request, &replies).await {
                    let reason = refusal.to_string().into();
                    replies.send(&Event::Failed { reason });
                }
            });
        }
        Ok(())
    }
}

impl SchoolHost {
    async fn handle_request(
        &self,
        request: Request,
        replies: &Replies,
    ) -> Result<(), SchoolRefusal> {
        match request {
            Request::Begin {
                knobs,
                checkpoint,
                warm_start,
            } => {
                let held = Held::begin(knobs, checkpoint.as_ref(), warm_start.as_ref());
                let held = held?;
                replies.send(&held.started());
                self.state.replace(Some(held));
                Ok(())
            }
            Request::Train { updates } => self.train(updates, replies).await,
            Request::Stop => {
                self.is_stopping.set(true);
                Ok(())
            }
            Request::Store { groups } => {
                let chosen = self.with(|held| {
                    held.stored_groups = groups as usize;
                    Ok(held.chosen())
                })?;
                store(chosen, replies).await
            }
            request => {
                let event = self.with(|held| held.answer(request))?;
                replies.send(&event);
                Ok(())
            }
        }
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut Held) -> Result<T, SchoolRefusal>,
    ) -> Result<T, SchoolRefusal> {
        let mut state = self.state.borrow_mut();
        work(state.as_mut().ok_or(SchoolRefusal::NoRun)?)
    }

    async fn train(&self, updates: Option<u32>, replies: &Replies) -> Result<(), SchoolRefusal> {
        self.is_stopping.set(false);
        let mut left = updates;
        while left != Some(0) && !self.is_stopping.get() {
            let (updated, chosen) = self.with(|held| {
                let updated = held.update()?;
                Ok((updated, held.chosen()))
            })?;
            replies.send(&Event::Updated(Box::new(updated)));
            if let Err(refusal) = store(chosen, replies).await {
                // The browser is out of space. The training needs none.
                self.with(|held| {
                    held.stored_groups = 0;
                    Ok(())
                })?;
                let reason = refusal.to_string().into();
                replies.send(&Event::Unstored { reason });
            }
            left = left.map(|left| left - 1);
            timers::sleep(Duration::ZERO).await;
        }
        Ok(())
    }
}

impl Held {
    fn begin(
        knobs: Knobs,
        checkpoint: Option<&Checkpoint>,
        warm_start: Option<&WarmStartBytes>,
    ) -> Result<Self, RunError> {
        let mut name = match link::to_query(&knobs) {
            query if query.is_empty() => "School".to_owned(),
            query => format!("School {}", query.replace('&', " ")),
        };
        let warm_start = match warm_start {
            None => shipped(&knobs.environment)?,
            Some(bytes) => {
                let weights = read_8_bit(bytes)?;
                name.push_str(&format!(", taught by a class {:08x}", weights.hash() >> 32));
                weights
            }
        };
        let run = match checkpoint {
            None => Run::new(knobs, warm_start)?,
            Some(bytes) => {
                let mut run = Run::resume(bytes, warm_start)?;
                run.set_knobs(knobs)?;
                run
            }
        };
        let mut held = Held {
            kept: BTreeMap::from([(0, run.warm_start().weights().clone())]),
            run,
            last: None,
            stored_groups: 0,
            name,
        };
        held.keep();
        Ok(held)
    }

    fn started(&self) -> Event {
        let mut random = Random::new(self.run.knobs().seed).fork("example");
        let exercise = self
            .run
            .learnable()
            .exercise(Difficulty::Trained, &mut random);
        let parameters = self.run.network().weights().values().len();
        Event::Started {
            updates: self.run.updates(),
            parameters: u32::try_from(parameters).unwrap_or(u32::MAX),
            prompt: exercise.prompt.into(),
        }
    }

    /// Keeps the weights of now.
    fn keep(&mut self) {
        let weights = self.run.network().weights().clone();
        self.kept.insert(self.run.updates(), weights);
        if self.kept.len() > KEPT {
            let mut is_even = false;
            let last = self.run.updates();
            self.kept.retain(|update, _| {
                is_even = !is_even;
                is_even || *update == last
            });
        }
    }

    fn update(&mut self) -> Result<Updated, RunError> {
        let update = self.run.update()?;
        self.keep();
        let group = self.run.knobs().group;
        let samples = update.rollouts.iter().take(SHOWN_GROUPS * group);
        let samples = samples.map(|rollout| SampleRecord::of(self.run.learnable(), rollout));
        let checkpoint = self
            .run
            .updates()
            .is_multiple_of(CHECKPOINT)
            .then(|| Checkpoint::from(self.run.checkpoint()));
        let updated = Updated {
            metrics: update.metrics.clone(),
            samples: samples.collect(),
            checkpoint,
        };
        self.last = Some(update);
        Ok(updated)
    }

    /// The policy after an update, or the nearest one before it, with its number.
    fn policy(&self, update: u32) -> (u32, Network) {
        let kept = self.kept.range(..=update).next_back();
        kept.map_or_else(
            || (self.run.updates(), self.run.network().clone()),
            |(update, weights)| (*update, Network::new(weights.clone())),
        )
    }

    fn answer(&mut self, request: Request) -> Result<Event, SchoolRefusal> {
        match request {
            Request::Tune { knobs } => {
                let change = link::to_query(&knobs).replace('&', " ");
                self.run.set_knobs(knobs)?;
                let updates = self.run.updates();
                self.name.push_str(&format!(", from {updates} {change}"));
                Ok(Event::Tuned)
            }
            Request::Answer {
                update,
                prompt,
                temperature,
                seed,
            } => {
                let learnable = self.run.learnable();
                let exercise = learnable
                    .exercise_of(&prompt)
                    .ok_or(SchoolRefusal::NoTask { prompt })?;
                let (update, network) = self.policy(update);
                let rollout = answer(learnable, &network, &exercise, temperature, seed);
                let rollout = rollout?.ok_or(SchoolRefusal::NoEpisode)?;
                let sample = Box::new(SampleRecord::of(learnable, &rollout));
                Ok(Event::Answered { update, sample })
            }
            Request::Examine {
                update,
                difficulty,
                tasks,
            } => {
                let (update, network) = self.policy(update);
                let tasks = tasks.min(MOST_TASKS) as usize;
                let seed = self.run.knobs().seed;
                let exam = examine(self.run.learnable(), &network, difficulty, tasks, 0.0, seed);
                let exam = Box::new(exam?);
                Ok(Event::Examined { update, exam })
            }
            Request::Explain => {
                let group = self.run.explain(self.telling_group())?;
                Ok(Event::Explained(Box::new(group)))
            }
            Request::Draw { number } => {
                let learnable = self.run.learnable();
                let random = Random::new(self.run.knobs().seed);
                let mut random = random.fork(&format!("drawn {number}"));
                let exercise = learnable.exercise(Difficulty::Trained, &mut random);
                let prompt = exercise.prompt.into();
                Ok(Event::Drawn { number, prompt })
            }
            Request::Play {
                prompt,
                turns,
                update,
            } => self.play(&prompt, &turns, update),
            Request::Teach { files, without } => {
                let learnable = self.run.learnable();
                let taught = taught_by(learnable, &files, without.as_deref())?;
                Ok(Event::Taught(Box::new(taught)))
            }
            // Handled before.
            Request::Begin { .. }
            | Request::Train { .. }
            | Request::Stop
            | Request::Store { .. } => Err(SchoolRefusal::NoAnswer),
        }
    }

    /// Lets a person act, and the policy once the person is done.
    fn play(&self, prompt: &str, turns: &[Text], update: u32) -> Result<Event, SchoolRefusal> {
        let learnable = self.run.learnable();
        let exercise = learnable
            .exercise_of(prompt)
            .ok_or_else(|| SchoolRefusal::NoTask {
                prompt: prompt.into(),
            })?;
        let turns: Vec<&str> = turns.iter().map(|turn| &**turn).collect();
        let attempt = match person::attempt(learnable, &exercise, &turns) {
            Ok(attempt) => attempt,
            Err(error) => {
                let reason = error.to_string().into();
                return Ok(Event::Refused { reason });
            }
        };
        let policy = if attempt.is_over {
            let (update, network) = self.policy(update);
            let rollout = answer(learnable, &network, &exercise, 0.0, self.run.knobs().seed);
            let rollout = rollout?.ok_or(SchoolRefusal::NoEpisode)?;
            let mut sample = SampleRecord::of(learnable, &rollout);
            sample.reward = learnable.reward(&exercise, &rollout.attempt);
            Some((update, Box::new(sample)))
        } else {
            None
        };
        Ok(Event::Played {
            person: Box::new(attempt.sample),
            is_over: attempt.is_over,
            policy,
        })
    }

    /// The first group of the latest batch whose rewards differ, or else the first.
    fn telling_group(&self) -> usize {
        let rollouts = self.last.iter().flat_map(|update| &update.rollouts);
        let mut taught = rollouts.filter(|rollout| rollout.advantage != 0.0);
        taught.next().map_or(0, |rollout| rollout.group)
    }

    /// The chosen groups of the latest batch, as stored trajectories.
    fn chosen(&self) -> Vec<StoredEpisode> {
        let Some(update) = self.last.as_ref().filter(|_| self.stored_groups > 0) else {
            return Vec::new();
        };
        let chosen = update.rollouts.iter();
        let chosen = chosen.filter(|rollout| rollout.group < self.stored_groups);
        let number = update.metrics.update;
        let (learnable, knobs) = (self.run.learnable(), self.run.knobs());
        let stored = chosen.map(|rollout| {
            let mut episode = episodes::episode(learnable, knobs, number, rollout);
            let (group, sample) = (rollout.group, rollout.sample);
            episode.id = format!("{} {number}-{group}-{sample}", self.name).into();
            let run = Text::from(&*self.name);
            episode.metadata.insert("run", run);
            let row = Row::of(&episode, Vec::new());
            StoredEpisode::new(row, KeptText::from(native::to_text(&episode)), PLAYED)
        });
        stored.collect()
    }
}

/// Stores trajectories for Review.
async fn store(chosen: Vec<StoredEpisode>, replies: &Replies) -> Result<(), SchoolRefusal> {
    if chosen.is_empty() {
        return Ok(());
    }
    let episodes = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
    let stored = storage::write(storing(Vec::new(), chosen)).await;
    stored.map_err(|error| SchoolRefusal::NotStored { error })?;
    replies.send(&Event::Stored { episodes });
    Ok(())
}

/// Teaches the warm start of an environment by the work in files, without that of a pupil.
fn taught_by(
    learnable: &dyn Learnable,
    files: &[ClassFile],
    without: Option<&str>,
) -> Result<Taught, RunError> {
    let (works, unread) = class_files::read(files);
    let mut classwork = Classwork::read(learnable, &works);
    classwork.left_out.extend(unread);
    let start = shipped(learnable.environment())?;
    let success = |weights: &Weights| {
        let network = Network::new(weights.clone());
        let tasks = TAUGHT_TASKS as usize;
        let exam = examine(learnable, &network, Difficulty::Trained, tasks, 1.0, 1);
        exam.map(|exam| exam.success)
    };
    let before = success(&start)?;
    let weights = classwork.teach(learnable, start, without)?;
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let pupils = classwork.pupils().into_iter();
    Ok(Taught {
        without: without.map(Text::from),
        pupils: pupils
            .map(|(pupil, examples)| (pupil.into(), count(examples)))
            .collect(),
        examples: count(classwork.count(without)),
        left_out: classwork.left_out,
        tasks: TAUGHT_TASKS,
        before,
        success: success(&weights)?,
        warm_start: WarmStartBytes::from(write_8_bit(&weights)),
    })
}
