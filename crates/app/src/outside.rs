//! Requests of environments to the outside world: pages, models, a person.
//!
//! Invariants:
//! - A host is reached, and a model is asked, only after the user allowed it for this visit.
//! - A question is answered once, unless the user left its environment before.
//! - A model in a role, such as the customer, has its own connection and budget. Once the budget is used up, the user
//!   is asked again instead of the model.

use std::collections::{BTreeMap, BTreeSet};

use volary_agent::model::limits::{Budget, Exhausted, Spent};
use volary_core::json::Text;
use volary_protocol::environments::Question;

/// The error of a question if the user declined it.
pub const DECLINED: &str = "The user declined.";

/// Identifies a question. The page chooses tickets and does not reuse them.
pub type Ticket = u64;

/// The page on which an environment is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlayingPage {
    /// The playground, step by step and with a user present.
    Playground,
    /// An evaluation, which plays many environments at once.
    Evaluation,
}

/// An environment that asks a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskingEnvironment {
    /// Where it is played.
    pub page: PlayingPage,
    /// The id of the environment on that page, chosen by the page and not reused.
    pub id: u32,
}

/// The consent or action that a question needs from the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Consent to fetch pages of a host.
    Host(Text),
    /// A model for a role: `customer`, `judge`.
    Role(Text),
    /// An answer typed by the user.
    Person,
}

/// A question of an environment, and under which ticket its answer is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingQuestion {
    pub ticket: Ticket,
    pub asker: AskingEnvironment,
    pub question: Question,
    /// The host of the page, if it is of another origin.
    pub host: Option<Text>,
}

impl PendingQuestion {
    /// What the question needs from the user; `None` if it can be answered without the user.
    pub fn need(&self) -> Option<Need> {
        match &self.question {
            Question::Page { .. } => self.host.clone().map(Need::Host),
            Question::Model { purpose, .. } => Some(Need::Role(purpose.clone())),
            Question::Person { .. } => Some(Need::Person),
        }
    }
}

/// The model in a role.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRole {
    /// The id of its connection.
    pub connection: Text,
    /// The budget of this visit.
    pub budget: Budget,
    pub spent: Spent,
    /// The number of requests so far.
    pub requests: u64,
}

impl ModelRole {
    /// The limit that was reached, if any.
    pub fn exhausted(&self) -> Option<Exhausted> {
        self.budget.exhausted(&self.spent)
    }
}

/// An input of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An environment asks a question.
    Asked(PendingQuestion),
    /// The user allows pages of a host.
    HostAllowed(Text),
    /// The user chooses the model for a role. The role's earlier spending still counts.
    RoleAssigned {
        purpose: Text,
        /// The id of the connection.
        connection: Text,
        /// The budget of this visit.
        budget: Budget,
    },
    /// The user declines.
    Declined {
        /// The page on which the question was shown.
        page: PlayingPage,
        need: Need,
    },
    /// The user answered in person.
    Replied {
        /// The answered question.
        ticket: Ticket,
        text: Text,
    },
    /// A request to a model ended.
    Completed {
        ticket: Ticket,
        purpose: Text,
        spent: Spent,
        /// The completion, or the error.
        answer: Result<Text, Text>,
    },
    /// The user left an environment. Its questions need no answer any more.
    Left(AskingEnvironment),
    /// An evaluation starts or continues: declined needs may be asked for again.
    EvaluationStarted,
}

/// An effect for the page to carry out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Fetch a page and answer with its body.
    Fetch {
        /// The question to answer.
        ticket: Ticket,
        url: Text,
    },
    /// Ask a model and report [`Event::Completed`].
    Complete {
        /// A question of the variant [`Question::Model`].
        asked: PendingQuestion,
        /// The id of the connection.
        connection: Text,
    },
    /// Answer a question.
    Answer {
        ticket: Ticket,
        /// The answer, or the error.
        answer: Result<Text, Text>,
    },
}

/// The permissions of the user, and the questions that wait for the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutsideQuestions {
    hosts: BTreeSet<Text>,
    roles: BTreeMap<Text, ModelRole>,
    /// Needs that were declined in the evaluation, so that its other episodes do not ask again.
    declined: BTreeSet<Need>,
    /// Oldest first.
    waiting: Vec<PendingQuestion>,
}

