//! For any order of what users, workers, players and timers do, late and doubled replies included: steps belong to the
//! shown episode, no player acts outside of its run, and no played step is lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use volary_protocol::environments::EnvironmentId;

use super::*;

/// The next thing that happens. Numbers select one of the pending replies.
#[derive(Clone, Debug)]
enum Happening {
    Open(usize),
    ActByHand,
    GoBack(usize),
    Show(usize),
    BringBack,
    Run,
    RunOnce,
    RunOnceOpened,
    Stop,
    ReadStored,
    Leave,
    /// A player, a timer or a store reports, and its report stays to be repeated later.
    Report(usize),
    /// The worker sends its next reply to a command.
    Reply(usize),
    /// The worker refuses the rest of a command.
    Refuse(usize),
    /// A worker is lost; it may be one that was dropped.
    Lose(u32),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        3 => (0..3usize).prop_map(Happening::Open),
        4 => Just(Happening::ActByHand),
        2 => (0..3usize).prop_map(Happening::GoBack),
        1 => (0..3usize).prop_map(Happening::Show),
        1 => Just(Happening::BringBack),
        4 => Just(Happening::Run),
        1 => Just(Happening::RunOnce),
        1 => Just(Happening::RunOnceOpened),
        2 => Just(Happening::Stop),
        1 => Just(Happening::ReadStored),
        1 => Just(Happening::Leave),
        12 => any::<usize>().prop_map(Happening::Report),
        20 => any::<usize>().prop_map(Happening::Reply),
        1 => any::<usize>().prop_map(Happening::Refuse),
        1 => (0..3u32).prop_map(Happening::Lose),
    ]
}

/// A command in flight.
struct Call {
    worker: u32,
    environment: EnvironmentId,
    unsent: VecDeque<WorkerEvent>,
}

struct World {
    playground: PlaygroundMachine,
    calls: Vec<Call>,
    /// Events that may happen at any time from now on, any number of times.
    reports: Vec<Event>,
    /// The episode that each environment was opened for. The text of each action names its environment's episode.
    steps_in: BTreeMap<EnvironmentId, usize>,
    opened: u32,
    /// The number of actions so far; each action has a text of its own.
    actions: u32,
    /// The actions that were shown as steps, and those that were stored.
    played: BTreeSet<Text>,
    stored: BTreeSet<Text>,
    /// The runs that were stopped or replaced.
    ended_runs: BTreeSet<u32>,
}

impl World {
    fn new() -> World {
        World {
            playground: PlaygroundMachine::new(known(), sources()),
            calls: Vec::new(),
            reports: Vec::new(),
            steps_in: BTreeMap::new(),
            opened: 0,
            actions: 0,
            played: BTreeSet::new(),
            stored: BTreeSet::new(),
            ended_runs: BTreeSet::new(),
        }
    }

    fn next_action(&mut self, author: &str) -> AnyMessage {
        self.actions += 1;
        action(&format!("{author} {}", self.actions))
    }

    fn happen(&mut self, happening: Happening) {
        let event = match happening {
            Happening::Open(count) => {
                self.opened += 1;
                let actions = (0..count).map(|_| self.next_action("link")).collect();
                Event::Open {
                    recipe: recipe_of("counter"),
                    actions,
                    id: format!("e{}", self.opened).into(),
                    name: None,
                }
            }
            Happening::ActByHand => Event::ActByHand(self.next_action("hand")),
            Happening::GoBack(steps) => Event::GoBack(steps),
            Happening::Show(steps) => Event::Show(recorded("counter", steps)),
            Happening::BringBack => Event::BringBack,
            Happening::Run => Event::Run(ActingParty::Policy),
            Happening::RunOnce => Event::RunOnce,
            Happening::RunOnceOpened => Event::RunOnceOpened,
            Happening::Stop => Event::Stop,
            Happening::ReadStored => Event::OpenStored {
                id: "stored".into(),
            },
            Happening::Leave => Event::Leave,
            Happening::Report(at) => match self.reports.get(at % self.reports.len().max(1)) {
                Some(event) => event.clone(),
                None => return,
            },
            Happening::Reply(at) => match self.reply(at, None) {
                Some(event) => event,
                None => return,
            },
            Happening::Refuse(at) => {
                let refused = WorkerEvent::Refused {
                    reason: "no".into(),
                    key: None,
                    is_server_lost: false,
                };
                match self.reply(at, Some(refused)) {
                    Some(event) => event,
                    None => return,
                }
            }
            Happening::Lose(before) => Event::WorkerLost {
                worker: self.playground.worker().saturating_sub(before),
                loss: WorkerLoss::Crashed {
                    message: "unreachable".into(),
                },
            },
        };
        self.update(event);
    }

