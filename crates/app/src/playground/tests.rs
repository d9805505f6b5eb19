//! The playground with a simulated worker.

use volary_agent::rollout::Stop;
use volary_core::dataset::Task;
use volary_core::message::{Message, ToolRequestMessage};
use volary_core::{AnyMessage, Frame, Json, Object, json, object};
use volary_episode::frames::{FrameHistory, FramePatch};
use volary_episode::{Outcome, Recipe, StepRecord};
use volary_protocol::WorkerLoss;
use volary_protocol::environments::Event as WorkerEvent;
use volary_protocol::environments::{Question, ServerEnvironment};
use volary_protocol::episode::{EpisodeChunk, Steps};

use super::consent::{EpisodeAttempt, Reach};
use super::player_move::Move;
use super::run_choice::ActingParty;
use super::session::Command;
use super::*;

mod consent;
mod interleavings;
mod setup;
mod shared_worker;

const SERVER: &str = "https://server.example";

fn known() -> KnownEnvironments {
    KnownEnvironments {
        built_in: vec!["counter"],
        others: vec![(SERVER.into(), Reach::Connected)],
        code: Vec::new(),
    }
}

fn list(dataset: &str, ids: &[&str]) -> TaskSource {
    let task = |id: &&str| Task {
        id: (*id).into(),
        title: format!("Task {id}").into(),
        environment: "counter",
        configuration: object!({"n": (*id), "limit": 5}),
    };
    TaskSource {
        dataset: dataset.into(),
        title: dataset.into(),
        tasks: ids.iter().map(task).collect(),
        file: None,
    }
}

/// The lists that are known before the environments are loaded.
fn sources() -> Vec<TaskSource> {
    vec![list("counts", &["a"])]
}

/// The lists that are known afterwards.
fn all_sources() -> Vec<TaskSource> {
    vec![list("more", &["x"]), list("counts", &["b", "a"])]
}

fn recipe_of(environment: &str) -> Recipe {
    Recipe {
        environment: environment.into(),
        ..Recipe::default()
    }
}

fn action(text: &str) -> AnyMessage {
    ToolRequestMessage {
        body: volary_core::message::Body::text(text),
        ..ToolRequestMessage::default()
    }
    .into()
}

fn act(text: &str) -> Move {
    Move::Act(Box::new(action(text).into()))
}

fn record(action: &AnyMessage, done: bool) -> StepRecord {
    StepRecord {
        action: action.clone(),
        outcome: Outcome::Observed {
            messages: Vec::new(),
            reward: 1.0,
            done,
            truncated: false,
        },
        seconds: None,
        details: Default::default(),
        extras: Object::new(),
    }
}

fn frame(number: usize) -> Frame {
    Frame::new(i64::try_from(number).unwrap(), Json::Null)
}

/// The reply to an action that is taken after `before` steps.
fn step_reply(action: &AnyMessage, before: usize, done: bool) -> WorkerEvent {
    WorkerEvent::Episode(EpisodeChunk::Steps(Steps {
        records: vec![record(action, done)],
        patches: vec![FramePatch::between(&frame(before), &frame(before + 1))],
    }))
}

/// The replies to a request to open an environment.
fn open_replies(recipe: &Recipe, actions: &[AnyMessage]) -> Vec<WorkerEvent> {
    let mut frames = FrameHistory::default();
    frames.push(frame(0));
    let head = Episode {
        recipe: Some(recipe.clone()),
        start: vec![Message::user("go").into()],
        frames,
        ..Episode::default()
    };
    let mut events = vec![WorkerEvent::Episode(EpisodeChunk::Head(Box::new(head)))];
    let steps = actions.iter().enumerate();
    events.extend(steps.map(|(before, action)| step_reply(action, before, false)));
    let notes = Vec::new();
    events.push(WorkerEvent::Episode(EpisodeChunk::End { notes }));
    events
}

