//! The options of the instrumentation, and how they travel from the command line to the worker.
//!
//! Options are command line flags, environment variables (`COTREE_…`, by which `cotree cc` also passes them
//! to the linker that clang starts) and `-plugin-opt=cotree-…` values for the worker.

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};
use cotree_core::facts::events::EventKind;
use cotree_core::method::events::EventKinds;
use cotree_core::method::ipath::Hybrid;
use cotree_core::method::path::{self, MOST_PATH_ARRAY, MOST_PATHS};
use cotree_core::method::{Entry, Family, METHODS, Method};
use cotree_llvm::extract::CostFile;
use miette::IntoDiagnostic;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// Headings of options in the help. Those of the first two are all that most people need.
const REUSE: &str = "Check a profile, or build by one";
const ONE_METHOD: &str = "Of some profiles only";
const EXPERT: &str = "For experts: where probes go, to see what it saves";

/// Options of the instrumentation. They stand before the subcommand.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "What to measure")]
pub struct InstrumentOptions {
    /// What to count [default: edge]
    #[arg(long, value_parser = ProfileParser, env = "COTREE_PROFILE", hide_env = true, value_name = "METHOD")]
    pub profile: Option<Profile>,
    /// Carry redundant counters too, and check the profile against them
    #[arg(
        long,
        env = "COTREE_VERIFY", help_heading = REUSE,
        hide_env = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        value_name = "yes|no"
    )]
    pub verify: Option<bool>,
    /// With counters of blocks and edges: count whom each call through a pointer leads to, too (cotree report
    /// --targets)
    #[arg(
        long,
        env = "COTREE_TARGETS",
        hide_short_help = true,
        hide_env = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        value_name = "yes|no"
    )]
    pub targets: Option<bool>,
    /// A profile of earlier runs (or a folder), which shows where counters are cheap
    #[arg(long, env = "COTREE_WEIGHTS", help_heading = REUSE, hide_env = true, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Count nothing, and compile by the counts of earlier runs, of a profile or a folder of some (PGO)
    #[arg(long = "use", env = "COTREE_USE", help_heading = REUSE, hide_env = true, value_name = "FILE")]
    pub use_profile: Option<PathBuf>,
    /// Build in where profiles go, as a pattern like that of COTREE_FILE, which holds where that is not set [default:
    /// %n.%p.cotree]
    ///
    /// For processes that are started without their caller's environment, and for those with more rights than their
    /// caller, which write no profile otherwise. A relative path is one of the folder where the build is started.
    #[arg(long, env = "COTREE_PROFILE_FILE", hide_short_help = true, hide_env = true, value_name = "PATTERN")]
    pub profile_file: Option<PathBuf>,
    /// Count after the compiler's inlining (late), or before it (early) [default: late]
    ///
    /// `late` is after the compiler's own simplifications, too. `early` is exact in terms of the source, but costs
    /// more.
    #[arg(long, value_enum, env = "COTREE_AT", hide_env = true, value_name = "WHEN", hide_possible_values = true)]
    pub at: Option<At>,
    /// Optimise modules as one (on), or each by itself (off) [default: as clang is told]
    ///
    /// Clang is told by -flto where it links, cargo by the `lto` of its profile.
    #[arg(long, value_enum, env = "COTREE_LTO", hide_env = true, value_name = "HOW", hide_possible_values = true)]
    pub lto: Option<Lto>,
    /// Measure only functions of such names (`*` and `?` match any)
    ///
    /// May be repeated.
    #[arg(long, env = "COTREE_INCLUDE", hide_env = true, value_delimiter = ';', value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Leave out functions of such names
    #[arg(long, env = "COTREE_EXCLUDE", hide_env = true, value_delimiter = ';', value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Leave out functions of such source files
    #[arg(long, env = "COTREE_EXCLUDE_FILE", hide_env = true, value_delimiter = ';', value_name = "PATTERN")]
    pub exclude_file: Vec<String>,
    /// Counters per thread: auto (as the program needs), on or off [default: auto]
    ///
    /// `word` means always, too, for programs that use the GS register themselves. `off` is for programs of one thread.
    #[arg(long, value_enum, env = "COTREE_THREADS", hide_env = true, value_name = "HOW", hide_possible_values = true)]
    pub threads: Option<Threads>,
    /// With paths across functions: let each call keep the path that led to it, so that `cotree paths --pending` can
    /// tell them after a crash (on); costs some instructions [default: off]
    #[arg(long, value_enum, env = "COTREE_PENDING", help_heading = ONE_METHOD, hide_short_help = true, hide_env = true)]
    pub pending: Option<Pending>,
    /// What instructions cost, by opcode, callee, function or line (docs/events.md): a kind of events of one's own,
    /// such as fuel
    #[arg(long, env = "COTREE_EVENT_COSTS", help_heading = ONE_METHOD, hide_short_help = true, hide_env = true, value_name = "FILE")]
    pub event_costs: Option<PathBuf>,
    /// With event counts: put in safe points, at which limits strike that the program sets (cotree_event_limit of
    /// cotree.h)
    #[arg(
        long,
        env = "COTREE_EVENT_LIMIT",
        help_heading = ONE_METHOD,
        hide_short_help = true,
        hide_env = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        value_name = "yes|no"
    )]
    pub event_limit: Option<bool>,
    /// With path profiles: what each path adds up beside its count [default: count]
    #[arg(long, value_enum, env = "COTREE_PATH_METRIC", help_heading = ONE_METHOD, hide_short_help = true, hide_env = true)]
    pub path_metric: Option<PathMetric>,
    /// With traces: keep only the newest part, of this size in all threads together (64M, say) [default: all of it]
    #[arg(long, env = "COTREE_TRACE_RING", help_heading = ONE_METHOD, hide_short_help = true, hide_env = true, value_name = "SIZE")]
    pub trace_ring: Option<String>,
    /// With traces: threads record nothing before they call cotree_trace_start (cotree.h)
    #[arg(
        long,
        env = "COTREE_TRACE_OFF", help_heading = ONE_METHOD, hide_short_help = true,
        hide_env = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        value_name = "yes|no"
    )]
    pub trace_off: Option<bool>,
    /// With traces: functions that call others say at what time they begin, by the processor's time stamp counter
    #[arg(
        long,
        env = "COTREE_TRACE_TIME", help_heading = ONE_METHOD, hide_short_help = true,
        hide_env = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        value_name = "yes|no"
    )]
    pub trace_time: Option<bool>,
    /// With traces: tell the addresses that loads, stores or both access
    #[arg(long, value_enum, env = "COTREE_TRACE_ADDRESSES", help_heading = ONE_METHOD, hide_short_help = true, hide_env = true)]
    pub trace_addresses: Option<TraceAddresses>,
    /// Put counters where code is expected to run rarely (max) or, to see what that saves, often (min) [default: max]
    #[arg(long, value_enum, env = "COTREE_SPANNING_TREE", help_heading = EXPERT, hide_short_help = true, hide_env = true)]
    pub spanning_tree: Option<SpanningTree>,
    /// Let loop variables count in place of counters where they can (on), or never (off) [default: on]
    #[arg(long, value_enum, env = "COTREE_AFFINE", help_heading = EXPERT, hide_short_help = true, hide_env = true)]
    pub affine: Option<Affine>,
    /// Keep counters of tight loops in registers while these run (on), or in memory at all times (off) [default: on]
    #[arg(long, value_enum, env = "COTREE_PROMOTE", help_heading = EXPERT, hide_short_help = true, hide_env = true)]
    pub promote: Option<Promote>,
    /// With edge profiles: keep counters that are expected to run rarely out of line (on), or lay out code without such
    /// guesses (off) [default: on]
    #[arg(long, value_enum, env = "COTREE_BRANCH_HINTS", help_heading = EXPERT, hide_short_help = true, hide_env = true)]
    pub branch_hints: Option<BranchHints>,
    /// Derive the entries of functions that are only called from known places from their callers (on), or count them
    /// all the same (off) [default: on]
    #[arg(long, value_enum, env = "COTREE_INTERPROCEDURAL_FLOW", help_heading = EXPERT, hide_short_help = true, hide_env = true)]
    pub interprocedural_flow: Option<InterproceduralFlow>,
    /// With path profiles: count this many paths of a function in an array, all if it has no more, and the others
    /// in a hash table, which takes longer [default: 1024]
    #[arg(long, env = "COTREE_PATH_ARRAY", help_heading = EXPERT, hide_short_help = true, hide_env = true, value_name = "PATHS",
        value_parser = clap::value_parser!(u64).range(..=MOST_PATH_ARRAY))]
    pub path_array: Option<u64>,
    /// With path profiles: cut the paths of functions that would have more than this [default: 9223372036854775807]
    #[arg(long, env = "COTREE_PATH_LIMIT", help_heading = EXPERT, hide_short_help = true, hide_env = true, value_name = "PATHS",
        value_parser = clap::value_parser!(u64).range(1..=MOST_PATHS))]
    pub path_limit: Option<u64>,
    /// With traces: what tells the ways through a function apart; auto takes what is cheapest, function by function
    #[arg(long, value_enum, env = "COTREE_TRACE_BY", help_heading = EXPERT, hide_short_help = true, hide_env = true)]
    pub trace_by: Option<TraceBy>,
}

