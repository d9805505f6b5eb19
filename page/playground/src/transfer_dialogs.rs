//! The dialogs of **Export** and **Share**.

use std::sync::Arc;

use leptos::prelude::*;
use volary_app::export;
use volary_app::playground::sharing::{self, What};
use volary_core::quantity::{count_text, plural};
use volary_view::sharing_texts::OwnedFinding;

use super::code_consent::wheel_note;
use super::share_links::Offer;
use super::state::{Playground, use_playground};
use volary_ui::export_dialog::save;
use volary_ui::field::Field;
use volary_ui::sharing_check::SharingCheck;
use volary_ui::text::inert;
use volary_ui::{CopyButton, Dialog, ExportDialog};

/// The dialog of the export formats.
pub fn export_dialog() -> AnyView {
    let playground = use_playground();
    let open = playground.transfer().exporting;
    let needs = move || open.get().then(|| wheel_line(playground)).flatten();
    view! {
        <ExportDialog
            episode=playground.episode()
            formats=&export::PLAYGROUND
            open
            on_step=Callback::new(move |step| playground.selected().set(step))
            on_failure=Callback::new(move |notice| playground.alert(notice))
        >
            {needs}
        </ExportDialog>
    }
    .into_any()
}

/// The dialog with links to the task and to the episode, or with the reason why there are none.
pub fn share_dialog() -> AnyView {
    let playground = use_playground();
    let sharing = playground.transfer().sharing;
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        if sharing.with(Option::is_some) {
            open.set(true);
        }
    });
    let body = move || {
        let offer = sharing.get()?;
        Some(view! { <ShareOffer playground offer open/> })
    };
    let needs = move || {
        sharing
            .with(Option::is_some)
            .then(|| wheel_line(playground))
    };
    view! {
        <Dialog open title="Share this episode">
            {body}
            {needs}
        </Dialog>
    }
    .into_any()
}

/// The choice of what to share, a description of what the link then contains, and the link.
#[component]
fn ShareOffer(playground: Playground, offer: Arc<Offer>, open: RwSignal<bool>) -> impl IntoView {
    let steps = offer.episode.steps.len();
    let what = RwSignal::new(if steps > 0 { What::Actions } else { What::Task });
    let masks = RwSignal::new(false);
    let of = offer.clone();
    let found = Memo::new(move |_| {
        let part = sharing::part(&of.episode, what.get());
        OwnedFinding::all(sharing::findings(&part, of.start.as_ref()))
    });
    let of = offer.clone();
    let link = Memo::new(move |_| of.link(what.get(), masks.get()));
    let choices = What::ALL.map(|choice| share_choice(&offer, choice, what));
    let save_file = move |_| {
        open.set(false);
        let saved = playground
            .episode()
            .with_untracked(|episode| save(episode, &export::VOLARY, masks.get_untracked()));
        if let Err(notice) = saved {
            playground.alert(notice);
        }
    };
    let result = move || match link.get() {
        Ok(link) => offer_link(link),
        Err(reason) => view! {
            <p role="alert">{reason}</p>
            <p>{"Share the episode as a file instead. Importing it shows the same episode."}</p>
            <button type="button" class="primary" on:click=save_file>
                {"Save as a file"}
            </button>
        }
        .into_any(),
    };
    view! {
        <fieldset class="share-choices">
            <legend class="visually-hidden">{"What to share"}</legend>
            {choices.into_iter().collect_view()}
        </fieldset>
        <SharingCheck found subject="The link" masks/>
        {result}
    }
}

/// A radio button for something to share, with a description of what its link contains and how long it is.
fn share_choice(offer: &Offer, choice: What, what: RwSignal<What>) -> impl IntoView + use<> {
    let steps = offer.episode.steps.len();
    let is_possible = choice == What::Task || steps > 0;
    let (name, contents) = match choice {
        What::Task if offer.is_named(choice) => (
            "The task",
            "Names the task and its seed. No actions and no answer.".to_owned(),
        ),
        What::Task => (
            "The task",
            "Environment, configuration and seed. No actions.".to_owned(),
        ),
        What::Actions if steps == 0 => ("What I did", "No action was taken yet.".to_owned()),
        What::Actions => (
            "What I did",
            format!(
                "Environment, configuration, seed and the actions of {}. Opening it repeats them.",
                plural(steps, "step")
            ),
        ),
    };
    let length = offer.link(choice, false).ok().filter(|_| is_possible);
    let length = length.map(|link| format!("{} characters. ", count_text(link.chars().count())));
    let fields = offer.reviewers_fields.join(", ");
    let warning = (is_possible && !fields.is_empty() && !offer.is_named(choice)).then(|| {
        format!(
            "{fields}: packed in the link and hidden from the player, but not secret. Whoever \
             decodes the link can read it."
        )
    });
    let (id, help) = match choice {
        What::Task => ("share-task", "share-task-help"),
        What::Actions => ("share-actions", "share-actions-help"),
    };
    view! {
        <div class="share-choice">
            <input
                type="radio"
                name="share-what"
                id=id
                aria-describedby=help
                disabled=!is_possible
                prop:checked=move || what.get() == choice
                on:change=move |_| what.set(choice)
            />
            <label for=id>{name}</label>
            <p class="help" id=help>
                {length}
                {contents}
                {warning.map(|words| view! { <span>{inert(&words)}</span> })}
            </p>
        </div>
    }
}

/// Names the wheels that the shown episode needs.
fn wheel_line(playground: Playground) -> Option<impl IntoView> {
    let words = playground.episode().with(|episode| {
        let recipe = episode.recipe.as_ref()?;
        wheel_note(recipe)
    })?;
    Some(view! { <p class="help">{inert(&words)}</p> })
}

fn offer_link(link: String) -> AnyView {
    let copied = link.clone();
    view! {
        <Field id="share-link" label="Link">
            <input type="text" id="share-link" readonly value=link/>
        </Field>
        <CopyButton text=move || copied.clone() label="Copy link"/>
    }
    .into_any()
}
