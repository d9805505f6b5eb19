//! The domains of tau-bench on an invented checkout of the same layout.

use std::any::Any;
use std::rc::Rc;

use volary_core::environment::Setting;
use volary_core::json::Text;
use volary_core::outside::{Answer, Closed, Data, ModelRequest, Outside};
use volary_core::view::{Block, Tone, ViewInput};
use volary_core::virtual_clock::VirtualClock;
use volary_core::{AnyMessage, Environment, EnvironmentError, Json, Object, json, object};
use volary_envs::registry_with_tau_bench;
use volary_envs::tau::checkout::{CheckoutError, Original, Split};
use volary_envs::tau::original::{OriginalData, listed};

use crate::player::{content, request};

/// A file of the checkout; `balance` is that of Ana's card.
fn file(path: &str, balance: f64) -> Option<Text> {
    let text = match path.strip_prefix("tau_bench/envs/")? {
        "retail/data/orders.json" => json!({
            "#W1": {
                "order_id": "#W1", "user_id": "ana_1", "status": "pending", "items": [],
                "payment_history": [
                    {"transaction_type": "payment", "amount": 4.5, "payment_method_id": "card_1"},
                ],
            },
        }),
        "retail/data/products.json" => json!({}),
        "retail/data/users.json" => json!({
            "ana_1": {
                "email": "ana@example.com",
                "payment_methods": {
                    "card_1": {"source": "credit_card", "id": "card_1", "balance": balance},
                },
            },
        }),
        "retail/wiki.md" => return Some("Be kind.".into()),
        "retail/tasks_test.py" => {
            return Some(
                "from tau_bench.types import Task, Action\n\nTASKS_TEST = [\n    Task(\n        \
                 annotator=\"0\",\n        user_id=\"ana_1\",\n        instruction=\"You are Ana. Cancel #W1.\",\n        \
                 actions=[\n            Action(name=\"get_order_details\", kwargs={\"order_id\": \"#W1\"}),\n            \
                 Action(\n                name=\"cancel_pending_order\",\n                \
                 kwargs={\"order_id\": \"#W1\", \"reason\": \"no longer needed\"},\n            ),\n        ],\n        \
                 outputs=[\"4.5\"],\n    ),\n]\n"
                    .into(),
            );
        }
        "retail/tasks_dev.py" => return Some("TASKS_DEV = []\n".into()),
        "airline/data/flights.json" | "airline/data/reservations.json" => json!({}),
        "airline/data/users.json" => json!({"ben_2": {"name": "Ben"}}),
        "airline/wiki.md" => return Some("Fly safely.".into()),
        "airline/tasks_test.py" => {
            return Some(
                "TASKS = [Task(annotator=\"0\", user_id=\"ben_2\", instruction=\"You are Ben.\", \
                 actions=[Action(name=\"transfer_to_human_agents\", kwargs={\"summary\": \"s\"})], outputs=[])]\n"
                    .into(),
            );
        }
        _ => return None,
    };
    Some(text.to_compact_text().into())
}

fn checkout(path: &str) -> Option<Text> {
    file(path, 1.0)
}

/// An outside with a checkout, whose person always sends the same reply.
struct WithCheckout {
    balance: f64,
}

impl Outside for WithCheckout {
    fn fetch(&self, address: &str) -> Answer {
        Closed.fetch(address)
    }

    fn complete(&self, request: ModelRequest) -> Answer {
        Closed.complete(request)
    }

    fn ask(&self, _: &str) -> Answer {
        Box::pin(std::future::ready(Ok("###STOP###".into())))
    }

    fn data(&self, name: &str) -> Data {
        let (original, split) = OriginalData::of_name(name).unwrap();
        let read = |path: &str| file(path, self.balance);
        let data = OriginalData::read(original, split, &read).unwrap();
        let data: Rc<dyn Any> = Rc::new(data);
        Box::pin(std::future::ready(Ok(data)))
    }
}

struct Played {
    environment: Box<dyn Environment>,
    messages: Vec<AnyMessage>,
    reward: f64,
    is_done: bool,
}

fn made(
    name: &str,
    configuration: &Object,
    outside: impl Outside + 'static,
) -> Box<dyn Environment> {
    let setting = Setting {
        seed: 0,
        clock: Rc::new(VirtualClock::new()),
        outside: Rc::new(outside),
    };
    registry_with_tau_bench()
        .environment_from_name(name, None, configuration, &setting)
        .unwrap()
}

fn reset(
    name: &str,
    configuration: &Object,
    outside: impl Outside + 'static,
) -> Result<Played, EnvironmentError> {
    let mut environment = made(name, configuration, outside);
    let reset = VirtualClock::new().run(environment.reset()).unwrap()?;
    Ok(Played {
        environment,
        messages: reset.messages,
        reward: 0.0,
        is_done: false,
    })
}

impl Played {
    fn act(&mut self, action: AnyMessage) -> Vec<String> {
        self.messages.push(action.clone());
        let step = VirtualClock::new().run(self.environment.step(action));
        let step = step.unwrap().unwrap();
        let contents = step.messages.iter().map(content).collect();
        self.messages.extend(step.messages);
        (self.reward, self.is_done) = (step.reward, step.done);
        contents
    }

