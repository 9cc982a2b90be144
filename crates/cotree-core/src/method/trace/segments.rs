//! The segments of a function: its graph without what calls and cut edges take out of it, and the numbers of the paths
//! through them.
//!
//! A *node* is a stretch of a block without a call that ends a segment: a block with *k* such calls has *k* + 1 nodes.
//! *Links* lead from node to node along edges. Nodes and links form no cycle. Each *path* from a node
//! leads to a segment's end, and each node knows how many there are.
//!
//! A node is *undecided* if it has several paths, or if its only one ends where a packed token goes on. A token is
//! written on the link that leads from an undecided node to something decided, so on each path from an undecided start
//! it is written once, and never on one from a decided start. Undecided nodes that are linked share a *group*: one
//! width, and for packed tokens one base. The numbers of paths, which the tokens are made of, depend on [`Encoding`].

use super::accesses::edges_to_accesses;
pub(super) use super::links::{Link, Node, Target};
use super::token::{MOST_PATHS, Token};
use super::types::{CallKind, Encoding, TraceError, TraceKey};
use super::witness_sets::WitnessSets;
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, CallId, Edge, IdMap};

/// What a node ends in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeEnd {
    /// A call that ends the segment, and the node behind it; `None` if it is a `musttail` one, or never comes back.
    Call(CallId, Option<Node>),
    /// Links.
    Links,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeFacts {
    pub block: Block,
    /// The calls in it that end no segment: from this one,
    pub first_call: CallId,
    /// to before this one.
    pub last_call: CallId,
    pub end: NodeEnd,
    first_link: u32,
    last_link: u32,
    /// How many paths there are from here.
    pub paths: u64,
    /// A token is written further on.
    pub undecided: bool,
    /// The bytes of that token.
    pub bytes: u8,
    /// The bits of that token, if it has no bytes of its own ([`Encoding::EachBranch`]).
    pub bits: u8,
    /// The group's base: more than the number of paths from any of its nodes ([`Encoding::Paths`]).
    pub base: u64,
    /// Tokens of the group may be those of several segments.
    pub packs: bool,
    /// Readers may take as many of these at once as this power of the base has digits.
    pub at_once: u64,
}

/// Readers take several paths of a packed token at once, as long as their common number is at most this.
const PATHS_AT_ONCE: u64 = 1 << 12;

/// Outcomes of more bits than a byte has behind its leading 1 are written in whole bytes.
const MOST_BITS: u8 = 7;
/// What links with a witness have as their bits, where each is written as a number of whole bytes.
const WITNESS_BITS: u8 = 8;

/// The cut graph of a function with the numbers of its paths.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    pub nodes: Vec<NodeFacts>,
    links: Vec<Link>,
    /// Per block, its first node; for EXIT, how many nodes there are.
    first: IdMap<Block, u32>,
    /// Nodes, each before those that it links to.
    order: Vec<Node>,
    pub encoding: Encoding,
    /// What tells paths apart, for [`Encoding::Witnesses`].
    witness_sets: WitnessSets,
}

impl Segments {
    /// Finds the segments of a function with this key.
    pub fn new(function: &Function, cfg: &Cfg, key: &TraceKey) -> Result<Self, TraceError> {
        validate(function, cfg, key)?;
        let mut made = Self::cut(function, cfg, key);
        match key.encoding {
            Encoding::EachWitness => made.number_each_witness(key),
            Encoding::EachBranch => made.number_each_branch()?,
            _ => {}
        }
        made.sort()?;
        made.count();
        made.decide();
        match key.encoding {
            Encoding::EachBranch => {}
            Encoding::EachWitness => {
                made.check_blocking()?;
                made.witness_sets = made.find_witness_sets()?;
            }
            Encoding::Paths => made.number_paths(),
            Encoding::Bits => made.number_bits(),
            Encoding::Witnesses => {
                made.number_witnesses(key);
                made.witness_sets = made.find_witness_sets()?;
            }
        }
        made.group(key)?;
        Ok(made)
    }

