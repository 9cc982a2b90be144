//! Disjoint sets over a dense range, with union by size and path halving.
//!
//! Spanning trees, the edge classes of Knuth & Stevenson and the loop forest all need to know which elements have been
//! joined so far. A sequence of `n` operations costs almost `O(n)`.

/// A partition of `0..len` that can only get coarser.
#[derive(Clone, Debug)]
pub struct UnionFind {
    /// The parent of each element; roots are their own.
    parent: Vec<u32>,
    /// The size of the set, where the element is a root.
    size: Vec<u32>,
    sets: usize,
}

impl UnionFind {
    /// Every element alone.
    ///
    /// # Panics
    /// For more than 2³² elements.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let len32 = u32::try_from(len).expect("more than 2^32 elements");
        Self { parent: (0..len32).collect(), size: vec![1; len], sets: len }
    }

    /// The representative of the element's set.
    pub fn find(&mut self, element: usize) -> usize {
        let mut at = element;
        while self.parent[at] as usize != at {
            let up = self.parent[self.parent[at] as usize];
            self.parent[at] = up;
            at = up as usize;
        }
        at
    }

    /// Joins two sets; `false` if they were one already.
    pub fn union(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (big, small) = if self.size[a] >= self.size[b] { (a, b) } else { (b, a) };
        self.parent[small] = u32::try_from(big).expect("checked at construction");
        self.size[big] += self.size[small];
        self.sets -= 1;
        true
    }

    /// Are they in one set?
    pub fn same(&mut self, a: usize, b: usize) -> bool {
        self.find(a) == self.find(b)
    }

    /// How many sets there are.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.sets
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn joins_and_counts_sets() {
        let mut sets = UnionFind::new(5);
        assert!(sets.union(0, 1) && sets.union(3, 4) && sets.union(1, 4));
        assert!(!sets.union(0, 3), "already joined through 1 and 4");
        assert!(sets.same(0, 3) && !sets.same(0, 2));
        assert_eq!(sets.sets(), 2);
    }

    #[test]
    fn a_long_chain_of_joins_stays_shallow() {
        let mut sets = UnionFind::new(200_000);
        for i in 1..200_000 {
            sets.union(i - 1, i);
        }
        assert_eq!(sets.sets(), 1);
        assert!(sets.same(0, 199_999));
    }
}
