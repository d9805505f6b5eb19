//! Wheels: packages of pure Python that an environment imports. Pure.
//!
//! Invariant: a [`Wheel`] is pure Python according to its name and not larger than [`LARGEST`].
//! `public/python/host.py` checks its contents in the sandbox before importing anything.

use base64ct::{Base64, Encoding};
use serde::{Deserialize, Serialize};
use volary_core::json;
use volary_core::json::Json;

/// The largest wheel, in bytes.
pub const LARGEST: usize = 8 << 20;
/// The first bytes of every zip archive that is not empty.
const ZIP: &[u8] = b"PK\x03\x04";

/// The description of a wheel, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wheel {
    /// The file name.
    pub name: String,
    /// The SHA-256 of the bytes in hexadecimal.
    pub sha256: String,
    /// The size in bytes.
    pub size: u64,
}

impl Wheel {
    /// Checks a file. The error is a message for the user.
    pub fn of(name: &str, bytes: &[u8]) -> Result<Wheel, String> {
        check_name(name)?;
        if bytes.len() > LARGEST {
            return Err(format!("{name} is larger than 8 MB."));
        }
        if !bytes.starts_with(ZIP) {
            return Err(format!("{name} is damaged: it is not a zip archive."));
        }
        Ok(Wheel {
            name: name.to_owned(),
            sha256: hexadecimal(&hmac_sha256::Hash::hash(bytes)),
            size: bytes.len() as u64,
        })
    }

    /// The body of a request to `/wheel`, which unpacks it.
    pub fn body(&self, bytes: &[u8]) -> Json {
        json!({
            "name": (self.name.as_str()),
            "sha256": (self.sha256.as_str()),
            "data": (Base64::encode_string(bytes)),
        })
    }

    /// The error of code that needs a wheel which the browser does not have.
    pub fn missing(&self) -> String {
        format!(
            "It needs {}, which is not in this browser. Save the code as a file under Environments and drop the wheel \
             on its editor.",
            self.name
        )
    }
}

/// Formats bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks a name of the form `{distribution}-{version}[-{build}]-{python}-{abi}-{platform}.whl`.
fn check_name(name: &str) -> Result<(), String> {
    let stem = name
        .strip_suffix(".whl")
        .ok_or_else(|| format!("{name} is not a wheel: its name does not end in .whl."))?;
    let parts: Vec<&str> = stem.split('-').collect();
    let ([_, _, python, abi, platform] | [_, _, _, python, abi, platform]) = parts.as_slice()
    else {
        return Err(format!(
            "{name} is not named as a wheel, for example tool-1.0-py3-none-any.whl."
        ));
    };
    let is_pure = *abi == "none" && *platform == "any";
    if !is_pure || !python.split('.').any(|tag| tag == "py3") {
        return Err(format!(
            "{name} is not pure Python: it is built for {python}-{abi}-{platform}. Only py3-none-any and \
             py2.py3-none-any can be loaded."
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_wheels_are_taken() {
        for name in [
            "tool-1.0-py3-none-any.whl",
            "tool-1.0-py2.py3-none-any.whl",
            "tool-1.0-1-py3-none-any.whl",
        ] {
            let wheel =
                Wheel::of(name, b"PK\x03\x04rest").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((wheel.sha256.len(), wheel.size), (64, 8));
            let body = wheel.body(b"PK\x03\x04rest");
            assert_eq!(body.get("data"), Some(&json!("UEsDBHJlc3Q=")));
        }
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        for (name, reason) in [
            (
                "numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl",
                "not pure Python",
            ),
            ("tool-1.0-py2-none-any.whl", "not pure Python"),
            ("tool-1.0-py3-abi3-any.whl", "not pure Python"),
            ("tool-1.0-py3-none-win32.whl", "not pure Python"),
            ("tool.whl", "not named as a wheel"),
            ("tool-1.0.tar.gz", "does not end in .whl"),
        ] {
            let error = Wheel::of(name, ZIP).err().unwrap_or_default();
            assert!(error.contains(reason), "{name}: {error}");
        }
        let name = "tool-1.0-py3-none-any.whl";
        let error = |bytes: &[u8]| Wheel::of(name, bytes).err().unwrap_or_default();
        assert!(error(b"<html>").contains("not a zip archive"));
        assert!(error(&vec![0; LARGEST + 1]).contains("larger than 8 MB"));
    }
}
