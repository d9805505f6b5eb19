//! What the librarian's answers change.

use std::collections::BTreeSet;
use std::sync::Arc;

use leptos::prelude::*;
use volary_core::json::Text;
use volary_protocol::episode::Steps;
use volary_trace::Episode;

use super::super::protocol::{Answer, Number};
use super::{Checked, Opened, Shelf};
use crate::projection::notice::Notice;
use crate::protocol::Event;
use crate::shell::files;
use crate::shell::lazy::Unloaded;
use crate::shell::worker_link::Report;

impl Shelf {
    pub(super) fn hear(self, report: Report) {
        match report {
            // Evaluations have workers of their own.
            Report::Handed { .. } => {}
            Report::Made { name, file } => files::download_blob(&name, &file),
            Report::Lost { message } => self.lost(&message),
            Report::Unloaded => self.lost(&Unloaded.to_string()),
            Report::Said(text) => match Answer::read(&text) {
                Some(answer) => self.take(answer),
                None => match Event::read(&text) {
                    Ok(event) => self.take_part(event),
                    Err(error) => self.lost(&error.to_string()),
                },
            },
        }
    }

    fn take(self, answer: Answer) {
        match answer {
            Answer::Progress {
                number,
                doing,
                done,
            } => self.progress(number, doing, done),
            Answer::Added { number, rows } => self.add(number, rows),
            Answer::Listed { .. } => {
                self.flush();
                self.is_listed.set(true);
            }
            Answer::Gone { ids } => self.drop_rows(&ids),
            Answer::Begun { number, row } => {
                let id = row.id.clone();
                let is_more = self.begun.with_untracked(|begun| begun.contains(&id));
                match is_more {
                    true => self.grown.set(Some((id.clone(), id))),
                    false => self.begun.update(|begun| {
                        begun.insert(id);
                    }),
                }
                self.add(number, vec![row]);
            }
            Answer::Grown { id, into, .. } => self.grow(id, into),
            Answer::Unfetched {
                number,
                url,
                reason,
                status,
                answered,
            } => self.unfetched(number, url, reason, status, answered),
            Answer::Read { number, notes } => {
                self.flush();
                self.ended(number);
                self.report.set(notes);
                // Words that are looked for may stand in what was read.
                self.search(&self.wanted.get_untracked());
                self.settle();
            }
            Answer::Places { number, places } => self.take_places(number, places),
            Answer::Found { number, matches } => {
                if self.state.with_value(|state| state.search) == number {
                    self.searching.set(None);
                    self.matches.set(Some(Arc::new(matches)));
                }
            }
            Answer::Checked {
                number,
                words,
                step,
            } => {
                if let Some(checked) = self.take_checking(number) {
                    checked(Ok((words.to_string(), step.map(|step| step as usize))));
                }
            }
            Answer::Forgotten { .. } => {}
            Answer::Refused { number, reason } => match self.take_opening(number) {
                Some((_, opened)) => opened(Err(reason.to_string())),
                None if self.take_checking_with(number, &reason) => {}
                None => {
                    self.ended(number);
                    self.notice.set(Some(Notice::new(
                        "Nothing could be imported.",
                        reason.to_string(),
                        "Give a file that one of the known tools wrote. What is in the library is as it was.",
                    )));
                }
            },
            Answer::NotRead { reason } => self.notice.set(Some(Notice::new(
                "What was kept before can't be read.",
                reason.to_string(),
                "Nothing of it was changed: load the page again. What you import now is shown all the same.",
            ))),
            Answer::Notice { what, why, advice } => {
                let notice = Notice::new(&*what, &*why, &*advice);
                self.notice.set(Some(notice));
            }
            Answer::NotKept { reason } => {
                let was = self
                    .state
                    .try_update_value(|state| std::mem::replace(&mut state.is_unkept, true));
                // Each batch of a reading says so; once is enough.
                if was != Some(true) {
                    self.notice.set(Some(Notice::new(
                        "This can't be kept for the next visit.",
                        reason.to_string(),
                        "It stays until you leave the page. Export what you want to keep.",
                    )));
                }
            }
        }
    }

