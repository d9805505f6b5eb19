//! Stored evaluations: a head for the list, the plan, the result of each cell, and drafts. A draft is what an
//! unfinished episode of a model has spent, and its steps so far, so that no step is paid for twice.
//!
//! Keys begin with the id of the evaluation and a slash; a word precedes it in keys of steps. One transaction stores a
//! finished episode, its row and its result, and one stores a step and what was spent on it.

use std::collections::BTreeSet;

use volary_agent::evaluation::{CellResult, Plan, episode_id};
use volary_agent::model::limits::Spent;
use volary_core::json;
use volary_core::json::{Json, Object};
use volary_episode::StepRecord;
use volary_episode::native::{step_from_json, step_to_json};

use super::record::{self, DraftRecord, FORMAT, HeadRecord};
use super::{all, episodes, get, keys_between, unreadable, write};
use crate::origin::EVALUATED;
use volary_browser::database::{Damage, DatabaseChange, DatabaseError, KeptText, Store, after_all};

pub use volary_app::evaluation::{Draft, Head, Kept};

/// The change that stores a head.
pub fn keeping_head(head: &Head) -> DatabaseChange {
    let text = record::write(&HeadRecord {
        format: FORMAT,
        id: head.id.to_string(),
        name: head.name.to_string(),
        made: head.made,
        total: head.total,
        finished: head.finished,
        failed: head.failed,
        source: head.source.as_ref().map(|source| source.to_string()),
        policies: head.policies.clone(),
    });
    DatabaseChange::Put(Store::Evaluations, format!("head/{}", head.id), text)
}

/// The change that stores a plan.
pub fn keeping_plan(id: &str, plan: &Plan) -> DatabaseChange {
    put(Store::Evaluations, format!("plan/{id}"), plan.to_json())
}

/// The change that stores a result.
pub fn keeping_result(id: &str, result: &CellResult) -> DatabaseChange {
    put(Store::Results, place(id, result.cell), result.to_json())
}

/// The change that deletes a result.
pub fn forgetting_result(id: &str, cell: usize) -> DatabaseChange {
    DatabaseChange::Delete(Store::Results, place(id, cell))
}

/// The change that stores a draft.
pub fn keeping_draft(id: &str, cell: usize, draft: &Draft) -> DatabaseChange {
    let spent = &draft.spent;
    let text = record::write(&DraftRecord {
        format: FORMAT,
        cell,
        steps: spent.steps,
        seconds: spent.seconds,
        tokens: spent.tokens,
        cost: spent.cost,
        tries: draft.attempts,
        recorded: (!draft.recorded.is_empty())
            .then(|| Json::Object(draft.recorded.clone()).to_python_text()),
    });
    DatabaseChange::Put(Store::Drafts, place(id, cell), text)
}

/// The change that stores a step, counted from 0, of an unfinished episode.
pub fn keeping_step(id: &str, cell: usize, number: usize, step: &StepRecord) -> DatabaseChange {
    let key = format!("{}{number:06}", steps_of(id, cell));
    put(Store::Drafts, key, step_to_json(step))
}

/// The change that deletes the steps of an unfinished episode.
pub fn forgetting_steps(id: &str, cell: usize) -> DatabaseChange {
    DatabaseChange::DeletePrefix(Store::Drafts, steps_of(id, cell))
}

/// The changes that delete a draft and its steps.
pub fn forgetting_draft(id: &str, cell: usize) -> [DatabaseChange; 2] {
    [
        DatabaseChange::Delete(Store::Drafts, place(id, cell)),
        forgetting_steps(id, cell),
    ]
}

/// Returns the stored steps of an unfinished episode, up to the first that cannot be read.
pub async fn steps(id: &str, cell: usize) -> Result<Vec<StepRecord>, DatabaseError> {
    let kept = all(Store::Drafts, &steps_of(id, cell)).await?;
    let steps = kept.iter().map(|(key, text)| {
        let step = record::read_json(&text.to_text())
            .and_then(|step| step_from_json(&step).map_err(|_| Damage::Texts));
        noted(Store::Drafts, key, step).transpose()
    });
    steps.map_while(|step| step).collect()
}

/// Returns the heads of all evaluations, the latest first.
pub async fn list() -> Result<Vec<Head>, DatabaseError> {
    let records = all(Store::Evaluations, "head/").await?;
    unreadable::clear(Store::Evaluations);
    let heads = records.iter();
    let mut heads: Vec<Head> = heads
        .filter_map(|(key, text)| unreadable::noted(Store::Evaluations, key, read_head(text)))
        .collect();
    heads.sort_by(|one, other| other.made.total_cmp(&one.made));
    Ok(heads)
}

