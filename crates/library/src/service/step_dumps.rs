//! Rollout dumps and the training dumps of the same steps, among the files of an import. A rollout dump is read with its
//! training dumps behind it, as one file, and the range of an episode includes its training data. EvalScope's
//! predictions and their reviews are pairs too.
//!
//! Invariant: dumps that cannot be read so (packed ones, several rollout dumps of a step, small files) are read together, as
//! a whole, which joins them too.

use std::collections::BTreeMap;
use std::rc::Rc;

use volary_core::json::Text;
use volary_formats::archive::is_archive;
use volary_formats::import::index::torch_dump::{DumpKind, is_dump, is_evaluation};
use volary_formats::import::index::{LARGE_PACKED, LARGEST_WHOLE};
use volary_formats::import::together::{first_of, is_sample};

use crate::source::Source;

/// The number of bytes in which the first keys of a dump are.
const START: u64 = 1 << 14;

/// The training dumps of a rollout dump.
pub(super) struct TrainingDumps {
    pub(super) files: Vec<Rc<dyn Source>>,
    /// The bytes of the rollout dump, and of these.
    pub(super) source: Rc<dyn Source>,
}

/// The dumps of an import whose steps have both kinds. Files are compared by identity: two may have the same name.
#[derive(Default)]
pub(super) struct StepDumps {
    /// The rollout dumps that are read with their training dumps.
    joined: Vec<(Rc<dyn Source>, TrainingDumps)>,
    /// The dumps that are read as a whole.
    whole: Vec<Rc<dyn Source>>,
}

impl StepDumps {
    /// Finds the dumps of the same steps, as their first keys say. Dumps of evaluations have no training dump.
    pub(super) async fn of(files: &[Rc<dyn Source>]) -> StepDumps {
        let is_of_training = |name: &Text| is_dump(name) && !is_evaluation(name);
        let mut found = StepDumps::default();
        found.add_samples(files);
        let files = files.iter().filter(|file| is_of_training(&file.name()));
        let files: Vec<&Rc<dyn Source>> = files.collect();
        if files.len() < 2 {
            return found;
        }
        let mut steps: BTreeMap<i64, [Vec<Dump>; 2]> = BTreeMap::new();
        for file in files {
            let start = file.read(0..file.size().min(START)).await;
            let Ok(start) = start else { continue };
            if let Some((kind, step)) = DumpKind::of(&start) {
                let [rollouts, trained] = steps.entry(step).or_default();
                let dump = Dump {
                    file: Rc::clone(file),
                    is_zip: is_archive(&start) && start.starts_with(b"PK"),
                };
                match kind {
                    DumpKind::Rollout => rollouts.push(dump),
                    DumpKind::Training => trained.push(dump),
                }
            }
        }
        for [rollouts, trained] in steps.into_values() {
            if !rollouts.is_empty() && !trained.is_empty() {
                found.add(rollouts, trained);
            }
        }
        found
    }

    /// Adds predictions and their reviews: they are joined only if they are read as a whole, and both at once. Those for which
    /// there is no room are read in place, one by one.
    fn add_samples(&mut self, files: &[Rc<dyn Source>]) {
        let samples = files.iter().map(|file| (file.name(), file));
        let samples = samples.filter(|(name, _)| is_sample(name));
        let samples: BTreeMap<Text, &Rc<dyn Source>> = samples.collect();
        let mut room = LARGEST_WHOLE / 2;
        for (name, reviews) in &samples {
            let predictions = first_of(name).and_then(|first| samples.get(&*first));
            let Some(predictions) = predictions else {
                continue;
            };
            if let Some(left) = room.checked_sub(predictions.size() + reviews.size()) {
                room = left;
                self.whole
                    .extend([predictions, reviews].map(|file| Rc::clone(file)));
            }
        }
    }

    /// Adds the dumps of a step.
    fn add(&mut self, rollouts: Vec<Dump>, trained: Vec<Dump>) {
        let are_zip = rollouts.iter().chain(&trained).all(|dump| dump.is_zip);
        let [mut rollouts, files] = [rollouts, trained]
            .map(|dumps| dumps.into_iter().map(|dump| dump.file).collect::<Vec<_>>());
        let joined = match rollouts.as_slice() {
            [only] if are_zip && only.size() >= LARGE_PACKED => only.followed_by(&files),
            _ => None,
        };
        match (joined, rollouts.pop()) {
            (Some(source), Some(only)) => self.joined.push((only, TrainingDumps { files, source })),
            (_, last) => self
                .whole
                .extend(rollouts.into_iter().chain(last).chain(files)),
        }
    }

    /// The training dumps with which a rollout dump is read, if there are any.
    pub(super) fn of_rollouts(&self, file: &Rc<dyn Source>) -> Option<&TrainingDumps> {
        let mut joined = self.joined.iter();
        joined.find_map(|(rollouts, trained)| Rc::ptr_eq(rollouts, file).then_some(trained))
    }

    /// Whether a file is read with a rollout dump.
    pub(super) fn is_behind(&self, file: &Rc<dyn Source>) -> bool {
        let mut behind = self.joined.iter().flat_map(|(_, trained)| &trained.files);
        behind.any(|known| Rc::ptr_eq(known, file))
    }

    /// Whether a file is read as a whole, together with the others of its step.
    pub(super) fn is_whole(&self, file: &Rc<dyn Source>) -> bool {
        self.whole.iter().any(|known| Rc::ptr_eq(known, file))
    }
}

struct Dump {
    file: Rc<dyn Source>,
    /// Whether it is a zip file, and not one that is packed in another way.
    is_zip: bool,
}
