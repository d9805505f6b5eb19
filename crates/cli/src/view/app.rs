//! The routes of `volary view`.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tower::ServiceExt;

use super::access;
use super::answers;
use super::failure::Failure;
use super::files;
use super::heads;
use super::json_lines::LINES;
use super::listing::Listing;
use super::live;
use super::notes_api;
use super::search;
use super::served::View;

/// The elements that give the page the address of its library.
pub const HEAD: &str = "<link rel=\"volary-library preload\" as=\"fetch\" crossorigin href=\"./api/library.json\"><script src=\"./view/open.js\"></script>";

/// The same for a browser without the cookie: the page starts once the token was exchanged for it.
pub const ENTRANCE: &str = "<link rel=\"volary-library\" href=\"./api/library.json\"><script src=\"./view/enter.js\"></script>";

/// The Content-Security-Policy of responses that are not the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The maximum number of threads that read or write files. Includes those that hang on a disk.
pub const READS: usize = 48;
/// The chunk size of the list. The first chunks are smaller, so that rows appear soon.
const CHUNK: usize = 32 << 10;
/// How long a thread looks for the files of a chunk, in folders with many others, before others have their turn.
const TURN: Duration = Duration::from_secs(1);
/// The maximum size of the request that exchanges the token, in bytes. Anyone can send it.
const LARGEST_TOKEN: usize = 16 << 10;

/// The routes; `page` handles all other paths, and `entrance` answers with the document for browsers without the cookie.
pub fn app(view: View, page: Router, entrance: Router) -> Router {
    let api = Router::new()
        .route("/library.json", get(library))
        .route("/files", get(list))
        .route("/file/{*address}", get(files::file))
        .route(
            "/heads",
            post(heads::heads).layer(DefaultBodyLimit::max(heads::LARGEST)),
        )
        .route("/events", get(live::events))
        .route("/search", get(search::search))
        .route(
            "/notes",
            get(notes_api::read_all)
                .post(notes_api::append_all)
                .layer(DefaultBodyLimit::max(notes_api::LARGEST)),
        )
        .route("/answers", get(answers::read))
        .layer(from_fn_with_state(Arc::clone(&view), access::check_session));
    let api = api
        .route(
            "/session",
            post(enter).layer(DefaultBodyLimit::max(LARGEST_TOKEN)),
        )
        .route("/openapi.json", get(openapi))
        .method_not_allowed_fallback(|| async { Failure::NotAllowed })
        .fallback(|| async { Failure::NotFound });
    let entrance = Entrance {
        view: Arc::clone(&view),
        document: entrance,
    };
    let page = page.layer(from_fn_with_state(entrance, let_in));
    Router::new()
        .nest("/api", api)
        .route("/view/enter.js", script(include_str!("enter.js")))
        .route("/view/open.js", script(include_str!("open.js")))
        .route(
            "/service-worker.js",
            script(include_str!("service-worker.js")),
        )
        .fallback_service(page)
        .layer(from_fn_with_state(Arc::clone(&view), access::check_source))
        .layer(from_fn(harden))
        .with_state(view)
}

fn script(text: &'static str) -> axum::routing::MethodRouter<View> {
    get(move || async move { ([(header::CONTENT_TYPE, "text/javascript")], text) })
}

/// The response for unknown paths.
pub fn not_found() -> axum::routing::MethodRouter {
    any(|| async { Failure::NotFound })
}

/// Middleware that sets the security headers of all responses. Stricter headers of the page are preserved.
async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    };
    set(header::CACHE_CONTROL, "no-store");
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::REFERRER_POLICY, "no-referrer");
    set(
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    );
    response
}

/// The document for browsers without the cookie.
#[derive(Clone)]
struct Entrance {
    view: View,
    document: Router,
}

/// Middleware that shows requests without the cookie the document that exchanges the token for it.
async fn let_in(State(entrance): State<Entrance>, request: Request, next: Next) -> Response {
    let is_document = matches!(request.uri().path(), "/" | "/index.html");
    if !is_document || entrance.view.access.is_in(request.headers()) {
        return next.run(request).await;
    }
    match entrance.document.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

#[derive(Deserialize)]
struct Entering {
    token: String,
}

/// `POST /api/session`
async fn enter(
    State(view): State<View>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Failure> {
    let entering: Entering = serde_json::from_slice(&body).map_err(|_| Failure::WrongToken)?;
    let cookie = view.access.enter(&entering.token, &headers).await;
    let cookie = cookie.ok_or(Failure::WrongToken)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

/// `GET /api/library.json`
async fn library(State(view): State<View>) -> Response {
    let files = view.urls.iter().map(|url| {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let name = path.rsplit('/').find(|part| !part.is_empty());
        json!({ "name": name.unwrap_or_default(), "url": url })
    });
    let files: Vec<_> = files.collect();
    let mut manifest = json!({
        "title": view.title, "files": files, "list": "files", "heads": "heads", "events": "events",
    });
    if view.notes.is_some() {
        manifest["notes"] = json!("notes");
    }
    if answers::are_there(&view).await {
        manifest["answers"] = json!("answers");
    }
    axum::Json(manifest).into_response()
}

/// `GET /api/files`: one line per file, streamed while the folders are read. Nothing is read while the client is slow.
async fn list(State(view): State<View>) -> Response {
    let listing = Some(Listing::of(&view.roots));
    let chunks = stream::try_unfold(
        (view, listing, 1),
        |(view, mut listing, first)| async move {
            while let Some(rest) = listing {
                let (text, rest) = view.disk.run(move || Ok(chunk(rest, first))).await?;
                if !text.is_empty() {
                    let next = (first * 4).min(CHUNK);
                    return Ok(Some((text, (view, rest, next))));
                }
                listing = rest;
            }
            io::Result::Ok(None)
        },
    );
    (LINES, Body::from_stream(chunks)).into_response()
}

/// The next lines of a list, and what remains.
fn chunk(mut listing: Listing, size: usize) -> (Bytes, Option<Listing>) {
    let start = Instant::now();
    let mut text = Vec::new();
    while text.len() < size && start.elapsed() < TURN {
        let Some(line) = listing.next() else {
            return (text.into(), None);
        };
        let before = text.len();
        if let Some(line) = line {
            match serde_json::to_writer(&mut text, &line) {
                Ok(()) => text.push(b'\n'),
                Err(_) => text.truncate(before),
            }
        }
    }
    (text.into(), Some(listing))
}

/// `GET /api/openapi.json`
async fn openapi() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, include_str!("openapi.json")).into_response()
}
