//! An episode up to the selected step: what follows is not shown yet.

use std::sync::Arc;

use leptos::prelude::*;
use volary_episode::{Ending, Episode};

use crate::{EpisodeStatus, Transcript};

/// The transcript and the status of an episode up to the selected step.
#[component]
pub fn Revealed(
    #[prop(into)] episode: Signal<Arc<Episode>>,
    /// Changes whenever steps are replaced or removed.
    #[prop(into)]
    edition: Signal<u32>,
    /// The selected step; 0 is the reset.
    selected: RwSignal<usize>,
) -> impl IntoView {
    let shown = RwSignal::new(Arc::new(Episode::default()));
    let shown_edition = RwSignal::new(0_u32);
    Effect::new(move |former: Option<(u32, usize)>| {
        let now = (edition.get(), selected.get());
        let part = episode.with(|episode| until(episode, now.1));
        // Steps that disappear are an edition of their own.
        if former.is_none_or(|former| former.0 != now.0 || former.1 > now.1) {
            shown_edition.update(|edition| *edition += 1);
        }
        shown.set(part);
        now
    });
    view! {
        <div class="presenter-episode">
            <EpisodeStatus episode=shown edition=shown_edition/>
            <Transcript episode=shown edition=shown_edition selected=selected/>
        </div>
    }
}

/// The episode until a step, as if it had not gone on.
fn until(episode: &Arc<Episode>, step: usize) -> Arc<Episode> {
    if step >= episode.steps.len() {
        return Arc::clone(episode);
    }
    let mut part = Episode::clone(episode);
    part.steps.truncate(step);
    part.ending = Ending::Open;
    Arc::new(part)
}

#[cfg(test)]
mod tests {
    use volary_core::message::Message;
    use volary_episode::{Outcome, StepRecord};

    use super::*;

    #[test]
    fn later_steps_and_the_ending_are_not_shown_yet() {
        let step = StepRecord::new(
            Message::user("act").into(),
            Outcome::Observed {
                messages: Vec::new(),
                reward: 1.0,
                done: false,
                truncated: false,
            },
        );
        let whole = Arc::new(Episode {
            steps: vec![step; 2],
            ending: Ending::Done,
            ..Episode::default()
        });
        let part = until(&whole, 1);
        assert_eq!((part.steps.len(), part.is_over()), (1, false));
        assert!(Arc::ptr_eq(&until(&whole, 2), &whole));
    }
}
