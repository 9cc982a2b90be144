//! Rooted forests with fast questions about ancestors.
//!
//! Depth-first trees, dominator trees and loop nests are all forests of this kind. Every node keeps its parent and
//! one *jump* to an ancestor further up, chosen so that any climb takes `O(log n)` steps while the forest takes
//! `O(n)` space and is built in one pass (Myers, "An applicative random-access stack", 1983).

/// A forest on the nodes `0..len`.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// Roots are their own parents.
    parent: Vec<u32>,
    jump: Vec<u32>,
    depth: Vec<u32>,
}

impl Forest {
    /// A forest from each node's parent. `order` lists every node after its parent; nodes that it leaves out become
    /// roots.
    pub fn new(parents: &[Option<usize>], order: impl IntoIterator<Item = usize>) -> Self {
        let own: Vec<u32> = (0..u32::try_from(parents.len()).expect("ids are 32 bits wide")).collect();
        let mut forest = Self { parent: own.clone(), jump: own, depth: vec![0; parents.len()] };
        for node in order {
            let Some(parent) = parents[node] else { continue };
            let jump = forest.jump[parent] as usize;
            let far = forest.jump[jump];
            // Two jumps of equal length in a row become one.
            let equal = forest.depth[parent] - forest.depth[jump] == forest.depth[jump] - forest.depth[far as usize];
            forest.parent[node] = u32::try_from(parent).expect("ids are 32 bits wide");
            forest.jump[node] = if equal { far } else { forest.parent[node] };
            forest.depth[node] = forest.depth[parent] + 1;
        }
        forest
    }

    /// How many steps it is to the node's root.
    #[must_use]
    pub fn depth(&self, node: usize) -> u32 {
        self.depth[node]
    }

    /// The parent; `None` for a root.
    #[must_use]
    pub fn parent(&self, node: usize) -> Option<usize> {
        let parent = self.parent[node] as usize;
        (parent != node).then_some(parent)
    }

    /// The node's ancestor at a depth that is not greater than its own.
    #[must_use]
    pub fn ancestor_at_depth(&self, node: usize, depth: u32) -> usize {
        let mut at = node;
        while self.depth[at] > depth {
            let jump = self.jump[at] as usize;
            at = if self.depth[jump] >= depth { jump } else { self.parent[at] as usize };
        }
        at
    }

    /// Is `above` the node itself or one of its ancestors?
    #[must_use]
    pub fn is_ancestor(&self, above: usize, node: usize) -> bool {
        self.depth[above] <= self.depth[node] && self.ancestor_at_depth(node, self.depth[above]) == above
    }

    /// The deepest node that is an ancestor of both (or one of them); `None` if they are in different trees.
    #[must_use]
    pub fn common_ancestor(&self, a: usize, b: usize) -> Option<usize> {
        let depth = self.depth[a].min(self.depth[b]);
        let (mut a, mut b) = (self.ancestor_at_depth(a, depth), self.ancestor_at_depth(b, depth));
        while a != b {
            if self.depth[a] == 0 {
                return None;
            }
            // Nodes of equal depth have jumps of equal length.
            if self.jump[a] == self.jump[b] {
                (a, b) = (self.parent[a] as usize, self.parent[b] as usize);
            } else {
                (a, b) = (self.jump[a] as usize, self.jump[b] as usize);
            }
        }
        Some(a)
    }
}

#[cfg(test)]
mod tests {
    use super::Forest;
    use proptest::prelude::*;

    proptest! {
        /// Climbing parent by parent is the oracle. Node `i`'s parent is below `i`; some are roots.
        #[test]
        fn agrees_with_climbing(raw in prop::collection::vec(any::<prop::sample::Index>(), 1..60)) {
            let parent = |(i, x): (usize, &prop::sample::Index)| Some(x.index(i + 1)).filter(|&p| p < i);
            let parents: Vec<Option<usize>> = raw.iter().enumerate().map(parent).collect();
            let forest = Forest::new(&parents, 0..parents.len());
            let line = |n: usize| std::iter::successors(Some(n), |&n| parents[n]).collect::<Vec<_>>();
            for a in 0..parents.len() {
                let up = line(a);
                prop_assert_eq!(forest.depth(a) as usize, up.len() - 1);
                prop_assert_eq!(forest.parent(a), parents[a]);
                for (i, &ancestor) in up.iter().enumerate() {
                    prop_assert_eq!(forest.ancestor_at_depth(a, (up.len() - 1 - i) as u32), ancestor);
                }
                for b in 0..parents.len() {
                    prop_assert_eq!(forest.is_ancestor(b, a), up.contains(&b));
                    prop_assert_eq!(forest.common_ancestor(a, b), line(b).into_iter().find(|x| up.contains(x)));
                }
            }
        }
    }
}
