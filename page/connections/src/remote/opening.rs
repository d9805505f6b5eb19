//! Opens the environment of a recipe on a server, in the worker.
//!
//! The server chooses the environment's id, and only the response to `/start` contains it. If the client is gone by
//! then, nobody can name the environment, and it stays open until the server closes old ones.

use std::rc::Rc;

use volary_agent::{Opening, Runner};
use volary_app::environment_start;
use volary_app::servers::ConnectedServer;
use volary_core::json::{Object, Text};
use volary_core::{Clock, object};
use volary_episode::Recipe;
use volary_protocol::environments::ServerAccess;
use volary_remote::TaskEnvironmentClient;
use volary_remote::client::DEFAULT_TIMEOUT;
use volary_remote::diagnosis::{Diagnosis, ServerProblem};

use super::connection::{connect, explain, options};
use super::servers::{Unfit, frames_of, start_of};
use super::transport::Fetch;

/// An environment on a server that was started and reset.
pub struct OpenedOnServer {
    /// The runner that steps it.
    pub runner: Runner,
    /// The result of the reset.
    pub opening: Opening,
    /// Whether the server shows frames.
    pub has_frames: bool,
    /// The location of the environment.
    pub place: RemoteLocation,
}

/// The location of an environment: its server, and its id there.
pub struct RemoteLocation {
    access: ServerAccess,
    env_id: Option<Text>,
}

impl RemoteLocation {
    /// The note about the location in an episode's metadata.
    pub fn note(&self) -> Object {
        object!({ ENV_ID: (self.env_id.clone()) })
    }

    /// The address of the server, and the environment's id there.
    pub fn names(&self) -> Option<(&Text, &Text)> {
        Some((&self.access.url, self.env_id.as_ref()?))
    }

    /// Diagnoses the loss of the environment, with the current state of the server.
    pub async fn after_a_loss(&self, message: &str) -> Loss {
        let url = &self.access.url;
        let found = connect(url, self.access.key.as_ref()).await;
        let (now, server_is_lost) = now_text(url, self.env_id.as_ref(), &found);
        Loss {
            reason: format!("{message} {now}").into(),
            server_is_lost,
        }
    }
}

/// What a server says of an environment now, and whether the server is lost.
fn now_text(
    url: &Text,
    env_id: Option<&Text>,
    found: &Result<ConnectedServer, Diagnosis>,
) -> (String, bool) {
    match found {
        Err(found) => (format!("{} {}", found.why, found.remedy), true),
        Ok(found) => {
            let is_there = env_id.is_some_and(|id| found.info.running_env_ids.contains(id));
            let now = if is_there {
                format!("{url} responds and still has the environment.")
            } else {
                format!("{url} responds but no longer has this environment.")
            };
            (now, false)
        }
    }
}

/// A diagnosis of a lost environment.
pub struct Loss {
    /// The message for the user.
    pub reason: Text,
    /// Whether the server cannot be used at all.
    pub server_is_lost: bool,
}

/// The reason why an environment could not be opened.
pub struct ServerRefusal {
    /// What failed, why, and what to do.
    pub reason: Text,
    /// The invalid key of the configuration, if there is one.
    pub key: Option<Text>,
    /// Whether other tasks of the server cannot be opened either.
    pub concerns_all: bool,
}

/// The metadata key of an episode for the location of its environment.
pub const NOTE: &str = "server";
/// The key of the environment's id in the note.
pub const ENV_ID: &str = "env_id";

/// Called once an environment is started, before its reset, with the address of its server and its id there.
pub type OnStarted<'h> = &'h dyn Fn(&Text, &Text);

