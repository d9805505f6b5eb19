//! A late reply from a slow worker or server never reaches an episode that the user left meanwhile, for any
//! interleaving of commands, replies and losses.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use volary_protocol::{Calls, RequestId, WorkerLoss};

use super::*;

/// The next action of the user, the worker or the page. Numbers select one of the calls so far.
#[derive(Clone, Debug)]
enum Happening {
    /// The user opens a new episode with this many actions.
    Open(usize),
    /// The user takes an action.
    Step,
    /// The user goes back to a step.
    GoBack(usize),
    /// The user opens a file.
    Show,
    /// The user terminates a worker that takes too long.
    Interrupt,
    /// The worker sends its next reply to a call.
    Reply(usize),
    /// The worker refuses the rest of a call, or loses the environment.
    Fail(usize, bool),
    /// The page handles the next reply to a call.
    Take(usize),
    /// The worker panics.
    Crash,
}

fn happening() -> impl Strategy<Value = Happening> {
    let call = || 0..8usize;
    prop_oneof![
        4 => (0..3usize).prop_map(Happening::Open),
        4 => Just(Happening::Step),
        2 => (0..3usize).prop_map(Happening::GoBack),
        1 => Just(Happening::Show),
        1 => Just(Happening::Interrupt),
        16 => call().prop_map(Happening::Reply),
        1 => (call(), any::<bool>()).prop_map(|(at, is_lost)| Happening::Fail(at, is_lost)),
        16 => call().prop_map(Happening::Take),
        1 => Just(Happening::Crash),
    ]
}

type Client = Rc<RefCell<Calls<Event>>>;

/// A command in flight.
struct Call {
    client: Client,
    id: RequestId,
    environment: EnvironmentId,
    /// Replies that the worker has not sent yet.
    unsent: VecDeque<Event>,
}

#[derive(Default)]
struct World {
    client: Client,
    session: Session,
    episode: Episode,
    calls: Vec<Call>,
    /// The episode that each environment was opened for. The reward of each step is the number of its environment.
    owners: BTreeMap<EnvironmentId, Text>,
    opened: u32,
    /// The number of actions of the model.
    asked: u32,
    /// The number of steps in each environment.
    steps: BTreeMap<EnvironmentId, usize>,
}

