//! Finds and masks sensitive data in the texts of an episode: API keys, tokens, passwords, private keys and e-mail
//! addresses.
//!
//! An episode is searched and masked in its native format and frame by frame, so everything that is exported is
//! covered: messages, arguments, frames, metadata.
//!
//! Invariants: the search knows formats and names, not secrets, so it has false negatives and false positives: a person
//! decides. A masked text has no finding. Only values are masked, never names of members.

mod detect;
mod document;

use std::collections::BTreeMap;
use std::fmt::Write;

use volary_core::json::{Json, Object, Text};
use volary_core::{AnyMessage, Frame};

pub use detect::{FindingKind, Sensitive, find};
pub use document::{check_document, masked_document};

use volary_episode::episode::{Episode, Outcome, StepRecord};
use volary_episode::frames::FrameHistory;
use volary_episode::native::{self, NativeError};

/// A sensitive value and its location. The same value that occurs several times is one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// The first characters. Never the whole value.
    pub preview: String,
    /// The step: 0 is the start; `None` outside of the steps.
    pub step: Option<usize>,
    /// The path of its first occurrence in the native format: `steps[2].observation[0].content`.
    pub path: String,
    /// The number of occurrences.
    pub count: usize,
}

/// The findings of an episode, in order of occurrence.
pub fn check(episode: &Episode) -> Vec<Finding> {
    let mut findings = Findings::default();
    let mut add = |text: &str, found: &[Sensitive], path: &str| {
        findings.add(text, found, step_of(path), path);
    };
    visit(&without_frames(episode), None, &mut String::new(), &mut add);
    for index in 0..episode.frames.len() {
        if let Some(frame) = episode.frames.get(index) {
            let mut path = format!("frames[{index}].state");
            visit(&frame.state, None, &mut path, &mut add);
            path = format!("frames[{index}].info");
            visit(&frame.info, None, &mut path, &mut add);
        }
    }
    findings.list
}

/// The findings of a recipe and its actions: all data that a link contains.
pub fn check_actions(episode: &Episode) -> Vec<Finding> {
    check(&actions_only(episode))
}

/// The recipe and the actions of an episode with all findings of [`check_actions`] masked.
pub fn masked_actions(episode: &Episode) -> Result<Episode, NativeError> {
    masked(&actions_only(episode))
}

fn actions_only(episode: &Episode) -> Episode {
    let actions = episode.steps.iter().map(|step| {
        let mut action = step.action.clone();
        // Links contain no reasoning of the model.
        if let AnyMessage::Request(request) = &mut action {
            request.body.info = None;
        }
        StepRecord::new(action, Outcome::Failed { message: "".into() })
    });
    Episode {
        recipe: episode.recipe.clone(),
        steps: actions.collect(),
        ..Episode::default()
    }
}

/// Formats the number of findings of each kind: `2 API keys, 1 e-mail address`.
pub fn summary(found: impl IntoIterator<Item = FindingKind>) -> String {
    let mut counts = BTreeMap::<FindingKind, usize>::new();
    for kind in found {
        *counts.entry(kind).or_default() += 1;
    }
    let kinds = FindingKind::ALL.iter().filter_map(|kind| {
        let count = *counts.get(kind)?;
        let name = match count {
            1 => kind.name(),
            _ => kind.plural(),
        };
        Some(format!("{count} {name}"))
    });
    kinds.collect::<Vec<_>>().join(", ")
}

/// Collects findings, merging equal values.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
    known: BTreeMap<(FindingKind, String), usize>,
}

impl Findings {
    fn add(&mut self, text: &str, found: &[Sensitive], step: Option<usize>, path: &str) {
        for one in found {
            let value = &text[one.range.clone()];
            let index = *self
                .known
                .entry((one.kind, value.to_owned()))
                .or_insert_with(|| {
                    self.list.push(Finding {
                        kind: one.kind,
                        preview: preview(value),
                        step,
                        path: path.to_owned(),
                        count: 0,
                    });
                    self.list.len() - 1
                });
            self.list[index].count += 1;
        }
    }
}

/// The episode with all findings of [`check`] masked.
pub fn masked(episode: &Episode) -> Result<Episode, NativeError> {
    let mut masked = native::episode_from_json(&mask_value(without_frames(episode), None))?;
    // The native format stores frames as deltas, whose offsets would no longer be valid.
    for index in 0..episode.frames.len() {
        if let Some(frame) = episode.frames.get(index) {
            masked.frames.push(Frame {
                state: mask_value(frame.state, None),
                info: mask_value(frame.info, None),
                deepcopy: frame.deepcopy,
            });
        }
    }
    Ok(masked)
}

/// The episode without frames, in the native format.
fn without_frames(episode: &Episode) -> Json {
    native::episode_to_json(&Episode {
        frames: FrameHistory::default(),
        ..episode.clone()
    })
}

/// A text with all findings masked.
pub fn masked_text(text: &str) -> String {
    mask(text, &find(text))
}

/// A JSON value with all findings masked, also the values of members that are named like secrets.
pub fn masked_json(value: &Json) -> Json {
    mask_value(value.clone(), None)
}

/// Members with identifiers of the episode itself, which are not searched.
const OWN: [&str; 3] = ["format", "id", "tool_call_id"];

