//! The form of a rule: its parts as fields.

use leptos::prelude::*;
use volary_analysis::behaviour::rules::{Rule, RuleLevel};
use volary_app::behaviour::BehaviourEvent;
use volary_app::behaviour::rule_edit::{RuleChange, RulePart, arguments_text, pattern_of};

use super::state::BehaviourState;

/// The fields of the rule at an index. They are drawn once; what is typed goes into the state, and texts that are no number or
/// no argument are not used.
pub(super) fn rule_form(state: BehaviourState, place: usize, rule: &Rule) -> AnyView {
    let change = move |change| state.update(BehaviourEvent::ChangeRule(place, change));
    let level = rule.level;
    let levels = [
        ("error", RuleLevel::Error),
        ("warning", RuleLevel::Warning),
        ("note", RuleLevel::Note),
    ];
    let options = levels.map(|(name, of)| {
        view! {
            <option value=name selected=of == level>
                {name}
            </option>
        }
    });
    let choose_level = move |event| {
        let name = event_target_value(&event);
        let level = levels.into_iter().find(|(known, _)| *known == name);
        if let Some((_, level)) = level {
            change(RuleChange::Level(level));
        }
    };
    let at_least = rule.at_least.map(|least| least.to_string());
    let changes = rule.changes.clone().unwrap_or_default();
    view! {
        <div class="rule-form">
            {text_field("Id", &rule.id, move |text| change(RuleChange::Id(text)))}
            {text_field("Title", &rule.title, move |text| change(RuleChange::Title(text)))}
            <label class="rule-field">
                <span>{"Level"}</span>
                <select on:change=choose_level>{options.collect_view()}</select>
            </label>
            <div class="rule-parts">
                {pattern_fields(state, place, rule, RulePart::When)}
                {pattern_fields(state, place, rule, RulePart::WithoutBefore)}
                {pattern_fields(state, place, rule, RulePart::After)}
                <fieldset class="rule-part">
                    <legend>{"And"}</legend>
                    {text_field(
                        "At least the n-th time",
                        &at_least.unwrap_or_default(),
                        move |text| change(RuleChange::AtLeast(text)),
                    )}
                    {text_field(
                        "Changes of the state below",
                        &changes,
                        move |text| change(RuleChange::Changes(text)),
                    )}
                </fieldset>
            </div>
        </div>
    }
    .into_any()
}

/// The title of a part, and what its fields are of.
const fn part_titles(part: RulePart) -> (&'static str, &'static str) {
    match part {
        RulePart::When => ("A call of", "Tool"),
        RulePart::WithoutBefore => ("Without an earlier call of", "Earlier tool"),
        RulePart::After => ("After a call of", "Tool before"),
    }
}

fn pattern_fields(state: BehaviourState, place: usize, rule: &Rule, part: RulePart) -> AnyView {
    let change = move |change| state.update(BehaviourEvent::ChangeRule(place, change));
    let pattern = pattern_of(rule, part).cloned().unwrap_or_default();
    let (title, tool) = part_titles(part);
    let failed = pattern.failed;
    let fails = [
        ("any", None),
        ("failed", Some(true)),
        ("worked", Some(false)),
    ];
    let options = fails.map(|(name, of)| {
        view! {
            <option value=name selected=of == failed>
                {name}
            </option>
        }
    });
    let choose_failed = move |event| {
        let name = event_target_value(&event);
        if let Some((_, failed)) = fails.into_iter().find(|(known, _)| *known == name) {
            change(RuleChange::Failed(part, failed));
        }
    };
    let same = (part != RulePart::When).then(|| {
        text_field("With the same", &pattern.same.join(", "), move |text| {
            change(RuleChange::Same(part, text));
        })
    });
    view! {
        <fieldset class="rule-part">
            <legend>{title}</legend>
            {text_field(
                tool,
                &pattern.tool.clone().unwrap_or_default(),
                move |text| change(RuleChange::Tool(part, text)),
            )}
            <label class="rule-field">
                <span>{"Arguments that contain"}</span>
                <textarea
                    rows={"2"}
                    placeholder="name: text"
                    prop:value=arguments_text(&pattern)
                    on:change=move |event| {
                        change(RuleChange::Arguments(part, event_target_value(&event)));
                    }
                ></textarea>
            </label>
            {same}
            <label class="rule-field">
                <span>{"Result"}</span>
                <select on:change=choose_failed>{options.collect_view()}</select>
            </label>
        </fieldset>
    }
    .into_any()
}

fn text_field(label: &'static str, value: &str, changed: impl Fn(String) + 'static) -> AnyView {
    view! {
        <label class="rule-field">
            <span>{label}</span>
            <input
                type="text"
                prop:value=value.to_owned()
                on:change=move |event| changed(event_target_value(&event))
            />
        </label>
    }
    .into_any()
}
