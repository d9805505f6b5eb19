//! Every message survives the encoding, and has the shape that `golden/` records as JSON.
//!
//! The golden files show the fields of each message, and the test fails when a field is renamed, added or lost.
//! `UPDATE_GOLDEN=1` rewrites them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use volary_agent::evaluation::{Actor, CellResult, Job, Plan, PlannedPolicy, PlannedTask};
use volary_analysis::behaviour::rules::{ActPattern, Rule, RuleLevel};
use volary_analysis::behaviour::signature::Signature;
use volary_analysis::sensitive::{self, FindingKind};
use volary_analysis::table::Row;
use volary_ask::answer::Evidence;
use volary_ask::cache::Sampling;
use volary_ask::prompt::Retry;
use volary_ask::quotes::QuotePosition;
use volary_ask::render::{RenderedMessage, RenderedPassage};
use volary_ask::run::CheckedReply;
use volary_ask::{Answer, AnswerType, QuoteState, RenderOptions, Rendered, Support};
use volary_core::json::{Json, Object};
use volary_core::message::{Message, ToolRequestMessage};
use volary_core::{AnyMessage, Frame, object};
use volary_episode::frames::{FrameHistory, FramePatch};
use volary_episode::passages::{TextPart, TextPosition};
use volary_episode::{Episode, Outcome, Recipe, StepRecord, native};
use volary_formats::import::fields::{FieldMapping, Mappings, Shape};
use volary_school::classwork::LeftOut;
use volary_school::inspect::ExamRecord;
use volary_school::record::SampleRecord;
use volary_school::{Behaviour, Difficulty, GroupRecord, Knobs, UpdateMetrics};

use crate::asking::{
    AskTerms, CheckedMessage, MeasuredText, MeasuredTexts, SaidReply, UnrenderedText,
};
use crate::behaviour::{
    BehaviourCluster, ClusterParting, ClusterReport, JudgedEpisode, RuleHit, SignatureSet,
};
use crate::envelope::{
    self, Channel, Delivery, decode_delivery, decode_event, decode_header, decode_request,
    encode_delivery, encode_event,
};
use crate::environments::{self, ChatLine, Question, ServerAccess, ServerEnvironment};
use crate::episode::{EpisodeChunk, Steps};
use crate::library::{
    self, EpisodeMatch, ExportFormat, FileChanges, FileList, FoundClaim, FoundPiece, FoundRun,
    Match, NamedFile, Origin, RemoteFile, SensitiveEpisode, TaggedEpisode, Unfetched, UnmappedFile,
};
use crate::{WorkerLoss, checkout, encode, evaluation, rollout, school};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn action() -> AnyMessage {
    ToolRequestMessage::default().into()
}

fn recipe() -> Recipe {
    Recipe {
        environment: "counter".into(),
        configuration: object!({
            "limit": (Json::parse("123456789012345678901234567890").unwrap()),
            "rate": (f64::INFINITY)
        }),
        seed: (1 << 53) - 1,
        task: None,
    }
}

fn steps() -> Steps {
    Steps {
        records: vec![StepRecord {
            action: action(),
            outcome: Outcome::Observed {
                messages: vec![Message::user("</script>\u{2028}").into()],
                reward: -0.1,
                done: true,
                truncated: false,
            },
            seconds: None,
            details: Default::default(),
            extras: Object::new(),
        }],
        patches: vec![FramePatch::between(&Frame::default(), &Frame::new(1, 2))],
    }
}

fn chunks() -> [EpisodeChunk; 3] {
    let mut frames = FrameHistory::default();
    frames.push(Frame::new("x", Json::Null));
    let head = Episode {
        id: "e".into(),
        start: vec![Message::user("Hello").into()],
        frames,
        ..Episode::default()
    };
    [
        EpisodeChunk::Head(Box::new(head)),
        EpisodeChunk::Steps(steps()),
        EpisodeChunk::End {
            notes: vec!["One line was skipped.".into()],
        },
    ]
}

