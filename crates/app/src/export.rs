//! The files that one episode can be exported to.
//!
//! Each format is a constant of its own, so that a page that offers few formats contains the code of these only.
//!
//! Invariant: only [`VOLARY`] is complete. Any other format may fail or leave something out.

use volary_analysis::sensitive;
use volary_core::Json;
use volary_episode::{Episode, native};
use volary_export::{atif, html, inspect, ldp, slime, tau_bench};
use volary_export::{markdown, messages_jsonl};
use volary_formats::renderer_files;

/// A format of files with one episode.
#[derive(Clone, Copy, Debug)]
pub struct FileFormat {
    /// The label of its button.
    pub name: &'static str,
    pub description: &'static str,
    /// The end of file names, without the first dot.
    ending: &'static str,
    media_type: &'static str,
    encode: fn(&Episode) -> Result<Vec<u8>, String>,
}

/// An episode as a file to save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeFile {
    pub name: String,
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

impl FileFormat {
    /// The file of an episode, optionally with its sensitive data masked.
    ///
    /// # Errors
    ///
    /// Returns the reason why the format cannot hold the episode.
    pub fn file(&self, episode: &Episode, is_masked: bool) -> Result<EpisodeFile, String> {
        let bytes = if is_masked {
            let masked = sensitive::masked(episode).map_err(|error| error.to_string())?;
            (self.encode)(&masked)?
        } else {
            (self.encode)(episode)?
        };
        Ok(EpisodeFile {
            name: format!("{}.{}", file_name(&episode.name), self.ending),
            media_type: self.media_type,
            bytes,
        })
    }
}

/// Volary's own format. It is the only one that holds everything.
pub const VOLARY: FileFormat = FileFormat {
    name: "Volary JSON",
    description: "Complete but for notes, which have a file of their own: can be imported, viewed and continued.",
    ending: "json",
    media_type: "application/json",
    encode: |episode| Ok(native::to_text(episode).into_bytes()),
};

pub const RENDERER: FileFormat = FileFormat {
    name: "Renderer files (zip)",
    description: "The frames, in the format of aviary's Renderer.",
    ending: "zip",
    media_type: "application/zip",
    encode: |episode| renderer_files::to_zip(episode).map_err(|error| error.to_string()),
};

pub const MESSAGES: FileFormat = FileFormat {
    name: "Messages (JSONL)",
    description: "The conversation, in the format of chat models.",
    ending: "jsonl",
    media_type: "application/jsonl",
    encode: |episode| Ok(messages_jsonl::to_text([episode]).into_bytes()),
};

pub const ATIF: FileFormat = FileFormat {
    name: "ATIF",
    description: "The Agent Trajectory Interchange Format.",
    ending: "atif.json",
    media_type: "application/json",
    encode: |episode| Ok(atif::to_text(episode, &[]).into_bytes()),
};

pub const INSPECT: FileFormat = FileFormat {
    name: "Inspect log",
    description: "Opens in Inspect View.",
    ending: "inspect.json",
    media_type: "application/json",
    encode: |episode| Ok(inspect::to_text(&[episode], &episode.name).into_bytes()),
};

pub const LDP: FileFormat = FileFormat {
    name: "ldp (JSONL)",
    description: "A trajectory in the format of ldp.",
    ending: "ldp.jsonl",
    media_type: "application/jsonl",
    encode: |episode| Ok(ldp::to_text(episode).into_bytes()),
};

pub const SLIME_SAMPLE: FileFormat = FileFormat {
    name: "slime Sample (JSONL)",
    description: "Tokens, loss mask and reward, for training with slime, a framework for reinforcement learning.",
    ending: "sample.jsonl",
    media_type: "application/jsonl",
    encode: |episode| lines(slime::sample(episode)),
};

pub const SLIME_INTERACTION: FileFormat = FileFormat {
    name: "slime InteractionResult (JSONL)",
    description: "The same with the messages, as slime's agents return it.",
    ending: "interaction.jsonl",
    media_type: "application/jsonl",
    encode: |episode| lines(slime::interaction(episode)),
};

