//! Generated files of known formats that expand. One test to a program: the allocator counts the memory of every thread.
#![allow(missing_docs, clippy::unwrap_used)]

use volary_fuzz::growth::{case, cost, multiples};
use volary_fuzz::seeds::formats;

/// Of this many formats one is tried with a generated case: a debug build takes seconds for each. `cargo xtask fuzz`
/// tries all formats, with many cases.
const FORMATS: usize = 4;

#[test]
fn no_small_file_of_a_format_takes_much_memory_or_work() {
    let mut dear = Vec::new();
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
