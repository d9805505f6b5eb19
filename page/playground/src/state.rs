//! A `Copy` handle to the playground: its state machine ([`volary_app::playground::PlaygroundMachine`]), and signals that show
//! what is in it. Panes take it from the context, read, and send intents. [`super::session_driver`] sends events to the
//! machine and carries out its effects.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::PlaygroundMachine as Machine;
use volary_app::playground::consent::PlannedEpisode;
use volary_app::playground::known::KnownEnvironments;
use volary_app::playground::linked_code::LinkedCode;
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_episode::Episode;
use volary_view::route::PlaygroundPlace;

use super::first_view;
use super::intents::{self, CodeLoading, Intent};
use super::manual_action::ManualAction;
use super::policy_settings::PolicySettings;
use super::session_driver::SessionDriver;
use super::setup::SetupSignals;
use super::transfer::Transfer;

/// A handle to a playground, whose state belongs to the owner that created it.
#[derive(Clone, Copy)]
pub struct Playground(StoredValue<Arc<Signals>>);

/// Declares the signals, each with a method of the handle that returns it.
macro_rules! signals {
    ($($(#[$doc:meta])* $visibility:vis $name:ident: $type:ty,)*) => {
        /// The state behind the handle. It is reached through one pointer, so that closures capture no more than that.
        struct Signals {
            $($name: $type,)*
        }

        impl Playground {
            $(
                $(#[$doc])*
                $visibility fn $name(self) -> $type {
                    self.signals().$name
                }
            )*
        }
    };
}

signals! {
    /// The environments and datasets that are loaded so far.
    pub registry: StoredValue<Registry>,
    /// Whether all environments and all other code of the playground are loaded.
    pub whole: RwSignal<bool>,
    /// Whether an intent of the user waits for that code.
    pub(super) wanted: RwSignal<bool>,
    /// Whether another environment was chosen whose code is still loading. Until then the form shows the configuration
    /// of the previous environment, so it can't be edited.
    pub(super) switching: RwSignal<bool>,
    pub(super) progress: StoredValue<CodeLoading, LocalStorage>,
    pub(super) machine: StoredValue<Machine>,
    /// Notified when the panes are to draw the episode and its session. The machine changes at once, so that a policy
    /// sees the current state; this signal follows at most once per frame.
    pub(super) redrawn: RwSignal<()>,
    /// The shown episode. While a clone of the `Arc` is held, each step copies the whole episode.
    pub episode: Signal<Arc<Episode>>,
    /// Incremented whenever steps that were shown are replaced or removed.
    pub edition: RwSignal<u32>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    pub setup: SetupSignals,
    /// The action that is being composed manually.
    pub manual: ManualAction,
    pub policy: PolicySettings,
    pub transfer: Transfer,
    /// The file of Python code that the address names. Initialized by the lazily loaded code, so that the first load
    /// does not contain it.
    pub(super) linked_code: StoredValue<Option<RwSignal<LinkedCode>>>,
    /// The members of the frame's state that are hidden from the player.
    pub(super) hidden_members: RwSignal<Vec<Text>>,
    /// The last error or warning.
    pub notice: RwSignal<Option<Notice>>,
    /// The last status message.
    pub said: RwSignal<String>,
    /// The previously shown episode.
    pub former: RwSignal<Option<Arc<Episode>>>,
    /// The episode that waits for the user's consent before it runs on a server.
    pub planned: RwSignal<Option<PlannedEpisode>>,
    /// The place that the address names.
    pub place: RwSignal<PlaygroundPlace>,
    pub(super) driver: StoredValue<SessionDriver, LocalStorage>,
}

impl Playground {
    /// Creates the page's playground and provides it as context.
    pub fn provide() -> Playground {
        let playground = Playground::new();
        provide_context(playground);
        playground
    }

    /// A playground that knows the first task.
    pub fn new() -> Playground {
        let sources: Vec<_> = first_view::source().into_iter().collect();
        let registry = first_view::registry();
        let known = KnownEnvironments {
            built_in: registry.available().collect(),
            others: Vec::new(),
        };
        let machine = Machine::new(known, sources);
        let setup = SetupSignals::new(Arc::clone(machine.setup().sources()));
        let machine = StoredValue::new(machine);
        let redrawn = RwSignal::new(());
        Playground(StoredValue::new(Arc::new(Signals {
            registry: StoredValue::new(registry),
            whole: RwSignal::new(false),
            wanted: RwSignal::new(false),
            switching: RwSignal::new(false),
            progress: StoredValue::new_local(CodeLoading::default()),
            machine,
            redrawn,
            episode: Signal::derive(move || {
                redrawn.track();
                machine.with_value(|machine| Arc::clone(machine.episode()))
            }),
            edition: RwSignal::new(0),
            selected: RwSignal::new(0),
            setup,
            manual: ManualAction::new(),
            policy: PolicySettings::new(),
            transfer: Transfer::new(),
            linked_code: StoredValue::new(None),
            hidden_members: RwSignal::new(vec![first_view::HIDDEN_MEMBER.into()]),
            notice: RwSignal::new(None),
            said: RwSignal::default(),
            former: RwSignal::new(None),
            planned: RwSignal::new(None),
            place: RwSignal::default(),
            driver: StoredValue::new_local(SessionDriver::default()),
        })))
    }

    #[inline(never)]
    fn signals(self) -> Arc<Signals> {
        self.0.get_value()
    }

    /// Handles a user intent, after loading its code if necessary.
    pub fn intend(self, intent: Intent) {
        intents::intend(self, intent);
    }

    /// Shows an error or a warning.
    pub fn alert(self, notice: Notice) {
        self.notice().set(Some(notice));
    }

    /// Shows a status message that needs no answer.
    pub fn say(self, words: impl Into<String>) {
        self.said().set(words.into());
    }

    /// Reads the machine, and again whenever the panes are redrawn.
    pub fn with<T>(self, read: impl FnOnce(&Machine) -> T) -> T {
        self.redrawn().track();
        self.machine().with_value(read)
    }

    /// Reads the machine.
    pub fn with_untracked<T>(self, read: impl FnOnce(&Machine) -> T) -> T {
        self.machine().with_value(read)
    }

    /// The last step that can be selected. An imported episode may have more frames than steps.
    pub fn last_step(self) -> usize {
        self.with_untracked(Machine::last_step)
    }
}

impl Default for Playground {
    fn default() -> Self {
        Playground::new()
    }
}

/// Returns the playground from the context.
pub fn use_playground() -> Playground {
    expect_context()
}
