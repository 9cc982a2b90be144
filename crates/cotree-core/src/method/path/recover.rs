//! Recovers paths, blocks and edges from a table and abandoned activations.
//!
//! Everything becomes flow on the arcs of the path graph. A path counted *n* times adds *n* to each of its arcs. An
//! unfinished prefix adds to its arcs. An activation that was abandoned after its path was counted is subtracted from
//! the arcs that it did not reach. Flow conservation gives the rest; if it can't, the profile says so.

use super::error::PathError;
use super::graph::{PathGraph, Role, left};
use super::numbering::{Numbering, branch};
use super::profile::{Abandoned, PathProfile, PendingPath};
use super::types::{Arc, AtCalls, PathKey};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::flow;
use crate::ids::{Block, Edge, IdMap, Site};
use crate::plan::Measure;
use crate::profile::{EarlyExits, Flaw, FunctionProfile};
use std::collections::BTreeMap;

/// Recovers the profile of one function.
///
/// `counters` are those of the plan (self-loops), `table` pairs path numbers with counts (a number may occur more than
/// once), and `abandoned` has what the walks of dying stacks found. Metrics are ignored: [`PathProfile::sums`] stays
/// empty.
///
/// # Errors
/// See [`PathError`].
pub fn recover(
    function: &Function,
    cfg: &Cfg,
    key: &PathKey,
    counters: &[u64],
    table: &[(u64, u64)],
    abandoned: &[Abandoned],
) -> Result<PathProfile, PathError> {
    if function.untouched.is_some() {
        return Err(PathError::NothingMeasured);
    }
    let numbering = Numbering::new(function, cfg, &key.cuts)?;
    if numbering.paths() != key.paths {
        return Err(PathError::PathsMismatch { expected: key.paths, found: numbering.paths() });
    }
    let mut flows = Flows::new(cfg, &numbering);
    flows.add_self_loops(key, counters)?;
    let paths = flows.add_paths(table)?;
    let ends = flows.add_abandoned(function, key, abandoned)?;
    let resolved = flows.resolve(function, &ends.unresolved);

    let mut early = IdMap::filled(0i64, if abandoned.is_empty() { 0 } else { function.sites().len() });
    for entry in abandoned {
        let slot = &mut early[entry.site];
        *slot = slot.saturating_add(entry.count);
    }
    let mut counts = flows.counts(&EarlyExits { at_site: early }, resolved);
    if !resolved {
        counts.flaws.push(Flaw::UnknownExit);
    }
    if ends.damaged {
        counts.flaws.push(Flaw::Damaged);
    }
    Ok(PathProfile {
        paths,
        sums: Vec::new(),
        pending: ends.pending,
        cut_short: ends.cut_short,
        unresolved: ends.unresolved,
        counts,
    })
}

/// The abandoned activations, by what is known about them.
struct Ends {
    pending: Vec<PendingPath>,
    cut_short: Vec<(Site, i64)>,
    unresolved: Vec<(Site, i64)>,
    /// Some register was no prefix's.
    damaged: bool,
}

/// Flow per arc, and what it says about edges that are not arcs.
struct Flows<'a> {
    cfg: &'a Cfg,
    numbering: &'a Numbering,
    graph: &'a PathGraph,
    arcs: Vec<i128>,
    /// Self-loops, which are counted by themselves, and edges that lead through a dispatch node.
    edges: IdMap<Edge, i128>,
    consistent: bool,
}

impl<'a> Flows<'a> {
    fn new(cfg: &'a Cfg, numbering: &'a Numbering) -> Self {
        let graph = numbering.graph();
        let (arcs, edges) = (vec![0; graph.arc_count()], cfg.per_edge(0));
        Self { cfg, numbering, graph, arcs, edges, consistent: true }
    }

    fn add_self_loops(&mut self, key: &PathKey, counters: &[u64]) -> Result<(), PathError> {
        let loops = self.graph.self_loops();
        let measures = &key.self_loops.measures;
        if measures.len() != loops.len() || counters.len() != loops.len() {
            return Err(PathError::CounterMismatch { expected: loops.len(), found: counters.len() });
        }
        for (i, ((measure, &count), edge)) in measures.iter().zip(counters).zip(loops).enumerate() {
            if *measure != Measure::Edge(*edge) {
                return Err(PathError::UnknownMeasure(i));
            }
            self.edges[*edge] = count.into();
        }
        Ok(())
    }

