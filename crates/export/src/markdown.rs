//! Writes an episode as Markdown, to paste into an issue or a chat.
//!
//! Messages are put into quotes and fences that their text cannot close: a text never becomes a heading, a link or
//! markup of the surrounding page.

use volary_core::AnyMessage;
use volary_episode::episode::{Episode, Outcome};
use volary_episode::passages::{call_text, content};

/// Writes a range of an episode's steps (0 is the start).
pub fn to_markdown(episode: &Episode, steps: std::ops::RangeInclusive<usize>) -> String {
    let mut text = String::new();
    let name = match episode.name.trim() {
        "" => "Episode",
        name => name,
    };
    text.push_str(&format!("## {}\n", one_line(name)));
    if steps.contains(&0) {
        for message in &episode.start {
            push_message(&mut text, message);
        }
    }
    for (index, step) in episode.steps.iter().enumerate() {
        if !steps.contains(&(index + 1)) {
            continue;
        }
        let reward = match step.reward() {
            Some(reward) if reward != 0.0 => format!(" (reward {reward})"),
            _ => String::new(),
        };
        text.push_str(&format!("\n### Step {}{reward}\n", index + 1));
        push_message(&mut text, &step.action);
        match &step.outcome {
            Outcome::Observed { messages, .. } => {
                messages
                    .iter()
                    .for_each(|message| push_message(&mut text, message));
            }
            Outcome::Failed { message } => {
                text.push_str("\n**failed**\n\n");
                push_fence(&mut text, message);
            }
        }
    }
    text
}

fn push_message(text: &mut String, message: &AnyMessage) {
    let speaker = match message {
        AnyMessage::Response(response) => one_line(&response.name),
        other => other.role().as_str().to_owned(),
    };
    text.push_str(&format!("\n**{speaker}**\n\n"));
    let said = content(message.body());
    if !said.is_empty() {
        push_fence(text, &said);
    }
    if let AnyMessage::Request(request) = message {
        for call in &request.tool_calls {
            push_fence(text, &call_text(call));
        }
    }
}

/// Appends a text in a fence longer than any run of backticks in it.
fn push_fence(text: &mut String, said: &str) {
    let mut longest = 0;
    let mut run = 0;
    for character in said.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    text.push_str(&format!(
        "{fence}text\n{}\n{fence}\n",
        said.trim_end_matches('\n')
    ));
}

/// Escapes a name so that it is a single line without Markdown.
fn one_line(name: &str) -> String {
    let mut line = String::new();
    for character in name.chars() {
        match character {
            '\n' | '\r' => line.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' => {
                line.push('\\');
                line.push(character);
            }
            other => line.push(other),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use volary_core::message::{Message, Role};
    use volary_episode::episode::StepRecord;

    use super::*;

    #[test]
    fn nothing_leaves_its_fence() {
        let step = StepRecord::new(
            Message::new(Role::Assistant, "```\n# loud\n````").into(),
            Outcome::Observed {
                messages: vec![Message::user("<b>x</b>").into()],
                reward: 1.0,
                done: false,
                truncated: false,
            },
        );
        let episode = Episode {
            name: "a *b*\n# c".into(),
            start: vec![Message::user("Begin.").into()],
            steps: vec![step],
            ..Episode::default()
        };
        let text = to_markdown(&episode, 0..=1);
        assert_eq!(
            text,
            "## a \\*b\\* \\# c\n\n**user**\n\n```text\nBegin.\n```\n\n### Step 1 (reward 1)\n\n**assistant**\n\n\
             `````text\n```\n# loud\n````\n`````\n\n**user**\n\n```text\n<b>x</b>\n```\n"
        );
        assert!(!to_markdown(&episode, 1..=1).contains("Begin."));
    }
}
