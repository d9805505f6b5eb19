//! Encodes and decodes stored records, each with the number of its format.
//!
//! Records are structs with serde's derives, written and read through our own JSON value, which represents integers of
//! any size and `NaN` and reads every float exactly. Plans, results and steps are encoded by the crates that own them;
//! this module adds the format number.
//!
//! Invariants: records of versions before the first number have format 0, which is read like format 1. A record of a
//! later format is never read in part: it is reported as [`Damage::Format`].
//!
//! `golden/` holds one record of each kind: this version must write exactly these bytes, and read them.
//! `UPDATE_GOLDEN=1` rewrites the files; a change of them is a change of the format.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use volary_app::evaluation::summary::PolicySummary;
use volary_core::json;
use volary_core::json::{Json, from_json, to_json};
use volary_formats::import::fields::FieldMapping;

use volary_browser::database::{Damage, KeptText};

/// The format that this version writes.
pub(super) const FORMAT: u32 = 1;

/// The list entry of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HeadRecord {
    #[serde(default)]
    pub(super) format: u32,
    pub(super) id: String,
    pub(super) name: String,
    /// Seconds since 1970.
    pub(super) made: f64,
    pub(super) total: usize,
    pub(super) finished: usize,
    pub(super) failed: usize,
    /// The dataset or environment of the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) policies: Vec<PolicySummary>,
}

/// The amount that an unfinished episode has spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DraftRecord {
    #[serde(default)]
    pub(super) format: u32,
    pub(super) cell: usize,
    pub(super) steps: u64,
    pub(super) seconds: f64,
    pub(super) tokens: u64,
    /// US dollars.
    pub(super) cost: Option<f64>,
    pub(super) tries: u32,
    /// The answers that the environment received from outside, as JSON, which may hold values that serde cannot
    /// represent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) recorded: Option<String>,
}

/// Metadata of a file that holds episodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SourceRecord {
    #[serde(default)]
    pub(super) format: u32,
    pub(super) name: String,
    /// Bytes.
    pub(super) size: u64,
    /// Whether it was read to its end.
    pub(super) whole: bool,
    /// Distinguishes files with the same beginning; known once the end was read.
    #[serde(default)]
    pub(super) end: Option<String>,
    /// The mapping by which it was read, if no reader knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fields: Option<FieldMapping>,
}

/// The row of an episode in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RowRecord {
    /// As [`volary_analysis::table::Row`] encodes it.
    pub(super) row: Json,
    /// The id of the file that holds the episode, if it has no text of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// Start and end of each part in the file, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) packed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<usize>,
    #[serde(default)]
    pub(super) format: u32,
}

/// Encodes a record.
pub(super) fn write(record: &impl Serialize) -> KeptText {
    to_text(record).into()
}

fn to_text(record: &impl Serialize) -> String {
    // Strings and numbers can always be serialized.
    to_json(record).unwrap_or_default().to_python_text()
}

/// Decodes a record.
pub(super) fn read<Record: DeserializeOwned>(text: &str) -> Result<Record, Damage> {
    from_json(&parse(text)?).map_err(|_| Damage::Texts)
}

/// Encodes a value and adds the format number.
pub(super) fn write_json(mut value: Json) -> String {
    if let Json::Object(object) = &mut value {
        object.insert("format", Json::from(i64::from(FORMAT)));
    }
    value.to_python_text()
}

/// Decodes a value and removes the format number.
pub(super) fn read_json(text: &str) -> Result<Json, Damage> {
    let mut value = parse(text)?;
    if let Json::Object(object) = &mut value {
        object.remove("format");
    }
    Ok(value)
}

fn parse(text: &str) -> Result<Json, Damage> {
    let value = json::read(text).map_err(|_| Damage::Texts)?;
    match value.get("format").map(Json::as_i64) {
        Some(Some(format)) if format > i64::from(FORMAT) => Err(Damage::Format(format as f64)),
        _ => Ok(value),
    }
}

/// Compares a text with a golden file, or rewrites the file.
#[cfg(test)]
pub(super) fn check_golden(name: &str, text: &str) -> String {
    let path = format!("{}/src/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{text}\n")).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        golden.trim_end(),
        "{name}: UPDATE_GOLDEN=1 rewrites the file"
    );
    golden
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use volary_app::evaluation::summary::Interval;

    use super::*;

    fn check<Record>(name: &str, record: &Record, former: &str)
    where
        Record: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let golden = check_golden(name, &to_text(record));
        assert_eq!(&read::<Record>(golden.trim_end()).unwrap(), record);
        // As versions before the first numbered format wrote it.
        let former: Record = read(former).unwrap();
        assert_eq!(
            to_text(&former).replace("\"format\": 0", "\"format\": 1"),
            to_text(record)
        );
    }

    #[test]
    fn records_match_the_golden_files_in_both_directions() {
        let head = HeadRecord {
            format: FORMAT,
            id: "0abc".into(),
            name: "Ünïcode “quoted”".into(),
            made: 1_764_000_000.25,
            total: 12,
            finished: 9,
            failed: 1,
            source: None,
            policies: Vec::new(),
        };
        let former = r#"{"id": "0abc", "name": "\u00dcn\u00efcode \u201cquoted\u201d", "made": 1764000000.25,
            "total": 12, "finished": 9, "failed": 1}"#;
        check("head", &head, former);
        let summarized = HeadRecord {
            source: Some("gsm8k".into()),
            policies: vec![PolicySummary {
                name: "Mine".into(),
                models: vec!["small".into()],
                finished: 9,
                failed: 1,
                rate: Some(Interval {
                    mean: 0.5,
                    low: Some(0.25),
                    high: None,
                }),
                tokens: 1_200,
            }],
            ..head
        };
        let golden = check_golden("head_with_summary", &to_text(&summarized));
        assert_eq!(read::<HeadRecord>(&golden), Ok(summarized));
        let draft = DraftRecord {
            format: FORMAT,
            cell: 7,
            steps: 3,
            seconds: 1.5,
            tokens: 5_000_000_000,
            cost: None,
            tries: 2,
            recorded: None,
        };
        let former = r#"{"cell": 7, "steps": 3, "seconds": 1.5, "tokens": 5000000000, "cost": null, "tries": 2}"#;
        check("draft", &draft, former);
        let source = SourceRecord {
            format: FORMAT,
            name: "runs/large.jsonl".into(),
            size: 5_000_000_000,
            whole: true,
            end: Some("e1".into()),
            fields: None,
        };
        let former =
            r#"{"name": "runs/large.jsonl", "size": 5000000000, "whole": true, "end": "e1"}"#;
        check("source", &source, former);
    }

    #[test]
    fn damaged_records_differ_from_later_formats() {
        let head = read::<HeadRecord>;
        assert_eq!(
            head(r#"{"format": 2, "title": "x"}"#),
            Err(Damage::Format(2.0))
        );
        assert_eq!(head(r#"{"format": 1, "id": "x"}"#), Err(Damage::Texts));
        assert_eq!(head("{"), Err(Damage::Texts));
        assert_eq!(read_json(r#"{"format": 2}"#), Err(Damage::Format(2.0)));
        assert_eq!(read_json("{"), Err(Damage::Texts));
        assert!(read_json(r#"{"format": 1, "seed": NaN}"#).is_ok());
        assert!(read_json(r#"{"seed": 123456789012345678901234567890}"#).is_ok());
    }
}
