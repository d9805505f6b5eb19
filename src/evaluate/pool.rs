//! The workers of an evaluation: they play cells of policies without models in orders of a few, and hold the
//! environments of episodes that models play. What a lost worker had is told, never forgotten.

mod orders;
pub mod spares;
mod winding_up;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use volary_agent::evaluation::{CellResult, Job};
use volary_core::json::Text;

use orders::{AHEAD, Ordered, Share, watch};

use super::abroad;
use super::protocol::{Order, Word, results_from_text};
use crate::protocol::{Event, Token};
use crate::shell::database::KeptText;
use crate::shell::worker_link::{Report, WorkerLink};
use crate::shell::{self, timers};

/// More workers than this make nothing faster: the page writes down what they do.
const MOST_WORKERS: usize = 6;
/// The cells of an order on a server. They wait for it beside each other, and each may take long.
const ORDER_ABROAD: usize = 4;

/// What comes of the cells of an order.
pub enum News {
    /// Cells were played.
    Played {
        /// Their results.
        results: Vec<CellResult>,
        /// The row and the text of the episode of each result; empty where there is none.
        texts: Vec<KeptText>,
    },
    /// There was no time to begin these cells.
    Left(Vec<usize>),
    /// The worker broke down, or was ended, with these cells.
    Lost {
        /// The cells.
        cells: BTreeSet<usize>,
        /// Why.
        message: String,
    },
}

type Hear = Rc<dyn Fn(News)>;

/// The workers. Dropped, they end, and close first what they have on servers.
pub struct Pool {
    workers: Vec<Rc<RefCell<Post>>>,
    /// Whether environments are on servers.
    is_abroad: bool,
    share: Share,
    hear: Hear,
    next: RefCell<Token>,
}

/// A worker.
struct Post {
    link: Option<WorkerLink>,
    /// Counts the workers that stood here; reports of former ones are dropped.
    generation: u32,
    /// What it is to play, the first order first.
    orders: VecDeque<Ordered>,
    /// What environments of models said and nobody took yet.
    letters: BTreeMap<Token, Mailbox>,
    /// The environments that it has on servers.
    held: BTreeSet<Text>,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    NotYet,
    /// What it still says of cells is of no interest.
    Wanted,
    /// It has closed all.
    Ready,
}

#[derive(Default)]
struct Mailbox {
    events: VecDeque<Event>,
    waker: Option<Waker>,
}

/// An environment of a model's episode within a worker.
pub struct Seat {
    post: Rc<RefCell<Post>>,
    hear: Hear,
    /// Its token.
    pub token: Token,
}

impl Pool {
    /// Workers of so many cells, for whom somebody hears news, with environments on servers or here. They are started
    /// when they are needed.
    pub fn new(is_abroad: bool, cells: usize, hear: impl Fn(News) + 'static) -> Self {
        let post = || {
            Rc::new(RefCell::new(Post {
                link: None,
                generation: 0,
                orders: VecDeque::new(),
                letters: BTreeMap::new(),
                held: BTreeSet::new(),
                end: End::NotYet,
            }))
        };
        Pool {
            is_abroad,
            share: Share::new(cells, worker_count()),
            workers: (0..worker_count()).map(|_| post()).collect(),
            hear: Rc::new(hear),
            next: RefCell::new(0),
        }
    }

    /// Gives orders to workers that have too few, of as many cells as wait: `begin` begins some of them. While
    /// `careful`, an order has one cell: then it is known which cell broke a worker.
    pub fn fill(
        &self,
        careful: bool,
        seconds: f64,
        mut waiting: usize,
        begin: &mut dyn FnMut(usize) -> Vec<Job>,
    ) {
        let ahead = match careful || self.is_abroad {
            true => 1,
            false => AHEAD,
        };
        for round in 0..ahead {
            for worker in &self.workers {
                if worker.borrow().orders.len() > round {
                    continue;
                }
                let size = match (careful, self.is_abroad) {
                    (true, _) => 1,
                    (_, true) => ORDER_ABROAD,
                    _ => self.share.of(waiting),
                };
                let jobs = begin(size);
                if jobs.is_empty() {
                    return;
                }
                waiting = waiting.saturating_sub(jobs.len());
                self.order(worker, jobs, seconds);
            }
        }
    }

    fn order(&self, worker: &Rc<RefCell<Post>>, jobs: Vec<Job>, seconds: f64) {
        worker.borrow_mut().orders.push_back(Ordered {
            cells: jobs.iter().map(|job| job.cell).collect(),
            since: timers::now(),
            limit: (!self.is_abroad).then_some(seconds),
        });
        let servers = abroad::access(jobs.iter().map(|job| &job.recipe));
        send(worker, &self.hear, &Order::Play { jobs, servers });
        if worker.borrow().orders.len() == 1 {
            watch(worker, &self.hear);
        }
    }

    /// Gives back the workers that have nothing to do; others are taken when there is something again. What
    /// environments of models, or on servers, still do is not known here: workers that may have some stay.
    pub fn rest(&self) {
        if self.is_abroad || *self.next.borrow() > 0 {
            return;
        }
        for worker in &self.workers {
            let link = worker.borrow_mut().spared();
            link.into_iter().for_each(spares::give);
        }
    }

