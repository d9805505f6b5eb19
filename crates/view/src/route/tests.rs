//! Addresses as they are written and read.

use proptest::prelude::*;

use super::*;

fn check(hash: &str, environment: Option<&str>, episode: Option<&str>, step: Option<usize>) {
    let expected = Route::Playground(PlaygroundPlace {
        environment: environment.map(str::to_owned),
        episode: episode.map(str::to_owned),
        step,
        ..PlaygroundPlace::default()
    });
    assert_eq!(Route::parse(hash), expected, "{hash}");
}

#[test]
fn places_of_the_playground() {
    check("", None, None, None);
    check("#", None, None, None);
    check("#/", None, None, None);
    check("#/run", None, None, None);
    check("#/run/", None, None, None);
    check("#/run/counter", Some("counter"), None, None);
    check("#/run/counter?step=3", Some("counter"), None, Some(3));
    check(
        "#/run/counter?e=ab-_&step=3",
        Some("counter"),
        Some("ab-_"),
        Some(3),
    );
}

#[test]
fn tasks_and_policies() {
    let hash = "#/run/calculator?task=easy-02&seed=7&policy=random&step=1";
    let place = PlaygroundPlace {
        environment: Some("calculator".to_owned()),
        task: Some("easy-02".to_owned()),
        seed: Some(7),
        policy: Some("random".to_owned()),
        step: Some(1),
        ..PlaygroundPlace::default()
    };
    assert_eq!(place.to_hash(), hash);
    assert_eq!(Route::parse(hash), Route::Playground(place.clone()));
    assert!(!place.is_plain());
    let elsewhere = PlaygroundPlace {
        policy: None,
        step: None,
        ..place.clone()
    };
    assert!(elsewhere.has_episode_of(&place));
    assert!(!PlaygroundPlace::default().has_episode_of(&place));
    check("#/run/counter?seed=-1", Some("counter"), None, None);
}

#[test]
fn nonsense_is_read_without_failing() {
    check("#/run/a%zz%4", Some("a%zz%4"), None, None);
    check("#/run/%FF", Some("\u{fffd}"), None, None);
    check(
        "#/run/counter?step=-1&what&=&x=y",
        Some("counter"),
        None,
        None,
    );
    check(
        "#/run/counter?step=99999999999999999999999",
        Some("counter"),
        None,
        None,
    );
}

#[test]
fn elsewhere() {
    for hash in [
        "#/nowhere",
        "#/run/a/b",
        "#/review/a/b",
        "#/settings/x",
        "#main",
    ] {
        assert!(
            matches!(Route::parse(hash), Route::Unknown { .. }),
            "{hash}"
        );
    }
}

#[test]
fn settings() {
    for hash in ["#/settings", "#/settings/", "#settings"] {
        assert_eq!(Route::parse(hash), Route::Settings, "{hash}");
    }
    assert_eq!(Route::Settings.to_hash(), "#/settings");
}

#[test]
fn lessons() {
    for (hash, place) in [
        ("#/learn", LearnPlace::List),
        ("#/learn/", LearnPlace::List),
        (
            "#/learn/agent-loop",
            LearnPlace::Lesson("agent-loop".into()),
        ),
        (
            "#/learn?url=https%3A%2F%2Fa.example%2Flearn.md",
            LearnPlace::Linked("https://a.example/learn.md".into()),
        ),
    ] {
        let route = Route::parse(hash);
        let Route::Learn { path } = &route else {
            panic!("{route:?}");
        };
        assert_eq!(LearnPlace::read(path), place, "{hash}");
        assert_eq!(route.to_hash(), hash);
    }
}

#[test]
fn classes() {
    for place in [
        ClassPlace::Assign,
        ClassPlace::Work("1ab_-".into()),
        ClassPlace::Board(None),
        ClassPlace::Board(Some("1ab_-".into())),
        ClassPlace::Pair {
            left: "class-a b-1".into(),
            right: IN_PLAYGROUND.into(),
        },
    ] {
        let route = Route::parse(&place.to_hash());
        let Route::Class { path } = &route else {
            panic!("{route:?}");
        };
        assert_eq!(ClassPlace::read(path), place);
        assert_eq!(route.to_hash(), place.to_hash());
    }
}

