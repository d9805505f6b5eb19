//! The browser's knowledge of the network: the page's origin, whether there is a connection, and why a server may not
//! have responded. Workers get the same answers as the page.

use std::time::Duration;

use js_sys::{Object, Reflect};
use volary_connectivity::{Address, Permission, RequestingPage, Silence, Space};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Navigator, PermissionState, PermissionStatus};

use super::http;

/// The page's origin.
pub fn page() -> RequestingPage {
    let origin = Reflect::get(&js_sys::global(), &"origin".into()).ok();
    let origin = origin.and_then(|origin| origin.as_string());
    let origin = origin.unwrap_or_default();
    RequestingPage::of(&origin).unwrap_or(RequestingPage {
        origin,
        is_https: false,
        space: Space::Public,
    })
}

/// Finds out why a server did not respond. Sends one more request, without anything secret.
pub async fn probe(url: &str) -> Silence {
    let timeouts = http::Timeouts::of(Duration::from_secs(5));
    let answers_without_cors = http::answers_without_cors(url, timeouts).await;
    Silence {
        answers_without_cors,
        ..without_asking(url).await
    }
}

/// Like [`probe`], without another request.
pub async fn without_asking(url: &str) -> Silence {
    let space = Address::of(url).map(|address| address.space());
    Silence {
        answers_without_cors: None,
        permission: match space {
            Some(space) => permission(space).await,
            None => None,
        },
        is_online: is_online(),
    }
}

/// Whether the browser reports a network connection.
pub fn is_online() -> bool {
    navigator().is_none_or(|navigator| navigator.on_line())
}

/// The state of the permission to reach the local network; `None` if the browser has no such permission.
async fn permission(space: Space) -> Option<Permission> {
    let names: &[&str] = match space {
        Space::Loopback => &["loopback-network", "local-network-access"],
        Space::Local => &["local-network", "local-network-access"],
        Space::Public => &[],
    };
    for name in names {
        if let Some(permission) = permission_of(name).await {
            return Some(permission);
        }
    }
    None
}

async fn permission_of(name: &str) -> Option<Permission> {
    let permissions = navigator()?.permissions().ok()?;
    let descriptor = Object::new();
    Reflect::set(&descriptor, &"name".into(), &name.into()).ok()?;
    // The browser rejects names that it does not know.
    let status = JsFuture::from(permissions.query(&descriptor).ok()?).await;
    let status = PermissionStatus::from(status.ok()?);
    match status.state() {
        PermissionState::Granted => Some(Permission::Granted),
        PermissionState::Prompt => Some(Permission::Prompt),
        PermissionState::Denied => Some(Permission::Denied),
        _ => None,
    }
}

/// The worker's navigator has all members that are used here, so one type serves for both.
fn navigator() -> Option<Navigator> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).ok()?;
    (!navigator.is_undefined()).then(|| navigator.unchecked_into())
}
