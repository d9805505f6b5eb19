//! The state of an episode, with a simulated worker.

use volary_core::message::{Message, ToolRequestMessage};
use volary_core::{Frame, Json, Object, object};
use volary_episode::frames::{FrameHistory, FramePatch};
use volary_episode::{Outcome, StepDetails, StepRecord};
use volary_protocol::episode::Steps;

use super::*;

mod interleavings;

fn action(words: &str) -> AnyMessage {
    ToolRequestMessage {
        body: volary_core::message::Body::text(words),
        ..ToolRequestMessage::default()
    }
    .into()
}

fn frame(number: i64) -> Frame {
    Frame::new(number, Json::Null)
}

fn recipe() -> Recipe {
    Recipe {
        environment: "counter".into(),
        ..Recipe::default()
    }
}

/// A reply of the worker about an environment.
type Said = (EnvironmentId, Event);

/// The replies of a worker to a command, with `reward` for each step.
fn answers(command: &Command, reward: f64) -> Vec<Said> {
    match command {
        Command::Open {
            environment,
            recipe,
            actions,
        } => {
            let mut frames = FrameHistory::default();
            frames.push(frame(0));
            let head = Episode {
                recipe: Some(recipe.clone()),
                start: vec![Message::user("go").into()],
                frames,
                ..Episode::default()
            };
            let head = EpisodeChunk::Head(Box::new(head));
            let mut events = vec![(*environment, Event::Episode(head))];
            for (place, action) in actions.iter().enumerate() {
                events.push(stepped(*environment, action, place, reward, false));
            }
            let end = EpisodeChunk::End { notes: vec![] };
            events.push((*environment, Event::Episode(end)));
            events
        }
        Command::Step {
            environment,
            action,
        } => vec![stepped(*environment, action, 0, reward, false)],
    }
}

fn stepped(
    environment: EnvironmentId,
    action: &AnyMessage,
    place: usize,
    reward: f64,
    done: bool,
) -> Said {
    let place = i64::try_from(place).unwrap_or_default();
    let steps = Steps {
        records: vec![StepRecord {
            action: action.clone(),
            outcome: Outcome::Observed {
                messages: vec![],
                reward,
                done,
                truncated: false,
            },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        }],
        patches: vec![FramePatch::between(&frame(place), &frame(place + 1))],
    };
    (environment, Event::Episode(EpisodeChunk::Steps(steps)))
}

struct Desk {
    session: Session,
    episode: Episode,
}

impl Desk {
    fn empty() -> Desk {
        Desk {
            session: Session::default(),
            episode: Episode::default(),
        }
    }

    fn opened(steps: usize) -> Desk {
        let mut desk = Desk::empty();
        let actions = (0..steps).map(|step| action(&step.to_string())).collect();
        let command = desk
            .session
            .open(recipe(), actions, "1".into(), "one".into());
        desk.handle(answers(&command, 1.0));
        desk
    }

    fn handle(&mut self, events: Vec<Said>) -> Change {
        let mut change = Change::Nothing;
        for (environment, event) in events {
            change = self
                .session
                .receive(environment, event, &mut self.episode)
                .expect("patches fit");
        }
        change
    }

    fn step(&mut self, words: &str) -> Result<Command, Refusal> {
        self.session.step(&mut self.episode, action(words))
    }
}

#[test]
fn an_episode_is_opened_and_stepped() {
    let mut desk = Desk::empty();
    assert_eq!(desk.step("x").err(), Some(Refusal::Nothing));
    desk = Desk::opened(0);
    assert_eq!(&*desk.episode.id, "1");
    let command = desk.step("a").expect("may step");
    assert_eq!(desk.step("b").err(), Some(Refusal::Busy));
    assert_eq!(desk.handle(answers(&command, 0.5)), Change::Appended);
    assert_eq!(desk.episode.steps.len(), 1);
    assert_eq!(desk.episode.frames.len(), 2);
    assert_eq!(desk.episode.total_reward(), 0.5);
}

