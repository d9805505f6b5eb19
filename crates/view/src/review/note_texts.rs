//! What is said about notes: their targets, the agreement of annotators, and what became of an imported file. Pure.

use crate::state_path;
use volary_analysis::annotations::agreement::{Agreement, Judgement, agreement};
use volary_analysis::annotations::{Annotations, Target, sidecar};
use volary_app::notice::Notice;
use volary_core::quantity::plural;

/// The maximum number of lines about pairs of annotators.
const MOST_AGREEMENTS: usize = 12;
/// The maximum number of quoted characters.
const MOST_QUOTED: usize = 60;

/// Describes the target of a note.
pub fn target_text(target: &Target) -> String {
    match target {
        Target::Episode => "Whole episode".to_owned(),
        Target::Step { step: 0 } => "Start".to_owned(),
        Target::Step { step } => format!("Step {step}"),
        Target::Passage {
            position, quote, ..
        } => {
            let short: String = quote.chars().take(MOST_QUOTED).collect();
            let more = if short.len() < quote.len() { "…" } else { "" };
            format!("Step {}: \u{201c}{short}{more}\u{201d}", position.step)
        }
        Target::State { frame, part } => {
            format!("State after step {frame}: {}", state_path::words(part))
        }
    }
}

/// Says that a label was put on a target, or taken away.
pub fn label_text(target: &Target, label: &str, is_on: bool) -> String {
    let done = if is_on { "on" } else { "off" };
    format!("{}: label {label} {done}", target_text(target))
}

/// Inter-annotator agreement: one line per pair of annotators, by verdict and by label.
pub fn agreement_texts(all: &Annotations) -> Vec<String> {
    let authors = all.authors();
    let mut texts = Vec::new();
    for (place, one) in authors.iter().enumerate() {
        for other in authors.iter().skip(place + 1) {
            let judged = [
                (Judgement::Verdict, "judged"),
                (Judgement::Label, "labelled"),
            ];
            texts.extend(judged.into_iter().filter_map(|(by, did)| {
                agreement_text(one, other, did, &agreement(all, one, other, by))
            }));
            if texts.len() >= MOST_AGREEMENTS {
                texts.truncate(MOST_AGREEMENTS);
                return texts;
            }
        }
    }
    texts
}

fn agreement_text(one: &str, other: &str, did: &str, found: &Agreement) -> Option<String> {
    let observed = found.observed?;
    let kappa = match found.kappa {
        Some(kappa) => format!("Cohen's kappa {kappa:.2}"),
        None => "Cohen's kappa is not defined".to_owned(),
    };
    Some(format!(
        "{} and {} {did} {}, agreeing on {:.0}% ({kappa}).",
        author_name(one),
        author_name(other),
        plural(found.items, "item"),
        observed * 100.0
    ))
}

fn author_name(author: &str) -> &str {
    match author.trim() {
        "" => "(no name)",
        name => name,
    }
}

/// Reads an imported file of notes: the notes, and a notice if some could not be read. `Err` if there are none.
pub fn imported(
    name: &str,
    content: Result<Vec<u8>, String>,
) -> Result<(Annotations, Option<Notice>), Notice> {
    let read = content.and_then(|bytes| {
        let text = String::from_utf8(bytes).map_err(|_| "This is not a text file.".to_owned())?;
        sidecar::read(&text).map_err(|error| error.to_string())
    });
    let reading = read.map_err(|reason| {
        Notice::new(
            format!("{name} could not be imported."),
            reason,
            "Choose an annotation file saved by Volary. Your notes are unchanged.",
        )
    })?;
    let notice = reading.faults.first().map(|first| {
        let faults = plural(reading.faults.len(), "note");
        Notice::new(
            format!("{faults} of {name} could not be read; the others were imported."),
            first.to_string(),
            "Ask the author for a new file.",
        )
    });
    Ok((reading.annotations, notice))
}

#[cfg(test)]
mod tests {
    use volary_analysis::annotations::{Annotation, Verdict};
    use volary_episode::diff::Segment;
    use volary_episode::history::{Root, StatePath};
    use volary_episode::passages::TextPosition;

    use super::*;

