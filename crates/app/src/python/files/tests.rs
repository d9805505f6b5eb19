//! Files, versions and recipes of Python environments.

use super::*;

const CODE: &str = "class A(Environment): ...";

fn of(code: &str) -> PythonSource {
    PythonSource::of_code(code)
}

fn environment(code: &str) -> Text {
    of(code).environment()
}

#[test]
fn versions_are_kept_in_order_and_the_same_code_once() {
    let mut files = PythonFiles::default();
    for code in ["a", "b", "b", "a"] {
        files.save("story", &of(code), 1);
    }
    let codes = |files: &PythonFiles| -> Vec<String> {
        let versions = files.files.iter().flat_map(|file| &file.versions);
        versions
            .map(|version| version.source.code.clone())
            .collect()
    };
    assert_eq!(codes(&files), ["b", "a"]);
    for number in 0..40 {
        files.save("story", &of(&number.to_string()), 1);
    }
    assert_eq!(codes(&files).len(), OLD_VERSIONS + 1);
    assert_eq!(files.free_name("story"), "story 2");
    assert_eq!(files.free_name(" "), "environment");
    assert!(files.of_source(&of("39")).is_some());
    assert!(files.of_source(&of("0")).is_none());
    let text = serde_json::to_string(&files).unwrap_or_default();
    assert_eq!(serde_json::from_str::<PythonFiles>(&text).ok(), Some(files));
}

#[test]
fn a_recipe_contains_its_code_and_restores_its_form() {
    let description = Description {
        environment: Some("A".to_owned()),
        configuration: Some("{\"type\":\"object\"}".to_owned()),
        ..Description::default()
    };
    let values = object!({"words": 5, "name": null});
    let recipe = recipe(&of(CODE), &description, &values, 3);
    assert_eq!(super::values(&recipe), object!({"words": 5}));
    let (source, start) = parts(&recipe).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(source, of(CODE));
    assert_eq!(start, Start::Arguments(object!({"words": 5})));
}

#[test]
fn a_task_of_a_dataset_is_named() {
    let description = Description {
        dataset: Some("D".to_owned()),
        size: Some(4),
        ..Description::default()
    };
    let recipe = recipe(&of(CODE), &description, &object!({"task_idx": 2}), 0);
    assert_eq!(recipe.task.as_ref().map(|task| &*task.id), Some("2"));
    assert_eq!(parts(&recipe).map(|parts| parts.1), Ok(Start::Index(2)));
}

#[test]
fn other_code_under_the_same_name_is_refused() {
    let mut recipe = recipe(&of(CODE), &Description::default(), &Object::new(), 0);
    recipe.configuration.insert(PYTHON_CODE, "import os");
    assert!(parts(&recipe).is_err());
    recipe.configuration.remove(PYTHON_CODE);
    assert!(parts(&recipe).is_err());
}

#[test]
fn wheels_are_named_and_make_another_environment() {
    let wheel = |digit: &str| Wheel {
        name: "tool-1.0-py3-none-any.whl".to_owned(),
        sha256: digit.repeat(64),
        size: 2000,
    };
    let source = PythonSource {
        wheels: vec![wheel("a")],
        ..of(CODE)
    };
    let recipe = recipe(&source, &Description::default(), &object!({"words": 5}), 0);
    assert_eq!(parts(&recipe).map(|parts| parts.0), Ok(source.clone()));
    assert_eq!(values(&recipe), object!({"words": 5}));
    let other = PythonSource {
        wheels: vec![wheel("b")],
        ..of(CODE)
    };
    let names = [&source, &other, &of(CODE)].map(PythonSource::environment);
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
    assert!(
        !on_source(&recipe, &of(CODE))
            .configuration
            .contains_key(PYTHON_WHEELS)
    );

    let mut wrong = recipe;
    wrong.configuration.insert(PYTHON_WHEELS, "tool");
    assert!(parts(&wrong).is_err());
    // A version that was stored without wheels can be read.
    let text = r#"{"files": [{"name": "a", "versions": [{"code": "b", "saved": 1}]}]}"#;
    let files: PythonFiles = serde_json::from_str(text).unwrap_or_default();
    assert!(files.of_source(&of("b")).is_some());
}

