//! The view of a table as a part of an address: search, filters, order, groups, columns and position.
//!
//! Invariants: [`View::read`] never fails and skips unknown parts; it restores the view that [`View::to_query`] wrote.
//! The default view is the empty query. Values are percent-encoded piece by piece, so `~` and `/` separate pieces.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use volary_core::json::Text;

use super::Column;
use super::filter::Filter;
use super::groups::GroupOrder;
use super::narrowing::{ActName, Narrowing};
use super::order::Direction;
use super::token_column::TokenColumn;
use crate::behaviour::diagnostics::DiagnosticKind;

/// The maximum number of grouping columns.
pub const MOST_GROUPS: usize = 2;

/// The escaped characters of a piece: everything but letters, digits and a few signs that are not separators.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// The visible part of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The search terms.
    pub search: String,
    /// The filters that all rows must pass.
    pub filters: Vec<(Column, Filter)>,
    /// The sort column.
    pub sort: Option<(Column, Direction)>,
    /// The grouping columns, at most [`MOST_GROUPS`].
    pub groups: Vec<Column>,
    /// The sort key of groups; `None` for order of appearance.
    pub group_sort: Option<(GroupOrder, Direction)>,
    /// The two columns of the chart, if it is shown.
    pub chart: Option<(Column, Column)>,
    /// The visible columns; `None` for the default ones.
    pub columns: Option<Vec<Column>>,
    /// The behaviour that all rows have in common, if the table is narrowed to that.
    pub narrowing: Option<Narrowing>,
    /// The first visible row.
    pub first: usize,
}

impl View {
    /// Parses the query of an address, without its question mark.
    pub fn read(query: &str) -> View {
        let mut view = View::default();
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match key {
                "q" => view.search = decoded(value).into_owned(),
                "filter" => view.filters.extend(read_filter(value)),
                "sort" => view.sort = read_sort(value),
                "group" => {
                    let columns = value.split('~').filter_map(read_column);
                    view.groups = columns.take(MOST_GROUPS).collect();
                }
                "chart" => {
                    let mut columns = value.split('~').filter_map(read_column);
                    view.chart = columns.next().zip(columns.next());
                }
                "group-sort" => view.group_sort = read_group_sort(value),
                "columns" => {
                    view.columns = Some(value.split('~').filter_map(read_column).collect());
                }
                "behaviour" => view.narrowing = read_narrowing(value),
                "row" => view.first = value.parse().unwrap_or_default(),
                _ => {}
            }
        }
        view
    }

    /// Serializes the query of an address, without its question mark.
    pub fn to_query(&self) -> String {
        let mut pairs = Vec::new();
        let mut put = |key: &str, value: String| pairs.push(format!("{key}={value}"));
        if !self.search.is_empty() {
            put("q", encoded(&self.search));
        }
        for (column, filter) in &self.filters {
            put("filter", filter_text(column, filter));
        }
        if let Some((column, direction)) = &self.sort {
            put(
                "sort",
                format!("{}~{}", column_text(column), sign(*direction)),
            );
        }
        if !self.groups.is_empty() {
            put("group", columns_text(&self.groups));
        }
        if let Some((order, direction)) = &self.group_sort {
            put(
                "group-sort",
                format!("{}~{}", order.name(), sign(*direction)),
            );
        }
        if let Some((first, second)) = &self.chart {
            put("chart", columns_text(&[first.clone(), second.clone()]));
        }
        if let Some(columns) = &self.columns {
            put("columns", columns_text(columns));
        }
        if let Some(narrowing) = &self.narrowing {
            put("behaviour", narrowing_text(narrowing));
        }
        if self.first > 0 {
            put("row", self.first.to_string());
        }
        pairs.join("&")
    }
}

