//! What an evaluation and its workers say to each other, as JSON texts. Pure. Environments that are played
//! step by step answer in the words of [`crate::protocol::Event`].
//!
//! It is apart from that protocol, since the page of a first visit needs none of it.

use volary_agent::evaluation::jobs::{put_jobs, read_jobs};
use volary_agent::evaluation::{CellResult, Job};
use volary_core::AnyMessage;
use volary_core::json::{Json, Text, place};
use volary_core::object;
use volary_trace::Recipe;
use volary_trace::native;

use crate::protocol::Token;
use volary_protocol::environments::ServerAccess as Access;

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

/// What a worker says of cells that it could not begin, and of the environments that it has on servers, so that they
/// can be closed without it.
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
    /// It had no time to begin these cells.
    Left {
        /// The cells.
        cells: Vec<usize>,
    },
    /// It was told to end, and has nothing open any more.
    Idle,
}

impl Order {
    /// The text that the other side reads.
    pub fn to_text(&self) -> String {
        match self {
            Order::Play { jobs, servers } => {
                let mut text = String::new();
                place::append(&mut text, |place| {
                    place.object(|members| {
                        members.at("order").word("play");
                        put_jobs(members.at("jobs"), jobs);
                        members.at("servers").json(&servers_to_json(servers));
                    });
                });
                return text;
            }
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
                jobs: read_jobs(json.get("jobs")?)?,
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

fn access_to_json(access: &Access) -> Json {
    volary_core::json!({
        "url": (access.url.clone()),
        "key": (access.key.clone()),
        "frames": (access.frames)
    })
}

fn access_of(json: &Json) -> Option<Access> {
    Some(Access {
        url: json.get("url")?.as_text()?.clone(),
        key: json.get("key").and_then(Json::as_text).cloned(),
        frames: json.get("frames").and_then(Json::as_bool),
    })
}

fn servers_to_json(servers: &[Access]) -> Json {
    Json::List(servers.iter().map(access_to_json).collect())
}

fn servers_of(json: &Json) -> Option<Vec<Access>> {
    let servers = json.get("servers")?.as_list()?.iter();
    servers.map(access_of).collect()
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
            Word::Left { cells } => {
                let cells = cells.iter().map(|cell| Json::from(*cell as i64));
                object!({"word": "left", "cells": (Json::List(cells.collect()))})
            }
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
            "left" => {
                let cells = json.get("cells")?.as_list()?.iter();
                let cells = cells.map(|cell| usize::try_from(cell.as_i64()?).ok());
                Word::Left {
                    cells: cells.collect::<Option<_>>()?,
                }
            }
            "idle" => Word::Idle,
            _ => return None,
        })
    }
}

/// The head of a letter with played cells; a parcel of what is to be kept of them comes beside.
#[derive(Default)]
pub struct Results(String);

impl Results {
    /// Adds what came of a cell. Gives its text alone.
    pub fn add(&mut self, result: &CellResult) -> &str {
        self.0.push_str(if self.0.is_empty() { "[" } else { ", " });
        let start = self.0.len();
        result.to_json().write_python_text(&mut self.0);
        &self.0[start..]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text that the page reads.
    pub fn finish(mut self) -> String {
        self.0.push(']');
        self.0
    }
}

/// Reads the head of such a letter; `None` if it is none.
pub fn results_from_text(text: &str) -> Option<Vec<CellResult>> {
    let json = Json::parse(text).ok()?;
    json.as_list()?.iter().map(CellResult::read).collect()
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
            Word::Left { cells: vec![0, 7] },
            Word::Idle,
        ] {
            assert_eq!(Word::read(&word.to_text()), Some(word));
        }
        for text in ["", "{\"word\": \"opened\"}", "{\"say\": \"gone\"}"] {
            assert_eq!(Word::read(text), None, "{text}");
        }
    }

    #[test]
    fn results_come_back() {
        let results = [0, 7]
            .map(|cell| CellResult::finished(cell, &Episode::default(), Default::default(), 1));
        let mut head = Results::default();
        assert!(head.is_empty());
        for result in &results {
            let text = head.add(result);
            assert_eq!(text, result.to_json().to_python_text());
        }
        assert_eq!(results_from_text(&head.finish()), Some(results.to_vec()));
        assert_eq!(results_from_text("{}"), None);
    }
}
