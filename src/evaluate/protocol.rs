//! What an evaluation and its workers say to each other, as JSON texts. Pure. Environments that are played
//! step by step answer in the words of [`crate::protocol::Event`].
//!
//! It is apart from that protocol, since the page of a first visit needs none of it.

use volary_agent::evaluation::{CellResult, Job};
use volary_core::AnyMessage;
use volary_core::json::{Json, Text};
use volary_core::object;
use volary_trace::Recipe;
use volary_trace::native;
use volary_trace::table::Row;

use crate::protocol::Token;
use crate::remote::servers::Access;

/// What an evaluation wants of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Play these cells, beside each other where they wait.
    Play {
        /// The cells.
        jobs: Vec<Job>,
        /// The servers that may be called for it, and no others.
        servers: Vec<Access>,
    },
    /// Make an environment beside those that are there, reset it, and take the actions.
    Open {
        /// The new token.
        token: Token,
        /// What makes the environment.
        recipe: Recipe,
        /// The actions to take at once.
        actions: Vec<AnyMessage>,
        /// The servers that may be called for it, and no others.
        servers: Vec<Access>,
    },
    /// Take an action in one of them.
    Step {
        /// Its token.
        token: Token,
        /// The action.
        action: AnyMessage,
    },
    /// Close one of them.
    Leave {
        /// Its token.
        token: Token,
    },
    /// Begin nothing more, close all, then say [`Word::Idle`].
    End,
}

/// What a worker says of the environments that it has on servers, so that they can be closed without it.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// It opened one.
    Opened {
        /// The address of the server.
        url: Text,
        /// The environment's id there.
        env_id: Text,
    },
    /// It closed one.
    Closed {
        /// The environment's id.
        env_id: Text,
    },
    /// It was told to end, and has nothing open any more.
    Idle,
}

/// A cell that was played. The text of its episode, if there is one, comes beside.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// What came of it.
    pub result: CellResult,
    /// What lists show of its episode, if there is one.
    pub row: Option<Row>,
}

impl Order {
    /// The text that the other side reads.
    pub fn to_text(&self) -> String {
        match self {
            Order::Play { jobs, servers } => object!({
                "order": "play",
                "jobs": (Json::List(jobs.iter().map(Job::to_json).collect())),
                "servers": (servers_to_json(servers))
            }),
            Order::Open {
                token,
                recipe,
                actions,
                servers,
            } => object!({
                "order": "open",
                "token": (*token),
                "recipe": (native::recipe_to_json(recipe)),
                "actions": (native::messages_to_json(actions)),
                "servers": (servers_to_json(servers))
            }),
            Order::Step { token, action } => object!({
                "order": "step",
                "token": (*token),
                "action": (native::message_to_json(action))
            }),
            Order::Leave { token } => object!({"order": "leave", "token": (*token)}),
            Order::End => object!({"order": "end"}),
        }
        .to_python_text()
    }

    /// Reads what [`Order::to_text`] wrote; `None` if it is nothing of ours.
    pub fn read(text: &str) -> Option<Order> {
        // The other protocol's texts begin otherwise, and need not be parsed to see that.
        if !text.starts_with("{\"order\"") {
            return None;
        }
        let json = Json::parse(text).ok()?;
        let order: &Text = json.get("order")?.as_text()?;
        let token = || json.get("token")?.as_i64()?.try_into().ok();
        Some(match &**order {
            "play" => Order::Play {
                jobs: json
                    .get("jobs")?
                    .as_list()?
                    .iter()
                    .map(|job| Job::read(job).ok().flatten())
                    .collect::<Option<_>>()?,
                servers: servers_of(&json)?,
            },
            "open" => Order::Open {
                token: token()?,
                recipe: native::recipe_from_json(json.get("recipe")?).ok()?,
                actions: native::messages_from_json(json.get("actions")?).ok()?,
                servers: servers_of(&json)?,
            },
            "step" => Order::Step {
                token: token()?,
                action: native::message_from_json(json.get("action")?).ok()?,
            },
            "leave" => Order::Leave { token: token()? },
            "end" => Order::End,
            _ => return None,
        })
    }
}

fn servers_to_json(servers: &[Access]) -> Json {
    Json::List(servers.iter().map(Access::to_json).collect())
}

fn servers_of(json: &Json) -> Option<Vec<Access>> {
    let servers = json.get("servers")?.as_list()?.iter();
    servers.map(Access::of).collect()
}

