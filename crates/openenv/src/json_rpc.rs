//! Calls of MCP within a message: JSON-RPC 2.0, of which OpenEnv has `tools/list` and `tools/call`.

use std::sync::Arc;

use volary_core::fields::{self, FieldError};
use volary_core::json::{Json, Object, Text};
use volary_core::message::error::MessageError;
use volary_core::tool::ToolCallFunction;
use volary_core::{Step, Tool, json, object};

use crate::observation;
use crate::tool_spec;

/// A request. Its id is sent back as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcRequest {
    pub id: Json,
    pub call: RpcCall,
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcCall {
    ListTools,
    CallTool(ToolCallFunction),
    /// OpenEnv's `openenv/session/create`: the session that the socket already is.
    CreateSession,
    Ping,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcRefusal {
    pub id: Json,
    pub code: RpcCode,
    pub message: Text,
}

/// The codes of JSON-RPC's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcCode {
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
}

impl RpcCode {
    fn number(self) -> i64 {
        match self {
            RpcCode::InvalidRequest => -32600,
            RpcCode::MethodNotFound => -32601,
            RpcCode::InvalidParams => -32602,
            RpcCode::Internal => -32603,
        }
    }
}

/// Reads a request.
pub fn read(data: &Object) -> Result<RpcRequest, RpcRefusal> {
    let id = match data.get("id") {
        Some(id @ (Json::Text(_) | Json::Integer(_))) => id.clone(),
        _ => Json::Null,
    };
    let refuse = |code, error: FieldError| RpcRefusal {
        id: id.clone(),
        code,
        message: format!("{error}.").into(),
    };
    let method = method(data).map_err(|error| refuse(RpcCode::InvalidRequest, error))?;
    let none = Object::new();
    let params = match data.get("params") {
        None | Some(Json::Null) => Ok(&none),
        Some(params) => fields::object("params", params),
    };
    let params = params.map_err(|error| refuse(RpcCode::InvalidParams, error))?;
    let call = match &*method {
        "tools/list" => RpcCall::ListTools,
        "tools/call" => {
            let function = called(params).map_err(|error| refuse(RpcCode::InvalidParams, error))?;
            RpcCall::CallTool(function)
        }
        "openenv/session/create" => RpcCall::CreateSession,
        "ping" => RpcCall::Ping,
        unknown => {
            let reason = format!("{unknown} is not served here; POST /mcp speaks all of MCP");
            return Err(refuse(
                RpcCode::MethodNotFound,
                FieldError::new("method", reason),
            ));
        }
    };
    Ok(RpcRequest { id, call })
}

fn method(data: &Object) -> Result<Text, FieldError> {
    fields::constant("jsonrpc", fields::required(data, "jsonrpc")?, "2.0")?;
    fields::text("method", fields::required(data, "method")?)
}

fn called(params: &Object) -> Result<ToolCallFunction, FieldError> {
    let name = fields::text("name", fields::required(params, "name")?)?;
    let arguments = match params.get("arguments") {
        None | Some(Json::Null) => Object::new(),
        Some(arguments) => fields::object("arguments", arguments)?.clone(),
    };
    Ok(ToolCallFunction { name, arguments })
}

/// The answer to a request.
pub fn answer(id: Json, result: Json) -> Object {
    object!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// The answer that refuses a request.
pub fn refuse(refusal: RpcRefusal) -> Object {
    object!({
        "jsonrpc": "2.0",
        "id": (refusal.id),
        "error": {"code": (refusal.code.number()), "message": (refusal.message)}
    })
}

/// The result of `tools/list`.
pub fn tools(tools: &[Arc<Tool>]) -> Json {
    let tools = tools.iter().map(|tool| tool_spec::to_mcp(tool));
    json!({"tools": (Json::List(tools.collect()))})
}

/// The result of `tools/call`: the text, and in `structuredContent` messages, reward and done.
pub fn called_tool(step: &Step) -> Result<Json, MessageError> {
    let text = observation::text_of(&step.messages);
    let observed = observation::of_step(step, None)?;
    Ok(json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": {
            "messages": (observed.observation.get("messages").cloned().unwrap_or_default()),
            "reward": (observed.reward.filter(|reward| reward.is_finite())),
            "done": (observed.done)
        },
        "isError": false
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sent_back_as_they_came() {
        for id in [json!("a"), json!(7), json!(null)] {
            let data = object!({"jsonrpc": "2.0", "method": "ping", "id": (id.clone())});
            assert_eq!(read(&data).map(|request| request.id), Ok(id));
        }
        // Not an id in JSON-RPC.
        let data = object!({"jsonrpc": "2.0", "method": "ping", "id": [1]});
        assert_eq!(read(&data).map(|request| request.id), Ok(Json::Null));
    }

    #[test]
    fn requests_that_do_not_fit_have_a_code() {
        for (data, code) in [
            (object!({"method": "ping"}), RpcCode::InvalidRequest),
            (
                object!({"jsonrpc": "1.0", "method": "ping"}),
                RpcCode::InvalidRequest,
            ),
            (
                object!({"jsonrpc": "2.0", "method": 1}),
                RpcCode::InvalidRequest,
            ),
            (
                object!({"jsonrpc": "2.0", "method": "x"}),
                RpcCode::MethodNotFound,
            ),
            (
                object!({"jsonrpc": "2.0", "method": "ping", "params": []}),
                RpcCode::InvalidParams,
            ),
            (
                object!({"jsonrpc": "2.0", "method": "tools/call"}),
                RpcCode::InvalidParams,
            ),
        ] {
            assert_eq!(
                read(&data).map_err(|refusal| refusal.code),
                Err(code),
                "{data:?}"
            );
        }
    }
}
