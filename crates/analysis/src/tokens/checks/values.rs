//! Checks of streams, and of the policy versions that wrote an episode.

use volary_core::TokenStream;
use volary_core::json::Json;
use volary_episode::episode::Episode;
use volary_episode::token_record::{StreamKind, TokenRecord};

use super::{CheckKind, CheckResult, MOST_TOKENS, TokenCheck, plural};

/// Streams and metadata that say which version of the policy wrote a token or turn.
const VERSIONS: [&str; 4] = [
    "weight_versions",
    "weight_version",
    "policy_versions",
    "policy_version",
];
/// Formats with one version for each call of the model. Others have the first and the last one.
const PER_CALL: [&str; 2] = ["slime", "rllm"];

pub(super) fn policy_version(episode: &Episode, record: &TokenRecord) -> TokenCheck {
    let kind = CheckKind::PolicyVersion;
    let streams = record.strip.streams();
    if let Some(stream) = VERSIONS.iter().find_map(|name| streams.get(*name)) {
        return by_token(stream);
    }
    let versions = episode.metadata.get("weight_versions");
    let versions = versions.and_then(Json::as_list).unwrap_or_default();
    let listed = || {
        let mut names: Vec<String> = versions.iter().map(Json::to_display).collect();
        names.dedup();
        names.join(", ")
    };
    let changes: Vec<usize> = (1..versions.len())
        .filter(|index| versions[*index] != versions[*index - 1])
        .collect();
    if versions.is_empty() {
        return TokenCheck::unknown(kind, "The file names no policy version.");
    }
    if changes.is_empty() {
        return TokenCheck::passed(kind, format!("Version {}.", listed()));
    }
    let format = episode.source.as_ref().map(|source| &*source.format);
    let is_per_call =
        format.is_some_and(|format| PER_CALL.iter().any(|known| format.starts_with(known)));
    // A turn of several calls has several versions, so the numbers are equal only if each turn has one.
    if !is_per_call || versions.len() != episode.steps.len() || !record.is_divided {
        let summary = format!(
            "Versions {}. The file does not say where each begins.",
            listed()
        );
        return TokenCheck::new(kind, CheckResult::Failed, summary, Vec::new());
    }
    let found: Vec<usize> = changes
        .iter()
        .filter_map(|turn| {
            let range = record.part(turn + 1, 0)?.range.clone();
            let trained = range.clone().find(|token| record.is_trained(*token));
            Some(trained.unwrap_or(range.start))
        })
        .collect();
    let turn = changes.first().map_or(0, |turn| turn + 1);
    let summary = format!(
        "Versions {}; the policy changes before turn {turn}.",
        listed()
    );
    TokenCheck::new(kind, CheckResult::Failed, summary, found)
}

fn by_token(stream: &TokenStream) -> TokenCheck {
    let kind = CheckKind::PolicyVersion;
    let mut last = None;
    let mut found = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (token, value) in stream.iter().enumerate() {
        let Some(value) = value else {
            continue;
        };
        if last == Some(value) {
            continue;
        }
        if last.is_some() {
            found.push(token);
        }
        if names.len() < 8 {
            names.push(value.to_string());
        }
        last = Some(value);
    }
    let names = names.join(", ");
    if found.is_empty() {
        TokenCheck::passed(kind, format!("Version {names}."))
    } else {
        TokenCheck::new(
            kind,
            CheckResult::Failed,
            format!("Versions {names}."),
            found,
        )
    }
}

pub(super) fn lengths(record: &TokenRecord) -> TokenCheck {
    let kind = CheckKind::Lengths;
    let count = record.strip.streams().len();
    if !record.misfits.is_empty() {
        let misfits = record.misfits.iter().map(ToString::to_string);
        let summary = format!("Left out: {}.", misfits.collect::<Vec<_>>().join("; "));
        return TokenCheck::new(kind, CheckResult::Failed, summary, Vec::new());
    }
    match count {
        0 => TokenCheck::unknown(kind, "The file has no streams for these tokens."),
        count => TokenCheck::passed(kind, format!("{}.", plural(count, "stream"))),
    }
}

pub(super) fn finite(record: &TokenRecord) -> TokenCheck {
    let kind = CheckKind::Finite;
    let streams = record.strip.streams();
    if streams.is_empty() {
        return TokenCheck::unknown(kind, "The file has no streams for these tokens.");
    }
    let is_counted = |token: usize| !record.is_mask_known || record.is_trained(token);
    let mut found = Vec::new();
    let mut faults = Vec::new();
    for (name, stream) in streams {
        let values = stream.iter().enumerate();
        let bad = values.filter(|(token, value)| {
            value.is_some_and(|value| !value.is_finite()) && is_counted(*token)
        });
        let bad: Vec<usize> = bad.map(|(token, _)| token).collect();
        if !bad.is_empty() {
            faults.push(format!("{} in {name}", bad.len()));
            found.extend(bad.into_iter().take(MOST_TOKENS));
        }
    }
    if faults.is_empty() {
        return TokenCheck::passed(kind, format!("{}.", plural(streams.len(), "stream")));
    }
    found.sort_unstable();
    found.dedup();
    let summary = format!("NaN or infinite: {}.", faults.join(", "));
    TokenCheck::new(kind, CheckResult::Failed, summary, found)
}

