//! Mutates a seed to a case. The mutation depends only on the format and the number of the case, so every case is
//! reproducible.
//!
//! JSON is mutated as a tree: values are replaced, removed, duplicated, swapped, nested, made to refer to each other.
//! Bytes are mutated as bytes: truncated, flipped, duplicated, recoded. Both may be packed into archives.

use volary_core::json::Json;
use volary_core::random::Random;
use volary_formats::import::InputFile;

use crate::bytes::{damage as damage_bytes, recode};
use crate::packing;
use crate::seeds::Format;
use crate::tree::{Style, Tree};

/// The maximum length of a case in bytes, without the overhead of its archive.
const LONGEST: usize = 1 << 20;

/// Unusual values in JSON syntax.
const ODD: [&str; 34] = [
    "null",
    "true",
    "0",
    "-1",
    "1e999",
    "-0.0",
    "NaN",
    "Infinity",
    "99999999999999999999999999",
    "9223372036854775807",
    "18446744073709551615",
    "4294967296",
    "1e-400",
    "\"\"",
    "\"\\u0000\\u202e\\u200b<script>alert(1)</script>\"",
    "\"\\ud800\"",
    "\"\\udc00 lone \\ud83d\"",
    "\"attachment://0123\"",
    "\"data:image/svg+xml,<svg onload=alert(1)>\"",
    "\"javascript:alert(1)\"",
    "\"9999-99-99T99:99:99Z\"",
    "\"-0001-02-30\"",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "{\"\": null}",
    "{\"__proto__\": {\"x\": 1}}",
    "{\"role\": \"assistant\"}",
    "{\"role\": \"tool\", \"tool_call_id\": null}",
    "{\"type\": \"tool_use\"}",
    "[[0, 9223372036854775807]]",
    "[[5, 1], [0, 0], [-1, 3]]",
    "[{\"op\": \"replace\", \"path\": \"/a/0/-/~1\", \"value\": []}]",
];

/// The case with this number.
pub fn case(format: &Format, number: u64) -> Vec<InputFile> {
    let mut random = Random::new(number).fork(format.name);
    let Some(seed) = random.pick(&format.seeds) else {
        return Vec::new();
    };
    let mut files = seed.clone();
    let index = random.below(files.len() as u64) as usize;
    if let Some(file) = files.get_mut(index) {
        damage(file, &mut random);
    }
    if files.len() > 1 && random.below(6) == 0 {
        let other = random.below(files.len() as u64) as usize;
        match random.below(3) {
            0 => drop(files.remove(other)),
            1 => files.push(files[other].clone()),
            _ => files.swap(index, other),
        }
    }
    match random.below(24) {
        0 => vec![packing::tar(&files, &mut random)],
        1 => {
            let named = files.iter().map(|file| {
                let name = file.name.clone().unwrap_or_default();
                (name, file.bytes.clone())
            });
            match packing::zip(named.collect(), &mut random) {
                Some(zip) => vec![zip],
                None => files,
            }
        }
        _ => files,
    }
}

fn damage(file: &mut InputFile, random: &mut Random) {
    let packed = file.bytes.starts_with(b"PK");
    if packed && random.below(8) > 0 {
        if let Some(mut members) = packing::members(&file.bytes) {
            let index = random.below(members.len() as u64) as usize;
            if let Some((_, bytes)) = members.get_mut(index) {
                damage_text(bytes, random);
            }
            if random.below(10) == 0 {
                // Replaces the archive by its unpacked folder.
                *file = match members.into_iter().nth(index) {
                    Some((name, bytes)) => InputFile {
                        name: Some(name),
                        bytes,
                    },
                    None => return,
                };
            } else if let Some(zip) = packing::zip(members, random) {
                file.bytes = zip.bytes;
            }
        }
        if random.below(8) == 0 {
            damage_bytes(&mut file.bytes, random);
        }
    } else if packed {
        damage_bytes(&mut file.bytes, random);
    } else {
        damage_text(&mut file.bytes, random);
    }
}

