//! Finds the command within a text: the code block that the agent runs.
//!
//! The agent searches blocks with a regular expression, and acts if there is exactly one match. Expressions are not
//! executed here: those that only have literal text before and after a command are taken apart, and any other is
//! assumed to be the default one.
//!
//! Invariants: the time is linear in the text.

use volary_core::json::{Json, Object, Text};

use crate::import::members::text_at;

/// The fence that newer versions request. It hardly ever occurs in a text by chance.
const OWN: &str = "```mswea_bash_command";
/// The fence that older versions request.
const SHELL: &str = "```bash";
/// The placeholder for the command in a pattern.
const COMMAND: &str = "(.*?)";

/// The delimiters around a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    open: Text,
    /// Whether the command begins on a new line.
    on_new_line: bool,
    close: Text,
}

impl Fence {
    /// The fence of these messages: from the configuration, otherwise from the messages before the first reply
    /// of the model.
    pub fn of(info: &Json, messages: &[Json]) -> Fence {
        // The agent parsed the texts at first, later the model did.
        let patterns = ["agent", "model"].into_iter();
        let mut patterns =
            patterns.filter_map(|who| text_at(info, &["config", who, "action_regex"]));
        if let Some(fence) = patterns.find_map(|pattern| Fence::of_pattern(&pattern)) {
            return fence;
        }
        let mut asked = messages
            .iter()
            .take_while(|message| !is_said_by_model(message));
        let asks = |message: &Json| {
            let text = message.as_object().and_then(text_of);
            text.is_some_and(|text| text.contains(OWN))
        };
        if asked.any(asks) {
            Fence::block(OWN)
        } else {
            Fence::block(SHELL)
        }
    }

    fn block(open: &str) -> Fence {
        Fence {
            open: open.into(),
            on_new_line: true,
            close: "\n```".into(),
        }
    }

    /// Parses a pattern with only literal text around the command.
    fn of_pattern(pattern: &str) -> Option<Fence> {
        let (before, after) = pattern.split_once(COMMAND)?;
        let lines = [r"\s*\n", r"\n"].into_iter();
        let line = lines.filter_map(|line| before.strip_suffix(line)).next();
        let open = line.or_else(|| before.strip_suffix(r"\s*"));
        let open = open.unwrap_or(before);
        let close = match after.strip_prefix(r"\n") {
            Some(rest) => format!("\n{rest}"),
            None => after.strip_prefix(r"\s*").unwrap_or(after).to_owned(),
        };
        let says_text = |part: &str| {
            let is_special = |character| r"\.^$*+?{}[]|()".contains(character);
            !part.trim().is_empty() && !part.contains(is_special)
        };
        (says_text(open) && says_text(&close)).then(|| Fence {
            open: open.into(),
            on_new_line: line.is_some(),
            close: close.into(),
        })
    }

    /// The command of a text, if it contains exactly one.
    pub fn only_command<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (first, rest) = self.next(text)?;
        self.next(rest).is_none().then(|| first.trim())
    }

    /// The first command, and the text after it.
    fn next<'a>(&self, mut text: &'a str) -> Option<(&'a str, &'a str)> {
        loop {
            let (_, after) = text.split_once(&*self.open)?;
            text = after;
            if !self.on_new_line {
                return after.split_once(&*self.close);
            }
            let blank = after.len() - after.trim_start().len();
            let Some(end) = after[..blank].rfind('\n') else {
                continue;
            };
            if let Some(found) = after[end + 1..].split_once(&*self.close) {
                return Some(found);
            }
            // Only empty lines.
            let lines = &after[..blank];
            let is_closed = after[end..].starts_with(&*self.close) && lines.find('\n') != Some(end);
            return is_closed.then(|| ("", &after[end + self.close.len()..]));
        }
    }
}

/// Whether a message is the model's; a reply of OpenAI's Responses API has no role.
pub(super) fn is_said_by_model(message: &Json) -> bool {
    let says =
        |key, value| message.get(key).and_then(Json::as_text).map(AsRef::as_ref) == Some(value);
    says("role", "assistant") || says("object", "response")
}

/// The concatenated text of a message's parts.
pub(super) fn text_of(message: &Object) -> Option<Text> {
    match message.get("content")? {
        Json::Text(text) => Some(text.clone()),
        Json::List(parts) => {
            let parts = parts.iter().filter_map(|part| part.get("text")?.as_text());
            let parts: Vec<&str> = parts.map(AsRef::as_ref).collect();
            Some(parts.join("\n").into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_block_is_a_command() {
        let fence = Fence::block(SHELL);
        for (text, expected) in [
            ("I look.\n```bash\nls -la\n```\nDone.", Some("ls -la")),
            ("```bash  \n\n  ls\n\n```", Some("ls")),
            ("```bash\n\n```\nx\n```", Some("```\nx")),
            ("```bash\ncat <<'E'\n```bash\nls\nE\n```", Some("cat <<'E'")),
            ("a\r\n```bash\r\nls\r\n```", Some("ls")),
            ("```bash\n\n```", Some("")),
            ("no block", None),
            ("```bash ls```", None),
            ("```bash\nls", None),
            ("```bash\n```", None),
            ("```sh\nls\n```", None),
            ("```bash\nls\n```\nand\n```bash\npwd\n```", None),
            ("```bash\nls\n```\nlike\n```python\nx\n```", Some("ls")),
            ("```bashful\n```bash\nls\n```", Some("ls")),
        ] {
            assert_eq!(fence.only_command(text), expected, "{text}");
        }
    }

    #[test]
    fn patterns_of_words_are_taken_apart() {
        let pattern = "```mswea_bash_command\\s*\\n(.*?)\\n```";
        assert_eq!(Fence::of_pattern(pattern), Some(Fence::block(OWN)));
        let tags = Fence::of_pattern("<code>(.*?)</code>").unwrap();
        assert_eq!(tags.only_command("x <code> ls </code>"), Some("ls"));
        assert_eq!(tags.only_command("<code>a</code> <code>b</code>"), None);
        for other in [
            "```(?:bash|sh)\\s*\\n(.*?)\\n```",
            "```\\w+\\n(.*?)\\n```",
            "(.*?)",
            "",
            "<code>([^<]*)</code>",
        ] {
            assert_eq!(Fence::of_pattern(other), None, "{other}");
        }
    }

    #[test]
    fn a_text_of_openings_alone_takes_linear_time() {
        let text = format!("{}{}", "```bash ".repeat(200_000), "\n".repeat(200_000));
        assert_eq!(Fence::block(SHELL).only_command(&text), None);
    }
}
