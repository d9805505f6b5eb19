//! Elements on the page: written once, changed in place where another description of the same element
//! comes, taken away.
//!
//! What always holds: an element's children are described by one list, in order. So a list that grew is
//! appended to, one that shrank is cut at its end, and no marks have to stand between children.

use std::borrow::Cow;

use leptos::attr::Attribute;
use leptos::attr::any_attribute::{AnyAttributeState, IntoAnyAttribute};
use leptos::prelude::*;
use leptos::tachys::renderer::Rndr;
use leptos::tachys::renderer::types::{Element, Node, Text};
use leptos::tachys::view::any_view::AnyViewState;
use leptos::tachys::view::{Mountable, Render};
use leptos::wasm_bindgen::JsCast;

use super::{Parts, Piece};

/// An element on the page.
pub(super) struct Drawn {
    element: Element,
    tag: &'static str,
    fixed: Vec<(&'static str, Cow<'static, str>)>,
    live: Vec<AnyAttributeState>,
    children: Vec<DrawnPiece>,
}

/// A child on the page.
enum DrawnPiece {
    Text(Text, Cow<'static, str>),
    Element(Box<Drawn>),
    View(AnyViewState),
}

impl Render for Box<Parts> {
    type State = Drawn;

    fn build(self) -> Self::State {
        let parts = *self;
        let element = Rndr::create_element(parts.tag, parts.namespace);
        for (name, value) in &parts.fixed {
            Rndr::set_attribute(&element, name, value);
        }
        let live = parts.live.into_iter();
        let live = live.map(|attribute| attribute.build(&element)).collect();
        let mut children: Vec<DrawnPiece> = parts.children.into_iter().map(draw).collect();
        for child in &mut children {
            child.mount(&element, None);
        }
        Drawn {
            element,
            tag: parts.tag,
            fixed: parts.fixed,
            live,
            children,
        }
    }

    fn rebuild(self, state: &mut Self::State) {
        if state.is_of_another_kind(&self) {
            let mut drawn = self.build();
            state.insert_before_this(&mut drawn);
            state.unmount();
            *state = drawn;
            return;
        }
        let parts = *self;
        for ((name, value), former) in parts.fixed.iter().zip(&state.fixed) {
            if *value != former.1 {
                Rndr::set_attribute(&state.element, name, value);
            }
        }
        state.fixed = parts.fixed;
        for (attribute, state) in parts.live.into_iter().zip(&mut state.live) {
            attribute.rebuild(state);
        }
        for child in state
            .children
            .drain(parts.children.len().min(state.children.len())..)
        {
            child.take_away();
        }
        let mut pieces = parts.children.into_iter();
        for (drawn, piece) in state.children.iter_mut().zip(pieces.by_ref()) {
            redraw(piece, drawn);
        }
        for piece in pieces {
            let mut drawn = draw(piece);
            drawn.mount(&state.element, None);
            state.children.push(drawn);
        }
    }
}

fn draw(piece: Piece) -> DrawnPiece {
    match piece {
        Piece::Text(text) => DrawnPiece::Text(Rndr::create_text_node(&text), text),
        Piece::Element(parts) => DrawnPiece::Element(Box::new(parts.build())),
        Piece::View(view) => DrawnPiece::View(view.build()),
    }
}

fn redraw(piece: Piece, drawn: &mut DrawnPiece) {
    match (piece, drawn) {
        (Piece::Text(text), DrawnPiece::Text(node, former)) => {
            if text != *former {
                Rndr::set_text(node, &text);
                *former = text;
            }
        }
        (Piece::Element(parts), DrawnPiece::Element(drawn)) => parts.rebuild(drawn),
        (Piece::View(view), DrawnPiece::View(drawn)) => view.rebuild(drawn),
        (piece, drawn) => {
            let mut fresh = draw(piece);
            drawn.insert_before_this(&mut fresh);
            std::mem::replace(drawn, fresh).take_away();
        }
    }
}

impl Drawn {
    /// Whether it can't become what is described.
    fn is_of_another_kind(&self, parts: &Parts) -> bool {
        let names = parts.fixed.iter().map(|(name, _)| name);
        self.tag != parts.tag
            || self.live.len() != parts.live.len()
            || !names.eq(self.fixed.iter().map(|(name, _)| name))
    }
}

impl DrawnPiece {
    fn take_away(mut self) {
        self.unmount();
    }
}

impl Mountable for Drawn {
    fn unmount(&mut self) {
        Rndr::remove(&self.element);
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        Rndr::insert_node(parent, &self.element, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        before(&self.element, child)
    }

    fn elements(&self) -> Vec<Element> {
        vec![self.element.clone()]
    }
}

impl Mountable for DrawnPiece {
    fn unmount(&mut self) {
        match self {
            DrawnPiece::Text(node, _) => Rndr::remove(node),
            DrawnPiece::Element(drawn) => drawn.unmount(),
            DrawnPiece::View(view) => view.unmount(),
        }
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        match self {
            DrawnPiece::Text(node, _) => Rndr::insert_node(parent, node, marker),
            DrawnPiece::Element(drawn) => drawn.mount(parent, marker),
            DrawnPiece::View(view) => view.mount(parent, marker),
        }
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        match self {
            DrawnPiece::Text(node, _) => before(node, child),
            DrawnPiece::Element(drawn) => drawn.insert_before_this(child),
            DrawnPiece::View(view) => view.insert_before_this(child),
        }
    }

    fn elements(&self) -> Vec<Element> {
        match self {
            DrawnPiece::Text(..) => Vec::new(),
            DrawnPiece::Element(drawn) => drawn.elements(),
            DrawnPiece::View(view) => view.elements(),
        }
    }
}

pub(super) fn before(node: &Node, child: &mut dyn Mountable) -> bool {
    let parent = Rndr::get_parent(node).and_then(|parent| parent.dyn_into::<Element>().ok());
    if let Some(parent) = &parent {
        child.mount(parent, Some(node));
    }
    parent.is_some()
}

impl AddAnyAttr for Box<Parts> {
    type Output<Added: Attribute> = Self;

    fn add_any_attr<Added: Attribute>(mut self, attribute: Added) -> Self {
        self.live
            .push(attribute.into_cloneable_owned().into_any_attr());
        self
    }
}

/// The page is drawn in browsers alone: there is no HTML to be written or taken over.
macro_rules! in_browsers_alone {
    ($view:ty) => {
        impl ::leptos::tachys::view::RenderHtml for $view {
            type AsyncOutput = Self;
            type Owned = Self;

            const MIN_LENGTH: usize = 0;

            fn dry_resolve(&mut self) {}

            fn resolve(self) -> impl Future<Output = Self> + Send {
                ::std::future::ready(self)
            }

            fn to_html_with_buf(
                self,
                _: &mut String,
                _: &mut ::leptos::tachys::view::Position,
                _: bool,
                _: bool,
                _: Vec<::leptos::attr::any_attribute::AnyAttribute>,
            ) {
            }

            fn hydrate<const FROM_SERVER: bool>(
                self,
                _: &::leptos::tachys::hydration::Cursor,
                _: &::leptos::tachys::view::PositionState,
            ) -> Self::State {
                self.build()
            }

            fn into_owned(self) -> Self {
                self
            }
        }
    };
}
pub(super) use in_browsers_alone;

in_browsers_alone!(Box<Parts>);
