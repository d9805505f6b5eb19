//! What is known of episodes and steps besides, made up.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use volary_episode::{
    Episode, Link, Relation, Rewards, Score, Source, StepDetails, StepError, TaskReference, Usage,
};

use crate::values::{json, object, text};

/// Numbers that equal themselves.
fn number() -> impl Strategy<Value = f64> {
    -1e9..1e9
}

fn usage() -> impl Strategy<Value = Usage> {
    let count = || option::of(any::<u64>());
    (count(), count(), count(), count(), option::of(number())).prop_map(
        |(input, output, cached, reasoning, cost)| Usage {
            input,
            output,
            cached,
            reasoning,
            cost,
        },
    )
}

pub fn of_step() -> impl Strategy<Value = StepDetails> {
    let error =
        (option::of(text()), text()).prop_map(|(call, message)| StepError { call, message });
    (
        option::of(text()),
        option::of(text()),
        option::of(usage()),
        option::of(number()),
        vec(error, 0..2),
    )
        .prop_map(|(reasoning, model, usage, started, errors)| StepDetails {
            reasoning,
            model,
            usage,
            started,
            errors,
        })
}

/// An episode that has nothing but details.
pub fn of_episode() -> impl Strategy<Value = Episode> {
    let task = (text(), text()).prop_map(|(dataset, id)| TaskReference { dataset, id });
    let names = (
        option::of(text()),
        option::of(text()),
        option::of(task),
        option::of(text()),
    );
    let rewards = prop_oneof![
        Just(Rewards::Steps),
        number().prop_map(Rewards::Whole),
        Just(Rewards::Unknown)
    ];
    let score = (text(), json(), option::of(text()), object()).prop_map(
        |(name, value, explanation, extras)| Score {
            name,
            value,
            explanation,
            extras,
        },
    );
    let link = (
        prop::sample::select(Relation::ALL.to_vec()),
        text(),
        option::of(0..1000_usize),
    )
        .prop_map(|(relation, episode, step)| Link {
            relation,
            episode,
            step,
        });
    let source = (text(), option::of(text()), text()).prop_map(|(format, version, file)| Source {
        format,
        version,
        file,
    });
    let judged = (rewards, vec(score, 0..3), option::of(usage()));
    let rest = (
        option::of(number()),
        option::of(number()),
        vec(text(), 0..2),
        vec(link, 0..3),
        option::of(source),
        object(),
    );
    (names, judged, rest).prop_map(|(names, judged, rest)| {
        let (model, environment, task, outcome) = names;
        let (rewards, scores, total_usage) = judged;
        let (started, seconds, errors, links, source, raw) = rest;
        Episode {
            model,
            environment,
            task,
            outcome,
            rewards,
            scores,
            total_usage,
            started,
            seconds,
            errors,
            links,
            source,
            raw,
            ..Episode::default()
        }
    })
}
