//! What several runs have cost: the least and the most of them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The least and the most that some runs had; of runs that are equal, a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Amount {
    /// All runs had this.
    Equal(u64),
    /// Runs differ.
    Range {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Read {
            Equal(u64),
            Range { least: u64, most: u64 },
        }
        const EXPECTED: &str = "an amount is a whole number, or {least, most}, of which the second is larger";
        match Read::deserialize(deserializer) {
            Ok(Read::Equal(amount)) => Ok(Self::Equal(amount)),
            Ok(Read::Range { least, most }) if least < most => Ok(Self::Range { least, most }),
            Ok(Read::Range { .. }) | Err(_) => Err(D::Error::custom(EXPECTED)),
        }
    }
}

impl Amount {
    /// The amount of some runs; `None` without any.
    #[must_use]
    pub fn of(runs: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut runs = runs.into_iter();
        let first = runs.next()?;
        let (least, most) = runs.fold((first, first), |(least, most), run| (least.min(run), most.max(run)));
        Some(if least == most { Self::Equal(least) } else { Self::Range { least, most } })
    }

    /// The least that a run had.
    #[must_use]
    pub fn least(self) -> u64 {
        match self {
            Self::Equal(amount) => amount,
            Self::Range { least, .. } => least,
        }
    }

    /// The most that a run had.
    #[must_use]
    pub fn most(self) -> u64 {
        match self {
            Self::Equal(amount) => amount,
            Self::Range { most, .. } => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_equal_or_have_a_range() {
        assert_eq!(Amount::of([]), None);
        assert_eq!(Amount::of([3, 3]), Some(Amount::Equal(3)));
        assert_eq!(Amount::of([4, 3, 5]), Some(Amount::Range { least: 3, most: 5 }));
        let text = serde_json::to_string(&[Amount::Equal(7), Amount::Range { least: 1, most: u64::MAX }]);
        let text = text.expect("plain data");
        assert_eq!(text, r#"[7,{"least":1,"most":18446744073709551615}]"#);
        let [equal, range]: [Amount; 2] = serde_json::from_str(&text).expect("as written");
        for bad in ["-1", "1.5", "\"1\"", r#"{"least":9,"most":1}"#, r#"{"least":9}"#] {
            assert!(serde_json::from_str::<Amount>(bad).is_err(), "{bad}");
        }
        assert_eq!((equal.least(), equal.most(), range.least(), range.most()), (7, 7, 1, u64::MAX));
    }
}
