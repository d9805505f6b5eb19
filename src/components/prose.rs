//! Rendered Markdown: our own elements and text nodes, never markup from the text.
//!
//! Each text states its source offset (`data-at`), so that passages can be found and selected in the rendered
//! text.

use leptos::prelude::*;

use super::markup::{El, el};
use super::text::inert;
use crate::later::Later;
use crate::projection::content::is_raster_data;
use crate::projection::prose::{Kind, Node, may_lead_to, prose};

/// Renders Markdown that begins at an offset of a longer text. Its code is loaded only by pages that show
/// episodes.
pub static PROSE: Later<fn(&str, usize) -> El> = Later::new();

/// Loads it.
pub fn install() {
    PROSE.set(prose_view);
}

/// Renders Markdown at an offset of a longer text, or plain text if it has too many nodes.
fn prose_view(text: &str, at: usize) -> El {
    match prose(text) {
        Some(nodes) => el("div").class("prose").child(draw(&nodes, at)),
        None => plain(text, at),
    }
}

/// Renders plain text at an offset of a longer text.
pub fn plain(text: &str, at: usize) -> El {
    el("span")
        .attr("data-at", at.to_string())
        .child(inert(text))
}

fn draw(nodes: &[Node], at: usize) -> Vec<AnyView> {
    nodes.iter().map(|node| element(node, at).view()).collect()
}

/// The recursion is as deep as the tree, whose depth is bounded.
fn element(node: &Node, at: usize) -> El {
    let holder = match &node.kind {
        Kind::Text { at: within, text } => return plain(text, at + within),
        Kind::Paragraph => el("p").attr("dir", "auto"),
        // Headings in texts must not become part of the outline of the page.
        Kind::Heading(level) => el("p")
            .attr("dir", "auto")
            .class(format!("prose-heading level-{level}")),
        Kind::Code(language) => return code(node, language, at),
        Kind::Quote => el("blockquote"),
        Kind::List(None) => el("ul"),
        Kind::List(Some(start)) => el("ol").attr("start", start.to_string()),
        Kind::Item => el("li").attr("dir", "auto"),
        Kind::Table => el("table"),
        Kind::Row(true) => return head(node, at),
        Kind::Row(false) => el("tr"),
        Kind::Cell => el("td").attr("dir", "auto"),
        Kind::Rule => el("hr"),
        Kind::Emphasis => el("em"),
        Kind::Strong => el("strong"),
        Kind::Struck => el("del"),
        Kind::Inline => el("code"),
        Kind::Link(address) => link(address),
        Kind::Image(address) => return image(node, address, at),
        Kind::Box(ticked) => {
            return el("span")
                .class("prose-box")
                .attr("role", "img")
                .attr("aria-label", if *ticked { "done" } else { "not done" })
                .attr("data-skip", "")
                .child(if *ticked { "☑ " } else { "☐ " });
        }
    };
    holder.child(draw(&node.children, at))
}

fn code(node: &Node, language: &str, at: usize) -> El {
    let name = (!language.is_empty()).then(|| {
        el("span")
            .class("prose-language")
            .attr("data-skip", "")
            .child(inert(language))
    });
    el("div")
        .class("prose-code")
        .attr("dir", "ltr")
        .child(name)
        .child(el("code").child(draw(&node.children, at)))
}

fn head(node: &Node, at: usize) -> El {
    let cells = node.children.iter().map(|cell| {
        el("th")
            .attr("scope", "col")
            .child(draw(&cell.children, at))
            .view()
    });
    el("tr").child(cells.collect::<Vec<_>>())
}

/// A link that sends no referrer and shows its target before it is followed.
fn link(address: &str) -> El {
    if !may_lead_to(address) {
        return el("span").attr("title", address.to_owned());
    }
    el("a")
        .attr("href", address.to_owned())
        .attr("title", address.to_owned())
        .attr("target", "_blank")
        .attr("rel", "noopener noreferrer nofollow")
}

/// Embedded images are shown. Others are not fetched, because a request would reveal the reader to their hosts.
fn image(node: &Node, address: &str, at: usize) -> El {
    if is_raster_data(address) {
        return el("img")
            .class("message-image")
            .attr("src", address.to_owned())
            .attr("alt", words(&node.children));
    }
    link(address)
        .class("image-elsewhere")
        .child(el("span").attr("data-skip", "").child("Image not loaded: "))
        .child(match node.children.is_empty() {
            true => vec![
                el("span")
                    .attr("data-skip", "")
                    .child(inert(address))
                    .view(),
            ],
            false => draw(&node.children, at),
        })
}

fn words(nodes: &[Node]) -> String {
    let words = nodes.iter().map(|node| match &node.kind {
        Kind::Text { text, .. } => text.clone(),
        _ => words(&node.children),
    });
    words.collect()
}
