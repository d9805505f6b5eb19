//! What a person wants of the playground, and the code that does it, which is not loaded before there
//! is a sign of a person.
//!
//! What always holds: intents are done in the order in which they came, at once if the code is here.
//! Panes call [`Playground::act`] and never the functions behind it: a single direct call would bring
//! those into the first load.

use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_app::outside::Place as QuestionPlace;
use volary_app::playground::policy::PolicyKind;
use volary_app::playground::tasks::{self, TaskPlace, TaskSource};
use volary_core::json::Text;
use volary_core::registry::Registry;

use super::hidden_members;
use super::linked_code::{self, FetchCodeDialog};
use super::next_task;
use super::opening;
use super::plan_dialog::plan_dialog;
use super::policy_dialog::policy_dialog;
use super::run_controls::watch_for_slow_steps;
use super::state::Playground;
use super::transfer_dialogs::{export_dialog, share_dialog};
use crate::browser::files::GivenFile;
use crate::browser::lazy::{Loaded, Unloaded};
use crate::browser::{self, crash_recovery, first_interaction, location};
use crate::components::styles;
use crate::later;
use crate::navigation::Page;
use crate::outside;
use crate::outside::dialog::OutsideDialog;
use crate::projection::form::Form;
use crate::projection::notice::Notice;
use crate::route::{Place, Route};

/// What a person wants.
#[derive(Clone)]
#[allow(
    missing_docs,
    reason = "each is the function of the playground of that name"
)]
pub enum Intent {
    /// Nothing yet; but there is somebody.
    Nothing,
    Follow(Place),
    GoToEnvironment(String),
    PickTask(Option<TaskPlace>),
    PickSplit(usize, String),
    Reset,
    ChooseTool(Text),
    ChooseNoTool,
    AddCall,
    EditCall(usize),
    RemoveCall(usize),
    Step,
    StepByHand,
    EditLastAction,
    GoBack(usize),
    ChoosePolicy(PolicyKind),
    ScriptFromEpisode,
    Run,
    RunWith(PolicyKind),
    RunAgain,
    Stop,
    Undo,
    BringBack,
    PickFile,
    TakeFiles(Vec<GivenFile>),
    Share,
    RunPlanned,
    DismissPlanned,
    /// What some part of the page can't do without the code that is not here.
    Do(later::Act),
}

impl Intent {
    /// Whether this starts an attempt of its own. A notice belongs to the attempt that failed, so the next attempt removes it.
    fn is_attempt(&self) -> bool {
        match self {
            Intent::Follow(_)
            | Intent::GoToEnvironment(_)
            | Intent::PickTask(_)
            | Intent::PickSplit(..)
            | Intent::Reset
            | Intent::Step
            | Intent::StepByHand
            | Intent::EditLastAction
            | Intent::GoBack(_)
            | Intent::ScriptFromEpisode
            | Intent::Run
            | Intent::RunWith(_)
            | Intent::Undo
            | Intent::RunAgain
            | Intent::BringBack
            | Intent::PickFile
            | Intent::TakeFiles(_)
            | Intent::Share
            | Intent::RunPlanned => true,
            Intent::Nothing
            | Intent::ChooseTool(_)
            | Intent::ChooseNoTool
            | Intent::AddCall
            | Intent::EditCall(_)
            | Intent::RemoveCall(_)
            | Intent::ChoosePolicy(_)
            | Intent::Stop
            | Intent::DismissPlanned
            | Intent::Do(_) => false,
        }
    }
}

