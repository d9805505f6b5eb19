//! Questions of environments to the outside world: carries out the effects of [`volary_app::outside`].
//!
//! - [`dialog`]: the questions to the user; [`costs`]: the cost of models in roles.
//!
//! Invariants: there is one state for the page. Keys stay in the page. An answer reaches only the environment that
//! asked, and is dropped once that was closed.

pub mod costs;
pub mod dialog;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use leptos::prelude::*;
use leptos::wasm_split::wasm_split;
use volary_agent::model::limits::Spent;
use volary_agent::model::{Answer, ModelRequest};
use volary_app::outside::{
    AskingEnvironment, Effect, Event, OutsideQuestions, PendingQuestion, PlayingPage, Ticket,
};
use volary_connectivity::linked_file::LinkedFile;
use volary_core::json::Text;
use volary_core::message::{Message, Role};
use volary_protocol::environments::{ChatLine, Question};

use crate::models::{self, Ask, connections, prices};
use volary_browser::http::{self, Timeouts};
use volary_browser::lazy::Loaded;
use volary_browser::{self as browser, network};

/// The largest page, in bytes.
const LARGEST_PAGE: usize = 4 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);

type Reply = Box<dyn FnOnce(Result<Text, Text>)>;

/// The state of the page, and the open replies.
#[derive(Clone, Copy)]
struct Desk {
    state: RwSignal<OutsideQuestions>,
    /// The callbacks for answers.
    replies: StoredValue<BTreeMap<Ticket, (AskingEnvironment, Reply)>, LocalStorage>,
}

thread_local! {
    // A root owner, because the state outlives the part of the page that asked first.
    static DESK: (Owner, Desk) = {
        let owner = Owner::new_root(None);
        let desk = owner.with(|| Desk {
            state: RwSignal::default(),
            replies: StoredValue::new_local(BTreeMap::new()),
        });
        (owner, desk)
    };
    static LAST_ASKER: Cell<u32> = const { Cell::new(0) };
    static LAST_TICKET: Cell<Ticket> = const { Cell::new(0) };
}

fn desk() -> Desk {
    DESK.with(|(_, desk)| *desk)
}

/// The permissions and the pending questions. Tracks changes.
fn state() -> RwSignal<OutsideQuestions> {
    desk().state
}

/// The questions of one environment, or of one worker with several environments. Dropping it cancels them.
pub struct Questions(AskingEnvironment);

impl Questions {
    /// Starts without questions.
    pub fn of(page: PlayingPage) -> Self {
        let id = LAST_ASKER.get() + 1;
        LAST_ASKER.set(id);
        Questions(AskingEnvironment { page, id })
    }

    /// Answers a question: at once if that is allowed, otherwise after the user was asked.
    pub fn ask(&self, question: Question, reply: impl FnOnce(Result<Text, Text>) + 'static) {
        let host = match &question {
            Question::Page { url } => match LinkedFile::of(url, &network::page().origin) {
                LinkedFile::Elsewhere(file) => Some(file.host.into()),
                LinkedFile::SameOrigin { .. } => None,
                LinkedFile::Refused(why) => return reply(Err(why.to_string().into())),
            },
            Question::Model { .. } | Question::Person { .. } => None,
        };
        let ticket = LAST_TICKET.get() + 1;
        LAST_TICKET.set(ticket);
        let waiting: (AskingEnvironment, Reply) = (self.0, Box::new(reply));
        desk().replies.update_value(|replies| {
            replies.insert(ticket, waiting);
        });
        dispatch(Event::Asked(PendingQuestion {
            ticket,
            asker: self.0,
            question,
            host,
        }));
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        desk()
            .replies
            .update_value(|replies| replies.retain(|_, (asker, _)| *asker != self.0));
        dispatch(Event::Left(self.0));
    }
}

/// Handles the start or continuation of an evaluation: declined requests may be asked again.
pub fn evaluation_started() {
    dispatch(Event::EvaluationStarted);
}

fn dispatch(event: Event) {
    let effects = state().try_update(|state| state.update(event));
    for effect in effects.into_iter().flatten() {
        carry_out(effect);
    }
}

