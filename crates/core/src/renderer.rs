//! Renders trajectories as files: one per frame, linked to its neighbours, and an index file.
//!
//! The files equal those of aviary's `Renderer`, including their texts, so each program reads the other's files.
//! Nothing is written here: [`Renderer::build`] returns names and texts.

use crate::frame::Frame;
use crate::json::alphanumeric::is_alphanumeric;
use crate::json::{Json, Text};
use crate::object;
use crate::random::Random;

/// The default name of a trajectory.
pub const DEFAULT_NAME: &str = "Trajectory";

/// The indent that aviary writes by default.
pub const DEFAULT_INDENT: usize = 4;

/// Names the files of one trajectory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renderer {
    prefix: Text,
    id: Text,
    name: Text,
}

/// Why the files cannot be named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The prefix is not a valid file name.
    #[error("Prefix must be an alphanumeric string, which {prefix:?} is not.")]
    Prefix { prefix: Text },
    /// The id contains slashes.
    #[error("The id {id:?} can't be part of a file name: leave out slashes and backslashes.")]
    Id { id: Text },
}

/// An extra file next to the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraFile {
    /// Its path; only the last component is used for the output.
    pub path: String,
    /// Its content; `None` if the file does not exist.
    pub text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedFile {
    /// Its name, without folders.
    pub name: String,
    /// Its content, without a final line break.
    pub text: String,
}

/// The result of rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The files: the frames in order, the index file, then extra files. Each name occurs once.
    pub files: Vec<RenderedFile>,
    /// The paths of extra files that do not exist.
    pub missing: Vec<String>,
}

impl Renderer {
    /// Names files `{prefix}_{id}_{i}.json` and `{prefix}_info_{id}.json`. The prefix must be letters
    /// and digits (Unicode's), the id anything without slashes.
    pub fn new(
        prefix: impl Into<Text>,
        id: impl Into<Text>,
        name: impl Into<Text>,
    ) -> Result<Self, RenderError> {
        let (prefix, id, name) = (prefix.into(), id.into(), name.into());
        if prefix.is_empty() || !prefix.chars().all(is_alphanumeric) {
            return Err(RenderError::Prefix { prefix });
        }
        if id.contains(['/', '\\', '\0']) {
            return Err(RenderError::Id { id });
        }
        Ok(Renderer { prefix, id, name })
    }

    /// A new id: sixteen hex digits.
    pub fn new_id(random: &mut Random) -> Text {
        format!("{:016x}", random.next_u64()).into()
    }

    /// The files of the frames; none without frames. Without an indent each file is one line. An extra
    /// file replaces a file of the same name.
    pub fn build(
        &self,
        frames: &[Frame],
        indent: Option<usize>,
        extra_files: Vec<ExtraFile>,
    ) -> Rendered {
        let mut rendered = Rendered::default();
        let Some(last) = frames.len().checked_sub(1) else {
            return rendered;
        };
        let text = |value: Json| match indent {
            Some(indent) => value.to_python_text_indented(indent),
            None => value.to_python_text(),
        };
        for (index, frame) in frames.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| self.frame_name(before));
            let after = (index < last).then(|| self.frame_name(index + 1));
            let mut content = frame.dump();
            // Frames are counted from 1, their files from 0.
            content.insert("index", i64::try_from(index + 1).unwrap_or(i64::MAX));
            content.insert("prev_frame", before);
            content.insert("next_frame", after);
            rendered.put(self.frame_name(index), text(content.into()));
        }
        let manifest = object!({
            "name": (self.name.clone()),
            "first": (self.frame_name(0)),
            "last": (self.frame_name(last))
        });
        let manifest_name = format!("{}_info_{}.json", self.prefix, self.id);
        rendered.put(manifest_name, text(manifest.into()));
        for ExtraFile { path, text } in extra_files {
            match text {
                Some(text) => {
                    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                    rendered.put(name, text);
                }
                None => rendered.missing.push(path),
            }
        }
        rendered
    }

    fn frame_name(&self, index: usize) -> String {
        format!("{}_{}_{index}.json", self.prefix, self.id)
    }
}

impl Rendered {
    fn put(&mut self, name: String, text: String) {
        match self.files.iter_mut().find(|file| file.name == name) {
            Some(file) => file.text = text,
            None => self.files.push(RenderedFile { name, text }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renderer(prefix: &str, id: &str) -> Result<Renderer, RenderError> {
        Renderer::new(prefix, id, DEFAULT_NAME)
    }

    #[test]
    fn prefixes_are_letters_and_digits() {
        for good in ["a", "1", "é中٣"] {
            assert!(renderer(good, "a").is_ok(), "{good}");
        }
        for bad in ["", "a_b", "a b", "a/b"] {
            assert!(renderer(bad, "a").is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_make_no_folders() {
        assert!(renderer("a", "..").is_ok());
        for bad in ["../x", "a\\b", "a\0"] {
            assert!(renderer("a", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn extra_files_come_last_and_replace() -> Result<(), RenderError> {
        let extra = |path: &str, text: Option<&str>| ExtraFile {
            path: path.to_owned(),
            text: text.map(str::to_owned),
        };
        let extras = vec![
            extra("x/notes.txt", Some("one")),
            extra("y/notes.txt", Some("two")),
            extra("none.txt", None),
        ];
        let rendered = renderer("t", "1")?.build(&[Frame::default()], None, extras);
        let names: Vec<&str> = rendered.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, ["t_1_0.json", "t_info_1.json", "notes.txt"]);
        assert_eq!(rendered.files[2].text, "two");
        assert_eq!(rendered.missing, ["none.txt"]);
        Ok(())
    }
}
