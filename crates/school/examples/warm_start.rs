//! Writes the warm start of each environment, as it is shipped: `cargo run --release -p volary-school --example warm_start`.
//!
//! The result is the same on every platform. An argument names the environments to write; without one all are.

use std::path::Path;

use volary_policy::Network;
use volary_policy::file::{read_8_bit, write_8_bit};
use volary_school::inspect::examine;
use volary_school::warm_start::WarmStart;
use volary_school::{Difficulty, learnables};

const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    for learnable in learnables() {
        let name = learnable.environment();
        if !named.is_empty() && !named.iter().any(|named| named == name) {
            continue;
        }
        let mut warm_start = WarmStart::new(&*learnable, SEED)?;
        let mut loss = 0.0;
        while let (done, total) = warm_start.progress()
            && done < total
        {
            loss = warm_start.step()?;
            if done.is_multiple_of(50) {
                eprintln!("{name}: batch {done} of {total}, loss {loss:.3}");
            }
        }
        let bytes = write_8_bit(warm_start.network().weights());
        let network = Network::new(read_8_bit(&bytes)?);
        let exam = examine(&*learnable, &network, Difficulty::Trained, 2000, 1.0, SEED)?;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/{name}.volp"));
        std::fs::write(&path, &bytes)?;
        println!(
            "{name}: {} bytes, loss {loss:.3}, success {:.3}, {:?}",
            bytes.len(),
            exam.success,
            exam.behaviours
        );
    }
    Ok(())
}
