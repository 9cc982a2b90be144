//! The declaration of every option.
//!
//! A field is an option: its documentation is the help and the entry in docs/options.md, its name without `-` makes the
//! environment variable. `None` means that nothing was asked for; the default is known to whoever reads the option. An
//! option that changes nothing in some builds has a line of [`SCOPES`] besides, and one that is about some methods a
//! line of [`OF_METHODS`].

use crate::scope::{OfMethods, Scope, WithoutCounters};
use crate::values::{Detail, Profile, ProfileParser, absolute, ring_size, switch};
use clap::{Args, ValueEnum, value_parser};
use cotree_core::facts::Accesses;
use cotree_core::facts::events::EventKind;
use cotree_core::method::path::{self, MOST_PATH_ARRAY, MOST_PATHS};
use cotree_core::method::{Entry, Family, Method, trace};
use cotree_core::place::spanning::Extreme;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Heading of options that are about profiles that exist already.
pub(crate) const REUSE: &str = "Check a profile, or build with one";
/// Heading of options that only some methods have.
pub(crate) const ONE_METHOD: &str = "For some profiles only";
/// Heading of options that change the cost of counting and no count.
pub(crate) const EXPERT: &str = "For experts: where probes go";
/// Heading of options that are for tests and measurements of cotree itself.
pub(crate) const TESTS: &str = "For tests of cotree itself";

