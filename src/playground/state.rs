//! All signals of the playground in one small value. Panes take it from the context, read the signals, and send
//! intents. What changes the signals are functions of the other modules, which take this value.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use leptos::prelude::*;
use volary_connectivity::linked_file::Elsewhere;
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_trajectory::Episode;

use super::intents::{self, Intent, Progress};
use super::manual_action::ManualAction;
use super::opening;
use super::policy_settings::PolicySettings;
use super::session_driver::SessionDriver;
use super::setup::Setup;
use super::transfer::Transfer;
use crate::projection::notice::Notice;
use crate::route::Place;
use volary_app::playground::address::last_step;
use volary_app::playground::consent::PlannedEpisode;
use volary_app::playground::saver::Saver;
use volary_app::playground::session::Session;

/// A handle to the playground, of which there is one for the life of the page.
#[derive(Clone, Copy)]
pub struct Playground(&'static Signals);

/// What the playground consists of.
pub struct Signals {
    /// What environments and datasets there are, as far as they are loaded.
    pub registry: StoredValue<Registry>,
    /// Whether all of them are, and all other code of the playground.
    pub whole: RwSignal<bool>,
    /// Whether the person wants something that waits for it.
    pub(super) wanted: RwSignal<bool>,
    /// Whether another environment was chosen whose code is still on its way. The configuration that is shown until
    /// then is the old environment's, so it can't be edited.
    pub(super) switching: RwSignal<bool>,
    pub(super) progress: StoredValue<Progress, LocalStorage>,
    /// The shown episode. Read it by reference: a copy that is kept makes each step copy all.
    pub episode: RwSignal<Arc<Episode>>,
    /// Counts up whenever steps that were shown are replaced or taken away.
    pub edition: RwSignal<u32>,
    /// How the episode stands with the worker.
    pub session: RwSignal<Session>,
    /// The selected step; 0 is the reset.
    pub selected: RwSignal<usize>,
    /// Environment, task, configuration, seed.
    pub setup: Setup,
    /// The action that is being made by hand.
    pub manual: ManualAction,
    pub policy: PolicySettings,
    /// Export, import, share.
    pub transfer: Transfer,
    /// The file that the address names, while the user is asked whether to fetch it. Set with the rest of the code, so
    /// that the first load does without it.
    pub(super) linked_code: OnceLock<RwSignal<Option<Elsewhere>>>,
    /// The members of the frame's state that the player does not see yet.
    pub(super) hidden_members: RwSignal<Vec<Text>>,
    /// What went wrong last.
    pub notice: RwSignal<Option<Notice>>,
    /// What else there is to say.
    pub said: RwSignal<String>,
    /// The episode that was shown before this one.
    pub former: RwSignal<Option<Arc<Episode>>>,
    /// The episode that waits for the user to agree before it runs on a server.
    pub planned: RwSignal<Option<PlannedEpisode>>,
    /// The place in the address.
    pub place: RwSignal<Place>,
    /// The step to select once the episode is there.
    pub(super) wanted_step: StoredValue<Option<usize>>,
    pub(super) driver: StoredValue<SessionDriver, LocalStorage>,
    pub(super) saver: StoredValue<Saver>,
}

impl Deref for Playground {
    type Target = Signals;

    fn deref(&self) -> &Signals {
        self.0
    }
}

impl Playground {
    /// Makes the playground and gives it to everything below.
    pub fn provide() -> Playground {
        let sources = opening::source().into_iter().collect();
        // Never freed: it lives as long as the page. Closures then carry a pointer, not forty signals.
        let playground = Playground(Box::leak(Box::new(Signals {
            registry: StoredValue::new(opening::registry()),
            whole: RwSignal::new(false),
            wanted: RwSignal::new(false),
            switching: RwSignal::new(false),
            progress: StoredValue::new_local(Progress::default()),
            episode: RwSignal::default(),
            edition: RwSignal::new(0),
            session: RwSignal::default(),
            selected: RwSignal::new(0),
            setup: Setup::new(sources),
            manual: ManualAction::new(),
            policy: PolicySettings::new(),
            transfer: Transfer::new(),
            linked_code: OnceLock::new(),
            hidden_members: RwSignal::new(vec![opening::HIDDEN_MEMBER.into()]),
            notice: RwSignal::new(None),
            said: RwSignal::default(),
            former: RwSignal::new(None),
            planned: RwSignal::new(None),
            place: RwSignal::default(),
            wanted_step: StoredValue::new(None),
            driver: StoredValue::new_local(SessionDriver::default()),
            saver: StoredValue::new(Saver::default()),
        })));
        provide_context(playground);
        playground
    }

    /// Does what a person wants, once the code for it is here.
    pub fn intend(self, intent: Intent) {
        intents::intend(self, intent);
    }

    /// Says what went wrong.
    pub fn alert(self, notice: Notice) {
        self.notice.set(Some(notice));
    }

    /// Says something that needs no answer.
    pub fn say(self, words: impl Into<String>) {
        self.said.set(words.into());
    }

    /// The last step that can be selected: an imported episode may have more frames than steps.
    pub fn last_step(self) -> usize {
        self.episode.with_untracked(|episode| last_step(episode))
    }
}

/// The playground of the component that asks.
pub fn use_playground() -> Playground {
    expect_context()
}
