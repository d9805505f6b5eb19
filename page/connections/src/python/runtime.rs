//! The runtime of Python on the page: the frame, the ports of the workers, and their status for the user. Carries out
//! the effects of [`volary_app::python::hub`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use leptos::prelude::*;
use volary_app::python::console;
pub use volary_app::python::hub::PythonStatus;
use volary_app::python::hub::{
    Effect, Event, PythonAnswer, PythonAsker, PythonHub, PythonQuestion,
};
use volary_core::json::{Json, Text};

use super::limits::{self, Limits};
use super::loading::{self, HostReply};
use super::stored;
use volary_app::python::files::{Description, PythonSource};
use volary_browser::python_frame::{FrameEvent, PythonFrame};
use volary_browser::python_port::{self, MessagePort, QuestionPort};
use volary_browser::{spawn, timers};

/// The asker id of the page itself.
const PAGE: PythonAsker = 0;

fn limits_now() -> Limits {
    untrack(limits::limits)
}

/// The timeout of an answer in seconds.
fn answer_seconds() -> f64 {
    f64::from(limits_now().seconds)
}

/// The callback for the answer to a question of the page itself.
type Then = Box<dyn FnOnce(Result<PythonAnswer, String>)>;

/// The state of Python on this page.
struct Runtime {
    hub: PythonHub,
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
        hub: PythonHub::default(),
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

/// Stops Python. Open questions fail, and running environments are gone.
pub fn stop() {
    update(Event::Stop);
}

/// Loads Python in advance, so that the first environment opens sooner.
pub fn warm_up() {
    update(Event::WarmUp);
}

/// Executes a file and returns its description, or an error with its line.
pub async fn load(source: &PythonSource) -> Result<Description, LoadError> {
    let name = source.environment();
    let ask = async |path: &str, body: Json| {
        let question = loading::question(&name, path, 0, body);
        let answer = ask(question).await?;
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

async fn ask(question: PythonQuestion) -> Result<PythonAnswer, String> {
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

fn ask_then(question: PythonQuestion, then: impl FnOnce(Result<PythonAnswer, String>) + 'static) {
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
    update(match event {
        FrameEvent::Fetched { bytes, total } => Event::Fetched { bytes, total },
        FrameEvent::Stage(stage) => Event::Stage(stage),
        FrameEvent::Ready => Event::Ready,
        FrameEvent::Received(id) => Event::Received { id },
        FrameEvent::Ended { source, reason } => Event::Ended { source, reason },
        FrameEvent::Answer(id, answer) => {
            let result = answer.map(|(text, output)| PythonAnswer { text, output });
            Event::Answer { id, result }
        }
        FrameEvent::Failed(reason) => Event::Failed { reason },
    });
}

fn update(event: Event) {
    let (effects, status) = RUNTIME.with_borrow_mut(|runtime| {
        let effects = runtime.hub.update(event);
        (effects, runtime.hub.status())
    });
    let progress = progress();
    if progress.with_untracked(|old| *old != status) {
        progress.set(status);
    }
    for effect in effects {
        carry_out(effect);
    }
}

fn carry_out(effect: Effect) {
    match effect {
        Effect::Start => {
            let frame = PythonFrame::start(limits_now().megabytes, handle);
            RUNTIME.with_borrow_mut(|runtime| runtime.frame = Some(frame));
        }
        Effect::Send { id, source, text } => with_frame(|frame| frame.ask(id, &source, &text)),
        Effect::End { source } => with_frame(|frame| frame.end(&source)),
        Effect::Discard => {
            let frame = RUNTIME.with_borrow_mut(|runtime| runtime.frame.take());
            drop(frame);
        }
        Effect::Print(output) => console().update(|console| console::append(console, &output)),
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
                let answer: python_port::PortAnswer =
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

#[cfg(test)]
mod tests {
    use volary_core::json;

    use super::*;

    #[test]
    fn an_error_of_a_file_names_its_line() {
        let error = LoadError::of(&json!({
            "kind": "SyntaxError",
            "text": "invalid syntax",
            "line": 3,
            "detail": "File, line 3"
        }));
        let expected = LoadError {
            kind: "SyntaxError".into(),
            text: "invalid syntax".into(),
            line: Some(3),
            detail: "File, line 3".into(),
        };
        assert_eq!(error, expected);
    }

    #[test]
    fn members_of_the_wrong_kind_are_left_out() {
        // What runs in Python can answer anything.
        for body in [
            json!({}),
            json!([]),
            json!("text"),
            json!({"kind": 1, "text": null, "line": (-1), "detail": []}),
            json!({"line": (1_i64 << 32)}),
            json!({"line": "3"}),
        ] {
            let error = LoadError::of(&body);
            assert_eq!(&*error.text, "Python gave no reason.");
            assert_eq!(
                error,
                LoadError::of_text("Python gave no reason.".to_owned())
            );
        }
    }
}
