//! Each exit path of a rollout, and its recording.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::VecDeque;
use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use volary_core::{Json, Text, json, object};
use volary_rollout::chat::{
    ChatAgent, ChatCall, ChatEffect, ChatEvent, ChatReply, ChatRollout, ChatSettings,
};
use volary_rollout::export::{self, LOG_PROBS, TrialIndex};
use volary_rollout::rollout::GenerateFailure;
use volary_rollout::sglang::Prompt;
use volary_rollout::{
    Effect, EnvReset, EnvStep, Event, GenerateReply, InteractionResult, Replay, ReplayedTurn,
    Rollout, RolloutEnvironment, RolloutSettings, Status, StopReason, drift, drive, drive_chat,
};
use volary_tokens::{Action, Builtin, ChatRole, ChatTemplate, MaskMode, Tokenizer, ToyTokenizer};

type Replies = Vec<Result<GenerateReply, GenerateFailure>>;
type Steps = Vec<Result<EnvStep, Text>>;

struct Script {
    steps: VecDeque<Result<EnvStep, Text>>,
    actions: Vec<Action>,
}

impl RolloutEnvironment for Script {
    fn reset(&mut self, _: Option<i64>) -> Result<EnvReset, Text> {
        Ok(EnvReset {
            observation: "hi".into(),
            info: object!({"source": "user", "reward_info": 1}),
        })
    }

    fn step(&mut self, action: &Action) -> Result<EnvStep, Text> {
        self.actions.push(action.clone());
        self.steps.pop_front().unwrap_or(Err("no more".into()))
    }
}

fn reply(text: &str, finish: Json) -> Result<GenerateReply, GenerateFailure> {
    let body = json!({"text": text, "meta_info": {"finish_reason": finish}});
    Ok(GenerateReply::read(&body).unwrap())
}

fn stop(text: &str) -> Result<GenerateReply, GenerateFailure> {
    reply(text, json!({"type": "stop"}))
}

fn said(observation: &str, done: bool) -> Result<EnvStep, Text> {
    Ok(EnvStep {
        observation: observation.into(),
        reward: if done { 1.0 } else { 0.0 },
        done,
        info: object!({"reward_info": null}),
    })
}

fn settings(mode: MaskMode) -> RolloutSettings {
    let mut settings = RolloutSettings::new(Rc::new(Builtin::Qwen25.template().unwrap()));
    settings.wiki = Some("SYS".into());
    settings.mode = mode;
    settings.tools = vec![json!({"type": "function", "function": {"name": "f"}})];
    settings
}

fn run(
    settings: RolloutSettings,
    replies: Replies,
    steps: Steps,
) -> (InteractionResult, Vec<Action>, Vec<Prompt>) {
    let mut script = Script {
        steps: steps.into(),
        actions: Vec::new(),
    };
    let mut replies: VecDeque<_> = replies.into();
    let mut prompts = Vec::new();
    let (mut rollout, first) = Rollout::start(settings, Rc::new(ToyTokenizer));
    drive(&mut rollout, first, &mut script, &mut |request| {
        prompts.push(request.prompt);
        let none = Err(GenerateFailure::Transport("no more".into()));
        replies.pop_front().unwrap_or(none)
    })
    .unwrap();
    (rollout.into_result(), script.actions, prompts)
}

const CALL: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";

