//! In which builds an option changes something.

use cotree_core::method::{Entry, Method};

/// Where an option changes something.
pub(crate) struct Scope<Options> {
    /// The option.
    pub option: &'static str,
    /// Whether it is asked for.
    pub asked: fn(&Options) -> bool,
    /// Whether it changes something in a build with counters, of this method.
    pub works: fn(&Options, Method) -> bool,
    /// Asks for counts of some kind, which a build without counters does not have.
    pub counts: bool,
    /// Speaks of what is done when bitcode is compiled, not when it gets its probes.
    pub compiles: bool,
}

impl<Options> Scope<Options> {
    /// An option that changes something in all builds with counters, and nothing in others.
    pub(crate) const fn counts(option: &'static str, asked: fn(&Options) -> bool) -> Self {
        Self { option, asked, works: |_, _| true, counts: true, compiles: false }
    }

    /// An option for which `works` says where it changes something.
    pub(crate) const fn some(
        option: &'static str,
        asked: fn(&Options) -> bool,
        works: fn(&Options, Method) -> bool,
    ) -> Self {
        Self { option, asked, works, counts: false, compiles: false }
    }

    /// Marks an option of counts.
    pub(crate) const fn of_counts(self) -> Self {
        Self { counts: true, ..self }
    }

    /// Marks an option of what compiles.
    pub(crate) const fn of_compiling(self) -> Self {
        Self { compiles: true, ..self }
    }
}

/// An option that is refused in builds of other methods than those that it is about.
pub(crate) struct OfMethods<Options> {
    /// The option.
    pub option: &'static str,
    /// Whether it is asked for.
    pub asked: fn(&Options) -> bool,
    /// The methods.
    pub methods: fn(&Entry) -> bool,
    /// What the option does, in a sentence.
    pub what: &'static str,
    /// The builds without counters in which it is refused, too.
    pub also: WithoutCounters,
}

/// Builds without counters, which may get options of the build that they are compared with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WithoutCounters {
    /// None of them.
    Never,
    /// Builds that are by no profile.
    Plain,
    /// All of them.
    Always,
}

impl<Options> OfMethods<Options> {
    /// An option of traces.
    pub(crate) const fn traces(option: &'static str, asked: fn(&Options) -> bool) -> Self {
        let methods = |entry: &Entry| entry.method == Method::Trace;
        Self { option, asked, methods, what: "is about traces", also: WithoutCounters::Always }
    }

    /// An option that only asks what is counted.
    pub(crate) const fn counts(
        option: &'static str,
        asked: fn(&Options) -> bool,
        methods: fn(&Entry) -> bool,
        what: &'static str,
    ) -> Self {
        Self { option, asked, methods, what, also: WithoutCounters::Never }
    }
}
