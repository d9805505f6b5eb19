//! Why a file could not be fetched, and what to do. Pure.

use volary_app::notice::Notice;
use volary_connectivity::{Cause, RequestingPage};
use volary_protocol::library::Unfetched;

const BY_HAND: &str = "Download the file with your browser and import it here.";

/// The error of a file whose server sent a response that the page may read.
pub fn answered(unfetched: &Unfetched) -> Notice {
    let advice = match unfetched.status {
        Some(404) => "Check the address.",
        _ => BY_HAND,
    };
    Notice::new(what(unfetched), unfetched.reason.to_string(), advice)
}

/// The error of a file without a readable response, by its likely cause. Telling some causes apart would take another
/// request, to which nobody agreed.
pub fn unanswered(unfetched: &Unfetched, page: &RequestingPage, cause: Cause) -> Notice {
    let (why, advice) = match cause {
        Cause::Cors | Cause::NobodyNear | Cause::NobodyFar => (
            format!(
                "No readable response. Either the address does not respond, or its server does \
                 not allow pages of {} to read its files (CORS). Browsers do not tell which.",
                page.origin
            ),
            format!(
                "{BY_HAND} Or configure the other site to send the header \
                 Access-Control-Allow-Origin. Sites that offer raw files (GitHub, Hugging \
                 Face) do."
            ),
        ),
        cause => (
            cause.why(&unfetched.url, page),
            format!("{} {BY_HAND}", cause.in_the_browser().unwrap_or_default()),
        ),
    };
    Notice::new(what(unfetched), why, advice.trim().to_owned())
}

fn what(unfetched: &Unfetched) -> String {
    format!("{} could not be fetched.", unfetched.url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfetched(status: Option<u16>) -> Unfetched {
        Unfetched {
            url: "http://files.example/a.jsonl".into(),
            reason: "The server responded with an error.".into(),
            status,
            answered: status.is_some(),
        }
    }

    fn explained(cause: Cause) -> Notice {
        let page = RequestingPage::of("https://volary.example").expect("an origin");
        unanswered(&unfetched(None), &page, cause)
    }

    #[test]
    fn a_missing_file_is_perhaps_misspelt() {
        let notice = answered(&unfetched(Some(404)));
        assert_eq!(
            notice.what,
            "http://files.example/a.jsonl could not be fetched."
        );
        assert_eq!(notice.advice, "Check the address.");
        assert_eq!(answered(&unfetched(Some(403))).advice, BY_HAND);
    }

    #[test]
    fn causes_that_a_page_cannot_tell_apart_are_named_together() {
        let causes = [Cause::Cors, Cause::NobodyFar, Cause::NobodyNear];
        let [cors, ..] = causes.map(|cause| {
            let notice = explained(cause);
            assert!(notice.why.contains("does not respond"), "{notice:?}");
            assert!(notice.why.contains("https://volary.example"), "{notice:?}");
            assert!(notice.advice.starts_with(BY_HAND), "{notice:?}");
            notice
        });
        assert_eq!(cors, explained(Cause::NobodyFar));
    }

    #[test]
    fn a_cause_that_is_known_is_named_with_its_remedy() {
        let offline = explained(Cause::Offline);
        assert!(offline.why.contains("offline"), "{offline:?}");
        assert!(!offline.advice.contains("CORS"), "{offline:?}");
        for cause in [Cause::MixedContent, Cause::Offline] {
            let advice = explained(cause).advice;
            assert!(advice.ends_with(BY_HAND), "{advice}");
            assert_eq!(advice.trim(), advice);
        }
    }
}
