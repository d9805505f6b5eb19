//! Packs the page into the program if the feature `page` is on: each file as a gzip stream, unless that saves nothing.
//!
//! The runtime of Python environments is left out: it would be more than a third of the program, and reading trajectories
//! needs none of it.

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
    /// The folder of the Python runtime.
    const LEFT_OUT: &str = "python";
    /// The best that miniz_oxide does.
    const LEVEL: u8 = 10;

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
            let packed = gzip(&content, checksum)?;
            // Pictures and archives are compressed already.
            let is_gzip = packed.len() < content.len() / 100 * 95;
            let bytes = if is_gzip { &packed } else { &content };
            fs::write(out.join(format!("page-{number}")), bytes)?;
            writeln!(
                table,
                "PackedFile {{ path: {name:?}, tag: \"{checksum:08x}-{:x}\", is_gzip: {is_gzip}, \
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
            if name.starts_with('.') || within.is_empty() && name == LEFT_OUT {
                continue;
            }
            match path.is_dir() {
                true => collect(&path, &format!("{within}{name}/"), names)?,
                false => names.push(format!("{within}{name}")),
            }
        }
        Ok(())
    }

    fn gzip(content: &[u8], checksum: u32) -> Result<Vec<u8>> {
        let mut stream = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff];
        stream.extend(miniz_oxide::deflate::compress_to_vec(content, LEVEL));
        stream.extend(checksum.to_le_bytes());
        stream.extend(u32::try_from(content.len())?.to_le_bytes());
        Ok(stream)
    }
}
