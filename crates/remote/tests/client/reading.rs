//! Any body is read or rejected, without a panic.

use proptest::prelude::*;
use volary_core::json::{Json, Object};
use volary_remote::body;
use volary_remote::reply::{Info, read_env_id as read_started, read_reset, read_step};
use volary_remote::request::{Start, StepRequest, read_env_id, read_last_used};

/// Any JSON, mostly with keys of the protocol, so that many values are nearly valid.
fn any_json() -> impl Strategy<Value = Json> {
    let word = prop_oneof![
        "(env_id|action|task_idx|task_kwargs|last_used|role|content|info|tool_calls|function)",
        "(name|arguments|id|type|tool_call_id|dataset_size|running_env_ids|parameters)",
        "(assistant|tool|user|function|-?[0-9_]{0,3}(\\.0)?|inf|nan)",
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        word.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        let pair = (word.clone(), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Json::List),
            prop::collection::vec(pair, 0..6).prop_map(|pairs| {
                let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value));
                Json::Object(Object::from_pairs(pairs.collect()))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes(bytes in any::<Vec<u8>>()) {
        let _ = body::read(&bytes);
    }

    #[test]
    fn any_request(value in any_json()) {
        let value = Some(&value);
        let mut refused = Vec::new();
        refused.extend(Start::read(value).err());
        refused.extend(StepRequest::read(value).err());
        refused.extend(read_env_id(value).err());
        refused.extend(read_last_used(value).err());
        for problems in refused {
            prop_assert!(!problems.is_empty());
            // The error reply is JSON too.
            let said = body::unprocessable(&problems).to_compact_text();
            prop_assert!(body::read(said.as_bytes()).is_ok());
        }
    }

    #[test]
    fn any_reply(value in any_json()) {
        let _ = Info::read(&value);
        let _ = read_started(&value);
        let _ = read_reset(&value);
        let _ = read_step(&value);
    }

    #[test]
    fn start_requests_round_trip(index in any::<i64>(), value in any_json()) {
        let arguments = Object::from_iter([("a".into(), value)]);
        for start in [Start::Any, Start::Index(index), Start::Arguments(arguments)] {
            let sent = start.to_json().to_python_text();
            let read = body::read(sent.as_bytes()).ok().flatten();
            let read = Start::read(read.as_ref()).map(|read| read.to_json().to_python_text());
            prop_assert_eq!(read, Ok(sent));
        }
    }
}