fn servers() -> Vec<ServerAccess> {
    vec![ServerAccess {
        url: "http://127.0.0.1:8041".into(),
        key: Some("s3cret".into()),
        frames: Some(true),
    }]
}

fn server_environment() -> ServerEnvironment {
    ServerEnvironment {
        url: "http://127.0.0.1:8041".into(),
        env_id: "17".into(),
    }
}

fn environment_requests() -> Vec<environments::Request> {
    use environments::Request;
    vec![
        Request::Open {
            environment: 1,
            recipe: recipe(),
            actions: vec![action()],
            servers: servers(),
        },
        Request::Step {
            environment: u32::MAX,
            action: action(),
        },
        Request::Close { environment: 7 },
        Request::CloseOthers { environment: 8 },
        Request::Answer {
            question: 3,
            answer: Ok("Yes.\n".into()),
        },
        Request::Answer {
            question: u32::MAX,
            answer: Err("The user declined.".into()),
        },
    ]
}

fn questions() -> [Question; 3] {
    [
        Question::Page {
            url: "https://a.example/?q=1#2".into(),
        },
        Question::Model {
            purpose: "judge".into(),
            messages: vec![ChatLine {
                role: "user".into(),
                content: "Is this right?".into(),
            }],
        },
        Question::Person {
            shown: "Which one?".into(),
        },
    ]
}

fn environment_events() -> Vec<environments::Event> {
    use environments::Event;
    let mut events = vec![
        Event::Started(server_environment()),
        Event::Stopped {
            env_id: "17".into(),
        },
        Event::Refused {
            reason: "It must be positive.".into(),
            key: Some("answer".into()),
            is_server_lost: false,
        },
        Event::Lost {
            reason: "The server did not reply.".into(),
            is_server_lost: true,
        },
        Event::Gone,
        Event::Recorded {
            members: object!({"answers": ["a", (f64::NEG_INFINITY)]}),
        },
    ];
    events.extend(chunks().map(Event::Episode));
    let questions = questions().into_iter().zip(1..);
    events.extend(questions.map(|(question, id)| Event::Question { id, question }));
    events
}

fn tagged_episode() -> TaggedEpisode {
    TaggedEpisode {
        id: "a".into(),
        tags: vec!["to do".into()],
    }
}

fn rule() -> Rule {
    Rule {
        id: "unread".into(),
        title: "It was not read".into(),
        level: RuleLevel::Warning,
        when: Some(ActPattern {
            tool: Some("cancel*".into()),
            arguments: vec![("id".into(), "7".into())],
            failed: Some(false),
            same: Vec::new(),
        }),
        without_before: Some(ActPattern {
            same: vec!["id".into()],
            ..ActPattern::default()
        }),
        after: None,
        at_least: Some(2),
        changes: Some("orders.1".into()),
    }
}

fn asked() -> volary_ask::Question {
    volary_ask::Question {
        text: "Why?".into(),
        answer: AnswerType::of_labels(&["loop", "none"]),
    }
}

fn rendered() -> Rendered {
    Rendered {
        nonce: "0a".into(),
        head: "[trajectory 0a]\n".to_owned(),
        messages: vec![RenderedMessage {
            speaker: "user".to_owned(),
            step: 0,
            text: "[M0 0a user]\nGo.\n".to_owned(),
            passages: vec![RenderedPassage {
                position: TextPosition {
                    step: 0,
                    message: 0,
                    part: TextPart::Call(1),
                },
                range: 13..16,
            }],
        }],
        tail: String::new(),
        cut: 1,
        masked: 0,
    }
}

fn checked_reply() -> CheckedReply {
    CheckedReply {
        answer: Answer {
            label: Some("loop".into()),
            score: None,
            explanation: "x".into(),
            evidence: vec![Evidence {
                message: Some(0),
                quote: "go.".into(),
                state: QuoteState::Close,
                found_in: None,
                words: Some("Go.".into()),
                at: Some(QuotePosition::default()),
                from_question: false,
            }],
            support: Support::Supported,
            parts: 1,
            notes: Vec::new(),
        },
        retry: Some(Retry::NoQuote),
    }
}

