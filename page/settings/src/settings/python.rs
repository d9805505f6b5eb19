//! The **Python** section: time and memory limits of the user's environments.

use std::ops::RangeInclusive;

use leptos::ev::Event;
use leptos::prelude::*;

use super::section::Section;
use volary_connections::python::limits::{self, Limits, MEGABYTES, SECONDS};
use volary_ui::UnsavedNotice;
use volary_ui::field::Field;

#[component]
pub(super) fn PythonLimits() -> impl IntoView {
    view! {
        <Section
            id="settings-python"
            title="Python"
            about="Environments that you write in Python run in a sandbox. Code that exceeds a limit is stopped, and the episode \
                   keeps the steps before."
        >
            <UnsavedNotice what="the limits" unsaved=limits::unsaved()/>
            <div class="limit-fields">
                <LimitField
                    id="python-seconds"
                    label="Time limit (seconds)"
                    help="For opening an environment, a reset or a step."
                    bounds=SECONDS
                    get=|limits| limits.seconds
                    set=|limits, seconds| limits.seconds = seconds
                />
                <LimitField
                    id="python-megabytes"
                    label="Memory limit (MB)"
                    help="Applies after the page is reloaded."
                    bounds=MEGABYTES
                    get=|limits| limits.megabytes
                    set=|limits, megabytes| limits.megabytes = megabytes
                />
            </div>
        </Section>
    }
}

/// A limit. Input that is not a number within the bounds is not stored and stays in the field.
#[component]
fn LimitField(
    id: &'static str,
    label: &'static str,
    help: &'static str,
    bounds: RangeInclusive<u32>,
    get: fn(&Limits) -> u32,
    set: fn(&mut Limits, u32),
) -> impl IntoView {
    let (low, high) = (*bounds.start(), *bounds.end());
    let is_wrong = RwSignal::new(false);
    let take = move |event: Event| {
        let typed = limits::typed(&event_target_value(&event), &bounds);
        is_wrong.set(typed.is_none());
        if let Some(value) = typed {
            limits::change(|limits| set(limits, value));
        }
    };
    let help_id = format!("{id}-help");
    let described_by = help_id.clone();
    let words = move || {
        if is_wrong.get() {
            format!("Enter a whole number from {low} to {high}.")
        } else {
            help.to_owned()
        }
    };
    view! {
        <Field id label>
            <input
                id=id
                type="text"
                inputmode="numeric"
                autocomplete="off"
                aria-describedby=described_by
                aria-invalid=move || is_wrong.get().to_string()
                prop:value=move || get(&limits::limits()).to_string()
                on:change=take
            />
            <p class=move || if is_wrong.get() { "error" } else { "help" } id=help_id role="status">
                {words}
            </p>
        </Field>
    }
}
