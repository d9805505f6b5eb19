//! Under which id a played episode is stored.
//!
//! An episode in which a step was taken is stored when it ends and when it is left: for another episode, for another
//! branch from an earlier step, for another page or tab. Further steps are stored under the same id; another branch gets
//! an id of its own.

use volary_core::json::Text;

/// What of the shown episode is stored.
#[derive(Clone, Debug, Default)]
pub struct Saver {
    /// Whether steps were taken since it was stored.
    is_unsaved: bool,
    /// The branch that was stored, and its id.
    stored: Option<(Branch, Text)>,
    /// How many branches of the episode were stored.
    branches: u32,
}

/// The id of an episode, and how often steps of it were replaced.
pub type Branch = (Text, u32);

impl Saver {
    /// A step was taken.
    pub fn step_taken(&mut self) {
        self.is_unsaved = true;
    }

    /// The id under which a branch is stored with all its steps.
    pub fn stored_id(&self, branch: &Branch) -> Option<Text> {
        let stored = self.stored.as_ref().filter(|_| !self.is_unsaved);
        stored
            .filter(|(known, _)| known == branch)
            .map(|(_, id)| id.clone())
    }

    /// The id under which to store the branch now; `None` if nothing is unsaved.
    pub fn take(&mut self, branch: Branch) -> Option<Text> {
        if !std::mem::take(&mut self.is_unsaved) {
            return None;
        }
        let id = match self.stored.take() {
            Some((known, id)) if known == branch => id,
            known => {
                let is_other = known.is_some_and(|((id, _), _)| id == branch.0);
                self.branches = if is_other { self.branches + 1 } else { 1 };
                match self.branches {
                    1 => format!("played-{}", branch.0).into(),
                    branches => format!("played-{}-{branches}", branch.0).into(),
                }
            }
        };
        self.stored = Some((branch, id.clone()));
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(saver: &mut Saver, id: &str, edition: u32) -> Option<String> {
        saver.step_taken();
        let id = saver.take((id.into(), edition));
        id.map(|id| id.to_string())
    }

    #[test]
    fn further_steps_keep_the_id_and_another_branch_gets_its_own() {
        let mut saver = Saver::default();
        assert_eq!(saver.take(("a".into(), 0)), None);
        assert_eq!(take(&mut saver, "a", 0).as_deref(), Some("played-a"));
        assert_eq!(take(&mut saver, "a", 0).as_deref(), Some("played-a"));
        assert_eq!(saver.take(("a".into(), 0)), None);
        assert_eq!(take(&mut saver, "a", 1).as_deref(), Some("played-a-2"));
        assert_eq!(take(&mut saver, "b", 2).as_deref(), Some("played-b"));
    }

    #[test]
    fn an_address_names_only_what_is_stored_completely() {
        let mut saver = Saver::default();
        let branch = |edition| (Text::from("a"), edition);
        assert_eq!(saver.stored_id(&branch(0)), None);
        take(&mut saver, "a", 0);
        assert_eq!(saver.stored_id(&branch(0)).as_deref(), Some("played-a"));
        assert_eq!(saver.stored_id(&branch(1)), None);
        saver.step_taken();
        assert_eq!(saver.stored_id(&branch(0)), None);
    }
}