/// Mutates a JSON text as JSON, as bytes, or both, and other contents as bytes.
fn damage_text(bytes: &mut Vec<u8>, random: &mut Random) {
    let how = random.below(8);
    // Pickles, tensors, MessagePack and Parquet.
    let is_binary = std::str::from_utf8(bytes).is_err();
    if how < 7 && !is_binary {
        damage_json(bytes, random);
    }
    if how >= 6 || is_binary {
        damage_bytes(bytes, random);
    }
    if random.below(40) == 0 {
        recode(bytes, random);
    }
    bytes.truncate(LONGEST);
}

fn damage_json(bytes: &mut Vec<u8>, random: &mut Random) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (mut lines, mut style) = match Json::parse(text) {
        Ok(value) => (vec![Tree::from(&value)], Style::Spaced),
        Err(_) => {
            let lines = text.lines().filter_map(|line| Json::parse(line).ok());
            (
                lines.map(|value| Tree::from(&value)).collect(),
                Style::Compact,
            )
        }
    };
    if lines.is_empty() {
        return;
    }
    for _ in 0..1 + random.below(4) {
        change(&mut lines, random);
    }
    if lines.len() == 1 && random.below(4) == 0 {
        style = Style::Lines;
    }
    let between = *random
        .pick(&["\n", "\n", "\n", "\r\n", "\n\n", " ", ","])
        .unwrap_or(&"\n");
    let texts: Vec<String> = lines.iter().map(|line| line.write(style)).collect();
    *bytes = texts.join(between).into_bytes();
}

/// Mutates one line.
fn change(lines: &mut Vec<Tree>, random: &mut Random) {
    let line = random.below(lines.len() as u64) as usize;
    let other = random.below(lines.len() as u64) as usize;
    if lines.len() > 1 && random.below(12) == 0 {
        match random.below(3) {
            0 => lines.swap(line, other),
            1 => drop(lines.remove(line)),
            _ => lines.insert(line, lines[other].clone()),
        }
        return;
    }
    // A copy from another position: creates equal ids and cyclic parents.
    let found = lines[other].pick(random).clone();
    let Some(tree) = lines.get_mut(line) else {
        return;
    };
    let node = tree.pick(random);
    match random.below(13) {
        0 | 1 => *node = odd(random),
        12 => crowd(node, random),
        2 => remove_child(node, random),
        3 => repeat_child(node, random),
        4 => *node = found,
        5 => *node = deep(node, random),
        6 => swap_children(node, random),
        7 => rename_key(node, found, random),
        8 | 9 => copy_between_leaves(tree, random),
        10 => long(node, random),
        _ => escape(node, random),
    }
}

fn odd(random: &mut Random) -> Tree {
    Tree::Leaf(random.pick(&ODD).copied().unwrap_or("null").to_owned())
}

fn remove_child(node: &mut Tree, random: &mut Random) {
    match node {
        Tree::List(list) if !list.is_empty() => {
            list.remove(random.below(list.len() as u64) as usize);
        }
        Tree::Object(members) if !members.is_empty() => {
            members.remove(random.below(members.len() as u64) as usize);
        }
        other => *other = Tree::Leaf("null".to_owned()),
    }
}

/// Repeats a child once or some hundred times; in objects under the same key.
fn repeat_child(node: &mut Tree, random: &mut Random) {
    let times = if random.below(60) == 0 { 300 } else { 1 };
    match node {
        Tree::List(list) if !list.is_empty() => {
            let child = list[random.below(list.len() as u64) as usize].clone();
            let times = if child.count() > 50 { 1 } else { times };
            list.extend(std::iter::repeat_n(child, times));
        }
        Tree::Object(members) if !members.is_empty() => {
            let (key, _) = members[random.below(members.len() as u64) as usize].clone();
            let value = odd(random);
            members.extend(std::iter::repeat_n((key, value), times));
        }
        _ => {}
    }
}

