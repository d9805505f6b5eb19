//! A run at a place: what is shown of it, its neighbours, and the way back from an episode. Pure.

use std::sync::Arc;

use crate::route::TrainingPlace;
use crate::training::figure_text;
use volary_analysis::training::{
    Measure, RewardChoice, RunRows, Sample, SampleGroup, StepSummary, TrainingRun,
};
use volary_core::json::Text;

#[derive(Debug)]
pub struct ShownRun {
    pub id: String,
    pub title: String,
    pub run: TrainingRun,
    /// The reward that an address or the user chose, by its name in addresses.
    pub chosen: Option<String>,
}

/// What is shown of a run.
#[derive(Debug, PartialEq)]
pub enum Level<'a> {
    Run,
    Step(usize, &'a StepSummary),
    Group(&'a StepSummary, &'a SampleGroup),
    /// The address names a step or a group that is not in the run.
    Missing(String),
}

impl ShownRun {
    /// The run with the reward that was chosen; an empty one is the reward of the file.
    pub fn of(rows: &RunRows, reward: Option<&str>) -> ShownRun {
        let choice = reward.map(|name| match name {
            "" => RewardChoice::Whole,
            name => RewardChoice::Part(Text::from(name)),
        });
        ShownRun {
            id: rows.id(),
            title: rows.title(),
            run: TrainingRun::of(&rows.rows, choice),
            chosen: reward.map(str::to_owned),
        }
    }

