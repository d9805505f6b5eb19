//! The steps of a run: a player chooses an action, the environment takes it, and after a pause the next one follows.
//!
//! Invariants: no action is taken after the run was stopped or replaced. An action that did not become a step ends the
//! run, because the player would choose from the same state again, without end.

use std::sync::Arc;
use std::time::Duration;

use volary_agent::rollout::Stop;
use volary_app::notice::Notice;
use volary_app::playground::chosen_action::ChosenAction;
use volary_episode::Episode;

use super::player::{Move, Player};

/// What a run needs from the playground.
pub(super) trait RunHost {
    /// Whether the run is still the current one.
    fn is_current(&self) -> bool;

    /// Whether the run is the current one, and was not asked to stop.
    fn goes_on(&self) -> bool;

    /// The shown episode.
    fn episode(&self) -> Arc<Episode>;

    /// Awaits a future, or returns `None` as soon as the user stops the run.
    async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T>;

    /// Takes an action. Returns whether it became a step.
    async fn take(&self, action: ChosenAction) -> bool;

    async fn sleep(&self, duration: Duration);
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RunEnd {
    /// The user stopped it, another episode replaced it, or its single step was taken.
    Over,
    /// The action was not taken. The reason was already shown.
    NotTaken,
    /// The player stopped.
    Stopped(Stop),
    /// The player failed.
    Failed(Notice),
}

/// Lets a player act until the run ends. With `once`, it ends after one action.
pub(super) async fn run_steps(
    host: &impl RunHost,
    player: &mut dyn Player,
    delay: Duration,
    once: bool,
) -> RunEnd {
    while host.goes_on() {
        let playing = player.play(host.episode());
        let Some(next) = host.unless_stopped(playing).await else {
            player.stopped();
            return RunEnd::Over;
        };
        if !host.is_current() {
            return RunEnd::Over;
        }
        match next {
            Move::Act(action) => {
                if !host.take(*action).await {
                    return RunEnd::NotTaken;
                }
            }
            Move::Stop(stop) => return RunEnd::Stopped(stop),
            Move::Failed(notice) => return RunEnd::Failed(notice),
        }
        // Stopped during the step: a pause now would delay the end.
        if once || !host.goes_on() {
            return RunEnd::Over;
        }
        if !delay.is_zero() && host.unless_stopped(host.sleep(delay)).await.is_none() {
            return RunEnd::Over;
        }
    }
    RunEnd::Over
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use futures_util::FutureExt;
    use futures_util::future::LocalBoxFuture;
    use volary_core::json::Text;
    use volary_core::{AnyMessage, ToolRequestMessage};
    use volary_episode::Ending;

    use super::*;

    /// What happened in a run, in order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Event {
        Asked,
        Cancelled,
        Taken,
        Slept,
    }

