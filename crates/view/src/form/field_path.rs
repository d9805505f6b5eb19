//! The path of a field in a form.

/// The path of a field: members by index, entries by key, variants by index. The root is the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<u32>);

impl FieldPath {
    /// The path of a member of the root.
    pub fn member(place: usize) -> Self {
        FieldPath::default().then(u32::try_from(place).unwrap_or(u32::MAX))
    }

    /// A path below this one.
    pub fn then(&self, step: u32) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        FieldPath(steps)
    }

    pub(super) fn steps(&self) -> &[u32] {
        &self.0
    }

    /// An element id: the prefix and the path.
    pub fn id(&self, prefix: &str) -> String {
        let mut id = prefix.to_owned();
        for step in &self.0 {
            id.push('-');
            id.push_str(&step.to_string());
        }
        id
    }
}

impl From<&[u32]> for FieldPath {
    fn from(steps: &[u32]) -> Self {
        FieldPath(steps.to_vec())
    }
}