fn library_requests() -> Vec<library::Request> {
    use library::Request;
    let ids = || vec!["a\"b".into(), "7 (2)".into()];
    vec![
        Request::List,
        Request::Watch,
        Request::Open { id: "a\"b".into() },
        Request::Search {
            words: "\u{202e}six".into(),
        },
        Request::Find {
            id: "a".into(),
            words: "six \"seven".into(),
        },
        Request::Forget { ids: ids() },
        Request::Check { id: "c".into() },
        Request::FindSensitive {
            episodes: vec![tagged_episode()],
        },
        Request::Export {
            episodes: vec![tagged_episode()],
            format: ExportFormat::Parquet,
            is_masked: true,
        },
        Request::ExportFindings {
            title: "Findings in a".into(),
            episodes: vec![tagged_episode()],
            runs: vec![FoundRun {
                title: "a".into(),
                ids: ids(),
                reward: Some("".into()),
            }],
            claims: vec![FoundClaim {
                pieces: vec![FoundPiece {
                    text: "[A1]".into(),
                    episode: Some("a".into()),
                }],
            }],
            notes: "{}".into(),
            is_masked: false,
        },
        Request::MeasureTexts {
            ids: ids(),
            terms: Box::new(AskTerms {
                question: asked(),
                model: "m".into(),
                sampling: Sampling {
                    temperature: Some(0.5),
                    ..Sampling::default()
                },
                context: 120_000,
                options: RenderOptions::default(),
            }),
        },
        Request::RenderText {
            id: "a".into(),
            options: RenderOptions {
                outcome: false,
                ..RenderOptions::default()
            },
        },
        Request::CheckReply(Box::new(SaidReply {
            id: "a".into(),
            options: RenderOptions::default(),
            question: asked(),
            said: "{}".into(),
        })),
        Request::Tag {
            ids: ids(),
            tag: "good".into(),
            on: true,
        },
        Request::Read {
            origin: Origin::Imported,
        },
        Request::Fetch {
            origin: Origin::Published,
            files: vec![RemoteFile {
                name: "a.json".into(),
                url: "http://x/a.json".into(),
            }],
        },
        Request::Read {
            origin: Origin::Linked,
        },
        Request::FetchList {
            origin: Origin::Published,
            list: FileList {
                url: "http://x/files.jsonl".into(),
                heads: Some("http://x/heads".into()),
            },
        },
        Request::Refresh {
            origin: Origin::Published,
            changes: FileChanges {
                changed: vec![RemoteFile {
                    name: "b/a.json".into(),
                    url: "http://x/b/a.json".into(),
                }],
                gone: vec!["http://x/c".into()],
                settled: vec!["http://x/d.jsonl".into()],
            },
            heads: None,
        },
        Request::Cancel { reading: 9 },
        Request::ShowUnstored {
            rows: vec![Row::default()],
        },
        Request::Settle,
        Request::Map {
            mappings: Mappings::for_all(FieldMapping {
                prompt: Some("q.text".to_owned()),
                ..FieldMapping::default()
            }),
        },
        Request::Preview {
            head: r#"{"q": 1}"#.into(),
            fields: FieldMapping::default(),
        },
        Request::Signatures { ids: ids() },
        Request::Clusters {
            episodes: vec![JudgedEpisode {
                id: "a".into(),
                succeeded: Some(false),
            }],
        },
        Request::MatchRules {
            rules: vec![rule()],
            ids: ids(),
        },
        Request::ProposeRules {
            id: "a".into(),
            step: 3,
        },
        Request::ReadFirst {
            files: vec![NamedFile {
                name: "a.json".to_owned(),
                bytes: vec![0, 255],
            }],
        },
    ]
}

