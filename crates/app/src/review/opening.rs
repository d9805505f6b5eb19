//! Opens what an address of Review names: an episode, or several for a comparison or a grid.
//!
//! Invariants:
//! - An answer reaches the page only if the address has named its episode since the request was sent.
//! - One episode is opened at a time, so that one that grows faster than it can be opened is opened again only once
//!   the last answer has arrived. No growth is missed: it is noted while the episode is loading, and applied then.

use std::collections::VecDeque;

/// What the page shows of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReviewOpening {
    /// No episode is requested, or several are shown.
    #[default]
    Nothing,
    /// The episodes with these ids are loading.
    Wanted(String),
    /// The episode with this id is shown.
    Shown(String),
    /// An episode could not be opened, for this reason.
    Failed(String),
}

/// Identifies a request to open an episode. Numbers count up.
pub type Attempt = u32;

/// An effect for the page to carry out. `E` is an episode, `G` the place in it that the address names.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<E, G> {
    /// Open an episode; reports [`Opener::opened`].
    Open { attempt: Attempt, id: String },
    /// Show an episode at a place.
    Show { id: String, episode: E, goal: G },
    /// Go to a place in the episode that is shown.
    GoTo(G),
    /// Show several episodes.
    ShowAll { episodes: Vec<E>, goal: G },
    /// Replace the shown episode with a newer version.
    Renew {
        episode: E,
        /// Whether a process is writing it, so that a reader at its end follows it.
        is_live: bool,
    },
    /// The episode of the address has this id from now on.
    Rename(String),
}

/// The state of what is opened.
#[derive(Debug)]
pub struct Opener<E, G> {
    opening: ReviewOpening,
    last: Attempt,
    request: Option<OpenRequest<E, G>>,
    renewal: Option<Renewal>,
}

/// The request whose answer is awaited for an address.
#[derive(Debug)]
struct OpenRequest<E, G> {
    attempt: Attempt,
    goal: G,
    content: Requested<E>,
}

#[derive(Debug)]
enum Requested<E> {
    One {
        id: String,
        /// The growth of the episode since the request was sent.
        growth: Option<Growth>,
    },
    Several {
        /// The ids after the one that is being opened.
        rest: VecDeque<String>,
        opened: Vec<E>,
    },
}

/// More of an episode was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Growth {
    /// The id of the episode from now on.
    into: String,
    is_live: bool,
}

/// The shown episode is opened again.
#[derive(Debug)]
struct Renewal {
    attempt: Attempt,
    id: String,
    is_live: bool,
    /// Whether it has grown since the request was sent.
    is_due: bool,
}

impl<E, G> Default for Opener<E, G> {
    fn default() -> Self {
        Opener {
            opening: ReviewOpening::Nothing,
            last: 0,
            request: None,
            renewal: None,
        }
    }
}

impl<E, G> Opener<E, G> {
    /// What the page shows.
    pub fn opening(&self) -> &ReviewOpening {
        &self.opening
    }

    /// Handles that the address names episodes that another part of the page shows already. A shown episode stays, for
    /// the way back.
    pub fn set_aside(&mut self) {
        self.request = None;
        if !matches!(self.opening, ReviewOpening::Shown(_)) {
            self.opening = ReviewOpening::Nothing;
        }
    }

    /// Handles that the address names no episode.
    pub fn leave(&mut self) {
        self.opening = ReviewOpening::Nothing;
        self.request = None;
        self.renewal = None;
    }

    /// Opens the episode of an address at a place, or goes to the place if the episode is shown.
    pub fn open(&mut self, id: &str, goal: G) -> Vec<Effect<E, G>> {
        if matches!(&self.opening, ReviewOpening::Shown(shown) if shown == id) {
            return vec![Effect::GoTo(goal)];
        }
        let is_requested = |content: &Requested<E>| match content {
            Requested::One { id: known, .. } => known == id,
            Requested::Several { .. } => false,
        };
        let mut requests = self.request.iter_mut();
        if let Some(request) = requests.find(|request| is_requested(&request.content)) {
            request.goal = goal;
            return Vec::new();
        }
        self.leave();
        let content = Requested::One {
            id: id.to_owned(),
            growth: None,
        };
        vec![self.request(id.to_owned(), id.to_owned(), goal, content)]
    }

    /// Opens the episodes of an address one after the other.
    pub fn open_all(&mut self, ids: Vec<String>, goal: G) -> Vec<Effect<E, G>> {
        self.leave();
        let wanted = ids.join(" ");
        let mut rest = VecDeque::from(ids);
        let Some(first) = rest.pop_front() else {
            return Vec::new();
        };
        let content = Requested::Several {
            rest,
            opened: Vec::new(),
        };
        vec![self.request(wanted, first, goal, content)]
    }