impl Word {
    /// The text that the other side reads.
    pub fn to_text(&self) -> String {
        match self {
            Word::Opened { url, env_id } => object!({
                "word": "opened",
                "url": (url.clone()),
                "env_id": (env_id.clone())
            }),
            Word::Closed { env_id } => object!({"word": "closed", "env_id": (env_id.clone())}),
            Word::Idle => object!({"word": "idle"}),
        }
        .to_python_text()
    }

    /// Reads what [`Word::to_text`] wrote; `None` if it is nothing of ours.
    pub fn read(text: &str) -> Option<Word> {
        if !text.starts_with("{\"word\"") {
            return None;
        }
        let json = Json::parse(text).ok()?;
        let part = |key: &str| json.get(key)?.as_text().cloned();
        Some(match &*part("word")? {
            "opened" => Word::Opened {
                url: part("url")?,
                env_id: part("env_id")?,
            },
            "closed" => Word::Closed {
                env_id: part("env_id")?,
            },
            "idle" => Word::Idle,
            _ => return None,
        })
    }
}

/// The head of a letter with played cells.
pub fn played_to_text(played: &[Played]) -> String {
    let rows = played.iter().map(|played| {
        Json::Object(object!({
            "result": (played.result.to_json()),
            "row": (played.row.as_ref().map(Row::to_json))
        }))
    });
    Json::List(rows.collect()).to_python_text()
}

/// Reads the head of such a letter; `None` if it is none.
pub fn played_from_text(text: &str) -> Option<Vec<Played>> {
    let json = Json::parse(text).ok()?;
    let played = json.as_list()?.iter().map(|row| {
        Some(Played {
            result: CellResult::read(row.get("result")?)?,
            row: row.get("row").and_then(Row::read),
        })
    });
    played.collect()
}

#[cfg(test)]
mod tests {
    use volary_agent::evaluation::{Actor, Plan, PlannedPolicy, PlannedTask};
    use volary_core::message::ToolRequestMessage;
    use volary_trace::Episode;

    use super::*;

    fn job() -> Job {
        let plan = Plan {
            tasks: vec![PlannedTask {
                id: "1".into(),
                title: "One".into(),
                environment: "counter".into(),
                configuration: object!({"x": 1}),
            }],
            policies: vec![PlannedPolicy {
                name: "R".into(),
                actor: Actor::Random,
                max_steps: 3,
            }],
            repeats: 1,
            ..Plan::default()
        };
        Job::of(&"e".into(), &plan, plan.cell(0).unwrap(), 0).unwrap()
    }

    #[test]
    fn orders_come_back() {
        let action: AnyMessage = ToolRequestMessage::default().into();
        let servers = vec![Access {
            url: "http://a".into(),
            key: Some("s3cret".into()),
            frames: None,
        }];
        for order in [
            Order::Play {
                jobs: vec![job()],
                servers: servers.clone(),
            },
            Order::Open {
                token: 3,
                recipe: job().recipe,
                actions: vec![action.clone()],
                servers,
            },
            Order::Step { token: 3, action },
            Order::Leave { token: u32::MAX },
            Order::End,
        ] {
            assert_eq!(Order::read(&order.to_text()), Some(order));
        }
        for text in ["", "[]", "{\"order\": \"play\"}", "{\"order\": \"leave\"}"] {
            assert_eq!(Order::read(text), None, "{text}");
        }
    }

    #[test]
    fn words_come_back() {
        let (url, env_id) = (Text::from("http://a"), Text::from("e"));
        let closed = env_id.clone();
        for word in [
            Word::Opened { url, env_id },
            Word::Closed { env_id: closed },
            Word::Idle,
        ] {
            assert_eq!(Word::read(&word.to_text()), Some(word));
        }
        for text in ["", "{\"word\": \"opened\"}", "{\"say\": \"gone\"}"] {
            assert_eq!(Word::read(text), None, "{text}");
        }
    }

    #[test]
    fn played_cells_come_back() {
        let result = CellResult::finished(0, &Episode::default(), Default::default(), 1);
        let row = Row {
            id: "e-000000".into(),
            ..Row::default()
        };
        let played = [Some(row), None].map(|row| Played {
            result: result.clone(),
            row,
        });
        assert_eq!(
            played_from_text(&played_to_text(&played)),
            Some(played.to_vec())
        );
        assert_eq!(played_from_text("{}"), None);
    }
}
