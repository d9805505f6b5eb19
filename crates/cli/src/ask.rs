//! `volary ask`: asks a model a question about each trajectory, and checks the quotes of its answers.
//!
//! The rules are those of `volary_ask::run`; this file carries out its effects. Each answer is appended to
//! `.volary/answers.jsonl` at once, so a run that was stopped goes on where it was.
//!
//! - `model`: which provider, address and key. `client`: sends requests, each on a thread. `answers_file`: the cache;
//!   `answer_column`: its answers to one question, for other commands.
//! - `labels`: the labels of a person, for the calibration. `synthesis`: findings over the answers. `report`: the output.
//!
//! Invariants: nothing is sent before the plan was printed and agreed to. A key comes from an environment variable, and is
//! sent only to the address of its provider; it is in no output and no file.

mod answer_column;
mod answers_file;
mod client;
mod labels;
mod model;
mod report;
mod synthesis;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Args;
use volary_agent::model::limits::Budget;
use volary_agent::model::price::{Price, Prices};
use volary_analysis::sensitive;
use volary_analysis::table::Row;
use volary_ask::calibration::{compare, sample};
use volary_ask::plan::{AskPlan, RowSize, room};
use volary_ask::presets::{QUESTION_PRESETS, QuestionPreset};
use volary_ask::run::{
    AskEffect, AskEvent, AskPause, AskPhase, AskRun, AskSettings, CheckedReply, RowView,
};
use volary_ask::{AnswerType, Question, RenderOptions, Rendered, cache, parts};
use volary_core::json::Text;
use volary_core::quantity::plural;

use crate::output::plain;
use crate::{ExitStatus, inputs};
pub use answer_column::AnswerColumn;
pub use answers_file::AnswersFile;
use client::Client;
use labels::Labels;
use model::{ModelChoice, Target};

const EXAMPLES: &str = "\
Examples:
  volary ask \"Did the agent cancel the booking?\" runs/ --label yes,no --model gpt-6-luna --max-cost 5
  volary ask @why-failed runs/ --failed --model claude-haiku-5-5 --max-cost 2 --json > why.jsonl
  volary ask \"How polite was it?\" runs/ --score 0,10 --model m --base-url http://127.0.0.1:8000/v1 --yes
  volary ask @reward-hacking runs/ --model gpt-6-luna --plan
  volary ask @reward-hacking runs/ --model gpt-6-luna --calibrate labels.jsonl --max-cost 1
      the first time, draws 20 trajectories for you to label; then asks about these, and prints the agreement
  volary ask @why-failed runs/ --failed --model gpt-6-luna --max-cost 5 --synthesise
      findings over all answers, each with the answers that it rests on

Questions that come with Volary: @why-failed, @reward-hacking, @ignored-instruction, @false-claim, @task-specification,
@tests-match-task, @progress.

The key of a provider is read from OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or MISTRAL_API_KEY; for an address of
your own from VOLARY_API_KEY.

Exit status:
  0  every trajectory has an answer
  1  the budget ended the run, or some trajectories have none; the same command goes on
  2  nothing was asked";

/// Asks a model a question about each trajectory. Each quote in an answer is checked against the trajectory.
///
/// Before anything is sent, the number of requests, tokens and the cost are printed. Answers are kept in
/// `.volary/answers.jsonl` of the first folder, and used again as long as trajectory, question and model are the same.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Ask {
    /// The question, or @ and the name of one that comes with Volary
    #[arg(value_name = "QUESTION")]
    question: String,

    /// Files, and folders with files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The labels to answer with, separated by commas
    #[arg(
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        conflicts_with = "score"
    )]
    label: Vec<String>,

    /// Answer with a number from the first to the second one
    #[arg(long, value_name = "LEAST,MOST", value_parser = range)]
    score: Option<(f64, f64)>,

    #[command(flatten)]
    model: ModelChoice,

    /// Send nothing that could bring the cost above this, in US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = amount)]
    max_cost: Option<f64>,

    /// Send nothing that could bring the tokens above this
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,

    /// The price of the model in US dollars for a million tokens of input and of output, if it is not known
    #[arg(long, value_name = "IN,OUT", value_parser = range)]
    price: Option<(f64, f64)>,

    /// The tokens of a request; longer trajectories are read in overlapping parts
    #[arg(long, value_name = "TOKENS", default_value_t = 120_000)]
    context: u64,

    /// The number of requests at one time
    #[arg(long, value_name = "N", default_value_t = 4)]
    concurrency: usize,

    /// Only trajectories that failed
    #[arg(long)]
    failed: bool,

    /// Ask about at most N trajectories, sampled from each environment and outcome in proportion
    #[arg(long, value_name = "N")]
    sample: Option<usize>,

    /// The seed of the sample
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Leave out rewards, scores and the ending, so that they do not influence the answer
    #[arg(long)]
    blind: bool,

    /// Send keys, tokens, passwords and e-mail addresses unmasked
    #[arg(long)]
    unmasked: bool,

    /// Print the plan with the costs by model, and send nothing
    #[arg(long)]
    plan: bool,

    /// Do not ask before sending, although there is no limit of the cost
    #[arg(long, short)]
    yes: bool,

    /// Compare with the labels of a person in this file, and ask about these trajectories only. If there is no such file, one
    /// with a sample (20, or --sample) is written, for a person to fill in; nothing is sent
    #[arg(long, value_name = "FILE", conflicts_with = "synthesise")]
    calibrate: Option<PathBuf>,

    /// Ask for findings over all answers, in which each claim cites the answers that it rests on
    #[arg(long, visible_alias = "synthesize")]
    synthesise: bool,

    /// Send the schema of the reply as a parameter too, where the provider has one. Replies are readable more often, but a
    /// second question about the same trajectories costs more, because providers cache what follows the schema
    #[arg(long)]
    structured: bool,

    /// The file with the answers; by default .volary/answers.jsonl in the first folder
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// Print one JSON object for each trajectory
    #[arg(long)]
    json: bool,
}

