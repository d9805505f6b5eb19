//! Elements of the page: measuring, scrolling, focusing, observing sizes.

use wasm_bindgen::prelude::*;
use web_sys::{
    Element, Event, HtmlDialogElement, HtmlElement, HtmlFormElement, HtmlInputElement, MouseEvent,
    ResizeObserver, ScrollBehavior, ScrollIntoViewOptions, ScrollLogicalPosition, Text,
};

/// Returns the heights of the children in pixels, in order.
pub fn child_heights(element: &Element) -> Vec<f64> {
    let children = element.children();
    (0..children.length())
        .filter_map(|place| children.item(place))
        .map(|child| child.get_bounding_client_rect().height())
        .collect()
}

/// Returns the height of an element in pixels.
pub fn height(element: &Element) -> f64 {
    element.get_bounding_client_rect().height()
}

/// The size of a part of a growing text, in UTF-16 units. The next line starts another part.
const PART_UNITS: u32 = 1_000;
/// A part without a line break ends after this many units.
const LONGEST_PART_UNITS: u32 = 8_000;

/// Appends to a growing text, which is split into parts so that the browser lays out only the last one. An element
/// that is scrolled to its end stays there.
pub fn append_text(element: &Element, text: &str) {
    let at_end = element.scroll_height() - element.scroll_top() - element.client_height() < 24;
    let mut rest = text;
    while !rest.is_empty() {
        let Some(part) = open_part(element) else {
            return;
        };
        let end = match rest.find('\n') {
            Some(line) if part.length() + line as u32 >= PART_UNITS => line + 1,
            _ => rest.len(),
        };
        let (now, later) = rest.split_at(end);
        // Fails only for texts longer than any memory.
        let _ = part.append_data(now);
        rest = later;
    }
    if at_end {
        element.set_scroll_top(element.scroll_height());
    }
}

/// Returns the last part, if it has capacity left.
fn open_part(element: &Element) -> Option<Text> {
    let last = element.last_element_child();
    let last: Option<Text> = last.and_then(|part| part.first_child()?.dyn_into().ok());
    if let Some(part) = last {
        let length = part.length();
        let is_full =
            length >= LONGEST_PART_UNITS || length >= PART_UNITS && part.data().ends_with('\n');
        if !is_full {
            return Some(part);
        }
    }
    let document = element.owner_document()?;
    let part = document.create_element("div").ok()?;
    let text = document.create_text_node("");
    part.append_child(&text).ok()?;
    element.append_child(&part).ok()?;
    Some(text)
}

/// Returns the scroll position in pixels.
pub fn scroll_top(element: &Element) -> f64 {
    f64::from(element.scroll_top())
}

/// Whether an element is scrolled to its end.
pub fn is_at_end(element: &Element) -> bool {
    element.scroll_height() - element.scroll_top() - element.client_height() < 2
}

/// Scrolls to a position, unless it is there already. Returns the resulting position, which the content limits.
pub fn set_scroll_top(element: &Element, top: f64) -> f64 {
    let top = top.round() as i32;
    if element.scroll_top() != top {
        element.set_scroll_top(top);
    }
    scroll_top(element)
}

/// Returns the scroll position of an event's target.
pub fn scrolled_to(event: &Event) -> Option<f64> {
    let element = event.target()?.dyn_into::<Element>().ok()?;
    Some(scroll_top(&element))
}

/// Scrolls the first descendant that matches a selector.
pub fn scroll_within(within: &Element, selector: &str, top: f64) {
    if let Ok(Some(element)) = within.query_selector(selector) {
        set_scroll_top(&element, top);
    }
}

/// The visible height of a scrolling element.
pub fn viewport_height(element: &Element) -> f64 {
    f64::from(element.client_height())
}

/// The visible width of an element.
pub fn viewport_width(element: &Element) -> f64 {
    f64::from(element.client_width())
}

