//! Tests of the form: tasks, checks before a server is asked, and late answers.

use proptest::prelude::*;
use volary_agent::model::ApiKey;
use volary_classroom::TaskStart;

use super::*;

fn task(title: &str) -> AssignedTask {
    AssignedTask {
        title: Name::new(title),
        start: TaskStart::Named {
            environment: "calculator".to_owned(),
            task: Some("easy-01".to_owned()),
            seed: 0,
        },
    }
}

fn server(name: &str) -> ClassServer {
    ClassServer {
        url: format!("https://{name}.example"),
        key: ApiKey::new(name),
    }
}

fn make(server: Result<ClassServer, String>) -> Event {
    Event::Make {
        id: "a1".to_owned(),
        server,
    }
}

fn answered(question: QuestionNumber, code: &str) -> Event {
    Event::Answered {
        question,
        code: Ok(code.to_owned()),
    }
}

/// A form with everything that an assignment needs.
fn filled() -> AssignmentForm {
    let mut form = AssignmentForm::default();
    form.update(Event::Titled("Sums".to_owned()));
    form.update(Event::Add(Ok(task("Bread"))));
    form
}

/// A filled form whose pupils hand in to a class, with a typed key.
fn for_class() -> AssignmentForm {
    let mut form = filled();
    form.update(Event::HandInBy(HandInChoice::Server));
    form.update(Event::Address("https://a.example".to_owned()));
    form.update(Event::Key("a".to_owned()));
    form
}

fn given(effects: &[Effect]) -> &Assignment {
    match effects {
        [.., Effect::Give(assignment)] => assignment,
        others => panic!("nothing was made: {others:?}"),
    }
}

fn why(form: &AssignmentForm) -> String {
    form.problem()
        .map(|notice| notice.why.clone())
        .unwrap_or_default()
}

fn titles(form: &AssignmentForm) -> Vec<&str> {
    let tasks = form.tasks().iter();
    tasks.map(|chosen| chosen.task.title.as_str()).collect()
}

#[test]
fn files_need_no_server() {
    let mut form = filled();
    form.update(Event::Dated(" Friday ".to_owned()));
    let effects = form.update(make(Err("The address is empty.".to_owned())));
    let made = given(&effects);
    assert_eq!(effects.len(), 1);
    assert_eq!(made.id, "a1");
    assert_eq!(made.title.as_str(), "Sums");
    assert_eq!(made.deadline.as_str(), "Friday");
    assert_eq!(made.tasks, [task("Bread")]);
    assert_eq!(made.class, None);
    assert_eq!(form.made(), Some("a1"));
    assert_eq!(form.problem(), None);
}

#[test]
fn an_incomplete_assignment_is_refused_before_the_server_is_asked() {
    let mut form = AssignmentForm::default();
    for choice in [HandInChoice::File, HandInChoice::Server] {
        form.update(Event::HandInBy(choice));
        assert_eq!(form.update(make(Ok(server("a")))), []);
        assert!(why(&form).contains("no title"), "{}", why(&form));
    }
    form.update(Event::Titled("Sums".to_owned()));
    assert_eq!(form.update(make(Ok(server("a")))), []);
    assert!(why(&form).contains("no task"), "{}", why(&form));
    assert!(!form.is_asking());
    assert_eq!(form.made(), None);
}

#[test]
fn a_title_of_spaces_is_none() {
    let mut form = filled();
    form.update(Event::Titled(" \n ".to_owned()));
    assert_eq!(form.update(make(Ok(server("a")))), []);
    assert!(why(&form).contains("no title"));
}

#[test]
fn an_unusable_address_is_refused_with_its_reason() {
    let mut form = for_class();
    let reason = "The address has a user name.";
    assert_eq!(form.update(make(Err(reason.to_owned()))), []);
    assert_eq!(
        form.problem(),
        Some(&Notice::new(
            NOT_MADE,
            reason,
            "Check the address of the class."
        ))
    );
    assert!(!form.is_asking());
}

#[test]
fn the_code_of_the_class_is_in_the_assignment_and_the_key_is_not() {
    let mut form = for_class();
    let effects = form.update(make(Ok(server("a"))));
    let asked = Effect::AskForCode {
        question: 1,
        server: server("a"),
    };
    assert_eq!(effects, [asked]);
    assert!(form.is_asking());
    assert_eq!(form.made(), None);

    let effects = form.update(answered(1, "c0de"));
    assert_eq!(effects[0], Effect::StoreKey(server("a")));
    let class = Class {
        url: "https://a.example".to_owned(),
        code: "c0de".to_owned(),
    };
    assert_eq!(given(&effects).class, Some(class));
    assert!(!form.is_asking());
    assert_eq!(form.key(), "", "an accepted key does not stay in the form");
    assert_eq!(form.made(), Some("a1"));
}

#[test]
fn a_refused_key_is_not_stored_and_can_be_corrected() {
    let mut form = for_class();
    form.update(make(Ok(server("a"))));
    let notice = Notice::new(
        "The class could not be read.",
        "Wrong key.",
        "Enter the key.",
    );
    let refused = Event::Answered {
        question: 1,
        code: Err(notice.clone()),
    };
    assert_eq!(form.update(refused), []);
    assert_eq!(form.problem(), Some(&notice));
    assert_eq!(form.key(), "a", "the teacher sees what was typed");
    assert!(!form.is_asking());

    let effects = form.update(make(Ok(server("b"))));
    assert_eq!(form.problem(), None, "the old reason is gone");
    let asked = Effect::AskForCode {
        question: 2,
        server: server("b"),
    };
    assert_eq!(effects, [asked]);
}