    /// What ends a run from outside.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Outside {
        Stop,
        Replace,
    }

    type Log = Rc<RefCell<Vec<Event>>>;

    /// A playground in which something happens after the events of a log.
    #[derive(Default)]
    struct Host {
        log: Log,
        /// The number of events after which the run is stopped or replaced.
        end: Option<(usize, Outside)>,
        /// The number of actions that the environment takes.
        takes: usize,
    }

    impl Host {
        fn ended(&self) -> Option<Outside> {
            let (after, outside) = self.end?;
            (self.log.borrow().len() >= after).then_some(outside)
        }
    }

    impl RunHost for Host {
        fn is_current(&self) -> bool {
            self.ended() != Some(Outside::Replace)
        }

        fn goes_on(&self) -> bool {
            self.ended().is_none()
        }

        fn episode(&self) -> Arc<Episode> {
            Arc::default()
        }

        async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
            let result = future.await;
            // Whatever stops a run aborts its future.
            self.ended().is_none().then_some(result)
        }

        async fn take(&self, _: ChosenAction) -> bool {
            let taken = self
                .log
                .borrow()
                .iter()
                .filter(|event| **event == Event::Taken)
                .count();
            if taken == self.takes {
                return false;
            }
            self.log.borrow_mut().push(Event::Taken);
            true
        }

        async fn sleep(&self, _: Duration) {
            self.log.borrow_mut().push(Event::Slept);
        }
    }

    /// A player that acts, and ends in its own way after some actions.
    struct Scripted {
        log: Log,
        acts: usize,
        last: fn() -> Move,
    }

    fn act() -> Move {
        let message = AnyMessage::from(ToolRequestMessage::default());
        Move::Act(Box::new(message.into()))
    }

    impl Player for Scripted {
        fn name(&self) -> Text {
            "scripted".into()
        }

        fn play(&mut self, _: Arc<Episode>) -> LocalBoxFuture<'_, Move> {
            self.log.borrow_mut().push(Event::Asked);
            let acts = self.acts > 0;
            self.acts = self.acts.saturating_sub(1);
            let next = if acts { act() } else { (self.last)() };
            async move { next }.boxed_local()
        }

        fn stopped(&mut self) {
            self.log.borrow_mut().push(Event::Cancelled);
        }
    }

    /// Runs a player that acts without end unless `acts` are given.
    fn run(
        host: &Host,
        acts: usize,
        last: fn() -> Move,
        delay: u64,
        once: bool,
    ) -> (RunEnd, Vec<Event>) {
        let log = Rc::clone(&host.log);
        let mut player = Scripted { log, acts, last };
        let delay = Duration::from_secs(delay);
        let end = run_steps(host, &mut player, delay, once).now_or_never();
        let events = host.log.borrow().clone();
        (end.expect("nothing is awaited"), events)
    }

    fn limit() -> Move {
        Move::Stop(Stop {
            ending: Ending::Done,
            reason: "limit".into(),
        })
    }

    fn failure() -> Move {
        Move::Failed(Notice::new("It failed.", "away", "Try again."))
    }

    #[test]
    fn a_player_acts_until_it_stops_or_fails() {
        use Event::{Asked, Slept, Taken};
        let host = || Host {
            takes: 9,
            ..Host::default()
        };
        let (end, events) = run(&host(), 2, limit, 0, false);
        assert!(matches!(end, RunEnd::Stopped(stop) if &*stop.reason == "limit"));
        assert_eq!(events, [Asked, Taken, Asked, Taken, Asked]);
        let (end, events) = run(&host(), 1, failure, 1, false);
        assert!(matches!(end, RunEnd::Failed(_)));
        assert_eq!(events, [Asked, Taken, Slept, Asked]);
    }

    #[test]
    fn a_single_step_neither_waits_nor_asks_again() {
        let host = Host {
            takes: 9,
            ..Host::default()
        };
        let (end, events) = run(&host, 5, limit, 1, true);
        assert_eq!(end, RunEnd::Over);
        assert_eq!(events, [Event::Asked, Event::Taken]);
    }

    #[test]
    fn an_action_that_is_not_taken_ends_the_run() {
        for takes in 0..3 {
            let host = Host {
                takes,
                ..Host::default()
            };
            let (end, events) = run(&host, usize::MAX, limit, 0, false);
            assert_eq!(end, RunEnd::NotTaken);
            assert_eq!(events.len(), 2 * takes + 1);
        }
    }

    #[test]
    fn nothing_is_asked_of_a_run_that_is_over() {
        for outside in [Outside::Stop, Outside::Replace] {
            let host = Host {
                end: Some((0, outside)),
                ..Host::default()
            };
            assert_eq!(run(&host, 5, limit, 0, false), (RunEnd::Over, vec![]));
        }
    }

    #[test]
    fn no_action_is_taken_after_a_run_has_ended() {
        // The events of a run with pauses are Asked, Taken, Slept, and again.
        for outside in [Outside::Stop, Outside::Replace] {
            for after in 1..10 {
                let host = Host {
                    end: Some((after, outside)),
                    takes: usize::MAX,
                    ..Host::default()
                };
                let (end, events) = run(&host, usize::MAX, limit, 1, false);
                assert_eq!(end, RunEnd::Over);
                // A request in progress is cancelled; nothing else follows.
                let (asked, cancelled) = events.split_at(after);
                let is_asking = asked.last() == Some(&Event::Asked);
                let expected: &[Event] = if is_asking { &[Event::Cancelled] } else { &[] };
                assert_eq!(cancelled, expected, "{outside:?} after {after}");
            }
        }
    }
}