fn visit(
    value: &Json,
    name: Option<&str>,
    path: &mut String,
    found: &mut impl FnMut(&str, &[Sensitive], &str),
) {
    let length = path.len();
    match value {
        Json::Text(_) if name.is_some_and(|name| OWN.contains(&name)) => {}
        Json::Text(text) => {
            let sensitive = of_member(name, text);
            if !sensitive.is_empty() {
                found(text, &sensitive, path);
            }
        }
        Json::List(list) => {
            for (index, value) in list.iter().enumerate() {
                // Writing to a text cannot fail.
                let _ = write!(path, "[{index}]");
                visit(value, name, path, found);
                path.truncate(length);
            }
        }
        Json::Object(object) => {
            for (key, value) in object.iter() {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                visit(value, Some(key), path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The findings in the text of a member. If the member's name is that of a secret, the whole value is one finding.
fn of_member(name: Option<&str>, text: &str) -> Vec<Sensitive> {
    let is_secret =
        name.is_some_and(|name| detect::is_secret_name(name) && detect::is_secret_value(text));
    if is_secret {
        vec![Sensitive {
            kind: FindingKind::Password,
            range: 0..text.len(),
        }]
    } else {
        find(text)
    }
}

fn mask_value(value: Json, name: Option<&str>) -> Json {
    match value {
        Json::Text(text) if name.is_some_and(|name| OWN.contains(&name)) => Json::Text(text),
        Json::Text(text) => {
            let found = of_member(name, &text);
            if found.is_empty() {
                Json::Text(text)
            } else {
                Json::Text(Text::from(mask(&text, &found)))
            }
        }
        Json::List(list) => {
            let list = list.into_iter().map(|value| mask_value(value, name));
            Json::List(list.collect())
        }
        Json::Object(object) => {
            let members = object.iter().map(|(key, value)| {
                let value = mask_value(value.clone(), Some(key));
                (key.clone(), value)
            });
            Json::Object(Object::from_pairs(members.collect()))
        }
        other => other,
    }
}

fn mask(text: &str, found: &[Sensitive]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for one in found {
        masked.push_str(&text[at..one.range.start]);
        masked.push_str(one.kind.mask());
        at = one.range.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// The first characters, and the total number of characters.
fn preview(text: &str) -> String {
    const SHOWN: usize = 4;
    let count = text.chars().count();
    let start: String = text.chars().take(SHOWN.min(count / 2)).collect();
    format!("{start}… ({count} characters)")
}

/// The step of a path: `steps[2]` is step 3; the index of a frame is that of its step.
fn step_of(path: &str) -> Option<usize> {
    if path.starts_with("start[") {
        return Some(0);
    }
    let (member, rest) = path.split_once('[')?;
    let index: usize = rest.split_once(']')?.0.parse().ok()?;
    match member {
        "steps" => Some(index + 1),
        "frames" => Some(index),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, object};

    use super::*;

    fn episode() -> Episode {
        let failed = Outcome::Failed {
            message: "Mail ada@example.org".into(),
        };
        let action: AnyMessage = Message::new(Role::Assistant, "I act.").into();
        let mut episode = Episode {
            id: "ada@example.org".into(),
            start: vec![Message::user(format!("Use sk-ant-{}.", "a1".repeat(20))).into()],
            steps: vec![
                StepRecord::new(action.clone(), failed),
                StepRecord::new(
                    action,
                    Outcome::Failed {
                        message: "no secret".into(),
                    },
                ),
            ],
            metadata: object!({"login": {"password": "hunter22", "max_tokens": "1000000000"}}),
            ..Episode::default()
        };
        // Stored as a delta of the first one.
        for text in ["Mail ada", "Mail ada@example.org"] {
            let long = "so that a change is shorter than the whole ".repeat(4);
            episode.frames.push(Frame::new(
                object!({"text": (format!("{long}{text}")), "to": (text)}),
                Json::Null,
            ));
        }
        episode.steps[1].extras = object!({"note": "token=abcdef0123456789"});
        episode
    }

    #[test]
    fn findings_have_a_position_and_not_the_value() {
        let found = check(&episode());
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.kind, one.step, &*one.path, one.count))
            .collect();
        assert_eq!(
            told,
            [
                (FindingKind::ApiKey, Some(0), "start[0].content", 1),
                (FindingKind::Email, Some(1), "steps[0].failure", 3),
                (FindingKind::Password, Some(2), "steps[1].extras.note", 1),
                (FindingKind::Password, None, "metadata.login.password", 1),
            ]
        );
        assert_eq!(found[0].preview, "sk-a… (47 characters)");
    }

    #[test]
    fn a_masked_episode_has_no_finding() {
        let masked = masked(&episode()).unwrap();
        assert_eq!(check(&masked), []);
        assert_eq!(masked.frames.len(), 2);
        // The rest is unchanged.
        assert_eq!(&*masked.id, "ada@example.org");
        assert_eq!(
            masked.steps[0].outcome,
            Outcome::Failed {
                message: "Mail [e-mail address]".into()
            }
        );
        let plain = Episode {
            start: vec![Message::user("Nothing to hide.").into()],
            ..Episode::default()
        };
        assert_eq!(super::masked(&plain).unwrap(), plain);
    }
    #[test]
    fn a_link_is_checked_for_what_it_holds() {
        let mut episode = episode();
        assert_eq!(check_actions(&episode), []);
        let said = Message::new(Role::Assistant, "Mail bob@example.org");
        episode.steps[0].action = said.into();
        let found = check_actions(&episode);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].step, &*found[0].path),
            (Some(1), "steps[0].action.content")
        );
        let masked = masked_actions(&episode).unwrap();
        assert_eq!(check_actions(&masked), []);
        assert_eq!(masked.steps.len(), episode.steps.len());
    }

    #[test]
    fn findings_are_counted_by_kind() {
        let found = [FindingKind::Email, FindingKind::ApiKey, FindingKind::Email];
        assert_eq!(summary(found), "1 API key, 2 e-mail addresses");
        assert_eq!(summary([]), "");
    }
}
