//! Why the map of a binary cannot be read.

use crate::wire::WireError;

/// Why a map cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// No magic.
    #[error("it does not begin with a map")]
    NoMagic,
    /// The packed form of the map cannot be read.
    #[error(transparent)]
    Wire(WireError),
    /// Two maps in one section.
    #[error("it holds more than one map: objects of two link units were linked together")]
    SeveralMaps,
    /// Some value makes no sense.
    #[error("{0}")]
    Invalid(&'static str),
    /// Some value of a function makes no sense.
    #[error("function {function}: {what}")]
    InvalidFunction {
        /// The index of the function.
        function: usize,
        /// What is wrong.
        what: &'static str,
    },
}

impl From<WireError> for MapError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::NoMagic => Self::NoMagic,
            WireError::Invalid(what) => Self::Invalid(what),
            error => Self::Wire(error),
        }
    }
}
