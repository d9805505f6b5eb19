//! The styles of models and servers, which the first view does not need.

use volary_browser::appearance;

/// Adds these style sheets to the page.
pub fn adopt_connections() {
    appearance::adopt(include_str!("../../../style/model.css"));
    appearance::adopt(include_str!("../../../style/remote.css"));
}
