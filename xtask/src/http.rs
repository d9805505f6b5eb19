//! The built page on 127.0.0.1, under any path prefix, with the headers that a careful host sends.
//!
//! A policy in a `<meta>` tag does not apply to workers and cannot forbid framing, so every answer carries the page's
//! whole policy as a header. Files whose names begin with a dot are not served.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use tower::ServiceExt;
use tower_http::services::ServeDir;

use crate::policy;

/// How many files are read at the same time.
const READERS: usize = 4;
/// The document of the frame in which Python runs. It has a stricter policy of its own in a `<meta>` tag, which the
/// page's would contradict: the browser enforces both.
const SANDBOX: &str = "/python.html";

/// A policy that only a header can state.
const FRAMES: &str = "frame-ancestors 'self'";

/// A site that is served from now on, by a thread of its own, until the program ends.
pub struct Site {
    address: SocketAddr,
    prefix: String,
}

impl Site {
    /// Serves a folder under a path prefix ("/" or "/some/prefix/"). Port 0 is any free one.
    pub fn serve(folder: PathBuf, prefix: &str, port: u16) -> Result<Site> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
            format!("cannot listen on port {port}; another one can be chosen with --port")
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS)
            .build()?;
        let app = app(folder, prefix);
        thread::spawn(move || {
            let served = runtime.block_on(async {
                axum::serve(tokio::net::TcpListener::from_std(listener)?, app).await
            });
            if let Err(error) = served {
                eprintln!("The page is no longer served: {error}");
            }
        });
        Ok(Site {
            address,
            prefix: prefix.to_owned(),
        })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.prefix)
    }
}

struct Root {
    folder: PathBuf,
    prefix: String,
    files: ServeDir,
}

fn app(folder: PathBuf, prefix: &str) -> Router {
    let root = Root {
        files: ServeDir::new(&folder),
        folder,
        prefix: prefix.to_owned(),
    };
    Router::new().fallback(answer).with_state(Arc::new(root))
}

async fn answer(State(root): State<Arc<Root>>, request: Request) -> Response {
    let is_sandbox = request.uri().path().ends_with(SANDBOX);
    let mut response = match inside(request.uri(), &root.prefix) {
        Some(uri) => file(&root.files, request, uri).await,
        None => StatusCode::NOT_FOUND.into_response(),
    };
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        // What else the client sends belongs to a request that nobody reads.
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    // The page may have been built again since the last request.
    let page = tokio::fs::read_to_string(root.folder.join("index.html")).await;
    let policy = page.as_deref().ok().and_then(policy::of);
    add_headers(policy.filter(|_| !is_sandbox), &mut response);
    response
}

async fn file(files: &ServeDir, mut request: Request, uri: Uri) -> Response {
    *request.uri_mut() = uri;
    let Ok(response) = files.clone().oneshot(request).await;
    response.map(Body::new)
}

/// The address within the folder. `None` outside of the prefix, for names that begin with a dot, and for none at all
/// before the last.
fn inside(uri: &Uri, prefix: &str) -> Option<Uri> {
    let path = uri.path().strip_prefix(prefix)?;
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    let mut names = decoded.split(['/', '\\']);
    let last = names.next_back()?;
    if last.starts_with('.') || names.any(|name| name.is_empty() || name.starts_with('.')) {
        return None;
    }
    let path: PathAndQuery = format!("/{path}").parse().ok()?;
    Some(Uri::from(path))
}

