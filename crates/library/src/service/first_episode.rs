//! The first episode of files that are only shown.

use volary_core::json::Text;
use volary_episode::Episode;
use volary_formats::import::InputFile;
use volary_formats::import::fields::Mappings;
use volary_protocol::library::NamedFile;

use super::state::LibraryService;
use crate::error::LibraryError;

/// Reads files. Returns their first episode with notes for the user, or why there is none.
pub(super) async fn read(
    library: &LibraryService,
    files: Vec<NamedFile>,
) -> Result<(Episode, Vec<Text>), LibraryError> {
    let files = files.into_iter().map(|file| InputFile {
        name: Some(file.name),
        bytes: file.bytes,
    });
    let files: Vec<InputFile> = files.collect();
    let outcome = library
        .code
        .readers()
        .await?
        .import(&files, &Mappings::default());
    let outcome = outcome.map_err(|refused| LibraryError::NoEpisode {
        why: refused.reason,
    })?;
    let count = outcome.episodes.len();
    let mut notes: Vec<Text> = outcome.notes.into_iter().map(|note| note.text).collect();
    if count > 1 {
        notes.push(format!("The file has {count} episodes; the first is shown.").into());
    }
    let first = outcome.episodes.into_iter().next();
    let episode = first.ok_or_else(|| LibraryError::NoEpisode {
        why: "It contains no episode.".into(),
    })?;
    Ok((episode, notes))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use volary_episode::native;

    use super::super::tests::service;
    use super::*;

    fn read_text(text: &str) -> Result<(Episode, Vec<Text>), LibraryError> {
        let file = NamedFile {
            name: "a.jsonl".to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        read(&service(), vec![file]).now_or_never().unwrap()
    }

    #[test]
    fn files_give_their_first_episode_or_a_reason() {
        let line = |id: &str| {
            native::to_text(&Episode {
                id: id.into(),
                ..Episode::default()
            })
        };
        let (episode, notes) = read_text(&format!("{}\n{}\n", line("a"), line("b"))).unwrap();
        assert_eq!(&*episode.id, "a");
        assert!(
            notes.iter().any(|note| note.contains("2 episodes")),
            "{notes:?}"
        );
        assert!(read_text("no episode").is_err());
    }
}
