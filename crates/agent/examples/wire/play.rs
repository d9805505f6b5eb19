//! An episode under a model that answers over HTTP, with fallbacks, retries and limits as in the page.

use std::rc::Rc;

use volary_agent::model::limits::{Budget, Spent};
use volary_agent::model::price::Prices;
use volary_agent::model::retry::{Attempts, Backoff, Next, seconds_of_header};
use volary_agent::model::selector::ToolSelector;
use volary_agent::model::sglang::setup::GenerateSetup;
use volary_agent::model::{
    Answer, Connection, ModelError, ModelRequest, Reply, ToolChoice, select,
};
use volary_agent::{Runner, Stage};
use volary_core::json::{Json, Text};
use volary_core::message::DumpOptions;
use volary_core::virtual_clock::VirtualClock;
use volary_core::{AnyMessage, json};
use volary_episode::{Episode, Recipe, call_id};

use crate::{Failure, choice, http, key, provider, text};

/// Plays an episode. Returns its messages and outcome.
pub fn play(command: &Json) -> Result<Json, Failure> {
    let clock = VirtualClock::new();
    clock.run(played(command, clock.clone()))?
}

async fn played(command: &Json, clock: VirtualClock) -> Result<Json, Failure> {
    let recipe = Recipe {
        environment: text(command, "environment")?,
        configuration: command
            .get("configuration")
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default(),
        ..Recipe::default()
    };
    let connection = Connection {
        name: "test".into(),
        kind: provider(command)?,
        base_url: text(command, "base_url")?,
        model: text(command, "model")?,
        generate: GenerateSetup::default(),
    };
    let registry = volary_envs::registry();
    let (mut runner, opening) = Runner::open(&registry, &recipe, Rc::new(clock)).await?;
    let mut episode = opening.episode(recipe);
    let mut selector = ToolSelector::new(connection.model.clone(), false, false);
    let mut request = ModelRequest {
        model: connection.model.clone(),
        tools: episode.tools.clone(),
        tool_choice: match command.get("tool_choice") {
            Some(word) => Some(choice(word)?),
            None => Some(ToolChoice::Required),
        },
        stream: command.get("stream").and_then(Json::as_bool) == Some(true),
        ..ModelRequest::default()
    };
    let budget = Budget {
        steps: Some(5),
        ..Budget::default()
    };
    let mut spent = Spent::default();
    let mut asked = Asking {
        command,
        connection: &connection,
        sent: 0,
        waits: 0,
    };
    let ending: Text = loop {
        if let Some(end) = budget.exhausted(&spent) {
            break end.to_string().into();
        }
        let step = episode.steps.len();
        request.messages = episode.messages().cloned().collect();
        let answer = asked.ask(&mut request)?;
        let usage = answer.usage.as_ref();
        let cost = usage.and_then(|usage| Prices::default().cost(&connection.model, usage));
        spent.add_answer(usage, cost);
        spent.steps += 1;
        let name = connection.provider().name();
        let action = select(&mut selector, &answer, name, |index| call_id(step, index))?;
        let stepped = Stage::step(&mut runner, action.into()).await?;
        episode.record(stepped.record, stepped.frame)?;
        if episode.ending != volary_episode::Ending::Open {
            break "done".into();
        }
    };
    let fallbacks = request.fallbacks.iter().map(|made| format!("{made:?}"));
    let fallbacks: Vec<String> = fallbacks.collect();
    Ok(json!({
        "ending": ending,
        "steps": (episode.steps.len() as i64),
        "reward": (episode.total_reward()),
        "tokens": (spent.tokens as i64),
        "messages": (dumped(&episode)?),
        "concessions": fallbacks,
        "requests": (asked.sent),
        "waits": (asked.waits)
    }))
}

fn dumped(episode: &Episode) -> Result<Json, Failure> {
    let messages = episode.messages().map(|message: &AnyMessage| {
        let dump = message.dump(&DumpOptions::with_info())?;
        Ok::<_, Failure>(Json::Object(dump))
    });
    Ok(Json::List(messages.collect::<Result<_, _>>()?))
}

struct Asking<'a> {
    command: &'a Json,
    connection: &'a Connection,
    sent: i64,
    waits: i64,
}

impl Asking<'_> {
    /// Sends the request until it is answered or retries are exhausted.
    fn ask(&mut self, request: &mut ModelRequest) -> Result<Answer, Failure> {
        let mut attempts = Attempts::new(Backoff::default(), 7);
        loop {
            self.sent += 1;
            let error = match self.exchange(request) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match attempts.after(self.connection.kind, request, &error) {
                Next::FallBack(_) => {}
                // Tests don't wait.
                Next::Wait(_) => self.waits += 1,
                Next::GiveUp => return Err(error.into()),
            }
        }
    }

    fn exchange(&self, request: &ModelRequest) -> Result<Answer, ModelError> {
        let unreachable = |error: Failure| ModelError::Unreachable {
            reason: error.to_string().into(),
        };
        let key = key(self.command);
        let provider = self.connection.provider();
        let http = provider.request(&self.connection.base_url, &key, request);
        let mut response = http::send(&http).map_err(unreachable)?;
        let content_type = response.header("content-type").to_owned();
        let wait = seconds_of_header(response.header("retry-after"), 0.0);
        let mut reply = Reply::new(provider, &key, response.status, &content_type, wait);
        let mut deltas = Vec::new();
        // A broken connection ends the body: the reply detects whether it is complete.
        while let Ok(Some(piece)) = response.piece() {
            reply.push(&piece, &mut deltas)?;
        }
        reply.finish(&mut deltas)
    }
}