/// An episode of the counter that was recorded elsewhere.
fn recorded(environment: &str, steps: usize) -> Box<Episode> {
    let mut frames = FrameHistory::default();
    (0..=steps).for_each(|number| frames.push(frame(number)));
    Box::new(Episode {
        id: "file".into(),
        recipe: Some(recipe_of(environment)),
        start: vec![Message::user("go").into()],
        steps: (0..steps)
            .map(|step| record(&action(&step.to_string()), false))
            .collect(),
        frames,
        ..Episode::default()
    })
}

/// A playground and what the page has to do for it.
struct Desk {
    playground: PlaygroundMachine,
    effects: Vec<Effect>,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            playground: PlaygroundMachine::new(known(), sources()),
            effects: Vec::new(),
        }
    }

    /// A desk with a new episode of an environment.
    fn playing(environment: &str) -> Desk {
        let mut desk = Desk::new();
        desk.open(environment, "1");
        desk.answer();
        desk.effects.clear();
        desk
    }

    fn happen(&mut self, event: Event) -> &mut Desk {
        self.effects = self.playground.update(event);
        self
    }

    fn open(&mut self, environment: &str, id: &str) -> &mut Desk {
        self.happen(Event::Open {
            recipe: recipe_of(environment),
            actions: Vec::new(),
            id: id.into(),
            name: None,
        })
    }

    fn sent(&self) -> Option<&Command> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Send(command) => Some(command),
            _ => None,
        })
    }

    /// Lets the worker answer the commands of the last event, and those that follow. Collects all effects.
    fn answer(&mut self) -> &mut Desk {
        let mut all = std::mem::take(&mut self.effects);
        let mut position = 0;
        while let Some(effect) = all.get(position) {
            position += 1;
            let Effect::Send(command) = effect else {
                continue;
            };
            let environment = command.environment();
            let replies = match command {
                Command::Open {
                    recipe, actions, ..
                } => open_replies(recipe, actions),
                Command::Step { action, .. } => {
                    vec![step_reply(action, self.playground.steps(), false)]
                }
            };
            for event in replies {
                let effects = self.playground.update(Event::Replied {
                    worker: self.playground.worker(),
                    environment,
                    event,
                });
                all.extend(effects);
            }
        }
        self.effects = all;
        self
    }

    fn reply(&mut self, event: WorkerEvent) -> &mut Desk {
        let environment = self.playground.session().awaited().expect("a command");
        self.happen(Event::Replied {
            worker: self.playground.worker(),
            environment,
            event,
        })
    }

    fn act(&mut self, text: &str) -> &mut Desk {
        self.happen(Event::ActByHand(action(text))).answer()
    }

    fn alerted(&self) -> Option<&str> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Alert(notice) => Some(&*notice.what),
            _ => None,
        })
    }

    fn said(&self) -> Option<&Text> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Say(text) => Some(text),
            _ => None,
        })
    }

    fn stored(&self) -> Vec<(&str, usize)> {
        let stored = self.effects.iter().filter_map(|effect| match effect {
            Effect::Store(episode) => Some((&*episode.id, episode.steps.len())),
            _ => None,
        });
        stored.collect()
    }

    fn has(&self, effect: &Effect) -> bool {
        self.effects.contains(effect)
    }

    /// Whether the player of a run is asked for its next move.
    fn decides(&self, run: u32) -> bool {
        let steps = self.playground.steps();
        self.has(&Effect::Decide { run, steps })
    }

    fn crash(&mut self) -> &mut Desk {
        let message = "unreachable".into();
        self.happen(Event::WorkerLost {
            worker: self.playground.worker(),
            loss: WorkerLoss::Crashed { message },
        })
    }

    /// Starts a run of a policy without a pause, up to its first decision. Returns its number.
    fn run(&mut self, delay: f64) -> u32 {
        self.happen(Event::Run(ActingParty::Policy));
        let run = self.seat().expect("a run");
        let name = "random".into();
        self.happen(Event::Seated { run, name, delay });
        assert!(self.decides(run));
        run
    }

    fn seat(&self) -> Option<u32> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Seat { run } => Some(*run),
            _ => None,
        })
    }
}