    /// With the witnesses of a key, whether or not these tell all paths apart.
    pub fn with_witnesses(function: &Function, cfg: &Cfg, key: &TraceKey) -> Result<Self, TraceError> {
        let mut made = Self::uncut(function, cfg, key)?;
        made.count();
        made.decide();
        made.number_witnesses(key);
        Ok(made)
    }

    /// Nodes and links only; in order, if there is one.
    pub fn uncut(function: &Function, cfg: &Cfg, key: &TraceKey) -> Result<Self, TraceError> {
        validate(function, cfg, key)?;
        let mut made = Self::cut(function, cfg, key);
        // Whoever cuts wants the order only when nothing goes round any more.
        let _ = made.sort();
        Ok(made)
    }

    /// What may come next along each link, if that tells all links of a node apart.
    pub fn find_witness_sets(&self) -> Result<WitnessSets, TraceError> {
        WitnessSets::new(&self.order, |node| self.links(node))
    }

    /// Nodes, each before those that it links to.
    pub fn order(&self) -> &[Node] {
        &self.order
    }

    /// Nodes and links.
    fn cut(function: &Function, cfg: &Cfg, key: &TraceKey) -> Self {
        let (mut nodes, mut first) = (Vec::new(), IdMap::default());
        let mut call = 0;
        for block in cfg.blocks().filter(|&block| block != cfg.exit()) {
            first.push(nodes.len() as u32);
            let mut since = call;
            let node = |since, until, end| NodeFacts {
                block,
                first_call: CallId::new(since),
                last_call: CallId::new(until),
                end,
                first_link: 0,
                last_link: 0,
                paths: 0,
                undecided: false,
                bytes: 0,
                bits: 0,
                base: 1,
                packs: false,
                at_once: 1,
            };
            while let Some(facts) = function.calls.get(CallId::new(call)).filter(|facts| facts.block == block) {
                if key.call(CallId::new(call)).ends_segment() {
                    let behind = facts.comes_back().then_some(nodes.len() + 1);
                    nodes.push(node(since, call, NodeEnd::Call(CallId::new(call), behind)));
                    since = call + 1;
                }
                call += 1;
            }
            nodes.push(node(since, call, NodeEnd::Links));
        }
        first.push(nodes.len() as u32);
        let mut made = Self {
            nodes,
            links: Vec::new(),
            first,
            order: Vec::new(),
            encoding: key.encoding,
            witness_sets: WitnessSets::default(),
        };
        // Each of these edges has a witness, or nothing between a predicate and it is without one.
        let silent = match key.encoding {
            Encoding::EachWitness => edges_to_accesses(function, key),
            _ => Vec::new(),
        };
        for block in cfg.blocks().filter(|&block| block != cfg.exit()) {
            made.link(function, cfg, key, &silent, block);
        }
        made
    }

    /// The links of a block's last node, in the order of their numbers. On `silent` edges segments end, too.
    fn link(&mut self, function: &Function, cfg: &Cfg, key: &TraceKey, silent: &[Edge], block: Block) {
        let last = self.last(block);
        self.nodes[last].first_link = self.links.len() as u32;
        let throws = self.throws(function, block);
        let kind = |edge: Edge| function.edges[edge].kind;
        let mut dispatched = false;
        let listed = |list: &[Edge], edge: &Edge| list.binary_search(edge).is_ok();
        let (likely, others): (Vec<Edge>, Vec<Edge>) =
            cfg.succs(block).iter().partition(|edge| listed(&key.first, edge));
        for edge in likely.into_iter().chain(others) {
            let dst = cfg.dst(edge);
            let target = if throws && kind(edge) == EdgeKind::InvokeUnwind {
                continue;
            } else if kind(edge) == EdgeKind::IndirectBranch {
                if std::mem::replace(&mut dispatched, true) {
                    continue;
                }
                Target::Dispatch
            } else if dst == cfg.exit() {
                Target::Exit
            } else if listed(&key.packing.edges, &edge) {
                Target::Packed(self.node(dst))
            } else if listed(&key.cuts, &edge) || listed(silent, &edge) || key.targets.binary_search(&dst).is_ok() {
                Target::Cut(self.node(dst))
            } else {
                Target::Node(self.node(dst))
            };
            self.links.push(Link { edge, target, value: 0, bits: 0 });
        }
        self.nodes[last].last_link = self.links.len() as u32;
    }

