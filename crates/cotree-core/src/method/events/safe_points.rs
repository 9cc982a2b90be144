//! *Safe points*: where the program may learn that a limit of events is reached.
//!
//! A program that goes on for ever goes around in circles: of a function's graph, or of calls. So every circle gets a
//! safe point:
//!
//! * where blocks begin to which a backedge of a depth-first search leads (every circle of a graph has such an edge,
//!   reducible or not);
//! * where functions begin to which such an edge of the call graph leads; and where those begin that unknown code may
//!   call and that may call unknown code, since circles may lead through it.
//!
//! At a safe point stands a call ([`SAFE_POINT`](crate::facts::SAFE_POINT)): it can be left by a jump like any other,
//! and it can reach a query, so that nothing is lacking of the counter there.
//!
//! Functions that get no probes have none either.

use super::reach::CallGraph;
use crate::facts::{Function, ProgramMap};
use crate::graph::cfg::CfgError;
use crate::graph::dfs::Dfs;
use crate::ids::Block;
use std::collections::BTreeSet;

/// Per function of the unit, the blocks that begin with a safe point. `callers_known` and `preemptible` are those of
/// [`UnitFacts`](crate::unit::UnitFacts).
///
/// # Errors
/// A function's edges form no control-flow graph.
pub fn safe_points(
    program: &ProgramMap,
    callers_known: &[bool],
    preemptible: bool,
) -> Result<Vec<BTreeSet<Block>>, CfgError> {
    let graph = CallGraph::new(program, preemptible);
    let mut points = Vec::with_capacity(graph.functions.len());
    for (_, function) in &graph.functions {
        points.push(in_function(function)?);
    }
    for function in in_call_graph(&graph, callers_known) {
        if graph.functions[function].1.untouched.is_none() {
            points[function].insert(Block(0));
        }
    }
    Ok(points)
}

/// The blocks of a function to which backedges lead.
fn in_function(function: &Function) -> Result<BTreeSet<Block>, CfgError> {
    if function.untouched.is_some() {
        return Ok(BTreeSet::new());
    }
    let cfg = function.cfg()?;
    let search = Dfs::new(&cfg);
    let backedges = cfg.edges().filter(|&edge| edge != cfg.exit_edge() && search.is_backedge(edge));
    Ok(backedges.map(|edge| cfg.dst(edge)).collect())
}

/// The functions that begin with a safe point for the sake of recursion.
fn in_call_graph(graph: &CallGraph<'_>, callers_known: &[bool]) -> BTreeSet<usize> {
    let count = graph.functions.len();
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut leads_out = vec![false; count];
    for (caller, (_, function)) in graph.functions.iter().enumerate() {
        for call in function.calls.iter().filter(|call| !call.is_safe_point()) {
            let entered = graph.entered(caller, call);
            leads_out[caller] |= entered.unknown;
            callees[caller].extend(entered.functions);
            entered.functions.iter().for_each(|&callee| callers[callee].push(caller));
        }
    }
    let mut points = entered_again(&callees);
    let mut work: Vec<usize> = (0..count).filter(|&function| leads_out[function]).collect();
    while let Some(callee) = work.pop() {
        for &caller in &callers[callee] {
            if !std::mem::replace(&mut leads_out[caller], true) {
                work.push(caller);
            }
        }
    }
    points.extend((0..count).filter(|&f| leads_out[f] && callers_known.get(f) != Some(&true)));
    points
}

/// The nodes of a graph to which a depth-first search finds an edge while they are open.
fn entered_again(next: &[Vec<usize>]) -> BTreeSet<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; next.len()];
    let mut again = BTreeSet::new();
    for root in 0..next.len() {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut open = vec![(root, next[root].iter())];
        while let Some((node, rest)) = open.last_mut() {
            let Some(&to) = rest.next() else {
                state[*node] = State::Done;
                open.pop();
                continue;
            };
            match state[to] {
                State::New => {
                    state[to] = State::Open;
                    open.push((to, next[to].iter()));
                }
                State::Open => drop(again.insert(to)),
                State::Done => {}
            }
        }
    }
    again
}
