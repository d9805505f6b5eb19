//! The server of one connection, or of one request where there are no sessions.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, JsonObject,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use volary_core::json::{Json, Text};
use volary_core::tool::ToolCallFunction;
use volary_core::{Reset, Step, Tool};
use volary_openenv::{Action, ResetRequest, observation, task_api};

use super::tools;
use super::values::{from_serde, to_serde};
use crate::error::ApiError;
use crate::seat::{Seat, first_tools};
use crate::server::Server;

/// The prompt that starts an episode.
const TASK_PROMPT: &str = "task";

/// The resource with the list of tasks.
const TASKS: &str = "volary://tasks";

/// The maximum number of tasks in that list.
const MOST_TASKS: usize = 1000;

/// A server of one environment. Clones share it.
#[derive(Clone)]
pub struct EnvironmentServer {
    server: Arc<Server>,
    is_http: bool,
    play: Arc<Mutex<Play>>,
}

/// The environment of a connection.
struct Play {
    seat: Seat,
    tools: Option<Vec<Arc<Tool>>>,
    steps: u64,
}

/// Why a call has no result; told to the model.
struct Refused(Text);

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        let body = error.body();
        Refused(match body.get("detail") {
            Some(Json::Text(detail)) => detail.clone(),
            _ => body.to_compact_text().into(),
        })
    }
}

impl EnvironmentServer {
    /// A server for HTTP.
    pub fn over_http(server: Arc<Server>) -> EnvironmentServer {
        EnvironmentServer::new(server, true)
    }

    /// A server for a process that a client runs.
    pub fn over_pipes(server: Arc<Server>) -> EnvironmentServer {
        EnvironmentServer::new(server, false)
    }

    fn new(server: Arc<Server>, is_http: bool) -> EnvironmentServer {
        EnvironmentServer {
            play: Arc::new(Mutex::new(Play {
                seat: Seat::new(Arc::clone(&server)),
                tools: None,
                steps: 0,
            })),
            server,
            is_http,
        }
    }

    /// Whether this server is dropped after the request, so that its client has to name the episode.
    fn names_episodes(&self, context: &RequestContext<RoleServer>) -> bool {
        let version = context.protocol_version();
        let is_stateless = version
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        self.is_http && is_stateless
    }

    async fn tools(&self) -> Result<Vec<Arc<Tool>>, ApiError> {
        if let Some(tools) = &self.play.lock().await.tools {
            return Ok(tools.clone());
        }
        first_tools(&self.server).await
    }

    /// Starts an episode; returns its name, too, if the client has to name it.
    async fn reset(
        &self,
        arguments: JsonObject,
        names_episodes: bool,
    ) -> Result<(Reset, Option<Text>), Refused> {
        let request = ResetRequest::read(&from_serde(arguments));
        let request = request.map_err(|error| Refused(format!("{error}.").into()))?;
        let mut play = self.play.lock().await;
        play.tools = None;
        play.steps = 0;
        let reset = play.seat.begin(request).await?;
        play.tools = Some(reset.tools.clone());
        // The environment outlives this server, until it is closed because it is not used.
        let episode = if names_episodes {
            play.seat.leave()
        } else {
            None
        };
        Ok((reset, episode))
    }

    async fn step(
        &self,
        name: &str,
        mut arguments: JsonObject,
        names_episodes: bool,
    ) -> Result<Step, Refused> {
        let episode = if names_episodes {
            match arguments.remove(tools::EPISODE) {
                Some(Value::String(episode)) => Some(episode),
                _ => {
                    let reason = "Pass the episode that reset returned as the argument `episode`.";
                    return Err(Refused(reason.into()));
                }
            }
        } else {
            None
        };
        let function = ToolCallFunction {
            name: name.into(),
            arguments: from_serde(arguments),
        };
        let mut play = self.play.lock().await;
        let steps = play.steps;
        play.steps += 1;
        let Some(action) = Action::Call(function).into_message(steps) else {
            return Err(Refused("A call is needed.".into()));
        };
        let Some(episode) = episode else {
            if play.tools.is_none() {
                return Err(Refused(
                    "There is no episode yet. Call reset first: it returns the task.".into(),
                ));
            }
            return Ok(play.seat.step(action).await?);
        };
        let mut seat = Seat::taken(Arc::clone(&self.server), episode);
        let step = seat.step(action).await;
        // Over or not, the client may go on with it.
        seat.leave();
        Ok(step?)
    }

    async fn listed_tasks(&self) -> Result<String, ApiError> {
        let count = self.server.task_count().await?;
        let Some(count) = count else {
            return Ok("The environment is endless: reset starts the next task.".to_owned());
        };
        let tasks = self.server.tasks(0..count.min(MOST_TASKS)).await?;
        let tasks = tasks.iter().enumerate();
        let tasks = tasks.map(|(index, task)| task_api::task_to_json(index, task.as_ref()));
        let tasks = Json::List(tasks.collect());
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        Ok(volary_core::json!({"count": count, "tasks": tasks}).to_compact_text())
    }
}

