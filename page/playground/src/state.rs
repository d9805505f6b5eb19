//! A `Copy` handle to the playground: its state machine ([`volary_app::playground::PlaygroundMachine`]), and signals that show
//! what is in it. Panes take it from the context, read, and send events.
//!
//! The handle has pointers to the code that plays ([`super::play_code`]) and to what playing by hand does not need
//! ([`super::lazy_code`]). Both are loaded after the first view, and every module can use the handle without importing them.

use std::sync::Arc;
use std::task::Poll;

use futures_channel::oneshot;
use leptos::prelude::*;
use volary_app::notice::Notice;
use volary_app::playground::consent::PlannedEpisode;
use volary_app::playground::known::KnownEnvironments;
use volary_app::playground::linked_code::LinkedCode;
use volary_app::playground::session::Refusal;
use volary_app::playground::{Event, PlaygroundMachine as Machine};
use volary_browser as browser;
use volary_browser::lazy::{Loaded, Unloaded};
use volary_core::AnyMessage;
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_episode::{Episode, Recipe};
use volary_view::route::PlaygroundPlace;

use super::driver_state::DriverState;
use super::first_view;
use super::lazy_code::{LazyCode, LoadCode};
use super::lazy_table::LazyTable;
use super::model::state::ModelState;
use super::play_code::PlayCode;
use super::signals::{ManualAction, PolicySettings, SetupSignals, Transfer};

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
    /// The code that plays.
    play: LazyTable<PlayCode>,
    /// Whether another environment was chosen whose code is still loading. Until then the form shows the configuration
    /// of the previous environment, so it can't be edited.
    pub(super) switching: RwSignal<bool>,
    /// Loads [`LazyCode`].
    load: LoadCode,
    /// The code that playing by hand does not need, once it is here.
    code: RwSignal<Option<&'static LazyCode>>,
    /// The owner of what must live as long as the page, though a component creates it.
    pub(super) owner: StoredValue<Option<Owner>>,
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
    /// Whether a scripted agent shows how the task is solved, or has shown it in this episode.
    pub(super) demonstrates: RwSignal<bool>,
    /// Whether the guide for newcomers is on the page.
    pub(super) guides: RwSignal<bool>,
    /// The file of Python code that the address names. Initialized by the lazily loaded code, so that the first load
    /// does not contain it.
    pub(super) linked_code: StoredValue<Option<RwSignal<LinkedCode>>>,
    /// The model policy's state. Initialized by the lazily loaded code.
    pub(super) model: StoredValue<Option<ModelState>>,
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
    pub(super) driver: StoredValue<DriverState, LocalStorage>,
}

impl Playground {
    /// A playground that knows the first task. `play` and `load` load the code for everything else.
    pub(super) fn new(play: LazyTable<PlayCode>, load: LoadCode) -> Playground {
        let sources: Vec<_> = first_view::source().into_iter().collect();
        let registry = first_view::registry();
        let known = built_in_environments(&registry);
        let machine = Machine::new(known, sources);
        let setup = SetupSignals::new(Arc::clone(machine.setup().sources()));
        let machine = StoredValue::new(machine);
        let redrawn = RwSignal::new(());
        Playground(StoredValue::new(Arc::new(Signals {
            registry: StoredValue::new(registry),
            play,
            switching: RwSignal::new(false),
            load,
            code: RwSignal::new(None),
            owner: StoredValue::new(Owner::current()),
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
            demonstrates: RwSignal::new(false),
            guides: RwSignal::new(false),
            linked_code: StoredValue::new(None),
            model: StoredValue::new(None),
            hidden_members: RwSignal::new(vec![first_view::HIDDEN_MEMBER.into()]),
            notice: RwSignal::new(None),
            said: RwSignal::default(),
            former: RwSignal::new(None),
            planned: RwSignal::new(None),
            place: RwSignal::default(),
            driver: StoredValue::new_local(DriverState::default()),
        })))
    }

    #[inline(never)]
    fn signals(self) -> Arc<Signals> {
        self.0.get_value()
    }

    /// The environments of the page.
    pub fn built_in_environments(self) -> KnownEnvironments {
        self.registry().with_value(built_in_environments)
    }

    /// Handles an event, once the code for that is loaded. Events are handled in order.
    pub fn update(self, event: Event) {
        self.play_with(move |code| (code.update)(self, event));
    }

    /// Runs an act of the user with the code that plays: at once if it is loaded, else after loading it. Acts run in order.
    pub(super) fn play_with(self, act: impl FnOnce(&'static PlayCode) + 'static) {
        if self.play().run(act) {
            self.load_play();
        }
    }

    /// Loads the code that plays, before somebody waits for it.
    pub fn play_soon(self) {
        if self.play().must_load() {
            self.load_play();
        }
    }

    fn load_play(self) {
        browser::spawn(async move {
            let play = self.play();
            match play.load().await {
                Ok(code) => {
                    (code.arrive)(self);
                    self.switching().set(false);
                    play.arrive(code);
                }
                Err(error) => {
                    self.switching().set(false);
                    if play.give_up() {
                        self.say_unloaded("The environments", error);
                    }
                }
            }
        });
    }

    /// Resolves when the environments and the code that plays are loaded.
    ///
    /// # Errors
    ///
    /// Fails without a connection.
    pub async fn ready(self) -> Loaded<()> {
        let (sender, receiver) = oneshot::channel();
        // The receiver may be gone.
        self.play_with(move |_| _ = sender.send(()));
        receiver.await.map_err(|_| Unloaded)
    }

    /// Whether the environments and the code that plays are loaded. Tracks their arrival.
    pub fn can_play(self) -> bool {
        self.play().get().is_some()
    }

    /// Like [`Playground::can_play`], without tracking.
    pub fn can_play_untracked(self) -> bool {
        self.play().get_untracked().is_some()
    }

    /// Whether an act of the user waits for code that is being loaded. Tracks changes.
    pub fn waits_for_code(self) -> bool {
        self.play().is_awaited()
    }

    /// The code that is loaded after the first view, if it is here. Tracks its arrival.
    pub(super) fn lazy_code(self) -> Option<&'static LazyCode> {
        self.code().get()
    }