fn act(playground: Playground, intent: Intent) {
    let intent = match intent {
        // It needs the same consent.
        Intent::Undo => match playground.before_last_step() {
            Some(steps) => Intent::GoBack(steps),
            None => return,
        },
        other => other,
    };
    if playground.must_ask(&intent) {
        return;
    }
    if intent.is_attempt() {
        playground.notice.set(None);
    }
    if matches!(
        intent,
        Intent::Reset
            | Intent::Step
            | Intent::StepByHand
            | Intent::EditLastAction
            | Intent::GoBack(_)
    ) {
        // The message was about an episode that changes now.
        playground.say("");
    }
    match intent {
        Intent::Nothing | Intent::Undo => {}
        Intent::Follow(place) => playground.follow_place(&place),
        Intent::GoToEnvironment(name) => playground.go_to_environment(&name),
        Intent::PickTask(place) => playground.pick_task(place),
        Intent::PickSplit(source, split) => playground.pick_split(source, &split),
        Intent::Reset => playground.reset(),
        Intent::ChooseTool(name) => playground.choose_tool(&name),
        Intent::ChooseNoTool => playground.choose_no_tool(),
        Intent::AddCall => {
            playground.add_call();
        }
        Intent::EditCall(place) => playground.edit_call(place),
        Intent::RemoveCall(place) => playground.remove_call(place),
        Intent::Step => playground.step(),
        Intent::StepByHand => playground.step_by_hand(),
        Intent::EditLastAction => playground.edit_last_action(),
        Intent::GoBack(steps) => playground.go_back(steps),
        Intent::ChoosePolicy(kind) => playground.choose_policy(kind),
        Intent::ScriptFromEpisode => playground.script_from_episode(),
        Intent::Run => playground.run(),
        Intent::RunWith(kind) => playground.run_with(kind),
        Intent::RunAgain => playground.run_again(),
        Intent::Stop => playground.stop(),
        Intent::BringBack => playground.bring_back(),
        Intent::PickFile => playground.pick_file(),
        Intent::TakeFiles(files) => playground.take_files(files),
        Intent::Share => playground.share(),
        Intent::RunPlanned => playground.run_planned(),
        Intent::DismissPlanned => playground.dismiss_planned(),
        Intent::Do(act) => act(),
    }
}

/// All that the playground lacks at first.
struct Rest {
    registry: Registry,
    sources: Vec<TaskSource>,
    act: Act,
    begin: fn(Playground),
    dialogs: fn() -> AnyView,
}

type Act = fn(Playground, Intent);

#[wasm_split(playground, wasm_split_path = leptos::wasm_split, fallible)]
fn rest() -> Loaded<Rest> {
    styles::adopt_later();
    later::install();
    outside::costs::install();
    next_task::install();
    hidden_members::install();
    let registry = volary_envs::registry();
    let sources = tasks::built_in(&registry);
    Ok(Rest {
        registry,
        sources,
        act,
        begin: |playground| {
            // Made for the page, not for whatever asks first.
            linked_code::asked(playground);
            playground.follow_servers();
            playground.follow_python_files();
            location::on_leave(move || playground.leave_servers());
            playground.keep_on_leaving();
            playground.write_address();
            playground.play_along();
            watch_for_slow_steps(playground);
            playground.offer_rescue();
            // On other pages, its worker starts with what is done in it.
            if Page::of(&Route::parse(&location::hash())) == Page::Playground {
                playground.warm_up();
            }
        },
        dialogs: || {
            let questions = view! {
                <FetchCodeDialog/>
                <OutsideDialog place=QuestionPlace::Playground/>
            };
            view! {
                {export_dialog()}
                {share_dialog()}
                {plan_dialog()}
                {policy_dialog()}
                {questions}
            }
            .into_any()
        },
    })
}

/// How far the code is.
#[derive(Default)]
pub struct Progress {
    rest: Option<(Act, fn() -> AnyView)>,
    waiting: Vec<Intent>,
    loading: bool,
    /// What the rest belongs to: the page itself, not whatever was pressed first.
    owner: Option<Owner>,
}

