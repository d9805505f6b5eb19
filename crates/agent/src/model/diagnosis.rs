//! Why a model can't be used, and what to do: from what a page can observe to words for the user.
//!
//! A page is told little when a request fails before its reply: only that it failed. What it can find out
//! besides is whether the same address answers a request whose reply it may not read, whether the browser
//! would ask for a permission, whether it is online, and what the address looks like. [`diagnose`] makes the
//! most of it, and says "perhaps" where it must.

use super::connection::{Connection, Space};
use super::{ModelError, ProviderKind};

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// The provider does not take the key.
    WrongKey,
    /// It wants one, and none was given.
    NoKey,
    /// It takes the key, but not for this.
    NotAllowed,
    /// It has no such model, or no such address.
    WrongModel,
    /// Too many requests.
    RateLimit,
    /// No money left.
    NoCredit,
    /// The request was not what it takes.
    Refused,
    /// The server failed.
    ServerFailure,
    /// Something else than a model answers at that address.
    NotAModel,
    /// The server does not let this page in.
    Cors,
    /// The browser must be allowed to reach the local network.
    LocalNetwork,
    /// An https page may not reach an http address.
    MixedContent,
    /// Nothing answers at that address.
    Unreachable,
    /// This machine is offline.
    Offline,
    /// It answers too slowly, or stops in the middle.
    Interrupted,
    /// The model's answer is no action.
    NoAction,
}

/// What is wrong, why, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind.
    pub trouble: Trouble,
    /// What failed: a sentence.
    pub what: String,
    /// Why: a sentence or two, with the provider's own words where there are any.
    pub why: String,
    /// What to do: a sentence or two.
    pub remedy: String,
}

/// The page that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its origin, such as `https://example.org`.
    pub origin: String,
    /// Whether it was loaded over https.
    pub is_https: bool,
    /// How far away it came from.
    pub space: Space,
}

/// What the browser says of a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Given.
    Granted,
    /// The user will be asked.
    Prompt,
    /// Refused.
    Denied,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// There was a reply, or a part of one, that was no answer.
    Failed(ModelError),
    /// The request failed before any reply, which is all that a page is told. What else it found out:
    NoReply {
        /// Whether the same address answers a request of mode `no-cors`.
        answers_without_cors: Option<bool>,
        /// The permission to reach the loopback or local network, where the browser knows of one.
        permission: Option<Permission>,
        /// Whether the browser says it is online.
        is_online: bool,
    },
}

/// What is wrong, why, and what to do about it.
pub fn diagnose(
    connection: &Connection,
    has_key: bool,
    page: &Page,
    observation: &Observation,
) -> Diagnosis {
    match observation {
        Observation::Failed(error) => of_error(connection, has_key, error),
        Observation::NoReply {
            answers_without_cors,
            permission,
            is_online,
        } => of_silence(
            connection,
            page,
            *answers_without_cors,
            *permission,
            *is_online,
        ),
    }
}

/// What is wrong when the provider did reply, why, and what to do about it. Also for failures in the middle of
/// an episode.
pub fn of_error(connection: &Connection, has_key: bool, error: &ModelError) -> Diagnosis {
    let name = &connection.name;
    let trouble = trouble_of(has_key, error);
    let what = match trouble {
        Trouble::WrongKey => format!("{name} does not accept the API key."),
        Trouble::NoKey => format!("{name} wants an API key."),
        Trouble::NotAllowed => format!("{name} does not allow this with the API key."),
        Trouble::WrongModel => format!("{name} has no model {}.", connection.model),
        Trouble::RateLimit => format!("{name} takes no more requests for now."),
        Trouble::NoCredit => format!("The account at {name} has no credit left."),
        Trouble::Refused => format!("{name} refused the request."),
        Trouble::ServerFailure => format!("{name} failed."),
        Trouble::NotAModel => "Something other than a model answers there.".to_owned(),
        Trouble::Unreachable => format!("{name} can't be reached."),
        Trouble::Interrupted => "The answer did not come to its end.".to_owned(),
        _ => "The model's answer is no action.".to_owned(),
    };
    Diagnosis {
        trouble,
        what,
        why: error.to_string(),
        remedy: remedy(connection, trouble, error),
    }
}

