//! Tools that change a reservation.

use volary_core::{Json, json};

use super::super::common::{refused, shown};
use super::super::python::{
    Computed, add, elements, equal, field, field_mut, find, is_text, length, less, multiply, push,
    set, subtract,
};
use super::super::state::State;
use super::super::tool::TauTool;
use super::{
    CABIN, FLIGHTS, NONFREE_BAGGAGES, PASSENGERS, PAYMENT_ID, RESERVATION_ID, TOTAL_BAGGAGES,
    method_mut, offer, payment_methods_mut, take_off,
};

pub(super) const BAGGAGES: TauTool = TauTool {
    name: "update_reservation_baggages",
    description: "Change the bags of a reservation.",
    parameters: &[RESERVATION_ID, TOTAL_BAGGAGES, NONFREE_BAGGAGES, PAYMENT_ID],
    run: |state, arguments| {
        let id = arguments.get("reservation_id")?;
        let Some(reservation) = state.find("reservations", id)? else {
            return refused("reservation not found");
        };
        let nonfree = arguments.get("nonfree_baggages")?;
        let more = subtract(nonfree, field(reservation, "nonfree_baggages")?)?;
        // Like `max(0, more)`, which returns the first of equal values.
        let zero = Json::from(0);
        let more = if less(&zero, &more)? { more } else { zero };
        let price = multiply(&Json::from(50), &more)?;
        let payment = arguments.get("payment_id")?;
        let user = field(reservation, "user_id")?.clone();
        let by_card = match payment_method(state, &user, payment, &price)? {
            Ok(by_card) => by_card,
            Err(reason) => return refused(reason),
        };
        let reservation = state.record_mut("reservations", id)?;
        set(
            reservation,
            "total_baggages",
            arguments.get("total_baggages")?.clone(),
        )?;
        set(reservation, "nonfree_baggages", nonfree.clone())?;
        if by_card {
            take_off(
                method_mut(payment_methods_mut(state, &user)?, payment)?,
                &price,
            )?;
        }
        let reservation = state.record_mut("reservations", id)?;
        charge(reservation, payment, &price)?;
        shown(reservation)
    },
    terminates: false,
};

pub(super) const FLIGHTS_TOOL: TauTool = TauTool {
    name: "update_reservation_flights",
    description: "Change the flights or the cabin of a reservation.",
    parameters: &[RESERVATION_ID, CABIN, FLIGHTS, PAYMENT_ID],
    run: |state, arguments| {
        let id = arguments.get("reservation_id")?;
        let Some(reservation) = state.find("reservations", id)? else {
            return refused("reservation not found");
        };
        let cabin = arguments.get("cabin")?;
        let passengers = field(reservation, "passengers")?;
        let known = elements(field(reservation, "flights")?)?;
        let same_cabin = equal(cabin, field(reservation, "cabin")?);
        let mut flights = arguments.get("flights")?.clone();
        let mut price = Json::from(0);
        let each = match &mut flights {
            Json::List(list) => list.iter_mut().collect(),
            other => {
                for one in elements(other)? {
                    field(&one, "flight_number")?;
                }
                Vec::new()
            }
        };
        for flight in each {
            match kept(&known, flight, same_cabin)? {
                Some(old) => {
                    for key in ["price", "origin", "destination"] {
                        set(flight, key, field(old, key)?.clone())?;
                    }
                }
                None => {
                    if let Err(reason) = offer(state, flight, cabin, passengers)? {
                        return refused(reason);
                    }
                }
            }
            let fare = multiply(field(flight, "price")?, &Json::from(length(passengers)?))?;
            price = add(&price, &fare)?;
        }
        let paid = known.iter().try_fold(Json::from(0), |paid, flight| {
            add(&paid, field(flight, "price")?)
        })?;
        let paid = multiply(&paid, &Json::from(length(passengers)?))?;
        price = subtract(&price, &paid)?;
        let payment = arguments.get("payment_id")?;
        let user = field(reservation, "user_id")?.clone();
        let by_card = match payment_method(state, &user, payment, &price)? {
            Ok(by_card) => by_card,
            Err(reason) => return refused(reason),
        };
        if by_card {
            take_off(
                method_mut(payment_methods_mut(state, &user)?, payment)?,
                &price,
            )?;
        }
        // As in the original, the cabin is not updated.
        let reservation = state.record_mut("reservations", id)?;
        set(reservation, "flights", flights)?;
        charge(reservation, payment, &price)?;
        shown(reservation)
    },
    terminates: false,
};

/// The unchanged flight of a reservation.
fn kept<'a>(known: &'a [Json], flight: &Json, same_cabin: bool) -> Computed<Option<&'a Json>> {
    let mut found = None;
    for one in known {
        let same = equal(
            field(one, "flight_number")?,
            field(flight, "flight_number")?,
        ) && equal(field(one, "date")?, field(flight, "date")?)
            && same_cabin;
        if same && found.is_none() {
            found = Some(one);
        }
    }
    Ok(found)
}

/// Whether the method is a gift card; the reason if it cannot pay.
fn payment_method(
    state: &State,
    user: &Json,
    payment: &Json,
    price: &Json,
) -> Computed<Result<bool, &'static str>> {
    let methods = field(state.record("users", user)?, "payment_methods")?;
    let Some(method) = find(methods, payment)? else {
        return Ok(Err("payment method not found"));
    };
    let source = field(method, "source")?;
    if is_text(source, "certificate") {
        return Ok(Err("certificate cannot be used to update reservation"));
    }
    let by_card = is_text(source, "gift_card");
    if by_card && less(field(method, "amount")?, price)? {
        return Ok(Err("gift card balance is not enough"));
    }
    Ok(Ok(by_card))
}

/// Records a payment, unless it is zero.
fn charge(reservation: &mut Json, payment: &Json, price: &Json) -> Computed<()> {
    if equal(price, &Json::from(0)) {
        return Ok(());
    }
    let entry = json!({"payment_id": (payment.clone()), "amount": (price.clone())});
    push(field_mut(reservation, "payment_history")?, entry)
}

pub(super) const PASSENGERS_TOOL: TauTool = TauTool {
    name: "update_reservation_passengers",
    description: "Change who travels on a reservation. Their number stays the same.",
    parameters: &[RESERVATION_ID, PASSENGERS],
    run: |state, arguments| {
        let id = arguments.get("reservation_id")?;
        let Some(reservation) = state.find("reservations", id)? else {
            return refused("reservation not found");
        };
        let passengers = arguments.get("passengers")?;
        if length(passengers)? != length(field(reservation, "passengers")?)? {
            return refused("number of passengers does not match");
        }
        let reservation = state.record_mut("reservations", id)?;
        set(reservation, "passengers", passengers.clone())?;
        shown(reservation)
    },
    terminates: false,
};