#[test]
fn an_episode_is_opened_and_played_by_hand() {
    let mut desk = Desk::new();
    desk.open("counter", "1");
    assert!(matches!(desk.sent(), Some(Command::Open { .. })));
    assert_eq!(desk.playground.edition(), 0);
    desk.answer();
    assert_eq!(&*desk.playground.episode().id, "1");
    assert_eq!(&*desk.playground.episode().name, "counter");
    assert_eq!(desk.playground.edition(), 1);
    assert!(desk.has(&Effect::AdaptAction));
    assert!(
        desk.effects
            .iter()
            .any(|effect| matches!(effect, Effect::CloseOthers(_)))
    );
    desk.act("up");
    assert_eq!(desk.playground.steps(), 1);
    assert_eq!(desk.playground.selected(), 1);
    assert_eq!(desk.playground.episode().policy.as_deref(), Some("manual"));
    // The user looks at the start while another step is taken.
    desk.playground.select(0);
    desk.act("up");
    assert_eq!(
        (desk.playground.steps(), desk.playground.selected()),
        (2, 0)
    );
}

#[test]
fn what_is_not_possible_is_refused_with_a_reason() {
    let refused = Some("This is not possible right now.");
    let mut desk = Desk::new();
    desk.act("up");
    assert_eq!(desk.alerted(), refused, "there is no episode");
    desk.happen(Event::Show(recorded("nothing", 1)));
    assert_eq!(desk.playground.may_step(), Err(Refusal::Unknown));
    desk.act("up");
    assert_eq!(desk.alerted(), refused, "the environment is unknown");
    desk.happen(Event::Run(ActingParty::Policy));
    assert_eq!(desk.alerted(), refused);
    let mut desk = Desk::playing("counter");
    desk.open("counter", "2");
    desk.act("up");
    assert_eq!(desk.alerted(), refused, "another episode is being opened");
}

#[test]
fn pressing_step_twice_takes_one_step() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::ActByHand(action("up")));
    let first = desk.effects.clone();
    desk.happen(Event::ActByHand(action("up")));
    assert_eq!(desk.effects, [], "not even a message");
    desk.effects = first;
    desk.answer();
    assert_eq!(desk.playground.steps(), 1);
}

#[test]
fn another_episode_makes_the_shown_one_the_previous_one() {
    let mut desk = Desk::playing("counter");
    desk.act("up");
    desk.open("counter", "2");
    assert_eq!(desk.stored(), [], "the first one is still shown");
    desk.answer();
    assert_eq!(desk.stored(), [("played-1", 1)]);
    assert_eq!(&*desk.playground.episode().id, "2");
    let former = desk.playground.former().expect("the first episode");
    assert_eq!(&*former.id, "1");
    desk.happen(Event::BringBack);
    assert_eq!(&*desk.playground.episode().id, "1");
    assert!(desk.playground.session().is_record());
    assert!(desk.has(&Effect::ShowRecipe(recipe_of("counter"))));
    // The second episode has no steps, so it is not worth bringing back.
    assert_eq!(desk.playground.former(), None);
    desk.happen(Event::BringBack);
    assert_eq!(&*desk.playground.episode().id, "1", "there is no other");
}

#[test]
fn a_worker_that_is_busy_is_dropped_for_another_episode() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::ActByHand(action("forever")));
    let late = desk.playground.worker();
    let environment = desk.playground.session().awaited().unwrap();
    desk.open("counter", "2");
    assert!(desk.has(&Effect::DropWorker));
    let effects = desk.effects.clone();
    for event in [
        Event::Replied {
            worker: late,
            environment,
            event: step_reply(&action("forever"), 0, false),
        },
        Event::WorkerLost {
            worker: late,
            loss: WorkerLoss::Unloaded,
        },
    ] {
        desk.happen(event);
        assert_eq!(desk.effects, [], "the worker is not the current one");
    }
    desk.effects = effects;
    desk.answer();
    assert_eq!(
        (&*desk.playground.episode().id, desk.playground.steps()),
        ("2", 0)
    );
}