/// A trajectory to ask about.
struct Item {
    file: String,
    id: Text,
    name: Text,
    rendered: Arc<Rendered>,
}

/// The number of trajectories that a person labels, unless chosen.
const LABELLED: usize = 20;

/// Removes the items without a label. Returns the labels of the others by their new index.
fn keep_labelled(
    items: &mut Vec<Item>,
    labels: BTreeMap<usize, String>,
) -> BTreeMap<usize, String> {
    let mut index = 0;
    items.retain(|_| {
        index += 1;
        labels.contains_key(&(index - 1))
    });
    labels.into_values().enumerate().collect()
}

/// Parses two numbers.
fn range(text: &str) -> Result<(f64, f64), String> {
    let read = || {
        let (least, most) = text.split_once(',')?;
        Some((least.trim().parse().ok()?, most.trim().parse().ok()?))
    };
    read().ok_or_else(|| "give two numbers, such as 0,10".to_owned())
}

fn amount(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "give an amount in US dollars, such as 5".to_owned())
}

impl Ask {
    /// Plans, asks, and prints the answers.
    pub fn run(&self) -> Result<ExitStatus> {
        let question = self.asked()?;
        let labels = self.labels(&question)?;
        if let (Some(path), None) = (&self.calibrate, &labels) {
            return self.draw(path);
        }
        let target = self.model.target()?;
        let (mut items, masked) = self.items(self.sample.filter(|_| labels.is_none()))?;
        let person = match &labels {
            Some(labels) => {
                let labels = labels.by_item(&question, &items)?;
                keep_labelled(&mut items, labels)
            }
            None => BTreeMap::new(),
        };
        let mut file = AnswersFile::open(self.answers.as_deref(), &self.paths)?;
        for damaged in file.damaged() {
            eprintln!("{}", plain(damaged));
        }
        let settings = self.settings(question, &target)?;
        let plan = plan(&items, &settings, file.cache());
        report::print_plan(&plan, &settings, &masked, &target);
        if self.plan {
            report::print_costs(&plan);
            return Ok(ExitStatus::Good);
        }
        if plan.requests > 0 {
            self.agree(&settings)?;
        }
        let client = Client::new(&target)?;
        let run = AskRun::new(settings, items.len(), file.take_cache())?;
        let run = self.play(run, &items, &client, &mut file)?;
        let rows = items.iter().enumerate();
        for (index, item) in rows {
            if let Some(row) = run.row(index) {
                report::print_row(item, row, self.json)?;
            }
        }
        report::print_end(&run);
        if self.calibrate.is_some() {
            let model = (0..items.len()).filter_map(|index| match run.row(index)? {
                RowView::Answered { record, .. } => {
                    Some((index, record.answer.label.as_deref()?.to_owned()))
                }
                _ => None,
            });
            let calibration = compare(&person, &model.collect());
            report::print_calibration(&calibration, person.len(), &items, self.json)?;
        }
        if self.synthesise {
            let findings = synthesis::findings(&run, &items, &client)?;
            report::print_findings(&findings, &run, &items, self.json)?;
        }
        let progress = run.progress();
        Ok(
            if progress.failed + progress.waiting + progress.asking == 0 {
                ExitStatus::Good
            } else {
                ExitStatus::Bad
            },
        )
    }

