//! Tools that look something up.

use volary_core::{Json, Object};

use super::super::common::{record, refused, said};
use super::super::python::{Computed, as_key, equal, field, lower};
use super::super::tool::{Parameter, ParameterKind, TauTool};
use super::ORDER_ID;

pub(super) const BY_EMAIL: TauTool = TauTool {
    name: "find_user_id_by_email",
    description: "Find the id of the user with an e-mail address.",
    parameters: &[Parameter {
        name: "email",
        kind: ParameterKind::Text,
        description: "The address, such as 'someone@example.com'.",
    }],
    run: |state, arguments| {
        let email = arguments.get("email")?;
        for (id, user) in state.records("users")? {
            if lower(field(user, "email")?)? == lower(email)? {
                return said(id);
            }
        }
        refused("user not found")
    },
    terminates: false,
};

pub(super) const BY_NAME: TauTool = TauTool {
    name: "find_user_id_by_name_zip",
    description: "Find the id of the user with a name and a zip code, for customers who do not \
                  know their e-mail address.",
    parameters: &[
        Parameter {
            name: "first_name",
            kind: ParameterKind::Text,
            description: "The first name.",
        },
        Parameter {
            name: "last_name",
            kind: ParameterKind::Text,
            description: "The last name.",
        },
        Parameter {
            name: "zip",
            kind: ParameterKind::Text,
            description: "The zip code, such as '12345'.",
        },
    ],
    run: |state, arguments| {
        for (id, user) in state.records("users")? {
            let name = field(user, "name")?;
            let same = |part: &str| -> Computed<bool> {
                Ok(lower(field(name, part)?)? == lower(arguments.get(part)?)?)
            };
            if same("first_name")?
                && same("last_name")?
                && equal(
                    field(field(user, "address")?, "zip")?,
                    arguments.get("zip")?,
                )
            {
                return said(id);
            }
        }
        refused("user not found")
    },
    terminates: false,
};

pub(super) const ORDER: TauTool = TauTool {
    name: "get_order_details",
    description: "Get an order: its items, status, address and payments.",
    parameters: &[ORDER_ID],
    run: |state, arguments| record(state, "orders", arguments, "order_id", "order not found"),
    terminates: false,
};

pub(super) const PRODUCT: TauTool = TauTool {
    name: "get_product_details",
    description: "Get a product with all its variants.",
    parameters: &[Parameter {
        name: "product_id",
        kind: ParameterKind::Text,
        description: "The id of the product, which is not that of an item, such as '0000000000'.",
    }],
    run: |state, arguments| {
        record(
            state,
            "products",
            arguments,
            "product_id",
            "product not found",
        )
    },
    terminates: false,
};

pub(super) const USER: TauTool = TauTool {
    name: "get_user_details",
    description: "Get a user: name, address, payment methods and orders.",
    parameters: &[Parameter {
        name: "user_id",
        kind: ParameterKind::Text,
        description: "The id of the user, such as 'first_last_0000'.",
    }],
    run: |state, arguments| record(state, "users", arguments, "user_id", "user not found"),
    terminates: false,
};

pub(super) const PRODUCT_TYPES: TauTool = TauTool {
    name: "list_all_product_types",
    description: "List the names and ids of all products.",
    parameters: &[],
    run: |state, _| {
        let mut products = Object::new();
        for (_, product) in state.records("products")? {
            let name = field(product, "name")?;
            let id = field(product, "product_id")?.clone();
            if let Some(name) = as_key(name)? {
                products.insert(name.to_owned(), id);
            }
        }
        let mut sorted: Vec<_> = products.into_iter().collect();
        sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
        said(&Json::Object(Object::from_distinct(sorted)).to_python_text())
    },
    terminates: false,
};
