//! The program: reads the command line, listens, and stops when it is told to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tracing::level_filters::LevelFilter;
use volary_server::app::app;
use volary_server::cli::Cli;
use volary_server::dataset::{Wanted, make_dataset, read_gsm8k};
use volary_server::listen::listen;
use volary_server::page::page;
use volary_server::server::Server;
use volary_server::time::real_seconds;

fn main() -> ExitCode {
    let cli = Cli::parse();
    log(&cli);
    match serve(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With its causes, and never with a backtrace: nothing in here is at fault.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(cli: &Cli) -> anyhow::Result<()> {
    let address = cli.address()?;
    let dataset = match &cli.gsm8k {
        Some(path) => read_gsm8k(path, cli.seed)?,
        None => make_dataset(Wanted {
            name: cli.dataset.clone(),
            arguments: cli.arguments.clone(),
            seed: cli.seed,
        })?,
    };
    let (server, commands) = Server::new(cli.options(), dataset, real_seconds(), cli.workers());
    let page = cli.serve_page.as_deref().map(page).transpose()?;
    let app = app(server.clone(), page);
    let socket = TcpListener::bind(address)
        .with_context(|| format!("{address} can't be listened on (is the port in use?)"))?;
    let address = socket.local_addr()?;
    let listening = listen(socket, &server, commands, &app)?;
    // On standard output, for people and for programs that wait for it.
    println!("Serving {} on http://{}", cli.served(), reached(address));
    if address.ip().is_unspecified() {
        let port = address.port();
        tracing::info!("others reach it at http://<this machine's name or address>:{port}");
    }
    wait_for_the_end()?;
    tracing::info!("stopping: every environment is closed first; once more stops at once");
    std::thread::spawn(|| {
        if wait_for_the_end().is_ok() {
            std::process::exit(1);
        }
    });
    if !listening.stop() {
        tracing::warn!("a worker did not end in time");
    }
    Ok(())
}

/// An address that can be connected to from here.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn log(cli: &Cli) {
    let level = if cli.verbose {
        LevelFilter::DEBUG
    } else {
        LevelFilter::INFO
    };
    let logs = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr);
    if cli.log_json {
        logs.json().init();
    } else {
        logs.init();
    }
}

/// Waits for Ctrl-C or a termination signal.
fn wait_for_the_end() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let mut terminate = signal(SignalKind::terminate())?;
            tokio::select! {
                done = tokio::signal::ctrl_c() => done?,
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        tokio::signal::ctrl_c().await?;
        Ok(())
    })
}