#[test]
fn presentations() {
    let links = [
        "#/run/counter".to_owned(),
        "https://a.example/#/run/x?e=1&step=2".to_owned(),
    ];
    let hash = LearnPlace::presenting(&links);
    let path = hash.strip_prefix("#/learn").unwrap();
    assert_eq!(Route::parse(&hash), Route::Learn { path: path.into() });
    assert_eq!(LearnPlace::read(path), LearnPlace::Sequence(links.into()));
    assert_eq!(LearnPlace::slide(path), Some(1));
    for (path, slide, with_second) in [
        ("/agent-loop", None, "/agent-loop?slide=2"),
        ("/agent-loop?slide=7", Some(7), "/agent-loop?slide=2"),
        ("?url=a.md&slide=x", Some(1), "?url=a.md&slide=2"),
    ] {
        assert_eq!(LearnPlace::slide(path), slide, "{path}");
        assert_eq!(LearnPlace::with_slide(path, Some(2)), with_second, "{path}");
    }
    assert_eq!(
        LearnPlace::with_slide("/agent-loop?slide=7", None),
        "/agent-loop"
    );
}

#[test]
fn template() {
    for hash in ["#/template", "#/template/", "#template"] {
        let query = String::new();
        assert_eq!(Route::parse(hash), Route::Template { query }, "{hash}");
    }
    assert_eq!(TemplatePlace::default().to_hash(), "#/template");
    for place in [
        TemplatePlace {
            input: Some("1ab_-".into()),
            episode: None,
        },
        TemplatePlace {
            input: None,
            episode: Some("a b/1".into()),
        },
    ] {
        let route = Route::parse(&place.to_hash());
        assert_eq!(route.to_hash(), place.to_hash());
        let Route::Template { query } = route else {
            panic!("{route:?}");
        };
        assert_eq!(TemplatePlace::read(&query), place);
    }
}

#[test]
fn training_runs() {
    let place = TrainingPlace {
        run: "eval:a/b c".into(),
        step: Some(-3),
        group: Some("air & 4".into()),
        reward: Some(String::new()),
        with: Some("other".into()),
        time: Some("1.5-20".into()),
        look: TrainingLook {
            tiles: Some("mean".into()),
            spans: Some("a b".into()),
            solved: Some("-0.5".into()),
            ..TrainingLook::default()
        },
    };
    let Route::Review(read) = Route::parse(&place.to_hash()) else {
        panic!("{}", place.to_hash());
    };
    assert_eq!((read.step, &*read.view), (None, ""));
    assert_eq!(TrainingPlace::read(&read.training), Some(place.clone()));
    // The step before `run` is the one of the episode.
    let Route::Review(read) = Route::parse("#/review/e?step=2&q=x&run=a&step=5&group=1") else {
        panic!("an episode of a run");
    };
    assert_eq!((read.step, &*read.view), (Some(2), "q=x"));
    let training = TrainingPlace::read(&read.training).unwrap();
    assert_eq!(
        (training.step, training.group.as_deref()),
        (Some(5), Some("1"))
    );
    assert_eq!(TrainingPlace::read(""), None);
    let bare = place.clone().without_look();
    assert_eq!(bare.to_query().matches('&').count(), 4, "{bare:?}");
    let hash = place.episode_hash("e 1", &["e 2"]);
    let Route::Review(read) = Route::parse(&hash) else {
        panic!("{hash}");
    };
    assert_eq!(
        (read.episode.as_deref(), read.beside.len()),
        (Some("e 1"), 1)
    );
    assert_eq!(TrainingPlace::read(&read.training), Some(place));
}

#[test]
fn a_look_without_choices_keeps_those_of_another() {
    let look = |tiles: Option<&str>, lanes: Option<&str>| TrainingLook {
        tiles: tiles.map(Into::into),
        lanes: lanes.map(Into::into),
        ..TrainingLook::default()
    };
    let kept = look(Some("mean"), Some("longest"));
    let named = look(Some("spread"), None).or(kept);
    assert_eq!(named, look(Some("spread"), Some("longest")));
}

#[test]
fn environments() {
    for (hash, file) in [
        ("#/environments", None),
        ("#/environments/a%20b", Some("a b")),
    ] {
        let file = file.map(str::to_owned);
        let route = Route::Environments { file };
        assert_eq!(Route::parse(hash), route, "{hash}");
        assert_eq!(Route::parse(&route.to_hash()), route, "{hash}");
    }
}

