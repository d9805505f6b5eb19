//! HotPotQA from a player's perspective.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use volary_core::environment::Setting;
use volary_core::outside::{Answer, Closed, ModelRequest, Outside};
use volary_core::view::Tone;
use volary_core::virtual_clock::VirtualClock;
use volary_core::{Environment, Object, Text, json, object};
use volary_envs::registry;

use crate::player::{Player, content, request};

#[test]
fn a_question_is_answered_offline() {
    let mut player = Player::new("hotpotqa", object!({}));
    let mut call = |name: &str, arguments| {
        let step = player.step(&[("1", name, arguments)]).unwrap();
        (step.contents[0].clone(), step.reward, step.done)
    };
    let (found, ..) = call("search", json!({"entity": "Brandenburg concertos"}));
    assert!(found.contains("Johann Sebastian Bach"), "{found}");
    let (found, ..) = call("search", json!({"entity": "Bach"}));
    assert!(found.contains("Leipzig"), "{found}");
    let (line, ..) = call("lookup", json!({"keyword": "died"}));
    assert!(line.starts_with("(Result 1 / 1) "), "{line}");
    let (similar, ..) = call("search", json!({"entity": "cities of Saxony"}));
    assert!(similar.ends_with("Similar: ['Leipzig']."), "{similar}");
    let last = call("submit_answer", json!({"answer": "It is in Germany."}));
    assert_eq!(last, ("Finished.".to_owned(), 1.0, true));
    let right = (Tone::Good, "“It is in Germany.” is right.".to_owned());
    assert_eq!(player.verdicts(), [right]);
    assert_eq!(player.environment.recorded(), Object::new());
}

/// Returns scripted texts, and records the requests.
struct Scripted {
    texts: RefCell<VecDeque<&'static str>>,
    asked: RefCell<Vec<String>>,
}

impl Scripted {
    fn new<const N: usize>(texts: [&'static str; N]) -> Rc<Self> {
        Rc::new(Scripted {
            texts: RefCell::new(texts.into()),
            asked: RefCell::default(),
        })
    }

    fn next(&self, asked: &str) -> Answer {
        self.asked.borrow_mut().push(asked.to_owned());
        match self.texts.borrow_mut().pop_front() {
            Some(text) => Box::pin(std::future::ready(Ok(Text::from(text)))),
            None => Closed.fetch(asked),
        }
    }
}

impl Outside for Scripted {
    fn fetch(&self, address: &str) -> Answer {
        self.next(address)
    }

    fn complete(&self, request: ModelRequest) -> Answer {
        self.next(request.purpose)
    }

    fn ask(&self, shown: &str) -> Answer {
        self.next(shown)
    }
}

const WIKI: &str = "https://wiki.example/api.php";

fn made(configuration: &Object, outside: Rc<dyn Outside>) -> Box<dyn Environment> {
    let setting = Setting {
        seed: 0,
        clock: Rc::new(VirtualClock::new()),
        outside,
    };
    let made = registry().environment_from_name("hotpotqa", None, configuration, &setting);
    let mut environment = made.unwrap();
    VirtualClock::new()
        .run(environment.reset())
        .unwrap()
        .unwrap();
    environment
}

fn search(environment: &mut dyn Environment) -> Result<String, String> {
    let action = request(&[("1", "search", json!({"entity": "Verda"}))]);
    let step = VirtualClock::new()
        .run(environment.step(action.into()))
        .unwrap();
    step.map(|step| content(&step.messages[0]))
        .map_err(|error| error.to_string())
}

#[test]
fn pages_of_a_wiki_belong_to_the_episode() {
    let outside = Scripted::new([
        r#"{"error": {"code": "missingtitle", "info": "There is none."}}"#,
        r#"{"query": {"search": []}}"#,
        r#"{"query": {"search": [{"title": "Lake Verda"}]}}"#,
    ]);
    let mut configuration = object!({"wiki": WIKI});
    let mut first = made(&configuration, outside.clone());
    let found = search(&mut *first);
    assert_eq!(
        found,
        Ok("Search for 'Verda' returned no results. Similar: ['Lake Verda'].".into())
    );
    assert_eq!(search(&mut *first), found, "nothing is fetched twice");
    assert_eq!(outside.asked.borrow().len(), 3);
    // With the recorded pages, nothing is fetched.
    configuration.extend(first.recorded());
    let mut again = made(&configuration, Rc::new(Closed));
    assert_eq!(search(&mut *again), found);
    let mut other = made(&object!({"wiki": WIKI}), Rc::new(Closed));
    assert!(search(&mut *other).is_err_and(|error| error.contains("was not fetched")));
}

#[test]
fn a_model_judges() {
    for (reply, reward) in [(" Yes\n", 1.0), ("no", 0.0)] {
        let configuration = object!({"evaluation_mode": "llm"});
        let mut environment = made(&configuration, Scripted::new([reply]));
        let action = request(&[("1", "submit_answer", json!({"answer": "x"}))]);
        let step = VirtualClock::new()
            .run(environment.step(action.into()))
            .unwrap();
        assert_eq!(step.map(|step| step.reward), Ok(reward));
    }
}
