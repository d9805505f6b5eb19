//! Tokens in words: the head and the name of a strip, the description of a token, and its figures.

use volary_analysis::tokens::Readout;
use volary_core::quantity::count_text;
use volary_episode::token_record::{TokenCounts, TokenPart, TokenRecord};

use super::token_shades::with_minus;
use super::token_text::TokenText;

/// The line above a strip: how many tokens it has, and how many of them are trained.
pub fn strip_head(record: &TokenRecord, part: &TokenPart) -> String {
    let prompt = if part.step == 0 { "Prompt: " } else { "" };
    format!("{prompt}{}", strip_counts(record, part))
}

/// The numbers of all and of trained tokens, in words. An unknown mask is not shown as trained.
pub fn strip_counts(record: &TokenRecord, part: &TokenPart) -> String {
    let mask = record.strip.mask().get(part.range.clone());
    let trained = mask
        .unwrap_or_default()
        .iter()
        .filter(|is_trained| **is_trained);
    counts_in_words(TokenCounts {
        tokens: part.range.len(),
        trained: record.is_mask_known.then(|| trained.count()),
    })
}

/// The numbers of tokens and of trained tokens.
pub fn counts_in_words(counts: TokenCounts) -> String {
    let tokens = format!("{} tokens", count_text(counts.tokens));
    match counts.trained {
        Some(trained) => format!("{tokens}, {} trained", count_text(trained)),
        None => tokens,
    }
}

/// Whether the tokens are assigned to no message, as in a trainer's batches, which have no texts.
pub fn is_apart(record: &TokenRecord) -> bool {
    record.parts.iter().all(|part| part.range.is_empty())
}

/// What a reader of a record has to know: what is missing, what does not fit, and what was not recorded.
pub fn remarks(record: &TokenRecord) -> Vec<String> {
    let mut remarks = Vec::new();
    if !record.is_mask_known {
        remarks.push("The file does not say which of these tokens are trained.".to_owned());
    }
    if record.is_mask_known && !record.strip.is_empty() && record.strip.trained() == 0 {
        remarks.push(
            "None of these tokens is trained: the sample is left out of the loss.".to_owned(),
        );
    }
    if !record.misfits.is_empty() {
        let misfits = record.misfits.iter().map(ToString::to_string);
        let misfits: Vec<String> = misfits.collect();
        remarks.push(format!("Left out: {}.", misfits.join("; ")));
    }
    if !record.is_divided && !is_apart(record) {
        remarks.push(
            "The loss mask does not have exactly one trained run for each turn, so the tokens cannot be assigned to messages."
                .to_owned(),
        );
    }
    if record.is_reconstructed {
        remarks.push(
            "These tokens were re-created from the text, with a tokenizer other than the model's."
                .to_owned(),
        );
    }
    remarks
}

/// The accessible name of a message's strip.
pub fn strip_name(part: &TokenPart) -> String {
    match part.step {
        0 => "Tokens of the prompt".to_owned(),
        step => format!("Tokens of step {step}, message {}", part.message + 1),
    }
}

/// Describes a token of a part in one line. `text` is known with a tokenizer only; `epsilon` is the clipping range.
pub fn token_description(
    record: &TokenRecord,
    part: &TokenPart,
    token: usize,
    text: Option<&TokenText>,
    epsilon: f64,
) -> String {
    let place = part.range.start + token;
    let Some(id) = record.strip.ids().get(place) else {
        return String::new();
    };
    let count = count_text(part.range.len());
    // The panel and the address count from the start of the episode.
    let name = if part.range.len() == record.strip.len() {
        format!("Token {} of {count}", count_text(token + 1))
    } else {
        format!(
            "Token {} ({} of {count} here)",
            count_text(place + 1),
            count_text(token + 1)
        )
    };
    let mut words = vec![name, format!("id {id}")];
    if let Some(text) = text {
        words.push(format!("text {}", text.text));
        words.extend(text.is_special.then(|| "special".to_owned()));
    }
    let trained = match (record.is_mask_known, record.is_trained(place)) {
        (false, _) => "mask unknown",
        (true, true) => "trained",
        (true, false) => "not trained",
    };
    words.push(trained.to_owned());
    for name in record.stream_names() {
        let value = record.value(&name, place);
        words.extend(value.map(|value| format!("{name} {}", digits(value))));
    }
    if let Some(readout) = Readout::of(record, place, epsilon) {
        words.push(format!("ratio {}", digits(readout.ratio)));
        words.push(readout.clip.label().to_owned());
    }
    words.join(" · ")
}

/// The figures of a token, counted from the start of the episode, as names and values.
pub fn token_facts(
    record: &TokenRecord,
    token: usize,
    text: Option<&TokenText>,
    epsilon: f64,
) -> Vec<(String, String)> {
    let Some(id) = record.strip.ids().get(token) else {
        return Vec::new();
    };
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    let count = count_text(record.strip.len());
    add("Token", format!("{} of {count}", count_text(token + 1)));
    add("Id", id.to_string());
    if let Some(text) = text {
        let special = if text.is_special { " (special)" } else { "" };
        add("Text", format!("{}{special}", text.text));
    }
    let trained = match (record.is_mask_known, record.is_trained(token)) {
        (false, _) => "unknown",
        (true, true) => "yes",
        (true, false) => "no",
    };
    add("Trained", trained.to_owned());
    for name in record.stream_names() {
        let value = record.value(&name, token);
        add(&name, value.map_or("no value".to_owned(), digits));
    }
    if let Some(readout) = Readout::of(record, token, epsilon) {
        add("Ratio", digits(readout.ratio));
        let words = readout.clip.label().to_owned();
        add(&format!("At ε = {epsilon}"), words);
    }
    facts
}

