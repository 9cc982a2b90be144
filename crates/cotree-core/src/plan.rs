//! Plans: which probes a function gets and what each counter means.

use crate::ids::{Block, Edge};
use crate::method::path::PathPlan;
use crate::probe::PlacedProbe;
use serde::{Deserialize, Serialize};

/// A profiling method (Ball & Larus 1994, §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// No probes: the reference of every overhead figure.
    None,
    /// Edge profile from edge counters, *Eprof(Ecnt)*: counters on the chords of a maximum spanning tree.
    Edge,
    /// The redundant reference: a counter on every block and every edge.
    Block,
    /// Vertex profile from vertex counters, *Vprof(Vcnt)* (Knuth & Stevenson 1973).
    Vertex,
    /// Vertex profile from edge counters, *Vprof(Ecnt)* (Ball & Larus 1994, Fig. 11).
    VertexEdge,
    /// Path profile: acyclic paths between backedges (Ball & Larus 1996).
    Path,
    /// Path profile in which each path remembers how its loop was reached (Melski & Reps 1998, §7).
    PathContext,
}

impl Method {
    /// Does it count paths?
    #[must_use]
    pub const fn counts_paths(self) -> bool {
        matches!(self, Self::Path | Self::PathContext)
    }
}

/// What is added up along paths, beside their counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PathMetric {
    /// Nothing: paths are counted, and that is all.
    #[default]
    Count,
    /// What the program reports of itself: how far its thread's total has risen between the beginning and the end of the
    /// path. Exact.
    Events,
    /// The processor's time stamps, from the beginning of the path to its end. Measured.
    Cycles,
}

impl PathMetric {
    /// All of them; files know them by their place here.
    pub const ALL: [Self; 3] = [Self::Count, Self::Events, Self::Cycles];

    /// Its name, as options have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Events => "events",
            Self::Cycles => "cycles",
        }
    }

    /// What is added up.
    #[must_use]
    pub const fn of_what(self) -> &'static str {
        match self {
            Self::Count => "nothing",
            Self::Events => "events",
            Self::Cycles => "cycles",
        }
    }

    /// Its number in files.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The metric of a number in files.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        usize::try_from(number).ok().and_then(|index| Self::ALL.get(index)).copied()
    }

    /// Are there sums beside the counts?
    #[must_use]
    pub const fn is_summed(self) -> bool {
        !matches!(self, Self::Count)
    }
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Traversals of the edge (for an edge to EXIT: executions of that terminator).
    Edge(Edge),
    /// Entries into the block, whether or not it was left by one of its edges.
    Block(Block),
}

/// The plan of one function. Counters are numbered from 0 within the function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionPlan {
    /// Probes in the order in which they run at each place.
    pub probes: Vec<PlacedProbe>,
    /// What counter number `i` means.
    pub measures: Vec<Measure>,
    /// Edges that need no counter, those of outer loops first.
    #[serde(skip)]
    pub fixed: Vec<FixedEdge>,
}

/// An edge that runs so many times for each time that another one does: the backedge of a loop that always goes around
/// equally often, and the edge by which that loop is left ([`crate::affine::fixed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedEdge {
    /// The edge that needs no counter.
    pub edge: Edge,
    /// How often it runs each time that the other one does.
    pub times: u64,
    /// The other one.
    pub of: Edge,
    /// In how many loops of the kind this one lies, less than [`MOST_FIXED_DEPTH`].
    pub depth: u32,
}

/// How deep loops that always go around equally often may be nested, for recovery takes a turn for each depth. Those deeper
/// within are loops like any other.
pub const MOST_FIXED_DEPTH: u32 = 8;

/// The most paths of a function whose table is an array, unless the user says otherwise.
pub const PATH_ARRAY: u64 = 1024;
/// The most that the user may say.
pub const MOST_PATH_ARRAY: u64 = 1 << 22;

/// Buckets of a hash table that each function knows by heart (a power of two): an interpreter's loop goes back and forth
/// between some dozens of paths.
pub const PATH_CACHE: u64 = 4096;

/// One place from which a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallPoint {
    /// The caller, by its place in [`crate::facts::ProgramMap::functions`].
    pub function: u32,
    /// The block that calls.
    pub block: Block,
    /// How many call sites of the block come before the call: it runs only if those calls return.
    pub after_sites: u32,
}

