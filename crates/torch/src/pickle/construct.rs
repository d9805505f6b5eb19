//! The values of known classes and functions. Nothing is called: each name on the list has a rule
//! that converts its arguments to a value; every other name becomes an [`Object`].

use crate::heap::{Global, Heap, List, Node, Object, Value};
use crate::tensor::{DType, Tensor};

/// The result of `class(*arguments)`.
pub(super) fn call(heap: &mut Heap, class: Value, arguments: Value) -> Value {
    let Some(Node::Global(global)) = heap.node(class) else {
        return object(heap, &unnamed(), arguments);
    };
    let global = global.clone();
    // Constructors copy from their first two arguments at most.
    for index in 0..2 {
        if let Some(source) = argument(heap, arguments, index)
            && !heap.may_copy(source)
        {
            return object(heap, &global, arguments);
        }
    }
    let made = match (global.module.as_str(), global.name.as_str()) {
        ("torch._utils", "_rebuild_tensor_v2") => tensor(heap, arguments, None),
        ("torch._utils", "_rebuild_tensor_v3") => {
            let dtype = torch_dtype(heap, argument(heap, arguments, 6));
            dtype.and_then(|dtype| tensor(heap, arguments, Some(dtype)))
        }
        ("torch._utils", "_rebuild_parameter") => argument(heap, arguments, 0),
        ("torch", "Size") => argument(heap, arguments, 0),
        ("torch", "device") => device(heap, arguments),
        ("collections", "OrderedDict" | "Counter") => Some(dictionary(heap, arguments)),
        ("collections", "defaultdict") => Some(heap.add(Node::Dict(Vec::new()))),
        ("collections", "deque") => Some(list(heap, arguments)),
        ("builtins" | "__builtin__", name) => builtin(heap, name, arguments),
        ("_codecs", "encode") => latin1(heap, arguments),
        ("copy_reg" | "copyreg", "_reconstructor") => reconstructed(heap, arguments),
        ("numpy.core.multiarray" | "numpy._core.multiarray", name) => match name {
            "_reconstruct" => Some(object(heap, &named("numpy", "ndarray"), arguments)),
            "scalar" => scalar(heap, arguments),
            _ => None,
        },
        ("numpy._core.numeric" | "numpy.core.numeric", "_frombuffer") => {
            from_buffer(heap, arguments)
        }
        ("datetime", "datetime") => datetime(heap, arguments),
        ("datetime", "date") => date(heap, arguments),
        ("decimal", "Decimal") => argument(heap, arguments, 0),
        ("fractions", "Fraction") => fraction(heap, arguments),
        ("array", "array") => typed_list(heap, arguments),
        ("array", "_array_reconstructor") => typed_array(heap, arguments),
        ("pathlib" | "pathlib._local", _) => Some(path(heap, arguments)),
        _ => None,
    };
    made.unwrap_or_else(|| object(heap, &global, arguments))
}

/// Sets the state of an object: a numpy array gets its numbers.
pub(super) fn build(heap: &mut Heap, target: Value, state: Value) {
    let is_array = |object: &Object| object.class == named("numpy", "ndarray");
    let is_array = matches!(heap.node(target), Some(Node::Object(object)) if is_array(object));
    let data = heap.element(state, 4).unwrap_or(Value::None);
    let array = (is_array && heap.may_copy(data))
        .then(|| array(heap, state))
        .flatten();
    match (heap.node_mut(target), array) {
        (Some(node), Some(array)) => *node = array,
        (Some(Node::Object(object)), None) => object.state = state,
        // Attributes of dictionaries, tensors and other known values are ignored.
        _ => {}
    }
}

/// Whether a class is that of the types of numpy's arrays.
pub(super) fn is_array_type(class: &Global) -> bool {
    class.module == "numpy" && class.name == "dtype"
}

fn named(module: &str, name: &str) -> Global {
    Global {
        module: module.to_owned(),
        name: name.to_owned(),
    }
}

fn unnamed() -> Global {
    named("?", "?")
}