#[test]
fn wheels_of_a_removed_file_are_given_up_unless_another_needs_them() {
    let source = |digits: &[&str]| PythonSource {
        wheels: digits
            .iter()
            .map(|digit| Wheel {
                name: "tool-1.0-py3-none-any.whl".to_owned(),
                sha256: digit.repeat(64),
                size: 2000,
            })
            .collect(),
        ..of(CODE)
    };
    let mut files = PythonFiles::default();
    files.save("a", &source(&["1", "2"]), 1);
    files.save("b", &source(&["2"]), 1);
    assert_eq!(files.remove("a"), source(&["1"]).wheels);
    assert_eq!(files.remove("b"), source(&["2"]).wheels);
    assert_eq!(files.remove("b"), []);
    assert_eq!(files, PythonFiles::default());
}

#[test]
fn a_change_of_the_code_is_known() {
    let mut files = PythonFiles::default();
    for code in ["a", "b", "c"] {
        files.save("story", &of(code), 1);
    }
    files.describe(&of("b"), &Description::default());
    let state = |code| files.code_state(&of(code));
    assert_eq!(state("x"), CodeState::Unknown);
    let file = "story".to_owned();
    assert_eq!(state("c"), CodeState::Last { file: file.clone() });
    assert_eq!(state("c").words(), "");
    assert_eq!(
        state("b"),
        CodeState::Changed {
            file,
            version: 2,
            versions: 3
        }
    );
    assert!(files.has_run(&of("b")) && !files.has_run(&of("c")));
}

#[test]
fn a_task_moves_to_other_code() {
    let description = Description {
        dataset: Some("D".to_owned()),
        ..Description::default()
    };
    let old = recipe(&of(CODE), &description, &object!({"task_idx": 2}), 7);
    let new = on_source(&old, &of("class B: ..."));
    assert_eq!(
        new,
        recipe(
            &of("class B: ..."),
            &description,
            &object!({"task_idx": 2}),
            7
        )
    );
}

#[test]
fn an_answer_to_load_is_read() {
    let body = json!({"environment": "A", "dataset": null, "summary": "S", "configuration": {"type": "object"}, "size": null});
    let description = Description::of(&body);
    assert_eq!(description.class(), "A");
    assert_eq!(description.form(), json!({"type": "object"}));
}

#[test]
fn code_that_was_run_stays_known_under_every_name() {
    let description = Description {
        environment: Some("A".to_owned()),
        ..Description::default()
    };
    let mut files = PythonFiles::default();
    files.save("story", &of("a"), 1);
    files.describe(&of("a"), &description);
    files.save("story", &of("b"), 2);
    assert!(!files.has_run(&of("b")));
    // The first version is restored, and copied to another file.
    files.save("story", &of("a"), 3);
    files.save("copy", &of("a"), 4);
    for name in ["story", "copy"] {
        let last = files.get(name).and_then(PythonFile::last);
        let known = last.and_then(|last| last.description.as_ref());
        assert_eq!(known, Some(&description), "{name}");
    }
    files.remove("story");
    assert!(files.has_run(&of("a")));
    files.remove("copy");
    assert!(!files.has_run(&of("a")));
}

#[test]
fn a_version_that_is_dropped_gives_up_its_wheels() {
    let wheel = |number: usize| Wheel {
        name: format!("w{number}-1-py3-none-any.whl"),
        sha256: number.to_string(),
        size: 1,
    };
    let with_wheels = |code: usize, wheels: Vec<Wheel>| PythonSource {
        code: code.to_string(),
        wheels,
    };
    let mut files = PythonFiles::default();
    files.save("a", &with_wheels(0, vec![wheel(1), wheel(2)]), 1);
    files.save("b", &with_wheels(0, vec![wheel(2)]), 1);
    for code in 1..=OLD_VERSIONS {
        let unused = files.save("a", &with_wheels(code, Vec::new()), 1);
        assert!(unused.is_empty(), "version {code} drops none");
    }
    let unused = files.save("a", &with_wheels(99, Vec::new()), 1);
    assert_eq!(unused, [wheel(1)]);
    assert!(files.save("a", &with_wheels(100, Vec::new()), 1).is_empty());
}

