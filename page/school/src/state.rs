//! The state of the page, and the worker that trains.
//!
//! Invariant: what the worker reports is drawn at most once a frame. A small agent makes many updates in that time, and a
//! page that drew each of them would never come to a click on Stop.

use futures_util::StreamExt;
use leptos::prelude::*;
use volary_app::school::{School, SchoolEffect, SchoolEvent};
use volary_protocol::WorkerPart;
use volary_protocol::school::Request;

use volary_browser::worker_client::WorkerClient;
use volary_browser::{location, spawn, timers};
use volary_ui::school_record::SchoolAchievements;

/// The address of the page.
pub const ADDRESS: &str = "#/learn/school";

/// The handle of the page's state.
#[derive(Clone, Copy)]
pub struct SchoolState {
    pub school: RwSignal<School>,
    worker: StoredValue<Option<WorkerClient>, LocalStorage>,
    /// Whether the next frame draws what was reported.
    will_draw: StoredValue<bool>,
}

impl SchoolState {
    pub fn new() -> Self {
        SchoolState {
            school: RwSignal::default(),
            worker: StoredValue::new_local(None),
            will_draw: StoredValue::new(false),
        }
    }

    /// Handles an event, and carries out what follows from it.
    pub fn send(self, event: SchoolEvent) {
        // The page may be gone when a reply arrives.
        let effects = if let SchoolEvent::Replied { .. } = event {
            self.draw_soon();
            self.school
                .try_update_untracked(|school| school.update(event))
        } else {
            self.school.try_update(|school| school.update(event))
        };
        for effect in effects.unwrap_or_default() {
            self.carry_out(effect);
        }
    }

    fn draw_soon(self) {
        if self.will_draw.try_get_value() != Some(false) {
            return;
        }
        self.will_draw.set_value(true);
        timers::next_frame(move || {
            if self.will_draw.try_set_value(false).is_none() {
                self.school.notify();
            }
        });
    }

    fn carry_out(self, effect: SchoolEffect) {
        match effect {
            // The worker before is terminated when it is replaced; a call to none is reported as lost.
            SchoolEffect::StartWorker => self
                .worker
                .set_value(WorkerClient::start(WorkerPart::School).ok()),
            SchoolEffect::WriteAddress(query) if query.is_empty() => location::replace(ADDRESS),
            SchoolEffect::WriteAddress(query) => {
                location::replace(&format!("{ADDRESS}?{query}"));
            }
            SchoolEffect::Happened { began, fact } => {
                SchoolAchievements::of_browser().happened(&began, fact);
            }
            SchoolEffect::Call { run, request } => self.call(run, request),
        }
    }

    fn call(self, run: u32, request: Request) {
        let is_training = matches!(request, Request::Train { .. });
        let replies = self.worker.with_value(|worker| {
            let worker = worker.as_ref();
            worker.map(|worker| worker.call(&request))
        });
        spawn(async move {
            let Some(mut replies) = replies else {
                let reason = "This browser does not start workers.".to_owned();
                return self.send(SchoolEvent::Lost { run, reason });
            };
            while let Some(reply) = replies.next().await {
                match reply {
                    Ok(reply) => self.send(SchoolEvent::Replied {
                        run,
                        event: reply.event,
                    }),
                    Err(loss) => {
                        let reason = loss.to_string();
                        return self.send(SchoolEvent::Lost { run, reason });
                    }
                }
            }
            if is_training {
                self.send(SchoolEvent::TrainingEnded { run });
            }
        });
    }
}
