//! What was trained on, as text: the trained tokens only, with the gaps between them.

use std::ops::Range;

use volary_episode::token_record::TokenRecord;

use super::vocabulary::Vocabulary;

/// A run of tokens that are all trained, or all untrained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrainedPiece {
    /// Trained tokens and their text.
    Text {
        /// The indices of the tokens.
        range: Range<usize>,
        /// Their decoded text; invalid UTF-8 becomes replacement characters.
        text: String,
    },
    /// Tokens that are not trained.
    Gap(Range<usize>),
}

/// The pieces of all tokens in order; `None` if the mask is unknown or the vocabulary lacks a trained token.
pub fn trained_text(
    record: &TokenRecord,
    vocabulary: &dyn Vocabulary,
) -> Option<Vec<TrainedPiece>> {
    if !record.is_mask_known {
        return None;
    }
    let mask = record.strip.mask();
    let mut pieces = Vec::new();
    let mut start = 0;
    for run in mask.chunk_by(|one, other| one == other) {
        let range = start..start + run.len();
        start = range.end;
        pieces.push(match run.first() {
            Some(true) => {
                let bytes = vocabulary.bytes(record.strip.ids().get(range.clone())?)?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                TrainedPiece::Text { range, text }
            }
            _ => TrainedPiece::Gap(range),
        });
    }
    Some(pieces)
}

/// The pieces as one text, in which a line stands for each gap.
pub fn joined(pieces: &[TrainedPiece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            TrainedPiece::Text { text: trained, .. } => text.push_str(trained),
            TrainedPiece::Gap(range) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&gap_text(range.len()));
                text.push('\n');
            }
        }
    }
    text
}

/// The text for a gap of tokens.
pub fn gap_text(tokens: usize) -> String {
    match tokens {
        1 => "[1 token is not trained]".to_owned(),
        count => format!("[{count} tokens are not trained]"),
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::token_record::{LossMask, TokenRecordBuilder};

    use super::super::vocabulary::ByteVocabulary;
    use super::*;

    #[test]
    fn gaps_are_marked_between_trained_texts() {
        let ids = ByteVocabulary::ids("Hi<|im_end|>ok");
        let mask = vec![false, false, true, false, true];
        let builder = TokenRecordBuilder::new(ids, LossMask::Full(mask)).unwrap();
        let mut record = builder.with_parts(Vec::new());
        let pieces = trained_text(&record, &ByteVocabulary).unwrap();
        assert_eq!(pieces.len(), 4);
        assert_eq!(
            joined(&pieces),
            "[2 tokens are not trained]\n<|im_end|>\n[1 token is not trained]\nk"
        );
        record.is_mask_known = false;
        assert_eq!(trained_text(&record, &ByteVocabulary), None);
    }
}