    pub fn level(&self, place: &TrainingPlace) -> Level<'_> {
        let Some(number) = place.step else {
            return Level::Run;
        };
        let Some(at) = self.run.index_of(number) else {
            return Level::Missing(format!("This run has no step {number}."));
        };
        let step = &self.run.steps[at];
        match &place.group {
            None => Level::Step(at, step),
            Some(key) => match step.group(key) {
                Some(group) => Level::Group(step, group),
                None => Level::Missing(format!("Step {number} has no group {key}.")),
            },
        }
    }

    /// The reward that counts, for display.
    pub fn reward_name(&self) -> &str {
        match &self.run.choice {
            RewardChoice::Whole => Measure::Reward.name(),
            RewardChoice::Part(name) => name,
        }
    }

    /// What is said where the user did not choose among several rewards; `None` if there is nothing to choose.
    pub fn choice_text(&self) -> Option<String> {
        let run = &self.run;
        let counts = match (&run.choice, &run.whole_part) {
            _ if self.chosen.is_some() || run.parts.len() < 2 => return None,
            (RewardChoice::Part(name), _) if !run.has_whole_reward => {
                return Some(format!(
                    "The files do not say which reward counts. “{name}” is shown; choose another one above."
                ));
            }
            (RewardChoice::Whole, Some(name)) => name,
            _ => return None,
        };
        Some(format!(
            "The samples have several rewards, of which “{counts}” counts; choose another one above."
        ))
    }

    /// What a sample that is open has of the reward that was chosen; `None` for the reward of the file, which its page
    /// shows.
    fn chosen_rewards(&self, episodes: &[&str]) -> Option<String> {
        let RewardChoice::Part(name) = &self.run.choice else {
            return None;
        };
        let samples = episodes.iter().map(|id| {
            let mut samples = self.run.samples.iter();
            samples.find(|sample| *sample.row.id == **id)
        });
        let samples: Vec<&Sample> = samples.collect::<Option<_>>()?;
        let value = |sample: &Sample| match sample.reward {
            Some(reward) => figure_text(reward, false),
            None => "none".to_owned(),
        };
        let values = samples.iter().map(|sample| match samples.len() {
            1 => value(sample),
            _ => format!("{} in sample {}", value(sample), sample.label()),
        });
        let values: Vec<String> = values.collect();
        Some(format!("Reward ({name}): {}", values.join(", ")))
    }

    /// The title of a drawing of the reward that counts.
    pub fn reward_title(&self) -> String {
        match self.reward_name() {
            "Reward" => "Reward".to_owned(),
            name => format!("Reward ({name})"),
        }
    }

    /// The place before or after another one on its level.
    pub fn neighbour(&self, here: &TrainingPlace, forward: bool) -> Option<TrainingPlace> {
        let moved = |at: usize| {
            if forward {
                at.checked_add(1)
            } else {
                at.checked_sub(1)
            }
        };
        let at = self.run.index_of(here.step?)?;
        match &here.group {
            None => Some(TrainingPlace {
                step: Some(self.run.steps.get(moved(at)?)?.step),
                ..here.clone()
            }),
            Some(key) => {
                let groups = &self.run.steps[at].groups;
                let is_it = |group: &SampleGroup| group_key(group) == *key;
                let next = groups.get(moved(groups.iter().position(is_it)?)?)?;
                Some(TrainingPlace {
                    group: Some(group_key(next)),
                    ..here.clone()
                })
            }
        }
    }

    /// The name of a step or a group; `None` if the run does not have it.
    pub fn place_name(&self, place: &TrainingPlace) -> Option<String> {
        match self.level(place) {
            Level::Step(_, step) => Some(format!("Step {}", step.step)),
            Level::Group(_, group) => Some(group.name()),
            Level::Run | Level::Missing(_) => None,
        }
    }

    /// The heading of a place, and the links to what is above it.
    pub fn way(&self, place: &TrainingPlace) -> Way {
        let run = TrainingPlace {
            step: None,
            group: None,
            ..place.clone()
        };
        let step = TrainingPlace {
            group: None,
            ..place.clone()
        };
        let to_run = || (run.to_hash(), self.title.clone());
        match self.level(place) {
            Level::Run | Level::Missing(_) => Way {
                title: self.title.clone(),
                note: None,
                links: Vec::new(),
            },
            Level::Step(_, known) => Way {
                title: format!("Step {}", known.step),
                note: None,
                links: vec![to_run()],
            },
            Level::Group(known, group) => {
                let name = group.name();
                let task = group.task.as_ref().map(|task| task.to_string());
                Way {
                    note: task.filter(|task| *task != name),
                    title: name,
                    links: vec![to_run(), (step.to_hash(), format!("Step {}", known.step))],
                }
            }
        }
    }

    /// The way back from episodes that were opened from a place. Several of them have no neighbours.
    pub fn trail(&self, here: &TrainingPlace, episodes: &[&str]) -> Trail {
        let way = self.way(here);
        let mut trail = Trail {
            links: way.links,
            reward: self.chosen_rewards(episodes),
            ..Trail::default()
        };
        match self.level(here) {
            Level::Run => trail.links.push((here.to_hash(), way.title)),
            // Where it came from is gone; the run is still there.
            Level::Missing(_) => {
                let run = TrainingPlace {
                    step: None,
                    group: None,
                    ..here.clone()
                };
                trail.links.push((run.to_hash(), way.title));
            }
            Level::Step(..) => trail.links.push((here.to_hash(), way.title)),
            Level::Group(_, group) => {
                trail.links.push((here.to_hash(), way.title));
                let samples = self.run.samples_of(&group.samples);
                let is_it =
                    |sample: &Sample| matches!(episodes, [only] if *sample.row.id == **only);
                if let Some(at) = samples.iter().position(is_it) {
                    let target = |sample: &Sample| here.episode_hash(&sample.row.id, &[]);
                    trail.here =
                        Some((format!("Sample {}", samples[at].label()), at, samples.len()));
                    trail.before = at.checked_sub(1).and_then(|at| samples.get(at)).map(target);
                    trail.after = samples.get(at + 1).map(target);
                }
            }
        }
        trail
    }

    /// The rewards that may count: the value in addresses, and the name.
    pub fn rewards(&self) -> Vec<(String, String)> {
        let whole = self.run.has_whole_reward.then(|| {
            let name = match &self.run.whole_part {
                Some(part) => format!("reward of the file ({part})"),
                None => "reward of the file".to_owned(),
            };
            (String::new(), name)
        });
        let parts = self.run.parts.iter();
        let parts = parts.map(|(name, _)| (name.to_string(), name.to_string()));
        whole.into_iter().chain(parts).collect()
    }
}

/// The key of a group in addresses.
pub fn group_key(group: &SampleGroup) -> String {
    group.key.as_deref().unwrap_or_default().to_owned()
}

/// The heading of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub title: String,
    /// The task of a group, if its name does not say it.
    pub note: Option<String>,
    /// The address and the name of what is above, outermost first.
    pub links: Vec<(String, String)>,
}

/// The way back from an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// The links to run, step and group.
    pub links: Vec<(String, String)>,
    /// The name of the open sample, its index in the group, and the number of samples.
    pub here: Option<(String, usize, usize)>,
    /// The reward that was chosen, if it is not the one that the file marks.
    pub reward: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The title of the tab at a place. `run` is the title of the run, once it is known.
pub fn tab_title(place: &TrainingPlace, run: Option<&str>) -> String {
    let run = run.unwrap_or("Training run");
    match (place.step, &place.group) {
        (Some(step), Some(group)) => format!("Step {step}, group {group} – {run}"),
        (Some(step), None) => format!("Step {step} – {run}"),
        _ => run.to_owned(),
    }
}

