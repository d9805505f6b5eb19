//! The **Task dataset servers** section: connects to task dataset servers and lists the known ones.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_core::json::Text;
use volary_remote::diagnosis::Diagnosis;
use volary_remote::task;

use super::section::{ApiKeyHelp, InsecurePage, Section, stays_with};
use super::server_list::ServerList;
use super::typed_keys::{self, TypedKeys};
use crate::browser;
use crate::components::CopyButton;
use crate::components::alert_box::AlertWords;
use crate::components::field::Field;
use crate::playground::state::{Playground, use_playground};
use crate::remote::connection::{self, Connected};
use crate::remote::keeping;
use crate::remote::servers::Server;
use crate::secrets::KeyOrigin;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum ServerState {
    /// Not checked since the page was loaded.
    #[default]
    NotAsked,
    /// The request is in flight.
    Asked,
    /// The server responded. Holds an additional message, which may be empty.
    Up(Connected, String),
    /// The server cannot be used.
    Down(Diagnosis),
}

#[derive(Clone, Copy)]
pub(super) struct Servers {
    pub playground: Playground,
    name: RwSignal<String>,
    url: RwSignal<String>,
    key: RwSignal<String>,
    typed_keys: StoredValue<TypedKeys>,
    /// The origin that keeps the typed key after the address was changed.
    key_stays_with: RwSignal<Option<KeyOrigin>>,
    /// The state of the current attempt to connect.
    attempt: RwSignal<ServerState>,
    /// The state of the known servers, by address.
    states: RwSignal<Vec<(Text, ServerState)>>,
}

#[component]
pub(super) fn ServersSection() -> impl IntoView {
    let servers = Servers {
        playground: use_playground(),
        name: RwSignal::default(),
        url: RwSignal::default(),
        key: RwSignal::default(),
        typed_keys: StoredValue::default(),
        key_stays_with: RwSignal::default(),
        attempt: RwSignal::default(),
        states: RwSignal::default(),
    };
    let about = "Environments can also run on a server: aviary's TaskDatasetServer or \
         `volary serve`. Connect to one here, then choose it as the environment in the playground.";
    view! {
        <Section id="settings-servers" title="Task dataset servers" about>
            <div class="servers">
                <div class="server-form">
                    <Form servers/>
                    <Show when=move || servers.attempt.get() == ServerState::Asked>
                        <p role="status" class="help">
                            {"Contacting the server…"}
                        </p>
                    </Show>
                </div>
                <div class="server-side">
                    {move || match servers.attempt.get() {
                        ServerState::Down(diagnosis) => Some(view! { <Diagnosed diagnosis/> }),
                        _ => None,
                    }}
                    <ServerList servers/>
                </div>
            </div>
        </Section>
    }
}

#[component]
fn Form(servers: Servers) -> impl IntoView {
    let elsewhere = Signal::derive(move || match servers.key_stays_with.get() {
        Some(origin) if servers.key.with(String::is_empty) => stays_with(&[origin]),
        _ => String::new(),
    });
    let connect = move |event: SubmitEvent| {
        event.prevent_default();
        servers.connect();
    };
    let Servers { url, key, name, .. } = servers;
    view! {
        <form class="server-form" aria-label="Connect to server" novalidate on:submit=connect>
            <fieldset>
                <legend>{"Task dataset server"}</legend>
                <Field id="server-url" label="Server URL">
                    <input
                        type="text"
                        id="server-url"
                        autocomplete="off"
                        inputmode="url"
                        spellcheck="false"
                        placeholder="http://127.0.0.1:8041"
                        prop:value=move || url.get()
                        on:input=move |event| url.set(event_target_value(&event))
                        on:change=move |_| {
                            servers.follow_address();
                        }
                    />
                </Field>
                <Field id="server-key" label="API key">
                    <input
                        type="password"
                        id="server-key"
                        autocomplete="off"
                        aria-describedby="server-key-elsewhere server-key-help"
                        prop:value=move || key.get()
                        on:input=move |event| key.set(event_target_value(&event))
                    />
                    <ApiKeyHelp
                        elsewhere_id="server-key-elsewhere"
                        elsewhere
                        help_id="server-key-help"
                    >
                        "If the server requires one. It is only sent to this server. See API keys "
                        "below for where it is stored."
                    </ApiKeyHelp>
                    <InsecurePage/>
                </Field>
                <Field id="server-name" label="Name">
                    <input
                        type="text"
                        id="server-name"
                        autocomplete="off"
                        prop:value=move || name.get()
                        on:input=move |event| name.set(event_target_value(&event))
                    />
                    <p class="help">{"A display name. Defaults to the address."}</p>
                </Field>
                <div class="button-row">
                    <button
                        type="submit"
                        class="primary"
                        disabled=move || servers.attempt.get() == ServerState::Asked
                    >
                        {"Connect"}
                    </button>
                </div>
            </fieldset>
        </form>
    }
}

/// A diagnosis as an alert: what failed, why, what to do, and lines to copy.
#[component]
pub(super) fn Diagnosed(diagnosis: Diagnosis) -> impl IntoView {
    let lines = diagnosis.lines.iter().map(|lines| {
        let (text, copied) = (lines.text.clone(), lines.text.clone());
        view! {
            <div class="lines">
                <p class="lines-place">
                    {lines.place}
                    <CopyButton text=move || copied.clone()/>
                </p>
                <pre tabindex="0">
                    <code>{text}</code>
                </pre>
            </div>
        }
    });
    let lines = lines.collect_view();
    view! {
        <div class="alert inline diagnosis" role="alert">
            <AlertWords what=diagnosis.what why=diagnosis.why advice=diagnosis.remedy>
                {lines}
            </AlertWords>
        </div>
    }
}

