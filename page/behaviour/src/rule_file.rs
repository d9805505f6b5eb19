//! `rules.toml`: the file of rules, for `volary assert`.

use volary_analysis::behaviour::rules::{Rule, RuleFile};
use volary_app::notice::Notice;
use volary_browser::files::{self, GivenFile};

/// The name of the file.
const NAME: &str = "rules.toml";

/// Saves rules as a file.
pub(super) fn save(text: &str) {
    files::download(NAME, "application/toml", text.as_bytes());
}

/// Reads the rules of a file.
pub(super) async fn read(file: &GivenFile) -> Result<Vec<Rule>, Notice> {
    let refused = |why: String| {
        Notice::new(
            format!("{} could not be loaded.", file.name),
            why,
            "The documentation of behaviour shows a file of rules.",
        )
    };
    let bytes = file.read().await.map_err(refused)?;
    let text = String::from_utf8(bytes).map_err(|_| refused("It is not a text.".to_owned()))?;
    let rules: RuleFile = toml::from_str(&text).map_err(|error| refused(error.to_string()))?;
    rules.check().map_err(|error| refused(error.to_string()))?;
    Ok(rules.rule)
}
