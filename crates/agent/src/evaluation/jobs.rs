//! Jobs as page and worker say them: each says only what is other than in the one before, which is little more than its
//! seeds.

use volary_core::json::place::{Members, Place};
use volary_core::json::{Json, Text};
use volary_trace::Recipe;
use volary_trace::native::{recipe_from_json, recipe_to_json};

use super::plan::Actor;
use super::play::{Job, episode_id};

/// Puts jobs, as [`read_jobs`] reads them.
pub fn put_jobs(place: Place<'_>, jobs: &[Job]) {
    let former = [None].into_iter().chain(jobs.iter().map(Some));
    place.list(jobs.iter().zip(former), |place, (job, former)| {
        place.object(|members| put_job(members, job, former));
    });
}

/// Reads what [`put_jobs`] wrote; `None` if something is missing.
pub fn read_jobs(value: &Json) -> Option<Vec<Job>> {
    let mut jobs: Vec<Job> = Vec::new();
    for value in value.as_list()? {
        let job = read_job(value, jobs.last())?;
        jobs.push(job);
    }
    Some(jobs)
}

fn put_job(members: &mut Members<'_>, job: &Job, former: Option<&Job>) {
    let is_new = |same: fn(&Job, &Job) -> bool| former.is_none_or(|former| !same(former, job));
    members.at("cell").integer(job.cell as i64);
    members.at("seed").integer(i128::from(job.recipe.seed));
    members
        .at("policy_seed")
        .integer(i128::from(job.policy_seed));
    if is_new(|one, other| is_alike(&one.recipe, &other.recipe)) {
        members.at("recipe").json(&recipe_to_json(&job.recipe));
    }
    if is_new(|one, other| one.actor == other.actor) {
        members.at("actor").json(&job.actor.to_json());
    }
    if is_new(|one, other| one.max_steps == other.max_steps) {
        members.at("max_steps").integer(job.max_steps as i64);
    }
    if is_new(|one, other| one.tries == other.tries) {
        members.at("tries").integer(i64::from(job.tries));
    }
    if is_new(|one, other| one.name == other.name) {
        members.at("name").text(&job.name);
    }
    if is_new(|one, other| one.evaluation == other.evaluation) {
        members.at("evaluation").text(&job.evaluation);
    }
    if is_new(|one, other| one.run == other.run) {
        members.at("run").text(&job.run);
    }
}

/// Whether two recipes are the same but for the seed.
fn is_alike(one: &Recipe, other: &Recipe) -> bool {
    one.environment == other.environment
        && one.configuration == other.configuration
        && one.task == other.task
}

fn read_job(value: &Json, former: Option<&Job>) -> Option<Job> {
    let text = |key: &str, former: Option<&Text>| match value.get(key) {
        Some(text) => text.as_text().cloned(),
        None => former.cloned(),
    };
    let count = |key: &str, former: Option<u64>| match value.get(key) {
        Some(count) => count.as_i64()?.try_into().ok(),
        None => former,
    };
    let recipe = match value.get("recipe") {
        Some(recipe) => recipe_from_json(recipe).ok()?,
        None => former?.recipe.clone(),
    };
    let actor = match value.get("actor") {
        Some(actor) => Actor::read(actor)?,
        None => former?.actor.clone(),
    };
    let cell = usize::try_from(count("cell", None)?).ok()?;
    let evaluation = text("evaluation", former.map(|former| &former.evaluation))?;
    Some(Job {
        cell,
        episode: episode_id(&evaluation, cell),
        name: text("name", former.map(|former| &former.name))?,
        recipe: Recipe {
            seed: count("seed", None)?,
            ..recipe
        },
        actor,
        policy_seed: count("policy_seed", None)?,
        max_steps: count("max_steps", former.map(|former| former.max_steps as u64))?
            .try_into()
            .ok()?,
        evaluation,
        run: text("run", former.map(|former| &former.run))?,
        tries: count("tries", former.map(|former| former.tries.into()))?
            .try_into()
            .ok()?,
    })
}

#[cfg(test)]
mod tests {
    use volary_core::json::Object;
    use volary_core::json::place::tree;
    use volary_core::object;

    use super::super::plan::{Plan, PlannedPolicy, PlannedTask};
    use super::*;

    fn jobs() -> Vec<Job> {
        let task = |id: &str, configuration: Object| PlannedTask {
            id: id.into(),
            title: id.into(),
            environment: "dummy".into(),
            configuration,
        };
        let policy = |name: &str, actor: Actor, max_steps: usize| PlannedPolicy {
            name: name.into(),
            actor,
            max_steps,
        };
        let script = "[]".into();
        let plan = Plan {
            name: "Tests".into(),
            dataset: Some("made".into()),
            tasks: vec![
                task("1", Object::new()),
                task("2", object!({"task": "owls"})),
            ],
            policies: vec![
                policy("Random", Actor::Random, 4),
                policy("Mine", Actor::Scripted { script }, 50),
            ],
            repeats: 2,
            ..Plan::default()
        };
        let cells = (0..plan.length()).filter_map(|number| plan.cell(number));
        let jobs = cells.filter_map(|cell| Job::of(&"ev".into(), &plan, cell, 0));
        let mut jobs: Vec<Job> = jobs.collect();
        jobs[3].tries = 2;
        jobs
    }

    #[test]
    fn jobs_come_back() {
        let jobs = jobs();
        assert_eq!(jobs.len(), 8);
        let said = tree(|place| put_jobs(place, &jobs));
        assert_eq!(read_jobs(&said), Some(jobs));
        assert_eq!(read_jobs(&tree(|place| put_jobs(place, &[]))), Some(vec![]));
    }

    #[test]
    fn what_is_as_before_is_not_said_again() {
        let jobs: Vec<Job> = jobs().into_iter().filter(|job| job.cell % 2 == 0).collect();
        let said = tree(|place| put_jobs(place, &[jobs[0].clone(), jobs[0].clone()]));
        let second = said.as_list().and_then(|jobs| jobs[1].as_object()).unwrap();
        let keys: Vec<&str> = second.keys().map(AsRef::as_ref).collect();
        assert_eq!(keys, ["cell", "seed", "policy_seed"]);
    }

    #[test]
    fn the_first_must_say_all() {
        let Json::List(mut said) = tree(|place| put_jobs(place, &jobs())) else {
            panic!("a list is put");
        };
        said.remove(0);
        assert_eq!(read_jobs(&Json::List(said)), None);
    }
}
