//! Elements of the page: measuring, scrolling, focusing, and hearing of their size.

use wasm_bindgen::prelude::*;
use web_sys::{
    Element, Event, HtmlDialogElement, HtmlElement, HtmlFormElement, MouseEvent, ResizeObserver,
    ScrollBehavior, ScrollIntoViewOptions, ScrollLogicalPosition,
};

/// The heights of the children, in pixels, in order.
pub fn child_heights(element: &Element) -> Vec<f64> {
    let children = element.children();
    (0..children.length())
        .filter_map(|place| children.item(place))
        .map(|child| child.get_bounding_client_rect().height())
        .collect()
}

/// What is scrolled out of sight above.
pub fn scroll_top(element: &Element) -> f64 {
    f64::from(element.scroll_top())
}

/// Scrolls, unless that is where the element is.
pub fn set_scroll_top(element: &Element, top: f64) {
    let top = top.round() as i32;
    if element.scroll_top() != top {
        element.set_scroll_top(top);
    }
}

/// The height of what is seen of an element that scrolls.
pub fn viewport_height(element: &Element) -> f64 {
    f64::from(element.client_height())
}

/// Keeps room above and below the content, for what is left out there.
pub fn set_room(element: &HtmlElement, above: f64, below: f64) {
    let style = element.style();
    for (property, height) in [("padding-top", above), ("padding-bottom", below)] {
        let height = format!("{}px", height.round());
        if style
            .get_property_value(property)
            .is_ok_and(|known| known != height)
        {
            // Fails only for rules that can't be changed, which this one is not.
            let _ = style.set_property(property, &height);
        }
    }
}

/// Calls back as long as it is kept.
pub struct SizeWatch {
    observer: ResizeObserver,
    /// Must live as long as the observer may call it.
    _changed: Closure<dyn Fn()>,
}

impl Drop for SizeWatch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Calls back when the size of one of the elements changes (padding aside), and once at first.
pub fn watch_size(elements: &[&Element], changed: impl Fn() + 'static) -> Option<SizeWatch> {
    let changed = Closure::<dyn Fn()>::new(changed);
    let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).ok()?;
    for element in elements {
        observer.observe(element);
    }
    Some(SizeWatch {
        observer,
        _changed: changed,
    })
}

/// Focuses an element; the page is not scrolled for it.
pub fn focus(element: &HtmlElement) {
    let options = web_sys::FocusOptions::new();
    options.set_prevent_scroll(true);
    // Fails only for elements that can't have the focus; then it stays where it is.
    let _ = element.focus_with_options(&options);
}

/// Focuses the element of an id and brings it into sight; says whether there is one.
pub fn focus_id(id: &str) -> bool {
    let Some(element) = by_id(id) else {
        return false;
    };
    bring_into_sight(
        &element,
        ScrollLogicalPosition::Nearest,
        ScrollBehavior::Auto,
    );
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        focus(element);
    }
    true
}

/// Focuses the first field within that is marked as wrong.
pub fn focus_first_fault(within: &Element) {
    // The selector is a constant, so the query can't fail.
    let fault = within.query_selector("[aria-invalid=true]").ok().flatten();
    if let Some(fault) = fault.and_then(|fault| fault.dyn_into::<HtmlElement>().ok()) {
        // Fails only for elements that can't have the focus.
        let _ = fault.focus();
    }
}

/// Scrolls to the element of an id.
pub fn scroll_to_id(id: &str) {
    if let Some(element) = by_id(id) {
        bring_into_sight(
            &element,
            ScrollLogicalPosition::Start,
            ScrollBehavior::Smooth,
        );
    }
}

fn bring_into_sight(element: &Element, place: ScrollLogicalPosition, behavior: ScrollBehavior) {
    let options = ScrollIntoViewOptions::new();
    options.set_block(place);
    options.set_behavior(behavior);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

fn by_id(id: &str) -> Option<Element> {
    web_sys::window()?.document()?.get_element_by_id(id)
}

/// Where within its element a click happened, from 0 (left) to 1 (right).
pub fn click_place(click: &MouseEvent) -> Option<f64> {
    let element = click.current_target()?.dyn_into::<Element>().ok()?;
    let box_ = element.get_bounding_client_rect();
    (box_.width() > 0.0).then(|| (f64::from(click.client_x()) - box_.left()) / box_.width())
}

/// Submits the form in which something happened, as its button would. False without a form.
pub fn submit_form(event: &Event) -> bool {
    let form = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok())
        .and_then(|element| element.closest("form").ok().flatten())
        .and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
    // Fails only for a submit button that is not the form's; none is named here.
    form.is_some_and(|form| form.request_submit().is_ok())
}

/// Shows a dialog above everything else.
pub fn show_dialog(dialog: &HtmlDialogElement) {
    if !dialog.open() {
        // Fails only for a dialog that is open, or is not on the page (yet): nothing to show then.
        let _ = dialog.show_modal();
    }
}

/// Closes a dialog; the focus goes back to where it was.
pub fn close_dialog(dialog: &HtmlDialogElement) {
    if dialog.open() {
        dialog.close();
    }
}

/// Focuses the child at a place.
pub fn focus_child(element: &Element, place: usize) {
    let child = u32::try_from(place)
        .ok()
        .and_then(|place| element.children().item(place))
        .and_then(|child| child.dyn_into::<HtmlElement>().ok());
    if let Some(child) = child {
        bring_into_sight(&child, ScrollLogicalPosition::Nearest, ScrollBehavior::Auto);
        focus(&child);
    }
}

/// The number in an attribute of the element that was clicked or that holds what was clicked. `None`
/// for clicks on buttons and links within it, and for those that end a selection of text.
pub fn plain_click_on(click: &MouseEvent, attribute: &str) -> Option<usize> {
    let selects = web_sys::window()
        .and_then(|window| window.get_selection().ok().flatten())
        .is_some_and(|selection| !selection.is_collapsed());
    if selects {
        return None;
    }
    let target = click.target()?.dyn_into::<Element>().ok()?;
    // Both selectors are well-formed, so the searches can't fail.
    if target
        .closest("button, a, input, select, textarea")
        .ok()?
        .is_some()
    {
        return None;
    }
    let holder = target.closest(&format!("[{attribute}]")).ok()??;
    holder.get_attribute(attribute)?.parse().ok()
}