/// `--profile`: one of [`METHODS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile(pub Method, pub Detail);

/// What some methods are told besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// The strategy of a hybrid path profile.
    Strategy(Hybrid),
    /// The kinds of events.
    Kinds(EventKinds),
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())?;
        match self.1 {
            Detail::None => Ok(()),
            Detail::Strategy(strategy) => write!(f, "={strategy}"),
            Detail::Kinds(kinds) => write!(f, "={kinds}"),
        }
    }
}

/// Reads [`Profile`].
#[derive(Clone)]
struct ProfileParser;

impl TypedValueParser for ProfileParser {
    type Value = Profile;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Profile, clap::Error> {
        let hybrid = Method::IpathHybrid.name();
        if let Some(strategy) = value.to_str().and_then(|value| value.strip_prefix(hybrid)?.strip_prefix('=')) {
            let strategy = strategy.parse().map_err(|()| {
                let message = format!("invalid strategy '{strategy}' of {hybrid}: expected {}\n", Hybrid::NAMES);
                command.clone().error(clap::error::ErrorKind::InvalidValue, message)
            })?;
            return Ok(Profile(Method::IpathHybrid, Detail::Strategy(strategy)));
        }
        let of_events = [Method::Events, Method::EventsCalls].into_iter().find_map(|method| {
            let kinds = value.to_str()?.strip_prefix(method.name())?.strip_prefix('=')?;
            Some((method, kinds))
        });
        if let Some((method, kinds)) = of_events {
            let kinds = EventKinds::parse(kinds).map_err(|wrong| {
                let names = EventKinds::all_names();
                let message =
                    format!("invalid kind of events '{wrong}': expected some of {names}, with commas between\n");
                command.clone().error(clap::error::ErrorKind::InvalidValue, message)
            })?;
            return Ok(Profile(method, Detail::Kinds(kinds)));
        }
        let names = PossibleValuesParser::new(self.possible_values().into_iter().flatten());
        let name = names.parse_ref(command, arg, value)?;
        Ok(Profile(Method::from_name(&name).unwrap_or_default(), Detail::None))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |entry: &'static Entry| PossibleValue::new(entry.name).help(entry.summary);
        Some(Box::new(METHODS.iter().map(value)))
    }
}

