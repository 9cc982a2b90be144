//! What the user asked for, as it arrives at the link: `-plugin-opt` values.

use crate::emit::Level;
use crate::error::Error;
use crate::extract::{CostFile, Selection};
use cotree_core::facts::Accesses;
use cotree_core::method::events::{EventKinds, EventOptions};
use cotree_core::method::ipath::{Hybrid, IpathOptions};
use cotree_core::method::path::windows::Room;
use cotree_core::method::path::{MOST_PATH_ARRAY, MOST_PATHS, PathMetric, PathOptions};
use cotree_core::method::trace::{TraceBy, TraceOptions};
use cotree_core::method::{Family, Method};
use cotree_core::place::spanning::Extreme;
use cotree_core::unit::Choices;
use std::path::PathBuf;

/// Are counters per thread?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// As the program seems to need.
    #[default]
    Auto,
    /// Always.
    On,
    /// Always, and never through the segment register, which the program uses itself.
    Word,
    /// Never: the user knows that there is one thread.
    Off,
}

/// Options of one link.
#[derive(Clone, Debug)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// Carry the redundant method's probes too.
    pub verify: bool,
    /// The level at which the program is optimised after instrumentation.
    pub level: Level,
    /// The processor, `x86-64` unless named.
    pub cpu: String,
    /// Per-thread counters.
    pub threads: Threads,
    /// A profile whose counts weight the edges.
    pub weights: Option<PathBuf>,
    /// Nothing is counted: the program is compiled by the counts of `weights`.
    pub uses_profile: bool,
    /// Which spanning tree the edge method takes.
    pub spanning_tree: Extreme,
    /// Loop variables in place of counters.
    pub affine: bool,
    /// Counters in registers in tight loops.
    pub promote: bool,
    /// Code is laid out so that counters thought to run seldom are out of the way.
    pub branch_hints: bool,
    /// Entries that follow from callers need no counters.
    pub interprocedural_flow: bool,
    /// Functions that linker options speak of: others may call them, or be called in their place.
    pub foreign: Vec<String>,
    /// Targets of indirect calls are counted.
    pub targets: bool,
    /// How paths are planned.
    pub paths: PathOptions,
    /// How paths across functions are planned.
    pub ipath: IpathOptions,
    /// Calls before which paths across functions end keep the numbers of these.
    pub pending: bool,
    /// How events are counted.
    pub events: EventOptions,
    /// How traces are planned.
    pub traces: TraceOptions,
    /// How much of a trace is kept, in bytes; all of it if none.
    pub trace_ring: Option<u64>,
    /// Threads record nothing before they ask for it.
    pub trace_off: bool,
    /// Where profiles go unless the environment says otherwise, as a pattern for the names of files.
    pub file_pattern: Option<String>,
    /// Bitcode comes unoptimised, and probes go in before anything is inlined.
    pub early: bool,
    /// Modules are compiled as one.
    pub across_modules: bool,
    /// Which functions.
    pub selection: Selection,
    /// What instructions cost.
    pub costs: Option<CostFile>,
    /// Path registers are stored on the stack before each call. Else that is done where the code generator runs out of
    /// registers.
    pub carry_on_stack: bool,
    /// LLVM has crashed: look for functions that it can't compile with notes at calls.
    pub careful: bool,
    /// Write the modules as text before and after into the work folder.
    pub keep_temps: bool,
}

/// Sizes of rings.
const TRACE_RING: std::ops::RangeInclusive<u64> = 1 << 20..=1 << 36;

