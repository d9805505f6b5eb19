//! Finds the elements that leptos would build from an HTML string.
//!
//! `view!` sets a nested element whose attributes and children are all literals with `innerHTML`. The page's policy
//! (`require-trusted-types-for 'script'`) forbids that, and the page breaks. An element with at least one `{block}`,
//! with an attribute that is no string literal, or with a component in it is built node by node. So are the outermost
//! elements of a `view!` and those directly in a component.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree, token_stream};

/// Void elements, which have no closing tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];
/// Attributes that are never serialized to HTML.
const NOT_IN_HTML: [&str; 5] = ["bind", "on", "prop", "style", "use"];

/// The lines of inert elements in the `view!` macros of a Rust source.
pub fn inert_elements(source: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    // The compiler reports invalid Rust.
    if let Ok(tokens) = source.parse() {
        search(tokens, &mut lines);
    }
    lines.sort_unstable();
    lines
}

/// Searches for `view! { … }`, at any depth.
fn search(tokens: TokenStream, lines: &mut Vec<usize>) {
    let mut before = [String::new(), String::new()];
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            if before == ["view", "!"] {
                markup(group.stream(), lines);
            }
            search(group.stream(), lines);
        }
        let [_, last] = before;
        before = [last, token.to_string()];
    }
}

type Tokens = Peekable<token_stream::IntoIter>;

/// An open element.
struct Element {
    line: usize,
    is_component: bool,
    /// Whether its content is all literal so far.
    is_literal: bool,
    is_empty: bool,
    /// The lines of its inert children, reported unless it is inert itself.
    inert: Vec<usize>,
}

/// Reads the markup of one `view!`.
fn markup(tokens: TokenStream, lines: &mut Vec<usize>) {
    let mut open: Vec<Element> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let Some(parent) = open.last_mut() {
            let closes = is(&token, '<') && tokens.peek().is_some_and(|next| is(next, '/'));
            parent.is_empty &= closes;
            parent.is_literal &= !is_block(&token);
        }
        if !is(&token, '<') {
            continue;
        }
        if tokens.next_if(|next| is(next, '/')).is_some() {
            while tokens.next().is_some_and(|token| !is(&token, '>')) {}
            close(&mut open, lines);
        } else if let Some((element, is_closed)) = start_tag(token.span(), &mut tokens) {
            open.push(element);
            if is_closed {
                close(&mut open, lines);
            }
        }
    }
}

/// Reads a start tag, beginning at its name, and whether it closes its element. `None` for a fragment or a comment.
fn start_tag(at: Span, tokens: &mut Tokens) -> Option<(Element, bool)> {
    let name = match tokens.next_if(|token| matches!(token, TokenTree::Ident(_))) {
        Some(name) => name.to_string(),
        None => {
            while tokens.next().is_some_and(|token| !is(&token, '>')) {}
            return None;
        }
    };
    let mut element = Element {
        line: at.start().line,
        is_component: name.starts_with(char::is_uppercase),
        is_literal: true,
        is_empty: true,
        inert: Vec::new(),
    };
    let mut attribute = String::new();
    while let Some(token) = tokens.next() {
        if is(&token, '>') {
            return Some((element, VOID.contains(&name.as_str())));
        }
        if is(&token, '/') {
            tokens.next();
            return Some((element, true));
        }
        element.is_empty = false;
        if let TokenTree::Ident(part) = &token
            && attribute.is_empty()
        {
            attribute = part.to_string();
        }
        if is(&token, '=') {
            let is_text = tokens.next().is_some_and(|value| is_text(&value))
                && !tokens.peek().is_some_and(|next| is(next, '.'));
            if !is_text || NOT_IN_HTML.contains(&attribute.as_str()) {
                element.is_literal = false;
                return Some((element, end_of_tag(tokens) || VOID.contains(&name.as_str())));
            }
            attribute.clear();
        }
        element.is_literal &= !is_block(&token);
    }
    Some((element, true))
}

/// Skips the rest of a start tag; returns whether it closes its element.
fn end_of_tag(tokens: &mut Tokens) -> bool {
    let (mut before, mut generics) = (' ', 0_usize);
    for token in tokens.by_ref() {
        let TokenTree::Punct(sign) = &token else {
            before = ' ';
            continue;
        };
        match (before, sign.as_char()) {
            (':', '<') => generics += 1,
            ('-' | '=', '>') => {}
            (_, '>') if generics > 0 => generics -= 1,
            (before, '>') => return before == '/',
            _ => {}
        }
        let joins = sign.spacing() == Spacing::Joint || sign.as_char() == ':';
        before = if joins { sign.as_char() } else { ' ' };
    }
    true
}

/// Closes the innermost open element, and passes its result to its parent.
fn close(open: &mut Vec<Element>, lines: &mut Vec<usize>) {
    let Some(element) = open.pop() else {
        return;
    };
    let is_inert = element.is_literal && !element.is_component;
    match open.last_mut() {
        Some(parent) if !parent.is_component => {
            if !is_inert {
                parent.is_literal = false;
                lines.extend(element.inert);
            } else if !element.is_empty {
                parent.inert.push(element.line);
            }
        }
        _ => lines.extend(element.inert),
    }
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_block(token: &TokenTree) -> bool {
    let delimiter = |group: &Group| group.delimiter() == Delimiter::Brace;
    matches!(token, TokenTree::Group(group) if delimiter(group))
}

fn is_text(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Literal(literal) if literal.to_string().ends_with('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inert(markup: &str) -> Vec<usize> {
        inert_elements(&format!("fn view() {{ view! {{\n{markup}\n}} }}"))
    }

    #[test]
    fn elements_of_literals_are_inert() {
        assert_eq!(inert("<div>\n<h2>\"Models\"</h2></div>"), [3]);
        assert_eq!(inert("<div><p class=\"a\" hidden></p></div>"), [2]);
        assert_eq!(inert("<svg><path d=\"M0 0\"/></svg>"), [2]);
        assert_eq!(
            inert("<div>{a}<p>\n<b>\"a\"</b>\n<i>\"b\"</i></p></div>"),
            [2]
        );
        assert_eq!(inert("<div><p>{a}\n<b>\"a\"</b></p></div>"), [3]);
        assert_eq!(inert("<A><div><input type=\"text\"></div></A>"), [2]);
        assert_eq!(
            inert("<a on:click=move |_| a::<T>(b)>\n<b>\"a\"</b></a>"),
            [3]
        );
        assert_eq!(
            inert("<div>{move || view! { <p>\n<b>\"a\"</b></p> }}</div>"),
            [3]
        );
        assert_eq!(inert("<><div><p>\"a\"</p></div></>"), [2]);
    }

    #[test]
    fn elements_with_a_block_an_expression_or_a_component_are_not() {
        for markup in [
            "<div class=\"a\">\"Text\"</div>",
            "<div><h2>{\"Models\"}</h2></div>",
            "<div><path d={\"M0 0\"}/></div>",
            "<div><p><A/></p></div>",
            "<div><p class=class>\"a\"</p></div>",
            "<div><p class=\"a\".to_owned()>\"a\"</p></div>",
            "<div><br/><input type=\"text\" prop:value=\"a\"/></div>",
            "<div><b on:click=move |_| -> bool { true }>\"a\"</b></div>",
            "<A b=1><p>\"a\"</p></A>",
            "<a></a><b>\"b\"</b>",
        ] {
            assert!(inert(markup).is_empty(), "{markup}");
        }
    }
}
