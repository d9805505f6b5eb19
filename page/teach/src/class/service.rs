//! Requests to a class server. Each names what failed, why, and what to do.
//!
//! Invariant: the key of a request is one for the origin of its address; the callers look it up by that origin.

use std::time::Duration;

use leptos::prelude::untrack;
use serde::de::DeserializeOwned;
use volary_agent::model::ApiKey;
use volary_app::class::board::ClassServer;
use volary_app::notice::Notice;
use volary_classroom::wire::{CLASS, ClassInfo, HAND_INS, Receipt, Rows, Submission};
use volary_classroom::{BoardRow, Class, HandIn};
use volary_connectivity::linked_file::LinkedFile;
use volary_remote::KEY_HEADER;

use super::reply::{self, CHECK, ReplyError, UNREADABLE, failed, parsed};
use volary_browser::http::{self, Request, Timeouts};
use volary_browser::{location, network};
use volary_secrets::{self as secrets, KeyOrigin};

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
    let answer = http::fetch(&request, Timeouts::of(TIMEOUT), LARGEST).await;
    let answer = answer.map_err(|error| ReplyError::Silent(error.to_string()))?;
    reply::body(answer.status, answer.body)
}
