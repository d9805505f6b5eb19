//! The calls of an episode: what was called, whether it reads or writes, and whether it failed.
//!
//! Commands of shells count by their program, so that `bash` with `ls` and with `rm` are different acts. Invariants: errors are
//! recognised by the start of a result, or the last line of a traceback, so that a result which merely contains the word is none.

use std::borrow::Cow;

use volary_core::json::{Json, Object};
use volary_core::tool::ToolCall;
use volary_core::{AnyMessage, ToolResponseMessage};
use volary_episode::episode::{Episode, Outcome, StepRecord};
use volary_episode::passages::content;

use crate::repetition;

/// What an act does to the state of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActEffect {
    Read,
    /// Changes what exists.
    Change,
    /// Adds something new: there is nothing to read before it.
    Create,
    /// Neither, such as thinking, or unknown.
    Other,
}

impl ActEffect {
    /// Whether the state differs afterwards.
    pub const fn writes(self) -> bool {
        matches!(self, ActEffect::Change | ActEffect::Create)
    }
}

/// A call of an episode.
#[derive(Clone, Debug)]
pub struct Act<'a> {
    /// The step, from 1.
    pub step: usize,
    /// The index of the call in its step.
    pub call: usize,
    /// The tool; for shells with the program: `bash ls`.
    pub name: Cow<'a, str>,
    pub tool: &'a str,
    pub arguments: &'a Object,
    pub effect: ActEffect,
    /// A digest of tool and arguments.
    pub digest: u64,
    /// The result, if there is one.
    pub result: Option<Cow<'a, str>>,
    /// The kind of error with which it failed.
    pub error: Option<String>,
}

/// The acts of an episode, in order. Takes time linear in its length.
pub fn acts(episode: &Episode) -> Vec<Act<'_>> {
    let mut acts = Vec::new();
    for (index, record) in episode.steps.iter().enumerate() {
        let AnyMessage::Request(request) = &record.action else {
            continue;
        };
        for (call, called) in request.tool_calls.iter().enumerate() {
            acts.push(act(index + 1, call, called, record));
        }
    }
    acts
}

fn act<'a>(step: usize, index: usize, call: &'a ToolCall, record: &'a StepRecord) -> Act<'a> {
    let tool = &*call.function.name;
    let arguments = &call.function.arguments;
    let command = command(tool, arguments);
    let name = match command.and_then(program) {
        Some(program) => Cow::Owned(format!("{tool} {program}")),
        None => Cow::Borrowed(tool),
    };
    let result = result(record, call, index).map(|response| content(&response.body));
    let recorded = record
        .details
        .errors
        .iter()
        .find(|error| error.call.as_ref().is_none_or(|id| *id == call.id));
    let failure = match &record.outcome {
        Outcome::Failed { message } => Some(&**message),
        Outcome::Observed { .. } => recorded.map(|error| &*error.message),
    };
    let error = failure
        .map(kind_of)
        .or_else(|| result.as_deref().and_then(error_kind));
    Act {
        step,
        call: index,
        effect: match command {
            Some(command) => effect_of_command(command),
            None => effect_of_tool(tool, arguments),
        },
        name,
        tool,
        arguments,
        digest: repetition::digest(call),
        result,
        error,
    }
}

/// The answer to a call: by its id, otherwise by its position.
fn result<'a>(
    record: &'a StepRecord,
    call: &ToolCall,
    index: usize,
) -> Option<&'a ToolResponseMessage> {
    let responses = || {
        record
            .messages()
            .iter()
            .filter_map(|message| match message {
                AnyMessage::Response(response) => Some(response),
                _ => None,
            })
    };
    responses()
        .find(|response| response.tool_call_id == call.id)
        .or_else(|| {
            responses()
                .nth(index)
                .filter(|response| response.tool_call_id.is_empty())
        })
}

/// Tools that run commands.
const SHELLS: [&str; 14] = [
    "bash",
    "shell",
    "sh",
    "execute_bash",
    "run_bash",
    "run_command",
    "execute_command",
    "terminal",
    "run_terminal_cmd",
    "local_shell",
    "container.exec",
    "exec",
    "run_shell_command",
    "bash_session",
];

/// The command of a call to a shell.
fn command<'a>(tool: &str, arguments: &'a Object) -> Option<&'a str> {
    if !SHELLS.contains(&tool.to_ascii_lowercase().as_str()) {
        return None;
    }
    let keys = ["command", "cmd", "keystrokes", "script", "input", "code"];
    keys.iter().find_map(|key| match arguments.get(key)? {
        Json::Text(text) => Some(&**text),
        // Some shells take a list such as ["bash", "-lc", "…"].
        Json::List(list) => list.last()?.as_text().map(|text| &**text),
        _ => None,
    })
}

