//! The worker's own end: runs environments and reads files, one command after the other.
//!
//! A panic or an endless loop in here costs this worker, not the page: the page hears of the
//! first, ends the second, and starts another worker.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use leptos::wasm_split::wasm_split;
use volary_agent::RunnerError;
use volary_core::json::Text;
use volary_core::registry::Registry;
use volary_core::{AnyMessage, Clock};
use volary_trace::Recipe;
use volary_trace::import::{InputFile, import};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::clock::BrowserClock;
use super::lazy::Loaded;
use super::timers;
use super::worker_evaluation::Evaluating;
use super::worker_letter;
use super::worker_library;
use super::worker_link::UNLOADED;
use super::worker_live::{Live, Refusal};
use crate::evaluate::protocol::Order;
use crate::library::indexed_db_store::IndexedDbStore;
use crate::library::librarian::Librarian;
use crate::parts::say_episode;
use crate::protocol::{Command, Event, Token};
use crate::remote::servers::Access;

/// Steps are reported when this many have gathered…
const MOST_STEPS: usize = 250;
/// …or when so many seconds have passed, so that the page can show progress.
const LONGEST_SILENCE: f64 = 0.05;

/// What is to be done.
enum Job {
    Command(Command),
    Import(Vec<InputFile>),
}

pub(super) struct Host {
    pub(super) scope: DedicatedWorkerGlobalScope,
    pub(super) registry: Registry,
    pub(super) clock: Rc<dyn Clock>,
    pub(super) evaluating: Evaluating,
    jobs: RefCell<VecDeque<Job>>,
    working: Cell<bool>,
    pub(super) librarian: Librarian,
    /// Whether this worker hears what others keep.
    pub(super) listens: Cell<bool>,
    live: RefCell<Option<Live>>,
    /// The servers that may be called.
    servers: RefCell<Vec<Access>>,
}

/// Loads what environments take, and listens to the page from then on.
pub fn start(scope: DedicatedWorkerGlobalScope) {
    super::spawn(async move {
        if serve(scope.clone()).await.is_err() {
            // A text can always be cloned to the page.
            let _ = scope.post_message(&UNLOADED.into());
        }
    });
}

/// Listens to the page, for ever.
#[wasm_split(engine, wasm_split_path = leptos::wasm_split, fallible)]
fn serve(scope: DedicatedWorkerGlobalScope) -> Loaded<()> {
    report_panics(&scope);
    let host = Rc::new(Host {
        scope: scope.clone(),
        registry: volary_envs::registry(),
        clock: Rc::new(BrowserClock),
        evaluating: Evaluating::default(),
        jobs: RefCell::default(),
        working: Cell::new(false),
        live: RefCell::default(),
        librarian: Librarian::new(
            IndexedDbStore,
            volary_envs::registry(),
            Rc::new(BrowserClock),
            timers::wall_clock,
        ),
        listens: Cell::new(false),
        servers: RefCell::default(),
    });
    let hear = move |data: JsValue| {
        let order = data.as_string().and_then(|text| Order::read(&text));
        if let Some(order) = order {
            Rc::clone(&host).order(order);
        } else if let Some(task) = worker_library::task(&data) {
            Rc::clone(&host).shelve(task);
        } else if let Some(job) = job(&data) {
            host.jobs.borrow_mut().push_back(job);
            if !host.working.replace(true) {
                super::spawn(Rc::clone(&host).work());
            }
        }
    };
    // What was said before stands in `letters` (`start.js`).
    let letters = js_sys::Reflect::get(&scope, &"letters".into());
    for letter in letters
        .iter()
        .filter_map(|letters| letters.dyn_ref::<Array>())
    {
        letter.iter().for_each(&hear);
    }
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        hear(event.data());
    });
    scope.set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    Ok(())
}

/// A text is a command, an array holds files. Anything else is not from our page.
fn job(data: &JsValue) -> Option<Job> {
    match data.as_string() {
        Some(text) => Command::read(&text).ok().map(Job::Command),
        None => {
            let files = data.dyn_ref::<Array>()?;
            let file = |entry: JsValue| {
                let entry = entry.dyn_into::<Array>().ok()?;
                Some(InputFile {
                    name: entry.get(0).as_string(),
                    bytes: entry.get(1).dyn_into::<Uint8Array>().ok()?.to_vec(),
                })
            };
            Some(Job::Import(files.iter().filter_map(file).collect()))
        }
    }
}

/// The page learns why before the worker is gone.
fn report_panics(scope: &DedicatedWorkerGlobalScope) {
    thread_local! {
        static SCOPE: RefCell<Option<DedicatedWorkerGlobalScope>> = const { RefCell::new(None) };
    }
    SCOPE.set(Some(scope.clone()));
    std::panic::set_hook(Box::new(|info| {
        let event = Event::Panicked {
            message: info.to_string().into(),
        };
        SCOPE.with_borrow(|scope| {
            if let Some(scope) = scope {
                // A text can always be cloned to the page.
                let _ = scope.post_message(&event.to_text().into());
            }
        });
    }));
}

