//! Indexes a file as the page does, in chunks, and says how fast: `index FILE`.

use std::io::Read;
use std::time::Instant;

use volary_trajectory::import::index::Indexer;

fn main() -> std::io::Result<()> {
    const CHUNK: usize = 4 << 20;
    let path = std::env::args().nth(1).unwrap_or_default();
    let mut file = std::fs::File::open(&path)?;
    let mut indexer = Indexer::new(path);
    let mut chunk = vec![0; CHUNK];
    let (mut bytes, mut episodes, mut steps) = (0, 0, 0);
    let began = Instant::now();
    let mut first = None;
    loop {
        let length = file.read(&mut chunk)?;
        match length {
            0 => indexer.finish(),
            length => indexer.feed(&chunk[..length]),
        }
        bytes += length;
        for entry in indexer.take_entries() {
            first.get_or_insert_with(|| began.elapsed());
            episodes += 1;
            steps += entry.row.steps;
        }
        if length == 0 {
            break;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{episodes} episodes, {steps} steps, {:.1} MB in {seconds:.2} s: {:.0} MB/s; first row after {:.3} s",
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / seconds,
        first.unwrap_or_default().as_secs_f64(),
    );
    for note in indexer.notes() {
        println!("{:?}: {}", note.level, note.text);
    }
    Ok(())
}
