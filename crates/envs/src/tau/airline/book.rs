//! Tools that book and cancel, and certificates.

use volary_core::{Json, json};

use super::super::common::{refused, said, shown};
use super::super::python::{
    Computed, add, elements, field, field_mut, find, is_text, item, length, less, members_mut,
    multiply, negate, push, set,
};
use super::super::state::State;
use super::super::tool::{Arguments, Parameter, ParameterKind, TauTool};
use super::{
    CABIN, FLIGHTS, NONFREE_BAGGAGES, PASSENGERS, RESERVATION_ID, TOTAL_BAGGAGES, USER_ID, count,
    method_mut, offer, payment_methods_mut, take_off, text,
};

/// The ids of new reservations. The last is reused.
const NEW_IDS: [&str; 3] = ["HATHAT", "HATHAU", "HATHAV"];

/// The ids of new certificates, for each user.
const CERTIFICATES: [&str; 3] = [
    "certificate_3221322",
    "certificate_3221323",
    "certificate_3221324",
];

pub(super) const BOOK: TauTool = TauTool {
    name: "book_reservation",
    description: "Book a reservation. The customer has to agree to the details first.",
    parameters: &[
        USER_ID,
        text("origin", "The airport to leave from, such as 'SFO'."),
        text("destination", "The airport to arrive at, such as 'JFK'."),
        Parameter {
            name: "flight_type",
            kind: ParameterKind::OneOf(&["one_way", "round_trip"]),
            description: "Whether the trip comes back.",
        },
        CABIN,
        FLIGHTS,
        PASSENGERS,
        Parameter {
            name: "payment_methods",
            kind: ParameterKind::Objects(&[
                ("payment_id", "The id of the payment method."),
                ("amount", "How much is paid with it: a number."),
            ]),
            description: "How the price is paid; the amounts have to add up to it.",
        },
        TOTAL_BAGGAGES,
        NONFREE_BAGGAGES,
        Parameter {
            name: "insurance",
            kind: ParameterKind::OneOf(&["yes", "no"]),
            description: "Whether there is a travel insurance.",
        },
    ],
    run: book,
    terminates: false,
};

fn book(state: &mut State, arguments: &Arguments<'_>) -> Computed<Option<String>> {
    let user_id = arguments.get("user_id")?;
    if state.find("users", user_id)?.is_none() {
        return refused("user not found");
    }
    let passengers = arguments.get("passengers")?;
    let mut flights = arguments.get("flights")?.clone();
    let mut price = Json::from(0);
    // Elements of texts and objects contain no flights, so the first one is an error.
    let mut each = match &mut flights {
        Json::List(list) => list.iter_mut().collect(),
        other => {
            for one in elements(other)? {
                field(&one, "flight_number")?;
            }
            Vec::new()
        }
    };
    for flight in &mut each {
        if let Err(reason) = offer(state, flight, arguments.get("cabin")?, passengers)? {
            return refused(reason);
        }
        let fare = multiply(field(flight, "price")?, &Json::from(length(passengers)?))?;
        price = add(&price, &fare)?;
    }
    if is_text(arguments.get("insurance")?, "yes") {
        price = add(&price, &Json::from(30 * length(passengers)?))?;
    }
    let bags = multiply(&Json::from(50), arguments.get("nonfree_baggages")?)?;
    price = add(&price, &bags)?;
    let payments = arguments.get("payment_methods")?;
    if let Err(reason) = check_payments(state, user_id, payments, &price)? {
        return refused(reason);
    }
    pay(state, user_id, payments)?;
    let taken = |id: &&&str| !matches!(state.find("reservations", &Json::from(**id)), Ok(Some(_)));
    let id = NEW_IDS
        .iter()
        .find(taken)
        .or(NEW_IDS.last())
        .copied()
        .unwrap_or_default();
    let copy = |name: &str| arguments.get(name).cloned();
    let reservation = json!({
        "reservation_id": id,
        "user_id": (user_id.clone()),
        "origin": (copy("origin")?),
        "destination": (copy("destination")?),
        "flight_type": (copy("flight_type")?),
        "cabin": (copy("cabin")?),
        "flights": flights,
        "passengers": (passengers.clone()),
        "payment_history": (payments.clone()),
        "created_at": "2024-05-15T15:00:00",
        "total_baggages": (copy("total_baggages")?),
        "nonfree_baggages": (copy("nonfree_baggages")?),
        "insurance": (copy("insurance")?),
    });
    let result = shown(&reservation);
    state.insert("reservations", id, reservation)?;
    push(
        field_mut(state.record_mut("users", user_id)?, "reservations")?,
        id.into(),
    )?;
    result
}