    fn take_part(self, event: Event) {
        match event {
            Event::Opened { token, head } => self.state.update_value(|state| {
                let known = state.opening.iter_mut().find(|known| known.0 == token);
                if let Some(known) = known {
                    known.1 = Some(head);
                }
            }),
            Event::Stepped {
                token,
                steps,
                patches,
            } => {
                let added = self.state.try_update_value(|state| {
                    let known = state.opening.iter_mut().find(|known| known.0 == token)?;
                    let steps = Steps {
                        records: steps,
                        patches,
                    };
                    steps.append_to(known.1.as_mut()?).err()
                });
                if let Some(error) = added.flatten()
                    && let Some((_, opened)) = self.take_opening(token)
                {
                    opened(Err(error.to_string()));
                }
            }
            Event::Finished { token, .. } => {
                if let Some((Some(episode), opened)) = self.take_opening(token) {
                    opened(Ok(episode));
                }
            }
            Event::Panicked { message } => self.lost(&message),
            // Nothing is played here.
            Event::Begun { .. }
            | Event::Refused { .. }
            | Event::Gone { .. }
            | Event::Lost { .. } => {}
        }
    }

    fn take_checking(self, number: Number) -> Option<Checked> {
        self.state
            .try_update_value(|state| {
                let place = state.checking.iter().position(|known| known.0 == number)?;
                Some(state.checking.swap_remove(place).1)
            })
            .flatten()
    }

    /// Tells whoever wanted a check why there is none; false if nobody did.
    fn take_checking_with(self, number: Number, reason: &Text) -> bool {
        self.take_checking(number)
            .map(|checked| checked(Err(reason.to_string())))
            .is_some()
    }

    fn take_opening(self, number: Number) -> Option<(Option<Episode>, Opened)> {
        self.state
            .try_update_value(|state| {
                let place = state.opening.iter().position(|known| known.0 == number)?;
                let (_, episode, opened) = state.opening.swap_remove(place);
                Some((episode, opened))
            })
            .flatten()
    }

    fn progress(self, number: Number, doing: Text, done: Option<f64>) {
        if self.state.with_value(|state| state.search) == number {
            return self.searching.set(Some(doing));
        }
        self.show_progress(number, doing, done);
    }

    pub(super) fn show_progress(self, number: Number, doing: Text, done: Option<f64>) {
        self.readings.update(|readings| {
            let mut readings = readings.iter_mut();
            let reading = readings.find(|reading| reading.number == number);
            if let Some(reading) = reading.filter(|reading| !reading.is_ending) {
                (reading.doing, reading.done) = (doing, done);
            }
        });
    }

    /// What had begun is there as a whole.
    fn grow(self, id: Text, into: Text) {
        self.flush();
        if id != into {
            self.drop_rows(std::slice::from_ref(&id));
        }
        self.begun.update(|begun| {
            begun.remove(&id);
        });
        self.grown.set(Some((id, into)));
    }

    /// The librarian is of no more use; the next request starts another one.
    pub(super) fn lost(self, reason: &str) {
        let left = self.state.try_update_value(|state| {
            let opening = std::mem::take(&mut state.opening);
            let checking = std::mem::take(&mut state.checking);
            (state.link.take(), opening, checking)
        });
        let (link, opening, checking) = left.unwrap_or_default();
        for (_, checked) in checking {
            checked(Err(reason.to_owned()));
        }
        // It may be its own handler that runs here, so it goes a little later.
        crate::shell::spawn(async move { drop(link) });
        for (_, _, opened) in opening {
            opened(Err(reason.to_owned()));
        }
        self.readings.set(Vec::new());
        self.begun.set(BTreeSet::new());
        self.searching.set(None);
        self.notice.set(Some(Notice::new(
            "The library's worker broke down.",
            reason.to_owned(),
            "What was kept is still there. Try again with fewer files at once.",
        )));
    }
}