/// Starts the task of a recipe on its server, and resets it. Only servers among `known` are called. An
/// environment that was started but could not be reset is closed again.
pub async fn open(
    recipe: &Recipe,
    known: &[ServerAccess],
    clock: Rc<dyn Clock>,
    on_started: OnStarted<'_>,
) -> Result<OpenedOnServer, ServerRefusal> {
    let access = known.iter().find(|access| access.url == recipe.environment);
    let access = access.ok_or_else(|| ServerRefusal {
        reason: format!(
            "You are not connected to {}. Connect to it in the settings first.",
            recipe.environment
        )
        .into(),
        key: None,
        concerns_all: true,
    })?;
    let start = start_of(&recipe.configuration).map_err(|Unfit { key, reason }| ServerRefusal {
        reason: reason.into(),
        key: Some(key.into()),
        concerns_all: false,
    })?;
    let key = access.key.as_ref();
    let options = options(&access.url, key, Some(DEFAULT_TIMEOUT));
    let environment = TaskEnvironmentClient::of(options, Rc::new(Fetch), start);
    let environment = environment.knowing(frames_of(access));
    let on_started = |env_id: &Text| on_started(&access.url, env_id);
    let started = match environment_start::start(environment, clock, on_started).await {
        Ok(started) => started,
        Err(error) => {
            let found = explain(&access.url, key, error.cause()).await;
            let concerns_all = match found.problem {
                // The timeout may concern this task alone.
                ServerProblem::Timeout => connect(&access.url, key).await.is_err(),
                problem => problem.concerns_all(),
            };
            return Err(ServerRefusal {
                reason: format!("{} {} {}", found.what, found.why, found.remedy).into(),
                key: None,
                concerns_all,
            });
        }
    };
    Ok(OpenedOnServer {
        runner: started.runner,
        opening: started.opening,
        has_frames: started.has_frames,
        place: RemoteLocation {
            access: access.clone(),
            env_id: started.env_id,
        },
    })
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use volary_core::json;
    use volary_core::json::Json;
    use volary_remote::reply::Info;

    use super::*;

    const URL: &str = "http://127.0.0.1:9";

    /// Opens a recipe that is refused before anything is requested.
    fn refused(configuration: Json, known: &[ServerAccess]) -> ServerRefusal {
        let recipe = Recipe {
            environment: URL.into(),
            configuration: configuration.as_object().cloned().unwrap_or_default(),
            ..Recipe::default()
        };
        let clock = Rc::new(volary_core::clock::Standstill);
        let on_started = |_: &Text, _: &Text| panic!("nothing begins");
        let opened = open(&recipe, known, clock, &on_started).now_or_never();
        match opened {
            Some(Err(refusal)) => refusal,
            _ => panic!("it is refused at once"),
        }
    }

    fn access() -> ServerAccess {
        ServerAccess {
            url: URL.into(),
            key: None,
            frames: None,
        }
    }

    #[test]
    fn a_server_without_a_connection_is_asked_nothing() {
        let refusal = refused(json!({}), &[]);
        assert!(refusal.reason.contains(URL), "{}", refusal.reason);
        assert!(refusal.reason.contains("settings"), "it says what to do");
        assert!(refusal.concerns_all && refusal.key.is_none());
    }

    #[test]
    fn a_task_that_no_server_understands_is_refused_at_its_field() {
        let refusal = refused(json!({"task_idx": "first"}), &[access()]);
        assert!(refusal.key.is_some() && !refusal.reason.is_empty());
        assert!(!refusal.concerns_all, "other tasks may be fine");
    }

    #[test]
    fn an_environment_is_named_once_its_server_did() {
        let place = |env_id: Option<&str>| RemoteLocation {
            access: access(),
            env_id: env_id.map(Text::from),
        };
        assert_eq!(place(None).names(), None);
        let named = place(Some("e1"));
        assert_eq!(named.names(), Some((&URL.into(), &"e1".into())));
        assert_eq!(named.note().get(ENV_ID), Some(&json!("e1")));
    }

    #[test]
    fn after_a_loss_the_server_says_whether_the_environment_is_there() {
        let connected = |ids: &[&str]| {
            Ok(ConnectedServer {
                info: Info {
                    dataset_size: None,
                    running_env_ids: ids.iter().map(|id| Text::from(*id)).collect(),
                },
                frames: None,
                lacks: Vec::new(),
            })
        };
        let (url, id) = (Text::from(URL), Text::from("e1"));
        let now = |env_id, found| now_text(&url, env_id, &found);
        let (text, is_lost) = now(Some(&id), connected(&["e0", "e1"]));
        assert!(text.contains("still has") && !is_lost, "{text}");
        let (text, is_lost) = now(Some(&id), connected(&["e0"]));
        assert!(text.contains("no longer has") && !is_lost, "{text}");
        let (text, _) = now(None, connected(&["e0"]));
        assert!(text.contains("no longer has"), "it was never named: {text}");
    }
}
