//! Decompression: stored, deflate, Zstandard, gzip.
//!
//! Invariants: the output never exceeds the limit, whatever size the input declares; of truncated or damaged input,
//! everything before the damage is returned.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The signature of a gzip file, and of each of its members.
pub(crate) const GZIP: &[u8] = b"\x1f\x8b\x08";

/// A compression method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Stored,
    Deflated,
    Zstandard,
}

impl Packing {
    /// The method of a number in zip files; `None` if it is unsupported.
    pub fn of(method: u16) -> Option<Packing> {
        match method {
            0 => Some(Packing::Stored),
            8 => Some(Packing::Deflated),
            // 20 is the former number of Zstandard.
            93 | 20 => Some(Packing::Zstandard),
            _ => None,
        }
    }
}

/// The output before an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partial {
    pub output: Vec<u8>,
    pub problem: Problem,
}

/// The kind of decompression error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The output exceeds the limit.
    TooLarge,
    /// The input is truncated or damaged.
    Damaged,
}

pub(crate) fn unpack(packing: Packing, packed: &[u8], limit: usize) -> Result<Vec<u8>, Partial> {
    match packing {
        Packing::Stored if packed.len() > limit => Err(Partial {
            output: packed[..limit].to_vec(),
            problem: Problem::TooLarge,
        }),
        Packing::Stored => Ok(packed.to_vec()),
        Packing::Deflated => inflate(packed, limit),
        Packing::Zstandard => zstandard(packed, limit),
    }
}

fn inflate(packed: &[u8], limit: usize) -> Result<Vec<u8>, Partial> {
    let mut output = Vec::new();
    match inflate_onto(&mut output, packed, limit) {
        Ok(_) => Ok(output),
        Err(problem) => Err(Partial { output, problem }),
    }
}

/// Appends decompressed bytes to the output, up to the limit for all of it. Returns the number of consumed bytes: more
/// data may follow.
fn inflate_onto(output: &mut Vec<u8>, packed: &[u8], limit: usize) -> Result<usize, Problem> {
    const FLAGS: u32 = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let start = output.len();
    let mut size = start
        .saturating_add(packed.len().saturating_mul(2))
        .min(limit);
    let mut decompressor = Box::<DecompressorOxide>::default();
    let (mut read, mut written) = (0, 0);
    let status = loop {
        output.resize(size, 0);
        let rest = &packed[read..];
        let (status, more_read, more_written) = decompress(
            &mut decompressor,
            rest,
            &mut output[start..],
            written,
            FLAGS,
        );
        (read, written) = (read + more_read, written + more_written);
        match status {
            TINFLStatus::HasMoreOutput if size < limit => {
                size = size.saturating_mul(2).clamp(1, limit);
            }
            status => break status,
        }
    };
    output.truncate(start + written);
    match status {
        TINFLStatus::Done => Ok(read),
        TINFLStatus::HasMoreOutput => Err(Problem::TooLarge),
        _ => Err(Problem::Damaged),
    }
}

/// Decompresses one or more concatenated frames.
fn zstandard(packed: &[u8], limit: usize) -> Result<Vec<u8>, Partial> {
    const STRIDE: usize = 1 << 20;
    let mut rest = packed;
    let mut output = Vec::new();
    let mut decoder = FrameDecoder::new();
    let mut frames = 0;
    while !rest.is_empty() {
        match decoder.init(&mut rest) {
            Ok(()) => frames += 1,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                // A length that does not fit into `usize` is past the end as well.
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            // Data after a frame that is not a frame is padding.
            Err(_) if frames > 0 => break,
            Err(_) => {
                return Err(Partial {
                    output,
                    problem: Problem::Damaged,
                });
            }
        }
        loop {
            let decoded =
                decoder.decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(STRIDE));
            if decoded.is_err() {
                // The decoder holds back its window until it has seen the last block: feed it an empty one.
                let _ = decoder
                    .decode_blocks(&[1_u8, 0, 0, 0, 0, 0, 0][..], BlockDecodingStrategy::All);
            }
            output.extend(decoder.collect().unwrap_or_default());
            if output.len() > limit {
                output.truncate(limit);
                return Err(Partial {
                    output,
                    problem: Problem::TooLarge,
                });
            }
            match decoded {
                Ok(true) => break,
                Ok(false) => {}
                Err(_) => {
                    return Err(Partial {
                        output,
                        problem: Problem::Damaged,
                    });
                }
            }
        }
    }
    Ok(output)
}