fn object(heap: &mut Heap, class: &Global, arguments: Value) -> Value {
    heap.add(Node::Object(Object {
        class: class.clone(),
        arguments,
        state: Value::None,
        elements: Vec::new(),
        items: Vec::new(),
    }))
}

fn argument(heap: &Heap, arguments: Value, index: usize) -> Option<Value> {
    heap.element(arguments, index)
}

fn integer(heap: &Heap, arguments: Value, index: usize) -> Option<i64> {
    match heap.element(arguments, index)? {
        Value::Int(int) => Some(int),
        Value::Bool(flag) => Some(i64::from(flag)),
        _ => None,
    }
}

fn elements(heap: &Heap, value: Value) -> Option<Vec<Value>> {
    (0..heap.length(value)?)
        .map(|index| heap.element(value, index))
        .collect()
}

/// Sizes or strides.
fn integers(heap: &Heap, value: Value) -> Option<Vec<i64>> {
    let elements = elements(heap, value)?;
    let int = |value| match value {
        Value::Int(int) => Some(int),
        _ => None,
    };
    elements.into_iter().map(int).collect()
}

/// `(storage, offset, size, stride, …)`. The storage is its persistent id:
/// `('storage', class, key, location, length)`.
fn tensor(heap: &mut Heap, arguments: Value, dtype: Option<DType>) -> Option<Value> {
    let storage = argument(heap, arguments, 0)?;
    let class = argument(heap, storage, 1)?;
    let dtype = match (dtype, heap.node(class)?) {
        (Some(dtype), _) => dtype,
        (None, Node::Global(class)) => DType::of_storage(&class.name)?,
        (None, _) => return None,
    };
    let key = heap.text(argument(heap, storage, 2)?)?.to_owned();
    let offset = u64::try_from(integer(heap, arguments, 1)?).ok()?;
    let shape = integers(heap, argument(heap, arguments, 2)?)?;
    let shape: Option<Vec<u64>> = shape.into_iter().map(|size| size.try_into().ok()).collect();
    let (shape, strides) = (shape?, integers(heap, argument(heap, arguments, 3)?)?);
    if shape.len() != strides.len() {
        return None;
    }
    Some(heap.add(Node::Tensor(Tensor {
        dtype,
        storage: Some(key),
        inline: Vec::new(),
        is_big_endian: false,
        offset,
        shape,
        strides,
    })))
}

fn torch_dtype(heap: &Heap, value: Option<Value>) -> Option<DType> {
    match heap.node(value?)? {
        Node::Global(global) if global.module == "torch" => DType::of_torch(&global.name),
        _ => None,
    }
}

fn dictionary(heap: &mut Heap, arguments: Value) -> Value {
    let source = argument(heap, arguments, 0);
    let items = source.and_then(|source| match heap.items(source) {
        Some(items) => Some(items.to_vec()),
        None => {
            let pairs = elements(heap, source)?.into_iter();
            let pair = |pair| Some((heap.element(pair, 0)?, heap.element(pair, 1)?));
            pairs.map(pair).collect()
        }
    });
    heap.add(Node::Dict(items.unwrap_or_default()))
}

fn list(heap: &mut Heap, arguments: Value) -> Value {
    let source = argument(heap, arguments, 0);
    let mut list = List::default();
    let elements = source.and_then(|source| elements(heap, source));
    elements
        .unwrap_or_default()
        .into_iter()
        .for_each(|value| list.push(value));
    heap.add(Node::List(list))
}

