//! `volary serve`: serves environments over HTTP until it receives a signal.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use volary_core::json::Object;
use volary_remote::DEFAULT_PORT;
use volary_server::app::{app, page};
use volary_server::bridge::{self, BridgedCommand, Upstream, UpstreamError, program_bridge};
use volary_server::class::store::Limits;
use volary_server::class::{Class, ClassOptions, OpenedClass};
use volary_server::dataset::{DatasetSpec, make_dataset, read_arguments, read_gsm8k};
use volary_server::host::{self, AllowedHosts};
use volary_server::mcp::EnvironmentServer;
use volary_server::options::ServerOptions;
use volary_server::origin;
use volary_server::server::Server;
use volary_server::shared::MakeDataset;
use volary_server::time::real_seconds;

use crate::{keys, mcp, output};

/// The number of threads that parse large bodies and read files of the page.
const BLOCKING_THREADS: usize = 8;

const SERVED: &str = "What is served";
const CONNECT: &str = "Who can connect";
const CLASS: &str = "A class";
const LIMITS: &str = "Limits";
const LOGS: &str = "Logs";

const EXAMPLES: &str = "\
Examples:
  volary serve
      word problems with a calculator, for this machine only: for aviary at the address that is printed, for OpenEnv there, too,
      and for MCP at /mcp
  claude mcp add problems -- volary serve --mcp
      the same for an agent that runs the program, over standard input and output
  volary serve --dataset counter --cors-origin https://you.github.io
      another environment, which a page on another address may use
  VOLARY_API_KEY=secret volary serve --gsm8k test.jsonl --host 0.0.0.0 --serve-page dist
      a file of problems and the page itself, for everyone with the key
  volary serve --bridge http://127.0.0.1:8000 --cors-origin https://you.github.io
      another server, of OpenEnv or MCP, which pages could not reach otherwise
  volary serve --bridge \"npx -y @modelcontextprotocol/server-everything\" --cors-origin https://you.github.io
      a program that speaks MCP over standard input and output, at /mcp
  volary serve --class 10b.db --serve-page dist
      a class, in which pupils hand in and only the teacher reads, with the key that the first start prints";

