//! A program that speaks MCP over standard input and output, as a server over HTTP at `/mcp`.
//!
//! Each session of a client has a program of its own, which ends with the session. Since protocol version 2026-07-28 there are
//! no sessions: all clients share one program, which is started again if it has ended. Requests are passed on, notifications of
//! the program are not, so what depends on them is not offered.

use std::process::Stdio;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, DiscoverResult,
    ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ResultType, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RunningService, ServiceError};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleClient, RoleServer, ServerHandler, ServiceExt};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::check;
use crate::mcp::{IDLE_SESSION, LARGEST_REQUEST, PATH};
use crate::options::ServerOptions;
use crate::origin;

/// The maximum number of programs at one time.
const MOST_PROGRAMS: usize = 16;

/// The time for a program to start and to say what it is. One that installs itself first (npx, uvx) takes long.
const START: Duration = Duration::from_secs(120);

/// A command as in a shell, without its variables and operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgedCommand {
    program: String,
    arguments: Vec<String>,
}

impl BridgedCommand {
    /// The program, for people: arguments may contain secrets.
    pub fn program(&self) -> &str {
        &self.program
    }
}

impl FromStr for BridgedCommand {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let mut words = shlex::split(text)
            .ok_or("a quote is not closed in the command")?
            .into_iter();
        let program = words.next().ok_or("expected a URL or a command")?;
        Ok(BridgedCommand {
            program,
            arguments: words.collect(),
        })
    }
}

/// The route. Programs end when `stopping` is cancelled and the router is dropped.
pub fn program_bridge(
    command: BridgedCommand,
    options: ServerOptions,
    stopping: CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(options.max_body.min(LARGEST_REQUEST))
        .with_cancellation_token(stopping);
    let mut sessions = LocalSessionManager::default();
    let idle = options.idle_timeout.unwrap_or(IDLE_SESSION);
    sessions.session_config.keep_alive = Some(idle.min(IDLE_SESSION));
    let programs = Arc::new(Programs {
        command,
        shared: Mutex::default(),
        places: Arc::new(Semaphore::new(MOST_PROGRAMS)),
    });
    let service = StreamableHttpService::new(
        move || {
            Ok(ProgramServer {
                programs: Arc::clone(&programs),
                own: Arc::default(),
            })
        },
        Arc::new(sessions),
        config,
    );
    let cors = origin::cors_layer(&options);
    let routes = Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(Arc::new(options), allow));
    match cors {
        Some(cors) => routes.layer(cors),
        None => routes,
    }
}

