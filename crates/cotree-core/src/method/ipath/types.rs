//! The types of interprocedural path plans and their keys.

use crate::ids::{CallId, FunctionId, Table, Word, id};
use crate::method::path::{Cuts, PathMetric};
use crate::plan::{CounterKey, FunctionPlan};
use crate::probe::{PlacedProbe, Reg};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The number of the path that goes on in a callee, and behind the call that of the path that comes back.
pub const NUMBER: Word = Word(0);
/// How many completions the path has behind the callee's return; behind the call, in piecewise profiles, whether the
/// path that comes back is the one with which the call was made.
pub const COMPLETIONS: Word = Word(1);
/// The function for which the caller has written the other words, by its [`mark`], or by its negated address where the
/// caller only knows that; 0 where they are for none. Only functions with [`Entry::Open`] take their names away.
pub const ADDRESSEE: Word = Word(2);
/// The thread's total of a metric when the path began that goes on in a callee, or comes back from it. There is no such
/// word where nothing is added up along paths.
pub const BEGAN: Word = Word(3);

/// How many words of the slab pass paths between functions.
#[must_use]
pub const fn words(metric: PathMetric) -> u64 {
    if metric.is_summed() { 4 } else { 3 }
}

/// What [`ADDRESSEE`] says of a function.
#[must_use]
pub const fn mark(function: FunctionId) -> i64 {
    function.0 as i64 + 1
}

/// What a function that was named by its address leaves in [`ADDRESSEE`] when it returns. No function has this name,
/// and a word that was set to 0 in the meantime, as in a forked child, does not hold it.
pub const CAME_BACK: i64 = -1;

/// What is added to the address by which a call of a group names its callee: a function that the pointer leads to
/// although it is of another group, by a cast, must not take the name for its own.
#[must_use]
pub const fn address_plus(group: GroupId) -> i64 {
    (group.0 as i64) << ADDRESS_BITS
}

/// Addresses of code have at most so many bits.
const ADDRESS_BITS: u32 = 48;
/// There are at most so many groups: with them, addresses stay below 2⁶².
pub const MOST_GROUPS: usize = 1 << 14;

/// The register that tells, at a call in which the activation may end, the number of the path up to there.
pub const NOTED: Reg = Reg::CallNumber;

/// The table of paths that may have any number.
pub const ANY: Table = Table(0);
/// The table of paths that have a word of the slab.
pub const IN_ARRAY: Table = Table(1);

/// There are never more paths than this: sums along them fit a signed word with room to spare.
pub const MOST_PATHS: u64 = 1 << 62;

/// At most so many paths are counted in words of the slab where these take memory only as paths run, else
/// [`SMALL_ARRAY`].
pub const ARRAY: u64 = 1 << 22;
/// See [`ARRAY`].
pub const SMALL_ARRAY: u64 = 1 << 16;
/// The most paths through a function and its callees, unless the user says how many the unit may have: the arrays have
/// room for many such functions, and counting in one takes a fraction of what a hash table takes.
pub const MOST_OF_FUNCTION: u64 = 1 << 16;

/// What a profile has as paths (Melski & Reps 1998, §3.4 and §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpathMethod {
    /// A path remembers all that led to it since the outermost function was entered.
    Context,
    /// Paths partition what is executed. They cross all calls, or those only that the user's strategy chooses (§8).
    Piecewise,
    /// As [`Self::Context`], across the calls only that the user's strategy chooses (§8).
    Hybrid,
}

impl IpathMethod {
    /// Do paths partition what is executed?
    #[must_use]
    pub const fn is_piecewise(self) -> bool {
        matches!(self, Self::Piecewise)
    }
}

/// The calls that paths may cross (Melski & Reps 1998, §8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// All.
    #[default]
    All,
    /// Calls of functions that call no function of the unit.
    Leaf,
    /// Calls of functions that only their own source file can name.
    File,
    /// Calls within a module.
    Local,
}

/// A strategy as users name it: of paths with context, and of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hybrid {
    /// [`Strategy::Leaf`].
    Leaf,
    /// [`Strategy::File`].
    File,
    /// [`Strategy::Local`].
    Local,
    /// All calls, as long as the unit has no more paths than this.
    Budget(u64),
}

impl Hybrid {
    /// What a name may be.
    pub const NAMES: &str = "leaf, file, local or budget=N";
}

impl FromStr for Hybrid {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Ok(match name {
            "leaf" => Self::Leaf,
            "file" => Self::File,
            "local" => Self::Local,
            _ => {
                let budget = name.strip_prefix("budget=").and_then(|number| number.parse().ok());
                Self::Budget(budget.filter(|budget| (1..=MOST_PATHS).contains(budget)).ok_or(())?)
            }
        })
    }
}

