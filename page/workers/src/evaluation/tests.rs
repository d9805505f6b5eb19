//! Orders to play cells and the replies to them, without a browser.

use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join;
use volary_agent::evaluation::{Actor, Plan, PlannedPolicy, PlannedTask, Status};
use volary_core::json::Object;
use volary_core::object;
use volary_core::virtual_clock::VirtualClock;
use volary_protocol::environments::Question;

use super::*;

impl EpisodeText for String {
    fn of(episode: Option<&Episode>) -> [Self; 2] {
        let id = episode.map(|episode| episode.id.to_string());
        let text = episode.map(native::to_text);
        [id.unwrap_or_default(), text.unwrap_or_default()]
    }

    fn length(&self) -> usize {
        self.len()
    }
}

/// An evaluation of one policy in one environment.
struct Order {
    environment: &'static str,
    configuration: Object,
    actor: Actor,
}

impl Order {
    fn of(environment: &'static str, actor: Actor) -> Order {
        Order {
            environment,
            configuration: Object::default(),
            actor,
        }
    }

    fn plan(&self, cells: usize) -> Plan {
        Plan {
            tasks: vec![PlannedTask {
                id: "1".into(),
                title: "One".into(),
                environment: self.environment.into(),
                configuration: self.configuration.clone(),
            }],
            policies: vec![PlannedPolicy {
                name: "P".into(),
                actor: self.actor.clone(),
                max_steps: 3,
            }],
            trials: cells,
            ..Plan::default()
        }
    }

    /// The request to play these cells of an evaluation of a hundred.
    fn play(&self, cells: std::ops::Range<usize>) -> Request {
        let plan = self.plan(100);
        let job = |number| Job::of(&"e".into(), &plan, plan.cell(number)?, 0);
        Request::Play {
            jobs: cells.map(|number| job(number).unwrap()).collect(),
            servers: Vec::new(),
        }
    }
}

/// A service with its clock, and what it sent.
struct Worker {
    clock: VirtualClock,
    service: EvaluationService,
    environments: Environments,
    sent: RefCell<Vec<(Event, Vec<String>)>>,
}

impl Worker {
    fn new() -> Worker {
        let clock = VirtualClock::new();
        let shared: Rc<dyn Clock> = Rc::new(clock.clone());
        Worker {
            service: EvaluationService::new(volary_envs::registry(), Rc::clone(&shared)),
            environments: Environments::new(volary_envs::registry(), shared),
            clock,
            sent: RefCell::default(),
        }
    }

    /// Handles a request. Its replies are in `sent`.
    async fn handle(&self, request: Request) {
        let send = |event, texts: Option<Vec<String>>| {
            let texts = texts.unwrap_or_default();
            self.sent.borrow_mut().push((event, texts));
        };
        self.service
            .handle(request, &self.environments, &send)
            .await;
    }

    /// Plays an order, whose results come in one batch, and returns that.
    fn batch(&self, order: Request) -> (Vec<CellResult>, Vec<String>) {
        self.clock.run(self.handle(order)).unwrap();
        let mut sent = self.sent.take();
        match (sent.pop(), &sent[..]) {
            (Some((Event::Played { results }, texts)), []) => (results, texts),
            other => panic!("{other:?} is not one batch"),
        }
    }

    /// The cells that were played, in the order of the results.
    fn played(&self) -> Vec<usize> {
        let sent = self.sent.borrow();
        let results = sent.iter().filter_map(|(event, _)| match event {
            Event::Played { results } => Some(results),
            _ => None,
        });
        results.flatten().map(|result| result.cell).collect()
    }

    /// The cells that were not begun.
    fn left(&self) -> Vec<usize> {
        let sent = self.sent.borrow();
        let left = sent.iter().filter_map(|(event, _)| match event {
            Event::NotStarted { cells } => Some(cells.clone()),
            _ => None,
        });
        left.flatten().collect()
    }

    /// The questions to a person.
    fn questions(&self) -> Vec<u32> {
        let sent = self.sent.borrow();
        let questions = sent.iter().filter_map(|(event, _)| match event {
            Event::Question {
                id,
                question: Question::Person { .. },
            } => Some(*id),
            _ => None,
        });
        questions.collect()
    }
}

#[test]
fn each_result_comes_with_the_texts_of_its_episode() {
    let order = Order::of("dummy", Actor::Random).play(0..5);
    let (results, texts) = Worker::new().batch(order);
    assert_eq!(results.len(), 5);
    for (result, texts) in results.iter().zip(texts.chunks(2)) {
        assert_eq!(texts[0], format!("e-{:06}", result.cell));
        let reading = native::read(&texts[1]).unwrap();
        assert_eq!(&*reading.episodes[0].id, &*texts[0]);
        assert_eq!(result.attempts, 1);
    }
}

