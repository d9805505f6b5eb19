//! What the embedded view shows: nothing yet, something that is being opened, or an episode, which the reader may play.
//!
//! Invariants: only what was asked for last counts, so a slow file never replaces what was asked for after it. Moves are
//! reported only of an episode that is shown, and of a task only once the reader plays it.

use volary_core::json::Text;

use super::message::Load;
use super::notes::EmbedNotes;

/// Identifies what is being opened. Numbers count up.
pub type LoadNumber = u32;

/// The kind of episode that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedKind {
    /// A recording, which is only read.
    Recording,
    /// A replayed episode, which the reader may continue.
    Replayed,
    /// A task at its start.
    Task,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ContentEvent {
    /// The surrounding page, or the address, asks for something.
    Load(Load),
    /// The result of [`ContentEffect::Open`], or why it cannot be shown.
    Opened {
        number: LoadNumber,
        result: Result<OpenedKind, String>,
    },
    /// The reader plays the task, or continues the episode.
    Play,
    /// The reader starts the task again.
    StartOver,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ContentEffect {
    /// Open this in the player while [`EmbedContent::is_current`], and report [`ContentEvent::Opened`].
    Open {
        number: LoadNumber,
        load: Load,
    },
    /// Replace the notes, which were about another episode.
    ClearNotes,
    /// Select a step, now and after the transcript has measured its steps.
    SelectFirst {
        number: LoadNumber,
        step: usize,
    },
    SelectLast,
    ShowProblem(Option<String>),
    /// Tell the surrounding page that the episode is shown.
    ReportLoaded,
    /// Tell the surrounding page why nothing is shown.
    ReportFailed(String),
}

/// The content of the view.
#[derive(Clone, Debug, Default)]
pub struct EmbedContent {
    last: LoadNumber,
    /// What was asked for last, to start over.
    load: Load,
    state: ContentState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ContentState {
    /// Nothing was asked for, or it cannot be shown.
    #[default]
    Nothing,
    Opening,
    Shown(OpenedKind),
    Played {
        kind: OpenedKind,
        /// Whether it is being opened again.
        is_restarting: bool,
    },
}

impl EmbedContent {
    pub fn update(&mut self, event: ContentEvent) -> Vec<ContentEffect> {
        match event {
            ContentEvent::Load(load) => {
                self.load = load;
                self.state = ContentState::Opening;
                vec![ContentEffect::ClearNotes, self.open()]
            }
            ContentEvent::Opened { number, result } if self.is_current(number) => {
                self.opened(result)
            }
            ContentEvent::Opened { .. } => Vec::new(),
            ContentEvent::Play => match self.state {
                ContentState::Shown(kind) => {
                    self.state = ContentState::Played {
                        kind,
                        is_restarting: false,
                    };
                    vec![ContentEffect::SelectLast]
                }
                _ => Vec::new(),
            },
            ContentEvent::StartOver => match &mut self.state {
                ContentState::Played { is_restarting, .. } => {
                    *is_restarting = true;
                    vec![self.open()]
                }
                _ => Vec::new(),
            },
        }
    }

    /// Whether this is what was asked for last.
    pub fn is_current(&self, number: LoadNumber) -> bool {
        number == self.last
    }

    pub fn is_opening(&self) -> bool {
        self.state == ContentState::Opening
    }

    /// Whether the reader acts.
    pub fn is_playing(&self) -> bool {
        matches!(self.state, ContentState::Played { .. })
    }

    /// The kind of what is shown; `None` if nothing is.
    pub fn kind(&self) -> Option<OpenedKind> {
        match self.state {
            ContentState::Nothing | ContentState::Opening => None,
            ContentState::Shown(kind) | ContentState::Played { kind, .. } => Some(kind),
        }
    }

    /// The label of the button with which the reader begins to act, if there is something to do.
    pub fn begin_label(&self, is_over: bool) -> Option<&'static str> {
        match self.state {
            ContentState::Shown(OpenedKind::Task) => Some("Play"),
            ContentState::Shown(OpenedKind::Replayed) if !is_over => Some("Continue from here"),
            _ => None,
        }
    }

    /// Whether the surrounding page hears of the selected step and of the end.
    pub fn reports_moves(&self) -> bool {
        // A task that the reader has not begun is not at its end.
        !matches!(
            self.state,
            ContentState::Nothing | ContentState::Opening | ContentState::Shown(OpenedKind::Task)
        )
    }

    /// The hash of the link that leads to what is shown, if it came from one.
    pub fn link(&self) -> Option<&str> {
        self.kind()?;
        let link: &Text = self.load.link.as_ref()?;
        link.split_once('#').map(|(_, hash)| hash)
    }

    fn open(&mut self) -> ContentEffect {
        self.last = self.last.wrapping_add(1);
        ContentEffect::Open {
            number: self.last,
            load: self.load.clone(),
        }
    }

    fn opened(&mut self, result: Result<OpenedKind, String>) -> Vec<ContentEffect> {
        match (self.state, result) {
            (ContentState::Opening, Ok(kind)) => {
                self.state = ContentState::Shown(kind);
                vec![
                    // Recordings are read from their beginning.
                    ContentEffect::SelectFirst {
                        number: self.last,
                        step: self.load.step.unwrap_or(0),
                    },
                    ContentEffect::ShowProblem(None),
                    ContentEffect::ReportLoaded,
                ]
            }
            (ContentState::Opening, Err(reason)) => {
                self.state = ContentState::Nothing;
                vec![
                    ContentEffect::ShowProblem(Some(reason.clone())),
                    ContentEffect::ReportFailed(reason),
                ]
            }
            (
                ContentState::Played {
                    kind,
                    is_restarting: true,
                },
                result,
            ) => {
                self.state = ContentState::Played {
                    kind,
                    is_restarting: false,
                };
                let problem = result.err();
                let problem = problem.map(|reason| ContentEffect::ShowProblem(Some(reason)));
                problem.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The notes after another episode was asked for: none, if the surrounding page keeps notes at all.
pub fn cleared_notes(notes: Option<&EmbedNotes>) -> Option<EmbedNotes> {
    notes.map(|_| EmbedNotes::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(hash: &str) -> Load {
        Load {
            link: Some(format!("https://volary.example/{hash}").into()),
            step: Some(2),
            ..Load::default()
        }
    }

    fn open(number: LoadNumber, load: Load) -> ContentEffect {
        ContentEffect::Open { number, load }
    }

    fn opened(number: LoadNumber, kind: OpenedKind) -> ContentEvent {
        ContentEvent::Opened {
            number,
            result: Ok(kind),
        }
    }

    fn failed(number: LoadNumber) -> ContentEvent {
        ContentEvent::Opened {
            number,
            result: Err("no".to_owned()),
        }
    }

    fn showing(kind: OpenedKind) -> EmbedContent {
        let mut content = EmbedContent::default();
        content.update(ContentEvent::Load(link("#/run/a")));
        content.update(opened(1, kind));
        content
    }

    #[test]
    fn what_is_asked_for_is_opened_and_reported() {
        let mut content = EmbedContent::default();
        assert_eq!(content.kind(), None);
        assert!(!content.is_opening() && !content.reports_moves());
        let load = link("#/run/a");
        assert_eq!(
            content.update(ContentEvent::Load(load.clone())),
            [ContentEffect::ClearNotes, open(1, load)]
        );
        assert!(content.is_opening() && !content.reports_moves());
        assert_eq!(content.link(), None);
        let effects = content.update(opened(1, OpenedKind::Recording));
        let select = ContentEffect::SelectFirst { number: 1, step: 2 };
        let loaded = ContentEffect::ReportLoaded;
        assert_eq!(effects, [select, ContentEffect::ShowProblem(None), loaded]);
        assert_eq!(content.kind(), Some(OpenedKind::Recording));
        assert_eq!(content.link(), Some("/run/a"));
        assert!(content.reports_moves() && !content.is_playing());
        // The same answer again.
        assert_eq!(content.update(failed(1)), []);
    }

    #[test]
    fn what_cannot_be_shown_is_reported() {
        let mut content = EmbedContent::default();
        content.update(ContentEvent::Load(Load::default()));
        let effects = content.update(failed(1));
        assert_eq!(
            effects,
            [
                ContentEffect::ShowProblem(Some("no".to_owned())),
                ContentEffect::ReportFailed("no".to_owned())
            ]
        );
        assert!(!content.is_opening() && content.kind().is_none());
        assert_eq!(content.update(opened(1, OpenedKind::Task)), []);
    }

    #[test]
    fn only_what_was_asked_for_last_is_shown() {
        let mut content = EmbedContent::default();
        content.update(ContentEvent::Load(link("#/slow")));
        let fast = link("#/fast");
        let effects = content.update(ContentEvent::Load(fast.clone()));
        assert_eq!(effects, [ContentEffect::ClearNotes, open(2, fast)]);
        assert!(!content.is_current(1) && content.is_current(2));
        assert_eq!(content.update(failed(1)), []);
        assert!(content.is_opening());
        content.update(opened(2, OpenedKind::Task));
        assert_eq!(content.update(opened(1, OpenedKind::Recording)), []);
        assert_eq!(content.kind(), Some(OpenedKind::Task));
        assert_eq!(content.link(), Some("/fast"));
    }

    #[test]
    fn a_task_is_reported_once_it_is_played() {
        let mut content = showing(OpenedKind::Task);
        assert!(!content.reports_moves());
        assert_eq!(content.begin_label(false), Some("Play"));
        assert_eq!(
            content.update(ContentEvent::Play),
            [ContentEffect::SelectLast]
        );
        assert!(content.is_playing() && content.reports_moves());
        assert_eq!(content.begin_label(false), None);
        assert_eq!(content.update(ContentEvent::Play), []);
    }

    #[test]
    fn an_episode_can_be_continued_unless_it_is_over() {
        let content = showing(OpenedKind::Replayed);
        assert_eq!(content.begin_label(false), Some("Continue from here"));
        assert_eq!(content.begin_label(true), None);
        let recording = showing(OpenedKind::Recording);
        assert_eq!(recording.begin_label(false), None);
        assert_eq!(EmbedContent::default().begin_label(false), None);
    }

    #[test]
    fn starting_over_opens_the_same_again_while_it_is_shown() {
        let mut content = showing(OpenedKind::Task);
        assert_eq!(content.update(ContentEvent::StartOver), []);
        content.update(ContentEvent::Play);
        assert_eq!(
            content.update(ContentEvent::StartOver),
            [open(2, link("#/run/a"))]
        );
        assert!(content.is_playing());
        assert_eq!(content.update(opened(2, OpenedKind::Task)), []);
        assert!(content.is_playing());
        content.update(ContentEvent::StartOver);
        assert_eq!(
            content.update(failed(3)),
            [ContentEffect::ShowProblem(Some("no".to_owned()))]
        );
        assert!(content.is_playing());
    }

    #[test]
    fn something_else_ends_a_start_over() {
        let mut content = showing(OpenedKind::Task);
        content.update(ContentEvent::Play);
        content.update(ContentEvent::StartOver);
        content.update(ContentEvent::Load(link("#/other")));
        assert!(!content.is_playing() && content.is_opening());
        // The problem of the former task is not one of this.
        assert_eq!(content.update(failed(2)), []);
        assert!(content.is_opening());
        content.update(opened(3, OpenedKind::Recording));
        assert_eq!(content.link(), Some("/other"));
    }

    #[test]
    fn notes_start_again_only_where_notes_are_kept() {
        assert_eq!(cleared_notes(None), None);
        assert_eq!(
            cleared_notes(Some(&EmbedNotes::default())),
            Some(EmbedNotes::default())
        );
    }
}
