//! The user's tokenizer as the texts of tokens. The text of each token is made once and shared by all strips.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use volary_core::TokenId;
use volary_trajectory::token_record::Vocabulary;

use crate::projection::token_text::TokenText;
use crate::tokenizer::NamedTokenizer;

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
    /// The address of the tokenizer, which is compared only.
    tokenizer: usize,
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
    let address = tokenizer.map_or(0, |given| Arc::as_ptr(&given.tokenizer).cast::<u8>().addr());
    MADE.with_borrow_mut(|made| {
        if made.tokenizer != address {
            *made = Made {
                tokenizer: address,
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
