//! Serialization of rows that are stored next to the episodes, so that a table need not read the episodes.

use volary_core::json::{Json, Key, Object, Text};
use volary_core::object;
use volary_episode::episode::{EndingKind, Score, TaskReference};

use super::Row;
use crate::behaviour::diagnostics::{DiagnosticCounts, DiagnosticKind};
use crate::spans::SpanBars;
use crate::tokens::TokenFigures;

impl Row {
    /// Serializes the row.
    pub fn to_json(&self) -> Json {
        let mut object = object!({
            "id": (self.id.clone()),
            "name": (self.name.clone()),
            "steps": (count(self.steps as u64)),
            "calls": (count(self.calls as u64)),
            "outcome": (self.outcome.clone())
        });
        let mut put = |key: &'static str, value: Option<Json>| {
            if let Some(value) = value {
                object.insert(key, value);
            }
        };
        put("environment", self.environment.clone().map(Json::from));
        put("model", self.model.clone().map(Json::from));
        put("agent", self.agent.clone().map(Json::from));
        if let Some(task) = &self.task {
            put("dataset", Some(task.dataset.clone().into()));
            put("task", Some(task.id.clone().into()));
        }
        put("run", self.run.clone().map(Json::from));
        put("reward", self.reward.map(Json::from));
        put("errors", self.errors.map(count));
        put("repeated_calls", self.repeated_calls.map(count));
        put("tokens", self.tokens.map(count));
        put("recorded_tokens", self.recorded_tokens.map(count));
        put("trained_tokens", self.trained_tokens.map(count));
        put(
            "token_figures",
            self.token_figures.as_deref().map(figures_to_json),
        );
        put(
            "diagnostics",
            self.diagnostics.as_deref().map(diagnostics_to_json),
        );
        put("ending", self.ending.map(|ending| ending.as_str().into()));
        put("cost", self.cost.map(Json::from));
        put("seconds", self.seconds.map(Json::from));
        put("started", self.started.map(Json::from));
        put("spans", self.spans.as_deref().map(SpanBars::to_json));
        put(
            "tags",
            (!self.tags.is_empty()).then(|| self.tags.clone().into()),
        );
        let scores = self.scores.iter().map(score_to_json);
        put(
            "scores",
            (!self.scores.is_empty()).then(|| Json::List(scores.collect())),
        );
        put(
            "metadata",
            (!self.metadata.is_empty()).then(|| self.metadata.clone().into()),
        );
        put("origin", self.origin.clone().map(Json::from));
        put("added", self.added.map(Json::from));
        put("bytes", self.bytes.map(count));
        if let Some((origin, step)) = &self.fork_of {
            put("fork_of", Some(origin.clone().into()));
            put("fork_step", step.map(count));
        }
        object.into()
    }

    /// Deserializes the output of [`Row::to_json`]; `None` without an id. Other missing members are empty.
    pub fn read(value: &Json) -> Option<Row> {
        let text = |key: &str| value.get(key).and_then(Json::as_text).cloned();
        let number = |key: &str| value.get(key).and_then(Json::as_f64);
        let whole = |key: &str| u64::try_from(value.get(key)?.as_i64()?).ok();
        let list = |key: &str| value.get(key).and_then(Json::as_list).unwrap_or_default();
        Some(Row {
            id: text("id")?,
            name: text("name").unwrap_or_default(),
            environment: text("environment"),
            model: text("model"),
            agent: text("agent"),
            task: text("dataset")
                .zip(text("task"))
                .map(|(dataset, id)| TaskReference { dataset, id }),
            run: text("run"),
            reward: number("reward"),
            steps: whole("steps").unwrap_or_default() as usize,
            calls: whole("calls").unwrap_or_default() as usize,
            errors: whole("errors"),
            repeated_calls: whole("repeated_calls"),
            tokens: whole("tokens"),
            recorded_tokens: whole("recorded_tokens"),
            trained_tokens: whole("trained_tokens"),
            token_figures: value.get("token_figures").map(figures).map(Box::new),
            diagnostics: value.get("diagnostics").map(diagnostics).map(Box::new),
            extra_steps: None,
            cluster: None,
            ending: text("ending").and_then(|name| EndingKind::read(&name)),
            cost: number("cost"),
            seconds: number("seconds"),
            started: number("started"),
            spans: value.get("spans").and_then(SpanBars::read).map(Box::new),
            outcome: text("outcome").unwrap_or_default(),
            notes: Vec::new(),
            labels: Vec::new(),
            verdict: None,
            answers: Vec::new(),
            tags: list("tags")
                .iter()
                .filter_map(Json::as_text)
                .cloned()
                .collect(),
            scores: list("scores").iter().filter_map(score).collect(),
            metadata: value
                .get("metadata")
                .and_then(Json::as_object)
                .cloned()
                .unwrap_or_default(),
            origin: text("origin"),
            added: number("added"),
            bytes: whole("bytes"),
            fork_of: text("fork_of").map(|origin| (origin, whole("fork_step"))),
        })
    }
}

