//! What a person is told when the browser keeps nothing, or when models or a server fail.

use volary_agent::evaluation::{Failure, FailureKind, Status};
use volary_core::json::Text;

use super::Done;
use crate::browser::database::DatabaseError;

/// Why, and what can be done.
pub(super) fn storage_trouble(error: &DatabaseError) -> Text {
    format!(
        "{error} Results since then are only in this tab and are lost when it is closed: save them \
         as a file. {}",
        error.advice()
    )
    .into()
}

/// So many episodes in a row may fail before no more are begun.
const MOST_MISSES: usize = 3;

/// What a person is told when a model's episode failed, where going on would be pointless.
pub(super) fn of_failures(failure: &Failure, misses: usize) -> Option<Text> {
    let message = &failure.message;
    if failure.kind.concerns_all() {
        let advice = "Enter a different key in the settings, then retry the failures.";
        return Some(format!("{message} {advice}").into());
    }
    (misses >= MOST_MISSES).then(|| {
        format!(
            "{misses} episodes in a row failed, so no more are started. Last error: {message} \
             Resume to run the remaining ones, or retry the failures."
        )
        .into()
    })
}

/// That the server of the environments can't be used, if cells broke off for that, and what can be done.
pub(super) fn of_server(done: &[Done]) -> Option<Text> {
    done.iter().find_map(|done| match &done.result.status {
        Status::Failed(failure) if failure.kind == FailureKind::Server => Some(
            format!(
                "{} Retry the failures when the server works again.",
                failure.message
            )
            .into(),
        ),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_is_no_reason_to_stop_unless_it_concerns_all() {
        let failure = |kind| Failure {
            kind,
            message: "It did.".into(),
        };
        let passing = failure(FailureKind::RateLimit);
        assert_eq!(of_failures(&passing, 2), None);
        assert!(
            of_failures(&passing, 3).is_some_and(|said| said.starts_with("3 episodes in a row"))
        );
        assert!(of_failures(&failure(FailureKind::Key), 1).is_some());
    }
}