/// Serves the environments of a task dataset over HTTP, as aviary's TaskDatasetServer does, and with the protocols of OpenEnv and MCP.
///
/// Start it, then connect aviary's TaskDatasetClient, a client of OpenEnv or Volary's page to the address that it prints, or a client
/// of MCP to its path /mcp.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// The dataset (word_problems, gsm8k, dummy) or environment (calculator, counter, …) to serve
    #[arg(long, default_value = "calculator", value_name = "NAME", help_heading = SERVED)]
    pub dataset: String,

    /// The arguments of the dataset or the configuration of the environment, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = arguments, default_value = "{}", help_heading = SERVED)]
    pub arguments: Object,

    /// Serve the problems of this file instead: JSON Lines with `question` and `answer`, in GSM8K's format
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dataset", "arguments"], help_heading = SERVED)]
    pub gsm8k: Option<PathBuf>,

    /// Instead of environments, pass requests on to this server, such as http://127.0.0.1:8000, which then needs no permissions for
    /// pages: a server of OpenEnv, MCP or aviary. Or run this command, which speaks MCP over standard input and output, for each session
    #[arg(long, value_name = "URL|COMMAND", value_parser = bridged, conflicts_with_all = ["dataset", "arguments", "gsm8k", "mcp", "class", "serve_page"], help_heading = SERVED)]
    pub bridge: Option<Bridged>,

    /// The seed of all randomness in the environments
    #[arg(long, default_value_t = 0, value_name = "NUMBER", help_heading = SERVED)]
    pub seed: u64,

    /// The address to listen on. Other machines can connect only to a public one, such as 0.0.0.0
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS", value_parser = address, help_heading = CONNECT)]
    pub host: IpAddr,

    /// The port to listen on; 0 picks a free one
    #[arg(long, default_value_t = DEFAULT_PORT, help_heading = CONNECT)]
    pub port: u16,

    /// The key that every request must send in its X-API-Key header
    #[arg(long, env = "VOLARY_API_KEY", hide_env_values = true, value_name = "KEY", help_heading = CONNECT)]
    pub api_key: Option<String>,

    /// Listen on a public address without a key: anyone who can reach it can use it
    #[arg(long, help_heading = CONNECT)]
    pub open_to_all: bool,

    /// Allow pages of this origin to call, such as https://you.github.io; may be repeated, `*` allows all
    #[arg(long, value_name = "ORIGIN", value_parser = origin::parse, help_heading = CONNECT)]
    pub cors_origin: Vec<String>,

    /// Answer requests for this host name too, such as the name of a reverse proxy; may be repeated. By default a
    /// server on a loopback address answers only for localhost and loopback addresses, any other for every name
    #[arg(long, value_name = "NAME", value_parser = host::parse_name, help_heading = CONNECT)]
    pub allow_host: Vec<String>,

    /// Also serve the page from this folder, such as dist/, so that no CORS is needed
    #[arg(long, value_name = "FOLDER", help_heading = SERVED)]
    pub serve_page: Option<PathBuf>,

    /// Speak MCP over standard input and output, for one client that runs this program, and listen on no port
    #[arg(long, conflicts_with_all = ["host", "port", "api_key", "open_to_all", "cors_origin", "allow_host", "serve_page", "class", "json"], help_heading = CONNECT)]
    pub mcp: bool,

    /// Let pupils of a class hand in, and store their hand-ins in this SQLite file
    #[arg(long, value_name = "FILE", help_heading = CLASS)]
    pub class: Option<PathBuf>,

    /// The teacher's key from now on, of at least 16 characters: with it, hand-ins are listed and read. Without this
    /// option it stays the same; a new class gets a random one, which is printed once
    #[arg(long, env = "VOLARY_CLASS_KEY", hide_env_values = true, value_name = "KEY", help_heading = CLASS)]
    pub class_key: Option<String>,

    /// Give pupils a new code: the links to assignments that they have do not work any more
    #[arg(long, requires = "class", help_heading = CLASS)]
    pub new_class_code: bool,

    /// The maximum number of hand-ins
    #[arg(long, default_value_t = Limits::default().hand_ins, value_name = "NUMBER", help_heading = CLASS)]
    pub max_hand_ins: u32,

    /// The maximum size of a hand-in, in bytes
    #[arg(long, default_value_t = 4 << 20, value_name = "BYTES", help_heading = CLASS)]
    pub max_hand_in: usize,

    /// The maximum size of the file, in bytes
    #[arg(long, default_value_t = Limits::default().file, value_name = "BYTES", help_heading = CLASS)]
    pub max_class_file: u64,

    /// The maximum number of environments
    #[arg(long, default_value_t = 100_000, value_name = "NUMBER", help_heading = LIMITS)]
    pub max_envs: usize,

    /// Close environments after this many seconds without use; 0 keeps them
    #[arg(long, default_value_t = 86_400.0, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = LIMITS)]
    pub idle_timeout: f64,

    /// The time limit of one reset, step or close, in seconds; an environment that takes longer is stopped. 0 sets no limit
    #[arg(long, default_value_t = 300.0, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = LIMITS)]
    pub step_timeout: f64,

    /// The maximum size of a request's body, in bytes
    #[arg(long, default_value_t = 16 << 20, value_name = "BYTES", help_heading = LIMITS)]
    pub max_body: usize,

    /// The number of threads that run environments; by default one for each core
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = LIMITS)]
    pub workers: Option<u16>,

    /// Run each environment on its own thread: costs more, but code that never ends blocks no other environment
    #[arg(long, help_heading = LIMITS)]
    pub isolate: bool,

    /// The number of this server among several behind a proxy: the second to last byte of its environments' ids
    #[arg(
        long,
        default_value_t = 0,
        value_name = "NUMBER",
        help_heading = "Several servers"
    )]
    pub server_number: u8,

    /// Log as JSON, one object a line
    #[arg(long, help_heading = LOGS)]
    pub log_json: bool,

    /// Print the address as one line of JSON, for programs
    #[arg(long)]
    pub json: bool,

    /// Log every request, not only failures
    #[arg(long, short, help_heading = LOGS)]
    pub verbose: bool,
}

/// What a bridge leads to.
#[derive(Clone, Debug)]
pub enum Bridged {
    Server(Upstream),
    Program(BridgedCommand),
}

fn bridged(text: &str) -> Result<Bridged, String> {
    if text.contains("://") && !text.contains(char::is_whitespace) {
        let upstream = text.parse().map(Bridged::Server);
        return upstream.map_err(|error: UpstreamError| error.to_string());
    }
    text.parse().map(Bridged::Program).map_err(str::to_owned)
}

fn arguments(text: &str) -> Result<Object, String> {
    read_arguments(text).map_err(|error| error.to_string())
}