/// `--at`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum At {
    /// Before any optimisation
    Early,
    /// After the compiler's simplifications, before the link's optimisations
    Late,
}

/// `--lto`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lto {
    /// All of a link as one
    On,
    /// Each module by itself
    Off,
}

/// `--threads`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Threads {
    /// As the program needs
    Auto,
    /// Always
    On,
    /// Always, for programs that use the GS register themselves
    Word,
    /// Never
    Off,
}

/// `--spanning-tree`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SpanningTree {
    /// Maximum: counters in cold places
    Max,
    /// Minimum: counters in hot places
    Min,
}

/// `--affine`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Affine {
    /// Where it pays
    On,
    /// Never
    Off,
}

/// `--promote`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Promote {
    /// Where it pays
    On,
    /// Never
    Off,
}

/// `--branch-hints`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BranchHints {
    /// Where a branch in a loop is predicted with some certainty
    On,
    /// Never
    Off,
}

/// `--interprocedural-flow`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InterproceduralFlow {
    /// Entries follow from callers where all of them are known
    On,
    /// Each function is counted by itself
    Off,
}

/// `--pending`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pending {
    /// Each call keeps its path
    On,
    /// A crash is told by its calls, and by paths where only one can have led to a call
    Off,
}

/// `--trace-by`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceBy {
    /// The cheapest of these
    Auto,
    /// A number for each way between two calls or turns of a loop
    Paths,
    /// Bits for each branch
    Bits,
    /// Witnesses on few edges
    Witness,
}

