//! What the path of a file in a run of prime-rl says: `rollouts/step_4/eval/all/traces.jsonl`. Older versions of prime-rl
//! write the step and the kind of a rollout nowhere else.

/// The step in a path with a folder `step_N`.
pub(in crate::import) fn step(path: &str) -> Option<i64> {
    path.split('/').rev().find_map(step_in)
}

/// The step in the name of a folder: `step_4`.
pub(super) fn step_in(folder: &str) -> Option<i64> {
    folder.strip_prefix("step_")?.parse().ok()
}

/// Whether a file of a step has rollouts of an evaluation: it is in a folder `eval`, or named `eval_rollouts.jsonl`.
pub(in crate::import) fn is_evaluation(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let is_named = |name: &str| name.starts_with("eval_rollouts");
    parts.next().is_some_and(is_named)
        || parts
            .take_while(|folder| step_in(folder).is_none())
            .any(|folder| folder == "eval")
}

/// The environment of a file `eval_rollouts_{environment}.jsonl`.
pub(in crate::import) fn environment(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?.strip_prefix("eval_rollouts_")?;
    let name = name.split_once(".jsonl").map_or(name, |(name, _)| name);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_step_and_kind() {
        for (path, expected, is_eval) in [
            ("run/rollouts/step_4/eval/all/traces.jsonl", Some(4), true),
            ("run/rollouts/step_4/train/all/traces.jsonl", Some(4), false),
            ("rollouts/step_3/eval_rollouts.jsonl", Some(3), true),
            ("rollouts/step_3/train_rollouts.jsonl", Some(3), false),
            ("eval/rollouts/step_3/train_rollouts.jsonl", Some(3), false),
            ("results.jsonl", None, false),
        ] {
            assert_eq!(
                (step(path), is_evaluation(path)),
                (expected, is_eval),
                "{path}"
            );
        }
    }

    #[test]
    fn names_of_evaluations_may_have_their_environment() {
        for (path, expected) in [
            ("step_6/eval_rollouts_math.jsonl", Some("math")),
            ("eval_rollouts_a_b.jsonl.zst", Some("a_b")),
            ("step_6/eval_rollouts.jsonl", None),
            ("step_6/eval_rollouts_.jsonl", None),
            ("step_6/train_rollouts.jsonl", None),
        ] {
            assert_eq!(environment(path), expected, "{path}");
        }
    }
}
