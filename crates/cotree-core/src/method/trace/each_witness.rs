//! Witnesses as the paper places them, each of which is written where its edge is taken (Ball & Larus 1994, §4.1 and
//! §4.2).
//!
//! A vertex is a node of the graph that calls have been taken out of, so a call that writes is the end of one node, and
//! what is behind it is reached from no other. A link is *free* if it has no witness, and a node is a *predicate* if it
//! has several links. Three things have to hold:
//!
//! - *Blocking*: no free path leads from a predicate to an end, that is a call that writes, an access that tells its
//!   address, a block that says its number, or EXIT. So what a predicate reads was written by its own activation.
//! - No free path is a cycle.
//! - No predicate has two free paths to the same witness, so the next witness says which of its links was taken.
//!
//! Blockers come first, on the links of the last predicates before each end; then whatever is off a maximum spanning
//! forest of the other links. Breaking all undirected cycles is more than enough (§4.1), so the costliest witnesses
//! that are not needed are freed again. Last, values are used again where no predicate has to tell two of them apart
//! (§6.2): the first step towards few bits, and to one byte for each witness.

use super::segments::{Node, Segments, Target};
use super::types::{Encoding, TraceError, TraceKey};
use super::witness_values::values;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::Edge;
use crate::weight::weighting::Weighting;

/// The limits of what may come next at a predicate that are tried: what fits a byte, and fewer where all sets together
/// would be too large.
const MOST_NEXT: [u64; 3] = [1 << 8, 1 << 6, 1 << 3];
/// To free needless witnesses takes at most so many steps in a function; those that are left stay.
const MOST_STEPS: usize = 1 << 22;

/// Chooses the witnesses of a function and their values, in order.
///
/// # Errors
/// If the witnesses can't block, or would be too many.
pub(super) fn choose(
    function: &Function,
    cfg: &Cfg,
    key: &TraceKey,
    weighting: &Weighting,
) -> Result<Vec<(Edge, u32)>, TraceError> {
    let key = TraceKey { encoding: Encoding::EachWitness, witnesses: Vec::new(), ..key.clone() };
    let segments = Segments::uncut(function, cfg, &key)?;
    let mut placing = Placing::new(&segments, weighting)?;
    placing.block();
    placing.break_cycles();
    placing.free_needless();
    for most in MOST_NEXT {
        placing.limit(most);
        let own = TraceKey { witnesses: placing.numbered(), ..key.clone() };
        let numbered = match Segments::new(function, cfg, &own) {
            Err(TraceError::TooManyPaths) => continue,
            numbered => numbered?,
        };
        let values = values(own.witnesses.len(), numbered.witness_sets());
        return Ok(own.witnesses.iter().zip(values).map(|(&(edge, _), value)| (edge, value)).collect());
    }
    Err(TraceError::TooManyPaths)
}

/// A link of the graph.
struct Arc {
    from: Node,
    /// The node that it leads to; `None`: an end.
    to: Option<Node>,
    edge: Edge,
    weight: f64,
    /// Whether the arc has a witness.
    has_witness: bool,
}

struct Placing {
    arcs: Vec<Arc>,
    /// Per node, the arcs out of it and into it.
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
}

impl Placing {
    fn new(segments: &Segments, weighting: &Weighting) -> Result<Self, TraceError> {
        let count = segments.nodes.len();
        let (mut arcs, mut out, mut into) = (Vec::new(), vec![Vec::new(); count], vec![Vec::new(); count]);
        for (from, own) in out.iter_mut().enumerate() {
            let links = segments.links(from);
            for link in links {
                // No witness fits on the edges of an indirect branch. Such a function gets another encoding.
                if link.target == Target::Dispatch && links.len() > 1 {
                    return Err(TraceError::TooManyPaths);
                }
                let number = arcs.len() as u32;
                let to = if let Target::Node(to) = link.target { Some(to) } else { None };
                own.push(number);
                if let Some(to) = to {
                    into[to].push(number);
                }
                arcs.push(Arc { from, to, edge: link.edge, weight: weighting.edge(link.edge), has_witness: false });
            }
        }
        Ok(Self { arcs, out, into })
    }

    fn is_predicate(&self, node: Node) -> bool {
        self.out[node].len() > 1
    }

    /// Does an end follow without another node?
    fn ends(&self, node: Node) -> bool {
        self.out[node].iter().all(|&arc| self.arcs[arc as usize].to.is_none())
    }

    /// Places the blockers (§4.2): as far from the ends as can be, so that none is redundant.
    fn block(&mut self) {
        let mut seen = vec![false; self.out.len()];
        let mut open: Vec<Node> =
            (0..self.out.len()).filter(|&node| !self.is_predicate(node) && self.ends(node)).collect();
        open.iter().for_each(|&node| seen[node] = true);
        for arc in &mut self.arcs {
            arc.has_witness = arc.to.is_none() && self.out[arc.from].len() > 1;
        }
        while let Some(node) = open.pop() {
            for &arc in &self.into[node] {
                let from = self.arcs[arc as usize].from;
                if self.is_predicate(from) {
                    self.arcs[arc as usize].has_witness = true;
                } else if !std::mem::replace(&mut seen[from], true) {
                    open.push(from);
                }
            }
        }
    }

