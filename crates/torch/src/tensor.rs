//! Tensors: a type, a shape, and a strided view of a storage.
//!
//! Invariants: element `k` of a multi-index is at `offset + Σ index · stride` of the storage; several
//! tensors may share a storage, and a stride may be zero. Reading checks every index against the
//! available bytes, so a false shape or stride is an error and never an allocation.

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of torch")]
pub enum DType {
    F64,
    F32,
    F16,
    BF16,
    F8E4M3,
    F8E5M2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
}

/// A tensor, or a numpy array of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The type of its elements.
    pub dtype: DType,
    /// The key of its storage: the name of the zip member below `data/`. `None` if `inline` contains the
    /// bytes.
    pub storage: Option<String>,
    /// The bytes of a numpy array.
    pub inline: Vec<u8>,
    /// Whether the bytes of a numpy array are big-endian. Storages have the byte order of their file.
    pub is_big_endian: bool,
    /// The position of the first element, in elements.
    pub offset: u64,
    /// The size of each dimension; empty for a scalar.
    pub shape: Vec<u64>,
    /// The distance between neighbours in each dimension, in elements.
    pub strides: Vec<i64>,
}

/// Why a tensor cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// An element is outside of the storage.
    #[error("an element is at position {position}, but the storage has {length} elements")]
    OutOfRange {
        /// Its position in elements.
        position: i128,
        /// The length of the storage in elements.
        length: u64,
    },
    /// The shape has more elements than the limit.
    #[error("the tensor claims {count} elements, more than the limit of {limit}")]
    TooLarge {
        /// The number of elements.
        count: u128,
        limit: u64,
    },
}

impl DType {
    /// The size of an element in bytes.
    pub fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
            DType::F8E4M3 | DType::F8E5M2 | DType::I8 | DType::U8 | DType::Bool => 1,
        }
    }

    /// Whether elements are integers or booleans.
    pub fn is_integer(self) -> bool {
        !matches!(
            self,
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 | DType::F8E4M3 | DType::F8E5M2
        )
    }

    /// The type of a legacy storage class, such as `FloatStorage`.
    pub(crate) fn of_storage(class: &str) -> Option<DType> {
        Some(match class {
            "DoubleStorage" => DType::F64,
            "FloatStorage" => DType::F32,
            "HalfStorage" => DType::F16,
            "BFloat16Storage" => DType::BF16,
            "LongStorage" => DType::I64,
            "IntStorage" => DType::I32,
            "ShortStorage" => DType::I16,
            "CharStorage" => DType::I8,
            "ByteStorage" => DType::U8,
            "BoolStorage" => DType::Bool,
            _ => return None,
        })
    }

    /// The type of a name in module `torch`, such as `float32`.
    pub(crate) fn of_torch(name: &str) -> Option<DType> {
        Some(match name {
            "float64" | "double" => DType::F64,
            "float32" | "float" => DType::F32,
            "float16" | "half" => DType::F16,
            "bfloat16" => DType::BF16,
            "float8_e4m3fn" => DType::F8E4M3,
            "float8_e5m2" => DType::F8E5M2,
            "int64" | "long" => DType::I64,
            "int32" | "int" => DType::I32,
            "int16" | "short" => DType::I16,
            "int8" => DType::I8,
            "uint64" => DType::U64,
            "uint32" => DType::U32,
            "uint16" => DType::U16,
            "uint8" => DType::U8,
            "bool" => DType::Bool,
            _ => return None,
        })
    }

    /// The type of a numpy code, such as `f8`.
    pub(crate) fn of_numpy(code: &str) -> Option<DType> {
        Some(match code {
            "f8" => DType::F64,
            "f4" => DType::F32,
            "f2" => DType::F16,
            "i8" => DType::I64,
            "i4" => DType::I32,
            "i2" => DType::I16,
            "i1" => DType::I8,
            "u8" => DType::U64,
            "u4" => DType::U32,
            "u2" => DType::U16,
            "u1" => DType::U8,
            "b1" => DType::Bool,
            _ => return None,
        })
    }

    /// An element of `size()` bytes in little-endian order.
    fn element(self, bytes: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = bytes;
        let (two, four) = ([a, b], [a, b, c, d]);
        #[allow(
            clippy::cast_precision_loss,
            reason = "token ids and counts are far below 2^53"
        )]
        match self {
            DType::F64 => f64::from_le_bytes(bytes),
            DType::F32 => f64::from(f32::from_le_bytes(four)),
            DType::F16 => small_float(u32::from(u16::from_le_bytes(two)), 5, 10),
            DType::BF16 => f64::from(f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16)),
            DType::F8E4M3 => e4m3(a),
            DType::F8E5M2 => small_float(u32::from(a), 5, 2),
            DType::I64 => i64::from_le_bytes(bytes) as f64,
            DType::I32 => f64::from(i32::from_le_bytes(four)),
            DType::I16 => f64::from(i16::from_le_bytes(two)),
            DType::I8 => f64::from(i8::from_le_bytes([a])),
            DType::U64 => u64::from_le_bytes(bytes) as f64,
            DType::U32 => f64::from(u32::from_le_bytes(four)),
            DType::U16 => f64::from(u16::from_le_bytes(two)),
            DType::U8 => f64::from(a),
            DType::Bool => f64::from(u8::from(a != 0)),
        }
    }
}