#[test]
fn a_cell_without_an_episode_has_empty_texts_and_a_reason() {
    let order = Order::of("nowhere", Actor::Random).play(0..1);
    let (results, texts) = Worker::new().batch(order);
    assert!(matches!(results[0].status, Status::Failed(_)));
    assert_eq!(texts, ["", ""]);
}

#[test]
fn orders_are_carried_out_in_turn() {
    let worker = Worker::new();
    // The tools of this environment wait for their limit, those of the next one for nothing.
    let slow = Order::of("slow", Actor::Random).play(0..2);
    let quick = Order::of("dummy", Actor::Random).play(2..4);
    let both = join(worker.handle(slow), worker.handle(quick));
    worker.clock.run(both).unwrap();
    let mut played = worker.played();
    played[..2].sort_unstable();
    played[2..].sort_unstable();
    assert_eq!(played, [0, 1, 2, 3]);
}

#[test]
fn cells_that_would_begin_late_are_given_back() {
    let worker = Worker::new();
    let mut order = Order::of("slow", Actor::Random);
    order.configuration = object!({ "tool_seconds": 0.4, "limit_seconds": null });
    let cells = 2 * CONCURRENT_CELLS;
    worker
        .clock
        .run(worker.handle(order.play(0..cells)))
        .unwrap();
    assert!(worker.clock.elapsed() > Duration::from_secs_f64(ORDER_SECONDS));
    let (mut played, left) = (worker.played(), worker.left());
    assert!(!left.is_empty(), "the tools take longer than an order may");
    played.extend(left);
    played.sort_unstable();
    assert_eq!(played, (0..cells).collect::<Vec<_>>(), "none is lost");
}

#[test]
fn a_waiting_cell_does_not_hold_back_finished_results() {
    let worker = Worker::new();
    let mut jobs = Vec::new();
    let mut asking = Order::of("library_desk", Actor::Random);
    asking.configuration = object!({ "customer": "person" });
    for request in [
        asking.play(0..1),
        Order::of("dummy", Actor::Random).play(1..3),
    ] {
        if let Request::Play { jobs: more, .. } = request {
            jobs.extend(more);
        }
    }
    let servers = Vec::new();
    let playing = worker.handle(Request::Play { jobs, servers });
    // Only the person's answer would end it.
    assert!(worker.clock.run(playing).is_err());
    let mut played = worker.played();
    played.sort_unstable();
    assert_eq!(played, [1, 2]);
}

#[test]
fn an_answer_reaches_the_cell_that_asked() {
    let worker = Worker::new();
    let mut order = Order::of("library_desk", Actor::Random);
    order.configuration = object!({ "customer": "person" });
    let mut playing = pin!(worker.handle(order.play(0..2)));
    assert_eq!(playing.as_mut().now_or_never(), None);
    let asked = worker.questions();
    assert_eq!(asked.len(), 2, "each desk asks its customer");
    // The customer of one cell leaves, which ends only that one.
    let answer = |question, answer| {
        let answer = Request::Answer { question, answer };
        assert_eq!(worker.handle(answer).now_or_never(), Some(()));
    };
    answer(asked[1], Err("The person left.".into()));
    assert!(
        worker.clock.run(playing.as_mut()).is_err(),
        "the other one waits"
    );
    assert_eq!(worker.played().len(), 1);
    // The other one goes on until its limit of steps, or until the person is asked again.
    let mut answered = vec![asked[1]];
    while playing.as_mut().now_or_never().is_none() {
        let mut open = worker.questions().into_iter();
        let Some(open) = open.find(|id| !answered.contains(id)) else {
            break;
        };
        answered.push(open);
        answer(open, Ok("Any book.".into()));
    }
    let mut played = worker.played();
    played.sort_unstable();
    assert_eq!(played, [0, 1]);
}

#[test]
fn a_shutdown_ends_once_what_was_begun_is_sent() {
    let worker = Worker::new();
    let order = Order::of("slow", Actor::Random);
    let cells = 2 * CONCURRENT_CELLS;
    let shutdown = async {
        worker.handle(Request::Shutdown).await;
        worker.played().len()
    };
    let both = join(worker.handle(order.play(0..cells)), shutdown);
    let ((), played_by_then) = worker.clock.run(both).unwrap();
    assert!((1..cells).contains(&played_by_then), "those that had begun");
    // None begins after it.
    worker
        .clock
        .run(worker.handle(order.play(cells..cells + 1)))
        .unwrap();
    assert_eq!(worker.played().len(), played_by_then);
    assert!(worker.left().is_empty());
}
