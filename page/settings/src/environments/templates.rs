//! Templates for new Python files. `tests/e2e/python.spec.mjs` plays each one.

/// The initial content of a new Python file.
pub struct Template {
    /// The initial name of the file.
    pub name: &'static str,
    /// A summary of what the template demonstrates.
    pub summary: &'static str,
    pub code: &'static str,
}

/// The templates, in the order of display.
pub const TEMPLATES: [Template; 5] = [
    Template {
        name: "Story",
        summary: "The example of aviary's README: one tool, one step.",
        code: include_str!("templates/story.py"),
    },
    Template {
        name: "Counter",
        summary: "A tool as a method, answers to mistakes, and a step limit.",
        code: include_str!("templates/counter.py"),
    },
    Template {
        name: "Thermostat",
        summary: "A world that changes on its own, with rewards at each step.",
        code: include_str!("templates/thermostat.py"),
    },
    Template {
        name: "Capitals",
        summary: "A task dataset: one environment for each of six questions.",
        code: include_str!("templates/dataset.py"),
    },
    Template {
        name: "Help desk",
        summary: "Several tools over a small database, judged by its final state.",
        code: include_str!("templates/help_desk.py"),
    },
];
