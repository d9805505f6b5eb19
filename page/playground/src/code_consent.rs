//! Shows the Python code that a link or a file contains, so that the user can read it before agreeing to run it.

use leptos::prelude::*;
use volary_core::Json;
use volary_episode::Recipe;
use volary_remote::task::PYTHON_CODE;

use volary_app::python::files::PythonSource;
use volary_ui::text::inert;

/// The title of a dialog with [`code_consent`].
pub const TITLE: &str = "Run this Python code?";

/// Renders the code of a recipe and a list of what it can and cannot access.
pub fn code_consent(recipe: &Recipe) -> AnyView {
    let code = recipe.configuration.get(PYTHON_CODE);
    let code = code.and_then(Json::as_text).cloned().unwrap_or_default();
    let wheels = wheel_note(recipe).map(|words| view! { <p>{inert(&words)}</p> });
    view! {
        <p>
            "It came with a link or a file. It runs sandboxed in your browser: it cannot use the "
            "network, read your episodes, keys or cookies, or leave its frame. Its answers are "
            "shown here and sent to the model that you chose. It can keep your processor busy: "
            "Stop ends it at once."
        </p>
        <pre class="plan-code" role="region" tabindex="0" aria-label="Code">
            {inert(&code)}
        </pre>
        {wheels}
    }
    .into_any()
}

/// Names the wheels that a recipe needs, which neither links nor files contain. Returns `None` if it needs none.
pub fn wheel_note(recipe: &Recipe) -> Option<String> {
    let source = PythonSource::of_recipe(recipe).ok()?;
    let names: Vec<&str> = source.wheels.iter().map(|wheel| &*wheel.name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "It needs {}, which links and files do not contain. Whoever plays it drops the same file on the editor of \
             the environment.",
            names.join(", ")
        )
    })
}
