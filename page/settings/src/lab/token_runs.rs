//! The tokens of a part as runs of trained and untrained ones, with the mark of the first difference.

use volary_tokens::{TokenStrip, Tokenizer};

use super::checks::shown;

/// Consecutive tokens that are all trained, or all not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenRun {
    pub is_trained: bool,
    pub tokens: Vec<DrawnToken>,
}

/// A token as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrawnToken {
    pub text: String,
    pub is_special: bool,
    /// Whether the first difference is in it.
    pub differs: bool,
}

/// The runs of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenRuns {
    pub runs: Vec<TokenRun>,
    /// Whether the first difference is after the last token: the other text has more.
    pub differs_at_end: bool,
}

impl TokenRuns {
    /// The runs of up to `most` tokens. `difference` is the place of the first difference, in bytes of their text.
    pub(super) fn of(
        strip: &TokenStrip,
        difference: Option<usize>,
        most: usize,
        tokenizer: &dyn Tokenizer,
    ) -> TokenRuns {
        let mut runs: Vec<TokenRun> = Vec::new();
        let (mut end, mut mark) = (0, difference);
        for (id, is_trained) in strip.ids().iter().zip(strip.mask()).take(most) {
            end += tokenizer.decode(&[*id]).map_or(0, |bytes| bytes.len());
            let token = DrawnToken {
                text: visible(&shown(*id, tokenizer)),
                is_special: tokenizer.is_special(*id),
                differs: mark.take_if(|place| *place < end).is_some(),
            };
            match runs.last_mut() {
                Some(run) if run.is_trained == *is_trained => run.tokens.push(token),
                _ => runs.push(TokenRun {
                    is_trained: *is_trained,
                    tokens: vec![token],
                }),
            }
        }
        TokenRuns {
            runs,
            // In a part that is cut, the mark may be at a token that is not drawn.
            differs_at_end: mark.is_some() && strip.len() <= most,
        }
    }
}

/// Makes line breaks visible.
fn visible(text: &str) -> String {
    text.replace('\n', "↵\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_tokens::ToyTokenizer;

    use super::*;

    /// The strip of a text whose bytes are the tokens of the toy, trained from a place on.
    fn strip(text: &str, trained_from: usize) -> TokenStrip {
        let ids = ToyTokenizer.encode(text).expect("the toy encodes all");
        let mask = (0..ids.len()).map(|place| place >= trained_from).collect();
        TokenStrip::new(ids, mask).expect("one flag per token")
    }

    fn of(text: &str, trained_from: usize, difference: Option<usize>, most: usize) -> TokenRuns {
        TokenRuns::of(&strip(text, trained_from), difference, most, &ToyTokenizer)
    }

    fn marked(runs: &TokenRuns) -> Vec<&str> {
        let tokens = runs.runs.iter().flat_map(|run| &run.tokens);
        tokens
            .filter(|token| token.differs)
            .map(|token| &*token.text)
            .collect()
    }

    #[test]
    fn tokens_are_grouped_by_what_is_trained() {
        let found = of("abcd", 3, None, 100);
        let runs: Vec<_> = found
            .runs
            .iter()
            .map(|run| (run.is_trained, run.tokens.len()))
            .collect();
        assert_eq!(runs, [(false, 3), (true, 1)]);
        assert_eq!(of("", 0, None, 100), TokenRuns::default());
    }

    #[test]
    fn special_tokens_and_line_breaks_are_visible() {
        let found = of("<|im_start|>\n", 0, None, 100);
        let tokens = &found.runs[0].tokens;
        assert_eq!(
            (&*tokens[0].text, tokens[0].is_special),
            ("<|im_start|>", true)
        );
        assert_eq!((&*tokens[1].text, tokens[1].is_special), ("↵\n", false));
    }

    #[test]
    fn the_mark_is_at_the_token_with_the_difference() {
        // The special token has 12 bytes.
        let text = "<|im_start|>ab";
        assert_eq!(marked(&of(text, 0, Some(0), 100)), ["<|im_start|>"]);
        assert_eq!(marked(&of(text, 0, Some(11), 100)), ["<|im_start|>"]);
        assert_eq!(marked(&of(text, 0, Some(12), 100)), ["a"]);
        let same = of(text, 0, None, 100);
        assert!(marked(&same).is_empty() && !same.differs_at_end);
    }

    #[test]
    fn a_difference_after_the_end_is_marked_there_unless_the_end_is_not_drawn() {
        let after = of("ab", 0, Some(2), 100);
        assert!(marked(&after).is_empty() && after.differs_at_end);
        let cut = of("abcd", 0, Some(3), 2);
        assert!(marked(&cut).is_empty() && !cut.differs_at_end);
    }

    proptest! {
        #[test]
        fn each_token_is_drawn_once_and_at_most_one_is_marked(
            text in "[ab\n]{0,12}", trained in 0_usize..13, at in prop::option::of(0_usize..14), most in 0_usize..14,
        ) {
            let strip = strip(&text, trained);
            let found = TokenRuns::of(&strip, at, most, &ToyTokenizer);
            let drawn: usize = found.runs.iter().map(|run| run.tokens.len()).sum();
            prop_assert_eq!(drawn, strip.len().min(most));
            prop_assert!(found.runs.windows(2).all(|two| two[0].is_trained != two[1].is_trained));
            prop_assert!(marked(&found).len() + usize::from(found.differs_at_end) <= 1);
        }
    }
}
