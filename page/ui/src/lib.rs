//! Shared components. They render projections, read signals and call callbacks, and do not depend on any page.
//! [`navigation`] says which page is shown, and [`present`] draws slides in large type.
//!
//! Untrusted texts are rendered through [`text`].
//!
//! Two rules apply to all of them. The content security policy allows no style attributes, so appearance comes from
//! classes. Only the playground has buttons named Step, Run, Stop or Reset.

pub mod alert_box;
pub mod copy_button;
pub mod dialog;
pub mod disclosure;
pub mod episode_status;
pub mod export_dialog;
pub mod fetch_question;
pub mod field;
mod folds;
pub mod form;
pub mod frame_tree;
pub mod frame_view;
pub mod growing_text;
pub mod icon;
pub mod inspector;
pub mod json_text;
pub mod keep_alive;
pub mod key_help;
pub mod keyed;
pub mod lazy;
pub mod menu;
pub mod navigation;
pub mod number_field;
mod offline_status;
pub mod outline;
pub mod pane_jumps;
pub mod persistence;
pub mod playback;
pub mod present;
pub mod prose;
pub mod reward_curve;
pub mod rows;
pub mod school_record;
pub mod sharing_check;
pub mod sort_button;
pub mod step_bar;
pub mod styles;
pub mod tabs;
pub mod term;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod timeline;
pub mod transcript;
pub mod transient_memo;
pub mod turn;
pub mod unsaved_notice;

pub use alert_box::AlertBox;
pub use copy_button::CopyButton;
pub use dialog::Dialog;
pub use disclosure::DisclosureButton;
pub use episode_status::EpisodeStatus;
pub use export_dialog::ExportDialog;
pub use fetch_question::FetchQuestion;
pub use form::SchemaForm;
pub use frame_tree::FrameTree;
pub use frame_view::FrameView;
pub use icon::{Glyph, Icon, Mark};
pub use menu::Menu;
pub use pane_jumps::PaneJumps;
pub use persistence::Persistence;
pub use reward_curve::RewardCurve;
pub use tabs::Tabs;
pub use theme::{Theme, ThemeSwitch};
pub use timeline::Timeline;
pub use transcript::Transcript;
pub use unsaved_notice::UnsavedNotice;
