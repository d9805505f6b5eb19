//! The cost of models in roles in this visit.

use leptos::prelude::*;
use volary_app::outside::ModelRole;
use volary_core::json::Text;
use volary_core::quantity::{large_plural, plural};
use volary_view::asking::cost_text;

use crate::models::connections;

/// One line for each role that a model has played.
#[component]
pub fn RoleCosts() -> impl IntoView {
    let lines = move || {
        let roles = super::state().with(|state| state.roles().clone());
        let used = roles.into_iter().filter(|(_, role)| role.requests > 0);
        let lines: Vec<_> = used
            .map(|(purpose, role)| view! { <li dir="auto">{line(&purpose, &role)}</li> })
            .collect();
        (!lines.is_empty()).then(|| {
            view! {
                <ul class="role-costs help" aria-label="Other models">
                    {lines}
                </ul>
            }
        })
    };
    view! { {lines} }
}

fn line(purpose: &Text, role: &ModelRole) -> String {
    let name = connections::read(|known| {
        let saved = known.find(&role.connection);
        saved.map(|saved| saved.connection.name.to_string())
    });
    format!(
        "{purpose} ({}): {}",
        name.as_deref().unwrap_or("removed connection"),
        spent_words(role)
    )
}

/// Formats the cost of a role: `3 requests, 1,234 tokens, $0.0012`.
pub(super) fn spent_words(role: &ModelRole) -> String {
    let requests = usize::try_from(role.requests).unwrap_or(usize::MAX);
    let cost = match role.spent.cost {
        Some(cost) => cost_text(cost),
        None => "cost unknown".to_owned(),
    };
    format!(
        "{}, {}, {cost}",
        plural(requests, "request"),
        large_plural(role.spent.tokens, "token")
    )
}

#[cfg(test)]
mod tests {
    use volary_agent::model::limits::{Budget, Spent};

    use super::*;

    fn words(requests: u64, tokens: u64, cost: Option<f64>) -> String {
        spent_words(&ModelRole {
            connection: "c".into(),
            budget: Budget::default(),
            requests,
            spent: Spent {
                tokens,
                cost,
                ..Spent::default()
            },
        })
    }

    #[test]
    fn a_role_says_what_it_has_cost() {
        assert_eq!(words(1, 1, Some(0.25)), "1 request, 1 token, $0.25");
        assert_eq!(
            words(3, 1234, Some(0.0012)),
            "3 requests, 1,234 tokens, $0.0012"
        );
    }

    #[test]
    fn an_unknown_price_is_not_free() {
        assert_eq!(words(2, 0, None), "2 requests, 0 tokens, cost unknown");
        assert_eq!(words(2, 0, Some(0.0)), "2 requests, 0 tokens, $0");
    }
}
