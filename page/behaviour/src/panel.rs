//! The section above the table: clusters, the map and rules as tabs.

use leptos::prelude::*;
use volary_ui::Tabs;

use super::clusters_view::ClustersView;
use super::map_view::MapView;
use super::restoring;
use super::rules_view::RulesView;
pub use super::state::BehaviourInputs;
use super::state::BehaviourState;

/// The names of the tabs.
const NAMES: &[&str] = &["Clusters", "Map", "Rules"];

/// The section. It stays, with what was computed, while it is hidden.
#[component]
pub fn BehaviourPanel(inputs: BehaviourInputs) -> impl IntoView {
    let state = BehaviourState::new(inputs);
    restoring::follow(state);
    let link = inputs.link;
    let active = RwSignal::new(0);
    let is_shown =
        move |place: usize| Signal::derive(move || link.is_open.get() && active.get() == place);
    view! {
        <section
            class="behaviour"
            aria-label="Behaviour"
            hidden=move || !link.is_open.get()
        >
            <div class="behaviour-head">
                <Tabs label="Behaviour" names=NAMES active id_prefix="behaviour"/>
                <button
                    type="button"
                    class="quiet small"
                    on:click=move |_| link.is_open.set(false)
                >
                    {"Close behaviour"}
                </button>
            </div>
            <TabPanel place=0 is_shown=is_shown(0)>
                <ClustersView state/>
            </TabPanel>
            <TabPanel place=1 is_shown=is_shown(1)>
                <MapView state/>
            </TabPanel>
            <TabPanel place=2 is_shown=is_shown(2)>
                <RulesView state/>
            </TabPanel>
        </section>
    }
}

/// The content of a tab, which is built when it is first shown.
#[component]
fn TabPanel(place: usize, is_shown: Signal<bool>, children: ChildrenFn) -> impl IntoView {
    let was_shown = Memo::new(move |former: Option<&bool>| {
        former.is_some_and(|former| *former) || is_shown.get()
    });
    view! {
        <div
            class="behaviour-tab"
            role="tabpanel"
            id=format!("behaviour-panel-{place}")
            aria-labelledby=format!("behaviour-tab-{place}")
            hidden=move || !is_shown.get()
        >
            <Show when=move || was_shown.get()>{children()}</Show>
        </div>
    }
}