/// Options of builds. They stand before the subcommand.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[command(next_help_heading = "What to measure")]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildOptions {
    /// What to count [default: edge]
    #[arg(long, value_parser = ProfileParser, value_name = "METHOD")]
    pub profile: Option<Profile>,
    /// Carry redundant counters too, and check the profile against them
    ///
    /// These counters are those of `--profile block`. `cotree verify` then checks the run against itself: blocks and
    /// edges, of event counts the totals, of call profiles each call.
    #[arg(long, help_heading = REUSE, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub verify: Option<bool>,
    /// With counters of blocks and edges: also count which functions each call through a pointer reaches (cotree
    /// report --targets). The method events-calls does so unless it is off
    #[arg(long, hide_short_help = true, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub targets: Option<bool>,
    /// Keep the compiler's coverage map, and count what its regions need, before anything is inlined
    ///
    /// The map says what of the source could have run, functions too that nothing calls. `cotree coverage` shows it,
    /// and `cotree export --format llvm-profdata` tells its counters to llvm-cov. See docs/coverage.md.
    #[arg(long, hide_short_help = true, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub coverage: Option<bool>,
    /// With --coverage: count, for each decision of several conditions, how often it was made by which outcomes of them
    /// (MC/DC)
    ///
    /// `cotree coverage --show-mcdc` shows per condition whether two outcomes of the decision show that it decides by
    /// itself. C and C++ need clang 19 or newer. See docs/coverage.md.
    #[arg(long, hide_short_help = true, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub mcdc: Option<bool>,
    /// Count what `--use` needs, where it needs it: as --at early --targets, or of Rust --at inlined --targets
    ///
    /// See docs/pgo.md. `--at` and `--targets` beside it win.
    #[arg(long, help_heading = REUSE, hide_short_help = true, value_parser = switch(), value_name = "on|off",
        num_args = 0..=1, require_equals = true, default_missing_value = "on")]
    pub for_pgo: Option<bool>,
    /// A profile, or a folder of them, that says where counters are cheap
    ///
    /// The profile guides the optimiser, too, as with `--use`.
    #[arg(long, help_heading = REUSE, value_parser = absolute, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Count nothing, and optimise by a profile, or a folder of them (PGO)
    #[arg(long = "use", help_heading = REUSE, value_parser = absolute, value_name = "FILE")]
    #[serde(rename = "use")]
    pub use_profile: Option<PathBuf>,
    /// Where the program writes its profile if COTREE_FILE is not set when it runs: a pattern of the same form
    /// [default: %n.%p.cotree]
    ///
    /// For processes that are started without their caller's environment. Processes with more rights than their caller
    /// (setuid) ignore COTREE_FILE, and only write a profile if they are built with this option. A relative path starts
    /// at the folder where the build is started.
    #[arg(long, hide_short_help = true, value_parser = absolute, value_name = "PATTERN")]
    pub profile_file: Option<PathBuf>,
    /// Count after the compiler's inlining (late), before it (early), or behind that of small functions (inlined)
    /// [default: late]
    ///
    /// `late` counts the code that the compiler's own simplifications have left. `early` counts the code as the source
    /// has it, which costs more. `inlined` is where clang counts for its own PGO: behind a first inlining, and before
    /// all that a profile can guide. Builds with --use are told counts where the profile was counted.
    #[arg(long, value_enum, value_name = "WHEN", hide_possible_values = true)]
    pub at: Option<At>,
    /// Optimise all modules together (on), or each by itself (off) [default: as the build asks]
    ///
    /// Clang asks for it with -flto at the link, cargo with `lto` in its profile. Probes are put in before modules are
    /// joined, so the counts are the same.
    #[arg(long, value_parser = switch(), value_name = "on|off")]
    pub lto: Option<bool>,
    /// Measure only functions whose names match PATTERN
    ///
    /// `*` matches any text, `?` any character. May be repeated.
    #[arg(long, value_delimiter = ';', value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Leave out functions whose names match PATTERN
    #[arg(long, value_delimiter = ';', value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Leave out functions from source files that match PATTERN
    #[arg(long, value_delimiter = ';', value_name = "PATTERN")]
    pub exclude_file: Vec<String>,
    /// Give each thread its own counters: auto (as the program needs), on or off [default: auto]
    ///
    /// `word` is `on` for programs that use the GS register themselves. `off` is for programs that never start a
    /// thread.
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true)]
    pub threads: Option<Threads>,
    /// Let a run count a part of what it does (`cotree stat --from`, `--to`)
    ///
    /// Each function is counted by itself, as with --interprocedural-flow off.
    #[arg(long, value_parser = switch(), value_name = "on|off", num_args = 0..=1, require_equals = true,
        default_missing_value = "on", hide_short_help = true)]
    pub parts: Option<bool>,
    /// A file that says what instructions cost, by opcode, callee, function or line: a kind of event of your own, such
    /// as fuel (docs/events.md)
    #[arg(long, help_heading = ONE_METHOD, value_parser = absolute, value_name = "FILE")]
    pub event_costs: Option<PathBuf>,
    /// With event counts: let the program set a limit, and be stopped or called back when that is reached
    ///
    /// The program sets limits with `cotree_event_limit` of cotree.h.
    #[arg(long, help_heading = ONE_METHOD, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub event_limit: Option<bool>,
    /// With path profiles: what to add up for each path besides its count [default: count]
    #[arg(long, value_enum, help_heading = ONE_METHOD)]
    pub path_metric: Option<PathMetric>,
    /// With path profiles and -g: have debug information tell which path was under way at a fault (SIGSEGV, SIGFPE, …)
    ///
    /// `cotree paths --pending` shows it.
    #[arg(long, help_heading = ONE_METHOD, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub fault_paths: Option<bool>,
    /// With traces: keep only the newest part, SIZE for all threads together, such as 64M [default: keep everything]
    #[arg(long, help_heading = ONE_METHOD, value_parser = ring_size, value_name = "SIZE")]
    pub trace_ring: Option<u64>,
    /// With traces: record nothing in a thread until it calls cotree_trace_start (cotree.h)
    #[arg(long, help_heading = ONE_METHOD, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub trace_off: Option<bool>,
    /// With traces: record when each function that calls others begins, by the processor's time stamp counter
    #[arg(long, help_heading = ONE_METHOD, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub trace_time: Option<bool>,
    /// With traces: record the addresses that loads, stores or both access
    #[arg(long, value_enum, help_heading = ONE_METHOD)]
    pub trace_addresses: Option<TraceAddresses>,
    /// Put counters where code is expected to run rarely (max), or often, to see what max saves (min) [default: max]
    #[arg(long, value_enum, help_heading = EXPERT)]
    pub spanning_tree: Option<SpanningTree>,
    /// Use loop variables in place of counters where these would count the same (on), or never (off) [default: on]
    ///
    /// In path profiles this only concerns loops of a single block.
    #[arg(long, value_parser = switch(), value_name = "on|off", help_heading = EXPERT)]
    pub affine: Option<bool>,
    /// Keep counters of tight loops in registers while the loops run (on), or in memory at all times (off) [default:
    /// on]
    ///
    /// With both this and --affine off, every count is in memory at all times, even when the process is killed.
    #[arg(long, value_parser = switch(), value_name = "on|off", help_heading = EXPERT)]
    pub promote: Option<bool>,
    /// Where counters are few: move those that are expected to run rarely out of line (on), or leave the layout of code
    /// to the code generator (off) [default: on]
    ///
    /// `cotree instrument` generates no code, so it ignores this option. Counts are the same either way.
    #[arg(long, value_parser = switch(), value_name = "on|off", help_heading = EXPERT)]
    pub branch_hints: Option<bool>,
    /// Where all callers of a function are known, derive its entries from them (on), or count its entries, too (off)
    /// [default: on]
    #[arg(long, value_parser = switch(), value_name = "on|off", help_heading = EXPERT)]
    pub interprocedural_flow: Option<bool>,
    /// With path profiles: count at most this many paths of a function in an array, and its other paths in a hash
    /// table, which takes longer [default: 1024]
    #[arg(long, help_heading = EXPERT, value_name = "PATHS", value_parser = value_parser!(u64).range(..=MOST_PATH_ARRAY))]
    pub path_array: Option<u64>,
    /// With path profiles: cut paths shorter in functions that would have more than this [default: 9223372036854775807]
    #[arg(long, help_heading = EXPERT, value_name = "PATHS", value_parser = value_parser!(u64).range(1..=MOST_PATHS))]
    pub path_limit: Option<u64>,
    /// With traces: how records say which path was taken; auto takes the cheapest encoding of each function
    #[arg(long, value_enum, help_heading = EXPERT)]
    pub trace_by: Option<TraceBy>,
    /// With event counts: additions at chords of a spanning tree, or in every block
    #[arg(long, value_enum, help_heading = TESTS)]
    pub event_placement: Option<EventPlacement>,
    /// With event counts: keep the counts that a program asks for exact, also in code that is seen to ask for none, as
    /// that of a library
    #[arg(long, help_heading = EXPERT, value_parser = switch(), value_name = "on|off", num_args = 0..=1,
        require_equals = true, default_missing_value = "on")]
    pub event_queries: Option<bool>,
    /// With traces: a record per segment, or per branch
    #[arg(long, value_enum, help_heading = TESTS)]
    pub trace_placement: Option<TracePlacement>,
    /// Where path registers are at calls: in registers where the code generator can do that, or on the stack
    #[arg(long, value_enum, help_heading = TESTS)]
    pub carry: Option<Carry>,
}

