//! JSON as a tree of texts that need not be valid: keys may be duplicated, and leaves are arbitrary text.

use volary_core::json::Json;
use volary_core::random::Random;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A scalar in JSON syntax.
    Leaf(String),
    List(Vec<Tree>),
    /// Each key in JSON syntax, with its quotes.
    Object(Vec<(String, Tree)>),
}

/// The formatting of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without white space.
    Compact,
    /// With a space after commas and colons.
    Spaced,
    /// One element per line.
    Lines,
}

impl From<&Json> for Tree {
    fn from(json: &Json) -> Tree {
        match json {
            Json::List(list) => Tree::List(list.iter().map(Tree::from).collect()),
            Json::Object(object) => {
                let member = |(key, value): (&_, &Json)| {
                    let key: &str = AsRef::<str>::as_ref(key);
                    (Json::from(key).to_compact_text(), Tree::from(value))
                };
                Tree::Object(
                    object
                        .iter()
                        .map(|(key, value)| member((key, value)))
                        .collect(),
                )
            }
            leaf => Tree::Leaf(leaf.to_compact_text()),
        }
    }
}

impl Tree {
    /// The number of values in it, including itself.
    pub fn count(&self) -> usize {
        1 + match self {
            Tree::Leaf(_) => 0,
            Tree::List(list) => list.iter().map(Tree::count).sum(),
            Tree::Object(members) => members.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    /// A random value of the tree, each equally likely.
    pub fn pick(&mut self, random: &mut Random) -> &mut Tree {
        let index = random.below(self.count() as u64) as usize;
        self.at(index)
    }

    /// The value at an index in traversal order, beginning with itself; itself if there is none.
    fn at(&mut self, index: usize) -> &mut Tree {
        let mut left = index;
        if left == 0 {
            return self;
        }
        left -= 1;
        let mut found = None;
        let counts: Vec<usize> = match self {
            Tree::Leaf(_) => Vec::new(),
            Tree::List(list) => list.iter().map(Tree::count).collect(),
            Tree::Object(members) => members.iter().map(|(_, value)| value.count()).collect(),
        };
        for (child, count) in counts.into_iter().enumerate() {
            if left < count {
                found = Some(child);
                break;
            }
            left -= count;
        }
        match (found, self) {
            (Some(index), Tree::List(list)) => list[index].at(left),
            (Some(index), Tree::Object(members)) => members[index].1.at(left),
            (_, tree) => tree,
        }
    }

    /// Its JSON text.
    pub fn write(&self, style: Style) -> String {
        let mut text = String::new();
        self.write_to(style, 0, &mut text);
        text
    }

    fn write_to(&self, style: Style, depth: usize, text: &mut String) {
        let children = match self {
            Tree::Leaf(leaf) => return text.push_str(leaf),
            Tree::List(list) => list.len(),
            Tree::Object(members) => members.len(),
        };
        let (open, close) = match self {
            Tree::List(_) => ('[', ']'),
            _ => ('{', '}'),
        };
        text.push(open);
        for index in 0..children {
            if index > 0 {
                text.push_str(if style == Style::Spaced { ", " } else { "," });
            }
            if style == Style::Lines {
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', depth.min(8) + 1));
            }
            match self {
                Tree::List(list) => list[index].write_to(style, depth + 1, text),
                Tree::Object(members) => {
                    let (key, value) = &members[index];
                    text.push_str(key);
                    text.push_str(if style == Style::Compact { ":" } else { ": " });
                    value.write_to(style, depth + 1, text);
                }
                Tree::Leaf(_) => {}
            }
        }
        text.push(close);
    }
}
