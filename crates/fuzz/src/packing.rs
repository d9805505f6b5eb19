//! Packs mutated files into archives, and unpacks seeds.

use volary_core::random::Random;
use volary_formats::archive::{Archive, Limits, Packer};
use volary_formats::import::InputFile;

/// Names that lead outside of the archive, or are invalid.
const NAMES: [&str; 9] = [
    "../../outside.json",
    "/etc/passwd",
    "C:\\windows\\x.json",
    "a\0b.json",
    "",
    ".",
    "samples/1_epoch_1.json",
    "\u{202e}nosj.evil",
    "<img src=x onerror=alert(1)>.json",
];

/// The members of a zip file; `None` if the bytes are not one.
pub fn members(zip: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut archive = Archive::open(zip, Limits::default()).ok()?;
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let mut members = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        members.push((name, archive.read(index)?.ok()?));
    }
    Some(members)
}

/// Packs the members into a zip file, in any order, some of them removed, duplicated, or renamed.
pub fn zip(mut members: Vec<(String, Vec<u8>)>, random: &mut Random) -> Option<InputFile> {
    if random.below(4) == 0 {
        random.shuffle(&mut members);
    }
    if random.below(8) == 0 {
        let index = random.below(members.len() as u64) as usize;
        let kept = members.get(index)?.clone();
        match random.below(3) {
            0 => drop(members.remove(index)),
            1 => members.push(kept),
            _ => {
                let name = random.pick(&NAMES).copied().unwrap_or_default();
                members.push((name.to_owned(), kept.1));
            }
        }
    }
    let mut packer = Packer::default();
    for (name, bytes) in &members {
        packer.add(name, bytes).ok()?;
    }
    Some(InputFile {
        name: Some("packed.zip".to_owned()),
        bytes: packer.finish().ok()?,
    })
}

/// Packs the files into a tar file. The sizes in its headers may be wrong.
pub fn tar(files: &[InputFile], random: &mut Random) -> InputFile {
    let mut bytes = Vec::new();
    for file in files {
        let size = match random.below(16) {
            0 => random.next_u64() >> 31,
            _ => file.bytes.len() as u64,
        };
        add_to_tar(
            &mut bytes,
            file.name.as_deref().unwrap_or("x"),
            size,
            &file.bytes,
        );
    }
    end_tar(&mut bytes);
    InputFile {
        name: Some("packed.tar".to_owned()),
        bytes,
    }
}

/// The length of a header of a tar file, and the unit of its contents.
const BLOCK: usize = 512;

/// Adds a file to a tar file. `size` is what its header says.
pub fn add_to_tar(tar: &mut Vec<u8>, name: &str, size: u64, content: &[u8]) {
    let mut header = [0_u8; BLOCK];
    let name = &name.as_bytes()[..name.len().min(99)];
    header[..name.len()].copy_from_slice(name);
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = b'0';
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    tar.extend_from_slice(&header);
    tar.extend_from_slice(content);
    tar.resize(tar.len().next_multiple_of(BLOCK), 0);
}

/// Ends a tar file.
pub fn end_tar(tar: &mut Vec<u8>) {
    tar.resize(tar.len() + 2 * BLOCK, 0);
}
