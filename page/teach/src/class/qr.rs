//! A text as a QR code. Pure.

use qrcodegen::{QrCode, QrCodeEcc};

/// The white border that readers need, in modules.
const QUIET: i32 = 4;

/// The dark modules of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The width and height, with the border, in modules.
    pub size: i32,
    /// The dark modules as an SVG path.
    pub path: String,
}

/// The code of a text; `None` if the text is too long for one.
pub fn picture(text: &str) -> Option<Picture> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let mut path = String::new();
    for y in 0..code.size() {
        let mut x = 0;
        while x < code.size() {
            let start = x;
            while x < code.size() && code.get_module(x, y) {
                x += 1;
            }
            let width = x - start;
            if width > 0 {
                let (left, top) = (start + QUIET, y + QUIET);
                path.push_str(&format!("M{left} {top}h{width}v1h-{width}z"));
            }
            x += 1;
        }
    }
    Some(Picture {
        size: code.size() + 2 * QUIET,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_a_code_and_a_book_has_none() {
        let made = picture("https://volary.example/#/class?a=1eJw").unwrap();
        // Version 3 has 29 modules.
        assert_eq!(made.size, 29 + 8);
        // The upper edge of the upper left finder pattern.
        assert!(made.path.starts_with("M4 4h7v1h-7z"), "{}", made.path);
        assert_eq!(picture(&"x".repeat(3000)), None);
    }
}
