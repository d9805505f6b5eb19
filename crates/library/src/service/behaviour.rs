//! What agents do in many episodes: signatures, clusters and rules.
//!
//! The signature of an episode is computed once, when it is first needed, because that reads the episode. Long work reports
//! its progress, and ends without an answer once it is cancelled.

use std::collections::HashMap;
use std::time::Duration;

use volary_analysis::behaviour::acts::{Act, acts};
use volary_analysis::behaviour::clusters::{self, Parting, parting};
use volary_analysis::behaviour::distinctive::distinctive_words;
use volary_analysis::behaviour::rules::{Rule, matches_of};
use volary_analysis::behaviour::signature::{Alphabet, Signature};
use volary_core::json::Text;
use volary_episode::Episode;
use volary_episode::passages::content;
use volary_protocol::RequestId;
use volary_protocol::behaviour::{
    BehaviourCluster, ClusterParting, ClusterReport, JudgedEpisode, RuleHit, SignatureSet,
};
use volary_protocol::library::Event;

use super::state::{LibraryService, Output, Send};
use super::{finding, listing};

/// The number of episodes between two reports.
const REPORTED: usize = 100;
/// The number of bytes of an error or an answer of which the words count.
const MOST_WORDS: usize = 600;
/// The number of distinctive words of a cluster.
const DISTINCTIVE: usize = 6;
/// The number of acts of the typical episode of a cluster that are shown.
const SHOWN_ACTS: usize = 40;

/// What is known of the behaviour in episodes.
#[derive(Default)]
pub(super) struct KnownBehaviour {
    alphabet: Alphabet,
    of: HashMap<Text, EpisodeBehaviour>,
}

#[derive(Clone)]
struct EpisodeBehaviour {
    signature: Signature,
    /// Its last error, otherwise its last answer.
    last_text: Text,
}

impl KnownBehaviour {
    fn add(&mut self, id: &Text, episode: &Episode) {
        let acts = acts(episode);
        let behaviour = EpisodeBehaviour {
            signature: Signature::of(&acts, &mut self.alphabet),
            last_text: last_text(episode, &acts),
        };
        self.of.insert(id.clone(), behaviour);
    }

    /// Forgets an episode, which was changed or deleted.
    pub(super) fn remove(&mut self, id: &Text) {
        self.of.remove(id);
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.of.len()
    }
}

fn last_text(episode: &Episode, acts: &[Act<'_>]) -> Text {
    let failed = acts.iter().rev().find(|act| act.error.is_some());
    let error = failed.and_then(|act| act.result.as_deref());
    match error {
        Some(error) => cut(error),
        None => {
            let last = episode.steps.last();
            last.map_or_else(Text::default, |step| cut(&content(step.action.body())))
        }
    }
}

fn cut(text: &str) -> Text {
    let end = text.floor_char_boundary(MOST_WORDS);
    text.get(..end).unwrap_or(text).into()
}

/// Counts episodes, and reports how many of all were read.
struct Progress<'a> {
    library: &'a LibraryService,
    number: RequestId,
    all: usize,
    doing: &'static str,
    send: Send<'a>,
}

impl Progress<'_> {
    /// Called before each episode. Returns false once the request is cancelled.
    async fn goes_on(&self, done: usize) -> bool {
        if done > 0 && done.is_multiple_of(REPORTED) {
            (self.send)(Output::Event(Event::Progress {
                doing: format!("{} {done} of {}", self.doing, self.all).into(),
                done: Some(done as f64 / self.all as f64),
            }));
            // Other requests are handled meanwhile, such as the one that cancels this.
            self.library.clock.sleep(Duration::ZERO).await;
        }
        !self.library.cancelled.has(self.number)
    }
}

/// Computes missing signatures. Returns false if the request was cancelled.
async fn read_all(
    library: &LibraryService,
    number: RequestId,
    ids: impl ExactSizeIterator<Item = &Text>,
    send: Send<'_>,
) -> bool {
    listing::ready(library).await;
    let progress = Progress {
        library,
        number,
        all: ids.len(),
        doing: "Reading",
        send,
    };
    for (index, id) in ids.enumerate() {
        if !progress.goes_on(index).await {
            library.cancelled.remove(number);
            return false;
        }
        let is_known = library.behaviour.borrow().of.contains_key(id);
        if !is_known && let Some(episode) = read(library, id).await {
            library.behaviour.borrow_mut().add(id, &episode);
        }
    }
    true
}

/// Reads an episode; `None` if it cannot be opened.
async fn read(library: &LibraryService, id: &Text) -> Option<Episode> {
    let known = library.known_episode(id)?;
    finding::searched(library, id, &known).await.ok()
}

/// Sends the signatures of episodes.
pub(super) async fn signatures(
    library: &LibraryService,
    number: RequestId,
    ids: &[Text],
    send: Send<'_>,
) {
    if !read_all(library, number, ids.iter(), send).await {
        return;
    }
    let known = library.behaviour.borrow();
    let mut alphabet = Alphabet::default();
    let signatures = ids.iter().map(|id| {
        let known_one = known.of.get(id)?;
        Some(
            known_one
                .signature
                .translated(&known.alphabet, &mut alphabet),
        )
    });
    let signatures = signatures.collect();
    send(Output::Event(Event::Signatures(SignatureSet {
        alphabet,
        signatures,
    })));
}

