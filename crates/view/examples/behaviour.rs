//! Times what Review shows of behaviour, over invented trajectories, and prints the times as JSON:
//! `cargo run --release -p volary-view --example behaviour -- 5000 25`.

#![allow(clippy::print_stdout, reason = "prints its measurements")]

use std::time::Instant;

use volary_analysis::behaviour::acts::acts;
use volary_analysis::behaviour::clusters::clusters;
use volary_analysis::behaviour::diagnostics::diagnostics_of;
use volary_analysis::behaviour::graph::BehaviourGraph;
use volary_analysis::behaviour::signature::{Alphabet, Signature};
use volary_core::message::Body;
use volary_core::random::Random;
use volary_core::tool::ToolCall;
use volary_core::{AnyMessage, ToolRequestMessage, ToolResponseMessage, object};
use volary_episode::episode::{Episode, Outcome, StepRecord};
use volary_view::review::behaviour_map::{BehaviourMap, MapShape, readable_share};

/// Tools of an invented shop, in the order in which a careful agent uses them.
const TOOLS: [&str; 10] = [
    "find_user",
    "get_user",
    "get_order",
    "get_product",
    "get_policy",
    "calculate",
    "update_order",
    "cancel_order",
    "send_receipt",
    "transfer_to_human",
];

/// An episode in which agents mostly go on in the order of the tools, and sometimes fail.
fn episode(random: &mut Random, number: usize, steps: usize) -> Episode {
    let mut tool = 0;
    let steps = (0..steps).map(|step| {
        let call = ToolCall::new(
            format!("c{step}"),
            TOOLS[tool],
            object!({
                "order_id": (format!("#W{}", number * 7 + step / 4)),
                "note": "as the customer asked in the last message"
            }),
        );
        let answer = if random.below(8) == 0 {
            format!("Error: order #W{number} cannot be changed now")
        } else {
            let line = format!("{{\"order\": \"#W{}\", \"status\": \"pending\"}} ", number * 7 + step / 4);
            line.repeat(1 + random.below(30) as usize)
        };
        let response = ToolResponseMessage {
            tool_call_id: call.id.clone(),
            name: call.function.name.clone(),
            body: Body::text(answer.as_str()),
        };
        let action = ToolRequestMessage {
            body: Body::text(
                "I look at the order of the customer first, because the policy asks for it, and then decide \
                 which of the items can still be changed. The customer said that the address is new.",
            ),
            tool_calls: vec![call],
        };
        let ways = if random.below(5) == 0 { TOOLS.len() } else { 2 };
        tool = (tool + random.below(ways as u64) as usize) % TOOLS.len();
        let outcome = Outcome::Observed {
            messages: vec![AnyMessage::Response(response)],
            reward: 0.0,
            done: false,
            truncated: false,
        };
        StepRecord::new(AnyMessage::Request(action), outcome)
    });
    Episode {
        steps: steps.collect(),
        ..Episode::default()
    }
}

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|number| number.parse().ok());
    let (rows, steps) = (
        numbers.next().unwrap_or(5_000),
        numbers.next().unwrap_or(25),
    );
    let mut random = Random::new(7);
    let episodes: Vec<Episode> = (0..rows)
        .map(|row| episode(&mut random, row, steps))
        .collect();
    let start = Instant::now();
    let mut alphabet = Alphabet::default();
    let mut found = 0;
    let signatures: Vec<Signature> = episodes
        .iter()
        .map(|episode| {
            let acts = acts(episode);
            found += diagnostics_of(episode, &acts).len();
            Signature::of(&acts, &mut alphabet)
        })
        .collect();
    let diagnosed = start.elapsed();
    let succeeded: Vec<Option<bool>> = (0..rows).map(|row| Some(row % 3 == 0)).collect();
    let start = Instant::now();
    let clusters = clusters(&signatures, &succeeded, &alphabet).len();
    let clustered = start.elapsed();
    let start = Instant::now();
    let graph = BehaviourGraph::of(signatures.iter().zip(succeeded.iter().copied()));
    let graphed = start.elapsed();
    let share = readable_share(&graph, 32);
    let start = Instant::now();
    let map = BehaviourMap::of(&graph.simplified(share), &alphabet, &MapShape::WIDE);
    let drawn = start.elapsed();
    println!(
        "{{\"rows\": {rows}, \"diagnostics\": {found}, \"clusters\": {clusters}, \"edges\": {}, \
         \"diagnosed_ms\": {:.1}, \"clustered_ms\": {:.1}, \"graphed_ms\": {:.1}, \"drawn_ms\": {:.2}}}",
        map.edges.len(),
        diagnosed.as_secs_f64() * 1e3,
        clustered.as_secs_f64() * 1e3,
        graphed.as_secs_f64() * 1e3,
        drawn.as_secs_f64() * 1e3,
    );
}