#[test]
fn an_episode_of_a_file_says_which_version_it_was_played_on() {
    let mut files = PythonFiles::default();
    for code in ["a", "b", "c"] {
        files.save("story", &of(code), 1);
    }
    let words = |code| files.code_state(&of(code)).words();
    assert_eq!(words("c"), "");
    assert!(words("b").contains("version 2 of 3"), "{}", words("b"));
    assert!(words("d").starts_with("No file of this browser"));
}

#[test]
fn a_recipe_without_its_code_is_refused_with_the_reason() {
    let named = |configuration| Recipe {
        environment: environment(CODE),
        configuration,
        ..Recipe::default()
    };
    let reason = |configuration| {
        let refused = PythonSource::of_recipe(&named(configuration));
        refused.expect_err("it is refused")
    };
    assert!(reason(object!({})).contains("does not contain the code"));
    assert!(reason(object!({ PYTHON_CODE: 3 })).contains("does not contain the code"));
    assert!(reason(object!({ PYTHON_CODE: CODE, PYTHON_WHEELS: "w" })).contains("wheels"));
    assert!(reason(object!({ PYTHON_CODE: "x = 1" })).contains("does not match its name"));
    assert!(PythonSource::of_recipe(&named(object!({ PYTHON_CODE: CODE }))).is_ok());
}

#[test]
fn a_form_is_filled_from_a_recipe_of_either_kind() {
    let constructed = object!({ TASK_ARGUMENTS: {"words": 5}, PYTHON_CODE: CODE });
    let indexed = object!({ TASK_INDEX: 2, PYTHON_CODE: CODE, PYTHON_WHEELS: [] });
    let filled = |configuration| {
        values(&Recipe {
            configuration,
            ..Recipe::default()
        })
    };
    assert_eq!(filled(constructed), object!({"words": 5}));
    assert_eq!(filled(indexed), object!({ TASK_INDEX: 2 }));
}

/// The start of the SHA-256 of some code, as names of older episodes have it.
fn short_name(code: &str) -> Text {
    let name = environment(code);
    name.get(.."python://".len() + 16)
        .unwrap_or_default()
        .into()
}

#[test]
fn an_episode_with_a_short_name_is_read_and_gets_the_whole_name() {
    let description = Description {
        dataset: Some("D".to_owned()),
        ..Description::default()
    };
    let today = recipe(&of(CODE), &description, &object!({"task_idx": 2}), 7);
    let mut old = today.clone();
    old.environment = short_name(CODE);
    if let Some(task) = &mut old.task {
        task.dataset = short_name(CODE);
    }
    assert_eq!(parts(&old).map(|parts| parts.0), Ok(of(CODE)));
    assert_eq!(renamed(old), today);
    assert_eq!(renamed(today.clone()), today);
    // Another environment may have a parameter `code`.
    let other = Recipe {
        environment: "counter".into(),
        configuration: object!({ PYTHON_CODE: "x" }),
        ..Recipe::default()
    };
    assert_eq!(renamed(other.clone()), other);
}

#[test]
fn code_with_the_name_of_known_code_is_not_known() {
    let mut files = PythonFiles::default();
    files.save("story", &of(CODE), 1);
    files.describe(&of(CODE), &Description::default());
    // As if somebody had made other code for the same name.
    let forged = |name: Text| Recipe {
        environment: name,
        configuration: object!({ PYTHON_CODE: "import os" }),
        ..Recipe::default()
    };
    for name in [environment(CODE), short_name(CODE)] {
        assert!(PythonSource::of_recipe(&forged(name)).is_err());
    }
    // Even if the name fits, only the code counts.
    let source = PythonSource::of_recipe(&forged(short_name("import os")));
    let source = source.unwrap_or_else(|error| panic!("{error}"));
    assert!(!files.has_run(&source));
    assert_eq!(files.code_state(&source), CodeState::Unknown);
    files.save("other", &source, 2);
    assert!(!files.has_run(&source), "saving is not running");
    assert!(files.has_run(&of(CODE)));
    let with_wheel = PythonSource {
        wheels: Wheel::of("tool-1.0-py3-none-any.whl", b"PK\x03\x04")
            .into_iter()
            .collect(),
        ..of(CODE)
    };
    assert!(!files.has_run(&with_wheel), "a wheel is code too");
}