#[test]
fn going_back_stores_the_branch_and_forks_from_it() {
    let mut desk = Desk::playing("counter");
    desk.act("a").act("b");
    desk.happen(Event::GoBack(1));
    assert_eq!(desk.stored(), [("played-1", 2)]);
    assert!(desk.has(&Effect::WriteAddress));
    desk.answer();
    assert_eq!(
        (desk.playground.steps(), desk.playground.selected()),
        (1, 1)
    );
    let fork = desk.playground.fork().expect("a fork");
    assert_eq!((&*fork.episode, fork.step), ("played-1", Some(1)));
    desk.act("c").happen(Event::Leave);
    assert_eq!(desk.stored(), [("played-1-2", 2)]);
    assert_eq!(desk.playground.stored_id().as_deref(), Some("played-1-2"));
    desk.happen(Event::Leave);
    assert_eq!(desk.stored(), [], "everything is stored");
}

#[test]
fn a_record_is_replayed_before_its_next_action() {
    let mut desk = Desk::new();
    desk.happen(Event::Show(recorded("counter", 2)));
    assert_eq!(desk.playground.selected(), 2);
    desk.act("up");
    assert_eq!(desk.playground.steps(), 3);
    assert!(!desk.playground.session().is_record());
}

#[test]
fn a_replay_that_differs_is_reported() {
    let mut desk = Desk::new();
    let mut other = recorded("counter", 1);
    other.start = vec![Message::user("went").into()];
    desk.happen(Event::Show(other));
    desk.happen(Event::GoBack(1)).answer();
    let said = desk.said().expect("a message");
    assert!(said.contains("from step 0 on"), "{said}");
}

#[test]
fn the_wanted_step_is_selected_once() {
    let mut desk = Desk::new();
    desk.happen(Event::SelectOnceShown(Some(1)));
    desk.happen(Event::Show(recorded("counter", 3)));
    assert_eq!(desk.playground.selected(), 1);
    desk.happen(Event::Show(recorded("counter", 3)));
    assert_eq!(desk.playground.selected(), 3);
    desk.happen(Event::SelectOnceShown(Some(9)));
    desk.happen(Event::Show(recorded("counter", 2)));
    assert_eq!(desk.playground.selected(), 2);
}

#[test]
fn an_address_of_something_else_ends_the_reading() {
    let mut desk = Desk::new();
    desk.happen(Event::OpenStored { id: "a".into() });
    desk.happen(Event::Navigate { step: Some(1) });
    let (id, episode) = ("a".into(), Some(recorded("counter", 2)));
    desk.happen(Event::StoredRead { id, episode });
    assert_eq!(desk.effects, []);
    desk.happen(Event::Show(recorded("counter", 2)));
    assert_eq!(desk.playground.selected(), 1);
}

#[test]
fn only_the_last_stored_episode_that_was_asked_for_is_shown() {
    let mut desk = Desk::new();
    let read = |id: &str, steps| Event::StoredRead {
        id: id.into(),
        episode: Some(recorded("counter", steps)),
    };
    desk.happen(Event::OpenStored { id: "a".into() });
    desk.happen(Event::OpenStored { id: "b".into() });
    assert!(desk.has(&Effect::ReadStored { id: "b".into() }));
    desk.happen(read("a", 1));
    assert_eq!(desk.effects, [], "it is not wanted any more");
    assert!(desk.playground.is_reading());
    desk.happen(read("b", 2));
    assert_eq!(desk.playground.steps(), 2);
    desk.happen(read("b", 3));
    assert_eq!(desk.playground.steps(), 2, "it was read already");
    // A new episode takes its place as well.
    desk.happen(Event::OpenStored { id: "c".into() });
    desk.open("counter", "1").answer();
    desk.happen(read("c", 4));
    assert_eq!(&*desk.playground.episode().id, "1");
    desk.happen(Event::OpenStored { id: "d".into() });
    let (id, episode) = ("d".into(), None);
    desk.happen(Event::StoredRead { id, episode });
    assert_eq!(desk.effects, [Effect::StoredIsMissing]);
}

