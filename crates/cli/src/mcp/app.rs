//! The MCP App: the document in which a host shows a trajectory, in a sandboxed frame.
//!
//! The document contains no trajectory. The host passes it the result of `show_trajectory`, and it calls the tool again for the
//! messages that were left out. `app.html` draws texts as text nodes only, so nothing in a trajectory becomes markup, and it
//! loads nothing: it works under the strictest policy of the specification.

use rmcp::model::{MetaObject, Resource, ResourceContents};
use serde_json::{Value, json};

/// Its address.
pub const URI: &str = "ui://volary/trajectory";
/// The media type of the documents of apps.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

const DOCUMENT: &str = include_str!("app.html");

/// Its entry in the list of resources.
pub fn resource() -> Resource {
    Resource::new(URI, "trajectory")
        .with_title("A trajectory")
        .with_description("Shows the trajectory that show_trajectory returns.")
        .with_mime_type(MIME_TYPE)
}

/// The page of the app, with the name under which clients ask for it.
pub fn contents() -> ResourceContents {
    let contents = ResourceContents::text(DOCUMENT, URI).with_mime_type(MIME_TYPE);
    match json!({ "ui": { "prefersBorder": true } }) {
        Value::Object(meta) => contents.with_meta(MetaObject(meta)),
        _ => contents,
    }
}
