//! Detects keys, tokens, passwords and e-mail addresses in a text: by the formats of key issuers, and by the names
//! before a value.

use std::ops::Range;

use memchr::memmem;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A provider's key, by its format.
    ApiKey,
    /// A token: a JSON Web Token, or a value after `Bearer`.
    Token,
    /// A value whose name is that of a secret.
    Password,
    /// A private key in PEM format.
    PrivateKey,
    /// An e-mail address.
    Email,
}

impl FindingKind {
    /// All kinds, the most harmful first.
    pub const ALL: [FindingKind; 5] = [
        FindingKind::PrivateKey,
        FindingKind::ApiKey,
        FindingKind::Token,
        FindingKind::Password,
        FindingKind::Email,
    ];

    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            FindingKind::ApiKey => "API key",
            FindingKind::Token => "token",
            FindingKind::Password => "password or secret",
            FindingKind::PrivateKey => "private key",
            FindingKind::Email => "e-mail address",
        }
    }

    /// The display name in the plural.
    pub const fn plural(self) -> &'static str {
        match self {
            FindingKind::ApiKey => "API keys",
            FindingKind::Token => "tokens",
            FindingKind::Password => "passwords or secrets",
            FindingKind::PrivateKey => "private keys",
            FindingKind::Email => "e-mail addresses",
        }
    }

    /// The placeholder in a masked text.
    pub const fn mask(self) -> &'static str {
        match self {
            FindingKind::ApiKey => "[API key]",
            FindingKind::Token => "[token]",
            FindingKind::Password => "[secret]",
            FindingKind::PrivateKey => "[private key]",
            FindingKind::Email => "[e-mail address]",
        }
    }

    /// Whether it grants access.
    pub fn is_secret(self) -> bool {
        self != FindingKind::Email
    }
}

/// A sensitive range of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitive {
    pub kind: FindingKind,
    /// The byte range.
    pub range: Range<usize>,
}

/// The prefixes of providers' keys, with the minimum length of the rest.
const PREFIXES: [(&str, usize); 34] = [
    ("sk-", 20),
    ("pk-lf-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 35),
    ("ya29.", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 22),
    ("glpat-", 20),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("hf_", 30),
    ("r8_", 30),
    ("gsk_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("nvapi-", 20),
    ("npm_", 30),
    ("pypi-", 40),
    ("dop_v1_", 30),
    ("SG.", 30),
    ("lsv2_", 30),
    ("tvly-", 20),
];

/// Substrings of names whose values are secrets.
const NAMES: [&str; 10] = [
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "auth_token",
    "access_token",
    "private_key",
];

/// Whether a member or variable with this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_token = name == "token" || name.ends_with("_token") && !name.ends_with("next_token");
    is_token || NAMES.iter().any(|part| name.contains(part))
}

/// Whether a value may be a secret, and is neither a placeholder nor a word.
pub fn is_secret_value(value: &str) -> bool {
    let has = |of: fn(&char) -> bool| value.chars().any(|c| of(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let is_masked = value.starts_with('[') || value.starts_with('<') || value.starts_with('$');
    (6..=4096).contains(&value.len())
        && is_mixed
        && !is_masked
        && !value.contains(char::is_whitespace)
}

/// All findings in a text, in order and without overlap.
pub fn find(text: &str) -> Vec<Sensitive> {
    let mut found = Vec::new();
    private_keys(text, &mut found);
    words(text, &mut found);
    found.sort_by_key(|one| (one.range.start, one.kind));
    let mut end = 0;
    found.retain(|one| {
        let is_apart = one.range.start >= end;
        if is_apart {
            end = one.range.end;
        }
        is_apart
    });
    found
}

fn private_keys(text: &str, found: &mut Vec<Sensitive>) {
    const BEGIN: &str = "-----BEGIN ";
    let mut from = 0;
    while let Some(start) = text[from..].find(BEGIN).map(|at| from + at) {
        let head_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        from = start + BEGIN.len();
        if !text[start..head_end].contains("PRIVATE KEY-----") {
            continue;
        }
        // A truncated key counts as well.
        let end = text[start..].find("-----END ").map_or(text.len(), |at| {
            let tail = start + at;
            text[tail..].find('\n').map_or(text.len(), |at| tail + at)
        });
        found.push(Sensitive {
            kind: FindingKind::PrivateKey,
            range: start..end,
        });
        from = end;
    }
}

/// What a byte means to the search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It separates words. Bytes of characters that have several are among these.
    Gap,
    /// It occurs in keys, names and addresses.
    Word,
    /// Such a byte that nearly all findings have: a digit or `@`.
    Telling,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Gap; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'@' => Class::Telling,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-' | b'.' | b'+' | b'~' => Class::Word,
            _ => Class::Gap,
        };
        byte += 1;
    }
    classes
};