/// The names of the columns that every table has.
const NAMES: [(&str, Column); 26] = [
    ("name", Column::Name),
    ("environment", Column::Environment),
    ("model", Column::Model),
    ("agent", Column::Agent),
    ("task", Column::Task),
    ("run", Column::Run),
    ("reward", Column::Reward),
    ("steps", Column::Steps),
    ("calls", Column::Calls),
    ("tokens", Column::Tokens),
    ("sequence-tokens", Column::RecordedTokens),
    ("trained-tokens", Column::TrainedTokens),
    ("cost", Column::Cost),
    ("time", Column::Time),
    ("started", Column::Started),
    ("outcome", Column::Outcome),
    ("tags", Column::Tags),
    ("origin", Column::Origin),
    ("added", Column::Added),
    ("size", Column::Size),
    ("errors", Column::Errors),
    ("repeated-calls", Column::RepeatedCalls),
    ("notes", Column::Notes),
    ("labels", Column::Labels),
    ("verdict", Column::Verdict),
    ("cluster", Column::Cluster),
];

/// The name of a column in an address.
pub fn column_text(column: &Column) -> String {
    match column {
        Column::Score(name) => format!("score/{}", encoded(name)),
        Column::Answer(question) => format!("answer/{}", encoded(question)),
        Column::AnswerQuotes(question) => format!("quotes/{}", encoded(question)),
        Column::TokenFigure(TokenColumn::Stream(name)) => format!("mean/{}", encoded(name)),
        Column::TokenFigure(column) => column.name().to_owned(),
        Column::Diagnostic(kind) => format!("diagnostic/{}", kind.name()),
        Column::Metadata(path) => {
            let path = path.iter().map(|key| format!("/{}", encoded(key)));
            format!("metadata{}", path.collect::<String>())
        }
        column => {
            let known = NAMES.iter().find(|(_, known)| known == column);
            known.map(|(name, _)| *name).unwrap_or_default().to_owned()
        }
    }
}

fn columns_text(columns: &[Column]) -> String {
    let columns: Vec<String> = columns.iter().map(column_text).collect();
    columns.join("~")
}

/// Parses a name written by [`column_text`]; `None` if it is invalid.
pub fn read_column(text: &str) -> Option<Column> {
    let mut pieces = text.split('/');
    match (pieces.next()?, pieces.clone().count()) {
        ("score", 1) => Some(Column::Score(decoded(pieces.next()?).as_ref().into())),
        ("answer", 1) => Some(Column::Answer(decoded(pieces.next()?).as_ref().into())),
        ("quotes", 1) => Some(Column::AnswerQuotes(
            decoded(pieces.next()?).as_ref().into(),
        )),
        ("mean", 1) => Some(Column::TokenFigure(TokenColumn::Stream(
            decoded(pieces.next()?).as_ref().into(),
        ))),
        ("diagnostic", 1) => DiagnosticKind::read(pieces.next()?).map(Column::Diagnostic),
        ("metadata", 1..) => {
            let path = pieces.map(|key| Text::from(decoded(key).as_ref()));
            Some(Column::Metadata(path.collect()))
        }
        (name, 0) => {
            let known = NAMES.iter().find(|(known, _)| *known == name);
            let known = known.map(|(_, column)| column.clone());
            known.or_else(|| TokenColumn::read(name).map(Column::TokenFigure))
        }
        _ => None,
    }
}

fn sign(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "up",
        Direction::Descending => "down",
    }
}

fn read_direction(text: &str) -> Option<Direction> {
    match text {
        "up" => Some(Direction::Ascending),
        "down" => Some(Direction::Descending),
        _ => None,
    }
}

fn read_group_sort(text: &str) -> Option<(GroupOrder, Direction)> {
    let (name, direction) = text.split_once('~')?;
    let order = GroupOrder::ALL
        .into_iter()
        .find(|order| order.name() == name)?;
    Some((order, read_direction(direction)?))
}

fn read_sort(text: &str) -> Option<(Column, Direction)> {
    let (column, direction) = text.split_once('~')?;
    Some((read_column(column)?, read_direction(direction)?))
}

fn filter_text(column: &Column, filter: &Filter) -> String {
    let column = column_text(column);
    let bound = |bound: &Option<f64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    match filter {
        Filter::Between { low, high } => format!("{column}~between~{}~{}", bound(low), bound(high)),
        Filter::Contains(part) => format!("{column}~has~{}", encoded(part)),
        Filter::OneOf(choices) => {
            let choices = choices.iter().map(|choice| format!("~{}", encoded(choice)));
            format!("{column}~is{}", choices.collect::<String>())
        }
        Filter::Known(true) => format!("{column}~known"),
        Filter::Known(false) => format!("{column}~unknown"),
    }
}