#[test]
fn input_that_the_environment_refuses_changes_nothing() {
    let mut desk = Desk::playing("counter");
    desk.open("counter", "2");
    let (reason, key) = (Text::from("too large"), Some(Text::from("size")));
    desk.reply(WorkerEvent::Refused {
        reason: reason.clone(),
        key: key.clone(),
        is_server_lost: false,
    });
    let key = key.unwrap();
    assert!(desk.has(&Effect::RefuseField { key, reason }));
    assert_eq!(desk.alerted(), Some("The environment rejected the input."));
    assert_eq!(&*desk.playground.episode().id, "1");
    assert_eq!(desk.playground.may_step(), Ok(()));
}

#[test]
fn an_environment_that_the_worker_dropped_is_replayed_first() {
    let mut desk = Desk::playing("counter");
    desk.act("a");
    desk.happen(Event::ActByHand(action("b")));
    desk.reply(WorkerEvent::Gone);
    assert!(matches!(desk.sent(), Some(Command::Open { actions, .. }) if actions.len() == 1));
    desk.answer();
    assert_eq!(desk.playground.steps(), 2);
}

#[test]
fn a_question_is_passed_on_and_nothing_is_drawn() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::ActByHand(action("ask")));
    let question = Question::Person {
        shown: "Which one?".into(),
    };
    let asked = question.clone();
    desk.reply(WorkerEvent::Question {
        id: 7,
        question: asked,
    });
    assert_eq!(desk.effects, [Effect::Ask { id: 7, question }]);
}

#[test]
fn a_crash_ends_the_episode_with_the_action_that_caused_it() {
    let mut desk = Desk::playing("counter");
    desk.act("a");
    desk.happen(Event::ActByHand(action("break")));
    desk.crash();
    assert!(desk.has(&Effect::DropWorker) && desk.has(&Effect::StartWorker));
    assert_eq!(desk.playground.steps(), 2);
    assert_eq!(desk.stored(), [("played-1", 2)]);
    assert_eq!(desk.playground.may_step(), Err(Refusal::Over));
    assert!(desk.alerted().is_some_and(|what| what.contains("crashed")));
    // The same loss, reported by another request.
    let (worker, loss) = (desk.playground.worker() - 1, WorkerLoss::Unloaded);
    desk.happen(Event::WorkerLost { worker, loss });
    assert_eq!(desk.effects, []);
}

/// The start of the new episode has arrived and is shown when its worker is lost.
#[test]
fn steps_are_stored_before_a_part_of_another_episode_is_shown() {
    let ends: [fn(&mut Desk); 2] = [
        |desk| {
            desk.crash();
        },
        |desk| {
            let (edition, steps) = (desk.playground.edition(), desk.playground.steps());
            desk.happen(Event::StepIsLate { edition, steps });
        },
    ];
    for end in ends {
        let mut desk = Desk::playing("counter");
        desk.act("a");
        desk.open("counter", "2");
        let head = open_replies(&recipe_of("counter"), &[]).remove(0);
        desk.reply(head);
        end(&mut desk);
        assert_eq!(desk.stored(), [("played-1", 1)]);
        assert_eq!(&*desk.playground.episode().id, "2");
        let former = desk.playground.former().expect("the first episode");
        assert_eq!((&*former.id, former.steps.len()), ("1", 1));
    }
}

#[test]
fn a_worker_that_never_works_is_not_started_again_and_again() {
    let mut desk = Desk::new();
    let mut started = 0;
    for _ in 0..5 {
        desk.open("counter", "1");
        desk.crash();
        started += usize::from(desk.has(&Effect::StartWorker));
    }
    assert_eq!(started, 2);
}