fn trouble_of(has_key: bool, error: &ModelError) -> Trouble {
    if error.is_out_of_credit() {
        return Trouble::NoCredit;
    }
    let (status, message, code) = match error {
        ModelError::Status {
            status,
            message,
            code,
            ..
        } => (*status, message, code),
        // What comes in the middle of a stream has no status, but a word that says as much.
        ModelError::Reported { message, code, .. } => {
            let word = code.as_deref().unwrap_or("");
            (status_of_word(word, error.is_transient()), message, code)
        }
        ModelError::Malformed { .. } | ModelError::TooLarge { .. } => return Trouble::NotAModel,
        ModelError::Unreachable { .. } => return Trouble::Unreachable,
        ModelError::Cut | ModelError::Silent { .. } => return Trouble::Interrupted,
        _ => return Trouble::NoAction,
    };
    let words = format!("{message} {}", code.as_deref().unwrap_or("")).to_lowercase();
    let says = |list: &[&str]| list.iter().any(|word| words.contains(word));
    let names_key = says(&[
        "api key",
        "api_key",
        "apikey",
        "x-api-key",
        "authentication",
        "unauthorized",
    ]);
    let names_model = words.contains("model")
        && says(&[
            "not found",
            "not exist",
            "not_found",
            "unknown",
            "invalid model",
            "no such",
        ]);
    match status {
        401 if !has_key => Trouble::NoKey,
        401 => Trouble::WrongKey,
        // Gemini says 400 to a wrong key, and 403 to none.
        400 | 403 if names_key && !has_key => Trouble::NoKey,
        400 | 403 if names_key => Trouble::WrongKey,
        403 => Trouble::NotAllowed,
        404 | 405 if says(&["web page"]) => Trouble::NotAModel,
        404 => Trouble::WrongModel,
        400 | 422 if names_model => Trouble::WrongModel,
        429 => Trouble::RateLimit,
        408 | 504 => Trouble::Interrupted,
        500..=599 => Trouble::ServerFailure,
        _ => Trouble::Refused,
    }
}

/// The status that a word for an error means.
fn status_of_word(word: &str, is_transient: bool) -> u16 {
    let word = word.to_lowercase();
    if let Ok(status) = word.parse() {
        status
    } else if word.contains("rate_limit") || word.contains("exhausted") {
        429
    } else if word.contains("authentication") {
        401
    } else if word.contains("not_found") {
        404
    } else if is_transient {
        503
    } else {
        400
    }
}

fn remedy(connection: &Connection, trouble: Trouble, error: &ModelError) -> String {
    let key_page = connection.preset().and_then(|preset| preset.key_url);
    match trouble {
        Trouble::WrongKey | Trouble::NoKey => match key_page {
            Some(url) => format!(
                "Enter a key of {} with nothing before or behind it. Keys are made at {url}.",
                connection.name
            ),
            None => "Enter the key that the server was started with.".to_owned(),
        },
        Trouble::NotAllowed => {
            "Check in the provider's settings what the key may be used for, and whether the model is \
             available to the account and the region."
                .to_owned()
        }
        Trouble::WrongModel => {
            "Pick a model from the list, or check its name. If no list appears, check the base URL."
                .to_owned()
        }
        Trouble::RateLimit => match error {
            ModelError::Status {
                retry_after: Some(seconds),
                ..
            } => format!("Wait {seconds:.0} s and try again, or run fewer episodes at once."),
            _ => "Wait a little and try again, or run fewer episodes at once.".to_owned(),
        },
        Trouble::NoCredit => {
            "Add credit in the provider's billing settings, or use another connection.".to_owned()
        }
        Trouble::Refused if wants_responses(connection, error) => {
            "This model takes tools only through OpenAI's Responses: choose the provider OpenAI \
             instead of OpenAI (Chat Completions)."
                .to_owned()
        }
        Trouble::Refused => {
            "Change what it complains of: the settings of the policy, or the model.".to_owned()
        }
        Trouble::ServerFailure => "Try again later, or use another model.".to_owned(),
        Trouble::NotAModel => {
            "Check the base URL: it must lead to the provider's interface for programs, not to its web \
             pages, and the provider must be the right one."
                .to_owned()
        }
        Trouble::Unreachable | Trouble::Interrupted => {
            "Try again. What came so far is kept.".to_owned()
        }
        _ => "Try again, or take the step by hand.".to_owned(),
    }
}

