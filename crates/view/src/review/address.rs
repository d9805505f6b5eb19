//! The address of Review: what is written into it, and which file it names. Pure.

use crate::route::{ReviewPlace, Route, TrainingPlace};
use volary_app::review::opening::ReviewOpening;
use volary_connectivity::linked_file::Elsewhere;

use super::screen::ReviewScreen;

/// What the page shows, as far as the address says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownPlace {
    /// The selected step of the open episode.
    pub step: usize,
    /// The place among its tokens.
    pub tokens: String,
    /// The place in a training run, with how it is looked at; empty without one.
    pub training: String,
    /// The view of the table.
    pub view: String,
}

/// The address for what is shown now; `None` while the episode in the address is loading, or if it is a comparison.
pub fn written(
    now: &ReviewPlace,
    opening: &ReviewOpening,
    shown: ShownPlace,
) -> Option<ReviewPlace> {
    let ShownPlace {
        step,
        tokens,
        training,
        view,
    } = shown;
    let is_open = match opening {
        ReviewOpening::Shown(id) => now.episode.as_ref() == Some(id) && now.beside.is_empty(),
        _ => false,
    };
    let (step, tokens, view) = match (is_open, ReviewScreen::of(now)) {
        (true, _) => ((step > 0).then_some(step), tokens, view),
        (false, ReviewScreen::Library | ReviewScreen::Ask) => (None, String::new(), view),
        (false, ReviewScreen::Training) => (None, String::new(), now.view.clone()),
        (false, _) => return None,
    };
    // Selecting another step drops the passage of a link.
    let keeps_passage = is_open && now.step == step;
    let (at, words) = if keeps_passage {
        (now.at.clone(), now.words.clone())
    } else {
        (None, None)
    };
    Some(ReviewPlace {
        step,
        at,
        words,
        view,
        tokens,
        training,
        ..now.clone()
    })
}

/// Returns whether the browser has navigated to another episode, page, or place in a training run. Its event arrives a moment later; until then,
/// writing the previous place would undo the navigation.
pub fn is_left(now: &ReviewPlace, current: &Route) -> bool {
    match current {
        Route::Review(place) => {
            let in_run = |place: &ReviewPlace| {
                TrainingPlace::read(&place.training).map(TrainingPlace::without_look)
            };
            place.episode != now.episode || place.ask != now.ask || in_run(place) != in_run(now)
        }
        _ => true,
    }
}

/// Returns whether the address names the table or a training run.
pub fn is_table(place: &ReviewPlace) -> bool {
    place.episode.is_none() && place.open.is_none()
}

/// The file in an address, and the number of the trajectory in it to open.
pub type WantedFile = (Option<String>, Option<usize>);

/// The file that an address names.
pub fn wanted_file(place: &ReviewPlace) -> WantedFile {
    (place.url.clone(), place.open)
}

/// Returns whether the file must be fetched because the address changed. Once its trajectory is open, the address names
/// that, and the file was fetched.
pub fn must_fetch(now: &WantedFile, former: Option<&WantedFile>) -> bool {
    let is_opened = now.1.is_none() && former.is_some_and(|former| former.0 == now.0);
    !is_opened
}

/// The file to ask about: one of another origin, unless the trajectory in the address is in the library.
pub fn question(
    asked: Option<Elsewhere>,
    place: &ReviewPlace,
    opening: &ReviewOpening,
) -> Option<Elsewhere> {
    let is_missing = place.episode.is_none() || matches!(opening, ReviewOpening::Failed(_));
    asked.filter(|_| is_missing)
}

/// The address of a trajectory of a file, once its id is known. `None` if the user has navigated away since the file was
/// requested; the view of the table may have changed.
pub fn arrived(wanted: &ReviewPlace, here: &Route, id: Option<String>) -> Option<ReviewPlace> {
    let Route::Review(here) = here else {
        return None;
    };
    let expected = ReviewPlace {
        view: here.view.clone(),
        ..wanted.clone()
    };
    (*here == expected).then(|| ReviewPlace {
        episode: id,
        open: None,
        ..here.clone()
    })
}

/// The address without its file.
pub fn without_file(place: ReviewPlace) -> ReviewPlace {
    ReviewPlace {
        url: None,
        open: None,
        ..place
    }
}

#[cfg(test)]
mod tests {
    use volary_connectivity::linked_file::LinkedFile;

    use super::*;

    fn episode(id: &str) -> ReviewPlace {
        ReviewPlace {
            episode: Some(id.to_owned()),
            ..ReviewPlace::default()
        }
    }

    fn shown(step: usize) -> ShownPlace {
        ShownPlace {
            step,
            tokens: "token=4".to_owned(),
            training: String::new(),
            view: "sort=reward".to_owned(),
        }
    }

    fn open(id: &str) -> ReviewOpening {
        ReviewOpening::Shown(id.to_owned())
    }

    #[test]
    fn an_address_that_was_left_is_not_written() {
        let later_step = ReviewPlace {
            step: Some(3),
            ..episode("a")
        };
        let is_left = |current: ReviewPlace| is_left(&episode("a"), &Route::Review(current));
        assert!(!is_left(later_step));
        assert!(is_left(episode("b")));
        assert!(is_left(ReviewPlace::default()));
        assert!(super::is_left(&episode("a"), &Route::parse("#/settings")));
    }