#[test]
fn without_the_code_of_the_worker_the_shown_episode_stays() {
    let mut desk = Desk::playing("counter");
    desk.act("a");
    desk.open("counter", "2");
    let unloaded = |desk: &Desk| Event::WorkerLost {
        worker: desk.playground.worker(),
        loss: WorkerLoss::Unloaded,
    };
    desk.happen(unloaded(&desk));
    assert!(desk.has(&Effect::SayUnloaded));
    assert_eq!(
        (&*desk.playground.episode().id, desk.playground.steps()),
        ("1", 1)
    );
    desk.happen(unloaded(&desk));
    assert!(!desk.has(&Effect::SayUnloaded), "nothing waited for it");
    // The next step tries again.
    desk.act("b");
    assert_eq!(desk.playground.steps(), 2);
}

#[test]
fn environments_on_servers_are_closed_when_their_worker_goes() {
    let open = |env_id: &str| ServerEnvironment {
        url: SERVER.into(),
        env_id: env_id.into(),
    };
    let mut desk = Desk::new();
    desk.open(SERVER, "1");
    let sent = desk.effects.clone();
    desk.reply(WorkerEvent::Started(open("a")));
    desk.reply(WorkerEvent::Started(open("b")));
    desk.effects = sent;
    desk.answer();
    desk.happen(Event::Closing(WorkerEvent::Stopped { env_id: "a".into() }));
    desk.happen(Event::ActByHand(action("break")));
    desk.crash();
    assert!(desk.has(&Effect::CloseOnServers(vec![open("b")])));
    assert!(
        desk.alerted()
            .is_some_and(|what| what.contains("on the server"))
    );
    desk.happen(Event::CloseServers);
    assert_eq!(desk.effects, [], "nothing is open");
}

#[test]
fn a_step_on_a_server_is_never_repeated_by_itself() {
    let mut desk = Desk::playing(SERVER);
    desk.happen(Event::ActByHand(action("pay")));
    desk.happen(Event::Stop);
    let (edition, steps) = (desk.playground.edition(), 0);
    desk.happen(Event::StepIsLate { edition, steps });
    assert_eq!(desk.sent(), None);
    assert!(desk.playground.session().is_record());
    assert_eq!(desk.playground.steps(), 1, "the action is recorded");
}

#[test]
fn a_run_takes_steps_until_the_player_stops() {
    let mut desk = Desk::playing("counter");
    let run = desk.run(0.0);
    for text in ["a", "b"] {
        desk.happen(Event::Decided {
            run,
            steps: desk.playground.steps(),
            next: act(text),
        })
        .answer();
        assert!(desk.decides(run));
    }
    let next = Move::Stop(Stop {
        ending: Ending::Truncated {
            reason: "limit".into(),
        },
        reason: "The limit is reached.".into(),
    });
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next,
    });
    assert_eq!(desk.playground.current_run(), Run::Idle);
    assert!(desk.has(&Effect::DropPlayer));
    assert_eq!(
        desk.said().map(|text| &**text),
        Some("The limit is reached.")
    );
    let episode = desk.playground.episode();
    assert_eq!(episode.policy.as_deref(), Some("random"));
    assert!(matches!(episode.ending, Ending::Truncated { .. }));
    // Another limit applies to the next run.
    desk.run(0.0);
    assert_eq!(desk.playground.episode().ending, Ending::Open);
}

#[test]
fn a_run_pauses_between_its_steps() {
    let mut desk = Desk::playing("counter");
    let run = desk.run(1.5);
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next: act("a"),
    })
    .answer();
    assert!(desk.has(&Effect::Pause { run, seconds: 1.5 }));
    assert!(!desk.decides(run));
    desk.happen(Event::Paused { run: run + 1 });
    assert_eq!(desk.effects, []);
    desk.happen(Event::Paused { run });
    assert!(desk.decides(run));
    desk.happen(Event::Paused { run });
    assert_eq!(desk.effects, [], "the pause is over already");
}