fn wants_responses(connection: &Connection, error: &ModelError) -> bool {
    connection.kind == ProviderKind::OpenAiChat && error.to_string().contains("/v1/responses")
}

fn of_silence(
    connection: &Connection,
    page: &Page,
    answers_without_cors: Option<bool>,
    permission: Option<Permission>,
    is_online: bool,
) -> Diagnosis {
    let name = &connection.name;
    let base = &connection.base_url;
    let what = format!("{name} can't be reached from this page.");
    let diagnosis = |trouble, why: String, remedy: String| Diagnosis {
        trouble,
        what: what.clone(),
        why,
        remedy,
    };
    let Some(address) = connection.address() else {
        return diagnosis(
            Trouble::Unreachable,
            format!("{base} is no web address."),
            "Enter a base URL that begins with https:// or http://.".to_owned(),
        );
    };
    let space = address.space();
    if !is_online && space != Space::Loopback {
        return diagnosis(
            Trouble::Offline,
            "The browser says that this machine is offline.".to_owned(),
            "Connect to the network and try again. What came so far is kept.".to_owned(),
        );
    }
    if answers_without_cors == Some(true) {
        return diagnosis(
            Trouble::Cors,
            format!(
                "A server answers at {base}, but it does not allow pages of {} to read its answers (CORS).",
                page.origin
            ),
            cors_remedy(connection, space, &page.origin),
        );
    }
    // Whoever goes from a farther network to a nearer one is asked about.
    let goes_inward = space < page.space;
    let network = match space {
        Space::Loopback => "programs on this machine",
        _ => "the local network",
    };
    if goes_inward && permission == Some(Permission::Denied) {
        return diagnosis(
            Trouble::LocalNetwork,
            format!("The browser does not allow this page to reach {network}."),
            "Allow it in the browser's settings of this site (the icon left of the address: local network), \
             then reload the page."
                .to_owned(),
        );
    }
    if page.is_https && !address.is_secure && space == Space::Public {
        return diagnosis(
            Trouble::MixedContent,
            "This page came over https, and browsers let such pages not reach http addresses of other machines."
                .to_owned(),
            format!("Use an https address of {name}."),
        );
    }
    if goes_inward && permission == Some(Permission::Prompt) {
        return diagnosis(
            Trouble::LocalNetwork,
            format!(
                "The browser asks before a page may reach {network}, and there was no consent yet."
            ),
            "Test again, and choose Allow when the browser asks.".to_owned(),
        );
    }
    if page.is_https && !address.is_secure && space != Space::Public && permission.is_none() {
        return diagnosis(
            Trouble::MixedContent,
            format!(
                "Perhaps nothing runs at {base}. Perhaps this browser lets https pages not reach http addresses, \
                 not even near ones; Safari does not."
            ),
            format!(
                "Check that the server runs. If it does, use Chrome, Edge or Firefox, or serve this page from \
                 http://localhost. {}",
                own_server(connection, &page.origin)
            ),
        );
    }
    if space == Space::Public {
        return diagnosis(
            Trouble::Unreachable,
            format!(
                "Nothing answers at {base}: the name may be wrong, the server down, or something between (a \
                 blocker, a firewall) holds the request back."
            ),
            "Check the base URL, then the network and browser extensions that block requests."
                .to_owned(),
        );
    }
    diagnosis(
        Trouble::Unreachable,
        format!("Nothing answers at {base}."),
        format!(
            "Start the server and check its port. {}",
            own_server(connection, &page.origin)
        ),
    )
}

fn cors_remedy(connection: &Connection, space: Space, origin: &str) -> String {
    let told = own_server(connection, origin);
    if !told.is_empty() {
        told
    } else if space == Space::Public {
        format!(
            "This provider can't be used from a page directly. Use one that can, or put a proxy before it that \
             allows {origin} (LiteLLM is one)."
        )
    } else {
        format!("Start the server so that it allows the origin {origin}.")
    }
}