fn library_events() -> Vec<library::Event> {
    use library::Event;
    let row = Row {
        id: "a".into(),
        ..Row::default()
    };
    let finding = |part| EpisodeMatch {
        place: TextPosition {
            step: 1,
            message: 2,
            part,
        },
        start: 3,
        length: 3,
        words: "six".into(),
        before: 1,
    };
    let sensitive_kind = |kind| SensitiveEpisode {
        name: "a".into(),
        finding: sensitive::Finding {
            kind,
            preview: "sk-a… (40 characters)".into(),
            step: Some(2),
            path: "steps[1].action.content".into(),
            count: 3,
        },
    };
    let mut events = vec![
        Event::Measured(MeasuredTexts {
            texts: vec![MeasuredText {
                id: "a".into(),
                tokens: 7,
                key: "k".into(),
                cut: 1,
            }],
            missing: vec![UnrenderedText {
                id: "b".into(),
                reason: "It is gone.".into(),
            }],
            masked: "1 API key".into(),
        }),
        Event::Rendered(Box::new(rendered())),
        Event::ReplyChecked(Box::new(CheckedMessage(checked_reply()))),
        Event::Progress {
            doing: "Reading a.json".into(),
            done: Some(0.1),
        },
        Event::Added {
            rows: vec![row.clone()],
        },
        Event::Changed {
            rows: vec![row.clone()],
        },
        Event::PartialRow { row: Box::new(row) },
        Event::Renamed {
            id: "a".into(),
            into: "a (2)".into(),
        },
        Event::Answers {
            lines: "{}\n".into(),
            origin: Origin::Imported,
        },
        Event::Unfetched(Unfetched {
            url: "http://x/a.json".into(),
            reason: "The server replied 404.".into(),
            status: Some(404),
            answered: true,
        }),
        Event::Signatures(SignatureSet {
            alphabet: vec!["look".to_owned(), "take".to_owned()].into(),
            signatures: vec![
                Some(Signature {
                    symbols: vec![0, 1],
                    counts: vec![1, 2],
                    steps: vec![1, 2],
                }),
                None,
            ],
        }),
        Event::Clusters(ClusterReport {
            clusters: vec![BehaviourCluster {
                name: "look → take".into(),
                ids: vec!["a".into()],
                typical: "a".into(),
                sequence: "look → take ×2".into(),
                succeeded: 0,
                judged: 1,
                words: vec!["card".into()],
                parting: Some(ClusterParting {
                    from: 1,
                    common: vec!["look".into()],
                    here: Some((2, "take".into())),
                    there: None,
                }),
            }],
            unread: 1,
        }),
        Event::RuleMatches {
            matches: vec![vec![RuleHit { row: 0, step: 3 }]],
        },
        Event::ProposedRules {
            rules: vec![rule()],
        },
        Event::Listed,
        Event::Gone {
            ids: vec!["a".into()],
        },
        Event::Unmapped {
            files: vec![UnmappedFile {
                file: "a.jsonl".into(),
                shape: Shape::of(&Json::parse(r#"{"q": 1}"#).unwrap()).unwrap(),
                head: r#"{"q": 1}"#.into(),
            }],
        },
        Event::Read {
            notes: vec!["Two episodes.".into()],
        },
        Event::Found {
            matches: vec![Match {
                id: "a".into(),
                step: 3,
                before: "x".into(),
                hit: "y".into(),
                after: "z".into(),
            }],
        },
        Event::Places {
            places: vec![
                finding(TextPart::Name),
                finding(TextPart::Reasoning),
                finding(TextPart::Content),
                finding(TextPart::Call(1)),
                finding(TextPart::Error(0)),
                finding(TextPart::Score(2)),
            ],
        },
        Event::Checked {
            words: "The same.".into(),
            step: None,
        },
        Event::Sensitive {
            found: FindingKind::ALL.map(sensitive_kind).to_vec(),
        },
        Event::File {
            name: "trajectories.jsonl".into(),
        },
        Event::Refused {
            reason: "It is not a file.".into(),
        },
        Event::NotRead {
            reason: "The browser's database failed.".into(),
        },
        Event::Notice {
            what: "2 stored records cannot be read.".into(),
            why: "They are damaged.".into(),
            advice: "Export them.".into(),
        },
        Event::NotKept {
            reason: "The disk is full.".into(),
        },
    ];
    events.extend(chunks().map(Event::Episode));
    events
}

fn job(actor: Actor) -> Job {
    let plan = Plan {
        tasks: vec![PlannedTask {
            id: "1".into(),
            title: "One".into(),
            environment: "counter".into(),
            configuration: object!({"x": 1}),
        }],
        policies: vec![PlannedPolicy {
            name: "R".into(),
            actor,
            max_steps: 3,
        }],
        trials: 1,
        ..Plan::default()
    };
    Job::of(&"e".into(), &plan, plan.cell(0).unwrap(), 2).unwrap()
}

fn evaluation_requests() -> Vec<evaluation::Request> {
    use evaluation::Request;
    vec![
        Request::Play {
            jobs: vec![
                job(Actor::Random),
                job(Actor::Scripted {
                    script: "[]".into(),
                }),
            ],
            servers: servers(),
        },
        Request::Answer {
            question: 1,
            answer: Ok("".into()),
        },
        Request::Shutdown,
    ]
}

fn evaluation_events() -> Vec<evaluation::Event> {
    use evaluation::Event;
    let questions = questions().into_iter().zip(1..);
    let questions = questions.map(|(question, id)| Event::Question { id, question });
    let result = |cell| CellResult::finished(cell, &Episode::default(), Default::default(), 1);
    let mut events = vec![
        Event::Started(server_environment()),
        Event::Stopped {
            env_id: "17".into(),
        },
        Event::Played {
            results: vec![result(0), result(7)],
        },
        Event::NotStarted { cells: vec![0, 7] },
    ];
    events.extend(questions);
    events
}

fn rollout_requests() -> Vec<rollout::Request> {
    use rollout::RolloutTask;
    let setup = || rollout::RolloutSetup {
        template: "qwen2.5".into(),
        mask: "token_in".into(),
        tokenizer: Some("tokenizer.json 7031645".into()),
        send_tokens: true,
        temperature: Some(0.7),
        max_tokens: None,
    };
    let tasks = [
        RolloutTask::Render,
        RolloutTask::Next,
        RolloutTask::Read {
            reply: object!({"text": "Hi<|im_end|>", "output_ids": [13048, 151645]}),
        },
        RolloutTask::Record { is_over: true },
    ];
    let request = |task| rollout::Request {
        setup: setup(),
        conversation: object!({"opening": "hi\u{2028}"}),
        task,
    };
    tasks.map(request).into()
}

fn rollout_events() -> Vec<rollout::Event> {
    use rollout::Event;
    vec![
        Event::Body {
            body: object!({"text": "<|im_start|>"}),
        },
        Event::Said {
            text: "One moment.".into(),
            call: Some(rollout::RolloutCall {
                name: "f".into(),
                arguments: "{}".into(),
            }),
        },
        Event::Recorded {
            members: object!({"tokens": [1, 2], "loss_mask": [1]}),
        },
        Event::Failed {
            reason: "The template failed.".into(),
        },
    ]
}

fn school_requests() -> Vec<school::Request> {
    use school::Request;
    let knobs = || Knobs {
        seed: 7,
        ..Knobs::default()
    };
    vec![
        Request::Begin {
            knobs: knobs(),
            checkpoint: Some(school::Checkpoint::from(vec![86, 79])),
            warm_start: Some(school::WarmStartBytes::from(vec![86])),
        },
        Request::Train { updates: Some(1) },
        Request::Stop,
        Request::Tune { knobs: knobs() },
        Request::Answer {
            update: 40,
            prompt: "?37*48=".into(),
            temperature: 0.5,
            seed: 7,
        },
        Request::Examine {
            update: 40,
            difficulty: Difficulty::Beyond,
            tasks: 64,
        },
        Request::Explain,
        Request::Store { groups: 2 },
        Request::Draw { number: 3 },
        Request::Play {
            prompt: "?37*48=".into(),
            turns: vec!["c37*48)".into()],
            update: 40,
        },
        Request::Teach {
            files: vec![school::ClassFile {
                name: "ada.json".into(),
                text: "{}".into(),
            }],
            without: Some("Ben".into()),
        },
    ]
}

fn school_events() -> Vec<school::Event> {
    use school::Event;
    let sample = || SampleRecord {
        group: 0,
        sample: 1,
        text: "?1+1=a2.".to_owned(),
        prompt: 5,
        mask: vec![false, false, false, false, false, true, true, true],
        log_probs: vec![0.0, 0.0, 0.0, 0.0, 0.0, -0.5, -0.25, -0.125],
        behaviour: Behaviour::Right,
        graded: 1.0,
        reward: 0.75,
        advantage: 1.5,
    };
    let behaviours = || BTreeMap::from([(Behaviour::Right, 1)]);
    vec![
        Event::Started {
            updates: 10,
            parameters: 26_528,
            prompt: "?37*48=".into(),
        },
        Event::Updated(Box::new(school::Updated {
            metrics: UpdateMetrics {
                update: 10,
                samples: 1,
                behaviours: behaviours(),
                divergence: Some(0.25),
                ..UpdateMetrics::default()
            },
            samples: vec![sample()],
            checkpoint: None,
        })),
        Event::Tuned,
        Event::Answered {
            update: 40,
            sample: Box::new(sample()),
        },
        Event::Examined {
            update: 40,
            exam: Box::new(ExamRecord {
                difficulty: Difficulty::Trained,
                tasks: 1,
                success: 1.0,
                behaviours: behaviours(),
                samples: vec![sample()],
            }),
        },
        Event::Explained(Box::new(GroupRecord {
            prompt: "?1+1=".to_owned(),
            samples: vec![sample()],
            mean: 0.5,
            deviation: 0.25,
            before: vec![vec![0.0, -0.5]],
            after: vec![vec![0.0, -0.25]],
        })),
        Event::Stored { episodes: 16 },
        Event::Unstored {
            reason: "The browser is out of space.".into(),
        },
        Event::Drawn {
            number: 3,
            prompt: "?1+1=".into(),
        },
        Event::Played {
            person: Box::new(sample()),
            is_over: true,
            policy: Some((40, Box::new(sample()))),
        },
        Event::Refused {
            reason: "`x` is no move.".into(),
        },
        Event::Taught(Box::new(school::Taught {
            without: Some("Ben".into()),
            pupils: vec![("Ada".into(), 2)],
            left_out: vec![LeftOut {
                pupil: "Cleo".to_owned(),
                title: "Sums".to_owned(),
                reason: "Nothing was played.".to_owned(),
            }],
            examples: 2,
            tasks: 256,
            before: 0.125,
            success: 0.5,
            warm_start: school::WarmStartBytes::from(vec![86]),
        })),
        Event::Failed {
            reason: "The temperature is 0.".into(),
        },
    ]
}

fn assert_golden<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, messages: &[T]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json"));
    let written = serde_json::to_string_pretty(messages).unwrap() + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, golden, "{name}: run with UPDATE_GOLDEN=1");
    let read: Vec<T> = serde_json::from_str(&golden).unwrap();
    assert_eq!(read, messages, "{name}");
    assert_every_variant(name, messages);
}