fn read_filter(text: &str) -> Option<(Column, Filter)> {
    let pieces: Vec<&str> = text.split('~').collect();
    let (column, rest) = pieces.split_first()?;
    // An empty bound is unbounded; an invalid number is no filter.
    let bound = |text: &str| match text {
        "" => Some(None),
        text => text
            .parse()
            .ok()
            .filter(|bound: &f64| !bound.is_nan())
            .map(Some),
    };
    let filter = match rest {
        ["between", low, high] => Filter::Between {
            low: bound(low)?,
            high: bound(high)?,
        },
        ["has", part] => Filter::Contains(decoded(part).into_owned()),
        ["is", choices @ ..] => {
            let choices = choices.iter().map(|choice| decoded(choice).into_owned());
            Filter::OneOf(choices.collect())
        }
        ["known"] => Filter::Known(true),
        ["unknown"] => Filter::Known(false),
        _ => return None,
    };
    Some((read_column(column)?, filter))
}

/// The pieces that name the start and the end. No encoded name has these signs.
const START: &str = "^";
const END: &str = "$";

fn narrowing_text(narrowing: &Narrowing) -> String {
    let act = |act: &ActName| match act {
        ActName::Start => START.to_owned(),
        ActName::Act(name) => encoded(name),
        ActName::End => END.to_owned(),
    };
    let of_step = |step: &Option<i64>| match step {
        Some(step) => format!("~{step}"),
        None => String::new(),
    };
    match narrowing {
        Narrowing::Cluster {
            are_failures,
            typical,
        } => {
            let rows = if *are_failures { "failures" } else { "all" };
            format!("cluster~{rows}~{}", encoded(typical))
        }
        Narrowing::Act { act: name, step } => format!("act~{}{}", act(name), of_step(step)),
        Narrowing::Edge { from, to, step } => {
            format!("edge~{}~{}{}", act(from), act(to), of_step(step))
        }
    }
}