    /// Lets the oracle play to the end.
    fn solve(&mut self, name: &str) {
        let registry = registry_with_tau_bench();
        let solve = registry.environment(name).unwrap().oracle.unwrap();
        while !self.is_done {
            let frame = self.environment.export_frame();
            let action = solve(&ViewInput {
                frame: &frame,
                messages: &self.messages,
                reward: None,
                done: false,
            });
            self.act(action.unwrap().into());
        }
    }
}

#[test]
fn the_oracle_earns_the_reward_of_every_listed_task() {
    for original in Original::ALL {
        let tasks = listed(original, Split::Test, 1, "script");
        for task in tasks {
            let mut played = reset(
                task.environment,
                &task.configuration,
                WithCheckout { balance: 1.0 },
            )
            .unwrap();
            assert_eq!(played.environment.id(), Ok(task.id));
            assert_eq!(played.environment.export_frame().info, Json::Null);
            played.solve(task.environment);
            assert_eq!(played.reward, 1.0, "{}", task.environment);
        }
    }
}

#[test]
fn the_view_shows_the_expected_result_after_the_end() {
    let configuration = object!({"customer": "person"});
    let mut played = reset("tau-retail", &configuration, WithCheckout { balance: 1.0 }).unwrap();
    assert_eq!(content(&played.messages[0]), "Be kind.");
    played.act(request(&[("1", "respond", json!({"content": "Hello."}))]).into());
    assert!(played.is_done);
    assert_eq!(played.reward, 0.0);
    let registry = registry_with_tau_bench();
    let view = registry.environment("tau-retail").unwrap().view.unwrap();
    let frame = played.environment.export_frame();
    let blocks = view(&ViewInput {
        frame: &frame,
        messages: &played.messages,
        reward: Some(0.0),
        done: true,
    })
    .blocks;
    let labels: Vec<String> = blocks
        .iter()
        .map(|block| match block {
            Block::Passage { label, .. } | Block::Results { label, .. } => label.to_string(),
            Block::Verdict { tone, .. } => format!("{tone:?}"),
            _ => String::new(),
        })
        .collect();
    assert_eq!(
        labels,
        [
            "Actions",
            "What the customer wanted",
            "A right way",
            "Records that differ",
            "What had to be said",
            &format!("{:?}", Tone::Bad),
        ]
    );
}

#[test]
fn an_episode_is_not_replayed_with_other_data() {
    let mut configuration = object!({"customer": "person"});
    let played = reset("tau-retail", &configuration, WithCheckout { balance: 1.0 }).unwrap();
    configuration.extend(played.environment.recorded());
    assert!(reset("tau-retail", &configuration, WithCheckout { balance: 1.0 }).is_ok());
    let error = reset("tau-retail", &configuration, WithCheckout { balance: 2.0 });
    let error = error.err().unwrap().to_string();
    assert!(error.contains("other data or tasks"), "{error}");
}

#[test]
fn unknown_tasks_and_missing_data_are_named() {
    let error = |name: &str, configuration: Object| {
        let played = reset(name, &configuration, WithCheckout { balance: 1.0 });
        played.err().map(|error| error.to_string()).unwrap()
    };
    assert!(error("tau-retail", object!({"task": 1})).contains("There is no task 1 in test"));
    let closed = reset("tau-airline", &object!({}), Closed).err().unwrap();
    assert!(closed.to_string().contains("tau-bench/airline/test"));
    for (key, value) in [("split", "dev"), ("customer", "nobody")] {
        let setting = Setting {
            seed: 0,
            clock: Rc::new(VirtualClock::new()),
            outside: Rc::new(Closed),
        };
        let configuration = object!({key: value});
        let made = registry_with_tau_bench().environment_from_name(
            "tau-airline",
            None,
            &configuration,
            &setting,
        );
        assert!(made.err().unwrap().to_string().starts_with(key), "{key}");
    }
}

#[test]
fn a_checkout_is_summarized_with_its_differences() {
    let contents = Original::Retail.examine(&checkout).unwrap();
    let splits: Vec<_> = contents
        .splits
        .iter()
        .map(|(split, count, _)| (*split, *count))
        .collect();
    assert_eq!(splits, [(Split::Test, 1), (Split::Dev, 0)]);
    assert_eq!(
        contents.differences(),
        [
            "tau_bench/envs/retail/data",
            "tau_bench/envs/retail/tasks_test.py",
            "tau_bench/envs/retail/tasks_dev.py"
        ]
    );
    let edited = Original::Retail
        .examine(&|path: &str| file(path, 2.0))
        .unwrap();
    assert_ne!(contents.data.found, edited.data.found);
    assert_eq!(contents.splits, edited.splits);
    let cut = |path: &str| {
        if path.ends_with("users.json") {
            Some("{\"ana_1\": {".into())
        } else {
            checkout(path)
        }
    };
    let error = Original::Retail.examine(&cut).unwrap_err();
    assert!(
        matches!(&error, CheckoutError::Malformed { path, .. } if path.ends_with("users.json"))
    );
}
