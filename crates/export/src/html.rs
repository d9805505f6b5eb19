//! One episode as a self-contained page, without scripts, fonts or requests; for sending and printing.
//!
//! Invariants: texts are escaped, so nothing in an episode becomes markup; the page's own Content-Security-Policy
//! forbids scripts and requests; images are shown only if their data is embedded in the episode and is a raster image,
//! never SVG.

use std::fmt::{Arguments, Write};
use std::ops::Range;

use volary_core::json::Json;
use volary_core::{AnyMessage, Role};
use volary_episode::episode::{Ending, Episode, Outcome, Rewards, StepRecord};
use volary_episode::time;

use super::parts::{ContentPart, observed, parts};

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8886;--quiet:#666;--bad:#b3261e;--good:#1b6e3c;--fill:#8881}\
@media(prefers-color-scheme:dark){:root{--quiet:#aaa;--bad:#ff8a80;--good:#7bd88f}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:2rem 0 .5rem}\
table{border-collapse:collapse}th{text-align:left;font-weight:normal;color:var(--quiet)}\
th,td{padding:.1rem 1rem .1rem 0;vertical-align:top;overflow-wrap:anywhere}\
article{border-left:3px solid var(--line);padding:.1rem 0 .1rem 1rem;margin:.75rem 0}\
article>h3{font-size:.85rem;margin:0;color:var(--quiet);font-weight:600}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0;font:inherit}\
pre.code{font:.9em/1.45 ui-monospace,monospace;background:var(--fill);padding:.5rem;border-radius:4px}\
details{margin:.25rem 0}summary{color:var(--quiet);cursor:pointer}\
img{max-width:100%}.bad{color:var(--bad)}.good{color:var(--good)}.quiet{color:var(--quiet)}\
@media print{body{max-width:none;margin:0}article{break-inside:avoid-page}}";

/// Longer texts are collapsed. In bytes.
const LONG: usize = 4000;

/// The text of a file.
pub fn to_text(episode: &Episode) -> String {
    let title = if episode.name.is_empty() {
        &episode.id
    } else {
        &episode.name
    };
    let mut page = Page::begin(title, "");
    page.summary(episode);
    page.raw("</header>\n<main>\n");
    page.start(episode, &[]);
    for (index, step) in episode.steps.iter().enumerate() {
        let number = index + 1;
        page.tag(format_args!(
            "<section id=\"step-{number}\" aria-label=\"Step {number}\">\n"
        ));
        page.step(number, step, episode, &[]);
        page.raw("</section>\n");
    }
    if let Some(frame) = episode.frames.last() {
        page.raw("<section aria-label=\"Last state\">\n<h2>Last state</h2>\n");
        page.long("State", &frame.state.to_python_text());
        page.raw("</section>\n");
    }
    page.raw("</main>\n</body>\n</html>\n");
    page.out
}

/// Characters of the content of a message that are marked.
pub(super) struct Mark {
    /// The index of the message in its step, where 0 is the action of a step after the start.
    pub message: usize,
    pub range: Range<usize>,
}

/// A page under construction, or a piece of one.
#[derive(Default)]
pub(super) struct Page {
    out: String,
}

impl Page {
    /// Begins a page, up to the heading in its header. The style is added to the common one.
    pub fn begin(title: &str, style: &'static str) -> Page {
        let mut page = Page::default();
        page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
        page.text(POLICY);
        page.raw("\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
        page.text(title);
        page.raw("</title>\n<style>");
        page.raw(STYLE);
        page.raw(style);
        page.raw("</style>\n</head>\n<body>\n<header>\n<h1>");
        page.text(title);
        page.raw("</h1>\n");
        page
    }

    /// The text so far.
    pub fn into_text(self) -> String {
        self.out
    }

    /// Appends trusted markup.
    pub fn raw(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Appends trusted markup with numbers and ids of our own in it.
    pub fn tag(&mut self, markup: Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.out.write_fmt(markup);
    }

    /// Appends untrusted text, escaped.
    pub fn text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                // Makes invisible and bidirectional control characters visible.
                '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}' => {
                    let _ = write!(self.out, "[U+{:04X}]", u32::from(character));
                }
                // HTML allows no other control characters.
                '\u{0}'..='\u{8}'
                | '\u{b}'
                | '\u{c}'
                | '\u{e}'..='\u{1f}'
                | '\u{7f}'..='\u{9f}' => {
                    self.out.push('\u{fffd}');
                }
                other => self.out.push(other),
            }
        }
    }

    fn row(&mut self, name: &'static str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.raw("<tr><th scope=\"row\">");
        self.raw(name);
        self.raw("</th><td>");
        self.text(value);
        self.raw("</td></tr>\n");
    }

    pub fn summary(&mut self, episode: &Episode) {
        let text = |text: Option<&volary_core::json::Text>| {
            text.map_or(String::new(), |text| text.to_string())
        };
        self.raw("<table>\n");
        self.row("Environment", &text(episode.environment()));
        self.row("Task", &text(episode.task().map(|task| &task.id)));
        self.row("Agent", &text(episode.policy.as_ref()));
        self.row("Model", &text(episode.model.as_ref()));
        let reward = episode.reward().map(|reward| reward.to_string());
        self.row("Reward", &reward.unwrap_or_default());
        for score in &episode.scores {
            let value = match &score.value {
                Json::Text(text) => text.to_string(),
                other => other.to_python_text(),
            };
            self.row("Score", &format!("{}: {value}", score.name));
        }
        self.row("Ending", &ending(&episode.ending));
        self.row("Outcome", &text(episode.outcome.as_ref()));
        self.row("Steps", &episode.steps.len().to_string());
        let usage = episode.usage();
        let tokens = [
            (usage.input, "in"),
            (usage.output, "out"),
            (usage.cached, "cached"),
        ];
        let tokens = tokens
            .iter()
            .filter_map(|(count, name)| Some(format!("{} {name}", (*count)?)));
        self.row("Tokens", &tokens.collect::<Vec<_>>().join(", "));
        self.row(
            "Cost",
            &usage
                .cost
                .map(|cost| format!("${cost:.4}"))
                .unwrap_or_default(),
        );
        let seconds = episode.seconds.map(|seconds| format!("{seconds} s"));
        self.row("Time", &seconds.unwrap_or_default());
        self.row(
            "Started",
            &episode.started.and_then(time::format).unwrap_or_default(),
        );
        self.raw("</table>\n");
        for error in &episode.errors {
            self.raw("<p class=\"bad\">");
            self.text(error);
            self.raw("</p>\n");
        }
    }

    /// Appends the messages of the start, if there are any.
    pub fn start(&mut self, episode: &Episode, marks: &[Mark]) {
        if episode.start.is_empty() {
            return;
        }
        self.raw("<section aria-label=\"Start\">\n<h2>Start</h2>\n");
        for (index, message) in episode.start.iter().enumerate() {
            self.message(message, &of_message(marks, index));
        }
        self.raw("</section>\n");
    }

    /// Appends a step, without an element around it.
    pub fn step(&mut self, number: usize, step: &StepRecord, episode: &Episode, marks: &[Mark]) {
        self.tag(format_args!("<h2>Step {number}"));
        if episode.rewards == Rewards::Steps
            && let Some(reward) = step.reward().filter(|reward| *reward != 0.0)
        {
            let class = if reward < 0.0 { "bad" } else { "good" };
            let _ = write!(self.out, " <span class=\"{class}\">reward {reward}</span>");
        }
        if let Some(seconds) = step.seconds {
            let _ = write!(self.out, " <span class=\"quiet\">{seconds:.1} s</span>");
        }
        self.raw("</h2>\n");
        if let Some(reasoning) = &step.details.reasoning {
            self.fold("Reasoning", reasoning, false);
        }
        self.message(&step.action, &of_message(marks, 0));
        for (index, message) in observed(step).iter().enumerate() {
            self.message(message, &of_message(marks, index + 1));
        }
        let failure = match &step.outcome {
            Outcome::Failed { message } => Some(message),
            Outcome::Observed { .. } => None,
        };
        for error in failure
            .into_iter()
            .chain(step.details.errors.iter().map(|error| &error.message))
        {
            self.raw("<p class=\"bad\">");
            self.text(error);
            self.raw("</p>\n");
        }
    }

    fn message(&mut self, message: &AnyMessage, marks: &[Range<usize>]) {
        self.raw("<article>\n<h3>");
        match message {
            AnyMessage::Response(response) => {
                self.raw("Result of ");
                self.text(&response.name);
            }
            _ => self.raw(match message.role() {
                Role::User => "User",
                Role::System => "System",
                Role::Assistant => "Assistant",
                Role::Tool => "Tool",
                Role::Function => "Function",
            }),
        }
        self.raw("</h3>\n");
        let content = parts(message.body());
        // Marks count the characters of a content that is one text.
        let is_one = content.len() == 1 && !marks.is_empty();
        for part in content {
            match part {
                ContentPart::Text(text) if is_one => self.marked(&text, marks),
                ContentPart::Text(text) => self.long("Text", &text),
                ContentPart::Image(url) => self.image(&url),
                ContentPart::Other(block) => self.long("Content", &block.to_python_text()),
            }
        }
        if let AnyMessage::Request(request) = message {
            for call in &request.tool_calls {
                self.raw("<p>Calls <strong>");
                self.text(&call.function.name);
                self.raw("</strong></p>\n<pre class=\"code\">");
                self.text(&Json::from(call.function.arguments.clone()).to_python_text());
                self.raw("</pre>\n");
            }
        }
        self.raw("</article>\n");
    }

    /// Appends a text with marked characters. It is never collapsed.
    fn marked(&mut self, text: &str, marks: &[Range<usize>]) {
        let is_marked = |index: usize| marks.iter().any(|range| range.contains(&index));
        let mut letter = [0; 4];
        let mut is_on = false;
        self.raw("<pre>");
        for (index, character) in text.chars().enumerate() {
            if is_marked(index) != is_on {
                is_on = !is_on;
                self.raw(if is_on { "<mark>" } else { "</mark>" });
            }
            self.text(character.encode_utf8(&mut letter));
        }
        if is_on {
            self.raw("</mark>");
        }
        self.raw("</pre>\n");
    }

    fn long(&mut self, name: &'static str, text: &str) {
        if text.len() > LONG {
            return self.fold(name, text, true);
        }
        self.raw("<pre>");
        self.text(text);
        self.raw("</pre>\n");
    }

    fn fold(&mut self, name: &'static str, text: &str, tell: bool) {
        self.raw("<details><summary>");
        self.raw(name);
        if tell {
            let _ = write!(self.out, ", {} characters", text.chars().count());
        }
        self.raw("</summary><pre>");
        self.text(text);
        self.raw("</pre></details>\n");
    }

    fn image(&mut self, url: &str) {
        const SHOWN: [&str; 4] = [
            "data:image/png;base64,",
            "data:image/jpeg;base64,",
            "data:image/gif;base64,",
            "data:image/webp;base64,",
        ];
        if SHOWN.iter().any(|start| url.starts_with(start)) {
            self.raw("<img alt=\"Image\" src=\"");
            self.text(url);
            self.raw("\">\n");
        } else {
            self.raw("<p class=\"quiet\">Image: ");
            self.text(url);
            self.raw("</p>\n");
        }
    }
}