/// The shortest key of a provider, which no shorter word is.
const SHORTEST: usize = 15;
/// How a JSON Web Token begins. It may lack digits; keys and secrets have them, and addresses have `@`.
const WEB_TOKEN: &str = "eyJ";

/// Examines the words that have a digit or `@`, or may be web tokens. Nothing else is a finding (a test says so), and few
/// words of a text are of these.
fn words(text: &str, found: &mut Vec<Sensitive>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = bytes[from..]
        .iter()
        .position(|byte| class(*byte) == Class::Telling)
    {
        let word = word_at(bytes, from + at);
        from = word.end;
        found.extend(examined(text, word));
    }
    for at in memmem::find_iter(bytes, WEB_TOKEN) {
        let is_start = at == 0 || class(bytes[at - 1]) == Class::Gap;
        if !is_start {
            continue;
        }
        let word = word_at(bytes, at);
        let is_examined = bytes[word.clone()]
            .iter()
            .any(|byte| class(*byte) == Class::Telling);
        if !is_examined {
            found.extend(examined(text, word));
        }
    }
}

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// The word that has the byte at `at`.
fn word_at(bytes: &[u8], at: usize) -> Range<usize> {
    let is_gap = |byte: &u8| class(*byte) == Class::Gap;
    let start = bytes[..at]
        .iter()
        .rposition(is_gap)
        .map_or(0, |gap| gap + 1);
    let length = bytes[at..].iter().position(is_gap);
    start..length.map_or(bytes.len(), |length| at + length)
}

/// The finding that a word is, together with the text before it.
fn examined(text: &str, word: Range<usize>) -> Option<Sensitive> {
    let bytes = text.as_bytes();
    let trimmed = text[word.clone()].trim_end_matches(['.', '-', '@', '+', '~']);
    let last = bytes[..word.start]
        .iter()
        .rposition(|byte| class(*byte) != Class::Gap);
    let before = last.map_or(0..0, |last| word_at(bytes, last));
    // Without a word before it there is nothing that it is assigned to.
    let gap = last.map_or("", |_| &text[before.end..word.start]);
    kind_of(trimmed, &text[before], gap).map(|kind| Sensitive {
        kind,
        range: word.start..word.start + trimmed.len(),
    })
}

/// The kind of a word, from its format, and from the previous word and the text between them.
fn kind_of(word: &str, before: &str, gap: &str) -> Option<FindingKind> {
    let is_key = |(prefix, least): &(&str, usize)| {
        let rest = word.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.len() >= *least && rest.bytes().any(|b| b.is_ascii_digit()))
    };
    if word.len() >= SHORTEST && PREFIXES.iter().any(is_key) {
        return Some(FindingKind::ApiKey);
    }
    if is_web_token(word) {
        return Some(FindingKind::Token);
    }
    let is_after_bearer = before.eq_ignore_ascii_case("bearer") && gap == " ";
    if is_after_bearer && word.len() >= 16 && is_secret_value(word) {
        return Some(FindingKind::Token);
    }
    if is_email(word) {
        return Some(FindingKind::Email);
    }
    // `API_KEY=…`, `"password": "…"`, `--token …` without the dashes.
    let joint = gap.trim_matches(['"', '\'', ' ', '\\', '`']);
    let is_assigned = matches!(joint, "=" | ":" | ":=" | "=>");
    let name = before.trim_start_matches('-');
    (is_assigned && is_secret_name(name) && is_secret_value(word)).then_some(FindingKind::Password)
}

fn is_web_token(word: &str) -> bool {
    let mut parts = word.split('.');
    let long = |part: Option<&str>| part.is_some_and(|part| part.len() >= 8);
    word.starts_with(WEB_TOKEN) && long(parts.next()) && long(parts.next()) && long(parts.next())
}