/// Whether each single payment can be made, and their sum is the price.
fn check_payments(
    state: &State,
    user: &Json,
    payments: &Json,
    price: &Json,
) -> Computed<Result<(), String>> {
    let methods = field(state.record("users", user)?, "payment_methods")?;
    let payments = elements(payments)?;
    for payment in &payments {
        let id = field(payment, "payment_id")?;
        let amount = field(payment, "amount")?;
        let Some(method) = find(methods, id)? else {
            return Ok(Err(format!("payment method {} not found", id.to_display())));
        };
        let source = field(method, "source")?;
        if (is_text(source, "gift_card") || is_text(source, "certificate"))
            && less(field(method, "amount")?, amount)?
        {
            let id = id.to_display();
            return Ok(Err(format!("not enough balance in payment method {id}")));
        }
    }
    let paid = payments.iter().try_fold(Json::from(0), |paid, payment| {
        add(&paid, field(payment, "amount")?)
    })?;
    if super::super::python::equal(&paid, price) {
        return Ok(Ok(()));
    }
    let (price, paid) = (price.to_repr(), paid.to_repr());
    Ok(Err(format!(
        "payment amount does not add up, total price is {price}, but paid {paid}"
    )))
}

/// Deducts the amounts from gift cards, and consumes certificates.
fn pay(state: &mut State, user: &Json, payments: &Json) -> Computed<()> {
    for payment in elements(payments)? {
        let id = field(&payment, "payment_id")?;
        let methods = payment_methods_mut(state, user)?;
        let source = field(item(methods, id)?, "source")?.clone();
        if is_text(&source, "gift_card") {
            take_off(method_mut(methods, id)?, field(&payment, "amount")?)?;
        } else if is_text(&source, "certificate") {
            members_mut(methods)?.remove(&id.to_display());
        }
    }
    Ok(())
}

pub(super) const CANCEL: TauTool = TauTool {
    name: "cancel_reservation",
    description: "Cancel a whole reservation and refund it. The customer has to agree first.",
    parameters: &[RESERVATION_ID],
    run: |state, arguments| {
        let id = arguments.get("reservation_id")?;
        let Some(reservation) = state.find("reservations", id)? else {
            return refused("reservation not found");
        };
        let mut refunds = Vec::new();
        for payment in elements(field(reservation, "payment_history")?)? {
            refunds.push(json!({
                "payment_id": (field(&payment, "payment_id")?.clone()),
                "amount": (negate(field(&payment, "amount")?)?),
            }));
        }
        let reservation = state.record_mut("reservations", id)?;
        let history = field_mut(reservation, "payment_history")?;
        match history {
            Json::List(history) => history.extend(refunds),
            // A reservation booked with an empty object has nothing to refund, and fails to append.
            other => push(other, Json::Null)?,
        }
        set(reservation, "status", "cancelled")?;
        shown(reservation)
    },
    terminates: false,
};

pub(super) const CERTIFICATE: TauTool = TauTool {
    name: "send_certificate",
    description: "Give a user a certificate. Only where the policy says so.",
    parameters: &[USER_ID, count("amount", "What the certificate is worth.")],
    run: |state, arguments| {
        let user = arguments.get("user_id")?;
        if state.find("users", user)?.is_none() {
            return refused("user not found");
        }
        let amount = arguments.get("amount")?;
        let methods = payment_methods_mut(state, user)?;
        for id in CERTIFICATES {
            if find(methods, &id.into())?.is_none() {
                let certificate = json!({
                    "source": "certificate", "amount": (amount.clone()), "id": id,
                });
                set(methods, id, certificate)?;
                let (user, amount) = (user.to_display(), amount.to_display());
                return said(&format!(
                    "Certificate {id} added to user {user} with amount {amount}."
                ));
            }
        }
        // The original returns nothing here, which its environment does not accept.
        Ok(None)
    },
    terminates: false,
};
