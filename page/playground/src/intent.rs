//! What a user asks of the page around the episode. What concerns the episode is an event of the state machine,
//! [`volary_app::playground::Event`].

use volary_app::playground::policy::PolicyKind;
use volary_browser::files::GivenFile;
use volary_core::json::Text;
use volary_ui::later;
use volary_view::route::PlaygroundPlace;

/// A request of the user to the page.
#[derive(Clone)]
#[allow(
    missing_docs,
    reason = "each is the function of the playground of that name"
)]
pub enum Intent {
    /// Only loads the code.
    LoadCode,
    /// Stores the page for use offline in a while, because a user is present.
    StoreOffline,
    Follow(PlaygroundPlace),
    GoToEnvironment(String),
    PickSplit(usize, String),
    Reset,
    ChooseTool(Text),
    ChooseNoTool,
    AddCall,
    EditCall(usize),
    RemoveCall(usize),
    ChoosePolicy(PolicyKind),
    ScriptFromEpisode,
    RunWith(PolicyKind),
    /// Lets a scripted agent solve the shown task.
    Demonstrate,
    PickFile,
    TakeFiles(Vec<GivenFile>),
    Share,
    /// Runs an act of another part of the page that needs the lazily loaded code.
    Do(later::Act),
}

impl Intent {
    /// Returns whether this intent starts a new attempt. A notice belongs to the attempt that failed, so the next
    /// attempt removes it.
    pub(super) fn is_attempt(&self) -> bool {
        match self {
            Intent::Follow(_)
            | Intent::GoToEnvironment(_)
            | Intent::PickSplit(..)
            | Intent::Reset
            | Intent::ScriptFromEpisode
            | Intent::RunWith(_)
            | Intent::Demonstrate
            | Intent::PickFile
            | Intent::TakeFiles(_)
            | Intent::Share => true,
            Intent::LoadCode
            | Intent::StoreOffline
            | Intent::ChooseTool(_)
            | Intent::ChooseNoTool
            | Intent::AddCall
            | Intent::EditCall(_)
            | Intent::RemoveCall(_)
            | Intent::ChoosePolicy(_)
            | Intent::Do(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_ends_with_the_next_attempt() {
        for attempt in [
            Intent::Reset,
            Intent::RunWith(PolicyKind::Random),
            Intent::PickFile,
            Intent::Share,
        ] {
            assert!(attempt.is_attempt());
        }
        // Preparing an action, or stopping one, does not make an error obsolete.
        for other in [
            Intent::ChooseTool("calculator".into()),
            Intent::AddCall,
            Intent::LoadCode,
        ] {
            assert!(!other.is_attempt());
        }
    }
}