fn builtin(heap: &mut Heap, name: &str, arguments: Value) -> Option<Value> {
    match name {
        "list" => Some(list(heap, arguments)),
        "dict" => Some(dictionary(heap, arguments)),
        "tuple" | "set" | "frozenset" => {
            let source = argument(heap, arguments, 0);
            let elements = source
                .and_then(|source| elements(heap, source))
                .unwrap_or_default();
            Some(heap.add(match name {
                "tuple" => Node::Tuple(elements),
                _ => Node::Set(elements),
            }))
        }
        "bytes" if heap.length(arguments) == Some(0) => Some(heap.add(Node::Bytes(Vec::new()))),
        "bytes" | "bytearray" => {
            let source = argument(heap, arguments, 0);
            match source.and_then(|source| heap.node(source)) {
                Some(Node::Bytes(bytes)) => Some(heap.add(Node::Bytes(bytes.clone()))),
                Some(Node::Text(_)) => latin1(heap, arguments),
                None if heap.length(arguments) == Some(0) => {
                    Some(heap.add(Node::Bytes(Vec::new())))
                }
                _ => None,
            }
        }
        // A nested class: `getattr(Sample, 'Status')`.
        "getattr" => {
            let inner = heap.text(argument(heap, arguments, 1)?)?.to_owned();
            let Node::Global(outer) = heap.node(argument(heap, arguments, 0)?)? else {
                return None;
            };
            let nested = named(&outer.module, &format!("{}.{inner}", outer.name));
            Some(heap.add(Node::Global(nested)))
        }
        _ => None,
    }
}

/// Protocol 2 writes bytes as a text of the characters U+0000 to U+00FF.
fn latin1(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let text = heap.text(argument(heap, arguments, 0)?)?;
    let bytes: Option<Vec<u8>> = text
        .chars()
        .map(|character| character.try_into().ok())
        .collect();
    Some(heap.add(Node::Bytes(bytes?)))
}

/// `(class, base, state)`: an object of the class.
fn reconstructed(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let Node::Global(class) = heap.node(argument(heap, arguments, 0)?)? else {
        return None;
    };
    let class = class.clone();
    let state = argument(heap, arguments, 2).unwrap_or(Value::None);
    let arguments = heap.add(Node::Tuple(vec![state]));
    Some(object(heap, &class, arguments))
}

/// The code of a `numpy.dtype` and whether it is big-endian. `dtype('f8')` has its byte order in its
/// state: `(3, '<', …)`.
fn numpy_dtype(heap: &Heap, value: Value) -> Option<(String, bool)> {
    let Node::Object(object) = heap.node(value)? else {
        return None;
    };
    if !is_array_type(&object.class) {
        return None;
    }
    let code = heap.text(heap.element(object.arguments, 0)?)?;
    let order = heap
        .element(object.state, 1)
        .and_then(|order| heap.text(order));
    let bare = code.trim_start_matches(['<', '>', '=', '|']);
    let is_big_endian = order == Some(">") || code.starts_with('>');
    Some((bare.to_owned(), is_big_endian))
}

fn inline(
    dtype: DType,
    is_big_endian: bool,
    bytes: Vec<u8>,
    shape: Vec<u64>,
    order: bool,
) -> Tensor {
    Tensor {
        dtype,
        storage: None,
        inline: bytes,
        is_big_endian,
        offset: 0,
        strides: Tensor::contiguous(&shape, order),
        shape,
    }
}

/// `(version, shape, dtype, is_fortran, data)`.
fn array(heap: &mut Heap, state: Value) -> Option<Node> {
    let shape = integers(heap, heap.element(state, 1)?)?;
    let shape: Option<Vec<u64>> = shape.into_iter().map(|size| size.try_into().ok()).collect();
    let shape = shape?;
    let (code, is_big_endian) = numpy_dtype(heap, heap.element(state, 2)?)?;
    let is_fortran = heap.element(state, 3) == Some(Value::Bool(true));
    match heap.node(heap.element(state, 4)?)? {
        Node::Bytes(bytes) => {
            if let Some(texts) = texts(&code, is_big_endian, bytes) {
                let texts = texts.into_iter().map(|text| heap.add(Node::Text(text)));
                return Some(Node::List(List::Values(texts.collect())));
            }
            let dtype = DType::of_numpy(&code)?;
            Some(Node::Tensor(inline(
                dtype,
                is_big_endian,
                bytes.clone(),
                shape,
                is_fortran,
            )))
        }
        // An array of objects: its elements, without the shape.
        Node::List(list) => Some(Node::List(list.clone())),
        _ => None,
    }
}

