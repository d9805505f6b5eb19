//! Several small files at once that expand. One test to a program: the allocator counts the memory of every thread.
#![allow(missing_docs, clippy::unwrap_used)]

use volary_fuzz::growth::{LARGEST, cost, crowds};

#[test]
fn no_small_files_together_take_much_memory_or_work() {
    let mut dear = Vec::new();
    for (name, make) in crowds() {
        let files = make();
        assert!(files.iter().all(|file| file.bytes.len() <= LARGEST));
        let cost = cost(&files);
        println!("{name}: {cost:?}");
        if cost.is_too_much() {
            dear.push(format!("{name}: {cost:?}"));
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
}
