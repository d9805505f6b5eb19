//! Tools that replace addresses.

use volary_core::Object;

use super::super::common::{refused, said};
use super::super::python::{Computed, set};
use super::super::tool::{Arguments, Parameter, ParameterKind, TauTool};
use super::{ORDER_ID, has_status, shown_order};

const fn part(name: &'static str, description: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Text,
        description,
    }
}

const ADDRESS1: Parameter = part("address1", "The first line, such as '12 Main Street'.");
const ADDRESS2: Parameter = part("address2", "The second line, such as 'Apt 3', or ''.");
const CITY: Parameter = part("city", "The city.");
const STATE: Parameter = part("state", "The state, such as 'CA'.");
const COUNTRY: Parameter = part("country", "The country, such as 'USA'.");
const ZIP: Parameter = part("zip", "The zip code, such as '12345'.");

/// The address in the arguments, in the format of records.
fn address(arguments: &Arguments<'_>) -> Computed<Object> {
    let mut address = Object::new();
    for key in ["address1", "address2", "city", "state", "country", "zip"] {
        address.insert(key, arguments.get(key)?.clone());
    }
    Ok(address)
}

pub(super) const OF_ORDER: TauTool = TauTool {
    name: "modify_pending_order_address",
    description: "Replace the shipping address of a pending order. The customer has to agree to \
                  the details first.",
    parameters: &[ORDER_ID, ADDRESS1, ADDRESS2, CITY, STATE, COUNTRY, ZIP],
    run: |state, arguments| {
        let id = arguments.get("order_id")?;
        let Some(order) = state.find("orders", id)? else {
            return refused("order not found");
        };
        if !has_status(order, "pending")? {
            return refused("non-pending order cannot be modified");
        }
        set(
            state.record_mut("orders", id)?,
            "address",
            address(arguments)?,
        )?;
        shown_order(state, id)
    },
    terminates: false,
};

pub(super) const OF_USER: TauTool = TauTool {
    name: "modify_user_address",
    description: "Replace the address of a user. The customer has to agree to the details first.",
    parameters: &[
        part("user_id", "The id of the user, such as 'first_last_0000'."),
        ADDRESS1,
        ADDRESS2,
        CITY,
        STATE,
        COUNTRY,
        ZIP,
    ],
    run: |state, arguments| {
        let id = arguments.get("user_id")?;
        if state.find("users", id)?.is_none() {
            return refused("user not found");
        }
        let user = state.record_mut("users", id)?;
        set(user, "address", address(arguments)?)?;
        said(&user.to_python_text())
    },
    terminates: false,
};
