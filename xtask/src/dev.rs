//! `cargo xtask serve --dev`: a debug build by Trunk, which reloads the page when a source changes.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use fs_err as fs;

use crate::page;
use crate::project::Project;
use crate::run;
use crate::serve::Options;
use crate::wasm::{self, Profile};

/// The name of the hook that Trunk calls after each build.
pub const HOOK: &str = "open-policy";

const FOLDER: &str = "target/xtask/dev";

/// Runs Trunk.
///
/// Its configuration is generated here instead of in Trunk.toml, because it contains the path of this program: Trunk's
/// reloading is an inline script, which the page's policy would forbid.
pub fn serve(project: &Project, options: &Options) -> Result<()> {
    page::ensure_tools(project, Profile::Debug)?;
    let folder = project.path(FOLDER);
    fs::create_dir_all(&folder)?;
    let config = folder.join("Trunk.toml");
    let this = std::env::current_exe().context("cannot tell where xtask is")?;
    let watched = page::SOURCES.map(|source| project.path(source));
    let text = format!(
        "[build]\ntarget = {:?}\ndist = {:?}\npublic_url = \"./\"\npattern_script = \"\"\n\
         [watch]\nwatch = {watched:?}\n\
         [[hooks]]\nstage = \"pre_build\"\ncommand = {this:?}\ncommand_arguments = [{:?}]\n\
         [[hooks]]\nstage = \"post_build\"\ncommand = {this:?}\ncommand_arguments = [{HOOK:?}]\n",
        project.path("index.html"),
        folder.join("dist"),
        wasm::HOOK,
    );
    fs::write(&config, text)?;
    let mut trunk = page::trunk(project);
    trunk.arg("serve").arg("--config").arg(&config);
    trunk.args(["--address", "127.0.0.1", "--port"]);
    trunk.arg(options.port.to_string());
    if options.open {
        trunk.arg("--open");
    }
    println!(
        "Volary will be at http://127.0.0.1:{}/ and reload when a source changes (Ctrl+C stops it).",
        options.port
    );
    run::run(&mut trunk)
}

/// Removes the Content-Security-Policy from the page that Trunk has just built. Called by Trunk.
pub fn open_policy() -> Result<()> {
    let stage = std::env::var_os("TRUNK_STAGING_DIR").context("only Trunk calls this")?;
    let page = PathBuf::from(stage).join("index.html");
    let html = fs::read_to_string(&page)?;
    let Some(open) = without_policy(&html) else {
        bail!("{} has no Content-Security-Policy", page.display());
    };
    fs::write(&page, open)?;
    Ok(())
}

/// A page without the `<meta>` element of its policy, whose attributes may be in any order.
fn without_policy(html: &str) -> Option<String> {
    let name = html.find("Content-Security-Policy")?;
    let start = html[..name].rfind("<meta")?;
    let end = name + html[name..].find('>')? + 1;
    Some(format!("{}{}", &html[..start], &html[end..]))
}

#[cfg(test)]
mod tests {
    use super::without_policy;

    #[test]
    fn the_policy_is_removed_and_nothing_else() {
        for policy in [
            "<meta http-equiv=\"Content-Security-Policy\" content=\"x 'y'\">",
            "<meta content=\"x 'y'\" http-equiv=Content-Security-Policy>",
        ] {
            let html = format!("<meta charset=utf-8>{policy}<p>");
            let open = without_policy(&html);
            assert_eq!(open.as_deref(), Some("<meta charset=utf-8><p>"));
        }
        assert_eq!(without_policy("<p>"), None);
    }
}
