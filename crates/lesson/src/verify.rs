//! Verifies that a lesson can be followed: plays its episodes, and checks that the solution of each task meets its
//! checks.

use std::rc::Rc;

use volary_agent::{Cancel, Limits, Oracle, Runner, Student, rollout};
use volary_app::playground::tasks::TaskSource;
use volary_app::school::{FactSet, FactTracker, SchoolFact};
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Clock};
use volary_episode::{Episode, Recipe};
use volary_school::{Run, findings, link, shipped};

use crate::goal::Goal;
use crate::lesson::{Lesson, Play, Problem, Recording};
use crate::school_block::SchoolBlock;

/// The number of updates after which what a check asks for has to have happened.
const MOST_UPDATES: usize = 200;

/// Plays all episodes and solutions of a lesson, and returns the problems.
pub async fn verify(
    lesson: &Lesson,
    registry: &Registry,
    sources: &[TaskSource],
    clock: Rc<dyn Clock>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for play in lesson.plays() {
        if let Err(problem) = verify_play(lesson, play, registry, sources, &clock).await {
            problems.push(problem);
        }
    }
    for block in lesson.school_blocks() {
        problems.extend(verify_school(lesson, block));
    }
    problems
}

/// Trains with the settings of a task, and repairs what the checks find, until everything that its checks ask for happened.
fn verify_school(lesson: &Lesson, block: &SchoolBlock) -> Vec<Problem> {
    let mut facts = FactSet::default();
    let mut wanted: Vec<(usize, SchoolFact)> = lesson
        .checks()
        .filter(|check| check.of == block.id)
        .filter_map(|check| match &check.goal {
            Goal::School(facts) => Some((check.line, facts)),
            _ => None,
        })
        .flat_map(|(line, facts)| facts.iter().map(move |fact| (line, *fact)))
        // What a person does on the page is always possible.
        .filter(|(_, fact)| !matches!(fact, SchoolFact::Did(_)))
        .collect();
    let failed = |error: String| vec![Problem::new(block.line, error)];
    let begun = link::from_query(&block.settings).map_err(|error| error.to_string());
    let begun = begun.and_then(|knobs| {
        let start = shipped(&knobs.environment).map_err(|error| error.to_string())?;
        Run::new(knobs, start).map_err(|error| error.to_string())
    });
    let mut run = match begun {
        Ok(run) => run,
        Err(error) => return failed(error),
    };
    let (mut tracker, mut history, mut changed) = (FactTracker::default(), Vec::new(), None);
    while !wanted.is_empty() && history.len() < MOST_UPDATES {
        match run.update() {
            Ok(update) => history.push(update.metrics),
            Err(error) => return failed(error.to_string()),
        }
        for fact in tracker.observe(&history, changed) {
            facts.add(fact);
        }
        wanted.retain(|(_, fact)| !facts.has(*fact));
        let mut knobs = run.knobs().clone();
        for finding in findings(&history) {
            finding.repair(&mut knobs);
        }
        if knobs != *run.knobs() {
            if let Err(error) = run.set_knobs(knobs) {
                return failed(error.to_string());
            }
            changed = Some(history.len());
        }
    }
    let unmet = wanted.into_iter().map(|(line, fact)| {
        Problem::new(
            line,
            format!(
                "after {MOST_UPDATES} updates with the settings of \"{}\", and every repair, it did not happen: {}",
                block.id,
                fact.describe()
            ),
        )
    });
    unmet.collect()
}

async fn verify_play(
    lesson: &Lesson,
    play: &Play,
    registry: &Registry,
    sources: &[TaskSource],
    clock: &Rc<dyn Clock>,
) -> Result<(), Problem> {
    let recipe = play.recipe(registry, sources)?;
    let shown = recorded(play, &recipe, registry, clock).await?;
    let checks = lesson.checks().filter(|check| check.of == play.id);
    for check in checks {
        match &check.goal {
            Goal::Step(step) if *step > shown.steps.len() => {
                return Err(Problem::new(
                    check.line,
                    format!(
                        "the episode has {} steps, so step {step} cannot be found",
                        shown.steps.len()
                    ),
                ));
            }
            Goal::Step(_) | Goal::School(_) => {}
            goal if goal.is_met(&shown, None) => {
                return Err(Problem::new(
                    check.line,
                    "the check is met before the reader has done anything",
                ));
            }
            _ if play.solution.is_empty() => {
                return Err(Problem::new(
                    check.line,
                    format!(
                        "the task \"{}\" has no \"solution\" that shows that the check can be met",
                        play.id
                    ),
                ));
            }
            goal => {
                let solved = played(play, &recipe, play.solved(), registry, clock).await?;
                if !goal.is_met(&solved, None) {
                    return Err(Problem::new(
                        check.line,
                        format!(
                            "the solution of \"{}\" does not meet the check: {} steps, reward {}, {}",
                            play.id,
                            solved.steps.len(),
                            solved.total_reward(),
                            if solved.is_over() { "over" } else { "not over" }
                        ),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Plays the recording of an episode or a task.
pub async fn recorded(
    play: &Play,
    recipe: &Recipe,
    registry: &Registry,
    clock: &Rc<dyn Clock>,
) -> Result<Episode, Problem> {
    let mut episode = played(play, recipe, play.recorded(), registry, clock).await?;
    if let Recording::Student { fault, seed, steps } = &play.recording {
        let oracle = registry.environment(&recipe.environment);
        let oracle = oracle.ok().and_then(|entry| Oracle::new(entry).ok());
        let mut student = Student::new(*fault, *seed, oracle);
        let opened = Runner::open(registry, recipe, Rc::clone(clock)).await;
        let (mut runner, _) = opened.map_err(|error| Problem::new(play.line, error.to_string()))?;
        let limits = Limits { max_steps: *steps };
        rollout(
            &mut runner,
            &mut episode,
            &mut student,
            &limits,
            &Cancel::default(),
            &mut |_| {},
        )
        .await
        .map_err(|error| Problem::new(play.line, error.to_string()))?;
        // A local environment holds no resources.
        let _ = runner.close().await;
    }
    Ok(episode)
}

async fn played(
    play: &Play,
    recipe: &Recipe,
    actions: Vec<AnyMessage>,
    registry: &Registry,
    clock: &Rc<dyn Clock>,
) -> Result<Episode, Problem> {
    let failed = |error: String| {
        Problem::new(
            play.line,
            format!("\"{}\" cannot be played: {error}", play.id),
        )
    };
    let opened = Runner::open(registry, recipe, Rc::clone(clock)).await;
    let (mut runner, opening) = opened.map_err(|error| failed(error.to_string()))?;
    let mut episode = opening.episode(recipe.clone());
    let count = actions.len();
    for (place, action) in actions.into_iter().enumerate() {
        if episode.is_over() {
            return Err(failed(format!(
                "it is over after {place} of {count} actions"
            )));
        }
        let stepped = runner
            .step(action)
            .await
            .map_err(|error| failed(error.to_string()))?;
        let recorded = episode.record(stepped.record, stepped.frame);
        recorded.map_err(|error| failed(error.to_string()))?;
    }
    // A local environment holds no resources.
    let _ = runner.close().await;
    Ok(episode)
}

#[cfg(test)]
mod tests;
