//! The list of known servers: their state, running environments, and actions.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use volary_app::servers::{ConnectedServer, ServerState};
use volary_view::route::PlaygroundPlace;

use super::servers::{Diagnosed, Servers};
use volary_connections::remote::servers::Server;
use volary_playground::choices::choose_environment;

/// The maximum number of environment ids shown.
const SHOWN_IDS: usize = 20;

/// The default idle time in seconds after which environments are closed.
const OLD: &str = "3600";

/// The list; empty if no server is known.
#[component]
pub(super) fn ServerList(servers: Servers) -> impl IntoView {
    move || {
        let known = servers.playground.setup().servers.get();
        (!known.is_empty()).then(|| {
            let cards = known
                .into_iter()
                .map(|server| view! { <Card servers server/> });
            view! {
                <ul class="server-list" aria-label="Known servers">
                    {cards.collect_view()}
                </ul>
            }
        })
    }
}

#[component]
fn Card(servers: Servers, server: Server) -> impl IntoView {
    let place = PlaygroundPlace {
        environment: Some(server.url.to_string()),
        ..PlaygroundPlace::default()
    };
    let (playground, played) = (servers.playground, server.url.clone());
    let play = move |event: MouseEvent| {
        // A link opened in a new tab asks for consent first, as any server address does.
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            choose_environment(playground, played.to_string());
        }
    };
    let url = server.url.clone();
    let is_busy = Memo::new(move |_| servers.state(&url) == ServerState::Asked);
    let named = |what: &str| format!("{what} {}", server.name);
    let (checked, removed) = (server.url.clone(), server.url.clone());
    view! {
        <li class="server">
            <div class="server-head">
                <h3>{server.name.to_string()}</h3>
                <code>{server.url.to_string()}</code>
            </div>
            {state(servers, server.clone())}
            <div class="button-row">
                <a class="button" href=place.to_hash() aria-label=named("Play on") on:click=play>
                    {"Play"}
                </a>
                <button
                    type="button"
                    class="quiet"
                    aria-label=named("Check")
                    disabled=is_busy
                    on:click=move |_| servers.check(checked.clone())
                >
                    {"Check"}
                </button>
                <button
                    type="button"
                    class="quiet"
                    aria-label=named("Remove")
                    disabled=is_busy
                    on:click=move |_| servers.forget(&removed)
                >
                    {"Remove"}
                </button>
            </div>
        </li>
    }
}

fn state(servers: Servers, server: Server) -> impl IntoView {
    let status = |words: &str| view! { <p role="status">{words.to_owned()}</p> };
    move || match servers.state(&server.url) {
        ServerState::NotAsked => status("Not checked since the page was loaded.").into_any(),
        ServerState::Asked => status("Contacting the server…").into_any(),
        ServerState::Down(diagnosis) => view! { <Diagnosed diagnosis/> }.into_any(),
        ServerState::Up(connected, said) => view! {
            {status(format!("{said} {}", summary(&connected)).trim())}
            <Environments servers server=server.clone() connected/>
        }
        .into_any(),
    }
}

/// Parses an idle time.
fn idle_seconds(typed: &str) -> Option<f64> {
    let seconds: f64 = typed.trim().replace(',', ".").parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Describes the facts that a server reported.
fn summary(connected: &ConnectedServer) -> String {
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

/// The running environments, and a form that closes idle ones.
#[component]
fn Environments(servers: Servers, server: Server, connected: ConnectedServer) -> impl IntoView {
    let ids = connected.info.running_env_ids;
    if ids.is_empty() {
        return None;
    }
    let shown = ids.iter().take(SHOWN_IDS).map(|id| {
        view! {
            <li>
                <code>{id.to_string()}</code>
            </li>
        }
    });
    let more = ids.len().saturating_sub(SHOWN_IDS);
    let seconds = RwSignal::new(OLD.to_owned());
    let is_wrong = RwSignal::new(false);
    let close = move |_| {
        let given = idle_seconds(&seconds.get_untracked());
        is_wrong.set(given.is_none());
        if let Some(seconds) = given {
            servers.close_idle(server.url.clone(), seconds);
        }
    };
    Some(view! {
        <details>
            <summary>{"Running environments"}</summary>
            <ul class="env-ids">{shown.collect_view()}</ul>
            {(more > 0).then(|| view! { <p class="help">{format!("… and {more} more.")}</p> })}
            <div class="field-row">
                <label class="field">
                    {"Idle time in seconds"}
                    <input
                        type="text"
                        inputmode="decimal"
                        autocomplete="off"
                        bind:value=seconds
                    />
                </label>
                <button type="button" on:click=close>
                    {"Close idle environments"}
                </button>
            </div>
            <Show when=move || is_wrong.get()>
                <p class="error" role="alert">
                    {"Enter a number of seconds of at least 0."}
                </p>
            </Show>
        </details>
    })
}

#[cfg(test)]
mod tests {
    use volary_remote::reply::Info;

    use super::*;

    fn connected(tasks: Option<u64>, running: usize, frames: Option<bool>) -> ConnectedServer {
        ConnectedServer {
            info: Info {
                dataset_size: tasks,
                running_env_ids: (0..running).map(|id| id.to_string().into()).collect(),
            },
            frames,
            lacks: Vec::new(),
        }
    }

    #[test]
    fn idle_times_are_read_as_people_write_them() {
        for (typed, seconds) in [(" 3600 ", 3600.0), ("0", 0.0), ("0,5", 0.5)] {
            assert_eq!(idle_seconds(typed), Some(seconds), "{typed}");
        }
        for none in ["", "-1", "an hour", "inf", "NaN"] {
            assert_eq!(idle_seconds(none), None, "{none}");
        }
    }

    #[test]
    fn a_connected_server_is_summarized() {
        assert_eq!(
            summary(&connected(Some(1), 1, Some(true))),
            "Connected. 1 task, 1 running environment."
        );
        assert_eq!(
            summary(&connected(None, 0, Some(false))),
            "Connected. unnumbered tasks, 0 running environments. It does not provide frames."
        );
        let mut older = connected(Some(20), 2, None);
        older.lacks = vec!["/info", "/close_old_envs"];
        assert_eq!(
            summary(&older),
            "Connected. 20 tasks, 2 running environments. It does not report whether it provides frames. \
             Its version differs: it lacks /info, /close_old_envs."
        );
    }
}
