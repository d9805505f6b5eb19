//! Extracts the texts of elements of an HTML page, like Python's `html.parser` with Beautiful Soup.
//!
//! That parser does not know which element may contain which: an end tag closes all elements up
//! to the last open one of its name, and is ignored if there is none. No input is an error.

/// An element whose text is returned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name in lower case.
    pub name: String,
    /// The attribute `class`.
    pub class: String,
    /// The text inside, without that of scripts and styles.
    pub text: String,
}

/// Void elements.
const EMPTY: [&str; 24] = [
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "image",
    "img", "input", "isindex", "keygen", "link", "menuitem", "meta", "nextid", "param", "source",
    "spacer", "track", "wbr",
];

/// Elements whose texts are not part of their parents' texts.
const APART: [&str; 5] = ["script", "style", "template", "rt", "rp"];

/// Elements that keep their white space.
const PRESERVING: [&str; 2] = ["pre", "textarea"];

/// Elements whose text is returned.
const WANTED: [&str; 3] = ["div", "p", "ul"];

/// Entities by name: one `name code` per line, with hexadecimal codes.
const ENTITIES: &str = include_str!("entities.txt");

/// All `div`, `p` and `ul` elements, in the order of their start tags.
pub fn elements(html: &str) -> Vec<Element> {
    let mut tree = Tree::default();
    let mut rest = html;
    while !rest.is_empty() {
        rest = match rest.strip_prefix('<') {
            Some(after) => markup(after, &mut tree).unwrap_or_else(|| {
                tree.data.push('<');
                after
            }),
            None => {
                let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
                push_text(&mut tree.data, text);
                after
            }
        };
    }
    tree.end_data();
    tree.found
}

/// The elements found so far, and the open ones.
#[derive(Default)]
struct Tree {
    found: Vec<Element>,
    open: Vec<Open>,
    /// The text since the last tag.
    data: String,
}

struct Open {
    name: String,
    /// Its index among the returned elements, if it is one.
    index: Option<usize>,
}

impl Tree {
    fn is_in(&self, names: &[&str]) -> bool {
        self.open.iter().any(|open| names.contains(&&*open.name))
    }

    /// Appends the text since the last tag to every open element.
    fn end_data(&mut self) {
        let data = std::mem::take(&mut self.data);
        if data.is_empty() || self.is_in(&APART) {
            return;
        }
        let blank = data
            .bytes()
            .all(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\x0c' | b'\r'));
        let text = match blank && !self.is_in(&PRESERVING) {
            true if data.contains('\n') => "\n",
            true => " ",
            false => &data,
        };
        for index in self.open.iter().filter_map(|open| open.index) {
            self.found[index].text.push_str(text);
        }
    }

    fn start(&mut self, name: String, class: String, closed: bool) {
        self.end_data();
        let is_wanted = WANTED.contains(&&*name);
        let index = is_wanted.then_some(self.found.len());
        if is_wanted {
            self.found.push(Element {
                name: name.clone(),
                class,
                text: String::new(),
            });
        }
        if !closed && !EMPTY.contains(&&*name) {
            self.open.push(Open { name, index });
        }
    }

    fn end(&mut self, name: &str) {
        self.end_data();
        if let Some(index) = self.open.iter().rposition(|open| open.name == name) {
            self.open.truncate(index);
        }
    }
}

/// Parses the text after a `<`. `None` if it is not markup.
fn markup<'a>(after: &'a str, tree: &mut Tree) -> Option<&'a str> {
    if let Some(comment) = after.strip_prefix("!--") {
        tree.end_data();
        return Some(comment.split_once("-->").map_or("", |(_, after)| after));
    }
    if let Some(end) = after.strip_prefix('/') {
        let (tag, after) = end.split_once('>')?;
        let name = tag
            .split(|one: char| one.is_ascii_whitespace() || one == '/')
            .next()?;
        if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            tree.end(&name.to_ascii_lowercase());
        }
        return Some(after);
    }
    if after.starts_with(['!', '?']) {
        tree.end_data();
        return after.split_once('>').map(|(_, after)| after);
    }
    if !after.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let ends = |one: char| one.is_ascii_whitespace() || matches!(one, '/' | '>');
    let (name, attributes) = after.split_at(after.find(ends)?);
    let name = name.to_ascii_lowercase();
    let (class, closed, rest) = attributes_of(attributes)?;
    let is_text = matches!(&*name, "script" | "style");
    tree.start(name.clone(), class, closed);
    if is_text && !closed {
        // Only its own end tag is markup inside.
        let lower = rest.to_ascii_lowercase();
        let end = lower.find(&format!("</{name}")).unwrap_or(rest.len());
        return Some(&rest[end..]);
    }
    Some(rest)
}