/// Fails if a variant of an enum is missing. serde's error for an unknown variant names all of them.
fn assert_every_variant<T: Serialize + DeserializeOwned>(name: &str, messages: &[T]) {
    let error = serde_json::from_str::<T>(r#""no such variant""#)
        .err()
        .unwrap()
        .to_string();
    let variants = error.strip_prefix("unknown variant `no such variant`, expected ");
    let Some(variants) = variants else {
        assert_eq!(name, "rollout_requests", "all others are enums: {error}");
        return;
    };
    let shown: Vec<String> = messages.iter().map(variant).collect();
    for variant in variants.split('`').skip(1).step_by(2) {
        let is_shown = shown.iter().any(|shown| shown == variant);
        assert!(is_shown, "{name} shows no {variant}");
    }
}

fn variant(message: &impl Serialize) -> String {
    match serde_json::to_value(message).unwrap() {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(members) => members.into_iter().next().unwrap().0,
        other => panic!("{other} is no variant"),
    }
}

fn assert_requests<R: envelope::Request + Clone + PartialEq + Debug>(
    name: &str,
    channel: Channel,
    requests: &[R],
) {
    assert_golden(name, requests);
    for request in requests {
        let bytes = encode(300, request);
        let (found, id, rest) = decode_header(&bytes).unwrap();
        assert_eq!((found, id), (channel, 300));
        assert_eq!(decode_request::<R>(rest).as_ref(), Ok(request));
        for end in 0..bytes.len() {
            let cut = decode_header(&bytes[..end]);
            let read = cut.and_then(|(_, _, rest)| decode_request::<R>(rest));
            assert!(read.is_err(), "{request:?} cut at {end}");
        }
    }
}

fn assert_events<E: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, events: &[E]) {
    assert_golden(name, events);
    for event in events {
        let bytes = encode_event(300, event);
        let (delivery, rest) = decode_delivery(&bytes).unwrap();
        assert_eq!(delivery, Delivery::Event { id: 300 });
        assert_eq!(decode_event::<E>(rest).as_ref(), Ok(event));
        for end in 0..bytes.len() {
            let cut = decode_delivery(&bytes[..end]);
            let read = cut.and_then(|(_, rest)| decode_event::<E>(rest));
            assert!(read.is_err(), "{event:?} cut at {end}");
        }
    }
}

