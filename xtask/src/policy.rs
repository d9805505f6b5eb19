//! The page's Content-Security-Policy, which stands in a `<meta>` tag of `index.html`.

use std::ops::Range;

const NAME: &str = "Content-Security-Policy";
const CONTENT: &str = "content=\"";

/// The policy, if the page has one.
pub fn of(html: &str) -> Option<&str> {
    let tag = &html[tag(html)?];
    let start = tag.find(CONTENT)? + CONTENT.len();
    let length = tag[start..].find('"')?;
    Some(&tag[start..start + length])
}

/// The page without its policy.
pub fn without(html: &str) -> Option<String> {
    let tag = tag(html)?;
    Some(format!("{}{}", &html[..tag.start], &html[tag.end..]))
}

/// Where the tag is; its attributes may come in any order.
fn tag(html: &str) -> Option<Range<usize>> {
    let at = html.find(NAME)?;
    let start = html[..at].rfind("<meta")?;
    let end = at + html[at..].find('>')? + 1;
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_found_in_any_order_of_attributes() {
        let source = "<meta charset=utf-8><meta http-equiv=\"Content-Security-Policy\" content=\"x 'y'\"><p>";
        assert_eq!(of(source), Some("x 'y'"));
        let minified = "<meta content=\"x 'y'\" http-equiv=Content-Security-Policy><meta content=\"z\" name=z>";
        assert_eq!(of(minified), Some("x 'y'"));
        assert_eq!(of("<meta content=\"z\" name=z>"), None);
    }

    #[test]
    fn the_policy_is_removed_and_nothing_else() {
        let html = "<meta charset=utf-8><meta http-equiv=\"Content-Security-Policy\" content=\"x 'y'\"><p>";
        assert_eq!(without(html).as_deref(), Some("<meta charset=utf-8><p>"));
        assert_eq!(without("<p>"), None);
    }
}
