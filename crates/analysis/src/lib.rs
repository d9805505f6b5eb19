//! What episodes show: tables, groups, statistics, comparisons, searches and notes. Pure: episodes and rows in, values out.
//!
//! - [`table`]: episodes as rows. [`csv`]: rows for spreadsheets. [`statistics`]: statistics of rewards.
//! - [`training`]: training runs, from rows with steps: groups, steps and runs.
//! - [`tokens`]: checks, figures and extremes of recorded tokens. [`chat_templates`]: the marks by which tokens and texts
//!   are divided into messages.
//! - [`align`]: alignment of two episodes, or of two texts.
//! - [`search`]: full-text search in the texts of episodes.
//! - [`timeline`]: the overview of an episode. [`lanes`]: its concurrent activity. [`spans`]: when its generation, tools
//!   and reward took place.
//! - [`task`]: what the agent was asked to do. [`result`]: the ending of an episode and its cause. [`scores`]: which
//!   scores judge it. [`repetition`]: repeated calls of an agent. [`consistency`]: what is wrong in a recording.
//! - [`behaviour`]: what agents do: diagnostics, clusters of failures, a graph, rules.
//! - [`annotations`]: notes about episodes.
//! - [`sensitive`]: keys, tokens and addresses in an episode, found and masked before it is shared.

pub mod align;
pub mod annotations;
pub mod behaviour;
pub mod chat_templates;
pub mod consistency;
pub mod csv;
pub mod lanes;
pub mod repetition;
pub mod result;
pub mod scores;
pub mod search;
pub mod sensitive;
pub mod spans;
pub mod statistics;
pub mod table;
pub mod task;
pub mod timeline;
pub mod tokens;
pub mod training;
