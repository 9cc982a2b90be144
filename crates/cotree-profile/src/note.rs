//! A note about the runs of a profile that its reader must know.

use crate::method::MethodNote;
use std::fmt;

/// One note about the runs as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Runs were killed, crashed or still go on.
    CutOff(u64),
    /// Snapshots of processes.
    Snapshots(u64),
    /// Threads whose frames were not accounted for.
    ThreadsAlive(u64),
    /// A walk of a dying stack did not reach its bottom.
    WalkIncomplete,
    /// Early exits are missing.
    EarlyTableFull,
    /// A jump to a frame that was not on the walked stack.
    ForeignJump,
    /// This many activations were left at instructions that are not call sites of the map.
    UnknownExits(u64),
    /// A thread was cancelled, or ended itself under a cleanup handler, and could not be followed.
    ThreadCancelled,
    /// Threads ran in a program built for one.
    ThreadsUnexpected,
    /// A thread shared the main thread's counters.
    ThreadUnregistered,
    /// Threads shared counters because there was no room for more slabs.
    SlabShared,
    /// A signal handler that the link could not foresee.
    HandlerUnforeseen,
    /// Another process wrote into the same counters.
    ForeignProcess,
    /// A shared library in a program that is not profiled.
    Unhooked,
    /// The counts begin at a call of `cotree_reset`.
    Reset,
    /// The counters were not in the file while the program ran.
    NotMapped,
    /// Sums of counts did not fit 64 bits.
    Saturated,
    /// Weighted sum of runs.
    Weighted {
        /// Sum of weights.
        weight: u64,
        /// Runs.
        runs: u64,
    },
    /// What only the method can say.
    Method(MethodNote),
    /// Functions whose counts could not be recovered at all.
    Failed(u64),
}

impl Note {
    /// Does it put counts in doubt? Other notes are only information.
    #[must_use]
    pub fn doubtful(&self) -> bool {
        match self {
            Self::Method(note) => note.doubtful(),
            _ => !matches!(self, Self::Reset | Self::NotMapped | Self::Weighted { .. } | Self::Snapshots(_)),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: u64| if n == 1 { "" } else { "s" };
        match *self {
            Self::CutOff(1) => f.write_str("the run was cut off (killed, crashed, or still running): what is derived may be off by one per activation that was live and per call that it makes"),
            Self::CutOff(n) => write!(f, "{n} runs were cut off (killed, crashed, or still running): what is derived may be off by one per activation that was live and per call that it makes"),
            Self::Snapshots(n) => write!(f, "{n} snapshot{} of a running process", s(n)),
            Self::ThreadsAlive(n) => {
                write!(f, "{n} thread{} gave no account of the last frames: what is derived may be off by one per activation there and per call that it makes", s(n))
            }
            Self::WalkIncomplete => f.write_str("a dying stack could not be walked to its bottom"),
            Self::EarlyTableFull => f.write_str("the table of early exits was full: some are missing"),
            Self::ForeignJump => f.write_str("a longjmp went to a stack that could not be walked"),
            Self::UnknownExits(n) => write!(f, "{n} activation{} left at an instruction that is no known call", s(n)),
            Self::ThreadCancelled => f.write_str("a thread ended by pthread_cancel or pthread_exit under a cleanup handler and could not be followed"),
            Self::ThreadsUnexpected => f.write_str("threads ran in a program that was built for one: counts may have been lost; build it with --threads on"),
            Self::ThreadUnregistered => f.write_str("a thread shared the main thread's counters: counts may have been lost"),
            Self::SlabShared => f.write_str("there was no room for a thread's own counters: counts may have been lost"),
            Self::HandlerUnforeseen => f.write_str("a function of the program was made a signal handler behind its back (by a shared library or a system call): counts of what it interrupted may have been lost"),
            Self::ForeignProcess => f.write_str("another process counted into the same profile: the counts are of both"),
            Self::Unhooked => f.write_str("a shared library in a program that is not profiled, or was built by another version of cotree: jumps, exceptions, signals and threads went unseen"),
            Self::Reset => f.write_str("the counts begin at a call of cotree_reset; what other threads were in then is not accounted for"),
            Self::NotMapped => f.write_str("the counters were not in a file mapping: a kill would have lost them"),
            Self::Saturated => f.write_str("sums of counts were too large for 64 bits and were cut"),
            Self::Weighted { weight, runs } => write!(f, "a weighted sum: {runs} run{} with a total weight of {weight}", s(runs)),
            Self::Method(note) => note.fmt(f),
            Self::Failed(n) => write!(f, "{n} function{} could not be recovered: the map and the counts contradict each other", s(n)),
        }
    }
}
