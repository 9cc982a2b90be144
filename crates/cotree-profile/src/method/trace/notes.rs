//! What the reader of a trace must know of it.

use std::fmt;

/// A note about the traces of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceNote {
    /// There was no room for the rest of a trace.
    Cut,
    /// A signal handler forked, was left for good, or was not seen when it was installed; or code ran before the stream
    /// began.
    Lost,
    /// Only the newest part was kept.
    NewestOnly {
        /// How many threads that ended, and signal handlers, are gone with all that they did.
        gone: u64,
    },
    /// The traces of several runs were added up.
    Merged,
    /// Threads did not record all the time.
    Paused,
}

impl TraceNote {
    /// Does it put in doubt what the trace says, or counts of it?
    pub(in crate::method) fn doubtful(self) -> bool {
        match self {
            Self::Cut | Self::Lost | Self::NewestOnly { .. } | Self::Paused => true,
            Self::Merged => false,
        }
    }
}

impl fmt::Display for TraceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => {
                f.write_str("there was no room for more of the trace: it ends early, and counts are of what is there")
            }
            Self::Lost => f.write_str(
                "a signal handler forked, ended the program or jumped out, or was installed in a way that cotree did not see, or code ran \
                 before the program began, as resolvers of ifuncs do: parts of the trace are missing, or wrong",
            ),
            Self::NewestOnly { gone } => {
                f.write_str("only the newest part of the trace was kept: counts are of that part")?;
                match gone {
                    0 => Ok(()),
                    1 => f.write_str("; nothing is left of 1 thread or signal handler that was over"),
                    gone => write!(f, "; nothing is left of {gone} threads and signal handlers that were over"),
                }
            }
            Self::Merged => f.write_str(
                "what the traces count was added up; the order in which things happened is only in the profiles of single runs",
            ),
            Self::Paused => f.write_str(
                "recording was off for a part of the run (--trace-off, cotree_trace_stop): counts are of what was recorded",
            ),
        }
    }
}
