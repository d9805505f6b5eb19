//! Writes an episode as Renderer files in one zip.

use volary_core::json::Text;
use volary_core::renderer::{DEFAULT_INDENT, DEFAULT_NAME, ExtraFile, RenderError, Renderer};
use volary_episode::episode::Episode;
use volary_episode::native;
use volary_episode::patch::weight;

use super::NATIVE_NAME;
use crate::archive::{ArchiveError, Packer};

/// The prefix of the file names.
const PREFIX: &str = "volary";

/// The maximum uncompressed size. Every frame is complete in its file, so long episodes with growing frames become very
/// large.
pub const LIMIT: usize = 128 << 20;

/// Error writing an episode as Renderer files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RendererFilesError {
    /// The episode has no frames.
    #[error(
        "The episode has no frames, so it cannot be written as Renderer files. Export it as \
         JSON instead."
    )]
    NoFrames,
    /// The files would be too large.
    #[error("The Renderer files of this episode would take about {megabytes} MB, because each of \
         its {frames} frames is written in full; the limit is {} MB. Export it as JSON, which is \
         smaller.", LIMIT >> 20)]
    TooLarge {
        /// The number of frames.
        frames: usize,
        /// The approximate size.
        megabytes: usize,
    },
    /// The episode's name is not valid for files.
    #[error(transparent)]
    Name(#[from] RenderError),
    /// The zip file could not be written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

/// The zip file of an episode: frames, manifest, and the episode in the native format.
pub fn to_zip(episode: &Episode) -> Result<Vec<u8>, RendererFilesError> {
    if episode.frames.is_empty() {
        return Err(RendererFilesError::NoFrames);
    }
    check_size(episode)?;
    let mut frames = Vec::with_capacity(episode.frames.len());
    let mut cursor = episode.frames.cursor();
    while let Some(frame) = cursor.advance() {
        frames.push(frame.clone());
    }
    let name = match &*episode.name {
        "" => DEFAULT_NAME.into(),
        _ => episode.name.clone(),
    };
    let native = ExtraFile {
        path: NATIVE_NAME.to_owned(),
        text: Some(native::to_text(episode)),
    };
    let rendered = Renderer::new(PREFIX, file_id(&episode.id), name)?.build(
        &frames,
        Some(DEFAULT_INDENT),
        vec![native],
    );
    let mut packer = Packer::default();
    for file in &rendered.files {
        packer.add(&file.name, file.text.as_bytes())?;
    }
    Ok(packer.finish()?)
}

fn check_size(episode: &Episode) -> Result<(), RendererFilesError> {
    // The approximate size of a value of weight one, indented, in bytes.
    const BYTES: usize = 32;
    let mut size = 0_usize;
    let mut cursor = episode.frames.cursor();
    while let Some(frame) = cursor.advance() {
        size += (weight(&frame.state) + weight(&frame.info)) * BYTES;
    }
    if size > LIMIT {
        return Err(RendererFilesError::TooLarge {
            frames: episode.frames.len(),
            megabytes: size >> 20,
        });
    }
    Ok(())
}

/// The id of an episode in a form that is valid in file names.
fn file_id(id: &Text) -> String {
    let clean = |character: char| match character {
        '-' => '-',
        other if other.is_alphanumeric() => other,
        _ => '-',
    };
    match id.chars().take(64).map(clean).collect::<String>() {
        id if id.is_empty() => "episode".to_owned(),
        id => id,
    }
}