impl OutsideQuestions {
    /// The oldest question that waits for the user on a page, if any.
    pub fn first_waiting(&self, page: PlayingPage) -> Option<&PendingQuestion> {
        let mut waiting = self.waiting.iter();
        waiting.find(|asked| asked.asker.page == page)
    }

    /// The number of questions that wait for the user on a page.
    pub fn count_waiting(&self, page: PlayingPage) -> usize {
        let waiting = self.waiting.iter();
        waiting.filter(|asked| asked.asker.page == page).count()
    }

    /// The models by role.
    pub fn roles(&self) -> &BTreeMap<Text, ModelRole> {
        &self.roles
    }

    /// Handles an event and returns the effects for the page.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Asked(asked) => self.asked(asked).into_iter().collect(),
            Event::HostAllowed(host) => {
                self.hosts.insert(host);
                self.release()
            }
            Event::RoleAssigned {
                purpose,
                connection,
                budget,
            } => {
                let former = self.roles.get(&purpose);
                let role = ModelRole {
                    connection,
                    budget,
                    spent: former.map(|role| role.spent).unwrap_or_default(),
                    requests: former.map_or(0, |role| role.requests),
                };
                self.roles.insert(purpose, role);
                self.release()
            }
            Event::Declined { page, need } => {
                let declined = self.take_waiting(|asked| {
                    asked.asker.page == page && asked.need().as_ref() == Some(&need)
                });
                if page == PlayingPage::Evaluation {
                    self.declined.insert(need);
                }
                declined.iter().map(decline).collect()
            }
            Event::Replied { ticket, text } => {
                let replied = self.take_waiting(|asked| asked.ticket == ticket);
                let replied = replied.into_iter();
                replied
                    .map(|asked| Effect::Answer {
                        ticket: asked.ticket,
                        answer: Ok(text.clone()),
                    })
                    .collect()
            }
            Event::Completed {
                ticket,
                purpose,
                spent,
                answer,
            } => {
                if let Some(role) = self.roles.get_mut(&purpose) {
                    role.spent.add(&spent);
                    role.requests += 1;
                }
                vec![Effect::Answer { ticket, answer }]
            }
            Event::Left(asker) => {
                self.waiting.retain(|asked| asked.asker != asker);
                Vec::new()
            }
            Event::EvaluationStarted => {
                self.declined.clear();
                Vec::new()
            }
        }
    }

    fn asked(&mut self, asked: PendingQuestion) -> Option<Effect> {
        let need = asked.need();
        if asked.asker.page == PlayingPage::Evaluation {
            if need == Some(Need::Person) {
                let reason = "No person can answer in an evaluation. Choose another \
                              customer in the configuration.";
                return Some(Effect::Answer {
                    ticket: asked.ticket,
                    answer: Err(reason.into()),
                });
            }
            if need.is_some_and(|need| self.declined.contains(&need)) {
                return Some(decline(&asked));
            }
        }
        match self.carry_out(asked) {
            Ok(effect) => Some(effect),
            Err(asked) => {
                self.waiting.push(asked);
                None
            }
        }
    }

    /// The effect that answers a question, or the question if the user must be asked first.
    fn carry_out(&self, asked: PendingQuestion) -> Result<Effect, PendingQuestion> {
        match (&asked.question, asked.need()) {
            (Question::Page { url }, Some(Need::Host(host))) if self.hosts.contains(&host) => {
                Ok(Effect::Fetch {
                    ticket: asked.ticket,
                    url: url.clone(),
                })
            }
            (Question::Page { url }, None) => Ok(Effect::Fetch {
                ticket: asked.ticket,
                url: url.clone(),
            }),
            (Question::Model { purpose, .. }, _) => {
                let role = self.roles.get(purpose);
                match role.filter(|role| role.exhausted().is_none()) {
                    Some(role) => Ok(Effect::Complete {
                        connection: role.connection.clone(),
                        asked,
                    }),
                    None => Err(asked),
                }
            }
            (Question::Page { .. } | Question::Person { .. }, _) => Err(asked),
        }
    }

    /// Carries out the questions that no longer have to wait.
    fn release(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for asked in std::mem::take(&mut self.waiting) {
            match self.carry_out(asked) {
                Ok(effect) => effects.push(effect),
                Err(asked) => self.waiting.push(asked),
            }
        }
        effects
    }

    fn take_waiting(
        &mut self,
        is_taken: impl Fn(&PendingQuestion) -> bool,
    ) -> Vec<PendingQuestion> {
        let (taken, left) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(is_taken);
        self.waiting = left;
        taken
    }
}

