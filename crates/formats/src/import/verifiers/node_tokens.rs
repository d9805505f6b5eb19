//! The tokens of a branch: each node has those that its message adds. Streams of a node have a value for each of its
//! trained tokens, those of `loss_weights` one for each token.

use volary_core::json::Json;
use volary_core::{TokenStream, TokenStrip};
use volary_episode::episode::Episode;
use volary_episode::token_record::{
    Alignment, LossMask, TokenPart, TokenRecord, TokenRecordBuilder,
};

use crate::import::reader::Sink;
use crate::import::token_lists::{attach, flags, ids, not_ids, stream};

/// Lists of a node that are no streams over trained tokens.
const OTHERS: [&str; 3] = ["token_ids", "mask", "is_content"];
/// Whether a token is the body of its message, or the scaffold of the template.
const CONTENT: &str = "is_content";

/// The tokens of the nodes so far.
#[derive(Default)]
pub(super) struct NodeTokens {
    strip: TokenStrip,
    parts: Vec<TokenPart>,
    misfits: Vec<volary_episode::token_record::StreamMisfit>,
    /// Whether a node has a mask of another length, so that it is unknown what was trained.
    is_mask_missing: bool,
    /// Whether a message of the model has no tokens.
    has_gap: bool,
    /// Why the tokens of a node cannot be used.
    problem: Option<String>,
}

impl NodeTokens {
    /// Adds a node, whose message is at this step and index.
    pub fn add(&mut self, node: &Json, position: Option<(usize, usize)>) {
        let list = node.get("token_ids").filter(|list| !list.is_null());
        let known = list.and_then(ids);
        if let (Some(list), None) = (list, &known) {
            self.problem = Some(not_ids("token_ids", list, "a node"));
            return;
        }
        let Some(known) = known.filter(|known| !known.is_empty()) else {
            self.has_gap |= node.get("sampled").and_then(Json::as_bool) == Some(true);
            return;
        };
        let mask = node.get("mask").and_then(flags);
        let mask = mask.unwrap_or_else(|| vec![false; known.len()]);
        let (tokens, flags) = (known.len(), mask.len());
        let mask = if flags == tokens {
            mask
        } else {
            // The tokens of the node are those of a message that is not trained, as far as the file says.
            vec![false; tokens]
        };
        let start = self.strip.len();
        let mut builder = match TokenRecordBuilder::new(known, LossMask::Full(mask)) {
            Ok(builder) => builder,
            Err(error) => {
                self.problem = Some(format!("{error}."));
                return;
            }
        };
        // Without the mask, it is unknown to which tokens the values of streams belong.
        let has_mask = flags == tokens;
        if !has_mask {
            builder.misfit("mask", flags, tokens);
            self.is_mask_missing = true;
        }
        let members = node.as_object().into_iter().flat_map(|node| node.iter());
        let is_stream = |key: &str| has_mask && !OTHERS.contains(&key);
        for (key, value) in members.filter(|(key, _)| is_stream(key.as_ref())) {
            if let Some(values) = stream(value).filter(|values| !values.is_empty()) {
                builder.stream(key.to_string(), &values, Alignment::Compact);
            }
        }
        let weights = node.get("loss_weights").and_then(Json::as_object);
        for (key, value) in weights.into_iter().flat_map(|weights| weights.iter()) {
            if let Some(values) = stream(value) {
                builder.stream(format!("loss_weights.{key}"), &values, Alignment::Full);
            }
        }
        let mut record = builder.with_parts(Vec::new());
        let content: Option<TokenStream> = node.get(CONTENT).and_then(stream);
        if let Some(content) = content.filter(|content| !content.is_empty()) {
            // One of another length is left out.
            let _ = record.strip.set_stream(CONTENT, content);
        }
        self.misfits.append(&mut record.misfits);
        self.strip.extend(&record.strip);
        if let Some((step, message)) = position {
            let range = start..self.strip.len();
            self.parts.push(TokenPart {
                step,
                message,
                range,
            });
        }
    }

    /// Stores the tokens in the episode of the branch. `is_trained`: whether the trainer uses those that are in the mask.
    pub fn finish(self, episode: &mut Episode, is_trained: bool, sink: &mut Sink<'_>) {
        if let Some(problem) = self.problem {
            return sink.lost(format!("The tokens of a branch can't be used: {problem}"));
        }
        if self.strip.is_empty() {
            return;
        }
        if self.has_gap {
            sink.lost("A message of the model has no token ids, unlike others of its branch.");
        }
        let prompt = self.strip.mask().iter().position(|is_sampled| *is_sampled);
        let record = TokenRecord {
            prompt: prompt.unwrap_or(self.strip.len()),
            strip: if is_trained {
                self.strip
            } else {
                untrained(&self.strip)
            },
            parts: self.parts,
            is_divided: true,
            is_mask_known: !self.is_mask_missing,
            is_reconstructed: false,
            misfits: self.misfits,
        };
        attach(record, episode, sink);
    }
}

/// The same tokens with the same streams, none of them trained.
fn untrained(strip: &TokenStrip) -> TokenStrip {
    let mut untrained = TokenStrip::uniform(strip.ids().to_vec(), false);
    for (name, values) in strip.streams() {
        // They have the length of the tokens.
        let _ = untrained.set_stream(name.clone(), values.clone());
    }
    untrained
}