#[test]
fn a_single_request_ends_after_one_action_and_can_be_repeated() {
    let mut desk = Desk::playing("counter");
    for _ in 0..2 {
        let again = if desk.playground.steps() == 0 {
            Event::RunOnce
        } else {
            Event::Attempt(EpisodeAttempt::RunAgain)
        };
        desk.happen(again);
        let run = desk.seat().expect("a run");
        let name = "model".into();
        desk.happen(Event::Seated {
            run,
            name,
            delay: 0.0,
        });
        desk.happen(Event::Decided {
            run,
            steps: desk.playground.steps(),
            next: act("a"),
        })
        .answer();
        assert_eq!(desk.playground.current_run(), Run::Idle);
    }
    assert_eq!(desk.playground.steps(), 2);
}

#[test]
fn a_run_without_a_player_ends() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::Run(ActingParty::Policy));
    let run = desk.seat().unwrap();
    desk.happen(Event::NotSeated { run: run + 1 });
    assert_ne!(desk.playground.current_run(), Run::Idle);
    desk.happen(Event::NotSeated { run });
    assert_eq!(desk.playground.current_run(), Run::Idle);
}

#[test]
fn nothing_that_a_stopped_run_decides_is_done() {
    let mut desk = Desk::playing("counter");
    let run = desk.run(0.0);
    desk.happen(Event::Stop);
    assert!(desk.has(&Effect::DropPlayer));
    assert_eq!(desk.playground.current_run(), Run::Idle);
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next: act("late"),
    });
    assert_eq!(desk.effects, []);
    let next = desk.run(0.0);
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next: act("late"),
    });
    assert_eq!(desk.effects, [], "nor in the next run");
    desk.happen(Event::Decided {
        run: next,
        steps: desk.playground.steps(),
        next: act("a"),
    });
    assert!(desk.sent().is_some());
    desk.happen(Event::Decided {
        run: next,
        steps: desk.playground.steps(),
        next: act("twice"),
    });
    assert_eq!(desk.effects, [], "a second decision");
}

#[test]
fn stop_waits_for_the_step_in_progress() {
    let mut desk = Desk::playing("counter");
    let run = desk.run(0.0);
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next: act("a"),
    });
    let sent = desk.effects.clone();
    desk.happen(Event::Stop);
    assert_eq!(desk.playground.current_run(), Run::Stopping(run));
    let (edition, steps) = (desk.playground.edition(), 0);
    assert!(desk.has(&Effect::AwaitStep { edition, steps }));
    desk.effects = sent;
    desk.answer();
    assert_eq!(desk.playground.current_run(), Run::Idle);
    assert_eq!(desk.playground.steps(), 1);
    desk.happen(Event::StepIsLate { edition, steps });
    assert_eq!(desk.effects, [], "the step was in time");
}

#[test]
fn a_step_that_takes_too_long_ends_its_worker_once() {
    let mut desk = Desk::playing("counter");
    desk.act("a");
    desk.happen(Event::ActByHand(action("forever")));
    desk.happen(Event::Stop);
    let late = Event::StepIsLate {
        edition: desk.playground.edition(),
        steps: 1,
    };
    desk.happen(late.clone());
    assert!(desk.has(&Effect::DropWorker) && desk.has(&Effect::StopPython));
    assert!(desk.said().is_some());
    desk.answer();
    assert_eq!(desk.playground.steps(), 1);
    assert_eq!(desk.playground.may_step(), Ok(()));
    desk.happen(late);
    assert_eq!(desk.effects, []);
}

#[test]
fn an_action_that_became_no_step_ends_the_run() {
    let mut desk = Desk::playing("counter");
    let run = desk.run(0.0);
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next: act("bad"),
    });
    desk.reply(WorkerEvent::Refused {
        reason: "no".into(),
        key: None,
        is_server_lost: false,
    });
    assert_eq!(desk.playground.current_run(), Run::Idle);
    assert!(!desk.decides(run));
}