/// Reserves space above and below the content for rows that are not rendered.
pub fn set_room(element: &HtmlElement, above: f64, below: f64) {
    let style = element.style();
    for (property, height) in [("padding-top", above), ("padding-bottom", below)] {
        let height = format!("{}px", height.round() as i64);
        if style
            .get_property_value(property)
            .is_ok_and(|known| known != height)
        {
            // Fails only for read-only rules.
            let _ = style.set_property(property, &height);
        }
    }
}

/// Sets a custom property of an element, such as `--tracks`, for the style sheets.
pub fn set_variable(element: &HtmlElement, name: &str, value: &str) {
    // Fails only for read-only rules.
    let _ = element.style().set_property(name, value);
}

/// Makes the height that an element has now its least height.
pub fn keep_height(element: &HtmlElement) {
    // Fails only for read-only rules.
    let _ = element
        .style()
        .set_property("min-height", &format!("{}px", element.offset_height()));
}

/// A `ResizeObserver`, which is disconnected on drop.
pub struct SizeWatch {
    observer: ResizeObserver,
    /// Must outlive the observer.
    _changed: Closure<dyn Fn()>,
}

impl Drop for SizeWatch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Calls back when the size of one of the elements changes (without padding), and once initially.
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

/// Listeners to print events, which are removed on drop.
pub struct PrintWatch {
    window: web_sys::Window,
    listeners: [Listener; 2],
}

