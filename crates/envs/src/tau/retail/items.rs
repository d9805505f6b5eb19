//! Tools that change, return and exchange the items of an order.

use volary_core::Json;

use super::super::common::refused;
use super::super::python::{
    Computed, absolute, add, cents, count, elements, equal, field, field_mut, find, is_text,
    length, less, push, set, sorted, subtract,
};
use super::super::state::State;
use super::super::tool::{Arguments, Parameter, ParameterKind, TauTool};
use super::payments::transaction;
use super::{
    ORDER_ID, PAYMENT_METHOD_ID, at, change_balance, has_status, is_short, names_gift_card,
    out_of_range, payment_methods, shown_order,
};

const ITEM_IDS: Parameter = Parameter {
    name: "item_ids",
    kind: ParameterKind::Texts,
    description: "The ids of the items, such as '0000000000'. An item that is there twice may be \
                  given twice.",
};

const NEW_ITEM_IDS: Parameter = Parameter {
    name: "new_item_ids",
    kind: ParameterKind::Texts,
    description: "The ids of the items to have instead, in the same order. Each has to be of the \
                  same product as the one that it replaces.",
};

/// Items to be replaced by others, with the price difference.
struct Swap {
    /// Pairs of an item to replace and its replacement.
    pairs: Vec<(Json, Json)>,
    /// The amount to pay; negative for a refund.
    price: Json,
}

pub(super) const MODIFY: TauTool = TauTool {
    name: "modify_pending_order_items",
    description: "Replace items of a pending order by other variants of the same products. Works \
                  once for an order. The customer has to agree to the details first.",
    parameters: &[ORDER_ID, ITEM_IDS, NEW_ITEM_IDS, PAYMENT_METHOD_ID],
    run: |state, arguments| {
        let id = arguments.get("order_id")?;
        let Some(order) = state.find("orders", id)? else {
            return refused("order not found");
        };
        if !has_status(order, "pending")? {
            return refused("non-pending order cannot be modified");
        }
        let swap = match swap(state, order, arguments)? {
            Ok(swap) => swap,
            Err(reason) => return refused(reason),
        };
        let method_id = arguments.get("payment_method_id")?;
        let Some(method) = find(payment_methods(state, order)?, method_id)? else {
            return refused("payment method not found");
        };
        if is_short(method, &swap.price)? {
            return refused("insufficient gift card balance to pay for the new item");
        }
        let pays_by_card = is_text(field(method, "source")?, "gift_card");
        let user = field(order, "user_id")?.clone();
        let kind = if less(&Json::from(0), &swap.price)? {
            "payment"
        } else {
            "refund"
        };
        let entry = transaction(kind, &absolute(&swap.price)?, method_id);
        let order = state.record_mut("orders", id)?;
        push(field_mut(order, "payment_history")?, entry)?;
        if pays_by_card {
            change_balance(state, &user, method_id, &swap.price, false)?;
        }
        for (item, new) in &swap.pairs {
            replace(state, id, item, new)?;
        }
        set(
            state.record_mut("orders", id)?,
            "status",
            "pending (item modified)",
        )?;
        shown_order(state, id)
    },
    terminates: false,
};

pub(super) const EXCHANGE: TauTool = TauTool {
    name: "exchange_delivered_order_items",
    description: "Request to exchange items of a delivered order for other variants of the same \
                  products. Works once for an order. The customer has to agree to the details \
                  first.",
    parameters: &[ORDER_ID, ITEM_IDS, NEW_ITEM_IDS, PAYMENT_METHOD_ID],
    run: |state, arguments| {
        let id = arguments.get("order_id")?;
        let Some(order) = state.find("orders", id)? else {
            return refused("order not found");
        };
        if !has_status(order, "delivered")? {
            return refused("non-delivered order cannot be exchanged");
        }
        let swap = match swap(state, order, arguments)? {
            Ok(swap) => swap,
            Err(reason) => return refused(reason),
        };
        let price = cents(&swap.price)?;
        let method_id = arguments.get("payment_method_id")?;
        let Some(method) = find(payment_methods(state, order)?, method_id)? else {
            return refused("payment method not found");
        };
        if is_short(method, &price)? {
            return refused("insufficient gift card balance to pay for the price difference");
        }
        let order = state.record_mut("orders", id)?;
        set(order, "status", "exchange requested")?;
        set(order, "exchange_items", sorted(arguments.get("item_ids")?)?)?;
        let new = sorted(arguments.get("new_item_ids")?)?;
        set(order, "exchange_new_items", new)?;
        set(order, "exchange_payment_method_id", method_id.clone())?;
        set(order, "exchange_price_difference", price)?;
        shown_order(state, id)
    },
    terminates: false,
};

