//! Groups of episodes with similar signatures.
//!
//! Up to [`LINKED`] rows, by average linkage over the overlap of their sequences of three acts; more rows by leaders: a row joins
//! the first leader that is similar enough, by MinHash. Equal signatures count once, with their number.
//!
//! Invariants: each row is in exactly one cluster; the result does not depend on anything but the rows and their order; larger
//! clusters come first.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::signature::{Alphabet, Signature, mix};

/// The number of different signatures up to which all pairs are compared.
pub const LINKED: usize = 2_000;
/// The similarity from which rows belong together.
pub const SIMILAR: f64 = 0.4;
/// The number of hashes of a MinHash.
const HASHES: usize = 48;

/// Similar rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Their indices, in ascending order.
    pub rows: Vec<usize>,
    /// The row that is most similar to the others.
    pub medoid: usize,
    /// The longest sequence of acts that nearly all have; empty if they share none.
    pub name: String,
    /// Rows that succeeded, of those of which it is known.
    pub succeeded: usize,
    pub judged: usize,
}

impl Cluster {
    /// The share of successes; `None` if none is known.
    pub fn success_rate(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.succeeded as f64 / self.judged as f64)
    }
}

/// Where two clusters part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The acts that both begin with.
    pub common: Vec<String>,
    /// The step and the act with which each goes on; `None` if it ends.
    pub one: Option<(usize, String)>,
    pub other: Option<(usize, String)>,
}

/// The clusters of rows. `succeeded` tells for each row whether it succeeded, if known.
pub fn clusters(
    signatures: &[Signature],
    succeeded: &[Option<bool>],
    alphabet: &Alphabet,
) -> Vec<Cluster> {
    // Equal signatures are one item.
    let mut items: Vec<(&Signature, Vec<usize>)> = Vec::new();
    let mut known: HashMap<&[u32], usize> = HashMap::new();
    for (row, signature) in signatures.iter().enumerate() {
        let item = *known.entry(&signature.symbols).or_insert_with(|| {
            items.push((signature, Vec::new()));
            items.len() - 1
        });
        if let Some((_, rows)) = items.get_mut(item) {
            rows.push(row);
        }
    }
    let grams: Vec<Vec<u64>> = items
        .iter()
        .map(|(signature, _)| signature.grams())
        .collect();
    let sizes: Vec<f64> = items.iter().map(|(_, rows)| rows.len() as f64).collect();
    let groups = if items.len() <= LINKED {
        linked(&grams, &sizes)
    } else {
        led(&grams)
    };
    let mut clusters: Vec<Cluster> = groups
        .into_iter()
        .map(|group| cluster(&group, &items, &grams, succeeded, alphabet))
        .collect();
    clusters.sort_by(|one, other| {
        other
            .rows
            .len()
            .cmp(&one.rows.len())
            .then(one.rows.cmp(&other.rows))
    });
    clusters
}

/// The share of sequences that two sorted lists have in common (Jaccard).
fn similarity(one: &[u64], other: &[u64]) -> f64 {
    let (mut at, mut shared) = (0, 0_usize);
    for gram in one {
        while other.get(at).is_some_and(|known| known < gram) {
            at += 1;
        }
        if other.get(at) == Some(gram) {
            shared += 1;
            at += 1;
        }
    }
    let all = one.len() + other.len() - shared;
    if all == 0 {
        1.0
    } else {
        shared as f64 / all as f64
    }
}

/// Average linkage by chains of nearest neighbours: the pair at the end of a chain is merged, which gives the same clusters as
/// always merging the most similar pair.
fn linked(grams: &[Vec<u64>], sizes: &[f64]) -> Vec<Vec<usize>> {
    let count = grams.len();
    let mut matrix = vec![0_f32; count * count];
    for one in 0..count {
        for other in 0..one {
            let value = similarity(&grams[one], &grams[other]) as f32;
            matrix[one * count + other] = value;
            matrix[other * count + one] = value;
        }
    }
    let mut sizes = sizes.to_vec();
    let mut members: Vec<Option<Vec<usize>>> = (0..count).map(|item| Some(vec![item])).collect();
    let mut done = vec![false; count];
    let mut chain: Vec<usize> = Vec::new();
    let mut start = 0;
    loop {
        if chain.is_empty() {
            while start < count && (done[start] || members[start].is_none()) {
                start += 1;
            }
            if start == count {
                break;
            }
            chain.push(start);
        }
        let Some(last) = chain.last().copied() else {
            break;
        };
        let before = chain.len().checked_sub(2).map(|index| chain[index]);
        let mut best: Option<(usize, f32)> = None;
        for other in 0..count {
            if other == last || done[other] || members[other].is_none() {
                continue;
            }
            let value = matrix[last * count + other];
            let is_better = match best {
                None => true,
                // Of equal ones, the one before in the chain, so that chains end.
                Some((_, known)) => value > known || (value == known && Some(other) == before),
            };
            if is_better {
                best = Some((other, value));
            }
        }
        match best {
            Some((other, value)) if f64::from(value) >= SIMILAR => {
                if Some(other) != before {
                    chain.push(other);
                    continue;
                }
                chain.truncate(chain.len() - 2);
                let (into, from) = (other.min(last), other.max(last));
                let (into_size, from_size) = (sizes[into] as f32, sizes[from] as f32);
                for third in 0..count {
                    let mean = (matrix[into * count + third] * into_size
                        + matrix[from * count + third] * from_size)
                        / (into_size + from_size);
                    matrix[into * count + third] = mean;
                    matrix[third * count + into] = mean;
                }
                sizes[into] += sizes[from];
                if let (Some(moved), Some(into)) = (members[from].take(), members[into].as_mut()) {
                    into.extend(moved);
                }
            }
            _ => {
                // Nothing is similar enough to it, so it is a cluster: later merges bring nothing nearer on average.
                done[last] = true;
                chain.pop();
            }
        }
    }
    members.into_iter().flatten().collect()
}

