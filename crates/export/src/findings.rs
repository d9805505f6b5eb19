//! What someone found in trajectories, as a self-contained page for others: claims, notes and tags, the noted steps with their
//! messages and figures of tokens, and the training runs that the trajectories belong to, with curves and tables.
//!
//! The page is written in pieces, so that one episode is in memory at a time: [`Findings::head`], then
//! [`Findings::episode`] for each, then [`END`].
//!
//! Invariants: those of [`html`](super::html): nothing in an episode or note becomes markup, and the page's policy forbids
//! scripts and requests. A figure that is unknown has an empty cell.

mod run_section;

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use volary_analysis::annotations::tags::tag_of;
use volary_analysis::annotations::{Annotation, Annotations, Target, Verdict};
use volary_analysis::sensitive::masked_text;
use volary_analysis::table::token_column::TokenColumn;
use volary_analysis::table::{Cell, Column, Row};
use volary_analysis::training::TrainingRun;
use volary_core::json::Text;
use volary_episode::diff::Segment;
use volary_episode::episode::Episode;
use volary_episode::history::{Root, StatePath};
use volary_episode::passages::{TextPart, TextPosition};
use volary_episode::token_record::TokenRecord;

use super::html::{Mark, Page};
use run_section::RunSection;

/// The end of a page.
pub const END: &str = "</main>\n</body>\n</html>\n";

const STYLE: &str = "\
body{max-width:64rem}nav ul,.notes{padding-left:1.2rem}.wide{overflow-x:auto}\
.figures{font-variant-numeric:tabular-nums}.figures th[scope=col]{white-space:nowrap}\
.figures td,.figures th{padding-right:.9rem}.figures td+td,.figures thead th+th{text-align:right;white-space:nowrap}.figures .words{text-align:left;white-space:normal}\
.chosen{font-weight:600}.curves{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}\
figure{margin:0}figcaption{font-weight:600}svg{width:100%;height:auto;display:block;overflow:visible}\
svg text{font:10px system-ui,sans-serif;fill:var(--quiet)}.axis{fill:none;stroke:var(--line);stroke-width:1}\
.band{fill:#3b6fd4;opacity:.18}.mean{fill:none;stroke:#3b6fd4;stroke-width:2}.here{fill:#c2570c}\
.note{border:1px solid var(--line);border-radius:6px;padding:.5rem .75rem;margin:.75rem 0;background:var(--fill)}\
.note p{margin:.25rem 0;white-space:pre-wrap}blockquote{margin:.25rem 0;padding-left:.75rem;border-left:3px solid var(--line);white-space:pre-wrap}\
.tag{border:1px solid var(--line);border-radius:9px;padding:0 .5rem;font-size:.85rem}mark{background:#ffd54a;color:#222}\
.episode{border-top:2px solid var(--line);margin-top:2.5rem}";

/// The number of steps that are shown before and after a noted step.
const AROUND: usize = 1;
/// The number of steps that are shown of an episode without notes on a step, at either end.
const ENDS: usize = 3;

/// A training run that some of the trajectories belong to.
#[derive(Clone, Debug)]
pub struct FoundRun {
    pub title: String,
    pub run: TrainingRun,
}

/// A claim over several trajectories, as pieces of its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundClaim {
    pub pieces: Vec<FoundPiece>,
}

/// A piece of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundPiece {
    pub text: Text,
    /// The id of the trajectory that it cites.
    pub episode: Option<Text>,
}

/// What a page is about.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub title: Text,
    /// The rows of the trajectories, in the order of the page.
    pub rows: Vec<Arc<Row>>,
    /// All notes. Those on other trajectories are left out.
    pub notes: Annotations,
    pub runs: Vec<FoundRun>,
    /// Claims that cite the trajectories.
    pub claims: Vec<FoundClaim>,
}

