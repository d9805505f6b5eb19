//! Pickles that Python wrote (the bytes of `pickle.dumps`), and hostile ones.

use std::ops::Range;

use proptest::prelude::*;

use super::{Fragments, Outline, PickleError, read};
use crate::heap::{Heap, List, Node, Value};

/// `{"rollout_id": 3, "samples": [{"tokens": [1, 2, 300], "reward": 0.5, "done": True}]}`, protocol 2.
const SAMPLES: &[u8] = b"\x80\x02}q\x00(X\n\x00\x00\x00rollout_idq\x01K\x03X\x07\x00\x00\x00samplesq\x02]q\x03}q\x04(X\x06\x00\x00\x00tokensq\x05]q\x06(K\x01K\x02M,\x01eX\x06\x00\x00\x00rewardq\x07G?\xe0\x00\x00\x00\x00\x00\x00X\x04\x00\x00\x00doneq\x08\x88uau.";

#[test]
fn dictionaries_and_lists_are_read() {
    let outcome = read(SAMPLES);
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.length, SAMPLES.len());
    let heap = &outcome.heap;
    assert_eq!(heap.get(outcome.root, "rollout_id"), Some(Value::Int(3)));
    let samples = heap.get(outcome.root, "samples").unwrap();
    let sample = heap.element(samples, 0).unwrap();
    assert_eq!(heap.get(sample, "reward"), Some(Value::Float(0.5)));
    assert_eq!(heap.get(sample, "done"), Some(Value::Bool(true)));
    let tokens = heap.get(sample, "tokens").unwrap();
    let expected = Node::List(List::Ints(vec![1, 2, 300]));
    assert_eq!(heap.node(tokens), Some(&expected));
}

#[test]
fn a_truncated_pickle_keeps_what_was_complete() {
    let cut = SAMPLES.len() - 10;
    let outcome = read(&SAMPLES[..cut]);
    assert!(matches!(outcome.error, Some(PickleError::Truncated { .. })));
    let samples = outcome.heap.get(outcome.root, "samples").unwrap();
    let sample = outcome.heap.element(samples, 0);
    // The sample was not appended to its list yet, or it has all members up to the cut.
    if let Some(sample) = sample {
        assert!(outcome.heap.get(sample, "tokens").is_some());
    }
}

#[test]
fn every_prefix_is_an_error_and_no_panic() {
    for length in 0..SAMPLES.len() {
        let outcome = read(&SAMPLES[..length]);
        assert!(outcome.error.is_some(), "{length}");
    }
}

