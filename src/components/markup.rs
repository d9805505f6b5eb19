//! Elements of the page, in leptos's builder syntax and of one concrete type.
//!
//! A `view!` makes a type of its own for each element, and the compiler writes building, changing and
//! taking away anew for each of them: a few kilobytes of download every time. Here all elements are
//! one type with a list of attributes and a list of children, so an attribute or a child costs a call.
//! What never changes (most attributes, most texts) is written to the page and forgotten; [`drawn`]
//! does that.
//!
//! ```text
//! el("p").class("alert").attr("role", "alert").child("It failed.").view()
//! ```

mod drawn;
mod keyed;

use std::borrow::Cow;

use leptos::attr::any_attribute::{AnyAttribute, IntoAnyAttribute};
use leptos::attr::custom::custom_attribute;
use leptos::ev::{self, Event};
use leptos::html::Custom;
use leptos::prelude::*;
use leptos::tachys::html::event::on;
use leptos::tachys::html::node_ref::node_ref;
use leptos::tachys::html::property::prop;
use leptos::tachys::view::iterators::StaticVec;
use leptos::wasm_bindgen::JsCast;

pub use keyed::{key_of, keyed};

/// Leads to the element on the page.
pub type ElementRef = NodeRef<Custom<&'static str>>;

/// An element that is being described.
#[must_use]
pub struct El(Box<Parts>);

/// What an element is made of. Behind a box, so that describing an element hands a pointer on.
struct Parts {
    tag: &'static str,
    namespace: Option<&'static str>,
    /// Attributes that stay as they are.
    fixed: Vec<(&'static str, Cow<'static, str>)>,
    /// Those that change, listen, or lead to the element.
    live: Vec<AnyAttribute>,
    children: Vec<Piece>,
}

/// A child.
enum Piece {
    Text(Cow<'static, str>),
    Element(Box<Parts>),
    View(AnyView),
}

/// An HTML element.
pub fn el(tag: &'static str) -> El {
    El::new(tag, None)
}

const SVG: Option<&str> = Some("http://www.w3.org/2000/svg");

/// A drawing.
pub fn svg() -> El {
    El::new("svg", SVG)
}

/// A path in a drawing.
pub fn path() -> El {
    El::new("path", SVG)
}

/// Words in a drawing.
pub fn svg_text() -> El {
    El::new("text", SVG)
}

/// A button that submits nothing.
pub fn button(class: &'static str) -> El {
    el("button").attr("type", "button").class(class)
}

impl El {
    fn new(tag: &'static str, namespace: Option<&'static str>) -> Self {
        El(Box::new(Parts {
            tag,
            namespace,
            fixed: Vec::new(),
            live: Vec::new(),
            children: Vec::new(),
        }))
    }

    /// Its classes.
    pub fn class(self, classes: impl Value) -> Self {
        self.attr("class", classes)
    }

    /// An attribute. One without a value is not there.
    pub fn attr(self, name: &'static str, value: impl Value) -> Self {
        value.put(self, name)
    }

    /// A text of the element itself that changes with a signal, such as the `value` of a field.
    pub fn text_property(self, name: &'static str, value: Signal<String>) -> Self {
        self.put(prop(name, value).into_any_attr())
    }

    /// A switch of the element itself that changes with a signal, such as `checked`.
    pub fn flag_property(self, name: &'static str, value: Signal<bool>) -> Self {
        self.put(prop(name, value).into_any_attr())
    }

    /// What an event does. `E` must be the type that browsers give to events of this name.
    pub fn on<E: JsCast + 'static>(
        self,
        name: &'static str,
        mut act: impl FnMut(E) + 'static,
    ) -> Self {
        self.listen(name, Box::new(move |event| act(event.unchecked_into())))
    }

    /// What a click does.
    pub fn on_click(self, mut act: impl FnMut() + 'static) -> Self {
        self.listen("click", Box::new(move |_| act()))
    }