impl Servers {
    /// Handles a possible change of the address: a key that was typed for another origin is replaced with that of the
    /// current one. Returns `false` if the field changed.
    fn follow_address(self) -> bool {
        let url = self.url.get_untracked();
        let origin = KeyOrigin::of(task::tidied(&url));
        if !origin.is_address() {
            return true;
        }
        let typed = self.key.get_untracked();
        let mut keys = self.typed_keys.get_value();
        let field = keys.address_is(origin, typed);
        self.typed_keys.set_value(keys);
        match field {
            typed_keys::KeyField::Stays => true,
            typed_keys::KeyField::Becomes { key, former } => {
                let is_other = former.is_some() || !key.is_empty();
                self.key.set(key);
                self.key_stays_with.set(former);
                !is_other
            }
        }
    }

    /// Connects to the server in the form, and adds it to the list if it responds.
    fn connect(self) {
        if !self.follow_address() {
            return;
        }
        let url = Text::from(task::tidied(&self.url.get_untracked()));
        let key = Some(self.key.get_untracked().trim().to_owned())
            .filter(|key| !key.is_empty())
            .map(Text::from)
            // The key need not be entered again to reconnect.
            .or_else(|| keeping::key_of(&url));
        let name = match self.name.get_untracked().trim() {
            "" => url.split("://").nth(1).unwrap_or(&url).into(),
            name => Text::from(name),
        };
        self.attempt.set(ServerState::Asked);
        // A known server is checked as well, because its state may be outdated.
        let former = untrack(|| self.state(&url));
        self.set_state(url.clone(), ServerState::Asked);
        browser::spawn(async move {
            match connection::connect(&url, key.as_ref()).await {
                Err(diagnosis) => {
                    // With its previous key its state may be unchanged.
                    self.set_state(url, former);
                    self.attempt.set(ServerState::Down(diagnosis));
                }
                Ok(connected) => {
                    // Add the server first: other tabs drop keys without an owner.
                    self.add(Server {
                        name,
                        url: url.clone(),
                        size: connected.info.dataset_size,
                        frames: connected.frames,
                    });
                    // If the key cannot be stored, it stays in memory and the section of keys says so.
                    let _ = keeping::keep_key(&url, key.as_deref().unwrap_or_default());
                    self.set_state(url, ServerState::Up(connected, String::new()));
                    self.attempt.set(ServerState::NotAsked);
                    self.typed_keys.set_value(TypedKeys::default());
                    self.key_stays_with.set(None);
                    for field in [self.name, self.url, self.key] {
                        field.set(String::new());
                    }
                }
            }
        });
    }

    /// Checks a known server again.
    pub fn check(self, server: Server) {
        self.ask(server, String::new());
    }

    fn ask(self, mut server: Server, said: String) {
        let url = server.url.clone();
        self.set_state(url.clone(), ServerState::Asked);
        browser::spawn(async move {
            let key = keeping::key_of(&url);
            let state = match connection::connect(&url, key.as_ref()).await {
                Err(diagnosis) => ServerState::Down(diagnosis),
                Ok(connected) => {
                    server.size = connected.info.dataset_size;
                    server.frames = connected.frames;
                    self.learn(server);
                    ServerState::Up(connected, said)
                }
            };
            self.set_state(url, state);
        });
    }

    /// Closes environments of a server that were idle for this many seconds.
    pub fn close_old(self, server: Server, seconds: f64) {
        let url = server.url.clone();
        self.set_state(url.clone(), ServerState::Asked);
        browser::spawn(async move {
            let key = keeping::key_of(&url);
            match connection::close_old(&url, key.as_ref(), seconds).await {
                Err(diagnosis) => self.set_state(url, ServerState::Down(diagnosis)),
                Ok(1) => self.ask(server, "Closed 1 environment.".to_owned()),
                Ok(count) => self.ask(server, format!("Closed {count} environments.")),
            }
        });
    }

    /// Removes a server and its key.
    pub fn forget(self, url: &Text) {
        // If the storage fails, the key is still removed from memory.
        let _ = keeping::forget_key(url);
        keeping::change(|known| known.retain(|server| server.url != *url));
    }

    /// The state of a server.
    pub fn state(self, url: &Text) -> ServerState {
        self.states.with(|states| {
            let known = states.iter().find(|(known, _)| known == url);
            known.map_or_else(ServerState::default, |(_, state)| state.clone())
        })
    }

    fn set_state(self, url: Text, state: ServerState) {
        self.states.update(|states| {
            states.retain(|(known, _)| *known != url);
            states.push((url, state));
        });
    }

    /// Stores the information that a server reported, unless the server was removed meanwhile.
    fn learn(self, server: Server) {
        keeping::change(|known| {
            if let Some(place) = known.iter_mut().find(|known| known.url == server.url) {
                *place = server;
            }
        });
    }

    /// Adds a server, or replaces the one with the same address.
    fn add(self, server: Server) {
        keeping::change(
            |known| match known.iter_mut().find(|known| known.url == server.url) {
                Some(place) => *place = server,
                None => known.push(server),
            },
        );
    }
}