impl ServerHandler for EnvironmentServer {
    fn get_info(&self) -> ServerConfig {
        let options = &self.server.shared.options;
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        let server = Implementation::new("volary", env!("CARGO_PKG_VERSION"))
            .with_title(format!("Volary: {}", options.name));
        let instructions = format!(
            "The environment {}. {} Call reset first: it returns a task. Solve it with the other tools; each result has the reward \
             of the step, and `done` when the episode is over.",
            options.name, options.description
        );
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools().await.map_err(internal)?;
        let listed = tools::list(&tools, self.names_episodes(&context));
        Ok(ListToolsResult::with_all_items(listed))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = self.tools().await.map_err(internal)?;
        let names_episodes = self.names_episodes(&context);
        let arguments = request.arguments.unwrap_or_default();
        let result = if *request.name == *tools::reset_name(&tools) {
            let begun = self.reset(arguments, names_episodes).await;
            begun.map(|(reset, episode)| reset_result(&reset, episode))
        } else {
            let step = self.step(&request.name, arguments, names_episodes).await;
            step.map(|step| step_result(&step))
        };
        let result = result.unwrap_or_else(|Refused(reason)| {
            CallToolResult::error(vec![ContentBlock::text(reason.to_string())])
        });
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str, description: &str| {
            PromptArgument::new(name)
                .with_description(description)
                .with_required(false)
        };
        let arguments = vec![
            argument("index", "Which task, from 0. Without it, the next one."),
            argument("seed", "The seed of all randomness."),
        ];
        let description = "Starts an episode and gives its task to the model.";
        let prompt = Prompt::new(TASK_PROMPT, Some(description), Some(arguments));
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != TASK_PROMPT {
            let reason = format!(
                "There is no prompt {}. There is {TASK_PROMPT}.",
                request.name
            );
            return Err(ErrorData::invalid_params(reason, None));
        }
        // The arguments of prompts are texts.
        let arguments = request.arguments.unwrap_or_default().into_iter();
        let arguments = arguments.map(|(key, value)| match value.as_str().map(str::parse::<i64>) {
            Some(Ok(number)) => (key, number.into()),
            _ => (key, value),
        });
        let begun = self.reset(arguments.collect(), self.names_episodes(&context));
        let (reset, episode) = begun
            .await
            .map_err(|Refused(reason)| ErrorData::invalid_params(reason.to_string(), None))?;
        let mut text = observation::text_of(&reset.messages);
        if let Some(episode) = episode {
            text.push_str(&format!(
                "\n\nPass this to every tool as `episode`: {episode}"
            ));
        }
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let tasks = Resource::new(TASKS, "tasks")
            .with_title("The tasks of the environment")
            .with_mime_type("application/json");
        Ok(ListResourcesResult::with_all_items(vec![tasks]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != TASKS {
            let reason = format!("There is no resource {}. There is {TASKS}.", request.uri);
            return Err(ErrorData::resource_not_found(reason, None));
        }
        let text = self.listed_tasks().await.map_err(internal)?;
        let contents = ResourceContents::text(text, TASKS).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn internal(error: ApiError) -> ErrorData {
    let Refused(reason) = error.into();
    ErrorData::internal_error(reason.to_string(), None)
}

fn reset_result(reset: &Reset, episode: Option<Text>) -> CallToolResult {
    let text = observation::text_of(&reset.messages);
    let messages = observation::of_reset(reset).map(|observed| observed.observation);
    let messages = messages
        .ok()
        .and_then(|observation| observation.get("messages").map(to_serde));
    let mut value = json!({"messages": messages.unwrap_or_default()});
    let mut content = vec![ContentBlock::text(text)];
    if let Some(episode) = episode {
        content.push(ContentBlock::text(format!("The episode is {episode}.")));
        value[tools::EPISODE] = episode.to_string().into();
    }
    with_content(value, content)
}

fn step_result(step: &Step) -> CallToolResult {
    let messages = observation::of_step(step, None).map(|observed| observed.observation);
    let messages = messages
        .ok()
        .and_then(|observation| observation.get("messages").map(to_serde));
    let mut content = vec![ContentBlock::text(observation::text_of(&step.messages))];
    if step.done || step.truncated {
        // Many hosts show the model only the text.
        content.push(ContentBlock::text(format!(
            "The episode is over. Reward: {}.",
            step.reward
        )));
    }
    let value = json!({
        "messages": messages.unwrap_or_default(),
        "reward": step.reward,
        "done": step.done || step.truncated,
        "truncated": step.truncated
    });
    with_content(value, content)
}

fn with_content(value: Value, content: Vec<ContentBlock>) -> CallToolResult {
    let mut result = CallToolResult::structured(value);
    result.content = content;
    result
}