pub(super) fn mismatch(record: &TokenRecord, tolerance: f64) -> TokenCheck {
    let kind = CheckKind::Mismatch;
    let Some(differences) = record.differences() else {
        let summary = "Log-probabilities of both sampler and trainer are needed.";
        return TokenCheck::unknown(kind, summary);
    };
    let is_counted = |token: usize| !record.is_mask_known || record.is_trained(token);
    let (mut compared, mut largest) = (0, 0.0_f64);
    let mut found = Vec::new();
    let mut count = 0;
    for (token, difference) in differences.iter().enumerate() {
        let Some(difference) = difference.filter(|value| value.is_finite() && is_counted(token))
        else {
            continue;
        };
        compared += 1;
        largest = largest.max(difference.abs());
        if difference.abs() > tolerance {
            count += 1;
            if found.len() < MOST_TOKENS {
                found.push(token);
            }
        }
    }
    debug_assert!(record.stream_of(StreamKind::Trainer).is_some());
    let tokens = plural(compared, "token");
    let extent = format!("the largest difference is {largest:.3}");
    match count {
        _ if compared == 0 => {
            TokenCheck::unknown(kind, "No trained token has both log-probabilities.")
        }
        0 => TokenCheck::passed(
            kind,
            format!("{tokens}; {extent}, at most {tolerance} is allowed."),
        ),
        count => {
            let summary = format!("{count} of {tokens} differ by more than {tolerance}; {extent}.");
            TokenCheck::new(kind, CheckResult::Failed, summary, found)
        }
    }
}

#[cfg(test)]
mod tests {
    use volary_core::Message;
    use volary_core::Role;
    use volary_core::json::Text;
    use volary_episode::episode::{Outcome, Source, StepRecord};
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    fn builder() -> TokenRecordBuilder {
        TokenRecordBuilder::new(
            vec![1; 5],
            LossMask::Response(vec![true, false, true, true]),
        )
        .unwrap()
    }

    fn record(streams: &[(&str, &[f64])]) -> TokenRecord {
        let mut builder = builder();
        for (name, values) in streams {
            let values: TokenStream = values.iter().copied().collect();
            builder.stream(*name, &values, Alignment::Response);
        }
        builder.with_parts(Vec::new())
    }

    #[test]
    fn nan_counts_only_in_trained_tokens() {
        let check = finite(&record(&[("a", &[0.5, f64::NAN, 0.0, 1.0])]));
        assert_eq!(
            (check.verdict, &*check.summary),
            (CheckResult::Passed, "1 stream.")
        );
        let check = finite(&record(&[
            ("a", &[0.5, 0.0, f64::NAN, f64::INFINITY]),
            ("b", &[f64::NAN, 0.0, 0.0, 1.0]),
        ]));
        assert_eq!(check.summary, "NaN or infinite: 2 in a, 1 in b.");
        assert_eq!(check.tokens, [1, 3, 4]);
        assert_eq!(finite(&record(&[])).verdict, CheckResult::Unknown);
    }

    #[test]
    fn streams_of_another_length_fail() {
        let check = lengths(&record(&[("a", &[1.0]), ("b", &[1.0; 4])]));
        assert_eq!(check.summary, "Left out: `a` has 1 values for 4 tokens.");
        assert_eq!(
            lengths(&record(&[("b", &[1.0; 4])])).verdict,
            CheckResult::Passed
        );
        assert_eq!(lengths(&record(&[])).verdict, CheckResult::Unknown);
    }

    #[test]
    fn a_mismatch_is_more_than_the_tolerance() {
        let both = record(&[
            ("logprobs", &[-1.0, 0.0, -1.0, -1.0]),
            ("log_probs", &[-1.5, 0.0, -0.9, -1.0]),
        ]);
        let check = mismatch(&both, 0.2);
        assert_eq!(
            check.summary,
            "1 of 3 tokens differ by more than 0.2; the largest difference is 0.500."
        );
        assert_eq!(check.tokens, [1]);
        assert_eq!(mismatch(&both, 0.5).verdict, CheckResult::Passed);
        assert_eq!(
            mismatch(&record(&[("logprobs", &[1.0; 4])]), 0.5).verdict,
            CheckResult::Unknown
        );
    }

    fn episode(format: &str, versions: &[i64]) -> Episode {
        let message = |role| Message::new(role, Text::from("x")).into();
        let step = || {
            let outcome = Outcome::Observed {
                messages: vec![message(Role::User)],
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(message(Role::Assistant), outcome)
        };
        let mut episode = Episode {
            start: vec![message(Role::User)],
            steps: vec![step(), step()],
            source: Some(Source {
                format: format.into(),
                ..Source::default()
            }),
            ..Episode::default()
        };
        let versions: Vec<Json> = versions
            .iter()
            .map(|version| Json::from(*version))
            .collect();
        episode
            .metadata
            .insert("weight_versions", Json::List(versions));
        episode
    }

    #[test]
    fn another_version_begins_at_its_turn_if_each_turn_has_one() {
        let slime = episode("slime", &[3, 4]);
        let record = builder().divided(&slime);
        let check = policy_version(&slime, &record);
        assert_eq!(
            check.summary,
            "Versions 3, 4; the policy changes before turn 2."
        );
        assert_eq!(
            (check.verdict, check.tokens),
            (CheckResult::Failed, vec![3])
        );
        let verifiers = episode("verifiers", &[3, 4]);
        let check = policy_version(&verifiers, &record);
        assert_eq!(
            (check.verdict, check.tokens.len()),
            (CheckResult::Failed, 0)
        );
        assert_eq!(
            policy_version(&episode("slime", &[3, 3]), &record).summary,
            "Version 3."
        );
        assert_eq!(
            policy_version(&episode("slime", &[]), &record).verdict,
            CheckResult::Unknown
        );
    }

    #[test]
    fn a_stream_of_versions_names_the_token() {
        let record = record(&[("policy_version", &[1.0, 1.0, 2.0, 2.0])]);
        let check = policy_version(&Episode::default(), &record);
        assert_eq!((&*check.summary, check.tokens), ("Versions 1, 2.", vec![3]));
    }
}
