//! Decides whether an episode may run immediately or only after the user's consent. Pure.
//!
//! Invariant: content (an address, a file, a stored episode) never starts a run on a task dataset server by itself. The
//! user first sees which server it is and what would be sent to it, and agrees with a click.

use volary_core::{AnyMessage, ToolRequestMessage};
use volary_episode::passages::call_text;
use volary_episode::{Episode, Recipe};
use volary_remote::task;

/// The origin of an environment's choice and of its actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Author {
    /// The user, in this page.
    #[default]
    User,
    /// A link, a file or a stored episode, which may come from anybody.
    Content,
}

/// The relation of an environment to this page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A built-in environment, which runs in a worker of the browser.
    Local,
    /// An environment on a server that the user connected to.
    Connected,
    /// An environment on another server.
    NotConnected,
    /// An unknown environment.
    Unknown,
}

/// How to handle a request to run an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestDecision {
    /// Run it.
    Run,
    /// Show the plan and ask for consent.
    Ask,
    /// Report that the server has to be connected first.
    NotConnected,
    /// Report that the environment does not exist.
    Unknown,
}

/// An episode that waits for the user's consent.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedEpisode {
    pub recipe: Recipe,
    /// The actions to take, in order.
    pub actions: Vec<AnyMessage>,
    /// The continuation after consent.
    pub then: Then,
}

/// The continuation of a planned episode after the user's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Open a new episode at this step; at the last one if `None`.
    Open(Option<usize>),
    /// Open the task of the shown record again.
    Reset,
    /// Allow the shown record to run, and continue with this.
    Resume(EpisodeAttempt),
}

/// What a user wants to do with the shown episode. On a record it runs the recorded actions again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeAttempt {
    /// Send the composed action, or let the model choose one.
    Step,
    /// Send the composed action.
    StepByHand,
    /// Go back before the last action and edit it.
    EditLastAction,
    /// Go back to this step.
    GoBack(usize),
    /// Let the policy act.
    Run,
    /// Repeat the last request to the policy.
    RunAgain,
}

/// Decides how to handle an episode that `author` wants to run.
pub fn judge(author: Author, reach: Reach) -> RequestDecision {
    match (reach, author) {
        (Reach::Local, _) | (Reach::Connected, Author::User) => RequestDecision::Run,
        (Reach::Connected, Author::Content) => RequestDecision::Ask,
        (Reach::NotConnected, _) => RequestDecision::NotConnected,
        (Reach::Unknown, _) => RequestDecision::Unknown,
    }
}

/// Whether the shown episode may run again, which repeats its actions.
pub fn may_rerun(author: Author, episode: &Episode) -> bool {
    let recipe = episode.recipe.as_ref();
    author == Author::User || recipe.is_none_or(|recipe| !task::is_server(&recipe.environment))
}

impl EpisodeAttempt {
    /// The number of recorded actions that the attempt repeats in a new environment.
    pub fn repeated_actions(self, episode: &Episode) -> usize {
        let steps = episode.steps.len();
        match self {
            EpisodeAttempt::GoBack(to) => to.min(steps),
            EpisodeAttempt::EditLastAction => steps.saturating_sub(1),
            EpisodeAttempt::Step
            | EpisodeAttempt::StepByHand
            | EpisodeAttempt::Run
            | EpisodeAttempt::RunAgain => steps,
        }
    }
}

impl PlannedEpisode {
    /// Plans the shown record for an action of the user that runs it again. Copies the actions.
    pub fn of_record(episode: &Episode, wanted: EpisodeAttempt) -> Option<PlannedEpisode> {
        let recipe = episode.recipe.clone()?;
        let count = wanted.repeated_actions(episode);
        Some(PlannedEpisode {
            recipe,
            actions: episode.actions().take(count).cloned().collect(),
            then: Then::Resume(wanted),
        })
    }

    /// The task as it would be requested from the server; `None` if the server chooses.
    pub fn task(&self) -> Option<String> {
        let configuration = &self.recipe.configuration;
        (!configuration.is_empty())
            .then(|| volary_core::Json::Object(configuration.clone()).to_compact_text())
    }
}

