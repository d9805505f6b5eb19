//! The batches of a trainer's rank (`rollouts/step_N/rank_k.bin`): a MessagePack list of micro batches, each a list of
//! fields by position, over a row into which several sequences are packed. There are no texts.
//! Some versions have the reward of a sequence at each of its tokens.
//!
//! The positions of later fields differ among versions (`rank_versions`). A batch that has the types of no version keeps
//! its numbers under neutral names, and texts for each token are its environments, wherever they are. Before 15 June 2026
//! there were no lengths of the sequences: they begin where the position of a token is 0.

use std::ops::Range;

use volary_core::json::{Json, Object, Text};
use volary_core::{TokenId, TokenStream};
use volary_episode::episode::{Ending, Episode, Rewards};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

use super::message_pack::{Kind, Problem, Value, elements, starts_with_lists};
use super::path;
use super::rank_versions::{Field, Versions};
use crate::import::describe::counted;
use crate::import::files::Files;
use crate::import::reader::{Reader, Sink};
use crate::import::token_lists::{REWARDS, attach, reward_of_tokens};
use crate::import::{ImportOutcome, NoteLevel};

const POSITIONS: usize = 4;
/// Where the lengths of sequences are looked for in batches of no known version.
const LENGTHS: usize = 5;

pub(in crate::import) struct RankFiles;

impl Reader for RankFiles {
    fn id(&self) -> &'static str {
        "prime-rl-rank"
    }

    fn name(&self) -> &'static str {
        "prime-rl batches (rank_k.bin)"
    }

    fn gather(&self, files: &mut Files<'_>, outcome: &mut ImportOutcome) {
        for index in files.open() {
            let name = files.name(index).to_owned();
            if !starts_with_lists(&files.start(index)) && !is_rank_name(&name) {
                continue;
            }
            let Ok(bytes) = files.bytes(index) else {
                continue;
            };
            let (batches, problem) = elements(&bytes);
            let rows = PackedRow::all(batches);
            let size = bytes.len();
            if rows.iter().all(Result::is_err) {
                // Lists of lists may be the beginning of anything.
                if is_rank_name(&name) {
                    drop(bytes);
                    files.take(index);
                    outcome.note(NoteLevel::Unreadable, &name, unusable(&rows, problem));
                }
                continue;
            }
            drop(bytes);
            files.take(index);
            let mut sink = Sink::new(outcome, self.id(), &name).within(size);
            read(&name, rows, &mut sink);
            if let Some(problem) = problem {
                sink.lost(format!(
                    "The file is damaged: {problem}. The batches before it are read."
                ));
            }
        }
    }
}

/// Why none of the batches of a file can be used, and what to do.
fn unusable(rows: &[Result<PackedRow, BatchError>], problem: Option<Problem>) -> String {
    let error = rows.iter().find_map(|row| row.as_ref().err());
    let reason = match (error, problem) {
        (Some(error), _) => format!("batch 0 cannot be used: {error}"),
        (None, Some(problem)) => format!("it is no MessagePack list of batches: {problem}"),
        (None, None) => "it contains no batch".to_owned(),
    };
    format!(
        "This is a file of prime-rl's batches for a rank of the trainer, but {reason}. Batches are read as \
         MessagePack lists that begin with token ids and loss mask. For other versions, import the traces of the rollouts (`traces.jsonl`), or set `trainer.enable_token_export` and import \
         `token_exports/step_N/rank_k.jsonl`."
    )
}

