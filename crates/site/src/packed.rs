//! Serves a page that is inside of a program: files in memory, most of them compressed.
//!
//! A compressed file is sent as it is to browsers that accept gzip, and unpacked for others.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, any, get};
use tower::Service;

use crate::{with_head, with_headers};

/// The document of the page.
const INDEX: &str = "index.html";

/// A gzip stream without a file name: its head, and the checksum and length at its end.
const GZIP_HEAD: usize = 10;
const GZIP_END: usize = 8;

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PackedFile {
    /// With slashes, relative to the page.
    pub path: &'static str,
    /// Changes with the content. Without quotes.
    pub tag: &'static str,
    /// Whether `bytes` are a gzip stream with a head of ten bytes.
    pub is_gzip: bool,
    pub bytes: &'static [u8],
}

impl PackedFile {
    /// The uncompressed bytes.
    ///
    /// # Errors
    /// If the stream is damaged.
    pub fn content(&self) -> Result<Cow<'static, [u8]>> {
        if !self.is_gzip {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let stream = GZIP_HEAD..self.bytes.len().saturating_sub(GZIP_END);
        let stream = self.bytes.get(stream).unwrap_or_default();
        match miniz_oxide::inflate::decompress_to_vec(stream) {
            Ok(content) => Ok(Cow::Owned(content)),
            Err(_) => bail!("{} is damaged in this program", self.path),
        }
    }

