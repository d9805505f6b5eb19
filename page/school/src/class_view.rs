//! The class teaches it: hand-ins as the warm start, and what a pupil's work changes.

use leptos::prelude::*;
use volary_app::school::{ClassTeaching, SchoolEvent};
use volary_browser::files::{self, GivenFile};
use volary_browser::spawn;
use volary_protocol::school::{ClassFile, Taught};
use volary_ui::text::inert;
use volary_view::school::percent;

use super::state::SchoolState;

/// Larger files, in bytes, are no hand-ins.
const LARGEST: f64 = 8.0 * 1024.0 * 1024.0;
/// The number of left out episodes that are named.
const LISTED: usize = 40;
/// The largest number of files.
const MOST_FILES: usize = 200;

#[component]
pub(super) fn ClassView(state: SchoolState) -> impl IntoView {
    let class = Memo::new(move |_| state.school.with(|school| school.class.clone()));
    let problem = RwSignal::new(None::<String>);
    let is_teaching = Memo::new(move |_| class.with(|class| class.is_teaching));
    let open = move |_| {
        files::pick(".json,.jsonl", move |picked| {
            spawn(async move {
                match read(picked).await {
                    Ok(files) => {
                        problem.set(None);
                        state.send(SchoolEvent::TakeClass(files));
                    }
                    Err(reason) => problem.set(Some(reason)),
                }
            });
        });
    };
    let status = move || {
        if is_teaching.get() {
            "The work is played again, and the agent imitates it…".to_owned()
        } else {
            class.with(summary)
        }
    };
    let results = move || class.with(|class| results(state, class));
    let pupils = move || class.with(|class| pupils(state, class, is_teaching));
    let left_out = move || class.with(left_out);
    view! {
        <section aria-label="The class teaches it">
            <h2>{"The class teaches it"}</h2>
            <p class="help">
                {"Before its training the agent imitates a bad student. Let it imitate your pupils too: open their hand-ins, or files of \
                 episodes. The files stay in this browser, and a link does not hold them. Of a task in words the agent reads the last \
                 calculation only."}
            </p>
            <div class="button-row">
                <button type="button" disabled=move || is_teaching.get() on:click=open>
                    {"Open hand-ins"}
                </button>
            </div>
            <p role="status" aria-label="Class">
                {status}
            </p>
            {move || problem.get().map(|problem| view! { <p role="alert">{problem}</p> })}
            {results}
            {pupils}
            {left_out}
        </section>
    }
}

async fn read(picked: Vec<GivenFile>) -> Result<Vec<ClassFile>, String> {
    if picked.len() > MOST_FILES {
        return Err(format!(
            "These are {} files; at most {MOST_FILES} can be opened at once.",
            picked.len()
        ));
    }
    let mut files = Vec::new();
    for file in picked {
        if file.size > LARGEST {
            return Err(format!(
                "{} has more than 8 MB, which is no hand-in. Open the files of your pupils.",
                file.name
            ));
        }
        let bytes = file.read().await?;
        files.push(ClassFile {
            name: file.name.into(),
            text: String::from_utf8_lossy(&bytes).as_ref().into(),
        });
    }
    Ok(files)
}

fn summary(class: &ClassTeaching) -> String {
    let Some(result) = class.results.first() else {
        return String::new();
    };
    match (result.pupils.len(), result.examples) {
        (0, _) => "None of the work fits, so the warm start is as it was.".to_owned(),
        (1, examples) => format!("1 pupil, {examples} episodes that fit."),
        (pupils, examples) => format!("{pupils} pupils, {examples} episodes that fit."),
    }
}

fn who(result: &Taught) -> String {
    match &result.without {
        None => "All pupils".to_owned(),
        Some(pupil) => format!("Without {pupil}"),
    }
}

/// A table: what the warm start solves with and without pupils.
fn results(state: SchoolState, class: &ClassTeaching) -> Option<AnyView> {
    let first = class
        .results
        .first()
        .filter(|result| !result.pupils.is_empty())?;
    let (before, tasks, used) = (first.before, first.tasks, class.used);
    let begin = move |index: Option<usize>| {
        let is_used = used == index;
        view! {
            <button
                type="button"
                class="small"
                aria-pressed=is_used.to_string()
                on:click=move |_| state.send(SchoolEvent::UseTaught(index))
            >
                {if is_used { "In use" } else { "Begin with it" }}
            </button>
        }
    };
    let rows = class.results.iter().enumerate().map(|(index, result)| {
        view! {
            <tr>
                <th scope="row" dir="auto">
                    {inert(&who(result))}
                </th>
                <td class="number">{percent(result.success)}</td>
                <td>{begin(Some(index))}</td>
            </tr>
        }
    });
    Some(
        view! {
            <div class="school-table">
                <table aria-label="Warm starts">
                    <thead>
                        <tr>
                            <th scope="col">{"Warm start"}</th>
                            <th scope="col">{"Solves"}</th>
                            <th scope="col">{"Train"}</th>
                        </tr>
                    </thead>
                    <tbody>
                        <tr>
                            <th scope="row">{"The student alone"}</th>
                            <td class="number">{percent(before)}</td>
                            <td>{begin(None)}</td>
                        </tr>
                        {rows.collect_view()}
                    </tbody>
                </table>
            </div>
            <p class="help">
                {format!(
                    "Of {tasks} new tasks, at temperature 1. Differences of one or two percent may be chance.",
                )}
            </p>
        }
        .into_any(),
    )
}

/// The pupils, each to be left out.
fn pupils(state: SchoolState, class: &ClassTeaching, is_teaching: Memo<bool>) -> Option<AnyView> {
    let first = class
        .results
        .first()
        .filter(|result| result.pupils.len() > 1)?;
    let rows = first.pupils.iter().map(|(pupil, episodes)| {
        let name = pupil.clone();
        let label = format!("{pupil} ({episodes})");
        view! {
            <li>
                <button
                    type="button"
                    class="small"
                    disabled=move || is_teaching.get()
                    on:click=move |_| state.send(SchoolEvent::LeaveOut(name.clone()))
                >
                    {inert(&label)}
                </button>
            </li>
        }
    });
    Some(
        view! {
            <h3>{"Leave one out"}</h3>
            <ul class="school-pupils" role="list" aria-label="Leave one out">
                {rows.collect_view()}
            </ul>
        }
        .into_any(),
    )
}

fn left_out(class: &ClassTeaching) -> Option<AnyView> {
    let first = class
        .results
        .first()
        .filter(|result| !result.left_out.is_empty())?;
    let count = first.left_out.len();
    let more = count.saturating_sub(LISTED);
    let more = (more > 0).then(|| view! { <li>{format!("and {more} more")}</li> });
    let rows = first.left_out.iter().take(LISTED).map(|work| {
        let text = format!("{}, {}: {}", work.pupil, work.title, work.reason);
        view! { <li dir="auto">{inert(&text)}</li> }
    });
    Some(
        view! {
            <details class="school-left-out">
                <summary>{format!("Left out: {count}")}</summary>
                <ul>{rows.collect_view()} {more}</ul>
            </details>
        }
        .into_any(),
    )
}
