//! Resolves links between the episodes of one import: file names become ids, and each link gets its inverse.
//!
//! Invariants: links only contain ids; nothing follows them here, so cycles are harmless.

use std::collections::{HashMap, HashSet};

use volary_core::json::Text;
use volary_episode::episode::{Episode, Link, Relation};

/// Resolves the links of all episodes.
pub fn resolve(episodes: &mut [Episode]) {
    if episodes.iter().all(|episode| episode.links.is_empty()) {
        return;
    }
    let indices = indices(episodes);
    let ids: Vec<Text> = episodes.iter().map(|episode| episode.id.clone()).collect();
    let mut back: Vec<(usize, Link)> = Vec::new();
    for (from, episode) in episodes.iter_mut().enumerate() {
        let file = file_of(episode);
        for link in &mut episode.links {
            let Some(index) = find(&indices, &file, link).filter(|index| *index != from) else {
                continue;
            };
            link.episode = ids[index].clone();
            let relation = inverse(link.relation);
            let step = link.step.filter(|_| relation == Relation::Branch);
            let episode = ids[from].clone();
            back.push((
                index,
                Link {
                    relation,
                    episode,
                    step,
                },
            ));
        }
    }
    let mut known: HashSet<(usize, Relation, Text)> = HashSet::new();
    for (index, episode) in episodes.iter().enumerate() {
        let links = episode.links.iter();
        known.extend(links.map(|link| (index, link.relation, link.episode.clone())));
    }
    for (index, link) in back {
        if known.insert((index, link.relation, link.episode.clone())) {
            episodes[index].links.push(link);
        }
    }
}

/// The indices of the episodes that belong to another one: those that link to a parent or predecessor, and those that
/// are linked as a subagent or continuation.
pub(super) fn followers(episodes: &[Episode]) -> HashSet<usize> {
    let indices = indices(episodes);
    let mut followers = HashSet::new();
    for (from, episode) in episodes.iter().enumerate() {
        let file = file_of(episode);
        for link in &episode.links {
            match link.relation {
                Relation::Parent | Relation::Predecessor => followers.insert(from),
                Relation::Subagent | Relation::Continuation => {
                    let other = find(&indices, &file, link).filter(|index| *index != from);
                    other.is_some_and(|index| followers.insert(index))
                }
                Relation::Branch => false,
            };
        }
    }
    followers
}

/// The indices of episodes by id and by file.
fn indices(episodes: &[Episode]) -> HashMap<Text, usize> {
    let mut indices: HashMap<Text, usize> = HashMap::new();
    for (index, episode) in episodes.iter().enumerate() {
        indices.entry(episode.id.clone()).or_insert(index);
        if let Some(source) = &episode.source
            && !source.file.is_empty()
        {
            indices.entry(source.file.clone()).or_insert(index);
        }
    }
    indices
}

fn file_of(episode: &Episode) -> Text {
    let file = episode.source.as_ref().map(|source| source.file.clone());
    file.unwrap_or_default()
}

/// The index of a linked episode, by its id or by its file.
fn find(indices: &HashMap<Text, usize>, file: &str, link: &Link) -> Option<usize> {
    let beside = beside(file, &link.episode);
    let index = indices.get(&link.episode).or_else(|| indices.get(&*beside));
    index.copied()
}

/// The inverse relation.
fn inverse(relation: Relation) -> Relation {
    match relation {
        Relation::Parent => Relation::Subagent,
        Relation::Subagent => Relation::Parent,
        Relation::Predecessor => Relation::Continuation,
        Relation::Continuation => Relation::Predecessor,
        Relation::Branch => Relation::Branch,
    }
}

/// The path of a file that another file refers to.
fn beside(file: &str, name: &str) -> String {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let name = name.strip_prefix("./").unwrap_or(name);
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use volary_episode::episode::Source;

    use super::*;

    fn episode(id: &str, file: &str, relation: Relation, other: &str) -> Episode {
        Episode {
            id: id.into(),
            source: Some(Source {
                file: file.into(),
                ..Source::default()
            }),
            links: vec![Link {
                relation,
                episode: other.into(),
                step: Some(3),
            }],
            ..Episode::default()
        }
    }

    #[test]
    fn both_ends_know_each_other() {
        let mut episodes = [
            episode("a", "run/one.json", Relation::Continuation, "two.json"),
            episode("b", "run/two.json", Relation::Subagent, "nowhere"),
            episode("c", "run/three.json", Relation::Branch, "c"),
        ];
        resolve(&mut episodes);
        let told: Vec<Vec<(Relation, &str)>> = episodes
            .iter()
            .map(|episode| {
                let links = episode.links.iter();
                links.map(|link| (link.relation, &*link.episode)).collect()
            })
            .collect();
        assert_eq!(
            told,
            [
                vec![(Relation::Continuation, "b")],
                vec![
                    (Relation::Subagent, "nowhere"),
                    (Relation::Predecessor, "a")
                ],
                vec![(Relation::Branch, "c")],
            ]
        );
    }
}