/// The class among attributes, whether the tag is self-closing, and the rest of the text.
fn attributes_of(mut rest: &str) -> Option<(String, bool, &str)> {
    let mut class = None;
    loop {
        rest = rest.trim_start_matches(|one: char| one.is_ascii_whitespace());
        if let Some(after) = rest.strip_prefix("/>") {
            return Some((class.unwrap_or_default(), true, after));
        }
        if let Some(after) = rest.strip_prefix('>') {
            return Some((class.unwrap_or_default(), false, after));
        }
        if let Some(after) = rest.strip_prefix('/') {
            rest = after;
            continue;
        }
        let ends = |one: char| one.is_ascii_whitespace() || matches!(one, '/' | '>' | '=');
        let (name, after) = match rest.strip_prefix('=') {
            Some(_) => rest.split_at(1),
            None => rest.split_at(rest.find(ends)?),
        };
        let spaced = after.trim_start_matches(|one: char| one.is_ascii_whitespace());
        let Some(value) = spaced.strip_prefix('=') else {
            rest = after;
            continue;
        };
        let value = value.trim_start_matches(|one: char| one.is_ascii_whitespace());
        let (value, after) = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split_once(quote)?,
            _ => value.split_at(value.find(|one: char| one.is_ascii_whitespace() || one == '>')?),
        };
        if name.eq_ignore_ascii_case("class") {
            class = Some(value.to_owned());
        }
        rest = after;
    }
}

/// Appends a text with its character references resolved.
fn push_text(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        rest = match reference(out, after) {
            Some(after) => after,
            None => {
                out.push('&');
                after
            }
        };
    }
    out.push_str(rest);
}

/// Resolves the reference after a `&`. `None` if it is not a reference.
fn reference<'a>(out: &mut String, after: &'a str) -> Option<&'a str> {
    if let Some(number) = after.strip_prefix('#') {
        let (digits, radix) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let end = digits
            .find(|one: char| !one.is_digit(radix))
            .unwrap_or(digits.len());
        let (digits, after) = digits.split_at(end);
        if digits.is_empty() {
            return None;
        }
        let code = u32::from_str_radix(digits, radix).ok();
        out.push(code.and_then(character).unwrap_or('\u{fffd}'));
        return Some(after.strip_prefix(';').unwrap_or(after));
    }
    let ends = |one: char| !(one.is_ascii_alphanumeric() || matches!(one, '-' | '.'));
    let (name, after) = after.split_at(after.find(ends).unwrap_or(after.len()));
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return None;
    }
    let known = ENTITIES.lines().find_map(|line| {
        let (known, code) = line.split_once(' ')?;
        (known == name).then_some(code)
    });
    match known.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?)) {
        Some(character) => out.push(character),
        None => {
            out.push('&');
            out.push_str(name);
        }
    }
    Some(after.strip_prefix(';').unwrap_or(after))
}

/// The character of a numeric reference; codes from 128 to 159 are Windows-1252.
fn character(code: u32) -> Option<char> {
    const WINDOWS: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039,
        0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
    ];
    let index = usize::try_from(code).ok()?.checked_sub(0x80);
    match index.and_then(|index| WINDOWS.get(index)) {
        Some(code) => char::from_u32(u32::from(*code)),
        None => char::from_u32(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        elements(html)
            .into_iter()
            .map(|element| element.text)
            .collect()
    }

    #[test]
    fn texts_are_those_of_beautiful_soup() {
        // Recorded with beautifulsoup4 4.15 on CPython 3.11.
        for (html, expected) in [
            ("<p>a<p>b</p>c</p>d", vec!["abc", "b"]),
            (
                "<p>a<br>b<br/>c &amp; d&nbsp;e &eacute;&#233;&#x80;&bogus; &</p>",
                vec!["abc & d\u{a0}e éé€&bogus &"],
            ),
            (
                "<p>x<script>if (a < b) { '</p>' }</script>y<style>p{}</style></p>",
                vec!["xy"],
            ),
            ("<p>a</b>c</i></p><P CLASS=q>d</P>", vec!["ac", "d"]),
            ("<p>a <b> </b>\n\n<i>c</i></p>", vec!["a  \nc"]),
            ("<pre><p>  \n</p></pre>", vec!["  \n"]),
            ("<p>1 < 2 <3 <!-- no --> end", vec!["1 < 2 <3  end"]),
            ("<p/>x<p>y", vec!["", "y"]),
            (
                "<ul><li>one</li>\n<li>two<ul><li>in</li></ul></li></ul>",
                vec!["one\ntwoin", "in"],
            ),
        ] {
            assert_eq!(texts(html), expected, "{html}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_page_panics(html in "[<>/!a-z\"'= &;#x0-9é\\-]{0,60}") {
            let _ = elements(&html);
        }
    }
}
