//! Where the code of a function of the source is: in the function of the machine of its name, and in the copies that
//! were inlined into others.

use super::normal_flow::{NormalFlow, Numbers};
use crate::flow::{Flow, FlowBound};
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::{Anchor, Call, CoveredFunction, EdgeKind, linker_name};
use cotree_core::ids::{Edge, Site};
use std::collections::{BTreeMap, BTreeSet};

/// The endings of the functions that LLVM makes of a coroutine, beside the one that starts it.
const PARTS_OF_COROUTINES: [&str; 3] = [".resume", ".destroy", ".cleanup"];

/// A function of the machine that was left early, or that holds a part of a coroutine.
struct Machine<'a> {
    function: UnitFunction<'a>,
    flow: Flow<'a>,
    normal: NormalFlow,
}

/// The functions of the machine of a unit in which a function of the source is corrected.
pub(super) struct Functions<'a> {
    machines: Vec<Machine<'a>>,
}

/// The code of one function of the source in one place.
pub(super) struct Instance<'f, 'a> {
    pub(super) flow: &'f Flow<'a>,
    pub(super) normal: &'f NormalFlow,
    /// The inlined copy; none if it is the function itself.
    pub(super) copy: Option<u32>,
    /// Whether lines are known to be of it. Without debug information nothing says what belongs to a copy.
    pub(super) has_own_lines: bool,
    /// The counters.
    pub(super) anchors: Vec<&'a Anchor>,
    /// Places that stand for counters which the compiler left out ([`super::left_out`]).
    pub(super) found: Vec<Anchor>,
    /// How many counters the function has.
    counters: usize,
}

/// All code of a function of the source.
#[derive(Default)]
pub(super) struct Instances<'f, 'a> {
    /// Each by itself.
    pub(super) apart: Vec<Instance<'f, 'a>>,
    /// The parts of a coroutine.
    pub(super) coroutine: Option<Vec<Instance<'f, 'a>>>,
}

impl<'a> Functions<'a> {
    /// Finds the functions of a unit. `is_wrong` says of which functions of the source the map is wrong although none
    /// was left.
    pub(super) fn of(unit: &Unit<'a>, is_wrong: impl Fn(&CoveredFunction) -> bool) -> Self {
        let with_counters = unit.functions().filter(|function| !function.facts.anchors.is_empty());
        let machine = |function: UnitFunction<'a>| {
            let flow = function.flow()?;
            let wanted = flow.bound != FlowBound::Exact
                || was_left_early(&flow)
                || may_be_of_coroutine(&function.facts.symbol)
                || lacks_counters(&function)
                || own_function(&function).is_some_and(&is_wrong);
            wanted.then(|| Machine { function, normal: NormalFlow::new(&flow), flow })
        };
        let mut machines: Vec<Machine<'a>> = with_counters.filter_map(machine).collect();
        // What starts a coroutine belongs to its parts.
        let starts: Vec<String> =
            machines.iter().filter_map(|machine| start_of(&machine.function.facts.symbol)).collect();
        if !starts.is_empty() {
            let is_there = |symbol: &str| machines.iter().any(|machine| machine.function.facts.symbol == symbol);
            let missing: Vec<_> = unit
                .functions()
                .filter(|function| starts.contains(&function.facts.symbol) && !is_there(&function.facts.symbol))
                .collect();
            for function in missing {
                if let Some(flow) = function.flow() {
                    machines.push(Machine { function, normal: NormalFlow::new(&flow), flow });
                }
            }
        }
        Self { machines }
    }

    /// The functions of the source with code in these functions of the machine.
    pub(super) fn left_early(&self) -> BTreeMap<&'a CoveredFunction, Instances<'_, 'a>> {
        let mut all: BTreeMap<&CoveredFunction, Instances<'_, 'a>> = BTreeMap::new();
        for Machine { function, flow, normal } in &self.machines {
            let mut by_copy: BTreeMap<(u32, Option<u32>), Vec<&'a Anchor>> = BTreeMap::new();
            for anchor in &function.facts.anchors {
                by_copy.entry((anchor.function, anchor.inlined)).or_default().push(anchor);
            }
            let symbol = linker_name(&function.facts.symbol);
            for ((number, copy), anchors) in by_copy {
                let Some(covered) = function.module.covered.get(number as usize) else { continue };
                let own = symbol_of(&covered.name);
                let is_part = copy.is_none() && start_of(symbol).is_some_and(|start| start == own);
                let has_own_lines = copy.is_some() || is_part || own == symbol;
                let counters = covered.counters as usize;
                let instance = Instance { flow, normal, copy, has_own_lines, anchors, found: Vec::new(), counters };
                let instances = all.entry(covered).or_default();
                if is_part {
                    instances.coroutine.get_or_insert_default().push(instance);
                } else {
                    instances.apart.push(instance);
                }
            }
        }
        for instances in all.values_mut() {
            if let Some(parts) = &mut instances.coroutine {
                let (start, apart) = std::mem::take(&mut instances.apart)
                    .into_iter()
                    .partition(|instance: &Instance<'_, '_>| instance.copy.is_none() && instance.has_own_lines);
                instances.apart = apart;
                parts.extend::<Vec<_>>(start);
            }
        }
        all
    }
}