/// `(buffer, dtype, shape, order)`: the arrays of protocol 5.
fn from_buffer(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let (code, is_big_endian) = numpy_dtype(heap, argument(heap, arguments, 1)?)?;
    let dtype = DType::of_numpy(&code)?;
    let shape = integers(heap, argument(heap, arguments, 2)?)?;
    let shape: Option<Vec<u64>> = shape.into_iter().map(|size| size.try_into().ok()).collect();
    let is_fortran = heap.text(argument(heap, arguments, 3)?) == Some("F");
    let Node::Bytes(bytes) = heap.node(argument(heap, arguments, 0)?)? else {
        return None;
    };
    let tensor = inline(dtype, is_big_endian, bytes.clone(), shape?, is_fortran);
    Some(heap.add(Node::Tensor(tensor)))
}

/// `(dtype, bytes)`: a number or a text.
fn scalar(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let (code, is_big_endian) = numpy_dtype(heap, argument(heap, arguments, 0)?)?;
    let Node::Bytes(bytes) = heap.node(argument(heap, arguments, 1)?)? else {
        return None;
    };
    if let Some(texts) = texts(&code, is_big_endian, bytes) {
        let text = texts.into_iter().next().unwrap_or_default();
        return Some(heap.add(Node::Text(text)));
    }
    let dtype = DType::of_numpy(&code)?;
    let scalar = inline(dtype, is_big_endian, bytes.clone(), Vec::new(), false);
    if dtype.is_integer() && dtype != DType::Bool {
        let whole = scalar.integer(&[], 0, false)?;
        return Some(match i64::try_from(whole) {
            Ok(small) => Value::Int(small),
            Err(_) => heap.add(Node::BigInt(whole.into())),
        });
    }
    let number = *scalar.read(&[], 0, false, 1).ok()?.first()?;
    Some(match dtype {
        DType::Bool => Value::Bool(number != 0.0),
        _ => Value::Float(number),
    })
}

/// The texts of an array whose code is that of a text type, such as `U5`: each has this many characters, or bytes if it is
/// `S5`, and is padded with zeros. `None` for other codes.
fn texts(code: &str, is_big_endian: bool, bytes: &[u8]) -> Option<Vec<String>> {
    let (is_unicode, length) = match code.strip_prefix('U') {
        Some(length) => (true, length),
        None => (false, code.strip_prefix('S')?),
    };
    let length: usize = length.parse().ok().filter(|length| *length > 0)?;
    let size = length.checked_mul(if is_unicode { 4 } else { 1 })?;
    let text = |bytes: &[u8]| {
        let text = if is_unicode {
            let (characters, _) = bytes.as_chunks::<4>();
            let codes = characters.iter().map(|code| {
                if is_big_endian {
                    u32::from_be_bytes(*code)
                } else {
                    u32::from_le_bytes(*code)
                }
            });
            let character = |code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            codes.map(character).collect()
        } else {
            String::from_utf8_lossy(bytes).into_owned()
        };
        text.trim_end_matches('\0').to_owned()
    };
    Some(bytes.chunks_exact(size).map(text).collect())
}

/// `(type)` or `(type, index)`.
fn device(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let kind = argument(heap, arguments, 0)?;
    let (Some(name), Some(index)) = (heap.text(kind), integer(heap, arguments, 1)) else {
        return Some(kind);
    };
    let named = format!("{name}:{index}");
    Some(heap.add(Node::Text(named)))
}

/// `(numerator, denominator)`, or a text such as `1/3`.
#[allow(clippy::cast_precision_loss, reason = "the quotient is a float")]
fn fraction(heap: &Heap, arguments: Value) -> Option<Value> {
    let (above, below) = match heap.text(argument(heap, arguments, 0)?) {
        Some(text) => {
            let (above, below) = text.split_once('/').unwrap_or((text, "1"));
            (above.parse().ok()?, below.parse().ok()?)
        }
        None => (
            integer(heap, arguments, 0)? as f64,
            integer(heap, arguments, 1)? as f64,
        ),
    };
    (below != 0.0).then_some(Value::Float(above / below))
}