/// Adds many members with distinct names.
fn crowd(node: &mut Tree, random: &mut Random) {
    let count = match random.below(200) {
        0 => 20_000,
        1..20 => 400,
        _ => 3,
    };
    if let Tree::Object(members) = node {
        let members_of = |n: u32| (format!("\"k{n}\""), Tree::Leaf(n.to_string()));
        members.extend((0..count).map(members_of));
    }
}

fn deep(node: &Tree, random: &mut Random) -> Tree {
    let depth = match random.below(60) {
        0 => 20_000,
        1 => 1_100,
        2..5 => 520,
        5..8 => 480,
        8..15 => 90,
        _ => 1 + random.below(4) as usize,
    };
    let (open, close) = *random
        .pick(&[("[", "]"), ("{\"a\":", "}")])
        .unwrap_or(&("[", "]"));
    let inner = if depth > 1000 {
        "1".to_owned()
    } else {
        node.write(Style::Compact)
    };
    let close = if random.below(8) == 0 { "" } else { close };
    Tree::Leaf(format!(
        "{}{inner}{}",
        open.repeat(depth),
        close.repeat(depth)
    ))
}

fn swap_children(node: &mut Tree, random: &mut Random) {
    match node {
        Tree::List(list) => random.shuffle(list),
        Tree::Object(members) if members.len() > 1 => {
            let (one, other) = (
                random.below(members.len() as u64) as usize,
                random.below(members.len() as u64) as usize,
            );
            let (first, second) = (members[one].1.clone(), members[other].1.clone());
            (members[one].1, members[other].1) = (second, first);
        }
        _ => {}
    }
}

fn rename_key(node: &mut Tree, found: Tree, random: &mut Random) {
    let Tree::Object(members) = node else {
        return;
    };
    let name = match found {
        Tree::Leaf(text) if text.starts_with('"') => text,
        Tree::Object(others) => match random.pick(&others) {
            Some((key, _)) => key.clone(),
            None => "\"\"".to_owned(),
        },
        _ => "\"__proto__\"".to_owned(),
    };
    let index = random.below(members.len() as u64) as usize;
    if let Some((key, _)) = members.get_mut(index) {
        *key = name;
    }
}

/// Copies the text of one leaf to another: duplicate ids, cyclic parents.
fn copy_between_leaves(tree: &mut Tree, random: &mut Random) {
    for _ in 0..8 {
        let Tree::Leaf(one) = tree.pick(random).clone() else {
            continue;
        };
        if let Tree::Leaf(other) = tree.pick(random) {
            *other = one;
            return;
        }
    }
}

fn long(node: &mut Tree, random: &mut Random) {
    let length = match random.below(100) {
        0 => 100_000,
        1..10 => 5_000,
        _ => 200,
    };
    let unit = *random
        .pick(&["x", "\\n", "<b>", "𝕊", "\\u0001", "# ", "`", "\u{301}"])
        .unwrap_or(&"x");
    let number = random.below(6) == 0;
    *node = Tree::Leaf(if number {
        "9".repeat(length)
    } else {
        format!("\"{}\"", unit.repeat(length / unit.len()))
    });
}

/// Inserts an unexpected sequence into a text.
fn escape(node: &mut Tree, random: &mut Random) {
    const PIECES: [&str; 12] = [
        "\\ud83d",
        "\\udc00",
        "\\u0000",
        "\\u202e",
        "\\x41",
        "\\u12",
        "\\",
        "\"",
        "\n",
        "\u{feff}",
        "</script><img src=x onerror=alert(1)>",
        "\u{200b}\u{2066}",
    ];
    if let Tree::Leaf(text) = node {
        let piece = random.pick(&PIECES).copied().unwrap_or_default();
        let mut offset = random.below(text.len() as u64 + 1) as usize;
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        text.insert_str(offset, piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::formats;

    #[test]
    fn a_case_follows_from_its_number() {
        for format in formats().unwrap() {
            let made: Vec<_> = (0..40).map(|number| case(&format, number)).collect();
            let again: Vec<_> = (0..40).map(|number| case(&format, number)).collect();
            assert_eq!(made, again);
            assert!(made.windows(2).any(|two| two[0] != two[1]));
        }
    }
}
