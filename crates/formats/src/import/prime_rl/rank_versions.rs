//! Which field of a batch is at which position. prime-rl's `MicroBatch` is written as a list without names, and the positions
//! have changed often; nothing in a file says its version. It is recognised by the types of its fields.
//!
//! The positions are those of `MicroBatch` in `src/prime_rl/transport/types.py` (since 19 August 2026:
//! `src/prime_rl/transports/rollouts/types.py`) after each commit that changed it. Trailing fields that have their default
//! are not written.

use super::message_pack::{Kind, Value};

/// What a field contains. Except for [`Field::Lengths`], [`Field::Temperatures`], [`Field::Temperature`],
/// [`Field::Environments`] and [`Field::Counts`], fields may be nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// The lengths of the packed sequences.
    Lengths,
    /// The temperature of each token.
    Temperatures,
    /// The temperature of all tokens.
    Temperature,
    /// The environment of each token.
    Environments,
    /// A number for each token.
    Stream(&'static str),
    /// A whole number for each token.
    WholeStream(&'static str),
    /// Whole numbers that are not for each token, always written.
    Counts,
    /// The number of tokens of each adapter (`lora_num_tokens`).
    Adapters,
    /// Routed experts: `[bytes, shape, type]`, or nested lists.
    Experts,
    /// Inputs of images by name.
    Images,
    /// The bytes of pixels.
    Pixels,
    /// The shape of pixels, or the grid of images.
    Shape,
    Text,
    /// The run of the batch, if a trainer has several, and its step there.
    RunId,
    RunStep,
    Flag,
    /// A field that was added later and is not used: texts, or whole numbers.
    Later,
}

use Field::{
    Adapters, Counts, Environments, Experts, Flag, Images, Later, Lengths, Pixels, RunId, RunStep,
    Shape, Stream, Temperature, Temperatures, Text, WholeStream,
};

/// The fields of all versions, before those of [`VERSIONS`].
const FIRST: usize = 5;

const TYPES: Field = WholeStream("mm_token_types");
const TEACHER: Field = Stream("teacher_logprobs");
const REFERENCE: Field = Stream("ref_logprobs");
const RL: Field = Stream("rl_weights");
const CE: Field = Stream("ce_weights");
const REF_KL: Field = Stream("ref_kl_weights");
const REWARDS: Field = Stream("rewards");

/// The fields from [`FIRST`] on, newest version first.
#[rustfmt::skip]
const VERSIONS: [&[Field]; 14] = [
    // 289562d2e, 8 August 2026: without adapters and runs. Ids of traces and indexes of branches were added in autumn.
    &[Lengths, Temperatures, Environments, Counts, REFERENCE, Experts, Images, TYPES, RL, CE, REF_KL, Later, Later],
    // 8dcf55acb, 17 July 2026: `seq_lens` at 8. The packer always writes `lora_num_tokens`.
    &[Lengths, Temperatures, Environments, Counts, REFERENCE, Counts, Experts, Images, TYPES, RL, CE, REF_KL, RunId, RunStep],
    // 0be5ac452, 27 June 2026: weights of the losses in place of mode and rewards.
    &[Lengths, Temperatures, Environments, REFERENCE, Adapters, Experts, Images, TYPES, RL, CE, REF_KL, RunId, RunStep],
    // 7089ba1e4, 23 June 2026: the lengths at 5.
    &[Lengths, Temperatures, Environments, TEACHER, Adapters, Experts, Images, TYPES, Text, REWARDS, RunId, RunStep],
    // fa21395a6, 15 June 2026: the lengths at 7.
    &[Temperatures, Environments, Lengths, TEACHER, Adapters, Experts, Images, TYPES, Text, REWARDS, RunId, RunStep],
    // ea2f39004 and e971d905a, 21 May 2026: inputs of images by name, rewards; 941019f2e, 11 June: the run.
    &[Temperatures, Environments, TEACHER, Adapters, Experts, Images, TYPES, Text, REWARDS, RunId, RunStep],
    // eaf95997f, 19 May 2026: the mode of training.
    &[Temperatures, Environments, TEACHER, Adapters, Experts, Pixels, Shape, Shape, TYPES, Text],
    // 46653c1d7, 18 May 2026: environments.
    &[Temperatures, Environments, TEACHER, Adapters, Experts, Pixels, Shape, Shape, TYPES, Flag],
    // 9104df43c, 3 March 2026: pixels as bytes; 2d577a42e, 10 April: types of tokens; d2f36c9f6, 27 April: the flag.
    &[Temperatures, TEACHER, Adapters, Experts, Pixels, Shape, Shape, TYPES, Flag],
    // bc77fa069, 26 February 2026: routed experts.
    &[Temperatures, TEACHER, Adapters, Experts, Shape, Shape],
    // 4fc312b0b, 28 January 2026: temperatures; 36959cbba, 30 January: pixels.
    &[Temperatures, TEACHER, Adapters, Shape, Shape],
    // 1a5841b06, 31 December 2025: a teacher.
    &[Temperature, TEACHER, Adapters],
    // 2e5f3e88e, 29 December 2025: adapters.
    &[Adapters, Temperature],
    // b8697b0f0, 15 December 2025.
    &[Temperature],
];

/// The versions whose fields have the types of those of some batches.
#[derive(Clone, Debug)]
pub(super) struct Versions(Vec<&'static [Field]>);

impl Versions {
    pub fn all() -> Versions {
        Versions(VERSIONS.to_vec())
    }

    /// Returns those of these versions that also fit a batch, whose row has this number of tokens.
    pub fn of(&self, batch: &[Value], tokens: usize) -> Versions {
        let rest = batch.get(FIRST..).unwrap_or_default();
        let fitting = self.0.iter().copied();
        Versions(
            fitting
                .filter(|fields| fits(fields, rest, tokens))
                .collect(),
        )
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The field at a position, if all of these versions agree on it.
    pub fn field(&self, index: usize) -> Option<Field> {
        match index {
            2 => return Some(Stream("advantages")),
            3 => return Some(Stream("inference_logprobs")),
            _ => {}
        }
        let index = index.checked_sub(FIRST)?;
        let mut fields = self.0.iter().map(|fields| fields.get(index).copied());
        let first = fields.next()??;
        fields.all(|field| field == Some(first)).then_some(first)
    }
}

/// Whether values have the types of a version's fields.
fn fits(fields: &[Field], values: &[Value], tokens: usize) -> bool {
    let nil = Value::Scalar(None, Kind::Nil);
    values.len() <= fields.len()
        && fields
            .iter()
            .enumerate()
            .all(|(index, field)| field.fits(values.get(index).unwrap_or(&nil), tokens))
}

impl Field {
    fn fits(self, value: &Value, tokens: usize) -> bool {
        let is_required = matches!(
            self,
            Lengths | Temperatures | Temperature | Environments | Counts
        );
        match (self, value) {
            (_, Value::Scalar(_, Kind::Nil)) => !is_required,
            // An empty list has no type.
            (_, Value::List(values)) if values.is_empty() => {
                !is_required || matches!(self, Counts | Lengths)
            }
            (Lengths | Counts | Adapters | WholeStream(_), Value::Numbers(_, Kind::Int))
            | (Temperatures | Stream(_), Value::Numbers(_, Kind::Float)) => true,
            // Other writers may write 1.0 as 1.
            (Temperatures | Stream(_), Value::Numbers(numbers, Kind::Int)) => {
                numbers.len() == tokens
            }
            // A value that is not a number is reported under the name.
            (Stream(_), Value::List(values)) => values.len() == tokens,
            (Environments, Value::Texts(texts)) => texts.len() == tokens,
            (Temperature, Value::Scalar(_, Kind::Int | Kind::Float))
            | (Experts, Value::List(_))
            | (Images, Value::Map(_))
            | (Pixels, Value::Bytes(_))
            | (Shape, Value::List(_) | Value::Numbers(..))
            | (Text | RunId, Value::Text(_))
            | (RunStep, Value::Scalar(_, Kind::Int))
            | (Flag, Value::Scalar(_, Kind::Bool))
            | (Later, Value::Texts(_) | Value::Numbers(_, Kind::Int)) => true,
            _ => false,
        }
    }
}
