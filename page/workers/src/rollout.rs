//! The rollout service: calls `volary_app::rollout` with the tokenizer's file from the request.
//!
//! The template engine and the tokenizers are a lazy part, which the first request loads.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::wasm_split::wasm_split;
use volary_app::rollout::Rollouts;
use volary_core::json::Text;
use volary_protocol::rollout::{Event, Request, RolloutSetup};

use volary_browser::lazy::Loaded;
use volary_browser::transferable::Attachment;

/// The interface of the lazy part, which hides its types.
trait Rolling {
    fn lacks_tokenizer(&self, setup: &RolloutSetup) -> bool;
    fn read_tokenizer(&mut self, setup: &RolloutSetup, file: &[u8]) -> Result<(), Text>;
    fn handle(&mut self, request: Request) -> Event;
}

impl Rolling for Rollouts {
    fn lacks_tokenizer(&self, setup: &RolloutSetup) -> bool {
        Rollouts::lacks_tokenizer(self, setup)
    }

    fn read_tokenizer(&mut self, setup: &RolloutSetup, file: &[u8]) -> Result<(), Text> {
        Rollouts::read_tokenizer(self, setup, file)
    }

    fn handle(&mut self, request: Request) -> Event {
        Rollouts::handle(self, request)
    }
}

type SharedRollouts = Rc<RefCell<dyn Rolling>>;

#[wasm_split(template, wasm_split_path = leptos::wasm_split, fallible)]
fn load() -> Loaded<SharedRollouts> {
    Ok(Rc::new(RefCell::new(Rollouts::default())))
}

/// The rollouts of this worker; `None` before the first request.
#[derive(Default)]
pub(super) struct RolloutService {
    rollouts: RefCell<Option<SharedRollouts>>,
}

impl RolloutService {
    pub(super) async fn handle(&self, request: Request, attachments: Vec<Attachment>) -> Event {
        let done = self.try_handle(request, attachments).await;
        done.unwrap_or_else(|reason| Event::Failed { reason })
    }

    async fn try_handle(
        &self,
        request: Request,
        attachments: Vec<Attachment>,
    ) -> Result<Event, Text> {
        let rollouts = self.rollouts().await?;
        let is_lacking = rollouts.borrow().lacks_tokenizer(&request.setup);
        let file = attachments
            .into_iter()
            .find_map(|attachment| match attachment {
                Attachment::File(file) => Some(file),
                Attachment::Blob(_) | Attachment::Texts(_) => None,
            });
        if let Some(file) = file.filter(|_| is_lacking) {
            let unusable = |reason: &str| format!("The tokenizer can't be used: {reason}");
            let bytes = file.read().await;
            let bytes = bytes.map_err(|reason| Text::from(unusable(&reason)))?;
            let read = rollouts.borrow_mut().read_tokenizer(&request.setup, &bytes);
            read.map_err(|reason| Text::from(unusable(&reason)))?;
        }
        let event = rollouts.borrow_mut().handle(request);
        Ok(event)
    }

    async fn rollouts(&self) -> Result<SharedRollouts, Text> {
        let known = self.rollouts.borrow().clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let loaded = load().await;
        let loaded = loaded.map_err(|error| Text::from(error.to_string()))?;
        // Two requests may have waited for the same part.
        Ok(Rc::clone(self.rollouts.borrow_mut().get_or_insert(loaded)))
    }
}
