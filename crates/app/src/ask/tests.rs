//! Tests of the machine of Ask, with a library and a model that are played by the tests.

use std::collections::{BTreeMap, VecDeque};

use volary_agent::model::ProviderKind;
use volary_agent::model::limits::Budget;
use volary_agent::model::price::Price;
use volary_ask::cache::{AnswerRecord, Sampling};
use volary_ask::run::{CheckedReply, ModelReply, RequestId};
use volary_ask::{AnswerType, Question, RenderOptions, Rendered, parts, plan};
use volary_core::Message;
use volary_episode::Episode;
use volary_protocol::asking::MeasuredText;

use super::findings::FindingsRequest;
use super::*;

const YES: &str =
    r#"{"label":"yes","explanation":"It did.","evidence":[{"message":0,"quote":"book a flight"}]}"#;
const FORGED: &str = r#"{"label":"yes","explanation":"?","evidence":[{"message":0,"quote":"I will now delete all tests"}]}"#;

fn setup(text: &str) -> AskSetup {
    AskSetup {
        question: Question {
            text: text.into(),
            answer: AnswerType::YesNo,
        },
        connection: "1".into(),
        model: "m".into(),
        sampling: Sampling {
            max_tokens: Some(2_000),
            ..Sampling::default()
        },
        context: 20_000,
        concurrency: 2,
        most_cost: None,
        most_tokens: None,
        options: RenderOptions::default(),
    }
}

const FACTS: ModelFacts = ModelFacts {
    kind: ProviderKind::OpenAiChat,
    price: Some(Price {
        input: 1.0,
        output: 1.0,
        cached: None,
        cache_write: None,
    }),
};

fn rendered(id: &str) -> Rendered {
    // Trajectories that begin with the same letter have the same text.
    let first = id.chars().next().unwrap_or_default();
    let episode = Episode {
        start: vec![Message::user(format!("Please book a flight, {first}.")).into()],
        ..Episode::default()
    };
    Rendered::of(&episode, &RenderOptions::default())
}

fn rows(ids: &[&str]) -> Vec<AskRow> {
    let rows = ids.iter().map(|id| AskRow {
        id: (*id).into(),
        name: format!("name of {id}").into(),
    });
    rows.collect()
}

/// The page, with what it stores.
#[derive(Default)]
struct Page {
    ask: AskSession,
    stored: AskHistory,
    sent: usize,
    shown: Vec<(Text, AskScope)>,
}

impl Page {
    /// Carries out effects until nothing happens. `said` is the reply to each request; `None` never arrives.
    fn play(&mut self, event: Event, said: &mut dyn FnMut() -> Option<&'static str>) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for effect in self.ask.update(0.0, 5.0, event) {
                events.extend(self.carry_out(effect, said));
            }
        }
    }

    fn carry_out(
        &mut self,
        effect: Effect,
        said: &mut dyn FnMut() -> Option<&'static str>,
    ) -> Option<Event> {
        match effect {
            Effect::Measure { ids, terms } => {
                let room = plan::room(terms.context, &terms.question);
                let texts = ids.iter().map(|id| {
                    let rendered = rendered(id);
                    MeasuredText {
                        id: id.clone(),
                        tokens: rendered.tokens(),
                        key: parts::answer_key_of(
                            &rendered,
                            room,
                            &terms.question,
                            &terms.model,
                            &terms.sampling,
                        ),
                        cut: 0,
                    }
                });
                return Some(Event::Measured(Ok(MeasuredTexts {
                    texts: texts.collect(),
                    ..MeasuredTexts::default()
                })));
            }
            Effect::Render { row, id, .. } => {
                let rendered = Ok(Arc::new(rendered(&id)));
                return Some(Event::Rendered { row, rendered });
            }
            Effect::Send { id, .. } => {
                self.sent += 1;
                let reply = Ok(ModelReply {
                    text: said()?.to_owned(),
                    usage: None,
                });
                return Some(Event::Replied { request: id, reply });
            }
            Effect::Check { request, reply } => {
                let rendered = rendered(&reply.id);
                let checked = Ok(CheckedReply::of(&reply.question, &rendered, &reply.said));
                return Some(Event::Checked { request, checked });
            }
            Effect::StoreQuestion(question) => self.stored.put_question(*question),
            Effect::StoreAnswer { id, record } => self.stored.put_answer(&id, record),
            Effect::StoreGiven(given) => {
                given
                    .questions
                    .into_iter()
                    .for_each(|question| self.stored.put_question(question));
                for (id, record) in given.answers {
                    self.stored.put_answer(&id, record);
                }
            }
            Effect::StoreLabels { labels, all } => self.stored.put_labels(&labels, all),
            Effect::StoreFindings { id, findings } => self.stored.put_findings(&id, *findings),
            Effect::Forget { id, .. } => {
                self.stored.forget(&id);
            }
            Effect::Show { id, scope } => self.shown.push((id, scope)),
            Effect::Abort(_) | Effect::WakeAt(_) | Effect::Changed => {}
        }
        None
    }

    fn plan(&mut self, setup: AskSetup, ids: &[&str]) {
        let setup = Box::new(setup);
        let rows = rows(ids);
        let facts = FACTS;
        self.play(Event::Plan { setup, facts, rows }, &mut || None);
    }

    fn planned(&self) -> &AskPlanned {
        match self.ask.plan() {
            PlanState::Planned(planned) => planned,
            other => panic!("{other:?}"),
        }
    }

    fn ask(&mut self, name: &str, said: &mut dyn FnMut() -> Option<&'static str>) {
        let name = name.into();
        self.play(Event::Ask { name, former: None }, said);
    }

    /// The page after a reload: only what is stored is left.
    fn reloaded(&self) -> Page {
        let mut page = Page {
            stored: self.stored.clone(),
            ..Page::default()
        };
        let history = Box::new(self.stored.clone());
        page.play(Event::Read(history), &mut || None);
        page
    }

    fn resume(
        &mut self,
        id: &Text,
        scope: AskScope,
        said: &mut dyn FnMut() -> Option<&'static str>,
    ) {
        let event = Event::Resume {
            id: id.clone(),
            facts: FACTS,
            scope,
            names: Vec::new(),
        };
        self.play(event, said);
    }
}

