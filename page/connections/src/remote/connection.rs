//! Connects to a task dataset server and diagnoses failures.

use std::rc::Rc;

use volary_app::servers::ConnectedServer;
use volary_connectivity::Silence;
use volary_core::json::Text;
use volary_remote::diagnosis::{Diagnosis, Observation, diagnose};
use volary_remote::{
    ClientError, ClientOptions, Description, TaskDatasetClient, TransportError, task,
};

use super::transport::Fetch;
use volary_browser::network;

/// The timeout of the first request in seconds. The user is waiting for it.
const PATIENCE: f64 = 15.0;

/// Requests the description of a server.
pub async fn connect(url: &str, key: Option<&Text>) -> Result<ConnectedServer, Diagnosis> {
    if !task::is_server(url) {
        // As a part of an address, it would lead to the page's own host.
        return Err(not_an_address(url));
    }
    let options = options(url, key, Some(PATIENCE));
    let client = match TaskDatasetClient::connect(options.clone(), Rc::new(Fetch)).await {
        Ok(client) => client,
        Err(error) => return Err(explain(url, key, &error).await),
    };
    let info = match client.info().await {
        Ok(info) => info,
        Err(error) => return Err(explain(url, key, &error).await),
    };
    let described = TaskDatasetClient::describe(options, Rc::new(Fetch)).await;
    Ok(ConnectedServer {
        info,
        frames: described.as_ref().map(|described| described.has("/frame")),
        lacks: described
            .as_ref()
            .map(Description::lacks)
            .unwrap_or_default(),
    })
}

/// Closes environments that have been idle for this many seconds. Returns their number.
pub async fn close_old(url: &str, key: Option<&Text>, last_used: f64) -> Result<usize, Diagnosis> {
    let options = options(url, key, Some(4.0 * PATIENCE));
    let closed = async {
        let client = TaskDatasetClient::connect(options, Rc::new(Fetch)).await?;
        client.close_old(last_used).await
    };
    match closed.await {
        Ok(closed) => Ok(closed.len()),
        Err(error) => Err(explain(url, key, &error).await),
    }
}

/// Diagnoses a failed request, with further requests if they help.
pub async fn explain(url: &str, key: Option<&Text>, error: &ClientError) -> Diagnosis {
    let observation = match error {
        ClientError::Transport(TransportError::Unreachable { .. }) => {
            Observation::Silent(network::probe(url).await)
        }
        // Something responds, and may describe itself.
        error if error.endpoint() == Some("/info") => {
            let options = options(url, None, Some(PATIENCE));
            let described = TaskDatasetClient::describe(options, Rc::new(Fetch)).await;
            Observation::Failed(error, described)
        }
        error => Observation::Failed(error, None),
    };
    diagnose(url, key.is_some(), &network::page(), &observation)
}

fn not_an_address(url: &str) -> Diagnosis {
    let observation = Observation::Silent(Silence {
        answers_without_cors: None,
        permission: None,
        is_online: true,
    });
    diagnose(url, false, &network::page(), &observation)
}

/// The options of the page's requests to a server.
pub fn options(url: &str, key: Option<&Text>, timeout: Option<f64>) -> ClientOptions {
    ClientOptions {
        api_key: key.cloned(),
        request_timeout: timeout,
        ..ClientOptions::new(url)
    }
}
