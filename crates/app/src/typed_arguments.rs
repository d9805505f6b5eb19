//! Numbers and signs as people type them into the form of a word problem: `34 × 6`, `1,200 ÷ 4`, `2,5 − 1`.
//!
//! This is a help of the page's form. The environment itself understands Python's expressions only, as aviary's does, so
//! recipes, servers and models are not affected.
//!
//! Invariant: an expression that Python understands and that has no comma between digits stays as it is.

use volary_core::json::{Json, Object, Text};

/// The environment whose forms are read in this way.
const WORD_PROBLEMS: &str = "calculator";

/// The arguments of a call as the environment understands them. `arguments` are those of a form with fields; what a
/// person writes as JSON is meant literally.
pub fn as_understood(environment: Option<&str>, tool: &str, arguments: Object) -> Object {
    let key = match (environment, tool) {
        (Some(WORD_PROBLEMS), "calculator") => "expr",
        (Some(WORD_PROBLEMS), "submit_answer") => "answer",
        _ => return arguments,
    };
    let typed = arguments.get(key).and_then(Json::as_text);
    let Some(understood) = typed.map(|typed| plain_expression(typed)) else {
        return arguments;
    };
    let mut arguments = arguments;
    arguments.insert(key, Json::Text(Text::from(understood)));
    arguments
}

/// An expression in Python's signs.
pub fn plain_expression(typed: &str) -> String {
    let signs: Vec<char> = typed.chars().map(plain_sign).collect();
    // A text has its own rules.
    let text = |place| typed.chars().skip(place).collect::<String>();
    let mut out = String::with_capacity(typed.len());
    // For each open bracket, whether commas in it separate the arguments of a function or the elements of a list.
    let mut separates = Vec::new();
    let mut place = 0;
    while let Some(&sign) = signs.get(place) {
        let before = out.trim_end().chars().next_back();
        match sign {
            '"' | '\'' => return out + &text(place),
            '(' => separates.push(before.is_some_and(is_of_name)),
            '[' | '{' => separates.push(true),
            ')' | ']' | '}' => {
                separates.pop();
            }
            'x' | 'X' if is_times(before, &out, signs.get(place + 1..).unwrap_or_default()) => {
                out.push('*');
                place += 1;
                continue;
            }
            sign if sign.is_ascii_digit() && !before_is_name(&out) => {
                let rest = signs.iter().skip(place);
                let number: String = rest.take_while(|sign| is_of_number(**sign)).collect();
                let taken = number.trim_end_matches([',', '.']);
                let is_separating = separates.contains(&true);
                out.push_str(&if is_separating {
                    taken.to_owned()
                } else {
                    plain_number(taken)
                });
                place += taken.len();
                continue;
            }
            _ => {}
        }
        out.push(sign);
        place += 1;
    }
    without_equals(&out).to_owned()
}

/// An expression without the sign at its end, as in `34 × 6 =`.
fn without_equals(expression: &str) -> &str {
    match expression.trim_end().strip_suffix('=') {
        Some(left) if !left.ends_with(['=', '<', '>', '!']) => without_equals(left.trim_end()),
        _ => expression,
    }
}

/// The sign that Python has for a sign on paper.
fn plain_sign(sign: char) -> char {
    match sign {
        '×' | '✕' | '✖' | '⋅' | '·' | '∙' => '*',
        '÷' | '∕' | '⁄' => '/',
        '−' | '–' | '—' => '-',
        // Spaces that do not break, as keyboards of phones and other texts have them.
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        sign => sign,
    }
}

/// Whether the letter `x` stands between two numbers, as in `34 x 6`. The one in `0x1f` does not.
fn is_times(before: Option<char>, out: &str, after: &[char]) -> bool {
    let is_apart = out.ends_with(' ') && after.first() == Some(&' ');
    let number = out.len() - out.trim_end_matches(is_digit).len();
    let is_close = number > 0 && !(number == 1 && out.ends_with('0'));
    let next = after.iter().find(|sign| **sign != ' ');
    (is_apart || is_close)
        && before.is_some_and(|sign| sign.is_ascii_digit() || sign == ')')
        && next.is_some_and(|sign| sign.is_ascii_digit() || *sign == '(')
}

fn is_digit(sign: char) -> bool {
    sign.is_ascii_digit()
}

fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn is_of_number(sign: char) -> bool {
    sign.is_ascii_digit() || matches!(sign, ',' | '.')
}

/// Whether a digit would continue a name or a number, as in `log10` or `1e5`.
fn before_is_name(out: &str) -> bool {
    out.chars().next_back().is_some_and(is_of_name)
}

