//! The sentence of Qwen's templates that an agent replaces by its own rules.

/// The sentence that Qwen's templates put under `# Tools`.
pub const SENTENCE: &str = "You may call one or more functions to assist with the user query.";

/// The default instruction: at most one call per turn, changes by tools only, no claims before a tool confirmed them.
/// slime's own text differs; to compare prompts token by token, use that one.
pub const INSTRUCTION: &str = " In each turn, either write to the user or call exactly one tool.\n\
Look things up and change them with the tools only; each call is answered by a message of the system.\n\
Tell the user that something is done only after a tool has confirmed it.\n";

/// The SHA-256 of slime's own instruction, to verify a custom text.
pub const ORIGINAL_SHA256: &str =
    "48d07392e81e42322d411cae2ec9333e7c4845ed6db3736fbae0169490251a47";

/// Replaces each occurrence of the sentence.
pub fn replace(text: &str, instruction: &str) -> String {
    text.replace(SENTENCE, instruction)
}