    /// Arcs without a witness, or those with one; the costliest first.
    fn costliest(&self, has_witness: bool) -> Vec<u32> {
        let mut arcs: Vec<u32> =
            (0..self.arcs.len() as u32).filter(|&arc| self.arcs[arc as usize].has_witness == has_witness).collect();
        arcs.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|arc| &self.arcs[arc as usize]);
            b.weight.total_cmp(&a.weight).then(a.edge.cmp(&b.edge))
        });
        arcs
    }

    /// Places witnesses on what is off a maximum spanning forest.
    fn break_cycles(&mut self) {
        let mut trees = UnionFind::new(self.out.len());
        for arc in self.costliest(false) {
            let arc = &mut self.arcs[arc as usize];
            arc.has_witness = arc.to.is_some_and(|to| !trees.union(arc.from, to));
        }
    }

    /// Frees witnesses that nothing needs, the costliest first.
    fn free_needless(&mut self) {
        let mut steps = 0;
        for arc in self.costliest(true) {
            if steps > MOST_STEPS {
                break;
            }
            if self.is_needless(arc, &mut steps) {
                self.arcs[arc as usize].has_witness = false;
            }
        }
    }

    /// Does all still hold without this arc's witness? Who can get to the arc must not get to what is behind it in
    /// another way, nor to an end if it comes by a predicate.
    fn is_needless(&self, arc: u32, steps: &mut usize) -> bool {
        let Arc { from, to: Some(to), .. } = self.arcs[arc as usize] else { return false };
        let before = self.closure(vec![from], &self.into, |arc| Some(arc.from), steps);
        let behind = self.closure(vec![to], &self.out, |arc| arc.to, steps);
        // A predicate has witnesses on its links to ends, so only another node leads to one without.
        let reaches_end = || behind.iter().any(|&node| !self.is_predicate(node) && self.ends(node));
        if before.iter().any(|&node| self.is_predicate(node)) && reaches_end() {
            return false;
        }
        let mut reached = self.closure(before, &self.out, |arc| arc.to, steps);
        reached.sort_unstable();
        !behind.iter().any(|node| reached.binary_search(node).is_ok())
    }

    /// The nodes, and all that free arcs lead to from them.
    fn closure(
        &self,
        mut nodes: Vec<Node>,
        arcs: &[Vec<u32>],
        head: impl Fn(&Arc) -> Option<Node>,
        steps: &mut usize,
    ) -> Vec<Node> {
        let mut seen: std::collections::HashSet<Node> = nodes.iter().copied().collect();
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            for &arc in &arcs[node] {
                *steps += 1;
                let arc = &self.arcs[arc as usize];
                if let Some(head) = head(arc).filter(|_| !arc.has_witness)
                    && seen.insert(head)
                {
                    nodes.push(head);
                }
            }
        }
        nodes
    }

    /// Places more witnesses, on the coldest arcs that help, so that at most `most` may come next anywhere. Free paths
    /// to different witnesses part, so the sets of a node's links add up.
    fn limit(&mut self, most: u64) {
        let mut waiting: Vec<usize> = self.out.iter().map(|out| out.len()).collect();
        for arc in self.arcs.iter().filter(|arc| arc.has_witness || arc.to.is_none()) {
            waiting[arc.from] -= 1;
        }
        let mut open: Vec<Node> = (0..self.out.len()).filter(|&node| waiting[node] == 0).collect();
        let mut sizes = vec![0u64; self.out.len()];
        while let Some(node) = open.pop() {
            let size = |arc: &Arc, sizes: &[u64]| match arc.to {
                Some(to) if !arc.has_witness => sizes[to],
                _ => 1,
            };
            let mut sum: u64 = self.out[node].iter().map(|&arc| size(&self.arcs[arc as usize], &sizes)).sum();
            if sum > most {
                let mut larger: Vec<u32> = self.out[node].clone();
                larger.retain(|&arc| size(&self.arcs[arc as usize], &sizes) > 1);
                larger.sort_by(|&a, &b| {
                    let [a, b] = [a, b].map(|arc| &self.arcs[arc as usize]);
                    a.weight.total_cmp(&b.weight).then(a.edge.cmp(&b.edge))
                });
                for arc in larger {
                    if sum <= most {
                        break;
                    }
                    sum -= size(&self.arcs[arc as usize], &sizes) - 1;
                    self.arcs[arc as usize].has_witness = true;
                }
            }
            sizes[node] = sum.max(1);
            for &arc in &self.into[node] {
                let arc = &self.arcs[arc as usize];
                // One that has got its witness just now was waited for before.
                if !arc.has_witness {
                    waiting[arc.from] -= 1;
                    if waiting[arc.from] == 0 {
                        open.push(arc.from);
                    }
                }
            }
        }
    }

    /// The edges with witnesses, in order, each with a value of its own.
    fn numbered(&self) -> Vec<(Edge, u32)> {
        let mut edges: Vec<Edge> = self.arcs.iter().filter(|arc| arc.has_witness).map(|arc| arc.edge).collect();
        edges.sort_unstable();
        edges.into_iter().zip(0..).collect()
    }
}
