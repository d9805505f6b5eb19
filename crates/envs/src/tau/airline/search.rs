//! Tools that search flights.

use volary_core::json::Integer;
use volary_core::{Json, Object};

use super::super::common::shown;
use super::super::python::{Computed, Exception, add, equal, field, find, is_text, item};
use super::super::tool::{Parameter, TauTool};
use super::text;
use crate::cast::to_integer;

const SEARCHED: &[Parameter] = &[
    text("origin", "The airport to leave from, such as 'SFO'."),
    text("destination", "The airport to arrive at, such as 'JFK'."),
    text("date", "The day, as YYYY-MM-DD."),
];

pub(super) const DIRECT: TauTool = TauTool {
    name: "search_direct_flight",
    description: "Search direct flights between two airports on a day.",
    parameters: SEARCHED,
    run: |state, arguments| {
        let (origin, destination) = (arguments.get("origin")?, arguments.get("destination")?);
        let date = arguments.get("date")?;
        let mut found = Vec::new();
        for (_, flight) in state.records("flights")? {
            if equal(field(flight, "origin")?, origin)
                && equal(field(flight, "destination")?, destination)
                && let Some(departure) = find(field(flight, "dates")?, date)?
                && is_text(field(departure, "status")?, "available")
            {
                found.push(Json::Object(joined(flight, departure)));
            }
        }
        shown(&Json::List(found))
    },
    terminates: false,
};

pub(super) const ONE_STOP: TauTool = TauTool {
    name: "search_onestop_flight",
    description: "Search pairs of flights that connect two airports with one stop.",
    parameters: SEARCHED,
    run: |state, arguments| {
        let (origin, destination) = (arguments.get("origin")?, arguments.get("destination")?);
        let date = arguments.get("date")?;
        let mut found = Vec::new();
        for (_, first) in state.records("flights")? {
            if !equal(field(first, "origin")?, origin) {
                continue;
            }
            for (_, second) in state.records("flights")? {
                let connects = equal(field(second, "destination")?, destination)
                    && equal(field(first, "destination")?, field(second, "origin")?);
                if connects && let Some(pair) = connection(first, second, date)? {
                    found.push(pair);
                }
            }
        }
        shown(&Json::List(found))
    },
    terminates: false,
};

/// Two connecting flights, if the transfer is possible and both are available.
fn connection(first: &Json, second: &Json, date: &Json) -> Computed<Option<Json>> {
    let arrival = clock_time(first, "scheduled_arrival_time_est")?;
    let second_date = if arrival.contains("+1") {
        day_after(date)?
    } else {
        date.clone()
    };
    // Compared as texts, including "+1".
    if arrival > clock_time(second, "scheduled_departure_time_est")? {
        return Ok(None);
    }
    let (first_dates, second_dates) = (field(first, "dates")?, field(second, "dates")?);
    let Some(departure) = find(first_dates, date)? else {
        return Ok(None);
    };
    let Some(onward) = find(second_dates, &second_date)? else {
        return Ok(None);
    };
    if !is_text(field(departure, "status")?, "available")
        || !is_text(field(onward, "status")?, "available")
    {
        return Ok(None);
    }
    let mut one = joined(first, departure);
    one.insert("date", date.clone());
    // As in the original, seats and prices are those of the first day.
    let mut two = joined(second, item(second_dates, date)?);
    two.insert("date", second_date);
    Ok(Some(Json::List(vec![one.into(), two.into()])))
}

fn clock_time<'a>(flight: &'a Json, name: &str) -> Computed<&'a str> {
    match field(flight, name)? {
        Json::Text(text) => Ok(text),
        other => {
            let kind = crate::cast::type_name(other);
            Err(Exception(format!(
                "argument of type '{kind}' is not iterable"
            )))
        }
    }
}

/// The next day, without zero-padding.
fn day_after(date: &Json) -> Computed {
    let Json::Text(date) = date else {
        let kind = crate::cast::type_name(date);
        return Err(Exception(format!("'{kind}' object is not subscriptable")));
    };
    let from = date.char_indices().rev().nth(1).map_or(0, |(at, _)| at);
    let day: Integer = to_integer(&Json::from(&date[from..]))
        .map_err(|error| Exception(error.text.unwrap_or_default().to_string()))?;
    let day = add(&Json::Integer(day), &Json::from(1))?;
    Ok(format!("2024-05-{}", day.to_repr()).into())
}

/// A flight without its dates, merged with the record of one of them.
fn joined(flight: &Json, departure: &Json) -> Object {
    let mut flight = flight.as_object().cloned().unwrap_or_default();
    flight.remove("dates");
    for (key, value) in departure.as_object().into_iter().flat_map(Object::iter) {
        flight.insert(key.clone(), value.clone());
    }
    flight
}