impl World {
    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Open(count) => {
                self.opened += 1;
                let id: Text = format!("e{}", self.opened).into();
                let actions = (0..count).map(|step| action(&format!("{id}/{step}")));
                let actions = actions.collect();
                let command = self.session.open(recipe(), actions, id.clone(), id.clone());
                self.send(command, Some(id));
            }
            Happening::Step => {
                self.asked += 1;
                let action = modelled(&format!("step {}", self.asked));
                let command = self.session.step(&mut self.episode, action);
                self.send_some(command.ok());
            }
            Happening::GoBack(steps) => {
                let command = self.session.go_back(&self.episode, steps);
                self.send_some(command.ok());
            }
            Happening::Show => {
                self.episode = Episode {
                    id: "file".into(),
                    recipe: Some(recipe()),
                    ..Episode::default()
                };
                self.session.show();
            }
            Happening::Interrupt => {
                self.replace_client();
                let command = self.session.interrupted(&mut self.episode);
                self.send_some(command);
            }
            Happening::Reply(at) => {
                if let Some(call) = self.calls.get_mut(at)
                    && let Some(event) = call.unsent.pop_front()
                {
                    let mut client = call.client.borrow_mut();
                    let _ = client.deliver(call.id, event);
                    if call.unsent.is_empty() {
                        let _ = client.end(call.id);
                    }
                }
            }
            Happening::Fail(at, is_lost) => {
                if let Some(call) = self.calls.get_mut(at)
                    && !call.unsent.is_empty()
                {
                    call.unsent.clear();
                    let mut client = call.client.borrow_mut();
                    let _ = client.deliver(call.id, failure(is_lost));
                    let _ = client.end(call.id);
                }
            }
            Happening::Take(at) => self.take(at),
            Happening::Crash => {
                let message = "panicked".into();
                let loss = WorkerLoss::Crashed { message };
                let _ = self.client.borrow_mut().lose(loss);
            }
        }
    }

    fn send_some(&mut self, command: Option<Command>) {
        if let Some(command) = command {
            let owner = matches!(command, Command::Open { .. }).then(|| self.episode.id.clone());
            self.send(command, owner);
        }
    }

    /// Sends a command; the worker replies to it at some later point.
    fn send(&mut self, command: Command, owner: Option<Text>) {
        let environment = command.environment();
        let reward = f64::from(environment);
        let unsent: Vec<Event> = match &command {
            Command::Open { actions, .. } => {
                self.steps.insert(environment, actions.len());
                let said = answers(&command, reward).into_iter();
                said.map(|(_, event)| event).collect()
            }
            Command::Step { action, .. } => {
                let taken = self.steps.entry(environment).or_default();
                let (_, event) = stepped(environment, action, *taken, reward, false);
                *taken += 1;
                vec![event]
            }
        };
        self.owners.extend(owner.map(|owner| (environment, owner)));
        let id = self.client.borrow_mut().begin();
        self.calls.push(Call {
            client: Rc::clone(&self.client),
            id,
            environment,
            unsent: unsent.into(),
        });
    }

    /// The page starts another worker; late replies of the previous one are dropped.
    fn replace_client(&mut self) {
        let _ = self.client.borrow_mut().close(None);
        self.client = Client::default();
    }

    fn take(&mut self, at: usize) {
        let Some(call) = self.calls.get(at) else {
            return;
        };
        let (id, environment) = (call.id, call.environment);
        let is_current = Rc::ptr_eq(&call.client, &self.client);
        let context = Context::from_waker(Waker::noop());
        let polled = call.client.borrow_mut().poll(id, &context);
        let former = self.episode.clone();
        match polled {
            Poll::Ready(Some(Ok(event))) => {
                assert!(is_current, "a worker that was ended was heard");
                let is_awaited = self.session.awaited() == Some(environment);
                let change = self
                    .session
                    .receive(environment, event, &mut self.episode)
                    .expect("patches fit");
                if !is_awaited {
                    assert_eq!(change, Change::Nothing, "nobody waits for it");
                    assert_eq!(self.episode, former);
                }
            }
            Poll::Ready(Some(Err(loss))) => {
                assert!(is_current, "the loss of a former worker was heard");
                self.replace_client();
                let reason = loss.to_string().into();
                self.session.lost(reason, &mut self.episode);
            }
            Poll::Ready(None) | Poll::Pending => {}
        }
    }

    /// Whether each record of the model is with the action that the model chose.
    fn asides_fit(&self) -> bool {
        let mut steps = self.episode.steps.iter();
        steps.all(|step| {
            let asked = step.extras.get("asked").and_then(Json::as_text);
            asked.is_none_or(|asked| step.action.body().content.as_ref() == Some(asked))
        })
    }

    /// The environment that produced each step of the shown episode, if one did.
    fn makers(&self) -> impl Iterator<Item = EnvironmentId> {
        self.episode
            .steps
            .iter()
            .filter_map(|step| match step.outcome {
                Outcome::Observed { reward, .. } => Some(reward as EnvironmentId),
                _ => None,
            })
    }
}

fn failure(is_lost: bool) -> Event {
    let (reason, is_server_lost) = ("away".into(), false);
    if is_lost {
        Event::Lost {
            reason,
            is_server_lost,
        }
    } else {
        Event::Refused {
            reason,
            key: None,
            is_server_lost,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn late_replies_never_reach_an_episode_that_was_left(
        happenings in prop::collection::vec(happening(), 0..60)
    ) {
        let mut world = World::default();
        for happening in happenings {
            world.happen(happening);
            for maker in world.makers() {
                prop_assert_eq!(world.owners.get(&maker), Some(&world.episode.id));
            }
            prop_assert!(world.asides_fit());
        }
    }
}
