//! Serves the page: the files of a folder written by `cargo xtask build`, such as `dist/`.
//!
//! Every response has the page's Content-Security-Policy, and headers against sniffing and framing. Other sites may
//! frame only the embedded view (`?embed=1`), which shows one episode and reads nothing that is stored. Only files
//! inside the folder are served: no hidden files, and no targets of symbolic links outside of it.
//!
//! `connections` and `pace` limit what clients occupy, for every server of Volary.

mod connections;
mod pace;
#[cfg(feature = "packed")]
pub mod packed;
mod site;

use std::convert::Infallible;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use html5gum::{Token, Tokenizer};
use tower::{Service, ServiceBuilder};
use tower_http::services::ServeDir;
use tower_http::services::fs::{Backend, TokioBackend};
use tower_http::set_header::SetResponseHeaderLayer;

pub use connections::{ConnectionLimits, OpenConnections, serve_connections, serve_until};
pub use pace::{Pace, is_too_slow};
pub use site::Site;

/// Added to the page's own policy, since it has no effect in a `<meta>` element.
const FRAMES: &str = "frame-ancestors 'self'";

/// The document of the frame in which Python runs. It has its own stricter policy in a `<meta>` element, which would
/// conflict with the page's: the browser enforces both.
const SANDBOX: &str = "/python/{kit}/python.html";

/// Makes the origin of that document opaque, also in a frame without the attribute `sandbox` and in a tab.
const SANDBOXED: &str = "sandbox allow-scripts; frame-ancestors 'self'";

/// Routes for the files of a folder. `not_found` handles all other paths, and methods other than GET and HEAD.
///
/// The policy is read once: a page rebuilt with another policy needs a new router.
pub fn page(folder: &Path, not_found: MethodRouter) -> anyhow::Result<Router> {
    page_with_head(folder, "", not_found)
}

/// The same; the document has these elements at the end of its head.
pub fn page_with_head(
    folder: &Path,
    head: &'static str,
    not_found: MethodRouter,
) -> anyhow::Result<Router> {
    let index = folder.join("index.html");
    let html = std::fs::read_to_string(&index).with_context(|| {
        format!(
            "{} cannot be read; `cargo xtask build` writes the page to dist/",
            index.display()
        )
    })?;
    let folder = folder.canonicalize()?;
    let backend = Contained(folder.as_path().into());
    let files = ServeDir::with_backend(folder, backend)
        .call_fallback_on_method_not_allowed(true)
        .fallback(not_found);
    let document = match head {
        "" => None,
        _ => Some(get(move || async move { document(&index, head).await })),
    };
    with_headers(&html, files, document)
}

