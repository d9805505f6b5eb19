//! The tools of an episode, in its details: one line each, which opens.

use leptos::prelude::*;
use volary_core::tool::Tool;
use volary_episode::native::tools_to_json;
use volary_ui::CopyButton;
use volary_ui::text::inert;
use volary_view::review::tool_details::{ParameterDetail, ToolDetail};

/// Nothing for an episode without tools.
pub(super) fn tool_list(tools: &[Tool]) -> impl IntoView + use<> {
    (!tools.is_empty()).then(|| {
        let rows = tools.iter().map(|tool| tool_row(&ToolDetail::of(tool)));
        let rows = rows.collect_view();
        let tools = StoredValue::new(tools.to_vec());
        let json =
            move || tools.with_value(|tools| tools_to_json(tools).to_python_text_indented(2));
        view! {
            <section class="detail">
                <div class="pane-head">
                    <h2>{"Tools"}</h2>
                    <CopyButton text=json label="Copy as JSON"/>
                </div>
                <ul class="tool-details" role="list">
                    {rows}
                </ul>
            </section>
        }
    })
}

fn tool_row(tool: &ToolDetail) -> impl IntoView + use<> {
    let parameters = tool.parameters.iter().map(parameter_row).collect_view();
    view! {
        <li>
            <details>
                <summary>
                    <code dir="auto">{inert(&tool.signature)}</code>
                    <span class="faint" dir="auto">{inert(tool.summary())}</span>
                </summary>
                <p dir="auto">{inert(&tool.description)}</p>
                <dl class="facts">{parameters}</dl>
            </details>
        </li>
    }
}

fn parameter_row(parameter: &ParameterDetail) -> impl IntoView + use<> {
    view! {
        <div class="fact">
            <dt>
                <code dir="auto">{inert(&parameter.name)}</code>
            </dt>
            <dd>
                <span class="faint" dir="auto">{inert(&parameter.kind)}</span>
                {" "}
                <span dir="auto">{inert(&parameter.description)}</span>
            </dd>
        </div>
    }
}
