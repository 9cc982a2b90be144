//! What holds for a whole link unit while its functions get their probes.

use cotree_core::facts::Function;
use cotree_core::method::targets::UnitTargetPlan;

/// How generated code reaches the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As globals: one instruction, for link units that run one thread.
    Direct,
    /// Through the thread's slab pointer, a TLS word of an executable.
    ThreadInExecutable,
    /// Through the thread's slab pointer, in a shared library.
    ThreadInLibrary,
    /// Relative to the segment register GS, whose base the runtime sets for each thread to its slab's distance from
    /// slab 0: one instruction, in executables that have no other use for the register.
    Segment,
}

/// Where limits are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The first of the counters of events.
    pub counters: u64,
    /// The first of the [`cotree_rt::layout::QueryWord`]s.
    pub words: u64,
    /// How many kinds there are.
    pub kinds: u64,
}

/// The sites of a unit, and where their words are.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    /// The sites.
    pub plan: &'a UnitTargetPlan,
    /// Their first word.
    pub first: u64,
}

/// What holds for the whole link unit.
pub struct Unit<'a> {
    /// How counters are reached.
    pub access: Access,
    /// A counter that nobody reads.
    pub spare: u64,
    /// Functions that signal handlers may run, by number in the unit.
    pub interruptible: &'a [bool],
    /// Calls note where the method's registers are ([`super::registers_at_calls`]).
    pub registers_at_calls: bool,
    /// Debug information says on which path each block is.
    pub fault_paths: bool,
    /// Functions that code outside the unit's profiled functions may call, by number in the unit.
    pub foreign: &'a [bool],
    /// Functions that may run before thread-local variables have values, by number in the unit.
    pub resolving: &'a [bool],
    /// Where limits of events are looked up, if there are safe points.
    pub limits: Option<Limits>,
    /// Indirect calls whose targets are counted.
    pub targets: Option<Targets<'a>>,
    /// For each call that asks what others have led to, in unit order, the number of the line that it asks about.
    pub asked_lines: &'a [usize],
}

impl Unit<'_> {
    /// Whether a function begins with a write to the slab that the TLS word leads to
    /// ([`super::counters::write_by_thread_word`]).
    pub(crate) fn checks_thread(&self, number: usize, function: &Function) -> bool {
        self.access == Access::Segment && self.foreign[number] && function.untouched.is_none()
    }
}

/// Which numbers a module begins with.
#[derive(Clone, Copy, Debug, Default)]
pub struct First {
    /// The number of its first function in the unit.
    pub function: usize,
    /// Call sites are numbered so much higher than in its facts, because it is joined to other modules.
    pub probe: u16,
    /// The number of instructions that may fault.
    pub fault: u32,
    /// The number of its first call that asks what others have led to.
    pub call_query: usize,
    /// How many blocks the unit has before it.
    pub block: u32,
}
