//! The marks of a token in a strip, as classes of the style sheet.
//!
//! Trained tokens are underlined and special ones are boxed, so neither depends on colour.

use super::token_shades::Shade;

/// What the form of a token tells, apart from its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenMarks {
    pub is_trained: bool,
    pub is_special: bool,
    /// Whether it is the described token.
    pub is_active: bool,
    /// The shade by the chosen stream; `None` if the loss mask colours the tokens.
    pub shade: Option<Shade>,
}

impl TokenMarks {
    /// The classes in the style sheet.
    pub fn class(self) -> String {
        let mut class = "token".to_owned();
        let marks = [
            (self.is_trained, " trained"),
            (self.is_special, " special"),
            (self.is_active, " active"),
        ];
        for (_, mark) in marks.into_iter().filter(|(is_on, _)| *is_on) {
            class.push_str(mark);
        }
        if let Some(shade) = self.shade {
            class.push_str(" shaded ");
            class.push_str(&shade.class());
        }
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_classes() {
        assert_eq!(TokenMarks::default().class(), "token");
        let all = TokenMarks {
            is_trained: true,
            is_special: true,
            is_active: true,
            shade: Some(Shade::Below(2)),
        };
        let class = all.class();
        assert_eq!(class, "token trained special active shaded shade-below-2");
        let gap = TokenMarks {
            shade: Some(Shade::Gap),
            ..TokenMarks::default()
        };
        assert_eq!(gap.class(), "token shaded shade-gap");
    }
}
