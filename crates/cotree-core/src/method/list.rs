//! The list of all methods. Options, help, files, reports and tests are derived from it. Every general statement about
//! a method is made here.

use super::counters::CounterMethod;
use super::events::EventMethod;
use super::ipath::IpathMethod;
use super::path::PathMethod;

/// A profiling method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Edge profile from edge counters, *Eprof(Ecnt)*: counters on the chords of a maximum spanning tree
    /// (Ball & Larus 1994, §3.2).
    #[default]
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
    /// Call profile: a counter before every call.
    Calls,
    /// Interprocedural context path profile: paths that go on in callees, and remember how their function was reached
    /// (Melski & Reps 1998, §5).
    Ipath,
    /// Interprocedural piecewise path profile: paths across functions that partition what is executed (Melski & Reps
    /// 1998, §6), across all calls or those that a strategy chooses (§8).
    IpathPiecewise,
    /// As [`Self::Ipath`], across the calls that a strategy chooses (Melski & Reps 1998, §8).
    IpathHybrid,
    /// The whole execution of every thread (Ball & Larus 1994, §4 and §6.2).
    Trace,
    /// One count of all events (Ball 1994).
    Events,
    /// Counts of events per call, with all that it led to (Ball 1994, §4).
    EventsCalls,
    /// No probes: the reference of every overhead figure.
    None,
}

/// Methods that share the form of their plans and counts: all that comes after planning knows families only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Nothing is measured.
    None,
    /// Counters on blocks and edges: [`super::counters`].
    Counters(CounterMethod),
    /// Tables of paths: [`super::path`].
    Paths(PathMethod),
    /// Counters of calls: [`super::calls`].
    Calls,
    /// Tables of paths across functions: [`super::ipath`].
    Ipath(IpathMethod),
    /// Tokens of segments: [`super::trace`].
    Traces,
    /// Counters of events: [`super::events`].
    Events(EventMethod),
}

/// What a method's profile has exact counts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// Blocks.
    pub blocks: bool,
    /// Edges.
    pub edges: bool,
    /// Paths.
    pub paths: bool,
    /// What is added up along paths.
    pub metrics: bool,
    /// Calls.
    pub calls: bool,
    /// Totals of events.
    pub events: bool,
}

/// What the list says of one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The method.
    pub method: Method,
    /// The name of the method in options and in JSON.
    pub name: &'static str,
    /// The number of the method in files, which never changes.
    pub number: u64,
    /// What its profile is called in reports.
    pub title: &'static str,
    /// What it counts, as help and docs say it.
    pub summary: &'static str,
    /// The family.
    pub family: Family,
    /// The promises.
    pub promises: Promises,
    /// Blocks and edges are derived by flow conservation, which activations with an unknown end violate.
    pub derives: bool,
    /// Counters are as few and as cheap as they can be: loop variables and registers stand in for them, and those left
    /// are put into blocks out of line.
    pub saves_counters: bool,
}

const NOTHING: Promises =
    Promises { blocks: false, edges: false, paths: false, metrics: false, calls: false, events: false };
const BLOCKS: Promises = Promises { blocks: true, ..NOTHING };
const EDGES: Promises = Promises { edges: true, ..BLOCKS };
const PATHS: Promises = Promises { paths: true, metrics: true, ..EDGES };
const EVENTS: Promises = Promises { events: true, ..NOTHING };
const CALLS: Promises = Promises { calls: true, ..NOTHING };