async fn allow(
    State(options): State<Arc<ServerOptions>>,
    request: Request,
    next: Next,
) -> Response {
    match check(&options, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// A running program; it is killed when this is dropped.
struct Program {
    service: RunningService<RoleClient, ()>,
    _child: Child,
    _place: OwnedSemaphorePermit,
}

/// What all connections share.
struct Programs {
    command: BridgedCommand,
    shared: Mutex<Option<Program>>,
    places: Arc<Semaphore>,
}

impl Programs {
    async fn start(&self) -> Result<Program, ErrorData> {
        let name = &self.command.program;
        let fail = |reason: String| {
            tracing::warn!(program = name, reason, "the bridged program did not start");
            ErrorData::internal_error(reason, None)
        };
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| {
            fail(format!(
                "{MOST_PROGRAMS} programs run already; end a session first."
            ))
        })?;
        let mut command = Command::new(name);
        command
            .args(&self.command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .map_err(|error| fail(format!("{name} cannot be started: {error}.")))?;
        let (Some(output), Some(input)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(fail(format!("{name} has no pipes.")));
        };
        let started = tokio::time::timeout(START, ().serve((output, input))).await;
        let seconds = START.as_secs();
        let started = started
            .map_err(|_| fail(format!("{name} did not answer within {seconds} seconds.")))?;
        let service =
            started.map_err(|error| fail(format!("{name} does not speak MCP: {error}.")))?;
        Ok(Program {
            service,
            _child: child,
            _place: place,
        })
    }
}

/// The server of one session, or of one request without a session.
#[derive(Clone)]
struct ProgramServer {
    programs: Arc<Programs>,
    own: Arc<Mutex<Option<Program>>>,
}

impl ProgramServer {
    /// The connection to the program, which is started if it does not run. The program of a session is not started again:
    /// its state is lost.
    async fn peer(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Peer<RoleClient>, ErrorData> {
        let version = context.protocol_version();
        let is_stateless = version
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let place = if is_stateless {
            &self.programs.shared
        } else {
            &*self.own
        };
        let mut place = place.lock().await;
        let ended = place
            .as_ref()
            .map(|program| program.service.is_transport_closed());
        match ended {
            Some(true) if !is_stateless => {
                let reason = "The program ended, and its session with it. Connect again.";
                return Err(ErrorData::internal_error(reason, None));
            }
            Some(false) => {}
            _ => *place = Some(self.programs.start().await?),
        }
        let program = place.as_ref();
        let peer = program.map(|program| program.service.peer().clone());
        peer.ok_or_else(|| ErrorData::internal_error("The program did not start.", None))
    }

    /// What the program says about itself, without what needs its notifications.
    async fn info(&self, context: &RequestContext<RoleServer>) -> Result<ServerConfig, ErrorData> {
        let peer = self.peer(context).await?;
        let mut info = self.get_info();
        if let Some(told) = peer.peer_info() {
            info.capabilities = told.capabilities.clone();
            info.instructions.clone_from(&told.instructions);
            if let Some(server) = &told.server_info {
                info.server_info = server.clone();
            }
        }
        let capabilities = &mut info.capabilities;
        capabilities.logging = None;
        capabilities.extensions = None;
        capabilities.experimental = None;
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = None;
        }
        if let Some(prompts) = &mut capabilities.prompts {
            prompts.list_changed = None;
        }
        if let Some(resources) = &mut capabilities.resources {
            resources.list_changed = None;
            resources.subscribe = None;
        }
        Ok(info)
    }
}

impl ServerHandler for ProgramServer {
    fn get_info(&self) -> ServerConfig {
        let bridge = Implementation::new("volary-bridge", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::default()).with_server_info(bridge)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let version = self.negotiate_initialize(&request)?.protocol_version;
        let info = self.info(&context).await?;
        Ok(info.with_protocol_version(version))
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let info = self.info(&context).await?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let peer = self.peer(&context).await?;
        let mut listed = peer.list_tools(request.map(page)).await.map_err(told)?;
        complete(&mut listed.result_type);
        Ok(listed)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        request.meta = None;
        let peer = self.peer(&context).await?;
        let mut called = peer.call_tool_once(request).await.map_err(told)?;
        if let CallToolResponse::Complete(result) = &mut called {
            complete(&mut result.result_type);
        }
        Ok(called)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let peer = self.peer(&context).await?;
        let mut listed = peer.list_prompts(request.map(page)).await.map_err(told)?;
        complete(&mut listed.result_type);
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        mut request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        request.meta = None;
        let peer = self.peer(&context).await?;
        let mut prompt = peer.get_prompt(request).await.map_err(told)?;
        complete(&mut prompt.result_type);
        Ok(prompt.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let peer = self.peer(&context).await?;
        let mut listed = peer.list_resources(request.map(page)).await.map_err(told)?;
        complete(&mut listed.result_type);
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let peer = self.peer(&context).await?;
        let listed = peer.list_resource_templates(request.map(page)).await;
        let mut listed = listed.map_err(told)?;
        complete(&mut listed.result_type);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        mut request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        request.meta = None;
        let peer = self.peer(&context).await?;
        let mut read = peer.read_resource(request).await.map_err(told)?;
        complete(&mut read.result_type);
        Ok(read.into())
    }

    async fn complete(
        &self,
        mut request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        request.meta = None;
        let peer = self.peer(&context).await?;
        let mut completed = peer.complete(request).await.map_err(told)?;
        complete(&mut completed.result_type);
        Ok(completed)
    }
}

/// A request for a page of a list; what the client said about itself is not for the program.
fn page(mut request: PaginatedRequestParams) -> PaginatedRequestParams {
    request.meta = None;
    request
}

/// Marks a result of an older program as complete, which newer clients need. rmcp removes it for older clients.
fn complete(kind: &mut Option<ResultType>) {
    kind.get_or_insert(ResultType::COMPLETE);
}

/// An error of the program as it was, and any other with its reason.
fn told(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::internal_error(format!("The program did not answer: {error}."), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_in_a_shell() {
        let command: BridgedCommand = r#"npx -y "a server" --key='x y'"#.parse().unwrap();
        assert_eq!(command.program(), "npx");
        assert_eq!(command.arguments, ["-y", "a server", "--key=x y"]);
        assert!("".parse::<BridgedCommand>().is_err());
        assert!("a 'b".parse::<BridgedCommand>().is_err());
    }
}
