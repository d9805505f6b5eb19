//! Measures how fast streams are parsed: `throughput FORMAT FILE` repeatedly reads the file as a streamed reply of that
//! format, in pieces of the size of a network read, and prints `{"megabytes_a_second", "characters", "calls"}`.

use std::time::{Duration, Instant};

use volary_agent::model::{Answer, ApiKey, Delta, ModelError, ProviderKind, Reply};

type Failure = Box<dyn std::error::Error>;

/// The size of one network read, in bytes.
const PIECE: usize = 16 * 1024;
const AT_LEAST: Duration = Duration::from_secs(2);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, file] = arguments.as_slice() else {
        return Err("usage: throughput FORMAT FILE".into());
    };
    let kind = ProviderKind::from_name(format).ok_or_else(|| format!("no format {format}"))?;
    let bytes = std::fs::read(file)?;
    let (mut passes, start) = (0_u32, Instant::now());
    let (mut characters, mut answer) = (0, Answer::default());
    while start.elapsed() < AT_LEAST {
        (characters, answer) = read(kind, &bytes)?;
        passes += 1;
    }
    let megabytes = bytes.len() as f64 * f64::from(passes) / 1e6;
    println!(
        "{{\"megabytes_a_second\": {:.1}, \"characters\": {characters}, \"calls\": {}}}",
        megabytes / start.elapsed().as_secs_f64(),
        answer.calls.len()
    );
    Ok(())
}

/// Reads a reply to its end. Returns the number of characters in its deltas, and the answer.
fn read(kind: ProviderKind, bytes: &[u8]) -> Result<(usize, Answer), ModelError> {
    let key = ApiKey::default();
    let mut reply = Reply::new(kind.provider(), &key, 200, "text/event-stream", None);
    let (mut deltas, mut characters) = (Vec::new(), 0);
    for piece in bytes.chunks(PIECE) {
        reply.push(piece, &mut deltas)?;
        characters += deltas.drain(..).map(|delta| length(&delta)).sum::<usize>();
    }
    let answer = reply.finish(&mut deltas)?;
    characters += deltas.iter().map(length).sum::<usize>();
    Ok((characters, answer))
}

fn length(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments { text, .. } => {
            text.chars().count()
        }
        Delta::CallStarted { .. } | Delta::Usage(_) => 0,
    }
}
