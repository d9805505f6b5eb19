//! Single small files that expand. One test to a program: the allocator counts the memory of every thread.
#![allow(missing_docs, clippy::unwrap_used)]

use volary_fuzz::growth::{LARGEST, attacks, cost, many};

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
    assert!(dear.is_empty(), "{dear:#?}");
}
