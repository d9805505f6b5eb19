//! Lines that a search may skip unparsed: no word of an episode is ruled out by the line that it was read from, except for
//! names that readers make, such as "Sample 3". The first lines of a file show those before others are left out.

use std::fs;
use std::path::Path;

use volary_analysis::search::{Query, RawFilter};
use volary_episode::passages::passages;
use volary_formats::import::index::Indexer;

/// The words of such names.
const MADE: [&str; 9] = [
    "batch",
    "branch",
    "chat",
    "conversation",
    "document",
    "group",
    "sample",
    "try",
    "trajectory",
];

#[test]
fn no_word_of_an_episode_is_ruled_out_by_its_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let (mut files, mut words) = (0, 0);
    let mut ruled_out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy();
        let bytes = fs::read(&path).unwrap();
        let mut indexer = Indexer::new(&*name);
        indexer.keep_episodes();
        indexer.feed(&bytes);
        indexer.finish();
        let entries = indexer.take_entries();
        files += usize::from(!entries.is_empty());
        for entry in entries {
            let range = &entry.range.parts[0];
            let line = &bytes[range.start as usize..range.end as usize];
            let episode = entry.episode.unwrap();
            for (_, text) in passages(&episode) {
                for word in text.split_whitespace().filter(|word| !word.contains('"')) {
                    words += 1;
                    if MADE.contains(&&*word.to_lowercase()) {
                        continue;
                    }
                    let filter = RawFilter::of(&Query::parse(word));
                    if filter.is_some_and(|filter| !filter.may_match(line)) {
                        ruled_out.push(format!("{name}: {word}"));
                    }
                }
            }
        }
    }
    assert_eq!(ruled_out, [""; 0]);
    assert!(files > 3 && words > 100, "{files} files, {words} words");
}
