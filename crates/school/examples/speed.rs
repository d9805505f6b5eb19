//! Measures updates with the shipped warm start: `cargo run --release -p volary-school --example speed -- 100 1` for 100
//! updates with the seed 1. Prints one JSON object; `cargo xtask bench --only school` reads it.

use std::time::Instant;

use volary_policy::file::read_8_bit;
use volary_school::{Knobs, Run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let updates = numbers.next().unwrap_or(Ok(100))?;
    let seed = numbers.next().unwrap_or(Ok(1))?;
    let warm_start = read_8_bit(include_bytes!("../data/calculator.volp"))?;
    let mut run = Run::new(
        Knobs {
            seed,
            ..Knobs::default()
        },
        warm_start,
    )?;
    let start = Instant::now();
    let mut successes = Vec::new();
    let mut reached = None;
    for update in 0..updates {
        successes.push(run.update()?.metrics.success);
        let last = &successes[successes.len().saturating_sub(5)..];
        if reached.is_none() && last.iter().sum::<f64>() >= 0.9 * 5.0 {
            reached = Some((update + 1, start.elapsed().as_secs_f64()));
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = updates as f64 / seconds;
    let (at, after) = reached.unwrap_or((0, 0.0));
    println!(
        "{{\"updates_per_second\": {rate:.3}, \"updates_to_90\": {at}, \"seconds_to_90\": {after:.2}, \"success\": {:.3}}}",
        successes.last().copied().unwrap_or_default()
    );
    Ok(())
}
