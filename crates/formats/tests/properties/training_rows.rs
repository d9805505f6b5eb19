//! Episodes with tokens come back from rows of a data set, as JSON Lines.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use volary_analysis::table::Row;
use volary_core::json::{Json, Object, Text};
use volary_core::tool::ToolCallFunction;
use volary_core::{
    AnyMessage, Message, Role, TokenStream, ToolCall, ToolRequestMessage, ToolResponseMessage,
};
use volary_episode::episode::{Rewards, Score, Usage};
use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};
use volary_episode::{Ending, Episode, Outcome, StepRecord, TaskReference};
use volary_export::training_rows::{RowShape, row, to_text};
use volary_formats::import::{InputFile, import};

use crate::values::object;

/// Names of streams, among them those of other members of a row.
const NAMES: [&str; 6] = ["entropy", "tokens", "reward", "stream/x", "", "log probs é"];

fn texts() -> impl Strategy<Value = Text> {
    "[a-z{}\"\\\\\n é]{1,12}".prop_map(Text::from)
}

fn values(length: usize) -> impl Strategy<Value = TokenStream> {
    let value = prop_oneof![
        3 => (-1e3..1e3).prop_map(Some),
        1 => Just(Some(0.0)),
        1 => Just(Some(f64::NAN)),
        1 => Just(None),
    ];
    vec(value, length).prop_map(TokenStream::from)
}

/// A step with a call that is answered, or without one.
fn step() -> impl Strategy<Value = StepRecord> {
    let call = (texts(), object()).prop_map(|(name, arguments)| ToolCall {
        id: "".into(),
        function: ToolCallFunction { name, arguments },
    });
    let parts = (
        texts(),
        option::of(call),
        texts(),
        option::of(texts()),
        -9..9_i32,
    );
    parts.prop_map(|(said, call, seen, reasoning, reward)| {
        let action = Message::new(Role::Assistant, said);
        let (action, observed) = match call {
            None => (AnyMessage::from(action), Message::user(seen).into()),
            Some(call) => {
                let answer = ToolResponseMessage {
                    body: volary_core::message::Body::text(seen),
                    name: call.function.name.clone(),
                    tool_call_id: call.id.clone(),
                };
                let request = ToolRequestMessage {
                    body: action.body,
                    tool_calls: vec![call],
                };
                (request.into(), AnyMessage::Response(answer))
            }
        };
        let outcome = Outcome::Observed {
            messages: vec![observed],
            reward: f64::from(reward) / 4.0,
            done: false,
            truncated: false,
        };
        let mut step = StepRecord::new(action, outcome);
        step.details.reasoning = reasoning;
        step
    })
}

/// The tokens of an episode: ids, flags, the number after the prompt, and streams.
type Tokens = (Vec<u32>, Option<Vec<bool>>, Vec<(usize, TokenStream)>);

fn tokens() -> impl Strategy<Value = Tokens> {
    (2..12_usize).prop_flat_map(|length| {
        let flags = vec(any::<bool>(), length - 1);
        let streams = vec((0..NAMES.len(), values(length)), 0..4);
        (vec(any::<u32>(), length), option::of(flags), streams)
    })
}

prop_compose! {
    fn episode()(
        id in "[a-z]{1,8}",
        start in vec(texts(), 0..3),
        mut steps in vec(step(), 0..4),
        rewards in prop_oneof![
            Just(Rewards::Steps),
            (-9.0..9.0).prop_map(Rewards::Whole),
            Just(Rewards::Unknown)
        ],
        metadata in object(),
        (model, task, reason) in (option::of(texts()), option::of(texts()), texts()),
        ending in 0..4,
        usage in option::of((0..999_u64, -1.0..1.0)),
        tokens in option::of(tokens()),
    ) -> Episode {
        if rewards != Rewards::Steps {
            for step in &mut steps {
                if let Outcome::Observed { reward, .. } = &mut step.outcome {
                    *reward = 0.0;
                }
            }
        }
        for (index, step) in steps.iter_mut().enumerate() {
            // Ids of calls are unique, as in every source.
            let Outcome::Observed { messages, .. } = &mut step.outcome else { continue };
            if let (AnyMessage::Request(request), Some(AnyMessage::Response(answer))) = (&mut step.action, messages.first_mut()) {
                let id = Text::from(format!("c{index}"));
                request.tool_calls[0].id = id.clone();
                answer.tool_call_id = id;
            }
        }
        let mut episode = Episode {
            name: id.as_str().into(),
            id: id.into(),
            start: start.into_iter().map(|text| Message::user(text).into()).collect(),
            steps,
            rewards,
            model,
            task: task.map(|id| TaskReference { dataset: "d".into(), id }),
            ending: match ending {
                0 => Ending::Open,
                1 => Ending::Truncated { reason },
                _ => Ending::Crashed { message: reason },
            },
            scores: vec![Score { name: "s".into(), value: 0.5.into(), ..Score::default() }],
            total_usage: usage.map(|(input, cost)| Usage {
                input: Some(input),
                cost: Some(cost),
                ..Usage::default()
            }),
            metadata,
            ..Episode::default()
        };
        if let Some((ids, flags, streams)) = tokens {
            let response = ids.len() - 1;
            let mask = flags.map_or(LossMask::Unknown(response), LossMask::Response);
            let mut builder = TokenRecordBuilder::new(ids, mask).unwrap();
            for (name, values) in streams {
                builder.stream(NAMES[name], &values, Alignment::Full);
            }
            episode.tokens = Some(Arc::new(builder.divided(&episode)));
        }
        episode
    }
}

/// What rows hold of an episode.
fn held(mut episode: Episode) -> Episode {
    episode.source = None;
    if let Ending::Truncated { .. } = &episode.ending
        && let Some(Outcome::Observed { truncated, .. }) =
            episode.steps.last_mut().map(|step| &mut step.outcome)
    {
        *truncated = true;
    }
    episode
}

proptest! {
    #[test]
    fn episodes_come_back_with_their_figures(episodes in vec(episode(), 1..4)) {
        let mut episodes = episodes;
        for (number, episode) in episodes.iter_mut().enumerate() {
            // An import makes equal ids distinct.
            episode.id = format!("{number} {}", episode.id).into();
        }
        let text = to_text(&episodes);
        let file = InputFile {
            name: Some("x.jsonl".to_owned()),
            bytes: text.into_bytes(),
        };
        let outcome = import(&[file]).unwrap();
        prop_assert_eq!(outcome.episodes.len(), episodes.len());
        for (before, after) in episodes.into_iter().zip(outcome.episodes) {
            let figures = |episode: &Episode| Row::of(episode, Vec::new()).token_figures;
            let (one, other) = (figures(&before), figures(&after));
            prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
            let (before, after) = (held(before), held(after));
            // NaN is not equal to itself.
            prop_assert_eq!(format!("{before:#?}"), format!("{after:#?}"));
        }
    }

    #[test]
    fn every_member_of_a_row_has_a_column(episodes in vec(episode(), 1..4)) {
        let mut shape = RowShape::default();
        episodes.iter().for_each(|episode| shape.add(episode));
        let columns = shape.columns();
        for episode in &episodes {
            let row: Object = row(episode);
            for (name, value) in row.iter() {
                let column = columns.iter().find(|column| *column.name == *name.as_ref());
                prop_assert!(column.is_some(), "{}: {:?}", name.as_ref(), Json::clone(value));
            }
        }
    }
}
