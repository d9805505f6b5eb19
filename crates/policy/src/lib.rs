//! A language model that is small enough to learn while somebody watches: a decoder-only transformer over characters, its
//! hand-written backward pass, Adam, and a sampler with a key-value cache.
//!
//! - [`Shape`]: the sizes. [`Weights`]: the parameters by name. [`Network`]: weights that are ready for use.
//! - [`Tape`]: log probabilities of sequences, and gradients. [`Adam`]: the optimiser. [`Sampler`]: generation.
//! - [`file`]: 8-bit weights to ship, and exact ones for checkpoints.
//! - `real`: arithmetic. `lanes`: that of eight numbers together. `matrix`: products. `tile`: their innermost loops.
//!   `rows`: normalisation and softmax.
//!
//! The network is that of GPT-2 with root-mean-square norms (a gain each), ReLU, no biases, and the token embedding as the
//! output layer.
//!
//! Invariant: the same seed gives the same weights, bit for bit, on every platform. There are no threads, no fused
//! multiply-add, and each sum has a fixed order. The exponential and the logarithm are computed here, because those of
//! the platforms differ in the last bit. The result of a sequence does not depend on those that are computed beside it,
//! so the sampler and the tape agree on each log probability.

mod adam;
pub mod file;
mod lanes;
mod matrix;
mod network;
mod real;
mod rows;
mod sampler;
mod shape;
mod tape;
mod tile;
mod weights;

pub use adam::Adam;
pub use network::Network;
pub use real::Real;
pub use rows::{TokenDistribution, entropy};
pub use sampler::{Draw, Sampler, SlotId, draw};
pub use shape::{Shape, ShapeError, Tensor, TensorName};
pub use tape::{Tape, TapeError};
pub use weights::{Weights, WeightsError};