fn is_email(word: &str) -> bool {
    let Some((local, domain)) = word.split_once('@') else {
        return false;
    };
    let Some((host, top)) = domain.rsplit_once('.') else {
        return false;
    };
    let is_top = (2..=24).contains(&top.len()) && top.bytes().all(|b| b.is_ascii_alphabetic());
    let is_host = !host.is_empty() && host.starts_with(|c: char| c.is_ascii_alphanumeric());
    // `git@host` is the address of a repository.
    !local.is_empty() && local != "git" && is_host && is_top && !domain.contains(['@', '_', '+'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(FindingKind, &str)> {
        let found = find(text).into_iter();
        found.map(|one| (one.kind, &text[one.range])).collect()
    }

    #[test]
    fn forms_and_names() {
        let key = format!("sk-proj-{}", "Ab1_".repeat(10));
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        let token = "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKK";
        for (text, expected) in [
            (
                format!("key {key}, and"),
                vec![(FindingKind::ApiKey, &*key)],
            ),
            (format!("a\n{pem}\nb"), vec![(FindingKind::PrivateKey, pem)]),
            (
                format!("Authorization: Bearer {token}"),
                vec![(FindingKind::Token, token)],
            ),
            (
                "Bearer 0123456789abcdef0".into(),
                vec![(FindingKind::Token, "0123456789abcdef0")],
            ),
            (
                "Write to ada.l+x@example.org.".into(),
                vec![(FindingKind::Email, "ada.l+x@example.org")],
            ),
            (
                "export OPENAI_API_KEY='abc12345'".into(),
                vec![(FindingKind::Password, "abc12345")],
            ),
            (
                r#"{\"password\": \"hunter22\"}"#.into(),
                vec![(FindingKind::Password, "hunter22")],
            ),
            (
                "AKIAIOSFODNN7EXAMPLE".into(),
                vec![(FindingKind::ApiKey, "AKIAIOSFODNN7EXAMPLE")],
            ),
        ] {
            assert_eq!(found(&text), expected, "{text}");
        }
    }

    #[test]
    fn lookalikes_are_unchanged() {
        for text in [
            "sk-learn and task-risk-assessment-of-everything",
            "git@host.example:a/b.git",
            "max_tokens=4096 and next_token: abc12345",
            "password: please choose one",
            "api_key=<your key>",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "a@b and @decorator.name",
            "Bearer of news",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    /// The kinds and ranges of all words, none of which is skipped.
    fn of_all_words(text: &str) -> Vec<(FindingKind, Range<usize>)> {
        let mut found = Vec::new();
        for word in
            text.split(|letter: char| !letter.is_ascii() || class(letter as u8) == Class::Gap)
        {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            if !word.is_empty() {
                found.extend(examined(text, start..start + word.len()));
            }
        }
        found.into_iter().map(|one| (one.kind, one.range)).collect()
    }

    proptest! {
        #[test]
        fn skipped_words_are_no_findings(
            text in "(\\PC|[=: .\"]|[a-zA-Z_.-]{6,20}|[0-9@]|password=|token: |sk-|pypi-|AKIA|Bearer |eyJ[a-z]{8}|[a-z]+@[a-z]+\\.org){0,30}"
        ) {
            let mut found = Vec::new();
            words(&text, &mut found);
            found.sort_by_key(|one| one.range.start);
            let found: Vec<_> = found.into_iter().map(|one| (one.kind, one.range)).collect();
            prop_assert_eq!(found, of_all_words(&text));
        }

        #[test]
        fn ranges_are_within_the_text_and_apart(text in "(\\PC|[=:@.\n]|password|sk-|AKIA|Bearer |-----BEGIN ){0,60}") {
            let mut end = 0;
            for one in find(&text) {
                prop_assert!(one.range.start >= end && one.range.end > one.range.start);
                prop_assert!(text.get(one.range.clone()).is_some());
                end = one.range.end;
            }
        }

        #[test]
        fn masked_texts_have_no_finding(text in "(\\PC|[=: ]|password=|[a-z0-9]{8}|a@b.org){0,20}") {
            let masked = super::super::masked_text(&text);
            prop_assert_eq!(found(&masked), []);
        }
    }
}