pub(super) const RETURN: TauTool = TauTool {
    name: "return_delivered_order_items",
    description: "Request to return items of a delivered order. The customer has to agree to the \
                  details first.",
    parameters: &[ORDER_ID, ITEM_IDS, PAYMENT_METHOD_ID],
    run: |state, arguments| {
        let id = arguments.get("order_id")?;
        let Some(order) = state.find("orders", id)? else {
            return refused("order not found");
        };
        if !has_status(order, "delivered")? {
            return refused("non-delivered order cannot be returned");
        }
        let method = arguments.get("payment_method_id")?;
        if find(payment_methods(state, order)?, method)?.is_none() {
            return refused("payment method not found");
        }
        if !names_gift_card(method)? {
            let paid = at(field(order, "payment_history")?, 0)?;
            if !equal(method, field(paid, "payment_method_id")?) {
                return refused(
                    "payment method should be either the original payment method or a gift card",
                );
            }
        }
        let items = arguments.get("item_ids")?;
        if missing_item(order, items)?.is_some() {
            return refused("some item not found");
        }
        let order = state.record_mut("orders", id)?;
        set(order, "status", "return requested")?;
        set(order, "return_items", sorted(items)?)?;
        set(order, "return_payment_method_id", method.clone())?;
        shown_order(state, id)
    },
    terminates: false,
};

/// The first item that is requested more often than the order contains it.
fn missing_item(order: &Json, items: &Json) -> Computed<Option<Json>> {
    let mut known = Vec::new();
    for item in elements(field(order, "items")?)? {
        known.push(field(&item, "item_id")?.clone());
    }
    let wanted = elements(items)?;
    for item in &wanted {
        let has = known.iter().filter(|one| equal(one, item)).count();
        if count(items, &wanted, item)? > has {
            return Ok(Some(item.clone()));
        }
    }
    Ok(None)
}

/// The requested swap, or why it is not possible.
fn swap(state: &State, order: &Json, arguments: &Arguments<'_>) -> Computed<Result<Swap, String>> {
    let items = arguments.get("item_ids")?;
    let new_items = arguments.get("new_item_ids")?;
    if let Some(item) = missing_item(order, items)? {
        return Ok(Err(format!("{} not found", item.to_display())));
    }
    if length(items)? != length(new_items)? {
        let reason = "the number of items to be exchanged should match";
        return Ok(Err(reason.to_owned()));
    }
    let mut price = Json::from(0);
    let mut pairs = Vec::new();
    for (item, new) in elements(items)?.into_iter().zip(elements(new_items)?) {
        let known = elements(field(order, "items")?)?;
        let index = index_of(&known, &item)?;
        let old = known.get(index).ok_or_else(out_of_range)?;
        let product = state.record("products", field(old, "product_id")?)?;
        let variant = find(field(product, "variants")?, &new)?;
        let Some(variant) = variant.filter(|one| is_true(one.get("available"))) else {
            let new = new.to_display();
            return Ok(Err(format!("new item {new} not found or available")));
        };
        let more = subtract(field(variant, "price")?, field(old, "price")?)?;
        price = add(&price, &more)?;
        pairs.push((item, new));
    }
    Ok(Ok(Swap { pairs, price }))
}

fn is_true(value: Option<&Json>) -> bool {
    value.and_then(Json::as_bool) == Some(true)
}

/// The index of the first item with an id.
fn index_of(items: &[Json], id: &Json) -> Computed<usize> {
    for (index, item) in items.iter().enumerate() {
        if equal(field(item, "item_id")?, id) {
            return Ok(index);
        }
    }
    Err(out_of_range())
}

/// Replaces the first item with an id by another variant.
fn replace(state: &mut State, order: &Json, item: &Json, new: &Json) -> Computed<()> {
    let items = field(state.record("orders", order)?, "items")?;
    let known = items.as_list().ok_or_else(out_of_range)?;
    let index = index_of(known, item)?;
    let product = field(at(items, index)?, "product_id")?;
    let product = state.record("products", product)?;
    let variant = super::super::python::item(field(product, "variants")?, new)?;
    let price = field(variant, "price")?.clone();
    let options = field(variant, "options")?.clone();
    let items = field_mut(state.record_mut("orders", order)?, "items")?;
    if let Json::List(items) = items
        && let Some(item) = items.get_mut(index)
    {
        set(item, "item_id", new.clone())?;
        set(item, "price", price)?;
        set(item, "options", options)?;
    }
    Ok(())
}
