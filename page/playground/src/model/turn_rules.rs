//! What a turn of the model asks for, counts and becomes. Pure.

use volary_agent::model::limits::{Exhausted, Spent};
use volary_agent::model::selector::ToolSelector;
use volary_agent::model::{Answer, Connection, ModelError, ModelRequest, select};
use volary_agent::rollout::Stop;
use volary_app::notice::Notice;
use volary_app::playground::Event;
use volary_app::playground::player_move::Move;
use volary_core::json::{Object, Text};
use volary_core::message::{Message, Role};
use volary_core::{AnyMessage, ToolRequestMessage};
use volary_episode::{Ending, Episode, call_id};

use super::settings::Settings;

/// The request for the next action of an episode.
pub(super) fn request(
    connection: &Connection,
    settings: &Settings,
    episode: &Episode,
) -> ModelRequest {
    let prompt = settings.system_prompt.clone();
    let told = prompt.map(|prompt| AnyMessage::Plain(Message::new(Role::System, prompt)));
    let mut request = ModelRequest {
        model: connection.model.clone(),
        messages: told
            .into_iter()
            .chain(episode.messages().cloned())
            .collect(),
        tools: episode.tools.clone(),
        tool_choice: Some(settings.tool_choice.clone()),
        stream: true,
        ..ModelRequest::default()
    };
    settings.sampling.apply(&mut request);
    request
}

/// Usage that counts against the limits: the episode's steps, tokens and cost, those of answers that did not become a
/// step, and the seconds of the run.
pub(super) fn spent(lost: Spent, episode: &Episode, seconds: f64) -> Spent {
    let mut spent = lost;
    for usage in episode.steps.iter().filter_map(|step| step.details.usage) {
        spent.add(&Spent {
            tokens: usage
                .input
                .unwrap_or_default()
                .saturating_add(usage.output.unwrap_or_default()),
            cost: usage.cost,
            ..Spent::default()
        });
    }
    spent.steps = episode.steps.len() as u64;
    spent.seconds = seconds;
    spent
}

/// Adds the usage of an answer that does not become a step: the difference of what was spent before and after it.
pub(super) fn lose(lost: &mut Spent, before: &Spent, after: &Spent) {
    lost.tokens += after.tokens.saturating_sub(before.tokens);
    let more = after
        .cost
        .zip(before.cost)
        .map(|(after, before)| after - before);
    lost.cost = lost.cost.zip(more).map(|(lost, more)| lost + more);
}

/// The action of an answer after `steps` steps.
pub(super) fn action(
    connection: &Connection,
    answer: &Answer,
    steps: usize,
) -> Result<ToolRequestMessage, ModelError> {
    let mut selector = ToolSelector::new(connection.model.clone(), false, false);
    let provider = connection.provider().name();
    select(&mut selector, answer, provider, |place| {
        call_id(steps, place)
    })
}

/// A limit truncates the episode, which may continue under another limit. A limit that cannot be enforced is an error,
/// not an ending.
pub(super) fn exhausted(end: Exhausted) -> Move {
    if let Exhausted::CostUnknown { .. } = end {
        return Move::Failed(Notice::new(
            "The run was stopped.",
            end.to_string(),
            "Then press Run again. The episode continues from its current step.",
        ));
    }
    let reason = Text::from(end.to_string());
    Move::Stop(Stop {
        ending: Ending::Truncated {
            reason: reason.clone(),
        },
        reason,
    })
}

/// Stops because the episode has ended.
pub(super) fn over(ending: Ending) -> Move {
    let reason = match &ending {
        Ending::Truncated { reason } => reason.clone(),
        Ending::Crashed { message } => message.clone(),
        _ => "The environment is done.".into(),
    };
    Move::Stop(Stop { ending, reason })
}

/// A state of an episode that something waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AwaitedState {
    /// The id of the episode.
    episode: Text,
    steps: usize,
}

impl AwaitedState {
    /// The state of an episode with this number of steps.
    pub(super) fn of(episode: &Episode, steps: usize) -> Self {
        AwaitedState {
            episode: episode.id.clone(),
            steps,
        }
    }

    /// The event that members are recorded about this state.
    pub(super) fn recorded(self, members: Object) -> Event {
        Event::Recorded {
            episode: self.episode,
            steps: self.steps,
            members,
        }
    }

