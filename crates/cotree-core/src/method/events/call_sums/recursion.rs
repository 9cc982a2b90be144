//! Which functions may be entered again while they run, and at which calls.

use crate::graph::strong;
use crate::method::events::reach::CallGraph;

/// Components of the call graph, in which all code that is not known is one more node.
pub(super) struct Components {
    /// Per function, then of unknown code, the number of its component.
    of: Vec<u32>,
    /// Per component, may what is in it call itself?
    circular: Vec<bool>,
}

impl Components {
    /// `called` says which functions unknown code may call.
    pub fn new(graph: &CallGraph<'_>, called: impl Fn(usize) -> bool) -> Self {
        let count = graph.functions.len();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for (caller, (_, function)) in graph.functions.iter().enumerate() {
            for call in function.calls.iter() {
                let entered = graph.entered(caller, call);
                next[caller].extend(entered.functions);
                next[caller].extend(entered.unknown.then_some(count));
            }
        }
        next[count] = (0..count).filter(|&function| called(function)).collect();
        Self::of_graph(&next)
    }

    fn of_graph(next: &[Vec<usize>]) -> Self {
        let of = strong::components(next.len(), |node, arrow| next[node].get(arrow).copied().map(Some));
        let mut circular = vec![false; of.len()];
        for (node, to) in next.iter().enumerate().flat_map(|(node, all)| all.iter().map(move |&to| (node, to))) {
            circular[of[node] as usize] |= of[node] == of[to];
        }
        Self { of, circular }
    }

    /// May the function be entered again while it runs?
    pub fn is_recursive(&self, function: usize) -> bool {
        self.circular[self.of[function] as usize]
    }

    /// May a call that enters these functions, or unknown code, lead back to its caller?
    pub fn leads_back(&self, caller: usize, entered: &[usize], unknown: bool) -> bool {
        let own = self.of[caller];
        let back = |callee: usize| self.of[callee] == own;
        entered.iter().any(|&callee| back(callee)) || (unknown && self.of.last() == Some(&own))
    }
}

#[cfg(test)]
mod tests {
    use super::Components;
    use proptest::prelude::*;

    proptest! {
        /// Two nodes are in one component if each is reached from the other.
        #[test]
        fn components_are_those_of_reachability(arcs in prop::collection::vec((0usize..7, 0usize..7), 0..20)) {
            let mut next = vec![Vec::new(); 7];
            arcs.iter().for_each(|&(from, to)| next[from].push(to));
            let mut reached = [[false; 7]; 7];
            arcs.iter().for_each(|&(from, to)| reached[from][to] = true);
            for by in 0..7 {
                for from in 0..7 {
                    for to in 0..7 {
                        reached[from][to] |= reached[from][by] && reached[by][to];
                    }
                }
            }
            let components = Components::of_graph(&next);
            for (a, row) in reached.iter().enumerate() {
                prop_assert_eq!(components.is_recursive(a), row[a]);
                for (b, &there) in row.iter().enumerate() {
                    let same = a == b || (there && reached[b][a]);
                    prop_assert_eq!(components.of[a] == components.of[b], same);
                }
            }
        }
    }
}