/// The first program of a command, without changes of folder and variables before it.
fn program(command: &str) -> Option<&str> {
    let mut parts = command.split(['\n', ';']).flat_map(|part| part.split("&&"));
    let word = parts.find_map(|part| {
        let mut words = part
            .split_whitespace()
            .skip_while(|word| word.contains('=') || *word == "sudo");
        words
            .next()
            .filter(|word| *word != "cd" && !word.starts_with('#'))
    })?;
    let word = word.rsplit('/').next().unwrap_or(word);
    (word.len() <= 40).then_some(word)
}

fn effect_of_command(command: &str) -> ActEffect {
    const READING: [&str; 30] = [
        "ls",
        "cat",
        "head",
        "tail",
        "grep",
        "rg",
        "find",
        "find_file",
        "search_file",
        "search_dir",
        "open",
        "goto",
        "scroll_down",
        "scroll_up",
        "wc",
        "file",
        "stat",
        "tree",
        "pwd",
        "which",
        "diff",
        "less",
        "more",
        "decompile",
        "disassemble",
        "strings",
        "xxd",
        "awk",
        "env",
        "ps",
    ];
    const CHANGING: [&str; 9] = [
        "edit",
        "rm",
        "mv",
        "patch",
        "insert",
        "chmod",
        "chown",
        "apply_patch",
        "truncate",
    ];
    const CREATING: [&str; 7] = ["create", "touch", "mkdir", "cp", "tee", "ln", "submit"];
    let Some(program) = program(command) else {
        return ActEffect::Other;
    };
    if program == "sed" {
        return if command.contains(" -i") {
            ActEffect::Change
        } else {
            ActEffect::Read
        };
    }
    if program == "git" {
        let reads = [
            " status",
            " diff",
            " log",
            " show",
            " grep",
            " blame",
            " ls-files",
        ];
        return if reads.iter().any(|word| command.contains(word)) {
            ActEffect::Read
        } else {
            ActEffect::Change
        };
    }
    if CHANGING.contains(&program) {
        ActEffect::Change
    } else if CREATING.contains(&program)
        || command
            .lines()
            .next()
            .is_some_and(|line| line.contains(" > "))
    {
        ActEffect::Create
    } else if READING.contains(&program) {
        ActEffect::Read
    } else {
        ActEffect::Other
    }
}

fn effect_of_tool(tool: &str, arguments: &Object) -> ActEffect {
    const READING: [&str; 25] = [
        "get", "list", "search", "find", "read", "view", "look", "open", "show", "fetch", "query",
        "check", "describe", "lookup", "browse", "inspect", "count", "retrieve", "select", "grep",
        "glob", "cat", "ls", "info", "status",
    ];
    const CHANGING: [&str; 22] = [
        "update", "modify", "edit", "change", "set", "delete", "remove", "cancel", "replace",
        "rename", "move", "return", "exchange", "refund", "disable", "enable", "toggle", "reset",
        "write", "patch", "transfer", "resume",
    ];
    const CREATING: [&str; 12] = [
        "create", "add", "book", "send", "insert", "make", "post", "place", "order", "pay",
        "submit", "issue",
    ];
    // Editors of files take what they do as an argument.
    let action = ["command", "action", "operation"]
        .iter()
        .find_map(|key| arguments.get(key)?.as_text());
    let action = action.filter(|action| action.len() <= 40);
    for name in action.map(|action| &**action).into_iter().chain([tool]) {
        for word in words_of(name) {
            let is = |list: &[&str]| list.contains(&word.as_str());
            if is(&READING) {
                return ActEffect::Read;
            }
            if is(&CHANGING) {
                return ActEffect::Change;
            }
            if is(&CREATING) {
                return ActEffect::Create;
            }
        }
    }
    ActEffect::Other
}

/// The words of a name: `str_replace`, `getUser` and `mcp.get-user` have two or three.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_small = false;
    let mut is_new = true;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            is_new = true;
            after_small = false;
            continue;
        }
        if is_new || (after_small && letter.is_uppercase()) {
            words.push(String::new());
        }
        is_new = false;
        after_small = letter.is_lowercase();
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// The part of a result at either end in which errors are searched, in bytes.
const END: usize = 400;
/// Beginnings of results that are errors, in small letters.
const BEGINNINGS: [&str; 16] = [
    "error",
    "exception",
    "traceback (most recent call last)",
    "failed",
    "failure",
    "invalid",
    "fatal",
    "usage:",
    "unknown command",
    "permission denied",
    "execution timed out",
    "timed out",
    "your proposed edit has introduced",
    "wrong ",
    "no such file",
    "<error",
];

