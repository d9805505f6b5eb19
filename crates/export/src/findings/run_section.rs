//! A training run on a page of findings: its curves, its steps, and the groups of the trajectories of the page.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use volary_analysis::table::Row;
use volary_analysis::table::token_column::TokenColumn;
use volary_analysis::training::{Series, Spread, TrainingRun};

use super::super::html::Page;
use super::{cell, counted, figure, heading};

/// The maximum number of steps of a run in its table. Of more, the table shows as many, evenly.
const MOST_STEPS: usize = 40;
/// The maximum number of groups in the table of a run.
const MOST_GROUPS: usize = 60;

/// What the section shows.
pub(super) struct RunSection<'a> {
    run: &'a TrainingRun,
    /// The rows of the page, some of which are samples of the run.
    rows: &'a [Arc<Row>],
}

impl<'a> RunSection<'a> {
    pub fn of(run: &'a TrainingRun, rows: &'a [Arc<Row>]) -> RunSection<'a> {
        RunSection { run, rows }
    }

    /// Draws the section, whose heading is the title.
    pub fn draw(&self, page: &mut Page, title: &str) {
        let run = self.run;
        page.raw("<section aria-label=\"Training run\">\n<h2>");
        page.text(title);
        page.raw("</h2>\n<p>");
        page.text(&format!(
            "{}, {}.",
            counted(run.steps.len(), "step", "steps"),
            counted(run.samples.len(), "sample", "samples")
        ));
        if self.steps_here().next().is_some() {
            page.raw(" Dots and bold rows are the steps of the trajectories below.");
        }
        page.raw("</p>\n");
        let series = Series::of(run);
        if run.steps.len() > 1 {
            page.raw("<div class=\"curves\">\n");
            series.iter().for_each(|series| self.curve(page, series));
            page.raw("</div>\n");
        }
        self.steps(page, &series);
        self.groups(page);
        page.raw("</section>\n");
    }

    /// The indices of the steps that have trajectories of this page.
    fn steps_here(&self) -> impl Iterator<Item = usize> {
        let run = self.run;
        let has = |range: &Range<usize>| {
            run.samples_of(range)
                .iter()
                .any(|sample| self.has(&sample.row))
        };
        let steps = run.steps.iter().enumerate();
        steps.filter_map(move |(index, step)| has(&step.samples).then_some(index))
    }

    fn has(&self, row: &Row) -> bool {
        self.rows.iter().any(|known| known.id == row.id)
    }

    fn curve(&self, page: &mut Page, series: &Series) {
        let run = self.run;
        let points = series.points(run);
        let Some(plot) = Plot::of(
            &points
                .iter()
                .map(|point| (point.step, point.band))
                .collect::<Vec<_>>(),
        ) else {
            return;
        };
        let is_share = series.is_share();
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return;
        };
        let (first, last) = (figure(first.mean, is_share), figure(last.mean, is_share));
        page.raw("<figure>\n<figcaption>");
        page.text(series.name());
        page.raw(" <span class=\"quiet\">");
        page.text(&format!("{first} → {last}"));
        page.raw("</span></figcaption>\n<svg viewBox=\"0 0 320 120\" role=\"img\" aria-label=\"");
        page.text(&format!(
            "{} over steps, from {first} to {last}",
            series.name()
        ));
        page.tag(format_args!(
            "\">\n<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>\n"
        ));
        let upper = points.iter().map(|point| plot.at(point.step, point.band.1));
        let lower = points
            .iter()
            .rev()
            .map(|point| plot.at(point.step, point.band.0));
        page.tag(format_args!(
            "<polygon class=\"band\" points=\"{}\"/>\n",
            joined(upper.chain(lower))
        ));
        let mean = points.iter().map(|point| plot.at(point.step, point.mean));
        page.tag(format_args!(
            "<polyline class=\"mean\" points=\"{}\"/>\n",
            joined(mean)
        ));
        for index in self.steps_here() {
            if let Some(point) = series.point(run, index) {
                let (x, y) = plot.at(point.step, point.mean);
                page.tag(format_args!(
                    "<circle class=\"here\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n"
                ));
            }
        }
        let marks = [
            (
                LEFT - 4.0,
                TOP + 4.0,
                "end",
                figure(plot.values.1, is_share),
            ),
            (LEFT - 4.0, BOTTOM, "end", figure(plot.values.0, is_share)),
            (LEFT, BOTTOM + 12.0, "start", plot.steps.0.to_string()),
            (RIGHT, BOTTOM + 12.0, "end", plot.steps.1.to_string()),
        ];
        for (x, y, anchor, text) in marks {
            page.tag(format_args!(
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">"
            ));
            page.text(&text);
            page.raw("</text>\n");
        }
        page.raw("</svg>\n</figure>\n");
    }

    fn steps(&self, page: &mut Page, series: &[Series]) {
        let run = self.run;
        let here: Vec<usize> = self.steps_here().collect();
        let every = run.steps.len().div_ceil(MOST_STEPS).max(1);
        page.raw("<details open><summary>Steps</summary>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>");
        ["Step", "Samples", "Groups"]
            .iter()
            .for_each(|name| heading(page, name));
        series
            .iter()
            .for_each(|series| heading(page, series.name()));
        page.raw("</tr></thead>\n<tbody>\n");
        let last = run.steps.len().saturating_sub(1);
        for (index, step) in run.steps.iter().enumerate() {
            let is_here = here.contains(&index);
            if index % every != 0 && index != last && !is_here {
                continue;
            }
            page.raw(if is_here {
                "<tr class=\"chosen\">"
            } else {
                "<tr>"
            });
            for number in [
                step.step.to_string(),
                step.samples.len().to_string(),
                step.group_count().to_string(),
            ] {
                cell(page, &number);
            }
            for series in series {
                let mean = series.point(run, index).map(|point| point.mean);
                cell(
                    page,
                    &mean
                        .map(|mean| figure(mean, series.is_share()))
                        .unwrap_or_default(),
                );
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n</details>\n");
    }

    /// The groups that have trajectories of this page.
    fn groups(&self, page: &mut Page) {
        let run = self.run;
        let of_step = |index: usize| {
            let step = run.steps.get(index)?;
            let has = |range: &Range<usize>| {
                run.samples_of(range)
                    .iter()
                    .any(|sample| self.has(&sample.row))
            };
            let groups = step.groups.iter().filter(move |group| has(&group.samples));
            Some(groups.map(|group| (step.step, group)))
        };
        let groups = self.steps_here().filter_map(of_step).flatten();
        let groups: Vec<_> = groups.filter(|(_, group)| group.key.is_some()).collect();
        if groups.is_empty() {
            return;
        }
        page.raw("<details open><summary>Groups of the trajectories below</summary>\n<div class=\"wide\"><table class=\"figures\">\n<thead><tr>");
        [
            "Group",
            "Step",
            "Samples",
            "Mean reward",
            "Lowest",
            "Highest",
            "Mean response tokens",
        ]
        .iter()
        .for_each(|name| heading(page, name));
        page.raw("</tr></thead>\n<tbody>\n");
        for (step, group) in groups.iter().take(MOST_GROUPS) {
            page.raw("<tr>");
            cell(page, &group.name());
            let samples = run.samples_of(&group.samples);
            let lengths = samples
                .iter()
                .map(|sample| TokenColumn::Response.value(&sample.row));
            let lengths = Spread::of(lengths);
            let (low, high) = group.reward.range().unzip();
            cell(page, &step.to_string());
            cell(page, &samples.len().to_string());
            for value in [group.reward.mean, low, high, lengths.mean] {
                cell(
                    page,
                    &value.map(|value| figure(value, false)).unwrap_or_default(),
                );
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n");
        if let Some(more) = groups
            .len()
            .checked_sub(MOST_GROUPS)
            .filter(|more| *more > 0)
        {
            page.text(&format!("{} more.", counted(more, "group", "groups")));
        }
        page.raw("</details>\n");
    }
}

/// The area of a curve.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 312.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 100.0;

/// The scale of a curve.
struct Plot {
    steps: (i64, i64),
    values: (f64, f64),
}

impl Plot {
    /// The scale that contains all bands; `None` without any.
    fn of(bands: &[(i64, (f64, f64))]) -> Option<Plot> {
        let (first, last) = (bands.first()?.0, bands.last()?.0);
        let ends = bands.iter().map(|(_, band)| *band);
        let (low, high) = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
        Some(Plot {
            steps: (first, last),
            values: (low, high),
        })
    }

    fn at(&self, step: i64, value: f64) -> (f64, f64) {
        let share = |value: f64, low: f64, high: f64| {
            if high > low {
                (value - low) / (high - low)
            } else {
                0.5
            }
        };
        let x = share(step as f64, self.steps.0 as f64, self.steps.1 as f64);
        let y = share(value, self.values.0, self.values.1);
        (LEFT + x * (RIGHT - LEFT), BOTTOM - y * (BOTTOM - TOP))
    }
}

fn joined(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (x, y) in points {
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text
}