/// The routes for the files of a page, with its policy and the other headers. `html` is the text of its document, and
/// `document` answers for it if the files do not.
fn with_headers<S, B>(
    html: &str,
    files: S,
    document: Option<MethodRouter>,
) -> anyhow::Result<Router>
where
    S: Service<Request, Response = axum::http::Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: 'static,
    axum::http::Response<B>: IntoResponse,
{
    let policies = policies(html);
    if policies.is_empty() {
        tracing::warn!("the page has no Content-Security-Policy");
    }
    // A worker obeys the policy of its own response and never that of the page's <meta> element, so
    // every file carries the policy.
    let policy = header_of(&policies);
    let policy =
        HeaderValue::from_str(&policy).context("the Content-Security-Policy of the page")?;
    let common = ServiceBuilder::new()
        // A rebuilt page is picked up at the next load: the page is small, and unchanged files cost a 304.
        .layer(set(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-cache"),
        ))
        .layer(set(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .layer(set(
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ));
    let page = common
        .clone()
        .layer(set(header::CONTENT_SECURITY_POLICY, policy));
    let sandbox = common
        .layer(set(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(SANDBOXED),
        ))
        .service(files.clone());
    let mut routes = Router::new().route_service(SANDBOX, sandbox);
    if let Some(document) = document {
        let document = page.clone().service(document);
        routes = routes
            .route_service("/", document.clone())
            .route_service("/index.html", document);
    }
    let page = page.service(files);
    Ok(routes.fallback_service(page).layer(from_fn(frameable)))
}

/// Lets other sites frame the document of the embedded view. Its script starts nothing else for such an address.
async fn frameable(request: Request, next: Next) -> Response {
    let is_embedded = is_embedded(request.uri());
    let mut response = next.run(request).await;
    let policy = response.headers().get(header::CONTENT_SECURITY_POLICY);
    let policy = policy.and_then(|policy| policy.to_str().ok());
    let open = policy.and_then(|policy| {
        let open = policy.strip_suffix(FRAMES)?.trim_end_matches("; ");
        HeaderValue::from_str(open).ok()
    });
    if let Some(open) = open.filter(|_| is_embedded) {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, open);
    }
    response
}

/// Whether a request is for the document of the embedded view.
pub fn is_embedded(uri: &Uri) -> bool {
    let mut query = uri.query().unwrap_or_default().split('&');
    is_document(uri) && query.any(|part| part == "embed=1")
}

/// Whether a request is for the document of the page, in whatever view.
pub fn is_document(uri: &Uri) -> bool {
    matches!(uri.path(), "/" | "/index.html")
}

/// The document with these elements at the end of its head. It is read again at each request: the page may be rebuilt.
async fn document(index: &Path, head: &str) -> Response {
    match tokio::fs::read_to_string(index).await {
        Ok(html) => Html(with_head(&html, head)).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

fn with_head(html: &str, head: &str) -> String {
    html.replacen("</head>", &format!("{head}</head>"), 1)
}

fn set(name: HeaderName, value: HeaderValue) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, value)
}

/// The Content-Security-Policies in the `<meta>` elements of a document, in order.
pub fn policies(html: &str) -> Vec<String> {
    let mut policies = Vec::new();
    for Ok(token) in Tokenizer::new(html) {
        let Token::StartTag(tag) = token else {
            continue;
        };
        let attribute = |name: &[u8]| {
            let value = tag.attributes.get(name)?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        let is_policy = attribute(b"http-equiv")
            .is_some_and(|name| name.eq_ignore_ascii_case("content-security-policy"));
        if *tag.name == *b"meta" && is_policy {
            policies.extend(attribute(b"content"));
        }
    }
    policies
}

/// The value of the header: browsers enforce every policy of a list.
fn header_of(policies: &[String]) -> String {
    let on_one_line = |policy: &String| {
        let words: Vec<&str> = policy.split_whitespace().collect();
        words.join(" ").trim_end_matches(';').to_owned()
    };
    let policies: Vec<String> = policies.iter().map(on_one_line).collect();
    if policies.is_empty() {
        return FRAMES.to_owned();
    }
    format!("{}; {FRAMES}", policies.join(", "))
}

/// The files inside of a folder, which is given as a canonical path.
#[derive(Clone)]
struct Contained(Arc<Path>);

impl Contained {
    /// Follows links. Fails with `NotFound` if the file is hidden or outside of the folder.
    async fn resolve(&self, path: PathBuf) -> io::Result<PathBuf> {
        let file = tokio::fs::canonicalize(path).await?;
        let inside = file.strip_prefix(&self.0);
        if inside.is_ok_and(|inside| !inside.components().any(is_hidden)) {
            Ok(file)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

fn is_hidden(part: Component<'_>) -> bool {
    part.as_os_str().as_encoded_bytes().starts_with(b".")
}

impl Backend for Contained {
    type File = <TokioBackend as Backend>::File;
    type Metadata = <TokioBackend as Backend>::Metadata;
    type OpenFuture = <TokioBackend as Backend>::OpenFuture;
    type MetadataFuture = <TokioBackend as Backend>::MetadataFuture;

    fn open(&self, path: PathBuf) -> Self::OpenFuture {
        let files = self.clone();
        Box::pin(async move { TokioBackend.open(files.resolve(path).await?).await })
    }

    fn metadata(&self, path: PathBuf) -> Self::MetadataFuture {
        let files = self.clone();
        Box::pin(async move { TokioBackend.metadata(files.resolve(path).await?).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_however_a_minifier_writes_them() {
        for html in [
            r#"<head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'">"#,
            r#"<html lang=en><META content="default-src 'none'; img-src 'self'" http-equiv=content-security-policy>"#,
            "<meta http-equiv=Content-Security-Policy content='default-src &#39;none&#39;;\n  img-src &apos;self&apos;;'>",
        ] {
            assert_eq!(
                header_of(&policies(html)),
                "default-src 'none'; img-src 'self'; frame-ancestors 'self'",
                "{html}"
            );
        }
        let none = r#"<!-- <meta http-equiv="Content-Security-Policy" content="x"> --><meta name=a content=b>"#;
        assert_eq!(header_of(&policies(none)), FRAMES);
        let two = ["default-src 'self'".to_owned(), "img-src 'none'".to_owned()];
        assert_eq!(
            header_of(&two),
            "default-src 'self', img-src 'none'; frame-ancestors 'self'"
        );
    }

    #[test]
    fn the_policy_of_the_page_is_found() {
        let html = include_str!("../../../index.html");
        let policy = header_of(&policies(html));
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'"),
            "{policy}"
        );
    }
}