/// All methods, in the order in which help and docs list them.
pub const METHODS: [Entry; 14] = [
    Entry {
        method: Method::Edge,
        name: "edge",
        number: 1,
        title: "edge profile",
        summary: "every block and edge, from counters on the chords of a spanning tree",
        family: Family::Counters(CounterMethod::Edge),
        promises: EDGES,
        derives: true,
        saves_counters: true,
    },
    Entry {
        method: Method::Block,
        name: "block",
        number: 2,
        title: "block profile",
        summary: "every block and edge, from a counter on each; the most expensive method, to check the others with",
        family: Family::Counters(CounterMethod::Block),
        promises: EDGES,
        derives: false,
        saves_counters: false,
    },
    Entry {
        method: Method::Vertex,
        name: "vertex",
        number: 3,
        title: "vertex profile",
        summary: "blocks only, from counters on few blocks",
        family: Family::Counters(CounterMethod::Vertex),
        promises: BLOCKS,
        derives: true,
        saves_counters: false,
    },
    Entry {
        method: Method::VertexEdge,
        name: "vertex-edge",
        number: 4,
        title: "vertex profile from edge counters",
        summary: "blocks only, from counters on few edges",
        family: Family::Counters(CounterMethod::VertexEdge),
        promises: BLOCKS,
        derives: true,
        saves_counters: true,
    },
    Entry {
        method: Method::Path,
        name: "path",
        number: 5,
        title: "path profile",
        summary: "paths through functions between the turns of loops, and with them every block and edge",
        family: Family::Paths(PathMethod::Plain),
        promises: PATHS,
        derives: true,
        saves_counters: false,
    },
    Entry {
        method: Method::PathContext,
        name: "path-context",
        number: 6,
        title: "path profile with context",
        summary: "paths as of `path`, and each path in a loop remembers how the loop was reached",
        family: Family::Paths(PathMethod::Context),
        promises: PATHS,
        derives: true,
        saves_counters: false,
    },
    Entry {
        method: Method::Calls,
        name: "calls",
        number: 7,
        title: "call profile",
        summary: "every call, from a counter before it",
        family: Family::Calls,
        promises: CALLS,
        derives: false,
        saves_counters: false,
    },
    Entry {
        method: Method::Ipath,
        name: "ipath",
        number: 10,
        title: "interprocedural path profile",
        summary: "paths that go on in callees and remember how they got there, and with them every block and edge",
        family: Family::Ipath(IpathMethod::Context),
        promises: PATHS,
        derives: true,
        saves_counters: false,
    },
    Entry {
        method: Method::IpathPiecewise,
        name: "ipath-piecewise",
        number: 11,
        title: "interprocedural piecewise path profile",
        summary: "paths across functions in pieces that remember nothing before their first block; ipath-piecewise=STRATEGY as of `ipath-hybrid`",
        family: Family::Ipath(IpathMethod::Piecewise),
        promises: PATHS,
        derives: true,
        saves_counters: false,
    },
    Entry {
        method: Method::IpathHybrid,
        name: "ipath-hybrid",
        number: 12,
        title: "hybrid path profile",
        summary: "paths as of `ipath`, across the calls that a strategy chooses: ipath-hybrid=leaf, file, local or budget=N",
        family: Family::Ipath(IpathMethod::Hybrid),
        promises: PATHS,
        derives: true,
        saves_counters: false,
    },
    Entry {
        method: Method::Trace,
        name: "trace",
        number: 9,
        title: "trace",
        summary: "the whole execution of every thread, block by block",
        family: Family::Traces,
        promises: NOTHING,
        derives: false,
        saves_counters: false,
    },
    Entry {
        method: Method::Events,
        name: "events",
        number: 8,
        title: "event count",
        summary: "how many instructions ran, or other events: one exact count that the program can ask for while it runs",
        family: Family::Events(EventMethod::Total),
        promises: EVENTS,
        derives: true,
        saves_counters: true,
    },
    Entry {
        method: Method::EventsCalls,
        name: "events-calls",
        number: 13,
        title: "event counts of calls",
        summary: "how many instructions ran, or other events, in each function by itself, and in each call with all that it led to",
        family: Family::Events(EventMethod::Calls),
        promises: EVENTS,
        derives: true,
        saves_counters: true,
    },
    Entry {
        method: Method::None,
        name: "none",
        number: 0,
        title: "not profiled",
        summary: "nothing: the same build without counters, to compare with",
        family: Family::None,
        promises: NOTHING,
        derives: false,
        saves_counters: false,
    },
];

