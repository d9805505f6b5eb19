//! Tokens: their kind, position and bracket depth.

/// One token of the source. Positions are byte offsets.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    /// The number of open brackets after it; an opening bracket counts itself.
    pub level: u8,
    pub start: u32,
    pub end: u32,
}

/// The kinds of tokens that expressions distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Name,
    Number,
    /// A string literal with its prefix and quotes.
    String,

    And,
    Async,
    Await,
    Else,
    False,
    For,
    From,
    If,
    In,
    Is,
    Lambda,
    None,
    Not,
    Or,
    True,
    Yield,
    /// A keyword that no expression contains, such as `import`.
    OtherKeyword,

    Plus,
    Minus,
    Star,
    Slash,
    DoubleSlash,
    Percent,
    At,
    DoubleStar,
    Pipe,
    Caret,
    Ampersand,
    LeftShift,
    RightShift,
    Tilde,
    /// `<`, `<=`, `>`, `>=`, `==`, `!=`
    Comparison,
    Dot,
    Ellipsis,
    Comma,
    Colon,
    ColonEqual,
    Equal,
    /// `(`, `[` or `{`
    Open(Bracket),
    /// `)`, `]` or `}`
    Close(Bracket),
    /// Punctuation that no expression contains, such as `;`, `+=`, `->` or `$`.
    OtherPunctuation,

    /// A line end outside brackets.
    Newline,
    /// The end of the source.
    End,
}

/// The three pairs of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    Round,
    Square,
    Curly,
}

impl Bracket {
    /// The opening character.
    pub fn open(self) -> char {
        match self {
            Bracket::Round => '(',
            Bracket::Square => '[',
            Bracket::Curly => '{',
        }
    }

    /// The closing character.
    pub fn close(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Square => ']',
            Bracket::Curly => '}',
        }
    }
}

/// The kind of a word: a keyword, or a name.
pub fn word(text: &[u8]) -> TokenKind {
    match text {
        b"and" => TokenKind::And,
        b"async" => TokenKind::Async,
        b"await" => TokenKind::Await,
        b"else" => TokenKind::Else,
        b"False" => TokenKind::False,
        b"for" => TokenKind::For,
        b"from" => TokenKind::From,
        b"if" => TokenKind::If,
        b"in" => TokenKind::In,
        b"is" => TokenKind::Is,
        b"lambda" => TokenKind::Lambda,
        b"None" => TokenKind::None,
        b"not" => TokenKind::Not,
        b"or" => TokenKind::Or,
        b"True" => TokenKind::True,
        b"yield" => TokenKind::Yield,
        b"as" | b"assert" | b"break" | b"class" | b"continue" | b"def" | b"del" | b"elif"
        | b"except" | b"finally" | b"global" | b"import" | b"nonlocal" | b"pass" | b"raise"
        | b"return" | b"try" | b"while" | b"with" => TokenKind::OtherKeyword,
        _ => TokenKind::Name,
    }
}

/// The kind and length of the operator or punctuation at the start of `text`, brackets aside.
/// `None` if no token starts like this.
pub fn punctuation(text: &[u8]) -> Option<(TokenKind, u32)> {
    use TokenKind::*;
    let second = text.get(1).copied();
    let third = text.get(2).copied();
    Some(match (*text.first()?, second, third) {
        (b'*', Some(b'*'), Some(b'='))
        | (b'/', Some(b'/'), Some(b'='))
        | (b'<', Some(b'<'), Some(b'='))
        | (b'>', Some(b'>'), Some(b'=')) => (OtherPunctuation, 3),
        (b'.', Some(b'.'), Some(b'.')) => (Ellipsis, 3),

        (b'*', Some(b'*'), _) => (DoubleStar, 2),
        (b'/', Some(b'/'), _) => (DoubleSlash, 2),
        (b'<', Some(b'<'), _) => (LeftShift, 2),
        (b'>', Some(b'>'), _) => (RightShift, 2),
        (b':', Some(b'='), _) => (ColonEqual, 2),
        (b'<' | b'>' | b'=' | b'!', Some(b'='), _) => (Comparison, 2),
        (b'<', Some(b'>'), _) | (b'-', Some(b'>'), _) => (OtherPunctuation, 2),
        (b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'@', Some(b'='), _) => {
            (OtherPunctuation, 2)
        }

        (b'+', ..) => (Plus, 1),
        (b'-', ..) => (Minus, 1),
        (b'*', ..) => (Star, 1),
        (b'/', ..) => (Slash, 1),
        (b'%', ..) => (Percent, 1),
        (b'@', ..) => (At, 1),
        (b'|', ..) => (Pipe, 1),
        (b'^', ..) => (Caret, 1),
        (b'&', ..) => (Ampersand, 1),
        (b'~', ..) => (Tilde, 1),
        (b'<' | b'>', ..) => (Comparison, 1),
        (b'=', ..) => (Equal, 1),
        (b'.', ..) => (Dot, 1),
        (b',', ..) => (Comma, 1),
        (b':', ..) => (Colon, 1),
        (b';' | b'!' | b'$' | b'?' | b'`', ..) => (OtherPunctuation, 1),
        _ => return Option::None,
    })
}