/// Parses an address; `localhost` is the only name.
pub fn address(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let unfit = "expected an address, such as 127.0.0.1 (this machine) or 0.0.0.0 (all machines)";
    text.parse().map_err(|_| unfit.into())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0 to 999999999".into()),
    }
}

/// The timeout; `None` for 0, which sets no limit.
fn timeout(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds))
}

impl Serve {
    /// Serves until the program receives a signal to stop.
    pub fn run(&self) -> anyhow::Result<()> {
        self.init_log();
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .build()?;
        let result = if self.mcp {
            runtime.block_on(self.serve_pipes())
        } else if let Some(bridged) = &self.bridge {
            runtime.block_on(self.serve_bridge(bridged))
        } else {
            runtime.block_on(self.serve())
        };
        // Does not wait for a file that is still being read.
        runtime.shutdown_background();
        result
    }

    fn dataset(&self) -> anyhow::Result<MakeDataset> {
        match &self.gsm8k {
            Some(path) => read_gsm8k(path, self.seed),
            None => make_dataset(DatasetSpec {
                name: self.dataset.clone(),
                arguments: self.arguments.clone(),
                seed: self.seed,
            }),
        }
    }

    /// Passes requests on until the program receives a signal to stop.
    async fn serve_bridge(&self, bridged: &Bridged) -> anyhow::Result<()> {
        let (listener, address) = self.listen().await?;
        let url = format!("http://{}", reachable(address));
        if self.cors_origin.is_empty() {
            tracing::warn!("no page may call: name its origin with --cors-origin");
        }
        let options = self.options();
        let stopping = CancellationToken::new();
        let app = match bridged {
            Bridged::Server(upstream) => bridge::bridge(upstream.clone(), options.clone()),
            Bridged::Program(command) => {
                program_bridge(command.clone(), options.clone(), stopping.child_token())
            }
        };
        self.announce(&url, address.port(), None)?;
        let stop = async {
            stop().await;
            stopping.cancel();
        };
        bridge::serve(listener, app, &options, stop).await;
        Ok(())
    }

