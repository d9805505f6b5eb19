//! Exports results as CSV and JSON Lines, with one row per episode.

use volary_analysis::csv;
use volary_core::json::{Json, Object};
use volary_core::object;

use super::plan::Plan;
use super::result::{CellResult, Status};

/// The columns, in file order.
const COLUMNS: [&str; 17] = [
    "policy",
    "actor",
    "dataset",
    "task",
    "environment",
    "repeat",
    "seed",
    "status",
    "reward",
    "success",
    "steps",
    "seconds",
    "tokens",
    "cost",
    "tries",
    "failure",
    "message",
];

/// A CSV table for spreadsheets (RFC 4180). Unknown values are empty. Texts are escaped so that none is read as a
/// formula.
pub fn to_csv<'a>(plan: &Plan, results: impl IntoIterator<Item = &'a CellResult>) -> String {
    let mut table = COLUMNS.join(",");
    table.push_str("\r\n");
    for result in results {
        let Some(row) = row(plan, result) else {
            continue;
        };
        for (index, column) in COLUMNS.into_iter().enumerate() {
            if index > 0 {
                table.push(',');
            }
            match row.get(column) {
                None | Some(Json::Null) => {}
                Some(Json::Text(text)) => csv::push_text(&mut table, text),
                Some(value) => table.push_str(&value.to_python_text()),
            }
        }
        table.push_str("\r\n");
    }
    table
}

/// One object per line, with the columns as keys. Unknown values are omitted.
pub fn to_jsonl<'a>(plan: &Plan, results: impl IntoIterator<Item = &'a CellResult>) -> String {
    let mut lines = String::new();
    for result in results {
        if let Some(row) = row(plan, result) {
            lines.push_str(&Json::Object(row).to_python_text());
            lines.push('\n');
        }
    }
    lines
}

fn row(plan: &Plan, result: &CellResult) -> Option<Object> {
    let cell = plan.cell(result.cell)?;
    let (task, policy, recipe) = (plan.task(cell)?, plan.policy(cell)?, plan.recipe(cell)?);
    let spent = &result.spent;
    let mut row = object!({
        "policy": (policy.name.clone()),
        "actor": (policy.actor.as_str()),
        "task": (task.id.clone()),
        "environment": (task.environment.clone()),
        "repeat": (cell.trial as i64),
        "seed": (recipe.seed as i64)
    });
    if let Some(dataset) = &plan.dataset {
        row.insert("dataset", dataset.clone());
    }
    match &result.status {
        Status::Finished { ending } => {
            row.insert("status", ending.clone());
            row.insert("reward", result.reward);
            row.insert("success", result.reward >= plan.success);
        }
        Status::Failed(failure) => {
            row.insert("status", "failed");
            row.insert("failure", failure.kind.as_str());
            row.insert("message", failure.message.clone());
        }
    }
    row.insert("steps", spent.steps as i64);
    row.insert("seconds", spent.seconds);
    row.insert("tokens", spent.tokens as i64);
    if let Some(cost) = spent.cost {
        row.insert("cost", cost);
    }
    row.insert("tries", result.attempts);
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::plan::{Actor, PlannedPolicy, PlannedTask};
    use crate::evaluation::result::{Failure, FailureKind};
    use crate::model::limits::Spent;

    fn plan(policy: &str) -> Plan {
        Plan {
            tasks: vec![PlannedTask {
                id: "7".into(),
                title: "Owls".into(),
                environment: "calculator".into(),
                configuration: Object::new(),
            }],
            policies: vec![PlannedPolicy {
                name: policy.into(),
                actor: Actor::Random,
                max_steps: 5,
            }],
            trials: 2,
            success: 1.0,
            ..Plan::default()
        }
    }

    fn results() -> [CellResult; 2] {
        let spent = Spent {
            steps: 2,
            seconds: 0.5,
            tokens: 0,
            cost: None,
        };
        let failure = Failure {
            kind: FailureKind::Provider,
            message: "It said \"no\",\nand no more.".into(),
        };
        [
            CellResult {
                cell: 0,
                status: Status::Finished {
                    ending: "done".into(),
                },
                reward: 1.0,
                spent,
                attempts: 1,
                model: None,
            },
            CellResult::failed(1, failure, 0.0, Spent::default(), 2),
        ]
    }

    #[test]
    fn rows_as_csv() {
        let plan = plan("=HYPERLINK(1)");
        let seeds = [0, 1].map(|cell| plan.recipe(plan.cell(cell).unwrap()).unwrap().seed);
        let expected = format!(
            "{}\r\n\
             '=HYPERLINK(1),random,,7,calculator,0,{},done,1.0,true,2,0.5,0,,1,,\r\n\
             '=HYPERLINK(1),random,,7,calculator,1,{},failed,,,0,0.0,0,0.0,2,provider failed,\
             \"It said \"\"no\"\",\nand no more.\"\r\n",
            COLUMNS.join(","),
            seeds[0],
            seeds[1]
        );
        assert_eq!(to_csv(&plan, &results()), expected);
    }

    #[test]
    fn rows_as_json_lines() {
        let text = to_jsonl(&plan("a"), &results());
        let lines: Vec<Json> = text
            .lines()
            .map(|line| Json::parse(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].get("reward").and_then(Json::as_f64), Some(1.0));
        assert_eq!(lines[1].get("reward"), None);
        assert_eq!(
            lines[1]
                .get("message")
                .and_then(Json::as_text)
                .map(|text| &**text),
            Some("It said \"no\",\nand no more.")
        );
    }
}
