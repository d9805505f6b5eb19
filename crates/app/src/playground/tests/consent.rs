//! What waits for the user's consent, and what happens after it.

use super::*;
use crate::playground::consent::{PlannedEpisode, Then};
use crate::python::files::{Description, PythonSource, recipe};

/// The steps of a record from elsewhere.
const STEPS: usize = 2;

fn record_of(environment: &str) -> Desk {
    let mut desk = Desk::new();
    desk.happen(Event::Show(recorded(environment, STEPS)));
    desk
}

fn agree(desk: &mut Desk) -> &mut Desk {
    desk.happen(Event::Agree { id: "new".into() })
}

fn python() -> Recipe {
    let source = PythonSource::of_code("class E: ...");
    recipe(&source, &Description::default(), &Object::new(), 0)
}

#[test]
fn an_attempt_on_a_record_of_a_server_is_planned_with_what_it_would_send() {
    for (attempt, count) in [
        (EpisodeAttempt::Step, STEPS),
        (EpisodeAttempt::StepByHand, STEPS),
        (EpisodeAttempt::Run, STEPS),
        (EpisodeAttempt::RunAgain, STEPS),
        (EpisodeAttempt::EditLastAction, STEPS - 1),
        (EpisodeAttempt::GoBack(0), 0),
    ] {
        let mut desk = record_of(SERVER);
        desk.happen(Event::Attempt(attempt));
        assert_eq!(desk.effects, [], "{attempt:?} waits");
        let plan = desk.playground.planned().expect("a plan");
        assert_eq!(plan.actions.len(), count, "{attempt:?}");
        assert_eq!(plan.then, Then::Resume(attempt));
        agree(&mut desk);
        assert_eq!(desk.playground.planned(), None);
        match attempt {
            EpisodeAttempt::GoBack(_) => assert!(desk.sent().is_some()),
            EpisodeAttempt::RunAgain => assert!(!desk.effects.is_empty()),
            _ => assert_eq!(desk.effects, [Effect::Proceed(attempt)]),
        }
    }
}

#[test]
fn consent_counts_for_the_actions_that_were_shown() {
    let mut desk = record_of(SERVER);
    desk.happen(Event::GoBack(1));
    assert_eq!(desk.sent(), None, "nobody was asked");
    desk.happen(Event::Attempt(EpisodeAttempt::GoBack(1)));
    agree(&mut desk).answer();
    // Steps that were taken here belong to the user.
    desk.happen(Event::Attempt(EpisodeAttempt::GoBack(0)));
    assert!(desk.sent().is_some());
    let mut desk = record_of(SERVER);
    desk.happen(Event::Attempt(EpisodeAttempt::EditLastAction));
    agree(&mut desk);
    desk.happen(Event::GoBack(STEPS));
    assert_eq!(desk.sent(), None, "the user agreed to one action less");
    desk.happen(Event::GoBack(STEPS - 1));
    assert!(desk.sent().is_some());
}

#[test]
fn undo_asks_as_going_back_does() {
    let mut desk = record_of(SERVER);
    desk.happen(Event::Undo);
    let plan = desk.playground.planned().expect("a plan");
    assert_eq!(plan.then, Then::Resume(EpisodeAttempt::GoBack(STEPS - 1)));
    desk.happen(Event::Decline);
    assert_eq!((desk.playground.planned(), desk.sent()), (None, None));
    // Without a step there is nothing to take back.
    let mut desk = Desk::playing("counter");
    desk.happen(Event::Undo);
    assert_eq!(desk.effects, []);
}