impl Playground {
    /// Loads the rest at the first sign of a person. The caller's owner keeps what comes, and its context serves it.
    pub fn await_person(self) {
        self.progress
            .update_value(|progress| progress.owner = Owner::current());
        later::load_with(move |act| self.intend(Intent::Do(act)));
        first_interaction::on_first_sign(move || self.intend(Intent::Nothing));
        if crash_recovery::is_kept() {
            self.intend(Intent::Nothing);
        }
    }

    /// Does what a person wants: now, or once the code for it is here.
    pub fn intend(self, intent: Intent) {
        let act = self.progress.try_update_value(|progress| {
            let act = progress.rest.map(|(act, _)| act);
            if act.is_none() {
                progress.waiting.push(intent.clone());
            }
            act
        });
        if act.is_none_or(|act| act.is_none()) && matches!(intent, Intent::GoToEnvironment(_)) {
            self.switching.set(true);
        }
        match act.flatten() {
            Some(act) => act(self, intent),
            None => self.load(),
        }
    }

    /// The dialogs, once they can be wanted.
    pub fn dialogs(self) -> AnyView {
        (move || {
            let whole = self.whole.get();
            let rest = self.progress.with_value(|progress| progress.rest);
            let (_, dialogs) = rest.filter(|_| whole)?;
            Some(dialogs())
        })
        .into_any()
    }

    /// Whether something that the person wants waits for its code.
    pub fn waits(self) -> bool {
        !self.whole.get() && self.wanted.get()
    }

    fn load(self) {
        let wants = self.progress.try_update_value(|progress| {
            let wants = progress.waiting.iter();
            let wanted = wants
                .into_iter()
                .any(|intent| !matches!(intent, Intent::Nothing));
            (wanted, std::mem::replace(&mut progress.loading, true))
        });
        let Some((wanted, loading)) = wants else {
            return;
        };
        if wanted {
            self.wanted.set(true);
        }
        if loading {
            return;
        }
        let owner = self.progress.with_value(|progress| progress.owner.clone());
        browser::spawn(async move {
            match rest().await {
                Ok(rest) => match owner {
                    Some(owner) => owner.with(|| self.arrive(rest)),
                    None => self.arrive(rest),
                },
                Err(error) => self.go_on_without(error),
            }
        });
    }

    fn arrive(self, rest: Rest) {
        self.registry.set_value(rest.registry);
        self.setup.sources.set(rest.sources);
        let waiting = self.progress.try_update_value(|progress| {
            progress.rest = Some((rest.act, rest.dialogs));
            std::mem::take(&mut progress.waiting)
        });
        self.whole.set(true);
        (rest.begin)(self);
        for intent in waiting.into_iter().flatten() {
            (rest.act)(self, intent);
        }
        self.switching.set(false);
    }

    /// The code did not come; whoever wants something next asks for it again.
    fn go_on_without(self, error: Unloaded) {
        self.progress.update_value(|progress| {
            progress.loading = false;
            progress.waiting.clear();
        });
        self.switching.set(false);
        // If nobody asked for anything, nobody is told.
        if self.wanted.get_untracked() {
            self.wanted.set(false);
            self.say_unloaded("The environments", error);
        }
    }

    /// Says that a part did not come.
    pub fn say_unloaded(self, what: &str, error: Unloaded) {
        self.alert(Notice::new(
            format!("{what} could not be loaded."),
            error.to_string(),
            Unloaded::ADVICE,
        ));
    }

    /// Shows the first task's episode, which needs nothing of that.
    pub(super) fn begin_known(self) -> bool {
        let Some((mut episode, schema)) = opening::episode().zip(opening::configuration()) else {
            return false;
        };
        (episode.id, episode.name) = self.names(episode.recipe.as_ref());
        if let Some(recipe) = &episode.recipe {
            let setup = self.setup;
            let value = recipe.configuration.clone().into();
            setup.environment.set(recipe.environment.clone());
            setup.form.set(Form::holding(schema, &value));
            setup.task.set(Some(TaskPlace { source: 0, task: 0 }));
        }
        self.begin_with(episode);
        true
    }
}