#[test]
fn ways_out() {
    let fails = format!("{CALL}\n<tool_call>\n5\n</tool_call>");
    let abort = json!({"type": "abort", "message": "gone"});
    let transport = || Err(GenerateFailure::Transport("refused".into()));
    for (replies, steps, status, messages, strips) in [
        (
            vec![stop("a")],
            vec![said("x", true)],
            Status::Completed,
            4,
            2,
        ),
        (
            vec![stop("a"), stop("b")],
            vec![said("x", false), said("y", false)],
            Status::Truncated,
            6,
            4,
        ),
        (vec![reply("a", abort)], vec![], Status::Aborted, 2, 0),
        (vec![stop(&fails)], vec![], Status::Aborted, 2, 0),
        (
            vec![stop("a")],
            vec![Err("down".into())],
            Status::Aborted,
            3,
            1,
        ),
        (vec![transport()], vec![], Status::Failed, 2, 0),
        (
            vec![stop(CALL), transport()],
            vec![said("x", false)],
            Status::Failed,
            4,
            2,
        ),
    ] {
        for mode in MaskMode::ALL {
            let mut settings = settings(mode);
            settings.max_num_steps = 2;
            let (result, _, _) = run(settings, replies.clone(), steps.clone());
            assert_eq!(result.status(), status);
            assert_eq!(result.messages.len(), messages);
            assert_eq!(result.strips.len(), strips);
        }
    }
    let mut none = settings(MaskMode::Seed);
    none.max_num_steps = 0;
    let (result, _, _) = run(none, vec![], vec![]);
    assert_eq!(result.stop_reason, Some(StopReason::NoTurns));
    assert!(!result.prompt_ids.is_empty());
}

#[test]
fn a_cut_turn_is_played_and_noted() {
    let cut = reply("Hel", json!({"type": "length", "length": 3}));
    let (result, actions, _) = run(settings(MaskMode::Fixed), vec![cut], vec![said("ok", true)]);
    assert_eq!(result.status(), Status::Completed);
    assert_eq!(result.cut_turns, [0]);
    assert_eq!(actions, [Action::respond("Hel")]);
    // An observation's task information replaces the earlier one, including nulls.
    assert_eq!(
        result.info.to_python_text(),
        "{\"source\": \"user\", \"reward_info\": null}"
    );
}

#[test]
fn only_one_mark_is_removed_from_the_end() {
    let texts = ["a<|im_end|>", "a<|im_end|>\n", "a<|im_end|><|im_end|>"];
    let kept = texts.map(|text| {
        let (result, _, _) = run(
            settings(MaskMode::Seed),
            vec![stop(text)],
            vec![said("x", true)],
        );
        result.response()
    });
    assert_eq!(kept, ["a", "a<|im_end|>\n", "a<|im_end|>"]);
}

#[test]
fn sampled_tokens_are_kept_unchanged() {
    let answer = |text: &str| {
        let ids = ToyTokenizer.encode(text).unwrap();
        let logprobs: Vec<Json> = ids.iter().map(|id| json!([(-0.5), (*id), null])).collect();
        let body = json!({"text": text, "output_ids": ids, "meta_info": {
            "finish_reason": {"type": "stop"}, "output_token_logprobs": logprobs
        }});
        GenerateReply::read(&body).map_err(|error| GenerateFailure::Reply(error.to_string().into()))
    };
    let mut settings = settings(MaskMode::TokenIn);
    settings.send_ids = true;
    settings.return_logprob = true;
    let (result, _, prompts) = run(
        settings,
        vec![answer("one<|im_end|>"), answer("two")],
        vec![said("x", false), said("###STOP###", true)],
    );
    let (tokens, mask) = result.tokens_and_mask();
    // The second prompt is the recording so far, including the header.
    let Some(Prompt::InputIds(second)) = prompts.get(1) else {
        panic!("the prompt is no list of tokens");
    };
    assert!(tokens.starts_with(second));
    let text = String::from_utf8(ToyTokenizer.decode(&tokens).unwrap()).unwrap();
    assert!(
        text.ends_with(
            "<|im_start|>assistant\none<|im_end|>\n<|im_start|>user\nx<|im_end|>\n\
             <|im_start|>assistant\ntwo<|im_end|>\n<|im_start|>user\n###STOP###<|im_end|>\n"
        ),
        "{text}"
    );
    // The end of the second turn was not sampled, so it is not trained.
    let trained = mask.iter().filter(|is_trained| **is_trained).count();
    assert_eq!(trained, "one".len() + 1 + "two".len());
    let known = result.streams()[LOG_PROBS].iter().flatten().count();
    assert_eq!(known, trained);

    let mut other = self::settings(MaskMode::TokenIn);
    other.send_ids = true;
    let body =
        json!({"text": "a", "output_ids": [98], "meta_info": {"finish_reason": {"type": "stop"}}});
    let (result, _, _) = run(other, vec![Ok(GenerateReply::read(&body).unwrap())], vec![]);
    assert!(matches!(result.stop_reason, Some(StopReason::Reply(_))));
}