#[test]
fn unexpected_replies_change_nothing() {
    let mut desk = Desk::opened(2);
    let former = desk.episode.clone();
    let first = desk
        .session
        .open(recipe(), vec![action("x")], "2".into(), "two".into());
    let second = desk
        .session
        .open(recipe(), vec![], "3".into(), "three".into());
    assert_eq!(desk.handle(answers(&first, 9.0)), Change::Nothing);
    assert_eq!(desk.episode, former);
    desk.handle(answers(&second, 9.0));
    assert_eq!(&*desk.episode.name, "three");
    assert_eq!(desk.handle(answers(&first, 9.0)), Change::Nothing);
    assert_eq!(&*desk.episode.name, "three");
}

#[test]
fn a_refused_opening_leaves_the_episode_alive() {
    let mut desk = Desk::opened(1);
    let former = desk.episode.clone();
    let command = desk
        .session
        .open(recipe(), vec![], "2".into(), "two".into());
    let refused = Event::Refused {
        reason: "no".into(),
        key: Some("answer".into()),
        is_server_lost: false,
    };
    let change = desk.handle(vec![(command.environment(), refused)]);
    assert!(matches!(change, Change::Refused { key: Some(_), .. }));
    assert_eq!(desk.episode, former);
    assert!(matches!(desk.step("a"), Ok(Command::Step { .. })));
}

#[test]
fn what_waits_for_an_opening_is_not_done_in_another_episode() {
    let mut desk = Desk::opened(0);
    let mut open = |name: &str| {
        desk.session
            .open(recipe(), vec![], name.into(), name.into())
    };
    let (first, second) = (open("first"), open("second"));
    desk.handle(answers(&first, 1.0));
    assert!(!desk.session.is_live_in(first.environment()));
    desk.handle(answers(&second, 1.0));
    // A caller that waited for the first episode finds the second one.
    assert!(!desk.session.is_live_in(first.environment()));
    assert!(desk.session.is_live_in(second.environment()));
    desk.step("a").expect("may step");
    assert!(!desk.session.is_live_in(second.environment()));
}

#[test]
fn going_back_runs_the_episode_again() {
    let mut desk = Desk::opened(3);
    let command = desk.session.go_back(&desk.episode, 1).expect("may go back");
    assert!(matches!(&command, Command::Open { actions, .. } if actions.len() == 1));
    assert_eq!(
        desk.episode.steps.len(),
        3,
        "stays until the other is there"
    );
    let change = desk.handle(answers(&command, 1.0));
    assert!(matches!(
        change,
        Change::Replaced {
            differs: None,
            why: Why::Again,
            ..
        }
    ));
    assert_eq!(desk.episode.steps.len(), 1);
    assert_eq!(&*desk.episode.name, "one");
}

#[test]
fn a_replay_that_differs_is_reported() {
    let mut desk = Desk::opened(3);
    desk.session.show();
    let command = desk.step("more").expect("runs it again first");
    let change = desk.handle(answers(&command, 7.0));
    assert_eq!(
        change,
        Change::Replaced {
            why: Why::Again,
            differs: Some(1),
            then: Some(action("more").into()),
        }
    );
}

#[test]
fn a_record_without_a_recipe_can_only_be_looked_at() {
    let mut desk = Desk::opened(1);
    desk.session.show();
    desk.episode.recipe = None;
    assert_eq!(desk.step("x").err(), Some(Refusal::NoRecipe));
    assert_eq!(
        desk.session.go_back(&desk.episode, 0).err(),
        Some(Refusal::NoRecipe)
    );
}

