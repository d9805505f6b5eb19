//! Serves a page that is inside of a program: files in memory, most of them compressed.
//!
//! A compressed file is a frame of Zstandard. Browsers that accept it get it as it is: they do on this machine, and through
//! `ssh -L`. Others get gzip, or the unpacked file.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, any, get};
use miniz_oxide::deflate::compress_to_vec;
use ruzstd::decoding::FrameDecoder;
use tower::Service;

use crate::{with_head, with_headers};

/// The document of the page.
const INDEX: &str = "index.html";

/// The head of a gzip stream without a file name.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Of 10. The page has 8 % more bytes than with the best, in a quarter of the time.
const GZIP_LEVEL: u8 = 3;

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PackedFile {
    /// With slashes, relative to the page.
    pub path: &'static str,
    /// The CRC-32 of the content, and its size in bytes.
    pub checksum: u32,
    pub size: u32,
    /// Whether `bytes` are a frame of Zstandard.
    pub is_packed: bool,
    pub bytes: &'static [u8],
}

impl PackedFile {
    /// The uncompressed bytes.
    ///
    /// # Errors
    /// If the frame is damaged.
    pub fn content(&self) -> Result<Cow<'static, [u8]>> {
        if !self.is_packed {
            return Ok(Cow::Borrowed(self.bytes));
        }
        let mut content = Vec::with_capacity(self.size as usize);
        match FrameDecoder::new().decode_all_to_vec(self.bytes, &mut content) {
            Ok(()) => Ok(Cow::Owned(content)),
            Err(_) => bail!("{} is damaged in this program", self.path),
        }
    }

    /// The content as a gzip stream.
    fn gzip(&self, content: &[u8]) -> Vec<u8> {
        let mut stream = GZIP_HEAD.to_vec();
        stream.extend(compress_to_vec(content, GZIP_LEVEL));
        stream.extend(self.checksum.to_le_bytes());
        stream.extend(self.size.to_le_bytes());
        stream
    }

    fn response(&self, headers: &HeaderMap) -> Response {
        // All forms have one tag, which is weak therefore.
        let tag = format!("W/\"{:08x}-{:x}\"", self.checksum, self.size);
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
        let encoded = |name: &'static str| [(header::CONTENT_ENCODING, name)];
        if self.is_packed && accepts(headers, "zstd") {
            return (common, kind, encoded("zstd"), self.bytes).into_response();
        }
        match self.content() {
            Ok(content) if self.is_packed && accepts(headers, "gzip") => {
                (common, kind, encoded("gzip"), self.gzip(&content)).into_response()
            }
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

/// Whether the client accepts an encoding, with any weight but zero.
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let values = values.filter_map(|value: &HeaderValue| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=");
        let is_refused = weight.is_some_and(|weight| weight.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case(wanted) && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::response::Parts;
    use miniz_oxide::inflate::decompress_to_vec;

    use super::*;

    /// `hello` as a frame of Zstandard, with one raw block.
    const HELLO: &[u8] = b"\x28\xb5\x2f\xfd\x20\x05\x29\0\0hello";
    const HELLO_SUM: u32 = 0x3610_a686;
    const PAGE: &[u8] = b"<head><meta http-equiv=Content-Security-Policy content=\"default-src 'none'\"></head><p>home";
    static FILES: [PackedFile; 4] = [
        PackedFile {
            path: "a/b.js",
            checksum: HELLO_SUM,
            size: 5,
            is_packed: true,
            bytes: HELLO,
        },
        PackedFile {
            path: "damaged.js",
            checksum: 2,
            size: 1,
            is_packed: true,
            bytes: b"?",
        },
        PackedFile {
            path: "index.html",
            checksum: 3,
            size: 1,
            is_packed: false,
            bytes: PAGE,
        },
        PackedFile {
            path: "python/0/python.html",
            checksum: 4,
            size: 1,
            is_packed: false,
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

    /// The content of a gzip stream, whose end is checked.
    fn unzipped(stream: &[u8]) -> Vec<u8> {
        let (stream, end) = stream.split_at(stream.len() - 8);
        assert_eq!(end, [HELLO_SUM.to_le_bytes(), 5_u32.to_le_bytes()].concat());
        decompress_to_vec(stream.strip_prefix(&GZIP_HEAD).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn compressed_files_are_sent_as_they_are_or_unpacked() {
        for (accepted, encoding) in [
            ("gzip, deflate, br, zstd", Some("zstd")),
            ("br, GZIP;q=0.5", Some("gzip")),
            ("gzip, zstd;q=0", Some("gzip")),
            ("deflate", None),
            ("gzip;q=0", None),
        ] {
            let (head, body) = ask("GET", "/a/b.js", &[("accept-encoding", accepted)]).await;
            let named = head.headers.get("content-encoding");
            let named = named.map(|name| name.to_str().unwrap());
            assert_eq!(named, encoding, "{accepted}");
            match encoding {
                Some("gzip") => assert_eq!(unzipped(&body), b"hello", "{accepted}"),
                Some(_) => assert_eq!(body, HELLO, "{accepted}"),
                None => assert_eq!(body, b"hello", "{accepted}"),
            }
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
        let known = [("if-none-match", "\"x\", W/\"3610a686-5\"")];
        let (head, body) = ask("GET", "/a/b.js", &known).await;
        assert!(head.status == StatusCode::NOT_MODIFIED && body.is_empty());
        assert_eq!(head.headers["etag"], "W/\"3610a686-5\"");
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
            "sandbox allow-scripts; frame-ancestors 'self'"
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
