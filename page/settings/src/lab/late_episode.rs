//! Whether the messages of a stored episode are still wanted once they are read. Pure.
//!
//! Invariant: input that the user typed, or that a newer address brought, is never replaced by an older episode.

/// The addresses that were followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FollowedAddresses {
    count: u64,
}

/// A request for the messages of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EpisodeRequest {
    address: FollowedAddresses,
    input: LabMessages,
}

/// The messages and tools in the form, as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LabMessages {
    pub messages: String,
    pub tools: String,
}

impl FollowedAddresses {
    /// Counts an address.
    pub fn follow(&mut self) {
        self.count += 1;
    }

    /// A request because of the last address.
    pub fn request(self, input: LabMessages) -> EpisodeRequest {
        EpisodeRequest {
            address: self,
            input,
        }
    }
}

impl EpisodeRequest {
    /// Whether no other address was followed and the input was not changed since.
    pub fn is_wanted(&self, followed: FollowedAddresses, input: &LabMessages) -> bool {
        self.address == followed && self.input == *input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(messages: &str, tools: &str) -> LabMessages {
        LabMessages {
            messages: messages.to_owned(),
            tools: tools.to_owned(),
        }
    }

    #[test]
    fn an_episode_replaces_the_input_that_it_was_requested_for() {
        let mut followed = FollowedAddresses::default();
        followed.follow();
        let request = followed.request(typed("[]", ""));
        assert!(request.is_wanted(followed, &typed("[]", "")));
    }

    #[test]
    fn newer_input_stays() {
        let followed = FollowedAddresses::default();
        let request = followed.request(typed("[]", ""));
        assert!(!request.is_wanted(followed, &typed("[1]", "")));
        assert!(!request.is_wanted(followed, &typed("[]", "[]")));
    }

    #[test]
    fn of_two_addresses_the_last_one_counts() {
        let mut followed = FollowedAddresses::default();
        followed.follow();
        let first = followed.request(typed("[]", ""));
        followed.follow();
        let second = followed.request(typed("[]", ""));
        // The second episode is read first, and has the same input as before.
        assert!(second.is_wanted(followed, &typed("[]", "")));
        assert!(!first.is_wanted(followed, &typed("[]", "")));
        // Nor does the first count once the second changed the input.
        assert!(!first.is_wanted(followed, &typed("[2]", "")));
    }
}