#[test]
fn a_crash_keeps_all_and_names_the_action() {
    let mut desk = Desk::opened(2);
    desk.step("bad").expect("may step");
    let change = desk.session.lost("boom".into(), &mut desk.episode);
    assert!(matches!(change, Change::Crashed { .. }));
    assert_eq!(desk.episode.steps.len(), 3);
    assert!(matches!(desk.episode.ending, Ending::Crashed { .. }));
    assert_eq!(desk.step("x").err(), Some(Refusal::Over));
    let command = desk.session.go_back(&desk.episode, 2).expect("may go back");
    desk.handle(answers(&command, 1.0));
    assert_eq!(desk.episode.ending, Ending::Open);
    assert!(desk.step("good").is_ok());
}

#[test]
fn a_step_lost_on_a_server_is_kept_and_not_repeated() {
    let mut desk = Desk::opened(2);
    let Ok(Command::Step { environment, .. }) = desk.step("far") else {
        unreachable!("a live episode is stepped")
    };
    let lost = |environment| {
        let reason = "away".into();
        let is_server_lost = false;
        let lost = Event::Lost {
            reason,
            is_server_lost,
        };
        vec![(environment, lost)]
    };
    assert_eq!(desk.handle(lost(environment + 1)), Change::Nothing);
    let change = desk.handle(lost(environment));
    assert_eq!(
        change,
        Change::Lost {
            reason: "away".into()
        }
    );
    assert_eq!(desk.episode.steps.len(), 3);
    assert_eq!(desk.step("x").err(), Some(Refusal::Over));
    // The replay breaks off in the middle: the shown episode stays.
    let command = desk.session.go_back(&desk.episode, 2).expect("may go back");
    let mut events = answers(&command, 1.0);
    events.truncate(2);
    events.extend(lost(command.environment()));
    assert!(matches!(desk.handle(events), Change::Lost { .. }));
    assert_eq!(desk.episode.steps.len(), 3);
    assert!(desk.session.go_back(&desk.episode, 2).is_ok());
}

#[test]
fn a_crash_while_opening_shows_how_far_it_came() {
    let mut desk = Desk::opened(1);
    let actions = vec![action("a"), action("b")];
    let command = desk
        .session
        .open(recipe(), actions, "2".into(), "two".into());
    let mut events = answers(&command, 1.0);
    events.truncate(2);
    desk.handle(events);
    desk.session.lost("boom".into(), &mut desk.episode);
    assert_eq!(&*desk.episode.name, "two");
    assert_eq!(desk.episode.steps.len(), 2);
    assert!(matches!(desk.episode.ending, Ending::Crashed { .. }));
}

#[test]
fn a_hung_step_is_given_up_and_the_rest_run_again() {
    let mut desk = Desk::opened(2);
    desk.step("slow").expect("may step");
    let command = desk
        .session
        .interrupted(&mut desk.episode)
        .expect("runs again");
    assert!(matches!(&command, Command::Open { actions, .. } if actions.len() == 2));
    desk.handle(answers(&command, 1.0));
    assert_eq!(desk.episode.steps.len(), 2);
    assert!(desk.step("next").is_ok());
}

#[test]
fn an_environment_that_is_gone_is_made_again() {
    let mut desk = Desk::opened(1);
    let Ok(Command::Step { environment, .. }) = desk.step("a") else {
        unreachable!("a live episode is stepped")
    };
    let change = desk.handle(vec![(environment, Event::Gone)]);
    assert_eq!(
        change,
        Change::Gone {
            action: Box::new(action("a").into())
        }
    );
    assert!(matches!(desk.step("a"), Ok(Command::Open { .. })));
}

/// An action of a model, which records the name of the model and the action's text with the step.
fn modelled(words: &str) -> ChosenAction {
    let details = StepDetails {
        model: Some("m".into()),
        ..StepDetails::default()
    };
    let extras = object!({"asked": words});
    ChosenAction {
        aside: Some(Box::new(StepAside { details, extras })),
        ..ChosenAction::from(action(words))
    }
}

/// The records of the models with the steps of an episode.
fn asides(episode: &Episode) -> Vec<Option<&str>> {
    let steps = episode.steps.iter();
    let asked = steps.map(|step| step.extras.get("asked").and_then(Json::as_text));
    asked.map(|text| text.map(|text| &**text)).collect()
}

