//! The labels that a person gave before a model was asked: a file of JSON lines, which people edit.
//!
//! Invariant: the file has no outcome and no answer of a model, so that the person judges without them. A changed question
//! keeps the labels.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use volary_ask::Question;

use super::Item;

/// A trajectory with its label.
#[derive(Debug, Serialize, Deserialize)]
struct LabelLine {
    file: String,
    id: String,
    #[serde(default)]
    name: String,
    /// Empty until someone writes it.
    label: String,
}

/// A file with labels.
pub struct Labels {
    path: PathBuf,
    lines: Vec<LabelLine>,
}

impl Labels {
    /// Reads a file; `None` if it does not exist.
    pub fn read(path: &Path) -> Result<Option<Labels>> {
        let shown = path.display();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
        };
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());
        let lines = lines.map(|(index, line)| {
            serde_json::from_str(line).with_context(|| {
                format!(
                    "line {} of {shown} is not an object with file, id and label",
                    index + 1
                )
            })
        });
        Ok(Some(Labels {
            path: path.to_owned(),
            lines: lines.collect::<Result<_>>()?,
        }))
    }

    /// Writes a file for these trajectories, without labels.
    pub fn write(path: &Path, items: &[Item]) -> Result<()> {
        let mut text = String::new();
        for item in items {
            let line = LabelLine {
                file: item.file.clone(),
                id: item.id.to_string(),
                name: item.name.to_string(),
                label: String::new(),
            };
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The labels by the index of the trajectory. Those without a label are left out.
    ///
    /// # Errors
    /// If a label is none of the question's, or none is of a trajectory.
    pub fn by_item(&self, question: &Question, items: &[Item]) -> Result<BTreeMap<usize, String>> {
        let shown = self.path.display();
        let mut labels = BTreeMap::new();
        for line in self
            .lines
            .iter()
            .filter(|line| !line.label.trim().is_empty())
        {
            let Some(label) = question.answer.label_of(&line.label) else {
                let allowed = question.answer.labels();
                let allowed: Vec<&str> = allowed.iter().map(|label| &**label).collect();
                bail!(
                    "{shown} labels {} with {}, which is not a label of the question; write one of {}",
                    line.id,
                    line.label,
                    allowed.join(", ")
                );
            };
            let mut found = items.iter();
            // The same file may be named in another way.
            let index = found
                .position(|item| *item.id == *line.id && item.file == line.file)
                .or_else(|| items.iter().position(|item| *item.id == *line.id));
            if let Some(index) = index {
                labels.insert(index, label.to_string());
            }
        }
        if labels.is_empty() {
            bail!(
                "{shown} has no label of these trajectories; write labels into it, or delete it to draw others"
            );
        }
        Ok(labels)
    }
}