    fn response(&self, headers: &HeaderMap) -> Response {
        // Both forms have one tag, which is weak therefore.
        let tag = format!("W/\"{}\"", self.tag);
        let common = [
            (header::ETAG, tag.clone()),
            (header::VARY, "accept-encoding".to_owned()),
        ];
        let known = headers.get_all(header::IF_NONE_MATCH).iter();
        let mut known = known.filter_map(|tags| tags.to_str().ok());
        if known.any(|tags| tags.split(',').any(|known| known.trim() == tag)) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        let kind = mime_guess::from_path(self.path).first_raw();
        let kind = [(
            header::CONTENT_TYPE,
            kind.unwrap_or("application/octet-stream"),
        )];
        if self.is_gzip && accepts_gzip(headers) {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            return (common, kind, encoding, self.bytes).into_response();
        }
        match self.content() {
            Ok(Cow::Borrowed(content)) => (common, kind, content).into_response(),
            Ok(Cow::Owned(content)) => (common, kind, content).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

/// Routes like those of [`crate::page_with_head`], for files sorted by path.
pub fn page_with_head(
    files: &'static [PackedFile],
    head: &'static str,
    not_found: MethodRouter,
) -> Result<Router> {
    let html = find(files, INDEX).context("the page in this program has no index.html")?;
    let html = String::from_utf8(html.content()?.into_owned())?;
    let document = match head {
        "" => None,
        _ => {
            let html = with_head(&html, head);
            Some(get(move || async move { Html(html) }))
        }
    };
    let files = any(move |request: Request| async move {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let path = request.uri().path().trim_start_matches('/');
        // A request for a folder is one for its document.
        let path = if path.is_empty() { INDEX } else { path };
        match find(files, path).filter(|_| is_read) {
            Some(file) => file.response(request.headers()),
            None => {
                let mut not_found = not_found.clone();
                let answer = not_found.call(request).await;
                answer.unwrap_or_else(|never| match never {})
            }
        }
    });
    with_headers(&html, files, document)
}

/// Writes all files into a folder.
pub fn write(files: &[PackedFile], folder: &Path) -> Result<()> {
    for file in files {
        let path = folder.join(file.path);
        let unwritable = || format!("cannot write {}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(unwritable)?;
        }
        fs::write(&path, file.content()?).with_context(unwritable)?;
    }
    Ok(())
}

fn find(files: &'static [PackedFile], path: &str) -> Option<&'static PackedFile> {
    let place = files.binary_search_by(|file| file.path.cmp(path)).ok()?;
    files.get(place)
}

/// Whether the client accepts gzip, with any weight but zero.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let values = values.filter_map(|value: &HeaderValue| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=");
        let is_refused = weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::response::Parts;

    use super::*;

    /// `hello` in gzip; the checksum is not looked at.
    const HELLO: &[u8] =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\xff\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    const PAGE: &[u8] = b"<head><meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"></head><p>home";
    static FILES: [PackedFile; 4] = [
        PackedFile {
            path: "a/b.js",
            tag: "1",
            is_gzip: true,
            bytes: HELLO,
        },
        PackedFile {
            path: "damaged.js",
            tag: "2",
            is_gzip: true,
            bytes: b"?",
        },
        PackedFile {
            path: "index.html",
            tag: "3",
            is_gzip: false,
            bytes: PAGE,
        },
        PackedFile {
            path: "python/0/python.html",
            tag: "4",
            is_gzip: false,
            bytes: b"frame",
        },
    ];

    async fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> (Parts, Vec<u8>) {
        let not_found = any(|| async { StatusCode::IM_A_TEAPOT });
        let mut page = page_with_head(&FILES, "<i>", not_found).unwrap();
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let (parts, body) = page.call(request).await.unwrap().into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        (parts, body)
    }

    #[tokio::test]
    async fn compressed_files_are_sent_as_they_are_or_unpacked() {
        for (accepted, is_packed) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("deflate", false),
            ("gzip;q=0", false),
        ] {
            let (head, body) = ask("GET", "/a/b.js", &[("accept-encoding", accepted)]).await;
            let encoding = head.headers.get("content-encoding");
            assert_eq!(encoding.is_some(), is_packed, "{accepted}");
            assert_eq!(body, if is_packed { HELLO } else { b"hello" }, "{accepted}");
            assert_eq!(head.headers["content-type"], "text/javascript");
            assert_eq!(head.headers["vary"], "accept-encoding");
        }
        assert_eq!(
            ask("GET", "/damaged.js", &[]).await.0.status,
            StatusCode::INTERNAL_SERVER_ERROR
        );
    }

    #[tokio::test]
    async fn an_unchanged_file_is_not_sent_again() {
        let known = [("if-none-match", "\"x\", W/\"1\"")];
        let (head, body) = ask("GET", "/a/b.js", &known).await;
        assert!(head.status == StatusCode::NOT_MODIFIED && body.is_empty());
        assert_eq!(head.headers["etag"], "W/\"1\"");
        assert_eq!(
            ask("GET", "/a/b.js", &[("if-none-match", "W/\"2\"")])
                .await
                .0
                .status,
            StatusCode::OK
        );
    }

    #[tokio::test]
    async fn responses_carry_the_policy_and_the_document_its_head() {
        for path in ["/", "/index.html"] {
            let (head, body) = ask("GET", path, &[]).await;
            assert!(body.ends_with(b"<i></head><p>home"), "{path}");
            assert_eq!(
                head.headers["content-security-policy"],
                "default-src 'none'; frame-ancestors 'self'"
            );
        }
        let (head, _) = ask("GET", "/python/0/python.html", &[]).await;
        assert_eq!(
            head.headers["content-security-policy"],
            "frame-ancestors 'self'"
        );
        for (method, path) in [
            ("GET", "/absent"),
            ("GET", "/a"),
            ("GET", "/a/../index.html"),
            ("POST", "/a/b.js"),
        ] {
            let (head, _) = ask(method, path, &[]).await;
            assert_eq!(head.status, StatusCode::IM_A_TEAPOT, "{method} {path}");
        }
    }

    #[test]
    fn files_are_written_unpacked() {
        let folder = std::env::temp_dir().join(format!("volary-packed-{}", std::process::id()));
        write(&FILES[..1], &folder).unwrap();
        assert_eq!(fs::read(folder.join("a/b.js")).unwrap(), b"hello");
        assert!(write(&FILES[1..2], &folder).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