    fn listen(self, name: &'static str, act: Box<dyn FnMut(Event)>) -> Self {
        self.put(on(ev::Custom::<Event>::new(name), act).into_any_attr())
    }

    /// Leads to the element once it is on the page.
    pub fn element_ref(self, reference: ElementRef) -> Self {
        self.put(node_ref(reference).into_any_attr())
    }

    /// A child. Nothing for `None`.
    pub fn child(self, child: impl Child) -> Self {
        child.put(self)
    }

    /// The view.
    pub fn view(self) -> AnyView {
        self.0.into_any()
    }

    fn fix(mut self, name: &'static str, value: Cow<'static, str>) -> Self {
        self.0.fixed.push((name, value));
        self
    }

    fn put(mut self, attribute: AnyAttribute) -> Self {
        self.0.live.push(attribute);
        self
    }

    fn put_child(mut self, child: Piece) -> Self {
        self.0.children.push(child);
        self
    }
}

/// What an attribute can hold. The attributes are made here, once for each kind of value.
pub trait Value {
    /// Puts it into an attribute of an element.
    fn put(self, element: El, name: &'static str) -> El;
}

/// Values that leptos knows. `inline(never)`: what they take is written once, not at each use.
macro_rules! values {
    ($($value:ty),*) => {
        $(impl Value for $value {
            #[inline(never)]
            fn put(self, element: El, name: &'static str) -> El {
                element.put(custom_attribute(name, self).into_any_attr())
            }
        })*
    };
}

values!(Signal<String>, Signal<Option<String>>, Signal<bool>);

impl Value for &'static str {
    fn put(self, element: El, name: &'static str) -> El {
        element.fix(name, Cow::Borrowed(self))
    }
}

impl Value for String {
    fn put(self, element: El, name: &'static str) -> El {
        element.fix(name, Cow::Owned(self))
    }
}

impl Value for bool {
    fn put(self, element: El, name: &'static str) -> El {
        match self {
            true => element.attr(name, ""),
            false => element,
        }
    }
}

impl<T: Value> Value for Option<T> {
    fn put(self, element: El, name: &'static str) -> El {
        match self {
            Some(value) => value.put(element, name),
            None => element,
        }
    }
}

/// What can stand in an element.
pub trait Child {
    /// Puts it into an element, after what is there.
    fn put(self, element: El) -> El;
}

impl Child for &'static str {
    fn put(self, element: El) -> El {
        element.put_child(Piece::Text(Cow::Borrowed(self)))
    }
}

impl Child for String {
    fn put(self, element: El) -> El {
        element.put_child(Piece::Text(Cow::Owned(self)))
    }
}

impl Child for Signal<String> {
    #[inline(never)]
    fn put(self, element: El) -> El {
        element.put_child(Piece::View(self.into_any()))
    }
}

impl Child for AnyView {
    fn put(self, element: El) -> El {
        element.put_child(Piece::View(self))
    }
}

impl Child for El {
    fn put(self, element: El) -> El {
        element.put_child(Piece::Element(self.0))
    }
}

impl Child for Vec<AnyView> {
    fn put(self, mut element: El) -> El {
        let children = &mut element.0.children;
        children.extend(self.into_iter().map(Piece::View));
        element
    }
}

impl Child for Vec<El> {
    fn put(self, mut element: El) -> El {
        let children = &mut element.0.children;
        children.extend(self.into_iter().map(|child| Piece::Element(child.0)));
        element
    }
}

impl<T: Child> Child for Option<T> {
    fn put(self, element: El) -> El {
        match self {
            Some(child) => child.put(element),
            None => element,
        }
    }
}

/// Nothing.
pub fn nothing() -> AnyView {
    ().into_any()
}

/// Several views after each other.
pub fn all(views: Vec<AnyView>) -> AnyView {
    StaticVec::from(views).into_any()
}
