//! The program: parses the command line and serves until it is told to stop.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tracing::level_filters::LevelFilter;
use volary_server::app::app;
use volary_server::cli::Cli;
use volary_server::dataset::{DatasetSpec, make_dataset, read_gsm8k};
use volary_server::page::page;
use volary_server::serve::serve;
use volary_server::server::Server;
use volary_server::time::real_seconds;

/// Threads that parse large bodies and read files of the page.
const BLOCKING_THREADS: usize = 8;

fn main() -> ExitCode {
    let cli = Cli::parse();
    init_log(&cli);
    match start(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With its causes and without a backtrace: it is the user's to fix.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(cli: &Cli) -> anyhow::Result<()> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()?;
    let result = runtime.block_on(run(cli));
    // Does not wait for a file that is still being read.
    runtime.shutdown_background();
    result
}

async fn run(cli: &Cli) -> anyhow::Result<()> {
    let address = cli.address()?;
    let dataset = match &cli.gsm8k {
        Some(path) => read_gsm8k(path, cli.seed)?,
        None => make_dataset(DatasetSpec {
            name: cli.dataset.clone(),
            arguments: cli.arguments.clone(),
            seed: cli.seed,
        })?,
    };
    let page = cli.serve_page.as_deref().map(page).transpose()?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address} (is the port in use?)"))?;
    let address = listener.local_addr()?;
    let server = Server::start(cli.options(), dataset, real_seconds(), cli.workers())
        .await
        .context("a worker could not make the dataset")?;
    let app = app(server.clone(), page);
    // On standard output, for people and for programs that wait for it.
    println!("Serving {} on http://{}", cli.served(), reachable(address));
    if address.ip().is_unspecified() {
        let port = address.port();
        tracing::info!(
            "other machines reach it at http://<name or address of this machine>:{port}"
        );
    }
    serve(listener, app, &server, stop()).await;
    Ok(())
}

/// Waits for the signal to stop. The next one ends the program at once.
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
async fn stop_signal() -> std::io::Result<()> {
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

/// An address to connect to from this machine.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn init_log(cli: &Cli) {
    let level = if cli.verbose {
        LevelFilter::DEBUG
    } else {
        LevelFilter::INFO
    };
    let log = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr);
    if cli.log_json {
        log.json().init();
    } else {
        log.init();
    }
}