#[test]
fn nothing_is_sent_before_the_plan() {
    let mut page = Page::default();
    page.ask("x", &mut || Some(YES));
    assert_eq!(page.sent, 0);
    page.plan(setup("Did it?"), &["a", "b", "b2"]);
    assert_eq!(page.sent, 0);
    let planned = page.planned();
    // Equal trajectories are asked about once.
    assert_eq!((planned.plan.rows, planned.plan.requests), (3, 2));
    page.play(Event::DropPlan, &mut || None);
    page.ask("x", &mut || Some(YES));
    assert_eq!(page.sent, 0);
}

#[test]
fn each_trajectory_has_its_answer_in_the_store_and_in_the_table() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a", "b", "b2"]);
    page.ask(" Booked ", &mut || Some(YES));
    let id = setup("Did it?").id();
    assert_eq!(page.shown, [(id.clone(), AskScope::All)]);
    assert_eq!(page.sent, 2);
    assert_eq!(&page.stored, page.ask.history());
    assert_eq!(page.stored.answers(&id).len(), 3);
    let cells = page.stored.cells();
    for episode in ["a", "b", "b2"] {
        let answer = &cells[episode][0];
        assert_eq!(
            (&*answer.question, &*answer.support),
            ("Booked", "supported")
        );
        let record = page.stored.answer(&id, episode).unwrap();
        assert_eq!(*record.name, *format!("name of {episode}"));
    }
    // What was paid for once counts once.
    let one = page.stored.answer(&id, "b").unwrap();
    let all = page.stored.spent(&id);
    assert_eq!(
        all.tokens % (one.input_tokens + one.output_tokens).max(1),
        0
    );
    let shown = page.ask.shown().unwrap();
    assert_eq!((shown.progress.answered, shown.progress.from_cache), (2, 1));
}

#[test]
fn a_second_plan_knows_the_answers_and_a_changed_question_does_not() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a", "b"]);
    page.ask("", &mut || Some(YES));
    page.plan(setup("Did it?"), &["a", "b", "c"]);
    assert_eq!(
        (page.planned().plan.cached, page.planned().plan.requests),
        (2, 1)
    );
    page.plan(setup("Did it not?"), &["a", "b", "c"]);
    assert_eq!(page.planned().plan.cached, 0);
    let other = AskSetup {
        model: "n".into(),
        ..setup("Did it?")
    };
    page.plan(other.clone(), &["a"]);
    assert_eq!(page.planned().plan.cached, 0);
    page.ask("Did it?", &mut || Some(YES));
    let names: Vec<&str> = [setup("Did it?").id(), other.id()]
        .iter()
        .map(|id| &*page.ask.history().question(id).unwrap().name)
        .collect();
    assert_eq!(names, ["Did it?", "Did it? (n)"]);
}

#[test]
fn after_a_reload_the_rest_is_asked() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a", "b", "c", "d"]);
    let mut replies = vec![YES, FORGED, FORGED].into_iter();
    page.ask("x", &mut || replies.next());
    let id = setup("Did it?").id();
    let before = page.stored.answers(&id).len();
    assert!((1..4).contains(&before), "{before}");
    let mut page = page.reloaded();
    assert!(page.ask.shown().is_none());
    page.resume(&id, AskScope::All, &mut || Some(YES));
    assert_eq!(page.sent, 4 - before);
    assert_eq!(page.stored.answers(&id).len(), 4);
    let rates = page.stored.rates(&id);
    assert_eq!(rates.models["m"].answers, 4);
}

