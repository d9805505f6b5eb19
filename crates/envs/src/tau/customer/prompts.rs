//! The prompts of models that play, judge or help a customer.
//!
//! The wording is this project's. For results comparable with the original, take its wording from the
//! checkout: [`Prompts::from_source`].

use std::borrow::Cow;

/// The prompts, with the placeholders `{instruction_display}`, `{transcript}` and `{response}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompts {
    /// For a model that answers directly.
    pub plain: Cow<'static, str>,
    /// For a model that reasons before it answers.
    pub react: Cow<'static, str>,
    /// For a model that judges an answer.
    pub judge: Cow<'static, str>,
    /// For a model that proposes a better answer.
    pub reflect: Cow<'static, str>,
}

impl Default for Prompts {
    fn default() -> Self {
        Prompts {
            plain: Cow::Borrowed(PLAIN),
            react: Cow::Borrowed(REACT),
            judge: Cow::Borrowed(JUDGE),
            reflect: Cow::Borrowed(REFLECT),
        }
    }
}

const PLAIN: &str = "\
Play a customer who talks to a service agent.{instruction_display}
How to play:
- Write the customer's next message and nothing else, in one line.
- Tell only what the conversation needs at this point, never everything at once.
- Know nothing but what the instruction says. Asked for anything else, such as a number that it does \
not mention, say that you do not know it.
- Use your own words instead of those of the instruction, and the manner that it describes.
- When everything in the instruction is done, write '###STOP###' alone.";

const REACT: &str = "\
Play a customer who talks to a service agent.{instruction_display}
How to play:
- Think first about what the customer should do next. The agent does not see that.
- Then write the customer's next message, in one line. The agent sees only this.
- Tell only what the conversation needs at this point, never everything at once.
- Know nothing but what the instruction says. Asked for anything else, such as a number that it does \
not mention, say that you do not know it.
- Use your own words instead of those of the instruction, and the manner that it describes.
- When everything in the instruction is done, the message is '###STOP###' alone.

Write in this form:

Thought:
<what you think>

User Response:
<the message>";

const JUDGE: &str = "\
You check how well somebody plays a customer. Read the conversation and the message that the \
customer wants to send next. Is it a good one: does it keep to the customer's instruction, and does it \
fit the conversation? Answer with one word, true or false.

# Conversation
{transcript}

# Next message
{response}

# Your answer";

const REFLECT: &str = "\
You help somebody who plays a customer. You found that the message that the customer wants to send \
next is not a good one. Say what is wrong with it, then write a better one.

# Conversation
{transcript}

# Next message
{response}

Write in this form:

Reflection:
<what is wrong>

Response:
<the better message>";

impl Prompts {
    /// The original's prompts, extracted from the text of its `tau_bench/envs/user.py`. `None` if they are
    /// missing.
    pub fn from_source(source: &str) -> Option<Prompts> {
        let texts = source.split("f\"\"\"").skip(1);
        let texts = texts.filter_map(|rest| rest.split_once("\"\"\"").map(|(text, _)| text));
        let (mut system, mut judging) = (Vec::new(), Vec::new());
        for text in texts {
            if text.contains("{instruction_display}") {
                system.push(Cow::Owned(text.to_owned()));
            } else if text.contains("{transcript}") && text.contains("{response}") {
                judging.push(Cow::Owned(text.to_owned()));
            }
        }
        let [plain, react] = <[_; 2]>::try_from(system).ok()?;
        let [judge, reflect] = <[_; 2]>::try_from(judging).ok()?;
        Some(Prompts {
            plain,
            react,
            judge,
            reflect,
        })
    }
}

/// The system prompt for an instruction.
pub(super) fn system(prompt: &str, instruction: Option<&str>) -> String {
    let shown = instruction.map(|text| format!("\n\nInstruction: {text}\n"));
    fill(
        prompt,
        &[("instruction_display", &shown.unwrap_or_default())],
    )
}

/// The prompt for a judge or helper.
pub(super) fn about(prompt: &str, transcript: &str, response: &str) -> String {
    fill(
        prompt,
        &[("transcript", transcript), ("response", response)],
    )
}

/// Replaces placeholders by values. Placeholders inside values are not replaced.
fn fill(prompt: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = prompt;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let placeholder = values.iter().find_map(|(name, value)| {
            let behind = after.strip_prefix(name)?.strip_prefix('}')?;
            Some((value, behind))
        });
        match placeholder {
            Some((value, behind)) => {
                filled.push_str(value);
                rest = behind;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in_once() {
        let filled = about("{x} {transcript}|{response}{", "{response}", "r");
        assert_eq!(filled, "{x} {response}|r{");
        assert_eq!(
            system("A{instruction_display}B", Some("i")),
            "A\n\nInstruction: i\nB"
        );
        assert_eq!(system("A{instruction_display}B", None), "AB");
    }

    #[test]
    fn prompts_out_of_a_source() {
        let prompts = |texts: [&str; 4]| {
            let texts = texts.map(|text| format!("    x = f\"\"\"{text}\"\"\"\n"));
            Prompts::from_source(&texts.concat())
        };
        let found = prompts([
            "a{instruction_display}",
            "b{instruction_display}",
            "c{transcript}{response}",
            "d{transcript}{response}",
        ]);
        assert_eq!(
            found.map(|found| found.reflect),
            Some("d{transcript}{response}".into())
        );
        assert_eq!(prompts(["", "", "", ""]), None);
    }
}
