//! What becomes of paths at the calls of a unit, why, and how often: every call that ran is told once.

use super::IpathUnit;
use cotree_core::facts::{Callee, Function, Linkage, linker_name};
use cotree_core::graph::strong::components;
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::ipath::decode::{Step, active_suffix};
use cotree_core::method::ipath::{AtCall, Entry};
use std::collections::{BTreeMap, HashMap};

/// Why paths cross a call, or run on past it without the callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Paths go on in the callee and come back.
    Crossed,
    /// Paths go on in the callee and end there; the caller's run on past the call.
    OneWay,
    /// The call closes a cycle of calls: its callee begins a path of its own.
    Recursive,
    /// There would be more paths than numbers, or the strategy leaves the call out.
    LeftOut,
    /// No caller can say with which path it calls: the name may mean another function, there may be several of them, or
    /// the callee does what no path can be followed through.
    CallersUnknown,
    /// The caller is gone when the callee returns: a `musttail` call.
    TailCall,
    /// The call is made through a pointer, and led to a function whose paths go on from the caller's.
    Reached,
    /// The call is made through a pointer, and led to another function, or to code without counters.
    Pointer,
    /// The callee is not in the unit, or has no counters.
    Outside,
    /// The call may return twice: a path ends before it, and one begins behind it each time.
    ReturnsTwice,
}

impl Reason {
    /// All reasons, in the order in which they are told.
    pub const ALL: [Self; 10] = [
        Self::Crossed,
        Self::OneWay,
        Self::Recursive,
        Self::LeftOut,
        Self::CallersUnknown,
        Self::TailCall,
        Self::Reached,
        Self::Pointer,
        Self::Outside,
        Self::ReturnsTwice,
    ];

    /// The field in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crossed => "crossed",
            Self::OneWay => "one_way",
            Self::Recursive => "recursive",
            Self::LeftOut => "left_out",
            Self::CallersUnknown => "callers_unknown",
            Self::TailCall => "tail_call",
            Self::Reached => "pointer_one_way",
            Self::Pointer => "pointer",
            Self::Outside => "outside",
            Self::ReturnsTwice => "returns_twice",
        }
    }

    /// The words of tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Crossed => "crossed",
            Self::OneWay => "crossed on the way in only",
            Self::Recursive => "recursive",
            Self::LeftOut => "left out, so that numbers fit",
            Self::CallersUnknown => "callee not certain",
            Self::TailCall => "in place of the caller",
            Self::Reached => "through a pointer, crossed on the way in",
            Self::Pointer => "through a pointer",
            Self::Outside => "of code without counters",
            Self::ReturnsTwice => "may return twice",
        }
    }
}

/// How many calls there are with a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// In the code.
    pub calls: u64,
    /// How often they were made.
    pub made: u128,
}

