//! `diagnose_trajectories`: what is wrong in the behaviour of agents, without a model.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use volary_analysis::behaviour::diagnostics::{DiagnosticKind, diagnostics};
use volary_ask::Rendered;

use super::{Library, ToolReply, first_of_step};
use crate::mcp::failure::ToolFailure;
use crate::mcp::selection::{self, RowFilter};

/// The maximum number of findings of one trajectory, and of examples of each kind.
const MOST: usize = 200;
const EXAMPLES: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiagnosticArguments {
    /// The id of one trajectory, whose findings are returned with their steps. Without it, the findings of all are counted
    #[serde(default)]
    id: Option<String>,
    /// The file; if the id is the one in that file
    #[serde(default)]
    file: Option<String>,
    /// Conditions that the counted trajectories must meet
    #[serde(default)]
    filter: Vec<RowFilter>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DiagnosticReport {
    /// The findings of the trajectory
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<FoundDiagnostic>>,
    /// The number of findings beyond the maximum of 200
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    /// The findings of all trajectories, by kind
    #[serde(skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<CountedDiagnostic>>,
    /// The number of trajectories that were counted
    trajectories: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundDiagnostic {
    kind: String,
    /// 0 is the start
    step: usize,
    /// The number of the first message of the step, for read_trajectory
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<usize>,
    note: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CountedDiagnostic {
    kind: String,
    /// The number of trajectories with a finding
    trajectories: usize,
    /// The number of findings
    findings: usize,
    /// The trajectories with the most findings, at most 10
    examples: Vec<DiagnosticExample>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DiagnosticExample {
    id: String,
    file: String,
    findings: usize,
    /// The first step with one
    step: usize,
}

pub fn diagnose(
    library: &Library,
    arguments: DiagnosticArguments,
    cancelled: &CancellationToken,
) -> Result<ToolReply<DiagnosticReport>, ToolFailure> {
    match &arguments.id {
        Some(id) => of_one(library, id, arguments.file.as_deref(), cancelled),
        None => of_all(library, &arguments.filter),
    }
}

fn of_one(
    library: &Library,
    id: &str,
    file: Option<&str>,
    cancelled: &CancellationToken,
) -> Result<ToolReply<DiagnosticReport>, ToolFailure> {
    let (entry, episode) = library.catalog.open(id, file, cancelled)?;
    let rendered = Rendered::of(&episode, &library.render_options());
    let mut findings: Vec<FoundDiagnostic> = Vec::new();
    let (extra, step) = entry.diagnostics[0];
    if extra > 0 {
        findings.push(FoundDiagnostic {
            kind: DiagnosticKind::ExtraSteps.as_str().to_owned(),
            step,
            message: first_of_step(&rendered, &episode, step).ok(),
            note: format!("{extra} more than the shortest success of this task"),
        });
    }
    findings.extend(
        diagnostics(&episode)
            .into_iter()
            .map(|found| FoundDiagnostic {
                kind: found.kind.as_str().to_owned(),
                step: found.step,
                message: first_of_step(&rendered, &episode, found.step).ok(),
                note: found.note,
            }),
    );
    let left_out = findings.len().saturating_sub(MOST);
    findings.truncate(MOST);
    let mut text = String::new();
    for found in &findings {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "step {}: {}: {}", found.step, found.kind, found.note);
    }
    if findings.is_empty() {
        text.push_str("Nothing was found.\n");
    }
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} more were left out.");
    }
    Ok(ToolReply {
        text,
        value: DiagnosticReport {
            findings: Some(findings),
            left_out: (left_out > 0).then_some(left_out),
            kinds: None,
            trajectories: 1,
        },
    })
}

fn of_all(
    library: &Library,
    filters: &[RowFilter],
) -> Result<ToolReply<DiagnosticReport>, ToolFailure> {
    let listing = library.catalog.listing()?;
    let entries = selection::selected(&listing, filters, None)?;
    let mut text = format!("{} trajectories.\n", entries.len());
    let mut kinds = Vec::new();
    for (index, kind) in DiagnosticKind::ALL.into_iter().enumerate() {
        let with = entries.iter().filter_map(|entry| {
            let (findings, step) = *entry.diagnostics.get(index)?;
            (findings > 0).then(|| DiagnosticExample {
                id: entry.row.id.to_string(),
                file: entry.file.clone(),
                findings,
                step,
            })
        });
        let mut examples: Vec<DiagnosticExample> = with.collect();
        if examples.is_empty() {
            continue;
        }
        let trajectories = examples.len();
        let findings = examples.iter().map(|example| example.findings).sum();
        examples.sort_by_key(|example| std::cmp::Reverse(example.findings));
        examples.truncate(EXAMPLES);
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{}: {findings} in {trajectories} trajectories, such as {}",
            kind.as_str(),
            examples
                .iter()
                .take(3)
                .map(|example| format!("{} (step {})", example.id, example.step))
                .collect::<Vec<_>>()
                .join(", ")
        );
        kinds.push(CountedDiagnostic {
            kind: kind.as_str().to_owned(),
            trajectories,
            findings,
            examples,
        });
    }
    Ok(ToolReply {
        text,
        value: DiagnosticReport {
            kinds: Some(kinds),
            trajectories: entries.len(),
            ..DiagnosticReport::default()
        },
    })
}