    fn request(
        &mut self,
        wanted: String,
        id: String,
        goal: G,
        content: Requested<E>,
    ) -> Effect<E, G> {
        self.opening = ReviewOpening::Wanted(wanted);
        let attempt = self.next();
        self.request = Some(OpenRequest {
            attempt,
            goal,
            content,
        });
        Effect::Open { attempt, id }
    }

    /// Handles the answer to an attempt.
    pub fn opened(&mut self, attempt: Attempt, answer: Result<E, String>) -> Vec<Effect<E, G>> {
        if self
            .renewal
            .as_ref()
            .is_some_and(|renewal| renewal.attempt == attempt)
        {
            return self.renewed(answer);
        }
        let Some(request) = self.request.take_if(|request| request.attempt == attempt) else {
            return Vec::new();
        };
        let OpenRequest { goal, content, .. } = request;
        match (answer, content) {
            (Ok(episode), Requested::One { id, growth }) => {
                self.opening = ReviewOpening::Shown(id.clone());
                let mut effects = vec![Effect::Show {
                    id: id.clone(),
                    episode,
                    goal,
                }];
                if let Some(growth) = growth {
                    effects.extend(self.grow(&id, growth));
                }
                effects
            }
            // It got another id while it was loading.
            (
                Err(_),
                Requested::One {
                    id,
                    growth: Some(Growth { into, .. }),
                },
            ) if id != into => {
                let content = Requested::One {
                    id: into.clone(),
                    growth: None,
                };
                let open = self.request(into.clone(), into.clone(), goal, content);
                vec![Effect::Rename(into), open]
            }
            (
                Ok(episode),
                Requested::Several {
                    mut rest,
                    mut opened,
                },
            ) => {
                opened.push(episode);
                let Some(id) = rest.pop_front() else {
                    self.opening = ReviewOpening::Nothing;
                    return vec![Effect::ShowAll {
                        episodes: opened,
                        goal,
                    }];
                };
                let attempt = self.next();
                let content = Requested::Several { rest, opened };
                self.request = Some(OpenRequest {
                    attempt,
                    goal,
                    content,
                });
                vec![Effect::Open { attempt, id }]
            }
            (Err(reason), _) => {
                self.opening = ReviewOpening::Failed(reason);
                Vec::new()
            }
        }
    }

    /// Handles that more of an episode was read: its previous id, and its id from now on.
    pub fn renamed(&mut self, id: &str, into: &str, is_live: bool) -> Vec<Effect<E, G>> {
        let growth = Growth {
            into: into.to_owned(),
            is_live,
        };
        if matches!(&self.opening, ReviewOpening::Shown(shown) if shown == id) {
            return self.grow(id, growth);
        }
        if let Some(OpenRequest {
            content:
                Requested::One {
                    id: known,
                    growth: last,
                },
            ..
        }) = &mut self.request
        {
            let current = last.as_ref().map_or(&*known, |last| &last.into);
            if current == id {
                *last = Some(growth);
            }
        }
        Vec::new()
    }

    /// Opens the shown episode again.
    fn grow(&mut self, id: &str, growth: Growth) -> Vec<Effect<E, G>> {
        let Growth { into, is_live } = growth;
        let mut effects = Vec::new();
        if into != id {
            self.opening = ReviewOpening::Shown(into.clone());
            effects.push(Effect::Rename(into.clone()));
        }
        match &mut self.renewal {
            Some(renewal) if renewal.id == into => renewal.is_due = true,
            _ => effects.push(self.renew(into, is_live)),
        }
        effects
    }

    fn renew(&mut self, id: String, is_live: bool) -> Effect<E, G> {
        let attempt = self.next();
        self.renewal = Some(Renewal {
            attempt,
            id: id.clone(),
            is_live,
            is_due: false,
        });
        Effect::Open { attempt, id }
    }

    fn renewed(&mut self, answer: Result<E, String>) -> Vec<Effect<E, G>> {
        let Some(renewal) = self.renewal.take() else {
            return Vec::new();
        };
        match answer {
            Ok(episode) => {
                let mut effects = vec![Effect::Renew {
                    episode,
                    is_live: renewal.is_live,
                }];
                if renewal.is_due {
                    effects.push(self.renew(renewal.id, renewal.is_live));
                }
                effects
            }
            Err(reason) => {
                self.opening = ReviewOpening::Failed(reason);
                Vec::new()
            }
        }
    }

    fn next(&mut self) -> Attempt {
        self.last = self.last.wrapping_add(1);
        self.last
    }
}

#[cfg(test)]
mod tests;
