//! Parses the names of Renderer files: `{prefix}_{id}_{number}.json` is a frame, `{prefix}_info_{id}.json` a manifest.
//! Folders before the name separate trajectories.

/// The parsed name of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameName<'a> {
    /// The part before the number, common to the frames of one trajectory.
    pub stem: &'a str,
    pub number: u64,
}

/// Parses the name of a frame; `None` if it is another name.
pub fn frame_name(name: &str) -> Option<FrameName<'_>> {
    let (stem, number) = name.strip_suffix(".json")?.rsplit_once('_')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some(FrameName {
        stem,
        number: number.parse().ok().filter(|_| digits)?,
    })
}

/// The stem of a manifest's frames, derived from its name.
pub fn manifest_stem(name: &str) -> Option<String> {
    let (folder, file) = split_folder(name);
    // Prefixes consist of letters and digits, so the first underscore ends them.
    let (prefix, rest) = file.strip_suffix(".json")?.split_once('_')?;
    let id = rest.strip_prefix("info_")?;
    Some(format!("{folder}{prefix}_{id}"))
}

/// Splits a path into the folder, with its slash, and the file name.
pub fn split_folder(name: &str) -> (&str, &str) {
    match name.rfind(['/', '\\']) {
        Some(slash) => name.split_at(slash + 1),
        None => ("", name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_recognised_by_name() {
        let frame = frame_name("run/test_a_b_12.json").map(|name| (name.stem, name.number));
        assert_eq!(frame, Some(("run/test_a_b", 12)));
        for none in [
            "test_a_b.json",
            "test_a_+1.json",
            "test_a_1.txt",
            "1.json",
            "a_.json",
        ] {
            assert_eq!(frame_name(none), None, "{none}");
        }
        assert_eq!(
            manifest_stem("x/test_info_5.json").as_deref(),
            Some("x/test_5")
        );
        assert_eq!(manifest_stem("test_5.json"), None);
        assert_eq!(split_folder("a/b\\c.json"), ("a/b\\", "c.json"));
    }
}
