//! Valid and invalid files, with the lines of their faults.

use proptest::prelude::*;

use super::*;
use crate::goal::{Bound, Condition};

const WHOLE: &str = r#"---
title: Ferries
minutes: 5
summary: How to count cars.
---
Some *text* with <b>HTML</b>.

## First part

```task
id: ferry
title: Count the cars
environment: calculator
task: easy-02
solution:
  calculator {"expr": "48 * 7"}
  submit_answer {"answer": "336"}
```

```check
for: ferry
reward: at least 1
calls of calculator: at most 2
afterwards: Well done.
```

```hint
Multiply.
```

```json
{"this": "stays Markdown"}
```

```episode
id: bad
environment: counter
student: loop
student steps: 3
```

```check
for: bad
find step: 2
```

```question
text: How many?
answers:
  [ ] one
  [x] two
```

```tokens
0 <|user|>
1 yes
```
"#;

#[test]
fn a_whole_lesson() {
    let lesson = parse(WHOLE).unwrap();
    assert_eq!(
        (&*lesson.title, lesson.minutes, lesson.goals()),
        ("Ferries", 5, 3)
    );
    let kinds: Vec<&str> = lesson
        .pieces
        .iter()
        .map(|piece| match piece {
            Piece::Heading { .. } => "heading",
            Piece::Prose(_) => "prose",
            Piece::Play(_) => "play",
            Piece::Check(_) => "check",
            Piece::Hint(_) => "hint",
            Piece::Question(_) => "question",
            Piece::Tokens(_) => "tokens",
            Piece::School(_) => "school",
        })
        .collect();
    let expected = [
        "prose", "heading", "play", "check", "hint", "prose", "play", "check", "question", "tokens",
    ];
    assert_eq!(kinds, expected);
    let ferry = lesson.plays().next().unwrap();
    assert_eq!((ferry.line, ferry.solution.len()), (10, 2));
    let check = lesson.checks().next().unwrap();
    assert_eq!(check.text, "Reach reward 1, use calculator at most 2 times");
    assert_eq!(
        check.goal,
        Goal::All(vec![
            Condition::Reward(Bound::AtLeast, 1.0),
            Condition::Calls {
                tool: Some("calculator".into()),
                bound: Bound::AtMost,
                count: 2
            }
        ])
    );
    assert_eq!(lesson.checks().nth(1).unwrap().goal, Goal::Step(2));
}

#[test]
fn every_fault_names_its_line() {
    let head = "---\ntitle: A\nminutes: 5\n---\n";
    let task = "```task\nid: a\nenvironment: counter\n```\n";
    for (body, line, part) in [
        (
            "```task\nenvironment: counter\n```\n",
            5,
            "\"id: …\" is missing",
        ),
        (
            "```task\nid: a\nenvironment: counter\ncolour: red\n```\n",
            8,
            "unknown key \"colour\"",
        ),
        ("```task\nid: a\nid: b\n```\n", 7, "twice"),
        (
            "```task\nid: a\nnonsense\n```\n",
            7,
            "expected \"key: value\"",
        ),
        ("```taks\nid: a\n```\n", 5, "did you mean \"task\""),
        ("```tasks\nid: a\n```\n", 5, "did you mean \"task\""),
        (
            "- list\n\n  ```hint\n  a\n  ```\n",
            7,
            "must not be in a list",
        ),
        (
            "```check\nfor: b\nends: done\n```\n",
            5,
            "unknown task or episode \"b\"",
        ),
        (
            "```episode\nid: a\nenvironment: counter\n```\n",
            5,
            "needs \"actions\" or \"student\"",
        ),
        (
            "```episode\nid: a\nenvironment: c\nstudent: lazy\n```\n",
            8,
            "unknown fault \"lazy\"",
        ),
        (
            "```episode\nid: a\nenvironment: c\nactions:\n  incr\n  incr {\n```\n",
            10,
            "closing",
        ),
        (
            "```task\nid: a\nenvironment: c\nconfiguration: {\"a\": }\n```\n",
            8,
            "not JSON",
        ),
        (
            "```task\nid: a\nenvironment: c\nseed: many\n```\n",
            8,
            "whole number",
        ),
        (
            "```question\ntext: A?\nanswers:\n  [ ] a\n  b\n```\n",
            9,
            "begins with [ ]",
        ),
        (
            "```question\ntext: A?\nanswers:\n  [ ] a\n  [ ] b\n```\n",
            7,
            "exactly one",
        ),
        ("```tokens\n2 a\n```\n", 6, "0 or 1"),
    ] {
        let problems = parse(&format!("{head}{body}")).unwrap_err();
        let problem = &problems[0];
        assert_eq!(problem.line, line, "{problems:?}\n{body}");
        assert!(problem.message.contains(part), "{problem}");
    }
    for (check, line, part) in [
        ("reward: 1", 11, "\"at least\", \"at most\" or \"exactly\""),
        ("ends: soon", 11, "done or truncated"),
        ("find step: 0", 9, "counted from 1"),
        ("text: x", 9, "asks for nothing"),
    ] {
        let problems = parse(&format!("{head}{task}```check\nfor: a\n{check}\n```\n")).unwrap_err();
        assert_eq!(problems[0].line, line, "{problems:?}");
        assert!(problems[0].message.contains(part), "{problems:?}");
    }
    for (text, part) in [
        ("# A", "begins with a head"),
        ("---\ntitle: A\n", "no closing"),
        ("---\ntitle: A\n---\n", "minutes"),
    ] {
        let problems = parse(text).unwrap_err();
        assert!(problems[0].message.contains(part), "{problems:?}");
    }
    assert_eq!(parse(&"a".repeat(LARGEST + 1)).unwrap_err().len(), 1);
}

#[test]
fn all_problems_are_reported_together() {
    let text = "---\ntitle: A\n---\n```task\n```\n\n```check\n```\n";
    let lines: Vec<usize> = parse(text)
        .unwrap_err()
        .iter()
        .map(|problem| problem.line)
        .collect();
    assert_eq!(lines, [1, 4, 7]);
}

proptest! {
    #[test]
    fn anything_is_read(text in ".*") {
        let _ = parse(&text);
        let _ = parse(&format!("---\ntitle: a\nminutes: 1\n---\n```task\n{text}\n```\n"));
    }
}
