//! Groups the events of a session into threads: the main thread, its subagents, its abandoned branches.
//!
//! Invariants: every event is in a thread; a missing parent or a cycle ends a walk to the root.

use std::collections::{BTreeMap, HashMap, HashSet};

use volary_core::json::{Json, Object, Text};
use volary_core::object;
use volary_episode::episode::Relation;

use crate::import::expansion::{Expansion, size_of_object};
use crate::import::members::text_at;

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub uuid: Text,
    pub parent: Option<Text>,
    /// Whether it continues a conversation after a compaction.
    pub goes_on: bool,
    /// The id of the message, shared by the events of one message.
    pub message_id: Option<Text>,
    pub is_sidechain: bool,
    pub agent: Option<Text>,
    pub object: Object,
}

impl Event {
    /// Reads an event; returns any other value. Older `stream-json` events have no ids: the line number is used as the
    /// id.
    pub fn read(value: Json, number: usize) -> Result<Event, Json> {
        let value = queued(value);
        let text = |key: &str| value.get(key).and_then(Json::as_text).cloned();
        let is_message = match text("type").as_deref() {
            Some("user" | "assistant") => true,
            // `system` events of `stream-json` contain only the setup of the run.
            Some("system") => text("sessionId").is_some() || text("session_id").is_none(),
            _ => false,
        };
        let numbered = || is_said(&value).then(|| format!("line {number}").into());
        let Some(uuid) = text("uuid").or_else(numbered).filter(|_| is_message) else {
            return Err(value);
        };
        let caller = text("parent_tool_use_id");
        let event = Event {
            uuid,
            // After a compaction the thread continues with a logical parent instead of a parent.
            parent: text("parentUuid").or_else(|| text("logicalParentUuid")),
            goes_on: text("parentUuid").is_none() && text("logicalParentUuid").is_some(),
            message_id: text_at(&value, &["message", "id"]),
            is_sidechain: value.get("isSidechain").and_then(Json::as_bool) == Some(true)
                || caller.is_some(),
            agent: text("agentId").or(caller),
            object: Object::new(),
        };
        match value {
            Json::Object(object) => Ok(Event { object, ..event }),
            other => Err(other),
        }
    }

    fn is_of_system(&self) -> bool {
        let kind = self.object.get("type").and_then(Json::as_text);
        kind.is_some_and(|kind| &**kind == "system")
    }

    fn is_tool_result(&self) -> bool {
        let content = self
            .object
            .get("message")
            .and_then(|message| message.get("content")?.as_list());
        content.unwrap_or_default().iter().any(|block| {
            let kind = block.get("type").and_then(Json::as_text);
            kind.is_some_and(|kind| &**kind == "tool_result")
        })
    }
}

/// Whether a value is a message, with or without an id.
pub(super) fn is_said(value: &Json) -> bool {
    let kind = value.get("type").and_then(Json::as_text);
    let said = value
        .get("message")
        .and_then(|message| message.get("content"));
    kind.is_some_and(|kind| matches!(&**kind, "user" | "assistant")) && said.is_some()
}

/// Converts a message that a person queued while the model was working, and that is stored as an attachment.
fn queued(value: Json) -> Json {
    let is_queued = text_at(&value, &["attachment", "type"]).as_deref() == Some("queued_command");
    match value {
        Json::Object(mut event) if is_queued => {
            if let Some(Json::Object(attachment)) = event.get_mut("attachment")
                && let Some(prompt) = attachment.remove("prompt")
            {
                event.insert("type", "user");
                event.insert("message", object!({ "role": "user", "content": prompt }));
            }
            event.into()
        }
        other => other,
    }
}

/// Lines between messages (progress, attachments) can be parents of messages, although they are not messages.
#[derive(Default)]
pub(super) struct Between {
    /// The nearest message above each of them, if there is one.
    before: HashMap<Text, Option<Text>>,
}

impl Between {
    /// Records a line that is not a message.
    pub fn note(&mut self, value: &Json) {
        if let Some(uuid) = text_at(value, &["uuid"]) {
            let parent = text_at(value, &["parentUuid"]);
            let parent = parent.and_then(|parent| self.above(parent));
            self.before.insert(uuid, parent);
        }
    }

    /// The message with this id, or the nearest message above it.
    pub fn above(&self, parent: Text) -> Option<Text> {
        match self.before.get(&parent) {
            Some(before) => before.clone(),
            None => Some(parent),
        }
    }
}

/// Events that make an episode.
pub(super) struct Thread {
    /// The relation of this thread to the main thread.
    pub origin: Relation,
    /// The name of the subagent, if it is one and has a name.
    pub agent: Option<Text>,
    pub events: Vec<Event>,
    /// The step of the main thread at which it starts.
    pub step: Option<usize>,
}

impl Thread {
    /// The session that started it, if it is a subagent.
    pub fn session_of_agent(&self) -> Option<Text> {
        self.agent.as_ref()?;
        session_of(&self.events.first()?.object)
    }
}

/// The session of an event, in session files or in `stream-json`.
pub(super) fn session_of(event: &Object) -> Option<Text> {
    let keys = ["sessionId", "session_id"].into_iter();
    keys.filter_map(|key| event.get(key)?.as_text().cloned())
        .next()
}

