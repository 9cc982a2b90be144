//! Whose entries follow from callers: what has to be known about everything that may call a function, and the plan of an
//! edge profile that makes use of it ([`cotree_core::supergraph`]).
//!
//! All calls of such a function are in sight: it is internal to its module, or the linker says that only bitcode of this
//! link refers to it; nothing takes its address; functions without probes don't call it, nor does assembly; and it has no name
//! that LLVM would call of its own accord, as it does `memcpy`. What the optimiser does with calls later is of no concern: counts
//! speak of the code as it stands now, and a call that is inlined, or deleted with a function that has no effect any more,
//! was made as often as its block ran.

use crate::error::Error;
use crate::extract::plain;
use crate::link::callers;
use crate::link::job::JobModule;
use crate::link::prepared::Prepared;
use cotree_core::affine::{AffineVariable, Trades};
use cotree_core::cfg::Cfg;
use cotree_core::facts::{Function, Linkage};
use cotree_core::method::counters::edge;
use cotree_core::plan::{CallPoint, CounterPlan, DerivedEntry};
use cotree_core::promotion;
use cotree_core::supergraph::{self, Candidate};
use cotree_core::weighting::Weighting;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Everything that calls each function of the unit, in order; nothing where more may call it than we see.
///
/// Without the linker's word (`modules` is `None`) these are internal functions only. `foreign` are names that the user's
/// linker options give a meaning of their own.
pub(crate) fn call_points(
    prepared: &[Prepared],
    modules: Option<&[JobModule]>,
    foreign: &[String],
) -> Vec<Vec<CallPoint>> {
    let mut functions = Vec::new();
    for (module, Prepared { extracted, .. }) in prepared.iter().enumerate() {
        functions.extend(extracted.facts.functions.iter().map(|facts| (module, facts)));
    }
    let names = Names::new(functions.iter().copied());
    let mut known: Vec<bool> = functions
        .iter()
        .map(|(_, facts)| {
            let linkage = match facts.linkage {
                Linkage::Internal => true,
                Linkage::External => modules.is_some(),
                Linkage::Copy => false,
            };
            linkage && !facts.address_taken && facts.untouched.is_none() && !is_library_name(plain(&facts.symbol))
        })
        .collect();
    let assembly = prepared.iter().flat_map(|p| &p.extracted.named_in_assembly).map(String::as_str);
    let symbols = modules.into_iter().flatten().flat_map(|m| &m.symbols).filter(|s| s.ir_name.is_empty());
    let named: HashSet<&str> =
        assembly.chain(symbols.map(|s| s.name.as_str())).chain(foreign.iter().map(String::as_str)).collect();
    for (known, (_, facts)) in known.iter_mut().zip(&functions) {
        *known &= !named.contains(plain(&facts.symbol));
    }
    let mut points = vec![Vec::new(); functions.len()];
    for (number, (module, facts)) in (0u32..).zip(&functions) {
        for (call, after_sites) in facts.calls.after_sites() {
            let Some(name) = callers::callee(call) else { continue };
            for &callee in names.of(*module, name) {
                if facts.untouched.is_some() || call.callee_uncertain {
                    known[callee] = false;
                } else {
                    points[callee].push(CallPoint { function: number, block: call.block, after_sites });
                }
            }
        }
    }
    for (callee, (_, facts)) in functions.iter().enumerate() {
        if !known[callee] || (facts.linkage != Linkage::Internal && names.shared(plain(&facts.symbol))) {
            points[callee] = Vec::new();
        }
    }
    points
}

/// Which functions a name may stand for.
struct Names<'a> {
    internal: HashMap<&'a str, HashMap<usize, Vec<usize>>>,
    others: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Names<'a> {
    fn new(functions: impl Iterator<Item = (usize, &'a Function)>) -> Self {
        let mut names = Self { internal: HashMap::new(), others: HashMap::new() };
        for (number, (module, facts)) in functions.enumerate() {
            let name = plain(&facts.symbol);
            match facts.linkage {
                Linkage::Internal => names.internal.entry(name).or_default().entry(module).or_default().push(number),
                _ => names.others.entry(name).or_default().push(number),
            }
        }
        names
    }

    fn of(&self, module: usize, name: &str) -> &[usize] {
        self.internal
            .get(name)
            .and_then(|by_module| by_module.get(&module))
            .or_else(|| self.others.get(name))
            .map_or(&[], Vec::as_slice)
    }

    /// Do several modules define it? They have copies of an inline function, say, and any of them may be what a call becomes.
    fn shared(&self, name: &str) -> bool {
        self.others.get(name).is_some_and(|functions| functions.len() > 1)
    }
}

/// Functions that our runtime stands in front of, besides those that LLVM knows.
const HOOKED: [&str; 11] = [
    "daemon",
    "dlclose",
    "fexecve",
    "longjmp",
    "pthread_create",
    "pthread_exit",
    "quick_exit",
    "setcontext",
    "siglongjmp",
    "thrd_create",
    "vfork",
];

