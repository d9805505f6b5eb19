//! The connection of the board to a class server.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use volary_app::class::board::ClassConnection;

use super::board::Board;
use super::server_fields::ServerFields;
use super::service;
use volary_browser::timers;
use volary_secrets::{self as secrets, KeyOrigin};
use volary_ui::alert_box::AlertWords;
use volary_ui::{Glyph, Icon};

/// The form that connects to a class server, or the state of the connection.
#[component]
pub(super) fn ConnectionPanel(board: Board, url: String) -> impl IntoView {
    let url = RwSignal::new(url);
    let key = RwSignal::new(String::new());
    let set_url = Callback::new(move |typed| url.set(typed));
    let set_key = Callback::new(move |typed| key.set(typed));
    let has_key = Memo::new(move |_| {
        url.with(|url| {
            service::address(url)
                .is_ok_and(|url| secrets::has(service::OWNER, &KeyOrigin::of(&url)))
        })
    });
    let connect = move |event: SubmitEvent| {
        event.prevent_default();
        board.connect(&url.get_untracked(), &key.get_untracked());
        key.set(String::new());
    };
    let key_help = Signal::derive(move || {
        if has_key.get() {
            "Leave it empty to use the key that you entered before."
        } else {
            "The key that the server printed, or was started with. It is sent to this server only; Settings says where keys are stored."
        }
    });
    let form = move || {
        view! {
            <form class="class-connect" novalidate on:submit=connect aria-label="Connect to a class">
                <ServerFields url set_url key set_key help=key_help/>
                <div class="button-row">
                    <button type="submit" class="primary">
                        {"Connect"}
                    </button>
                </div>
            </form>
        }
    };
    let is_form_shown = Memo::new(move |_| match board.connection.get() {
        ClassConnection::Off => true,
        ClassConnection::Failed(_) => true,
        ClassConnection::Connecting | ClassConnection::Live { .. } => false,
    });
    let state = move || match board.connection.get() {
        ClassConnection::Off => ().into_any(),
        ClassConnection::Connecting => "Connecting…".into_any(),
        ClassConnection::Live { class, at } => {
            let at = timers::local_time(at);
            let at = at.split_once(' ').map_or("", |(_, at)| at).to_owned();
            view! {
                <span class="badge good">{"Live"}</span>
                {format!(" {class}, updated {at} ")}
                <button type="button" class="quiet small" on:click=move |_| board.disconnect()>
                    {"Disconnect"}
                </button>
            }
            .into_any()
        }
        ClassConnection::Failed(notice) => view! {
            <div class="alert inline" role="alert">
                <Icon glyph=Glyph::Warning/>
                <AlertWords what=notice.what why=notice.why advice=notice.advice/>
            </div>
        }
        .into_any(),
    };
    view! {
        <div class="class-connection">
            <div class="class-state" role="status">
                {state}
            </div>
            <Show when=move || is_form_shown.get()>{form()}</Show>
        </div>
    }
}
