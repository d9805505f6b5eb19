//! The guide for new environments is complete: its code blocks equal the example, which is compiled.

#[test]
fn the_code_of_the_guide_is_the_example() {
    let guide = include_str!("../../../../docs/new-environment.md");
    let example = include_str!("../../examples/thermostat/thermostat.rs");
    let blocks = guide.split("```rust\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    // The line for the registry belongs to another file.
    let blocks: Vec<&str> = blocks
        .filter(|block| !block.contains("ENVIRONMENTS"))
        .collect();
    let written = blocks.join("\n");
    let elsewhere = written.replace("use crate::", "use volary_envs::");
    assert_eq!(elsewhere, example);
}
