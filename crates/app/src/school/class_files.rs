//! Files with the work of pupils: hand-ins, and files of episodes.

use volary_classroom::{HandIn, HandInError};
use volary_episode::native;
use volary_protocol::school::ClassFile;
use volary_school::PupilWork;
use volary_school::classwork::LeftOut;

/// The work in all files, and the files and parts of files that hold none.
pub fn read(files: &[ClassFile]) -> (Vec<PupilWork>, Vec<LeftOut>) {
    let (mut works, mut unread) = (Vec::new(), Vec::new());
    for file in files {
        // The name of a file says whose work it is, if nothing in it does.
        let stem = file
            .name
            .rsplit_once('.')
            .map_or(&*file.name, |(stem, _)| stem);
        let leave_out = |pupil: &str, title: &str, reason: String| LeftOut {
            pupil: pupil.to_owned(),
            title: title.to_owned(),
            reason,
        };
        match HandIn::read(&file.text) {
            Ok(hand_in) => {
                let pupil = hand_in.pupil.to_string();
                for task in hand_in.tasks {
                    let title = task.title.to_string();
                    match task.episode {
                        Some(episode) => works.push(PupilWork {
                            pupil: pupil.clone(),
                            title,
                            episode,
                        }),
                        None => unread.push(leave_out(
                            &pupil,
                            &title,
                            "The task was not started.".to_owned(),
                        )),
                    }
                }
            }
            // It is no hand-in.
            Err(HandInError::Damaged) => match native::read(&file.text) {
                Ok(read) => {
                    for episode in read.episodes {
                        let named = episode.metadata.get("pupil");
                        let named = named.and_then(|pupil| pupil.as_text());
                        works.push(PupilWork {
                            pupil: named.map_or_else(|| stem.to_owned(), ToString::to_string),
                            title: episode.name.to_string(),
                            episode,
                        });
                    }
                    let faults = read.faults.iter();
                    unread.extend(
                        faults.map(|fault| leave_out(stem, "an episode", fault.to_string())),
                    );
                }
                Err(error) => unread.push(leave_out(
                    stem,
                    &file.name,
                    format!("It is neither a hand-in nor a file of episodes: {error}"),
                )),
            },
            Err(error) => unread.push(leave_out(stem, &file.name, error.to_string())),
        }
    }
    (works, unread)
}

#[cfg(test)]
mod tests {
    use volary_classroom::{AssignedTask, Assignment, TaskStart};
    use volary_episode::{Episode, Recipe};

    use super::*;

    fn episode() -> Episode {
        Episode {
            name: "Sums".into(),
            recipe: Some(Recipe {
                environment: "calculator".into(),
                ..Recipe::default()
            }),
            ..Episode::default()
        }
    }

    fn file(name: &str, text: String) -> ClassFile {
        ClassFile {
            name: name.into(),
            text: text.into(),
        }
    }

    #[test]
    fn hand_ins_and_episodes_are_read_and_everything_else_is_named() {
        let task = || AssignedTask {
            title: "Sums".into(),
            start: TaskStart::Named {
                environment: "calculator".into(),
                task: None,
                seed: 0,
            },
        };
        let assignment = Assignment {
            id: "a".into(),
            title: "A".into(),
            tasks: vec![task(), task()],
            ..Assignment::default()
        };
        let hand_in = HandIn::new(&assignment, "Ada".into(), 0.0, [Some(episode()), None]);
        let hand_in = hand_in.unwrap().to_text();
        let newer = hand_in.replace("\"version\": 1", "\"version\": 2");
        assert_ne!(newer, hand_in);
        let episodes = format!(
            "{}\n{}\n",
            native::to_text(&episode()),
            native::to_text(&episode())
        );
        let (works, unread) = read(&[
            file("1.json", hand_in),
            file("ben.jsonl", episodes),
            file("cleo.json", newer),
            file("photo.png", "no JSON".into()),
        ]);
        let pupils: Vec<&str> = works.iter().map(|work| &*work.pupil).collect();
        assert_eq!(pupils, ["Ada", "ben", "ben"]);
        let unread: Vec<(&str, &str)> = unread
            .iter()
            .map(|left_out| (&*left_out.pupil, &*left_out.reason))
            .collect();
        assert_eq!(unread[0], ("Ada", "The task was not started."));
        assert_eq!(unread[1].0, "cleo");
        assert!(unread[1].1.contains("newer Volary"), "{unread:?}");
        assert_eq!(unread[2].0, "photo");
        assert!(unread[2].1.contains("neither a hand-in"), "{unread:?}");
    }
}
