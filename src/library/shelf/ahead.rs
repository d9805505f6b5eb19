//! The beginning of a trajectory, sent before anybody asks for it: who opens a file by its address wants to read what
//! begins in it, and by the time that a request for it reached the worker, the worker would be busy reading on.

use leptos::prelude::*;
use volary_core::json::Text;
use volary_trace::Episode;

use super::{Opened, Shelf};
use crate::library::protocol::Number;

/// A beginning on its way. At most one is: the one of the address at which the person is.
pub(super) struct Ahead {
    /// The reading that it comes from.
    reading: Number,
    /// The number under which its parts come.
    number: Number,
    /// Its id, once that is known.
    id: Option<Text>,
    state: Coming,
}

enum Coming {
    /// Nobody has asked for it, and it is not there.
    Expected,
    /// Somebody waits for it.
    Wanted(Opened),
    /// It is there, and nobody has asked for it.
    Here(Box<Episode>),
}

impl Shelf {
    /// The beginning of a reading shall come ahead: gives the number for its parts.
    pub(super) fn expect_ahead(self, reading: Number) -> Number {
        let number = self.next();
        let came: Opened = Box::new(move |came| self.came_ahead(number, came));
        self.state.update_value(|state| {
            state.opening.push((number, None, came));
            state.ahead = Some(Ahead {
                reading,
                number,
                id: None,
                state: Coming::Expected,
            });
        });
        number
    }

    /// What begins in a reading has this id. It is said before the parts come.
    pub(super) fn name_ahead(self, reading: Number, id: &Text) {
        self.state.update_value(|state| {
            if let Some(ahead) = state.ahead.as_mut().filter(|one| one.reading == reading) {
                ahead.id.get_or_insert_with(|| id.clone());
            }
        });
    }

    /// Somebody wants an episode. If it comes ahead, they get it; if not, they are given back.
    pub(super) fn take_ahead(self, id: &str, opened: Opened) -> Option<Opened> {
        let is_it = |ahead: &mut Ahead| ahead.id.as_deref() == Some(id);
        let ahead = self
            .state
            .try_update_value(|state| state.ahead.take_if(is_it))
            .flatten();
        match ahead {
            None => Some(opened),
            Some(Ahead {
                state: Coming::Here(episode),
                ..
            }) => {
                opened(Ok(*episode));
                None
            }
            Some(ahead) => {
                let ahead = Ahead {
                    state: Coming::Wanted(opened),
                    ..ahead
                };
                self.state.update_value(|state| state.ahead = Some(ahead));
                None
            }
        }
    }

    fn came_ahead(self, number: Number, came: Result<Episode, String>) {
        let is_it = |ahead: &mut Ahead| ahead.number == number;
        let ahead = self
            .state
            .try_update_value(|state| state.ahead.take_if(is_it))
            .flatten();
        let Some(ahead) = ahead else { return };
        match (ahead.state, came) {
            (Coming::Wanted(opened), came) => opened(came),
            (_, Ok(episode)) => {
                let ahead = Ahead {
                    state: Coming::Here(Box::new(episode)),
                    ..ahead
                };
                self.state.update_value(|state| state.ahead = Some(ahead));
            }
            // Whoever asks for it is told then.
            (_, Err(_)) => {}
        }
    }

    /// A reading is over: its beginning, if nobody took it, is none any more.
    pub(super) fn forget_ahead(self, reading: Number) {
        let ahead = self.state.try_update_value(|state| {
            let ahead = state.ahead.take_if(|ahead| ahead.reading == reading)?;
            state.opening.retain(|known| known.0 != ahead.number);
            Some(ahead)
        });
        // Nothing came of it: who waits asks like everybody else.
        if let Some(Ahead {
            id: Some(id),
            state: Coming::Wanted(opened),
            ..
        }) = ahead.flatten()
        {
            self.open(&id, opened);
        }
    }
}
