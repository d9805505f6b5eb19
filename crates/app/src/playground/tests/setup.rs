//! What is chosen, and what is opened because of it.

use super::*;

const FIRST: TaskPlace = TaskPlace { source: 0, task: 0 };

/// A page that shows its first task before the environments are loaded.
fn first_view() -> Desk {
    let mut desk = Desk::new();
    let mut episode = recorded("counter", 0);
    episode.recipe = Some(tasks::recipe(&sources()[0], &sources()[0].tasks[0], 0));
    desk.playground.start_with(*episode, Some(FIRST));
    desk
}

fn schema() -> Json {
    json!({"type": "object", "required": ["n"]})
}

fn reset(configuration: Object) -> Event {
    Event::Reset {
        configuration,
        seed: 0,
        schema: schema(),
        id: "2".into(),
    }
}

fn chosen(desk: &Desk) -> (&str, Option<TaskPlace>) {
    let setup = desk.playground.setup();
    (setup.environment(), setup.task())
}

fn opened(desk: &Desk) -> Recipe {
    match desk.sent() {
        Some(Command::Open { recipe, .. }) => recipe.clone(),
        other => panic!("{other:?} opens nothing"),
    }
}

/// The user chooses *Custom* while the environments are still loading.
#[test]
fn custom_stays_chosen_when_the_task_lists_arrive() {
    for is_chosen_first in [true, false] {
        let mut desk = first_view();
        let mut events = [Event::PickTask(None), Event::Sources(all_sources())];
        if !is_chosen_first {
            events.reverse();
        }
        for event in events {
            desk.happen(event);
            assert_eq!(desk.effects, [], "the form keeps what was typed");
        }
        assert_eq!(chosen(&desk), ("counter", None));
        // Nor do other lists choose a task, whenever they arrive.
        desk.happen(Event::Sources(sources()));
        assert_eq!(chosen(&desk), ("counter", None));
    }
}

/// Both choices wait for the environments, and are made in order.
#[test]
fn custom_stays_chosen_after_another_environment() {
    let mut desk = first_view();
    desk.happen(Event::Sources(all_sources()));
    desk.happen(Event::Begin(Some(SERVER.into())));
    desk.happen(Event::Begin(Some("counter".into())));
    desk.happen(Event::PickTask(None));
    assert_eq!(chosen(&desk), ("counter", None));
    // The first task of the environment was opened, and arrives now.
    desk.happen(reset(object!({"n": "x", "limit": 5})));
    desk.answer();
    assert_eq!(chosen(&desk), ("counter", None));
}

#[test]
fn custom_can_be_chosen_before_any_event() {
    let mut desk = first_view();
    desk.playground.choose_custom();
    desk.happen(Event::Sources(all_sources()));
    desk.happen(Event::PickTask(None));
    assert_eq!(chosen(&desk), ("counter", None));
    assert_eq!(desk.effects, []);
}

#[test]
fn a_chosen_task_stays_chosen_wherever_the_lists_have_it() {
    let mut desk = first_view();
    assert_eq!(chosen(&desk), ("counter", Some(FIRST)));
    desk.happen(Event::Sources(all_sources()));
    let place = TaskPlace { source: 1, task: 1 };
    assert_eq!(chosen(&desk), ("counter", Some(place)));
    assert_eq!(desk.effects, [], "nothing is opened");
    desk.happen(Event::Sources(vec![list("more", &["a"])]));
    assert_eq!(chosen(&desk), ("counter", None), "it is another list");
}

#[test]
fn a_task_is_opened_as_soon_as_it_is_chosen() {
    let mut desk = first_view();
    desk.happen(Event::Sources(all_sources()));
    let place = TaskPlace { source: 1, task: 0 };
    desk.happen(Event::PickTask(Some(place)));
    let configuration = object!({"n": "b", "limit": 5});
    let filled = Effect::Configure {
        environment: "counter".into(),
        configuration: Some(configuration.clone()),
    };
    assert_eq!(desk.effects, [filled, Effect::Reset]);
    assert_eq!(chosen(&desk), ("counter", Some(place)));
    desk.happen(reset(configuration));
    let reference = opened(&desk).task.expect("a task");
    assert_eq!((&*reference.dataset, &*reference.id), ("counts", "b"));
    // A place that no list has opens nothing.
    desk.happen(Event::PickTask(Some(TaskPlace { source: 9, task: 9 })));
    assert_eq!(desk.effects, []);
}

