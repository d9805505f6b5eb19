//! Elements of the page, in leptos's builder syntax and of one concrete type.
//!
//! A `view!` makes a type of its own for each element, and the compiler writes building, changing and
//! taking away anew for each of them: a few kilobytes of download every time. Here all elements are
//! one type with a list of attributes and a list of children, so an attribute or a child costs a call.
//!
//! ```text
//! el("p").class("alert").attr("role", "alert").child("It failed.").view()
//! ```

use std::sync::Arc;

use leptos::attr::any_attribute::{AnyAttribute, IntoAnyAttribute};
use leptos::attr::custom::custom_attribute;
use leptos::ev::{self, Event};
use leptos::html::{self, Custom};
use leptos::prelude::*;
use leptos::tachys::html::event::on;
use leptos::tachys::html::node_ref::node_ref;
use leptos::tachys::html::property::prop;
use leptos::tachys::view::iterators::StaticVec;
use leptos::wasm_bindgen::JsCast;

/// Leads to the element on the page.
pub type ElementRef = NodeRef<Custom<&'static str>>;

/// An element that is being described.
#[must_use]
pub struct El {
    tag: Tag,
    attributes: Vec<AnyAttribute>,
    children: Vec<AnyView>,
}

/// What kind of element.
enum Tag {
    Html(&'static str),
    Svg,
    Path,
    SvgText,
}

/// An HTML element.
pub fn el(tag: &'static str) -> El {
    El::new(Tag::Html(tag))
}

/// A drawing.
pub fn svg() -> El {
    El::new(Tag::Svg)
}

/// A path in a drawing.
pub fn path() -> El {
    El::new(Tag::Path)
}

/// Words in a drawing.
pub fn svg_text() -> El {
    El::new(Tag::SvgText)
}

/// A button that submits nothing.
pub fn button(class: &'static str) -> El {
    el("button").attr("type", "button").class(class)
}

impl El {
    fn new(tag: Tag) -> Self {
        El {
            tag,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Its classes.
    pub fn class(self, classes: impl Value) -> Self {
        self.attr("class", classes)
    }

    /// An attribute. One without a value is not there.
    pub fn attr(mut self, name: &'static str, value: impl Value) -> Self {
        self.attributes.extend(value.attribute(name));
        self
    }

    /// A text of the element itself that changes with a signal, such as the `value` of a field.
    pub fn text_property(mut self, name: &'static str, value: Signal<String>) -> Self {
        self.attributes.push(text_property(name, value));
        self
    }

    /// A switch of the element itself that changes with a signal, such as `checked`.
    pub fn flag_property(mut self, name: &'static str, value: Signal<bool>) -> Self {
        self.attributes.push(flag_property(name, value));
        self
    }

    /// What an event does. `E` must be the type that browsers give to events of this name.
    pub fn on<E: JsCast + 'static>(
        mut self,
        name: &'static str,
        mut act: impl FnMut(E) + 'static,
    ) -> Self {
        let act = Box::new(move |event: Event| act(event.unchecked_into()));
        self.attributes.push(listener(name, act));
        self
    }

    /// What a click does.
    pub fn on_click(self, mut act: impl FnMut() + 'static) -> Self {
        self.on("click", move |_: Event| act())
    }

    /// Leads to the element once it is on the page.
    pub fn element_ref(mut self, reference: ElementRef) -> Self {
        self.attributes.push(reference_to(reference));
        self
    }

    /// A child. Nothing for `None`.
    pub fn child(mut self, child: impl Child) -> Self {
        self.children.extend(child.into_child());
        self
    }

    /// The view.
    pub fn view(self) -> AnyView {
        let children = StaticVec::from(self.children);
        match self.tag {
            Tag::Html(tag) => html::custom(tag)
                .add_any_attr(self.attributes)
                .child(children)
                .into_any(),
            Tag::Svg => leptos::svg::svg()
                .add_any_attr(self.attributes)
                .child(children)
                .into_any(),
            Tag::Path => leptos::svg::path().add_any_attr(self.attributes).into_any(),
            Tag::SvgText => leptos::svg::text()
                .add_any_attr(self.attributes)
                .child(children)
                .into_any(),
        }
    }
}

// Each of these is written once, however often it is used.

fn fixed(name: &'static str, value: &'static str) -> AnyAttribute {
    custom_attribute(name, value).into_any_attr()
}

fn owned(name: &'static str, value: String) -> AnyAttribute {
    custom_attribute(name, value).into_any_attr()
}

fn changing(name: &'static str, value: Signal<String>) -> AnyAttribute {
    custom_attribute(name, value).into_any_attr()
}

fn coming(name: &'static str, value: Signal<Option<String>>) -> AnyAttribute {
    custom_attribute(name, value).into_any_attr()
}

fn switched(name: &'static str, value: Signal<bool>) -> AnyAttribute {
    custom_attribute(name, value).into_any_attr()
}

fn text_property(name: &'static str, value: Signal<String>) -> AnyAttribute {
    prop(name, value).into_any_attr()
}

fn flag_property(name: &'static str, value: Signal<bool>) -> AnyAttribute {
    prop(name, value).into_any_attr()
}

fn listener(name: &'static str, act: Box<dyn FnMut(Event)>) -> AnyAttribute {
    on(ev::Custom::<Event>::new(name), act).into_any_attr()
}

fn reference_to(reference: ElementRef) -> AnyAttribute {
    node_ref(reference).into_any_attr()
}

/// What an attribute can hold.
pub trait Value {
    /// The attribute, if there is one.
    fn attribute(self, name: &'static str) -> Option<AnyAttribute>;
}

impl Value for &'static str {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        Some(fixed(name, self))
    }
}

impl Value for String {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        Some(owned(name, self))
    }
}

