//! Forks: episodes that continue another one differently from one of its steps.
//!
//! Forks of forks, and forks of the same episode, belong to one family.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use volary_core::json::Text;
use volary_episode::episode::{Episode, Relation};

use super::Row;

/// A member of the family of an episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Relative {
    /// The table row of the member.
    pub row: Arc<Row>,
    /// Its relation to the episode.
    pub kinship: Kinship,
}

/// The relation of a row to an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// The episode was forked from it, after this step.
    Origin(Option<u64>),
    /// It was forked from the episode, after this step.
    Fork(Option<u64>),
    /// Both descend from a common ancestor.
    Sibling,
}

/// The origin of a forked episode, and the last step that both share.
pub fn origin(episode: &Episode) -> Option<(Text, Option<u64>)> {
    let mut links = episode.links.iter();
    let link = links.find(|link| link.relation == Relation::Branch)?;
    Some((link.episode.clone(), link.step.map(|step| step as u64)))
}

/// All rows of an episode's family except its own: origins first, then its forks, then the others, each in row order.
/// `own` is the origin recorded in the episode itself, for an episode without a row.
pub fn family(rows: &[Arc<Row>], id: &str, own: Option<&(Text, Option<u64>)>) -> Vec<Relative> {
    let known: BTreeMap<&str, &Arc<Row>> = rows.iter().map(|row| (&*row.id, row)).collect();
    let own = known.get(id).and_then(|row| row.fork_of.as_ref()).or(own);
    let mut members = BTreeSet::from([id]);
    members.extend(own.map(|(origin, _)| &**origin));
    // Links lead only from a fork to its origin, so the others are found by iteration. Families are small.
    loop {
        let before = members.len();
        for row in rows {
            if let Some((origin, _)) = &row.fork_of {
                let (row, origin): (&str, &str) = (&row.id, origin);
                if members.contains(row) || members.contains(origin) {
                    members.extend([row, origin]);
                }
            }
        }
        if members.len() == before {
            break;
        }
    }
    let relatives = rows
        .iter()
        .filter(|row| *row.id != *id && members.contains(&*row.id));
    let mut relatives: Vec<Relative> = relatives
        .map(|row| {
            let kinship = match (&row.fork_of, own) {
                (_, Some((origin, step))) if *origin == row.id => Kinship::Origin(*step),
                (Some((origin, step)), _) if **origin == *id => Kinship::Fork(*step),
                _ => Kinship::Sibling,
            };
            Relative {
                row: row.clone(),
                kinship,
            }
        })
        .collect();
    relatives.sort_by_key(|relative| match relative.kinship {
        Kinship::Origin(_) => 0,
        Kinship::Fork(_) => 1,
        Kinship::Sibling => 2,
    });
    relatives
}

#[cfg(test)]
mod tests {
    use volary_episode::episode::Link;

    use super::*;

    fn rows(of: &[(&str, Option<(&str, u64)>)]) -> Vec<Arc<Row>> {
        let rows = of.iter().map(|(id, origin)| {
            Arc::new(Row {
                id: (*id).into(),
                fork_of: origin.map(|(id, step)| (id.into(), Some(step))),
                ..Row::default()
            })
        });
        rows.collect()
    }

    fn told(
        rows: &[Arc<Row>],
        id: &str,
        own: Option<&(Text, Option<u64>)>,
    ) -> Vec<(String, Kinship)> {
        let family = family(rows, id, own).into_iter();
        family
            .map(|one| (one.row.id.to_string(), one.kinship))
            .collect()
    }

    #[test]
    fn a_family_has_origins_forks_and_their_forks() {
        let rows = rows(&[
            ("alone", None),
            ("deep", Some(("b", 3))),
            ("a", Some(("root", 1))),
            ("b", Some(("root", 2))),
            ("root", None),
        ]);
        assert_eq!(told(&rows, "alone", None), []);
        assert_eq!(
            told(&rows, "root", None),
            [
                ("a".into(), Kinship::Fork(Some(1))),
                ("b".into(), Kinship::Fork(Some(2))),
                ("deep".into(), Kinship::Sibling),
            ]
        );
        assert_eq!(
            told(&rows, "b", None),
            [
                ("root".into(), Kinship::Origin(Some(2))),
                ("deep".into(), Kinship::Fork(Some(3))),
                ("a".into(), Kinship::Sibling),
            ]
        );
        // A fork that is not stored yet.
        let own = ("root".into(), Some(4));
        let found = told(&rows, "new", Some(&own));
        assert_eq!(found[0], ("root".into(), Kinship::Origin(Some(4))));
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn an_origin_that_is_gone_still_joins_its_forks() {
        let rows = rows(&[("a", Some(("gone", 1))), ("b", Some(("gone", 1)))]);
        assert_eq!(told(&rows, "a", None), [("b".into(), Kinship::Sibling)]);
    }

    #[test]
    fn the_row_of_a_fork_names_its_origin() {
        let episode = Episode {
            links: vec![Link {
                relation: Relation::Branch,
                episode: "root".into(),
                step: Some(2),
            }],
            ..Episode::default()
        };
        let row = Row::of(&episode, Vec::new());
        assert_eq!(row.fork_of, Some(("root".into(), Some(2))));
    }
}
