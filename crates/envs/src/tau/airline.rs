//! The airline domain: flights, reservations, users, and 14 tools.

mod book;
mod change;
mod lookup;
mod search;

use volary_core::Json;

use super::common::{CALCULATE, THINK, TRANSFER};
use super::python::{Computed, Exception, field, find, is_text, item, length, less, set, subtract};
use super::state::State;
use super::tool::{Parameter, ParameterKind, TauTool};

/// The tools, in the order presented to a model.
pub const TOOLS: &[TauTool] = &[
    book::BOOK,
    CALCULATE,
    book::CANCEL,
    lookup::RESERVATION,
    lookup::USER,
    lookup::AIRPORTS,
    search::DIRECT,
    search::ONE_STOP,
    book::CERTIFICATE,
    THINK,
    TRANSFER,
    change::BAGGAGES,
    change::FLIGHTS_TOOL,
    change::PASSENGERS_TOOL,
];

const fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Text,
        description,
    }
}

const fn count(name: &'static str, description: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Integer,
        description,
    }
}

const USER_ID: Parameter = text("user_id", "The id of the user, such as 'first_last_0000'.");
const RESERVATION_ID: Parameter = text(
    "reservation_id",
    "The id of the reservation, such as 'ABC123'.",
);
const PAYMENT_ID: Parameter = text(
    "payment_id",
    "The id of one of the user's payment methods, such as 'gift_card_0000000'.",
);
const CABIN: Parameter = Parameter {
    name: "cabin",
    kind: ParameterKind::OneOf(&["basic_economy", "economy", "business"]),
    description: "The cabin, the same for all flights of a reservation.",
};
const FLIGHTS: Parameter = Parameter {
    name: "flights",
    kind: ParameterKind::Objects(&[
        (
            "flight_number",
            "The number of the flight, such as 'HAT000'.",
        ),
        ("date", "The day, as YYYY-MM-DD."),
    ]),
    description: "All flights of the reservation, also those that stay as they are.",
};
const PASSENGERS: Parameter = Parameter {
    name: "passengers",
    kind: ParameterKind::Objects(&[
        ("first_name", "The first name."),
        ("last_name", "The last name."),
        ("dob", "The day of birth, as YYYY-MM-DD."),
    ]),
    description: "The passengers.",
};
const TOTAL_BAGGAGES: Parameter = count("total_baggages", "How many bags there are in all.");
const NONFREE_BAGGAGES: Parameter = count("nonfree_baggages", "How many of them are paid for.");

/// Sets price, origin and destination of a flight from the data; returns the reason if it is unavailable.
fn offer(
    state: &State,
    flight: &mut Json,
    cabin: &Json,
    passengers: &Json,
) -> Computed<Result<(), String>> {
    let number = field(flight, "flight_number")?;
    let shown = number.to_display();
    let Some(known) = state.find("flights", number)? else {
        return Ok(Err(format!("flight {shown} not found")));
    };
    let date = field(flight, "date")?;
    let day = date.to_display();
    let Some(departure) = find(field(known, "dates")?, date)? else {
        return Ok(Err(format!("flight {shown} not found on date {day}")));
    };
    if !is_text(field(departure, "status")?, "available") {
        return Ok(Err(format!("flight {shown} not available on date {day}")));
    }
    let seats = item(field(departure, "available_seats")?, cabin)?;
    if less(seats, &Json::from(length(passengers)?))? {
        return Ok(Err(format!("not enough seats on flight {shown}")));
    }
    let price = item(field(departure, "prices")?, cabin)?.clone();
    set(flight, "price", price)?;
    set(flight, "origin", field(known, "origin")?.clone())?;
    set(flight, "destination", field(known, "destination")?.clone())?;
    Ok(Ok(()))
}

/// Deducts an amount from a payment method, without rounding.
fn take_off(method: &mut Json, amount: &Json) -> Computed<()> {
    let left = subtract(field(method, "amount")?, amount)?;
    set(method, "amount", left)
}

fn payment_methods_mut<'a>(state: &'a mut State, user: &Json) -> Computed<&'a mut Json> {
    super::python::field_mut(state.record_mut("users", user)?, "payment_methods")
}

/// A mutable reference to a payment method.
fn method_mut<'a>(methods: &'a mut Json, id: &Json) -> Computed<&'a mut Json> {
    let missing = || Exception::key(id);
    let name = super::python::as_key(id)?.ok_or_else(missing)?;
    super::python::members_mut(methods)?
        .get_mut(name)
        .ok_or_else(missing)
}