#[test]
fn evaluations() {
    for (hash, evaluation, beside) in [
        ("#/evaluate", None, None),
        ("#/evaluate/", None, None),
        ("#/evaluate/a%20b", Some("a b"), None),
        ("#/evaluate/a/c%20d", Some("a"), Some("c d")),
    ] {
        let [evaluation, beside] = [evaluation, beside].map(|id| id.map(str::to_owned));
        let route = Route::Evaluate { evaluation, beside };
        assert_eq!(Route::parse(hash), route, "{hash}");
        assert_eq!(Route::parse(&route.to_hash()), route, "{hash}");
    }
    let path = "/evaluate/a/b/c".to_owned();
    assert_eq!(Route::parse("#/evaluate/a/b/c"), Route::Unknown { path });
}

#[test]
fn a_link_names_a_token() {
    let hash = "#/review/a?step=2&token=118&stream=trainer%20%E2%88%92%20sampler&scale=-1~1&clip=0.3&run=desk";
    let Route::Review(place) = Route::parse(hash) else {
        panic!("{hash}");
    };
    let tokens = TokenPlace::read(&place.tokens);
    assert_eq!(tokens.token, Some(117));
    assert_eq!(tokens.stream.as_deref(), Some("trainer − sampler"));
    assert_eq!(tokens.scale, Some((-1.0, 1.0)));
    assert_eq!((tokens.clip, tokens.tolerance), (Some(0.3), None));
    assert_eq!(place.training, "run=desk");
    assert_eq!(Route::Review(place).to_hash(), hash);
    for nonsense in [
        "token=0&scale=1",
        "token=-1&scale=2~1",
        "token=x&scale=NaN~inf",
        "clip=0&tolerance=-1",
        "clip=inf&tolerance=x",
        "",
    ] {
        assert_eq!(
            TokenPlace::read(nonsense),
            TokenPlace::default(),
            "{nonsense}"
        );
    }
}

proptest! {
    #[test]
    fn every_place_comes_back(
        environment in proptest::option::of("\\PC{1,12}"),
        episode in proptest::option::of("\\PC{0,40}"),
        stored in proptest::option::of("\\PC{0,20}"),
        task in proptest::option::of("\\PC{0,20}"),
        url in proptest::option::of("\\PC{0,20}"),
        seed in proptest::option::of(0u64..1 << 53),
        policy in proptest::option::of("\\PC{0,9}"),
        step in proptest::option::of(0usize..100_000),
    ) {
        let place = PlaygroundPlace { environment, episode, stored, task, url, seed, policy, step };
        let route = Route::Playground(place);
        prop_assert_eq!(Route::parse(&route.to_hash()), route);
    }

    #[test]
    fn every_place_in_the_library_comes_back(
        episode in proptest::option::of("\\PC{1,12}"),
        step in proptest::option::of(0usize..100_000),
        beside in proptest::collection::vec("\\PC{1,12}", 0..4),
        at in proptest::option::of("\\PC{0,12}"),
        words in proptest::option::of("\\PC{0,40}"),
        url in proptest::option::of("\\PC{0,40}"),
        open in proptest::option::of(0usize..100_000),
        evaluation in proptest::option::of("\\PC{0,12}"),
        ask in proptest::option::of("\\PC{0,9}"),
        view in "(q=[a-z%]{1,9}(&filter=[a-z~.]{0,9}){0,2})?",
        tokens in "(token=[0-9]{1,3}(&stream=[a-z.]{0,9})?(&scale=[0-9.~]{0,9})?)?",
        training in "(run=[a-z%]{0,9}(&step=[0-9]{1,3})?(&group=[a-z.]{0,9})?)?",
    ) {
        let place = ReviewPlace {
            episode, step, at, words, beside, evaluation, url, open, ask, view, tokens, training,
        };
        let route = Route::Review(place);
        prop_assert_eq!(Route::parse(&route.to_hash()), route);
    }

    #[test]
    fn every_place_among_tokens_comes_back(
        token in proptest::option::of(0usize..1 << 40),
        stream in proptest::option::of("\\PC{0,20}"),
        ends in proptest::option::of((-1e9..1e9f64, 0.0..1e9f64)),
        clip in proptest::option::of(1e-6..1e9f64),
        tolerance in proptest::option::of(1e-6..1e9f64),
    ) {
        let scale = ends.map(|(low, width)| (low, low + width));
        let place = TokenPlace { token, stream, scale, clip, tolerance };
        prop_assert_eq!(TokenPlace::read(&place.to_query()), place);
    }

    #[test]
    fn anything_is_read(hash in ".*") {
        let _ = Route::parse(&hash);
    }
}
