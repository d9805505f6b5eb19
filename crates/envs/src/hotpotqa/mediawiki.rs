//! A search through the MediaWiki API, as a state machine: the addresses to fetch, and the meaning of their replies.
//!
//! `index.php?search=…`, which aviary uses, cannot be read by pages of another origin; the API can, with
//! `origin=*`. Up to three requests are equivalent: the article of that title; if there is none, the title
//! that the wiki considers a near match; if there is none either, titles with these words.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use volary_core::Json;
use volary_core::json::Text;

use super::page::Page;

/// The characters that are not percent-encoded in an address.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The number of titles to request.
const TITLES: usize = 10;

#[derive(Clone, Debug)]
pub struct Search {
    api: Text,
    entity: Text,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The article of the title was requested.
    Article,
    /// The near match of the title was requested.
    NearMatch,
    /// The article of the near match was requested.
    Matched,
    /// Titles were requested.
    Titles,
}

/// The next action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Fetch this address.
    Fetch(String),
    /// The search is over.
    Found(Page),
}

/// Why a wiki's reply cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WikiError {
    /// It is not a reply of a MediaWiki.
    #[error(
        "The wiki's answer is not that of a MediaWiki API: {reason}. Is the address that of its api.php?"
    )]
    NoApi { reason: String },
    /// The wiki reports an error.
    #[error("The wiki refused the request: {info}")]
    Refused {
        /// The wiki's message.
        info: Text,
    },
}

impl Search {
    /// Starts a search; returns the first address to fetch.
    pub fn new(api: &str, entity: &str) -> (Self, String) {
        let search = Search {
            api: api.into(),
            entity: entity.into(),
            stage: Stage::Article,
        };
        let address = search.article(entity);
        (search, address)
    }

    /// Continues with the body of the fetched address.
    ///
    /// # Errors
    ///
    /// It is not a reply of a MediaWiki, or the wiki reports an error.
    pub fn answered(&mut self, body: &str) -> Result<Next, WikiError> {
        let no_api = |reason: String| WikiError::NoApi { reason };
        let answer = Json::parse(body).map_err(|error| no_api(error.to_string()))?;
        let code = answer.get("error").and_then(|error| error.get("code"));
        let code = code.and_then(Json::as_text).map(|code| &**code);
        match (self.stage, code) {
            (Stage::Article | Stage::Matched, None) => {
                let html = answer.get("parse").and_then(|parse| parse.get("text"));
                let html = html.and_then(Json::as_text);
                let html = html.ok_or_else(|| no_api("there is no text".to_owned()))?;
                Ok(Next::Found(Page::from_html(html)))
            }
            (Stage::Article, Some("missingtitle" | "invalidtitle" | "pagecannotexist")) => {
                self.stage = Stage::NearMatch;
                Ok(Next::Fetch(self.titles("&srwhat=nearmatch&srlimit=1")))
            }
            (Stage::Matched, Some("missingtitle" | "invalidtitle" | "pagecannotexist")) => {
                Ok(self.ask_titles())
            }
            (Stage::NearMatch, None) => match &*titles_of(&answer).ok_or_else(no_titles)? {
                [] => Ok(self.ask_titles()),
                [title, ..] => {
                    self.stage = Stage::Matched;
                    Ok(Next::Fetch(self.article(title)))
                }
            },
            // Some search engines do not support near matches.
            (Stage::NearMatch, Some(_)) => Ok(self.ask_titles()),
            (Stage::Titles, None) => {
                let titles = titles_of(&answer).ok_or_else(no_titles)?;
                Ok(Next::Found(Page::Similar(titles)))
            }
            (_, Some(code)) => {
                let info = answer.get("error").and_then(|error| error.get("info"));
                Err(WikiError::Refused {
                    info: info
                        .and_then(Json::as_text)
                        .map_or_else(|| code.into(), Text::clone),
                })
            }
        }
    }

    fn ask_titles(&mut self) -> Next {
        self.stage = Stage::Titles;
        Next::Fetch(self.titles(&format!("&srlimit={TITLES}")))
    }

    fn article(&self, title: &str) -> String {
        let title = utf8_percent_encode(title, KEPT);
        let api = &self.api;
        format!(
            "{api}?action=parse&page={title}&prop=text&redirects=1&disableeditsection=1\
             &disabletoc=1&format=json&formatversion=2&origin=*"
        )
    }

    fn titles(&self, more: &str) -> String {
        let entity = utf8_percent_encode(&self.entity, KEPT);
        let api = &self.api;
        format!(
            "{api}?action=query&list=search&srsearch={entity}&srprop={more}\
             &format=json&formatversion=2&origin=*"
        )
    }
}

fn no_titles() -> WikiError {
    WikiError::NoApi {
        reason: "there are no titles".to_owned(),
    }
}

fn titles_of(answer: &Json) -> Option<Vec<Text>> {
    let results = answer.get("query")?.get("search")?.as_list()?.iter();
    results
        .map(|result| result.get("title")?.as_text().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: &str = r#"{"error": {"code": "missingtitle", "info": "There is none."}}"#;
    const ARTICLE: &str = r#"{"parse": {"title": "T", "pageid": 1, "text": "<p>A b c.</p>"}}"#;

    fn titles(titles: &str) -> String {
        format!(r#"{{"batchcomplete": true, "query": {{"search": [{titles}]}}}}"#)
    }

    #[test]
    fn an_article_at_once() {
        let (mut search, address) = Search::new("https://w/api.php", "Ö & co");
        assert!(address.starts_with("https://w/api.php?action=parse&page=%C3%96%20%26%20co&"));
        assert!(address.ends_with("&origin=*"));
        let page = Page::Texts(vec!["A b c.".into()]);
        assert_eq!(search.answered(ARTICLE), Ok(Next::Found(page)));
    }

    #[test]
    fn another_title_or_titles() {
        let (mut search, _) = Search::new("a", "x");
        let fetched = |next: Result<Next, WikiError>, part: &str| match next {
            Ok(Next::Fetch(address)) => assert!(address.contains(part), "{address}"),
            other => unreachable!("{other:?}"),
        };
        fetched(
            search.answered(MISSING),
            "srsearch=x&srprop=&srwhat=nearmatch",
        );
        fetched(search.answered(&titles(r#"{"title": "X"}"#)), "page=X&");
        fetched(search.answered(MISSING), "srlimit=10");
        let found = search.answered(&titles(r#"{"title": "Xa"}, {"title": "Xb"}"#));
        let similar = Page::Similar(vec!["Xa".into(), "Xb".into()]);
        assert_eq!(found, Ok(Next::Found(similar)));
    }

    #[test]
    fn a_malformed_reply_is_an_error() {
        let error = |body: &str| {
            let (mut search, _) = Search::new("a", "x");
            search.answered(body).map_err(|error| error.to_string())
        };
        assert!(error("<html>").is_err_and(|error| error.contains("api.php")));
        assert!(error("{}").is_err_and(|error| error.contains("there is no text")));
        let refused = r#"{"error": {"code": "ratelimited", "info": "Too fast."}}"#;
        assert_eq!(
            error(refused),
            Err("The wiki refused the request: Too fast.".into())
        );
    }
}
