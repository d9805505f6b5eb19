//! The retail domain: orders, products, users, and 16 tools.

mod addresses;
mod items;
mod lookup;
mod payments;

use volary_core::Json;

use super::common::{CALCULATE, THINK, TRANSFER, said};
use super::python::{Computed, Exception, add, cents, field, field_mut, find, is_text, subtract};
use super::state::State;
use super::tool::{Parameter, ParameterKind, TauTool};

/// The tools, in the order presented to a model.
pub const TOOLS: &[TauTool] = &[
    CALCULATE,
    payments::CANCEL,
    items::EXCHANGE,
    lookup::BY_EMAIL,
    lookup::BY_NAME,
    lookup::ORDER,
    lookup::PRODUCT,
    lookup::USER,
    lookup::PRODUCT_TYPES,
    addresses::OF_ORDER,
    items::MODIFY,
    payments::MODIFY,
    addresses::OF_USER,
    items::RETURN,
    THINK,
    TRANSFER,
];

const ORDER_ID: Parameter = Parameter {
    name: "order_id",
    kind: ParameterKind::Text,
    description: "The id of the order, with the # at its front, such as '#W0000000'.",
};

const PAYMENT_METHOD_ID: Parameter = Parameter {
    name: "payment_method_id",
    kind: ParameterKind::Text,
    description: "The id of one of the customer's payment methods, such as 'paypal_0000000'.",
};

/// The element of a list at an index.
fn at(list: &Json, index: usize) -> Computed<&Json> {
    let found = list.as_list().and_then(|list| list.get(index));
    found.ok_or_else(out_of_range)
}

fn out_of_range() -> Exception {
    Exception("list index out of range".to_owned())
}

/// Whether an order has this status.
fn has_status(order: &Json, status: &str) -> Computed<bool> {
    Ok(is_text(field(order, "status")?, status))
}

/// The payment methods of the user of an order.
fn payment_methods<'a>(state: &'a State, order: &Json) -> Computed<&'a Json> {
    let user = state.record("users", field(order, "user_id")?)?;
    field(user, "payment_methods")
}

/// Whether a method is a gift card whose balance is less than a price.
fn is_short(method: &Json, price: &Json) -> Computed<bool> {
    Ok(is_text(field(method, "source")?, "gift_card")
        && super::python::less(field(method, "balance")?, price)?)
}

/// Whether the id of a method is that of a gift card.
fn names_gift_card(method: &Json) -> Computed<bool> {
    match method {
        Json::Text(id) => Ok(id.contains("gift_card")),
        other => {
            let kind = crate::cast::type_name(other);
            Err(Exception(format!(
                "argument of type '{kind}' is not iterable"
            )))
        }
    }
}

/// Changes the balance of a user's payment method.
fn change_balance(
    state: &mut State,
    user: &Json,
    method: &Json,
    amount: &Json,
    gains: bool,
) -> Computed<()> {
    let methods = field_mut(state.record_mut("users", user)?, "payment_methods")?;
    find(methods, method)?.ok_or_else(|| Exception::key(method))?;
    let balance = field_mut(field_mut(methods, &method.to_display())?, "balance")?;
    *balance = if gains {
        add(balance, amount)?
    } else {
        subtract(balance, amount)?
    };
    *balance = cents(balance)?;
    Ok(())
}

/// The result with an order.
fn shown_order(state: &State, id: &Json) -> Computed<Option<String>> {
    said(&state.record("orders", id)?.to_python_text())
}
