//! A task on the page of the school: a run of reinforcement learning that begins with given settings.

use volary_app::school::{LESSON, SchoolDeed, SchoolFact};
use volary_school::{Finding, link};

use crate::block::{Field, Fields};
use crate::lesson::Problem;

/// A task that is done on the page of the school.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchoolBlock {
    /// The name by which checks refer to it.
    pub id: String,
    pub title: String,
    /// The settings that the run begins with, as parameters of an address; empty for the usual ones.
    pub settings: String,
    /// The line of the block.
    pub line: usize,
}

/// The keys of checks of a task in the school.
pub const KEYS: [&str; 4] = ["success", "finds", "repairs", "does"];

impl SchoolBlock {
    pub(crate) fn take(mut fields: Fields) -> Result<SchoolBlock, Problem> {
        let line = fields.line();
        let id = fields.need("id")?;
        if !is_word(&id.value) {
            let message = "the id of a block \"school\" has letters, digits, - and _ only: it is in an address";
            return Err(Problem::new(id.line, message));
        }
        let title = fields.take("title").map(|field| field.value);
        let settings = fields.take("settings");
        fields.end(&["id", "title", "settings"])?;
        let settings = settings.map_or(Ok(String::new()), |field| {
            let knobs = link::from_query(&field.value);
            let knobs = knobs.map_err(|error| Problem::new(field.line, error.to_string()))?;
            Ok(link::to_query(&knobs))
        })?;
        Ok(SchoolBlock {
            id: id.value,
            title: title.unwrap_or_default(),
            settings,
            line,
        })
    }

    /// The heading above it.
    pub fn heading(&self) -> &str {
        if self.title.is_empty() {
            &self.id
        } else {
            &self.title
        }
    }

    /// The address that opens it. The run begins afresh there.
    pub fn address(&self) -> String {
        let settings = match &*self.settings {
            "" => String::new(),
            settings => format!("&{settings}"),
        };
        format!("#/learn/school?{LESSON}{}{settings}", self.id)
    }
}

fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.bytes().all(fits)
}

/// Takes the conditions of a check; empty if it has none of the school.
pub(crate) fn take_facts(fields: &mut Fields) -> Result<Vec<SchoolFact>, Problem> {
    let mut facts = Vec::new();
    while let Some(field) = fields.take_next(|key| KEYS.contains(&key)) {
        facts.push(fact(&field)?);
    }
    Ok(facts)
}

fn fact(field: &Field) -> Result<SchoolFact, Problem> {
    let value = field.value.to_lowercase();
    match &*field.key {
        "success" => {
            let percent = value
                .strip_prefix("at least")
                .map(|rest| rest.trim().trim_end_matches('%').trim_end())
                .and_then(|rest| rest.parse().ok())
                .filter(|percent| (1..=100).contains(percent));
            percent.map(SchoolFact::Success).ok_or_else(|| {
                Problem::new(
                    field.line,
                    format!(
                        "\"success\" must be \"at least\" and a percentage from 1 to 100, not \"{}\"",
                        field.value
                    ),
                )
            })
        }
        "finds" => finding(field, &value).map(SchoolFact::Found),
        "repairs" => finding(field, &value).map(SchoolFact::Repaired),
        _ => {
            let mut deeds = SchoolDeed::ALL.into_iter();
            let deed = deeds.find(|deed| deed.name() == value);
            deed.map(SchoolFact::Did).ok_or_else(|| {
                let known = SchoolDeed::ALL.map(SchoolDeed::name);
                unknown(field, &known)
            })
        }
    }
}

fn finding(field: &Field, value: &str) -> Result<Finding, Problem> {
    let mut all = Finding::ALL.into_iter();
    let found = all.find(|finding| finding.label().to_lowercase() == value);
    found.ok_or_else(|| unknown(field, &Finding::ALL.map(Finding::label)))
}

fn unknown(field: &Field, known: &[&str]) -> Problem {
    Problem::new(
        field.line,
        format!(
            "unknown value \"{}\" of \"{}\"; known are {}",
            field.value,
            field.key,
            known.join("; ")
        ),
    )
}
