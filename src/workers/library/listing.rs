//! What there is: learnt once from the store, and from other pages as it changes there.

use volary_core::json::Text;
use volary_protocol::library::Event;
use volary_trajectory::table::Row;
use volary_trajectory::table::order::newest_first;

use super::{BATCH, LibraryService, Output, Send};
use crate::library::repository::EpisodeStore;
use crate::projection::notice::Notice;
use crate::storage::change_feed::ChangedEpisodes;

impl LibraryService {
    /// Another page, or this one, changed what is stored.
    pub async fn hear(&self, changed: ChangedEpisodes, send: Send<'_>) {
        for start in &changed.gone_from {
            self.hear_forgotten(start, send).await;
        }
        self.hear_gone(&changed.gone, send).await;
        self.hear_kept(&changed.kept, send).await;
    }

    /// Another page, or this one, kept episodes: they are shown.
    pub async fn hear_kept(&self, ids: &[Text], send: Send<'_>) {
        self.loaded().await;
        if !self.known.borrow().is_whole {
            // They will be listed with all others.
            return;
        }
        let mut rows = Vec::new();
        for (row, place) in self.store.rows_of(ids).await {
            self.remember(&row, place);
            self.indexed.borrow_mut().remove(&row.id);
            rows.push(row);
        }
        send(Output::Event(Event::Changed { rows }));
    }

    /// Another page, or this one, forgot the episodes whose ids begin so.
    pub async fn hear_forgotten(&self, start: &str, send: Send<'_>) {
        self.loaded().await;
        let gone: Vec<Text> = {
            let known = self.known.borrow();
            let gone = known.episodes.keys().filter(|id| id.starts_with(start));
            gone.cloned().collect()
        };
        self.hear_gone(&gone, send).await;
    }

    /// Another page forgot episodes.
    pub async fn hear_gone(&self, ids: &[Text], send: Send<'_>) {
        self.loaded().await;
        let gone = ids.iter().filter(|id| self.lose(id).is_some());
        let ids: Vec<Text> = gone.cloned().collect();
        if !ids.is_empty() {
            send(Output::Event(Event::Gone { ids }));
        }
    }

    pub(super) async fn list(&self, send: Send<'_>) {
        let mut rows = self.load().await.unwrap_or_else(|reason| {
            let reason = reason.into();
            send(Output::Event(Event::NotRead { reason }));
            Vec::new()
        });
        // They are in memory, where all can be read.
        let guests = self.guests.rows().await.unwrap_or_default();
        rows.extend(guests.into_iter().map(|(row, _)| row));
        rows.sort_by(newest_first);
        for rows in rows.chunks(BATCH) {
            let rows = rows.to_vec();
            send(Output::Event(Event::Added { rows }));
        }
        if let Some(Notice { what, why, advice }) = self.store.notice() {
            let [what, why, advice] = [what, why, advice].map(Text::from);
            send(Output::Event(Event::Notice { what, why, advice }));
        }
        send(Output::Event(Event::Listed));
    }

    /// Learns what was kept before; gives the rows, or why they can't be read. Nobody waits for them after that.
    async fn load(&self) -> Result<Vec<Row>, String> {
        self.has_asked.set(true);
        let rows = self.store.rows().await;
        for (row, place) in rows.iter().flatten() {
            self.remember(row, place.clone());
        }
        self.known.borrow_mut().is_whole = true;
        self.in_flight.notify();
        Ok(rows?.into_iter().map(|(row, _)| row).collect())
    }

    /// Knows all episodes from here on.
    pub(super) async fn ready(&self) {
        self.loaded().await;
        if !self.known.borrow().is_whole {
            // Why they can't be read is said to who wants the list.
            let _ = self.load().await;
        }
    }

    /// Waits for the store if it is being asked for all. What is heard meanwhile is heard after that: the store may
    /// have answered before it was so.
    async fn loaded(&self) {
        while self.has_asked.get() && !self.known.borrow().is_whole {
            let state = self.in_flight.state();
            self.in_flight.changed(state).await;
        }
    }
}