#[test]
fn a_step_keeps_what_its_model_recorded() {
    let mut desk = Desk::opened(0);
    for words in ["a", "b"] {
        let command = desk.session.step(&mut desk.episode, modelled(words));
        desk.handle(answers(&command.expect("may step"), 1.0));
    }
    let by_hand = desk.step("c").expect("may step");
    desk.handle(answers(&by_hand, 1.0));
    assert_eq!(asides(&desk.episode), [Some("a"), Some("b"), None]);
    assert_eq!(desk.episode.model.as_deref(), Some("m"));
    // A replay keeps it too.
    let command = desk.session.go_back(&desk.episode, 1).expect("may go back");
    desk.handle(answers(&command, 1.0));
    assert_eq!(asides(&desk.episode), [Some("a")]);
}

#[test]
fn the_record_of_a_model_is_kept_with_a_crash_and_over_a_replay() {
    let mut desk = Desk::opened(1);
    let step = desk.session.step(&mut desk.episode, modelled("bad"));
    step.expect("may step");
    desk.session.lost("boom".into(), &mut desk.episode);
    assert_eq!(asides(&desk.episode), [None, Some("bad")]);

    // The worker forgot the environment: the episode is replayed, and the action taken then.
    let mut desk = Desk::opened(1);
    let step = desk.session.step(&mut desk.episode, modelled("late"));
    let environment = step.expect("may step").environment();
    let Change::Gone { action } = desk.handle(vec![(environment, Event::Gone)]) else {
        panic!("the environment is gone")
    };
    let replay = desk.session.step(&mut desk.episode, *action);
    let change = desk.handle(answers(&replay.expect("replays"), 1.0));
    let Change::Replaced {
        then: Some(action), ..
    } = change
    else {
        panic!("the action waits for the replay")
    };
    let step = desk.session.step(&mut desk.episode, action);
    desk.handle(answers(&step.expect("may step"), 1.0));
    assert_eq!(asides(&desk.episode), [None, Some("late")]);
}

#[test]
fn a_record_of_a_model_never_moves_to_another_action() {
    // What ends the model's action without a step.
    let refuse = |desk: &mut Desk, environment| {
        let refused = Event::Refused {
            reason: "no".into(),
            key: None,
            is_server_lost: false,
        };
        desk.handle(vec![(environment, refused)]);
    };
    let interrupt = |desk: &mut Desk, _| {
        let replay = desk.session.interrupted(&mut desk.episode);
        desk.handle(answers(&replay.expect("replays"), 1.0));
    };
    let open = |desk: &mut Desk, _| {
        let actions = vec![action("other")];
        let command = desk
            .session
            .open(recipe(), actions, "2".into(), "two".into());
        desk.handle(answers(&command, 1.0));
    };
    let endings: [fn(&mut Desk, EnvironmentId); 3] = [refuse, interrupt, open];
    for (case, end) in endings.into_iter().enumerate() {
        let mut desk = Desk::opened(0);
        let step = desk.session.step(&mut desk.episode, modelled("cancelled"));
        let environment = step.expect("may step").environment();
        end(&mut desk, environment);
        let by_hand = desk.step("by hand").expect("may step");
        desk.handle(answers(&by_hand, 1.0));
        let recorded = asides(&desk.episode);
        assert!(
            recorded.iter().all(Option::is_none),
            "case {case}: {recorded:?}"
        );
        assert_eq!(desk.episode.model, None, "case {case}");
    }
}

#[test]
fn a_limit_of_the_page_can_be_passed_and_a_done_one_cannot() {
    let mut desk = Desk::opened(1);
    desk.episode.ending = Ending::Truncated {
        reason: "limit".into(),
    };
    let Ok(Command::Step {
        environment,
        action,
    }) = desk.step("a")
    else {
        unreachable!("a limit does not end an episode for good")
    };
    assert_eq!(desk.episode.ending, Ending::Open);
    desk.handle(vec![stepped(environment, &action, 1, 1.0, true)]);
    assert_eq!(desk.episode.ending, Ending::Done);
    assert_eq!(desk.step("b").err(), Some(Refusal::Over));
}

