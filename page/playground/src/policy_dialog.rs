//! The dialog for choosing a policy. It opens when **Run** is pressed without a policy that can act.

use leptos::prelude::*;
use volary_app::playground::policy::PolicyKind;

use super::entries;
use super::policy_settings;
use super::run_loop;
use super::state::{Playground, use_playground};
use volary_connections::models::connections;
use volary_ui::Dialog;

pub fn policy_dialog() -> AnyView {
    let playground = use_playground();
    let open = playground.policy().is_choosing;
    let choices = move || {
        let entry = entries::chosen(playground);
        let kinds = [PolicyKind::Oracle, PolicyKind::Random, PolicyKind::Student].into_iter();
        let kinds = kinds.filter(|kind| kind.fits(entry.as_ref()));
        kinds
            .map(|kind| view! { <Choice playground kind help=kind.summary()/> })
            .collect_view()
    };
    view! {
        <Dialog open title="Who should act?">
            <ul class="choices">
                {move || model_choice(playground)}
                {choices}
            </ul>
            <p class="help">
                {"To act yourself, fill in a tool and press Step. Under Policy you can also write a script of actions."}
            </p>
        </Dialog>
    }
    .into_any()
}

/// The choice of the model, or how to connect one.
fn model_choice(playground: Playground) -> AnyView {
    let name = connections::read(|known| {
        let default = known.default_one();
        default.map(|saved| saved.connection.name.to_string())
    });
    match name {
        Some(name) => {
            let help = format!("{name} chooses each action, at your cost.");
            view! { <Choice playground kind=PolicyKind::Model help/> }.into_any()
        }
        None => view! {
            <li>
                <a
                    class="button primary"
                    href="#/settings"
                    on:click=move |_| {
                        playground.policy().is_choosing.set(false);
                        policy_settings::choose_policy(playground, PolicyKind::Model);
                    }
                >
                    {"Connect model"}
                </a>
                <span class="help">{"A language model acts, with your own key. Then press Run again."}</span>
            </li>
        }
        .into_any(),
    }
}

#[component]
fn Choice(playground: Playground, kind: PolicyKind, #[prop(into)] help: String) -> impl IntoView {
    view! {
        <li>
            <button type="button" on:click=move |_| run_loop::run_with(playground, kind)>
                {kind.name()}
            </button>
            <span class="help">{help}</span>
        </li>
    }
}