/// What the body shows. Equal if it would look the same, so that a run that is being written moves nothing that a reader
/// of an earlier step looks at.
#[derive(Clone, Debug)]
pub struct RunContent {
    pub shown: Arc<ShownRun>,
    pub place: TrainingPlace,
}

impl PartialEq for RunContent {
    fn eq(&self, other: &RunContent) -> bool {
        self.place == other.place
            && (Arc::ptr_eq(&self.shown, &other.shown) || self.is_same_part(other))
    }
}

impl RunContent {
    /// Whether a step or a group is the same in both runs. The curves of a run differ.
    fn is_same_part(&self, other: &RunContent) -> bool {
        let levels = (
            self.shown.level(&self.place),
            other.shown.level(&other.place),
        );
        let (own, run) = (&self.shown.run, &other.shown.run);
        let samples = match &levels {
            (Level::Step(_, one), Level::Step(_, other)) if one == other => &one.samples,
            (Level::Group(_, one), Level::Group(_, other)) if one == other => &one.samples,
            _ => return false,
        };
        let has_same_range = |measure: &Measure| own.range(measure) == run.range(measure);
        self.shown.id == other.shown.id
            && own.choice == run.choice
            && own.measures == run.measures
            && own.steps.first() == run.steps.first()
            && own.measures.iter().all(has_same_range)
            && own.samples_of(samples) == run.samples_of(samples)
    }
}

#[cfg(test)]
pub mod tests {
    use volary_analysis::table::Row;
    use volary_analysis::training::Catalog;
    use volary_core::object;

    use super::*;

    /// A sample of a group at a step.
    pub fn row(step: i64, group: i64, sample: i64, reward: Option<f64>) -> Row {
        Row {
            id: format!("{step}-{group}-{sample}").into(),
            run: Some("grpo".into()),
            reward,
            metadata: object!({ "step": step, "group": group, "sample": sample }),
            ..Row::default()
        }
    }

    /// The run of some samples.
    pub fn shown(rows: impl IntoIterator<Item = Row>) -> ShownRun {
        let rows: Vec<Arc<Row>> = rows.into_iter().map(Arc::new).collect();
        let catalog = Catalog::of(&rows);
        ShownRun::of(catalog.first().expect("a run"), None)
    }

    /// Steps 1 and 3, each with the groups 0 and 1 of two samples.
    fn small() -> ShownRun {
        let rows = [1, 3].into_iter().flat_map(|step| {
            [0, 1].into_iter().flat_map(move |group| {
                [0, 1].map(move |sample| row(step, group, sample, Some(sample as f64)))
            })
        });
        shown(rows)
    }

    fn place(step: Option<i64>, group: Option<&str>) -> TrainingPlace {
        TrainingPlace {
            run: "grpo".to_owned(),
            step,
            group: group.map(str::to_owned),
            reward: Some("format".to_owned()),
            ..TrainingPlace::default()
        }
    }

