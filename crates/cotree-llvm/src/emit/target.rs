//! What code is generated for.

/// An `-O` level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `-O0`
    O0,
    /// `-O1`
    O1,
    /// `-O2`
    O2,
    /// `-O3`
    O3,
    /// `-Os`
    Os,
    /// `-Oz`
    Oz,
}

impl Level {
    /// As pipelines are named.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::O0 => "O0",
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
            Level::Os => "Os",
            Level::Oz => "Oz",
        }
    }
}

/// What the code generator needs to know besides the IR.
#[derive(Clone, Debug)]
pub struct Target {
    /// The optimisation level.
    pub level: Level,
    /// The processor, where functions do not name their own.
    pub cpu: String,
    /// Code may be loaded anywhere.
    pub position_independent: bool,
    /// The bitcode comes without the compiler's own simplification: run the whole pipeline.
    pub whole_pipeline: bool,
    /// The bitcode holds all that is compiled together: the rest of the pipeline is the one of full link-time
    /// optimisation.
    pub across_modules: bool,
    /// The map of this link describes the functions. Without it they get no records, which a later link would take for
    /// its own.
    pub mapped: bool,
    /// Values that calls carry are on the stack, in all functions.
    pub carry_on_stack: bool,
    /// LLVM has crashed: find the functions whose calls can't carry anything, by attempts in forked children. No other
    /// thread of the process may run.
    pub careful: bool,
}

impl Target {
    /// Position-independent code of a program for any x86-64, optimised by the compiler already.
    #[must_use]
    pub fn new(level: Level) -> Self {
        Self {
            level,
            cpu: "x86-64".into(),
            position_independent: true,
            whole_pipeline: false,
            across_modules: false,
            mapped: true,
            carry_on_stack: false,
            careful: false,
        }
    }
}
