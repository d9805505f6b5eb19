//! Torch files of versions before 1.6, which are no zip: five pickles one after the other (a magic number, the version, facts
//! about the system, the object, the keys of its storages), and then the storages, each after its number of elements.

use std::collections::HashMap;

use crate::heap::{Heap, Node, Value};
use crate::tensor::DType;

/// The magic number in its pickle, and the end of that. Before it are the protocol and, since protocol 4, the length of a
/// frame.
const MAGIC: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// The parts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyFile<'a> {
    /// The pickle of the object.
    pub pickle: &'a [u8],
    /// The storages by their keys, as far as they are complete.
    pub storages: Vec<(String, &'a [u8])>,
    pub is_big_endian: bool,
}

/// Whether a file starts like one of these.
pub fn is_legacy(start: &[u8]) -> bool {
    let [0x80, 2..=5, rest @ ..] = start else {
        return false;
    };
    let rest = match rest {
        [0x95, _, _, _, _, _, _, _, _, rest @ ..] => rest,
        rest => rest,
    };
    rest.starts_with(MAGIC)
}

impl LegacyFile<'_> {
    /// Divides a file; `None` if it is something else.
    pub fn of(bytes: &[u8]) -> Option<LegacyFile<'_>> {
        let mut rest = is_legacy(bytes).then_some(bytes)?;
        let mut next = || {
            let pickle = crate::read(rest);
            let (bytes, after) = rest.split_at_checked(pickle.length)?;
            rest = after;
            Some((bytes, pickle))
        };
        next()?;
        next()?;
        let (_, system) = next()?;
        let (pickle, object) = next()?;
        let keys = next();
        let mut file = LegacyFile {
            pickle,
            storages: Vec::new(),
            is_big_endian: system.heap.get(system.root, "little_endian")
                == Some(Value::Bool(false)),
        };
        let Some((_, keys)) = keys.filter(|_| object.error.is_none()) else {
            return Some(file);
        };
        let sizes = sizes(&object.heap);
        for number in 0..keys.heap.length(keys.root).unwrap_or_default() {
            let key = keys.heap.element(keys.root, number);
            let Some(key) = key.and_then(|key| keys.heap.text(key)) else {
                break;
            };
            let Some((count, after)) = rest.split_first_chunk::<8>() else {
                break;
            };
            let count = if file.is_big_endian {
                u64::from_be_bytes(*count)
            } else {
                u64::from_le_bytes(*count)
            };
            // Without the size of this one, the next ones cannot be found.
            let Some(size) = sizes.get(key) else { break };
            let length = usize::try_from(count).ok();
            let length = length.and_then(|count| count.checked_mul(*size));
            let Some((storage, after)) = length.and_then(|length| after.split_at_checked(length))
            else {
                break;
            };
            file.storages.push((key.to_owned(), storage));
            rest = after;
        }
        Some(file)
    }
}

/// The sizes of the elements of storages, by key. Their persistent ids are `('storage', class, key, location, …)`.
fn sizes(heap: &Heap) -> HashMap<String, usize> {
    let size = |node: &Node| {
        let Node::Tuple(parts) = node else {
            return None;
        };
        let [kind, class, key, ..] = parts.as_slice() else {
            return None;
        };
        let Node::Global(class) = heap.node(*class)? else {
            return None;
        };
        let is_storage = heap.text(*kind) == Some("storage");
        let size = match class.name.as_str() {
            "UntypedStorage" => 1,
            name => DType::of_storage(name)?.size(),
        };
        is_storage.then_some((heap.text(*key)?.to_owned(), size))
    };
    heap.nodes().iter().filter_map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `torch.save([tensor([1, 2], dtype=int16)[1:]], …, _use_new_zipfile_serialization=False)`.
    fn file() -> Vec<u8> {
        let mut bytes = [b"\x80\x02", MAGIC].concat();
        bytes.extend(b"\x80\x02M\xe9\x03.");
        bytes.extend(b"\x80\x02}q\x00X\x0d\x00\x00\x00little_endianq\x01\x88s.");
        bytes
            .extend(b"\x80\x02]q\x00ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storage");
        bytes.extend(b"ctorch\nShortStorage\nX\x02\x00\x00\x0042X\x03\x00\x00\x00cpuK\x02NtQ");
        bytes.extend(b"K\x01K\x01\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRa.");
        bytes.extend(b"\x80\x02]q\x00X\x02\x00\x00\x0042a.");
        bytes.extend(b"\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x02\x00");
        bytes
    }

    #[test]
    fn storages_follow_the_pickles() {
        let bytes = file();
        let found = LegacyFile::of(&bytes).unwrap();
        assert_eq!(found.storages, [("42".to_owned(), &[1, 0, 2, 0][..])]);
        let object = crate::read(found.pickle);
        let tensor = object.heap.element(object.root, 0).unwrap();
        let Some(Node::Tensor(tensor)) = object.heap.node(tensor) else {
            panic!("no tensor");
        };
        assert_eq!(tensor.read(found.storages[0].1, 0, false, 9), Ok(vec![2.0]));
    }

    #[test]
    fn later_protocols_are_recognised() {
        for start in [
            &b"\x80\x03"[..],
            b"\x80\x04\x95\x0d\0\0\0\0\0\0\0",
            b"\x80\x05\x95\x0d\0\0\0\0\0\0\0",
        ] {
            assert!(is_legacy(&[start, MAGIC].concat()));
            assert!(!is_legacy(start));
        }
        assert!(!is_legacy(MAGIC));
    }

    #[test]
    fn what_is_cut_off_is_missing() {
        let bytes = file();
        for length in 0..bytes.len() {
            let found = LegacyFile::of(&bytes[..length]);
            assert!(
                found.is_none_or(|found| found.storages.is_empty()),
                "{length}"
            );
        }
    }
}
