//! Reads the replies of a class server, and explains those that cannot be used: what failed, why, and what to do. Pure.

use serde::de::DeserializeOwned;
use volary_app::notice::Notice;
use volary_core::json::{Json, from_json, read};

pub(super) const UNREADABLE: &str = "The class could not be read.";
pub(super) const CHECK: &str = "Check the address of the class.";

/// Why there is no usable reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyError {
    /// The server did not answer.
    Silent(String),
    /// The server, or a proxy before it, cannot answer now.
    Failing { status: u16 },
    /// The server answered with an error, in its own words.
    Refused { status: u16, detail: String },
    /// The reply is not one of a class server.
    Strange,
}

impl ReplyError {
    pub fn of_pupil(self) -> Notice {
        match self {
            ReplyError::Silent(reason) => failed(
                &format!("The class did not answer: {reason}"),
                "Your work is kept in this browser. Check your connection, then hand in again, or save it as a file.",
            ),
            ReplyError::Failing { status } => failed(
                &format!("The server of the class does not work at the moment (status {status})."),
                "Your work is kept in this browser. Hand in again later, or save it as a file.",
            ),
            ReplyError::Refused {
                status: 403,
                detail,
            } => failed(
                &detail,
                "Your work is kept in this browser. You can also save it as a file.",
            ),
            ReplyError::Refused { detail, .. } => {
                failed(&detail, "Your work is kept in this browser.")
            }
            ReplyError::Strange => failed(
                "The address of the class belongs to another program.",
                "Your work is kept in this browser. Ask your teacher for a new link, or save it as a file.",
            ),
        }
    }

    pub fn of_teacher(self) -> Notice {
        match self {
            ReplyError::Silent(reason) => Notice::new(
                UNREADABLE,
                format!("The server did not answer: {reason}"),
                "Check that volary serve runs there with --class, and with --cors-origin and this page's origin if \
                 the page comes from elsewhere.",
            ),
            ReplyError::Failing { status } => Notice::new(
                UNREADABLE,
                format!("The server does not work at the moment (status {status})."),
                "Check that volary serve runs there, and that a proxy before it reaches it.",
            ),
            ReplyError::Refused {
                status: 403,
                detail,
            } => Notice::new(
                UNREADABLE,
                detail,
                "Enter the key that the server printed, or was started with.",
            ),
            ReplyError::Refused { detail, .. } => Notice::new(UNREADABLE, detail, CHECK),
            ReplyError::Strange => Notice::new(
                UNREADABLE,
                "The server has no class.",
                "Start it as volary serve --class FILE.",
            ),
        }
    }
}

pub(super) fn failed(why: &str, advice: &str) -> Notice {
    Notice::new("Your work was not handed in.", why, advice)
}

/// The body of a reply, if its status is one of success.
pub(super) fn body(status: u16, body: String) -> Result<String, ReplyError> {
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let value = read(&body).unwrap_or_default();
    match value.get("detail").and_then(Json::as_text) {
        // The paths of a class do not exist without one.
        Some(detail) if &**detail != "Not Found" => Err(ReplyError::Refused {
            status,
            detail: detail.to_string(),
        }),
        _ if status == 429 || status >= 500 => Err(ReplyError::Failing { status }),
        _ => Err(ReplyError::Strange),
    }
}

pub(super) fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, ReplyError> {
    let value = read(text).map_err(|_| ReplyError::Strange)?;
    from_json(&value).map_err(|_| ReplyError::Strange)
}

#[cfg(test)]
mod tests {
    use volary_classroom::wire::{Receipt, Rows};

    use super::*;

    fn error(status: u16, text: &str) -> ReplyError {
        body(status, text.to_owned()).unwrap_err()
    }

    #[test]
    fn a_reply_is_its_body_or_its_error() {
        assert_eq!(body(200, "{}".to_owned()), Ok("{}".to_owned()));
        assert_eq!(body(201, String::new()), Ok(String::new()));
        let refused = |status, detail: &str| ReplyError::Refused {
            status,
            detail: detail.to_owned(),
        };
        for (status, text, expected) in [
            (
                403,
                r#"{"detail": "The code is wrong."}"#,
                refused(403, "The code is wrong."),
            ),
            (
                500,
                r#"{"detail": "The disk is full."}"#,
                refused(500, "The disk is full."),
            ),
            // A server without a class, and pages of others.
            (404, r#"{"detail": "Not Found"}"#, ReplyError::Strange),
            (404, "<html>", ReplyError::Strange),
            (403, "", ReplyError::Strange),
            (
                422,
                r#"{"detail": [{"loc": ["body"]}]}"#,
                ReplyError::Strange,
            ),
            // A proxy whose server is being restarted says nothing about the address.
            (
                502,
                "<html>Bad Gateway</html>",
                ReplyError::Failing { status: 502 },
            ),
            (503, "", ReplyError::Failing { status: 503 }),
            (429, "Slow down", ReplyError::Failing { status: 429 }),
        ] {
            assert_eq!(error(status, text), expected, "{status} {text}");
        }
    }

    #[test]
    fn a_success_of_another_program_is_no_receipt() {
        let receipt = r#"{"id": "a", "replaced": false, "received": 1.0}"#;
        assert!(parsed::<Receipt>(receipt).is_ok());
        for text in ["", "<html>", "[]", r#"{"status": "ok"}"#] {
            let strange = Some(ReplyError::Strange);
            assert_eq!(parsed::<Receipt>(text).err(), strange, "{text}");
            assert_eq!(
                parsed::<Rows>(text).err(),
                Some(ReplyError::Strange),
                "{text}"
            );
        }
    }

    fn all() -> [ReplyError; 5] {
        [
            ReplyError::Silent("timeout".to_owned()),
            error(502, ""),
            error(403, r#"{"detail": "The code is wrong."}"#),
            error(409, r#"{"detail": "The class is closed."}"#),
            ReplyError::Strange,
        ]
    }

    #[test]
    fn a_pupil_learns_that_the_work_is_kept() {
        for error in all() {
            let notice = error.clone().of_pupil();
            assert_eq!(notice.what, "Your work was not handed in.");
            assert!(
                notice
                    .advice
                    .starts_with("Your work is kept in this browser."),
                "{notice:?}"
            );
        }
        let whys = all().map(|error| error.of_pupil().why);
        let expected = [
            "The class did not answer: timeout",
            "The server of the class does not work at the moment (status 502).",
            "The code is wrong.",
            "The class is closed.",
            "The address of the class belongs to another program.",
        ];
        assert_eq!(whys, expected);
    }

    #[test]
    fn a_teacher_learns_what_to_do_about_the_server() {
        let advice = all().map(|error| {
            let notice = error.of_teacher();
            assert_eq!(notice.what, UNREADABLE);
            notice.advice
        });
        for (advice, expected) in advice.iter().zip([
            "--cors-origin",
            "a proxy before it",
            "Enter the key",
            CHECK,
            "--class FILE",
        ]) {
            assert!(advice.contains(expected), "{advice}");
        }
    }
}
