//! Data of pages as scripts: a page that is opened from a disk may load scripts, and no other files.
//!
//! A script gives its data to the page by one call, `cotreeData("name", "…")`: JSON, compressed by gzip, in base 64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Serialize, Serializer};
use std::io::{self, BufWriter, IntoInnerError};

/// How scripts are added: by name and text.
pub(super) type Add<'a> = dyn FnMut(String, String) -> io::Result<()> + 'a;

/// An amount: a number where JavaScript's numbers hold it, and decimal digits as text where they do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Amount(pub u128);

impl Amount {
    /// The largest whole number up to which each is a number of its own in JavaScript.
    const LARGEST: u128 = (1 << 53) - 1;
}

impl From<u64> for Amount {
    fn from(amount: u64) -> Self {
        Self(amount.into())
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(amount) if self.0 <= Self::LARGEST => serializer.serialize_u64(amount),
            _ => serializer.collect_str(&self.0),
        }
    }
}

/// The script that gives a value to the page. `name` has letters, digits, `-` and `/` only.
///
/// # Errors
/// If the value can't be written as JSON.
pub(super) fn script(name: &str, value: &impl Serialize) -> io::Result<String> {
    debug_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '/')), "{name}");
    // The encoder takes a long time over each write, and JSON is many small ones.
    let mut json = BufWriter::with_capacity(1 << 16, GzEncoder::new(Vec::new(), Compression::default()));
    serde_json::to_writer(&mut json, value)?;
    let packed = json.into_inner().map_err(IntoInnerError::into_error)?;
    Ok(format!("cotreeData(\"{name}\",\"{}\");\n", STANDARD.encode(packed.finish()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn scripts_hold_what_was_given() {
        let value = ["</script>\u{202e}", "\"quotes\""];
        let script = script("functions/3", &value).expect("a script");
        let packed = script.strip_prefix("cotreeData(\"functions/3\",\"").and_then(|rest| rest.strip_suffix("\");\n"));
        let packed = STANDARD.decode(packed.expect("a call")).expect("base 64");
        let mut text = String::new();
        GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip");
        assert_eq!(serde_json::from_str::<[String; 2]>(&text).expect("JSON"), value);
    }

    #[test]
    fn large_amounts_are_text() {
        let text = |amount| serde_json::to_string(&Amount(amount)).expect("JSON");
        assert_eq!(text((1 << 53) - 1), "9007199254740991");
        assert_eq!(text(1 << 53), "\"9007199254740992\"");
        assert_eq!(text(u128::MAX), format!("\"{}\"", u128::MAX));
    }
}
