//! Why a tool cannot answer, and what to call instead. The model reads these messages.

/// Why a tool cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFailure {
    #[error(
        "There is no trajectory with the id {id}. Call list_trajectories or search_trajectories for the ids; they are case-sensitive."
    )]
    NoTrajectory { id: String },
    #[error("The file of {id} was changed while it was read. Call the tool again.")]
    Changed { id: String },
    #[error("There is no column {name}. There are: {known}.")]
    NoColumn { name: String, known: String },
    #[error(
        "The filter of {column} has no condition. Give one of `is`, `contains`, `at_least`, `at_most` and `known`."
    )]
    NoCondition { column: String },
    #[error("`by` has {count} columns. Give one or two.")]
    Columns { count: usize },
    #[error("The query has no word. Give words, or a phrase in double quotes.")]
    NoQuery,
    #[error("{id} has {messages} messages, from 0. Message {from} does not exist.")]
    NoMessage {
        id: String,
        from: usize,
        messages: usize,
    },
    #[error("{id} has {steps} steps. Step {step} does not exist; 0 is the start.")]
    NoStep {
        id: String,
        step: usize,
        steps: usize,
    },
    #[error("The arguments are wrong: {reason}. The schema of the tool says what it takes.")]
    Arguments { reason: String },
    #[error("The files cannot be read: {reason}. The user has to repair this.")]
    Files { reason: String },
    #[error("The answers cannot be read: {reason}. The user has to repair this.")]
    Answers { reason: String },
    #[error("The page cannot be shown: {reason}")]
    Page { reason: String },
    #[error("The call was cancelled.")]
    Cancelled,
    #[error("The tool ended unexpectedly. Call it again; if that fails too, tell the user.")]
    Ended,
}

impl ToolFailure {
    pub fn files(error: anyhow::Error) -> ToolFailure {
        ToolFailure::Files {
            reason: format!("{error:#}"),
        }
    }
}
