//! Reads the values of torch files (`.pt`): a pickle, and tensors in separate storages. Pure: the
//! caller provides the bytes of the zip members.
//!
//! - [`pickle`]: runs a pickle and builds a [`Heap`] of values.
//! - [`heap`]: the values. They refer to each other by index, so shared and cyclic values need no
//!   copies, and dropping deeply nested values needs no recursion.
//! - [`legacy`]: the parts of files of old versions.
//! - [`tensor`]: a tensor as a strided view of a storage. Its numbers are read on demand.
//!
//! Invariants: nothing is imported or executed. Names on a short list become values; any other name
//! becomes an [`Object`](heap::Object) that shows its name and arguments. Memory is proportional to
//! the input: sizes that the input claims are checked before anything is allocated.
//!
//! The formats are those of Python's `pickletools` and of `torch.save`.

pub mod heap;
pub mod legacy;
pub mod pickle;
pub mod tensor;

pub use heap::{Heap, Value};
pub use pickle::{PickleError, Unpickled, read};
pub use tensor::{DType, Tensor, TensorError};
