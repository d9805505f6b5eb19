//! The text that Python printed.

/// The maximum length, in bytes.
const LONGEST: usize = 200_000;

/// Adds a text, and removes the beginning of what exceeds the maximum length.
pub fn append(console: &mut String, printed: &str) {
    console.push_str(printed);
    let surplus = console.len().saturating_sub(LONGEST);
    let cut = (surplus..console.len())
        .find(|at| console.is_char_boundary(*at))
        .unwrap_or(console.len());
    console.drain(..cut);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_long_text_goes() {
        let mut console = "one\n".to_owned();
        append(&mut console, "two\n");
        assert_eq!(console, "one\ntwo\n");
        append(&mut console, &"x".repeat(LONGEST - 4));
        assert!(console.starts_with("two\nx"));
        assert_eq!(console.len(), LONGEST);
    }

    #[test]
    fn a_character_is_never_cut() {
        let mut console = "é".repeat(LONGEST / 2);
        append(&mut console, "x");
        assert_eq!(console.len(), LONGEST - 1);
        assert!(console.ends_with("éx"));
    }
}
