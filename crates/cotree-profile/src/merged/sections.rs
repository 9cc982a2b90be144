//! The sections of a merged profile.

use crate::wire::sections::sections;

sections! {
    /// The sections of one link unit, in file order.
    SECTIONS;
    b"unit" {
        /// The unit's id, sixteen bytes.
        Id,
        /// Lengths of the path of the binary and of each argument, and between them how many arguments there are.
        TextLength,
        /// The path and the arguments.
        Text,
        /// How the runs ended, weight, flags, times.
        Run,
    }
    b"test" skippable {
        /// How many tests the runs were part of, and the length of each name.
        TestLength,
        /// The names.
        Test,
    }
    b"cntr" {
        /// How many counters, and each.
        Counter,
    }
    b"earl" {
        /// How many addresses, and each.
        EarlyAddress,
        /// Activations abandoned at each.
        EarlyCount,
    }
    b"path" {
        /// How many paths, and the function of each.
        PathFunction,
        /// Their numbers.
        Path,
        /// How often each was taken.
        PathCount,
    }
    b"regs" {
        /// How many path registers, and the return address of each.
        RegisterAddress,
        /// Which of the values at that address it is.
        RegisterValue,
        /// What was in it.
        Register,
        /// Activations abandoned with it.
        RegisterCount,
    }
    b"sums" {
        /// What is added up along paths.
        Metric,
        /// How many paths have sums, and the function of each.
        SumFunction,
        /// Their numbers.
        SumPath,
        /// The sums.
        Sum,
    }
    b"trac" {
        /// How many functions have counts of traces, and which.
        TraceFunction,
        /// How many blocks, edges and call sites each has, and its flaws.
        TraceShape,
        /// How often each was entered, and each of its blocks ran.
        TraceBlock,
        /// How often each edge was taken.
        TraceEdge,
        /// Activations abandoned at each call site.
        TraceEarly,
        /// How many runs have a ring that kept the newest part only, and of how many streams nothing.
        TraceRing,
    }
}