impl fmt::Display for Hybrid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf => f.write_str("leaf"),
            Self::File => f.write_str("file"),
            Self::Local => f.write_str("local"),
            Self::Budget(budget) => write!(f, "budget={budget}"),
        }
    }
}

impl From<Hybrid> for IpathOptions {
    fn from(hybrid: Hybrid) -> Self {
        let strategy = match hybrid {
            Hybrid::Leaf => Strategy::Leaf,
            Hybrid::File => Strategy::File,
            Hybrid::Local => Strategy::Local,
            Hybrid::Budget(budget) => return Self { budget, function: budget, descents: 0, ..Self::default() },
        };
        Self { strategy, descents: 0, ..Self::default() }
    }
}

/// What the user may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpathOptions {
    /// The calls that paths may cross.
    pub strategy: Strategy,
    /// The most paths of the unit; further calls are cut.
    pub budget: u64,
    /// The most paths through a function and its callees, where that can be.
    pub function: u64,
    /// The most paths of the unit where they descend by calls that they do not cross ([`AtCall::Descend`]); 0: they
    /// never do.
    pub descents: u64,
    /// The most paths that are counted in words of the slab.
    pub array: u64,
    /// What is added up along paths.
    pub metric: PathMetric,
}

impl Default for IpathOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::All,
            budget: MOST_PATHS,
            function: MOST_OF_FUNCTION,
            descents: MOST_PATHS,
            array: ARRAY,
            metric: PathMetric::Count,
        }
    }
}

/// How the activations of a function begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Entry {
    /// The function has no probes.
    #[default]
    Unmeasured,
    /// Each begins a path.
    Alone,
    /// With what the caller says. That may be a path that begins there, if some call is not crossed.
    Called {
        /// Some call of it is not crossed ([`AtCall::Begin`]).
        cut: bool,
    },
    /// With what the caller says, if it says anything to this function ([`ADDRESSEE`]); else each begins a path. So it
    /// is where code that we don't see may call it, too.
    Open,
}

impl Entry {
    /// May activations go on with a path of their caller?
    #[must_use]
    pub const fn is_called(self) -> bool {
        matches!(self, Self::Called { .. } | Self::Open)
    }

    /// May activations begin a path?
    #[must_use]
    pub const fn begins(self) -> bool {
        matches!(self, Self::Alone | Self::Called { cut: true } | Self::Open)
    }
}

id!(
    /// A group of functions that calls through pointers may lead to ([`super::groups`]).
    pub GroupId,
    "group"
);

/// Whose paths have the path up to a call as their context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// This function has these paths.
    Function(FunctionId),
    /// Whichever function of the group the call enters has these paths.
    Group(GroupId),
}

/// What becomes of the path at a call. It runs on past calls of which nothing is said: no activation ends in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtCall {
    /// The path goes on in the callee, and comes back from there.
    Cross(FunctionId),
    /// The path up to the call is the context of the callee's paths, which end there at the latest where the callee
    /// returns. The caller's path runs on past the call.
    Descend(FunctionId),
    /// A call through a pointer. If it enters a function of the group, the path up to the call is the context of the
    /// paths of that function, as with [`Self::Descend`]; any other function begins a path by itself. The caller's path
    /// runs on past the call.
    Reach(GroupId),
    /// The path runs on past the call (a summary edge: Melski & Reps 1998, §3.2, Transformation 3). The caller has the
    /// callee, which all other calls cross into, begin a path of its own.
    Begin(FunctionId),
    /// The path runs on past the call, in which its activation may end. The callee begins a path by itself, if it has
    /// any.
    Pass,
    /// The path ends before the call, and another one begins each time that the call returns.
    Cut,
}

impl AtCall {
    /// The callee that goes on with what its caller says, where there is but one.
    #[must_use]
    pub const fn callee(self) -> Option<FunctionId> {
        match self {
            Self::Cross(callee) | Self::Descend(callee) | Self::Begin(callee) => Some(callee),
            Self::Reach(_) | Self::Pass | Self::Cut => None,
        }
    }

    /// Whose paths know how they were called.
    #[must_use]
    pub const fn entered(self) -> Option<Target> {
        match self {
            Self::Cross(callee) | Self::Descend(callee) => Some(Target::Function(callee)),
            Self::Reach(group) => Some(Target::Group(group)),
            Self::Begin(_) | Self::Pass | Self::Cut => None,
        }
    }

    /// Does the caller write the words for its callee?
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Cross(_) | Self::Descend(_) | Self::Begin(_) | Self::Reach(_))
    }

    /// Does the caller's path run on past the call without what the callee does?
    #[must_use]
    pub const fn runs_on(self) -> bool {
        matches!(self, Self::Descend(_) | Self::Reach(_) | Self::Begin(_) | Self::Pass)
    }
}

