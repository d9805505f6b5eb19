//! The settings page: its sections in order.

use leptos::prelude::*;

use super::keys::Keys;
use super::model_connections::ModelConnections;
use super::prices::PriceTable;
use super::python::PythonLimits;
use super::servers::ServersSection;
use super::storage::Storage;

/// The page, as the router mounts it.
pub fn page() -> AnyView {
    view! { <SettingsPage/> }.into_any()
}

#[component]
fn SettingsPage() -> impl IntoView {
    view! {
        <div class="settings">
            <h1>{"Settings"}</h1>
            <ModelConnections/>
            <ServersSection/>
            <Keys/>
            <PriceTable/>
            <PythonLimits/>
            <Storage/>
            <p class="help">{concat!("Volary ", env!("CARGO_PKG_VERSION"))}</p>
        </div>
    }
}
