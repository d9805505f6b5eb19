//! A static site on 127.0.0.1: as plain as the plainest host, so what works here works anywhere.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};

/// A browser keeps a connection and asks again within this time, or opens another.
const IDLE: Duration = Duration::from_secs(20);
/// No request of a browser to a page without cookies is longer.
const LONGEST_LINE: u64 = 16 * 1024;

/// A site that is served from now on, by threads of its own, until the program ends.
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
        let address = listener.local_addr()?;
        let root = Arc::new(Root {
            folder,
            prefix: prefix.to_owned(),
        });
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let root = Arc::clone(&root);
                // A connection that breaks off concerns nobody but its browser.
                thread::spawn(move || drop(root.converse(&stream)));
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
}

/// What a browser is told.
struct Answer {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Root {
    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(IDLE))?;
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = Request::read(&mut reader)? {
            let answer = self.answer(&request);
            let mut head = format!("HTTP/1.1 {}\r\n", answer.status);
            for (name, value) in &answer.headers {
                head += &format!("{name}: {value}\r\n");
            }
            head += &format!("Content-Length: {}\r\n\r\n", answer.body.len());
            let mut bytes = head.into_bytes();
            if request.method != "HEAD" {
                bytes.extend(answer.body);
            }
            (&mut &*stream).write_all(&bytes)?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Answer {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            let allow = ("Allow", "GET, HEAD".to_owned());
            return Answer::empty("405 Method Not Allowed", vec![allow]);
        }
        let Some(path) = self.file(&request.target) else {
            return Answer::empty("404 Not Found", Vec::new());
        };
        let read = fs::read(&path).and_then(|body| Ok((body, path.metadata()?.modified()?)));
        let Ok((body, modified)) = read else {
            return Answer::empty("404 Not Found", Vec::new());
        };
        let age = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tag = format!("\"{:x}-{:x}\"", body.len(), age.as_nanos());
        let mut headers = vec![
            ("Cache-Control", "no-cache".to_owned()),
            ("ETag", tag.clone()),
        ];
        if request.known.as_deref() == Some(tag.as_str()) {
            return Answer::empty("304 Not Modified", headers);
        }
        headers.push(("Content-Type", media_type(&path).to_owned()));
        headers.push(("X-Content-Type-Options", "nosniff".to_owned()));
        Answer {
            status: "200 OK",
            headers,
            body,
        }
    }

    /// The file that a target names; nothing outside of the folder has a name.
    fn file(&self, target: &str) -> Option<PathBuf> {
        let path = target.split(['?', '#']).next()?;
        let inside = decode(path.strip_prefix(&self.prefix)?)?;
        let inside = Path::new(&inside);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if inside.to_string_lossy().contains('\\') || !inside.components().all(plain) {
            return None;
        }
        let file = self.folder.join(inside);
        Some(if file.is_dir() {
            file.join("index.html")
        } else {
            file
        })
    }
}

impl Answer {
    fn empty(status: &'static str, headers: Vec<(&'static str, String)>) -> Answer {
        Answer {
            status,
            headers,
            body: Vec::new(),
        }
    }
}

struct Request {
    method: String,
    target: String,
    /// The tag of the version that the browser has.
    known: Option<String>,
}

impl Request {
    /// The next request, or `None` when the browser has no more.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
        let first = line(reader)?;
        let mut words = first.split_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let mut known = None;
        loop {
            let header = line(reader)?;
            if header.is_empty() {
                break;
            }
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("if-none-match")
            {
                known = Some(value.trim().to_owned());
            }
        }
        Ok(Some(Request {
            method: method.to_owned(),
            target: target.to_owned(),
            known,
        }))
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    io::Read::take(reader, LONGEST_LINE).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 == LONGEST_LINE {
        return Err(io::Error::other("the line is too long"));
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// `%20` and the like; `None` where they stand for no text.
fn decode(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("txt" | "jsonl") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// A site with one page, beside a file that is none of its business.
    fn site(name: &str) -> Result<Site> {
        let folder = std::env::temp_dir().join(format!("volary-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("site/deep er"))?;
        fs::write(folder.join("secret"), "secret")?;
        fs::write(folder.join("site/index.html"), "<p>home")?;
        fs::write(folder.join("site/deep er/a.wasm"), "wasm")?;
        Site::serve(folder.join("site"), "/some/prefix/", 0)
    }

    fn ask(site: &Site, request: &str) -> Result<String> {
        let mut stream = TcpStream::connect(site.address)?;
        stream.write_all(request.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    #[test]
    fn files_are_served_under_the_prefix_with_their_media_type() -> Result<()> {
        let site = site("files")?;
        let home = ask(&site, "GET /some/prefix/?x=1 HTTP/1.1\r\n\r\n")?;
        assert!(home.starts_with("HTTP/1.1 200 OK\r\n"), "{home}");
        assert!(
            home.contains("text/html") && home.ends_with("\r\n\r\n<p>home"),
            "{home}"
        );
        let wasm = ask(&site, "GET /some/prefix/deep%20er/a.wasm HTTP/1.1\r\n\r\n")?;
        assert!(
            wasm.contains("Content-Type: application/wasm\r\n"),
            "{wasm}"
        );
        let head = ask(&site, "HEAD /some/prefix/index.html HTTP/1.1\r\n\r\n")?;
        assert!(
            head.contains("Content-Length: 7\r\n") && head.ends_with("\r\n\r\n"),
            "{head}"
        );
        Ok(())
    }

    #[test]
    fn what_the_browser_has_is_not_sent_again() -> Result<()> {
        let site = site("cache")?;
        let first = ask(&site, "GET /some/prefix/ HTTP/1.1\r\n\r\n")?;
        let tag = first
            .lines()
            .find_map(|line| line.strip_prefix("ETag: "))
            .unwrap_or_default();
        let request = format!("GET /some/prefix/ HTTP/1.1\r\nif-none-match: {tag}\r\n\r\n");
        // Twice over one connection, too.
        let again = ask(&site, &request.repeat(2))?;
        assert_eq!(
            again.matches("HTTP/1.1 304 Not Modified").count(),
            2,
            "{again}"
        );
        Ok(())
    }

    #[test]
    fn nothing_else_is_served() -> Result<()> {
        let site = site("escape")?;
        for target in [
            "/",
            "/some/prefix/../secret",
            "/some/prefix/%2e%2e/secret",
            "/some/prefix/..%2fsecret",
            "/some/prefix/..%5csecret",
            "/some/prefix//etc/passwd",
            "/some/prefix/%2fetc/passwd",
            "/some/prefix/%ff",
            "/some/prefix/%4",
            "/some/prefix/absent",
        ] {
            let answer = ask(&site, &format!("GET {target} HTTP/1.1\r\n\r\n"))?;
            assert!(answer.starts_with("HTTP/1.1 404 "), "{target}: {answer}");
        }
        let post = ask(&site, "POST /some/prefix/ HTTP/1.1\r\n\r\n")?;
        assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
        Ok(())
    }
}