#[test]
fn drift_is_found_where_it_begins() {
    let play = |mode| {
        let settings = settings(mode);
        let (result, _, _) = run(
            settings.clone(),
            vec![stop("Hello<|im_end|>"), stop("Bye<|im_end|>")],
            vec![said("bye", false), said("###STOP###", true)],
        );
        let found = drift(&result, &settings, &ToyTokenizer).unwrap();
        (result, found)
    };
    assert_eq!(play(MaskMode::Fixed).1, None);
    assert_eq!(play(MaskMode::TokenIn).1, None);
    // The header of the second turn is lost.
    let (result, found) = play(MaskMode::Seed);
    let before: usize = result.strips[..2].iter().map(|strip| strip.len()).sum();
    let found = found.unwrap();
    assert_eq!(found.index, result.prompt_ids.len() + before);
    assert_eq!(
        (found.recorded, found.rendered),
        (Some(u32::from(b'B')), Some(256))
    );
}

#[test]
fn events_that_do_not_belong_are_refused() {
    let (mut rollout, first) = Rollout::start(settings(MaskMode::Seed), Rc::new(ToyTokenizer));
    assert_eq!(first, Effect::Reset(None));
    assert!(rollout.handle(Event::Stepped(said("x", true))).is_err());
    assert_eq!(rollout.handle(Event::Cancel), Ok(Effect::Finished));
    assert_eq!(rollout.result().stop_reason, Some(StopReason::Cancelled));
    assert!(rollout.handle(Event::Stepped(said("x", true))).is_err());
}

#[test]
fn a_chat_model_plays_the_same_loop() {
    let settings = |agent| ChatSettings {
        agent,
        wiki: "SYS".into(),
        tools: settings(MaskMode::Fixed).tools,
        template: Rc::new(Builtin::Qwen25.template().unwrap()),
        mode: MaskMode::Fixed,
        task_index: None,
        max_num_steps: 5,
    };
    let call = ChatReply {
        calls: vec![ChatCall {
            id: "c1".into(),
            name: "f".into(),
            arguments: "{\"a\": 1}".into(),
        }],
        ..ChatReply::default()
    };
    let text = |content: &str| ChatReply {
        content: Some(content.into()),
        ..ChatReply::default()
    };
    let react = "Thought:\nx\nAction:\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}";
    for (agent, first_reply, observed) in [
        (ChatAgent::ToolCalling, call.clone(), "ok"),
        (ChatAgent::FewShot(vec!["E".into()]), call, "ok"),
        (ChatAgent::Act, text(react), "API output: ok"),
        (ChatAgent::React, text(react), "API output: ok"),
    ] {
        let mut script = Script {
            steps: vec![said("ok", false), said("###STOP###", true)].into(),
            actions: Vec::new(),
        };
        let mut replies: VecDeque<_> = vec![first_reply, text("Done")].into();
        let in_text = agent.calls_in_text();
        let (mut rollout, first) = ChatRollout::start(settings(agent), Rc::new(ToyTokenizer));
        let mut requests = Vec::new();
        drive_chat(&mut rollout, first, &mut script, &mut |request| {
            requests.push(request);
            replies.pop_front().ok_or_else(|| "no more".into())
        })
        .unwrap();
        assert_eq!(&*script.actions[0].name, "f");
        assert!(script.actions[1].is_respond());
        assert_eq!(requests[1].tools.is_empty(), in_text);
        assert_eq!(
            requests[1].messages[3].get("content"),
            Some(&Json::from(observed))
        );
        let result = rollout.into_result();
        assert!(result.is_reconstructed);
        assert_eq!(result.status(), Status::Completed);
        let (tokens, mask) = result.tokens_and_mask();
        assert_eq!(mask.len(), tokens.len() - result.prompt_ids.len());
        let assistant = &result.messages[2];
        assert_eq!(assistant.role, ChatRole::Assistant);
        assert_eq!(assistant.content.contains("<tool_call>"), !in_text);
    }
    let (mut rollout, _) = ChatRollout::start(settings(ChatAgent::Act), Rc::new(ToyTokenizer));
    assert_eq!(rollout.handle(ChatEvent::Cancel), Ok(ChatEffect::Finished));
}

