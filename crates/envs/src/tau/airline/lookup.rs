//! Tools that look something up.

use volary_core::object;

use super::super::common::{record, said};
use super::super::tool::TauTool;
use super::{RESERVATION_ID, USER_ID};

pub(super) const RESERVATION: TauTool = TauTool {
    name: "get_reservation_details",
    description: "Get a reservation: flights, passengers, bags and payments.",
    parameters: &[RESERVATION_ID],
    // The original's message names a user here as well.
    run: |state, arguments| {
        record(
            state,
            "reservations",
            arguments,
            "reservation_id",
            "user not found",
        )
    },
    terminates: false,
};

pub(super) const USER: TauTool = TauTool {
    name: "get_user_details",
    description: "Get a user: name, membership, payment methods, saved passengers and \
                  reservations.",
    parameters: &[USER_ID],
    run: |state, arguments| record(state, "users", arguments, "user_id", "user not found"),
    terminates: false,
};

pub(super) const AIRPORTS: TauTool = TauTool {
    name: "list_all_airports",
    description: "List all airports with their cities.",
    parameters: &[],
    run: |_, _| {
        said(
            &object!({
                "SFO": "San Francisco", "JFK": "New York", "LAX": "Los Angeles", "ORD": "Chicago",
                "DFW": "Dallas", "DEN": "Denver", "SEA": "Seattle", "ATL": "Atlanta",
                "MIA": "Miami", "BOS": "Boston", "PHX": "Phoenix", "IAH": "Houston",
                "LAS": "Las Vegas", "MCO": "Orlando", "EWR": "Newark", "CLT": "Charlotte",
                "MSP": "Minneapolis", "DTW": "Detroit", "PHL": "Philadelphia",
                "LGA": "LaGuardia",
            })
            .to_python_text(),
        )
    },
    terminates: false,
};
