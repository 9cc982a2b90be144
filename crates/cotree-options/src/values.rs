//! How values of options are written and read.

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use cotree_core::method::events::EventKinds;
use cotree_core::method::ipath::Hybrid;
use cotree_core::method::{Entry, Family, METHODS, Method};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::ffi::OsStr;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// `--profile`: one of [`METHODS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile(pub Method, pub Detail);

/// What some methods are told besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// The strategy by which paths across functions cross calls.
    Strategy(Hybrid),
    /// The kinds of events.
    Kinds(EventKinds),
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())?;
        match self.1 {
            Detail::None => Ok(()),
            Detail::Strategy(strategy) => write!(f, "={strategy}"),
            Detail::Kinds(kinds) => write!(f, "={kinds}"),
        }
    }
}

impl Profile {
    /// Reads a method that is followed by `=` and what it is told; nothing if `text` is no such thing.
    fn with_detail(text: &str) -> Option<Result<Self, String>> {
        let (name, detail) = text.split_once('=')?;
        let method = Method::from_name(name)?;
        if matches!(method, Method::IpathHybrid | Method::IpathPiecewise) {
            let strategy = detail
                .parse()
                .map_err(|()| format!("invalid strategy '{detail}' of {name}: expected {}", Hybrid::NAMES));
            return Some(strategy.map(|strategy| Self(method, Detail::Strategy(strategy))));
        }
        if matches!(method.family(), Family::Events(_)) {
            let kinds = EventKinds::parse(detail).map_err(|wrong| {
                let names = EventKinds::all_names();
                format!("invalid kind of events '{wrong}': expected some of {names}, with commas between")
            });
            return Some(kinds.map(|kinds| Self(method, Detail::Kinds(kinds))));
        }
        None
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'a> Deserialize<'a> for Profile {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let plain = || Method::from_name(&text).map(|method| Ok(Self(method, Detail::None)));
        let read = Self::with_detail(&text).or_else(plain);
        read.unwrap_or_else(|| Err(format!("expected {}", Method::names(|_| true)))).map_err(de::Error::custom)
    }
}

/// Reads [`Profile`].
#[derive(Clone)]
pub(crate) struct ProfileParser;

impl TypedValueParser for ProfileParser {
    type Value = Profile;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Profile, clap::Error> {
        if let Some(read) = value.to_str().and_then(Profile::with_detail) {
            let wrong = |message| command.clone().error(clap::error::ErrorKind::InvalidValue, format!("{message}\n"));
            return read.map_err(wrong);
        }
        let names = PossibleValuesParser::new(self.possible_values().into_iter().flatten());
        let name = names.parse_ref(command, arg, value)?;
        Ok(Profile(Method::from_name(&name).unwrap_or_default(), Detail::None))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |entry: &'static Entry| PossibleValue::new(entry.name).help(entry.summary);
        Some(Box::new(METHODS.iter().map(value)))
    }
}

/// Reads what is on or off. Other words of that sense, such as `yes`, are understood.
pub(crate) fn switch() -> BoolishValueParser {
    BoolishValueParser::new()
}

/// Reads a path, which has to mean the same in the folder where the link runs.
pub(crate) fn absolute(text: &str) -> Result<PathBuf, String> {
    std::path::absolute(text).map_err(|error| error.to_string())
}

/// Sizes of rings, in bytes.
const RING_SIZES: RangeInclusive<u64> = 1 << 20..=1 << 36;

/// Reads the size of a ring: a number, and K, M or G for its unit.
pub(crate) fn ring_size(text: &str) -> Result<u64, String> {
    let bytes = size(text).filter(|bytes| RING_SIZES.contains(bytes));
    bytes.ok_or_else(|| "expected a size such as 64M, from 1M to 64G".into())
}

fn size(text: &str) -> Option<u64> {
    let (number, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (number, [10, 20, 30]["KMG".find(&text[number.len()..])?]),
        None => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_bounds() {
        assert_eq!(ring_size("64M"), Ok(64 << 20));
        assert_eq!(ring_size("1048576"), Ok(1 << 20));
        assert_eq!(ring_size("64G"), Ok(64 << 30));
        for wrong in ["", "M", "64", "1023K", "65G", "64m", "-1M", "18446744073709551615G"] {
            assert!(ring_size(wrong).is_err(), "{wrong}");
        }
    }
}
