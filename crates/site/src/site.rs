//! Serves the page on a port of this machine, under any path prefix.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use axum::Router;
use axum::http::StatusCode;
use axum::routing::any;

use crate::serve_connections;

/// The maximum number of files read concurrently.
const BLOCKING_THREADS: usize = 4;

/// A port on which the page will be served.
pub struct Site {
    listener: TcpListener,
    prefix: String,
}

impl Site {
    /// Binds a port of 127.0.0.1; 0 picks a free one. The prefix of all paths starts and ends with `/`.
    pub fn bind(port: u16, prefix: &str) -> Result<Site> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
            format!("cannot listen on port {port}; choose another one with --port")
        })?;
        Ok(Site {
            listener,
            prefix: prefix.to_owned(),
        })
    }

    /// The address of the page.
    pub fn url(&self) -> Result<String> {
        let address = self.listener.local_addr()?;
        Ok(format!("http://{address}{}", self.prefix))
    }

    /// Serves a folder until the program ends.
    pub fn serve(self, folder: &Path) -> Result<()> {
        let app = self.routes(folder)?;
        self.listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            serve_connections(listener, app).await;
            Ok(())
        })
    }

    /// Serves a folder on its own thread until the program ends. Returns the address.
    pub fn serve_in_background(self, folder: &Path) -> Result<String> {
        let url = self.url()?;
        // A folder without a page fails here rather than on the thread.
        let _ = self.routes(folder)?;
        let folder = folder.to_owned();
        thread::spawn(move || {
            if let Err(error) = self.serve(&folder) {
                eprintln!("The page is no longer served: {error:#}");
            }
        });
        Ok(url)
    }

    fn routes(&self, folder: &Path) -> Result<Router> {
        let page = super::page(folder, any(|| async { StatusCode::NOT_FOUND }))?;
        Ok(match self.prefix.as_str() {
            "/" => page,
            prefix => Router::new().nest_service(prefix, page),
        })
    }
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

    /// The address of a site with one page. A file next to its folder must not be served.
    fn site(name: &str) -> String {
        let folder = std::env::temp_dir().join(format!("volary-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("site/deep er")).unwrap();
        fs::create_dir_all(folder.join("site/.git")).unwrap();
        fs::write(folder.join("secret"), "secret").unwrap();
        fs::write(folder.join("site/.env"), "secret").unwrap();
        fs::write(folder.join("site/.git/config"), "secret").unwrap();
        fs::write(folder.join("site/index.html"), PAGE).unwrap();
        for name in ["a.wasm", "b.js", "c.mjs", "d.json"] {
            fs::write(folder.join("site/deep er").join(name), "0123456789").unwrap();
        }
        let site = Site::bind(0, "/some/prefix/").unwrap();
        let url = site.serve_in_background(&folder.join("site")).unwrap();
        let address = url.strip_prefix("http://").unwrap();
        address.strip_suffix("/some/prefix/").unwrap().to_owned()
    }

    /// The response to one request, in lower case.
    fn ask(address: &str, request_line: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let head = format!(
            "{request_line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.to_lowercase()
    }

    #[test]
    fn files_are_served_under_the_prefix_with_their_media_type() {
        let site = site("files");
        let home = ask(&site, "GET /some/prefix/?x=1", "");
        assert!(home.starts_with("http/1.1 200 ok\r\n"), "{home}");
        assert!(home.contains("content-type: text/html"), "{home}");
        assert!(home.ends_with("<p>home"), "{home}");
        for (name, kind) in [
            ("a.wasm", "application/wasm"),
            ("b.js", "text/javascript"),
            // Browsers accept this as JavaScript as well.
            ("c.mjs", "application/javascript"),
            ("d.json", "application/json"),
        ] {
            let file = ask(&site, &format!("GET /some/prefix/deep%20er/{name}"), "");
            let header = format!("content-type: {kind}\r\n");
            assert!(file.contains(&header), "{file}");
        }
        let head = ask(&site, "HEAD /some/prefix/index.html", "");
        let length = format!("content-length: {}\r\n", PAGE.len());
        assert!(head.contains(&length), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn a_part_of_a_file_can_be_requested() {
        let site = site("range");
        let wasm = "GET /some/prefix/deep%20er/a.wasm";
        let part = ask(&site, wasm, "Range: bytes=2-4\r\n");
        assert!(part.starts_with("http/1.1 206 "), "{part}");
        assert!(part.contains("content-range: bytes 2-4/10\r\n"), "{part}");
        assert!(part.ends_with("\r\n\r\n234"), "{part}");
    }

    #[test]
    fn unchanged_files_are_not_sent_again() {
        let site = site("cache");
        let first = ask(&site, "GET /some/prefix/", "");
        assert!(first.contains("cache-control: no-cache\r\n"), "{first}");
        let tag = first.lines().find_map(|line| line.strip_prefix("etag: "));
        let known = format!("If-None-Match: {}\r\n", tag.unwrap());
        let again = ask(&site, "GET /some/prefix/", &known);
        assert!(again.starts_with("http/1.1 304 "), "{again}");
    }

    #[test]
    fn every_response_carries_the_policy_of_the_page() {
        let site = site("policy");
        for target in ["", "deep%20er/b.js", "absent"] {
            let answer = ask(&site, &format!("GET /some/prefix/{target}"), "");
            for header in [
                "content-security-policy: default-src 'none'; frame-ancestors 'self'\r\n",
                "x-content-type-options: nosniff\r\n",
                "referrer-policy: no-referrer\r\n",
            ] {
                assert!(answer.contains(header), "{target}: {answer}");
            }
        }
    }

    #[test]
    fn other_sites_may_frame_only_the_embedded_view() {
        let site = site("embed");
        for (target, is_open) in [
            ("?embed=1", true),
            ("index.html?x=y&embed=1", true),
            ("?embed=10", false),
            ("deep%20er/b.js?embed=1", false),
        ] {
            let answer = ask(&site, &format!("GET /some/prefix/{target}"), "");
            let policy = if is_open {
                "content-security-policy: default-src 'none'\r\n"
            } else {
                "content-security-policy: default-src 'none'; frame-ancestors 'self'\r\n"
            };
            assert!(answer.contains(policy), "{target}: {answer}");
        }
    }

    #[test]
    fn nothing_else_is_served() {
        let site = site("escape");
        for target in [
            "/",
            "/absent",
            "/some/prefix",
            "/some/prefix/../secret",
            "/some/prefix/%2e%2e/secret",
            "/some/prefix/..%2fsecret",
            "/some/prefix/..%5csecret",
            "/some/prefix//etc/passwd",
            "/some/prefix/%2fetc/passwd",
            "/some/prefix/%ff",
            "/some/prefix/absent",
            "/some/prefix/.env",
            "/some/prefix/%2eenv",
            "/some/prefix/.git/config",
            "/some/prefix/deep%20er%2f..%2f.env",
        ] {
            let answer = ask(&site, &format!("GET {target}"), "");
            assert!(answer.starts_with("http/1.1 404 "), "{target}: {answer}");
            assert!(!answer.ends_with("secret"), "{target}: {answer}");
        }
        let post = ask(&site, "POST /some/prefix/", "Content-Length: 0\r\n");
        assert!(post.starts_with("http/1.1 404 "), "{post}");
    }
}
