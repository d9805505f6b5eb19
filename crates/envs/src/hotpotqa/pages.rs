//! Sources of pages.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use volary_core::environment::Setting;
use volary_core::json::Text;
use volary_core::outside::{Outside, OutsideError};

use super::config::Config;
use super::encyclopedia;
use super::mediawiki::{Next, Search};
use super::page::Page;

/// The future result of a search.
pub type PageFuture = LocalBoxFuture<'static, Result<Page, OutsideError>>;

/// A source of pages.
pub trait Pages {
    /// Searches for an entity. Spaces are `+`, as in an address.
    fn page(&self, entity: Text) -> PageFuture;
}

/// The source selected by a configuration.
pub fn of(config: &Config, setting: &Setting) -> Rc<dyn Pages> {
    match &config.wiki {
        None => Rc::new(Own),
        Some(api) => Rc::new(Wiki {
            api: Text::clone(api),
            outside: Rc::clone(&setting.outside),
        }),
    }
}

/// The built-in encyclopedia.
struct Own;

impl Pages for Own {
    fn page(&self, entity: Text) -> PageFuture {
        let page = encyclopedia::search(&entity.replace('+', " "));
        Box::pin(std::future::ready(Ok(page)))
    }
}

/// A MediaWiki.
struct Wiki {
    api: Text,
    outside: Rc<dyn Outside>,
}

impl Pages for Wiki {
    fn page(&self, entity: Text) -> PageFuture {
        let (mut search, mut address) = Search::new(&self.api, &entity.replace('+', " "));
        let outside = Rc::clone(&self.outside);
        Box::pin(async move {
            loop {
                let body = outside.fetch(&address).await?;
                match search.answered(&body) {
                    Ok(Next::Fetch(next)) => address = next,
                    Ok(Next::Found(page)) => return Ok(page),
                    Err(error) => {
                        return Err(OutsideError {
                            message: error.to_string().into(),
                        });
                    }
                }
            }
        })
    }
}
