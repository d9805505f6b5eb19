//! Recorded requests and responses of a model in words.

use volary_agent::model::Exchange;
use volary_agent::model::exchange::{KeptError, KeptReply, Timing};
use volary_core::quantity::size_text;

use super::summary::seconds_text;

/// The name of a request among those of a step: its number, from 1, and what came of it.
pub fn request_text(number: usize, exchange: &Result<Exchange, KeptError>) -> String {
    let outcome = match exchange.as_ref().map(|exchange| &exchange.reply) {
        Ok(Some(reply)) => status_text(reply.status),
        Ok(None) => "no response".to_owned(),
        Err(_) => "unreadable".to_owned(),
    };
    format!("Request {number} ({outcome})")
}

/// The HTTP status; 0 stands for a failed call of the browser's own model.
pub fn status_text(status: u16) -> String {
    match status {
        0 => "failed".to_owned(),
        status => status.to_string(),
    }
}

/// Whether a status is a success.
pub fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// How long a response took and how large it is.
pub fn reply_facts(timing: Timing, reply: &KeptReply) -> String {
    let mut facts = vec![format!("{} in total", seconds_text(timing.latency))];
    if let Some(first) = timing.first_token {
        facts.push(format!("first token after {}", seconds_text(first)));
    }
    facts.push(size_text(reply.bytes as u64));
    facts.join(" · ")
}

/// Says that only the beginning of a response was stored.
pub fn cut_text(reply: &KeptReply) -> Option<String> {
    let kept = reply.kept_bytes()?;
    Some(format!(
        "Only the first {} are stored.",
        size_text(kept as u64)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, bytes: usize) -> KeptReply {
        KeptReply {
            status,
            bytes,
            ..KeptReply::default()
        }
    }

    #[test]
    fn requests_are_told_apart_by_what_came_of_them() {
        let exchange = |reply| {
            Ok(Exchange {
                reply,
                ..Exchange::default()
            })
        };
        assert_eq!(
            request_text(1, &exchange(Some(reply(429, 0)))),
            "Request 1 (429)"
        );
        assert_eq!(
            request_text(2, &exchange(Some(reply(0, 0)))),
            "Request 2 (failed)"
        );
        assert_eq!(request_text(3, &exchange(None)), "Request 3 (no response)");
    }

    #[test]
    fn only_statuses_of_the_two_hundreds_are_successes() {
        let successes = [0, 199, 200, 204, 299, 300, 404].map(is_success);
        assert_eq!(successes, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn facts_have_the_first_token_only_of_streams() {
        let timing = |first_token| Timing {
            first_token,
            latency: 2.5,
            before: 0.0,
        };
        assert_eq!(
            reply_facts(timing(None), &reply(200, 1_500)),
            "2.5 s in total · 1.5 kB"
        );
        assert_eq!(
            reply_facts(timing(Some(0.4)), &reply(200, 10)),
            "2.5 s in total · first token after 400 ms · 10 B"
        );
    }

    #[test]
    fn a_cut_response_says_so() {
        assert_eq!(cut_text(&reply(200, 1_000_000)), None);
        assert_eq!(
            cut_text(&reply(200, 1_000_001)).as_deref(),
            Some("Only the first 1.0 MB are stored.")
        );
    }
}