/// Names of functions that LLVM may call though the program does not, or in place of what the program calls: those that it
/// knows of the C library, and everything that belongs to compilers.
fn is_library_name(name: &str) -> bool {
    // `operator new` and `operator delete`; other mangled names are the program's.
    let of_compiler = match name.strip_prefix('_') {
        Some(rest) => !(rest.starts_with(['Z', 'R'])) || ["Zn", "Zd"].iter().any(|start| operator(rest, start)),
        None => false,
    };
    static KNOWN: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("library_names.txt").split_whitespace().chain(HOOKED).collect());
    of_compiler || KNOWN.contains(name)
}

/// Is it a mangled operator for memory (`_Znw…`, `_Zna…`, `_Zdl…`, `_Zda…`)?
fn operator(rest: &str, start: &str) -> bool {
    rest.strip_prefix(start).is_some_and(|kind| kind.starts_with(['w', 'a', 'l']))
}

/// How many activations a weighting speaks of: a guess of one, counts of as many as there were.
fn activations(cfg: &Cfg, weighting: &Weighting) -> f64 {
    if weighting.is_guess() { 1.0 } else { weighting.edge(cfg.exit_edge()).max(1.0) }
}

/// What each block weighs per activation.
fn weights(cfg: &Cfg, weighting: &Weighting) -> Vec<f64> {
    let activations = activations(cfg, weighting);
    cfg.blocks().map(|block| weighting.block(block) / activations).collect()
}

/// What makes an edge profile cheaper within a function.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    /// Loop variables count.
    pub(crate) trades: bool,
    /// Counters are in registers where that pays.
    pub(crate) promotes: bool,
    /// The functions that tell where they begin whose thread they run on, by number in the unit (none, if empty): that
    /// counts their entries as well.
    pub(crate) announcing: &'a [bool],
}

/// Plans an edge profile: each function by itself, then without the counters that the callers make needless.
pub(crate) fn plan<G>(
    functions: &[&Function],
    graph: G,
    affine: &[&[AffineVariable]],
    calls: &[Vec<CallPoint>],
    means: Means<'_>,
) -> Result<(Vec<CounterPlan>, Vec<DerivedEntry>), Error>
where
    G: Fn(usize) -> Result<(Cfg, Weighting), Error> + Sync,
{
    /// One function planned: by itself, and if its entries may follow from its callers also so, with what that saves; last
    /// what its blocks weigh per activation.
    type Planned = (CounterPlan, Option<(Candidate, CounterPlan)>, Vec<f64>);
    let one = |number: usize| -> Result<Planned, Error> {
        let function = functions[number];
        if function.untouched.is_some() {
            return Ok((CounterPlan::default(), None, Vec::new()));
        }
        let (cfg, weighting) = graph(number)?;
        let variables = if means.trades { affine[number] } else { &[] };
        let trades = Trades::new(function, &cfg, &weighting, variables);
        let promoted = |mut plan: CounterPlan| {
            if means.promotes {
                promotion::promote(function, &cfg, &weighting, affine[number], &mut plan);
            }
            plan
        };
        let Some(calls) = calls.get(number).filter(|calls| !calls.is_empty()) else {
            let announces = means.announcing.get(number) == Some(&true);
            let plan = if announces { edge::plan_counting_entries } else { edge::plan_trades };
            let plan = promoted(plan(function, &cfg, &weighting, &trades));
            return Ok((plan, None, weights(&cfg, &weighting)));
        };
        let (alone, entered) = edge::plan_both(function, &cfg, &weighting, &trades);
        let candidate = entered.and_then(|(plan, saves)| {
            let saves = saves / activations(&cfg, &weighting);
            Some((Candidate::new(function, &cfg, &plan, calls.clone(), saves)?, promoted(plan)))
        });
        Ok((promoted(alone), candidate, weights(&cfg, &weighting)))
    };
    let planned: Vec<Planned> = (0..functions.len()).into_par_iter().map(one).collect::<Result<_, _>>()?;
    let weigh = |call: &CallPoint| {
        let blocks = planned.get(call.function as usize).map(|p| &p.2);
        blocks.and_then(|blocks| blocks.get(call.block.index())).copied().unwrap_or(0.0)
    };
    let often = supergraph::frequencies(calls, weigh);
    let candidate = |(number, planned): (usize, &Planned)| {
        let (candidate, _) = planned.1.as_ref()?;
        let often = often.get(number).copied().unwrap_or(1.0);
        Some(Candidate { saves: candidate.saves * often, ..candidate.clone() })
    };
    let entries = supergraph::choose(planned.iter().enumerate().map(candidate).collect());
    let mut plans = Vec::with_capacity(planned.len());
    let mut next = entries.iter().map(|entry| entry.function as usize).peekable();
    for (number, (alone, entered, _)) in planned.into_iter().enumerate() {
        let derived = next.next_if(|&function| function == number).is_some();
        plans.push(match entered {
            Some((_, entered)) if derived => entered,
            _ => alone,
        });
    }
    Ok((plans, entries))
}

#[cfg(test)]
mod tests;
