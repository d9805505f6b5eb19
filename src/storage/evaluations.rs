//! Evaluations that are kept: a head for the list, the plan, the result of each cell, and drafts: what episodes
//! that are under way with a model spent, and their steps so far, so that none is paid for twice.
//!
//! Keys begin with the id of the evaluation and a stroke, those of steps with a word before it. A finished episode,
//! its row and its result are kept in one transaction: there is never one without the others. So are a step
//! and what was spent on it.

use volary_agent::evaluation::{CellResult, Plan, episode_id};
use volary_agent::model::limits::Spent;
use volary_core::json;
use volary_core::json::{Json, Text};
use volary_core::object;
use volary_trajectory::StepRecord;
use volary_trajectory::native::{step_from_json, step_to_json};

use super::{all, episodes, get, keys_between, unreadable, write, write_ahead_log};
use crate::browser::database::{
    Change, Damage, DatabaseError, KeptText, Packing, Store, after_all,
};
use crate::storage::origin::EVALUATED;

/// What the list shows of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// When it was made, in seconds since 1970.
    pub made: f64,
    /// How many episodes it is to have.
    pub total: usize,
    /// How many count.
    pub finished: usize,
    /// How many broke off.
    pub failed: usize,
}

/// An episode that is under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// What its steps spent, with all tries before.
    pub spent: Spent,
    /// How many tries there were before this one.
    pub tries: u32,
}

/// An evaluation as it was left.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its head.
    pub head: Head,
    /// Its plan.
    pub plan: Plan,
    /// The results so far.
    pub results: Vec<CellResult>,
    /// The episodes that were under way.
    pub drafts: Vec<(usize, Draft)>,
}

/// What keeps a head.
pub fn keeping_head(head: &Head) -> Change {
    let record = Json::Object(object!({
        "id": (head.id.clone()),
        "name": (head.name.clone()),
        "made": (head.made),
        "total": (head.total as i64),
        "finished": (head.finished as i64),
        "failed": (head.failed as i64)
    }));
    put(Store::Evaluations, format!("head/{}", head.id), record)
}

/// What keeps a plan.
pub fn keeping_plan(id: &str, plan: &Plan) -> Change {
    put(Store::Evaluations, format!("plan/{id}"), plan.to_json())
}

/// What keeps a result.
pub fn keeping_result(id: &str, result: &CellResult) -> Change {
    put(Store::Results, place(id, result.cell), result.to_json())
}

/// Packs a result, whose text this is.
pub fn pack_result(packing: &mut Packing, id: &str, cell: usize, text: &str) {
    packing.put(Store::Results, place(id, cell), |out| out.push_str(text));
}

/// What forgets a result.
pub fn forgetting_result(id: &str, cell: usize) -> Change {
    Change::Forget(Store::Results, place(id, cell))
}

/// What keeps a draft.
pub fn keeping_draft(id: &str, cell: usize, draft: &Draft) -> Change {
    let spent = &draft.spent;
    let record = Json::Object(object!({
        "cell": (cell as i64),
        "steps": (spent.steps as i64),
        "seconds": (spent.seconds),
        "tokens": (spent.tokens as i64),
        "cost": (spent.cost),
        "tries": (draft.tries)
    }));
    put(Store::Drafts, place(id, cell), record)
}

/// What keeps a step of an episode that is under way; the first is 0.
pub fn keeping_step(id: &str, cell: usize, number: usize, step: &StepRecord) -> Change {
    let key = format!("{}{number:06}", steps_of(id, cell));
    put(Store::Drafts, key, step_to_json(step))
}

/// What forgets the steps of an episode that was under way.
pub fn forgetting_steps(id: &str, cell: usize) -> Change {
    Change::ForgetAll(Store::Drafts, steps_of(id, cell))
}

/// What forgets a draft and its steps.
pub fn forgetting_draft(id: &str, cell: usize) -> [Change; 2] {
    [
        Change::Forget(Store::Drafts, place(id, cell)),
        forgetting_steps(id, cell),
    ]
}

/// The steps so far of an episode that is under way. What can't be read ends them.
pub async fn steps(id: &str, cell: usize) -> Result<Vec<StepRecord>, DatabaseError> {
    let kept = all(Store::Drafts, &steps_of(id, cell)).await?;
    let steps = kept.iter().map(|(_, text)| parsed(text));
    Ok(steps
        .map_while(|step| step_from_json(&step?).ok())
        .collect())
}

/// The heads of all, the latest first.
pub async fn list() -> Result<Vec<Head>, DatabaseError> {
    let records = all(Store::Evaluations, "head/").await?;
    unreadable::clear(Store::Evaluations);
    let mut heads: Vec<Head> = records
        .iter()
        .filter_map(|(key, text)| {
            let head = parsed(text).and_then(|record| read_head(&record));
            noted(Store::Evaluations, key, head)
        })
        .collect();
    heads.sort_by(|one, other| other.made.total_cmp(&one.made));
    Ok(heads)
}