impl Value for bool {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        self.then(|| fixed(name, ""))
    }
}

impl Value for Signal<String> {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        Some(changing(name, self))
    }
}

impl Value for Signal<Option<String>> {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        Some(coming(name, self))
    }
}

impl Value for Signal<bool> {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        Some(switched(name, self))
    }
}

impl<T: Value> Value for Option<T> {
    fn attribute(self, name: &'static str) -> Option<AnyAttribute> {
        self?.attribute(name)
    }
}

/// What can stand in an element.
pub trait Child {
    /// The view, if there is one.
    fn into_child(self) -> Option<AnyView>;
}

impl Child for AnyView {
    fn into_child(self) -> Option<AnyView> {
        Some(self)
    }
}

impl Child for El {
    fn into_child(self) -> Option<AnyView> {
        Some(self.view())
    }
}

impl Child for &'static str {
    fn into_child(self) -> Option<AnyView> {
        Some(fixed_text(self))
    }
}

impl Child for String {
    fn into_child(self) -> Option<AnyView> {
        Some(owned_text(self))
    }
}

impl Child for Signal<String> {
    fn into_child(self) -> Option<AnyView> {
        Some(changing_text(self))
    }
}

impl<T: Child> Child for Option<T> {
    fn into_child(self) -> Option<AnyView> {
        self?.into_child()
    }
}

impl Child for Vec<AnyView> {
    fn into_child(self) -> Option<AnyView> {
        Some(all(self))
    }
}

/// A list that changes: a view for each key, kept as long as its key is there.
pub fn keyed(
    keys: impl Fn() -> Vec<u64> + Send + Sync + 'static,
    draw: impl Fn(u64) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    keyed_boxed(Box::new(keys), Arc::new(draw))
}

fn keyed_boxed(
    keys: Box<dyn Fn() -> Vec<u64> + Send + Sync>,
    draw: Arc<dyn Fn(u64) -> AnyView + Send + Sync>,
) -> AnyView {
    view! { <For each=keys key=|key| *key children=move |key| draw(key) /> }.into_any()
}

/// Nothing.
pub fn nothing() -> AnyView {
    ().into_any()
}

/// Several views after each other.
pub fn all(views: Vec<AnyView>) -> AnyView {
    StaticVec::from(views).into_any()
}

fn fixed_text(text: &'static str) -> AnyView {
    text.into_any()
}

fn owned_text(text: String) -> AnyView {
    text.into_any()
}

fn changing_text(text: Signal<String>) -> AnyView {
    text.into_any()
}
