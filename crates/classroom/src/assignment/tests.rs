//! What assignments survive, and what is no assignment.

use proptest::prelude::*;

use super::*;

fn named(title: &str) -> AssignedTask {
    AssignedTask {
        title: title.into(),
        start: TaskStart::Named {
            environment: "calculator".into(),
            task: Some("bakery".into()),
            seed: 0,
        },
    }
}

fn assignment() -> Assignment {
    Assignment {
        id: "a1b2".into(),
        title: "Word problems".into(),
        deadline: "Friday, 10:00".into(),
        tasks: vec![named("The bakery")],
        class: None,
    }
}

#[test]
fn the_file_is_what_the_document_says() {
    let mut assignment = assignment();
    assignment.tasks.push(AssignedTask {
        title: "Our own".into(),
        start: TaskStart::Packed {
            recipe: "1abc".into(),
        },
    });
    assignment.class = Some(Class {
        url: "https://class.example".into(),
        code: "c0de".into(),
    });
    let text = assignment.to_text();
    let expected = r#"{"id":"a1b2","title":"Word problems","deadline":"Friday, 10:00","tasks":[{"title":"The bakery","environment":"calculator","task":"bakery"},{"title":"Our own","recipe":"1abc"}],"class":{"url":"https://class.example","code":"c0de"},"format":"volary-assignment","version":1}"#;
    assert_eq!(text, expected);
    assert_eq!(Assignment::read(&text), Ok(assignment));
}

#[test]
fn what_is_missing_is_named() {
    let check = |change: fn(&mut Assignment)| {
        let mut changed = assignment();
        change(&mut changed);
        changed.check()
    };
    assert_eq!(check(|_| {}), Ok(()));
    assert_eq!(
        check(|made| made.title = Name::new(" ")),
        Err(AssignmentError::NoTitle)
    );
    assert_eq!(
        check(|made| made.tasks.clear()),
        Err(AssignmentError::NoTask)
    );
    assert_eq!(
        check(|made| made.tasks = vec![named("x"); MOST_TASKS + 1]),
        Err(AssignmentError::TooManyTasks {
            count: MOST_TASKS + 1
        })
    );
    for url in ["", "class.example", "ftp://a", "https://", "http://me@a/"] {
        let mut made = assignment();
        let code = "c".to_owned();
        made.class = Some(Class {
            url: url.into(),
            code,
        });
        assert_eq!(made.check(), Err(AssignmentError::BadAddress), "{url}");
    }
    assert!(check(|made| made.id = "a b".into()).is_err());
}

#[test]
fn a_malformed_assignment_is_rejected() {
    let text = assignment().to_text();
    let damaged = Err(AssignmentError::Damaged);
    assert_eq!(Assignment::read(""), damaged);
    assert_eq!(Assignment::read("{}"), damaged);
    assert_eq!(
        Assignment::read(&text.replace("-assignment", "-episode")),
        damaged
    );
    let newer = text.replace("\"version\":1", "\"version\":2");
    assert_eq!(Assignment::read(&newer), Err(AssignmentError::Newer));
    let mistyped = text.replace("\"bakery\"", "7");
    assert!(matches!(
        Assignment::read(&mistyped),
        Err(AssignmentError::Misfit { .. })
    ));
    let link = assignment().to_link().unwrap();
    assert_eq!(
        Assignment::read_link(&link[..link.len() - 4]),
        Err(AssignmentError::Cut)
    );
    assert_eq!(Assignment::read_link("nonsense"), damaged);
}

fn task() -> impl Strategy<Value = AssignedTask> {
    let named = (
        "[a-z]{1,12}",
        proptest::option::of(".{1,20}"),
        0..1_u64 << 53,
    );
    let named = named.prop_map(|(environment, task, seed)| TaskStart::Named {
        environment,
        task,
        seed,
    });
    let packed = "1[A-Za-z0-9_-]{1,60}".prop_map(|recipe| TaskStart::Packed { recipe });
    (".{1,40}", prop_oneof![named, packed]).prop_map(|(title, start)| AssignedTask {
        title: Name::new(&title),
        start,
    })
}

proptest! {
    #[test]
    fn a_link_holds_the_same_assignment(
        title in "[a-zé]{1,10}.{0,40}",
        deadline in ".{0,40}",
        tasks in proptest::collection::vec(task(), 1..8),
        code in proptest::option::of("[a-z0-9]{1,32}"),
    ) {
        let made = Assignment {
            id: "a".into(),
            title: Name::new(&title),
            deadline: Name::new(&deadline),
            tasks,
            class: code.map(|code| Class { url: "http://127.0.0.1:8041".into(), code }),
        };
        let link = made.to_link().unwrap();
        prop_assert_eq!(Assignment::read_link(&link), Ok(made));
        let cut = link.len() / 2;
        prop_assert!(Assignment::read_link(&link[..cut]).is_err());
    }

    #[test]
    fn no_text_makes_reading_panic(text in ".{0,200}") {
        let _ = Assignment::read(&text);
        let _ = Assignment::read_link(&text);
    }
}