/// A value with at most six decimals, or with an exponent.
pub fn digits(value: f64) -> String {
    let text = match value.abs() {
        size if (1e-3..1e9).contains(&size) => ((value * 1e6).round() / 1e6).to_string(),
        size if size > 0.0 && size.is_finite() => format!("{value:.3e}"),
        _ => value.to_string(),
    };
    with_minus(&text)
}

#[cfg(test)]
mod tests {
    use volary_core::TokenStream;
    use volary_episode::Episode;
    use volary_episode::token_record::{Alignment, LossMask, TokenRecordBuilder};

    use super::*;

    /// A prompt of two tokens and a response of three, of which the last is not trained.
    fn record(streams: &[(&str, [f64; 3])]) -> TokenRecord {
        let mask = LossMask::Response(vec![true, true, false]);
        let mut builder = TokenRecordBuilder::new(vec![5, 6, 7, 8, 9], mask).unwrap();
        for (name, values) in streams {
            let values: TokenStream = values.iter().copied().collect();
            builder.stream(*name, &values, Alignment::Response);
        }
        builder.divided(&Episode::default())
    }

    fn part(step: usize, range: std::ops::Range<usize>) -> TokenPart {
        TokenPart {
            step,
            message: 0,
            range,
        }
    }

    #[test]
    fn a_strip_says_how_much_of_it_is_trained() {
        let mut record = record(&[]);
        let (prompt, turn) = (part(0, 0..2), part(1, 2..5));
        assert_eq!(strip_head(&record, &prompt), "Prompt: 2 tokens, 0 trained");
        assert_eq!(strip_head(&record, &turn), "3 tokens, 2 trained");
        assert_eq!(strip_name(&prompt), "Tokens of the prompt");
        assert_eq!(strip_name(&turn), "Tokens of step 1, message 1");
        record.is_mask_known = false;
        assert_eq!(strip_counts(&record, &prompt), "2 tokens");
    }

    #[test]
    fn what_is_missing_or_made_up_is_said() {
        let mut record = record(&[]);
        record.is_divided = true;
        assert_eq!(remarks(&record), Vec::<String>::new());
        record.is_mask_known = false;
        record.is_reconstructed = true;
        record.add_stream("kl", &TokenStream::gaps(2), Alignment::Response);
        let remarks = remarks(&record);
        assert_eq!(remarks.len(), 3, "{remarks:?}");
        assert_eq!(remarks[1], "Left out: `kl` has 2 values for 3 tokens.");
    }

    #[test]
    fn tokens_that_no_message_has_are_apart() {
        let mut record = record(&[]);
        record.parts = vec![part(1, 2..2)];
        assert!(is_apart(&record));
        record.is_divided = false;
        assert_eq!(remarks(&record), Vec::<String>::new());
        record.parts.push(part(1, 2..5));
        assert!(!is_apart(&record));
        assert_eq!(remarks(&record).len(), 1);
    }

    #[test]
    fn a_token_is_described_with_all_that_is_known() {
        let bare = record(&[]);
        let turn = part(1, 2..5);
        let describe = |record: &TokenRecord, token, text: Option<&TokenText>| {
            token_description(record, &turn, token, text, 0.2)
        };
        assert_eq!(
            describe(&bare, 2, None),
            "Token 5 (3 of 3 here) · id 9 · not trained"
        );
        assert_eq!(describe(&bare, 3, None), "", "past the end");
        let end = TokenText::of_bytes(b"<end>", true);
        assert_eq!(
            describe(&bare, 0, Some(&end)),
            "Token 3 (1 of 3 here) · id 7 · text <end> · special · trained"
        );
        let both = record(&[
            ("log_probs", [-1.0, -2.0, 0.0]),
            ("rollout_log_probs", [-1.0, -0.5, 0.0]),
        ]);
        let words = describe(&both, 1, None);
        assert!(words.contains("rollout_log_probs −0.5 · "), "{words}");
        assert!(words.contains("trainer − sampler −1.5 · ratio 0.22313 · outside"));
        let facts = token_facts(&both, 3, Some(&end), 0.2);
        let names: Vec<&str> = facts.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names[..4], ["Token", "Id", "Text", "Trained"]);
        assert_eq!(names[6..], ["trainer − sampler", "Ratio", "At ε = 0.2"]);
        assert_eq!(facts[2].1, "<end> (special)");
        assert_eq!(token_facts(&both, 9, None, 0.2), []);
    }

    #[test]
    fn values_have_few_digits() {
        for (value, text) in [
            (0.25, "0.25"),
            (1.0 / 3.0, "0.333333"),
            (-0.000_012_3, "−1.230e-5"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(digits(value), text);
        }
    }
}