#[test]
fn an_edited_configuration_is_no_task_but_may_be_the_same_problem() {
    let mut desk = first_view();
    desk.happen(reset(object!({"n": "a", "limit": 6})));
    assert_eq!(opened(&desk).task, None);
    assert_eq!(
        chosen(&desk).1,
        Some(FIRST),
        "the same problem, with another limit"
    );
    desk.happen(reset(object!({"n": "z", "limit": 5})));
    assert_eq!(chosen(&desk).1, None, "another problem");
}

#[test]
fn a_custom_problem_gets_its_own_id_in_the_form_as_well() {
    let mut desk = first_view();
    desk.happen(reset(object!({"n": "z", "problem_id": "a"})));
    let own = opened(&desk).configuration;
    let id = own.get("problem_id").and_then(Json::as_text);
    assert!(id.is_some_and(|id| id.starts_with("a-custom-")), "{own:?}");
    let filled = Effect::Configure {
        environment: "counter".into(),
        configuration: Some(own),
    };
    assert!(desk.has(&filled));
}

#[test]
fn an_environment_begins_with_its_first_task_or_with_defaults() {
    let mut desk = first_view();
    desk.happen(Event::Begin(Some("counter".into())));
    assert_eq!(chosen(&desk), ("counter", Some(FIRST)));
    assert!(desk.has(&Effect::Reset));
    desk.happen(Event::Begin(Some(SERVER.into())));
    assert_eq!(chosen(&desk), (SERVER, None));
    let filled = Effect::Configure {
        environment: SERVER.into(),
        configuration: None,
    };
    assert_eq!(desk.effects, [filled, Effect::Reset]);
}

#[test]
fn an_unknown_environment_leads_to_the_first_one_with_a_reason() {
    let mut desk = first_view();
    desk.happen(Event::Begin(Some("nothing".into())));
    assert_eq!(chosen(&desk), ("counter", Some(FIRST)));
    assert_eq!(desk.alerted(), Some("Unknown environment \"nothing\"."));
    let other = Text::from("https://other.example");
    desk.happen(Event::Begin(Some(other.clone())));
    assert!(desk.has(&Effect::SayNotConnected(other)));
}

#[test]
fn an_address_names_a_task_and_a_seed() {
    let begin = |id: Option<&str>| Event::BeginTask {
        environment: Some("counter".into()),
        id: id.map(Text::from),
        seed: 7,
    };
    let mut desk = first_view();
    desk.happen(Event::Sources(all_sources()));
    desk.happen(begin(Some("b")));
    assert!(desk.has(&Effect::ShowSeed(7)) && desk.has(&Effect::Reset));
    assert_eq!(chosen(&desk).1, Some(TaskPlace { source: 1, task: 0 }));
    desk.happen(begin(None));
    assert_eq!(chosen(&desk).1, Some(FIRST));
    desk.happen(begin(Some("q")));
    assert_eq!(chosen(&desk).1, Some(FIRST));
    assert_eq!(desk.alerted(), Some("Unknown task \"q\"."));
}

#[test]
fn a_file_of_tasks_opens_its_first_task_and_replaces_the_file_before_it() {
    let mut desk = first_view();
    for id in ["one", "two"] {
        let file = tasks::TaskFile {
            text: "".into(),
            name: id.into(),
            split: "test".into(),
        };
        let source = TaskSource {
            file: Some(file),
            ..list("file", &[id])
        };
        desk.happen(Event::AddTasks(source));
        assert!(desk.has(&Effect::Reset));
        assert_eq!(chosen(&desk).1, Some(TaskPlace { source: 1, task: 0 }));
        assert_eq!(desk.playground.setup().sources().len(), 2);
    }
}

#[test]
fn the_setup_follows_what_is_shown_and_replayed() {
    let mut desk = first_view();
    desk.happen(Event::PickTask(None));
    let recipe = tasks::recipe(&sources()[0], &sources()[0].tasks[0], 3);
    desk.happen(Event::Replay {
        recipe: recipe.clone(),
        actions: vec![action("a")],
        id: "2".into(),
    });
    assert_eq!(chosen(&desk), ("counter", Some(FIRST)));
    assert!(desk.has(&Effect::ShowRecipe(recipe.clone())));
    assert_eq!(opened(&desk), recipe);
    // An episode of another page: the setup shows no environment that cannot be chosen.
    desk.happen(Event::Show(recorded("nothing", 1)));
    assert_eq!(chosen(&desk), ("counter", None));
}