type Of = Scope<BuildOptions>;

/// The options that change nothing in some builds, in the order in which they are told.
pub(crate) const SCOPES: &[Of] = &[
    Of::counts("verify", |o| o.verify == Some(true)),
    Of::counts("targets", |o| o.targets == Some(true)),
    Of::some("for-pgo", |o| o.for_pgo == Some(true), |_, method| method == Method::Edge).of_counts(),
    Of::counts("coverage", |o| o.coverage == Some(true)),
    Of::counts("mcdc", |o| o.mcdc == Some(true)),
    Of::counts("include", |o| !o.include.is_empty()),
    Of::counts("exclude", |o| !o.exclude.is_empty()),
    Of::counts("exclude-file", |o| !o.exclude_file.is_empty()),
    Of::counts("threads", |o| o.threads.unwrap_or_default() != Threads::Auto),
    Of::counts("parts", |o| o.parts == Some(true)),
    Of::counts("weights", |o| o.weights.is_some()),
    Of::counts("event-placement", |o| o.event_placement == Some(EventPlacement::Blocks)),
    Of::counts("event-queries", |o| o.event_queries == Some(true)),
    Of::counts("profile-file", |o| o.profile_file.is_some()),
    Of::some("event-costs", |o| o.event_costs.is_some(), BuildOptions::tells_costs).of_counts(),
    Of::counts("path-array", |o| o.path_array.is_some()),
    Of::counts("path-limit", |o| o.path_limit.is_some()),
    Of::counts("fault-paths", |o| o.fault_paths == Some(true)).of_compiling(),
    Of::some("spanning-tree", |o| o.spanning_tree.is_some(), |_, method| method == Method::Edge),
    Of::some(
        "affine",
        |o| o.affine.is_some(),
        |o, method| o.saves(method) || matches!(method.family(), Family::Paths(_)),
    ),
    Of::some(
        "promote",
        |o| o.promote.is_some(),
        |o, method| matches!(method.family(), Family::Counters(_)) && o.saves(method),
    ),
    Of::some(
        "carry",
        |o| o.carry == Some(Carry::Stack),
        |_, method| matches!(method.family(), Family::Paths(_) | Family::Ipath(_)),
    )
    .of_compiling(),
    Of::some("lto", |o| o.lto.is_some(), |_, _| true).of_compiling(),
    Of::some("branch-hints", |o| o.branch_hints.is_some(), |o, method| o.saves(method) && !o.early()).of_compiling(),
    Of::some(
        "interprocedural-flow",
        |o| o.interprocedural_flow.is_some(),
        |o, method| match method.family() {
            Family::Counters(_) => o.saves(method),
            Family::Events(_) => o.event_placement != Some(EventPlacement::Blocks),
            _ => false,
        },
    ),
];

