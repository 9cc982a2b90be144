//! Notes on the runs of a profile.

use super::entry::{Explanation, explanations};
use super::flaws::of_flaw;
use cotree_core::profile::Flaw;
use cotree_profile::method::MethodNote;
use cotree_profile::method::path::PathNote;
use cotree_profile::method::trace::TraceNote;
use cotree_profile::recover::Note;

/// The explanation of a note. Some notes say of a run what a flaw says of its functions.
#[must_use]
pub fn of_note(note: &Note) -> &'static Explanation {
    match note {
        Note::CutOff(_) => &CUT_OFF,
        Note::Snapshots(_) => &SNAPSHOT,
        Note::ThreadsAlive(_) => &THREADS_ALIVE,
        Note::WalkIncomplete => of_flaw(Flaw::WalkIncomplete),
        Note::EarlyTableFull => &EARLY_TABLE_FULL,
        Note::ForeignJump => &FOREIGN_JUMP,
        Note::UnknownExits(_) => of_flaw(Flaw::UnknownExit),
        Note::ThreadCancelled => &THREAD_CANCELLED,
        Note::ThreadsUnexpected => &THREADS_UNEXPECTED,
        Note::ThreadUnregistered => &THREAD_UNREGISTERED,
        Note::SlabShared => &SLAB_SHARED,
        Note::HandlerUnforeseen => &HANDLER_UNFORESEEN,
        Note::ForeignProcess => &FOREIGN_PROCESS,
        Note::Unhooked => &UNHOOKED,
        Note::Reset => &RESET,
        Note::NotMapped => &NOT_MAPPED,
        Note::Saturated => &SATURATED,
        Note::Weighted { .. } => &WEIGHTED,
        Note::Failed(_) => &NOT_RECOVERED,
        Note::Method(MethodNote::Paths(PathNote::Missing)) => &PATHS_MISSING,
        Note::Method(MethodNote::Paths(PathNote::WithoutContext(_))) => &WITHOUT_CONTEXT,
        Note::Method(MethodNote::Trace(TraceNote::Cut)) => &TRACE_CUT,
        Note::Method(MethodNote::Trace(TraceNote::Lost)) => &TRACE_LOST,
        Note::Method(MethodNote::Trace(TraceNote::NewestOnly { .. })) => &TRACE_NEWEST_ONLY,
        Note::Method(MethodNote::Trace(TraceNote::Merged)) => &TRACES_MERGED,
        Note::Method(MethodNote::Trace(TraceNote::Paused)) => &TRACE_PAUSED,
        Note::Method(MethodNote::HandlersMixed) => &HANDLERS_MIXED,
        Note::Method(MethodNote::PathsMixed) => &PATHS_MIXED,
    }
}