impl Host {
    async fn work(self: Rc<Self>) {
        loop {
            let job = self.jobs.borrow_mut().pop_front();
            match job {
                None => break,
                Some(Job::Import(files)) => self.import(&files),
                Some(Job::Command(Command::Open {
                    token,
                    recipe,
                    actions,
                })) => {
                    if let Err(refusal) = self.open(token, recipe, actions).await {
                        self.refuse(token, refusal);
                    }
                }
                Some(Job::Command(Command::Servers { servers })) => {
                    self.servers.replace(servers);
                }
                Some(Job::Command(Command::Step { token, action })) => {
                    self.step(token, action).await;
                }
            }
        }
        self.working.set(false);
    }

    async fn open(
        &self,
        token: Token,
        recipe: Recipe,
        actions: Vec<AnyMessage>,
    ) -> Result<(), Refusal> {
        let servers = self.servers.borrow().clone();
        let clock = Rc::clone(&self.clock);
        let begun = |url: &Text, env_id: &Text| {
            let (url, env_id) = (url.clone(), env_id.clone());
            self.say(&Event::Begun { token, url, env_id });
        };
        let opened = Live::open(token, recipe, &self.registry, &servers, clock, &begun).await;
        let (head, mut live) = opened?;
        self.say(&Event::Opened { token, head });
        let (mut steps, mut patches) = (Vec::new(), Vec::new());
        let mut reported = self.clock.now();
        for action in actions {
            let stepped = match live.runner.step(action).await {
                Ok(stepped) => stepped,
                Err(RunnerError::Crashed { message }) => {
                    self.say(&Event::Stepped {
                        token,
                        steps,
                        patches,
                    });
                    let reason = live.reason_of_loss(message).await;
                    self.say(&Event::Lost { token, reason });
                    live.close();
                    return Ok(());
                }
                Err(error) => {
                    live.close();
                    return Err(error.into());
                }
            };
            steps.push(stepped.record);
            patches.extend(live.has_frames.then_some(stepped.frame));
            if steps.len() >= MOST_STEPS || self.clock.now() - reported > LONGEST_SILENCE {
                reported = self.clock.now();
                self.say(&Event::Stepped {
                    token,
                    steps: std::mem::take(&mut steps),
                    patches: std::mem::take(&mut patches),
                });
            }
        }
        self.say(&Event::Stepped {
            token,
            steps,
            patches,
        });
        let former = self.live.replace(Some(live));
        self.say(&Event::Finished {
            token,
            notes: Vec::new(),
        });
        former.into_iter().for_each(Live::close);
        Ok(())
    }

    async fn step(&self, token: Token, action: AnyMessage) {
        // Taken out for the time of the step: a step may wait, and no borrow may.
        let live = self.live.borrow_mut().take_if(|live| live.token == token);
        let Some(mut live) = live else {
            self.say(&Event::Gone { token });
            return;
        };
        match live.runner.step(action).await {
            Ok(stepped) => self.say(&Event::Stepped {
                token,
                steps: vec![stepped.record],
                patches: live
                    .has_frames
                    .then_some(stepped.frame)
                    .into_iter()
                    .collect(),
            }),
            Err(RunnerError::Crashed { message }) => {
                let reason = live.reason_of_loss(message).await;
                self.say(&Event::Lost { token, reason });
            }
            Err(error) => self.refuse(token, error.into()),
        }
        self.live.replace(Some(live));
    }

    /// Reads files and sends the first episode, in parts.
    fn import(&self, files: &[InputFile]) {
        const TOKEN: Token = 0;
        let outcome = match import(files) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.say(&Event::Refused {
                    token: TOKEN,
                    reason: error.to_string().into(),
                    key: None,
                });
                return;
            }
        };
        let count = outcome.episodes.len();
        let mut notes: Vec<_> = outcome.notes.into_iter().map(|note| note.text).collect();
        if count > 1 {
            notes.push(format!("There are {count} episodes; the first one is shown.").into());
        }
        let Some(episode) = outcome.episodes.into_iter().next() else {
            self.say(&Event::Refused {
                token: TOKEN,
                reason: "There is no episode in it.".into(),
                key: None,
            });
            return;
        };
        say_episode(TOKEN, episode, notes, &mut |event| self.say(&event));
    }

    pub(super) fn refuse(&self, token: Token, refusal: Refusal) {
        self.say(&Event::Refused {
            token,
            reason: refusal.reason,
            key: refusal.key,
        });
    }

    pub(super) fn say(&self, event: &Event) {
        worker_letter::post(&self.scope, &event.to_text());
    }
}
