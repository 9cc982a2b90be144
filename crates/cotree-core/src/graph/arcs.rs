//! Graphs whose arcs stand for something, sorted topologically: what paths are numbered on. Arcs may be parallel.

/// A node, by its number.
pub type Node = usize;
/// An arc, by its number.
pub type Arc = usize;

/// The graph.
#[derive(Clone, Debug)]
pub struct ArcGraph<R> {
    /// Source, target and meaning of each arc.
    arcs: Vec<(Node, Node, R)>,
    out: Groups,
    /// Nodes in topological order; fewer than all if there is a cycle.
    order: Vec<Node>,
    nodes: usize,
}

impl<R: Copy> ArcGraph<R> {
    /// Makes a graph of `nodes` nodes from its arcs, in order, and sorts the nodes by Kahn's algorithm.
    pub(crate) fn new(nodes: usize, arcs: Vec<(Node, Node, R)>) -> Self {
        let out = Groups::new(nodes, arcs.iter().map(|arc| arc.0));
        let mut open = vec![0usize; nodes];
        arcs.iter().for_each(|arc| open[arc.1] += 1);
        let mut order: Vec<Node> = (0..nodes).filter(|&node| open[node] == 0).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for &arc in out.of(node) {
                let dst = arcs[arc].1;
                open[dst] -= 1;
                if open[dst] == 0 {
                    order.push(dst);
                }
            }
        }
        Self { arcs, out, order, nodes }
    }

    /// Is there no cycle?
    #[must_use]
    pub fn is_acyclic(&self) -> bool {
        self.order.len() == self.nodes
    }

    /// The nodes, each after all that lead to it (of a cyclic graph those on or after a cycle are missing).
    #[must_use]
    pub fn topological_order(&self) -> &[Node] {
        &self.order
    }

    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// How many arcs there are.
    #[must_use]
    pub fn arc_count(&self) -> usize {
        self.arcs.len()
    }

    /// The arc's source.
    #[must_use]
    pub fn src(&self, arc: Arc) -> Node {
        self.arcs[arc].0
    }

    /// The arc's target.
    #[must_use]
    pub fn dst(&self, arc: Arc) -> Node {
        self.arcs[arc].1
    }

    /// What the arc stands for.
    #[must_use]
    pub fn role(&self, arc: Arc) -> R {
        self.arcs[arc].2
    }

    /// The arcs that leave the node, in order.
    #[must_use]
    pub fn out(&self, node: Node) -> &[Arc] {
        self.out.of(node)
    }

    /// All arcs, grouped by the nodes that they enter.
    pub(crate) fn inward(&self) -> Groups {
        Groups::new(self.nodes, self.arcs.iter().map(|arc| arc.1))
    }
}

/// Arcs grouped by one of their ends.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    arcs: Vec<Arc>,
    start: Vec<usize>,
}

impl Groups {
    /// Groups arcs with these ends, in order, by node.
    fn new(nodes: usize, ends: impl Iterator<Item = Node> + Clone) -> Self {
        let mut start = vec![0; nodes + 1];
        for node in ends.clone() {
            start[node + 1] += 1;
        }
        for node in 0..nodes {
            start[node + 1] += start[node];
        }
        let mut next = start.clone();
        let mut arcs = vec![0; start[nodes]];
        for (arc, node) in ends.enumerate() {
            arcs[next[node]] = arc;
            next[node] += 1;
        }
        Self { arcs, start }
    }

    /// The arcs at a node, in order.
    pub(crate) fn of(&self, node: Node) -> &[Arc] {
        &self.arcs[self.start[node]..self.start[node + 1]]
    }
}