impl Method {
    /// What the list says of it.
    #[must_use]
    pub const fn entry(self) -> &'static Entry {
        &METHODS[self as usize]
    }

    /// All methods, in the order of the list.
    pub fn all() -> impl Iterator<Item = Self> {
        METHODS.iter().map(|entry| entry.method)
    }

    /// The method of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        METHODS.iter().find(|entry| entry.name == name).map(|entry| entry.method)
    }

    /// The name of the method in options and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// What its profile is called in reports.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.entry().title
    }

    /// The family.
    #[must_use]
    pub const fn family(self) -> Family {
        self.entry().family
    }

    /// What it has exact counts of.
    #[must_use]
    pub const fn promises(self) -> Promises {
        self.entry().promises
    }

    /// The number of the method in files.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.entry().number
    }

    /// The method of a number in files.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        METHODS.iter().find(|entry| entry.number == number).map(|entry| entry.method)
    }

    /// The names of the methods for which this holds, as a sentence lists them: "a, b or c".
    #[must_use]
    pub fn names(which: impl Fn(&Entry) -> bool) -> String {
        let names: Vec<&str> = METHODS.iter().filter(|entry| which(entry)).map(|entry| entry.name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// Does all that is measured stand in counters? Then nothing else is recorded while the program runs.
    #[must_use]
    pub const fn has_counters_alone(self) -> bool {
        matches!(self.family(), Family::Counters(_) | Family::Calls)
    }

    /// Are targets of indirect calls counted without being asked for, since it has something to tell of each call?
    #[must_use]
    pub const fn names_callees(self) -> bool {
        matches!(self, Self::EventsCalls)
    }

    /// Can targets of indirect calls be counted beside it ([`super::targets`])?
    #[must_use]
    pub const fn counts_targets(self) -> bool {
        matches!(self.family(), Family::Counters(_)) || self.names_callees()
    }

    /// Is nothing measured?
    #[must_use]
    pub const fn is_none(self) -> bool {
        matches!(self.family(), Family::None)
    }
}

impl From<CounterMethod> for Method {
    fn from(method: CounterMethod) -> Self {
        match method {
            CounterMethod::Edge => Self::Edge,
            CounterMethod::Block => Self::Block,
            CounterMethod::Vertex => Self::Vertex,
            CounterMethod::VertexEdge => Self::VertexEdge,
        }
    }
}

impl From<EventMethod> for Method {
    fn from(method: EventMethod) -> Self {
        match method {
            EventMethod::Total => Self::Events,
            EventMethod::Calls => Self::EventsCalls,
        }
    }
}

impl From<IpathMethod> for Method {
    fn from(method: IpathMethod) -> Self {
        match method {
            IpathMethod::Context => Self::Ipath,
            IpathMethod::Piecewise => Self::IpathPiecewise,
            IpathMethod::Hybrid => Self::IpathHybrid,
        }
    }
}

impl From<PathMethod> for Method {
    fn from(method: PathMethod) -> Self {
        match method {
            PathMethod::Plain => Self::Path,
            PathMethod::Context => Self::PathContext,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_what_the_list_says_of_it() {
        for entry in &METHODS {
            let method = entry.method;
            assert_eq!(method.entry(), entry);
            assert_eq!(Method::from_name(entry.name), Some(method));
            assert_eq!(Method::from_number(method.number()), Some(method));
            match entry.family {
                Family::None => assert_eq!(method, Method::None),
                Family::Counters(of) => assert_eq!(Method::from(of), method),
                Family::Paths(of) => assert_eq!(Method::from(of), method),
                Family::Calls => assert_eq!(method, Method::Calls),
                Family::Ipath(of) => assert_eq!(Method::from(of), method),
                Family::Traces => assert_eq!(method, Method::Trace),
                Family::Events(of) => assert_eq!(Method::from(of), method),
            }
        }
        assert_eq!(Method::from_name("no such method"), None);
        assert_eq!(
            Method::names(|entry| entry.promises.paths),
            "path, path-context, ipath, ipath-piecewise or ipath-hybrid"
        );
        assert_eq!(Method::from_number(u64::MAX), None);
    }
}