/// Leaders: in the order of the rows, so that the same rows give the same clusters.
fn led(grams: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let mut leaders: Vec<([u64; HASHES], usize, Vec<usize>)> = Vec::new();
    let least = (SIMILAR * HASHES as f64).ceil() as usize;
    for (item, own) in grams.iter().enumerate() {
        let hash = min_hash(own);
        let same = |leader: &[u64; HASHES]| {
            leader
                .iter()
                .zip(&hash)
                .filter(|(one, other)| one == other)
                .count()
        };
        let found = leaders
            .iter()
            .enumerate()
            .filter_map(|(index, (leader, first, _))| {
                // The estimate decides what is compared exactly.
                let near = same(leader) + 8 >= least;
                let value = if near {
                    similarity(own, &grams[*first])
                } else {
                    0.0
                };
                (value >= SIMILAR).then_some((index, value))
            });
        let best = found.fold(None, |best: Option<(usize, f64)>, next| match best {
            Some((_, value)) if value >= next.1 => best,
            _ => Some(next),
        });
        match best.and_then(|(index, _)| leaders.get_mut(index)) {
            Some((_, _, members)) => members.push(item),
            None => leaders.push((hash, item, vec![item])),
        }
    }
    leaders.into_iter().map(|(_, _, members)| members).collect()
}

fn min_hash(grams: &[u64]) -> [u64; HASHES] {
    let mut least = [u64::MAX; HASHES];
    for gram in grams {
        let mut value = *gram;
        for known in &mut least {
            value = mix(value);
            *known = (*known).min(value);
        }
    }
    least
}

fn cluster(
    group: &[usize],
    items: &[(&Signature, Vec<usize>)],
    grams: &[Vec<u64>],
    succeeded: &[Option<bool>],
    alphabet: &Alphabet,
) -> Cluster {
    /// The number of items that are compared for the medoid and the name.
    const COMPARED: usize = 100;
    let compared: Vec<usize> = group.iter().copied().take(COMPARED).collect();
    let nearness = |item: usize| -> f64 {
        let others = compared
            .iter()
            .map(|other| similarity(&grams[item], &grams[*other]) * items[*other].1.len() as f64);
        others.sum()
    };
    let mut medoid = compared.first().copied().unwrap_or_default();
    let mut best = f64::MIN;
    for item in &compared {
        let value = nearness(*item);
        if value > best {
            (medoid, best) = (*item, value);
        }
    }
    let sequences: Vec<&[u32]> = compared
        .iter()
        .map(|item| items[*item].0.symbols.as_slice())
        .collect();
    let common = longest_common(&items[medoid].0.symbols, &sequences);
    let name: Vec<&str> = common.iter().map(|symbol| alphabet.name(*symbol)).collect();
    let mut rows: Vec<usize> = group
        .iter()
        .flat_map(|item| items[*item].1.iter().copied())
        .collect();
    rows.sort_unstable();
    let known = || {
        rows.iter()
            .filter_map(|row| succeeded.get(*row).copied().flatten())
    };
    Cluster {
        medoid: items[medoid].1.first().copied().unwrap_or_default(),
        name: name.join(" → "),
        succeeded: known().filter(|success| *success).count(),
        judged: known().count(),
        rows,
    }
}

/// The longest run of a sequence that nine of ten others contain.
fn longest_common<'a>(sequence: &'a [u32], others: &[&[u32]]) -> &'a [u32] {
    const LONGEST: usize = 12;
    /// The beginning of very long sequences is compared.
    const COMPARED: usize = 1_000;
    let sequence = sequence.get(..COMPARED).unwrap_or(sequence);
    let needed = others.len() - others.len() / 10;
    for length in (1..=sequence.len().min(LONGEST)).rev() {
        let runs = others.iter().map(|other| {
            let other = other.get(..COMPARED).unwrap_or(other);
            other.windows(length).collect::<HashSet<_>>()
        });
        let mut counts: HashMap<&[u32], usize> = HashMap::new();
        for run in runs.flatten() {
            *counts.entry(run).or_default() += 1;
        }
        let is_common = |run: &&[u32]| counts.get(run).is_some_and(|count| *count >= needed);
        if let Some(run) = sequence.windows(length).find(is_common) {
            return run;
        }
    }
    &[]
}

