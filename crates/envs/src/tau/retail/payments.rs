//! Tools for payments: cancel an order, and change the payment method.

use volary_core::{Json, json};

use super::super::common::refused;
use super::super::python::{
    Computed, elements, equal, field, field_mut, find, is_text, length, push, set,
};
use super::super::state::State;
use super::super::tool::{Parameter, ParameterKind, TauTool};
use super::{
    ORDER_ID, PAYMENT_METHOD_ID, at, change_balance, has_status, is_short, names_gift_card,
    payment_methods, shown_order,
};

pub(super) const CANCEL: TauTool = TauTool {
    name: "cancel_pending_order",
    description: "Cancel a pending order and refund what was paid. The customer has to agree to \
                  the details first.",
    parameters: &[
        ORDER_ID,
        Parameter {
            name: "reason",
            kind: ParameterKind::OneOf(&REASONS),
            description: "Why the customer cancels.",
        },
    ],
    run: |state, arguments| {
        let id = arguments.get("order_id")?;
        let Some(order) = state.find("orders", id)? else {
            return refused("order not found");
        };
        if !has_status(order, "pending")? {
            return refused("non-pending order cannot be cancelled");
        }
        if !arguments.is_any("reason", &REASONS)? {
            return refused("invalid reason");
        }
        let refunds = refund_all(state, &order.clone())?;
        let order = state.record_mut("orders", id)?;
        set(order, "status", "cancelled")?;
        set(order, "cancel_reason", arguments.get("reason")?.clone())?;
        for refund in refunds {
            push(field_mut(order, "payment_history")?, refund)?;
        }
        shown_order(state, id)
    },
    terminates: false,
};

const REASONS: [&str; 2] = ["no longer needed", "ordered by mistake"];

/// A refund for each payment. Refunds to gift cards are credited at once.
fn refund_all(state: &mut State, order: &Json) -> Computed<Vec<Json>> {
    let mut refunds = Vec::new();
    for payment in elements(field(order, "payment_history")?)? {
        let method = field(&payment, "payment_method_id")?;
        let amount = field(&payment, "amount")?;
        refunds.push(transaction("refund", amount, method));
        if names_gift_card(method)? {
            change_balance(state, field(order, "user_id")?, method, amount, true)?;
        }
    }
    Ok(refunds)
}

/// An entry of a payment history.
pub(super) fn transaction(kind: &str, amount: &Json, method: &Json) -> Json {
    json!({
        "transaction_type": kind,
        "amount": (amount.clone()),
        "payment_method_id": (method.clone()),
    })
}

pub(super) const MODIFY: TauTool = TauTool {
    name: "modify_pending_order_payment",
    description: "Have a pending order paid by another payment method. The customer has to agree \
                  to the details first.",
    parameters: &[ORDER_ID, PAYMENT_METHOD_ID],
    run: |state, arguments| {
        let id = arguments.get("order_id")?;
        let Some(order) = state.find("orders", id)? else {
            return refused("order not found");
        };
        if !has_status(order, "pending")? {
            return refused("non-pending order cannot be modified");
        }
        let new = arguments.get("payment_method_id")?;
        let Some(method) = find(payment_methods(state, order)?, new)? else {
            return refused("payment method not found");
        };
        let history = field(order, "payment_history")?;
        if length(history)? > 1 || !is_text(field(at(history, 0)?, "transaction_type")?, "payment")
        {
            return refused("there should be exactly one payment for a pending order");
        }
        let payment = at(history, 0)?;
        let old = field(payment, "payment_method_id")?.clone();
        if equal(&old, new) {
            return refused("the new payment method should be different from the current one");
        }
        let amount = field(payment, "amount")?.clone();
        if is_short(method, &amount)? {
            return refused("insufficient gift card balance to pay for the order");
        }
        let pays_by_card = is_text(field(method, "source")?, "gift_card");
        let user = field(order, "user_id")?.clone();
        let history = field_mut(state.record_mut("orders", id)?, "payment_history")?;
        push(history, transaction("payment", &amount, new))?;
        push(history, transaction("refund", &amount, &old))?;
        if pays_by_card {
            change_balance(state, &user, new, &amount, false)?;
        }
        if names_gift_card(&old)? {
            change_balance(state, &user, &old, &amount, true)?;
        }
        shown_order(state, id)
    },
    terminates: false,
};