#[test]
fn a_reset_of_a_record_of_a_server_asks_with_the_task_of_the_form() {
    let mut desk = record_of(SERVER);
    let chosen = Recipe {
        configuration: object!({"task_idx": 3}),
        ..recipe_of(SERVER)
    };
    desk.happen(Event::Open {
        recipe: chosen.clone(),
        actions: Vec::new(),
        id: "2".into(),
        name: None,
    });
    assert_eq!(desk.sent(), None);
    let plan = desk.playground.planned().expect("a plan");
    assert_eq!((&plan.recipe, plan.then), (&chosen, Then::Reset));
    agree(&mut desk).answer();
    assert_eq!(desk.playground.episode().recipe, Some(chosen));
    // That episode is the user's own.
    desk.open(SERVER, "3");
    assert!(desk.sent().is_some());
}

#[test]
fn what_runs_in_the_browser_needs_no_consent() {
    let mut desk = record_of("counter");
    desk.happen(Event::Attempt(EpisodeAttempt::GoBack(1)));
    assert!(desk.sent().is_some());
    let mut desk = record_of("unknown");
    desk.happen(Event::Attempt(EpisodeAttempt::Step));
    let proceeds = [Effect::Proceed(EpisodeAttempt::Step)];
    assert_eq!(desk.effects, proceeds, "the attempt says why it fails");
}

#[test]
fn code_that_the_user_does_not_know_is_shown_before_it_runs() {
    let events: [fn(Recipe) -> Event; 2] = [
        |recipe| Event::Open {
            recipe,
            actions: vec![action("a")],
            id: "1".into(),
            name: None,
        },
        |recipe| Event::Replay {
            recipe,
            actions: vec![action("a")],
            id: "1".into(),
        },
    ];
    for event in events {
        let mut desk = Desk::new();
        desk.happen(event(python()));
        assert_eq!(desk.effects, [Effect::ShowOpening]);
        let plan = desk.playground.planned().expect("a plan");
        assert_eq!((&plan.recipe, plan.actions.len()), (&python(), 1));
        agree(&mut desk);
        assert!(desk.effects.contains(&Effect::AgreeToCode(python())));
        assert!(desk.sent().is_some());
        // It is known now.
        desk.happen(event(python()));
        assert!(desk.sent().is_some());
        let other = PythonSource::of_code("class F: ...");
        let other = recipe(&other, &Description::default(), &Object::new(), 0);
        desk.happen(event(other));
        assert_eq!(desk.sent(), None);
    }
}

#[test]
fn code_whose_name_is_that_of_known_code_is_shown() {
    let mut desk = Desk::new();
    desk.happen(Event::Known(KnownEnvironments {
        others: vec![(python().environment, Reach::Local)],
        code: vec![PythonSource::of_code("class E: ...")],
        ..known()
    }));
    let mut forged = python();
    forged.configuration.insert("code", "import os");
    desk.happen(Event::Open {
        recipe: forged,
        actions: Vec::new(),
        id: "1".into(),
        name: None,
    });
    assert_eq!(desk.sent(), None);
    assert!(desk.playground.planned().is_some());
}

#[test]
fn a_plan_of_content_opens_at_its_step_or_restores_the_address() {
    let plan = || {
        Event::Plan(PlannedEpisode {
            recipe: recipe_of(SERVER),
            actions: vec![action("a"), action("b")],
            then: Then::Open(Some(1)),
        })
    };
    let mut desk = Desk::playing("counter");
    desk.happen(plan());
    assert_eq!(desk.effects, [], "the shown episode stays");
    agree(&mut desk).answer();
    assert_eq!(desk.playground.selected(), 1);
    assert_eq!(
        desk.playground.episode().environment(),
        Some(&SERVER.into())
    );
    let mut desk = Desk::playing("counter");
    desk.happen(plan()).happen(Event::Decline);
    assert_eq!(desk.effects, [Effect::RestoreAddress]);
    // An answer that comes twice, or after something else was opened, does nothing.
    for event in [Event::Decline, Event::Agree { id: "2".into() }] {
        desk.happen(event);
        assert_eq!(desk.effects, []);
    }
    desk.happen(plan()).happen(Event::Navigate { step: None });
    agree(&mut desk);
    assert_eq!(desk.sent(), None);
}
