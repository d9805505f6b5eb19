//! Display options in Review: what is collapsed, rendered as Markdown, or shown as JSON. They outlive the blocks, which
//! are mounted and unmounted while scrolling.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;

use super::context::TranscriptContext;

/// A kind of content that is collapsed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// Message texts.
    Messages,
    /// Calls and their results.
    Tools,
    Reasoning,
}

/// The kinds that are collapsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    pub messages: bool,
    /// Calls and their results.
    pub tools: bool,
    pub reasoning: bool,
}

impl Folded {
    /// Returns whether a kind is collapsed.
    pub fn has(self, kind: ContentKind) -> bool {
        match kind {
            ContentKind::Messages => self.messages,
            ContentKind::Tools => self.tools,
            ContentKind::Reasoning => self.reasoning,
        }
    }
}

/// A part of a step that can be collapsed individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spot {
    Message(usize),
    /// The call with this index in the action.
    Call(usize),
    /// The reasoning before the action.
    Thought,
}

/// The user's choices for one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Own {
    /// Whether the part is collapsed; `None` follows its kind.
    pub(super) folded: Option<bool>,
    /// Whether the part is shown as JSON.
    pub(super) raw: bool,
}

/// Renders the token strip of a message from its step and its index in it.
pub type Strips = Arc<dyn Fn(usize, usize) -> Option<AnyView> + Send + Sync>;

/// Signals of the display options of an episode.
#[derive(Clone, Copy)]
pub struct ReadingOptions {
    /// Whether Markdown is rendered.
    pub formatted: RwSignal<bool>,
    /// The kinds that are collapsed by default.
    pub folded: RwSignal<Folded>,
    /// The state of the transcript, once it is mounted.
    pub context: RwSignal<Option<TranscriptContext>>,
    /// Renders the token strips; `None` if they are not shown.
    pub strips: RwSignal<Option<Strips>>,
    own: StoredValue<HashMap<(usize, Spot), RwSignal<Own>>>,
    owner: StoredValue<Option<Owner>>,
}

impl ReadingOptions {
    /// Everything expanded except reasoning.
    pub fn new() -> ReadingOptions {
        ReadingOptions {
            formatted: RwSignal::new(true),
            folded: RwSignal::new(Folded {
                messages: false,
                tools: false,
                reasoning: true,
            }),
            context: RwSignal::new(None),
            strips: RwSignal::new(None),
            own: StoredValue::default(),
            owner: StoredValue::new(Owner::current()),
        }
    }

    /// Resets the choices for parts, because another episode is shown.
    pub fn begin(self) {
        self.own.update_value(HashMap::clear);
        if let Some(context) = self.context.get_untracked() {
            context.forget_folds();
        }
    }

    /// Collapses or expands a kind, and resets the choices for its parts.
    pub fn fold(self, kind: ContentKind, fold: bool) {
        self.folded.update(|folded| match kind {
            ContentKind::Messages => folded.messages = fold,
            ContentKind::Tools => folded.tools = fold,
            ContentKind::Reasoning => folded.reasoning = fold,
        });
        self.each(|_, own| own.folded = None);
    }

    /// Collapses or expands a whole step.
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

    pub(super) fn is_folded(self, kind: ContentKind, own: Own) -> bool {
        own.folded.unwrap_or_else(|| self.folded.get().has(kind))
    }

    /// Returns whether a call is shown as JSON, and whether it is collapsed.
    pub(super) fn call_state(self, own: Own) -> (bool, bool) {
        (own.raw, self.is_folded(ContentKind::Tools, own))
    }

    /// Expands a part, whether it or its kind is collapsed.
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

impl Default for ReadingOptions {
    fn default() -> Self {
        ReadingOptions::new()
    }
}