/// Adds what every answer carries, given the policy in the page's `<meta>` tag.
fn add_headers(policy: Option<&str>, response: &mut Response) {
    let policy = match policy {
        Some(policy) => format!("{policy}; {FRAMES}"),
        None => FRAMES.to_owned(),
    };
    let policy =
        HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static(FRAMES));
    let headers: [(HeaderName, HeaderValue); 4] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
        // Browsers keep what they have and ask whether it is still the same.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    response.headers_mut().extend(HeaderMap::from_iter(headers));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    const PAGE: &str =
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\"><p>home";

    /// A site with one page, beside a file that is none of its business.
    fn site(name: &str) -> Result<Site> {
        let folder = std::env::temp_dir().join(format!("volary-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("site/deep er"))?;
        fs::create_dir_all(folder.join("site/.git"))?;
        fs::write(folder.join("secret"), "secret")?;
        fs::write(folder.join("site/.env"), "secret")?;
        fs::write(folder.join("site/.git/config"), "secret")?;
        fs::write(folder.join("site/index.html"), PAGE)?;
        for name in ["a.wasm", "b.js", "c.mjs", "d.json"] {
            fs::write(folder.join("site/deep er").join(name), "0123456789")?;
        }
        Site::serve(folder.join("site"), "/some/prefix/", 0)
    }

    /// Sends bytes and reads until the server closes the connection.
    fn converse(site: &Site, bytes: &str) -> Result<String> {
        let mut stream = TcpStream::connect(site.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(bytes.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.to_lowercase())
    }

    /// The answer to one request: a line, and headers that each end with a line break.
    fn ask(site: &Site, line: &str, headers: &str) -> Result<String> {
        let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        converse(site, &format!("{head}{headers}\r\n"))
    }

    #[test]
    fn files_are_served_under_the_prefix_with_their_media_type() -> Result<()> {
        let site = site("files")?;
        let home = ask(&site, "GET /some/prefix/?x=1", "")?;
        assert!(home.starts_with("http/1.1 200 ok\r\n"), "{home}");
        assert!(home.contains("content-type: text/html"), "{home}");
        assert!(home.ends_with("<p>home"), "{home}");
        for (name, kind) in [
            ("a.wasm", "application/wasm"),
            ("b.js", "text/javascript"),
            // Browsers take this for JavaScript as well.
            ("c.mjs", "application/javascript"),
            ("d.json", "application/json"),
        ] {
            let file = ask(&site, &format!("GET /some/prefix/deep%20er/{name}"), "")?;
            assert!(
                file.contains(&format!("content-type: {kind}\r\n")),
                "{file}"
            );
        }
        let head = ask(&site, "HEAD /some/prefix/index.html", "")?;
        let length = format!("content-length: {}\r\n", PAGE.len());
        assert!(head.contains(&length), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
        Ok(())
    }

    #[test]
    fn part_of_a_file_can_be_asked_for() -> Result<()> {
        let site = site("range")?;
        let wasm = "GET /some/prefix/deep%20er/a.wasm";
        let part = ask(&site, wasm, "Range: bytes=2-4\r\n")?;
        assert!(part.starts_with("http/1.1 206 "), "{part}");
        assert!(part.contains("content-range: bytes 2-4/10\r\n"), "{part}");
        assert!(part.ends_with("\r\n\r\n234"), "{part}");
        Ok(())
    }

    #[test]
    fn what_the_browser_has_is_not_sent_again() -> Result<()> {
        let site = site("cache")?;
        let first = ask(&site, "GET /some/prefix/", "")?;
        assert!(first.contains("cache-control: no-cache\r\n"), "{first}");
        assert!(first.contains("last-modified: "), "{first}");
        let tag = first.lines().find_map(|line| line.strip_prefix("etag: "));
        let known = format!("If-None-Match: {}\r\n", tag.unwrap_or_default());
        let again = ask(&site, "GET /some/prefix/", &known)?;
        assert!(again.starts_with("http/1.1 304 "), "{again}");
        Ok(())
    }

    #[test]
    fn every_answer_carries_the_policy_of_the_page() -> Result<()> {
        let site = site("policy")?;
        for target in ["/some/prefix/", "/some/prefix/deep%20er/b.js", "/absent"] {
            let answer = ask(&site, &format!("GET {target}"), "")?;
            for header in [
                "content-security-policy: default-src 'none'; frame-ancestors 'self'\r\n",
                "x-content-type-options: nosniff\r\n",
                "referrer-policy: no-referrer\r\n",
            ] {
                assert!(answer.contains(header), "{target}: {answer}");
            }
        }
        Ok(())
    }

    #[test]
    fn nothing_else_is_served() -> Result<()> {
        let site = site("escape")?;
        for target in [
            "/",
            "/some/prefix",
            "/some/prefix/../secret",
            "/some/prefix/%2e%2e/secret",
            "/some/prefix/..%2fsecret",
            "/some/prefix/..%5csecret",
            "/some/prefix//etc/passwd",
            "/some/prefix/deep%20er//a.wasm",
            "/some/prefix/%2fetc/passwd",
            "/some/prefix/%ff",
            "/some/prefix/absent",
            "/some/prefix/.env",
            "/some/prefix/%2eenv",
            "/some/prefix/.git/config",
            "/some/prefix/deep%20er%2f..%2f.env",
        ] {
            let answer = ask(&site, &format!("GET {target}"), "")?;
            assert!(answer.starts_with("http/1.1 404 "), "{target}: {answer}");
        }
        Ok(())
    }

    #[test]
    fn other_methods_are_refused_and_what_follows_them_is_no_request() -> Result<()> {
        let site = site("methods")?;
        let smuggled = "GET /some/prefix/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let post = "POST /some/prefix/ HTTP/1.1\r\nHost: localhost\r\n";
        // Its length is told or is not; the connection ends with the answer in both cases.
        for request in [
            format!("{post}Content-Length: 9999\r\n\r\n{smuggled}"),
            format!("{post}\r\n{smuggled}"),
        ] {
            let answer = converse(&site, &request)?;
            assert!(answer.starts_with("http/1.1 405 "), "{answer}");
            assert!(answer.contains("allow: get,head\r\n"), "{answer}");
            assert_eq!(answer.matches("http/1.1 ").count(), 1, "{answer}");
        }
        Ok(())
    }

    #[test]
    fn many_connections_take_no_thread_each() -> Result<()> {
        let site = site("threads")?;
        let idle: Vec<TcpStream> = (0..100)
            .map(|_| TcpStream::connect(site.address))
            .collect::<Result<_, _>>()?;
        assert!(ask(&site, "GET /some/prefix/", "")?.starts_with("http/1.1 200 "));
        #[cfg(target_os = "linux")]
        {
            let threads = fs::read_dir("/proc/self/task")?.count();
            assert!(
                threads < 60,
                "{threads} threads for {} connections",
                idle.len()
            );
        }
        drop(idle);
        Ok(())
    }
}