impl Findings {
    /// With keys, passwords and addresses masked in names, tags and notes. Episodes are masked by the caller.
    #[must_use]
    pub fn masked(mut self) -> Findings {
        let mask = |text: &Text| Text::from(masked_text(text));
        self.title = mask(&self.title);
        for row in &mut self.rows {
            let row = Arc::make_mut(row);
            row.name = mask(&row.name);
            row.run = row.run.as_ref().map(mask);
            row.tags = row.tags.iter().map(mask).collect();
            if let Some(task) = &mut row.task {
                task.id = mask(&task.id);
            }
        }
        let notes = self.notes.iter().cloned().map(|mut note| {
            note.text = mask(&note.text);
            note.label = note.label.as_ref().map(mask);
            note.author = mask(&note.author);
            if let Target::Passage { quote, .. } = &mut note.target {
                *quote = mask(quote);
            }
            note
        });
        self.notes = notes.collect();
        let pieces = self.claims.iter_mut().flat_map(|claim| &mut claim.pieces);
        for piece in pieces {
            piece.text = mask(&piece.text);
        }
        self
    }

    /// The page up to its episodes.
    pub fn head(&self) -> String {
        let mut page = Page::begin(&self.title, STYLE);
        let notes: usize = (0..self.rows.len())
            .map(|index| self.notes_of(index).len())
            .sum();
        let trajectories = counted(self.rows.len(), "trajectory", "trajectories");
        page.raw("<p>");
        page.text(&if self.rows.is_empty() {
            "No trajectory has a note or a tag.".to_owned()
        } else {
            format!("{trajectories}, {}.", counted(notes, "note", "notes"))
        });
        page.raw("</p>\n</header>\n<main>\n");
        self.list_of_claims(&mut page);
        self.list_of_notes(&mut page);
        for found in &self.runs {
            RunSection::of(&found.run, &self.rows).draw(&mut page, &found.title);
        }
        self.table(&mut page);
        page.into_text()
    }

    /// The section of an episode, by the index of its row.
    pub fn episode(&self, index: usize, episode: &Episode) -> String {
        let mut page = Page::default();
        let Some(row) = self.rows.get(index) else {
            return String::new();
        };
        let notes = self.notes_of(index);
        let number = index + 1;
        page.tag(format_args!(
            "<section class=\"episode\" id=\"e{number}\">\n<h2>{number}. "
        ));
        page.text(name(row));
        page.raw("</h2>\n");
        tags(&mut page, row);
        page.summary(episode);
        figures(&mut page, row);
        let on_whole = notes
            .iter()
            .filter(|(_, note)| note.target.step().is_none());
        on_whole.for_each(|(id, note)| self.note(&mut page, id, note));
        let noted: Vec<usize> = notes
            .iter()
            .filter_map(|(_, note)| note.target.step())
            .collect();
        let record = TokenRecord::of(episode).and_then(Result::ok);
        let mut hidden = 0..0;
        for step in 0..=episode.steps.len() {
            if !is_shown(step, &noted, episode.steps.len()) {
                hidden = if hidden.end == step {
                    hidden.start..step + 1
                } else {
                    step..step + 1
                };
                continue;
            }
            left_out(&mut page, &hidden);
            hidden = step + 1..step + 1;
            let own: Vec<_> = notes
                .iter()
                .filter(|(_, note)| note.target.step() == Some(step))
                .collect();
            page.tag(format_args!("<div id=\"e{number}-s{step}\">\n"));
            own.iter()
                .for_each(|(id, note)| self.note(&mut page, id, note));
            let marks: Vec<Mark> = own
                .iter()
                .filter_map(|(_, note)| mark(note, episode))
                .collect();
            match step
                .checked_sub(1)
                .and_then(|index| episode.steps.get(index))
            {
                Some(record) => page.step(step, record, episode, &marks),
                None => page.start(episode, &marks),
            }
            if let Some(record) = record.as_deref().filter(|_| !own.is_empty()) {
                tokens(&mut page, record, step);
            }
            page.raw("</div>\n");
        }
        left_out(&mut page, &hidden);
        page.raw("</section>\n");
        page.into_text()
    }

    /// The notes on a trajectory with their ids on the page, by step. Tags are no notes.
    fn notes_of(&self, index: usize) -> Vec<(String, &Annotation)> {
        let Some(row) = self.rows.get(index) else {
            return Vec::new();
        };
        let notes = self.notes.of_episode(&row.id).into_iter();
        let notes = notes.filter(|note| tag_of(note).is_none()).enumerate();
        notes
            .map(|(number, note)| (format!("n{}-{}", index + 1, number + 1), note))
            .collect()
    }