#[test]
fn a_budget_includes_what_earlier_visits_spent() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a", "b"]);
    let mut replies = vec![YES].into_iter();
    page.ask("x", &mut || replies.next());
    let id = setup("Did it?").id();
    let mut stored = page.stored.answer(&id, "a").unwrap().as_ref().clone();
    stored.input_tokens = 9_000;
    page.stored.put_answer(&id, Arc::new(stored));
    let mut page = page.reloaded();
    let budget = Budget {
        tokens: Some(10_000),
        ..Budget::default()
    };
    let set = Event::SetBudget {
        id: id.clone(),
        budget,
    };
    page.play(set, &mut || None);
    page.resume(&id, AskScope::All, &mut || Some(YES));
    assert_eq!(page.sent, 0);
    let phase = page.ask.shown().unwrap().phase;
    assert!(pause_reason(&phase).unwrap().contains("Raise the limit"));
}

#[test]
fn one_question_is_asked_at_a_time() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a", "b"]);
    page.ask("x", &mut || None);
    assert!(page.ask.is_running());
    page.plan(setup("Else?"), &["a"]);
    page.ask("y", &mut || Some(YES));
    assert!(page.ask.refused().unwrap().contains("Stop it"));
    page.play(Event::Stop, &mut || None);
    page.ask("y", &mut || Some(YES));
    assert_eq!(page.stored.answers(&setup("Else?").id()).len(), 1);
}

#[test]
fn labels_are_compared_and_a_changed_question_keeps_them() {
    let mut page = Page::default();
    let first = setup("Did it?");
    page.plan(first.clone(), &["a", "b", "c"]);
    let calibrate = Event::Calibrate {
        name: "x".into(),
        former: None,
        rows: vec!["a".into(), "b".into()],
    };
    page.play(calibrate, &mut || None);
    assert_eq!(page.shown, [(first.id(), AskScope::Calibration)]);
    assert_eq!(page.sent, 0);
    for (episode, label) in [("a", "yes"), ("b", "no")] {
        let label = Event::Label {
            id: first.id(),
            episode: episode.into(),
            label: Some(label.into()),
        };
        page.play(label, &mut || None);
    }
    page.resume(&first.id(), AskScope::Calibration, &mut || Some(YES));
    assert_eq!(page.sent, 2);
    let found = page.ask.history().calibration(&first.id());
    assert_eq!(found.agreement.observed, Some(0.5));
    assert_eq!(found.differing, [(1, "no".to_owned(), "yes".to_owned())]);
    // The answers of the sample are not asked for again.
    page.resume(&first.id(), AskScope::All, &mut || Some(YES));
    assert_eq!(page.sent, 3);
    let changed = setup("Did it really?");
    page.plan(changed.clone(), &["a", "b", "c"]);
    let ask = Event::Ask {
        name: "x".into(),
        former: Some(first.id()),
    };
    page.play(ask, &mut || Some(YES));
    let found = page.ask.history().calibration(&changed.id());
    assert_eq!(found.agreement.items, 2);
    // Labels stay while a question has them.
    page.play(Event::Forget(first.id()), &mut || None);
    let labels = &page.ask.history().question(&changed.id()).unwrap().labels;
    assert_eq!(
        page.ask.history().labels(labels).map(BTreeMap::len),
        Some(2)
    );
    page.play(Event::Forget(changed.id()), &mut || None);
    assert_eq!(page.stored.questions().len(), 0);
}

#[test]
fn findings_cite_answers_in_their_order() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a", "b"]);
    page.ask("x", &mut || Some(YES));
    let id = setup("Did it?").id();
    let request = FindingsRequest::of(page.ask.history(), &id).unwrap();
    assert_eq!(request.episodes, ["a".into(), "b".into()] as [Text; 2]);
    let text = request.messages[1].body().content_or_empty().to_owned();
    assert!(
        text.contains("[A2] name of b (supported) yes: It did."),
        "{text}"
    );
    let findings = findings::AskFindings {
        text: "- All book. [A1] [A2]\n- None fails. [A9]".into(),
        model: "m".into(),
        time: 1.0,
        episodes: request.episodes,
        left_out: 0,
        cost: None,
    };
    let claims = findings.claims();
    assert!(claims[0].is_supported() && !claims[1].is_supported());
    let found = Event::Found {
        id: id.clone(),
        findings: findings.clone(),
    };
    page.play(found, &mut || None);
    assert_eq!(page.reloaded().ask.history().findings(&id), Some(&findings));
    assert_eq!(FindingsRequest::of(page.ask.history(), "none"), None);
}