/// Whether a file is named as the batches of a rank: `rank_0.bin`.
fn is_rank_name(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or_default();
    let number = name
        .strip_prefix("rank_")
        .and_then(|rest| rest.strip_suffix(".bin"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Why a batch cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum BatchError {
    #[error("it is {found}, not a list of fields")]
    NoList { found: String },
    #[error("field {index} is {found}, where {expected} are expected")]
    Field {
        index: usize,
        found: String,
        expected: &'static str,
    },
    #[error("a token id is negative or too large")]
    Id,
    #[error("the loss mask has {mask} values for {tokens} tokens")]
    Length { mask: usize, tokens: usize },
}

/// What a value is, for messages.
fn described(value: Option<&Value>) -> String {
    match value {
        None => "missing".to_owned(),
        Some(Value::Scalar(_, Kind::Nil)) => "nil".to_owned(),
        Some(Value::Scalar(..)) => "a number".to_owned(),
        Some(Value::Text(_)) => "a text".to_owned(),
        Some(Value::Bytes(length)) => format!("{length} bytes"),
        Some(Value::Numbers(numbers, Kind::Int)) => counted(numbers.len(), "whole number"),
        Some(Value::Numbers(flags, Kind::Bool)) => counted(flags.len(), "flag"),
        Some(Value::Numbers(numbers, _)) => counted(numbers.len(), "number"),
        Some(Value::Texts(texts)) => counted(texts.len(), "text"),
        Some(Value::List(values)) => format!("a list of {}", counted(values.len(), "value")),
        Some(Value::Map(count)) => format!("a map of {}", counted(*count, "member")),
    }
}

fn read(name: &str, rows: Vec<Result<PackedRow, BatchError>>, sink: &mut Sink<'_>) {
    let step = path::step(name);
    let (before, mut fillers) = (sink.episodes(), 0);
    for (batch, row) in rows.into_iter().enumerate() {
        match row {
            Err(error) => sink.lost(format!("Batch {batch} cannot be used: {error}.")),
            Ok(row) => {
                fillers += usize::from(row.is_filler());
                for problem in &row.problems {
                    sink.lost(format!("A stream of batch {batch} is left out: {problem}."));
                }
                row.sequences(batch, step, sink);
            }
        }
    }
    let sequences = counted(sink.episodes() - before, "sequence");
    let fillers = match fillers {
        0 => String::new(),
        count => format!(
            " {} that repeats another batch and trains nothing.",
            counted(count, "filler")
        ),
    };
    sink.understood(format!("prime-rl batches: {sequences}.{fillers}"));
}

/// The fields of a micro batch: a row into which sequences are packed.
struct PackedRow {
    ids: Vec<TokenId>,
    mask: Vec<bool>,
    streams: Vec<(Text, Vec<f64>)>,
    lengths: Vec<usize>,
    environments: Option<Vec<Text>>,
    /// The run of the batch and its step there, of a trainer with several runs.
    run: Object,
    /// The fields that cannot be used, and why.
    problems: Vec<String>,
}

impl PackedRow {
    /// The batches of a file. It has one version, so those that are ambiguous alone are read as the others are.
    fn all(batches: Vec<Value>) -> Vec<Result<PackedRow, BatchError>> {
        let of_batch = |batch: &Value, versions: &Versions| match batch {
            Value::List(fields) => match fields.first() {
                Some(Value::Numbers(ids, Kind::Int)) => Some(versions.of(fields, ids.len())),
                _ => None,
            },
            _ => None,
        };
        let all = Versions::all();
        let mut of_file = all.clone();
        for batch in &batches {
            of_file = of_batch(batch, &of_file).unwrap_or(of_file);
        }
        let read = |batch: Value| {
            let own = if of_file.is_empty() {
                of_batch(&batch, &all).unwrap_or_else(|| all.clone())
            } else {
                of_file.clone()
            };
            PackedRow::of(batch, &own)
        };
        batches.into_iter().map(read).collect()
    }

    /// The fields of a batch, of which the first two are ids and a mask of the same length.
    fn of(batch: Value, versions: &Versions) -> Result<PackedRow, BatchError> {
        let fields = match batch {
            Value::List(fields) => fields,
            other => {
                let found = described(Some(&other));
                return Err(BatchError::NoList { found });
            }
        };
        let mut fields = fields.into_iter().enumerate();
        let field = |index, found: Option<(usize, Value)>, expected| BatchError::Field {
            index,
            found: described(found.as_ref().map(|(_, value)| value)),
            expected,
        };
        let ids = match fields.next() {
            Some((_, Value::Numbers(ids, Kind::Int))) => ids,
            other => return Err(field(0, other, "token ids")),
        };
        let mask = match fields.next() {
            Some((_, Value::Numbers(mask, Kind::Bool))) => mask,
            other => return Err(field(1, other, "the flags of the loss mask")),
        };
        let ids: Option<Vec<TokenId>> = ids.into_iter().map(id).collect();
        let ids = ids.ok_or(BatchError::Id)?;
        let tokens = ids.len();
        if mask.len() != tokens {
            let mask = mask.len();
            return Err(BatchError::Length { mask, tokens });
        }
        let mut row = PackedRow {
            ids,
            mask: mask.into_iter().map(|flag| flag != 0.0).collect(),
            streams: Vec::new(),
            lengths: Vec::new(),
            environments: None,
            run: Object::new(),
            problems: Vec::new(),
        };
        let mut positions = Vec::new();
        for (index, value) in fields {
            let field = versions.field(index);
            match (field, value) {
                (_, Value::Numbers(numbers, Kind::Int))
                    if index == POSITIONS && numbers.len() == tokens =>
                {
                    positions = numbers;
                }
                (Some(Field::Lengths), Value::Numbers(numbers, Kind::Int)) => {
                    row.lengths = lengths(&numbers, tokens).unwrap_or_default();
                }
                (Some(Field::Environments), Value::Texts(texts)) if texts.len() == tokens => {
                    row.environments = Some(texts);
                }
                (Some(Field::Stream(name) | Field::WholeStream(name)), value) => {
                    row.add_stream(name, value);
                }
                (Some(Field::RunId), Value::Text(id)) => drop(row.run.insert("run_id", id)),
                (Some(Field::RunStep), Value::Scalar(Some(step), Kind::Int)) => {
                    row.run.insert("run_step", whole(step));
                }
                (None, Value::Texts(texts))
                    if texts.len() == tokens && row.environments.is_none() =>
                {
                    row.environments = Some(texts);
                }
                (None, Value::Numbers(numbers, kind)) => {
                    let is_length = index == LENGTHS
                        && kind == Kind::Int
                        && (numbers.len() != tokens || tokens == 1);
                    let own = lengths(&numbers, tokens).filter(|_| is_length);
                    match own {
                        Some(lengths) => row.lengths = lengths,
                        None if numbers.len() == tokens => {
                            let name = format!("field_{index}");
                            row.streams.push((name.into(), numbers));
                        }
                        None => {}
                    }
                }
                _ => {}
            }
        }
        if row.lengths.is_empty() {
            row.lengths = cut_at_zero(&positions, tokens);
        }
        Ok(row)
    }

    /// Adds a field with a number for each token.
    fn add_stream(&mut self, name: &'static str, value: Value) {
        let tokens = self.ids.len();
        let values = match value {
            Value::Numbers(numbers, _) if numbers.len() == tokens => {
                return self.streams.push((name.into(), numbers));
            }
            Value::List(values) if values.len() == tokens => {
                let problem = format!("`{name}` has values that are no numbers");
                return self.problems.push(problem);
            }
            Value::Numbers(numbers, _) => numbers.len(),
            Value::List(values) => values.len(),
            _ => 0,
        };
        if values > 0 {
            let problem = format!("`{name}` has {values} values for {tokens} tokens");
            self.problems.push(problem);
        }
    }

    /// Whether it repeats another batch without training it, so that all ranks have equally many.
    fn is_filler(&self) -> bool {
        !self.mask.contains(&true)
    }

    /// Whether a sequence is the padding of a row without environments, which are those before 18 May 2026: the last one,
    /// of the same token, and not trained.
    fn is_padding(&self, range: &Range<usize>) -> bool {
        const PADDING: TokenId = 1;
        let is_last = range.start > 0 && range.end == self.ids.len();
        self.environments.is_none()
            && is_last
            && self.ids[range.clone()].iter().all(|id| *id == PADDING)
            && !self.mask[range.clone()].contains(&true)
    }

    /// Adds an episode for each sequence.
    fn sequences(self, batch: usize, step: Option<i64>, sink: &mut Sink<'_>) {
        let stem = sink.stem();
        let mut start = 0;
        for (sequence, length) in self.lengths.iter().enumerate() {
            let mut range = start..start + length;
            start = range.end;
            // The padding is the tail of the last sequence: without an environment, and not trained.
            if let Some(environments) = &self.environments {
                while range.end > range.start
                    && environments[range.end - 1].is_empty()
                    && !self.mask[range.end - 1]
                {
                    range.end -= 1;
                }
            }
            if range.is_empty() || self.is_padding(&range) {
                continue;
            }
            let environment = self
                .environments
                .as_ref()
                .map(|all| all[range.start].clone());
            let mut episode = Episode {
                id: match step {
                    Some(step) => format!("step-{step}-{stem}-{batch}-{sequence}").into(),
                    None => format!("{stem}-{batch}-{sequence}").into(),
                },
                name: match step {
                    Some(step) => {
                        format!("Step {step}, {stem}, batch {batch}, sequence {sequence}").into()
                    }
                    None => format!("{stem}, batch {batch}, sequence {sequence}").into(),
                },
                environment: environment.filter(|name| !name.is_empty()),
                rewards: Rewards::Unknown,
                ending: Ending::Done,
                ..Episode::default()
            };
            if let Some(step) = step {
                episode.metadata.insert("step", step);
            }
            episode.metadata.extend(self.run.clone());
            if self.is_filler() {
                episode.metadata.insert("is_filler", true);
            }
            episode
                .metadata
                .insert("sample", format!("{batch}.{sequence}"));
            let mask = LossMask::Full(self.mask[range.clone()].to_vec());
            let ids = self.ids[range.clone()].to_vec();
            if let Ok(mut builder) = TokenRecordBuilder::new(ids, mask) {
                for (name, numbers) in &self.streams {
                    let values: TokenStream = numbers[range.clone()].iter().copied().collect();
                    if &**name == REWARDS {
                        episode.rewards = reward_of_tokens(&values);
                    }
                    builder.stream(name.clone(), &values, Alignment::Full);
                }
                attach(builder.divided(&episode), &mut episode, sink);
            }
            sink.episode(episode);
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked"
)]
fn id(number: f64) -> Option<TokenId> {
    (0.0..=f64::from(TokenId::MAX))
        .contains(&number)
        .then_some(number as TokenId)
}

/// A whole number, which was read as a float.
#[allow(clippy::cast_possible_truncation, reason = "steps are far below 2^53")]
fn whole(number: f64) -> Json {
    Json::from(number as i64)
}

/// Whole numbers as the lengths of sequences, if they sum to the length of the row.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53, and the sum of the lengths is the number of tokens"
)]
fn lengths(numbers: &[f64], tokens: usize) -> Option<Vec<usize>> {
    let is_length =
        numbers.iter().all(|number| *number >= 0.0) && numbers.iter().sum::<f64>() == tokens as f64;
    is_length.then(|| numbers.iter().map(|length| *length as usize).collect())
}

/// The lengths of sequences, each of which begins with position 0.
fn cut_at_zero(positions: &[f64], tokens: usize) -> Vec<usize> {
    let starts = positions
        .iter()
        .enumerate()
        .filter(|(_, position)| **position == 0.0);
    let mut starts: Vec<usize> = starts.map(|(index, _)| index).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    starts.push(tokens);
    starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{InputFile, import};

    /// A list of small numbers.
    fn list(elements: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0x90 | elements.len() as u8];
        bytes.extend(elements.concat());
        bytes
    }

    /// A list of more elements than fit into one byte.
    fn long_list(elements: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0xdc, 0, elements.len() as u8];
        bytes.extend(elements.concat());
        bytes
    }

    fn numbers(numbers: &[u8]) -> Vec<u8> {
        let elements: Vec<Vec<u8>> = numbers.iter().map(|number| vec![*number]).collect();
        list(&elements)
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        let element = |value: &f32| [&[0xca][..], &value.to_be_bytes()].concat();
        list(&values.iter().map(element).collect::<Vec<_>>())
    }

    fn texts(texts: &[&str]) -> Vec<u8> {
        let element = |text: &&str| [&[0xa0 | text.len() as u8][..], text.as_bytes()].concat();
        list(&texts.iter().map(element).collect::<Vec<_>>())
    }

    fn imported(batches: &[Vec<u8>]) -> ImportOutcome {
        let file = InputFile {
            name: Some("rollouts/step_4/rank_0.bin".to_owned()),
            bytes: list(batches),
        };
        import(&[file]).unwrap()
    }

    /// Two sequences and padding.
    fn batch(with_lengths: bool, trained: u8) -> Vec<u8> {
        let mut fields = vec![
            numbers(&[7, 8, 9, 5, 6, 0]),
            numbers(&[0xc2, trained, trained, 0xc2, trained, 0xc2]),
            floats(&[0.0, 1.0, 1.0, 0.0, -1.0, 0.0]),
            floats(&[0.0, -0.5, -0.25, 0.0, -2.0, 0.0]),
            numbers(&[0, 1, 2, 0, 1, 2]),
        ];
        if with_lengths {
            fields.push(numbers(&[3, 3]));
        } else {
            fields.push(floats(&[1.0; 6]));
        }
        fields.push(floats(&[1.0; 6]));
        fields.push(texts(&["desk", "desk", "desk", "hall", "hall", ""]));
        list(&fields)
    }

    #[test]
    fn packed_rows_are_cut_into_sequences() {
        let outcome = imported(&[batch(true, 0xc3), batch(true, 0xc2)]);
        let [first, second, filler, _] = outcome.episodes.as_slice() else {
            panic!("{:?}", outcome.notes)
        };
        assert_eq!(first.metadata.get("step"), Some(&4.into()));
        assert_eq!(second.environment.as_deref(), Some("hall"));
        let record = second.tokens.as_ref().unwrap();
        assert_eq!(record.strip.ids(), [5, 6]);
        assert_eq!(record.strip.streams()["advantages"].get(1), Some(-1.0));
        assert_eq!(record.strip.streams()["inference_logprobs"].get(0), None);
        assert_eq!(filler.metadata.get("is_filler"), Some(&true.into()));
        assert!(
            outcome
                .notes
                .iter()
                .any(|note| note.text.contains("1 filler"))
        );
    }

    #[test]
    fn without_lengths_sequences_begin_at_position_0() {
        let outcome = imported(&[batch(false, 0xc3)]);
        let lengths = outcome
            .episodes
            .iter()
            .map(|episode| episode.tokens.as_ref().unwrap().strip.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [3, 2]);
    }

    /// Rows without environments are padded by a sequence of their own.
    #[test]
    fn padding_without_environments_is_no_sequence() {
        let row = |last: u8, is_trained: u8| {
            let fields = [
                numbers(&[7, 8, 9, 1, last]),
                numbers(&[0xc2, 0xc3, 0xc3, is_trained, 0xc2]),
                floats(&[0.0, 1.0, 1.0, 0.0, 0.0]),
                floats(&[0.0, -0.5, -0.25, 0.0, 0.0]),
                numbers(&[0, 1, 2, 0, 1]),
                floats(&[1.0; 5]),
            ];
            imported(&[list(&fields)]).episodes.len()
        };
        assert_eq!(row(1, 0xc2), 1);
        assert_eq!((row(6, 0xc2), row(1, 0xc3)), (2, 2));
    }

    const NIL: u8 = 0xc0;

    /// A version, what follows the five first fields of a row of six tokens, and the streams of those.
    type Version = (&'static str, Vec<Vec<u8>>, Vec<&'static str>);

    fn run() -> [Vec<u8>; 2] {
        [texts(&["run_a"])[1..].to_vec(), vec![4]]
    }

    fn later_fields() -> Vec<Version> {
        let nil = || vec![NIL];
        let text = |text: &str| texts(&[text])[1..].to_vec();
        let ones = || floats(&[1.0; 6]);
        let reward = || floats(&[0.5; 6]);
        let teacher = || floats(&[-0.125; 6]);
        let environments = || texts(&["desk", "desk", "desk", "hall", "hall", "hall"]);
        let (counts, adapters) = (|| numbers(&[3, 3]), || numbers(&[6, 0]));
        let types = || numbers(&[0, 0, 1, 0, 0, 0]);
        let images = || vec![0x80];
        let experts = || list(&[vec![0xc4, 0], numbers(&[6, 1]), text("u8")]);
        let weights = || [floats(&[0.25; 6]), floats(&[0.5; 6]), floats(&[0.75; 6])];
        let with = |fields: Vec<Vec<u8>>, more: &[Vec<u8>]| [fields, more.to_vec()].concat();
        let rewards = || [text("rl"), reward()];
        let weighted = vec!["ref_logprobs", "mm_token_types", "rl_weights", "ce_weights"];
        let weighted = [weighted, vec!["ref_kl_weights"]].concat();
        let lengths = || vec![counts(), ones(), environments()];
        vec![
            (
                "scalar",
                vec![temperature(), teacher()],
                vec!["teacher_logprobs"],
            ),
            ("adapters", vec![adapters(), temperature()], vec![]),
            (
                "temperatures",
                vec![ones(), teacher(), adapters()],
                vec!["teacher_logprobs"],
            ),
            (
                "21 May, teacher",
                with(
                    vec![
                        ones(),
                        environments(),
                        teacher(),
                        adapters(),
                        experts(),
                        images(),
                        types(),
                    ],
                    &rewards(),
                ),
                vec!["teacher_logprobs", "mm_token_types", "rewards"],
            ),
            (
                "21 May",
                with(
                    vec![
                        ones(),
                        environments(),
                        nil(),
                        adapters(),
                        nil(),
                        nil(),
                        nil(),
                    ],
                    &rewards(),
                ),
                vec!["rewards"],
            ),
            (
                "15 June",
                [
                    vec![
                        ones(),
                        environments(),
                        counts(),
                        teacher(),
                        adapters(),
                        nil(),
                        nil(),
                        nil(),
                    ],
                    rewards().to_vec(),
                    run().to_vec(),
                ]
                .concat(),
                vec!["teacher_logprobs", "rewards"],
            ),
            (
                "23 June",
                [
                    lengths(),
                    vec![teacher(), adapters(), nil(), nil(), nil()],
                    rewards().to_vec(),
                    run().to_vec(),
                ]
                .concat(),
                vec!["teacher_logprobs", "rewards"],
            ),
            (
                "27 June",
                [
                    lengths(),
                    vec![teacher(), adapters(), nil(), images(), types()],
                    weights().to_vec(),
                    run().to_vec(),
                ]
                .concat(),
                weighted.clone(),
            ),
            (
                "17 July",
                [
                    lengths(),
                    vec![counts(), teacher(), adapters(), nil(), images(), types()],
                    weights().to_vec(),
                    run().to_vec(),
                ]
                .concat(),
                weighted.clone(),
            ),
            (
                "8 August",
                [
                    lengths(),
                    vec![counts(), teacher(), nil(), images(), types()],
                    weights().to_vec(),
                ]
                .concat(),
                weighted,
            ),
            (
                "8 August, one weight",
                [
                    lengths(),
                    vec![counts(), nil(), nil(), nil(), nil(), nil(), reward()],
                ]
                .concat(),
                vec!["ce_weights"],
            ),
            // Between June and July the name of field 8 is unknown without the fields after it.
            ("ambiguous", with(lengths(), &[teacher()]), vec!["field_8"]),
            (
                "unknown",
                vec![images(), ones(), teacher()],
                vec!["field_6", "field_7"],
            ),
        ]
    }

    fn temperature() -> Vec<u8> {
        [&[0xca][..], &1.0_f32.to_be_bytes()].concat()
    }

    #[test]
    fn fields_have_the_names_of_their_version() {
        for (version, later, expected) in later_fields() {
            let fields = [
                vec![
                    numbers(&[7, 8, 9, 5, 6, 4]),
                    numbers(&[0xc2, 0xc3, 0xc3, 0xc2, 0xc3, 0xc3]),
                    floats(&[0.0, 1.0, 1.0, 0.0, -1.0, -1.0]),
                    floats(&[0.0, -0.5, -0.25, 0.0, -2.0, -1.0]),
                    numbers(&[0, 1, 2, 0, 1, 2]),
                ],
                later,
            ];
            let outcome = imported(&[long_list(&fields.concat())]);
            assert_eq!(outcome.episodes.len(), 2, "{version}");
            let metadata = &outcome.episodes[1].metadata;
            let has_run = fields.concat().contains(&run()[0]);
            let expected_run = has_run.then(|| ("run_a".into(), 4.into()));
            let run_id = metadata.get("run_id").cloned();
            assert_eq!(
                run_id.zip(metadata.get("run_step").cloned()),
                expected_run,
                "{version}"
            );
            let record = outcome.episodes[1].tokens.as_ref().unwrap();
            let streams = record.strip.streams();
            let names: Vec<&str> = streams.keys().map(|name| &**name).collect();
            let mut expected = [vec!["advantages", "inference_logprobs"], expected].concat();
            expected.sort_unstable();
            let mut sorted = names.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, expected, "{version}");
            for (name, value) in [("rewards", 0.5), ("rl_weights", 0.25), ("ce_weights", 0.5)] {
                if let Some(stream) = streams.get(name) {
                    assert_eq!(stream.get(1), Some(value), "{version}: {name}");
                }
            }
            let left_out = |text: &str| text.contains("left out");
            assert!(
                !outcome.notes.iter().any(|note| left_out(&note.text)),
                "{version}: {:?}",
                outcome.notes
            );
        }
    }

    #[test]
    fn counts_of_adapters_are_not_lengths() {
        let fields = [
            numbers(&[7, 8, 9, 5, 6]),
            numbers(&[0xc2, 0xc3, 0xc3, 0xc2, 0xc3]),
            floats(&[0.0, 1.0, 1.0, 0.0, -1.0]),
            floats(&[0.0, -0.5]),
            numbers(&[0, 1, 2, 0, 1]),
            floats(&[1.0; 5]),
            floats(&[-0.1; 5]),
            numbers(&[5, 0]),
        ];
        let outcome = imported(&[list(&fields)]);
        let episodes = outcome.episodes.iter();
        let streams: Vec<Vec<&str>> = episodes
            .map(|episode| {
                let record = episode.tokens.as_ref().unwrap();
                record.strip.streams().keys().map(|name| &**name).collect()
            })
            .collect();
        assert_eq!(streams, [["advantages", "teacher_logprobs"]; 2]);
        let lost = "`inference_logprobs` has 2 values for 5 tokens";
        assert!(outcome.notes.iter().any(|note| note.text.contains(lost)));
    }

    #[test]
    fn batches_of_an_unknown_version_are_named_with_what_to_do() {
        let mask_of_numbers = list(&[numbers(&[7, 8]), floats(&[0.0, 1.0])]);
        let short_mask = list(&[numbers(&[7, 8]), numbers(&[0xc3])]);
        let map = [&[0x81, 0xa3][..], b"ids", &numbers(&[7])].concat();
        for (bytes, reason) in [
            (
                list(&[mask_of_numbers]),
                "field 1 is 2 numbers, where the flags of the loss mask are expected",
            ),
            (
                list(&[short_mask]),
                "the loss mask has 1 values for 2 tokens",
            ),
            (
                list(std::slice::from_ref(&map)),
                "batch 0 cannot be used: it is a map of 1 member",
            ),
            (map, "it is no MessagePack list of batches"),
        ] {
            let file = InputFile {
                name: Some("step_4/rank_0.bin".to_owned()),
                bytes,
            };
            let error = import(&[file]).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(error.contains("enable_token_export"), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_cut_off_keeps_its_first_batches() {
        let mut bytes = list(&[batch(true, 0xc3), batch(true, 0xc3)]);
        bytes.pop();
        let file = InputFile {
            name: Some("rank_1.bin".to_owned()),
            bytes,
        };
        let outcome = import(&[file]).unwrap();
        assert_eq!(outcome.episodes.len(), 2);
        assert!(
            outcome
                .notes
                .iter()
                .any(|note| note.text.contains("cut off"))
        );
    }
}
