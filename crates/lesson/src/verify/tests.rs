//! The built-in lessons can be followed, and the catalog matches them.

use std::path::Path;

use volary_app::playground::tasks;
use volary_core::virtual_clock::VirtualClock;

use super::*;
use crate::{Piece, catalog, parse};

fn problems(lesson: &Lesson) -> Vec<Problem> {
    let registry = volary_envs::registry();
    let sources = tasks::built_in(&registry);
    let clock = VirtualClock::new();
    clock
        .run(verify(lesson, &registry, &sources, Rc::new(clock.clone())))
        .unwrap()
}

#[test]
fn the_lessons_of_the_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../public/lessons");
    for entry in catalog::LESSONS {
        let text = std::fs::read_to_string(folder.join(format!("{}.md", entry.id))).unwrap();
        let lesson = parse(&text).unwrap_or_else(|problems| panic!("{}: {problems:?}", entry.id));
        assert_eq!(problems(&lesson), [], "{}", entry.id);
        let made = (
            &*lesson.title,
            &*lesson.summary,
            lesson.minutes,
            lesson.goals(),
        );
        assert_eq!(
            made,
            (entry.title, entry.summary, entry.minutes, entry.goals),
            "{}",
            entry.id
        );
        assert!((5..=15).contains(&lesson.minutes), "{}", entry.id);
        assert!(
            lesson
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Play(_) | Piece::School(_))),
            "{}",
            entry.id
        );
    }
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.retain(|name| name != "template.md");
    assert_eq!(files.len(), catalog::LESSONS.len(), "{files:?}");
    let template = std::fs::read_to_string(folder.join("template.md")).unwrap();
    assert_eq!(problems(&parse(&template).unwrap()), []);
}

#[test]
fn broken_references_are_reported() {
    let head = "---\ntitle: A\nminutes: 5\n---\n";
    for (body, line, part) in [
        (
            "```task\nid: a\nenvironment: nowhere\n```\n",
            5,
            "unknown environment \"nowhere\"",
        ),
        (
            "```task\nid: a\nenvironment: calculator\ntask: easy-99\n```\n",
            5,
            "no task \"easy-99\"",
        ),
        (
            "```task\nid: a\nenvironment: calculator\n```\n",
            5,
            "cannot be played",
        ),
        (
            "```task\nid: a\nenvironment: counter\n```\n```check\nfor: a\nreward: at least 1\n```\n",
            9,
            "no \"solution\"",
        ),
        (
            "```task\nid: a\nenvironment: counter\nsolution:\n  incr\n```\n```check\nfor: a\nreward: at least 1\n```\n",
            11,
            "does not meet the check",
        ),
        (
            "```episode\nid: a\nenvironment: counter\nactions:\n  incr\n```\n```check\nfor: a\nfind step: 2\n```\n",
            11,
            "has 1 steps",
        ),
        (
            "```task\nid: a\nenvironment: counter\nactions:\n  incr\n```\n```check\nfor: a\nsteps: at least 1\n```\n",
            11,
            "before the reader",
        ),
    ] {
        let lesson = parse(&format!("{head}{body}")).unwrap();
        let problems = problems(&lesson);
        assert_eq!(problems.len(), 1, "{body}");
        assert_eq!(problems[0].line, line, "{problems:?}");
        assert!(problems[0].message.contains(part), "{problems:?}");
    }
}
