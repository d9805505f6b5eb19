//! All signals of the playground in one `Copy` handle. Panes take it from the context, read the signals, and send
//! intents. The functions of the other modules take this handle and change the signals.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::address::last_step;
use volary_app::playground::consent::PlannedEpisode;
use volary_app::playground::linked_code::LinkedCode;
use volary_app::playground::saver::Saver;
use volary_app::playground::session::Session;
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_episode::Episode;
use volary_view::route::PlaygroundPlace;

use super::first_view;
use super::intents::{self, CodeLoading, Intent};
use super::manual_action::ManualAction;
use super::policy_settings::PolicySettings;
use super::session_driver::SessionDriver;
use super::setup::Setup;
use super::transfer::Transfer;

/// A handle to the playground, of which there is one for the life of the page.
#[derive(Clone, Copy)]
pub struct Playground(&'static PlaygroundSignals);

pub struct PlaygroundSignals {
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
    /// The shown episode. Read it by reference: while a clone of the `Arc` is held, each step copies the whole episode.
    pub episode: RwSignal<Arc<Episode>>,
    /// Incremented whenever steps that were shown are replaced or removed.
    pub edition: RwSignal<u32>,
    /// The state of the episode with respect to its worker.
    pub session: RwSignal<Session>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    pub setup: Setup,
    /// The action that is being composed manually.
    pub manual: ManualAction,
    pub policy: PolicySettings,
    pub transfer: Transfer,
    /// The file of Python code that the address names. Initialized by the lazily loaded
    /// code, so that the first load does not contain it.
    pub(super) linked_code: OnceLock<RwSignal<LinkedCode>>,
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
    /// The stored episode that is being read for the address.
    pub(super) reading_stored: StoredValue<Option<String>>,
    /// The step to select once the episode is opened.
    pub(super) wanted_step: StoredValue<Option<usize>>,
    pub(super) driver: StoredValue<SessionDriver, LocalStorage>,
    pub(super) saver: StoredValue<Saver>,
}

impl Deref for Playground {
    type Target = PlaygroundSignals;

    fn deref(&self) -> &PlaygroundSignals {
        self.0
    }
}

impl Playground {
    /// Creates the playground and provides it as context.
    pub fn provide() -> Playground {
        let sources = first_view::source().into_iter().collect();
        // Leaked on purpose: it lives as long as the page. Closures then capture one pointer instead of forty signals.
        let playground = Playground(Box::leak(Box::new(PlaygroundSignals {
            registry: StoredValue::new(first_view::registry()),
            whole: RwSignal::new(false),
            wanted: RwSignal::new(false),
            switching: RwSignal::new(false),
            progress: StoredValue::new_local(CodeLoading::default()),
            episode: RwSignal::default(),
            edition: RwSignal::new(0),
            session: RwSignal::default(),
            selected: RwSignal::new(0),
            setup: Setup::new(sources),
            manual: ManualAction::new(),
            policy: PolicySettings::new(),
            transfer: Transfer::new(),
            linked_code: OnceLock::new(),
            hidden_members: RwSignal::new(vec![first_view::HIDDEN_MEMBER.into()]),
            notice: RwSignal::new(None),
            said: RwSignal::default(),
            former: RwSignal::new(None),
            planned: RwSignal::new(None),
            place: RwSignal::default(),
            reading_stored: StoredValue::new(None),
            wanted_step: StoredValue::new(None),
            driver: StoredValue::new_local(SessionDriver::default()),
            saver: StoredValue::new(Saver::default()),
        })));
        provide_context(playground);
        playground
    }

    /// Handles a user intent, after loading its code if necessary.
    pub fn intend(self, intent: Intent) {
        intents::intend(self, intent);
    }

    /// Shows an error or a warning.
    pub fn alert(self, notice: Notice) {
        self.notice.set(Some(notice));
    }

    /// Shows a status message that needs no answer.
    pub fn say(self, words: impl Into<String>) {
        self.said.set(words.into());
    }

    /// The last step that can be selected. An imported episode may have more frames than steps.
    pub fn last_step(self) -> usize {
        self.episode.with_untracked(|episode| last_step(episode))
    }
}

/// Returns the playground from the context.
pub fn use_playground() -> Playground {
    expect_context()
}
