//! Places of Review: `#/review…`.

use super::query::{decode, encode, parameters, push_parameter, with_query};

/// A place within the library of trajectories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewPlace {
    /// The id of an episode; `None` is the table of all.
    pub episode: Option<String>,
    /// The selected step: 0 is the reset.
    pub step: Option<usize>,
    /// A passage of that step, encoded by [`crate::passage_link`].
    pub at: Option<String>,
    /// The words of the passage.
    pub words: Option<String>,
    /// The ids of the episodes to compare with.
    pub beside: Vec<String>,
    /// The id of the evaluation whose unsuccessful episodes are read one after the other.
    pub evaluation: Option<String>,
    /// The URL of a file to import.
    pub url: Option<String>,
    /// The number of the trajectory in that file to open, counted from 1.
    pub open: Option<usize>,
    /// The place in Ask, encoded by [`crate::ask::AskPlace`].
    pub ask: Option<String>,
    /// The parameters about tokens, verbatim, for [`TokenPlace::read`](super::TokenPlace::read).
    pub tokens: String,
    /// From the parameter `run` on, all parameters verbatim: a place in a training run, for
    /// [`TrainingPlace::read`](super::TrainingPlace::read).
    pub training: String,
    /// The other parameters, verbatim: the table's view, for `volary_analysis::table::view`. Review's own code parses
    /// it, not the first load.
    pub view: String,
}

impl ReviewPlace {
    pub(super) fn read(episode: Option<&str>, query: &str) -> ReviewPlace {
        let mut place = ReviewPlace {
            episode: episode.map(decode),
            ..ReviewPlace::default()
        };
        for (key, value) in parameters(query) {
            match key {
                _ if key == "run" || !place.training.is_empty() => {
                    push_parameter(&mut place.training, key, value);
                }
                "step" => place.step = value.parse().ok(),
                "at" => place.at = Some(decode(value)),
                "words" => place.words = Some(decode(value)),
                "evaluation" => place.evaluation = Some(decode(value)),
                "beside" => place.beside.push(decode(value)),
                "url" => place.url = Some(decode(value)),
                "open" => place.open = value.parse().ok(),
                "ask" => place.ask = Some(decode(value)),
                "token" | "stream" | "scale" | "clip" | "tolerance" => {
                    push_parameter(&mut place.tokens, key, value)
                }
                _ => push_parameter(&mut place.view, key, value),
            }
        }
        place
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        let path = match &self.episode {
            Some(episode) => format!("#/review/{}", encode(episode)),
            None => "#/review".to_owned(),
        };
        let step = self.step.map(|step| ("step", step.to_string()));
        let text = |key, text: &Option<String>| text.as_deref().map(|text| (key, encode(text)));
        let (at, words) = (text("at", &self.at), text("words", &self.words));
        let beside = self.beside.iter().map(|id| Some(("beside", encode(id))));
        let open = self.open.map(|open| ("open", open.to_string()));
        let evaluation = text("evaluation", &self.evaluation);
        let url = text("url", &self.url);
        let ask = text("ask", &self.ask);
        let named = [step, at, words, evaluation, url, open, ask].into_iter();
        let verbatim = |text: &'_ str| {
            let (key, rest) = text.split_once('=')?;
            Some((key.to_owned(), rest.to_owned()))
        };
        let rest = [&self.view, &self.tokens, &self.training].map(|text| verbatim(text));
        let rest = rest
            .iter()
            .map(|pair| pair.as_ref().map(|(key, rest)| (&**key, rest.clone())));
        with_query(path, named.chain(beside).chain(rest))
    }
}
