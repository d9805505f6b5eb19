//! The choice of a connection's provider: one of the presets, or another server that speaks a known protocol.

use volary_agent::model::connection::{Address, PRESETS, Preset, Space};
use volary_agent::model::{Connection, ProviderKind};
use volary_core::json::Text;

use super::connections::{Saved, preset_of, without_number};

/// Where a connection leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderChoice {
    Preset(&'static Preset),
    /// Another server, which speaks this protocol.
    Other(ProviderKind),
}

/// Precedes the protocol in the value of the option for another server.
const OTHER: &str = "other:";

impl ProviderChoice {
    /// The choice of a connection.
    pub fn of(saved: &Saved) -> ProviderChoice {
        match saved.preset {
            Some(preset) => ProviderChoice::Preset(preset),
            None => ProviderChoice::Other(saved.connection.kind),
        }
    }

    /// Reads [`ProviderChoice::value`].
    pub fn from_value(value: &str) -> Option<ProviderChoice> {
        match value.strip_prefix(OTHER) {
            Some(kind) => ProviderKind::from_name(kind).map(ProviderChoice::Other),
            None => preset_of(value).map(ProviderChoice::Preset),
        }
    }

    /// The value of its option. Names of presets are unique.
    pub fn value(self) -> String {
        match self {
            ProviderChoice::Preset(preset) => preset.name.to_owned(),
            ProviderChoice::Other(kind) => format!("{OTHER}{}", kind.provider().name()),
        }
    }

    /// The label of its option.
    pub fn text(self) -> String {
        match self {
            ProviderChoice::Preset(preset) => preset.name.to_owned(),
            ProviderChoice::Other(kind) => format!("Other, speaks {}", kind.title()),
        }
    }

    /// The name of a connection to which the user gave none.
    fn default_name(self) -> &'static str {
        match self {
            ProviderChoice::Preset(preset) => preset.name,
            ProviderChoice::Other(kind) => kind.title(),
        }
    }

    /// Changes a connection to this provider. A name that the user chose stays.
    pub fn apply(self, saved: &mut Saved) {
        let name = saved.connection.name.clone();
        let has_own_name = without_number(&name) != ProviderChoice::of(saved).default_name();
        match self {
            ProviderChoice::Preset(preset) => {
                saved.connection = Connection::of(preset);
                saved.preset = Some(preset);
            }
            ProviderChoice::Other(kind) => {
                saved.connection.kind = kind;
                // The address and the model belong to the previous preset's provider.
                if saved.preset.take().is_some() {
                    saved.connection.base_url = Text::default();
                    saved.connection.model = Text::default();
                }
            }
        }
        saved.connection.name = if has_own_name {
            name
        } else {
            self.default_name().into()
        };
    }
}

/// The choices in the groups of the select.
pub struct ProviderGroups {
    /// Providers on the Internet.
    pub far: Vec<ProviderChoice>,
    pub built_in: Vec<ProviderChoice>,
    /// On the user's computer or network.
    pub near: Vec<ProviderChoice>,
    pub other: Vec<ProviderChoice>,
}

impl ProviderGroups {
    pub fn all() -> ProviderGroups {
        let mut groups = ProviderGroups {
            far: Vec::new(),
            built_in: Vec::new(),
            near: Vec::new(),
            other: ProviderKind::ALL.map(ProviderChoice::Other).into(),
        };
        for preset in &PRESETS {
            let group = if !preset.kind.has_server() {
                &mut groups.built_in
            } else if is_near(preset) {
                &mut groups.near
            } else {
                &mut groups.far
            };
            group.push(ProviderChoice::Preset(preset));
        }
        groups
    }
}

fn is_near(preset: &Preset) -> bool {
    Address::of(preset.base_url).is_some_and(|address| address.space() != Space::Public)
}