/// A record of two steps on a server, as read from a file.
fn given() -> Desk {
    let mut desk = Desk::opened(2);
    if let Some(recipe) = &mut desk.episode.recipe {
        recipe.environment = "https://env.example".into();
    }
    desk.session.show();
    desk
}

#[test]
fn a_record_from_elsewhere_goes_to_a_server_only_as_far_as_the_user_agreed() {
    let mut desk = given();
    assert_eq!(desk.step("a").err(), Some(Refusal::NotAgreed));
    for steps in 0..3 {
        let back = desk.session.go_back(&desk.episode, steps);
        assert_eq!(back.err(), Some(Refusal::NotAgreed));
    }
    assert_eq!(desk.session.interrupted(&mut desk.episode), None);
    desk.session.agree(1);
    assert_eq!(desk.step("a").err(), Some(Refusal::NotAgreed));
    let command = desk.session.go_back(&desk.episode, 1).expect("agreed");
    desk.handle(answers(&command, 1.0));
    // From here on the user is the author of the episode.
    assert!(desk.session.go_back(&desk.episode, 1).is_ok());
}

#[test]
fn agreement_ends_with_the_record_that_it_was_given_for() {
    let mut desk = given();
    desk.session.agree(2);
    desk.session.show();
    assert_eq!(desk.step("a").err(), Some(Refusal::NotAgreed));
    // An episode that the user opened on a server is replayed without consent.
    desk = Desk::opened(2);
    if let Some(recipe) = &mut desk.episode.recipe {
        recipe.environment = "https://env.example".into();
    }
    assert!(desk.session.go_back(&desk.episode, 1).is_ok());
}

#[test]
fn requests_name_servers_only_where_one_is_opened() {
    let mut session = Session::with_ids_above(100);
    let access = |recipe: &Recipe| {
        assert_eq!(&*recipe.environment, "counter");
        vec![ServerAccess {
            url: "https://a.example".into(),
            key: None,
            frames: None,
        }]
    };
    let open = session.open(recipe(), Vec::new(), "id".into(), "name".into());
    let Request::Open {
        environment,
        servers,
        ..
    } = open.into_request(access)
    else {
        panic!("another request");
    };
    assert_eq!((environment, servers.len()), (101, 1));
    let step = Command::Step {
        environment,
        action: action("a"),
    };
    let expected = Request::Step {
        environment,
        action: action("a"),
    };
    assert_eq!(step.into_request(|_| unreachable!()), expected);
}

#[test]
fn ids_of_environments_are_not_used_again() {
    let mut session = Session::with_ids_above(100);
    session.open(recipe(), Vec::new(), "id".into(), "name".into());
    session.clear();
    assert!(!session.is_busy());
    assert_eq!(session.new_environment(), 102);
}

#[test]
fn code_that_is_not_loaded_leaves_the_shown_episode() {
    // Nothing was shown and nothing wanted.
    let mut desk = Desk::empty();
    assert!(!desk.session.unloaded());
    assert_eq!(desk.step("a").err(), Some(Refusal::Nothing));
    // The first episode could not be opened.
    desk.session
        .open(recipe(), vec![], "1".into(), "one".into());
    assert!(desk.session.unloaded());
    assert!(matches!(desk.session.phase(), Phase::Empty));

    let mut desk = Desk::opened(2);
    desk.step("a").expect("may step");
    let shown = desk.episode.clone();
    assert!(desk.session.unloaded());
    assert_eq!(desk.episode, shown);
    // The next action replays the episode first.
    assert!(matches!(desk.step("a"), Ok(Command::Open { actions, .. }) if actions.len() == 2));
}

