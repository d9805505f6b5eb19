//! Parses the fields of a block: lines of the form `key: value`. A value may continue in indented lines below its key.
//!
//! Invariant: every field is consumed or reported, so a misspelled key is an error and not silently ignored.

use crate::lesson::Problem;

/// One `key: value` of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// In lower case.
    pub key: String,
    /// The text after the colon, or the indented lines with their line breaks.
    pub value: String,
    /// The line of the key.
    pub line: usize,
    /// The line on which the value starts.
    pub value_line: usize,
}

/// The unconsumed fields of a block.
#[derive(Clone, Debug)]
pub struct Fields {
    fields: Vec<Field>,
    line: usize,
}

impl Fields {
    /// Parses a block whose fence is on the line `fence`.
    pub fn read(text: &str, fence: usize) -> Result<Fields, Problem> {
        let mut fields: Vec<Field> = Vec::new();
        for (place, line) in text.lines().enumerate() {
            let number = fence + 1 + place;
            let is_indented = line.starts_with([' ', '\t']);
            let trimmed = line.trim();
            if trimmed.is_empty() || (!is_indented && trimmed.starts_with('#')) {
                // An empty line belongs to a multi-line value.
                if let Some(field) = fields.last_mut().filter(|_| trimmed.is_empty()) {
                    field.value.push('\n');
                }
                continue;
            }
            if is_indented {
                let Some(field) = fields.last_mut() else {
                    return Err(Problem::new(
                        number,
                        "this line is indented but follows no key",
                    ));
                };
                if field.value.trim().is_empty() {
                    field.value_line = number;
                    field.value.clear();
                } else if !field.value.ends_with('\n') {
                    field.value.push('\n');
                }
                field.value.push_str(trimmed);
                continue;
            }
            let Some((key, value)) = trimmed.split_once(':') else {
                return Err(Problem::new(
                    number,
                    format!("expected \"key: value\", found \"{trimmed}\""),
                ));
            };
            let key = match key.trim().to_lowercase() {
                // Tool names are case-sensitive.
                lower if lower.starts_with("calls of ") => {
                    let name = key.trim().get("calls of ".len()..).unwrap_or_default();
                    format!("calls of {}", name.trim())
                }
                lower => lower,
            };
            if fields.iter().any(|field| field.key == key) {
                return Err(Problem::new(number, format!("\"{key}\" occurs twice")));
            }
            fields.push(Field {
                key,
                value: value.trim().to_owned(),
                line: number,
                value_line: number,
            });
        }
        Ok(Fields {
            fields,
            line: fence,
        })
    }

    /// The line of the fence.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Takes an optional field.
    pub fn take(&mut self, key: &str) -> Option<Field> {
        let place = self.fields.iter().position(|field| field.key == key)?;
        let mut field = self.fields.remove(place);
        field.value = field.value.trim_end().to_owned();
        Some(field)
    }

    /// Takes a required field, which must not be empty.
    pub fn need(&mut self, key: &str) -> Result<Field, Problem> {
        let field = self.take(key);
        let field = field.filter(|field| !field.value.is_empty());
        field.ok_or_else(|| Problem::new(self.line, format!("\"{key}: …\" is missing")))
    }

    /// Takes an optional integer.
    pub fn number(&mut self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(field) = self.take(key) else {
            return Ok(None);
        };
        let number = field.value.parse().ok().filter(|number| *number < 1 << 53);
        number.map(Some).ok_or_else(|| {
            Problem::new(
                field.line,
                format!("\"{key}\" must be a whole number, not \"{}\"", field.value),
            )
        })
    }

    /// Takes the next field whose key is accepted.
    pub fn take_next(&mut self, accepts: impl Fn(&str) -> bool) -> Option<Field> {
        let place = self.fields.iter().position(|field| accepts(&field.key))?;
        let key = self.fields.get(place)?.key.clone();
        self.take(&key)
    }

    /// Reports an unconsumed field.
    pub fn end(self, known: &[&str]) -> Result<(), Problem> {
        match self.fields.into_iter().next() {
            None => Ok(()),
            Some(field) => Err(Problem::new(
                field.line,
                format!(
                    "unknown key \"{}\"; known are {}",
                    field.key,
                    known.join(", ")
                ),
            )),
        }
    }
}
