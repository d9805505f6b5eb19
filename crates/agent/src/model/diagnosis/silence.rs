//! Requests that failed before any reply.

use volary_connectivity::{Cause, RequestingPage, Silence};

use super::{Diagnosis, ModelProblem};
use crate::model::connection::{Connection, Space};

/// Diagnoses a request without a reply.
pub(super) fn of_silence(
    connection: &Connection,
    page: &RequestingPage,
    silence: &Silence,
) -> Diagnosis {
    let base = &connection.base_url;
    let cause = Cause::of(base.trim(), page, silence);
    let problem = match cause {
        Cause::Offline => ModelProblem::Offline,
        Cause::Cors => ModelProblem::Cors,
        Cause::NotAllowed(_) | Cause::NotYetAllowed(_) => ModelProblem::LocalNetwork,
        Cause::MixedContent | Cause::PerhapsMixedContent => ModelProblem::MixedContent,
        Cause::NotAnAddress | Cause::NobodyNear | Cause::NobodyFar => ModelProblem::Unreachable,
    };
    Diagnosis {
        problem,
        what: format!("{} cannot be reached from this page.", connection.name),
        why: cause.why(base, page),
        remedy: remedy(connection, cause, &page.origin),
    }
}

fn remedy(connection: &Connection, cause: Cause, origin: &str) -> String {
    if let Some(remedy) = cause.in_the_browser() {
        return remedy.to_owned();
    }
    let name = &connection.name;
    match cause {
        Cause::NotAnAddress => "Enter a base URL that begins with https:// or http://.".to_owned(),
        Cause::Cors => cors_remedy(connection, origin),
        Cause::MixedContent => format!("Use an https address of {name}."),
        Cause::PerhapsMixedContent => format!(
            "Check that the server runs. If it does, use Chrome, Edge or Firefox, or serve this page from \
             http://localhost. {}",
            own_server(connection, origin)
        ),
        Cause::NobodyFar => {
            "Check the base URL, then the network and browser extensions that block requests."
                .to_owned()
        }
        _ => format!(
            "Start the server and check its port. {}",
            own_server(connection, origin)
        ),
    }
}

fn cors_remedy(connection: &Connection, origin: &str) -> String {
    let told = own_server(connection, origin);
    let is_far = connection
        .address()
        .is_some_and(|address| address.space() == Space::Public);
    if !told.is_empty() {
        told
    } else if is_far {
        format!(
            "This provider cannot be called directly from a web page. Use another one, or a proxy \
             that allows {origin}, such as LiteLLM."
        )
    } else {
        format!("Start the server so that it allows the origin {origin}.")
    }
}

/// How to allow this page's origin on a self-hosted server.
fn own_server(connection: &Connection, origin: &str) -> String {
    let allow = connection.preset().map_or("", |preset| preset.allow);
    allow.replace("https://example.org", origin)
}
