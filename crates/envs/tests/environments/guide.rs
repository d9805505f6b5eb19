//! What the guide shows is what the example compiles.

#[test]
fn every_block_of_the_guide_stands_in_the_example() {
    let guide = include_str!("../../../../docs/new-environment.md");
    let example = include_str!("../../examples/thermostat.rs");
    let blocks = guide.split("```rust\n").skip(1);
    let blocks: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 4, "{blocks:?}");
    for block in blocks {
        // The line for the registry stands in the guide alone.
        let is_entry = block.trim() == "thermostat::ENTRY,";
        assert!(is_entry || example.contains(block), "{block}");
    }
}
