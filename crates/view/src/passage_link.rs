//! Passages in addresses: `1-c-120` is the text of message 1 from character 120 (calls are numbers, reasoning
//! is `r`, errors are `e0`). The address also contains the words, so that they are found even if the text has
//! changed.

use volary_analysis::annotations::Target;
use volary_episode::passages::TextPosition;

use super::highlight::{held, holder_id};

/// Longer passages are identified by their start, to keep addresses short.
const LONGEST: usize = 300;

/// Formats a passage for an address: its position in the step and its words. `None` if the target is not a
/// passage.
pub fn write(target: &Target) -> Option<(String, String)> {
    let Target::Passage {
        position,
        start,
        quote,
        ..
    } = target
    else {
        return None;
    };
    let id = holder_id(*position)?;
    let within = id.strip_prefix(&format!("text-{}-", position.step))?;
    Some((
        format!("{within}-{start}"),
        quote.chars().take(LONGEST).collect(),
    ))
}

/// Parses the output of [`write`] for a step.
pub fn read(step: usize, at: &str, words: &str) -> Option<Target> {
    let (within, start) = at.rsplit_once('-')?;
    let position: TextPosition = held(&format!("text-{step}-{within}"))?;
    let start: usize = start.parse().ok()?;
    Some(Target::Passage {
        position,
        start,
        end: start.checked_add(words.chars().count())?,
        quote: words.into(),
    })
}

#[cfg(test)]
mod tests {
    use volary_episode::passages::TextPart;

    use super::*;

    #[test]
    fn passages_come_back() {
        for part in [
            TextPart::Content,
            TextPart::Reasoning,
            TextPart::Call(2),
            TextPart::Error(0),
        ] {
            let target = Target::Passage {
                position: TextPosition {
                    step: 3,
                    message: 1,
                    part,
                },
                start: 120,
                end: 124,
                quote: "four".into(),
            };
            let (at, words) = write(&target).unwrap();
            assert_eq!(read(3, &at, &words), Some(target));
        }
        for nonsense in ["", "-", "1-c", "1-c-x", "c-1", "1-c-99999999999999999999"] {
            assert_eq!(read(1, nonsense, "x"), None, "{nonsense}");
        }
        assert_eq!(write(&Target::Episode), None);
    }
}