#[test]
fn recorded_answers_go_into_the_recipe_of_their_environment_only() {
    let recorded = |environment, answer: &str| {
        let members = object!({"replies": answer});
        vec![(environment, Event::Recorded { members })]
    };
    let replies = |desk: &Desk| {
        let recipe = desk.episode.recipe.clone().expect("a recipe");
        let replies = recipe.configuration.get("replies").and_then(Json::as_text);
        replies.map(ToString::to_string)
    };
    let mut desk = Desk::opened(1);
    let Phase::Live { environment } = *desk.session.phase() else {
        panic!("it is live")
    };
    desk.handle(recorded(environment + 1, "of another"));
    assert_eq!(replies(&desk), None);
    desk.handle(recorded(environment, "live"));
    assert_eq!(replies(&desk).as_deref(), Some("live"));
    desk.step("a").expect("may step");
    desk.handle(recorded(environment, "stepping"));
    assert_eq!(replies(&desk).as_deref(), Some("stepping"));
    // The user has gone on to another episode, which is still being opened.
    desk.session
        .open(recipe(), vec![], "2".into(), "two".into());
    desk.handle(recorded(environment, "late"));
    assert_eq!(replies(&desk).as_deref(), Some("stepping"));
}

#[test]
fn the_progress_of_an_opening_counts_replayed_steps() {
    let mut desk = Desk::opened(1);
    assert_eq!(desk.session.progress(), None);
    let actions = vec![action("a"), action("b"), action("c")];
    let command = desk
        .session
        .open(recipe(), actions, "2".into(), "two".into());
    let mut events = answers(&command, 1.0);
    events.truncate(3);
    assert_eq!(desk.session.progress(), Some((0, 3)));
    desk.handle(events);
    assert_eq!(desk.session.progress(), Some((2, 3)));
    // The former episode is shown until the last chunk.
    assert_eq!(&*desk.episode.id, "1");
}

#[test]
fn only_the_last_chunk_of_a_new_episode_replaces_the_shown_one() {
    let end = || Event::Episode(EpisodeChunk::End { notes: vec![] });
    let mut desk = Desk::opened(1);
    let command = desk
        .session
        .open(recipe(), vec![], "2".into(), "two".into());
    let environment = command.environment();
    for (environment, event) in answers(&command, 1.0) {
        let is_end = event == end();
        assert_eq!(desk.session.finishes_new(environment, &event), is_end);
    }
    assert!(!desk.session.finishes_new(environment - 1, &end()));
    desk.handle(answers(&command, 1.0));
    // A replay keeps the episode, so it leaves none to bring back.
    let command = desk.session.go_back(&desk.episode, 0).expect("may go back");
    assert!(!desk.session.finishes_new(command.environment(), &end()));
}

#[test]
fn a_refused_step_leaves_the_environment_alive() {
    let mut desk = Desk::opened(1);
    let environment = desk.step("a").expect("may step").environment();
    let refused = Event::Refused {
        reason: "no such tool".into(),
        key: Some("tool".into()),
        is_server_lost: false,
    };
    let change = desk.handle(vec![(environment, refused)]);
    let expected = Change::Refused {
        reason: "no such tool".into(),
        key: Some("tool".into()),
    };
    assert_eq!(change, expected);
    assert!(desk.session.is_live_in(environment));
    assert_eq!(desk.episode.steps.len(), 1);
}

#[test]
fn each_refusal_says_why_and_what_to_do() {
    let refusals = [
        Refusal::Busy,
        Refusal::Over,
        Refusal::NoRecipe,
        Refusal::NotAgreed,
        Refusal::Unknown,
        Refusal::Nothing,
    ];
    for refusal in refusals {
        for text in [refusal.to_string(), refusal.advice().to_owned()] {
            assert!(
                text.ends_with('.') && text.len() > 10,
                "{refusal:?}: {text}"
            );
        }
    }
}