explanations! { ALL:
    CUT_OFF = "cut-off": "runs were cut off",
        why: "The process was killed by SIGKILL, its stack overflowed, or it still runs. Nobody recorded where each \
            activation stood at that moment.",
        remedy: "End the program by exit, SIGTERM or SIGINT, whose endings are exact.",
        trusted: "Counters are right to the last instruction; derived counts are off by at most one per activation \
            that was live, and per call that it makes. `--profile block` derives none.";
    SNAPSHOT = "snapshot": "the profile is a snapshot of a process that went on",
        why: "`cotree dump` or cotree_dump has taken it.",
        remedy: "None is needed. The profile of the whole run is written when the process ends.",
        trusted: "All counts up to the snapshot; functions that were active then are flagged where that matters.";
    THREADS_ALIVE = "threads-alive": "threads gave no account of their last frames",
        why: "They still ran when the process called exec, did not answer when it ended, or assembly had ended them \
            by the system call itself.",
        remedy: "Join threads before the program ends or calls exec.",
        trusted: "Counters are right; derived counts are off by at most one per activation of these threads, and per \
            call that it makes.";
    EARLY_TABLE_FULL = "early-table-full": "the table of early exits was full, and some are missing",
        why: "Activations ended early at more places than the table has room for, or the disk was full.",
        remedy: "Make room on the disk that COTREE_FILE names, and run again.",
        trusted: "Functions that are not flagged.";
    FOREIGN_JUMP = "foreign-jump": "a longjmp went to a stack that could not be walked",
        why: "The frame that it went to was not found on the stack that it left: code without unwind information is \
            between them, or the program changes stacks.",
        remedy: "Give assembly its unwind information; build other code with -fasynchronous-unwind-tables.",
        trusted: "Counters are right; derived counts are off by at most one per activation that the jump left.";
    THREAD_CANCELLED = "thread-cancelled": "a thread's end could not be followed",
        why: "It ended by pthread_cancel, or by pthread_exit under a pthread_cleanup_push of C that was compiled \
            without -fexceptions.",
        remedy: "Compile C with -fexceptions, or let threads return.",
        trusted: "Counters are right; derived counts are off by at most one per activation of that thread.";
    THREADS_UNEXPECTED = "threads-unexpected": "threads ran in a program that was built for one",
        why: "The build has `--threads off`, or the link saw nothing that starts threads: a library did that was \
            loaded by dlopen, for example.",
        remedy: "Build with `--threads on`.",
        trusted: "What ran while there was one thread.";
    THREAD_UNREGISTERED = "thread-unregistered": "a thread shared the main thread's counters",
        why: "It was started without pthread_create, as by clone; or its destructors were running when another thread \
            loaded the library; or the program changed the base of GS.",
        remedy: "Start threads by pthread_create, or by the standard libraries of C++ and Rust. Join those that end \
            before loading a library.",
        trusted: "What only one of the two ran. Where both count at once, counts may be lost.";
    SLAB_SHARED = "slab-shared": "there was no room for a thread's own counters",
        why: "The disk or memory was full when a thread began, so that it shared the counters of others.",
        remedy: "Make room on the disk that COTREE_FILE names, and run again.",
        trusted: "Threads that had counters of their own have lost nothing; sums may be too low.";
    HANDLER_UNFORESEEN = "handler-unforeseen": "a function was made a signal handler behind the program's back",
        why: "A shared library or a system call installed it, and nothing in the program does. Counts that it \
            interrupted may have been lost, because the build did not expect handlers.",
        remedy: "Let the program install its handlers itself, by sigaction or signal, which the link sees.",
        trusted: "What the handler did not interrupt.";
    FOREIGN_PROCESS = "foreign-process": "another process counted into the same profile",
        why: "A child made by a raw clone or vfork shares the memory of the counters.",
        remedy: "Make processes by fork, posix_spawn, or vfork that calls exec at once. If COTREE_FILE has one name \
            for all, put %p into it.",
        trusted: "Sums over both processes, as far as they did not count at once.";
    UNHOOKED = "unhooked": "jumps, exceptions, signals and threads went unseen",
        why: "The profile is of a shared library in a program that is not profiled or was built by another cotree, \
            or of an executable with an unwinder of its own.",
        remedy: "Build the executable and its libraries by one cotree.",
        trusted: "Counters are right, if there is one thread and nobody left functions early.";
    RESET = "reset": "the counts begin at a call of cotree_reset",
        why: "The program has asked for it, or the run has (COTREE_UNTIL).",
        remedy: "None is needed.",
        trusted: "All that came after the call. If there were other threads then, functions are flagged that these may \
            have been in.";
    NOT_MAPPED = "not-mapped": "the counters were not in a file while the program ran",
        why: "The file could not be made when the program began, so that counts were kept in memory.",
        remedy: "Let COTREE_FILE name a file on a disk that can be written.",
        trusted: "Counts of this run. A kill would have lost them.";
    SATURATED = "saturated": "sums were too large for 64 bits, and were cut",
        why: "A merge, or its weights, led beyond 2^64 − 1.",
        remedy: "Merge with smaller weights, or fewer runs.",
        trusted: "Functions that are not flagged.";
    WEIGHTED = "weighted": "the profile is a weighted sum of runs",
        why: "`cotree merge` was given weights.",
        remedy: "None is needed.",
        trusted: "All counts, as multiples of what happened.";
    NOT_RECOVERED = "not-recovered": "counts of functions could not be recovered at all",
        why: "The map in the program and the counts contradict each other: a file is damaged.",
        remedy: "Copy the profile and the program again, or build and run again.",
        trusted: "Counts of other functions, with care: find out what damaged the file.";
    PATHS_MISSING = "paths-missing": "there was no room for more paths",
        why: "The disk or memory was full when a table of paths had to grow.",
        remedy: "Make room on the disk that COTREE_FILE names. `--path-array 0` needs less room.",
        trusted: "Paths that are there have run at least so often.";
    WITHOUT_CONTEXT = "without-context": "paths of some functions have no context",
        why: "A loop of theirs is entered in several places, so that there is no one way into it.",
        remedy: "None is needed.",
        trusted: "All counts.";
    TRACE_CUT = "trace-cut": "there was no room for more of the trace",
        why: "The disk was full, or files may not grow further (ulimit -f).",
        remedy: "Make room on the disk that COTREE_FILE names, or build with `--trace-ring SIZE` to keep the newest \
            part.",
        trusted: "What the trace has is what ran, from the beginning on. Counts are of that part.";
    TRACE_LOST = "trace-lost": "parts of the trace are missing, or wrong",
        why: "A signal handler forked, ended the program or jumped out, or was installed in a way that was not seen; \
            or code ran before the program began.",
        remedy: "Let signal handlers return, and install them by sigaction or signal.",
        trusted: "Threads in which nothing of that kind happened. Counts are not vouched for.";
    TRACE_NEWEST_ONLY = "trace-newest-only": "only the newest part of the trace was kept",
        why: "The build has --trace-ring, and the run was longer than the ring.",
        remedy: "Give the ring more room, or leave the option out.",
        trusted: "The part that is there, which reaches to the end. Counts are of that part.";
    TRACES_MERGED = "traces-merged": "counts of several traces were added up",
        why: "`cotree merge` adds counts; an order of several runs there is none.",
        remedy: "To see the order, read the profile of one run.",
        trusted: "All counts.";
    TRACE_PAUSED = "trace-paused": "recording was off for a part of the run",
        why: "--trace-off, or cotree_trace_stop in the program.",
        remedy: "None is needed, unless the whole run was wanted.",
        trusted: "What was recorded. Counts are of that part.";
    HANDLERS_MIXED = "handlers-mixed": "events of a signal handler may count for calls that it interrupted",
        why: "Handlers interrupted each other too deep, one forked, or one was installed in a way that was not seen.",
        remedy: "Install handlers by sigaction or signal, and let them do little.",
        trusted: "Totals. What each function and call had is in doubt.";
    PATHS_MIXED = "paths-mixed": "paths of a signal handler may go on with those that it interrupted",
        why: "Handlers interrupted each other too deep, one forked, or one was installed in a way that was not seen.",
        remedy: "Install handlers by sigaction or signal, and let them do little. `--profile path` has no such \
            doubt.",
        trusted: "Nothing of paths is certain in functions that are flagged.";
}
