//! The user's tokenizer as the texts of tokens. The text of each token is made once and shared by all strips.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use volary_analysis::tokens::Vocabulary;
use volary_core::TokenId;
use volary_tokens::Tokenizer;
use volary_view::token_text::TokenText;

use volary_connections::tokenizer::NamedTokenizer;

/// A tokenizer as a vocabulary.
pub(super) struct Texts(pub NamedTokenizer);

impl Vocabulary for Texts {
    fn bytes(&self, ids: &[TokenId]) -> Option<Vec<u8>> {
        self.0.tokenizer.decode(ids).ok()
    }

    fn encode(&self, text: &str) -> Option<Vec<TokenId>> {
        self.0.tokenizer.encode(text).ok()
    }
}

/// The texts that were made so far.
#[derive(Default)]
struct Made {
    /// Their tokenizer. It is compared only; while it is referred to, no other one gets its address.
    tokenizer: Option<Weak<dyn Tokenizer + Send + Sync>>,
    shown: HashMap<TokenId, Arc<TokenText>>,
}

thread_local! {
    static MADE: RefCell<Made> = RefCell::default();
}

/// The display forms of tokens; without a tokenizer, their ids.
pub(super) fn all_shown(
    ids: &[TokenId],
    tokenizer: Option<&NamedTokenizer>,
) -> Vec<Arc<TokenText>> {
    let current = tokenizer.map(|given| Arc::downgrade(&given.tokenizer));
    MADE.with_borrow_mut(|made| {
        let is_same = match (&made.tokenizer, &current) {
            (Some(made), Some(current)) => made.ptr_eq(current),
            (made, current) => made.is_none() && current.is_none(),
        };
        if !is_same {
            *made = Made {
                tokenizer: current,
                shown: HashMap::new(),
            };
        }
        let shown = ids.iter().map(|id| {
            let one = made.shown.entry(*id);
            Arc::clone(one.or_insert_with(|| Arc::new(shown(*id, tokenizer))))
        });
        shown.collect()
    })
}

/// The display form of a token; without a tokenizer, its id.
pub(super) fn shown(id: TokenId, tokenizer: Option<&NamedTokenizer>) -> TokenText {
    let Some(NamedTokenizer { tokenizer, .. }) = tokenizer else {
        return TokenText::of_name(id.to_string());
    };
    match tokenizer.decode(&[id]) {
        Ok(bytes) => TokenText::of_bytes(&bytes, tokenizer.is_special(id)),
        // The id belongs to another tokenizer.
        Err(_) => TokenText::of_name(format!("?{id}")),
    }
}

#[cfg(test)]
mod tests {
    use volary_tokens::TokenizerError;

    use super::*;

    /// A tokenizer with one token.
    struct OneToken(&'static str);

    impl Tokenizer for OneToken {
        fn encode(&self, _text: &str) -> Result<Vec<TokenId>, TokenizerError> {
            Ok(vec![7])
        }

        fn decode(&self, ids: &[TokenId]) -> Result<Vec<u8>, TokenizerError> {
            match ids {
                [7] => Ok(self.0.as_bytes().to_vec()),
                _ => Err(TokenizerError::NoToken(ids[0])),
            }
        }

        fn is_special(&self, _id: TokenId) -> bool {
            false
        }
    }

    fn named(text: &'static str) -> NamedTokenizer {
        NamedTokenizer {
            name: "one.json".to_owned(),
            tokenizer: Arc::new(OneToken(text)),
        }
    }

    fn texts(ids: &[TokenId], tokenizer: Option<&NamedTokenizer>) -> Vec<String> {
        let shown = all_shown(ids, tokenizer).into_iter();
        shown.map(|one| one.text.clone()).collect()
    }

    #[test]
    fn another_tokenizer_has_texts_of_its_own() {
        // A tokenizer that is dropped may leave its address to the next one.
        for text in ["one", "two", "three"] {
            assert_eq!(texts(&[7], Some(&named(text))), [text]);
        }
    }

    #[test]
    fn a_token_without_a_text_is_its_id() {
        assert_eq!(texts(&[7, 8], Some(&named("one"))), ["one", "?8"]);
        assert_eq!(
            texts(&[7, 8], None),
            ["7", "8"],
            "the texts made before are gone"
        );
    }
}
