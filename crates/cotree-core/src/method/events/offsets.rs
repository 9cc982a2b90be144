//! Disjoint sets whose elements have known distances from each other.

/// A partition of `0..len` that can only get coarser, in which each element has an offset from every other of its set.
/// Offsets wrap around in 64 bits.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    /// Roots are their own parents.
    parent: Vec<u32>,
    /// How far each element is above its parent.
    above: Vec<i64>,
    size: Vec<u32>,
}

impl Offsets {
    /// Every element alone.
    pub fn new(len: usize) -> Self {
        let own = 0..u32::try_from(len).expect("ids are 32 bits wide");
        Self { parent: own.collect(), above: vec![0; len], size: vec![1; len] }
    }

    /// The representative of the element's set, and how far the element is above it.
    pub fn find(&mut self, element: usize) -> (usize, i64) {
        let (mut at, mut sum) = (element, 0i64);
        loop {
            let up = self.parent[at] as usize;
            if up == at {
                return (at, sum);
            }
            // Every element that is passed skips its parent.
            let over = self.parent[up];
            if over as usize != up {
                self.above[at] = self.above[at].wrapping_add(self.above[up]);
                self.parent[at] = over;
            }
            sum = sum.wrapping_add(self.above[at]);
            at = self.parent[at] as usize;
        }
    }

    /// Joins two sets such that `b` is `rise` above `a`; nothing changes if they are one already.
    pub fn join(&mut self, a: usize, b: usize, rise: i64) {
        let ((root_a, over_a), (root_b, over_b)) = (self.find(a), self.find(b));
        if root_a == root_b {
            return;
        }
        // b = root_b + over_b must be root_a + over_a + rise.
        let lift = over_a.wrapping_add(rise).wrapping_sub(over_b);
        let (child, root, lift) = if self.size[root_a] >= self.size[root_b] {
            (root_b, root_a, lift)
        } else {
            (root_a, root_b, lift.wrapping_neg())
        };
        self.parent[child] = u32::try_from(root).expect("checked at construction");
        self.above[child] = lift;
        self.size[root] += self.size[child];
    }

    /// How far `b` is above `a`, if they are in one set.
    pub fn between(&mut self, a: usize, b: usize) -> Option<i64> {
        let ((root_a, over_a), (root_b, over_b)) = (self.find(a), self.find(b));
        (root_a == root_b).then(|| over_b.wrapping_sub(over_a))
    }
}

#[cfg(test)]
mod tests {
    use super::Offsets;
    use proptest::prelude::*;

    proptest! {
        /// Elements with hidden heights; joins tell their differences.
        #[test]
        fn distances_add_up(heights in prop::collection::vec(any::<i64>(), 2..40), joins in prop::collection::vec((any::<u16>(), any::<u16>()), 0..80)) {
            let mut offsets = Offsets::new(heights.len());
            let mut label: Vec<usize> = (0..heights.len()).collect();
            for (a, b) in joins {
                let (a, b) = (usize::from(a) % heights.len(), usize::from(b) % heights.len());
                offsets.join(a, b, heights[b].wrapping_sub(heights[a]));
                let (from, to) = (label[b], label[a]);
                label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            }
            for a in 0..heights.len() {
                for b in 0..heights.len() {
                    let expected = (label[a] == label[b]).then(|| heights[b].wrapping_sub(heights[a]));
                    prop_assert_eq!(offsets.between(a, b), expected);
                }
            }
        }
    }
}