pub const TAU_BENCH: FileFormat = FileFormat {
    name: "tau-bench results (JSON)",
    description: "An array with one result, as tau-bench's scripts read it.",
    ending: "tau.json",
    media_type: "application/json",
    encode: |episode| Ok(tau_bench::to_text(&[episode]).into_bytes()),
};

pub const HTML: FileFormat = FileFormat {
    name: "Page (HTML)",
    description: "One file for any browser, without scripts.",
    ending: "html",
    media_type: "text/html",
    encode: |episode| Ok(html::to_text(episode).into_bytes()),
};

pub const MARKDOWN: FileFormat = FileFormat {
    name: "Markdown",
    description: "The conversation as text, to read or paste.",
    ending: "md",
    media_type: "text/markdown",
    encode: |episode| Ok(markdown::to_markdown(episode, 0..=usize::MAX).into_bytes()),
};

/// All formats, the complete one first.
pub const ALL: [FileFormat; 11] = [
    VOLARY,
    RENDERER,
    MESSAGES,
    ATIF,
    INSPECT,
    LDP,
    SLIME_SAMPLE,
    SLIME_INTERACTION,
    TAU_BENCH,
    HTML,
    MARKDOWN,
];

/// The formats that the playground offers. Review offers all of them.
pub const PLAYGROUND: [FileFormat; 3] = [VOLARY, RENDERER, MESSAGES];

fn lines(record: Result<Json, slime::SlimeError>) -> Result<Vec<u8>, String> {
    let record = record.map_err(|error| error.to_string())?;
    Ok(slime::line(&record).into_bytes())
}

/// A name for the file of an episode that is valid on every file system, without an ending.
pub fn file_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .take(60)
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => character,
            _ => '-',
        })
        .collect();
    match plain.trim_matches(['-', '.']) {
        "" => "episode".to_owned(),
        plain => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use volary_core::{Message, Role, object};
    use volary_episode::{Outcome, Recipe, StepRecord};

    use super::*;

    fn episode() -> Episode {
        let action = Message::new(Role::Assistant, "I mail ada@example.org.");
        let failed = Outcome::Failed { message: "".into() };
        Episode {
            name: "sums/1".into(),
            recipe: Some(Recipe {
                environment: "calculator".into(),
                configuration: object!({"problem": "6 * 7?"}),
                ..Recipe::default()
            }),
            steps: vec![StepRecord::new(action.into(), failed)],
            ..Episode::default()
        }
    }

    #[test]
    fn formats_differ_in_name_and_ending() {
        let names: BTreeSet<&str> = ALL.iter().map(|format| format.name).collect();
        let endings: BTreeSet<&str> = ALL.iter().map(|format| format.ending).collect();
        assert_eq!((names.len(), endings.len()), (ALL.len(), ALL.len()));
        assert_eq!(ALL[0].name, VOLARY.name);
    }

    #[test]
    fn the_complete_format_can_be_read_again() {
        let file = VOLARY.file(&episode(), false).expect("a file");
        assert_eq!(file.name, "sums-1.json");
        assert_eq!(file.media_type, "application/json");
        let text = String::from_utf8(file.bytes).expect("text");
        let read = native::read(&text).expect("an episode").episodes;
        assert_eq!(read, [episode()]);
    }

    #[test]
    fn sensitive_data_is_masked_in_every_format() {
        for format in ALL {
            let bytes = |is_masked| format.file(&episode(), is_masked).map(|file| file.bytes);
            let (Ok(plain), Ok(masked)) = (bytes(false), bytes(true)) else {
                // There are neither frames nor tokens.
                let needs_more = ["Renderer", "slime"];
                assert!(
                    needs_more.iter().any(|name| format.name.starts_with(name)),
                    "{}",
                    format.name
                );
                continue;
            };
            let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("ada@example.org");
            assert!(!has(&masked), "{}", format.name);
            assert!(has(&plain), "{}", format.name);
        }
    }

    #[test]
    fn file_names_are_plain() {
        for (name, expected) in [
            ("calculator sums/1", "calculator-sums-1"),
            ("../etc", "etc"),
            ("…", "episode"),
            ("", "episode"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert_eq!(file_name(&"a".repeat(99)).len(), 60);
    }
}