/// A float with an IEEE 754 layout of fewer than 32 bits.
fn small_float(bits: u32, exponent_bits: u32, mantissa_bits: u32) -> f64 {
    let mantissa = bits & ((1 << mantissa_bits) - 1);
    let exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    let is_negative = (bits >> (mantissa_bits + exponent_bits)) & 1 == 1;
    let bias = (1_i32 << (exponent_bits - 1)) - 1;
    let fraction = f64::from(mantissa) / f64::from(1_u32 << mantissa_bits);
    let size = if exponent == (1 << exponent_bits) - 1 {
        if mantissa == 0 {
            f64::INFINITY
        } else {
            f64::NAN
        }
    } else if exponent == 0 {
        fraction * f64::from(1 - bias).exp2()
    } else {
        (1.0 + fraction) * (f64::from(exponent) - f64::from(bias)).exp2()
    };
    if is_negative { -size } else { size }
}

/// `float8_e4m3fn`: no infinities; only all ones are NaN.
fn e4m3(byte: u8) -> f64 {
    if byte & 0x7f == 0x7f {
        return f64::NAN;
    }
    let mantissa = f64::from(byte & 7) / 8.0;
    let size = match (byte >> 3) & 15 {
        0 => mantissa * (-6.0_f64).exp2(),
        exponent => (1.0 + mantissa) * (f64::from(exponent) - 7.0).exp2(),
    };
    if byte & 0x80 == 0 { size } else { -size }
}

impl Tensor {
    /// Whether it has one dimension, apart from those of size 1.
    pub fn is_vector(&self) -> bool {
        let long = self.shape.iter().filter(|size| **size != 1).count();
        long == 1 || long == 0 && !self.shape.is_empty()
    }

    /// The number of elements; saturates.
    pub fn count(&self) -> u128 {
        let sizes = self.shape.iter().map(|size| u128::from(*size));
        sizes.fold(1, u128::saturating_mul)
    }

    /// The byte range of the storage that the tensor needs, end excluded; `None` if it is empty or
    /// an index does not fit.
    pub fn range(&self) -> Option<std::ops::Range<u64>> {
        if self.shape.contains(&0) {
            return None;
        }
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        for (size, stride) in self.shape.iter().zip(&self.strides) {
            let reach = i128::from(*size - 1) * i128::from(*stride);
            if reach < 0 {
                low += reach;
            } else {
                high += reach;
            }
        }
        let size = self.dtype.size() as i128;
        let start = u64::try_from(low * size).ok()?;
        let end = u64::try_from((high + 1) * size).ok()?;
        Some(start..end)
    }

    /// Its elements in row-major order, from the bytes of its storage (or its own). At most `limit`
    /// elements are read.
    ///
    /// `storage` begins at byte `start` of the whole storage, so that only [`Tensor::range`] has to
    /// be loaded. `is_big_endian` is the byte order of the file.
    ///
    /// # Errors
    ///
    /// If the shape is larger than the limit or the storage is too short.
    pub fn read(
        &self,
        storage: &[u8],
        start: u64,
        is_big_endian: bool,
        limit: u64,
    ) -> Result<Vec<f64>, TensorError> {
        let count = self.count();
        if count > u128::from(limit) {
            return Err(TensorError::TooLarge { count, limit });
        }
        let (bytes, start, is_big_endian) = match self.storage {
            Some(_) => (storage, start, is_big_endian),
            None => (self.inline.as_slice(), 0, self.is_big_endian),
        };
        let size = self.dtype.size();
        let first = i128::from(start) / size as i128;
        let length = (bytes.len() / size) as u64;
        let mut elements = Vec::new();
        let mut index = vec![0_u64; self.shape.len()];
        let mut position = i128::from(self.offset) - first;
        for _ in 0..count {
            let at = usize::try_from(position)
                .ok()
                .filter(|at| (*at as u64) < length)
                .ok_or(TensorError::OutOfRange { position, length })?;
            let mut element = [0_u8; 8];
            if let (Some(from), Some(to)) = (
                bytes.get(at * size..(at + 1) * size),
                element.get_mut(..size),
            ) {
                to.copy_from_slice(from);
                if is_big_endian {
                    to.reverse();
                }
            }
            elements.push(self.dtype.element(element));
            // The next index: the last dimension is the fastest.
            for ((coordinate, size), stride) in
                index.iter_mut().zip(&self.shape).zip(&self.strides).rev()
            {
                *coordinate += 1;
                position += i128::from(*stride);
                if *coordinate < *size {
                    break;
                }
                position -= i128::from(*stride) * i128::from(*size);
                *coordinate = 0;
            }
        }
        Ok(elements)
    }