/// Decompresses a gzip file with all its members, which tools write that compress in parallel or append.
pub(crate) fn gunzip(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Partial> {
    /// The length of checksum and size at the end of a member.
    const TRAILER: usize = 8;
    let mut output = Vec::new();
    let mut rest = bytes;
    loop {
        let unpacked = match gzip_content(rest) {
            Some(packed) => inflate_onto(&mut output, packed, limit)
                .map(|read| packed.get(read + TRAILER..).unwrap_or_default()),
            None => Err(Problem::Damaged),
        };
        match unpacked {
            Ok(after) if after.starts_with(GZIP) => rest = after,
            // Trailing bytes that are not a gzip member are padding.
            Ok(_) => return Ok(output),
            Err(problem) => return Err(Partial { output, problem }),
        }
    }
}

/// The bytes after the header of a gzip file.
fn gzip_content(bytes: &[u8]) -> Option<&[u8]> {
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const CHECKSUM: u8 = 2;
    let flags = *bytes.get(3)?;
    let mut rest = bytes.get(10..)?;
    if flags & EXTRA != 0 {
        let length = usize::from(u16::from_le_bytes([*rest.first()?, *rest.get(1)?]));
        rest = rest.get(2 + length..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & CHECKSUM != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "hello hello hello hello\n" compressed by the reference implementation, with a checksum.
    const ZSTANDARD: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x18, 0x65, 0x00, 0x00, 0x30, 0x68, 0x65, 0x6c, 0x6c, 0x6f,
        0x20, 0x0a, 0x01, 0x00, 0x8c, 0xcb, 0x02,
    ];

    #[test]
    fn several_frames_and_padding_are_one_text() {
        let raw_frame = |text: &[u8]| {
            // Single segment, no checksum, one raw last block.
            let size = u8::try_from(text.len()).unwrap_or_default();
            let block = (u32::from(size) << 3 | 1).to_le_bytes();
            [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, size], &block[..3], text].concat()
        };
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let bytes = [
            raw_frame(b"hello "),
            skipped,
            raw_frame(b"world"),
            vec![0; 9],
        ]
        .concat();
        assert_eq!(
            unpack(Packing::Zstandard, &bytes, 100),
            Ok(b"hello world".to_vec())
        );
        let cut = unpack(Packing::Zstandard, &bytes, 8);
        assert_eq!(
            cut,
            Err(Partial {
                output: b"hello wo".to_vec(),
                problem: Problem::TooLarge
            })
        );
    }

    #[test]
    fn all_members_of_a_gzip_file_are_one_text() {
        let member = |text: &[u8]| {
            let packed = miniz_oxide::deflate::compress_to_vec(text, 6);
            [&b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..], &packed, &[0; 8]].concat()
        };
        let bytes = [member(b"hello "), member(b""), member(b"world"), vec![0; 7]].concat();
        assert_eq!(gunzip(&bytes, 100), Ok(b"hello world".to_vec()));
        let cut =
            |bytes: &[u8], limit| gunzip(bytes, limit).map_err(|cut| (cut.output, cut.problem));
        assert_eq!(
            cut(&bytes, 8),
            Err((b"hello wo".to_vec(), Problem::TooLarge))
        );
        let end = member(b"hello ").len() + 11;
        assert_eq!(
            cut(&bytes[..end], 100),
            Err((b"hello ".to_vec(), Problem::Damaged))
        );
    }

    #[test]
    fn damage_differs_from_a_wrong_size() {
        let cut = &ZSTANDARD[..8];
        let refused = unpack(Packing::Zstandard, cut, 100).map_err(|partial| partial.problem);
        assert_eq!(refused, Err(Problem::Damaged));
        let refused = gunzip(b"\x1f\x8b\x08\x04", 100).map_err(|partial| partial.problem);
        assert_eq!(refused, Err(Problem::Damaged));
    }
}
