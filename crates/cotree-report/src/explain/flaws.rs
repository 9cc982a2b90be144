//! Why counts of a function are not vouched for, as known after a run ([`Flaw`]) or before ([`Doubt`]), or why it has
//! none.

use super::entry::{Explanation, explanations};
use cotree_core::facts::{Doubt, Untouched};
use cotree_core::profile::Flaw;

/// The explanation of a flaw.
#[must_use]
pub fn of_flaw(flaw: Flaw) -> &'static Explanation {
    match flaw {
        Flaw::Inconsistent => &INCONSISTENT,
        Flaw::LiveFrames => &LIVE_FRAMES,
        Flaw::SuspendedStacks => &SUSPENDED_STACKS,
        Flaw::UnknownExit => &UNKNOWN_EXIT,
        Flaw::WalkIncomplete => &WALK_INCOMPLETE,
        Flaw::Threads => &THREADS,
        Flaw::LoopsUnderWay => &LOOPS_UNDER_WAY,
        Flaw::Damaged => &DAMAGED,
        Flaw::OptimisedBefore => &OPTIMISED_BEFORE,
    }
}

/// The explanation of a doubt.
#[must_use]
pub fn of_doubt(doubt: Doubt) -> &'static Explanation {
    match doubt {
        Doubt::UnmappedCallSites => &UNMAPPED_CALL_SITES,
        Doubt::BuiltinSetjmp => &BUILTIN_SETJMP,
        Doubt::SwitchesStacks => &SWITCHES_STACKS,
        Doubt::OptimisedBefore => &OPTIMISED_BEFORE,
    }
}

/// The explanation of a function without counts.
#[must_use]
pub fn of_untouched(untouched: Untouched) -> &'static Explanation {
    match untouched {
        Untouched::Naked => &NAKED,
        Untouched::Excluded => &EXCLUDED,
        Untouched::IfuncResolver => &IFUNC_RESOLVER,
        Untouched::Coroutine => &COROUTINE,
        Untouched::NotAsked => &NOT_ASKED,
        Untouched::AuthorForbids => &AUTHOR_FORBIDS,
        Untouched::UnmodelledControlFlow => &UNMODELLED_CONTROL_FLOW,
    }
}

explanations! { FLAWS:
    INCONSISTENT = "inconsistent": "the counts of the function contradict each other",
        why: "No execution has such counts: a block was left more often than it was entered, for example. Undefined \
            behaviour led where the code says that nothing comes, memory of the counters was overwritten, or \
            something happened that cotree does not know.",
        remedy: "Build with --verify, run the program, and let `cotree verify` show where counts differ. \
            -fsanitize=undefined and -fsanitize=address find undefined behaviour.",
        trusted: "Counts of other functions, unless they are flagged, too.";
    LIVE_FRAMES = "live-frames": "activations may have been live at the end, and were not seen",
        why: "The process was killed by SIGKILL, crashed on a stack that had overflowed, called exec while other \
            threads ran, or still runs. So nobody recorded where each activation stood at that moment.",
        remedy: "End the program by exit, SIGTERM or SIGINT, whose endings are exact. To read what a program counts \
            that has to be killed, build with `--profile block`, which derives nothing.",
        trusted: "Counts that are off by at most one per activation that was live, and per call that it makes to a \
            function that its callers count. Raw counters are right.";
    SUSPENDED_STACKS = "suspended-stacks": "activations on suspended stacks were not seen",
        why: "The program changes stacks by itself, as coroutines and fibers do. An activation on a stack that is \
            suspended at the end has begun and not ended, and nobody finds it.",
        remedy: "Let every coroutine end before the program does, or build with `--profile block`, which derives \
            nothing.",
        trusted: "If no stack was suspended at the end, all counts. Else they are off by at most one per activation \
            that was.";
    UNKNOWN_EXIT = "unknown-exit": "the function may have been left at a place that is no known call",
        why: "An activation ended in the middle of a block: a signal handler jumped out or ended the program there, \
            the function has more calls than are numbered (65,535 in a module), or __builtin_setjmp brought it back.",
        remedy: "Let signal handlers return, and set a flag that the program looks at. Code that is built at -O0 \
            knows more places.",
        trusted: "Counts that are off by at most one per such exit, and per call that was under way to a function \
            that its callers count. Raw counters are right.";
    WALK_INCOMPLETE = "walk-incomplete": "a dying stack could not be walked to its bottom",
        why: "Frames without unwind information were on the stack (assembly, code by another compiler), or assembly \
            had moved the stack pointer. Activations below them were not found.",
        remedy: "Give assembly its unwind information (.cfi directives), and build other code with -fexceptions or \
            -fasynchronous-unwind-tables.",
        trusted: "Counts are off by at most one per activation that was below. Raw counters are right.";
    THREADS = "threads": "threads may have lost counts",
        why: "Two threads counted in the same memory, since the build was for one thread, or the program started \
            threads in a way that was not seen. Where both add at once, one addition is lost. The same holds for a \
            signal handler that a shared library or a system call installed.",
        remedy: "Build with `--threads on`. Let the program itself start threads and install handlers, by the C \
            library.",
        trusted: "What only one thread ran, and no such handler interrupted. Other counts may be wrong by an amount \
            that nobody knows.";
    LOOPS_UNDER_WAY = "loops-under-way": "what a loop under way had counted is missing",
        why: "The loop is counted where it is left: by its own variable (--affine), or in a register (--promote). An \
            activation was not accounted for that may have been in it.",
        remedy: "Build with `--affine off --promote off`, which has every turn counted in memory at once.",
        trusted: "Counts outside of such loops, as far as other reasons leave them. `cotree annotate` names the \
            loops.";
    DAMAGED = "damaged": "what was recorded of the function was cut or damaged",
        why: "A sum was too large for 64 bits, another process counted into the same memory, or there was no room \
            for tables of paths. The notes on the profile say which.",
        remedy: "Follow the note: `cotree explain` with its code.",
        trusted: "Counts of functions that are not flagged.";
    OPTIMISED_BEFORE = "optimised-before": "the function was optimised before its counters went in",
        why: "Its module is bitcode that another compiler has optimised, or a loop was vectorised before. Loops that \
            were vectorised or unrolled count a fraction of the turns that the source says.",
        remedy: "Compile it with `cotree cc` or `cargo cotree`, from its source.",
        trusted: "Every count, for the code as it stood when the counters went in.";
}

