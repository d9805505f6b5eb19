//! Packs the page into the program if the feature `page` is on: each file as a frame of Zstandard, unless that saves
//! nothing.
//!
//! The runtime of Python environments is left out: it would be more than a third of the program, and reading trajectories
//! needs none of it. So is the picture of the README.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "page")]
    if let Err(error) = page::pack() {
        println!("cargo::error={error}");
    }
}

#[cfg(feature = "page")]
mod page {
    use std::error::Error;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::{Path, PathBuf};

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    const VARIABLE: &str = "VOLARY_PAGE";
    /// Relative to this package.
    const DIST: &str = "../../dist";
    /// The folder of the Python runtime, and a picture that the page does not show.
    const LEFT_OUT: [&str; 2] = ["python", "docs/playground.png"];
    /// The best that Zstandard does.
    const LEVEL: i32 = 22;

    /// Writes the files into the folder of the build, and a table of them.
    pub fn pack() -> Result<()> {
        println!("cargo::rerun-if-env-changed={VARIABLE}");
        let page = match std::env::var_os(VARIABLE) {
            Some(page) => PathBuf::from(page),
            None => Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join(DIST),
        };
        println!("cargo::rerun-if-changed={}", page.display());
        if !page.join("index.html").is_file() {
            return Err(format!(
                "there is no page in {}, and the feature `page` puts it into the program. Build it with \
                 `cargo xtask build`, name its folder with {VARIABLE}, or leave the feature out",
                page.display()
            )
            .into());
        }
        let out = PathBuf::from(std::env::var("OUT_DIR")?);
        let mut names = Vec::new();
        collect(&page, "", &mut names)?;
        // The program looks files up by binary search.
        names.sort();
        let mut table = String::from("&[\n");
        for (number, name) in names.iter().enumerate() {
            let content = fs::read(page.join(name))?;
            let checksum = rawzip::crc32(&content);
            let packed = zstd(&content)?;
            // Pictures and archives are compressed already.
            let is_packed = packed.len() < content.len() / 100 * 95;
            let bytes = if is_packed { &packed } else { &content };
            fs::write(out.join(format!("page-{number}")), bytes)?;
            writeln!(
                table,
                "PackedFile {{ path: {name:?}, checksum: {checksum}, size: {}, is_packed: {is_packed}, \
                 bytes: include_bytes!(\"page-{number}\") }},",
                content.len()
            )?;
        }
        table.push(']');
        Ok(fs::write(out.join("page.rs"), table)?)
    }

    /// The files of a folder, without hidden ones.
    fn collect(folder: &Path, within: &str, names: &mut Vec<String>) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.ok_or("a file of the page has a name that is not Unicode")?;
            let inside = format!("{within}{name}");
            if name.starts_with('.') || LEFT_OUT.contains(&&*inside) {
                continue;
            }
            if path.is_dir() {
                collect(&path, &format!("{inside}/"), names)?
            } else {
                names.push(inside)
            }
        }
        Ok(())
    }

    fn zstd(content: &[u8]) -> Result<Vec<u8>> {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(content.len()));
        match zstd_safe::compress(&mut frame, content, LEVEL) {
            Ok(_) => Ok(frame),
            Err(code) => Err(zstd_safe::get_error_name(code).into()),
        }
    }
}