    /// Whether the episode is in this state. Another episode with as many steps is not.
    pub(super) fn is(&self, episode: &Episode) -> bool {
        self.episode == episode.id && self.steps == episode.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use volary_agent::model::connection::PRESETS;
    use volary_agent::model::limits::Budget;
    use volary_agent::model::{RawCall, ToolChoice};
    use volary_core::message::Body;
    use volary_episode::{Outcome, StepDetails, StepRecord, Usage};

    use super::*;

    fn step(usage: Option<Usage>) -> StepRecord {
        let action = ToolRequestMessage {
            body: Body::text("look"),
            ..ToolRequestMessage::default()
        };
        StepRecord {
            action: action.into(),
            outcome: Outcome::Observed {
                messages: vec![Message::user("seen").into()],
                reward: 0.0,
                done: false,
                truncated: false,
            },
            seconds: None,
            details: StepDetails {
                usage,
                ..StepDetails::default()
            },
            extras: Default::default(),
        }
    }

    fn usage(input: Option<u64>, output: Option<u64>, cost: Option<f64>) -> Option<Usage> {
        Some(Usage {
            input,
            output,
            cost,
            ..Usage::default()
        })
    }

    fn episode(usages: &[Option<Usage>]) -> Episode {
        Episode {
            id: "e".into(),
            start: vec![Message::user("go").into()],
            steps: usages.iter().copied().map(step).collect(),
            ..Episode::default()
        }
    }

    fn connection() -> Connection {
        Connection {
            model: "m".into(),
            ..Connection::of(&PRESETS[0])
        }
    }

    #[test]
    fn the_system_prompt_comes_before_the_episode() {
        let settings = Settings {
            system_prompt: Some("Be brief.".into()),
            tool_choice: ToolChoice::Auto,
            ..Settings::default()
        };
        let request = request(&connection(), &settings, &episode(&[None]));
        let texts = request
            .messages
            .iter()
            .map(|message| message.body().content.clone());
        let texts: Vec<Text> = texts.flatten().collect();
        assert_eq!(texts, ["Be brief.", "go", "look", "seen"].map(Text::from));
        assert_eq!(request.messages[0].role(), Role::System);
        assert_eq!(&*request.model, "m");
        assert_eq!(request.tool_choice, Some(ToolChoice::Auto));
    }

    #[test]
    fn without_a_system_prompt_the_episode_is_sent_as_it_is() {
        let request = request(&connection(), &Settings::default(), &episode(&[]));
        assert_eq!(request.messages.len(), 1);
        assert_eq!(request.messages[0].role(), Role::User);
    }

    #[test]
    fn limits_count_all_steps_and_what_became_none() {
        let lost = Spent {
            tokens: 100,
            cost: Some(1.0),
            ..Spent::default()
        };
        let known = episode(&[
            usage(Some(10), Some(5), Some(0.5)),
            None,
            usage(Some(1), None, Some(0.25)),
        ]);
        let spent = spent(lost, &known, 7.0);
        assert_eq!(
            (spent.steps, spent.tokens, spent.cost),
            (3, 116, Some(1.75))
        );
        assert_eq!(spent.seconds, 7.0);
    }

    #[test]
    fn a_limit_of_cost_is_not_passed_over_for_an_unknown_price() {
        let unknown = episode(&[usage(Some(10), Some(5), None)]);
        let spent = spent(Spent::default(), &unknown, 0.0);
        assert_eq!(spent.cost, None);
        let budget = Budget {
            cost: Some(1.0),
            ..Budget::default()
        };
        let end = budget.exhausted(&spent).expect("it cannot be enforced");
        assert!(matches!(exhausted(end), Move::Failed(_)));
    }

    #[test]
    fn an_answer_without_an_action_is_paid_once() {
        let before = Spent {
            tokens: 10,
            cost: Some(0.5),
            ..Spent::default()
        };
        let after = Spent {
            tokens: 25,
            cost: Some(0.75),
            ..Spent::default()
        };
        let mut lost = Spent::default();
        lose(&mut lost, &before, &after);
        lose(&mut lost, &before, &after);
        assert_eq!((lost.tokens, lost.cost), (30, Some(0.5)));
        // The price of this one is unknown, and so is the sum from now on.
        lose(
            &mut lost,
            &before,
            &Spent {
                cost: None,
                ..after
            },
        );
        lose(&mut lost, &before, &after);
        assert_eq!((lost.tokens, lost.cost), (60, None));
    }

    #[test]
    fn calls_without_an_id_get_one_that_follows_from_their_place() {
        let call = |name: &str, id: &str| RawCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        };
        let answer = Answer {
            calls: vec![call("f", ""), call("g", "given")],
            ..Answer::default()
        };
        let action = action(&connection(), &answer, 4).expect("an action");
        let ids: Vec<Text> = action
            .tool_calls
            .iter()
            .map(|call| call.id.clone())
            .collect();
        assert_eq!(ids, [call_id(4, 0), "given".into()]);
    }

    fn stop(next: Move) -> Stop {
        match next {
            Move::Stop(stop) => stop,
            _ => panic!("it stops"),
        }
    }

    #[test]
    fn a_limit_truncates_the_episode_with_its_reason() {
        let stop = stop(exhausted(Exhausted::Steps { limit: 20 }));
        assert!(stop.reason.contains("20 steps"), "{}", stop.reason);
        let reason = stop.reason;
        assert_eq!(stop.ending, Ending::Truncated { reason });
    }

    #[test]
    fn an_episode_that_is_over_says_why() {
        let reason = |ending: Ending| {
            let stop = stop(over(ending.clone()));
            assert_eq!(stop.ending, ending);
            stop.reason.to_string()
        };
        let limit = Ending::Truncated {
            reason: "limit".into(),
        };
        assert_eq!(reason(limit), "limit");
        let crash = Ending::Crashed {
            message: "boom".into(),
        };
        assert_eq!(reason(crash), "boom");
        assert_eq!(reason(Ending::Done), "The environment is done.");
    }

    #[test]
    fn tokens_are_recorded_only_with_the_episode_that_was_sampled() {
        let before = episode(&[]);
        let awaited = AwaitedState::of(&before, 1);
        assert!(!awaited.is(&before));
        assert!(awaited.is(&episode(&[None])));
        assert!(!awaited.is(&episode(&[None, None])));
        // The user has opened another episode meanwhile, which has as many steps.
        let other = Episode {
            id: "other".into(),
            ..episode(&[None])
        };
        assert!(!awaited.is(&other));
    }
}
