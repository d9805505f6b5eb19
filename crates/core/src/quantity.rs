//! Sizes and counts in English, as pages, messages and reports show them.

/// Formats a size in decimal units: `512 B`, `1.5 kB`, `10.0 MB`. Sizes of files and quotas exceed the 32 bits of a `usize` in
/// wasm.
pub fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1_000.0;
    let mut unit = 0;
    // 999.95 would be shown as 1000.0.
    while size >= 999.95 && unit + 1 < UNITS.len() {
        size /= 1_000.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
}

/// An integer with thousands separators: `10,000`.
pub fn count_text(count: usize) -> String {
    large_count_text(count as u64)
}

/// Like [`count_text`], for counts from files and providers, which may exceed the 32 bits of a `usize` in wasm.
pub fn large_count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 step`, `2 steps`, `3 trajectories`.
pub fn plural(count: usize, noun: &str) -> String {
    large_plural(count as u64, noun)
}

/// Like [`plural`], for counts from files and providers.
pub fn large_plural(count: u64, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix('y') {
        _ if count == 1 => (noun, ""),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => (stem, "ies"),
        _ => (noun, "s"),
    };
    format!("{} {stem}{ending}", large_count_text(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_549, "1.5 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (10_000_000, "10.0 MB"),
            (5_000_000_000, "5.0 GB"),
        ] {
            assert_eq!(size_text(bytes), expected);
        }
    }

    #[test]
    fn counts_are_readable() {
        assert_eq!(count_text(0), "0");
        assert_eq!(count_text(999), "999");
        assert_eq!(count_text(1_234_567), "1,234,567");
        assert_eq!(large_count_text(5_000_000_000), "5,000,000,000");
        assert_eq!(
            large_plural(u64::MAX, "token"),
            "18,446,744,073,709,551,615 tokens"
        );
        assert_eq!(plural(1, "step"), "1 step");
        assert_eq!(plural(10_000, "step"), "10,000 steps");
        assert_eq!(plural(2, "trajectory"), "2 trajectories");
        assert_eq!(plural(2, "day"), "2 days");
    }
}
