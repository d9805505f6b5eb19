//! The worker's own end: runs environments and reads files, one command after the other.
//!
//! A panic or an endless loop in here costs this worker, not the page: the page hears of the
//! first, ends the second, and starts another worker.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use volary_agent::{Runner, RunnerError};
use volary_core::registry::{Registry, RegistryError};
use volary_core::{AnyMessage, Clock};
use volary_trace::Recipe;
use volary_trace::import::{InputFile, import};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::clock::BrowserClock;
use super::worker_link::READY;
use crate::protocol::{Command, Event, Token};

/// Steps are reported when this many have gathered…
const MOST_STEPS: usize = 250;
/// …or when so many seconds have passed, so that the page can show progress.
const LONGEST_SILENCE: f64 = 0.05;

/// What is to be done.
enum Job {
    Command(Command),
    Import(Vec<InputFile>),
}

struct Host {
    scope: DedicatedWorkerGlobalScope,
    registry: Registry,
    clock: Rc<dyn Clock>,
    jobs: RefCell<VecDeque<Job>>,
    working: Cell<bool>,
    live: RefCell<Option<(Token, Runner)>>,
}

/// Listens to the page, for ever.
pub fn serve(scope: DedicatedWorkerGlobalScope) {
    report_panics(&scope);
    let host = Rc::new(Host {
        scope: scope.clone(),
        registry: volary_envs::registry(),
        clock: Rc::new(BrowserClock),
        jobs: RefCell::default(),
        working: Cell::new(false),
        live: RefCell::default(),
    });
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        if let Some(job) = job(&event.data()) {
            host.jobs.borrow_mut().push_back(job);
            if !host.working.replace(true) {
                super::spawn(Rc::clone(&host).work());
            }
        }
    });
    scope.set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    // A text can always be cloned to the page.
    let _ = scope.post_message(&READY.into());
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
                    if let Err(error) = self.open(token, recipe, actions).await {
                        self.refuse(token, &error);
                    }
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
    ) -> Result<(), RunnerError> {
        let (mut runner, opening) =
            Runner::open(&self.registry, &recipe, Rc::clone(&self.clock)).await?;
        self.say(&Event::Opened {
            token,
            head: opening.episode(recipe),
        });
        let (mut steps, mut patches) = (Vec::new(), Vec::new());
        let mut reported = self.clock.now();
        for action in actions {
            let stepped = runner.step(action).await?;
            steps.push(stepped.record);
            patches.push(stepped.frame);
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
        let former = self.live.replace(Some((token, runner)));
        if let Some((_, mut former)) = former {
            // Nobody waits for what an environment says on closing.
            let _ = former.close().await;
        }
        self.say(&Event::Finished {
            token,
            notes: Vec::new(),
        });
        Ok(())
    }

    async fn step(&self, token: Token, action: AnyMessage) {
        // Taken out for the time of the step: a step may wait, and no borrow may.
        let live = self.live.borrow_mut().take_if(|live| live.0 == token);
        let Some((_, mut runner)) = live else {
            self.say(&Event::Gone { token });
            return;
        };
        match runner.step(action).await {
            Ok(stepped) => self.say(&Event::Stepped {
                token,
                steps: vec![stepped.record],
                patches: vec![stepped.frame],
            }),
            Err(error) => self.refuse(token, &error),
        }
        self.live.replace(Some((token, runner)));
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
        let Some(mut head) = outcome.episodes.into_iter().next() else {
            self.say(&Event::Refused {
                token: TOKEN,
                reason: "There is no episode in it.".into(),
                key: None,
            });
            return;
        };
        let steps = std::mem::take(&mut head.steps);
        let frames = std::mem::take(&mut head.frames);
        self.say(&Event::Opened { token: TOKEN, head });
        let mut steps = steps.into_iter();
        // There may be more frames than steps, or fewer.
        let length = frames.len().max(steps.len());
        for start in (0..length).step_by(MOST_STEPS) {
            let end = length.min(start + MOST_STEPS);
            self.say(&Event::Stepped {
                token: TOKEN,
                steps: steps.by_ref().take(MOST_STEPS).collect(),
                patches: (start..end)
                    .filter_map(|index| frames.patch(index).cloned())
                    .collect(),
            });
        }
        self.say(&Event::Finished {
            token: TOKEN,
            notes,
        });
    }

    fn refuse(&self, token: Token, error: &RunnerError) {
        let key = match error {
            RunnerError::Make(RegistryError::Configuration { key, .. }) => Some(key.clone()),
            _ => None,
        };
        self.say(&Event::Refused {
            token,
            reason: error.to_string().into(),
            key,
        });
    }

    fn say(&self, event: &Event) {
        // A text can always be cloned to the page.
        let _ = self.scope.post_message(&event.to_text().into());
    }
}