/// A tensor: `_rebuild_tensor_v2(('storage', torch.FloatStorage, '0', 'cpu', 6), 1, (2, 2), (3, 1), False, OrderedDict())`.
fn tensor_pickle() -> Vec<u8> {
    let mut bytes = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((".to_vec();
    bytes.extend(b"X\x07\x00\x00\x00storagectorch\nFloatStorage\n");
    bytes.extend(b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQK\x01K\x02K\x02\x86K\x03K\x01\x86");
    bytes.extend(b"\x89ccollections\nOrderedDict\n)RtR.");
    bytes
}

#[test]
fn a_tensor_is_a_strided_view_of_its_storage() {
    let outcome = read(&tensor_pickle());
    assert_eq!(outcome.error, None);
    let Some(Node::Tensor(tensor)) = outcome.heap.node(outcome.root) else {
        panic!("{:?}", outcome.heap.node(outcome.root));
    };
    assert_eq!(tensor.storage.as_deref(), Some("0"));
    let storage: Vec<u8> = [0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    assert_eq!(
        tensor.read(&storage, 0, false, 10).unwrap(),
        [1.0, 2.0, 4.0, 5.0]
    );
}

#[test]
fn unknown_names_become_objects_and_nothing_runs() {
    // `os.system("echo")` by REDUCE, and `getattr` of a class on a member.
    let outcome = read(b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00echo\x85R.");
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.placeholders.get("os.system"), Some(&1));
    let Some(Node::Object(object)) = outcome.heap.node(outcome.root) else {
        panic!("an object");
    };
    assert_eq!(
        outcome
            .heap
            .text(outcome.heap.element(object.arguments, 0).unwrap()),
        Some("echo")
    );

    let status = b"\x80\x02c__builtin__\ngetattr\ncslime.utils.types\nSample\nX\x06\x00\x00\x00Status\x86RX\x09\x00\x00\x00completed\x85R.";
    let outcome = read(status);
    let Some(Node::Object(object)) = outcome.heap.node(outcome.root) else {
        panic!("an object");
    };
    assert_eq!(object.class.path(), "slime.utils.types.Sample.Status");
}

#[test]
fn numpy_arrays_and_scalars_are_read() {
    // `numpy.arange(3, dtype="<i4")`, protocol 2.
    let mut bytes = b"\x80\x02cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01K\x03\x85".to_vec();
    bytes.extend(b"cnumpy\ndtype\nX\x02\x00\x00\x00i4\x89\x88\x87R(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb");
    bytes.extend(b"\x89C\x0c\x00\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00tb.");
    let outcome = read(&bytes);
    assert_eq!(outcome.error, None);
    let Some(Node::Tensor(tensor)) = outcome.heap.node(outcome.root) else {
        panic!("{:?}", outcome.heap.node(outcome.root));
    };
    assert_eq!(tensor.read(&[], 0, false, 10).unwrap(), [0.0, 1.0, 2.0]);

    let mut bytes =
        b"\x80\x02cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\x00\x00\x00f8\x89\x88\x87R"
            .to_vec();
    bytes.extend(b"(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb");
    bytes.extend(b"C\x08\x00\x00\x00\x00\x00\x00\xf8?\x86R.");
    let outcome = read(&bytes);
    assert_eq!(outcome.root, Value::Float(1.5), "{:?}", outcome.error);
}

#[test]
fn deep_nesting_needs_no_stack() {
    let mut bytes = vec![0x80, 2];
    bytes.extend(std::iter::repeat_n(b']', 200_000));
    bytes.extend(std::iter::repeat_n(b'a', 199_999));
    bytes.push(b'.');
    let outcome = read(&bytes);
    assert_eq!(outcome.error, None);
    assert_eq!(outcome.heap.len(), 200_000);
}

#[test]
fn a_list_may_contain_itself_and_shared_values_are_not_copied() {
    let outcome = read(b"\x80\x02]q\x00h\x00a.");
    assert_eq!(outcome.heap.element(outcome.root, 0), Some(outcome.root));
    assert_eq!(outcome.heap.len(), 1);
}

#[test]
fn false_lengths_allocate_nothing() {
    let outcome = read(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc");
    assert!(matches!(outcome.error, Some(PickleError::Truncated { .. })));
    let outcome = read(b"\x80\x02K\x01r\xff\xff\xff\xff.");
    assert_eq!(outcome.error, None);
}

#[test]
fn copies_are_bounded() {
    // A list of 30,000 integers, and 10,000 times `list(it)`.
    let mut bytes = b"\x80\x02]q\x00(".to_vec();
    bytes.extend(std::iter::repeat_n(*b"K\x01", 30_000).flatten());
    bytes.extend(b"ecbuiltins\nlist\nq\x01");
    bytes.extend(std::iter::repeat_n(*b"h\x01h\x00\x85R", 10_000).flatten());
    bytes.push(b'.');
    let outcome = read(&bytes);
    assert_eq!(outcome.error, None);
    let elements = |node: &Node| match node {
        Node::List(list) => list.len(),
        _ => 0,
    };
    let total: usize = outcome.heap.nodes().iter().map(elements).sum();
    assert!(total < 2_000_000, "{total}");
    assert!(
        outcome
            .placeholders
            .get("builtins.list")
            .is_some_and(|count| *count > 9_000)
    );
}

#[test]
fn integers_beyond_64_bits_are_exact() {
    let outcome = read(b"\x80\x02\x8a\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00.");
    let Some(Node::BigInt(number)) = outcome.heap.node(outcome.root) else {
        panic!("a large integer");
    };
    assert_eq!(number.to_string(), "18446744073709551616");
    assert_eq!(read(b"\x80\x02\x8a\x00.").root, Value::Int(0));
}

proptest! {
    #[test]
    fn no_input_panics_or_grows(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let outcome = read(&bytes);
        prop_assert!(outcome.heap.len() <= 2 * bytes.len() + 2);
    }

    #[test]
    fn damage_to_a_real_pickle_is_survived(
        at in 0..SAMPLES.len(),
        byte in any::<u8>(),
    ) {
        let mut bytes = SAMPLES.to_vec();
        bytes[at] = byte;
        let _ = read(&bytes);
        let mut bytes = tensor_pickle();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}

/// The opcode of a number: an integer of each size, or a float.
fn number(kind: u8, value: u32) -> Vec<u8> {
    let [a, b, c, d] = value.to_le_bytes();
    match kind {
        0 => vec![b'K', a],
        1 => vec![b'M', a, b],
        2 => vec![b'J', a, b, c, d],
        3 => [vec![b'G'], f64::from(value).to_be_bytes().to_vec()].concat(),
        _ => vec![b'N'],
    }
}

proptest! {
    /// Batches of numbers are appended at once, or one by one if other values are among them.
    #[test]
    fn batches_are_what_their_elements_are(
        batches in prop::collection::vec(prop::collection::vec((0..5_u8, any::<u32>()), 2..6), 1..5),
        is_uniform in any::<bool>(),
    ) {
        let (mut together, mut apart) = (b"\x80\x02]".to_vec(), b"\x80\x02]".to_vec());
        for batch in &batches {
            together.push(b'(');
            for (kind, value) in batch {
                let kind = if is_uniform { 3 * (batches.len() as u8 % 2) } else { *kind };
                let bytes = number(kind, *value);
                together.extend(&bytes);
                apart.extend(bytes);
                apart.push(b'a');
            }
            together.push(b'e');
        }
        together.push(b'.');
        apart.push(b'.');
        let [together, apart] = [read(&together), read(&apart)];
        prop_assert_eq!(together.error, None);
        prop_assert_eq!(together.heap.node(together.root), apart.heap.node(apart.root));
    }
}

/// Samples that share texts, keys and a dictionary, protocol 2:
/// `{"rollout_id": 3, "samples": [{"tokens": [1, 2, 300, 70000], "prompt": p, "reward": 0.5, "metadata": m, "mask": [1, None,
/// True, 2.5]}, {"tokens": [], "prompt": p, "reward": None, "metadata": m, "mask": (1, 2)}, {"tokens": [7, 7, 7, 7, 7],
/// "prompt": "x", "reward": 1, "nested": {"a": {"b": [{"c": 1}]}}, "mask": []}]}`.
const SHARED: &[u8] = b"\x80\x02}q\x00(X\x0a\x00\x00\x00rollout_idq\x01K\x03X\x07\x00\x00\x00samplesq\x02]q\x03(\
}q\x04(X\x06\x00\x00\x00tokensq\x05]q\x06(K\x01K\x02M,\x01Jp\x11\x01\x00eX\x06\x00\x00\x00promptq\x07X\x18\x00\x00\x00What is six \
times seven?q\x08X\x06\x00\x00\x00rewardq\x09G?\xe0\x00\x00\x00\x00\x00\x00X\x08\x00\x00\x00metadataq\x0a}q\x0bX\x06\x00\x00\x00sour\
ceq\x0cX\x01\x00\x00\x00aq\x0dsX\x04\x00\x00\x00maskq\x0e]q\x0f(K\x01N\x88G@\x04\x00\x00\x00\x00\x00\x00eu\
}q\x10(h\x05]q\x11h\x07h\x08h\x09Nh\x0ah\x0bh\x0eK\x01K\x02\x86q\x12u\
}q\x13(h\x05]q\x14(K\x07K\x07K\x07K\x07K\x07eh\x07X\x01\x00\x00\x00xq\x15h\x09K\x01X\x06\x00\x00\x00nestedq\x16}q\x17h\x0d}q\x18X\
\x01\x00\x00\x00bq\x19]q\x1a}q\x1bX\x01\x00\x00\x00cq\x1cK\x01sassh\x0e]q\x1dueu.";

/// Values as text, whatever their positions in the heap.
fn shown(heap: &Heap, value: Value) -> String {
    match heap.node(value) {
        Some(Node::Dict(items)) => {
            let items = items.iter();
            let items =
                items.map(|(key, value)| [shown(heap, *key), shown(heap, *value)].join(":"));
            format!("{{{}}}", items.collect::<Vec<_>>().join(","))
        }
        Some(_) => match heap.length(value) {
            Some(length) => {
                let elements = (0..length).filter_map(|index| heap.element(value, index));
                let elements: Vec<String> = elements.map(|element| shown(heap, element)).collect();
                format!("[{}]", elements.join(","))
            }
            None => heap.text(value).unwrap_or("?").to_owned(),
        },
        None => format!("{value:?}"),
    }
}

/// The elements that an outline finds if the bytes arrive in chunks of this size.
fn outlined(pickle: &[u8], chunk: usize) -> (Outline, Vec<Range<u64>>) {
    let mut outline = Outline::default();
    let (mut held, mut elements) = (Vec::new(), Vec::new());
    for bytes in pickle.chunks(chunk) {
        held.extend_from_slice(bytes);
        let read = outline.feed(&held).unwrap();
        held.drain(..read);
        elements.extend(outline.take_elements());
    }
    (outline, elements)
}

fn bytes_at(range: &Range<u64>, pickle: &[u8]) -> Vec<u8> {
    pickle[range.start as usize..range.end as usize].to_vec()
}

#[test]
fn elements_are_read_one_by_one_with_what_they_share() {
    let whole = read(SHARED);
    assert_eq!(whole.error, None);
    let samples = whole.heap.get(whole.root, "samples").unwrap();
    for chunk in [1, 2, 7, 64, SHARED.len()] {
        let (outline, elements) = outlined(SHARED, chunk);
        assert!(outline.is_over());
        assert_eq!(elements.len(), 3, "{chunk}");
        for (number, element) in elements.iter().enumerate() {
            // Each by itself, as it is opened.
            let mut parts = Fragments::default();
            let shared = outline.shared(element);
            for value in &shared {
                parts.share(&bytes_at(value, SHARED));
            }
            let part = parts.read(&bytes_at(element, SHARED));
            assert_eq!(part.error, None);
            let expected = whole.heap.element(samples, number).unwrap();
            assert_eq!(
                shown(parts.heap(), part.value),
                shown(&whole.heap, expected)
            );
            assert!(shared.len() > 2 || number == 0);
        }
    }
}

#[test]
fn what_is_not_needed_is_dropped() {
    let (outline, elements) = outlined(SHARED, SHARED.len());
    let mut parts = Fragments::default();
    let all = outline.shared(&(elements[1].start..elements[2].end));
    all.iter()
        .for_each(|value| parts.share(&bytes_at(value, SHARED)));
    let shared = parts.heap().len();
    for _ in 0..3 {
        for element in &elements[1..] {
            parts.read(&bytes_at(element, SHARED));
            assert!(parts.heap().len() < shared + 20);
        }
    }
}

#[test]
fn a_list_grows_by_one_element_too() {
    // `[{"a": 1}]` and `[[{"a": 1}], {"a": 1}]`: only the outer list counts.
    let one = b"\x80\x02]q\x00}q\x01X\x01\x00\x00\x00aq\x02K\x01sa.";
    let ranges = |pickle: &[u8]| -> Vec<(u64, u64)> {
        let elements = outlined(pickle, 3).1.into_iter();
        elements
            .map(|element| (element.start, element.end))
            .collect()
    };
    assert_eq!(ranges(one), [(5, 19)]);
    let nested = b"\x80\x02]q\x00(]q\x01}q\x02X\x01\x00\x00\x00aK\x01sa}X\x01\x00\x00\x00aK\x01se.";
    assert_eq!(ranges(nested), [(6, 22), (22, 32)]);
}

#[test]
fn pickles_that_count_their_values_have_no_outline() {
    let counted = b"\x80\x04\x95\x08\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02e.";
    let fed = Outline::default().feed(counted);
    assert!(matches!(fed, Err(PickleError::Opcode { opcode: 0x94, .. })));
}

proptest! {
    /// Damaged pickles have an outline or an error; parts and shared values are within what was read.
    #[test]
    fn outlines_survive_damage(
        offset in 0..SHARED.len(),
        byte in any::<u8>(),
        chunk in 1_usize..40,
    ) {
        let mut pickle = SHARED.to_vec();
        pickle[offset] = byte;
        let mut outline = Outline::default();
        let (mut held, mut elements) = (Vec::new(), Vec::new());
        for bytes in pickle.chunks(chunk) {
            held.extend_from_slice(bytes);
            let Ok(read) = outline.feed(&held) else { break };
            held.drain(..read);
            elements.extend(outline.take_elements());
        }
        let mut parts = Fragments::default();
        for element in &elements {
            for value in outline.shared(element) {
                prop_assert!(value.start <= value.end && value.end <= outline.position());
                parts.share(&bytes_at(&value, &pickle));
            }
            parts.read(&bytes_at(element, &pickle));
        }
    }
}