/// A function whose activations are not counted: they are what its callers' call points add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivedEntry {
    /// The function, by its place in [`crate::facts::ProgramMap::functions`].
    pub function: u32,
    /// Everything that calls it, in order; a point with several calls is listed as often.
    pub calls: Vec<CallPoint>,
}

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitPlan {
    /// The method.
    pub method: Method,
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`]; untouched functions have an empty plan.
    /// Empty where paths are counted: then the plans are parts of `paths`. See [`Self::plan`].
    pub functions: Vec<FunctionPlan>,
    /// The functions whose entries follow from their callers' counts ([`crate::supergraph`]), by rising number.
    pub entries: Vec<DerivedEntry>,
    /// One per function if the method counts paths, else empty.
    pub paths: Vec<PathPlan>,
    /// A function with no more paths than this counts them in an array, others in a hash table but for their windows.
    pub path_array: u64,
    /// What is added up along paths.
    pub path_metric: PathMetric,
    /// With `--verify`: the plans of [`Method::Block`] that the same run carries; their counters follow all of the above.
    pub check: Option<Vec<FunctionPlan>>,
}

/// Where the paths of one function are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathTable {
    /// It has no paths.
    None,
    /// In the slab, path number *n* at `base + n`.
    Array {
        /// The first word. Where a metric is added up, the sum of path *n* follows all counts, at `base + paths + n`.
        base: u64,
    },
    /// In the hash table of the process, but for the windows of its plan.
    Hashed {
        /// The number of the function in the unit.
        function: u64,
        /// The first of [`PATH_CACHE`] words of the slab that keep the addresses of buckets counted lately.
        cache: u64,
        /// The first word of its windows: one per path, window by window. The sums of a metric follow in the same order.
        windows: u64,
    },
}

/// Where everything lies in a slab of 64-bit words.
///
/// First the counters of the method, then those of the reference, then the arrays of paths and the windows of paths in hash
/// tables, those that are to lie behind others last ([`PathPlan::behind`]): these are counters of the profile.
/// After them [`PATH_CACHE`] words for each function that counts paths in the hash table, which are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Per function, where the counters of its plan begin.
    pub main: Vec<u64>,
    /// Per function, where the counters of its reference plan begin; empty without a reference.
    pub check: Vec<u64>,
    /// Per function, where its paths are counted; empty if the method counts none.
    pub tables: Vec<PathTable>,
    /// How many counters there are.
    pub counter_count: u64,
    /// The first of them that counts paths; all others do from there on.
    pub path_words: u64,
    /// How many cache words follow them.
    pub cache_count: u64,
}

impl UnitPlan {
    /// A unit in which no paths are counted.
    #[must_use]
    pub fn of_counters(method: Method, functions: Vec<FunctionPlan>, check: Option<Vec<FunctionPlan>>) -> Self {
        Self {
            method,
            functions,
            entries: Vec::new(),
            paths: Vec::new(),
            path_array: PATH_ARRAY,
            path_metric: PathMetric::Count,
            check,
        }
    }

    /// The plans of all functions, those of self-loops where paths are counted.
    pub fn plans(&self) -> impl Iterator<Item = &FunctionPlan> {
        self.functions.iter().chain(self.paths.iter().map(|p| &p.plan))
    }

    /// The plan of one function by its number; `None` if there is no such function.
    #[must_use]
    pub fn plan(&self, function: usize) -> Option<&FunctionPlan> {
        if self.method.counts_paths() {
            self.paths.get(function).map(|p| &p.plan)
        } else {
            self.functions.get(function)
        }
    }

    /// Where everything lies.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let mut next = 0u64;
        let mut take = |words: u64| {
            let base = next;
            next = next.saturating_add(words);
            base
        };
        let main = self.plans().map(|plan| take(plan.measures.len() as u64)).collect();
        let check = self.check.iter().flatten().map(|plan| take(plan.measures.len() as u64)).collect();
        let path_words = take(0);
        let mut hashed = 0u64;
        let words_each = 1 + u64::from(self.path_metric.is_summed());
        let mut table = |(function, plan): (u64, &PathPlan)| match plan.paths {
            0 => PathTable::None,
            paths if plan.in_array(self.path_array) => {
                PathTable::Array { base: take(paths.saturating_mul(words_each)) }
            }
            _ => {
                hashed += 1;
                let windows = take(plan.words_of_windows().saturating_mul(words_each));
                PathTable::Hashed { function, cache: (hashed - 1) * PATH_CACHE, windows }
            }
        };
        let (behind, front): (Vec<_>, Vec<_>) = (0..).zip(&self.paths).partition(|(_, plan)| plan.behind);
        let mut tables: Vec<PathTable> = vec![PathTable::None; self.paths.len()];
        for (at, plan) in front.into_iter().chain(behind) {
            tables[at] = table((at as u64, plan));
        }
        for table in &mut tables {
            if let PathTable::Hashed { cache, .. } = table {
                *cache = cache.saturating_add(next);
            }
        }
        Layout { main, check, tables, counter_count: next, path_words, cache_count: hashed * PATH_CACHE }
    }
}
