//! The dialog in which the user answers a question of an environment: whether pages of a host may be fetched, which
//! model plays a role, or what the customer says.

use leptos::prelude::*;
use volary_agent::model::limits::Budget;
use volary_app::outside::{Event, PendingQuestion, PlayingPage, Ticket};
use volary_connectivity::linked_file::LinkedFile;
use volary_core::json::Text;
use volary_protocol::environments::Question;

use super::costs::spent_words;
use super::{dispatch, state};
use crate::models::{Saved, connections, prices};
use volary_browser::network;
use volary_ui::Dialog;
use volary_ui::field::Field;
use volary_ui::navigation::{Page, use_pages};
use volary_ui::text::inert;

/// The dialog, which is open while a question waits for an answer on the displayed page.
#[component]
pub fn OutsideDialog(
    /// The page whose questions are shown.
    page: PlayingPage,
) -> impl IntoView {
    let pages = use_pages();
    let home = match page {
        PlayingPage::Playground => Page::Playground,
        PlayingPage::Evaluation => Page::Evaluate,
    };
    let first = Memo::new(move |_| state().with(|state| state.first_waiting(page).cloned()));
    let open = RwSignal::new(false);
    let wanted = Memo::new(move |_| first.with(Option::is_some) && pages.shown.get() == home);
    Effect::new(move |_| {
        // The next question reopens the dialog if Escape closed it.
        first.track();
        open.set(wanted.get());
    });
    let decline = move || {
        if let Some(need) = first.get_untracked().and_then(|asked| asked.need()) {
            dispatch(Event::Declined { page, need });
        }
    };
    Effect::new(move |_| {
        // The dialog was closed by Escape or its button, not because another page is displayed.
        if !open.get() && wanted.get_untracked() {
            decline();
        }
    });
    let decline = Callback::new(move |()| decline());
    let content = move || first.get().map(|asked| content(page, asked, decline));
    view! {
        <Dialog open title="The environment asks">
            {content}
        </Dialog>
    }
}

fn content(page: PlayingPage, asked: PendingQuestion, decline: Callback<()>) -> AnyView {
    match (asked.question, asked.host) {
        (Question::Page { url }, host) => {
            let host = host.unwrap_or_default();
            view! { <HostQuestion page host url decline/> }.into_any()
        }
        (Question::Model { purpose, .. }, _) => {
            let candidates = connections::read(|known| {
                let default = known.default_one().map(|saved| saved.id.clone());
                let mut list = known.list().to_vec();
                // The default is offered first.
                list.sort_by_key(|saved| Some(&saved.id) != default.as_ref());
                list
            });
            if candidates.is_empty() {
                view! { <NoModel purpose decline/> }.into_any()
            } else {
                view! { <RoleQuestion purpose candidates decline/> }.into_any()
            }
        }
        (Question::Person { shown }, _) => {
            view! { <Customer ticket=asked.ticket shown/> }.into_any()
        }
    }
}

/// Asks whether pages of a host may be fetched.
#[component]
fn HostQuestion(page: PlayingPage, host: Text, url: Text, decline: Callback<()>) -> impl IntoView {
    let environment = match page {
        PlayingPage::Playground => "The environment wants",
        PlayingPage::Evaluation => "The environments of this evaluation want",
    };
    let text = format!(
        "{environment} to read pages of {host}. Your browser requests them without cookies. What is \
         read becomes part of the episode, so a replay needs no network.",
    );
    let warning = match LinkedFile::of(&url, &network::page().origin) {
        LinkedFile::Elsewhere(file) => file.warning(),
        LinkedFile::SameOrigin { .. } | LinkedFile::Refused(_) => None,
    };
    let address = inert(&url);
    view! {
        <p>{text}</p>
        <code dir="auto">{address}</code>
        {warning.map(|warning| view! { <p class="near-address">{warning}</p> })}
        <div class="button-row">
            <button type="button" on:click=move |_| decline.run(())>
                {"Don't allow"}
            </button>
            <button
                type="button"
                class="primary"
                on:click=move |_| dispatch(Event::HostAllowed(host.clone()))
            >
                {"Allow"}
            </button>
        </div>
    }
}

/// Says that a role needs a model, but none is connected.
#[component]
fn NoModel(purpose: Text, decline: Callback<()>) -> impl IntoView {
    view! {
        <p>
            {format!("The environment needs a model as the {purpose}, but no model is connected.")}
        </p>
        <div class="button-row">
            <button type="button" on:click=move |_| decline.run(())>
                {"Continue without"}
            </button>
            <a class="button primary" href="#/settings">
                {"Connect model"}
            </a>
        </div>
    }
}