#[test]
fn a_second_press_asks_only_once() {
    let mut form = for_class();
    form.update(make(Ok(server("a"))));
    assert_eq!(form.update(make(Ok(server("a")))), []);
    let effects = form.update(answered(1, "c0de"));
    assert_eq!(given(&effects).id, "a1");
    assert_eq!(form.update(answered(1, "c0de")), [], "answered already");
}

#[test]
fn what_is_typed_while_the_server_is_asked_is_for_the_next_assignment() {
    let mut form = for_class();
    form.update(make(Ok(server("a"))));
    form.update(Event::Titled(String::new()));
    let number = form.tasks()[0].number;
    form.update(Event::Remove(number));
    let effects = form.update(answered(1, "c0de"));
    assert_eq!(given(&effects).title.as_str(), "Sums");
    assert_eq!(given(&effects).tasks, [task("Bread")]);
    assert_eq!(form.title(), "");
    assert!(form.tasks().is_empty());
}

#[test]
fn another_server_or_way_to_hand_in_ends_the_question() {
    let changes = [
        Event::HandInBy(HandInChoice::File),
        Event::Address("https://b.example".to_owned()),
        Event::Key("b".to_owned()),
    ];
    for change in changes {
        let mut form = for_class();
        form.update(make(Ok(server("a"))));
        form.update(change.clone());
        assert!(!form.is_asking(), "{change:?}");
        assert_eq!(form.update(answered(1, "c0de")), [], "{change:?}");
        assert_eq!(form.made(), None);

        // A late answer to the abandoned question is not taken for the answer to the new one.
        form.update(Event::HandInBy(HandInChoice::Server));
        form.update(make(Ok(server("b"))));
        assert_eq!(form.update(answered(1, "old")), [], "{change:?}");
        let effects = form.update(answered(2, "new"));
        let class = given(&effects).class.as_ref();
        assert_eq!(class.map(|class| class.code.as_str()), Some("new"));
    }
}

#[test]
fn tasks_keep_their_numbers_when_others_go() {
    let mut form = AssignmentForm::default();
    for title in ["A", "B", "C"] {
        form.update(Event::Add(Ok(task(title))));
    }
    let numbers: Vec<_> = form.tasks().iter().map(|chosen| chosen.number).collect();
    form.update(Event::Remove(numbers[0]));
    form.update(Event::Rename {
        number: numbers[2],
        title: Name::new("Last"),
    });
    assert_eq!(titles(&form), ["B", "Last"]);
    assert_eq!(form.place(numbers[0]), 0);
    assert_eq!(form.place(numbers[1]), 1);
    assert_eq!(form.place(numbers[2]), 2);

    form.update(Event::Add(Ok(task("D"))));
    let added = form.tasks()[2].number;
    assert!(!numbers.contains(&added), "a number is never used again");
}

#[test]
fn a_removed_task_cannot_be_renamed() {
    let mut form = filled();
    let number = form.tasks()[0].number;
    form.update(Event::Remove(number));
    form.update(Event::Rename {
        number,
        title: Name::new("Ghost"),
    });
    assert!(form.tasks().is_empty());
}

#[test]
fn a_task_that_cannot_be_given_is_refused_and_the_next_one_removes_the_reason() {
    let mut form = filled();
    form.update(Event::Add(Err("It is no link.".to_owned())));
    assert_eq!(why(&form), "It is no link.");
    assert_eq!(titles(&form), ["Bread"]);
    form.update(Event::Add(Ok(task("Cake"))));
    assert_eq!(form.problem(), None);
    assert_eq!(titles(&form), ["Bread", "Cake"]);
}

#[test]
fn an_earlier_assignment_can_be_shown_and_stays_after_a_failure() {
    let mut form = AssignmentForm::default();
    form.update(Event::ShowMade("old".to_owned()));
    form.update(make(Ok(server("a"))));
    assert_eq!(form.made(), Some("old"));
    assert!(form.problem().is_some());
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        "[ab ]{0,3}".prop_map(Event::Titled),
        "[ab]{0,2}".prop_map(|title| Event::Add(Ok(task(&title)))),
        Just(Event::Add(Err("no".to_owned()))),
        (0..6u32).prop_map(Event::Remove),
        Just(Event::HandInBy(HandInChoice::File)),
        Just(Event::HandInBy(HandInChoice::Server)),
        "[ab]".prop_map(Event::Address),
        "[ab]".prop_map(Event::Key),
        "[ab]".prop_map(|name| make(Ok(server(&name)))),
        Just(make(Err("no".to_owned()))),
        (0..6u32).prop_map(|question| answered(question, "c0de")),
        (0..6u32).prop_map(|question| Event::Answered {
            question,
            code: Err(Notice::new("", "", "")),
        }),
    ]
}

proptest! {
    #[test]
    fn only_the_server_that_was_asked_last_is_named(events in proptest::collection::vec(events(), 0..40)) {
        let mut form = AssignmentForm::default();
        // The server of the open question.
        let mut asked = None;
        for event in events {
            let was_asking = form.is_asking();
            let is_answer = matches!(event, Event::Answered { .. });
            for effect in form.update(event) {
                match effect {
                    Effect::AskForCode { server, .. } => {
                        prop_assert!(!was_asking);
                        asked = Some(server);
                    }
                    Effect::StoreKey(server) => {
                        prop_assert!(is_answer && was_asking);
                        prop_assert_eq!(Some(&server), asked.as_ref());
                    }
                    Effect::Give(assignment) => {
                        prop_assert_eq!(assignment.check(), Ok(()));
                        prop_assert_eq!(form.made(), Some(assignment.id.as_str()));
                        let url = assignment.class.map(|class| class.url);
                        prop_assert_eq!(url.is_some(), is_answer);
                        prop_assert!(url.is_none() || url == asked.as_ref().map(|server| server.url.clone()));
                    }
                }
            }
        }
    }
}
