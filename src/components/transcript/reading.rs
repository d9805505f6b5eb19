//! How a person reads: what is folded, drawn as Markdown, shown as JSON. Outlives the blocks, which come
//! and go.

use std::collections::HashMap;

use leptos::prelude::*;

use super::reader::Reader;

/// What can be folded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What is said.
    Messages,
    /// Calls, and what they gave.
    Tools,
    /// What models thought.
    Reasoning,
}

/// Which kinds are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// What is said.
    pub messages: bool,
    /// Calls, and what they gave.
    pub tools: bool,
    /// What models thought.
    pub reasoning: bool,
}

impl Folded {
    /// Whether a kind is.
    pub fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::Messages => self.messages,
            Kind::Tools => self.tools,
            Kind::Reasoning => self.reasoning,
        }
    }
}

/// A part of a step that can be folded by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spot {
    /// A message.
    Message(usize),
    /// A call of the action.
    Call(usize),
    /// What was thought before it.
    Thought,
}

/// What a person chose for one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// Whether it is folded; as its kind is if `None`.
    pub(super) folded: Option<bool>,
    /// Whether it is shown as JSON.
    pub(super) raw: bool,
}

/// How a person reads an episode.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Whether texts are drawn as Markdown.
    pub formatted: RwSignal<bool>,
    /// What is folded unless somebody chose otherwise.
    pub folded: RwSignal<Folded>,
    /// Leads into the transcript, once there is one.
    pub reader: RwSignal<Option<Reader>>,
    own: StoredValue<HashMap<(usize, Spot), RwSignal<Own>>>,
    owner: StoredValue<Option<Owner>>,
}

impl Reading {
    /// Everything open, thoughts aside.
    pub fn new() -> Reading {
        Reading {
            formatted: RwSignal::new(true),
            folded: RwSignal::new(Folded {
                messages: false,
                tools: false,
                reasoning: true,
            }),
            reader: RwSignal::new(None),
            own: StoredValue::default(),
            owner: StoredValue::new(Owner::current()),
        }
    }

    /// Another episode is read: what was chosen for parts of the last one is forgotten.
    pub fn begin(self) {
        self.own.update_value(HashMap::clear);
        if let Some(reader) = self.reader.get_untracked() {
            reader.forget_folds();
        }
    }

    /// Folds a kind, or unfolds it; each of its parts follows.
    pub fn fold(self, kind: Kind, fold: bool) {
        self.folded.update(|folded| match kind {
            Kind::Messages => folded.messages = fold,
            Kind::Tools => folded.tools = fold,
            Kind::Reasoning => folded.reasoning = fold,
        });
        self.each(|_, own| own.folded = None);
    }

    /// Folds all of a step, or unfolds it.
    pub fn fold_step(self, step: usize, messages: usize, calls: usize, fold: bool) {
        let messages = (0..messages).map(Spot::Message);
        for spot in messages.chain((0..calls).map(Spot::Call)) {
            self.own(step, spot).update(|own| own.folded = Some(fold));
        }
    }

    fn each(self, change: impl Fn(Spot, &mut Own)) {
        let known: Vec<_> = self.own.with_value(|own| {
            own.iter()
                .map(|((_, spot), signal)| (*spot, *signal))
                .collect()
        });
        for (spot, signal) in known {
            let mut own = signal.get_untracked();
            let before = own;
            change(spot, &mut own);
            if own != before {
                signal.set(own);
            }
        }
    }

    pub(super) fn own(self, step: usize, spot: Spot) -> RwSignal<Own> {
        let known = self.own.with_value(|own| own.get(&(step, spot)).copied());
        known.unwrap_or_else(|| {
            let signal = match self.owner.get_value() {
                Some(owner) => owner.with(RwSignal::default),
                None => RwSignal::default(),
            };
            self.own
                .update_value(|own| _ = own.insert((step, spot), signal));
            signal
        })
    }

    pub(super) fn is_folded(self, kind: Kind, own: Own) -> bool {
        own.folded.unwrap_or_else(|| self.folded.get().has(kind))
    }

    /// Unfolds a part, however it is folded.
    pub(super) fn open(self, step: usize, spot: Spot) {
        let own = self.own(step, spot);
        if own.get_untracked().folded != Some(false) || own.get_untracked().raw {
            own.set(Own {
                folded: Some(false),
                raw: false,
            });
        }
    }
}

impl Default for Reading {
    fn default() -> Self {
        Reading::new()
    }
}
