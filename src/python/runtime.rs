//! The runtime of Python on the page: the frame, the ports of the workers, and their status for the user. Carries out
//! the effects of [`super::hub`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use leptos::prelude::*;
use volary_core::json;
use volary_core::json::{Json, Text};

use super::files::{Description, PythonSource};
use super::hub::{Answer, Asker, Effect, Event, Hub, Status};
use super::limits::{self, Limits};
use super::loading::{self, HostReply};
use super::stored;
use crate::browser::python_frame::{FrameEvent, PythonFrame};
use crate::browser::python_port::{self, MessagePort, QuestionPort};
use crate::browser::{spawn, timers};

/// The asker id of the page itself.
const PAGE: Asker = 0;
/// The maximum length of the printed text that is stored, in bytes.
const LONGEST_CONSOLE: usize = 200_000;

fn limits_now() -> Limits {
    untrack(limits::limits)
}

/// The timeout of an answer in seconds.
fn answer_seconds() -> f64 {
    f64::from(limits_now().seconds)
}

/// The progress of Python, as the user sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PythonStatus {
    /// Not requested yet.
    #[default]
    Absent,
    /// The files are being fetched: bytes received, and all.
    Fetching(f64, f64),
    /// Python is starting; the text names the stage.
    Starting(&'static str),
    /// Python waits for a question.
    Idle,
    /// Python is answering a question.
    Busy,
    /// Python could not be started.
    Failed(String),
}

/// The callback for the answer to a question of the page itself.
type Then = Box<dyn FnOnce(Result<Answer, String>)>;

/// The state of Python on this page.
struct Runtime {
    hub: Hub,
    frame: Option<PythonFrame>,
    ports: Vec<QuestionPort>,
    /// The open questions of the page itself.
    own: BTreeMap<u32, Then>,
    last_own: u32,
    progress: ArcRwSignal<PythonStatus>,
    console: ArcRwSignal<String>,
}

thread_local! {
    static RUNTIME: RefCell<Runtime> = RefCell::new(Runtime {
        hub: Hub::default(),
        frame: None,
        ports: Vec::new(),
        own: BTreeMap::new(),
        last_own: 0,
        progress: ArcRwSignal::new(PythonStatus::Absent),
        console: ArcRwSignal::new(String::new()),
    });
}

/// The progress of Python.
pub fn progress() -> ArcRwSignal<PythonStatus> {
    RUNTIME.with_borrow(|runtime| runtime.progress.clone())
}

/// The printed text.
pub fn console() -> ArcRwSignal<String> {
    RUNTIME.with_borrow(|runtime| runtime.console.clone())
}

/// Opens a port to Python for a worker of the page.
pub fn port() -> Option<MessagePort> {
    let asker = RUNTIME.with_borrow(|runtime| runtime.ports.len() + 1);
    let handle = move |number, question, limit: f64| {
        update(Event::Ask {
            from: asker,
            number,
            question,
            limit: limit.min(answer_seconds()),
        });
    };
    let (port, given) = QuestionPort::open(handle).ok()?;
    RUNTIME.with_borrow_mut(|runtime| runtime.ports.push(port));
    Some(given)
}

/// Stops Python. Open questions fail, and a spare worker takes over.
pub fn stop() {
    update(Event::Stop);
}

/// Loads Python in advance, so that the first environment opens sooner.
pub fn warm_up() {
    ask_then("{\"file\": \"\", \"path\": \"/info\"}".to_owned(), |_| {});
}

/// Executes a file and returns its description, or an error with its line.
pub async fn load(source: &PythonSource) -> Result<Description, LoadError> {
    let name = source.environment();
    let ask = async |path: &str, body: Json| {
        let question = json!({"file": (name.clone()), "path": path, "body": body});
        let answer = ask(question.to_compact_text()).await?;
        let answer = Json::parse(&answer.text).map_err(|error| error.to_string())?;
        Ok::<_, String>(HostReply {
            status: answer
                .get("status")
                .and_then(Json::as_i64)
                .unwrap_or_default(),
            body: answer.get("body").cloned().unwrap_or_default(),
        })
    };
    let reply = loading::load(source, ask, stored::wheel_bytes).await;
    let reply = reply.map_err(LoadError::of_text)?;
    match reply.status {
        200 => Ok(Description::of(&reply.body)),
        _ => Err(LoadError::of(&reply.body)),
    }
}

/// The reason why a file could not be executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadError {
    /// The class of Python's error, such as `SyntaxError`.
    pub kind: Text,
    /// The message.
    pub text: Text,
    /// The line of the file, from 1.
    pub line: Option<u32>,
    /// The traceback within the file.
    pub detail: Text,
}

impl LoadError {
    fn of(body: &Json) -> LoadError {
        let text = |key| body.get(key).and_then(Json::as_text).cloned();
        LoadError {
            kind: text("kind").unwrap_or_default(),
            text: text("text").unwrap_or_else(|| "Python gave no reason.".into()),
            line: body
                .get("line")
                .and_then(Json::as_i64)
                .and_then(|line| line.try_into().ok()),
            detail: text("detail").unwrap_or_default(),
        }
    }