    #[test]
    fn an_address_names_a_run_a_step_or_a_group() {
        let run = small();
        assert_eq!(run.level(&place(None, None)), Level::Run);
        // A group without a step is no place.
        assert_eq!(run.level(&place(None, Some("1"))), Level::Run);
        assert!(matches!(run.level(&place(Some(3), None)), Level::Step(1, step) if step.step == 3));
        let group = run.level(&place(Some(3), Some("1")));
        assert!(
            matches!(&group, Level::Group(step, group) if step.step == 3 && group_key(group) == "1"),
            "{group:?}"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let run = small();
        let reason = |step, group| match run.level(&place(step, group)) {
            Level::Missing(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(Some(2), None), "This run has no step 2.");
        assert_eq!(reason(Some(2), Some("0")), "This run has no step 2.");
        assert_eq!(reason(Some(1), Some("9")), "Step 1 has no group 9.");
    }

    #[test]
    fn neighbours_stay_on_their_level() {
        let run = small();
        let step = |step: i64, forward| run.neighbour(&place(Some(step), None), forward);
        assert_eq!(
            step(1, true),
            Some(place(Some(3), None)),
            "step 2 has no samples"
        );
        assert_eq!(step(3, false), Some(place(Some(1), None)));
        assert_eq!(step(1, false), None);
        assert_eq!(step(3, true), None);
        assert_eq!(step(2, true), None, "there is no such step");
        let group = |key, forward| run.neighbour(&place(Some(1), Some(key)), forward);
        assert_eq!(group("0", true), Some(place(Some(1), Some("1"))));
        // The next step has groups too, but is on another level.
        assert_eq!(group("1", true), None);
        assert_eq!(group("1", false), Some(place(Some(1), Some("0"))));
        assert_eq!(group("9", true), None);
        assert_eq!(run.neighbour(&place(None, None), true), None);
    }

    #[test]
    fn samples_of_no_group_are_reached_too() {
        let rows = [row(1, 0, 0, None), {
            Row {
                metadata: object!({ "step": 1, "sample": 1 }),
                ..row(1, 0, 1, None)
            }
        }];
        let run = shown(rows);
        let keys: Vec<String> = run.run.steps[0].groups.iter().map(group_key).collect();
        let [first, second] = keys.as_slice() else {
            panic!("{keys:?}");
        };
        let next = run.neighbour(&place(Some(1), Some(first)), true);
        assert_eq!(next, Some(place(Some(1), Some(second))));
        let name = run.place_name(&place(Some(1), Some("")));
        assert_eq!(name.as_deref(), Some("Samples of no group"));
    }

    #[test]
    fn the_way_leads_back_to_the_run() {
        let run = small();
        let way = run.way(&place(None, None));
        assert_eq!((&*way.title, way.links), ("grpo", Vec::new()));
        let to_run = (place(None, None).to_hash(), "grpo".to_owned());
        let way = run.way(&place(Some(3), None));
        assert_eq!(way.title, "Step 3");
        assert_eq!(way.links, std::slice::from_ref(&to_run));
        let way = run.way(&place(Some(3), Some("1")));
        assert_eq!((&*way.title, way.note), ("Group 1", None));
        let to_step = (place(Some(3), None).to_hash(), "Step 3".to_owned());
        assert_eq!(way.links, [to_run, to_step]);
        // What is missing leads to nothing above it.
        assert_eq!(run.way(&place(Some(9), None)).links, []);
    }

    #[test]
    fn a_group_says_its_task_unless_that_is_its_name() {
        let with_task = |group: Option<i64>| {
            let mut row = row(1, 0, 0, None);
            row.task = Some(volary_episode::TaskReference {
                dataset: "d".into(),
                id: "refund".into(),
            });
            if group.is_none() {
                row.metadata = object!({ "step": 1 });
            }
            shown([row])
        };
        let way = with_task(Some(0)).way(&place(Some(1), Some("0")));
        assert_eq!(
            (&*way.title, way.note.as_deref()),
            ("Group 0", Some("refund"))
        );
        let way = with_task(None).way(&place(Some(1), Some("refund")));
        assert_eq!((&*way.title, way.note), ("refund", None));
    }

    #[test]
    fn a_sample_has_neighbours_in_its_group() {
        let run = small();
        let here = place(Some(1), Some("1"));
        let trail = run.trail(&here, &["1-1-0"]);
        let names: Vec<&str> = trail.links.iter().map(|(_, name)| &**name).collect();
        assert_eq!(names, ["grpo", "Step 1", "Group 1"]);
        assert_eq!(trail.links[2].0, here.to_hash());
        assert_eq!(trail.here, Some(("Sample 0".to_owned(), 0, 2)));
        assert_eq!(trail.before, None);
        assert_eq!(trail.after, Some(here.episode_hash("1-1-1", &[])));
        let trail = run.trail(&here, &["1-1-1"]);
        assert_eq!(trail.before, Some(here.episode_hash("1-1-0", &[])));
        assert_eq!(trail.after, None);
    }

    #[test]
    fn an_episode_without_a_group_has_only_the_way_back() {
        let run = small();
        let names = |trail: Trail| {
            let names = trail.links.into_iter().map(|(_, name)| name);
            (names.collect::<Vec<_>>(), trail.here, trail.after)
        };
        let compared = run.trail(&place(Some(1), Some("1")), &["1-1-0", "1-1-1"]);
        assert_eq!(names(compared).1, None);
        let of_other_group = run.trail(&place(Some(1), Some("1")), &["1-0-0"]);
        assert_eq!(names(of_other_group).1, None);
        let at_step = names(run.trail(&place(Some(1), None), &["1-1-0"]));
        assert_eq!(
            at_step,
            (vec!["grpo".to_owned(), "Step 1".to_owned()], None, None)
        );
        let at_run = names(run.trail(&place(None, None), &["1-1-0"]));
        assert_eq!(at_run.0, ["grpo"]);
        // The step is gone, as the run was written again.
        let trail = run.trail(&place(Some(9), Some("1")), &["9-1-0"]);
        assert_eq!(
            trail.links,
            [(place(None, None).to_hash(), "grpo".to_owned())]
        );
    }

    #[test]
    fn the_tab_says_where_the_reader_is() {
        assert_eq!(tab_title(&place(None, None), None), "Training run");
        assert_eq!(
            tab_title(&place(Some(3), None), Some("grpo")),
            "Step 3 – grpo"
        );
        let title = tab_title(&place(Some(3), Some("1")), Some("grpo"));
        assert_eq!(title, "Step 3, group 1 – grpo");
    }

    #[test]
    fn the_reward_of_the_address_counts() {
        let with_parts = |reward: Option<f64>| {
            let rows: Vec<Arc<Row>> = [Arc::new(Row {
                scores: ["format", "answer"]
                    .map(|name| volary_episode::Score {
                        name: name.into(),
                        value: 0.5.into(),
                        explanation: None,
                        extras: Default::default(),
                    })
                    .into(),
                ..row(1, 0, 0, reward)
            })]
            .to_vec();
            Catalog::of(&rows).first().cloned().expect("a run")
        };
        let rows = with_parts(Some(1.0));
        let title = |reward| ShownRun::of(&rows, reward).reward_title();
        assert_eq!(title(None), "Reward");
        assert_eq!(title(Some("")), "Reward");
        assert_eq!(title(Some("format")), "Reward (format)");
        let names: Vec<String> = ShownRun::of(&rows, None)
            .rewards()
            .into_iter()
            .map(|(value, _)| value)
            .collect();
        assert_eq!(names[0], "", "the reward of the file comes first");
        let chosen = ShownRun::of(&rows, Some("format"));
        assert_eq!(
            chosen
                .trail(&place(None, None), &["1-0-0"])
                .reward
                .as_deref(),
            Some("Reward (format): 0.5")
        );
        assert_eq!(chosen.trail(&place(None, None), &["?"]).reward, None);
        assert_eq!(
            ShownRun::of(&rows, None)
                .trail(&place(None, None), &["1-0-0"])
                .reward,
            None,
            "the page of the sample shows the reward of the file"
        );
        assert_eq!(chosen.choice_text(), None);
        assert!(names.contains(&"answer".to_owned()), "{names:?}");
        let equal = ShownRun::of(&with_parts(Some(0.5)), None);
        assert_eq!(equal.rewards()[0].1, "reward of the file (answer)");
        let words = equal.choice_text().expect("there are two rewards");
        assert!(words.contains("“answer” counts"), "{words}");
        let without = ShownRun::of(&with_parts(None), None);
        let words = without.choice_text().expect("there are two rewards");
        assert!(words.contains("“answer” is shown"), "{words}");
        let without = without.rewards();
        assert!(
            without.iter().all(|(value, _)| !value.is_empty()),
            "{without:?}"
        );
    }

    fn content(shown: ShownRun, place: TrainingPlace) -> RunContent {
        RunContent {
            shown: Arc::new(shown),
            place,
        }
    }

    #[test]
    fn a_growing_run_moves_nothing_at_an_earlier_step() {
        let rows = |last: i64| {
            (1..=last)
                .flat_map(|step| [0, 1].map(|sample| row(step, 0, sample, Some(sample as f64))))
        };
        let at = |last, step, group| content(shown(rows(last)), place(step, group));
        assert_eq!(at(2, Some(1), None), at(3, Some(1), None));
        assert_eq!(at(2, Some(1), Some("0")), at(3, Some(1), Some("0")));
        // The curves of the run have a new point.
        assert_ne!(at(2, None, None), at(3, None, None));
        assert_ne!(at(2, Some(1), None), at(2, Some(2), None), "another place");
        assert_ne!(
            at(2, Some(9), None),
            at(3, Some(9), None),
            "it may be there now"
        );
    }

    #[test]
    fn a_step_is_drawn_again_if_what_it_shows_changed() {
        let with = |more: Vec<Row>| {
            let rows = [0, 1].map(|sample| row(1, 0, sample, Some(sample as f64)));
            content(shown(rows.into_iter().chain(more)), place(Some(1), None))
        };
        assert_eq!(with(vec![]), with(vec![]));
        // Another sample of the step.
        assert_ne!(with(vec![]), with(vec![row(1, 0, 2, None)]));
        // The histograms span the rewards of the whole run.
        assert_ne!(with(vec![]), with(vec![row(2, 0, 0, Some(5.0))]));
        assert_eq!(with(vec![]), with(vec![row(2, 0, 0, Some(0.5))]));
    }
}