/// The marked characters of a message.
fn of_message(marks: &[Mark], message: usize) -> Vec<Range<usize>> {
    let marks = marks.iter().filter(|mark| mark.message == message);
    marks.map(|mark| mark.range.clone()).collect()
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Open => "open".to_owned(),
        Ending::Done => "done".to_owned(),
        Ending::Truncated { reason } => format!("truncated: {reason}"),
        Ending::Crashed { message } => format!("crashed: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use volary_core::Message;

    use super::*;

    #[test]
    fn nothing_in_an_episode_becomes_markup() {
        let hostile = "<script>alert(1)</script>\" onload='x' \u{202e}&amp;";
        let episode = Episode {
            name: hostile.into(),
            policy: Some(hostile.into()),
            errors: vec![hostile.into()],
            start: vec![Message::user(hostile).into()],
            ..Episode::default()
        };
        let page = to_text(&episode);
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("onload='"));
        assert!(page.contains("[U+202E]&amp;amp;"));
        assert!(page.contains("default-src &#39;none&#39;"));
    }

    #[test]
    fn only_pictures_are_shown() {
        let mut page = Page::default();
        page.image("data:image/svg+xml;base64,AAAA");
        page.image("https://example.org/x.png");
        assert!(!page.out.contains("<img"));
        page.image("data:image/png;base64,AA\"><b>");
        assert!(
            page.out
                .contains("src=\"data:image/png;base64,AA&quot;&gt;&lt;b&gt;\"")
        );
    }
}