/// A number of bytes: a number, and K, M or G for its unit.
fn size(text: &str) -> Option<u64> {
    let (number, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (number, [10, 20, 30]["KMG".find(&text[number.len()..])?]),
        None => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

impl Options {
    /// Reads `-plugin-opt` values; those of other plugins are passed over.
    ///
    /// # Errors
    /// One of ours has a value that we don't know.
    pub fn parse<S: AsRef<str>>(values: &[S]) -> Result<Self, Error> {
        let mut options = Self {
            method: Method::default(),
            verify: false,
            level: Level::O2,
            cpu: "x86-64".into(),
            threads: Threads::Auto,
            weights: None,
            uses_profile: false,
            spanning_tree: Extreme::Maximum,
            targets: false,
            affine: true,
            promote: true,
            branch_hints: true,
            interprocedural_flow: true,
            foreign: Vec::new(),
            paths: PathOptions::default(),
            ipath: IpathOptions::default(),
            pending: false,
            events: EventOptions::default(),
            traces: TraceOptions::default(),
            trace_ring: None,
            trace_off: false,
            file_pattern: None,
            early: false,
            across_modules: false,
            selection: Selection::default(),
            costs: None,
            carry_on_stack: false,
            careful: false,
            keep_temps: false,
        };
        let (mut include, mut exclude, mut exclude_files) = (Vec::new(), Vec::new(), Vec::new());
        for value in values {
            let value = value.as_ref();
            let (key, argument) = value.split_once('=').unwrap_or((value, ""));
            let bad = |expected: &str| Error::Option { option: value.into(), reason: format!("expected {expected}") };
            match key {
                "O0" => options.level = Level::O0,
                "O1" => options.level = Level::O1,
                "O2" => options.level = Level::O2,
                "O3" => options.level = Level::O3,
                "Os" => options.level = Level::Os,
                "Oz" => options.level = Level::Oz,
                "mcpu" => argument.clone_into(&mut options.cpu),
                "cotree-profile" => {
                    let (name, strategy) = argument.split_once('=').map_or((argument, None), |(n, s)| (n, Some(s)));
                    options.method = Method::from_name(name).ok_or_else(|| bad(&Method::names(|_| true)))?;
                    if options.method == Method::IpathHybrid {
                        let strategy = strategy.map_or(Ok(Hybrid::Local), str::parse::<Hybrid>);
                        options.ipath = strategy.map_err(|()| bad(&format!("{name}={}", Hybrid::NAMES)))?.into();
                    } else if matches!(options.method.family(), Family::Events(_)) {
                        let kinds = strategy.map_or(Ok(EventKinds::default()), EventKinds::parse);
                        let expected = || format!("{name}=KINDS, of {}", EventKinds::all_names());
                        options.events.kinds = kinds.map_err(|_| bad(&expected()))?;
                    } else if strategy.is_some() {
                        return Err(bad("a strategy with ipath-hybrid, or kinds with events, only"));
                    }
                }
                "cotree-verify" => options.verify = true,
                "cotree-threads" => {
                    options.threads = match argument {
                        "auto" => Threads::Auto,
                        "on" => Threads::On,
                        "word" => Threads::Word,
                        "off" => Threads::Off,
                        _ => return Err(bad("auto, on, word or off")),
                    }
                }
                "cotree-event-costs" => options.costs = Some(CostFile::read(argument.as_ref())?),
                "cotree-weights" => options.weights = Some(argument.into()),
                "cotree-use" => {
                    options.weights = Some(argument.into());
                    options.uses_profile = true;
                }
                "cotree-spanning-tree" => {
                    options.spanning_tree = match argument {
                        "max" => Extreme::Maximum,
                        "min" => Extreme::Minimum,
                        _ => return Err(bad("max or min")),
                    }
                }
                "cotree-affine" => {
                    options.affine = match argument {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("on or off")),
                    }
                }
                "cotree-promote" => {
                    options.promote = match argument {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("on or off")),
                    }
                }
                "cotree-branch-hints" => {
                    options.branch_hints = match argument {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("on or off")),
                    }
                }
                "cotree-pending" => {
                    options.pending = match argument {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("on or off")),
                    }
                }
                "cotree-interprocedural-flow" => {
                    options.interprocedural_flow = match argument {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("on or off")),
                    }
                }
                "cotree-targets" => {
                    options.targets = match argument {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(bad("yes or no")),
                    }
                }
                // The plugin's own.
                "cotree-folder" => {}
                "cotree-careful" => options.careful = true,
                "cotree-foreign" => options.foreign.push(argument.to_owned()),
                "cotree-path-array" => {
                    let array = argument.parse().ok().filter(|&n| n <= MOST_PATH_ARRAY);
                    options.paths.array =
                        array.ok_or_else(|| bad(&format!("a number of paths up to {MOST_PATH_ARRAY}")))?;
                }
                "cotree-path-limit" => {
                    let limit = argument.parse().ok().filter(|n| (1..=MOST_PATHS).contains(n));
                    options.paths.limit =
                        limit.ok_or_else(|| bad(&format!("a number of paths from 1 to {MOST_PATHS}")))?;
                }
                "cotree-path-metric" => {
                    options.paths.metric = match argument {
                        "count" => PathMetric::Count,
                        "events" => PathMetric::Events,
                        "cycles" => PathMetric::Cycles,
                        _ => return Err(bad("count, events or cycles")),
                    }
                }
                "cotree-event-placement" => {
                    options.events.naive = match argument {
                        "chords" => false,
                        "blocks" => true,
                        _ => return Err(bad("chords or blocks")),
                    }
                }
                "cotree-event-queries" => {
                    options.events.queries = match argument {
                        "auto" => false,
                        "on" => true,
                        _ => return Err(bad("auto or on")),
                    }
                }
                "cotree-event-limit" => {
                    options.events.limits = match argument {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(bad("yes or no")),
                    }
                }
                "cotree-trace-by" => {
                    options.traces.by =
                        TraceBy::from_name(argument).ok_or_else(|| bad("auto, paths, bits or witness"))?;
                }
                "cotree-trace-placement" => {
                    options.traces.per_branch = match argument {
                        "segments" => false,
                        "branches" => true,
                        _ => return Err(bad("segments or branches")),
                    }
                }
                "cotree-trace-off" => {
                    options.trace_off = match argument {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(bad("yes or no")),
                    }
                }
                "cotree-trace-time" => {
                    options.traces.timed = match argument {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(bad("yes or no")),
                    }
                }
                "cotree-trace-addresses" => {
                    let accesses = Accesses::from_name(argument);
                    options.traces.addresses = Some(accesses.ok_or_else(|| bad("loads, stores or all"))?);
                }
                "cotree-trace-ring" => {
                    let bytes = size(argument).filter(|bytes| TRACE_RING.contains(bytes));
                    options.trace_ring = Some(bytes.ok_or_else(|| bad("a size such as 64M, from 1M to 64G"))?);
                }
                "cotree-profile-file" => options.file_pattern = Some(argument.to_owned()),
                "cotree-at" => {
                    options.early = match argument {
                        "early" => true,
                        "late" => false,
                        _ => return Err(bad("early or late")),
                    }
                }
                "cotree-lto" => {
                    options.across_modules = match argument {
                        "on" => true,
                        "off" => false,
                        _ => return Err(bad("on or off")),
                    }
                }
                "cotree-include" => include.push(argument.to_owned()),
                "cotree-exclude" => exclude.push(argument.to_owned()),
                "cotree-exclude-file" => exclude_files.push(argument.to_owned()),
                "cotree-carry" => {
                    options.carry_on_stack = match argument {
                        "registers" => false,
                        "stack" => true,
                        _ => return Err(bad("registers or stack")),
                    }
                }
                "cotree-keep-temps" => options.keep_temps = true,
                _ => {}
            }
        }
        if options.paths.metric.is_summed() && !options.method.promises().metrics {
            return Err(Error::Option {
                option: values
                    .iter()
                    .map(AsRef::as_ref)
                    .rfind(|v| v.starts_with("cotree-path-metric"))
                    .unwrap_or_default()
                    .into(),
                reason: format!(
                    "a metric is added up along paths, so it needs --profile {}",
                    Method::names(|entry| entry.promises.metrics)
                ),
            });
        }
        if options.traces.by != TraceBy::Auto && options.method != Method::Trace {
            return Err(Error::Option {
                option: "cotree-trace-by".into(),
                reason: "it says how a trace is written: it needs --profile trace".into(),
            });
        }
        let of_traces = [
            ("cotree-trace-off", options.trace_off),
            ("cotree-trace-ring", options.trace_ring.is_some()),
            ("cotree-trace-time", options.traces.timed),
            ("cotree-trace-addresses", options.traces.addresses.is_some()),
        ];
        if let Some((option, _)) = of_traces.iter().find(|(_, given)| *given && options.method != Method::Trace) {
            return Err(Error::Option {
                option: (*option).into(),
                reason: "it is about traces, so it needs --profile trace".into(),
            });
        }
        if options.traces.addresses.is_some() && options.trace_ring.is_some() {
            return Err(Error::Option {
                option: "cotree-trace-addresses".into(),
                reason: "a ring keeps no addresses: leave out --trace-ring, or the addresses".into(),
            });
        }
        if options.events.limits && options.method != Method::Events && !options.uses_profile {
            return Err(Error::Option {
                option: "cotree-event-limit".into(),
                reason: "it is about events, so it needs --profile events".into(),
            });
        }
        if options.targets && !options.method.counts_targets() && !options.method.is_none() && !options.uses_profile {
            return Err(Error::Option {
                option: "cotree-targets".into(),
                reason:
                    "targets are counted beside blocks and edges: it needs --profile edge, block, vertex or vertex-edge"
                        .into(),
            });
        }
        if options.uses_profile {
            options.method = Method::None;
            options.verify = false;
        }
        options.selection = Selection::new(&include, &exclude, &exclude_files)?;
        Ok(options)
    }

    /// Does the program have counters and nothing else?
    #[must_use]
    pub fn has_counters_alone(&self) -> bool {
        self.method.has_counters_alone() && !self.targets
    }

    /// Are counters to be as few and as cheap as they can be?
    fn saves_counters(&self) -> bool {
        self.method.entry().saves_counters && self.spanning_tree == Extreme::Maximum
    }

    /// What planning has to know of them; a library is `shared`.
    #[must_use]
    pub fn choices(&self, shared: bool) -> Choices {
        Choices {
            spanning_tree: self.spanning_tree,
            affine: self.affine,
            // Without optimisation nothing is in registers.
            promote: self.promote && self.level != Level::O0,
            interprocedural_flow: self.interprocedural_flow,
            paths: self.paths,
            ipath: self.ipath,
            events: self.events,
            traces: self.traces,
            targets: self.targets,
            room: if shared { Room::Whole } else { Room::AsUsed },
        }
    }

    /// Is the code generator told which counters are thought to run seldom? It is where counters are to be few and most
    /// optimisations are over: they make more of branch weights than a place out of the way.
    #[must_use]
    pub fn hints_branches(&self) -> bool {
        self.branch_hints && self.saves_counters() && !self.early && self.level != Level::O0
    }

    /// Are variables that move by constant steps looked for? They count where counters are to be few, and tell where
    /// registers pay.
    #[must_use]
    pub fn finds_affine(&self) -> bool {
        let promotes = self.promote && self.level != Level::O0;
        self.saves_counters() && (self.affine || promotes) || self.affine && self.method.promises().paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_hinted_at_where_that_is_of_use() {
        let hints = |values: &[&str]| Options::parse(values).expect("good options").hints_branches();
        assert!(hints(&[]));
        for without in [
            "cotree-branch-hints=off",
            "cotree-at=early",
            "cotree-spanning-tree=min",
            "cotree-profile=vertex-edge",
            "cotree-profile=path",
            "cotree-profile=none",
            "O0",
        ] {
            assert!(!hints(&[without]), "{without}");
        }
        assert!(matches!(Options::parse(&["cotree-branch-hints=yes"]), Err(Error::Option { .. })));
    }
}
