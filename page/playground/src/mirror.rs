//! Sets the signals that show the state machine. The episode and its session are drawn by [`super::redraws`].

use std::sync::Arc;

use leptos::prelude::*;

use super::state::Playground;

/// Sets each signal whose value in the machine is another one.
pub(crate) fn show_machine(playground: Playground) {
    let (edition, selected, run, policy, former) = playground.with_untracked(|machine| {
        (
            machine.edition(),
            machine.selected(),
            machine.current_run(),
            machine.policy(),
            machine.former().cloned(),
        )
    });
    let is_replaced = playground.edition().get_untracked() != edition;
    if playground.selected().get_untracked() != selected {
        *playground.selected().write_untracked() = selected;
    }
    if is_replaced {
        playground.edition().set(edition);
        playground.selected().notify();
    }
    let setup = playground.setup();
    let (environment, sources, task) = playground.with_untracked(|machine| {
        let setup = machine.setup();
        (
            setup.environment().clone(),
            Arc::clone(setup.sources()),
            setup.task(),
        )
    });
    if !setup
        .sources
        .with_untracked(|shown| Arc::ptr_eq(shown, &sources))
    {
        setup.sources.set(sources);
    }
    if setup
        .environment
        .with_untracked(|shown| *shown != environment)
    {
        setup.environment.set(environment);
    }
    if setup.task.get_untracked() != task {
        setup.task.set(task);
    }
    let settings = playground.policy();
    if settings.run.get_untracked() != run {
        settings.run.set(run);
    }
    if settings.kind.get_untracked() != policy {
        settings.kind.set(policy);
    }
    let same = playground
        .former()
        .with_untracked(|shown| match (shown, &former) {
            (Some(shown), Some(former)) => Arc::ptr_eq(shown, former),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        });
    if !same {
        playground.former().set(former);
    }
    let is_same = playground.planned().with_untracked(|shown| {
        playground.with_untracked(|machine| shown.as_ref() == machine.planned())
    });
    if !is_same {
        let planned = playground.with_untracked(|machine| machine.planned().cloned());
        playground.planned().set(planned);
    }
}