/// The advice on a preset, for a page of this origin.
pub fn advice(preset: &Preset, origin: &str) -> Vec<String> {
    /// Stands for the origin of the page.
    const EXAMPLE: &str = "https://example.org";
    let allow = preset.allow.replace(EXAMPLE, origin);
    let advice = [preset.note.to_owned(), allow].into_iter();
    advice.filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str) -> &'static Preset {
        preset_of(name).expect("it exists")
    }

    fn saved(name: &str) -> Saved {
        Saved {
            id: "1".into(),
            preset: Some(preset(name)),
            connection: Connection::of(preset(name)),
        }
    }

    fn choose(saved: &mut Saved, value: &str) {
        let choice = ProviderChoice::from_value(value).expect("it is an option");
        choice.apply(saved);
        assert_eq!(ProviderChoice::of(saved), choice);
    }

    #[test]
    fn each_option_has_its_own_value_and_group() {
        let ProviderGroups {
            far,
            built_in,
            near,
            other,
        } = ProviderGroups::all();
        let all = [far.clone(), built_in, near.clone(), other].concat();
        assert_eq!(all.len(), PRESETS.len() + ProviderKind::ALL.len());
        for (place, choice) in all.iter().enumerate() {
            assert_eq!(ProviderChoice::from_value(&choice.value()), Some(*choice));
            assert!(all[..place].iter().all(|one| one.value() != choice.value()));
            assert!(all[..place].iter().all(|one| one.text() != choice.text()));
        }
        assert!(far.contains(&ProviderChoice::Preset(preset("Anthropic"))));
        assert!(near.contains(&ProviderChoice::Preset(preset("Ollama"))));
        assert_eq!(ProviderChoice::from_value("other:nothing"), None);
        assert_eq!(ProviderChoice::from_value("Nobody"), None);
    }

    #[test]
    fn a_preset_brings_its_address_and_model() {
        let mut connection = saved("OpenAI");
        connection.connection.model = "mine".into();
        choose(&mut connection, "Anthropic");
        assert_eq!(connection.connection, Connection::of(preset("Anthropic")));
    }

    #[test]
    fn names_that_nobody_chose_follow_the_provider() {
        let mut connection = saved("OpenAI");
        connection.connection.name = "OpenAI 2".into();
        choose(&mut connection, "Anthropic");
        assert_eq!(&*connection.connection.name, "Anthropic");
        choose(&mut connection, "other:openai-chat");
        assert_eq!(
            &*connection.connection.name,
            ProviderKind::OpenAiChat.title()
        );
        // Also after another server, whose name was not chosen either.
        choose(&mut connection, "OpenAI");
        assert_eq!(&*connection.connection.name, "OpenAI");
    }

    #[test]
    fn names_that_the_user_chose_stay() {
        let mut connection = saved("OpenAI");
        for name in ["Mine", "OpenAI for class"] {
            connection.connection.name = name.into();
            for value in ["Anthropic", "other:openai-chat", "OpenAI"] {
                choose(&mut connection, value);
                assert_eq!(&*connection.connection.name, name, "{value}");
            }
        }
    }

    #[test]
    fn another_server_does_not_get_the_address_of_a_preset_but_keeps_its_own() {
        let mut connection = saved("OpenAI");
        choose(&mut connection, "other:openai-chat");
        assert_eq!(
            (
                &*connection.connection.base_url,
                &*connection.connection.model
            ),
            ("", "")
        );
        connection.connection.base_url = "https://models.example/v1".into();
        connection.connection.model = "m".into();
        choose(&mut connection, "other:anthropic");
        assert_eq!(connection.connection.kind, ProviderKind::Anthropic);
        assert_eq!(
            (
                &*connection.connection.base_url,
                &*connection.connection.model
            ),
            ("https://models.example/v1", "m")
        );
    }

    #[test]
    fn advice_names_the_origin_of_the_page() {
        let page = "https://volary.example";
        for preset in &PRESETS {
            let advice = advice(preset, page);
            assert!(
                advice
                    .iter()
                    .all(|text| !text.contains("https://example.org"))
            );
            let expected =
                usize::from(!preset.note.is_empty()) + usize::from(!preset.allow.is_empty());
            assert_eq!(advice.len(), expected, "{}", preset.name);
        }
        let ollama = advice(preset("Ollama"), page).join(" ");
        assert!(ollama.contains(page), "{ollama}");
    }
}
