//! Requests and replies of SGLang's `/generate`.

use volary_core::{Json, Object, Text, json, object};
use volary_tokens::TokenId;

/// The sampling parameters. `None` values are not sent.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingParams {
    pub temperature: f64,
    /// Nucleus sampling: the cumulative probability of the tokens to sample from.
    pub top_p: f64,
    /// The number of most likely tokens to sample from; -1 for all.
    pub top_k: i64,
    /// The token limit of one turn.
    pub max_new_tokens: i64,
    /// Texts that end a turn.
    pub stop: Option<Vec<Text>>,
    /// Tokens that end a turn.
    pub stop_token_ids: Option<Vec<TokenId>>,
}

impl Default for SamplingParams {
    /// slime's values for training.
    fn default() -> Self {
        SamplingParams {
            temperature: 1.0,
            top_p: 1.0,
            top_k: -1,
            max_new_tokens: 1024,
            stop: None,
            stop_token_ids: None,
        }
    }
}

impl SamplingParams {
    /// The JSON value. Special tokens and the end mark stay in the answer, so that no sampled token
    /// is lost.
    pub fn to_json(&self) -> Json {
        let ids = self.stop_token_ids.clone();
        json!({
            "temperature": (self.temperature),
            "top_p": (self.top_p),
            "top_k": (self.top_k),
            "max_new_tokens": (self.max_new_tokens),
            "stop": (self.stop.clone()),
            "stop_token_ids": ids,
            "skip_special_tokens": false,
            "no_stop_trim": true,
            "spaces_between_special_tokens": false
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// As text, which the server tokenizes.
    Text(String),
    /// As tokens.
    InputIds(Vec<TokenId>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GenerateRequest {
    pub prompt: Prompt,
    /// The sampling parameters.
    pub sampling_params: SamplingParams,
    /// Whether to return log probabilities.
    pub return_logprob: bool,
}

impl GenerateRequest {
    /// The body of the request.
    pub fn to_json(&self) -> Json {
        let mut body = match &self.prompt {
            Prompt::Text(text) => object!({"text": (text.clone())}),
            Prompt::InputIds(ids) => object!({"input_ids": (ids.clone())}),
        };
        body.insert("sampling_params", self.sampling_params.to_json());
        if self.return_logprob {
            body.insert("return_logprob", true);
        }
        Json::Object(body)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The turn is complete.
    Stop,
    /// The turn was cut at the token limit.
    Length,
    /// The request was aborted, with the server's message.
    Abort(Text),
    /// Another reason.
    Other(Text),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GenerateReply {
    /// The generated text.
    pub text: Text,
    /// The sampled tokens, if the server returns them.
    pub output_ids: Option<Vec<TokenId>>,
    pub finish_reason: FinishReason,
    /// The log probability and id of each token, if requested.
    pub logprobs: Option<Vec<(Option<f64>, TokenId)>>,
    /// The version of the model's weights.
    pub weight_version: Option<Text>,
}

/// Why a reply is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// The body is empty.
    #[error("The server answered with nothing")]
    Empty,
    /// The body is an HTML page: the server is not SGLang, or a proxy answers.
    #[error("The server answered with a web page instead of JSON; check the address")]
    Html,
    /// The body is not JSON.
    #[error("The server's answer is not valid JSON: {0}")]
    NoJson(String),
    /// The server reports an error.
    #[error("The server refused the request: {0}")]
    Refused(String),
    /// A field is missing or has the wrong type.
    #[error("The server's answer lacks {0}")]
    Lacks(&'static str),
}

impl GenerateReply {
    /// Parses the body of a reply.
    pub fn read_body(body: &str) -> Result<Self, ReplyError> {
        let trimmed = body.trim_start();
        if trimmed.is_empty() {
            return Err(ReplyError::Empty);
        }
        if trimmed.starts_with('<') {
            return Err(ReplyError::Html);
        }
        let value = Json::parse(body).map_err(|error| ReplyError::NoJson(error.to_string()))?;
        Self::read(&value)
    }

    /// Reads the value of a reply. For one prompt some servers return a list with one element.
    pub fn read(value: &Json) -> Result<Self, ReplyError> {
        let value = match value {
            Json::List(list) if list.len() == 1 => list.first().unwrap_or(value),
            other => other,
        };
        if let Some(error) = value.get("error") {
            let message = error.get("message").unwrap_or(error);
            return Err(ReplyError::Refused(message.to_display()));
        }
        let meta = value
            .get("meta_info")
            .and_then(Json::as_object)
            .ok_or(ReplyError::Lacks("`meta_info`"))?;
        let finish_reason = finish_reason(meta)?;
        let text = value.get("text").and_then(Json::as_text).cloned();
        let is_abort = matches!(finish_reason, FinishReason::Abort(_));
        let logprobs = match meta.get("output_token_logprobs") {
            None | Some(Json::Null) => None,
            Some(given) => Some(logprobs(given)?),
        };
        Ok(GenerateReply {
            // The text of an aborted turn is ignored.
            text: match text {
                Some(text) => text,
                None if is_abort => "".into(),
                None => return Err(ReplyError::Lacks("`text`")),
            },
            output_ids: match value.get("output_ids") {
                None | Some(Json::Null) => None,
                Some(given) => Some(ids(given).ok_or(ReplyError::Lacks("token ids"))?),
            },
            finish_reason,
            logprobs,
            weight_version: meta.get("weight_version").and_then(Json::as_text).cloned(),
        })
    }

    /// The sampled tokens, from their own field or from the log probabilities.
    pub fn sampled(&self) -> Option<Vec<TokenId>> {
        let beside = || {
            let logprobs = self.logprobs.as_ref()?.iter();
            Some(logprobs.map(|(_, id)| *id).collect())
        };
        self.output_ids.clone().or_else(beside)
    }
}

fn finish_reason(meta: &Object) -> Result<FinishReason, ReplyError> {
    let reason = meta
        .get("finish_reason")
        .and_then(Json::as_object)
        .ok_or(ReplyError::Lacks("`finish_reason`"))?;
    let kind = reason
        .get("type")
        .and_then(Json::as_text)
        .ok_or(ReplyError::Lacks("the type of `finish_reason`"))?;
    Ok(match &**kind {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "abort" => {
            let message = reason.get("message").and_then(Json::as_text);
            FinishReason::Abort(message.cloned().unwrap_or_else(|| "no reason given".into()))
        }
        _ => FinishReason::Other(kind.clone()),
    })
}

fn ids(value: &Json) -> Option<Vec<TokenId>> {
    let list = value.as_list()?.iter();
    list.map(id).collect()
}

fn id(value: &Json) -> Option<TokenId> {
    TokenId::try_from(value.as_i64()?).ok()
}

/// Log probabilities that are no numbers are unknown: a server whose model overflows sends `NaN`.
fn logprobs(value: &Json) -> Result<Vec<(Option<f64>, TokenId)>, ReplyError> {
    let finite = |value: &Json| value.as_f64().filter(|value| value.is_finite());
    let read = |entry: &Json| match entry.as_list()? {
        [probability, token, ..] => Some((finite(probability), id(token)?)),
        _ => None,
    };
    let list = value
        .as_list()
        .ok_or(ReplyError::Lacks("a list of log probabilities"))?;
    list.iter()
        .map(|entry| read(entry).ok_or(ReplyError::Lacks("log probabilities with token ids")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_slime_sends() {
        let request = GenerateRequest {
            prompt: Prompt::Text("p".to_owned()),
            sampling_params: SamplingParams::default(),
            return_logprob: false,
        };
        assert_eq!(
            request.to_json().to_python_text(),
            "{\"text\": \"p\", \"sampling_params\": {\"temperature\": 1.0, \"top_p\": 1.0, \"top_k\": -1, \
             \"max_new_tokens\": 1024, \"stop\": null, \"stop_token_ids\": null, \"skip_special_tokens\": false, \
             \"no_stop_trim\": true, \"spaces_between_special_tokens\": false}}"
        );
    }

    #[test]
    fn malformed_answers_are_distinguished() {
        let read = GenerateReply::read_body;
        assert_eq!(read(" \n"), Err(ReplyError::Empty));
        assert_eq!(read("<!doctype html><p>"), Err(ReplyError::Html));
        assert!(matches!(read("Not Found"), Err(ReplyError::NoJson(_))));
        assert!(matches!(
            read(r#"{"error": {"message": "too long"}}"#),
            Err(ReplyError::Refused(message)) if message == "too long"
        ));
        assert_eq!(
            read(r#"{"text": "x"}"#),
            Err(ReplyError::Lacks("`meta_info`"))
        );
        let no_text = r#"{"meta_info": {"finish_reason": {"type": "stop"}}}"#;
        assert_eq!(read(no_text), Err(ReplyError::Lacks("`text`")));
        let abort = r#"{"meta_info": {"finish_reason": {"type": "abort", "message": "gone"}}}"#;
        assert_eq!(
            read(abort).map(|reply| reply.finish_reason),
            Ok(FinishReason::Abort("gone".into()))
        );
    }

    #[test]
    fn ids_that_are_no_tokens_are_refused() {
        for ids in ["-1", "4294967296", "1.5", "\"97\"", "null", "[97]"] {
            let beside = |ids: &str, probabilities: &str| {
                GenerateReply::read_body(&format!(
                    r#"{{"text": "a", "output_ids": {ids}, "meta_info": {{"finish_reason": {{"type": "stop"}},
                    "output_token_logprobs": {probabilities}}}}}"#
                ))
            };
            let sampled = beside(&format!("[{ids}]"), "null");
            assert_eq!(sampled, Err(ReplyError::Lacks("token ids")), "{ids}");
            let probabilities = beside("[97]", &format!("[[-0.5, {ids}, null]]"));
            let lacks = ReplyError::Lacks("log probabilities with token ids");
            assert_eq!(probabilities, Err(lacks), "{ids}");
        }
    }

    #[test]
    fn log_probabilities_that_are_no_numbers_are_unknown() {
        let body = r#"{"text": "abcd", "meta_info": {"finish_reason": {"type": "stop"},
            "output_token_logprobs": [[NaN, 97], [-Infinity, 98], ["<b>", 99], [-0.5, 100]]}}"#;
        let reply = GenerateReply::read_body(body).unwrap();
        let known: Vec<_> = reply
            .logprobs
            .unwrap()
            .into_iter()
            .map(|(p, _)| p)
            .collect();
        assert_eq!(known, [None, None, None, Some(-0.5)]);
    }

    #[test]
    fn tokens_are_aligned_with_their_log_probabilities() {
        let body = r#"{"text": "ab", "meta_info": {"finish_reason": {"type": "length", "length": 2},
            "output_token_logprobs": [[-0.5, 97, null], [null, 98, null]]}}"#;
        let reply = GenerateReply::read_body(body);
        assert_eq!(
            reply.as_ref().map(GenerateReply::sampled),
            Ok(Some(vec![97, 98]))
        );
        assert_eq!(
            reply.map(|reply| reply.finish_reason),
            Ok(FinishReason::Length)
        );
    }
}
