//! What is wrong with files of costs.

/// What is wrong with a file of costs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct CostFileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}
