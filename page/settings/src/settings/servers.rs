//! The **Task dataset servers** section: connects to task dataset servers and lists the known ones.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::servers::{self, ConnectedServer, Event, ServerChecks, ServerForm, ServerState};
use volary_core::json::Text;
use volary_remote::diagnosis::Diagnosis;
use volary_remote::task;

use super::section::{ApiKeyHelp, InsecurePage, Section, stays_with};
use super::server_list::ServerList;
use super::typed_keys::{self, TypedKeys};
use volary_browser as browser;
use volary_connections::remote::connection;
use volary_connections::remote::keeping;
use volary_connections::remote::servers::Server;
use volary_playground::state::{Playground, use_playground};
use volary_secrets::KeyOrigin;
use volary_ui::alert_box::AlertWords;
use volary_ui::field::Field;
use volary_ui::{CopyButton, UnsavedNotice};

#[derive(Clone, Copy)]
pub(super) struct Servers {
    pub playground: Playground,
    name: RwSignal<String>,
    url: RwSignal<String>,
    key: RwSignal<String>,
    typed_keys: StoredValue<TypedKeys>,
    /// The origin that keeps the typed key after the address was changed.
    key_stays_with: RwSignal<Option<KeyOrigin>>,
    checks: RwSignal<ServerChecks>,
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
        checks: RwSignal::default(),
    };
    let failure = Memo::new(move |_| servers.checks.with(|checks| checks.failure().cloned()));
    let about = "Environments can also run on a server: aviary's TaskDatasetServer, or \
         Volary's own. Connect to one here, then choose it as the environment in the playground.";
    view! {
        <Section id="settings-servers" title="Task dataset servers" about>
            <UnsavedNotice what="the list of servers" unsaved=keeping::unsaved()/>
            <div class="servers">
                <div class="server-form">
                    <Form servers/>
                    <Show when=move || servers.is_connecting()>
                        <p role="status" class="help">
                            {"Contacting the server…"}
                        </p>
                    </Show>
                </div>
                <div class="server-side">
                    {move || failure.get().map(|diagnosis| view! { <Diagnosed diagnosis/> })}
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
                        bind:value=url
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
                        bind:value=key
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
                        bind:value=name
                    />
                    <p class="help">{"A display name. Defaults to the address."}</p>
                </Field>
                <div class="button-row">
                    <button
                        type="submit"
                        class="primary"
                        disabled=move || servers.is_connecting()
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
        self.handle(Event::Connect(ServerForm { name, url, key }));
    }

    fn is_connecting(self) -> bool {
        self.checks.with(ServerChecks::is_connecting)
    }

    /// Checks a known server again.
    pub fn check(self, url: Text) {
        self.handle(Event::Check(url));
    }

    /// Closes environments of a server that were idle for this many seconds.
    pub fn close_idle(self, url: Text, seconds: f64) {
        self.handle(Event::CloseIdle { url, seconds });
    }

    /// The state of a server.
    pub fn state(self, url: &Text) -> ServerState {
        self.checks.with(|checks| checks.state(url))
    }

    fn handle(self, event: Event) {
        let effects = self.checks.try_update(|checks| checks.update(event));
        for effect in effects.into_iter().flatten() {
            self.carry_out(effect);
        }
    }

    fn carry_out(self, effect: servers::Effect) {
        match effect {
            servers::Effect::Connect { request, form } => browser::spawn(async move {
                let result = connection::connect(&form.url, form.key.as_ref()).await;
                self.handle(Event::Connected { request, result });
            }),
            servers::Effect::Check { request, url, said } => browser::spawn(async move {
                let key = keeping::key_of(&url);
                let result = connection::connect(&url, key.as_ref()).await;
                self.handle(Event::Checked {
                    request,
                    url,
                    said,
                    result,
                });
            }),
            servers::Effect::CloseIdle {
                request,
                url,
                seconds,
            } => browser::spawn(async move {
                let key = keeping::key_of(&url);
                let result = connection::close_old(&url, key.as_ref(), seconds).await;
                self.handle(Event::Closed {
                    request,
                    url,
                    result,
                });
            }),
            servers::Effect::Add { form, connected } => add(form, &connected),
            servers::Effect::Learn { url, connected } => learn(&url, &connected),
            servers::Effect::Forget(url) => forget(&url),
            servers::Effect::ClearForm(sent) => self.clear_form(&sent),
        }
    }

    /// Empties the form, unless the user has meanwhile entered another server.
    fn clear_form(self, sent: &ServerForm) {
        if *task::tidied(&self.url.get_untracked()) != *sent.url {
            return;
        }
        self.typed_keys.set_value(TypedKeys::default());
        self.key_stays_with.set(None);
        for field in [self.name, self.url, self.key] {
            field.set(String::new());
        }
    }

    /// Removes a server and its key.
    pub fn forget(self, url: &Text) {
        self.handle(Event::Forget(url.clone()));
    }
}

fn forget(url: &Text) {
    // If the storage fails, the key is still removed from memory.
    let _ = keeping::forget_key(url);
    keeping::change(|known| known.retain(|server| server.url != *url));
}

/// Adds a server, or replaces the one with the same address, and stores its key.
fn add(form: ServerForm, connected: &ConnectedServer) {
    let ServerForm { name, url, key } = form;
    let server = Server {
        name,
        url: url.clone(),
        size: connected.info.dataset_size,
        frames: connected.frames,
    };
    // Add the server first: other tabs drop keys without an owner.
    keeping::change(
        |known| match known.iter_mut().find(|known| known.url == server.url) {
            Some(place) => *place = server,
            None => known.push(server),
        },
    );
    // If the key cannot be stored, it stays in memory and the section of keys says so.
    let _ = keeping::keep_key(&url, key.as_deref().unwrap_or_default());
}

/// Stores the information that a server reported, unless the server was removed meanwhile.
fn learn(url: &Text, connected: &ConnectedServer) {
    keeping::change(|known| {
        if let Some(server) = known.iter_mut().find(|known| known.url == *url) {
            server.size = connected.info.dataset_size;
            server.frames = connected.frames;
        }
    });
}
