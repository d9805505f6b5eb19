//! The members of a configuration that all domains share: the customer, and its recorded replies.

use volary_core::json;
use volary_core::json::{Json, Object, Text};
use volary_core::registry::RegistryError;

use super::customer::{Customer, Prompts, Simulator, Strategy};
use crate::settings::Settings;

/// The customers of a domain without scripts.
pub const CUSTOMERS: [&str; 5] = ["person", "llm", "react", "verify", "reflection"];

/// The customer with a name in [`CUSTOMERS`].
pub fn customer(kind: &str, prompts: Prompts) -> Option<Customer> {
    let strategy = match kind {
        "person" => return Some(Customer::Human),
        "llm" => Strategy::Llm,
        "react" => Strategy::React { legacy: false },
        "verify" => Strategy::Verify,
        "reflection" => Strategy::Reflection,
        _ => return None,
    };
    Some(Customer::Simulated(Simulator::new(strategy, prompts)))
}

/// The error for an unknown customer.
pub fn unknown_customer(settings: &Settings<'_>, kind: &str, known: &[&str]) -> RegistryError {
    let reason = format!("unknown {kind}; available: {}", known.join(", "));
    settings.fault("customer", &reason)
}

/// The customer's replies in the recorded episode.
///
/// # Errors
///
/// An element of the list is not a text.
pub fn replies(
    settings: &Settings<'_>,
    configuration: &Object,
) -> Result<Vec<Text>, RegistryError> {
    let replies = configuration.get("replies").and_then(Json::as_list);
    let replies = replies.unwrap_or_default().iter().map(|reply| {
        let malformed = || settings.fault("replies", "must be texts");
        reply.as_text().cloned().ok_or_else(malformed)
    });
    replies.collect()
}

/// The schema of the recorded replies.
pub fn replies_schema() -> Json {
    json!({
        "type": "array",
        "items": {"type": "string"},
        "title": "Recorded replies",
        "description": "The customer's messages in the recorded episode.",
        "default": [],
    })
}
