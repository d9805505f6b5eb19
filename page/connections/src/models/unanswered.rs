//! A failed request: its error, and whether sending it again may help.

use volary_agent::model::exchange::Exchange;
use volary_agent::model::{Answer, ModelError};
use volary_connectivity::{Cause, RequestingPage, Silence};

use volary_browser::http::HttpError;
use volary_browser::network;

/// A failed request, with partial output.
#[derive(Clone, Debug, PartialEq)]
pub struct Unanswered {
    pub error: ModelError,
    /// The HTTP error that caused it, if there was one.
    pub(super) transport_error: Option<HttpError>,
    /// The diagnosis, if there was no response.
    pub(super) silence: Option<Silence>,
    /// Partial output, without the key.
    pub partial: Option<Answer>,
    /// The last request and its response.
    pub exchange: Exchange,
}

impl Unanswered {
    pub(super) fn of_reply(error: ModelError, exchange: Exchange) -> Self {
        Unanswered {
            error,
            transport_error: None,
            silence: None,
            partial: None,
            exchange,
        }
    }

    pub(super) fn of_transport(error: HttpError, exchange: Exchange) -> Self {
        Unanswered {
            transport_error: Some(error.clone()),
            ..Unanswered::of_reply(model_error(error), exchange)
        }
    }

    /// Diagnoses a missing response, for which the browser gives no reason.
    pub(super) async fn find_out(&mut self, base_url: &str) {
        if let Some(HttpError::NoReply { .. }) = self.transport_error {
            let silence = network::probe(base_url).await;
            self.explain(base_url, &network::page(), silence);
        }
    }

    /// Replaces the browser's error with the cause that the observations show.
    fn explain(&mut self, base_url: &str, page: &RequestingPage, silence: Silence) {
        let why = Cause::of(base_url, page, &silence).why(base_url, page);
        self.error = ModelError::Unreachable { reason: why.into() };
        self.silence = Some(silence);
    }

    /// Whether a retry is useless, even if errors of this kind are usually transient. `has_answered` if the server
    /// ever responded.
    pub(super) fn is_hopeless(
        &self,
        base_url: &str,
        page: &RequestingPage,
        has_answered: bool,
    ) -> bool {
        match self.transport_error {
            Some(HttpError::Redirected | HttpError::Unsendable { .. }) => true,
            Some(HttpError::NoReply { .. }) => {
                let silence = self.silence.as_ref();
                let cause = silence.map(|silence| Cause::of(base_url, page, silence));
                cause.is_some_and(|cause| !cause.may_pass()) || !has_answered
            }
            _ => false,
        }
    }
}

/// The error of a model for an error of its connection.
pub(super) fn model_error(error: HttpError) -> ModelError {
    match error {
        HttpError::Silent { seconds } => ModelError::Silent { seconds },
        HttpError::Broken { .. } => ModelError::Cut,
        HttpError::TooLarge { limit } => ModelError::TooLarge {
            limit_megabytes: limit / 1_000_000,
        },
        other => ModelError::Unreachable {
            reason: other.to_string().into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "https://models.example/v1";

    fn page() -> RequestingPage {
        RequestingPage::of("https://volary.example").expect("an origin")
    }

    fn no_reply() -> HttpError {
        HttpError::NoReply {
            reason: "TypeError: Failed to fetch".to_owned(),
        }
    }

    fn silence(answers_without_cors: bool, is_online: bool) -> Silence {
        Silence {
            answers_without_cors: Some(answers_without_cors),
            permission: None,
            is_online,
        }
    }

    fn silent(silence: Silence) -> Unanswered {
        let mut unanswered = Unanswered::of_transport(no_reply(), Exchange::default());
        unanswered.explain(SERVER, &page(), silence);
        unanswered
    }

    #[test]
    fn a_missing_response_has_a_cause_instead_of_the_browsers_words() {
        let unanswered = silent(silence(true, true));
        let ModelError::Unreachable { reason } = &unanswered.error else {
            panic!("{:?}", unanswered.error);
        };
        assert!(reason.contains("CORS"), "{reason}");
        assert!(!reason.contains("TypeError"), "{reason}");
    }

    #[test]
    fn what_the_browser_forbids_is_not_tried_again() {
        let cors = silent(silence(true, true));
        assert!(cors.is_hopeless(SERVER, &page(), true));
        for error in [
            HttpError::Redirected,
            HttpError::Unsendable {
                reason: "bad header".to_owned(),
            },
        ] {
            let unanswered = Unanswered::of_transport(error, Exchange::default());
            assert!(unanswered.is_hopeless(SERVER, &page(), true));
        }
    }

    #[test]
    fn a_server_that_answered_before_may_answer_again() {
        for observed in [silence(false, true), silence(false, false)] {
            let unanswered = silent(observed);
            assert!(!unanswered.is_hopeless(SERVER, &page(), true));
            // The address is probably wrong: waiting would hide it.
            assert!(unanswered.is_hopeless(SERVER, &page(), false));
        }
    }

    #[test]
    fn an_interrupted_response_is_tried_again() {
        let errors = [
            HttpError::Silent { seconds: 120 },
            HttpError::Broken {
                reason: "reset".to_owned(),
            },
        ];
        for error in errors {
            let unanswered = Unanswered::of_transport(error, Exchange::default());
            assert!(!unanswered.is_hopeless(SERVER, &page(), false));
        }
        let busy = Unanswered::of_reply(ModelError::Cut, Exchange::default());
        assert!(!busy.is_hopeless(SERVER, &page(), false));
    }

    #[test]
    fn errors_of_the_connection_are_named() {
        let too_large = HttpError::TooLarge { limit: 20_000_000 };
        assert_eq!(
            model_error(too_large),
            ModelError::TooLarge {
                limit_megabytes: 20
            }
        );
        assert_eq!(
            model_error(HttpError::Silent { seconds: 9 }),
            ModelError::Silent { seconds: 9 }
        );
        let redirected = model_error(HttpError::Redirected);
        let ModelError::Unreachable { reason } = redirected else {
            panic!("{redirected:?}");
        };
        assert!(reason.contains("final address"), "{reason}");
    }
}
