//! Tokens: their kind, position and bracket depth.

/// One token of the source. Positions are byte offsets.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    /// The number of open brackets after it; an opening bracket counts itself.
    pub level: u8,
    pub start: u32,
    pub end: u32,
}

/// The kinds of tokens that expressions distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
pub fn word(text: &[u8]) -> Kind {
    match text {
        b"and" => Kind::And,
        b"async" => Kind::Async,
        b"await" => Kind::Await,
        b"else" => Kind::Else,
        b"False" => Kind::False,
        b"for" => Kind::For,
        b"from" => Kind::From,
        b"if" => Kind::If,
        b"in" => Kind::In,
        b"is" => Kind::Is,
        b"lambda" => Kind::Lambda,
        b"None" => Kind::None,
        b"not" => Kind::Not,
        b"or" => Kind::Or,
        b"True" => Kind::True,
        b"yield" => Kind::Yield,
        b"as" | b"assert" | b"break" | b"class" | b"continue" | b"def" | b"del" | b"elif"
        | b"except" | b"finally" | b"global" | b"import" | b"nonlocal" | b"pass" | b"raise"
        | b"return" | b"try" | b"while" | b"with" => Kind::OtherKeyword,
        _ => Kind::Name,
    }
}

/// The kind and length of the operator or punctuation at the start of `text`, brackets aside.
/// `None` if no token starts like this.
pub fn punctuation(text: &[u8]) -> Option<(Kind, u32)> {
    use Kind::*;
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