/// An event name and its listener.
type Listener = (&'static str, Closure<dyn Fn()>);

impl Drop for PrintWatch {
    fn drop(&mut self) {
        for (event, listener) in &self.listeners {
            let listener = listener.as_ref().unchecked_ref();
            // Cannot fail: the names of the events are constants.
            let _ = self
                .window
                .remove_event_listener_with_callback(event, listener);
        }
    }
}

/// Calls back before the page is printed (true) and afterwards (false).
pub fn watch_print(printing: impl Fn(bool) + Clone + 'static) -> Option<PrintWatch> {
    let window = web_sys::window()?;
    let after = printing.clone();
    let listeners = [
        (
            "beforeprint",
            Closure::<dyn Fn()>::new(move || printing(true)),
        ),
        ("afterprint", Closure::<dyn Fn()>::new(move || after(false))),
    ];
    for (event, listener) in &listeners {
        window
            .add_event_listener_with_callback(event, listener.as_ref().unchecked_ref())
            .ok()?;
    }
    Some(PrintWatch { window, listeners })
}

/// Focuses an element without scrolling.
pub fn focus(element: &HtmlElement) {
    let options = web_sys::FocusOptions::new();
    options.set_prevent_scroll(true);
    // Fails only for elements that cannot be focused; the focus then stays where it is.
    let _ = element.focus_with_options(&options);
}

/// Focuses the element with an id and scrolls to it; returns whether it exists.
pub fn focus_id(id: &str) -> bool {
    by_id(id).map(|element| focus_in_sight(&element)).is_some()
}

/// Whether an element has a descendant that matches a selector.
pub fn has(within: &Element, selector: &str) -> bool {
    // Selectors are well-formed, so the query cannot fail.
    within.query_selector(selector).ok().flatten().is_some()
}

/// Like [`focus_id`], for the first descendant that matches a selector.
pub fn focus_in(within: &Element, selector: &str) -> bool {
    // Selectors are well-formed, so the query cannot fail.
    let element = within.query_selector(selector).ok().flatten();
    element.map(|element| focus_in_sight(&element)).is_some()
}

/// Like [`focus_in`], within the element with an id. Returns `false` if there is none to focus.
pub fn focus_within(id: &str, selector: &str) -> bool {
    by_id(id).is_some_and(|within| focus_in(&within, selector))
}

fn focus_in_sight(element: &Element) {
    bring_into_sight(
        element,
        ScrollLogicalPosition::Nearest,
        ScrollBehavior::Auto,
    );
    // Elements of SVG have the same method, by the mixin `HTMLOrSVGElement`.
    focus(element.unchecked_ref::<HtmlElement>());
}

/// Removes the focus. (If an element is removed while it has the focus, the browser first lays out the page
/// again.)
pub fn let_go() {
    let focused = web_sys::window().and_then(|window| window.document()?.active_element());
    if let Some(focused) = focused.and_then(|focused| focused.dyn_into::<HtmlElement>().ok()) {
        // Cannot fail for a focused element.
        let _ = focused.blur();
    }
}

/// The id of the focused element, if it has one.
pub fn focused_id() -> Option<String> {
    let focused = web_sys::window()?.document()?.active_element()?;
    Some(focused.id()).filter(|id| !id.is_empty())
}

/// Whether nothing has the focus, or only the element with an id: moving the focus disturbs nobody.
pub fn is_focus_free(id: &str) -> bool {
    let focused = web_sys::window().and_then(|window| window.document()?.active_element());
    focused.is_none_or(|focused| focused.tag_name() == "BODY" || focused.id() == id)
}

/// Returns an attribute of the focused element or its nearest ancestor that has it, if the focus is within another
/// element.
pub fn attribute_around_focus(within: &Element, attribute: &str) -> Option<String> {
    let focused = within.owner_document()?.active_element()?;
    if !within.contains(Some(&focused)) {
        return None;
    }
    value_around(&focused, attribute)
}

/// Focuses the first descendant that is marked as invalid.
pub fn focus_first_fault(within: &Element) {
    // The selector is a constant, so the query cannot fail.
    let fault = within.query_selector("[aria-invalid=true]").ok().flatten();
    if let Some(fault) = fault.and_then(|fault| fault.dyn_into::<HtmlElement>().ok()) {
        // What is folded cannot be focused.
        if let Ok(Some(fold)) = fault.closest("details:not([open])") {
            let _ = fold.set_attribute("open", "");
        }
        // Fails only for elements that cannot be focused.
        let _ = fault.focus();
    }
}

/// Scrolls to the element with an id.
pub fn scroll_to_id(id: &str) {
    if let Some(element) = by_id(id) {
        bring_into_sight(
            &element,
            ScrollLogicalPosition::Start,
            ScrollBehavior::Smooth,
        );
    }
}

/// Scrolls as little as needed to see the element with an id.
pub fn show_id(id: &str) {
    if let Some(element) = by_id(id) {
        bring_into_sight(
            &element,
            ScrollLogicalPosition::Nearest,
            ScrollBehavior::Auto,
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

/// Returns the horizontal position of a click within its element, from 0 (left) to 1 (right).
pub fn click_place(click: &MouseEvent) -> Option<f64> {
    let element = click.current_target()?.dyn_into::<Element>().ok()?;
    let box_ = element.get_bounding_client_rect();
    (box_.width() > 0.0).then(|| (f64::from(click.client_x()) - box_.left()) / box_.width())
}

/// The vertical position of a click within its element, from 0 (top) to 1 (bottom).
pub fn click_height(click: &MouseEvent) -> Option<f64> {
    let element = click.current_target()?.dyn_into::<Element>().ok()?;
    let box_ = element.get_bounding_client_rect();
    (box_.height() > 0.0).then(|| (f64::from(click.client_y()) - box_.top()) / box_.height())
}

/// Submits the form of an event's target, as its button would. False without a form.
pub fn submit_form(event: &Event) -> bool {
    let form = event
        .target()
        .and_then(|target| target.dyn_into::<Element>().ok())
        .and_then(|element| element.closest("form").ok().flatten())
        .and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
    // Fails only for a submit button of another form; none is named here.
    form.is_some_and(|form| form.request_submit().is_ok())
}

/// Opens a dialog as modal, or closes it; closing restores the focus.
pub fn show_dialog(dialog: &Element, open: bool) {
    let Some(dialog) = dialog.dyn_ref::<HtmlDialogElement>() else {
        return;
    };
    if open && !dialog.open() {
        // Fails only for a dialog that is not in the document.
        let _ = dialog.show_modal();
    } else if !open && dialog.open() {
        dialog.close();
    }
}

/// Whether the `details` element of an event is open.
pub fn is_details_open(event: &Event) -> bool {
    let details = event.current_target();
    let details = details.and_then(|details| details.dyn_into::<Element>().ok());
    details.is_some_and(|details| details.has_attribute("open"))
}

/// Focuses a child of an element's only child.
pub fn focus_grandchild(element: &Element, place: usize) {
    let child = u32::try_from(place)
        .ok()
        .and_then(|place| element.first_element_child()?.children().item(place))
        .and_then(|child| child.dyn_into::<HtmlElement>().ok());
    if let Some(child) = child {
        bring_into_sight(&child, ScrollLogicalPosition::Nearest, ScrollBehavior::Auto);
        focus(&child);
    }
}

/// Returns an attribute of the clicked element or of its nearest ancestor that has it. `None` for clicks on buttons
/// and links within it, and for clicks that end a text selection.
pub fn plain_click_on(click: &MouseEvent, attribute: &str) -> Option<String> {
    let selects = web_sys::window()
        .and_then(|window| window.get_selection().ok().flatten())
        .is_some_and(|selection| !selection.is_collapsed());
    if selects {
        return None;
    }
    let target = click.target()?.dyn_into::<Element>().ok()?;
    // Both selectors are well-formed, so the queries cannot fail.
    if target
        .closest("button, a, input, select, textarea")
        .ok()?
        .is_some()
    {
        return None;
    }
    value_around(&target, attribute)
}

/// Returns an attribute of an event's target or of its nearest ancestor that has it.
pub fn attribute_around(event: &Event, attribute: &str) -> Option<String> {
    value_around(&event.target()?.dyn_into().ok()?, attribute)
}

fn value_around(element: &Element, attribute: &str) -> Option<String> {
    // The selector is well-formed, so the query cannot fail.
    let holder = element.closest(&format!("[{attribute}]")).ok()??;
    holder.get_attribute(attribute)
}

/// Sets a boolean attribute on all descendants that match a selector, and removes it from all others.
pub fn mark(within: &Element, selector: Option<&String>, mark: &str) {
    // Neither can fail: the name is well-formed.
    for_each(within, &["[", mark, "]"].concat(), &|former| {
        let _ = former.remove_attribute(mark);
    });
    if let Some(selector) = selector {
        for_each(within, selector, &|holder| {
            let _ = holder.set_attribute(mark, "");
        });
    }
}

fn for_each(within: &Element, selector: &str, act: &dyn Fn(Element)) {
    // Selectors are well-formed, so the query cannot fail.
    let Ok(found) = within.query_selector_all(selector) else {
        return;
    };
    for place in 0..found.length() {
        if let Some(Ok(element)) = found.get(place).map(|node| node.dyn_into()) {
            act(element);
        }
    }
}

/// Sets the value of the input field that is an event's target.
pub fn set_value(event: &Event, value: &str) {
    let field = event.target();
    if let Some(field) = field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) {
        field.set_value(value);
    }
}

/// The text that the user has selected on the page; `None` without a selection.
pub fn selected_text() -> Option<String> {
    let selection = web_sys::window()?.get_selection().ok()??;
    let text = selection.to_string().as_string()?;
    (!text.trim().is_empty()).then_some(text)
}

/// Whether the focus is on a button, a link or another control that Space acts on.
pub fn is_control_focused() -> bool {
    let focused = web_sys::window().and_then(|window| window.document()?.active_element());
    // The selector is a constant, so matching cannot fail.
    focused.is_some_and(|element| {
        element
            .matches("button, a, summary, input")
            .unwrap_or(false)
    })
}