#[test]
fn a_run_ends_when_another_episode_is_opened_or_the_worker_is_lost() {
    let ends: [fn(&mut Desk); 4] = [
        |desk| {
            desk.open("counter", "2");
        },
        |desk| {
            desk.happen(Event::Show(recorded("counter", 0)));
        },
        |desk| {
            desk.happen(Event::GoBack(0));
        },
        |desk| {
            desk.crash();
        },
    ];
    for (case, end) in ends.into_iter().enumerate() {
        let mut desk = Desk::playing("counter");
        let run = desk.run(0.0);
        end(&mut desk);
        assert_eq!(desk.playground.current_run(), Run::Idle, "case {case}");
        assert!(desk.has(&Effect::DropPlayer), "case {case}");
        desk.happen(Event::Decided {
            run,
            steps: desk.playground.steps(),
            next: act("late"),
        });
        assert_eq!(desk.effects, [], "case {case}");
    }
}

#[test]
fn run_starts_over_in_a_new_episode_after_the_end() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::ActByHand(action("last")));
    desk.reply(step_reply(&action("last"), 0, true));
    desk.happen(Event::Run(ActingParty::Policy));
    assert!(desk.has(&Effect::StartOver));
    desk.open("counter", "2");
    let sent = desk.effects.clone();
    desk.happen(Event::RunOnceOpened);
    assert_eq!(desk.seat(), None, "it is not open yet");
    desk.effects = sent;
    desk.answer();
    assert!(desk.seat().is_some());
    assert_eq!(&*desk.playground.episode().id, "2");
}

#[test]
fn no_policy_acts_in_an_episode_in_which_it_was_not_asked_to() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::RunOnceOpened);
    assert_eq!(desk.effects, [], "nothing is being opened");
    desk.open("counter", "2");
    desk.happen(Event::RunOnceOpened);
    desk.open("counter", "3");
    desk.answer();
    assert_eq!(desk.seat(), None);
    assert_eq!(desk.playground.current_run(), Run::Idle);
}

#[test]
fn run_asks_who_should_act_if_nobody_can() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::Run(ActingParty::Person));
    assert_eq!(desk.effects, [Effect::ChoosePolicy]);
    desk.run(0.0);
    desk.happen(Event::Run(ActingParty::Person));
    assert_eq!(desk.effects, [], "a policy acts already");
}

#[test]
fn an_action_by_hand_takes_the_turn_of_the_model() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::ChoosePolicy(PolicyKind::Model));
    let run = desk.run(0.0);
    desk.act("mine");
    assert_eq!(desk.playground.current_run(), Run::Idle);
    desk.happen(Event::Decided {
        run,
        steps: desk.playground.steps(),
        next: act("the model's"),
    });
    assert_eq!(desk.effects, []);
    assert_eq!(desk.playground.steps(), 1);
}

#[test]
fn more_is_recorded_only_about_the_episode_and_step_that_it_is_about() {
    let mut desk = Desk::playing("counter");
    desk.act("a");
    let recorded = |episode: &str, steps| Event::Recorded {
        episode: episode.into(),
        steps,
        members: object!({"tokens": 1}),
    };
    for (episode, steps, is_recorded) in [("2", 1, false), ("1", 2, false), ("1", 1, true)] {
        desk.happen(recorded(episode, steps));
        let has = desk.playground.episode().raw.get("tokens").is_some();
        assert_eq!(has, is_recorded, "{episode} {steps}");
    }
    desk.happen(Event::Leave);
    assert_eq!(desk.stored(), [("played-1", 1)]);
}

#[test]
fn the_environments_that_can_be_opened_may_change() {
    let mut desk = Desk::new();
    desk.happen(Event::Show(recorded("new", 0)));
    assert!(!desk.playground.may_go_back());
    let mut known = known();
    known.others.push(("new".into(), Reach::Local));
    desk.happen(Event::Known(known));
    assert!(desk.has(&Effect::Redraw), "buttons depend on it");
    assert!(desk.playground.may_go_back());
}

#[test]
fn an_episode_that_survived_a_crash_of_the_page_is_the_previous_one() {
    let mut desk = Desk::playing("counter");
    desk.happen(Event::Rescued(recorded("counter", 3)));
    desk.happen(Event::BringBack);
    assert_eq!(desk.playground.steps(), 3);
}