    /// The next reply to a command. The replies of a worker that was dropped are late.
    fn reply(&mut self, at: usize, instead: Option<WorkerEvent>) -> Option<Event> {
        let count = self.calls.len().max(1);
        let call = self.calls.get_mut(at % count)?;
        let next = call.unsent.pop_front()?;
        if instead.is_some() {
            call.unsent.clear();
        }
        Some(Event::Replied {
            worker: call.worker,
            environment: call.environment,
            event: instead.unwrap_or(next),
        })
    }

    fn update(&mut self, event: Event) {
        let run_before = self.playground.current_run();
        let effects = self.playground.update(event.clone());
        if let Event::Decided { run, .. } = &event
            && !run_before.goes_on(*run)
        {
            assert_eq!(effects, [], "the run is over");
        }
        for effect in effects {
            self.carry_out(effect);
        }
        if let (Run::Going(run) | Run::Stopping(run), now) =
            (run_before, self.playground.current_run())
            && !now.is_current(run)
        {
            self.ended_runs.insert(run);
        }
        let shown = self.playground.episode.actions();
        let own = shown.filter_map(|action| action.body().content.clone());
        self.played
            .extend(own.filter(|text| text.starts_with("hand") || text.starts_with("policy")));
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send(command) => self.send(&command),
            Effect::Seat { run } => {
                assert!(!self.ended_runs.contains(&run));
                let name = "policy".into();
                let delay = f64::from(run % 2);
                self.reports.push(Event::Seated { run, name, delay });
                if run % 5 == 0 {
                    self.reports.push(Event::NotSeated { run });
                }
            }
            Effect::Decide { run, steps } => {
                assert!(!self.ended_runs.contains(&run));
                let action = self.next_action(&format!("policy {run}"));
                let next = Move::Act(Box::new(action.into()));
                self.reports.push(Event::Decided { run, steps, next });
            }
            Effect::Pause { run, .. } => self.reports.push(Event::Paused { run }),
            Effect::AwaitStep { edition, steps } => {
                self.reports.push(Event::StepIsLate { edition, steps });
            }
            Effect::ReadStored { id } => {
                let episode = Some(recorded("counter", 1));
                self.reports.push(Event::StoredRead { id, episode });
            }
            Effect::Store(episode) => {
                let texts = episode.actions();
                let texts = texts.filter_map(|action| action.body().content.clone());
                self.stored.extend(texts);
            }
            _ => {}
        }
    }

    fn send(&mut self, command: &Command) {
        let environment = command.environment();
        let unsent: Vec<WorkerEvent> = match command {
            Command::Open {
                recipe, actions, ..
            } => {
                self.steps_in.insert(environment, actions.len());
                open_replies(recipe, actions)
            }
            Command::Step { action, .. } => {
                let steps = self.steps_in.entry(environment).or_default();
                *steps += 1;
                vec![step_reply(action, *steps - 1, steps.is_multiple_of(4))]
            }
        };
        self.calls.push(Call {
            worker: self.playground.worker(),
            environment,
            unsent: unsent.into(),
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn late_and_doubled_replies_change_nothing(
        happenings in prop::collection::vec(happening(), 0..80)
    ) {
        let mut world = World::new();
        for happening in happenings {
            world.happen(happening);
            let playground = &world.playground;
            prop_assert!(playground.selected() <= playground.last_step());
            // Each action is in the episode once: no reply was applied twice.
            let texts: Vec<_> = playground
                .episode()
                .actions()
                .filter_map(|action| action.body().content.clone())
                .filter(|text| text.contains(' '))
                .collect();
            let unique: BTreeSet<_> = texts.iter().collect();
            prop_assert_eq!(unique.len(), texts.len());
            // A run that goes on waits for something that can still come.
            if playground.current_run() != Run::Idle {
                let waits = match playground.stage {
                    RunStage::Acting { .. } => playground.session().is_busy(),
                    RunStage::Seating | RunStage::Deciding { .. } | RunStage::Pausing { .. } => true,
                };
                prop_assert!(waits);
            }
        }
        // Whatever was played is stored once the user leaves.
        world.update(Event::Leave);
        let lost: Vec<_> = world.played.difference(&world.stored).collect();
        prop_assert!(lost.is_empty(), "{:?}", lost);
    }
}
