//! `open_trajectory`: the address of a trajectory at a step, in `volary view` on this machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Library, ToolReply};
use crate::mcp::catalog::find;
use crate::mcp::failure::ToolFailure;
use crate::mcp::view_page::ViewPlace;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenArguments {
    /// The id of the trajectory
    id: String,
    /// The file, if the id is the one in that file
    #[serde(default)]
    file: Option<String>,
    /// The step to select; 0 is the start
    #[serde(default)]
    step: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenedTrajectory {
    id: String,
    /// The address, which works on the user's machine while this server runs
    url: String,
}

pub fn open(
    library: &Library,
    arguments: OpenArguments,
    _cancelled: &CancellationToken,
) -> Result<ToolReply<OpenedTrajectory>, ToolFailure> {
    let listing = library.catalog.listing()?;
    let entry = find(&listing, &arguments.id, arguments.file.as_deref())?;
    let steps = entry.row.steps;
    if arguments.step > steps {
        return Err(ToolFailure::NoStep {
            id: arguments.id,
            step: arguments.step,
            steps,
        });
    }
    let mut same = listing
        .entries
        .iter()
        .filter(|one| one.own_id == entry.own_id);
    let is_only = same.nth(1).is_none();
    // The page numbers equal ids of different files in the order in which it reads them, which may be another one.
    let (place, what) = if is_only {
        let (id, step) = (&*entry.row.id, arguments.step);
        (
            ViewPlace::Step { id, step },
            format!("step {step} of {steps}"),
        )
    } else {
        let name = &*entry.row.name;
        (
            ViewPlace::Named { name },
            "the table of trajectories with this name, because several files have its id"
                .to_owned(),
        )
    };
    let url = library.page.address(&place)?;
    Ok(ToolReply {
        text: format!(
            "{url}\nGive this address to the user. It opens {what} in a browser on this machine, while this server runs.\n"
        ),
        value: OpenedTrajectory {
            id: entry.row.id.to_string(),
            url,
        },
    })
}
