//! Diagnoses missing responses of models: probes the network, then applies the pure rules.

use volary_agent::model::diagnosis::{self, Diagnosis, ModelProblem, Observation};

use super::{Saved, Unanswered};
use volary_browser::http::HttpError;
use volary_browser::network;

/// Diagnoses a failure. If there was no response at all, the address is probed once, without the key, unless that
/// was done before.
pub async fn diagnose(saved: &Saved, has_key: bool, unanswered: &Unanswered) -> Diagnosis {
    let connection = &saved.connection;
    let page = network::page();
    let observation = match unanswered.transport_error {
        Some(HttpError::NoReply { .. }) => {
            let found = match unanswered.silence {
                Some(found) => found,
                None => network::probe(&connection.base_url).await,
            };
            Observation::NoReply {
                answers_without_cors: found.answers_without_cors,
                permission: found.permission,
                is_online: found.is_online,
            }
        }
        _ => Observation::Failed(unanswered.error.clone()),
    };
    let mut diagnosis = diagnosis::diagnose(connection, has_key, &page, &observation);
    // A preset with a changed address is not recognized by it, but the instructions for its server still apply.
    let allow = saved.preset.map_or("", |preset| preset.allow);
    if diagnosis.problem == ModelProblem::Cors && connection.preset().is_none() && !allow.is_empty()
    {
        diagnosis.remedy = allow.replace("https://example.org", &page.origin);
    }
    diagnosis
}
