//! The eight tools of the desk, and the transfer tool.

use volary_core::{Json, json};

use crate::tau::common::{TRANSFER, record, refused, said, shown};
use crate::tau::python::{
    Computed, Exception, add, cents, equal, field, field_mut, find, is_text, length, less, lower,
    push, set, subtract,
};
use crate::tau::state::State;
use crate::tau::tool::{Arguments, Parameter, ParameterKind, TauTool};

/// The current date of the domain.
pub const TODAY: &str = "2026-03-02";
/// The due date of a renewed loan.
pub const RENEWED_UNTIL: &str = "2026-03-23";
/// The maximum number of renewals of a loan.
pub const MOST_RENEWALS: i64 = 2;
/// The maximum number of reservations of a member.
pub const MOST_RESERVATIONS: i64 = 3;
/// The maximum unpaid fees with which loans can be renewed.
pub const MOST_FEES: f64 = 10.0;

/// The tools, in the order presented to a model.
pub const TOOLS: &[TauTool] = &[
    FIND_MEMBER,
    GET_MEMBER,
    SEARCH_BOOKS,
    GET_BOOK,
    RENEW_LOAN,
    RESERVE_BOOK,
    CANCEL_RESERVATION,
    PAY_FEES,
    TRANSFER,
];

const MEMBER_ID: Parameter = text("member_id", "The id of the member, such as 'M100'.");
const BOOK_ID: Parameter = text("book_id", "The id of the book, such as 'B00'.");

const fn text(name: &'static str, description: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Text,
        description,
    }
}

const FIND_MEMBER: TauTool = TauTool {
    name: "find_member",
    description: "Find the id of a member.",
    parameters: &[
        text("name", "First and last name."),
        text("postcode", "The postcode of the member's address."),
    ],
    run: |state, arguments| {
        let (name, postcode) = (arguments.get("name")?, arguments.get("postcode")?);
        for (id, member) in state.records("members")? {
            let same = lower(field(member, "name")?)? == lower(name)?;
            if same && equal(field(member, "postcode")?, postcode) {
                return said(id);
            }
        }
        refused("member not found")
    },
    terminates: false,
};

const GET_MEMBER: TauTool = TauTool {
    name: "get_member",
    description: "Get a member: loans, reservations, fees and payments.",
    parameters: &[MEMBER_ID],
    run: |state, arguments| record(state, "members", arguments, "member_id", "member not found"),
    terminates: false,
};

const SEARCH_BOOKS: TauTool = TauTool {
    name: "search_books",
    description: "Search books by a part of their title or author.",
    parameters: &[text("query", "The part, such as 'austen'.")],
    run: |state, arguments| {
        let query = lower(arguments.get("query")?)?;
        let mut found = Vec::new();
        for (_, book) in state.records("books")? {
            let holds =
                |part: &str| -> Computed<bool> { Ok(lower(field(book, part)?)?.contains(&query)) };
            if holds("title")? || holds("author")? {
                found.push(json!({
                    "book_id": (field(book, "book_id")?.clone()),
                    "title": (field(book, "title")?.clone()),
                    "author": (field(book, "author")?.clone()),
                }));
            }
        }
        shown(&Json::List(found))
    },
    terminates: false,
};

const GET_BOOK: TauTool = TauTool {
    name: "get_book",
    description: "Get a book: its author, year and copies, and who waits for it.",
    parameters: &[BOOK_ID],
    run: |state, arguments| record(state, "books", arguments, "book_id", "book not found"),
    terminates: false,
};

const RENEW_LOAN: TauTool = TauTool {
    name: "renew_loan",
    description: "Renew a member's loan of a book.",
    parameters: &[MEMBER_ID, BOOK_ID],
    run: renew,
    terminates: false,
};

const RESERVE_BOOK: TauTool = TauTool {
    name: "reserve_book",
    description: "Reserve a book for a member.",
    parameters: &[MEMBER_ID, BOOK_ID],
    run: reserve,
    terminates: false,
};

const CANCEL_RESERVATION: TauTool = TauTool {
    name: "cancel_reservation",
    description: "Cancel a member's reservation of a book.",
    parameters: &[MEMBER_ID, BOOK_ID],
    run: cancel,
    terminates: false,
};

const PAY_FEES: TauTool = TauTool {
    name: "pay_fees",
    description: "Take an amount off a member's fees, paid with the card on file.",
    parameters: &[
        MEMBER_ID,
        Parameter {
            name: "amount",
            kind: ParameterKind::Number,
            description: "How much, such as 2.5.",
        },
    ],
    run: pay,
    terminates: false,
};