/// `(code, elements)`: an `array.array` of protocol 2.
fn typed_list(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let elements = argument(heap, arguments, 1)?;
    matches!(heap.node(elements)?, Node::List(_)).then_some(elements)
}

/// `(class, code, format, bytes)`: an `array.array` of later protocols. The format says the size, the sign and the order of
/// the bytes.
fn typed_array(heap: &mut Heap, arguments: Value) -> Option<Value> {
    const FORMATS: [DType; 8] = [
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::U64,
        DType::I64,
        DType::F32,
        DType::F64,
    ];
    let format = usize::try_from(integer(heap, arguments, 2)?).ok()?;
    let (dtype, is_big_endian) = match format {
        0 => (DType::U8, false),
        1 => (DType::I8, false),
        2..=17 => (*FORMATS.get((format - 2) / 2)?, format % 2 == 1),
        _ => return None,
    };
    let data = argument(heap, arguments, 3)?;
    if !heap.may_copy(data) {
        return None;
    }
    let Node::Bytes(bytes) = heap.node(data)? else {
        return None;
    };
    let count = (bytes.len() / dtype.size()) as u64;
    let tensor = inline(dtype, is_big_endian, bytes.clone(), vec![count], false);
    Some(heap.add(Node::Tensor(tensor)))
}

/// Ten bytes: year, month, day, hour, minute, second, microsecond.
fn datetime(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let Node::Bytes(bytes) = heap.node(argument(heap, arguments, 0)?)? else {
        return None;
    };
    let [high, low, month, day, hour, minute, second, a, b, c] = *bytes.as_slice() else {
        return None;
    };
    let year = u16::from_be_bytes([high, low]);
    let microsecond = u32::from_be_bytes([0, a, b, c]);
    // The highest bit of the month marks the second occurrence of an ambiguous time.
    let month = month & 0x7f;
    let zone = argument(heap, arguments, 1).and_then(|zone| offset(heap, zone));
    let zone = zone.unwrap_or_default();
    let text = format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}{zone}"
    );
    Some(heap.add(Node::Text(text)))
}

/// The offset of a `timezone(timedelta(days, seconds, …))`, such as `+02:00`.
fn offset(heap: &Heap, zone: Value) -> Option<String> {
    let arguments_of = |value, name| match heap.node(value)? {
        Node::Object(object) if object.class == named("datetime", name) => Some(object.arguments),
        _ => None,
    };
    let offset = arguments_of(
        heap.element(arguments_of(zone, "timezone")?, 0)?,
        "timedelta",
    )?;
    let (days, seconds) = (integer(heap, offset, 0)?, integer(heap, offset, 1)?);
    let minutes = days.checked_mul(1_440)?.checked_add(seconds / 60)?;
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.checked_abs()?;
    Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

/// Four bytes: year, month, day.
fn date(heap: &mut Heap, arguments: Value) -> Option<Value> {
    let Node::Bytes(bytes) = heap.node(argument(heap, arguments, 0)?)? else {
        return None;
    };
    let [high, low, month, day] = *bytes.as_slice() else {
        return None;
    };
    let year = u16::from_be_bytes([high, low]);
    Some(heap.add(Node::Text(format!("{year:04}-{month:02}-{day:02}"))))
}

fn path(heap: &mut Heap, arguments: Value) -> Value {
    let parts = elements(heap, arguments).unwrap_or_default();
    let parts: Vec<&str> = parts
        .into_iter()
        .filter_map(|part| heap.text(part))
        .collect();
    let path = match parts.split_first() {
        Some((&"/", rest)) => format!("/{}", rest.join("/")),
        _ => parts.join("/"),
    };
    heap.add(Node::Text(path))
}
