//! The built-in lessons, in order. A test compares the list with the files.

/// A built-in lesson, before its file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name in addresses, and in the file name `lessons/<id>.md`.
    pub id: &'static str,
    /// Equal to the title in the file.
    pub title: &'static str,
    /// What is learned.
    pub summary: &'static str,
    /// The duration in minutes.
    pub minutes: u32,
    /// The number of checks and questions.
    pub goals: usize,
}

/// All lessons, each building on the previous ones.
pub const LESSONS: [Entry; 7] = [
    Entry {
        id: "agent-loop",
        title: "What an agent loop is",
        summary: "Read a short episode, then act as the agent yourself.",
        minutes: 6,
        goals: 3,
    },
    Entry {
        id: "tools",
        title: "Tools and schemas",
        summary: "What a tool call consists of, and what happens when it does not fit.",
        minutes: 7,
        goals: 4,
    },
    Entry {
        id: "reward",
        title: "Reward, done and truncated",
        summary: "How an environment says how well it went, and why an episode ends.",
        minutes: 7,
        goals: 4,
    },
    Entry {
        id: "mistakes",
        title: "Read a trajectory and find the mistake",
        summary: "Five typical faults of agents, and how to recognize them.",
        minutes: 9,
        goals: 5,
    },
    Entry {
        id: "repeats",
        title: "Why evaluations need several trials",
        summary: "Success rates, intervals, pass@k and pass^k.",
        minutes: 8,
        goals: 4,
    },
    Entry {
        id: "tokens",
        title: "What a training rollout records",
        summary: "Tokens, loss masks, log probabilities, and why text is not enough.",
        minutes: 8,
        goals: 4,
    },
    Entry {
        id: "learning",
        title: "How an agent learns",
        summary: "Train a small agent yourself, catch it cheating, and repair a mistake in its training.",
        minutes: 15,
        goals: 9,
    },
];

pub fn find(id: &str) -> Option<&'static Entry> {
    LESSONS.iter().find(|lesson| lesson.id == id)
}
