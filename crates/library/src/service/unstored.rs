//! Episodes that the page made and the browser refused to store. The library shows them from memory until the page
//! stores them.
//!
//! Invariant: only the page writes them. A copy of this worker may be older, and would replace newer steps.

use std::rc::Rc;

use volary_analysis::table::Row;
use volary_core::json::Text;
use volary_protocol::library::Event;

use super::listing;
use super::state::{LibraryService, Output, Send};
use crate::repository::{EpisodeStore, Held, Item};
use crate::source::Source;

/// Shows episodes, each with the file that holds its native text. They replace what is known under their ids.
pub(crate) async fn show(
    library: &LibraryService,
    rows: Vec<Row>,
    texts: Vec<Rc<dyn Source>>,
    send: Send<'_>,
) {
    // Noted before the first text is read: the page may store an episode meanwhile.
    let ids = rows.iter().map(|row| row.id.clone());
    library.unstored.borrow_mut().extend(ids);
    for (row, text) in rows.into_iter().zip(texts) {
        let Some(text) = text_of(&*text).await else {
            continue;
        };
        listing::loaded(library).await;
        if !library.unstored.borrow().contains(&row.id) {
            continue;
        }
        let item = Item {
            row: row.clone(),
            held: Held::Text(text),
            again: None,
            is_new: false,
        };
        // A store in memory takes everything that may replace another episode.
        let _ = library.in_memory.keep(vec![item]).await;
        library.remember(&row, None);
        library.search.changed(&row.id);
        let rows = vec![row];
        send(Output::Event(Event::Changed { rows }));
    }
}

/// The text of a file; `None` if the browser cannot read it any more.
async fn text_of(file: &dyn Source) -> Option<String> {
    let bytes = file.read(0..file.size()).await.ok()?;
    String::from_utf8(bytes).ok()
}

/// Forgets the copies of episodes that are stored now. Tags that were given meanwhile move to the stored ones.
pub(super) async fn stored(library: &LibraryService, ids: &[Text]) {
    let taken = |id: &&Text| library.unstored.borrow_mut().remove(*id);
    let ids: Vec<Text> = ids.iter().filter(taken).cloned().collect();
    let copies = library.in_memory.rows_of(&ids).await;
    library.in_memory.forget(&ids).await;
    let mut tagged = Vec::new();
    for (copy, _) in copies {
        let Some((mut row, _)) = library.store.row(&copy.id).await else {
            continue;
        };
        let before = row.tags.len();
        let new = copy.tags.into_iter();
        let new: Vec<Text> = new.filter(|tag| !row.tags.contains(tag)).collect();
        row.tags.extend(new);
        if row.tags.len() > before {
            tagged.push(row);
        }
    }
    if !tagged.is_empty() {
        // Without space for the tags, the episode itself is still stored.
        let _ = library.store.label(tagged).await;
    }
}