/// Loads an evaluation; `None` if it does not exist, or if its plan cannot be read. An evaluation with a record of a newer
/// version is an error: without that record, its episode would be played again, and the record be overwritten.
pub async fn load(id: &str) -> Result<Option<Kept>, DatabaseError> {
    let (head_key, plan_key) = (format!("head/{id}"), format!("plan/{id}"));
    let head = get(Store::Evaluations, &head_key).await?;
    let plan = get(Store::Evaluations, &plan_key).await?;
    let (Some(head), Some(plan)) = (head, plan) else {
        return Ok(None);
    };
    let head = noted(Store::Evaluations, &head_key, read_head(&head))?;
    let plan = noted(Store::Evaluations, &plan_key, read_with(&plan, Plan::read))?;
    let Some((head, plan)) = head.zip(plan) else {
        return Ok(None);
    };
    let prefix = format!("{id}/");
    let results = all(Store::Results, &prefix).await?;
    let drafts = all(Store::Drafts, &prefix).await?;
    unreadable::clear(Store::Results);
    let results = results.iter().filter_map(|(key, text)| {
        let result = read_with(text, CellResult::read);
        noted(Store::Results, key, result).transpose()
    });
    let results = results.collect::<Result<_, _>>()?;
    let drafts = drafts
        .iter()
        .filter_map(|(key, text)| noted(Store::Drafts, key, read_draft(text)).transpose());
    let drafts = drafts.collect::<Result<_, _>>()?;
    Ok(Some(Kept {
        head,
        plan,
        results,
        drafts,
    }))
}

/// Returns the ids of the stored episodes that an evaluation created. Other ids may begin with its id: an imported
/// trajectory is named after its file.
pub async fn own_episodes(id: &str) -> Result<Vec<String>, DatabaseError> {
    // The episodes of an evaluation always have texts.
    let start = format!("{id}-");
    let parts = keys_between(Store::Episodes, &start, &after_all(&start)).await?;
    let named: BTreeSet<String> = parts
        .iter()
        .filter_map(|part| Some(part.rsplit_once('/')?.0))
        .filter(|named| is_named(id, named))
        .map(str::to_owned)
        .collect();
    let named: Vec<String> = named.into_iter().collect();
    let rows = episodes::listed(&named).await?.into_iter();
    let own = rows.filter(|listed| listed.row.origin.as_deref() == Some(EVALUATED));
    Ok(own.map(|listed| listed.row.id.to_string()).collect())
}

/// Whether an id has the form of the ids that an evaluation assigns to its episodes.
fn is_named(evaluation: &str, id: &str) -> bool {
    let cell = id
        .strip_prefix(evaluation)
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|cell| cell.parse().ok());
    cell.is_some_and(|cell| *episode_id(evaluation, cell) == *id)
}

/// Deletes an evaluation with the episodes that it created ([`own_episodes`]), and nothing else.
pub async fn forget(id: &str) -> Result<(), DatabaseError> {
    let episodes = own_episodes(id).await?;
    let prefix = format!("{id}/");
    let own = vec![
        DatabaseChange::Delete(Store::Evaluations, format!("head/{id}")),
        DatabaseChange::Delete(Store::Evaluations, format!("plan/{id}")),
        DatabaseChange::DeletePrefix(Store::Results, prefix.clone()),
        DatabaseChange::DeletePrefix(Store::Drafts, prefix),
        DatabaseChange::DeletePrefix(Store::Drafts, format!("steps/{id}/")),
    ];
    let texts = episodes.iter().map(|id| episodes::deleting_text(id));
    let rows = DatabaseChange::DeleteRows(episodes.clone());
    write(own.into_iter().chain(texts).chain([rows]).collect()).await
}

/// Notes a record that cannot be read. The error is that a newer version wrote it.
fn noted<Record>(
    store: Store,
    key: &str,
    read: Result<Record, Damage>,
) -> Result<Option<Record>, DatabaseError> {
    let is_newer = matches!(read, Err(Damage::Format(_)));
    let read = unreadable::noted(store, key, read);
    if is_newer {
        return Err(DatabaseError::Newer);
    }
    Ok(read)
}

fn place(id: &str, cell: usize) -> String {
    format!("{id}/{cell:06}")
}

fn steps_of(id: &str, cell: usize) -> String {
    format!("steps/{}/", place(id, cell))
}

fn put(store: Store, key: String, value: Json) -> DatabaseChange {
    DatabaseChange::Put(store, key, record::write_json(value).into())
}

fn read_with<Record>(
    text: &KeptText,
    read: impl FnOnce(&Json) -> Option<Record>,
) -> Result<Record, Damage> {
    let value = record::read_json(&text.to_text())?;
    read(&value).ok_or(Damage::Texts)
}

fn read_head(text: &KeptText) -> Result<Head, Damage> {
    let head: HeadRecord = record::read(&text.to_text())?;
    Ok(Head {
        id: head.id.into(),
        name: head.name.into(),
        made: head.made,
        total: head.total,
        finished: head.finished,
        failed: head.failed,
        source: head.source.map(Into::into),
        policies: head.policies,
    })
}