impl<'a> Instance<'_, 'a> {
    /// Does it start a coroutine, of which it is a part?
    pub(super) fn starts(&self) -> bool {
        !may_be_of_coroutine(&self.flow.function.symbol)
    }

    /// Does it destroy a suspended coroutine?
    pub(super) fn destroys(&self) -> bool {
        let symbol = linker_name(&self.flow.function.symbol);
        symbol.ends_with(".destroy") || symbol.ends_with(".cleanup")
    }

    /// This code, with other random circulations.
    pub(super) fn with<'n>(&'n self, normal: &'n NormalFlow) -> Instance<'n, 'a> {
        Instance { normal, anchors: self.anchors.clone(), found: self.found.clone(), ..*self }
    }

    /// This code, with places for counters that were left out.
    pub(super) fn with_found(&self, found: Vec<Anchor>) -> Instance<'_, 'a> {
        Instance { found, anchors: self.anchors.clone(), ..*self }
    }

    /// All counters that have a place.
    pub(super) fn placed(&self) -> impl Iterator<Item = &Anchor> {
        self.anchors.iter().copied().chain(&self.found)
    }

    /// Was it written in Rust?
    pub(super) fn is_of_rust(&self) -> bool {
        is_of_rust(linker_name(&self.flow.function.symbol))
    }

    /// How many counters the function has.
    pub(super) fn counters(&self) -> u32 {
        self.counters as u32
    }

    /// Has the compiler left out counters, and found none to stand for them? rustc says in the map which, as clang does
    /// not.
    pub(super) fn lacks_counters(&self) -> bool {
        let placed: BTreeSet<u32> = self.placed().map(|anchor| anchor.counter).collect();
        self.copy.is_none() && self.has_own_lines && !self.is_of_rust() && placed.len() < self.counters
    }

    /// Is there more to correct than counters that were left out?
    pub(super) fn was_left(&self) -> bool {
        self.flow.bound != FlowBound::Exact || was_left_early(self.flow)
    }

    /// Did activations come to life in its midst?
    pub(super) fn was_revived(&self) -> bool {
        self.flow.profile.early.iter().any(|&early| early < 0)
    }

    /// The values of the counters.
    pub(super) fn counts(&self) -> Vec<i128> {
        self.sums(|anchor| self.flow.anchor(anchor).into())
    }

    /// The numbers of the counters in the circulations.
    pub(super) fn numbers(&self) -> [Vec<i128>; 3] {
        Numbers::of(|circulation| self.sums(|anchor| circulation(self.normal).block(anchor.block)))
    }

    /// How often this copy was left at a call of its own, or of what was inlined into it.
    pub(super) fn left_early(&self) -> i128 {
        let function = self.flow.function;
        let is_within = |call: &Call| {
            let inside = function.line_span(call).and_then(|span| span.inlined);
            let around = |&copy: &u32| function.inlined.get(copy as usize).and_then(|copy| copy.parent);
            std::iter::successors(inside, around).any(|copy| Some(copy) == self.copy)
        };
        let sites = (0u32..).zip(function.sites()).filter(|(_, call)| is_within(call));
        let early: i128 = sites.map(|(site, _)| i128::from(self.flow.early(site))).sum();
        let unwinds = |edge: &Edge| function.edges.get(*edge).is_some_and(|edge| edge.kind == EdgeKind::InvokeUnwind);
        let invokes = function.calls.iter().filter(|call| call.terminator && is_within(call));
        let unwound = invokes.flat_map(|call| self.flow.cfg.succs(call.block).iter().copied().filter(unwinds));
        early + unwound.filter_map(|edge| self.flow.edge(edge)).map(i128::from).sum::<i128>()
    }

    fn sums(&self, value: impl Fn(&Anchor) -> i128) -> Vec<i128> {
        let mut sums = vec![0i128; self.counters];
        for anchor in self.placed() {
            if let Some(sum) = sums.get_mut(anchor.counter as usize) {
                *sum += value(anchor);
            }
        }
        sums
    }
}