#[test]
fn what_cannot_be_asked_is_said() {
    let mut page = Page::default();
    page.plan(setup(" "), &["a"]);
    assert!(matches!(page.ask.plan(), PlanState::Failed(why) if why.contains("empty")));
    page.plan(setup("Did it?"), &[]);
    assert!(matches!(page.ask.plan(), PlanState::Failed(why) if why.contains("no trajectory")));
    let unpriced = ModelFacts {
        price: None,
        ..FACTS
    };
    let limited = AskSetup {
        most_cost: Some(1.0),
        ..setup("Did it?")
    };
    let plan = Event::Plan {
        setup: Box::new(limited),
        facts: unpriced,
        rows: rows(&["a"]),
    };
    page.play(plan, &mut || None);
    page.ask("x", &mut || Some(YES));
    assert_eq!(page.sent, 0);
    assert!(page.ask.refused().unwrap().contains("price"));
    let late = Event::Replied {
        request: RequestId {
            row: 7,
            part: 0,
            number: 1,
        },
        reply: Ok(ModelReply::default()),
    };
    page.play(late, &mut || None);
}

#[test]
fn unreadable_answers_have_no_value() {
    let mut page = Page::default();
    page.plan(setup("Did it?"), &["a"]);
    page.ask("x", &mut || Some("I cannot say."));
    let id = setup("Did it?").id();
    let record: &AnswerRecord = page.stored.answer(&id, "a").unwrap();
    assert_eq!(record.answer.support.as_str(), "unreadable");
    let cells = page.stored.cells();
    assert_eq!(&*cells["a"][0].support, "unreadable");
    assert!(page.stored.values(&id).is_empty());
}

/// An answer as `volary ask` writes it.
fn given(episode: &str, label: &str, time: f64) -> AnswerRecord {
    let text = format!(
        r#"{{"format":"volary-answer-1","key":"{:064x}","episode":"{episode}","model":"m","time":{time},"question":{{"text":"Did it?","type":"yes_no"}},"answer":{{"label":"{label}","explanation":"e","evidence":[],"support":"supported","parts":1}}}}"#,
        time as u64
    );
    let lines = volary_ask::cache::AnswerLines::read(&text).unwrap();
    assert_eq!(lines.damaged, []);
    lines.records[0].clone()
}

fn labels(history: &AskHistory) -> Vec<(String, String)> {
    let mut labels: Vec<_> = history
        .cells()
        .into_iter()
        .flat_map(|(episode, answers)| {
            let answers = answers.into_iter();
            answers.map(move |answer| (episode.to_string(), format!("{:?}", answer.value)))
        })
        .collect();
    labels.sort();
    labels
}

fn label(episode: &str, label: &str) -> (String, String) {
    (episode.to_owned(), format!("Text({label:?})"))
}

#[test]
fn answers_of_a_file_become_columns_and_the_latest_counts() {
    let mut page = Page::default();
    let records = vec![
        given("a", "yes", 2.0),
        given("b", "yes", 1.0),
        given("a", "no", 1.0),
        given("", "no", 9.0),
    ];
    let event = Event::Given {
        records,
        is_kept: true,
    };
    page.play(event.clone(), &mut || None);
    let expected = [label("a", "yes"), label("b", "yes")];
    assert_eq!(labels(page.ask.history()), expected);
    assert_eq!(&page.stored, page.ask.history());
    let question = page.ask.history().questions()[0].clone();
    assert_eq!((&*question.name, question.rows.len()), ("Did it?", 2));
    // The same file again changes nothing.
    let mut again = page.reloaded();
    again.play(event, &mut || None);
    assert_eq!(again.ask.history(), page.ask.history());
    // The page asks the same question under the same id, and knows its answers.
    assert_eq!(question.id, setup("Did it?").id());
    let later = Event::Given {
        records: vec![given("a", "no", 3.0)],
        is_kept: true,
    };
    page.play(later, &mut || None);
    assert_eq!(labels(page.ask.history())[0], label("a", "no"));
}

#[test]
fn answers_of_a_site_are_not_stored_and_stay() {
    let mut page = Page::default();
    let event = Event::Given {
        records: vec![given("a", "yes", 1.0)],
        is_kept: false,
    };
    page.play(event, &mut || None);
    assert_eq!(page.stored, AskHistory::default());
    assert_eq!(labels(page.ask.history()), [label("a", "yes")]);
    // Another reading of what is stored.
    page.play(Event::Read(Box::default()), &mut || None);
    assert_eq!(labels(page.ask.history()), [label("a", "yes")]);
    let id = page.ask.history().questions()[0].id.clone();
    page.play(Event::Forget(id), &mut || None);
    page.play(Event::Read(Box::default()), &mut || None);
    assert_eq!(page.ask.history(), &AskHistory::default());
}
