//! `volary mcp`: a server of the Model Context Protocol over trajectories, for agents that read them.
//!
//! - `catalog`, `files`: the trajectories, and what changed on disk. `selection`: filters, order and pages.
//! - `tools`: the tools, a file for each. `masking`: secrets in what they return. `failure`: why one cannot answer.
//! - `server`: the server, for rmcp. `http`: over streamable HTTP. `app`: the MCP App. `view_page`: addresses in `volary view`.
//!
//! Invariants: nothing is written or sent anywhere but to the client. Standard output belongs to the protocol.

mod app;
mod catalog;
mod failure;
mod files;
mod http;
mod masking;
mod selection;
mod server;
mod tools;
mod view_page;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use rmcp::{ServerHandler, ServiceExt};
use tokio::runtime::{Builder, Handle};
use volary_server::host::{self, AllowedHosts};

use crate::inputs;
use crate::keys;
use crate::serve::{address, stop_signal};
use catalog::Catalog;
use files::Files;
use http::Gate;
use server::TrajectoryServer;
use tools::Library;
use view_page::ViewPage;

/// The number of tools that may run at one time. Others wait.
const CALLS: usize = 32;

const EXAMPLES: &str = "\
Examples:
  claude mcp add runs -- volary mcp runs/
      for an agent on this machine, over standard input and output
  volary mcp runs/ --port 8766
      over HTTP, at http://127.0.0.1:8766/mcp
  VOLARY_API_KEY=secret volary mcp runs/ --port 8766 --host 0.0.0.0
      for other machines, which send the key as a bearer token";

/// Serves trajectories to AI agents: a server of the Model Context Protocol (MCP).
///
/// Agents list, search, read, diagnose and count the trajectories, and read the answers of `volary ask`. They change nothing.
/// Keys, tokens, passwords and e-mail addresses are masked. Changed files are noticed.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Mcp {
    /// Files, and folders with files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Listen for HTTP on this port, instead of standard input; 0 is a free one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// The address to listen on. Other machines can connect only to a public one, such as 0.0.0.0, and need a key
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS", value_parser = address, requires = "port")]
    host: IpAddr,

    /// A key that clients must send as a bearer token
    #[arg(
        long,
        env = "VOLARY_API_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    api_key: Option<String>,

    /// Answer requests for this host name too, such as the name of a reverse proxy; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host::parse_name, requires = "port")]
    allow_host: Vec<String>,

    /// Return keys, tokens, passwords and e-mail addresses unmasked
    #[arg(long)]
    unmasked: bool,

    /// The file with the answers; by default .volary/answers.jsonl in the first folder
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// A JSON file that maps the fields of records in an unknown format, such as {"prompt": "q.text", "reward": "score"}
    #[arg(long, value_name = "FILE")]
    fields: Option<PathBuf>,

    /// A folder with another build of the page, for the addresses of open_trajectory
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
}

impl Mcp {
    /// Serves until the client closes standard input, or the program receives a signal to stop.
    pub fn run(&self) -> Result<()> {
        // What is wrong with the paths is said before a client waits.
        Files::list(&self.paths)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(CALLS + crate::view::THREADS)
            .enable_all()
            .build()?;
        let server = self.server(runtime.handle())?;
        server.read_ahead();
        let result = match self.port {
            Some(port) => runtime.block_on(self.serve_http(server, port)),
            None => runtime.block_on(serve_stdio(server)),
        };
        // Does not wait for a read of standard input.
        runtime.shutdown_background();
        result
    }

    fn server(&self, runtime: &Handle) -> Result<TrajectoryServer> {
        let mappings = inputs::mappings(self.fields.as_deref())?;
        Ok(TrajectoryServer::new(Library {
            catalog: Catalog::new(self.paths.clone(), mappings),
            answers: self.answers.clone(),
            page: ViewPage::new(self.paths.clone(), self.page.clone(), runtime.clone()),
            unmasked: self.unmasked,
        }))
    }

    async fn serve_http(&self, server: TrajectoryServer, port: u16) -> Result<()> {
        let key = self.api_key.clone().filter(|key| !key.is_empty());
        if !self.host.is_loopback() && key.is_none() {
            bail!(
                "other machines can reach {}, and there is no key; set one with VOLARY_API_KEY or --api-key",
                self.host
            );
        }
        keys::warn_if_visible("--api-key", "VOLARY_API_KEY");
        let hosts = if self.host.is_loopback() || !self.allow_host.is_empty() {
            AllowedHosts::LoopbackAnd(self.allow_host.clone())
        } else {
            AllowedHosts::Any
        };
        http::serve(
            server,
            SocketAddr::new(self.host, port),
            Gate { hosts, key },
        )
        .await
    }
}

/// Serves one client on standard input and output, until it closes them or the program receives a signal to stop.
pub async fn serve_stdio(server: impl ServerHandler) -> Result<()> {
    use rmcp::service::ServerInitializeError;
    let running = tokio::select! {
        running = server.serve(rmcp::transport::stdio_pipes()) => running,
        signal = stop_signal() => return Ok(signal?),
    };
    let running = match running {
        Ok(running) => running,
        // The client only looked whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error).context("the client does not speak MCP"),
    };
    tokio::select! {
        ended = running.waiting() => {
            ended.context("the connection ended")?;
        }
        signal = stop_signal() => signal?,
    }
    Ok(())
}
