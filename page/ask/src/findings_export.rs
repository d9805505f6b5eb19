//! Findings as a page of HTML: the claims, the answers that they cite as notes on the quoted passages, and these passages.

use std::sync::Arc;

use leptos::prelude::*;
use volary_analysis::annotations::{Annotation, Annotations, Target, sidecar};
use volary_analysis::sensitive::check_document;
use volary_app::ask::asked::AskedQuestion;
use volary_app::ask::findings::AskFindings;
use volary_app::ask::history::AskHistory;
use volary_ask::answer::Evidence;
use volary_ask::cache::AnswerRecord;
use volary_core::json::Text;
use volary_library_client::requests;
use volary_protocol::library::{FoundClaim, FoundPiece, Request, TaggedEpisode};
use volary_ui::sharing_check::CheckedExport;
use volary_view::ask::claims::{ClaimPiece, claim_pieces};
use volary_view::ask::quote::{state_text, target};
use volary_view::sharing_texts::OwnedFinding;

use super::state::AskState;

/// Looks for what should perhaps not be shared, and saves the page after the user's decision.
pub(super) fn export(
    state: AskState,
    checked: CheckedExport,
    question: &AskedQuestion,
    findings: &AskFindings,
) {
    let client = state.host.client;
    let (claims, cited) = claims(findings);
    let notes = state
        .history
        .with_untracked(|history| notes(history, &question.id, findings, &cited));
    let mut texts: Vec<String> = notes.iter().map(|note| note.text.to_string()).collect();
    texts.push(findings.text.to_string());
    let found = OwnedFinding::all(check_document(&texts.join("\n")));
    let notes = Text::from(sidecar::to_text(&notes));
    let title = Text::from(format!("Findings: {}", question.name));
    let episodes: Vec<TaggedEpisode> = cited
        .iter()
        .filter_map(|number| {
            let id = findings.episodes.get(number.checked_sub(1)?)?;
            let tags = state.host.rows.with_untracked(|rows| {
                let mut rows = rows.iter();
                let row = rows.find(|row| row.id == *id);
                row.map(|row| row.tags.clone())
            });
            Some(TaggedEpisode {
                id: id.clone(),
                tags: tags?,
            })
        })
        .collect();
    requests::find_sensitive(client, episodes.clone(), move |sensitive| {
        let sensitive = sensitive.into_iter().map(|one| OwnedFinding {
            owner: Some(one.name),
            finding: one.finding,
        });
        let found = sensitive.chain(found).collect();
        checked.save("The page", found, move |is_masked| {
            client.follow(&Request::ExportFindings {
                title: title.clone(),
                episodes: episodes.clone(),
                runs: Vec::new(),
                claims: claims.clone(),
                notes: notes.clone(),
                is_masked,
            });
        });
    });
}

/// The claims as pieces, and the numbers of the answers that they cite, in order and without repetitions.
fn claims(findings: &AskFindings) -> (Vec<FoundClaim>, Vec<usize>) {
    let mut cited = Vec::new();
    let claims = findings.claims().into_iter().map(|claim| {
        for number in &claim.answers {
            if !cited.contains(number) {
                cited.push(*number);
            }
        }
        let pieces = claim_pieces(&claim.text).into_iter();
        FoundClaim {
            pieces: pieces.map(|piece| found_piece(findings, piece)).collect(),
        }
    });
    (claims.collect(), cited)
}

fn found_piece(findings: &AskFindings, piece: ClaimPiece) -> FoundPiece {
    match piece {
        ClaimPiece::Words(words) => FoundPiece {
            text: words.into(),
            episode: None,
        },
        ClaimPiece::Citation(number) => {
            let episode = number.checked_sub(1);
            FoundPiece {
                text: format!("[A{number}]").into(),
                episode: episode.and_then(|index| findings.episodes.get(index).cloned()),
            }
        }
    }
}

/// A note for each quote of a cited answer, and one for an answer without quotes.
fn notes(history: &AskHistory, id: &str, findings: &AskFindings, cited: &[usize]) -> Annotations {
    let mut notes = Vec::new();
    for number in cited {
        let episode = number
            .checked_sub(1)
            .and_then(|index| findings.episodes.get(index));
        let record = episode.and_then(|episode| history.answer(id, episode));
        let Some(record) = record else {
            continue;
        };
        let evidence = &record.answer.evidence;
        if evidence.is_empty() {
            notes.push(note(*number, 0, record, None));
        }
        let quotes = evidence.iter().enumerate();
        notes.extend(quotes.map(|(index, one)| note(*number, index, record, Some(one))));
    }
    notes.into_iter().collect()
}

fn note(
    number: usize,
    index: usize,
    record: &Arc<AnswerRecord>,
    evidence: Option<&Evidence>,
) -> Annotation {
    let answer = &record.answer;
    let value = match (&answer.label, answer.score) {
        (None, None) => String::new(),
        _ => format!("{}: ", answer.value_text()),
    };
    let mut text = format!("[A{number}] {value}{}", answer.explanation);
    let target = evidence.and_then(|evidence| {
        text.push_str(&format!(
            "\nQuote ({}): {}",
            state_text(evidence),
            evidence.quote
        ));
        target(evidence)
    });
    Annotation {
        id: format!("answer-{number}-{index}").into(),
        episode: record.episode.clone(),
        target: target.unwrap_or(Target::Episode),
        text: text.into(),
        label: Some(answer.support.as_str().into()),
        author: record.model.clone(),
        changed: record.time,
        ..Annotation::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_name_the_episodes_of_their_answers() {
        let findings = AskFindings {
            text: "- It loops. [A2] [A1]\n- Again [A2] and [A9].".into(),
            model: "m".into(),
            time: 0.0,
            episodes: vec!["a".into(), "b".into()],
            left_out: 0,
            cost: None,
        };
        let (claims, cited) = claims(&findings);
        assert_eq!(cited, [2, 1]);
        let episodes = claims[0].pieces.iter();
        let episodes: Vec<Option<&str>> = episodes.map(|piece| piece.episode.as_deref()).collect();
        assert_eq!(episodes, [None, Some("b"), None, Some("a")]);
        let last = claims[1].pieces.iter();
        let missing = last.filter(|piece| &*piece.text == "[A9]");
        assert!(missing.into_iter().all(|piece| piece.episode.is_none()));
    }
}