fn read_draft(text: &KeptText) -> Result<(usize, Draft), Damage> {
    let draft: DraftRecord = record::read(&text.to_text())?;
    let spent = Spent {
        steps: draft.steps,
        seconds: draft.seconds,
        tokens: draft.tokens,
        cost: draft.cost,
    };
    let recorded = match draft.recorded {
        None => Object::new(),
        Some(text) => match json::read(&text) {
            Ok(Json::Object(recorded)) => recorded,
            _ => return Err(Damage::Texts),
        },
    };
    let attempts = draft.tries;
    let cell = draft.cell;
    let draft = Draft {
        spent,
        attempts,
        recorded,
    };
    Ok((cell, draft))
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::Outcome;

    use super::super::record::{check_golden, read_json, write_json};
    use super::*;

    /// As the version before the first numbered format wrote them.
    const FORMER_PLAN: &str = r#"{"name": "dummy: Random", "dataset": null, "tasks": [{"id": "1", "title": "Seed 1", "environment": "dummy", "configuration": {"end_immediately": true, "large": 123456789012345678901234567890123456789012345}}, {"id": "2", "title": "Seed 2"}], "policies": [{"name": "Random", "actor": {"kind": "random"}, "max_steps": 50}, {"name": "Model", "actor": {"kind": "model", "connection": "mine", "settings": {"Temperature": 0.5, "Seed": 36893488147419103232}}, "max_steps": 7}, {"name": "Script", "actor": {"kind": "scripted", "script": "[]"}, "max_steps": 50}], "repeats": 1, "seed": 0, "success": 1.0, "pace": {"concurrency": 4, "requests_per_minute": null, "tokens_per_minute": 1000, "tokens": null, "cost": 0.1}}"#;
    const FORMER_RESULTS: [(&str, &str); 2] = [
        (
            "result",
            r#"{"cell": 0, "reward": 0.30000000000000004, "steps": 2, "seconds": 0.0, "tokens": 0, "cost": null, "tries": 1, "ending": "done"}"#,
        ),
        (
            "failed_result",
            r#"{"cell": 1, "reward": NaN, "steps": 2, "seconds": 0.25, "tokens": 12, "cost": 0.5, "tries": 2, "failure": "rate limit", "message": "Too many."}"#,
        ),
    ];

    #[test]
    fn plans_results_and_steps_match_the_golden_files_in_both_directions() {
        let plan = Plan::read(&read_json(FORMER_PLAN).unwrap()).unwrap();
        let golden = check_golden("plan", &write_json(plan.to_json()));
        assert_eq!(Plan::read(&read_json(&golden).unwrap()), Some(plan));
        assert_eq!(
            golden.trim_end().replace(", \"format\": 1", ""),
            FORMER_PLAN
        );
        for (name, former) in FORMER_RESULTS {
            let result = CellResult::read(&read_json(former).unwrap()).unwrap();
            let golden = check_golden(name, &write_json(result.to_json()));
            let read = CellResult::read(&read_json(&golden).unwrap()).unwrap();
            assert_eq!(write_json(read.to_json()), golden.trim_end());
            assert_eq!(golden.trim_end().replace(", \"format\": 1", ""), former);
        }
        let outcome = Outcome::Failed {
            message: "It was refused.".into(),
        };
        let step = StepRecord::new(Message::user("act").into(), outcome);
        let golden = check_golden("step", &write_json(step_to_json(&step)));
        let read = step_from_json(&read_json(&golden).unwrap()).unwrap();
        assert_eq!(read, step);
    }

    #[test]
    fn a_record_of_a_newer_version_is_an_error_and_a_damaged_one_is_skipped() {
        unreadable::clear(Store::Results);
        let read = |read| noted::<u8>(Store::Results, "id/000000", read);
        assert_eq!(read(Ok(7)), Ok(Some(7)));
        assert_eq!(read(Err(Damage::Texts)), Ok(None));
        assert_eq!(read(Err(Damage::Format(2.0))), Err(DatabaseError::Newer));
        assert_eq!(unreadable::all().len(), 1);
        unreadable::clear(Store::Results);
    }

    #[test]
    fn an_evaluation_names_its_episodes_by_the_numbers_of_their_cells() {
        for cell in [0, 7, 999_999, 1_000_000] {
            assert!(is_named("0abc", &episode_id("0abc", cell)));
        }
        for id in [
            "0abc",
            "0abc-",
            "0abc-1",
            "0abc-+00001",
            "0abc-000001-a",
            "0abc-000001 (2)",
            "0abc--00001",
            "0abcd-000001",
            "0abc-1000000000000000000000000",
            "0abc-0000001",
            "0abc-notes",
        ] {
            assert!(!is_named("0abc", id), "{id}");
        }
    }
}
