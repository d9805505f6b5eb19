//! Traverses a value to build its rows.

use std::ops::Range;

use volary_core::Json;
use volary_core::quantity::{plural, size_text};
use volary_episode::diff::{Child, Diff, Removed};

use super::change::{MarkEdited, Past};
use super::{Expansion, Mark, OPEN_LEVELS, OPENED_ROWS, RowKind, TreeRow};
use crate::pretty::{one_line, scalar};

/// The maximum length of the preview of a closed branch.
const PREVIEW_BYTES: usize = 120;
/// Longer texts are opened on demand.
const LINE_BYTES: usize = 240;

pub(super) struct TreeWalk<'a> {
    expansion: &'a Expansion,
    edited: Option<MarkEdited>,
    pub(super) rows: Vec<TreeRow>,
}

/// A value and its position in the tree.
struct Node<'a> {
    path: String,
    level: usize,
    name: String,
    value: &'a Json,
    past: Past<'a>,
    position: usize,
    siblings: usize,
}

impl<'a> TreeWalk<'a> {
    pub(super) fn new(expansion: &'a Expansion, edited: Option<MarkEdited>) -> Self {
        TreeWalk {
            expansion,
            edited,
            rows: Vec::new(),
        }
    }

    pub(super) fn root(
        &mut self,
        name: &str,
        value: &'a Json,
        before: Option<(&'a Json, &'a Diff)>,
        (position, siblings): (usize, usize),
    ) {
        self.node(Node {
            path: format!("/{name}"),
            level: 1,
            name: name.to_owned(),
            value,
            past: Past::of_root(before),
            position,
            siblings,
        });
    }

    fn node(&mut self, node: Node<'a>) {
        let mark = node.past.mark(node.value, self.edited);
        let kind = match node.value {
            Json::List(list) if !list.is_empty() => self.branch(&node, plural(list.len(), "item")),
            Json::Object(object) if !object.is_empty() => {
                self.branch(&node, plural(object.len(), "key"))
            }
            Json::List(_) => RowKind::Leaf {
                kind: scalar(node.value).0,
                text: "[]".into(),
            },
            Json::Object(_) => RowKind::Leaf {
                kind: scalar(node.value).0,
                text: "{}".into(),
            },
            Json::Text(text) if text.len() > LINE_BYTES || text.contains('\n') => {
                RowKind::LongText {
                    text: text.clone(),
                    preview: format!(
                        "{} {}",
                        one_line(node.value, LINE_BYTES),
                        size_text(text.len() as u64)
                    ),
                    open: self.is_open(&node.path, false),
                }
            }
            leaf => {
                let (kind, text) = scalar(leaf);
                RowKind::Leaf { kind, text }
            }
        };
        let open = matches!(kind, RowKind::Branch { open: true, .. });
        self.rows.push(TreeRow {
            path: node.path.clone(),
            level: node.level,
            name: node.name.clone(),
            kind,
            mark,
            position: node.position,
            siblings: node.siblings,
        });
        if open {
            self.children(&node);
        }
    }

    fn branch(&self, node: &Node<'a>, count: String) -> RowKind {
        let default = node.level <= OPEN_LEVELS
            && self.rows.len() < OPENED_ROWS
            && !matches!(node.past, Past::Gone);
        let open = self.is_open(&node.path, default);
        let preview = if open {
            String::new()
        } else {
            one_line(node.value, PREVIEW_BYTES)
        };
        RowKind::Branch {
            open,
            count,
            preview,
        }
    }

    fn is_open(&self, path: &str, default: bool) -> bool {
        self.expansion.open.get(path).copied().unwrap_or(default)
    }

    fn children(&mut self, parent: &Node<'a>) {
        let removed = match parent.past {
            Past::Value(old, diff) => Former::of(old, diff),
            Past::Same | Past::Nothing | Past::Gone => Former::default(),
        };
        let count = match parent.value {
            Json::List(list) => list.len(),
            Json::Object(object) => object.len(),
            _ => 0,
        };
        let hidden = self.expansion.hidden(&parent.path, count);
        let siblings = count + removed.children.len() + usize::from(!hidden.is_empty());
        let mut gone = removed.children.into_iter().take(super::SLICE).peekable();
        let mut position = 0;
        for place in 0..=count {
            if hidden.contains(&place) && place != hidden.start {
                continue;
            }
            while let Some((former, name, value)) =
                gone.next_if(|(former, ..)| former.before <= place)
            {
                position += 1;
                self.node(Node {
                    // No key has this form in a pointer, so it cannot be confused with a current value.
                    path: format!("{}/~-{}", parent.path, former.old),
                    level: parent.level + 1,
                    name,
                    value,
                    past: Past::Gone,
                    position,
                    siblings,
                });
            }
            position += 1;
            if place == hidden.start && !hidden.is_empty() {
                self.more(parent, &hidden, (position, siblings));
                position += hidden.len();
            } else {
                self.child(parent, place, (position, siblings));
            }
        }
    }

    fn child(&mut self, parent: &Node<'a>, place: usize, (position, siblings): (usize, usize)) {
        let (name, value, past) = match parent.value {
            Json::List(list) => {
                let Some(value) = list.get(place) else { return };
                (place.to_string(), value, parent.past.of_element(place))
            }
            Json::Object(object) => {
                let Some((key, value)) = object.iter().nth(place) else {
                    return;
                };
                (key.to_string(), value, parent.past.of_member(place, key))
            }
            _ => return,
        };
        self.node(Node {
            path: format!("{}/{}", parent.path, pointer_step(&name)),
            level: parent.level + 1,
            name,
            value,
            past,
            position,
            siblings,
        });
    }

    fn more(
        &mut self,
        parent: &Node<'a>,
        hidden: &Range<usize>,
        (position, siblings): (usize, usize),
    ) {
        let changed = match parent.past {
            Past::Value(_, diff) => hidden.clone().any(|place| diff.child(place) != Child::Same),
            Past::Same | Past::Nothing | Past::Gone => false,
        };
        self.rows.push(TreeRow {
            path: format!("{}/~more", parent.path),
            level: parent.level + 1,
            name: String::new(),
            kind: RowKind::More {
                parent: parent.path.clone(),
                hidden: hidden.len(),
            },
            mark: if changed { Mark::Inside } else { Mark::Same },
            position,
            siblings,
        });
    }
}

/// A key as a segment of a JSON pointer.
fn pointer_step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The removed children of a previous value in order, with their names.
#[derive(Default)]
struct Former<'a> {
    children: Vec<(Removed, String, &'a Json)>,
}

impl<'a> Former<'a> {
    fn of(old: &'a Json, diff: &Diff) -> Self {
        let removed = diff.removed();
        let children = match old {
            Json::List(list) => removed
                .into_iter()
                .filter_map(|gone| Some((gone, gone.old.to_string(), list.get(gone.old)?)))
                .collect(),
            Json::Object(object) => {
                let members: Vec<_> = object.iter().collect();
                removed
                    .into_iter()
                    .filter_map(|gone| {
                        let (key, value) = members.get(gone.old)?;
                        Some((gone, key.to_string(), *value))
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        Former { children }
    }
}
