//! Files of prime-rl next to its traces, which are those of verifiers: what the trainer adds to them later
//! (`annotations`), copies of what was trained on (`copies`), the batches for each rank (`rank_file`, whose positions are in `rank_versions`, in MessagePack: `message_pack`), what paths say (`path`), and exported tokens
//! (`token_export`).

mod annotations;
mod copies;
mod message_pack;
pub(super) mod path;
mod rank_file;
mod rank_versions;
mod token_export;

pub(super) use annotations::{Annotation, Annotations, MonitorIndex, fold};
pub(super) use copies::{drop_sealed_copies, join_copies};
pub(super) use rank_file::RankFiles;
pub(super) use token_export::TOKEN_EXPORT;