fn decline(asked: &PendingQuestion) -> Effect {
    Effect::Answer {
        ticket: asked.ticket,
        answer: Err(DECLINED.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYGROUND: AskingEnvironment = AskingEnvironment {
        page: PlayingPage::Playground,
        id: 0,
    };
    const CELL: AskingEnvironment = AskingEnvironment {
        page: PlayingPage::Evaluation,
        id: 7,
    };

    fn page(ticket: Ticket, asker: AskingEnvironment, host: Option<&str>) -> PendingQuestion {
        PendingQuestion {
            ticket,
            asker,
            question: Question::Page {
                url: format!("https://wiki.example/{ticket}").into(),
            },
            host: host.map(Text::from),
        }
    }

    fn customer(ticket: Ticket, asker: AskingEnvironment) -> PendingQuestion {
        PendingQuestion {
            ticket,
            asker,
            question: Question::Model {
                purpose: "customer".into(),
                messages: Vec::new(),
            },
            host: None,
        }
    }

    fn person(ticket: Ticket, asker: AskingEnvironment) -> PendingQuestion {
        PendingQuestion {
            ticket,
            asker,
            question: Question::Person {
                shown: "Hello!".into(),
            },
            host: None,
        }
    }

    fn fetch(ticket: Ticket) -> Effect {
        Effect::Fetch {
            ticket,
            url: format!("https://wiki.example/{ticket}").into(),
        }
    }

    fn refused(ticket: Ticket) -> Effect {
        Effect::Answer {
            ticket,
            answer: Err(DECLINED.into()),
        }
    }

    fn assign(outside: &mut OutsideQuestions, budget: Budget) -> Vec<Effect> {
        outside.update(Event::RoleAssigned {
            purpose: "customer".into(),
            connection: "model.1".into(),
            budget,
        })
    }

    fn completed(ticket: Ticket, cost: Option<f64>) -> Event {
        Event::Completed {
            ticket,
            purpose: "customer".into(),
            spent: Spent {
                tokens: 10,
                cost,
                ..Spent::default()
            },
            answer: Ok("Hi.".into()),
        }
    }

    #[test]
    fn a_host_is_asked_for_once_and_all_its_questions_continue() {
        let mut outside = OutsideQuestions::default();
        assert_eq!(
            outside.update(Event::Asked(page(1, PLAYGROUND, None))),
            [fetch(1)]
        );
        for (ticket, host) in [
            (2, "wiki.example"),
            (3, "other.example"),
            (4, "wiki.example"),
        ] {
            let asked = page(ticket, CELL, Some(host));
            assert_eq!(outside.update(Event::Asked(asked)), []);
        }
        assert_eq!(outside.first_waiting(PlayingPage::Playground), None);
        assert_eq!(outside.count_waiting(PlayingPage::Evaluation), 3);
        let effects = outside.update(Event::HostAllowed("wiki.example".into()));
        assert_eq!(effects, [fetch(2), fetch(4)]);
        let asked = page(5, PLAYGROUND, Some("wiki.example"));
        assert_eq!(outside.update(Event::Asked(asked)), [fetch(5)]);
        assert_eq!(
            outside
                .first_waiting(PlayingPage::Evaluation)
                .map(PendingQuestion::need),
            Some(Some(Need::Host("other.example".into())))
        );
    }

    #[test]
    fn a_declined_question_is_asked_again_by_a_step_but_not_by_each_cell() {
        let mut outside = OutsideQuestions::default();
        let decline = |page| Event::Declined {
            page,
            need: Need::Role("customer".into()),
        };
        outside.update(Event::Asked(customer(1, PLAYGROUND)));
        outside.update(Event::Asked(customer(2, CELL)));
        assert_eq!(
            outside.update(decline(PlayingPage::Playground)),
            [refused(1)]
        );
        assert_eq!(outside.update(Event::Asked(customer(3, PLAYGROUND))), []);
        assert_eq!(
            outside.update(decline(PlayingPage::Evaluation)),
            [refused(2)]
        );
        assert_eq!(
            outside.update(Event::Asked(customer(4, CELL))),
            [refused(4)]
        );
        outside.update(Event::EvaluationStarted);
        assert_eq!(outside.update(Event::Asked(customer(5, CELL))), []);
        assert_eq!(outside.count_waiting(PlayingPage::Playground), 1);
    }

    #[test]
    fn a_role_is_asked_until_its_own_budget_is_used_up() {
        let mut outside = OutsideQuestions::default();
        let budget = |cost| Budget {
            cost: Some(cost),
            ..Budget::default()
        };
        assert_eq!(outside.update(Event::Asked(customer(1, CELL))), []);
        let complete = |ticket| Effect::Complete {
            asked: customer(ticket, CELL),
            connection: "model.1".into(),
        };
        assert_eq!(assign(&mut outside, budget(0.5)), [complete(1)]);
        let effects = outside.update(completed(1, Some(0.3)));
        assert_eq!(
            effects,
            [Effect::Answer {
                ticket: 1,
                answer: Ok("Hi.".into())
            }]
        );
        assert_eq!(
            outside.update(Event::Asked(customer(2, CELL))),
            [complete(2)]
        );
        outside.update(completed(2, Some(0.3)));
        assert_eq!(outside.update(Event::Asked(customer(3, CELL))), []);
        let role = outside.roles().get("customer").unwrap();
        assert_eq!((role.requests, role.spent.tokens), (2, 20));
        assert!(matches!(role.exhausted(), Some(Exhausted::Cost { .. })));
        // Earlier spending counts against a larger budget too.
        assert_eq!(assign(&mut outside, budget(0.55)), []);
        assert_eq!(assign(&mut outside, budget(1.0)), [complete(3)]);
    }

    #[test]
    fn an_unknown_cost_ends_a_limit_of_cost_and_nothing_else() {
        for (budget, continues) in [(Some(1.0), false), (None, true)] {
            let mut outside = OutsideQuestions::default();
            assign(
                &mut outside,
                Budget {
                    cost: budget,
                    ..Budget::default()
                },
            );
            outside.update(completed(1, None));
            let effects = outside.update(Event::Asked(customer(2, CELL)));
            assert_eq!(!effects.is_empty(), continues);
        }
    }

    #[test]
    fn a_person_answers_each_question_of_the_playground_and_none_of_an_evaluation() {
        let mut outside = OutsideQuestions::default();
        let effects = outside.update(Event::Asked(person(1, CELL)));
        assert!(matches!(
            effects.as_slice(),
            [Effect::Answer {
                ticket: 1,
                answer: Err(_)
            }]
        ));
        for ticket in [2, 3] {
            assert_eq!(outside.update(Event::Asked(person(ticket, PLAYGROUND))), []);
        }
        let reply = |ticket| Event::Replied {
            ticket,
            text: "Yes.".into(),
        };
        let answer = [Effect::Answer {
            ticket: 2,
            answer: Ok("Yes.".into()),
        }];
        assert_eq!(outside.update(reply(2)), answer);
        assert_eq!(outside.update(reply(2)), []);
        assert_eq!(outside.count_waiting(PlayingPage::Playground), 1);
    }

    #[test]
    fn questions_of_an_environment_that_was_left_are_gone() {
        let mut outside = OutsideQuestions::default();
        outside.update(Event::Asked(customer(1, CELL)));
        outside.update(Event::Asked(customer(2, PLAYGROUND)));
        assert_eq!(outside.update(Event::Left(CELL)), []);
        assert_eq!(outside.count_waiting(PlayingPage::Evaluation), 0);
        assert_eq!(outside.count_waiting(PlayingPage::Playground), 1);
    }
}