    /// Like [`Playground::lazy_code`], without tracking.
    pub(super) fn lazy_code_untracked(self) -> Option<&'static LazyCode> {
        self.code().get_untracked()
    }

    /// Loads the code that playing by hand does not need, unless it is here.
    ///
    /// # Errors
    ///
    /// Fails without a connection.
    pub(super) async fn load_code(self) -> Loaded<&'static LazyCode> {
        if let Some(code) = self.lazy_code_untracked() {
            return Ok(code);
        }
        self.load()(self).await
    }

    /// Loads that code before somebody waits for it. If this fails, it is loaded and reported when it is used.
    pub(super) fn load_code_ahead(self) {
        if self.lazy_code_untracked().is_none() {
            browser::spawn(async move {
                let _ = self.load_code().await;
            });
        }
    }

    /// Sets the code, once it is loaded.
    pub(super) fn set_code(self, code: &'static LazyCode) {
        self.code().set(Some(code));
    }

    /// Like [`Playground::waits_for_code`], without tracking.
    pub(super) fn waits_for_code_untracked(self) -> bool {
        untrack(|| self.waits_for_code())
    }

    /// Runs an act that needs code which playing by hand does not: at once if it is loaded, else after loading it.
    /// `what` names the act in the notice that it could not be loaded.
    pub(super) fn with_code(
        self,
        what: &'static str,
        act: impl FnOnce(&'static LazyCode) + 'static,
    ) {
        if let Some(code) = self.lazy_code_untracked() {
            return act(code);
        }
        browser::spawn(async move {
            match self.load_code().await {
                Ok(code) => act(code),
                Err(error) => self.say_unloaded(what, error),
            }
        });
    }

    /// Opens an episode, replacing the shown one. Python code that the user does not know is shown first, and waits for
    /// consent.
    pub fn open(self, recipe: Recipe, actions: Vec<AnyMessage>) {
        self.update(Event::Open {
            recipe,
            actions,
            id: browser::random_id(),
            name: None,
        });
    }

    /// Fills the setup from a recipe and opens an episode of it.
    pub fn replay(self, recipe: Recipe, actions: Vec<AnyMessage>) {
        self.update(Event::Replay {
            recipe,
            actions,
            id: browser::random_id(),
        });
    }

    /// Shows an episode that comes from elsewhere.
    pub fn show(self, episode: Episode) {
        self.update(Event::Show(Box::new(episode)));
    }

    /// Returns whether an action may be taken, or why not.
    pub fn may_step(self) -> Result<(), Refusal> {
        if self.waits_for_code() {
            return Err(Refusal::Busy);
        }
        self.with(Machine::may_step)
    }

    /// Returns whether the episode may go back to an earlier step and continue from there.
    pub fn may_go_back(self) -> bool {
        self.with(Machine::may_go_back)
    }

    /// Returns whether **Undo** has an effect: there is a step, and the episode may go back.
    pub fn may_take_back(self) -> bool {
        let steps = self.episode().with(|episode| episode.steps.len());
        steps > 0 && self.may_go_back()
    }

    /// Returns whether an episode is being opened.
    pub fn is_opening(self) -> bool {
        self.with_untracked(|machine| machine.session().is_opening())
    }

    /// Resolves when no operation is in progress.
    pub async fn settled(self) {
        std::future::poll_fn(|context| {
            if self.with_untracked(|machine| !machine.session().is_busy()) {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            self.driver()
                .update_value(|driver| driver.waiting.push(waker));
            Poll::Pending
        })
        .await;
    }

    /// Shows a notice with the reason why something is not possible now.
    pub fn refuse(self, refusal: Refusal) {
        self.alert(Notice::new(
            "This is not possible right now.",
            refusal.to_string(),
            refusal.advice(),
        ));
    }

    /// Shows a notice that a part of the code could not be loaded.
    pub fn say_unloaded(self, what: &str, error: Unloaded) {
        self.alert(Notice::new(
            format!("{what} could not be loaded."),
            error.to_string(),
            Unloaded::ADVICE,
        ));
    }

    /// Removes the notice, because a new attempt begins. A notice belongs to the attempt that failed.
    pub fn begin_attempt(self) {
        self.notice().set(None);
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

fn built_in_environments(registry: &Registry) -> KnownEnvironments {
    KnownEnvironments {
        built_in: registry.available().collect(),
        others: Vec::new(),
        code: Vec::new(),
    }
}

/// Returns the playground from the context.
pub fn use_playground() -> Playground {
    expect_context()
}
