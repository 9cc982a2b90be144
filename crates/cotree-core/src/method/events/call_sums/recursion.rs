//! Which functions may be entered again while they run, and at which calls.

use crate::method::events::EventPlan;
use crate::method::events::reach::CallGraph;

/// Components of the call graph, in which all code that is not known is one more node: it may call every function that
/// is measured by itself.
pub(super) struct Components {
    /// Per function, then of unknown code, the number of its component.
    of: Vec<usize>,
    /// Per component, may what is in it call itself?
    circular: Vec<bool>,
}

impl Components {
    pub fn new(graph: &CallGraph<'_>, plans: &[EventPlan]) -> Self {
        let count = graph.functions.len();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for (caller, (_, function)) in graph.functions.iter().enumerate() {
            for call in function.calls.iter() {
                let entered = graph.entered(caller, call);
                next[caller].extend(entered.functions);
                next[caller].extend(entered.unknown.then_some(count));
            }
        }
        let measured = |&function: &usize| plans.get(function).is_some_and(|plan| plan.key.sums.measured);
        next[count] = (0..count).filter(measured).collect();
        Self::of_graph(&next)
    }

    /// Tarjan's strongly connected components, without recursion.
    fn of_graph(next: &[Vec<usize>]) -> Self {
        const NEW: usize = usize::MAX;
        let mut components = Self { of: vec![NEW; next.len()], circular: Vec::new() };
        let mut index = vec![NEW; next.len()];
        let mut low = vec![0; next.len()];
        let (mut begun, mut stack) = (0, Vec::new());
        for root in 0..next.len() {
            if index[root] != NEW {
                continue;
            }
            let mut open = vec![(root, 0usize)];
            while let Some((node, at)) = open.last_mut() {
                let node = *node;
                if *at == 0 {
                    (index[node], low[node]) = (begun, begun);
                    begun += 1;
                    stack.push(node);
                }
                let Some(&to) = next[node].get(*at) else {
                    open.pop();
                    if let Some(&(parent, _)) = open.last() {
                        low[parent] = low[parent].min(low[node]);
                    }
                    if low[node] == index[node] {
                        components.close(&mut stack, node, next);
                    }
                    continue;
                };
                *at += 1;
                if index[to] == NEW {
                    open.push((to, 0));
                } else if components.of[to] == NEW {
                    low[node] = low[node].min(index[to]);
                }
            }
        }
        components
    }

    /// A component is complete: all that is on the stack from its first node on.
    fn close(&mut self, stack: &mut Vec<usize>, first: usize, next: &[Vec<usize>]) {
        let number = self.circular.len();
        let mut size = 0;
        while let Some(node) = stack.pop() {
            self.of[node] = number;
            size += 1;
            if node == first {
                break;
            }
        }
        self.circular.push(size > 1 || next[first].contains(&first));
    }

    /// May the function be entered again while it runs?
    pub fn is_recursive(&self, function: usize) -> bool {
        self.circular[self.of[function]]
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
