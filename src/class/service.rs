//! Requests to a class server. Each names what failed, why, and what to do.
//!
//! Invariant: the key of a request is one for the origin of its address; the callers look it up by that origin.

use std::time::Duration;

use leptos::prelude::untrack;
use serde::de::DeserializeOwned;
use volary_agent::model::ApiKey;
use volary_app::class::board::ClassServer;
use volary_classroom::wire::{CLASS, ClassInfo, HAND_INS, Receipt, Rows, Submission};
use volary_classroom::{BoardRow, Class, HandIn};
use volary_connectivity::linked_file::LinkedFile;
use volary_core::json::{Json, from_json, read};
use volary_remote::KEY_HEADER;

use crate::browser::http::{self, Request, Timeouts};
use crate::browser::{location, network};
use crate::projection::notice::Notice;
use crate::secrets::{self, KeyOrigin};

const TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum size of a reply, in bytes.
const LARGEST: usize = 64 << 20;

/// The owner of the keys of classes in the key store.
pub const OWNER: &str = "class";

/// The address of a class server; the reason if nothing may be sent there.
pub fn address(url: &str) -> Result<String, String> {
    let whole = location::whole(url.trim()).unwrap_or_default();
    match LinkedFile::of(&whole, &network::page().origin) {
        LinkedFile::SameOrigin { url } => Ok(url),
        LinkedFile::Elsewhere(file) => Ok(file.url),
        LinkedFile::Refused(why) => Err(why.to_string()),
    }
    .map(|url| url.trim_end_matches('/').to_owned())
}

/// The class server of an address and a typed key. Without a key, the one that is known for its origin is used. The
/// reason if nothing may be sent there.
pub fn server(url: &str, key: &str) -> Result<ClassServer, String> {
    let url = address(url)?;
    let key = match key.trim() {
        "" => untrack(|| secrets::key(OWNER, &KeyOrigin::of(&url))),
        typed => ApiKey::new(typed),
    };
    Ok(ClassServer { url, key })
}

/// Stores the key of a server. If it cannot be stored, it is known until the page is left.
pub fn store_key(server: &ClassServer) {
    let _ = secrets::put(OWNER, &KeyOrigin::of(&server.url), &server.key);
}

/// Hands in. The server has stored it once this returns.
pub async fn hand_in(class: &Class, submission: &Submission) -> Result<Receipt, Notice> {
    let url = address(&class.url).map_err(|why| failed(&why, CHECK))?;
    let body = Some(submission.to_text());
    let request = request("POST", format!("{url}{HAND_INS}"), &class.code, body);
    parsed(&ask(request).await.map_err(|problem| problem.of_pupil())?)
        .map_err(|problem| problem.of_pupil())
}

/// What the class server tells the teacher: the class, its code for pupils, and its assignments.
pub async fn info(url: &str, key: &ApiKey) -> Result<ClassInfo, Notice> {
    get(url, CLASS, key).await
}

/// The rows of the board.
pub async fn rows(url: &str, key: &ApiKey) -> Result<Vec<BoardRow>, Notice> {
    Ok(get::<Rows>(url, HAND_INS, key).await?.rows)
}

/// Fetches a hand-in with its episodes.
pub async fn whole(url: &str, key: &ApiKey, id: &str) -> Result<HandIn, Notice> {
    let url = format!("{url}{HAND_INS}/{id}");
    let reply = ask(request("GET", url, key.expose(), None)).await;
    let reply = reply.map_err(|problem| problem.of_teacher())?;
    HandIn::read(&reply).map_err(|error| Notice::new(UNREADABLE, error.to_string(), CHECK))
}

async fn get<T: DeserializeOwned>(url: &str, path: &str, key: &ApiKey) -> Result<T, Notice> {
    let reply = ask(request("GET", format!("{url}{path}"), key.expose(), None)).await;
    let reply = reply.map_err(|problem| problem.of_teacher())?;
    parsed(&reply).map_err(|problem| problem.of_teacher())
}

const UNREADABLE: &str = "The class could not be read.";
const CHECK: &str = "Check the address of the class.";

fn failed(why: &str, advice: &str) -> Notice {
    Notice::new("Your work was not handed in.", why, advice)
}

/// Why there is no usable reply.
enum ReplyError {
    /// The server did not answer.
    Silent(String),
    /// The server answered with an error, in its own words.
    Refused { status: u16, detail: String },
    /// The reply is not one of a class server.
    Strange,
}

impl ReplyError {
    fn of_pupil(self) -> Notice {
        match self {
            ReplyError::Silent(reason) => failed(
                &format!("The class did not answer: {reason}"),
                "Your work is kept in this browser. Check your connection, then hand in again, or save it as a file.",
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

    fn of_teacher(self) -> Notice {
        match self {
            ReplyError::Silent(reason) => Notice::new(
                UNREADABLE,
                format!("The server did not answer: {reason}"),
                "Check that volary serve runs there with --class, and with --cors-origin and this page's origin if \
                 the page comes from elsewhere.",
            ),
            ReplyError::Refused {
                status: 403,
                detail,
            } => Notice::new(
                UNREADABLE,
                detail,
                "Enter the key that the server was started with.",
            ),
            ReplyError::Refused { detail, .. } => Notice::new(UNREADABLE, detail, CHECK),
            ReplyError::Strange => Notice::new(
                UNREADABLE,
                "The server has no class.",
                "Start it as volary serve --class FILE --class-key KEY.",
            ),
        }
    }
}

fn request(method: &'static str, url: String, key: &str, body: Option<String>) -> Request {
    let mut headers = vec![(KEY_HEADER, key.to_owned())];
    if body.is_some() {
        headers.push(("Content-Type", "application/json".to_owned()));
    }
    Request {
        method,
        url,
        headers,
        body,
        own_cookies: false,
    }
}

async fn ask(request: Request) -> Result<String, ReplyError> {
    if !network::is_online() {
        return Err(ReplyError::Silent(
            "there is no network connection.".to_owned(),
        ));
    }
    let reply = http::fetch(&request, Timeouts::of(TIMEOUT), LARGEST).await;
    let reply = reply.map_err(|error| ReplyError::Silent(error.to_string()))?;
    if (200..300).contains(&reply.status) {
        return Ok(reply.body);
    }
    let value = read(&reply.body).unwrap_or_default();
    match value.get("detail").and_then(Json::as_text) {
        // The paths of a class do not exist without one.
        Some(detail) if &**detail != "Not Found" => Err(ReplyError::Refused {
            status: reply.status,
            detail: detail.to_string(),
        }),
        _ => Err(ReplyError::Strange),
    }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, ReplyError> {
    let value = read(text).map_err(|_| ReplyError::Strange)?;
    from_json(&value).map_err(|_| ReplyError::Strange)
}