#[test]
fn environment_messages() {
    let requests = environment_requests();
    assert_requests("environment_requests", Channel::Environments, &requests);
    assert_events("environment_events", &environment_events());
}

#[test]
fn library_messages() {
    assert_requests("library_requests", Channel::Library, &library_requests());
    assert_events("library_events", &library_events());
}

#[test]
fn evaluation_messages() {
    let requests = evaluation_requests();
    assert_requests("evaluation_requests", Channel::Evaluation, &requests);
    assert_events("evaluation_events", &evaluation_events());
}

#[test]
fn checkout_messages() {
    use checkout::{Domain, Event, Request, Split, Summary};
    let url = "https://files.example/tau-bench.zip".into();
    let requests = [Request::Read, Request::Fetch { url }];
    assert_requests("checkout_requests", Channel::Checkout, &requests);
    let summary = Summary {
        id: "5a4b2cb59f4d12de".into(),
        domains: vec![Domain {
            name: "retail".into(),
            splits: vec![Split {
                name: "test".into(),
                tasks: 115,
            }],
            differences: vec!["tau_bench/envs/retail/data".into()],
        }],
        problems: vec!["tau_bench/envs/airline/wiki.md is missing".into()],
    };
    let events = [
        Event::Progress {
            doing: "Reading tau-bench.zip".into(),
            done: Some(0.5),
        },
        Event::Stored(summary),
        Event::Refused {
            reason: "The zip file is cut off.".into(),
        },
    ];
    assert_events("checkout_events", &events);
}