/// The threads, the main one first, and the number of branches that are dropped because all of them together would
/// repeat the main thread too often.
pub(super) fn threads(events: Vec<Event>) -> (Vec<Thread>, usize) {
    let (side, main): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| event.is_sidechain);
    let (mut threads, left_out) = if main.is_empty() {
        (Vec::new(), 0)
    } else {
        branches(main)
    };
    threads.extend(sidechains(side));
    (threads, left_out)
}

/// Groups the events of subagents: by agent name, otherwise by their root event.
fn sidechains(events: Vec<Event>) -> Vec<Thread> {
    let mut root_of: HashMap<Text, Text> = HashMap::new();
    let mut order: Vec<Text> = Vec::new();
    let mut groups: HashMap<Text, Vec<Event>> = HashMap::new();
    for event in events {
        let parent = event.parent.as_ref().and_then(|parent| root_of.get(parent));
        let root = match (&event.agent, parent) {
            (Some(agent), _) => agent.clone(),
            (None, Some(root)) => root.clone(),
            (None, None) => event.uuid.clone(),
        };
        root_of.insert(event.uuid.clone(), root.clone());
        groups
            .entry(root.clone())
            .or_insert_with(|| {
                order.push(root);
                Vec::new()
            })
            .push(event);
    }
    let thread = |root: Text| {
        Some(Thread {
            origin: Relation::Parent,
            events: groups.remove(&root)?,
            agent: Some(root),
            step: None,
        })
    };
    order.into_iter().filter_map(thread).collect()
}

/// The main thread is the path to the last event; other events belong to abandoned branches. Each branch repeats the
/// main thread up to the point where it leaves it, so branches that would need too much memory together are dropped and
/// counted.
fn branches(events: Vec<Event>) -> (Vec<Thread>, usize) {
    let index_of: HashMap<Text, usize> = events
        .iter()
        .enumerate()
        .map(|(index, event)| (event.uuid.clone(), index))
        .collect();
    let parent = |at: usize| {
        let parent = events[at].parent.as_ref()?;
        // Parents precede their children, so a walk terminates. A compaction rewrites the messages that it
        // preserves after itself: they then continue from what precedes them there.
        let known = index_of.get(parent).copied().filter(|parent| *parent < at);
        known.or_else(|| at.checked_sub(1).filter(|_| events[at].goes_on))
    };
    let mut on_main = vec![false; events.len()];
    let mut at = events.len().checked_sub(1);
    while let Some(now) = at {
        on_main[now] = true;
        at = parent(now);
    }
    // The results of parallel calls and the parts of one message are leaves next to the thread.
    let messages: HashSet<Text> = events
        .iter()
        .zip(&on_main)
        .filter_map(|(event, on)| event.message_id.clone().filter(|_| *on))
        .collect();
    for now in 0..events.len() {
        let shares = events[now]
            .message_id
            .as_ref()
            .is_some_and(|id| messages.contains(id));
        let answers =
            events[now].is_tool_result() && parent(now).is_some_and(|parent| on_main[parent]);
        on_main[now] |= shares || answers;
    }
    // The point where each event leaves the main thread; events without one form an earlier part.
    let mut leaves: Vec<Option<usize>> = vec![None; events.len()];
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for now in 0..events.len() {
        if on_main[now] {
            leaves[now] = Some(now);
            continue;
        }
        leaves[now] = parent(now).and_then(|parent| leaves[parent]);
        match leaves[now] {
            Some(fork) => groups.entry(fork).or_default().push(now),
            None => on_main[now] = true,
        }
    }
    // If the branch contains no message of a person, it was not abandoned: a call failed and was repeated.
    groups.retain(|_, group| {
        let speaks = group.iter().any(|index| !events[*index].is_of_system());
        if !speaks {
            group.iter().for_each(|index| on_main[*index] = true);
        }
        speaks
    });
    let chosen = |wanted: &dyn Fn(usize) -> bool| -> Vec<Event> {
        let indices = (0..events.len()).filter(|index| wanted(*index));
        indices.map(|index| events[index].clone()).collect()
    };
    let mut threads = vec![Thread {
        origin: Relation::Parent,
        agent: None,
        events: chosen(&|index| on_main[index]),
        step: None,
    }];
    let sizes = events.iter().map(|event| size_of_object(&event.object));
    let sizes: Vec<usize> = sizes.collect();
    let mut expansion = Expansion::of(sizes.iter().sum());
    let mut left_out = 0;
    for (fork, group) in groups {
        let before = |index: usize| on_main[index] && index <= fork;
        let is_inside = |index: usize| before(index) || group.binary_search(&index).is_ok();
        let indices = (0..events.len()).filter(|index| is_inside(*index));
        if !expansion.take(indices.map(|index| sizes[index]).sum()) {
            left_out += 1;
            continue;
        }
        let inside = chosen(&is_inside);
        let shared: HashSet<&Text> = (0..=fork)
            .filter(|index| on_main[*index])
            .filter_map(|index| events[index].message_id.as_ref())
            .collect();
        threads.push(Thread {
            origin: Relation::Branch,
            agent: None,
            events: inside,
            step: shared.len().checked_sub(1),
        });
    }
    (threads, left_out)
}