fn read_narrowing(text: &str) -> Option<Narrowing> {
    let act = |text: &str| match text {
        START => ActName::Start,
        END => ActName::End,
        text => ActName::Act(decoded(text).as_ref().into()),
    };
    let of_step = |rest: &[&str]| match rest {
        [] => Some(None),
        [step] => step.parse().ok().map(Some),
        _ => None,
    };
    let pieces: Vec<&str> = text.split('~').collect();
    match pieces.as_slice() {
        ["cluster", rows @ ("failures" | "all"), typical] => Some(Narrowing::Cluster {
            are_failures: *rows == "failures",
            typical: decoded(typical).as_ref().into(),
        }),
        ["act", name, rest @ ..] => Some(Narrowing::Act {
            act: act(name),
            step: of_step(rest)?,
        }),
        ["edge", from, to, rest @ ..] => Some(Narrowing::Edge {
            from: act(from),
            to: act(to),
            step: of_step(rest)?,
        }),
        _ => None,
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column() -> impl Strategy<Value = Column> {
        let fixed = (0..NAMES.len()).prop_map(|index| NAMES[index].1.clone());
        let score = "\\PC{0,8}".prop_map(|name| Column::Score(name.into()));
        let answer = "\\PC{0,8}".prop_map(|name| Column::Answer(name.into()));
        let quotes = "\\PC{0,8}".prop_map(|name| Column::AnswerQuotes(name.into()));
        let path = prop::collection::vec("\\PC{0,8}".prop_map(Text::from), 1..4);
        let figure = prop_oneof![
            prop::sample::select(TokenColumn::FIXED.to_vec()),
            "\\PC{0,8}".prop_map(|name| TokenColumn::Stream(name.into())),
        ];
        prop_oneof![
            fixed,
            score,
            answer,
            quotes,
            path.prop_map(Column::Metadata),
            figure.prop_map(Column::TokenFigure),
            prop::sample::select(DiagnosticKind::ALL.to_vec()).prop_map(Column::Diagnostic),
        ]
    }

    fn filter() -> impl Strategy<Value = Filter> {
        let bound = || prop::option::of(-1e9..1e9);
        prop_oneof![
            (bound(), bound()).prop_map(|(low, high)| Filter::Between { low, high }),
            "\\PC{0,12}".prop_map(Filter::Contains),
            prop::collection::vec("\\PC{0,12}", 0..3).prop_map(Filter::OneOf),
            any::<bool>().prop_map(Filter::Known),
        ]
    }

    fn narrowing() -> impl Strategy<Value = Narrowing> {
        let act = || {
            prop_oneof![
                Just(ActName::Start),
                Just(ActName::End),
                "\\PC{0,8}".prop_map(|name| ActName::Act(name.into())),
            ]
        };
        let step = || prop::option::of(any::<i64>());
        prop_oneof![
            (any::<bool>(), "\\PC{0,8}").prop_map(|(are_failures, id)| Narrowing::Cluster {
                are_failures,
                typical: id.into(),
            }),
            (act(), step()).prop_map(|(act, step)| Narrowing::Act { act, step }),
            (act(), act(), step()).prop_map(|(from, to, step)| Narrowing::Edge { from, to, step }),
        ]
    }

    fn direction(is_up: bool) -> Direction {
        if is_up {
            Direction::Ascending
        } else {
            Direction::Descending
        }
    }

    #[test]
    fn the_default_view_is_the_empty_query() {
        assert_eq!(View::default().to_query(), "");
        assert_eq!(View::read(""), View::default());
    }

    #[test]
    fn a_view_can_be_read_by_people() {
        let view = View {
            search: "red marble".to_owned(),
            filters: vec![
                (
                    Column::Reward,
                    Filter::Between {
                        low: None,
                        high: Some(0.5),
                    },
                ),
                (Column::Score("f/1".into()), Filter::Known(true)),
            ],
            sort: Some((Column::Steps, Direction::Descending)),
            groups: vec![Column::Task, Column::Model],
            group_sort: Some((GroupOrder::Reward, Direction::Descending)),
            chart: Some((Column::Steps, Column::Reward)),
            columns: Some(vec![
                Column::Name,
                Column::Metadata(vec!["a".into(), "b".into()]),
            ]),
            narrowing: Some(Narrowing::Cluster {
                are_failures: true,
                typical: "run 7".into(),
            }),
            first: 12,
        };
        let query = "q=red%20marble&filter=reward~between~~0.5&filter=score/f%2F1~known\
            &sort=steps~down&group=task~model&group-sort=reward~down&chart=steps~reward\
            &columns=name~metadata/a/b&behaviour=cluster~failures~run%207&row=12";
        assert_eq!(view.to_query(), query);
        assert_eq!(View::read(query), view);
    }

    #[test]
    fn unknown_input_is_skipped() {
        let query = "x=1&filter=reward~between~a~1&filter=nothing~known&sort=reward~sideways&group=nothing\
            &row=-1&behaviour=act&behaviour=act~a~b&behaviour=cluster~some~a&filter=steps~between~2~";
        let expected = View {
            filters: vec![(
                Column::Steps,
                Filter::Between {
                    low: Some(2.0),
                    high: None,
                },
            )],
            ..View::default()
        };
        assert_eq!(View::read(query), expected);
    }

    proptest! {
        #[test]
        fn every_view_comes_back(
            search in "\\PC{0,20}",
            filters in prop::collection::vec((column(), filter()), 0..3),
            sort in prop::option::of((column(), any::<bool>().prop_map(direction))),
            groups in prop::collection::vec(column(), 0..=MOST_GROUPS),
            group_sort in prop::option::of((0..GroupOrder::ALL.len(), any::<bool>())),
            chart in prop::option::of((column(), column())),
            columns in prop::option::of(prop::collection::vec(column(), 1..5)),
            narrowing in prop::option::of(narrowing()),
            first in 0usize..100_000,
        ) {
            let group_sort = group_sort.map(|(index, is_up)| (GroupOrder::ALL[index], direction(is_up)));
            let view = View { search, filters, sort, groups, group_sort, chart, columns, narrowing, first };
            prop_assert_eq!(View::read(&view.to_query()), view);
        }

        #[test]
        fn anything_is_read(query in ".*") {
            let _ = View::read(&query);
        }
    }
}