    /// The first node of a block.
    #[inline]
    pub fn node(&self, block: Block) -> Node {
        self.first[block] as usize
    }

    /// The last node of a block.
    fn last(&self, block: Block) -> Node {
        self.first[Block(block.0 + 1)] as usize - 1
    }

    /// The links of a node, by rising number.
    #[inline]
    pub fn links(&self, node: Node) -> &[Link] {
        let facts = &self.nodes[node];
        &self.links[facts.first_link as usize..facts.last_link as usize]
    }

    /// Does a block end in a call that ends a segment? Exceptions that it throws are told by the runtime.
    pub fn throws(&self, function: &Function, block: Block) -> bool {
        let (first, last) = (self.node(block), self.last(block));
        last > first && matches!(self.nodes[last - 1].end, NodeEnd::Call(call, _) if function.calls[call].terminator)
    }

    /// The calls of a block.
    pub fn calls_of(&self, block: Block) -> impl DoubleEndedIterator<Item = CallId> + use<> {
        let (first, last) = (self.node(block), self.last(block));
        (self.nodes[first].first_call.0..self.nodes[last].last_call.0).map(CallId)
    }

    /// Is a byte written on each cut edge to the node that no token is written on, only to show that it is passed?
    /// Nothing else is written in a loop without an end.
    pub fn ticks(&self, node: Node) -> bool {
        !self.nodes[node].undecided && self.encoding.has_register()
    }