explanations! { OTHERS:
    UNMAPPED_CALL_SITES = "unmapped-call-sites": "the function has calls that have no number",
        why: "A module numbers at most 65,535 calls, for exits in the middle of blocks.",
        remedy: "Split the source file, if the function is ever left there.",
        trusted: "All counts, as long as nobody leaves the function at such a call. If it may have happened, the \
            function has the flaw unknown-exit.";
    BUILTIN_SETJMP = "builtin-setjmp": "the function uses __builtin_setjmp",
        why: "__builtin_longjmp comes back to it without a call of the C library, which cotree would see.",
        remedy: "Use setjmp and longjmp.",
        trusted: "Functions that do not use it.";
    SWITCHES_STACKS = "switches-stacks": "the program changes stacks by itself",
        why: "It calls makecontext, swapcontext or a library of coroutines, or its assembly sets the stack pointer.",
        remedy: "Let every coroutine end before the program does, or build with `--profile block`.",
        trusted: "If no stack was suspended at the end, all counts.";
    NAKED = "naked": "the function has no counts: it is assembly without a frame",
        why: "A naked function has only the code that its author wrote, and no place for a counter.",
        remedy: "None is needed, except to count in a caller.",
        trusted: "Counts of all other functions, as far as they are not flagged.";
    EXCLUDED = "excluded": "the function has no counts: your patterns exclude it",
        why: "--include and --exclude leave it out.",
        remedy: "Change the patterns, and build again.",
        trusted: "Counts of all other functions, as far as they are not flagged.";
    IFUNC_RESOLVER = "ifunc-resolver": "the function has no counts: it runs while the program is being relocated",
        why: "An ifunc resolver chooses an implementation before the program has memory that it could count in.",
        remedy: "None is needed: the implementation that it chooses is counted.",
        trusted: "Counts of all other functions, as far as they are not flagged.";
    COROUTINE = "coroutine": "the function has no counts: it is a coroutine that was not split yet",
        why: "With `--at early`, counters go in before the compiler splits coroutines into functions.",
        remedy: "Build with `--at late`, which is the default.",
        trusted: "Counts of all other functions, as far as they are not flagged.";
    NOT_ASKED = "not-asked": "the function has no counts: profiling was not asked for",
        why: "The build has `--profile none`.",
        remedy: "Choose another profile, and build again.",
        trusted: "Nothing was counted, so that nothing is in doubt.";
    AUTHOR_FORBIDS = "author-forbids": "the function has no counts: its author forbids instrumentation",
        why: "It is marked no_profile_instrument_function, noprofile, or the like.",
        remedy: "Remove the attribute, if it is yours.",
        trusted: "Counts of all other functions, as far as they are not flagged.";
    UNMODELLED_CONTROL_FLOW = "unmodelled-control-flow": "the function has no counts: its control flow cannot be modelled",
        why: "It has a construct such as exception funclets, whose edges cotree does not know.",
        remedy: "None is known.",
        trusted: "Counts of all other functions, as far as they are not flagged.";
}