    /// The claims. Each citation leads to the section of its trajectory.
    fn list_of_claims(&self, page: &mut Page) {
        if self.claims.is_empty() {
            return;
        }
        page.raw("<section>\n<h2>Findings</h2>\n<ul class=\"notes\">\n");
        for claim in &self.claims {
            page.raw("<li>");
            for piece in &claim.pieces {
                let cited = piece.episode.as_ref().and_then(|id| {
                    let mut rows = self.rows.iter();
                    rows.position(|row| row.id == *id)
                });
                match cited {
                    Some(index) => {
                        page.tag(format_args!("<a href=\"#e{}\">", index + 1));
                        page.text(&piece.text);
                        page.raw("</a>");
                    }
                    None => page.text(&piece.text),
                }
            }
            page.raw("</li>\n");
        }
        page.raw("</ul>\n</section>\n");
    }

    fn list_of_notes(&self, page: &mut Page) {
        let all = (0..self.rows.len()).flat_map(|index| {
            let notes = self.notes_of(index).into_iter();
            notes.map(move |(id, note)| (index, id, note))
        });
        let all: Vec<_> = all.collect();
        if all.is_empty() {
            return;
        }
        page.raw("<nav aria-label=\"Notes\">\n<h2>Notes</h2>\n<ul>\n");
        for (index, id, note) in all {
            page.tag(format_args!("<li><a href=\"#{id}\">"));
            page.text(self.rows.get(index).map_or("", |row| name(row)));
            page.text(&where_text(&note.target));
            page.raw("</a>: ");
            judgement(page, note);
            page.text(first_line(&note.text));
            page.raw("</li>\n");
        }
        page.raw("</ul>\n</nav>\n");
    }

    fn note(&self, page: &mut Page, id: &str, note: &Annotation) {
        page.tag(format_args!(
            "<aside class=\"note\" id=\"{id}\" aria-label=\"Note\">\n<p>"
        ));
        judgement(page, note);
        if !note.author.is_empty() {
            page.raw("<span class=\"quiet\">");
            page.text(&note.author);
            page.raw("</span>");
        }
        page.raw("</p>\n");
        if let Target::Passage { quote, .. } = &note.target {
            page.raw("<blockquote>");
            page.text(quote);
            page.raw("</blockquote>\n");
        }
        if let Target::State { part, .. } = &note.target {
            page.raw("<p class=\"quiet\">");
            page.text(&format!("State: {}", path_text(part)));
            page.raw("</p>\n");
        }
        page.raw("<p>");
        page.text(&note.text);
        page.raw("</p>\n</aside>\n");
    }