    fn asked(&self) -> Result<Question> {
        let question = match self.question.strip_prefix('@') {
            Some(id) => {
                let Some(preset) = QuestionPreset::named(id) else {
                    let ids = QUESTION_PRESETS
                        .iter()
                        .map(|preset| format!("@{}", preset.id));
                    bail!(
                        "there is no question @{id}; there are {}",
                        ids.collect::<Vec<_>>().join(", ")
                    );
                };
                preset.question()
            }
            None => Question {
                text: self.question.as_str().into(),
                answer: AnswerType::Text,
            },
        };
        let labels: Vec<&str> = self.label.iter().map(String::as_str).collect();
        let answer = match (labels.as_slice(), self.score) {
            ([], None) => question.answer,
            ([], Some((least, most))) => AnswerType::Score { least, most },
            (labels, _) => AnswerType::of_labels(labels),
        };
        let question = Question {
            text: question.text,
            answer,
        };
        question.check()?;
        Ok(question)
    }

    /// The labels of a person, if there are some.
    fn labels(&self, question: &Question) -> Result<Option<Labels>> {
        let Some(path) = &self.calibrate else {
            return Ok(None);
        };
        if question.answer.labels().is_empty() {
            bail!("only labels can be compared; give the question some with --label");
        }
        Labels::read(path)
    }

    /// Writes a sample for a person to label.
    fn draw(&self, path: &Path) -> Result<ExitStatus> {
        let (items, _) = self.items(Some(self.sample.unwrap_or(LABELLED)))?;
        Labels::write(path, &items)?;
        eprintln!(
            "Wrote {} to {}. Read them, for example with volary view, write a label for each, and run the same command again. \
             Nothing was sent.",
            plural(items.len(), "trajectory"),
            path.display()
        );
        Ok(ExitStatus::Good)
    }

    /// Reads and renders the trajectories, at most `most` of them. Returns the numbers of masked findings too, as a text.
    fn items(&self, most: Option<usize>) -> Result<(Vec<Item>, String)> {
        let options = RenderOptions {
            mask: !self.unmasked,
            outcome: !self.blind,
            ..RenderOptions::default()
        };
        let mut items = Vec::new();
        let mut groups = Vec::new();
        let mut kinds = Vec::new();
        let report = inputs::read(&self.paths, |file, episode| {
            let row = Row::of(&episode, Vec::new());
            if self.failed && !row.failed() {
                return Ok(());
            }
            let found = sensitive::check(&episode);
            kinds.extend(found.into_iter().map(|finding| finding.kind));
            groups.push((row.environment.clone(), row.failed()));
            items.push(Item {
                file: file.to_owned(),
                id: episode.id.clone(),
                name: episode.name.clone(),
                rendered: Arc::new(Rendered::of(&episode, &options)),
            });
            Ok(())
        })?;
        report.print();
        if let Some(count) = most {
            let chosen = sample(&groups, count, self.seed);
            let mut index = 0;
            items.retain(|_| {
                index += 1;
                chosen.binary_search(&(index - 1)).is_ok()
            });
        }
        if items.is_empty() {
            bail!("no trajectory is left to ask about");
        }
        Ok((items, sensitive::summary(kinds)))
    }

    fn settings(&self, question: Question, target: &Target) -> Result<AskSettings> {
        let price = match self.price {
            Some((input, output)) => Some(Price {
                input,
                output,
                cached: None,
                cache_write: None,
            }),
            None => Prices::default().of(&target.connection.model),
        };
        if self.max_cost.is_some() && price.is_none() {
            bail!(
                "the price of {} is not known, so --max-cost cannot be enforced; give --price IN,OUT, or --max-tokens instead",
                target.connection.model
            );
        }
        Ok(AskSettings {
            context: self.context,
            concurrency: self.concurrency.max(1),
            price,
            effort: self.model.effort(),
            temperature: self.model.temperature(),
            is_structured: self.structured,
            budget: Budget {
                tokens: self.max_tokens,
                cost: self.max_cost,
                ..Budget::default()
            },
            ..AskSettings::new(
                question,
                target.connection.kind,
                target.connection.model.clone(),
            )
        })
    }