#[test]
fn rollout_messages() {
    assert_requests("rollout_requests", Channel::Rollout, &rollout_requests());
    assert_events("rollout_events", &rollout_events());
}

#[test]
fn school_messages() {
    assert_requests("school_requests", Channel::School, &school_requests());
    assert_events("school_events", &school_events());
}

#[test]
fn deliveries_without_an_event() {
    let panicked = Delivery::Panicked {
        message: "index out of bounds".to_owned(),
    };
    for delivery in [Delivery::End { id: u32::MAX }, panicked] {
        let bytes = encode_delivery(&delivery);
        assert_eq!(decode_delivery(&bytes), Ok((delivery, &[][..])));
    }
}

#[test]
fn a_message_that_cannot_be_read_is_the_loss_of_the_worker() {
    let error = decode_request::<library::Request>(&[]).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("A message between page and worker could not be read: "));
    let loss = WorkerLoss::Crashed {
        message: message.into(),
    };
    assert_eq!(WorkerLoss::from(error), loss);
}

/// The bytes of a step whose action is this text.
fn step_of(text: &str) -> Vec<u8> {
    #[derive(Serialize)]
    enum Request<'a> {
        #[allow(dead_code, reason = "takes the index of the first variant")]
        Open,
        Step(u32, &'a str),
    }
    postcard::to_allocvec(&Request::Step(1, text)).unwrap()
}