    /// The place that a hash names.
    fn place(hash: &str) -> ReviewPlace {
        match Route::parse(hash) {
            Route::Review(place) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_address_of_a_run_follows_its_look() {
        let now = place("#/review?run=grpo&step=4");
        let shown = ShownPlace {
            training: "run=grpo&step=4&tiles=mean".to_owned(),
            ..shown(3)
        };
        let written = written(&now, &open("a"), shown).expect("written");
        assert_eq!(written.to_hash(), "#/review?run=grpo&step=4&tiles=mean");
        assert!(!is_left(&now, &Route::Review(written)), "the same place");
        let next = Route::parse("#/review?run=grpo&step=5");
        assert!(is_left(&now, &next));
    }

    #[test]
    fn the_address_follows_the_selected_step() {
        let written = |step| written(&episode("a"), &open("a"), shown(step)).expect("written");
        let third = written(3);
        assert_eq!(third.step, Some(3));
        assert_eq!(third.tokens, "token=4");
        assert_eq!(third.view, "sort=reward");
        assert_eq!(written(0).step, None, "a short address");
    }

    #[test]
    fn the_passage_of_a_link_stays_while_its_step_is_selected() {
        let linked = ReviewPlace {
            step: Some(2),
            at: Some("c0".to_owned()),
            words: Some("the fee".to_owned()),
            ..episode("a")
        };
        let same = written(&linked, &open("a"), shown(2)).expect("written");
        assert_eq!(same.words.as_deref(), Some("the fee"));
        let other = written(&linked, &open("a"), shown(3)).expect("written");
        assert_eq!((other.at, other.words), (None, None));
    }

    #[test]
    fn an_episode_that_is_loading_keeps_its_address() {
        let linked = ReviewPlace {
            step: Some(7),
            ..episode("b")
        };
        // The step of the previous episode would replace that of the link.
        for opening in [
            open("a"),
            ReviewOpening::Wanted("b".to_owned()),
            ReviewOpening::Failed("gone".to_owned()),
            ReviewOpening::Nothing,
        ] {
            assert_eq!(written(&linked, &opening, shown(3)), None, "{opening:?}");
        }
        let compared = ReviewPlace {
            beside: vec!["c".to_owned()],
            ..episode("a")
        };
        assert_eq!(written(&compared, &open("a"), shown(3)), None);
    }

    #[test]
    fn the_table_has_no_step() {
        let table = written(&ReviewPlace::default(), &open("a"), shown(3)).expect("written");
        let expected = ReviewPlace {
            view: "sort=reward".to_owned(),
            ..ReviewPlace::default()
        };
        assert_eq!(table, expected);
        assert!(is_table(&table) && !is_table(&episode("a")));
    }

    #[test]
    fn a_file_is_fetched_once() {
        let file = |url: &str, open| (Some(url.to_owned()), open);
        let first = file("a.jsonl", Some(1));
        assert!(must_fetch(&first, None));
        let opened = file("a.jsonl", None);
        assert!(!must_fetch(&opened, Some(&first)), "its episode is open");
        assert!(must_fetch(&file("b.jsonl", None), Some(&first)));
        assert!(must_fetch(&file("a.jsonl", Some(2)), Some(&opened)));
    }

    #[test]
    fn a_known_trajectory_needs_no_question() {
        let file = LinkedFile::of("https://other.example/a.jsonl", "https://volary.example");
        let LinkedFile::Elsewhere(file) = file else {
            panic!("another origin");
        };
        let asks =
            |place: &ReviewPlace, opening| question(Some(file.clone()), place, &opening).is_some();
        assert!(asks(&ReviewPlace::default(), ReviewOpening::Nothing));
        assert!(!asks(&episode("a"), ReviewOpening::Wanted("a".to_owned())));
        assert!(!asks(&episode("a"), open("a")));
        assert!(asks(
            &episode("a"),
            ReviewOpening::Failed("unknown".to_owned())
        ));
        assert_eq!(question(None, &episode("a"), &ReviewOpening::Nothing), None);
    }

    #[test]
    fn a_trajectory_that_arrives_late_opens_only_where_it_was_wanted() {
        let wanted = ReviewPlace {
            url: Some("a.jsonl".to_owned()),
            open: Some(2),
            ..ReviewPlace::default()
        };
        let arrive =
            |here: ReviewPlace| arrived(&wanted, &Route::Review(here), Some("id".to_owned()));
        let sorted = ReviewPlace {
            view: "sort=reward".to_owned(),
            ..wanted.clone()
        };
        let opened = arrive(sorted).expect("the same place");
        assert_eq!(opened.episode.as_deref(), Some("id"));
        assert_eq!((opened.open, opened.view.as_str()), (None, "sort=reward"));
        assert_eq!(opened.url.as_deref(), Some("a.jsonl"));
        for elsewhere in [
            ReviewPlace::default(),
            episode("b"),
            ReviewPlace {
                open: Some(3),
                ..wanted.clone()
            },
        ] {
            assert_eq!(arrive(elsewhere), None);
        }
        assert_eq!(arrived(&wanted, &Route::Settings, None), None);
        // The file has no such trajectory: the table is shown.
        let table = arrived(&wanted, &Route::Review(wanted.clone()), None);
        assert!(table.is_some_and(|place| is_table(&place)));
    }

    #[test]
    fn without_its_file_an_address_names_the_rest() {
        let place = ReviewPlace {
            url: Some("a.jsonl".to_owned()),
            open: Some(1),
            ..episode("a")
        };
        assert_eq!(without_file(place), episode("a"));
    }
}