/// The options that are about some methods only, in the order in which they are checked.
pub(crate) const OF_METHODS: &[OfMethods<BuildOptions>] = &[
    OfMethods::traces("trace-by", |o| o.trace_by.unwrap_or_default() != TraceBy::Auto),
    OfMethods::traces("trace-off", |o| o.trace_off == Some(true)),
    OfMethods::traces("trace-ring", |o| o.trace_ring.is_some()),
    OfMethods::traces("trace-time", |o| o.trace_time == Some(true)),
    OfMethods::traces("trace-addresses", |o| o.trace_addresses.is_some()),
    OfMethods::traces("trace-placement", |o| o.trace_placement == Some(TracePlacement::Branches)),
    OfMethods {
        option: "event-limit",
        asked: |o| o.event_limit == Some(true),
        methods: |entry| entry.method == Method::Events,
        what: "is about events",
        also: WithoutCounters::Plain,
    },
    OfMethods::counts("path-array", |o| o.path_array.is_some(), of_paths, "is about path profiles"),
    OfMethods::counts("path-limit", |o| o.path_limit.is_some(), of_paths, "is about path profiles"),
    OfMethods::counts("fault-paths", |o| o.fault_paths == Some(true), of_all_paths, "is about path profiles"),
    OfMethods::counts(
        "event-placement",
        |o| o.event_placement == Some(EventPlacement::Blocks),
        of_events,
        "is about events",
    ),
    OfMethods::counts("event-queries", |o| o.event_queries == Some(true), of_events, "is about events"),
];

fn of_paths(entry: &Entry) -> bool {
    matches!(entry.family, Family::Paths(_))
}

