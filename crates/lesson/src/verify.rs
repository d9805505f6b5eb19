//! Verifies that a lesson can be followed: plays its episodes, and checks that the solution of each task meets its
//! checks.

use std::rc::Rc;

use volary_agent::{Cancel, Limits, Oracle, Runner, Student, rollout};
use volary_app::playground::tasks::TaskSource;
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Clock};
use volary_episode::{Episode, Recipe};

use crate::goal::Goal;
use crate::lesson::{Lesson, Play, Problem, Recording};

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
    problems
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
            Goal::Step(_) => {}
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
