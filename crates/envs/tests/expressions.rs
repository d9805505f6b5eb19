//! The calculator's expressions compared with recorded results of CPython, and properties of any input.

use num_bigint::BigInt;
use proptest::prelude::*;
use volary_core::json::Json;
use volary_envs::calculator::expression::evaluate;
use volary_envs::jsonl;

/// The calculator's reply.
fn reply(expression: &str) -> String {
    match evaluate(expression) {
        Ok(outcome) => outcome.to_text(),
        Err(error) => format!("Error using calculator: {}.", error.repr()),
    }
}

/// The cases of `data/expressions.jsonl`, which `data/record_expressions.py` recorded.
#[test]
fn replies_as_recorded() {
    let cases = jsonl::rows(include_str!("data/expressions.jsonl"), |row| {
        Ok((jsonl::text(row, "expression")?, jsonl::text(row, "reply")?))
    })
    .unwrap();
    assert!(cases.len() > 600);
    let wrong: Vec<_> = cases
        .iter()
        .filter(|(expression, recorded)| reply(expression) != **recorded)
        .map(|(expression, recorded)| {
            format!(
                "{expression:?}\n  CPython: {recorded}\n  ours:    {}",
                reply(expression)
            )
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each problem has its own expression for the answer, independent of its worked steps.
#[test]
fn word_problems_are_right() {
    let problems = jsonl::rows(include_str!("../data/word_problems.jsonl"), |row| {
        let level = row
            .get("level")
            .and_then(Json::as_i64)
            .ok_or("'level' is missing")?;
        Ok((
            level,
            jsonl::text(row, "id")?,
            jsonl::text(row, "answer")?,
            jsonl::text(row, "expression")?,
        ))
    })
    .unwrap();
    for level in 1..=3 {
        assert!(problems.iter().filter(|problem| problem.0 == level).count() >= 25);
    }
    for (_, id, answer, expression) in &problems {
        let (steps, number) = answer.split_once("\n#### ").unwrap();
        assert_near(&reply(expression), number, id);
        let mut last = "";
        for step in steps.split("<<").skip(1) {
            let (step, _) = step.split_once(">>").unwrap();
            let (left, right) = step.split_once('=').unwrap();
            assert_near(&reply(left), right, id);
            last = right;
        }
        assert_eq!(last, number, "{id}");
    }
}

fn assert_near(computed: &str, written: &str, id: &str) {
    let near = match (computed.parse::<f64>(), written.parse::<f64>()) {
        (Ok(computed), Ok(written)) => (computed - written).abs() < 1e-9 * written.abs(),
        _ => false,
    };
    assert!(near, "{id}: {computed} is not {written}");
}

#[test]
fn expensive_expressions_are_errors() {
    for expression in [
        "9**9**9",
        "9**9**9**9",
        "2**3000000",
        "(10**150000) * (10**150000)",
        "1 - 7**7**77",
        "2**524000 + 2**524000",
        &["2**524000"; 1000].join(" + "),
        &["(3**150000 // 7**40000)"; 1000].join(" + "),
        &["9".repeat(4300).as_str(); 200].join("*"),
        &"9".repeat(4301),
        "10**4300",
        "-10**4300",
        "round(10**4300, -2)",
        &"1".repeat(1 << 21),
    ] {
        let reply = reply(expression);
        assert!(
            reply.starts_with("Error using calculator: ValueError("),
            "{reply:.200}"
        );
    }
    // Large intermediate results are computed if the final result is small.
    assert_eq!(reply("10**100000 % 7"), "4");
    assert_eq!(reply("2**100000 // 2**99990"), "1024");
    assert_eq!(reply("10**4299").len(), 4300);
    assert_eq!(reply("-10**4299").len(), 4301);
    assert_eq!(reply("round(1, -10**30)"), "0");
}

/// No chain is too long for the stack, which in a browser has 1 MiB.
#[test]
fn long_and_deep_expressions_fit_the_stack() {
    let small_stack = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        assert_eq!(reply(&("1+".repeat(100_000) + "1")), "100001");
        assert_eq!(reply(&("-".repeat(100_000) + "1")), "1");
        assert_eq!(reply(&("1**".repeat(100_000) + "1")), "1");
        let deepest = format!("{}1{}", "(".repeat(200), ")".repeat(200));
        assert_eq!(reply(&deepest), "1");
        assert_eq!(
            reply(&format!("{}7{}", "abs(".repeat(200), ")".repeat(200))),
            "7"
        );
        for expression in [
            format!("({deepest})"),
            "not ".repeat(100_000) + "1",
            "1 if 1 else ".repeat(50_000) + "1",
            "lambda: ".repeat(50_000) + "1",
            "lambda x=".repeat(50_000) + "1",
            "1 < ".repeat(50_000) + "1",
            "x ".repeat(2000),
            "x (".repeat(200),
            "f'{".repeat(200),
            format!("{}x{}", "[x for x in ".repeat(200), "]".repeat(200)),
            format!("{}x ;{}", "f(x=x[".repeat(100), "])".repeat(100)),
            format!("{} ; {}", "print [x ".repeat(199), "]".repeat(199)),
            format!("{}1{}", "{1: ".repeat(200), "}".repeat(200)),
            format!("{}f'{{{deepest}}}'{}", "[".repeat(200), "]".repeat(200)),
        ] {
            let reply = reply(&expression);
            assert!(
                reply.starts_with("Error using calculator: ValueError("),
                "{reply:.200}"
            );
        }
    });
    small_stack.unwrap().join().unwrap();
}

/// Pieces of expressions, valid and invalid.
fn piece() -> impl Strategy<Value = String> {
    const TOKENS: &[&str] = &[
        "(", ")", "[", "]", "{", "}", ",", ":", ":=", "=", "==", "<", "+", "-", "*", "**", "/",
        "//", "%", ".", "...", "1", "2.5", "1e9", "0x1f", "07", "1_", "1j", "x", "max", "abs",
        "round", "print", "not", "in", "is", "and", "if", "else", "for", "lambda", "async",
        "await", "yield", "from", "None", "True", "'a'", "\"", "f'{x}'", "f'{", "b'", "\\", "\n",
        "#", "!", "$", "@", "~", "é", "×", " ", "\t", "\r", "\0", "\u{200b}",
    ];
    proptest::sample::select(TOKENS).prop_map(str::to_owned)
}

/// Floats between 2^-64 and 2^64 are whole multiples of 2^-SCALE.
const SCALE: u32 = 128;

fn scaled(value: f64) -> BigInt {
    let bits = value.abs().to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let shift = (bits >> 52) as u32 + SCALE - 1075;
    let magnitude = BigInt::from(mantissa) << shift;
    if value < 0.0 { -magnitude } else { magnitude }
}

proptest! {
    #[test]
    fn any_text_has_a_reply(text in any::<String>()) {
        prop_assert!(!reply(&text).is_empty());
    }

    #[test]
    fn any_tokens_have_a_reply(pieces in prop::collection::vec(piece(), 0..24), space in "[ ]?") {
        prop_assert!(!reply(&pieces.join(&space)).is_empty());
    }

    #[test]
    fn integers_compute_as_big_integers(a in any::<i128>(), b in any::<i64>(), c in any::<i32>()) {
        let (x, y, z) = (BigInt::from(a), BigInt::from(b), BigInt::from(c));
        let expected = &x * &y - &z * (&x + &z);
        prop_assert_eq!(reply(&format!("({a}) * ({b}) - ({c}) * (({a}) + ({c}))")), expected.to_string());
    }

    #[test]
    fn quotient_and_remainder_fit_together(a in any::<i128>(), b in any::<i64>()) {
        prop_assume!(b != 0);
        let (x, y) = (BigInt::from(a), BigInt::from(b));
        let quotient: BigInt = reply(&format!("({a}) // ({b})")).parse().unwrap();
        let remainder: BigInt = reply(&format!("({a}) % ({b})")).parse().unwrap();
        prop_assert_eq!(quotient * &y + &remainder, x);
        let zero = BigInt::ZERO;
        let in_range = if b > 0 { zero <= remainder && remainder < y } else { y < remainder && remainder <= zero };
        prop_assert!(in_range);
    }

    #[test]
    fn floats_come_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
        prop_assume!(value.fract() != 0.0);
        let shown = reply(&format!("{value:e}"));
        prop_assert_eq!(shown.parse(), Ok(value));
    }

    #[test]
    fn floats_compute_as_floats(a in -1e9..1e9_f64, b in -1e9..1e9_f64) {
        prop_assume!(a.fract() != 0.0 && b.fract() != 0.0);
        for (symbol, expected) in [("+", a + b), ("-", a - b), ("*", a * b), ("/", a / b)] {
            let shown: f64 = reply(&format!("{a} {symbol} {b}")).parse().unwrap();
            prop_assert_eq!(shown, expected);
        }
    }

    #[test]
    fn quotients_of_integers_are_the_nearest(a in any::<i64>(), b in 1..i64::MAX) {
        prop_assume!(a % b != 0);
        let quotient: f64 = reply(&format!("({a}) / {b}")).parse().unwrap();
        let distance = |candidate: f64| {
            let scaled = scaled(candidate) * b - (BigInt::from(a) << SCALE);
            scaled.magnitude().clone()
        };
        prop_assert!(distance(quotient) <= distance(quotient.next_up()));
        prop_assert!(distance(quotient) <= distance(quotient.next_down()));
    }

    #[test]
    fn powers_of_whole_numbers_agree_with_products(base in -50..50_i32, exponent in 0..12_u32) {
        let product: BigInt = (0..exponent).map(|_| BigInt::from(base)).product();
        prop_assert_eq!(reply(&format!("({base}) ** {exponent}")), product.to_string());
        prop_assert_eq!(reply(&format!("({base}.0) ** {exponent}")).parse::<f64>(), product.to_string().parse());
    }

    #[test]
    fn spaces_and_brackets_change_nothing(a in 0..999_u32, b in 1..999_u32, c in 0..9_u32) {
        let plain = reply(&format!("{a}+{b}*{c}-{a}//{b}"));
        prop_assert_eq!(&plain, &reply(&format!(" ( {a} +\n{b} * {c} ) - ( {a} // ( {b} ) ) # end")));
    }
}
