//! What programs of the soak test are made of: each ingredient is a file in `xtask/programs/soak/ingredients` that
//! holds one thing which is hard for a profiler.
//!
//! Such a file is C or C++ with the markers of [`super::template`], and defines `long p$(long n)`, a *piece*. A piece
//! calls other pieces and is called by them, from wherever the others like: within loops around `setjmp`, in
//! destructors, in handlers, on threads.

/// A file with one hard thing.
#[derive(Debug)]
pub struct Ingredient {
    /// The file's name without its ending.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
    /// Written in C++.
    pub cxx: bool,
    /// What may be declared not to be exact where it is part of a program.
    pub doubts: Doubts,
    /// What depends on time.
    pub timing: Timing,
    /// Whether it starts threads.
    pub threads: bool,
}

/// What of an ingredient depends on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timing {
    /// Nothing.
    Nothing,
    /// How many instructions ran when the process ended. Lines that are tallied do not.
    Instructions,
    /// What it counts and prints.
    Lines,
    /// What it counts and prints. Its threads may go on for a moment after the profile is complete.
    AfterTheEnd,
}

/// Whether a program may have counts that are declared not to be exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubts {
    /// Never: all is exact.
    Never,
    /// In traces.
    InTraces,
    /// By any method.
    Allowed,
}

macro_rules! ingredient {
    ($name:literal, c) => {
        ingredient!($name, ".c", false)
    };
    ($name:literal, cpp) => {
        ingredient!($name, ".cpp", true)
    };
    ($name:literal, $ending:literal, $cxx:literal) => {
        Ingredient {
            name: $name,
            text: include_str!(concat!("../../programs/soak/ingredients/", $name, $ending)),
            cxx: $cxx,
            doubts: Doubts::Never,
            timing: Timing::Nothing,
            threads: false,
        }
    };
}

/// All ingredients. A new one stands at the end, since seeds choose by position.
pub const INGREDIENTS: &[Ingredient] = &[
    ingredient!("plain", c),
    ingredient!("loops", c),
    ingredient!("setjmp_loop", c),
    ingredient!("jump", c),
    ingredient!("landing_pads", cpp),
    ingredient!("rethrow", cpp),
    ingredient!("signal_handler", c),
    Ingredient { threads: true, ..ingredient!("threads", c) },
    ingredient!("fork", c),
    ingredient!("destructors", cpp),
    ingredient!("callbacks", cpp),
    // Traces do not follow who leaves a handler for good (docs/exactness.md).
    Ingredient { doubts: Doubts::InTraces, ..ingredient!("handler_jumps", c) },
    ingredient!("computed_goto", c),
    ingredient!("varargs", c),
    ingredient!("alloca", c),
    ingredient!("musttail", c),
    ingredient!("recursion", c),
    Ingredient { threads: true, ..ingredient!("thread_exit", c) },
    Ingredient { threads: true, ..ingredient!("cancel", c) },
    ingredient!("exec", c),
    ingredient!("weak", c),
    ingredient!("alternate_stack", c),
    ingredient!("at_exit", c),
    ingredient!("objects", cpp),
    Ingredient { threads: true, ..ingredient!("exception_pointer", cpp) },
    ingredient!("builtin_jump", c),
    ingredient!("asm_goto", c),
    ingredient!("cleanups", c),
    Ingredient { timing: Timing::Lines, ..ingredient!("timer", c) },
    Ingredient { doubts: Doubts::Allowed, ..ingredient!("killed_child", c) },
    Ingredient { timing: Timing::Instructions, threads: true, ..ingredient!("sleepers", c) },
    Ingredient { threads: true, ..ingredient!("crowd", c) },
    Ingredient { threads: true, ..ingredient!("small_stack", c) },
    Ingredient { doubts: Doubts::InTraces, ..ingredient!("handler_ends", c) },
    // A fault in optimised code is flagged.
    Ingredient { doubts: Doubts::Allowed, ..ingredient!("fault_jump", c) },
    ingredient!("many_paths", c),
    ingredient!("duff", c),
    Ingredient { doubts: Doubts::Allowed, ..ingredient!("contexts", c) },
    // Where threads load it at the same time, it is loaded once.
    Ingredient { timing: Timing::Lines, threads: true, ..ingredient!("loaded", c) },
    ingredient!("shared", cpp),
    ingredient!("clone_copy", c),
    // What a child counts in its parent's memory damages the profile, and is flagged.
    Ingredient { doubts: Doubts::Allowed, ..ingredient!("clone_shared", c) },
    ingredient!("vfork", c),
    Ingredient { doubts: Doubts::Allowed, timing: Timing::AfterTheEnd, threads: true, ..ingredient!("busy", c) },
    // How deep it gets depends on the sizes of frames.
    Ingredient { doubts: Doubts::Allowed, timing: Timing::Lines, ..ingredient!("overflow", c) },
    Ingredient { doubts: Doubts::InTraces, ..ingredient!("alternate_jump", c) },
    ingredient!("setjmp_arrays", c),
    Ingredient { timing: Timing::Lines, threads: true, ..ingredient!("interrupted", c) },
    Ingredient { doubts: Doubts::Allowed, timing: Timing::Lines, ..ingredient!("interrupted_end", c) },
    Ingredient { threads: true, ..ingredient!("unwound_threads", cpp) },
    ingredient!("terminates", cpp),
    // Which objects are the first ones is for the threads to say.
    Ingredient { timing: Timing::Lines, threads: true, ..ingredient!("thread_locals", cpp) },
    ingredient!("coroutines", cpp),
];

impl Ingredient {
    /// Part of it is in a shared library, which the program loads while it runs.
    pub fn has_library(&self) -> bool {
        self.text.contains("\n#library\n")
    }
}