/// Sends the clusters of episodes.
pub(super) async fn clusters(
    library: &LibraryService,
    number: RequestId,
    episodes: &[JudgedEpisode],
    send: Send<'_>,
) {
    if !read_all(library, number, episodes.iter().map(|one| &one.id), send).await {
        return;
    }
    let known = library.behaviour.borrow();
    send(Output::Event(Event::Clusters(report(&known, episodes))));
}

fn report(known: &KnownBehaviour, episodes: &[JudgedEpisode]) -> ClusterReport {
    let read: Vec<(&JudgedEpisode, &EpisodeBehaviour)> = episodes
        .iter()
        .filter_map(|one| Some((one, known.of.get(&one.id)?)))
        .collect();
    let signatures: Vec<Signature> = read.iter().map(|(_, one)| one.signature.clone()).collect();
    let succeeded: Vec<Option<bool>> = read.iter().map(|(one, _)| one.succeeded).collect();
    let found = clusters::clusters(&signatures, &succeeded, &known.alphabet);
    let texts: Vec<Vec<&str>> = found
        .iter()
        .map(|cluster| {
            let rows = cluster.rows.iter().filter_map(|row| read.get(*row));
            rows.map(|(_, one)| &*one.last_text).collect()
        })
        .collect();
    let words = distinctive_words(&texts, DISTINCTIVE);
    let typical: Vec<&Signature> = found
        .iter()
        .filter_map(|cluster| signatures.get(cluster.medoid))
        .collect();
    let id_of = |row: &usize| read.get(*row).map(|(one, _)| one.id.clone());
    let clusters = found.iter().zip(words).enumerate();
    let clusters = clusters.map(|(index, (cluster, words))| BehaviourCluster {
        name: cluster.name.as_str().into(),
        ids: cluster.rows.iter().filter_map(id_of).collect(),
        typical: id_of(&cluster.medoid).unwrap_or_default(),
        sequence: typical
            .get(index)
            .map(|signature| sequence(signature, &known.alphabet))
            .unwrap_or_default(),
        succeeded: cluster.succeeded as u64,
        judged: cluster.judged as u64,
        words: words.into_iter().map(Text::from).collect(),
        parting: parting_of(index, &typical, &known.alphabet),
    });
    ClusterReport {
        clusters: clusters.collect(),
        unread: (episodes.len() - read.len()) as u64,
    }
}

fn sequence(signature: &Signature, alphabet: &Alphabet) -> Text {
    let shown = |numbers: &[u32]| numbers.iter().take(SHOWN_ACTS).copied().collect();
    let mut text = Signature {
        symbols: shown(&signature.symbols),
        counts: shown(&signature.counts),
        steps: shown(&signature.steps),
    }
    .to_text(alphabet);
    if signature.symbols.len() > SHOWN_ACTS {
        text.push_str(" → …");
    }
    text.into()
}

/// Where a cluster parts from the one that begins most alike; of several, from the largest.
fn parting_of(index: usize, typical: &[&Signature], alphabet: &Alphabet) -> Option<ClusterParting> {
    /// Small clusters are not compared: there may be thousands.
    const COMPARED: usize = 200;
    let own = typical.get(index)?;
    let shared = |other: &Signature| {
        let pairs = own.symbols.iter().zip(&other.symbols);
        pairs.take_while(|(one, other)| one == other).count()
    };
    let others = typical.iter().take(COMPARED).enumerate();
    let others = others.filter(|(other, _)| *other != index);
    let (from, other) =
        others.max_by_key(|(other, signature)| (shared(signature), std::cmp::Reverse(*other)))?;
    let Parting {
        common,
        one,
        other: there,
    } = parting(own, other, alphabet);
    let act = |act: Option<(usize, String)>| act.map(|(step, name)| (step as u64, name.into()));
    Some(ClusterParting {
        from: from as u64,
        common: common.into_iter().map(Text::from).collect(),
        here: act(one),
        there: act(there),
    })
}

/// Sends in which episodes rules hold.
pub(super) async fn match_rules(
    library: &LibraryService,
    number: RequestId,
    rules: &[Rule],
    ids: &[Text],
    send: Send<'_>,
) {
    listing::ready(library).await;
    let progress = Progress {
        library,
        number,
        all: ids.len(),
        doing: "Checking",
        send,
    };
    let mut matches = vec![Vec::new(); rules.len()];
    for (index, id) in ids.iter().enumerate() {
        if !progress.goes_on(index).await {
            library.cancelled.remove(number);
            return;
        }
        let Some(episode) = read(library, id).await else {
            continue;
        };
        let acts = acts(&episode);
        for (rule, hits) in rules.iter().zip(&mut matches) {
            let first = matches_of(rule, &episode, &acts).into_iter().next();
            hits.extend(first.map(|found| RuleHit {
                row: u32::try_from(index).unwrap_or(u32::MAX),
                step: u32::try_from(found.step).unwrap_or(u32::MAX),
            }));
        }
    }
    send(Output::Event(Event::RuleMatches { matches }));
}

#[cfg(test)]
mod tests;
