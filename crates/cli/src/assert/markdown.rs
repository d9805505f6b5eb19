//! A summary in Markdown, as CI shows it.

use super::Outcome;

/// The maximum number of listed matches.
const MOST: usize = 50;

/// Writes a table of the rules, and lists the first matches.
pub fn report(outcome: &Outcome) -> String {
    let mut text = format!(
        "## Rules over {} trajectories\n\n| rule | level | matching | {} |\n|---|---|---:|---:|---:|\n",
        outcome.episodes.len(),
        match &outcome.label {
            Some(label) => format!("of them {0} | of all {0}", cell(label)),
            None => "of them failed | of all failures".to_owned(),
        }
    );
    for (rule, fit) in outcome.rules.iter().zip(&outcome.fits) {
        let percent = |share: Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
        };
        let level = format!("{:?}", rule.level).to_lowercase();
        text.push_str(&format!(
            "| {} {} | {level} | {} | {} | {} |\n",
            cell(&rule.id),
            cell(&rule.title),
            fit.matching,
            percent(fit.precision()),
            percent(fit.recall())
        ));
    }
    if !outcome.violations.is_empty() {
        text.push_str("\n| rule | trajectory | step | act |\n|---|---|---:|---|\n");
    }
    for violation in outcome.violations.iter().take(MOST) {
        text.push_str(&format!(
            "| {} | {} {} | {} | {} |\n",
            cell(&violation.id),
            cell(&violation.file),
            cell(&violation.episode),
            violation.step,
            cell(&violation.what)
        ));
    }
    if let Some(more) = outcome
        .violations
        .len()
        .checked_sub(MOST)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("\n{more} more.\n"));
    }
    text
}

/// A text in the cell of a table, without markup.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for letter in text.chars().take(120) {
        match letter {
            letter if letter.is_control() => cell.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '&' => {
                cell.push('\\');
                cell.push(letter);
            }
            letter => cell.push(letter),
        }
    }
    cell
}
