//! The hash of the URL as a value, parsed and written. Pure.
//!
//! The page has its own router because it must work under any path prefix of any static host, so its whole location is
//! after the `#`. Invariant: parsing never fails; unknown paths become [`Route::Unknown`], and unknown parameters are
//! ignored.

/// A location within the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `#/` and `#/run/<environment>`.
    Playground(PlaygroundPlace),
    /// `#/environments` and `#/environments/<file>`.
    Environments {
        /// The name of the Python file that is edited; `None` is the catalogue.
        file: Option<String>,
    },
    /// `#/settings`.
    Settings,
    /// `#/learn`, `#/learn/<lesson>` and `#/learn?url=…`.
    Learn {
        /// The part after `learn`, for [`LearnPlace::read`]: the lessons' own code parses it, not the first load.
        path: String,
    },
    /// `#/class`, `#/class?a=…` and `#/class/board`.
    Class {
        /// The part after `class`, for [`ClassPlace::read`]: the class's own code parses it, not the first load.
        path: String,
    },
    /// `#/template`.
    Template {
        /// The part after the question mark, for [`TemplatePlace::read`]: the lab's own code parses it, not the first
        /// load.
        query: String,
    },
    /// `#/evaluate`, `#/evaluate/<id>` and `#/evaluate/<id>/<id>`.
    Evaluate {
        /// The id of the shown evaluation; `None` is the form for a new one.
        evaluation: Option<String>,
        /// The id of the evaluation to compare with.
        beside: Option<String>,
    },
    /// `#/review` and `#/review/<episode>`.
    Review(ReviewPlace),
    /// An unknown path.
    Unknown {
        /// The path as written in the URL.
        path: String,
    },
}

/// A place within the playground. Opening it restores the same episode, policy and selected step.
///
/// `episode`, `stored` and `task` are mutually exclusive; if a URL has several, the first of them wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaygroundPlace {
    /// The name of the environment; `None` is the first one that has tasks.
    pub environment: Option<String>,
    /// An episode to replay, encoded by `volary_trajectory::share`.
    pub episode: Option<String>,
    /// The id of an episode that is stored in this browser because it is too long for a URL.
    pub stored: Option<String>,
    /// The id of the environment's task to start; `None` is its first task.
    pub task: Option<String>,
    /// The URL of a file with Python code, for the environment `python`.
    pub url: Option<String>,
    /// The seed of the task.
    pub seed: Option<u64>,
    /// The policy in lower case; `None` is the user.
    pub policy: Option<String>,
    /// The selected step: 0 is the reset, `None` the last one.
    pub step: Option<usize>,
}

/// The id that stands for the current episode of the playground.
pub const IN_PLAYGROUND: &str = "@playground";

/// A place within the library of trajectories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewPlace {
    /// The id of an episode; `None` is the table of all.
    pub episode: Option<String>,
    /// The selected step: 0 is the reset.
    pub step: Option<usize>,
    /// A passage of that step, encoded by [`crate::projection::passage_link`].
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
    /// From the parameter `run` on, all parameters verbatim: a place in a training run, for [`TrainingPlace::read`].
    pub training: String,
    /// The other parameters, verbatim: the table's view, for `volary_trajectory::table::view`. Review's own code parses
    /// it, not the first load.
    pub view: String,
}