    /// The socket, and its address.
    async fn listen(&self) -> anyhow::Result<(TcpListener, SocketAddr)> {
        let address = self.address()?;
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} (is the port in use?)"))?;
        let address = listener.local_addr()?;
        keys::warn_if_visible("--api-key", "VOLARY_API_KEY");
        Ok((listener, address))
    }

    /// Serves one client of MCP, until it closes standard input or the program receives a signal.
    async fn serve_pipes(&self) -> anyhow::Result<()> {
        let server = Server::start(self.options(), self.dataset()?, real_seconds(), 1)
            .await
            .context("a worker could not make the dataset")?;
        let served = mcp::serve_stdio(EnvironmentServer::over_pipes(server.clone())).await;
        server.close_everything().await;
        served
    }

    async fn serve(&self) -> anyhow::Result<()> {
        self.address()?;
        let dataset = self.dataset()?;
        let (class, new_key) = self.open_class()?.unzip();
        let class = class.map(Arc::new);
        let new_key = new_key.flatten();
        let page = self.serve_page.as_deref().map(page).transpose()?;
        let (listener, address) = self.listen().await?;
        keys::warn_if_visible("--class-key", "VOLARY_CLASS_KEY");
        let server = Server::start(self.options(), dataset, real_seconds(), self.workers())
            .await
            .context("a worker could not make the dataset")?;
        let app = app(server.clone(), class.clone(), page);
        // On standard output, for users and for programs that wait for the line.
        let url = format!("http://{}", reachable(address));
        self.announce(&url, address.port(), new_key.as_deref())?;
        if address.ip().is_unspecified() {
            let port = address.port();
            tracing::info!(
                "other machines reach it at http://<name or address of this machine>:{port}"
            );
        }
        volary_server::serve::serve(listener, app, &server, stop()).await;
        if let Some(class) = class {
            class.writer.close();
        }
        Ok(())
    }

    /// Prints the address, and the key that the class got.
    fn announce(&self, url: &str, port: u16, new_key: Option<&str>) -> anyhow::Result<()> {
        let served = self.served();
        if self.json {
            let mut said = serde_json::json!({ "url": url, "dataset": served, "port": port });
            if let Some(key) = new_key {
                said["class_key"] = key.into();
            }
            return output::json(&said);
        }
        output::line(&format!("Serving {served} on {url}"))?;
        if let Some(key) = new_key {
            output::line(&format!(
                "The class key is {key}\nWrite it down: it is printed only this time. The page's board asks for it."
            ))?;
        }
        Ok(())
    }

    /// Opens the class, if there is one. Returns the key, too, if it got one.
    fn open_class(&self) -> anyhow::Result<Option<(Class, Option<String>)>> {
        let Some(file) = &self.class else {
            return Ok(None);
        };
        let opened = Class::open(ClassOptions {
            file: file.clone(),
            // An empty variable of the environment is none.
            key: self.class_key.clone().filter(|key| !key.is_empty()),
            renew_code: self.new_class_code,
            max_hand_in: self.max_hand_in,
            limits: Limits {
                hand_ins: self.max_hand_ins,
                file: self.max_class_file,
            },
        });
        let OpenedClass {
            class,
            new_key,
            was_migrated,
        } = opened.with_context(|| format!("cannot open the class {}", file.display()))?;
        if was_migrated {
            tracing::warn!(
                class = class.name,
                "an earlier version made this class: its hand-ins are kept, but the links that pupils have do not work \
                 any more. Connect the board, then give pupils the new links. The old links help to guess the former \
                 key; if you used it again, choose another one with --class-key"
            );
        }
        tracing::info!(
            class = class.name,
            "pupils can hand in; the page's board reads it with the class key"
        );
        Ok(Some((class, new_key)))
    }

    fn init_log(&self) {
        let level = if self.verbose {
            LevelFilter::DEBUG
        } else {
            LevelFilter::INFO
        };
        let log = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(std::io::stderr);
        if self.log_json {
            log.json().init();
        } else {
            log.init();
        }
    }

    /// The display name of the dataset.
    fn served(&self) -> String {
        match (&self.bridge, &self.gsm8k) {
            (Some(Bridged::Server(upstream)), _) => upstream.to_string(),
            // Its arguments may contain secrets.
            (Some(Bridged::Program(command)), _) => command.program().to_owned(),
            (None, Some(path)) => path.display().to_string(),
            (None, None) => self.dataset.clone(),
        }
    }

    /// The name and the summary for OpenEnv and MCP.
    fn name(&self) -> (String, String) {
        let registry = volary_envs::registry();
        let name = match &self.gsm8k {
            Some(_) => "gsm8k",
            None => &self.dataset,
        };
        let summary = match (registry.environment(name), registry.dataset(name)) {
            (Ok(entry), _) => entry.summary,
            (_, Ok(entry)) => entry.summary,
            _ => "",
        };
        (name.to_owned(), summary.to_owned())
    }

    /// The number of worker threads.
    fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        self.workers.map_or_else(cores, usize::from)
    }

    /// The address to listen on. Fails for a public one without a key, unless that was allowed.
    fn address(&self) -> anyhow::Result<SocketAddr> {
        let has_key = self.options().key().is_some();
        if !self.host.is_loopback() && !has_key && !self.open_to_all {
            bail!(
                "other machines can reach {}, and there is no key; set one with VOLARY_API_KEY or \
                 --api-key, or pass --open-to-all to let anyone use this server",
                self.host
            );
        }
        Ok(SocketAddr::new(self.host, self.port))
    }

    fn hosts(&self) -> AllowedHosts {
        if self.host.is_loopback() || !self.allow_host.is_empty() {
            AllowedHosts::LoopbackAnd(self.allow_host.clone())
        } else {
            AllowedHosts::Any
        }
    }

    fn options(&self) -> ServerOptions {
        let (name, description) = self.name();
        ServerOptions {
            name,
            description,
            api_key: self.api_key.clone(),
            cors_origins: self.cors_origin.clone(),
            max_envs: self.max_envs,
            idle_timeout: timeout(self.idle_timeout),
            step_timeout: timeout(self.step_timeout),
            max_body: self.max_body,
            hosts: self.hosts(),
            isolate: self.isolate,
            server_number: self.server_number,
            ..ServerOptions::default()
        }
    }
}

/// Waits for the signal to stop. The next signal ends the program immediately.
async fn stop() {
    if let Err(error) = stop_signal().await {
        tracing::error!(%error, "cannot wait for signals; stopping");
    }
    tracing::info!("stopping: closing every environment first; repeat the signal to stop at once");
    tokio::spawn(async {
        if stop_signal().await.is_ok() {
            std::process::exit(1);
        }
    });
}

/// Waits for Ctrl-C or SIGTERM.
pub async fn stop_signal() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// The address for connections from this machine.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
