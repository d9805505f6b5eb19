//! Small files that expand. All in one test: the allocator counts the memory of every thread.
#![allow(missing_docs, clippy::unwrap_used)]

use volary_fuzz::growth::{LARGEST, attacks, case, cost, crowds, many, multiples};
use volary_fuzz::seeds::formats;

/// Of this many formats one is tried with a generated case: a debug build takes seconds for each. `cargo xtask fuzz`
/// tries all formats, with many cases.
const FORMATS: usize = 4;

#[test]
fn no_small_file_takes_much_memory_or_work() {
    let mut dear = Vec::new();
    for (name, make) in attacks().into_iter().chain(many()) {
        let files = make();
        let length: usize = files.iter().map(|file| file.bytes.len()).sum();
        if length > LARGEST {
            dear.push(format!("{name} is no small file: {length} bytes"));
        }
        let cost = cost(&files);
        println!("{name}: {length} bytes, {cost:?}");
        if cost.is_too_much() {
            dear.push(format!("{name}: {cost:?}"));
        }
    }
    for (name, make) in crowds() {
        let files = make();
        assert!(files.iter().all(|file| file.bytes.len() <= LARGEST));
        let cost = cost(&files);
        println!("{name}: {cost:?}");
        if cost.is_too_much() {
            dear.push(format!("{name}: {cost:?}"));
        }
    }
    for format in formats().unwrap().into_iter().step_by(FORMATS) {
        let mut cases = vec![case(&format, 0)];
        if format.name == "verifiers-traces" {
            // Thousands of annotations, each of thousands of traces.
            cases.extend(multiples(&format).pop());
        }
        for files in cases {
            let cost = cost(&files);
            println!("{}: {cost:?}", format.name);
            if cost.is_too_much() {
                dear.push(format!("{}: {cost:?}", format.name));
            }
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
}