/// The display lines of an action: its text, and each call with its arguments.
pub fn action_lines(action: &AnyMessage) -> Vec<String> {
    let body = action.body();
    let words = body.content.iter().map(|text| text.to_string());
    let mut lines: Vec<String> = words.filter(|words| !words.trim().is_empty()).collect();
    if let AnyMessage::Request(ToolRequestMessage { tool_calls, .. }) = action {
        lines.extend(tool_calls.iter().map(call_text));
    }
    if lines.is_empty() {
        lines.push("no call".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use volary_core::message::Body;
    use volary_core::tool::ToolCallFunction;
    use volary_core::{ToolCall, object};
    use volary_episode::StepRecord;

    use super::*;

    fn action(name: &str) -> AnyMessage {
        let call = ToolCall {
            function: ToolCallFunction {
                name: name.into(),
                arguments: object!({"command": "rm -rf /"}),
            },
            ..ToolCall::default()
        };
        ToolRequestMessage {
            body: Body::default(),
            tool_calls: vec![call],
        }
        .into()
    }

    fn record(environment: &str, steps: usize) -> Episode {
        let step = |number: usize| StepRecord {
            action: action(&format!("tool{number}")),
            outcome: volary_episode::Outcome::Failed { message: "".into() },
            seconds: None,
            details: Default::default(),
            extras: Default::default(),
        };
        Episode {
            recipe: Some(Recipe {
                environment: environment.into(),
                configuration: object!({"task_idx": 3}),
                ..Recipe::default()
            }),
            steps: (0..steps).map(step).collect(),
            ..Episode::default()
        }
    }

    #[test]
    fn content_alone_runs_nothing_on_a_server() {
        for (author, reach, verdict) in [
            (Author::User, Reach::Local, RequestDecision::Run),
            (Author::Content, Reach::Local, RequestDecision::Run),
            (Author::User, Reach::Connected, RequestDecision::Run),
            (Author::Content, Reach::Connected, RequestDecision::Ask),
            (
                Author::User,
                Reach::NotConnected,
                RequestDecision::NotConnected,
            ),
            (
                Author::Content,
                Reach::NotConnected,
                RequestDecision::NotConnected,
            ),
            (Author::User, Reach::Unknown, RequestDecision::Unknown),
            (Author::Content, Reach::Unknown, RequestDecision::Unknown),
        ] {
            assert_eq!(judge(author, reach), verdict, "{author:?} {reach:?}");
        }
    }

    #[test]
    fn a_record_of_a_server_is_run_again_by_its_user_alone() {
        let server = record("https://env.example", 2);
        assert!(!may_rerun(Author::Content, &server));
        assert!(may_rerun(Author::User, &server));
        assert!(may_rerun(Author::Content, &record("counter", 2)));
    }

    #[test]
    fn a_plan_holds_what_would_be_sent() {
        let server = record("https://env.example", 3);
        for (wanted, count) in [
            (EpisodeAttempt::GoBack(1), 1),
            (EpisodeAttempt::EditLastAction, 2),
            (EpisodeAttempt::Step, 3),
            (EpisodeAttempt::StepByHand, 3),
            (EpisodeAttempt::Run, 3),
            (EpisodeAttempt::RunAgain, 3),
        ] {
            let plan = PlannedEpisode::of_record(&server, wanted).unwrap();
            assert_eq!(plan.actions.len(), count, "{wanted:?}");
            assert_eq!(plan.task().as_deref(), Some(r#"{"task_idx":3}"#));
        }
        assert_eq!(
            PlannedEpisode::of_record(&Episode::default(), EpisodeAttempt::Step),
            None
        );
        assert_eq!(
            action_lines(&action("shell")),
            [r#"shell {"command":"rm -rf /"}"#]
        );
        assert_eq!(
            action_lines(&ToolRequestMessage::default().into()),
            ["no call"]
        );
    }
}