    /// Asks whether to send, unless a limit was given.
    fn agree(&self, settings: &AskSettings) -> Result<()> {
        let has_limit = settings.budget.cost.is_some() || settings.budget.tokens.is_some();
        if self.yes || has_limit {
            return Ok(());
        }
        if !std::io::stdin().is_terminal() {
            bail!("there is no limit; give --max-cost or --max-tokens, or --yes");
        }
        eprint!("Send? [y/N] ");
        std::io::stderr().flush()?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line)?;
        if matches!(line.trim(), "y" | "Y" | "yes") {
            Ok(())
        } else {
            bail!("nothing was sent")
        }
    }

    /// Carries out the effects of a run until it ends or pauses.
    fn play(
        &self,
        mut run: AskRun,
        items: &[Item],
        client: &Client,
        file: &mut AnswersFile,
    ) -> Result<AskRun> {
        let (sender, events) = channel();
        let started = Instant::now();
        let mut wake = None;
        let mut open = 0_usize;
        let mut queue = vec![AskEvent::Resume];
        loop {
            let now = started.elapsed().as_secs_f64();
            while let Some(event) = queue.pop() {
                open -= usize::from(matches!(event, AskEvent::Replied { .. }));
                for effect in run.update(now, clock(), event) {
                    match effect {
                        AskEffect::Load { row } => queue.push(AskEvent::Loaded {
                            row,
                            rendered: match items.get(row) {
                                Some(item) => Ok(item.rendered.clone()),
                                None => Err("There is no such trajectory.".into()),
                            },
                        }),
                        AskEffect::Send { id, request } => {
                            open += 1;
                            client.send(id, *request, sender.clone());
                        }
                        AskEffect::Check { request, said } => {
                            let question = &run.settings().question;
                            queue.push(AskEvent::Checked {
                                request,
                                checked: match items.get(request.row) {
                                    Some(item) => {
                                        Ok(CheckedReply::of(question, &item.rendered, &said))
                                    }
                                    None => Err("There is no such trajectory.".into()),
                                },
                            });
                        }
                        // Their replies are ignored, and cost what was sent.
                        AskEffect::Abort(_) | AskEffect::Changed => {}
                        AskEffect::WakeAt(time) => wake = Some(time),
                        AskEffect::Store { row, mut record } => {
                            if let Some(item) = items.get(row) {
                                record.episode = item.id.clone();
                                record.name = item.name.clone();
                            }
                            file.append(&record)?;
                        }
                        AskEffect::Finished { .. } => report::print_progress(&run),
                    }
                }
            }
            let is_waiting = *run.phase() == AskPhase::Running && wake.is_some();
            if open == 0 && !is_waiting {
                return Ok(run);
            }
            queue.push(next(&events, wake.take(), started)?);
        }
    }
}

/// The next event: a reply, or a tick once the time to wake has come.
fn next(events: &Receiver<AskEvent>, wake: Option<f64>, started: Instant) -> Result<AskEvent> {
    let Some(wake) = wake else {
        return events.recv().context("all requests ended without a reply");
    };
    let wait = (wake - started.elapsed().as_secs_f64()).clamp(0.0, 600.0);
    match events.recv_timeout(Duration::from_secs_f64(wait)) {
        Ok(event) => Ok(event),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(AskEvent::Tick),
    }
}

/// Seconds since 1970.
fn clock() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// What will be sent, given the answers that are known.
fn plan(items: &[Item], settings: &AskSettings, known: &cache::AnswerCache) -> AskPlan {
    let room = room(settings.context, &settings.question);
    let mut keys = BTreeSet::new();
    let sizes = items.iter().map(|item| {
        let rendered = &item.rendered;
        let key = parts::answer_key(rendered, room, settings);
        // Equal trajectories are asked about once.
        let is_known = known.get(&key).is_some() || !keys.insert(key);
        RowSize {
            tokens: rendered.tokens(),
            is_cached: is_known,
        }
    });
    AskPlan::of(
        &sizes.collect::<Vec<_>>(),
        &settings.question,
        settings.context,
    )
}

/// Why a run did not end, for a person.
fn pause_text(pause: &AskPause) -> String {
    match pause {
        AskPause::Asked => "The run was stopped.".to_owned(),
        AskPause::Budget(limit) => format!("{limit} What is under way could have exceeded it."),
        AskPause::Problem(problem) => problem.to_string(),
    }
}

/// The states of a row, for a person.
fn value_text(row: RowView<'_>) -> (String, String) {
    match row {
        RowView::Waiting | RowView::Asking => ("(not asked)".to_owned(), String::new()),
        RowView::Failed(message) => ("(failed)".to_owned(), message.to_string()),
        RowView::Answered { record, .. } => (
            record.answer.value_text(),
            record.answer.support.as_str().to_owned(),
        ),
    }
}