impl Route {
    /// Parses a hash, with or without its `#`.
    pub fn parse(hash: &str) -> Route {
        let text = hash.strip_prefix('#').unwrap_or(hash);
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match segments.as_slice() {
            [] | ["run"] => Route::Playground(PlaygroundPlace::read(None, query)),
            ["run", environment] => {
                Route::Playground(PlaygroundPlace::read(Some(environment), query))
            }
            ["environments"] => Route::Environments { file: None },
            ["environments", file] => Route::Environments {
                file: Some(decode(file)),
            },
            ["settings"] => Route::Settings,
            ["learn"] | ["learn", _] => Route::Learn {
                path: text
                    .split_once("learn")
                    .map_or("", |(_, path)| path)
                    .to_owned(),
            },
            ["class"] | ["class", "board"] => Route::Class {
                path: text
                    .split_once("class")
                    .map_or("", |(_, path)| path)
                    .to_owned(),
            },
            ["template"] => Route::Template {
                query: query.to_owned(),
            },
            ["evaluate", ids @ ..] if ids.len() <= 2 => Route::Evaluate {
                evaluation: ids.first().map(|id| decode(id)),
                beside: ids.get(1).map(|id| decode(id)),
            },
            ["review"] => Route::Review(ReviewPlace::read(None, query)),
            ["review", episode] => Route::Review(ReviewPlace::read(Some(episode), query)),
            _ => Route::Unknown {
                path: path.to_owned(),
            },
        }
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        match self {
            Route::Unknown { path } => format!("#{path}"),
            Route::Playground(place) => place.to_hash(),
            Route::Review(place) => place.to_hash(),
            Route::Settings => "#/settings".to_owned(),
            Route::Learn { path } => format!("#/learn{path}"),
            Route::Class { path } => format!("#/class{path}"),
            Route::Template { query } if query.is_empty() => "#/template".to_owned(),
            Route::Template { query } => format!("#/template?{query}"),
            Route::Environments { file: None } => "#/environments".to_owned(),
            Route::Environments { file: Some(file) } => {
                format!("#/environments/{}", encode(file))
            }
            Route::Evaluate { evaluation, beside } => {
                let mut hash = "#/evaluate".to_owned();
                for id in evaluation.iter().chain(beside) {
                    hash.push('/');
                    hash.push_str(&encode(id));
                }
                hash
            }
        }
    }
}

/// A place among the lessons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LearnPlace {
    /// The list of lessons.
    #[default]
    List,
    /// The id of a built-in lesson.
    Lesson(String),
    /// The URL of a lesson.
    Linked(String),
    /// Shared links to present one after the other.
    Sequence(Vec<String>),
}

impl LearnPlace {
    /// Parses the path of [`Route::Learn`].
    pub fn read(path: &str) -> LearnPlace {
        let (id, query) = path.split_once('?').unwrap_or((path, ""));
        let url = parameters(query).find(|(key, _)| *key == "url");
        match (url, id.trim_matches('/')) {
            (None, "present") => {
                let plays = parameters(query).filter(|(key, _)| *key == "play");
                LearnPlace::Sequence(plays.map(|(_, link)| decode(link)).collect())
            }
            (Some((_, url)), _) => LearnPlace::Linked(decode(url)),
            (None, "") => LearnPlace::List,
            (None, id) => LearnPlace::Lesson(decode(id)),
        }
    }

    /// The slide that a path of [`Route::Learn`] presents, from 1; `None` if it presents nothing.
    pub fn slide(path: &str) -> Option<usize> {
        let (_, query) = path.split_once('?')?;
        let (_, slide) = parameters(query).find(|(key, _)| *key == "slide")?;
        Some(slide.parse().unwrap_or(1))
    }

    /// The path with another slide; `None` ends the presentation.
    pub fn with_slide(path: &str, slide: Option<usize>) -> String {
        let (id, query) = path.split_once('?').unwrap_or((path, ""));
        let kept = query.split('&');
        let kept = kept.filter(|part| !part.is_empty() && !part.starts_with("slide="));
        let slide = slide.map(|slide| format!("slide={slide}"));
        let parts: Vec<String> = kept.map(str::to_owned).chain(slide).collect();
        match parts.is_empty() {
            true => id.to_owned(),
            false => format!("{id}?{}", parts.join("&")),
        }
    }

    /// The hash that presents shared links.
    pub fn presenting(links: &[String]) -> String {
        let plays = links.iter().map(|link| format!("play={}&", encode(link)));
        format!("#/learn/present?{}slide=1", plays.collect::<String>())
    }
}

/// What the page shows of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClassPlace {
    /// A teacher makes an assignment.
    #[default]
    Assign,
    /// A pupil works on an assignment: its text for links.
    Work(String),
    /// A teacher sees who has reached what, in an assignment or in any.
    Board(Option<String>),
    /// Two trajectories are judged without knowing who acted: their ids, as in a comparison.
    Pair { left: String, right: String },
}

impl ClassPlace {
    /// Parses the path of [`Route::Class`].
    pub fn read(path: &str) -> ClassPlace {
        let (name, query) = path.split_once('?').unwrap_or((path, ""));
        let assignment = parameters(query).find(|(key, _)| *key == "a");
        let assignment = assignment.map(|(_, text)| decode(text));
        let id = |wanted: &str| {
            let found = parameters(query).find(|(key, _)| *key == wanted);
            found.map(|(_, id)| decode(id))
        };
        if let Some((left, right)) = id("left").zip(id("right")) {
            return ClassPlace::Pair { left, right };
        }
        match (name.trim_matches('/'), assignment) {
            ("board", assignment) => ClassPlace::Board(assignment),
            (_, Some(assignment)) => ClassPlace::Work(assignment),
            (_, None) => ClassPlace::Assign,
        }
    }

