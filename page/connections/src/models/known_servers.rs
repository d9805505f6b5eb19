//! What earlier requests showed about servers and models. Pure.
//!
//! It is kept in memory only, because servers and models change.

use std::collections::{BTreeMap, BTreeSet};

use volary_agent::model::{Connection, ParameterFallbacks};
use volary_core::json::Text;

/// What is known of all servers, by their address.
#[derive(Debug, Default)]
pub(super) struct KnownServers {
    /// The parameters that each model rejected, by address and model.
    fallbacks: BTreeMap<(Text, Text), ParameterFallbacks>,
    /// The addresses that responded at least once. For others a failure is not transient.
    answered: BTreeSet<Text>,
}

impl KnownServers {
    /// The parameters that a model is known to reject.
    pub(super) fn fallbacks(&self, connection: &Connection) -> ParameterFallbacks {
        let known = self.fallbacks.get(&place(connection));
        known.copied().unwrap_or_default()
    }

    /// Notes the parameters that a model rejected, besides those that other requests found out meanwhile.
    pub(super) fn reject(&mut self, connection: &Connection, rejected: ParameterFallbacks) {
        let known = self.fallbacks.entry(place(connection)).or_default();
        *known = rejected.iter().fold(*known, ParameterFallbacks::with);
    }

    /// Notes that a server responded.
    pub(super) fn answer(&mut self, connection: &Connection) {
        self.answered.insert(connection.base_url.clone());
    }

    /// Whether a server ever responded.
    pub(super) fn has_answered(&self, connection: &Connection) -> bool {
        self.answered.contains(&connection.base_url)
    }
}

fn place(connection: &Connection) -> (Text, Text) {
    (connection.base_url.clone(), connection.model.clone())
}

#[cfg(test)]
mod tests {
    use volary_agent::model::sglang::setup::GenerateSetup;
    use volary_agent::model::{ParameterFallback, ProviderKind};

    use super::*;

    fn connection(base_url: &str, model: &str) -> Connection {
        Connection {
            name: "".into(),
            kind: ProviderKind::OpenAiChat,
            base_url: base_url.into(),
            model: model.into(),
            generate: GenerateSetup::default(),
        }
    }

    #[test]
    fn rejected_parameters_belong_to_a_model_at_an_address() {
        let mut known = KnownServers::default();
        let [first, second, ..] = ParameterFallback::ALL;
        let model = connection("https://a.example/v1", "m");
        let one = ParameterFallbacks::default().with(first);
        let other = ParameterFallbacks::default().with(second);
        known.reject(&model, one);
        // A concurrent request that was rejected for another parameter.
        known.reject(&model, other);
        let found = known.fallbacks(&model);
        assert!(found.has(first) && found.has(second));
        for elsewhere in [
            connection("https://a.example/v1", "n"),
            connection("https://b.example/v1", "m"),
        ] {
            assert_eq!(known.fallbacks(&elsewhere).iter().count(), 0);
        }
    }

    #[test]
    fn a_server_has_answered_for_all_its_models() {
        let mut known = KnownServers::default();
        known.answer(&connection("https://a.example/v1", "m"));
        assert!(known.has_answered(&connection("https://a.example/v1", "n")));
        assert!(!known.has_answered(&connection("https://b.example/v1", "m")));
    }
}