    /// A topological order (Kahn's algorithm).
    fn sort(&mut self) -> Result<(), TraceError> {
        let mut entering = vec![0u32; self.nodes.len()];
        for link in &self.links {
            if let Target::Node(node) = link.target {
                entering[node] += 1;
            }
        }
        let mut order: Vec<Node> = (0..self.nodes.len()).filter(|&node| entering[node] == 0).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for link in self.links(node) {
                if let Target::Node(to) = link.target {
                    entering[to] -= 1;
                    if entering[to] == 0 {
                        order.push(to);
                    }
                }
            }
        }
        self.order = order;
        if self.order.len() == self.nodes.len() { Ok(()) } else { Err(TraceError::Endless) }
    }

    fn count(&mut self) {
        for index in (0..self.order.len()).rev() {
            let node = self.order[index];
            let paths = |link: &Link| if let Target::Node(to) = link.target { self.nodes[to].paths } else { 1 };
            let sum = self.links(node).iter().map(paths).fold(0, u64::saturating_add);
            // One path goes on from a call, and one from a block without links: it never ends.
            self.nodes[node].paths = sum.max(1);
        }
    }

    fn decide(&mut self) {
        for index in (0..self.order.len()).rev() {
            let node = self.order[index];
            let open = |link: &Link| match self.encoding {
                // Nothing is read before the branch that it is of.
                Encoding::EachBranch => link.bits > 0,
                _ => link.bits > 0 || self.leads_on(link) || self.nodes[node].paths > 1,
            };
            self.nodes[node].undecided = self.links(node).iter().any(open);
        }
    }

    /// Is the token still to be written behind this link?
    #[inline]
    pub fn leads_on(&self, link: &Link) -> bool {
        match link.target {
            Target::Node(to) => self.nodes[to].undecided,
            Target::Packed(_) => true,
            Target::Cut(_) | Target::Dispatch | Target::Exit => false,
        }
    }

    /// As in Ball & Larus 1996, Fig. 5: a path's number is the sum of its links' values.
    fn number_paths(&mut self) {
        for node in 0..self.nodes.len() {
            let mut before = 0u64;
            for index in self.nodes[node].first_link..self.nodes[node].last_link {
                let link = self.links[index as usize];
                self.links[index as usize].value = before;
                before =
                    before.saturating_add(if let Target::Node(to) = link.target { self.nodes[to].paths } else { 1 });
            }
        }
    }

    fn number_bits(&mut self) {
        for node in 0..self.nodes.len() {
            let range = self.nodes[node].first_link as usize..self.nodes[node].last_link as usize;
            let bits = bits_for(range.len() as u64);
            for (value, link) in (0..).zip(&mut self.links[range]) {
                (link.value, link.bits) = (value, bits);
            }
        }
    }

    /// Each link with a witness has its value.
    fn number_witnesses(&mut self, key: &TraceKey) {
        let most = key.witnesses.iter().map(|&(_, value)| u64::from(value)).max().unwrap_or(0);
        let bits = bits_for(most + 1).max(1);
        for node in (0..self.nodes.len()).filter(|&node| self.nodes[node].undecided) {
            for index in self.nodes[node].first_link..self.nodes[node].last_link {
                let link = &mut self.links[index as usize];
                if let Ok(found) = key.witnesses.binary_search_by_key(&link.edge, |witness| witness.0) {
                    (link.value, link.bits) = (u64::from(key.witnesses[found].1), bits);
                }
            }
        }
    }

    /// A segment ends on each link that has a witness ([`Encoding::EachWitness`]).
    fn number_each_witness(&mut self, key: &TraceKey) {
        for link in self.links.iter_mut().filter(|link| link.target != Target::Dispatch) {
            if let Ok(found) = key.witnesses.binary_search_by_key(&link.edge, |witness| witness.0) {
                link.ends_with(u64::from(key.witnesses[found].1), WITNESS_BITS);
            }
        }
    }

    /// A segment ends on each link out of a node that has several, and somewhere in each loop that has no such node.
    fn number_each_branch(&mut self) -> Result<(), TraceError> {
        for node in 0..self.nodes.len() {
            let range = self.nodes[node].first_link as usize..self.nodes[node].last_link as usize;
            let links = &mut self.links[range];
            let bits = bits_for(links.len() as u64);
            // No bits fit on the edges of an indirect branch.
            if bits > 0 && links.iter().any(|link| link.target == Target::Dispatch) {
                return Err(TraceError::TooManyPaths);
            }
            for (value, link) in (0..).zip(links).filter(|_| bits > 0) {
                link.ends_with(value, bits);
            }
        }
        if self.sort().is_err() {
            let mut ordered = vec![false; self.nodes.len()];
            self.order.iter().for_each(|&node| ordered[node] = true);
            for node in (0..self.nodes.len()).filter(|&node| !ordered[node]) {
                let range = self.nodes[node].first_link as usize..self.nodes[node].last_link as usize;
                let goes_back = |link: &&mut Link| matches!(link.target, Target::Node(to) if to <= node);
                self.links[range].iter_mut().filter(goes_back).for_each(|link| link.ends_with(0, 1));
            }
        }
        Ok(())
    }

    /// Do witnesses block (Ball & Larus 1994, §4.2)? Nothing that others write stands before the witness that a
    /// predicate reads.
    fn check_blocking(&self) -> Result<(), TraceError> {
        let blocks = |node: Node| self.links(node).iter().all(|link| link.bits > 0 || self.leads_on(link));
        let all = (0..self.nodes.len()).filter(|&node| self.nodes[node].undecided).all(blocks);
        if all { Ok(()) } else { Err(TraceError::Ambiguous) }
    }

    /// Widths and bases.
    fn group(&mut self, key: &TraceKey) -> Result<(), TraceError> {
        let count = self.nodes.len();
        let mut groups = UnionFind::new(count);
        for node in 0..count {
            for link in self.links(node) {
                if let Target::Node(to) | Target::Packed(to) = link.target
                    && self.nodes[node].undecided
                    && self.nodes[to].undecided
                {
                    groups.union(node, to);
                }
            }
        }
        // The longest tokens, in bits behind the leading 1; else the most paths.
        let mut longest = vec![0u64; count];
        if self.encoding.has_bits() {
            for &node in self.order.iter().rev() {
                let bits = |link: &Link| {
                    u64::from(link.bits) + if let Target::Node(to) = link.target { longest[to] } else { 0 }
                };
                longest[node] = self.links(node).iter().map(bits).max().unwrap_or(0);
            }
        }
        let mut most = vec![0u64; count];
        let mut packs = vec![false; count];
        for (node, &longest) in longest.iter().enumerate() {
            let group = groups.find(node);
            let size = match self.encoding {
                Encoding::Paths => self.nodes[node].paths,
                Encoding::Bits | Encoding::Witnesses => longest,
                Encoding::EachWitness | Encoding::EachBranch => {
                    self.links(node).iter().map(|link| link.value + 1).max().unwrap_or(0)
                }
            };
            most[group] = most[group].max(size);
            packs[group] |= self.links(node).iter().any(|link| matches!(link.target, Target::Packed(_)));
        }
        for node in 0..count {
            let group = groups.find(node);
            let most = most[group];
            let (bytes, fits) = match self.encoding {
                Encoding::Paths if packs[group] => {
                    let bytes = key.packing.bytes;
                    let room = u64::MAX >> (64 - 8 * u32::from(bytes));
                    // At least two turns.
                    (bytes, room / most.max(2) / most.max(2) >= 2)
                }
                Encoding::Paths => (bits_for(most).div_ceil(8), most <= MOST_PATHS),
                Encoding::EachWitness | Encoding::EachBranch => (bits_for(most).div_ceil(8).max(1), true),
                Encoding::Bits | Encoding::Witnesses => ((most + 1).div_ceil(8) as u8, most < 63),
            };
            // A token that goes on has to be written some time.
            let goes_nowhere = |link: &Link| matches!(link.target, Target::Packed(to) if !self.nodes[to].undecided);
            if self.links(node).iter().any(goes_nowhere) {
                return Err(TraceError::NeverWritten);
            }
            if self.nodes[node].undecided {
                if !fits {
                    return Err(TraceError::TooManyPaths);
                }
                self.nodes[node].bytes = bytes;
                if self.encoding == Encoding::EachBranch {
                    self.nodes[node].bits = Some(bits_for(most).max(1)).filter(|&bits| bits <= MOST_BITS).unwrap_or(0);
                }
                self.nodes[node].base = if self.encoding == Encoding::Paths { most.max(2) } else { 1 };
                self.nodes[node].packs = packs[group];
                if packs[group] {
                    let base = self.nodes[node].base;
                    self.nodes[node].at_once = base.pow(PATHS_AT_ONCE.ilog(base).saturating_sub(1));
                }
            }
        }
        Ok(())
    }

    /// The link that the witnesses of a token lead along.
    pub fn follow_witness(&self, node: Node, token: &mut Token) -> Option<Link> {
        let link = self.witness_sets.choose(self.links(node), node, token.peek(self.witness_sets.bits()))?;
        if link.bits > 0 {
            self.pop(link, token)?;
        }
        Some(link)
    }

    /// The link that a witness leads along; it is spent where that link has it.
    pub fn follow_each_witness(&self, node: Node, token: &mut Token) -> Option<Link> {
        let links = self.links(node);
        let link = match links {
            [only] => *only,
            _ => self.witness_sets.choose(links, node, Some(token.rest()))?,
        };
        if link.bits > 0 {
            if token.rest() != link.value {
                return None;
            }
            token.pass(link.value);
        }
        Some(link)
    }

    /// What may come next along each link ([`Encoding::EachWitness`], [`Encoding::Witnesses`]).
    pub fn witness_sets(&self) -> &WitnessSets {
        &self.witness_sets
    }

    /// Takes a link's bits from a token: they have to be its own.
    pub fn pop(&self, link: Link, token: &mut Token) -> Option<()> {
        (token.pop(link.bits)? == link.value).then_some(())
    }

    /// What the register of a segment that starts at an undecided node is at first.
    pub fn initial(&self, node: Node) -> u64 {
        match self.encoding {
            Encoding::Paths if self.nodes[node].packs => self.nodes[node].base,
            Encoding::Paths => 0,
            Encoding::EachWitness | Encoding::EachBranch => 0,
            Encoding::Bits | Encoding::Witnesses => 1,
        }
    }

    /// A packed token has to be written before it is multiplied if it is as large as that.
    pub fn limit(&self, node: Node) -> u64 {
        let facts = &self.nodes[node];
        (u64::MAX >> (64 - 8 * u32::from(facts.bytes.max(1)))) / facts.base
    }
}