/// One, with all that is known of it; `None` if there is none.
pub async fn load(id: &str) -> Result<Option<Kept>, DatabaseError> {
    write_ahead_log::settle().await;
    let head = get(Store::Evaluations, &format!("head/{id}")).await?;
    let plan = get(Store::Evaluations, &format!("plan/{id}")).await?;
    let head = head.and_then(|text| read_head(&parsed(&text)?));
    let plan = plan.and_then(|text| Plan::read(&parsed(&text)?));
    let Some((head, plan)) = head.zip(plan) else {
        return Ok(None);
    };
    let prefix = format!("{id}/");
    let results = all(Store::Results, &prefix).await?;
    let drafts = all(Store::Drafts, &prefix).await?;
    unreadable::clear(Store::Results);
    Ok(Some(Kept {
        head,
        plan,
        results: results
            .iter()
            .filter_map(|(key, text)| {
                let result = parsed(text).and_then(|record| CellResult::read(&record));
                noted(Store::Results, key, result)
            })
            .collect(),
        drafts: drafts
            .iter()
            .filter_map(|(_, text)| read_draft(&parsed(text)?))
            .collect(),
    }))
}

/// The ids of the stored episodes that an evaluation made itself. Others may begin with its id: an imported trajectory
/// is named by the file that it comes from.
pub async fn own_episodes(id: &str) -> Result<Vec<String>, DatabaseError> {
    write_ahead_log::settle().await;
    let first = episode_id(id, 0);
    let keys = keys_between(Store::Summaries, &first, &after_all(&format!("{id}-"))).await?;
    let named: Vec<String> = keys.into_iter().filter(|key| is_named(id, key)).collect();
    let rows = episodes::listed(&named).await?.into_iter();
    let own = rows.filter(|listed| listed.row.origin.as_deref() == Some(EVALUATED));
    Ok(own.map(|listed| listed.row.id.to_string()).collect())
}

/// Whether an id has the form of the ids that an evaluation gives to its episodes.
fn is_named(evaluation: &str, id: &str) -> bool {
    let cell = id
        .strip_prefix(evaluation)
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|cell| cell.parse().ok());
    cell.is_some_and(|cell| *episode_id(evaluation, cell) == *id)
}

/// Forgets an evaluation with the episodes that it made ([`own_episodes`]), and nothing else.
pub async fn forget(id: &str) -> Result<(), DatabaseError> {
    let episodes = own_episodes(id).await?;
    let prefix = format!("{id}/");
    let own = vec![
        Change::Forget(Store::Evaluations, format!("head/{id}")),
        Change::Forget(Store::Evaluations, format!("plan/{id}")),
        Change::ForgetAll(Store::Results, prefix.clone()),
        Change::ForgetAll(Store::Drafts, prefix),
        Change::ForgetAll(Store::Drafts, format!("steps/{id}/")),
    ];
    let episodes = episodes.into_iter().flat_map(|id| {
        let text = episodes::forgetting_text(&id);
        [Change::Forget(Store::Summaries, id), text]
    });
    write(own.into_iter().chain(episodes).collect()).await
}

fn place(id: &str, cell: usize) -> String {
    format!("{id}/{cell:06}")
}

fn steps_of(id: &str, cell: usize) -> String {
    format!("steps/{}/", place(id, cell))
}

fn put(store: Store, key: String, record: Json) -> Change {
    Change::Put(store, key, record.to_python_text().into())
}

fn parsed(text: &KeptText) -> Option<Json> {
    json::read(&text.to_text()).ok()
}

/// What was read; a record that could not be is noted.
fn noted<Record>(store: Store, key: &str, read: Option<Record>) -> Option<Record> {
    if read.is_none() {
        unreadable::note(store, key, Damage::Texts.to_string());
    }
    read
}

fn count(value: &Json, key: &str) -> Option<usize> {
    value.get(key)?.as_i64()?.try_into().ok()
}

fn read_head(value: &Json) -> Option<Head> {
    let text = |key: &str| value.get(key)?.as_text().cloned();
    Some(Head {
        id: text("id")?,
        name: text("name")?,
        made: value.get("made")?.as_f64()?,
        total: count(value, "total")?,
        finished: count(value, "finished")?,
        failed: count(value, "failed")?,
    })
}

fn read_draft(value: &Json) -> Option<(usize, Draft)> {
    let draft = Draft {
        spent: Spent {
            steps: count(value, "steps")? as u64,
            seconds: value.get("seconds")?.as_f64()?,
            tokens: count(value, "tokens")? as u64,
            cost: value.get("cost").and_then(Json::as_f64),
        },
        tries: count(value, "tries")?.try_into().ok()?,
    };
    Some((count(value, "cell")?, draft))
}

#[cfg(test)]
mod tests {
    use super::*;

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
