//! Playgrounds that share a worker, as the plays of a lesson do.

use super::*;

const FIRST: EnvironmentId = 0;
const SECOND: EnvironmentId = 1 << 20;

fn desk(last: EnvironmentId) -> Desk {
    Desk {
        playground: PlaygroundMachine::in_shared_worker(known(), last),
        effects: Vec::new(),
    }
}

fn playing(last: EnvironmentId) -> (Desk, EnvironmentId) {
    let mut desk = desk(last);
    desk.open("counter", "play");
    let environment = desk.sent().expect("it is opened").environment();
    desk.answer();
    (desk, environment)
}

#[test]
fn each_has_environments_of_its_own() {
    let ((_, first), (_, second)) = (playing(FIRST), playing(SECOND));
    assert!(first < SECOND && second > SECOND, "{first} and {second}");
}

#[test]
fn a_reply_for_another_one_changes_nothing() {
    let (mut first, _) = playing(FIRST);
    let (_, of_second) = playing(SECOND);
    first.happen(Event::ActByHand(action("a")));
    let waiting = first.playground.clone();
    first.happen(Event::Replied {
        worker: first.playground.worker(),
        environment: of_second,
        event: step_reply(&action("b"), 0, true),
    });
    assert_eq!(first.playground.episode(), waiting.episode());
    assert!(first.playground.session().is_stepping(), "it still waits");
}

#[test]
fn all_of_them_continue_after_the_worker_is_lost() {
    let (mut first, _) = playing(FIRST);
    let (mut second, _) = playing(SECOND);
    first.act("a");
    second.act("b");
    for desk in [&mut first, &mut second] {
        desk.happen(Event::WorkerLost {
            worker: desk.playground.worker(),
            loss: WorkerLoss::Crashed {
                message: "out of memory".into(),
            },
        });
        assert_eq!(desk.playground.steps(), 1, "the step is kept");
        desk.act("c");
        assert_eq!(desk.playground.steps(), 2);
    }
}

#[test]
fn an_episode_has_the_name_that_it_is_opened_with() {
    let mut desk = desk(FIRST);
    desk.happen(Event::Open {
        recipe: recipe_of("counter"),
        actions: vec![action("a")],
        id: "play".into(),
        name: Some("a-play".into()),
    });
    desk.answer();
    assert_eq!(&*desk.playground.episode().name, "a-play");
    assert_eq!(desk.playground.steps(), 1);
    desk.open("counter", "next").answer();
    assert_eq!(&*desk.playground.episode().name, "counter");
}

#[test]
fn a_run_of_a_policy_acts_until_it_stops() {
    let (mut desk, _) = playing(FIRST);
    desk.happen(Event::Run(ActingParty::Policy));
    let run = 1;
    assert!(desk.effects.contains(&Effect::Seat { run }));
    desk.happen(Event::Seated {
        run,
        name: "student".into(),
        delay: 0.0,
    });
    for steps in 0..2 {
        assert!(desk.effects.contains(&Effect::Decide { run, steps }));
        desk.happen(Event::Decided {
            run,
            steps,
            next: act("go"),
        });
        desk.answer();
    }
    let stop = Move::Stop(Stop {
        ending: Ending::Open,
        reason: "enough".into(),
    });
    desk.happen(Event::Decided {
        run,
        steps: 2,
        next: stop,
    });
    assert_eq!(desk.playground.current_run(), Run::Idle);
    assert_eq!(desk.playground.steps(), 2);
}