    /// The hash, including its `#`. The text of an assignment needs no escapes.
    pub fn to_hash(&self) -> String {
        match self {
            ClassPlace::Assign => "#/class".to_owned(),
            ClassPlace::Work(text) => format!("#/class?a={text}"),
            ClassPlace::Board(None) => "#/class/board".to_owned(),
            ClassPlace::Pair { left, right } => {
                format!("#/class?left={}&right={}", encode(left), encode(right))
            }
            ClassPlace::Board(Some(text)) => format!("#/class/board?a={text}"),
        }
    }
}

/// The initial state of the template lab. If a URL has both fields, `input` wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplatePlace {
    /// An input, as the lab encodes it.
    pub input: Option<String>,
    /// The id of an episode in the library whose messages are the input.
    pub episode: Option<String>,
}

impl TemplatePlace {
    /// Parses the query of [`Route::Template`].
    pub fn read(query: &str) -> TemplatePlace {
        let mut place = TemplatePlace::default();
        for (key, value) in parameters(query) {
            match key {
                "i" => place.input = Some(decode(value)),
                "episode" => place.episode = Some(decode(value)),
                _ => {}
            }
        }
        place
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        match self {
            TemplatePlace {
                input: Some(input), ..
            } => format!("#/template?i={}", encode(input)),
            TemplatePlace {
                episode: Some(episode),
                ..
            } => format!("#/template?episode={}", encode(episode)),
            _ => "#/template".to_owned(),
        }
    }
}

impl PlaygroundPlace {
    fn read(environment: Option<&str>, query: &str) -> PlaygroundPlace {
        let mut place = PlaygroundPlace {
            environment: environment.map(decode),
            ..PlaygroundPlace::default()
        };
        for (key, value) in parameters(query) {
            match key {
                "e" => place.episode = Some(decode(value)),
                "id" => place.stored = Some(decode(value)),
                "task" => place.task = Some(decode(value)),
                "url" => place.url = Some(decode(value)),
                "seed" => place.seed = value.parse().ok(),
                "policy" => place.policy = Some(decode(value)),
                "step" => place.step = value.parse().ok(),
                _ => {}
            }
        }
        place
    }

    /// Returns whether the place is an environment in its default initial state.
    pub fn is_plain(&self) -> bool {
        self.episode.is_none()
            && self.stored.is_none()
            && self.task.is_none()
            && self.seed.is_none()
            && self.url.is_none()
    }

    /// Returns whether another place names the same episode, whatever its policy and selected step.
    pub fn has_episode_of(&self, other: &PlaygroundPlace) -> bool {
        let episode = |place: &PlaygroundPlace| PlaygroundPlace {
            policy: None,
            step: None,
            ..place.clone()
        };
        episode(self) == episode(other)
    }

    /// The hash, including its `#`.
    pub fn to_hash(&self) -> String {
        let path = match &self.environment {
            Some(environment) => format!("#/run/{}", encode(environment)),
            None => "#/".to_owned(),
        };
        let text = |key, text: &Option<String>| text.as_deref().map(|text| (key, encode(text)));
        let seed = self.seed.map(|seed| ("seed", seed.to_string()));
        let step = self.step.map(|step| ("step", step.to_string()));
        let policy = text("policy", &self.policy);
        let (task, stored) = (text("task", &self.task), text("id", &self.stored));
        with_query(
            path,
            [
                task,
                seed,
                stored,
                text("url", &self.url),
                policy,
                step,
                text("e", &self.episode),
            ],
        )
    }
}

impl ReviewPlace {
    fn read(episode: Option<&str>, query: &str) -> ReviewPlace {
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
        let named = [step, at, words, evaluation, url, open].into_iter();
        let verbatim = |text: &'_ str| {
            let (key, rest) = text.split_once('=')?;
            Some((key.to_owned(), rest.to_owned()))
        };
        let rest = [verbatim(&self.view), verbatim(&self.training)];
        let rest = rest
            .iter()
            .map(|pair| pair.as_ref().map(|(key, rest)| (&**key, rest.clone())));
        with_query(path, named.chain(beside).chain(rest))
    }
}