/// What lets this page in, for servers of one's own.
fn own_server(connection: &Connection, origin: &str) -> String {
    let allow = connection.preset().map_or("", |preset| preset.allow);
    allow.replace("https://example.org", origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::connection::PRESETS;

    fn connection(name: &str) -> Connection {
        let preset = PRESETS.iter().find(|preset| preset.name == name).unwrap();
        Connection {
            model: "m".into(),
            ..Connection::of(preset)
        }
    }

    fn page(origin: &str) -> Page {
        let address = crate::model::connection::Address::of(origin).unwrap();
        Page {
            origin: origin.into(),
            is_https: address.is_secure,
            space: address.space(),
        }
    }

    fn failed(name: &str, status: u16, message: &str, code: Option<&str>) -> Diagnosis {
        let error = ModelError::Status {
            status,
            message: message.into(),
            code: code.map(Into::into),
            parameter: None,
            retry_after: None,
        };
        let page = page("https://volary.example");
        diagnose(&connection(name), true, &page, &Observation::Failed(error))
    }

    #[test]
    fn replies_are_told_apart() {
        for (name, status, message, code, trouble) in [
            (
                "OpenAI",
                401,
                "Incorrect API key provided",
                Some("invalid_api_key"),
                Trouble::WrongKey,
            ),
            (
                "Anthropic",
                401,
                "invalid x-api-key",
                Some("authentication_error"),
                Trouble::WrongKey,
            ),
            (
                "Google Gemini",
                400,
                "API key not valid. Please pass a valid API key.",
                Some("INVALID_ARGUMENT"),
                Trouble::WrongKey,
            ),
            ("Mistral", 401, "Unauthorized", None, Trouble::WrongKey),
            (
                "OpenAI",
                404,
                "The model `x` does not exist",
                Some("model_not_found"),
                Trouble::WrongModel,
            ),
            (
                "Anthropic",
                404,
                "model: claude-x",
                Some("not_found_error"),
                Trouble::WrongModel,
            ),
            (
                "Mistral",
                400,
                "Invalid model: x",
                Some("1500"),
                Trouble::WrongModel,
            ),
            (
                "Ollama",
                404,
                "model \"x\" not found, try pulling it first",
                None,
                Trouble::WrongModel,
            ),
            (
                "OpenAI",
                429,
                "Rate limit reached",
                Some("rate_limit_exceeded"),
                Trouble::RateLimit,
            ),
            (
                "OpenAI",
                429,
                "You exceeded your current quota",
                Some("insufficient_quota"),
                Trouble::NoCredit,
            ),
            (
                "Anthropic",
                400,
                "Your credit balance is too low",
                Some("invalid_request_error"),
                Trouble::NoCredit,
            ),
            (
                "DeepSeek",
                402,
                "Insufficient Balance",
                None,
                Trouble::NoCredit,
            ),
            (
                "OpenAI",
                403,
                "Country, region, or territory not supported",
                None,
                Trouble::NotAllowed,
            ),
            (
                "Anthropic",
                529,
                "Overloaded",
                Some("overloaded_error"),
                Trouble::ServerFailure,
            ),
            (
                "OpenAI",
                400,
                "messages: must not be empty",
                None,
                Trouble::Refused,
            ),
            (
                "vLLM",
                404,
                "it sent a web page, so something other than a model answered; check the base URL.",
                None,
                Trouble::NotAModel,
            ),
        ] {
            let found = failed(name, status, message, code);
            assert_eq!(found.trouble, trouble, "{status} {message}");
            assert!(found.why.contains(message), "{}", found.why);
            assert!(!found.remedy.is_empty() && !found.what.is_empty());
        }
    }

    #[test]
    fn a_missing_key_is_no_wrong_one() {
        let error = ModelError::Status {
            status: 401,
            message: "no".into(),
            code: None,
            parameter: None,
            retry_after: None,
        };
        let found = of_error(&connection("OpenAI"), false, &error);
        assert_eq!(found.trouble, Trouble::NoKey);
        assert!(
            found
                .remedy
                .contains("https://platform.openai.com/api-keys")
        );
    }

    #[test]
    fn chat_completions_send_on_to_responses() {
        let message =
            "Function tools are not supported in /v1/chat/completions. Use /v1/responses.";
        let found = failed("OpenAI (Chat Completions)", 400, message, None);
        assert!(found.remedy.contains("provider OpenAI"), "{}", found.remedy);
    }

    #[test]
    fn what_breaks_in_the_middle_is_told_apart() {
        let connection = connection("OpenAI");
        for (error, trouble) in [
            (ModelError::Cut, Trouble::Interrupted),
            (ModelError::TokenLimit, Trouble::NoAction),
            (
                ModelError::Reported {
                    message: "slow".into(),
                    code: Some("rate_limit_error".into()),
                    transient: true,
                },
                Trouble::RateLimit,
            ),
            (
                ModelError::Reported {
                    message: "Overloaded".into(),
                    code: Some("overloaded_error".into()),
                    transient: true,
                },
                Trouble::ServerFailure,
            ),
        ] {
            assert_eq!(
                of_error(&connection, true, &error).trouble,
                trouble,
                "{error}"
            );
        }
    }

    fn silent(
        name: &str,
        origin: &str,
        answers_without_cors: Option<bool>,
        permission: Option<Permission>,
    ) -> Diagnosis {
        let observation = Observation::NoReply {
            answers_without_cors,
            permission,
            is_online: true,
        };
        diagnose(&connection(name), true, &page(origin), &observation)
    }

    #[test]
    fn silence_is_told_apart_as_far_as_a_page_can() {
        let public = "https://volary.example";
        let near = "http://localhost:8000";
        let denied = Some(Permission::Denied);
        let prompt = Some(Permission::Prompt);
        let granted = Some(Permission::Granted);
        for (name, origin, answers, permission, trouble) in [
            ("OpenAI", public, Some(true), None, Trouble::Cors),
            ("OpenAI", public, Some(false), None, Trouble::Unreachable),
            ("OpenAI", public, None, None, Trouble::Unreachable),
            ("Ollama", public, Some(true), granted, Trouble::Cors),
            ("Ollama", public, Some(false), denied, Trouble::LocalNetwork),
            ("Ollama", public, Some(false), prompt, Trouble::LocalNetwork),
            ("Ollama", public, Some(false), granted, Trouble::Unreachable),
            ("Ollama", public, Some(false), None, Trouble::MixedContent),
            ("Ollama", near, Some(false), denied, Trouble::Unreachable),
            (
                "Ollama",
                "http://volary.example",
                Some(false),
                None,
                Trouble::Unreachable,
            ),
        ] {
            let found = silent(name, origin, answers, permission);
            assert_eq!(
                found.trouble, trouble,
                "{name} {origin} {answers:?} {permission:?}"
            );
        }
    }

    #[test]
    fn http_addresses_of_other_machines_are_mixed_content() {
        let mut connection = connection("vLLM");
        connection.base_url = "http://models.example/v1".into();
        let observation = Observation::NoReply {
            answers_without_cors: Some(false),
            permission: None,
            is_online: true,
        };
        let secure = diagnose(
            &connection,
            true,
            &page("https://volary.example"),
            &observation,
        );
        assert_eq!(secure.trouble, Trouble::MixedContent);
        let plain = diagnose(
            &connection,
            true,
            &page("http://volary.example"),
            &observation,
        );
        assert_eq!(plain.trouble, Trouble::Unreachable);
    }

    #[test]
    fn offline_is_said_unless_the_server_is_here() {
        let observation = Observation::NoReply {
            answers_without_cors: Some(false),
            permission: None,
            is_online: false,
        };
        let near = page("http://localhost:1");
        let far = diagnose(&connection("OpenAI"), true, &near, &observation);
        assert_eq!(far.trouble, Trouble::Offline);
        let here = diagnose(&connection("Ollama"), true, &near, &observation);
        assert_eq!(here.trouble, Trouble::Unreachable);
    }

    #[test]
    fn servers_of_ones_own_are_told_of_this_page() {
        let found = silent("Ollama", "https://me.example", Some(true), None);
        assert!(
            found.remedy.contains("OLLAMA_ORIGINS=https://me.example"),
            "{}",
            found.remedy
        );
    }
}
