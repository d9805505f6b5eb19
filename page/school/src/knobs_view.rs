//! The knobs of the run.

use leptos::prelude::*;
use volary_app::school::SchoolEvent;
use volary_view::school::knob_fields::{Control, KNOB_FIELDS, KnobField};

use super::state::SchoolState;

#[component]
pub(super) fn KnobsView(state: SchoolState) -> impl IntoView {
    let fields = KNOB_FIELDS.iter().map(|field| knob(state, field));
    view! {
        <details class="school-knobs">
            <summary>{"Knobs"}</summary>
            <p class="help">
                {"They count from the next update on. The address of this page holds them: the same link gives the same curve everywhere."}
            </p>
            {fields.collect_view()}
        </details>
    }
}

fn knob(state: SchoolState, field: &'static KnobField) -> AnyView {
    let id = format!("knob-{}", field.name);
    let help_id = format!("{id}-help");
    let value = Memo::new(move |_| state.school.with(|school| field.value(&school.knobs)));
    // What is no value is replaced by the one in use.
    let edition = RwSignal::new(0_u32);
    let change = move |text: String| {
        let knobs = state
            .school
            .with_untracked(|school| field.changed(&school.knobs, &text));
        if let Some(knobs) = knobs {
            state.send(SchoolEvent::Change(knobs));
        }
        edition.update(|edition| *edition += 1);
    };
    let shown = move || {
        edition.track();
        value.get()
    };
    let control = match field.control {
        Control::Number => view! {
            <input
                id=id.clone()
                type="text"
                inputmode="decimal"
                aria-describedby=help_id.clone()
                prop:value=shown
                on:change=move |event| change(event_target_value(&event))
            />
        }
        .into_any(),
        Control::Choice(choices) => {
            let options = choices.iter().map(|(value, label)| {
                view! { <option value=*value>{*label}</option> }
            });
            view! {
                <select
                    id=id.clone()
                    aria-describedby=help_id.clone()
                    prop:value=shown
                    on:change=move |event| change(event_target_value(&event))
                >
                    {options.collect_view()}
                </select>
            }
            .into_any()
        }
        Control::Switch => view! {
            <input
                id=id.clone()
                type="checkbox"
                aria-describedby=help_id.clone()
                prop:checked=move || shown() == "true"
                on:change=move |event| change(event_target_checked(&event).to_string())
            />
        }
        .into_any(),
    };
    view! {
        <div class="school-knob">
            <label for=id>{field.label}</label>
            {control}
            <p class="help" id=help_id>
                {field.help}
            </p>
        </div>
    }
    .into_any()
}