fn of_all_paths(entry: &Entry) -> bool {
    matches!(entry.family, Family::Paths(_) | Family::Ipath(_))
}

fn of_events(entry: &Entry) -> bool {
    matches!(entry.family, Family::Events(_))
}

impl BuildOptions {
    /// Are counters saved by the method and by where they stand?
    fn saves(&self, method: Method) -> bool {
        method.entry().saves_counters && self.spanning_tree != Some(SpanningTree::Min)
    }

    /// Does anybody ask what instructions cost?
    fn tells_costs(&self, method: Method) -> bool {
        let counted = matches!(self.profile, Some(Profile(_, Detail::Kinds(kinds))) if kinds.contains(EventKind::Cost));
        method.entry().promises.blocks || method == Method::Trace || counted
    }
}

/// `--at`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// Before any optimisation
    Early,
    /// Before any optimisation but that small functions are inlined
    Inlined,
    /// After the compiler's simplifications, before the link's optimisations
    Late,
}

impl At {
    /// The value of the option.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Inlined => "inlined",
            Self::Late => "late",
        }
    }

    /// The place that a value of the option names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|at| at.name() == name)
    }
}

/// `--threads`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threads {
    /// As the program needs
    #[default]
    Auto,
    /// Always
    On,
    /// Always, for programs that use the GS register themselves
    Word,
    /// Never
    Off,
}

/// `--spanning-tree`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanningTree {
    /// Maximum: counters in cold places
    Max,
    /// Minimum: counters in hot places
    Min,
}

impl From<SpanningTree> for Extreme {
    fn from(tree: SpanningTree) -> Self {
        match tree {
            SpanningTree::Max => Self::Maximum,
            SpanningTree::Min => Self::Minimum,
        }
    }
}

/// `--trace-by`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceBy {
    /// The cheapest of these
    #[default]
    Auto,
    /// A number for each path between two calls or turns of a loop
    Paths,
    /// As few bits for each branch as it needs, in bytes that all functions share
    Bits,
    /// A byte for each witness, on edges off a spanning tree
    Witness,
}

impl From<TraceBy> for trace::TraceBy {
    fn from(by: TraceBy) -> Self {
        match by {
            TraceBy::Auto => Self::Auto,
            TraceBy::Paths => Self::Only(trace::Encoding::Paths),
            TraceBy::Bits => Self::Only(trace::Encoding::EachBranch),
            TraceBy::Witness => Self::Only(trace::Encoding::EachWitness),
        }
    }
}

/// `--trace-addresses`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceAddresses {
    /// Addresses that are read
    Loads,
    /// Addresses that are written
    Stores,
    /// Both
    All,
}

impl From<TraceAddresses> for Accesses {
    fn from(addresses: TraceAddresses) -> Self {
        match addresses {
            TraceAddresses::Loads => Self::Loads,
            TraceAddresses::Stores => Self::Stores,
            TraceAddresses::All => Self::All,
        }
    }
}

/// `--path-metric`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathMetric {
    /// Nothing
    #[default]
    Count,
    /// What the program reports with `cotree_events` (cotree.h) from the beginning of the path to its end, exactly
    Events,
    /// The time from the beginning of the path to its end, as the processor's time stamp counter measures it
    Cycles,
}

impl From<PathMetric> for path::PathMetric {
    fn from(metric: PathMetric) -> Self {
        match metric {
            PathMetric::Count => Self::Count,
            PathMetric::Events => Self::Events,
            PathMetric::Cycles => Self::Cycles,
        }
    }
}

/// `--event-placement`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventPlacement {
    /// On the chords of a spanning tree
    Chords,
    /// In every block
    Blocks,
}

/// `--trace-placement`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracePlacement {
    /// One record for the path between two calls or turns of a loop
    Segments,
    /// One record per branch
    Branches,
}

/// `--carry`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carry {
    /// In registers
    Registers,
    /// On the stack
    Stack,
}
