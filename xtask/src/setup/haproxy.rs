//! HAProxy: a reverse proxy, for the tests of `examples/reverse-proxy`.

use super::{Need, debian};
use crate::project::Project;
use crate::run::output;

const PACKAGES: [&str; 1] = ["haproxy"];
/// Where Debian has it need not be on everybody's path.
const PLACES: [&str; 2] = ["haproxy", "/usr/sbin/haproxy"];

/// HAProxy.
pub struct HaProxy;

impl HaProxy {
    /// Whether it is here or can be installed; without it, its tests say that they are skipped.
    pub fn can_be_had(project: &Project) -> bool {
        HaProxy.find(project).is_some() || debian::can_install()
    }
}

impl Need for HaProxy {
    fn name(&self) -> String {
        "HAProxy".to_owned()
    }

    fn reason(&self) -> &'static str {
        "stands before several servers in tests"
    }

    fn find(&self, project: &Project) -> Option<String> {
        PLACES
            .into_iter()
            .find_map(|place| output(project.command(place).arg("-v")).ok())
            .and_then(|version| version.lines().next().map(str::to_owned))
    }

    fn packages(&self) -> &'static [&'static str] {
        &PACKAGES
    }

    fn by_hand(&self) -> String {
        format!(
            "Install HAProxy (on Debian: `{}`).",
            debian::by_hand(&PACKAGES)
        )
    }
}
