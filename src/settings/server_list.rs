//! The known servers: their state, running environments, and actions.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::servers::{Servers, Standing, diagnosed};
use crate::components::erased::{dynamic, flag};
use crate::components::markup::{El, all, button, el, nothing};
use crate::playground::controls::{help, typed};
use crate::playground::intents::Intent;
use crate::remote::connection::Connected;
use crate::remote::servers::Server;
use crate::route::Place;

/// The maximum number of ids shown.
const SHOWN_IDS: usize = 20;

/// The default idle time of old environments, in seconds.
const OLD: &str = "3600";

/// The list; nothing if it is empty.
pub(super) fn server_list(servers: Servers) -> AnyView {
    dynamic(move || {
        let known = servers.playground.setup.servers.get();
        if known.is_empty() {
            return nothing();
        }
        let cards = known.into_iter().map(|server| card(servers, server).view());
        el("ul")
            .class("server-list")
            .attr("aria-label", "Known servers")
            .child(all(cards.collect()))
            .view()
    })
}

fn card(servers: Servers, server: Server) -> El {
    let place = Place {
        environment: Some(server.url.to_string()),
        ..Place::default()
    };
    let (playground, played) = (servers.playground, server.url.clone());
    let url = server.url.clone();
    let busy = flag(move || servers.standing(&url) == Standing::Asked);
    let named = |what: &str| format!("{what} {}", server.name);
    let act = |class: &'static str, text: &'static str| {
        button(class)
            .attr("aria-label", named(text))
            .flag_property("disabled", busy)
            .child(text)
    };
    let (checked, forgotten) = (server.clone(), server.url.clone());
    el("li")
        .class("server")
        .child(
            el("div")
                .class("server-head")
                .child(el("h3").child(server.name.to_string()))
                .child(el("code").child(server.url.to_string())),
        )
        .child(standing(servers, &server))
        .child(
            el("div")
                .class("button-row")
                .child(
                    el("a")
                        .class("button")
                        .attr("href", place.to_hash())
                        .attr("aria-label", named("Play on"))
                        .on("click", move |event: MouseEvent| {
                            // In a new tab, the page asks first, as for any server address.
                            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                                event.prevent_default();
                                playground.intend(Intent::GoToEnvironment(played.to_string()));
                            }
                        })
                        .child("Play"),
                )
                .child(act("quiet", "Check").on_click(move || servers.check(checked.clone())))
                .child(act("quiet", "Remove").on_click(move || servers.forget(&forgotten))),
        )
}

fn standing(servers: Servers, server: &Server) -> AnyView {
    let server = server.clone();
    dynamic(move || match servers.standing(&server.url) {
        Standing::NotAsked => status("Not checked since the page was loaded.").view(),
        Standing::Asked => status("Contacting the server…").view(),
        Standing::Down(diagnosis) => diagnosed(&diagnosis).attr("role", "alert").view(),
        Standing::Up(connected, said) => all(vec![
            status(format!("{said} {}", summary(&connected)).trim().to_owned()).view(),
            environments(servers, &server, &connected),
        ]),
    })
}

fn status(words: impl Into<String>) -> El {
    el("p").attr("role", "status").child(words.into())
}

/// The facts that a server reported, in words.
fn summary(connected: &Connected) -> String {
    let mut words = String::from("Connected. ");
    match connected.info.dataset_size {
        Some(1) => words.push_str("1 task, "),
        Some(size) => words.push_str(&format!("{size} tasks, ")),
        None => words.push_str("unnumbered tasks, "),
    }
    match connected.info.running_env_ids.len() {
        1 => words.push_str("1 running environment."),
        count => words.push_str(&format!("{count} running environments.")),
    }
    match connected.frames {
        Some(true) => {}
        Some(false) => words.push_str(" It does not provide frames."),
        None => words.push_str(" It does not report whether it provides frames."),
    }
    if !connected.lacks.is_empty() {
        words.push_str(&format!(
            " Its version differs: it lacks {}.",
            connected.lacks.join(", ")
        ));
    }
    words
}

/// The running environments, and a form to close idle ones.
fn environments(servers: Servers, server: &Server, connected: &Connected) -> AnyView {
    let ids = &connected.info.running_env_ids;
    if ids.is_empty() {
        return nothing();
    }
    let shown = ids
        .iter()
        .take(SHOWN_IDS)
        .map(|id| el("li").child(el("code").child(id.to_string())).view());
    let more = ids.len().saturating_sub(SHOWN_IDS);
    let seconds = RwSignal::new(OLD.to_owned());
    let wrong = RwSignal::new(false);
    let server_of_these = server.clone();
    let close = move || {
        let given = seconds.get_untracked().trim().parse::<f64>();
        match given
            .ok()
            .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        {
            Some(seconds) => servers.close_old(server_of_these.clone(), seconds),
            None => wrong.set(true),
        }
    };
    let field = el("input")
        .attr("type", "text")
        .attr("inputmode", "decimal")
        .attr("autocomplete", "off");
    let complaint = dynamic(move || match wrong.get() {
        true => el("p")
            .class("error")
            .attr("role", "alert")
            .child("Enter a number of seconds of at least 0.")
            .view(),
        false => nothing(),
    });
    el("details")
        .child(el("summary").child("Running environments"))
        .child(el("ul").class("env-ids").child(all(shown.collect())))
        .child((more > 0).then(|| help(format!("… and {more} more."))))
        .child(
            el("div")
                .class("field-row")
                .child(
                    el("label")
                        .class("field")
                        .child("Idle time in seconds")
                        .child(typed(field, seconds)),
                )
                .child(button("").on_click(close).child("Close idle environments")),
        )
        .child(complaint)
        .view()
}
