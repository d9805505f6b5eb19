//! The text of a claim as pieces: words, and citations of answers.

/// What a claim consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimPiece {
    Words(String),
    /// The number of an answer: `[A17]`.
    Citation(usize),
}

/// Divides a claim at its citations, such as `[A3]` and `[A3, A17]`.
pub fn claim_pieces(text: &str) -> Vec<ClaimPiece> {
    let mut pieces = Vec::new();
    let mut words = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, from) = rest.split_at(start);
        let inside = from.get(1..).and_then(|inside| inside.split_once(']'));
        let cited = inside.and_then(|(inside, after)| Some((numbers(inside)?, after)));
        words.push_str(before);
        match cited {
            Some((numbers, after)) => {
                if !words.is_empty() {
                    pieces.push(ClaimPiece::Words(std::mem::take(&mut words)));
                }
                pieces.extend(numbers.into_iter().map(ClaimPiece::Citation));
                rest = after;
            }
            None => {
                words.push('[');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    words.push_str(rest);
    if !words.is_empty() {
        pieces.push(ClaimPiece::Words(words));
    }
    pieces
}

/// The numbers within the brackets; `None` if there is something else.
fn numbers(inside: &str) -> Option<Vec<usize>> {
    let items = inside
        .split([',', ';', ' '])
        .filter(|item| !item.is_empty());
    let numbers = items.map(|item| item.strip_prefix('A')?.parse().ok());
    let numbers: Vec<usize> = numbers.collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn citations_are_pieces_and_other_brackets_are_words() {
        let words = |text: &str| ClaimPiece::Words(text.to_owned());
        assert_eq!(
            claim_pieces("It loops [in x] [A3, A17] and [A4]."),
            [
                words("It loops [in x] "),
                ClaimPiece::Citation(3),
                ClaimPiece::Citation(17),
                words(" and "),
                ClaimPiece::Citation(4),
                words("."),
            ]
        );
        assert_eq!(claim_pieces("[A]"), [words("[A]")]);
        assert_eq!(claim_pieces(""), []);
    }

    proptest! {
        #[test]
        fn anything_is_divided(text in "\\PC{0,40}") {
            let pieces = claim_pieces(&text);
            prop_assert!(pieces.iter().all(|piece| *piece != ClaimPiece::Words(String::new())));
        }
    }
}