/// A place in a training run: the run, one of its steps, or a group of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainingPlace {
    /// The id of the run; empty for the first one.
    pub run: String,
    pub step: Option<i64>,
    /// The key of a group of that step.
    pub group: Option<String>,
    /// The name of the reward that counts; empty is the one that the file marks, `None` the default.
    pub reward: Option<String>,
    /// The id of a run to compare with.
    pub with: Option<String>,
}

impl TrainingPlace {
    /// Parses [`ReviewPlace::training`]; `None` if it names no run.
    pub fn read(query: &str) -> Option<TrainingPlace> {
        let mut place = TrainingPlace::default();
        for (key, value) in parameters(query) {
            match key {
                "run" => place.run = decode(value),
                "step" => place.step = value.parse().ok(),
                "group" => place.group = Some(decode(value)),
                "reward" => place.reward = Some(decode(value)),
                "with" => place.with = Some(decode(value)),
                _ => {}
            }
        }
        (!query.is_empty()).then_some(place)
    }

    /// The text for [`ReviewPlace::training`].
    pub fn to_query(&self) -> String {
        let mut query = format!("run={}", encode(&self.run));
        let step = self.step.map(|step| step.to_string());
        let text = |text: &Option<String>| text.as_deref().map(encode);
        let pairs = [
            ("step", step),
            ("group", text(&self.group)),
            ("reward", text(&self.reward)),
            ("with", text(&self.with)),
        ];
        for (key, value) in pairs {
            if let Some(value) = value {
                push_parameter(&mut query, key, &value);
            }
        }
        query
    }

    /// The hash of this place, including its `#`.
    pub fn to_hash(&self) -> String {
        let place = ReviewPlace {
            training: self.to_query(),
            ..ReviewPlace::default()
        };
        place.to_hash()
    }

    /// The hash of an episode that is opened from here, beside others.
    pub fn episode_hash(&self, episode: &str, beside: &[&str]) -> String {
        let place = ReviewPlace {
            episode: Some(episode.to_owned()),
            beside: beside.iter().map(|id| (*id).to_owned()).collect(),
            training: self.to_query(),
            ..ReviewPlace::default()
        };
        place.to_hash()
    }
}

fn push_parameter(query: &mut String, key: &str, value: &str) {
    let separator = if query.is_empty() { "" } else { "&" };
    *query += &format!("{separator}{key}={value}");
}

fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|pair| pair.split_once('='))
}

fn with_query<'a>(
    path: String,
    pairs: impl IntoIterator<Item = Option<(&'a str, String)>>,
) -> String {
    let mut hash = path;
    let mut separator = '?';
    for (key, value) in pairs.into_iter().flatten() {
        hash.push(separator);
        hash.push_str(key);
        hash.push('=');
        hash.push_str(&value);
        separator = '&';
    }
    hash
}

