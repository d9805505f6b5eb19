//! The settings of the policy Model: whom to ask and for what; the rest is folded away.

use leptos::prelude::*;
use volary_core::json::Text;

use super::seat::{Seat, seat};
use super::settings::{asking_form_like, in_short};
use crate::components::SchemaForm;
use crate::components::erased::{shown, watch, words};
use crate::components::icon::{Glyph, icon};
use crate::components::markup::{El, all, button, el};
use crate::models::connections;
use crate::playground::state::{Playground, use_playground};
use crate::projection::form::Form;

/// The settings.
pub(super) fn settings_view() -> AnyView {
    let playground = use_playground();
    let seat = seat();
    watch(move || follow(playground, seat));
    let connected = Memo::new(move |_| connections::read(|known| !known.list().is_empty()));
    let empty = shown(
        move || !connected.get(),
        || {
            el("div")
                .class("no-connection")
                .child(el("p").child("No model is connected yet."))
                .child(
                    el("a")
                        .class("button")
                        .attr("href", "#/settings")
                        .child("Connect model"),
                )
                .child(el("p").class("help").child(
                    "Requests go directly from this page to the address that you enter, with your \
                     own key.",
                ))
                .view()
        },
    );
    let forms = shown(
        move || connected.get(),
        move || {
            let asking = view! { <SchemaForm form=seat.asking id_prefix="asking"/> };
            all(vec![
                asking.into_any(),
                folded("Sampling", "sampling", "provider default", seat.sampling).view(),
                folded("Limits", "limits", "none", seat.limits).view(),
                el("p")
                    .class("help")
                    .child("Manage connections, keys and prices in the ")
                    .child(el("a").attr("href", "#/settings").child("settings"))
                    .child(".")
                    .view(),
            ])
        },
    );
    el("div")
        .class("model-settings")
        .child(empty)
        .child(forms)
        .view()
}

/// Brings the form in line with the connections and tools that there are.
pub(super) fn follow(playground: Playground, seat: Seat) {
    let names: Vec<Text> = connections::read(|known| {
        let preferred = known.default_one().map(|saved| saved.id.clone());
        let mut list: Vec<_> = known.list().iter().collect();
        // The first one is what is chosen where nobody chose.
        list.sort_by_key(|saved| Some(&saved.id) != preferred.as_ref());
        let names = list.into_iter().map(|saved| saved.connection.name.clone());
        names.collect()
    });
    playground.edition.track();
    let tools: Vec<Text> = playground.episode.with_untracked(|episode| {
        let tools = episode.tools.iter();
        tools.map(|tool| tool.info.name.clone()).collect()
    });
    let form = seat
        .asking
        .with_untracked(|form| asking_form_like(form, &names, &tools));
    let same = seat
        .asking
        .with_untracked(|former| former.schema() == form.schema());
    if !same {
        seat.asking.set(form);
    }
}

/// A form that stands folded away, with what was filled in beside its name. A field at fault unfolds it.
fn folded(
    name: &'static str,
    prefix: &'static str,
    nothing: &'static str,
    form: RwSignal<Form>,
) -> El {
    let open = RwSignal::new(false);
    watch(move || {
        if form.with(|form| !form.errors().is_empty()) {
            open.set(true);
        }
    });
    let summary = words(move || {
        let short = form.with(in_short);
        short.unwrap_or_else(|| nothing.to_owned())
    });
    let class = words(move || match open.get() {
        true => "quiet disclosure open".to_owned(),
        false => "quiet disclosure".to_owned(),
    });
    let toggle = button("")
        .class(class)
        .attr("aria-expanded", words(move || open.get().to_string()))
        .on_click(move || open.update(|open| *open = !*open))
        .child(icon(Glyph::Chevron))
        .child(el("span").child(name))
        .child(el("span").class("faint").child(summary));
    let fields = shown(
        move || open.get(),
        move || view! { <SchemaForm form=form id_prefix=prefix legend=name/> }.into_any(),
    );
    el("div").class("folded-form").child(toggle).child(fields)
}