    fn add(&mut self, arcs: &[Arc], count: i128) {
        // The context-prefix has been counted with the paths that it consists of.
        let active = arcs.iter().rposition(|&arc| matches!(self.graph.role(arc), Role::Again(_))).unwrap_or(0);
        let mut goto = None;
        for &arc in &arcs[active..] {
            self.arcs[arc] += count;
            match self.graph.role(arc) {
                Role::ToDispatch(src) => goto = Some(src),
                Role::FromDispatch(dst) => match goto.and_then(|src| branch(self.cfg, src, dst)) {
                    Some(edge) => self.edges[edge] += count,
                    None => self.consistent = false, // That branch can't go there.
                },
                _ => {}
            }
        }
    }

    fn add_paths(&mut self, table: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, PathError> {
        let mut sorted: Vec<(u64, u64)> = table.iter().copied().filter(|entry| entry.1 > 0).collect();
        sorted.sort_unstable();
        let mut paths: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
        for (number, count) in sorted {
            match paths.last_mut() {
                Some(last) if last.0 == number => last.1 = last.1.saturating_add(count),
                _ => paths.push((number, count)),
            }
        }
        for &(number, count) in &paths {
            let arcs = self.numbering.arcs(number).ok_or(PathError::NoSuchPath(number, self.numbering.paths()))?;
            self.add(&arcs, count.into());
        }
        Ok(paths)
    }

    fn add_abandoned(
        &mut self,
        function: &Function,
        key: &PathKey,
        abandoned: &[Abandoned],
    ) -> Result<Ends, PathError> {
        let mut pending: BTreeMap<(Site, u64), i64> = BTreeMap::new();
        let mut cut_short: BTreeMap<Site, i64> = BTreeMap::new();
        let mut unresolved: Vec<(Site, i64)> = Vec::new();
        let mut damaged = false;
        for &Abandoned { site, register, count } in abandoned {
            let block = function.calls.site(site).ok_or(PathError::NoSuchSite(site))?.block;
            let at_calls =
                key.at_calls(block).filter(|_| block < self.cfg.exit()).ok_or(PathError::NoSuchSite(site))?;
            let prefix = match (at_calls, register) {
                (AtCalls::Counted, _) => {
                    let slot = cut_short.entry(site).or_default();
                    *slot = slot.saturating_add(count);
                    let rest = self.only_path_on(block);
                    self.add(&rest, -i128::from(count));
                    continue;
                }
                (AtCalls::Known(prefix), _) => Some(prefix),
                (AtCalls::Query(query), Some(register)) => Some(register.wrapping_add(query).cast_unsigned()),
                (AtCalls::Query(_), None) => None,
            };
            match prefix.map(|prefix| (prefix, self.numbering.arcs_up_to(block, prefix))) {
                Some((prefix, Some(arcs))) => {
                    let slot = pending.entry((site, prefix)).or_default();
                    *slot = slot.saturating_add(count);
                    self.add(&arcs, count.into());
                }
                known => {
                    damaged |= known.is_some();
                    unresolved.push((site, count));
                }
            }
        }
        let pending = pending.into_iter().filter(|entry| entry.1 != 0);
        Ok(Ends {
            pending: pending.map(|((site, prefix), count)| PendingPath { site, prefix, count }).collect(),
            cut_short: cut_short.into_iter().filter(|entry| entry.1 != 0).collect(),
            unresolved,
            damaged,
        })
    }

    /// The arcs from the end of a block behind which paths don't branch.
    fn only_path_on(&mut self, block: Block) -> Vec<Arc> {
        let mut arcs = Vec::new();
        let mut node = left(block);
        while node != self.graph.exit() {
            let [arc] = self.graph.out(node) else {
                self.consistent = false; // No plan of ours counts so early.
                break;
            };
            arcs.push(*arc);
            node = self.graph.dst(*arc);
        }
        arcs
    }

    /// Finds the flow of prefixes that are not known. Each ends at a block where some are unresolved, and begins with a
    /// new activation or at a cut, where as many paths began as had ended: so many of the latter are missing.
    fn resolve(&mut self, function: &Function, unresolved: &[(Site, i64)]) -> bool {
        if unresolved.is_empty() {
            return true;
        }
        let graph = self.graph;
        let mut surplus = vec![0i128; graph.node_count()];
        let mut leads_there = vec![false; graph.node_count()];
        for &(site, count) in unresolved {
            let node = left(function.calls[site].block);
            leads_there[node] = true;
            surplus[node] -= i128::from(count);
            surplus[graph.entry()] += i128::from(count);
        }
        for &node in graph.topological_order().iter().rev() {
            let goes_on = |&arc: &Arc| !matches!(graph.role(arc), Role::Again(_)) && leads_there[graph.dst(arc)];
            leads_there[node] |= graph.out(node).iter().any(goes_on);
        }
        let missing = self.missing_begins();
        let leading: Vec<Arc> = (0..graph.arc_count()).filter(|&arc| leads_there[graph.dst(arc)]).collect();
        let begin = |arc| match graph.role(arc) {
            Role::Again(_) => graph.entry(),
            _ => graph.src(arc),
        };
        let links: Vec<(usize, usize)> = leading.iter().map(|&arc| (begin(arc), graph.dst(arc))).collect();
        let mut flow: Vec<Option<i128>> = leading.iter().map(|&arc| missing[arc]).collect();
        let outcome = flow::propagate(&links, &mut flow, surplus);
        for (&arc, found) in leading.iter().zip(&flow) {
            self.arcs[arc] += found.unwrap_or(0);
        }
        self.consistent &= outcome != Ok(false);
        outcome.is_ok()
    }

    /// Per arc from ENTRY after a cut, how many more paths ended at that cut than are known to have begun there.
    fn missing_begins(&self) -> Vec<Option<i128>> {
        let graph = self.graph;
        let mut after_edges = self.cfg.per_block(0i128);
        let (mut at_block, mut turns) = (after_edges.clone(), after_edges.clone());
        for arc in 0..graph.arc_count() {
            match graph.role(arc) {
                Role::EndOnEdge(edge) => after_edges[self.cfg.dst(edge)] += self.arcs[arc],
                Role::EndOfTurn(edge) => turns[self.cfg.dst(edge)] += self.arcs[arc],
                Role::EndAtBlock(block) => at_block[block] += self.arcs[arc],
                _ => {}
            }
        }
        let begins = |arc| match graph.role(arc) {
            Role::BeginAfterEdge(block) => Some(after_edges[block] - self.arcs[arc]),
            Role::Again(block) => Some(turns[block] - self.arcs[arc]),
            Role::BeginAtBlock(block) => Some(at_block[block] - self.arcs[arc]),
            _ => None,
        };
        (0..graph.arc_count()).map(begins).collect()
    }

    /// Blocks and edges.
    fn counts(mut self, early: &EarlyExits, resolved: bool) -> FunctionProfile {
        self.consistent &= self.arcs.iter().all(|&flow| flow >= 0);
        self.consistent &= !resolved || self.missing_begins().into_iter().flatten().all(|missing| missing == 0);
        let mut entries = 0;
        for arc in 0..self.graph.arc_count() {
            match self.graph.role(arc) {
                Role::Real(edge) | Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => self.edges[edge] += self.arcs[arc],
                Role::Enter => entries = self.arcs[arc],
                _ => {}
            }
        }
        self.edges[self.cfg.exit_edge()] = entries;
        let inflow = |block| self.cfg.preds(block).iter().map(|&e| self.edges[e]).sum();
        let blocks = self.cfg.blocks().filter(|&b| b != self.cfg.exit()).map(inflow).collect();
        let mut edges = self.edges.clone();
        edges.pop();
        FunctionProfile::from_flows(entries, blocks, Some(edges), early, self.consistent)
    }
}