#[test]
fn exports_have_the_keys_of_their_readers() {
    let (result, _, _) = run(
        settings(MaskMode::Seed),
        vec![stop("a")],
        vec![said("x", true)],
    );
    let trial = TrialIndex {
        task_index: 3,
        trial: 1,
    };
    let sample = export::slime_sample(&result, trial);
    assert_eq!(sample.get("status"), Some(&Json::from("completed")));
    assert_eq!(sample.get("index"), Some(&Json::from(3)));
    let row = export::tau_result(&result, trial);
    assert_eq!(
        row.get("traj").and_then(Json::as_list).map(<[Json]>::len),
        Some(4)
    );
    let lines = export::json_lines(&[sample, row]);
    assert!(lines.lines().all(|line| Json::parse(line).is_ok()));
    let (failed, _, _) = run(settings(MaskMode::Seed), vec![], vec![]);
    let row = export::tau_result(&failed, trial);
    assert_eq!(row.get("traj").and_then(Json::as_list), Some(&[][..]));
    assert!(row.get("info").and_then(|info| info.get("error")).is_some());
}

fn any_reply() -> impl Strategy<Value = Result<GenerateReply, GenerateFailure>> {
    let part = prop_oneof![
        Just(CALL),
        Just("<tool_call>\n[]\n</tool_call>"),
        Just("<tool_call>\n5\n</tool_call>"),
        Just("<think>\nx\n</think>\n\n"),
        Just("<|im_end|>"),
        Just("\n"),
        Just("é"),
    ];
    let finish = prop_oneof![
        8 => Just(json!({"type": "stop"})),
        2 => Just(json!({"type": "length", "length": 1})),
        1 => Just(json!({"type": "abort"})),
    ];
    prop_oneof![
        20 => (vec(part, 0..4), finish).prop_map(|(parts, finish)| reply(&parts.concat(), finish)),
        1 => Just(Err(GenerateFailure::Reply("no JSON".into()))),
    ]
}

fn any_step() -> impl Strategy<Value = Result<EnvStep, Text>> {
    prop_oneof![
        8 => "[a-zé\n]{0,5}".prop_map(|text| said(&text, false)),
        2 => Just(said("###STOP###", true)),
        1 => Just(Err("down".into())),
    ]
}

proptest! {
    #[test]
    fn the_mask_is_as_long_as_the_tokens_after_the_prompt(
        builtin in proptest::sample::select(&Builtin::ALL[..]),
        mode in proptest::sample::select(&MaskMode::ALL[..]),
        replies in vec(any_reply(), 0..8),
        steps in vec(any_step(), 0..8),
        max_num_steps in 0_usize..6,
    ) {
        let mut settings = settings(mode);
        settings.template = Rc::new(builtin.template().unwrap());
        settings.max_num_steps = max_num_steps;
        let (result, _, _) = run(settings, replies, steps);
        let (tokens, mask) = result.tokens_and_mask();
        prop_assert_eq!(mask.len(), tokens.len() - result.prompt_ids.len());
        prop_assert!(result.stop_reason.is_some());
        prop_assert!(result.strips.len() + 2 <= result.messages.len());
        // All trained tokens are text of the assistant.
        for (strip, message) in result.strips.iter().zip(&result.messages[2..]) {
            prop_assert!(strip.trained() == 0 || message.role == ChatRole::Assistant);
        }
    }
}

fn opening() -> EnvReset {
    EnvReset {
        observation: "hi".into(),
        info: object!({}),
    }
}

fn turn(text: &str, observation: &str) -> ReplayedTurn {
    ReplayedTurn {
        reply: stop(text).unwrap(),
        step: said(observation, false).unwrap(),
    }
}

