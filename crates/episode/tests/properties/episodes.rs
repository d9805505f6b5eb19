//! Random episodes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use volary_core::json::Json;
use volary_core::message::Body;
use volary_core::tool::ToolCallFunction;
use volary_core::{
    AnyMessage, Frame, FunctionInfo, Message, Parameters, Role, Tool, ToolCall, ToolRequestMessage,
    ToolResponseMessage,
};
use volary_episode::native::SEED_LIMIT;
use volary_episode::{Ending, Episode, Outcome, Recipe, StepRecord, TaskReference};

use crate::details;
use crate::values::{object, states, text};

fn body() -> impl Strategy<Value = Body> {
    (
        option::of(text()),
        any::<bool>(),
        option::of(object()),
        any::<bool>(),
    )
        .prop_map(
            |(content, content_is_json_str, info, cache_breakpoint)| Body {
                content,
                content_is_json_str,
                info,
                cache_breakpoint,
            },
        )
}

pub fn request() -> impl Strategy<Value = ToolRequestMessage> {
    let call = (text(), text(), object()).prop_map(|(id, name, arguments)| ToolCall {
        id,
        function: ToolCallFunction { name, arguments },
    });
    (body(), vec(call, 0..3)).prop_map(|(body, tool_calls)| ToolRequestMessage { body, tool_calls })
}

pub fn message() -> impl Strategy<Value = AnyMessage> {
    let plain = (prop::sample::select(Role::ALL.to_vec()), body())
        .prop_map(|(role, body)| Message { role, body }.into());
    let response = (body(), text(), text()).prop_map(|(body, name, tool_call_id)| {
        AnyMessage::Response(ToolResponseMessage {
            body,
            name,
            tool_call_id,
        })
    });
    prop_oneof![plain, request().prop_map(AnyMessage::Request), response]
}

fn tool() -> impl Strategy<Value = Tool> {
    let parameters = (object(), vec(text(), 0..3), object())
        .prop_map(|(properties, required, extras)| Parameters {
            properties,
            required,
            extras,
        })
        .prop_filter("extras are others", |parameters| {
            !["type", "properties", "required"]
                .iter()
                .any(|key| parameters.extras.contains_key(key))
        });
    (text(), text(), option::of(parameters), any::<bool>()).prop_map(
        |(name, description, parameters, concurrency_safe)| Tool {
            info: FunctionInfo {
                name,
                description,
                parameters,
            },
            concurrency_safe,
        },
    )
}

pub fn recipe() -> impl Strategy<Value = Recipe> {
    let task = (text(), text()).prop_map(|(dataset, id)| TaskReference { dataset, id });
    (text(), object(), 0..SEED_LIMIT, option::of(task)).prop_map(
        |(environment, configuration, seed, task)| Recipe {
            environment,
            configuration,
            seed,
            task,
        },
    )
}

fn step() -> impl Strategy<Value = StepRecord> {
    let observed = (
        vec(message(), 0..3),
        any::<f64>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(messages, reward, done, truncated)| Outcome::Observed {
            messages,
            reward,
            done,
            truncated,
        });
    let outcome = prop_oneof![
        observed,
        text().prop_map(|message| Outcome::Failed { message })
    ];
    let seconds = option::of(any::<f64>());
    (message(), outcome, seconds, details::of_step(), object()).prop_map(
        |(action, outcome, seconds, details, extras)| StepRecord {
            action,
            outcome,
            seconds,
            details,
            extras,
        },
    )
}

pub fn episode() -> impl Strategy<Value = Episode> {
    let ending = prop_oneof![
        Just(Ending::Open),
        Just(Ending::Done),
        text().prop_map(|reason| Ending::Truncated { reason }),
        text().prop_map(|message| Ending::Crashed { message }),
    ];
    let head = (
        text(),
        text(),
        option::of(recipe()),
        option::of(text()),
        ending,
        object(),
    );
    let said = (vec(tool(), 0..3), vec(message(), 0..3), vec(step(), 0..5));
    (head, said, states(), details::of_episode()).prop_map(|(head, said, states, details)| {
        let (id, name, recipe, policy, ending, metadata) = head;
        let (tools, start, steps) = said;
        Episode {
            id,
            name,
            recipe,
            policy,
            tools,
            start,
            steps,
            frames: states
                .into_iter()
                .map(|state| Frame::new(state, Json::Null))
                .collect(),
            ending,
            metadata,
            ..details
        }
    })
}
