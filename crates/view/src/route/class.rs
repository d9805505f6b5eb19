//! Places of a class: `#/class…`. Their own code parses them, not the first load.

use super::query::{decode, encode, parameters};

/// What the page shows of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClassPlace {
    /// A teacher makes an assignment.
    #[default]
    Assign,
    /// A pupil works on an assignment: its text for links.
    Work(String),
    /// A teacher sees who has reached what, in an assignment or in any.
    Board(Option<String>),
    /// Two trajectories are judged without knowing who acted: their ids, as in a comparison.
    Pair { left: String, right: String },
}

impl ClassPlace {
    /// Parses the path of [`Route::Class`].
    pub fn read(path: &str) -> ClassPlace {
        let (name, query) = path.split_once('?').unwrap_or((path, ""));
        let assignment = parameters(query).find(|(key, _)| *key == "a");
        let assignment = assignment.map(|(_, text)| decode(text));
        let id = |wanted: &str| {
            let found = parameters(query).find(|(key, _)| *key == wanted);
            found.map(|(_, id)| decode(id))
        };
        if let Some((left, right)) = id("left").zip(id("right")) {
            return ClassPlace::Pair { left, right };
        }
        match (name.trim_matches('/'), assignment) {
            ("board", assignment) => ClassPlace::Board(assignment),
            (_, Some(assignment)) => ClassPlace::Work(assignment),
            (_, None) => ClassPlace::Assign,
        }
    }

    /// The hash, including its `#`. The text of an assignment needs no escapes.
    pub fn to_hash(&self) -> String {
        match self {
            ClassPlace::Assign => "#/class".to_owned(),
            ClassPlace::Work(text) => format!("#/class?a={text}"),
            ClassPlace::Board(None) => "#/class/board".to_owned(),
            ClassPlace::Pair { left, right } => {
                format!("#/class?left={}&right={}", encode(left), encode(right))
            }
            ClassPlace::Board(Some(text)) => format!("#/class/board?a={text}"),
        }
    }
}