/// Was an activation left in the midst, or entered again?
fn was_left_early(flow: &Flow<'_>) -> bool {
    let unwinds = |kind: EdgeKind| kind == EdgeKind::InvokeUnwind;
    let thrown = || {
        let mut edges = flow.cfg.edges().filter(|&edge| edge != flow.cfg.exit_edge());
        edges.any(|edge| unwinds(flow.function.edges[edge].kind) && flow.edge(edge) != Some(0))
    };
    flow.profile.early.numbered().any(|(_, &count): (Site, _)| count != 0) || thrown()
}

/// Did the compiler leave out counters of a function? rustc says in the map which, as clang does not.
fn lacks_counters(function: &UnitFunction<'_>) -> bool {
    let symbol = linker_name(&function.facts.symbol);
    let own = function.facts.anchors.iter().filter(|anchor| anchor.inlined.is_none());
    let counters: BTreeSet<(u32, u32)> = own.map(|anchor| (anchor.function, anchor.counter)).collect();
    let first = counters.first().and_then(|&(first, _)| Some((first, function.module.covered.get(first as usize)?)));
    first.is_some_and(|(first, covered)| {
        let placed = counters.iter().filter(|&&(number, at)| number == first && at < covered.counters).count();
        symbol_of(&covered.name) == symbol && placed < covered.counters as usize && !is_of_rust(symbol)
    })
}

/// The function of the source that a function of the machine is.
fn own_function<'a>(function: &UnitFunction<'a>) -> Option<&'a CoveredFunction> {
    let own = function.facts.anchors.iter().find(|anchor| anchor.inlined.is_none())?;
    function.module.covered.get(own.function as usize)
}

/// Is it a symbol of Rust's, mangled in the new or the old manner?
fn is_of_rust(symbol: &str) -> bool {
    let has_hash = || symbol.len() > 20 && symbol.ends_with('E') && symbol[..symbol.len() - 17].ends_with("17h");
    symbol.starts_with("_R") || symbol.starts_with("_ZN") && symbol.is_ascii() && has_hash()
}

fn may_be_of_coroutine(symbol: &str) -> bool {
    start_of(symbol).is_some()
}

/// The function that starts the coroutine of which this one is a part.
fn start_of(symbol: &str) -> Option<String> {
    let symbol = linker_name(symbol);
    PARTS_OF_COROUTINES.iter().find_map(|ending| symbol.strip_suffix(ending)).map(str::to_owned)
}

/// The symbol in a name of the coverage map, which in a local function stands behind a file.
fn symbol_of(name: &str) -> &str {
    let name = if name.starts_with(['-', '+']) { name } else { name.rsplit([';', ':']).next().unwrap_or(name) };
    linker_name(name)
}
