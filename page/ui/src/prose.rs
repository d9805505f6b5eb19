//! Renders Markdown as the page's own elements and text nodes; markup in the text is never interpreted.
//!
//! Each text has its source offset in `data-at`, so that passages can be found and selected in the rendered text.

use leptos::prelude::*;
use volary_view::content::is_raster_data;
use volary_view::prose::{ProseKind, ProseNode, may_lead_to, prose};

use super::text::inert;

/// Renders Markdown at an offset of a longer text, or plain text if it has too many nodes.
pub fn prose_view(text: &str, at: usize) -> AnyView {
    match prose(text) {
        Some(nodes) => view! { <div class="prose">{draw(&nodes, at)}</div> }.into_any(),
        None => plain(text, at),
    }
}

/// Renders plain text at an offset of a longer text.
pub fn plain(text: &str, at: usize) -> AnyView {
    view! { <span data-at=at.to_string()>{inert(text)}</span> }.into_any()
}

fn draw(nodes: &[ProseNode], at: usize) -> Vec<AnyView> {
    nodes.iter().map(|node| element(node, at)).collect()
}

/// Recursive; the depth of the tree is bounded.
fn element(node: &ProseNode, at: usize) -> AnyView {
    let inside = || draw(&node.children, at);
    match &node.kind {
        ProseKind::Text { at: within, text } => plain(text, at + within),
        ProseKind::Paragraph => view! { <p dir="auto">{inside()}</p> }.into_any(),
        // Headings in texts must not become part of the page's heading structure.
        ProseKind::Heading(level) => {
            let class = format!("prose-heading level-{level}");
            view! { <p dir="auto" class=class>{inside()}</p> }.into_any()
        }
        ProseKind::Code(language) => code(language, inside()),
        ProseKind::Quote => view! { <blockquote>{inside()}</blockquote> }.into_any(),
        ProseKind::List(None) => view! { <ul>{inside()}</ul> }.into_any(),
        ProseKind::List(Some(start)) => {
            view! { <ol start=start.to_string()>{inside()}</ol> }.into_any()
        }
        ProseKind::Item => view! { <li dir="auto">{inside()}</li> }.into_any(),
        ProseKind::Table => view! { <table>{inside()}</table> }.into_any(),
        ProseKind::Row(true) => head(node, at),
        ProseKind::Row(false) => view! { <tr>{inside()}</tr> }.into_any(),
        ProseKind::Cell => view! { <td dir="auto">{inside()}</td> }.into_any(),
        ProseKind::Rule => view! { <hr/> }.into_any(),
        ProseKind::Emphasis => view! { <em>{inside()}</em> }.into_any(),
        ProseKind::Strong => view! { <strong>{inside()}</strong> }.into_any(),
        ProseKind::Struck => view! { <del>{inside()}</del> }.into_any(),
        ProseKind::Inline => view! { <code>{inside()}</code> }.into_any(),
        ProseKind::Link(address) => link(address, None, inside()),
        ProseKind::Image(address) => image(node, address, at),
        ProseKind::Box(ticked) => {
            let (name, sign) = if *ticked {
                ("done", "☑ ")
            } else {
                ("not done", "☐ ")
            };
            view! {
                <span class="prose-box" role="img" aria-label=name data-skip="">
                    {sign}
                </span>
            }
            .into_any()
        }
    }
}

fn code(language: &str, inside: Vec<AnyView>) -> AnyView {
    let name = (!language.is_empty()).then(|| {
        view! {
            <span class="prose-language" data-skip="">
                {inert(language)}
            </span>
        }
    });
    view! {
        <div class="prose-code" dir="ltr">
            {name}
            <code>{inside}</code>
        </div>
    }
    .into_any()
}

fn head(node: &ProseNode, at: usize) -> AnyView {
    let cells = node
        .children
        .iter()
        .map(|cell| view! { <th scope="col">{draw(&cell.children, at)}</th> });
    view! { <tr>{cells.collect_view()}</tr> }.into_any()
}

/// A link that sends no referrer and shows its target as a tooltip.
fn link(address: &str, class: Option<&'static str>, inside: Vec<AnyView>) -> AnyView {
    let title = address.to_owned();
    if !may_lead_to(address) {
        return view! { <span class=class title=title>{inside}</span> }.into_any();
    }
    view! {
        <a
            class=class
            href=address.to_owned()
            title=title
            target="_blank"
            rel="noopener noreferrer nofollow"
        >
            {inside}
        </a>
    }
    .into_any()
}

/// An image. Embedded images are shown. Remote ones are not fetched, because a request would reveal the reader to their
/// hosts.
fn image(node: &ProseNode, address: &str, at: usize) -> AnyView {
    if is_raster_data(address) {
        return view! {
            <img class="message-image" src=address.to_owned() alt=words(&node.children)/>
        }
        .into_any();
    }
    let mut inside = vec![view! { <span data-skip="">{"Image not loaded: "}</span> }.into_any()];
    if node.children.is_empty() {
        inside.push(view! { <span data-skip="">{inert(address)}</span> }.into_any())
    } else {
        inside.extend(draw(&node.children, at))
    }
    link(address, Some("image-elsewhere"), inside)
}

fn words(nodes: &[ProseNode]) -> String {
    let words = nodes.iter().map(|node| match &node.kind {
        ProseKind::Text { text, .. } => text.clone(),
        _ => words(&node.children),
    });
    words.collect()
}