/// Asks which model plays a role, and how much it may spend.
#[component]
fn RoleQuestion(
    purpose: Text,
    /// The connections; not empty.
    candidates: Vec<Saved>,
    decline: Callback<()>,
) -> impl IntoView {
    let former = state().with_untracked(|state| state.roles().get(&purpose).cloned());
    let reason = former.and_then(|role| {
        let limit = role.exhausted()?;
        Some(format!("{limit} So far: {}.", spent_words(&role)))
    });
    let text = format!(
        "The environment needs a model as the {purpose}. The connection that you choose is called with \
         the conversation, at your cost, for the rest of this visit.",
    );
    let options: Vec<_> = candidates
        .iter()
        .map(|saved| {
            let connection = &saved.connection;
            let words = format!("{} ({})", connection.name, connection.model);
            view! { <option value=saved.id.to_string()>{words}</option> }
        })
        .collect();
    let chosen = RwSignal::new(
        candidates
            .first()
            .map(|saved| saved.id.to_string())
            .unwrap_or_default(),
    );
    let limit = RwSignal::new(String::new());
    let error = RwSignal::new(None);
    let candidates = StoredValue::new(candidates);
    let address = move || {
        let saved = candidates.with_value(|list| find(list, &chosen.get()).cloned());
        saved.map(|saved| {
            if saved.connection.kind.has_server() {
                inert(&saved.connection.base_url)
            } else {
                inert("It runs on this device; nothing is sent.")
            }
        })
    };
    let allow = move |_| {
        let saved = candidates.with_value(|list| find(list, &chosen.get_untracked()).cloned());
        let Some(saved) = saved else { return };
        let connection = &saved.connection;
        let has_price = prices::has_price(connection);
        match budget(&limit.get_untracked(), &connection.model, has_price) {
            Ok(budget) => dispatch(Event::RoleAssigned {
                purpose: purpose.clone(),
                connection: saved.id,
                budget,
            }),
            Err(reason) => error.set(Some(reason)),
        }
    };
    view! {
        {reason.map(|reason| view! { <p class="alert-what">{reason}</p> })}
        <p>{text}</p>
        <Field id="role-connection" label="Connection">
            <select
                id={"role-connection"}
                prop:value=move || chosen.get()
                on:change=move |event| chosen.set(event_target_value(&event))
            >
                {options}
            </select>
            <p class="help" dir="auto">
                {address}
            </p>
        </Field>
        <Field id="role-limit" label="Cost limit (US dollars)">
            <input
                id={"role-limit"}
                type="text"
                inputmode="decimal"
                autocomplete="off"
                aria-describedby="role-limit-help"
                aria-invalid=move || error.with(Option::is_some).to_string()
                bind:value=limit
            />
            <p class="help" id="role-limit-help">
                {move || error.get().unwrap_or_else(|| "Leave it empty for no limit.".to_owned())}
            </p>
        </Field>
        <div class="button-row">
            <button type="button" on:click=move |_| decline.run(())>
                {"Don't allow"}
            </button>
            <button type="button" class="primary" on:click=allow>
                {"Allow"}
            </button>
        </div>
    }
}

fn find<'a>(list: &'a [Saved], id: &str) -> Option<&'a Saved> {
    list.iter().find(|saved| *saved.id == *id)
}

/// Parses the budget that was entered for a model, whose price may be known. The error is a message for the user.
fn budget(limit: &str, model: &str, has_price: bool) -> Result<Budget, String> {
    let limit = limit.trim();
    if limit.is_empty() {
        return Ok(Budget::default());
    }
    let cost = limit
        .parse()
        .ok()
        .filter(|cost: &f64| *cost > 0.0 && cost.is_finite());
    let Some(cost) = cost else {
        return Err("Enter an amount above 0, such as 0.50, or leave it empty.".to_owned());
    };
    if !has_price {
        return Err(format!(
            "The price of {model} is unknown, so the limit cannot be enforced. Enter its price in \
             the settings or leave the limit empty."
        ));
    }
    Ok(Budget {
        cost: Some(cost),
        ..Budget::default()
    })
}

/// Asks the user, as the customer, for a reply.
#[component]
fn Customer(ticket: Ticket, shown: Text) -> impl IntoView {
    let text = RwSignal::new(String::new());
    let is_blank = move || text.with(|text| text.trim().is_empty());
    let send = move |_| {
        if !is_blank() {
            let text = text.get_untracked().into();
            dispatch(Event::Replied { ticket, text });
        }
    };
    let shown = inert(&shown);
    view! {
        <p>{"You play the customer. Read what the agent says and answer it."}</p>
        <div class="customer-message" dir="auto">{shown}</div>
        <label class="field">
            <span>{"Your answer"}</span>
            <textarea
                rows={"4"}
                bind:value=text
            ></textarea>
        </label>
        <div class="button-row">
            <button
                type="button"
                class="primary"
                aria-disabled=move || is_blank().to_string()
                on:click=send
            >
                {"Send"}
            </button>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_an_amount_above_zero() {
        let cost = |limit| budget(limit, "m", true).map(|budget| budget.cost);
        assert_eq!(cost("0.50"), Ok(Some(0.5)));
        assert_eq!(cost(" 2 "), Ok(Some(2.0)));
        for limit in ["0", "-1", "x", "1,5", "$1", "NaN", "inf", "1e999"] {
            let reason = cost(limit).expect_err(limit);
            assert!(reason.starts_with("Enter an amount above 0"), "{reason}");
        }
    }

    #[test]
    fn no_limit_needs_no_price() {
        for has_price in [true, false] {
            assert_eq!(budget("  ", "m", has_price), Ok(Budget::default()));
        }
    }

    #[test]
    fn a_limit_that_cannot_be_enforced_is_refused() {
        let reason = budget("1", "gpt-x", false).expect_err("it has no price");
        assert!(
            reason.starts_with("The price of gpt-x is unknown"),
            "{reason}"
        );
        // The amount is the first thing to correct.
        let reason = budget("x", "gpt-x", false).expect_err("no amount");
        assert!(reason.starts_with("Enter an amount"), "{reason}");
    }
}