#[test]
fn a_value_whose_text_is_hostile_is_refused() {
    let written = native::message_to_json(&action()).to_compact_text();
    let good = decode_request::<environments::Request>(&step_of(&written));
    let step = environments::Request::Step {
        environment: 1,
        action: action(),
    };
    assert_eq!(good, Ok(step), "the bytes are those of a step");
    let deep = "[".repeat(1 << 20);
    for text in ["", "{", "null", "[1]", "{} {}", "{\"role\": 1}", &deep] {
        let read = decode_request::<environments::Request>(&step_of(text));
        assert!(read.is_err(), "{text:.20}");
    }
}

#[test]
fn a_length_beyond_the_end_is_refused() {
    let request = library::Request::ReadFirst { files: vec![] };
    let bytes = encode(1, &request);
    let (_, _, rest) = decode_header(&bytes).unwrap();
    let (variant, length) = rest.split_at(rest.len() - 1);
    assert_eq!(length, [0]);
    for length in [1, 1 << 30, u64::from(u32::MAX), u64::MAX] {
        let mut bytes = variant.to_vec();
        bytes.extend(postcard::to_allocvec(&length).unwrap());
        assert!(decode_request::<library::Request>(&bytes).is_err());
    }
}

#[test]
fn not_a_number_arrives() {
    let mut steps = steps();
    if let Outcome::Observed { reward, .. } = &mut steps.records[0].outcome {
        *reward = f64::NAN;
    }
    let event = environments::Event::Episode(EpisodeChunk::Steps(steps));
    let bytes = encode_event(1, &event);
    let (_, rest) = decode_delivery(&bytes).unwrap();
    let Ok(environments::Event::Episode(EpisodeChunk::Steps(read))) = decode_event(rest) else {
        panic!("no steps were read");
    };
    let Outcome::Observed { reward, .. } = read.records[0].outcome else {
        panic!("the outcome is another");
    };
    assert!(reward.is_nan());
}

#[test]
fn keys_do_not_appear_in_logs() {
    let logged = format!("{:?} {:?}", environment_requests(), evaluation_requests());
    assert!(!logged.contains("s3cret"));
    assert!(logged.contains("127.0.0.1:8041"));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused_or_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok((_, _, rest)) = decode_header(&bytes) {
            let _ = decode_request::<environments::Request>(rest);
            let _ = decode_request::<library::Request>(rest);
            let _ = decode_request::<evaluation::Request>(rest);
            let _ = decode_request::<checkout::Request>(rest);
            let _ = decode_request::<rollout::Request>(rest);
            let _ = decode_request::<school::Request>(rest);
        }
        if let Ok((_, rest)) = decode_delivery(&bytes) {
            let _ = decode_event::<environments::Event>(rest);
            let _ = decode_event::<library::Event>(rest);
            let _ = decode_event::<evaluation::Event>(rest);
            let _ = decode_event::<checkout::Event>(rest);
            let _ = decode_event::<rollout::Event>(rest);
            let _ = decode_event::<school::Event>(rest);
        }
    }

    #[test]
    fn a_changed_byte_is_refused_or_read_without_a_panic(at in any::<proptest::sample::Index>(), to in any::<u8>()) {
        for request in environment_requests() {
            let mut bytes = encode(1, &request);
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Ok((_, _, rest)) = decode_header(&bytes) {
                let _ = decode_request::<environments::Request>(rest);
            }
        }
        for event in environment_events() {
            let mut bytes = encode_event(1, &event);
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Ok((_, rest)) = decode_delivery(&bytes) {
                let _ = decode_event::<environments::Event>(rest);
            }
        }
    }
}