/// What recovers the counts of one function from those of the unit's paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionKey {
    /// How its activations begin.
    pub entry: Entry,
    /// The edges and blocks at which paths end and begin anew.
    pub cuts: Cuts,
    /// The calls at which something becomes of the path, in order.
    pub calls: Vec<(CallId, AtCall)>,
    /// The paths that begin here have lower numbers than those of functions without this flag.
    pub front: bool,
    /// Callers could say with which path they call it, whether paths cross any call of it or not
    /// ([`Entered`](super::supergraph::Entered)).
    pub enterable: bool,
}

impl FunctionKey {
    /// What becomes of the path at a call, if anything is said of it.
    #[must_use]
    pub fn at(&self, call: CallId) -> Option<AtCall> {
        self.calls.binary_search_by_key(&call, |at| at.0).ok().map(|at| self.calls[at].1)
    }
}

/// The members of each group, by rising number. No function is in two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(pub Vec<Vec<FunctionId>>);

impl Groups {
    /// The members of a group; none if there is no such group.
    #[must_use]
    pub fn members(&self, group: GroupId) -> &[FunctionId] {
        self.0.get(group.index()).map_or(&[], Vec::as_slice)
    }

    /// The functions that a target stands for.
    pub fn functions(&self, target: Target) -> impl Iterator<Item = FunctionId> + use<'_> {
        let (one, several) = match target {
            Target::Function(callee) => (Some(callee), &[][..]),
            Target::Group(group) => (None, self.members(group)),
        };
        one.into_iter().chain(several.iter().copied())
    }

    /// The functions that a call may enter whose paths know how they were called.
    pub fn targets(&self, at: AtCall) -> impl Iterator<Item = FunctionId> + use<'_> {
        at.entered().into_iter().flat_map(|target| self.functions(target))
    }
}

/// What recovers the counts of a unit from those of its paths.
#[derive(Clone, Debug)]
pub struct Keys<'a> {
    /// The key of each function.
    pub functions: Vec<&'a FunctionKey>,
    /// The functions that calls through pointers may lead to.
    pub groups: &'a Groups,
}

/// What registers say of the path up to a stretch of a block, while that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoFar {
    /// The path has this number.
    Known(u64),
    /// The path's number is [`Reg::CallPathSum`] and this.
    Sum(i64),
    /// The path's number is [`Reg::CallPathSum`] and `plus`, and [`Reg::Completions`] times the sum of
    /// [`Reg::CallPathFactor`] and `times`.
    Product {
        /// What the sum lacks.
        plus: i64,
        /// What the factor lacks.
        times: i64,
    },
}

impl SoFar {
    /// The number of the path, by what is in registers.
    #[must_use]
    pub fn number(self, register: impl Fn(Reg) -> i64) -> u64 {
        let number = match self {
            Self::Known(number) => return number,
            Self::Sum(plus) => register(Reg::CallPathSum).wrapping_add(plus),
            Self::Product { plus, times } => {
                let factor = register(Reg::CallPathFactor).wrapping_add(times);
                let product = factor.wrapping_mul(register(Reg::Completions));
                register(Reg::CallPathSum).wrapping_add(plus).wrapping_add(product)
            }
        };
        number.cast_unsigned()
    }
}

/// The plan of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpathPlan {
    /// What is applied, in the order in which probes run at each place.
    pub probes: Vec<PlacedProbe>,
    /// What registers say of the path so far, per stretch ([`crate::facts::stretches`]); none where nothing is
    /// measured.
    pub so_far: Vec<SoFar>,
    /// What is kept to recover the profile.
    pub key: FunctionKey,
}

impl<'a> From<&'a IpathPlan> for FunctionPlan<'a> {
    fn from(plan: &'a IpathPlan) -> Self {
        const NONE: &CounterKey = &CounterKey { measures: Vec::new(), fixed: Vec::new() };
        Self::new(&plan.probes, NONE)
    }
}

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitIpathPlan {
    /// The method.
    pub method: IpathMethod,
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`].
    pub functions: Vec<IpathPlan>,
    /// The functions that calls through pointers may lead to.
    pub groups: Groups,
    /// How many paths there are: numbers are below this.
    pub paths: u64,
    /// How many of them, the first, are counted in words of the slab.
    pub array: u64,
    /// What is added up along them.
    pub metric: PathMetric,
}

impl UnitIpathPlan {
    /// The keys of all functions.
    #[must_use]
    pub fn keys(&self) -> Keys<'_> {
        Keys { functions: self.functions.iter().map(|plan| &plan.key).collect(), groups: &self.groups }
    }
}
