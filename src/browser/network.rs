//! What the browser says of networks: where the page came from, whether there is one, and what can be found out
//! about a server that gave no reply. The page's worker is told the same as the page.

use std::time::Duration;

use js_sys::{Object, Reflect};
use volary_connectivity::{Address, Page, Permission, Silence, Space};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Navigator, PermissionState, PermissionStatus};

use super::http;

/// The page as others see it.
pub fn page() -> Page {
    let origin = Reflect::get(&js_sys::global(), &"origin".into()).ok();
    let origin = origin.and_then(|origin| origin.as_string());
    let origin = origin.unwrap_or_default();
    Page::of(&origin).unwrap_or(Page {
        origin,
        is_https: false,
        space: Space::Public,
    })
}

/// What can be found out about a server at an address that gave no reply. Asks it once more, without anything
/// that was to be kept secret.
pub async fn probe(url: &str) -> Silence {
    let patience = http::Patience::of(Duration::from_secs(5));
    let answers_without_cors = http::answers_without_cors(url, patience).await;
    Silence {
        answers_without_cors,
        ..without_asking(url).await
    }
}

/// What the browser knows of such a server without asking it once more.
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

/// Whether the browser says that there is a network at all.
pub fn is_online() -> bool {
    navigator().is_none_or(|navigator| navigator.on_line())
}

/// What the browser says of the permission to reach a near network; `None` where it knows of none.
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
    // An unknown name is refused.
    let status = JsFuture::from(permissions.query(&descriptor).ok()?).await;
    let status = PermissionStatus::from(status.ok()?);
    match status.state() {
        PermissionState::Granted => Some(Permission::Granted),
        PermissionState::Prompt => Some(Permission::Prompt),
        PermissionState::Denied => Some(Permission::Denied),
        _ => None,
    }
}

/// The worker's has all that is asked of it here, so one type stands for both.
fn navigator() -> Option<Navigator> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).ok()?;
    (!navigator.is_undefined()).then(|| navigator.unchecked_into())
}