/// The calls of the functions with paths, by reason.
#[must_use]
pub fn by_reason(of: &IpathUnit<'_>) -> BTreeMap<Reason, Calls> {
    let program = &of.unit.map.program;
    let modules = program.modules.iter().enumerate();
    let functions: Vec<(usize, &Function)> =
        modules.flat_map(|(module, facts)| facts.functions.iter().map(move |function| (module, function))).collect();
    let mut names: HashMap<&str, Vec<FunctionId>> = HashMap::new();
    for (number, (_, function)) in functions.iter().enumerate() {
        names.entry(linker_name(&function.symbol)).or_default().push(FunctionId::new(number));
    }
    // The function of that name that a module sees.
    let find = |module: usize, name: &str| {
        let all = names.get(name)?;
        let seen = |own: bool| {
            all.iter().copied().find(|id| {
                let (home, function) = functions[id.index()];
                if own { home == module } else { function.linkage != Linkage::Internal }
            })
        };
        seen(true).or_else(|| seen(false))
    };
    let cycles = Cycles::new(of, &functions, find);
    let reached = reached(of);
    let mut found: BTreeMap<Reason, Calls> = BTreeMap::new();
    for (number, &(module, function)) in functions.iter().enumerate() {
        let key = &of.plan.functions[number].key;
        if key.entry == Entry::Unmeasured {
            continue;
        }
        let flow = of.unit.function(FunctionId::new(number)).and_then(|function| function.flow());
        for (call, facts) in function.calls.numbered() {
            if facts.is_marker() || facts.callee == Callee::Assembly {
                continue;
            }
            let at = key.at(call);
            let callee = facts.callee_name().and_then(|name| find(module, name));
            let reason = match (at, callee) {
                (Some(AtCall::Cross(_)), _) => Reason::Crossed,
                (Some(AtCall::Descend(_)), _) => Reason::OneWay,
                (Some(AtCall::Cut), _) => Reason::ReturnsTwice,
                (Some(AtCall::Reach(_)), _) => Reason::Reached,
                _ if facts.callee == Callee::Indirect => Reason::Pointer,
                (_, Some(callee)) => match &of.plan.functions[callee.index()].key {
                    key if key.entry == Entry::Unmeasured => Reason::Outside,
                    _ if cycles.closes(FunctionId::new(number), callee) => Reason::Recursive,
                    key if !key.enterable || facts.callee_uncertain => Reason::CallersUnknown,
                    _ if facts.must_tail => Reason::TailCall,
                    _ => Reason::LeftOut,
                },
                (_, None) => Reason::Outside,
            };
            let made = flow.as_ref().map_or(0, |flow| u128::from(flow.call(call)));
            let by_reason = match reason {
                Reason::Reached => {
                    let reached = reached.get(&(FunctionId::new(number), call)).copied().unwrap_or(0).min(made);
                    [(reason, reached), (Reason::Pointer, made - reached)]
                }
                _ => [(reason, made), (reason, 0)],
            };
            found.entry(reason).or_default().calls += 1;
            by_reason.into_iter().for_each(|(reason, made)| found.entry(reason).or_default().made += made);
        }
    }
    found
}

/// Per call through a pointer, how often it led to a function whose paths go on from it: that is where their active
/// suffix begins.
fn reached(of: &IpathUnit<'_>) -> HashMap<(FunctionId, CallId), u128> {
    let numbering = &of.profile.numbering;
    let ran = of.profile.paths.iter().map(|&(number, count)| (number, i128::from(count)));
    let ended = of.profile.ended.iter().map(|&(number, count)| (number, i128::from(count)));
    let mut made: HashMap<(FunctionId, CallId), i128> = HashMap::new();
    for (number, count) in ran.chain(ended) {
        let Some(steps) = numbering.path(number) else { continue };
        if let Some(&Step::Descend(caller, call, _)) = steps.get(active_suffix(numbering, &steps)) {
            *made.entry((caller, call)).or_default() += count;
        }
    }
    made.into_iter().map(|(call, made)| (call, made.max(0).unsigned_abs())).collect()
}

/// The cycles of calls by name.
struct Cycles {
    /// Per function, the number of its strongly connected component.
    component: Vec<u32>,
}

impl Cycles {
    fn new(
        of: &IpathUnit<'_>,
        functions: &[(usize, &Function)],
        find: impl Fn(usize, &str) -> Option<FunctionId>,
    ) -> Self {
        let calls = |(number, &(module, function)): (usize, &(usize, &Function))| {
            let key = &of.plan.functions[number].key;
            let named = function.calls.iter().filter(|_| key.entry != Entry::Unmeasured);
            let callees = named.filter_map(|call| find(module, call.callee_name()?));
            callees.map(FunctionId::index).collect::<Vec<usize>>()
        };
        let callees: Vec<Vec<usize>> = functions.iter().enumerate().map(calls).collect();
        let component = components(functions.len(), |function, n| callees[function].get(n).map(|&callee| Some(callee)));
        Self { component }
    }

    /// Is the call part of a cycle?
    fn closes(&self, caller: FunctionId, callee: FunctionId) -> bool {
        self.component[caller.index()] == self.component[callee.index()]
    }
}