/// `--trace-addresses`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceAddresses {
    /// What is read
    Loads,
    /// What is written
    Stores,
    /// Both
    All,
}

/// `--path-metric`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PathMetric {
    /// Nothing
    Count,
    /// What the program reports with `cotree_events` (cotree.h) between the beginning and the end of the path, exactly
    Events,
    /// The processor's time stamps from the beginning to the end, which is a measurement
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

/// The command line's spelling of an enum value.
fn spelling(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl InstrumentOptions {
    /// Each option that is set: its name without dashes, and its values.
    fn set_options(&self) -> Vec<(&'static str, Vec<String>)> {
        let path = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let single = [
            ("profile", self.profile.map(|profile| profile.to_string())),
            ("verify", self.verify.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            ("targets", self.targets.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            // Paths have to mean the same in the folder where the link runs.
            ("weights", self.weights.as_ref().map(|file| path(file).display().to_string())),
            ("use", self.use_profile.as_ref().map(|file| path(file).display().to_string())),
            ("profile-file", self.profile_file.as_ref().map(|file| path(file).display().to_string())),
            ("event-costs", self.event_costs.as_ref().map(|file| path(file).display().to_string())),
            ("at", self.at.map(spelling)),
            ("lto", self.lto.map(spelling)),
            ("threads", self.threads.map(spelling)),
            ("spanning-tree", self.spanning_tree.map(spelling)),
            ("affine", self.affine.map(spelling)),
            ("promote", self.promote.map(spelling)),
            ("branch-hints", self.branch_hints.map(spelling)),
            ("interprocedural-flow", self.interprocedural_flow.map(spelling)),
            ("pending", self.pending.map(spelling)),
            ("path-array", self.path_array.map(|n| n.to_string())),
            ("path-limit", self.path_limit.map(|n| n.to_string())),
            ("path-metric", self.path_metric.map(spelling)),
            ("trace-by", self.trace_by.map(spelling)),
            ("trace-ring", self.trace_ring.clone()),
            ("event-limit", self.event_limit.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            ("trace-addresses", self.trace_addresses.map(spelling)),
            ("trace-time", self.trace_time.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
            ("trace-off", self.trace_off.map(|yes| if yes { "yes" } else { "no" }.to_owned())),
        ];
        let single = single.into_iter().filter_map(|(name, value)| Some((name, vec![value?])));
        let lists = [("include", &self.include), ("exclude", &self.exclude), ("exclude-file", &self.exclude_file)];
        let lists = lists.into_iter().filter(|(_, values)| !values.is_empty()).map(|(name, v)| (name, v.clone()));
        single.chain(lists).collect()
    }

    /// Do the options go together?
    pub fn check(&self) -> miette::Result<()> {
        if let Some(file) = &self.event_costs {
            CostFile::read(file).into_diagnostic()?;
        }
        if self.use_profile.is_some() {
            let counting = self.profile.is_some_and(|profile| !profile.0.is_none()) || self.verify == Some(true);
            if counting || self.weights.is_some() {
                miette::bail!(
                    "--use compiles by a profile and counts nothing: leave out --profile, --verify and --weights"
                );
            }
        }
        if let Some(file) = self.profile_file.as_ref().filter(|file| file.is_dir()) {
            miette::bail!(
                "--profile-file is a pattern for names of files, and {} is a folder: say {}",
                file.display(),
                file.join("%n.%p.cotree").display()
            );
        }
        if self.targets == Some(true) && self.profile.is_some_and(|profile| !profile.0.counts_targets()) {
            let methods = Method::names(|entry| matches!(entry.family, Family::Counters(_)));
            miette::bail!("--targets counts whom calls lead to beside blocks and edges: it needs --profile {methods}");
        }
        let counts_cost = self
            .profile
            .is_some_and(|profile| matches!(profile.1, Detail::Kinds(kinds) if kinds.contains(EventKind::Cost)));
        if counts_cost && self.event_costs.is_none() {
            miette::bail!(
                "--profile events=cost counts what a file says that instructions cost: name it with --event-costs FILE"
            );
        }
        let summed = self.path_metric.is_some_and(|metric| metric != PathMetric::Count);
        if summed && !self.profile.is_some_and(|profile| profile.0.promises().metrics) {
            let metric = self.path_metric.map(spelling).unwrap_or_default();
            let methods = Method::names(|entry| entry.promises.metrics);
            miette::bail!("--path-metric {metric} adds up {metric} along paths: it needs --profile {methods}");
        }
        Ok(())
    }

    /// As environment variables.
    pub fn environment(&self) -> Vec<(String, String)> {
        let name = |name: &str| format!("COTREE_{}", name.to_uppercase().replace('-', "_"));
        self.set_options().into_iter().map(|(option, values)| (name(option), values.join(";"))).collect()
    }

    /// As values of `-plugin-opt`.
    pub fn plugin_options(&self) -> Vec<String> {
        let option = |(name, values): (&'static str, Vec<String>)| -> Vec<String> {
            if name == "verify" {
                return if values == ["yes"] { vec!["cotree-verify".into()] } else { Vec::new() };
            }
            values.into_iter().map(|value| format!("cotree-{name}={value}")).collect()
        };
        self.set_options().into_iter().flat_map(option).collect()
    }

    /// Must the compiler leave the bitcode unoptimised?
    pub fn early(&self) -> bool {
        self.at == Some(At::Early)
    }
}

/// The help of `-h`: on one screen.
pub fn on_one_screen(command: Command) -> Command {
    const METHODS: &str = "edge, block, path, calls, trace, events or others, see --help [default: edge]";
    // `mut_arg` would put it behind all others.
    command.mut_args(|argument| match argument.get_id().as_str() {
        "profile" => argument.hide_possible_values(true).help(METHODS),
        _ => argument,
    })
}

/// The option that names the `cotree` that the plugin starts: this executable, unless the environment names another.
pub fn driver_option(cotree: &Path) -> String {
    let other = std::env::var_os(cotree_lto::worker::DRIVER_ENV).filter(|path| !path.is_empty());
    format!("cotree-driver={}", other.map_or_else(|| cotree.to_owned(), PathBuf::from).display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: InstrumentOptions,
    }

    #[test]
    fn options_become_plugin_options() {
        let line = ["x", "--profile", "vertex-edge", "--verify", "--at=early", "--include", "a*", "--include", "b"];
        let options = Line::parse_from(line).options;
        assert_eq!(
            options.plugin_options(),
            ["cotree-profile=vertex-edge", "cotree-verify", "cotree-at=early", "cotree-include=a*", "cotree-include=b"]
        );
        let environment = options.environment();
        assert!(environment.contains(&("COTREE_INCLUDE".into(), "a*;b".into())), "{environment:?}");
        assert!(environment.contains(&("COTREE_VERIFY".into(), "yes".into())), "{environment:?}");
        let line = ["x", "--profile=path-context", "--path-array=0", "--path-limit=7", "--path-metric=events"];
        assert_eq!(
            Line::parse_from(line).options.plugin_options(),
            ["cotree-profile=path-context", "cotree-path-array=0", "cotree-path-limit=7", "cotree-path-metric=events"]
        );
        assert!(Line::parse_from(line).options.check().is_ok());
        assert!(Line::parse_from(["x", "--path-metric=count"]).options.check().is_ok());
        let refused = Line::parse_from(["x", "--profile=edge", "--path-metric=cycles"]).options.check();
        assert!(refused.unwrap_err().to_string().contains("--profile path"));
        assert!(Line::try_parse_from(["x", "--path-limit=0"]).is_err());
        for strategy in ["leaf", "file", "local", "budget=70000"] {
            let options = Line::parse_from(["x", &format!("--profile=ipath-hybrid={strategy}")]).options;
            assert_eq!(options.plugin_options(), [format!("cotree-profile=ipath-hybrid={strategy}")]);
        }
        for wrong in ["ipath-hybrid=", "ipath-hybrid=budget=0", "ipath=leaf", "paths"] {
            assert!(Line::try_parse_from(["x", "--profile", wrong]).is_err(), "{wrong}");
        }
        assert!(Line::parse_from(["x"]).options.plugin_options().is_empty());
    }
}