#[test]
fn a_replay_records_what_the_rollout_did() {
    for mode in MaskMode::ALL {
        let turns = [turn(CALL, "x"), turn("Bye<|im_end|>", "###STOP###")];
        let (replies, mut steps): (Vec<_>, Vec<_>) = turns
            .iter()
            .map(|turn| (Ok(turn.reply.clone()), Ok(turn.step.clone())))
            .unzip();
        steps[1] = said("###STOP###", true);
        let (direct, ..) = run(settings(mode), replies, steps);
        let mut limited = settings(mode);
        limited.max_num_steps = turns.len();
        let mut replay = Replay::new(limited, Rc::new(ToyTokenizer), opening());
        assert!(replay.request().is_ok());
        replay.advance(&turns[..1]).unwrap();
        let request = replay.request().unwrap().prompt.clone();
        assert!(matches!(request, Prompt::Text(text) if text.contains("<tool_response>\nx\n")));
        assert_eq!(replay.read(&turns[1].reply).unwrap().said, "Bye".into());
        replay.advance(&turns).unwrap();
        assert_eq!(replay.request(), Err(StopReason::MaxSteps(2)));
        let result = replay.result();
        assert_eq!(
            result.tokens_and_mask(),
            direct.tokens_and_mask(),
            "{mode:?}"
        );
        assert_eq!(result.prompt, direct.prompt);
        assert!(replay.advance(&turns[1..]).is_err());
    }
}

#[test]
fn strict_settings_end_the_episode_at_faults_that_slime_passes_over() {
    let mut strict = settings(MaskMode::Fixed);
    strict.strict = true;
    let replay = Replay::new(strict.clone(), Rc::new(ToyTokenizer), opening());
    let read = |body: Json| {
        let reply = GenerateReply::read(&body).unwrap();
        replay.read(&reply).map(|completion| completion.said)
    };
    let finished = |kind: &str, ids: Vec<i64>| json!({"text": "ab", "output_ids": ids, "meta_info": {"finish_reason": {"type": kind}}});
    assert_eq!(read(finished("stop", vec![97, 98])), Ok("ab".into()));
    assert_eq!(read(finished("stop", vec![97, 98, 257])), Ok("ab".into()));
    assert_eq!(read(finished("length", vec![97, 98])), Err(StopReason::Cut));
    for ids in [vec![97], vec![97, 98, 99_999]] {
        let other = read(finished("stop", ids)).unwrap_err();
        assert!(other.to_string().contains("another model's"), "{other}");
        assert_eq!(other.status(), Status::Failed);
    }

    let bare = ChatTemplate::new("{{ messages[-1].content }}").unwrap();
    strict.template = Rc::new(bare);
    let replay = Replay::new(strict.clone(), Rc::new(ToyTokenizer), opening());
    let reason = replay.request().unwrap_err();
    assert!(
        reason.to_string().contains("the sentence about tools"),
        "{reason}"
    );
    strict.tools.clear();
    assert!(
        Replay::new(strict, Rc::new(ToyTokenizer), opening())
            .request()
            .is_ok()
    );
}

#[test]
fn with_the_tokenizer_of_another_model_tokens_are_made_from_the_text() {
    let mut settings = settings(MaskMode::TokenIn);
    settings.wiki = None;
    settings.strict = true;
    settings.send_ids = true;
    settings.is_reconstructed = true;
    let mut replay = Replay::new(settings, Rc::new(ToyTokenizer), opening());
    let request = replay.request().unwrap().prompt.clone();
    assert!(matches!(request, Prompt::Text(text) if !text.contains("SYS")));
    let body = json!({
        "text": "Hi<|im_end|>",
        "output_ids": [90_001, 90_002],
        "meta_info": {"finish_reason": {"type": "stop"}}
    });
    let turn = ReplayedTurn {
        reply: GenerateReply::read(&body).unwrap(),
        step: said("x", false).unwrap(),
    };
    replay.advance(&[turn]).unwrap();
    let result = replay.result();
    assert!(result.is_reconstructed);
    assert!(replay.request().is_ok());
    assert_eq!(result.strips[0].ids(), [72, 105, 257]);
}