fn carry_out(effect: Effect) {
    match effect {
        Effect::Fetch { ticket, url } => browser::spawn(async move {
            let page = page(&url).await;
            answer(ticket, page.map(Text::from).map_err(Text::from));
        }),
        Effect::Complete { asked, connection } => {
            let Question::Model { purpose, messages } = asked.question else {
                return;
            };
            browser::spawn(async move {
                let (completed, spent) = match load_completing().await {
                    Ok(complete) => complete(purpose.clone(), connection, messages).await,
                    Err(unloaded) => (Err(unloaded.to_string()), Spent::default()),
                };
                dispatch(Event::Completed {
                    ticket: asked.ticket,
                    purpose,
                    spent,
                    answer: completed.map(Text::from).map_err(Text::from),
                });
            });
        }
        Effect::Answer {
            ticket,
            answer: given,
        } => answer(ticket, given),
    }
}

fn answer(ticket: Ticket, answer: Result<Text, Text>) {
    let reply = desk()
        .replies
        .try_update_value(|replies| replies.remove(&ticket));
    // If there is none, the environment was closed.
    if let Some((_, reply)) = reply.flatten() {
        reply(answer);
    }
}

async fn page(url: &str) -> Result<String, String> {
    let request = http::Request {
        method: "GET",
        url: url.to_owned(),
        ..http::Request::default()
    };
    let reply = http::fetch(&request, Timeouts::of(TIMEOUT), LARGEST_PAGE).await;
    match reply {
        Ok(reply) if (200..300).contains(&reply.status) => Ok(reply.body),
        Ok(reply) => Err(format!("{url} responded with {}.", reply.status)),
        Err(error) => Err(format!("{url} could not be fetched: {error}")),
    }
}

/// Requests a completion of a conversation from the model in a role: its role, the id of its connection, and the lines.
/// Returns it with its cost.
type Complete =
    fn(Text, Text, Vec<ChatLine>) -> LocalBoxFuture<'static, (Result<String, String>, Spent)>;

/// Calling models takes more code than playing by hand, and few environments have models in roles.
#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible)]
fn load_completing() -> Loaded<Complete> {
    Ok(|purpose, connection, lines| complete(purpose, connection, lines).boxed_local())
}

async fn complete(
    purpose: Text,
    connection: Text,
    lines: Vec<ChatLine>,
) -> (Result<String, String>, Spent) {
    let saved = untrack(|| connections::read(|known| known.find(&connection).cloned()));
    let Some(saved) = saved else {
        let reason = format!("The connection of the {purpose} no longer exists.");
        return (Err(reason), Spent::default());
    };
    let messages = lines.into_iter().map(|line| {
        let role = Role::from_name(&line.role).unwrap_or(Role::User);
        Message::new(role, line.content).into()
    });
    let mut request = ModelRequest {
        model: saved.connection.model.clone(),
        messages: messages.collect(),
        ..ModelRequest::default()
    };
    let asked = models::ask(&Ask::of(&saved), &mut request, &mut |_| {}).await;
    let billed = match &asked {
        Ok(asked) => Some(&asked.answer),
        Err(unanswered) => unanswered.partial.as_ref(),
    };
    let spent = billed.map_or_else(Spent::default, |answer| spent_on(answer, &request.model));
    let text = match asked {
        Ok(asked) => {
            let text = asked.answer.text.filter(|text| !text.trim().is_empty());
            text.ok_or_else(|| format!("The model that is the {purpose} replied without text."))
        }
        Err(unanswered) => Err(format!(
            "The model that is the {purpose} ({}) did not reply: {}",
            saved.connection.name, unanswered.error
        )),
    };
    (text, spent)
}

fn spent_on(answer: &Answer, model: &str) -> Spent {
    let mut spent = Spent::default();
    let usage = answer.usage.as_ref();
    let cost = usage.and_then(|usage| untrack(|| prices::read(|known| known.cost(model, usage))));
    spent.add_answer(usage, cost);
    spent
}
