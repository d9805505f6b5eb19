//! Random mutations of bytes.

use volary_core::random::Random;

/// Truncates, flips bits, repeats or overwrites.
pub fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        let length = bytes.len() as u64;
        let start = random.below(length) as usize;
        let end = start + random.below((length - start as u64).min(400)) as usize;
        match random.below(9) {
            0 => bytes.truncate(start),
            1 => drop(bytes.drain(start..end)),
            2 => {
                let piece = bytes[start..end].to_vec();
                let at = random.below(length) as usize;
                bytes.splice(at..at, piece);
            }
            3 => {
                let piece: &[u8] = random
                    .pick(&[
                        &b"\xff\xfe"[..],
                        b"\xc0\x80",
                        b"\xed\xa0\x80",
                        b"\0",
                        b"\n",
                        b"}",
                        b"\"",
                    ])
                    .copied()
                    .unwrap_or_default();
                bytes.splice(start..start, piece.iter().copied());
            }
            4 | 5 => {
                if let Some(byte) = bytes.get_mut(start) {
                    *byte ^= 1 << random.below(8);
                }
            }
            6 => {
                // Numbers of binary formats: lengths and offsets.
                let value = *random
                    .pick(&[0_u32, 1, u32::MAX, 0x7fff_ffff, 0xffff])
                    .unwrap_or(&0);
                for (offset, byte) in value.to_le_bytes().into_iter().enumerate() {
                    if let Some(old) = bytes.get_mut(start + offset) {
                        *old = byte;
                    }
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(start) {
                    *byte = random.below(256) as u8;
                }
            }
        }
    }
}

/// The text in another encoding.
pub fn recode(bytes: &mut Vec<u8>, random: &mut Random) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let units = text.encode_utf16();
    *bytes = match random.below(5) {
        0 => units.flat_map(u16::to_le_bytes).collect(),
        1 => units.flat_map(u16::to_be_bytes).collect(),
        2 => [
            b"\xff\xfe".to_vec(),
            units.flat_map(u16::to_le_bytes).collect(),
        ]
        .concat(),
        3 => [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(),
        // Latin-1, for texts that it can encode.
        _ => text
            .chars()
            .map(|character| character as u32 as u8)
            .collect(),
    };
}
