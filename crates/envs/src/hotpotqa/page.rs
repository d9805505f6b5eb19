//! The result of a search for an entity.

use volary_core::json::Text;
use volary_core::{Json, json, object};

use super::html::{Element, elements};
use super::text::cleaned;
use volary_core::json::text::strip;

/// The class of the titles on a page of search results.
const RESULT: &str = "mw-search-result-heading";

/// The result of a search for an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// No page, but titles of similar pages.
    Similar(Vec<Text>),
    /// The paragraphs of a page, then its lists.
    Texts(Vec<Text>),
}

impl Page {
    /// Parses MediaWiki's HTML of a search or an article.
    pub fn from_html(html: &str) -> Page {
        let (mut titles, mut paragraphs, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for Element { name, class, text } in elements(html) {
            let text = strip(&text);
            match &*name {
                "div" if class.split_ascii_whitespace().any(|one| one == RESULT) => {
                    titles.push(cleaned(text).into());
                }
                "p" => paragraphs.push(text.into()),
                "ul" => lists.push(text.into()),
                _ => {}
            }
        }
        if !titles.is_empty() {
            return Page::Similar(titles);
        }
        paragraphs.append(&mut lists);
        Page::Texts(paragraphs)
    }

    /// Whether it is a disambiguation page.
    pub fn is_ambiguous(&self) -> bool {
        match self {
            Page::Similar(_) => false,
            Page::Texts(texts) => texts.iter().any(|text| text.contains("may refer to:")),
        }
    }

    /// The stored form of the page in an episode.
    pub fn to_json(&self) -> Json {
        match self {
            Page::Similar(titles) => json!({"similar": (titles.clone())}),
            Page::Texts(texts) => json!({"texts": (texts.clone())}),
        }
    }

    /// Reads the stored form; `None` if the value is not a page.
    pub fn from_json(page: &Json) -> Option<Page> {
        let texts = |key: &str| {
            let list = page.get(key)?.as_list()?.iter();
            list.map(|text| text.as_text().cloned())
                .collect::<Option<Vec<_>>>()
        };
        texts("similar")
            .map(Page::Similar)
            .or_else(|| texts("texts").map(Page::Texts))
    }

    /// The schema of [`Page::to_json`].
    pub fn schema() -> Json {
        let texts = || object!({"type": "array", "items": {"type": "string"}});
        json!({
            "type": "object",
            "properties": {"similar": (texts()), "texts": (texts())},
            "additionalProperties": false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_html() {
        let page = Page::from_html("<ul><li>one<li>two</ul><p> a <b>b</b></p><p>c</p>");
        assert_eq!(
            page,
            Page::Texts(vec!["a b".into(), "c".into(), "onetwo".into()])
        );
        let page =
            Page::from_html("<div class='x mw-search-result-heading'><a>T</a></div><p>c</p>");
        assert_eq!(page, Page::Similar(vec!["T".into()]));
        assert_eq!(Page::from_json(&page.to_json()), Some(page));
        assert_eq!(Page::from_json(&json!({"texts": [1]})), None);
    }
}
