//! Names of files that are made of what people typed.

/// A file name of letters, digits and dashes, without an extension.
pub fn download_name(parts: &[&str]) -> String {
    let joined = parts.join(" ").to_lowercase();
    let plain = joined.chars().map(|character| match character {
        character if character.is_alphanumeric() => character,
        _ => '-',
    });
    let plain: String = plain.take(80).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        "volary".to_owned()
    } else {
        words.join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_text() {
        assert_eq!(download_name(&["Ada L.", "Sums / 1"]), "ada-l-sums-1");
        assert_eq!(download_name(&["李雷", "../x"]), "李雷-x");
        assert_eq!(download_name(&["", "?"]), "volary");
    }
}