    #[test]
    fn targets_are_described() {
        let passage = |quote: &str| Target::Passage {
            position: TextPosition {
                step: 3,
                ..TextPosition::default()
            },
            start: 0,
            end: 1,
            quote: quote.into(),
        };
        let state = Target::State {
            frame: 2,
            part: StatePath {
                root: Root::State,
                path: vec![Segment::Key("cart".into()), Segment::Index(0)],
            },
        };
        for (target, expected) in [
            (Target::Episode, "Whole episode"),
            (Target::Step { step: 0 }, "Start"),
            (Target::Step { step: 12 }, "Step 12"),
            (passage("the fee"), "Step 3: “the fee”"),
            (state, "State after step 2: state.cart[0]"),
        ] {
            assert_eq!(target_text(&target), expected);
        }
        // Cut between characters.
        let whole = "é".repeat(MOST_QUOTED);
        assert_eq!(target_text(&passage(&whole)), format!("Step 3: “{whole}”"));
        let cut = target_text(&passage(&format!("{whole}é")));
        assert_eq!(cut, format!("Step 3: “{whole}…”"));
        let target = Target::Step { step: 3 };
        assert_eq!(label_text(&target, "loop", true), "Step 3: label loop on");
        assert_eq!(label_text(&target, "loop", false), "Step 3: label loop off");
    }

    /// A verdict of an annotator on a step.
    fn verdict(author: &str, step: usize, verdict: Verdict) -> Annotation {
        Annotation {
            id: format!("{author} {step}").into(),
            episode: "e".into(),
            target: Target::Step { step },
            verdict: Some(verdict),
            author: author.into(),
            ..Annotation::default()
        }
    }

    #[test]
    fn the_agreement_of_each_pair_is_said() {
        use Verdict::{Bad, Good};
        let mut notes = vec![
            verdict("Ada", 1, Good),
            verdict("Ada", 2, Bad),
            verdict("Bob", 1, Good),
            verdict("Bob", 2, Good),
            // Nobody else judged this.
            verdict("Cy", 9, Good),
        ];
        let all = |notes: &[Annotation]| notes.iter().cloned().collect::<Annotations>();
        assert_eq!(
            agreement_texts(&all(&notes)),
            ["Ada and Bob judged 2 items, agreeing on 50% (Cohen's kappa 0.00)."]
        );
        notes.retain(|note| note.target == Target::Step { step: 1 });
        assert_eq!(
            agreement_texts(&all(&notes)),
            ["Ada and Bob judged 1 item, agreeing on 100% (Cohen's kappa is not defined)."]
        );
        notes.push(verdict("", 1, Good));
        let texts = agreement_texts(&all(&notes));
        assert_eq!(texts.len(), 3);
        assert!(
            texts[0].starts_with("(no name) and Ada judged 1 item"),
            "{}",
            texts[0]
        );
        assert_eq!(agreement_texts(&Annotations::default()), [] as [&str; 0]);
    }

    #[test]
    fn many_annotators_do_not_fill_the_panel() {
        let notes = (0..9).map(|author| Annotation {
            label: Some("loop".into()),
            ..verdict(&format!("author {author}"), 1, Verdict::Good)
        });
        let texts = agreement_texts(&notes.collect());
        assert_eq!(texts.len(), MOST_AGREEMENTS);
        assert!(texts[1].contains(" labelled 1 item"), "{}", texts[1]);
    }

    #[test]
    fn an_exported_file_is_imported() {
        let notes: Annotations = [verdict("Ada", 1, Verdict::Good)].into_iter().collect();
        let bytes = sidecar::to_text(&notes).into_bytes();
        assert_eq!(imported("a.json", Ok(bytes)), Ok((notes, None)));
    }

    #[test]
    fn notes_that_cannot_be_read_are_counted() {
        let notes: Annotations = [verdict("Ada", 1, Verdict::Good)].into_iter().collect();
        let text =
            sidecar::to_text(&notes).replacen("\"annotations\": [", "\"annotations\": [7,", 1);
        let text = if text.contains("[7,") {
            text
        } else {
            text.replacen("\"annotations\":[", "\"annotations\":[7,", 1)
        };
        let (read, notice) = imported("a.json", Ok(text.into_bytes())).expect("one note");
        assert_eq!(read, notes);
        let notice = notice.expect("a fault");
        assert_eq!(
            notice.what,
            "1 note of a.json could not be read; the others were imported."
        );
        assert!(notice.why.contains("annotations[0]"), "{}", notice.why);
    }

    #[test]
    fn a_file_of_another_kind_is_rejected_with_its_reason() {
        for (content, why) in [
            (Ok(vec![0xff, 0xfe]), "This is not a text file."),
            (Err("It was moved.".to_owned()), "It was moved."),
        ] {
            let notice = imported("a.bin", content).expect_err("no notes");
            assert_eq!(notice.what, "a.bin could not be imported.");
            assert_eq!(notice.why, why);
            assert!(notice.advice.contains("Your notes are unchanged."));
        }
        for text in ["", "{}", "[]", "{\"format\": \"volary-episode\"}"] {
            let notice = imported("a.json", Ok(text.into())).expect_err("no notes");
            assert!(!notice.why.is_empty(), "{text}");
        }
    }
}