/// The kind of error of a result; `None` if it is none.
pub fn error_kind(result: &str) -> Option<String> {
    let text = result.trim();
    let start = text.get(..text.floor_char_boundary(END)).unwrap_or(text);
    let lower = start
        .trim_start_matches(['[', '{', '"', '(', '*', ' ', '\n'])
        .to_lowercase();
    let ending = text
        .get(text.ceil_char_boundary(text.len().saturating_sub(END))..)
        .unwrap_or(text);
    if let Some(at) = start
        .find("Traceback (most recent call last)")
        .or_else(|| ending.find("Traceback (most recent call last)"))
    {
        let _ = at;
        return Some(kind_of(last_line(ending)));
    }
    if BEGINNINGS.iter().any(|known| lower.starts_with(known))
        && !lower.starts_with("error\": null")
        && !lower.starts_with("errors\": []")
    {
        return Some(kind_of(start));
    }
    // A program that a shell cannot run says so at the end of its first line.
    let first = start.lines().next().unwrap_or_default();
    let ends = [
        "command not found",
        "No such file or directory",
        "Permission denied",
        "Is a directory",
    ];
    if first.len() < 200 && ends.iter().any(|end| first.ends_with(end)) {
        return Some(kind_of(first.rsplit(": ").next().unwrap_or(first)));
    }
    let last = last_line(ending);
    is_exception(last).then(|| kind_of(last))
}

fn last_line(text: &str) -> &str {
    text.trim_end()
        .lines()
        .next_back()
        .unwrap_or_default()
        .trim()
}

/// Whether a line is that of a Python exception: `ValueError: …`.
fn is_exception(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let name = name.rsplit('.').next().unwrap_or_default();
    let is_name = name.len() > 5 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name && (name.ends_with("Error") || name.ends_with("Exception")) && line.contains(':')
}

/// The kind of an error message: the name of the exception, or its first words without numbers and names.
pub fn kind_of(message: &str) -> String {
    const WORDS: usize = 7;
    let line = if message.contains("Traceback (most recent call last)") {
        last_line(message)
    } else {
        message.trim().lines().next().unwrap_or_default().trim()
    };
    if is_exception(line) {
        let name = line.split(':').next().unwrap_or_default();
        return name.rsplit('.').next().unwrap_or_default().to_owned();
    }
    let words = line.split_whitespace().take(WORDS).map(|word| {
        let is_own = word
            .chars()
            .any(|letter| letter.is_ascii_digit() || letter == '_' || letter == '/');
        if is_own {
            "#"
        } else {
            word.trim_end_matches([',', '.', ':', ';'])
        }
    });
    let kind = words.collect::<Vec<_>>().join(" ");
    kind.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_recognised_where_they_stand() {
        for (result, kind) in [
            (
                "Error: flight HAT030 not available on date 2024-05-13",
                Some("Error flight # not available on date"),
            ),
            (
                "Traceback (most recent call last):\n  File \"x\", line 1\npydicom.errors.KeyError: 'a'\n",
                Some("KeyError"),
            ),
            ("warn\nValueError: bad", Some("ValueError")),
            ("bash: foo: command not found", Some("command not found")),
            ("\nEXECUTION TIMED OUT", Some("EXECUTION TIMED OUT")),
            ("{\"error\": \"no user\"}", Some("{\"error\" \"no user\"}")),
            ("{\"error\": null, \"value\": 1}", None),
            ("The log has no Error: none at all.", None),
            ("3 errors were fixed", None),
            ("", None),
        ] {
            assert_eq!(error_kind(result).as_deref(), kind, "{result}");
        }
    }

    #[test]
    fn names_say_what_a_tool_does() {
        let none = Object::new();
        for (tool, effect) in [
            ("get_user_details", ActEffect::Read),
            ("mcp.files-updateFile", ActEffect::Change),
            ("book_reservation", ActEffect::Create),
            ("think", ActEffect::Other),
        ] {
            assert_eq!(effect_of_tool(tool, &none), effect, "{tool}");
        }
        for (command, name, effect) in [
            ("cd /a && ls -l", "ls", ActEffect::Read),
            ("X=1 /usr/bin/python a.py", "python", ActEffect::Other),
            ("sed -i s/a/b/ x", "sed", ActEffect::Change),
            ("echo a > b", "echo", ActEffect::Create),
            ("git diff", "git", ActEffect::Read),
        ] {
            assert_eq!(
                (program(command), effect_of_command(command)),
                (Some(name), effect)
            );
        }
    }
}