/// A number of digits, commas and points, as Python writes it: `1,200` is 1200, `2,5` is 2.5, `1.200,5` is 1200.5.
fn plain_number(typed: &str) -> String {
    let commas: Vec<&str> = typed.split(',').collect();
    let [whole, groups @ ..] = commas.as_slice() else {
        return typed.to_owned();
    };
    match groups {
        [] => typed.to_owned(),
        // A point before the comma separates thousands.
        [fraction] if whole.contains('.') && !fraction.contains('.') => {
            format!("{}.{fraction}", whole.replace('.', ""))
        }
        groups if are_thousands(whole, groups) => commas.concat(),
        [fraction] if !fraction.is_empty() && !fraction.contains('.') => {
            format!("{whole}.{fraction}")
        }
        _ => typed.to_owned(),
    }
}

/// Whether the commas of a number separate thousands: `1,200`, `1,234,567.5`; not `0,125`.
fn are_thousands(whole: &str, groups: &[&str]) -> bool {
    let last = groups.len() - 1;
    let is_group = |(place, group): (usize, &&str)| {
        let digits = match group.split_once('.') {
            Some((digits, _)) if place == last => digits,
            _ => *group,
        };
        digits.len() == 3 && digits.chars().all(is_digit)
    };
    (1..=3).contains(&whole.len())
        && !whole.starts_with('0')
        && groups.iter().enumerate().all(is_group)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use volary_core::object;

    use super::*;

    #[test]
    fn signs_are_understood_as_on_paper() {
        for (typed, expected) in [
            ("34 × 6", "34 * 6"),
            ("34×6", "34*6"),
            ("34 x 6", "34 * 6"),
            ("34x6", "34*6"),
            ("(2 + 3) x (4)", "(2 + 3) * (4)"),
            ("900 ÷ 15", "900 / 15"),
            ("52 − 17", "52 - 17"),
            ("52 – 17", "52 - 17"),
            ("6 · 7 =", "6 * 7"),
            ("1,200 ÷ 4", "1200 / 4"),
            ("1,234,567.5 + 1", "1234567.5 + 1"),
            ("2,5 + 0,125", "2.5 + 0.125"),
            ("1.200,50", "1200.50"),
            ("(1,5 + 2,5) × 2", "(1.5 + 2.5) * 2"),
            ("max(1,5) − 1", "max(1,5) - 1"),
        ] {
            assert_eq!(plain_expression(typed), expected, "{typed}");
        }
    }

    #[test]
    fn what_python_understands_stays() {
        for typed in [
            "6 * 34",
            "2 ** 0.5",
            "max(1, 2)",
            "max(1,200)",
            "round(2.675,2)",
            "[1,2][0]",
            "0x10",
            "5 + 0x10",
            "1e5",
            "log10",
            "1 == 1",
            "x",
            "len('34 × 6')",
            "1,2,3",
            "",
            "6 *",
        ] {
            assert_eq!(plain_expression(typed), typed);
        }
    }

    #[test]
    fn only_the_forms_of_word_problems_are_read_so() {
        let read = |environment, tool, key: &'static str| {
            let arguments = as_understood(
                environment,
                tool,
                Object::from_distinct(vec![(key.into(), "1,204 × 2".into())]),
            );
            let text = arguments.get(key).and_then(Json::as_text).cloned();
            text.map(|text| text.to_string()).unwrap_or_default()
        };
        assert_eq!(read(Some("calculator"), "calculator", "expr"), "1204 * 2");
        assert_eq!(
            read(Some("calculator"), "submit_answer", "answer"),
            "1204 * 2"
        );
        for (environment, tool, key) in [
            (Some("dummy"), "calculator", "expr"),
            (None, "calculator", "expr"),
            (Some("calculator"), "other", "expr"),
            (Some("calculator"), "calculator", "other"),
        ] {
            assert_eq!(
                read(environment, tool, key),
                "1,204 × 2",
                "{environment:?} {tool} {key}"
            );
        }
        let number = as_understood(Some("calculator"), "submit_answer", object!({"answer": 4}));
        assert_eq!(number, object!({"answer": 4}));
    }

    proptest! {
        /// Any text is read, and reading the result again changes nothing.
        #[test]
        fn reading_twice_is_reading_once(typed in "[0-9x×÷−,.()+ =a'é]{0,24}") {
            let once = plain_expression(&typed);
            prop_assert_eq!(plain_expression(&once), once);
        }

        #[test]
        fn python_without_commas_stays(typed in "[0-9]{1,4}( [-+*/] [0-9]{1,4}(\\.[0-9]{1,2})?){0,4}") {
            prop_assert_eq!(plain_expression(&typed), typed);
        }
    }
}