fn score_to_json(score: &Score) -> Json {
    let mut object = object!({"name": (score.name.clone()), "value": (score.value.clone())});
    if let Some(explanation) = &score.explanation {
        object.insert("explanation", explanation.clone());
    }
    object.into()
}

fn score(value: &Json) -> Option<Score> {
    let text = |key: &str| -> Option<Text> { value.get(key)?.as_text().cloned() };
    Some(Score {
        name: text("name")?,
        value: value.get("value")?.clone(),
        explanation: text("explanation"),
        extras: Object::new(),
    })
}

fn figures_to_json(figures: &TokenFigures) -> Json {
    let mut object = object!({
        "prompt": (count(figures.prompt)),
        "not_finite": (count(figures.not_finite))
    });
    let (low, high) = figures.advantage.unzip();
    let numbers = [
        ("entropy", figures.entropy),
        ("divergence", figures.divergence),
        ("mismatch", figures.mismatch),
        ("lowest_advantage", low),
        ("highest_advantage", high),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            object.insert(key, value);
        }
    }
    if !figures.means.is_empty() {
        let means = figures.means.iter();
        let means = means.map(|(name, mean)| (Key::from(name.to_string()), Json::from(*mean)));
        object.insert("means", Object::from_pairs(means.collect()));
    }
    object.into()
}

fn figures(value: &Json) -> TokenFigures {
    let number = |key: &str| value.get(key).and_then(Json::as_f64);
    let whole = |key: &str| u64::try_from(value.get(key)?.as_i64()?).ok();
    let means = value.get("means").and_then(Json::as_object);
    TokenFigures {
        prompt: whole("prompt").unwrap_or_default(),
        entropy: number("entropy"),
        divergence: number("divergence"),
        mismatch: number("mismatch"),
        advantage: number("lowest_advantage").zip(number("highest_advantage")),
        not_finite: whole("not_finite").unwrap_or_default(),
        means: means
            .iter()
            .flat_map(|object| object.iter())
            .filter_map(|(name, mean)| Some((name.as_ref().into(), mean.as_f64()?)))
            .collect(),
    }
}

/// Kinds without a diagnostic are left out.
fn diagnostics_to_json(counts: &DiagnosticCounts) -> Json {
    let mut object = Object::new();
    for kind in DiagnosticKind::ALL {
        let number = counts.of_kind(kind);
        if number > 0 {
            object.insert(kind.name(), i64::from(number));
        }
    }
    object.into()
}

fn diagnostics(value: &Json) -> DiagnosticCounts {
    let mut counts = DiagnosticCounts::default();
    for kind in DiagnosticKind::ALL {
        let number = value.get(kind.name()).and_then(Json::as_i64);
        let number = number.and_then(|number| u32::try_from(number).ok());
        counts.set(kind, number.unwrap_or_default());
    }
    counts
}

fn count(value: u64) -> Json {
    i64::try_from(value).unwrap_or(i64::MAX).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let bare = Row {
            id: "e1".into(),
            ..Row::default()
        };
        let full = Row {
            id: "e2".into(),
            name: "calculator 7".into(),
            environment: Some("calculator".into()),
            model: Some("some-model".into()),
            agent: Some("oracle".into()),
            task: Some(TaskReference {
                dataset: "word_problems".into(),
                id: "7".into(),
            }),
            run: Some("r".into()),
            reward: Some(-0.5),
            steps: 3,
            calls: 4,
            errors: Some(2),
            repeated_calls: Some(1),
            notes: Vec::new(),
            labels: Vec::new(),
            verdict: None,
            answers: Vec::new(),
            tokens: Some(120),
            recorded_tokens: Some(90),
            trained_tokens: Some(12),
            token_figures: Some(Box::new(TokenFigures {
                prompt: 30,
                entropy: Some(0.5),
                divergence: None,
                mismatch: Some(0.25),
                advantage: Some((-1.0, 1.0)),
                not_finite: 2,
                means: vec![("entropy".into(), 0.5), ("my stream".into(), 0.0)],
            })),
            diagnostics: Some({
                let mut counts = DiagnosticCounts::default();
                counts.set(DiagnosticKind::IgnoredError, 2);
                Box::new(counts)
            }),
            extra_steps: None,
            cluster: None,
            ending: Some(EndingKind::Truncated),
            cost: Some(0.25),
            seconds: Some(1.5),
            started: Some(1.7e9),
            spans: SpanBars::read(&Json::parse("[1, 0, 0.5, 1.25, 3, 1.25, null]").unwrap())
                .map(Box::new),
            outcome: "done".into(),
            tags: vec!["good".into()],
            scores: vec![Score {
                name: "accuracy".into(),
                value: true.into(),
                explanation: Some("It is.".into()),
                extras: Object::new(),
            }],
            metadata: object!({"evaluation": "x"}),
            origin: Some("imported".into()),
            added: Some(1.8e9),
            bytes: Some(4096),
            fork_of: Some(("e1".into(), Some(2))),
        };
        for row in [bare, full] {
            let text = row.to_json().to_python_text();
            assert_eq!(Row::read(&Json::parse(&text).unwrap()), Some(row));
        }
        assert_eq!(Row::read(&Json::Null), None);
    }
}
