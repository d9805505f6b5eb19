//! Display options in Review: what is collapsed, rendered as Markdown, or shown as JSON. They outlive the blocks, which
//! are mounted and unmounted while scrolling.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::ToolCall;
use volary_core::json::Text;

use super::context::{FoldKey, TranscriptContext};
use super::message_text::Manner;

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
    /// The reasoning within the text of a message.
    InlineThought(usize),
}

impl Spot {
    /// Whether the part may be of a kind. Messages are texts or results of tools.
    fn may_be(self, kind: ContentKind) -> bool {
        match self {
            Spot::Message(_) => kind != ContentKind::Reasoning,
            Spot::Call(_) => kind == ContentKind::Tools,
            Spot::Thought | Spot::InlineThought(_) => kind == ContentKind::Reasoning,
        }
    }
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

/// Draws what only Review shows. The options carry these functions, so that only pages that create options contain them.
pub(super) struct ReadingViews {
    /// The content of a message, with its calls. Arguments: step and index of the message, and the calls.
    pub body: fn(TranscriptContext, ReadingOptions, (usize, usize), Vec<AnyView>) -> AnyView,
    /// The buttons of a message. Arguments: step and index of the message, and the number of its calls.
    pub tools: fn(TranscriptContext, ReadingOptions, (usize, usize), usize) -> AnyView,
    /// A text that begins at an offset of its message.
    pub text: fn(TranscriptContext, ReadingOptions, FoldKey, Text, usize, Manner) -> AnyView,
    /// A call, with a link to its result. Arguments: step and index of the call, the call, and the link.
    pub call: fn(TranscriptContext, ReadingOptions, (usize, usize), &ToolCall, AnyView) -> AnyView,
    /// The token strip of a message, if strips are shown.
    pub token_strip: fn(ReadingOptions, (usize, usize)) -> AnyView,
}

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
    pub(super) views: &'static ReadingViews,
    own: StoredValue<HashMap<(usize, Spot), RwSignal<Own>>>,
    owner: StoredValue<Option<Owner>>,
}

impl ReadingOptions {
    /// Everything expanded except reasoning.
    pub(super) fn new(views: &'static ReadingViews) -> ReadingOptions {
        ReadingOptions {
            formatted: RwSignal::new(true),
            folded: RwSignal::new(Folded {
                messages: false,
                tools: false,
                reasoning: true,
            }),
            context: RwSignal::new(None),
            strips: RwSignal::new(None),
            views,
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
        self.each(|spot, own| {
            if spot.may_be(kind) {
                own.folded = None;
            }
        });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::read_message::reading_options;

    fn folded(reading: ReadingOptions, kind: ContentKind, spot: Spot) -> bool {
        let own = reading.own(1, spot).get_untracked();
        untrack(|| reading.is_folded(kind, own))
    }

    /// Runs with options whose signals are disposed of afterwards.
    fn with_options(run: impl FnOnce(ReadingOptions)) {
        Owner::new().with(|| run(reading_options()));
    }

    #[test]
    fn only_reasoning_is_collapsed_at_first() {
        with_options(|reading| {
            assert!(!folded(reading, ContentKind::Messages, Spot::Message(0)));
            assert!(!folded(reading, ContentKind::Tools, Spot::Call(0)));
            assert!(folded(reading, ContentKind::Reasoning, Spot::Thought));
            assert!(reading.formatted.get_untracked());
        });
    }

    #[test]
    fn a_kind_is_collapsed_with_all_its_parts() {
        with_options(|reading| {
            reading.open(1, Spot::Call(0));
            reading.fold(ContentKind::Tools, true);
            assert!(
                folded(reading, ContentKind::Tools, Spot::Call(0)),
                "its own choice is reset"
            );
            assert!(folded(reading, ContentKind::Tools, Spot::Call(9)));
            assert!(!folded(reading, ContentKind::Messages, Spot::Message(0)));
            reading.fold(ContentKind::Tools, false);
            assert!(!folded(reading, ContentKind::Tools, Spot::Call(0)));
        });
    }

    #[test]
    fn a_choice_for_a_part_of_another_kind_stays() {
        with_options(|reading| {
            reading.fold(ContentKind::Tools, true);
            let result = Spot::Message(1);
            reading.open(1, result);
            reading.open(1, Spot::Call(0));
            reading.open(1, Spot::Thought);
            reading.fold(ContentKind::Reasoning, true);
            assert!(!folded(reading, ContentKind::Tools, result));
            assert!(!folded(reading, ContentKind::Tools, Spot::Call(0)));
            assert!(folded(reading, ContentKind::Reasoning, Spot::Thought));
            reading.open(1, Spot::Thought);
            reading.fold(ContentKind::Messages, true);
            assert!(!folded(reading, ContentKind::Reasoning, Spot::Thought));
            assert!(!folded(reading, ContentKind::Tools, Spot::Call(0)));
        });
    }

    #[test]
    fn a_step_is_collapsed_and_expanded_as_a_whole() {
        with_options(|reading| {
            reading.fold_step(1, 2, 1, true);
            for spot in [Spot::Message(0), Spot::Message(1), Spot::Call(0)] {
                assert!(folded(reading, ContentKind::Messages, spot), "{spot:?}");
            }
            assert!(!folded(reading, ContentKind::Messages, Spot::Message(2)));
            let other_step = reading.own(2, Spot::Message(0)).get_untracked();
            assert_eq!(other_step, Own::default());
            reading.fold_step(1, 2, 1, false);
            assert!(!folded(reading, ContentKind::Messages, Spot::Message(1)));
        });
    }

    #[test]
    fn an_opened_part_is_shown_as_text() {
        with_options(|reading| {
            let own = reading.own(1, Spot::Call(0));
            own.set(Own {
                folded: None,
                raw: true,
            });
            assert_eq!(untrack(|| reading.call_state(own.get())), (true, false));
            reading.open(1, Spot::Call(0));
            assert_eq!(untrack(|| reading.call_state(own.get())), (false, false));
        });
    }

    #[test]
    fn another_episode_starts_without_choices() {
        with_options(|reading| {
            reading.fold(ContentKind::Messages, true);
            reading.open(1, Spot::Message(0));
            reading.begin();
            // What the user chose for a kind stays.
            assert!(folded(reading, ContentKind::Messages, Spot::Message(0)));
        });
    }
}