    /// The only element, if it is an integer. It is exact, unlike a number that [`Tensor::read`] returns.
    pub fn integer(&self, storage: &[u8], start: u64, is_big_endian: bool) -> Option<i128> {
        if !self.dtype.is_integer() || self.count() != 1 {
            return None;
        }
        let (bytes, start, is_big_endian) = match self.storage {
            Some(_) => (storage, start, is_big_endian),
            None => (self.inline.as_slice(), 0, self.is_big_endian),
        };
        let size = self.dtype.size();
        let at = usize::try_from(self.offset).ok()?.checked_mul(size)?;
        let at = at.checked_sub(usize::try_from(start).ok()?)?;
        let mut element = [0_u8; 8];
        let to = element.get_mut(..size)?;
        to.copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
        if is_big_endian {
            to.reverse();
        }
        Some(match self.dtype {
            DType::I64 => i64::from_le_bytes(element).into(),
            DType::U64 => u64::from_le_bytes(element).into(),
            // Smaller ones are exact.
            #[allow(clippy::cast_possible_truncation, reason = "it has no fraction")]
            dtype => dtype.element(element) as i128,
        })
    }

    /// Strides of a contiguous tensor, in row-major order, or column-major for Fortran order.
    pub(crate) fn contiguous(shape: &[u64], is_fortran: bool) -> Vec<i64> {
        let mut strides = vec![0; shape.len()];
        let mut stride = 1_i64;
        let mut set = |index: usize| {
            if let (Some(into), Some(size)) = (strides.get_mut(index), shape.get(index)) {
                *into = stride;
                stride = stride.saturating_mul(i64::try_from(*size).unwrap_or(i64::MAX));
            }
        };
        if is_fortran {
            (0..shape.len()).for_each(&mut set);
        } else {
            (0..shape.len()).rev().for_each(&mut set);
        }
        strides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: DType, offset: u64, shape: &[u64], strides: &[i64]) -> Tensor {
        Tensor {
            dtype,
            storage: Some("0".to_owned()),
            inline: Vec::new(),
            is_big_endian: false,
            offset,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }
    }

    fn ints(count: i32) -> Vec<u8> {
        (0..count).flat_map(i32::to_le_bytes).collect()
    }

    #[test]
    fn views_are_read_by_their_strides() {
        let all = ints(12);
        let read = |tensor: &Tensor| tensor.read(&all, 0, false, 100).unwrap();
        let rows = tensor(DType::I32, 0, &[2, 3], &[3, 1]);
        assert_eq!(read(&rows), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let transposed = tensor(DType::I32, 2, &[3, 2], &[1, 3]);
        assert_eq!(read(&transposed), [2.0, 5.0, 3.0, 6.0, 4.0, 7.0]);
        let expanded = tensor(DType::I32, 5, &[4], &[0]);
        assert_eq!(read(&expanded), [5.0; 4]);
        let scalar = tensor(DType::I32, 7, &[], &[]);
        assert_eq!(read(&scalar), [7.0]);
        assert_eq!(read(&tensor(DType::I32, 0, &[0, 9], &[9, 1])), []);
    }

    #[test]
    fn a_part_of_a_storage_is_enough() {
        let all = ints(12);
        let view = tensor(DType::I32, 4, &[2, 2], &[4, 1]);
        let range = view.range().unwrap();
        assert_eq!(range, 16..40);
        let part = &all[16..40];
        assert_eq!(view.read(part, 16, false, 4).unwrap(), [4.0, 5.0, 8.0, 9.0]);
    }

    #[test]
    fn false_sizes_are_errors_before_anything_is_allocated() {
        let huge = tensor(DType::F32, 0, &[u64::MAX, u64::MAX], &[1, 1]);
        assert!(matches!(
            huge.read(&[], 0, false, 1 << 30),
            Err(TensorError::TooLarge { .. })
        ));
        let outside = tensor(DType::I32, 11, &[2], &[1]);
        assert!(matches!(
            outside.read(&ints(12), 0, false, 10),
            Err(TensorError::OutOfRange {
                position: 12,
                length: 12
            })
        ));
        let before = tensor(DType::I32, 0, &[2], &[-1]);
        assert!(before.read(&ints(12), 0, false, 10).is_err());
        assert_eq!(before.range(), None);
    }

    #[test]
    fn small_floats_have_the_values_of_their_standards() {
        assert_eq!(small_float(0x3c00, 5, 10), 1.0);
        assert_eq!(small_float(0xc000, 5, 10), -2.0);
        assert_eq!(small_float(0x0001, 5, 10), 2.0_f64.powi(-24));
        assert_eq!(small_float(0x7bff, 5, 10), 65504.0);
        assert!(small_float(0x7e00, 5, 10).is_nan());
        assert_eq!(small_float(0xfc00, 5, 10), f64::NEG_INFINITY);
        assert_eq!(e4m3(0x7e), 448.0);
        assert_eq!(e4m3(0x01), 2.0_f64.powi(-9));
        assert!(e4m3(0xff).is_nan());
        assert_eq!(DType::BF16.element([0x80, 0xbf, 0, 0, 0, 0, 0, 0]), -1.0);
    }

    #[test]
    fn fortran_order_is_column_major() {
        assert_eq!(Tensor::contiguous(&[2, 3, 4], false), [12, 4, 1]);
        assert_eq!(Tensor::contiguous(&[2, 3, 4], true), [1, 2, 6]);
    }
}