    /// A place for another environment, in the worker that has the fewest.
    pub fn seat(&self) -> Option<Seat> {
        let post = self
            .workers
            .iter()
            .min_by_key(|worker| worker.borrow().letters.len())?;
        let token = {
            let mut next = self.next.borrow_mut();
            *next = next.wrapping_add(1);
            *next
        };
        post.borrow_mut().letters.insert(token, Mailbox::default());
        Some(Seat {
            post: Rc::clone(post),
            hear: Rc::clone(&self.hear),
            token,
        })
    }
}

impl Post {
    /// Its worker, if that has nothing to do.
    fn spared(&mut self) -> Option<WorkerLink> {
        let link = self.link.take_if(|_| self.orders.is_empty())?;
        // What it still says is for whoever takes it next.
        self.generation = self.generation.wrapping_add(1);
        Some(link)
    }
}

impl Seat {
    /// Says something to the environment's worker.
    pub fn send(&self, order: &Order) {
        send(&self.post, &self.hear, order);
    }

    /// The next word of the environment.
    pub async fn next(&self) -> Event {
        poll_fn(|context| {
            let mut post = self.post.borrow_mut();
            let mailbox = post.letters.entry(self.token).or_default();
            match mailbox.events.pop_front() {
                Some(event) => Poll::Ready(event),
                None => {
                    mailbox.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut post = self.post.borrow_mut();
        post.letters.remove(&self.token);
        if let Some(link) = &post.link {
            link.post(&Order::Leave { token: self.token }.to_text());
        }
    }
}

fn send(worker: &Rc<RefCell<Post>>, hear: &Hear, order: &Order) {
    start(worker, hear);
    if let Some(link) = &worker.borrow().link {
        link.post(&order.to_text());
    }
}

/// How many workers an evaluation has.
fn worker_count() -> usize {
    shell::processors().clamp(1, MOST_WORKERS)
}

/// Starts a worker, unless it is there.
fn start(worker: &Rc<RefCell<Post>>, hear: &Hear) {
    if worker.borrow().link.is_some() {
        return;
    }
    let generation = worker.borrow().generation;
    let (weak, hear_report) = (Rc::downgrade(worker), Rc::clone(hear));
    let report = move |report| {
        if let Some(worker) = weak.upgrade()
            && worker.borrow().generation == generation
        {
            take(&worker, &hear_report, report);
        }
    };
    let started = spares::take(report.clone()).map_or_else(|| WorkerLink::start(report), Ok);
    match started {
        Ok(link) => worker.borrow_mut().link = Some(link),
        Err(reason) => {
            // Said later: whoever sends does not expect an answer at once.
            let (worker, hear) = (Rc::clone(worker), Rc::clone(hear));
            shell::spawn(async move { lose(&worker, &hear, reason) });
        }
    }
}

fn take(worker: &Rc<RefCell<Post>>, hear: &Hear, report: Report) {
    if let Report::Said(text) = &report
        && let Some(word) = Word::read(text)
    {
        return take_word(worker, hear, word);
    }
    if worker.borrow().end != End::NotYet {
        return;
    }
    match report {
        Report::Handed { head, texts } => {
            let Some(results) = results_from_text(&head) else {
                return lose(worker, hear, "What it said can't be read.".to_owned());
            };
            if worker
                .borrow_mut()
                .tick_off(results.iter().map(|result| result.cell))
            {
                watch(worker, hear);
            }
            hear(News::Played { results, texts });
        }
        Report::Made { .. } => {}
        Report::Said(text) => match Event::read(&text) {
            Ok(Event::Panicked { message }) => lose(worker, hear, message.to_string()),
            Ok(event) => deliver(worker, event),
            Err(error) => lose(worker, hear, error.to_string()),
        },
        Report::Unloaded => lose(worker, hear, shell::lazy::Unloaded.to_string()),
        Report::Lost { message } => lose(worker, hear, message),
    }
}

fn take_word(worker: &Rc<RefCell<Post>>, hear: &Hear, word: Word) {
    let Word::Left { cells } = word else {
        return worker.borrow_mut().take_word(word);
    };
    if worker.borrow_mut().tick_off(cells.iter().copied()) {
        watch(worker, hear);
    }
    hear(News::Left(cells));
}

fn deliver(worker: &Rc<RefCell<Post>>, event: Event) {
    let token = match &event {
        Event::Opened { token, .. }
        | Event::Stepped { token, .. }
        | Event::Finished { token, .. }
        | Event::Refused { token, .. }
        | Event::Lost { token, .. }
        | Event::Gone { token } => *token,
        _ => return,
    };
    let waker = worker
        .borrow_mut()
        .letters
        .get_mut(&token)
        .and_then(|mailbox| {
            mailbox.events.push_back(event);
            mailbox.waker.take()
        });
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The worker is of no more use; the next order starts another.
fn lose(worker: &Rc<RefCell<Post>>, hear: &Hear, message: String) {
    let (cells, wakers) = {
        let mut post = worker.borrow_mut();
        post.finish();
        post.generation = post.generation.wrapping_add(1);
        let mut wakers = Vec::new();
        for mailbox in post.letters.values_mut() {
            mailbox.events.push_back(Event::Panicked {
                message: message.as_str().into(),
            });
            wakers.extend(mailbox.waker.take());
        }
        let orders = std::mem::take(&mut post.orders);
        let cells = orders.into_iter().flat_map(|order| order.cells);
        (cells.collect(), wakers)
    };
    wakers.into_iter().for_each(Waker::wake);
    // Also without cells: environments of models may have been lost.
    hear(News::Lost { cells, message });
}
