//! Which events of a session belong together: the main thread, its subagents, its abandoned branches.
//!
//! What always holds: every event is in a thread; parents that are missing or go in a circle end a walk.

use std::collections::{BTreeMap, HashMap, HashSet};

use volary_core::json::{Json, Object, Text};

use crate::episode::Relation;

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub uuid: Text,
    pub parent: Option<Text>,
    /// The id of the message, which several events share.
    pub message_id: Option<Text>,
    pub is_sidechain: bool,
    pub agent: Option<Text>,
    pub object: Object,
}

impl Event {
    /// Reads an event; gives back what is none.
    pub fn read(value: Json) -> Result<Event, Json> {
        let text = |key: &str| value.get(key).and_then(Json::as_text).cloned();
        let kind = text("type");
        let is_message = matches!(kind.as_deref(), Some("user" | "assistant" | "system"));
        let Some(uuid) = text("uuid").filter(|_| is_message) else {
            return Err(value);
        };
        let event = Event {
            uuid,
            // After a compaction the thread goes on without a parent, but with a logical one.
            parent: text("parentUuid").or_else(|| text("logicalParentUuid")),
            message_id: value
                .get("message")
                .and_then(|message| message.get("id")?.as_text().cloned()),
            is_sidechain: value.get("isSidechain").and_then(Json::as_bool) == Some(true),
            agent: text("agentId"),
            object: Object::new(),
        };
        match value {
            Json::Object(object) => Ok(Event { object, ..event }),
            other => Err(other),
        }
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

/// Events that make an episode.
pub(super) struct Thread {
    /// What the main thread is to this one.
    pub origin: Relation,
    /// The name of the subagent, where it has one.
    pub agent: Option<Text>,
    pub events: Vec<Event>,
    /// From which step of the main thread it goes.
    pub step: Option<usize>,
}

impl Thread {
    /// The session that started it, if it is a subagent.
    pub fn session_of_agent(&self) -> Option<Text> {
        self.agent.as_ref()?;
        let first = self.events.first()?;
        first.object.get("sessionId")?.as_text().cloned()
    }
}

/// The threads; the main one first.
pub(super) fn threads(events: Vec<Event>) -> Vec<Thread> {
    let (side, main): (Vec<_>, Vec<_>) = events.into_iter().partition(|event| event.is_sidechain);
    let mut threads = Vec::new();
    if !main.is_empty() {
        threads.extend(branches(main));
    }
    threads.extend(sidechains(side));
    threads
}

/// Subagents: by their name, else by the event at which they begin.
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

/// The main thread is what leads to the last event; what does not is a branch that was given up.
fn branches(events: Vec<Event>) -> Vec<Thread> {
    let place: HashMap<Text, usize> = events
        .iter()
        .enumerate()
        .map(|(place, event)| (event.uuid.clone(), place))
        .collect();
    let parent = |at: usize| {
        let parent = events[at].parent.as_ref()?;
        // Parents stand before their children, so a walk ends.
        place.get(parent).copied().filter(|parent| *parent < at)
    };
    let mut on_main = vec![false; events.len()];
    let mut at = events.len().checked_sub(1);
    while let Some(now) = at {
        on_main[now] = true;
        at = parent(now);
    }
    // The results of parallel calls and the parts of one message hang on the thread like leaves.
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
    // Where each event leaves the main thread; those that never touch it are a part before.
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
    let chosen = |wanted: &dyn Fn(usize) -> bool| -> Vec<Event> {
        let places = (0..events.len()).filter(|place| wanted(*place));
        places.map(|place| events[place].clone()).collect()
    };
    let mut threads = vec![Thread {
        origin: Relation::Parent,
        agent: None,
        events: chosen(&|place| on_main[place]),
        step: None,
    }];
    for (fork, group) in groups {
        let before = |place: usize| on_main[place] && place <= fork;
        let events = chosen(&|place| before(place) || group.binary_search(&place).is_ok());
        let shared: HashSet<&Text> = (0..=fork)
            .filter(|place| on_main[*place])
            .filter_map(|place| threads.first()?.events.get(place)?.message_id.as_ref())
            .collect();
        threads.push(Thread {
            origin: Relation::Branch,
            agent: None,
            events,
            step: shared.len().checked_sub(1),
        });
    }
    threads
}