    /// The table of all trajectories. Columns without any value are left out, and so is a table without rows.
    fn table(&self, page: &mut Page) {
        if self.rows.is_empty() {
            return;
        }
        let fixed = [
            Column::Task,
            Column::Model,
            Column::Metadata(vec!["step".into()]),
            Column::Metadata(vec!["group".into()]),
            Column::Reward,
            Column::Steps,
            Column::RecordedTokens,
        ];
        let figures = [
            TokenColumn::TrainedShare,
            TokenColumn::Advantage,
            TokenColumn::Entropy,
            TokenColumn::Divergence,
            TokenColumn::Mismatch,
        ];
        let columns = fixed.into_iter().chain(figures.map(Column::TokenFigure));
        let is_known =
            |column: &Column| self.rows.iter().any(|row| row.cell(column) != Cell::Empty);
        let columns: Vec<Column> = columns.filter(is_known).collect();
        page.raw("<section aria-label=\"Trajectories\">\n<h2>Trajectories</h2>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>");
        heading(page, "Name");
        columns.iter().for_each(|column| {
            if is_text(column) {
                page.raw("<th scope=\"col\" class=\"words\">");
                page.text(&title(column));
                page.raw("</th>");
            } else {
                heading(page, &title(column))
            }
        });
        page.raw("</tr></thead>\n<tbody>\n");
        for (index, row) in self.rows.iter().enumerate() {
            page.tag(format_args!("<tr><td><a href=\"#e{}\">", index + 1));
            page.text(name(row));
            page.raw("</a> ");
            tags(page, row);
            page.raw("</td>");
            for column in &columns {
                if is_text(column) {
                    page.raw("<td class=\"words\">");
                    page.text(&row.cell(column).to_text());
                    page.raw("</td>");
                    continue;
                }
                let is_share = *column == Column::TokenFigure(TokenColumn::TrainedShare);
                cell(
                    page,
                    &match row.cell(column) {
                        Cell::Number(number) => figure(number, is_share),
                        cell => cell.to_text(),
                    },
                );
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n</section>\n");
    }
}

/// Whether a step is shown: those around the noted ones, otherwise both ends of the episode.
fn is_shown(step: usize, noted: &[usize], last: usize) -> bool {
    if noted.is_empty() {
        step <= ENDS || step + ENDS > last
    } else {
        noted.iter().any(|noted| step.abs_diff(*noted) <= AROUND)
    }
}

fn left_out(page: &mut Page, steps: &Range<usize>) {
    if steps.is_empty() {
        return;
    }
    let name = |step: usize| match step {
        0 => "The start".to_owned(),
        step => format!("Step {step}"),
    };
    page.raw("<p class=\"quiet\">");
    page.text(&match steps.len() {
        1 => format!("{} is not shown.", name(steps.start)),
        _ => format!(
            "{} to step {} are not shown.",
            name(steps.start),
            steps.end - 1
        ),
    });
    page.raw("</p>\n");
}

/// The characters of a content that a note is on.
fn mark(note: &Annotation, episode: &Episode) -> Option<Mark> {
    match &note.target {
        Target::Passage {
            position:
                TextPosition {
                    message,
                    part: TextPart::Content,
                    ..
                },
            ..
        } => Some(Mark {
            message: *message,
            range: note.target.locate(episode)?,
        }),
        _ => None,
    }
}

/// The tokens of the messages of a step, with the mean of each stream.
fn tokens(page: &mut Page, record: &TokenRecord, step: usize) {
    let parts = record.parts.iter();
    let parts: Vec<_> = parts
        .filter(|part| part.step == step && !part.range.is_empty())
        .collect();
    if parts.is_empty() {
        return;
    }
    let names = record.stream_names();
    page.raw("<details open><summary>Tokens of this step</summary>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>");
    ["Message", "Tokens", "From", "Trained"]
        .iter()
        .for_each(|name| heading(page, name));
    names
        .iter()
        .for_each(|name| heading(page, &format!("Mean {name}")));
    page.raw("</tr></thead>\n<tbody>\n");
    for part in parts {
        page.raw("<tr>");
        cell(
            page,
            &match (step, part.message) {
                (0, message) => format!("Message {}", message + 1),
                (_, 0) => "Action".to_owned(),
                (_, message) => format!("Observation {message}"),
            },
        );
        cell(page, &part.range.len().to_string());
        cell(page, &part.range.start.to_string());
        let trained = part
            .range
            .clone()
            .filter(|token| record.is_trained(*token))
            .count();
        cell(
            page,
            &if record.is_mask_known {
                trained.to_string()
            } else {
                String::new()
            },
        );
        for name in &names {
            let mean = record
                .stream(name)
                .and_then(|stream| stream.figures(|token| part.range.contains(&token)).mean);
            cell(
                page,
                &mean.map(|mean| figure(mean, false)).unwrap_or_default(),
            );
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n</details>\n");
}

/// The figures of tokens of a trajectory.
fn figures(page: &mut Page, row: &Row) {
    let Some(figures) = &row.token_figures else {
        return;
    };
    let fixed = TokenColumn::FIXED.into_iter();
    let streams = figures
        .means
        .iter()
        .map(|(name, _)| TokenColumn::Stream(name.clone()));
    page.raw("<details><summary>Figures of its tokens</summary>\n<table>\n");
    for column in fixed.chain(streams) {
        if let Some(value) = column.value(row) {
            page.raw("<tr><th scope=\"row\">");
            page.text(&column.heading());
            page.raw("</th><td>");
            page.text(&figure(value, column == TokenColumn::TrainedShare));
            page.raw("</td></tr>\n");
        }
    }
    page.raw("</table>\n</details>\n");
}

fn tags(page: &mut Page, row: &Row) {
    for tag in &row.tags {
        page.raw("<span class=\"tag\">");
        page.text(tag);
        page.raw("</span> ");
    }
}

/// The verdict and the label of a note.
fn judgement(page: &mut Page, note: &Annotation) {
    match note.verdict {
        Some(Verdict::Good) => page.raw("<strong class=\"good\">good</strong> "),
        Some(Verdict::Bad) => page.raw("<strong class=\"bad\">bad</strong> "),
        Some(Verdict::Unsure) => page.raw("<strong>unsure</strong> "),
        None => {}
    }
    if let Some(label) = note.label.as_ref().filter(|label| !label.is_empty()) {
        page.raw("<span class=\"tag\">");
        page.text(label);
        page.raw("</span> ");
    }
}

fn heading(page: &mut Page, name: &str) {
    page.raw("<th scope=\"col\">");
    page.text(name);
    page.raw("</th>");
}

fn cell(page: &mut Page, text: &str) {
    page.raw("<td>");
    page.text(text);
    page.raw("</td>");
}

/// Whether the cells of a column are texts.
fn is_text(column: &Column) -> bool {
    matches!(column, Column::Task | Column::Model)
}

fn title(column: &Column) -> String {
    match column {
        Column::Task => "Task".to_owned(),
        Column::Model => "Model".to_owned(),
        Column::Reward => "Reward".to_owned(),
        Column::Steps => "Turns".to_owned(),
        Column::RecordedTokens => "Tokens".to_owned(),
        Column::TokenFigure(column) => column.heading(),
        Column::Metadata(path) => match path.first().map(AsRef::as_ref) {
            Some("step") => "Step".to_owned(),
            _ => "Group".to_owned(),
        },
        _ => String::new(),
    }
}

fn name(row: &Row) -> &str {
    match row.name.trim() {
        "" => &row.id,
        name => name,
    }
}

fn where_text(target: &Target) -> String {
    match target.step() {
        None => String::new(),
        Some(0) => ", start".to_owned(),
        Some(step) => format!(", step {step}"),
    }
}

/// A path of the state: `state.items[2]`.
fn path_text(part: &StatePath) -> String {
    let mut text = match part.root {
        Root::State => "state".to_owned(),
        Root::Info => "info".to_owned(),
    };
    for segment in &part.path {
        // Writing to a string does not fail.
        let _ = match segment {
            Segment::Key(key) => write!(text, ".{key}"),
            Segment::Index(index) => write!(text, "[{index}]"),
        };
    }
    text
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A figure with at most four significant digits.
fn figure(value: f64, is_share: bool) -> String {
    if is_share {
        return format!("{}%", figure((value * 1000.0).round() / 10.0, false));
    }
    let size = value.abs();
    if !value.is_finite() || size == 0.0 {
        return value.to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use volary_core::{Message, Role, object};
    use volary_episode::episode::{Outcome, StepRecord};

    use super::*;

    const HOSTILE: &str = "<script>alert(1)</script>\" onload='x'";

    fn episode(id: &str, steps: usize) -> Episode {
        let step = |number: usize| {
            let outcome = Outcome::Observed {
                messages: vec![Message::user(format!("{HOSTILE} seen {number}")).into()],
                reward: 0.0,
                done: false,
                truncated: false,
            };
            let said = Message::new(Role::Assistant, format!("said {number}"));
            StepRecord::new(said.into(), outcome)
        };
        Episode {
            id: id.into(),
            name: HOSTILE.into(),
            start: vec![Message::user("Begin").into()],
            steps: (1..=steps).map(step).collect(),
            metadata: object!({ "step": 3, "group": HOSTILE }),
            ..Episode::default()
        }
    }

    fn findings(episodes: &[Episode], notes: Vec<Annotation>) -> Findings {
        let rows = episodes
            .iter()
            .map(|episode| Arc::new(Row::of(episode, vec![HOSTILE.into()])));
        let rows: Vec<Arc<Row>> = rows.collect();
        Findings {
            title: HOSTILE.into(),
            runs: vec![FoundRun {
                title: HOSTILE.to_owned(),
                run: TrainingRun::of(&rows, None),
            }],
            rows,
            notes: notes.into_iter().collect(),
            claims: Vec::new(),
        }
    }

    #[test]
    fn without_findings_the_page_says_so_and_shows_no_empty_table() {
        let page = findings(&[], Vec::new()).head();
        assert!(
            page.contains("No trajectory has a note or a tag."),
            "{page}"
        );
        assert!(!page.contains("<h2>Trajectories</h2>"), "{page}");
    }

    #[test]
    fn claims_lead_to_the_trajectories_that_they_cite() {
        let mut findings = findings(&[episode("a", 1), episode("b", 1)], Vec::new());
        let piece = |text: &str, episode: Option<&str>| FoundPiece {
            text: text.into(),
            episode: episode.map(Text::from),
        };
        findings.claims = vec![FoundClaim {
            pieces: vec![
                piece(HOSTILE, None),
                piece("[A7]", Some("b")),
                piece("[A8]", Some("gone")),
            ],
        }];
        let page = findings.head();
        assert!(page.contains("<a href=\"#e2\">[A7]</a>[A8]"), "{page}");
        assert!(!page.contains("<script"), "{page}");
    }

    #[test]
    fn noted_steps_are_shown_with_their_words_marked() {
        let episode = episode("a", 9);
        let note = Annotation {
            id: "1".into(),
            episode: "a".into(),
            target: Target::Passage {
                position: TextPosition {
                    step: 5,
                    message: 0,
                    part: TextPart::Content,
                },
                start: 0,
                end: 4,
                quote: "said".into(),
            },
            text: format!("{HOSTILE}\nsecond line").into(),
            label: Some(HOSTILE.into()),
            verdict: Some(Verdict::Bad),
            author: HOSTILE.into(),
            ..Annotation::default()
        };
        let other = Annotation {
            id: "2".into(),
            episode: "b".into(),
            text: "elsewhere".into(),
            ..Annotation::default()
        };
        let findings = findings(std::slice::from_ref(&episode), vec![note, other]);
        let page = findings.head() + &findings.episode(0, &episode) + END;
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("onload='"));
        assert!(page.contains("default-src &#39;none&#39;"));
        assert!(page.contains("<a href=\"#n1-1\">") && page.contains("id=\"n1-1\""));
        assert!(page.contains("<mark>said</mark> 5"), "{page}");
        assert!(page.contains("The start to step 3 are not shown."));
        assert!(page.contains("Step 7 to step 9 are not shown."));
        assert!(page.contains("said 4") && !page.contains("said 3"));
        assert!(!page.contains("elsewhere"));
        assert!(page.contains("1 trajectory, 1 note."));
        assert_eq!(
            page.matches("<section").count(),
            page.matches("</section>").count()
        );
        assert_eq!(page.matches("<div").count(), page.matches("</div>").count());
    }

    #[test]
    fn a_run_has_curves_and_tables() {
        let samples = (0..6).map(|index| {
            let mut episode = episode(&format!("e{index}"), 1);
            episode.metadata = object!({ "step": (index / 2), "group": 1 });
            episode.rewards = volary_episode::episode::Rewards::Whole(f64::from(index % 2));
            episode
        });
        let samples: Vec<Episode> = samples.collect();
        let mut findings = findings(&samples, Vec::new());
        findings.rows.drain(1..);
        let page = findings.head();
        assert!(page.contains("3 steps, 6 samples."));
        assert_eq!(
            page.matches("<circle").count(),
            page.matches("<svg").count()
        );
        assert_eq!(page.matches("<tr class=\"chosen\">").count(), 1);
        assert!(page.contains("Group 1"), "{page}");
        assert!(page.contains("aria-label=\"Reward over steps, from 0.5 to 0.5\""));
    }

    #[test]
    fn secrets_in_notes_and_names_are_masked() {
        let key = format!("sk-ant-api03-{}", "a1B2".repeat(20));
        let mut episode = episode("a", 1);
        episode.name = format!("with {key}").into();
        let note = Annotation {
            id: "1".into(),
            episode: "a".into(),
            text: key.clone().into(),
            ..Annotation::default()
        };
        let findings = findings(&[episode], vec![note]);
        assert!(findings.head().contains(&key));
        assert!(!findings.masked().head().contains(&key));
    }

    #[test]
    fn figures_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.123456, "-0.1235"),
            (12345.6, "12346"),
            (0.00001234, "1.23e-5"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(figure(value, false), text);
        }
        assert_eq!(figure(0.25, true), "25%");
    }
}