    fn of_text(text: String) -> LoadError {
        LoadError {
            text: text.into(),
            ..LoadError::default()
        }
    }
}

async fn ask(question: String) -> Result<Answer, String> {
    let answer = Rc::new(RefCell::new((None, None::<Waker>)));
    let kept = Rc::clone(&answer);
    ask_then(question, move |answer| {
        let (slot, waker) = &mut *kept.borrow_mut();
        *slot = Some(answer);
        waker.take().into_iter().for_each(Waker::wake);
    });
    poll_fn(|context| {
        let (slot, waker) = &mut *answer.borrow_mut();
        match slot.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    })
    .await
}

fn ask_then(question: String, then: impl FnOnce(Result<Answer, String>) + 'static) {
    let number = RUNTIME.with_borrow_mut(|runtime| {
        runtime.last_own = runtime.last_own.wrapping_add(1);
        runtime.own.insert(runtime.last_own, Box::new(then));
        runtime.last_own
    });
    update(Event::Ask {
        from: PAGE,
        number,
        question,
        limit: answer_seconds(),
    });
}

fn handle(event: FrameEvent) {
    let event = match event {
        FrameEvent::Fetched { bytes, total } => {
            return set_progress(PythonStatus::Fetching(bytes, total));
        }
        FrameEvent::Stage(stage) => {
            return set_progress(PythonStatus::Starting(match stage.as_str() {
                "unpacking" => "Unpacking fhaviary",
                "importing" => "Importing fhaviary",
                _ => "Starting Python",
            }));
        }
        FrameEvent::Ready => Event::Ready,
        FrameEvent::Answer(id, answer) => {
            let result = answer.map(|(text, output)| Answer { text, output });
            if let Ok(answer) = &result {
                print(&answer.output);
            }
            Event::Answer { id, result }
        }
        FrameEvent::Failed(reason) => {
            set_progress(PythonStatus::Failed(reason.clone()));
            // Its files may be damaged, so the next question starts from the beginning.
            let frame = RUNTIME.with_borrow_mut(|runtime| runtime.frame.take());
            drop(frame);
            Event::Failed { reason }
        }
    };
    update(event);
}

fn update(event: Event) {
    let is_failure = matches!(event, Event::Failed { .. });
    let effects = RUNTIME.with_borrow_mut(|runtime| runtime.hub.update(event));
    for effect in effects {
        carry_out(effect);
    }
    if !is_failure {
        show_progress();
    }
}

fn carry_out(effect: Effect) {
    match effect {
        Effect::Start => {
            let frame = PythonFrame::start(limits_now().megabytes, handle);
            RUNTIME.with_borrow_mut(|runtime| runtime.frame = Some(frame));
        }
        Effect::Send { id, question } => with_frame(|frame| frame.ask(id, &question)),
        Effect::Stop => with_frame(PythonFrame::stop),
        Effect::Limit { id, seconds } => spawn(async move {
            timers::sleep(Duration::from_secs_f64(seconds)).await;
            update(Event::TimedOut { id });
        }),
        Effect::Reply {
            to: PAGE,
            number,
            result,
        } => {
            let then = RUNTIME.with_borrow_mut(|runtime| runtime.own.remove(&number));
            if let Some(then) = then {
                then(result);
            }
        }
        Effect::Reply { to, number, result } => RUNTIME.with_borrow(|runtime| {
            if let Some(port) = to.checked_sub(1).and_then(|index| runtime.ports.get(index)) {
                let answer: python_port::PythonAnswer =
                    result.map(|answer| (answer.text, answer.output));
                port.reply(number, &answer);
            }
        }),
    }
}

fn with_frame(act: impl FnOnce(&PythonFrame)) {
    RUNTIME.with_borrow(|runtime| {
        if let Some(frame) = &runtime.frame {
            act(frame);
        }
    });
}

fn show_progress() {
    let (status, is_busy) =
        RUNTIME.with_borrow(|runtime| (runtime.hub.status(), runtime.hub.is_busy()));
    match (status, is_busy) {
        (Status::Ready, true) => set_progress(PythonStatus::Busy),
        (Status::Ready, false) => set_progress(PythonStatus::Idle),
        (Status::Loading, _) => {
            let progress = progress();
            let is_told = progress.with_untracked(|progress| {
                matches!(
                    progress,
                    PythonStatus::Fetching(..) | PythonStatus::Starting(_)
                )
            });
            if !is_told {
                progress.set(PythonStatus::Starting("Starting Python"));
            }
        }
        (Status::Absent, _) => {}
    }
}

fn set_progress(new: PythonStatus) {
    let progress = progress();
    if progress.with_untracked(|old| *old != new) {
        progress.set(new);
    }
}

fn print(output: &str) {
    if output.is_empty() {
        return;
    }
    console().update(|console| {
        console.push_str(output);
        let surplus = console.len().saturating_sub(LONGEST_CONSOLE);
        let cut = (surplus..console.len())
            .find(|at| console.is_char_boundary(*at))
            .unwrap_or(console.len());
        console.drain(..cut);
    });
}