/// Where the typical rows of two clusters part.
pub fn parting(one: &Signature, other: &Signature, alphabet: &Alphabet) -> Parting {
    let pairs = one.symbols.iter().zip(&other.symbols);
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let next = |signature: &Signature| {
        let symbol = signature.symbols.get(shared)?;
        let step = signature.steps.get(shared)?;
        Some((*step as usize, alphabet.name(*symbol).to_owned()))
    };
    let common = one.symbols.iter().take(shared);
    Parting {
        common: common
            .map(|symbol| alphabet.name(*symbol).to_owned())
            .collect(),
        one: next(one),
        other: next(other),
    }
}

/// The row of each cluster's number, for tables: the cluster of each row.
pub fn cluster_of_rows(clusters: &[Cluster]) -> BTreeMap<usize, usize> {
    let numbered = clusters.iter().enumerate();
    numbered
        .flat_map(|(number, cluster)| cluster.rows.iter().map(move |row| (*row, number)))
        .collect()
}

#[cfg(test)]
mod tests {
    use volary_core::random::Random;
    use volary_core::tool::ToolCall;
    use volary_core::{AnyMessage, ToolRequestMessage, object};
    use volary_episode::episode::{Episode, Outcome, StepRecord};

    use super::*;
    use crate::behaviour::acts::acts;

    fn signature(names: &[&str], alphabet: &mut Alphabet) -> Signature {
        let steps = names.iter().map(|name| {
            let action = ToolRequestMessage {
                tool_calls: vec![ToolCall::new("c", *name, object!({}))],
                ..ToolRequestMessage::default()
            };
            let outcome = Outcome::Observed {
                messages: Vec::new(),
                reward: 0.0,
                done: false,
                truncated: false,
            };
            StepRecord::new(AnyMessage::Request(action), outcome)
        });
        let episode = Episode {
            steps: steps.collect(),
            ..Episode::default()
        };
        Signature::of(&acts(&episode), alphabet)
    }

    #[test]
    fn similar_behaviour_is_one_cluster() {
        let mut alphabet = Alphabet::default();
        let mut of = |names: &str| signature(&names.split(' ').collect::<Vec<_>>(), &mut alphabet);
        let rows = [
            of("look find open edit test submit"),
            of("look look find open edit test test submit"),
            of("look find open edit test test edit submit"),
            of("ask ask ask give_up"),
            of("ask give_up"),
            of("look find open edit test submit"),
        ];
        let succeeded = [
            Some(true),
            Some(true),
            None,
            Some(false),
            Some(false),
            Some(true),
        ];
        let clusters = clusters(&rows, &succeeded, &alphabet);
        let told: Vec<_> = clusters
            .iter()
            .map(|cluster| (cluster.rows.as_slice(), cluster.success_rate()))
            .collect();
        assert_eq!(told, [(&[0, 1, 2, 5][..], Some(1.0)), (&[3, 4], Some(0.0))]);
        assert_eq!(clusters[0].name, "look → find → open → edit → test");
        let parting = parting(&rows[0], &rows[3], &alphabet);
        assert_eq!(parting.common, Vec::<String>::new());
        assert_eq!(parting.one, Some((1, "look".to_owned())));
        assert_eq!(
            rows[1].to_text(&alphabet),
            "look ×2 → find → open → edit → test ×2 → submit"
        );
    }

    #[test]
    fn every_row_is_in_one_cluster_with_both_methods() {
        let mut random = Random::new(3);
        let mut alphabet = Alphabet::default();
        let names: Vec<String> = (0..8).map(|number| format!("tool{number}")).collect();
        let rows: Vec<Signature> = (0..300)
            .map(|row| {
                // Three kinds of behaviour, with noise.
                let kind = row % 3;
                let acts: Vec<&str> = (0..12)
                    .map(|step| {
                        let usual = (kind * 3 + step * (kind + 1)) % 8;
                        let index = if random.below(12) == 0 {
                            random.below(8) as usize
                        } else {
                            usual
                        };
                        names[index].as_str()
                    })
                    .collect();
                signature(&acts, &mut alphabet)
            })
            .collect();
        let grams: Vec<Vec<u64>> = rows.iter().map(Signature::grams).collect();
        for groups in [linked(&grams, &vec![1.0; grams.len()]), led(&grams)] {
            let mut all: Vec<usize> = groups.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..300).collect::<Vec<_>>());
            // Kinds are rarely mixed in the large groups.
            for group in groups.iter().filter(|group| group.len() > 20) {
                let kinds: std::collections::BTreeSet<usize> =
                    group.iter().map(|row| row % 3).collect();
                assert_eq!(kinds.len(), 1);
            }
        }
    }
}