/// How many bits tell so many things apart.
pub(super) const fn bits_for(count: u64) -> u8 {
    if count <= 1 { 0 } else { (64 - (count - 1).leading_zeros()) as u8 }
}

/// Are the names in the key those of things that are there, in order, and its numbers possible?
fn validate(function: &Function, cfg: &Cfg, key: &TraceKey) -> Result<(), TraceError> {
    let own = cfg.block_count() == function.blocks.len() + 1 && cfg.edge_count() == function.edges.len() + 1;
    let edges = |list: &[Edge]| {
        list.is_sorted_by(|a, b| a < b) && list.last().is_none_or(|edge| edge.index() < function.edges.len())
    };
    let inner = |list: &[Edge]| list.iter().all(|&edge| cfg.dst(edge) != cfg.exit());
    let calls = key.calls.is_sorted_by(|a, b| a.0 < b.0)
        && key.calls.last().is_none_or(|call| call.0.index() < function.calls.len());
    let targets = key.targets.is_sorted_by(|a, b| a < b)
        && key.targets.last().is_none_or(|block| block.index() < function.blocks.len())
        && key.targets.len() <= 1 << 16;
    let dispatched = |edge: &crate::facts::EdgeFacts| {
        edge.kind != EdgeKind::IndirectBranch || key.targets.binary_search(&edge.dst).is_ok()
    };
    let lists = [&key.cuts, &key.first, &key.packing.edges];
    let packing =
        key.packing.edges.is_empty() || (key.encoding == Encoding::Paths && (1..=8).contains(&key.packing.bytes));
    let witnesses = key.witnesses.is_sorted_by(|a, b| a.0 < b.0)
        && key.witnesses.last().is_none_or(|witness| witness.0.index() < function.edges.len());
    let in_order = function.calls.iter().is_sorted_by_key(|call| call.block)
        && function.calls.iter().all(|call| call.block.index() < function.blocks.len());
    // A `musttail` call is gone when its callee runs, and what is behind a call that never returns is nowhere.
    let sound = || {
        key.calls.iter().all(|&(call, kind)| match kind {
            CallKind::Tokenless(_) => !function.calls[call].must_tail && !function.calls[call].terminator,
            _ => true,
        })
    };
    if own
        && lists.iter().all(|list| edges(list))
        && inner(&key.cuts)
        && inner(&key.packing.edges)
        && calls
        && targets
        && function.edges.iter().all(dispatched)
        && packing
        && witnesses
        && in_order
        && sound()
    {
        Ok(())
    } else {
        Err(TraceError::ForeignKey)
    }
}