/// The index of a member's loan of a book.
fn loan(member: &Json, book: &Json) -> Computed<Option<usize>> {
    let loans = list(field(member, "loans")?)?;
    for (index, loan) in loans.iter().enumerate() {
        if equal(field(loan, "book_id")?, book) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn list(value: &Json) -> Computed<&[Json]> {
    let list = value.as_list();
    list.ok_or_else(|| Exception("a list is needed".to_owned()))
}

fn list_mut(value: &mut Json) -> Computed<&mut Vec<Json>> {
    match value {
        Json::List(list) => Ok(list),
        _ => Err(Exception("a list is needed".to_owned())),
    }
}

fn renew(state: &mut State, arguments: &Arguments<'_>) -> Computed<Option<String>> {
    let (id, book_id) = (arguments.get("member_id")?, arguments.get("book_id")?);
    let Some(member) = state.find("members", id)? else {
        return refused("member not found");
    };
    let Some(index) = loan(member, book_id)? else {
        return refused("the member does not have this book on loan");
    };
    if less(&MOST_FEES.into(), field(member, "fees")?)? {
        return refused("fees above 10.00 have to be paid first");
    }
    let loan = &list(field(member, "loans")?)?[index];
    let renewals = field(loan, "renewals")?;
    if !less(renewals, &MOST_RENEWALS.into())? {
        return refused("the loan was renewed twice already");
    }
    let more = add(renewals, &1.into())?;
    if length(field(state.record("books", book_id)?, "waiting")?)? > 0 {
        return refused("another member waits for this book");
    }
    let member = state.record_mut("members", id)?;
    let loans = list_mut(field_mut(member, "loans")?)?;
    if let Some(loan) = loans.get_mut(index) {
        set(loan, "due", RENEWED_UNTIL)?;
        set(loan, "renewals", more)?;
    }
    shown(state.record("members", id)?)
}

fn reserve(state: &mut State, arguments: &Arguments<'_>) -> Computed<Option<String>> {
    let (id, book_id) = (arguments.get("member_id")?, arguments.get("book_id")?);
    let Some(member) = state.find("members", id)? else {
        return refused("member not found");
    };
    if state.find("books", book_id)?.is_none() {
        return refused("book not found");
    }
    if loan(member, book_id)?.is_some() {
        return refused("the member has this book on loan");
    }
    let reservations = field(member, "reservations")?;
    if list(reservations)?.iter().any(|one| equal(one, book_id)) {
        return refused("the member has reserved this book already");
    }
    if length(reservations)? >= MOST_RESERVATIONS {
        return refused("the member has three reservations already");
    }
    push(
        field_mut(state.record_mut("members", id)?, "reservations")?,
        book_id.clone(),
    )?;
    push(
        field_mut(state.record_mut("books", book_id)?, "waiting")?,
        id.clone(),
    )?;
    shown(state.record("members", id)?)
}

fn cancel(state: &mut State, arguments: &Arguments<'_>) -> Computed<Option<String>> {
    let (id, book_id) = (arguments.get("member_id")?, arguments.get("book_id")?);
    let Some(member) = state.find("members", id)? else {
        return refused("member not found");
    };
    let reservations = list(field(member, "reservations")?)?;
    if !reservations.iter().any(|one| equal(one, book_id)) {
        return refused("the member has not reserved this book");
    }
    let member = state.record_mut("members", id)?;
    list_mut(field_mut(member, "reservations")?)?.retain(|one| !equal(one, book_id));
    let book = state.record_mut("books", book_id)?;
    list_mut(field_mut(book, "waiting")?)?.retain(|one| !equal(one, id));
    shown(state.record("members", id)?)
}

fn pay(state: &mut State, arguments: &Arguments<'_>) -> Computed<Option<String>> {
    let (id, amount) = (arguments.get("member_id")?, arguments.get("amount")?);
    let Some(member) = state.find("members", id)? else {
        return refused("member not found");
    };
    let fees = field(member, "fees")?;
    if !less(&0.into(), amount)? {
        return refused("the amount must be above 0");
    }
    if less(fees, amount)? {
        return refused("the amount is more than the fees");
    }
    let left = cents(&subtract(fees, amount)?)?;
    let member = state.record_mut("members", id)?;
    set(member, "fees", left)?;
    // The record contains a float whatever the type of the number is.
    let amount = add(amount, &0.0.into())?;
    push(
        field_mut(member, "payments")?,
        json!({"amount": amount, "on": TODAY}),
    )?;
    shown(member)
}

/// Whether a book is for adults.
pub fn is_for_adults(book: &Json) -> bool {
    find(book, &"for_adults".into()).is_ok_and(|adults| adults == Some(&Json::Bool(true)))
}

/// The text of a member or book under a key.
pub fn text_of(record: &Json, key: &str) -> String {
    record.get(key).map_or_else(String::new, Json::to_display)
}

/// Whether a member has reserved the book.
pub fn is_waited_for(book: &Json, member: &str) -> bool {
    let waiting = book
        .get("waiting")
        .and_then(Json::as_list)
        .unwrap_or_default();
    waiting.iter().any(|one| is_text(one, member))
}
