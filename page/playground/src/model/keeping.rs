//! Persists the settings of the model policy between visits: the values of its three forms. API keys are not among
//! them.

use leptos::prelude::*;
use volary_core::json;
use volary_core::json::Json;
use volary_view::form::Form;

use super::settings::{asking_form_of, limits_form, sampling_form};
use super::state::ModelState;
use volary_browser::shared::{Shared, Unsaved};

thread_local! {
    static KEPT: Shared<Json> = Shared::new(
        "model-settings",
        |text| value_of(forms_of(&json::read(text).ok()?).each_ref()),
        Json::to_compact_text,
        |_| {},
    );
}

/// The stored forms: connection, sampling and limits.
pub(super) fn forms() -> [Form; 3] {
    KEPT.with(Shared::signal).with_untracked(forms_of)
}

/// Whether changes of the settings are only in memory.
pub(super) fn unsaved() -> Unsaved {
    KEPT.with(Shared::unsaved)
}

/// The stored form of valid forms.
fn value_of(forms: [&Form; 3]) -> Option<Json> {
    let [asking, sampling, limits] = forms.map(|form| form.value().ok());
    Some(json!({"asking": (asking?), "sampling": (sampling?), "limits": (limits?)}))
}

fn forms_of(kept: &Json) -> [Form; 3] {
    let filled = |empty: Form, key: &str| match kept.get(key) {
        Some(value) => {
            let form = Form::with_value(empty.schema().clone(), value);
            // A value that an older version stored, or a foreign one, is dropped if the fields cannot hold it.
            if form.is_raw() { empty } else { form }
        }
        None => empty,
    };
    [
        kept.get("asking")
            .and_then(asking_form_of)
            .unwrap_or_else(|| super::settings::asking_form(&[], &[])),
        filled(sampling_form(), "sampling"),
        filled(limits_form(), "limits"),
    ]
}

/// Stores the forms on every change from now on, whenever they are valid.
pub(super) fn keep(state: ModelState) {
    let former = StoredValue::new(Json::Null);
    Effect::new(move |_| {
        let (asking, sampling, limits) = (
            state.asking.read(),
            state.sampling.read(),
            state.limits.read(),
        );
        let Some(value) = value_of([&asking, &sampling, &limits]) else {
            return;
        };
        if former.with_value(|former| *former != value) {
            former.set_value(value.clone());
            KEPT.with(|kept| kept.change(|kept| *kept = value));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_settings_return_and_malformed_ones_are_dropped() {
        let kept = json!({
            "asking": {"Connection": "A", "System prompt": "Hi", "Tool choice": "tool: f"},
            "sampling": {"Temperature": 0.5},
            "limits": {"Maximum steps": 3}
        });
        let [asking, sampling, limits] = forms_of(&kept).map(|form| form.value().ok());
        assert_eq!(asking.as_ref(), kept.get("asking"));
        assert_eq!(sampling.as_ref(), kept.get("sampling"));
        assert_eq!(limits.as_ref(), kept.get("limits"));
        let nonsense = json!({"asking": 1, "sampling": {"Temperature": "hot"}, "limits": []});
        let fresh = forms_of(&json!({}));
        for kept in [nonsense, Json::Null] {
            let forms = forms_of(&kept);
            assert!(
                forms
                    .iter()
                    .zip(&fresh)
                    .all(|(form, fresh)| form.value() == fresh.value())
            );
        }
    }
}