/// Decodes `%XX`. Invalid escapes stay as they are; invalid UTF-8 becomes U+FFFD.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let escaped = tail
            .get(..2)
            .filter(|_| byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(value) => {
                bytes.push(value);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Percent-encodes characters with a meaning in a hash, and everything that is not plain ASCII.
fn encode(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(hash: &str, environment: Option<&str>, episode: Option<&str>, step: Option<usize>) {
        let expected = Route::Playground(PlaygroundPlace {
            environment: environment.map(str::to_owned),
            episode: episode.map(str::to_owned),
            step,
            ..PlaygroundPlace::default()
        });
        assert_eq!(Route::parse(hash), expected, "{hash}");
    }

    #[test]
    fn places_of_the_playground() {
        check("", None, None, None);
        check("#", None, None, None);
        check("#/", None, None, None);
        check("#/run", None, None, None);
        check("#/run/", None, None, None);
        check("#/run/counter", Some("counter"), None, None);
        check("#/run/counter?step=3", Some("counter"), None, Some(3));
        check(
            "#/run/counter?e=ab-_&step=3",
            Some("counter"),
            Some("ab-_"),
            Some(3),
        );
    }

    #[test]
    fn tasks_and_policies() {
        let hash = "#/run/calculator?task=easy-02&seed=7&policy=random&step=1";
        let place = PlaygroundPlace {
            environment: Some("calculator".to_owned()),
            task: Some("easy-02".to_owned()),
            seed: Some(7),
            policy: Some("random".to_owned()),
            step: Some(1),
            ..PlaygroundPlace::default()
        };
        assert_eq!(place.to_hash(), hash);
        assert_eq!(Route::parse(hash), Route::Playground(place.clone()));
        assert!(!place.is_plain());
        let elsewhere = PlaygroundPlace {
            policy: None,
            step: None,
            ..place.clone()
        };
        assert!(elsewhere.has_episode_of(&place));
        assert!(!PlaygroundPlace::default().has_episode_of(&place));
        check("#/run/counter?seed=-1", Some("counter"), None, None);
    }

    #[test]
    fn nonsense_is_read_without_failing() {
        check("#/run/a%zz%4", Some("a%zz%4"), None, None);
        check("#/run/%FF", Some("\u{fffd}"), None, None);
        check(
            "#/run/counter?step=-1&what&=&x=y",
            Some("counter"),
            None,
            None,
        );
        check(
            "#/run/counter?step=99999999999999999999999",
            Some("counter"),
            None,
            None,
        );
    }

    #[test]
    fn elsewhere() {
        for hash in [
            "#/nowhere",
            "#/run/a/b",
            "#/review/a/b",
            "#/settings/x",
            "#main",
        ] {
            assert!(
                matches!(Route::parse(hash), Route::Unknown { .. }),
                "{hash}"
            );
        }
    }

    #[test]
    fn settings() {
        for hash in ["#/settings", "#/settings/", "#settings"] {
            assert_eq!(Route::parse(hash), Route::Settings, "{hash}");
        }
        assert_eq!(Route::Settings.to_hash(), "#/settings");
    }

    #[test]
    fn lessons() {
        for (hash, place) in [
            ("#/learn", LearnPlace::List),
            ("#/learn/", LearnPlace::List),
            (
                "#/learn/agent-loop",
                LearnPlace::Lesson("agent-loop".into()),
            ),
            (
                "#/learn?url=https%3A%2F%2Fa.example%2Flearn.md",
                LearnPlace::Linked("https://a.example/learn.md".into()),
            ),
        ] {
            let route = Route::parse(hash);
            let Route::Learn { path } = &route else {
                panic!("{route:?}");
            };
            assert_eq!(LearnPlace::read(path), place, "{hash}");
            assert_eq!(route.to_hash(), hash);
        }
    }

    #[test]
    fn classes() {
        for place in [
            ClassPlace::Assign,
            ClassPlace::Work("1ab_-".into()),
            ClassPlace::Board(None),
            ClassPlace::Board(Some("1ab_-".into())),
            ClassPlace::Pair {
                left: "class-a b-1".into(),
                right: IN_PLAYGROUND.into(),
            },
        ] {
            let route = Route::parse(&place.to_hash());
            let Route::Class { path } = &route else {
                panic!("{route:?}");
            };
            assert_eq!(ClassPlace::read(path), place);
            assert_eq!(route.to_hash(), place.to_hash());
        }
    }

    #[test]
    fn presentations() {
        let links = [
            "#/run/counter".to_owned(),
            "https://a.example/#/run/x?e=1&step=2".to_owned(),
        ];
        let hash = LearnPlace::presenting(&links);
        let path = hash.strip_prefix("#/learn").unwrap();
        assert_eq!(Route::parse(&hash), Route::Learn { path: path.into() });
        assert_eq!(LearnPlace::read(path), LearnPlace::Sequence(links.into()));
        assert_eq!(LearnPlace::slide(path), Some(1));
        for (path, slide, with_second) in [
            ("/agent-loop", None, "/agent-loop?slide=2"),
            ("/agent-loop?slide=7", Some(7), "/agent-loop?slide=2"),
            ("?url=a.md&slide=x", Some(1), "?url=a.md&slide=2"),
        ] {
            assert_eq!(LearnPlace::slide(path), slide, "{path}");
            assert_eq!(LearnPlace::with_slide(path, Some(2)), with_second, "{path}");
        }
        assert_eq!(
            LearnPlace::with_slide("/agent-loop?slide=7", None),
            "/agent-loop"
        );
    }

    #[test]
    fn template() {
        for hash in ["#/template", "#/template/", "#template"] {
            let query = String::new();
            assert_eq!(Route::parse(hash), Route::Template { query }, "{hash}");
        }
        assert_eq!(TemplatePlace::default().to_hash(), "#/template");
        for place in [
            TemplatePlace {
                input: Some("1ab_-".into()),
                episode: None,
            },
            TemplatePlace {
                input: None,
                episode: Some("a b/1".into()),
            },
        ] {
            let route = Route::parse(&place.to_hash());
            assert_eq!(route.to_hash(), place.to_hash());
            let Route::Template { query } = route else {
                panic!("{route:?}");
            };
            assert_eq!(TemplatePlace::read(&query), place);
        }
    }

    #[test]
    fn training_runs() {
        let place = TrainingPlace {
            run: "eval:a/b c".into(),
            step: Some(-3),
            group: Some("air & 4".into()),
            reward: Some(String::new()),
            with: Some("other".into()),
        };
        let Route::Review(read) = Route::parse(&place.to_hash()) else {
            panic!("{}", place.to_hash());
        };
        assert_eq!((read.step, &*read.view), (None, ""));
        assert_eq!(TrainingPlace::read(&read.training), Some(place.clone()));
        // The step before `run` is the one of the episode.
        let Route::Review(read) = Route::parse("#/review/e?step=2&q=x&run=a&step=5&group=1") else {
            panic!("an episode of a run");
        };
        assert_eq!((read.step, &*read.view), (Some(2), "q=x"));
        let training = TrainingPlace::read(&read.training).unwrap();
        assert_eq!(
            (training.step, training.group.as_deref()),
            (Some(5), Some("1"))
        );
        assert_eq!(TrainingPlace::read(""), None);
        let hash = place.episode_hash("e 1", &["e 2"]);
        let Route::Review(read) = Route::parse(&hash) else {
            panic!("{hash}");
        };
        assert_eq!(
            (read.episode.as_deref(), read.beside.len()),
            (Some("e 1"), 1)
        );
        assert_eq!(TrainingPlace::read(&read.training), Some(place));
    }

    #[test]
    fn environments() {
        for (hash, file) in [
            ("#/environments", None),
            ("#/environments/a%20b", Some("a b")),
        ] {
            let file = file.map(str::to_owned);
            let route = Route::Environments { file };
            assert_eq!(Route::parse(hash), route, "{hash}");
            assert_eq!(Route::parse(&route.to_hash()), route, "{hash}");
        }
    }

    #[test]
    fn evaluations() {
        for (hash, evaluation, beside) in [
            ("#/evaluate", None, None),
            ("#/evaluate/", None, None),
            ("#/evaluate/a%20b", Some("a b"), None),
            ("#/evaluate/a/c%20d", Some("a"), Some("c d")),
        ] {
            let [evaluation, beside] = [evaluation, beside].map(|id| id.map(str::to_owned));
            let route = Route::Evaluate { evaluation, beside };
            assert_eq!(Route::parse(hash), route, "{hash}");
            assert_eq!(Route::parse(&route.to_hash()), route, "{hash}");
        }
        let path = "/evaluate/a/b/c".to_owned();
        assert_eq!(Route::parse("#/evaluate/a/b/c"), Route::Unknown { path });
    }

    proptest! {
        #[test]
        fn every_place_comes_back(
            environment in proptest::option::of("\\PC{1,12}"),
            episode in proptest::option::of("\\PC{0,40}"),
            stored in proptest::option::of("\\PC{0,20}"),
            task in proptest::option::of("\\PC{0,20}"),
            url in proptest::option::of("\\PC{0,20}"),
            seed in proptest::option::of(0u64..1 << 53),
            policy in proptest::option::of("\\PC{0,9}"),
            step in proptest::option::of(0usize..100_000),
        ) {
            let place = PlaygroundPlace { environment, episode, stored, task, url, seed, policy, step };
            let route = Route::Playground(place);
            prop_assert_eq!(Route::parse(&route.to_hash()), route);
        }

        #[test]
        fn every_place_in_the_library_comes_back(
            episode in proptest::option::of("\\PC{1,12}"),
            step in proptest::option::of(0usize..100_000),
            beside in proptest::collection::vec("\\PC{1,12}", 0..4),
            at in proptest::option::of("\\PC{0,12}"),
            words in proptest::option::of("\\PC{0,40}"),
            url in proptest::option::of("\\PC{0,40}"),
            open in proptest::option::of(0usize..100_000),
            evaluation in proptest::option::of("\\PC{0,12}"),
            view in "(q=[a-z%]{1,9}(&filter=[a-z~.]{0,9}){0,2})?",
            training in "(run=[a-z%]{0,9}(&step=[0-9]{1,3})?(&group=[a-z.]{0,9})?)?",
        ) {
            let place = ReviewPlace {
                episode, step, at, words, beside, evaluation, url, open, view, training,
            };
            let route = Route::Review(place);
            prop_assert_eq!(Route::parse(&route.to_hash()), route);
        }

        #[test]
        fn anything_is_read(hash in ".*") {
            let _ = Route::parse(&hash);
        }
    }
}
