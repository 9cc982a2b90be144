//! What the reader knows of one function.

use super::place::{self, Written};
use super::segments::{Link, Node, NodeEnd, NodeFacts, Segments};
use super::token::Token;
use super::types::{CallKind, Encoding, TraceError, TraceKey};
use crate::facts::{Access, EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap};
use crate::probe::Place;

/// What the reader knows of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallFacts {
    pub kind: CallKind,
    /// The edge by which a `musttail` call leaves the function.
    pub tail: Option<Edge>,
    /// The edge by which its exceptions come.
    pub unwinds: Option<Edge>,
    /// The node behind it.
    pub behind: Option<Node>,
}

/// The tables of one function: made once, read for each of its blocks.
#[derive(Clone, Debug)]
pub struct Tables {
    segments: Segments,
    calls: IdMap<CallId, CallFacts>,
    /// The blocks that edges lead to.
    destinations: IdMap<Edge, Block>,
    /// Whether an exception leaves the function on the edge.
    resumes: IdMap<Edge, bool>,
    records_entry: bool,
    /// Blocks that indirect branches may lead to, and how many bytes say which of them is entered.
    targets: Vec<Block>,
    target_bytes: u8,
    /// The edges of indirect branches, in order, by their blocks.
    dispatches: Vec<(Block, Block, Edge)>,
    /// Where something is written, in order.
    written: Vec<(Place, Written)>,
    /// The accesses that tell their addresses, and per node the first one from there on.
    accesses: Vec<Access>,
    first_access: Vec<u32>,
}

impl Tables {
    /// Is nothing written for a call, so that a reader goes past it?
    #[must_use]
    pub fn passes_over(&self, call: CallId) -> bool {
        self.call(call).is_some_and(|call| !call.kind.ends_segment())
    }

    /// The functions that it calls without that anything is written.
    pub fn tokenless_callees(&self) -> impl Iterator<Item = FunctionId> {
        self.calls.iter().filter_map(|call| match call.kind {
            CallKind::Tokenless(callee) => Some(callee),
            _ => None,
        })
    }

    /// Makes the tables of a function with this key.
    ///
    /// # Errors
    /// If the key does not fit the function.
    pub fn new(function: &Function, key: &TraceKey) -> Result<Self, TraceError> {
        let cfg = function.cfg()?;
        let segments = Segments::new(function, &cfg, key)?;
        let mut written = place::place(function, &cfg, key, &segments)?.written;
        written.sort_by_key(|listed| listed.0);
        let first_access = first_accesses(function, &segments)?;
        Ok(Self { first_access, ..Self::of(function, &cfg, key, segments, written) })
    }

    fn of(function: &Function, cfg: &Cfg, key: &TraceKey, segments: Segments, written: Vec<(Place, Written)>) -> Self {
        let facts = |(id, call): (CallId, &crate::facts::Call)| {
            let out = cfg.succs(call.block);
            let unwinds_segment = |edge: &Edge| call.terminator && segments.unwinds_segment(function, *edge);
            CallFacts {
                kind: key.call(id),
                tail: out.first().copied().filter(|_| call.must_tail),
                unwinds: out.iter().copied().find(unwinds_segment),
                behind: None,
            }
        };
        let mut calls: IdMap<CallId, CallFacts> = function.calls.numbered().map(facts).collect();
        for node in &segments.nodes {
            if let NodeEnd::Call(call, behind) = node.end {
                calls[call].behind = behind;
            }
        }
        let indirect = |&edge: &Edge| function.edges[edge].kind == EdgeKind::IndirectBranch;
        let edges = || function.edges.ids();
        let mut dispatches: Vec<_> =
            edges().filter(indirect).map(|edge| (cfg.src(edge), cfg.dst(edge), edge)).collect();
        dispatches.sort_unstable();
        Self {
            calls,
            destinations: edges().map(|edge| cfg.dst(edge)).collect(),
            resumes: function.edges.iter().map(|edge| edge.kind == EdgeKind::Resume).collect(),
            records_entry: key.records_entry,
            targets: key.targets.clone(),
            target_bytes: key.target_bytes(),
            dispatches,
            written,
            segments,
            accesses: function.accesses.clone(),
            first_access: Vec::new(),
        }
    }

    /// Does the function record its entry?
    #[inline]
    pub(super) fn records_entry(&self) -> bool {
        self.records_entry
    }

    #[inline]
    pub(super) fn node(&self, node: Node) -> &NodeFacts {
        &self.segments.nodes[node]
    }

    /// The first node of a block.
    #[inline]
    pub(super) fn first_node(&self, block: Block) -> Node {
        self.segments.node(block)
    }

    /// Do accesses of the function tell their addresses?
    #[inline]
    pub(super) fn has_accesses(&self) -> bool {
        !self.accesses.is_empty()
    }

    /// Where an activation that comes to the node begins: the next call, and the next access that tells its address.
    #[inline]
    pub(super) fn beginning(&self, node: Node) -> (CallId, u32) {
        (self.node(node).first_call, self.first_access.get(node).copied().unwrap_or(u32::MAX))
    }

    /// The access of this number, if the node has it and this call comes behind it: then it tells its address now.
    #[inline]
    pub(super) fn due(&self, node: Node, access: u32, call: CallId) -> Option<&Access> {
        let end = self.first_access.get(node + 1).copied().unwrap_or(0);
        let access = self.accesses.get(access as usize).filter(|_| access < end)?;
        (access.before <= call).then_some(access)
    }

    #[inline]
    pub(super) fn call(&self, call: CallId) -> Option<&CallFacts> {
        self.calls.get(call)
    }

    #[inline]
    pub(super) fn resumes(&self, edge: Edge) -> bool {
        self.resumes[edge]
    }

    pub(super) fn destination(&self, edge: Edge) -> Block {
        self.destinations[edge]
    }

    /// The block's number among those that indirect branches may lead to.
    #[inline]
    pub(super) fn target(&self, block: Block) -> Option<u64> {
        if self.targets.is_empty() {
            return None;
        }
        self.targets.binary_search(&block).ok().map(|number| number as u64)
    }

    /// How many bytes say it.
    #[inline]
    pub(super) fn target_bytes(&self) -> u8 {
        self.target_bytes
    }

    /// The edge by which the indirect branch of a block leads to the target of this number.
    pub(super) fn dispatch(&self, from: Block, number: u64) -> Option<Edge> {
        let to = *self.targets.get(usize::try_from(number).ok()?)?;
        let found = self.dispatches.partition_point(|&(src, dst, _)| (src, dst) < (from, to));
        self.dispatches.get(found).filter(|&&(src, dst, _)| (src, dst) == (from, to)).map(|listed| listed.2)
    }

    /// Where an activation is that has just written something at this place.
    pub(super) fn written(&self, place: Place) -> Option<Written> {
        self.written.binary_search_by_key(&place, |listed| listed.0).ok().map(|found| self.written[found].1)
    }

    /// Is a byte written on each cut edge to the node, only to show that it is passed?
    #[inline]
    pub(super) fn ticks(&self, node: Node) -> bool {
        self.segments.ticks(node)
    }

    /// Are outcomes of branches written, in bits that all functions share?
    #[inline]
    pub(super) fn shares_bits(&self) -> bool {
        self.segments.encoding == Encoding::EachBranch
    }

    /// Are tokens bits?
    #[inline]
    pub(super) fn has_bits(&self) -> bool {
        self.segments.encoding.has_bits()
    }

    /// The token of a segment that starts at an undecided node; `None` if it can't be.
    #[inline]
    pub(super) fn token(&self, node: Node, number: u64) -> Option<Token> {
        let facts = self.node(node);
        match self.segments.encoding {
            Encoding::Paths if facts.packs => {
                Token::packed(number, facts.base).filter(|token| token.rest() < facts.paths)
            }
            Encoding::Paths => (number < facts.paths).then(|| Token::path(number)),
            Encoding::EachWitness | Encoding::EachBranch => Some(Token::path(number)),
            Encoding::Bits | Encoding::Witnesses => Token::bits(number),
        }
    }

    /// Goes on to the next path of a packed token, which starts at this node; `None` if there is none.
    #[inline]
    pub(super) fn next_path(&self, node: Node, token: &mut Token) -> Option<()> {
        let facts = self.node(node);
        token.next_path(facts.base)?;
        (token.rest() < facts.paths).then_some(())
    }

    /// The link that the token goes along; `None` if there is none.
    #[inline]
    pub(super) fn follow(&self, node: Node, token: &mut Token) -> Option<Link> {
        let links = self.segments.links(node);
        if let [only] = links
            && self.segments.encoding.has_register()
        {
            if only.bits > 0 {
                self.segments.pop(*only, token)?;
            }
            return Some(*only);
        }
        match self.segments.encoding {
            Encoding::Paths => {
                let rest = token.rest();
                let found = if links.len() <= 4 {
                    links.iter().rposition(|link| link.value <= rest)?
                } else {
                    links.partition_point(|link| link.value <= rest).checked_sub(1)?
                };
                token.pass(links[found].value);
                Some(links[found])
            }
            Encoding::Bits => {
                let number = token.pop(links.first()?.bits)?;
                links.get(usize::try_from(number).ok()?).copied()
            }
            Encoding::EachWitness => self.segments.follow_each_witness(node, token),
            Encoding::EachBranch => {
                let value = token.rest();
                token.pass(value);
                links.get(usize::try_from(value).ok()?).copied()
            }
            Encoding::Witnesses => self.segments.follow_witness(node, token),
        }
    }

    /// Is the token still to be written behind the link?
    #[inline]
    pub(super) fn leads_on(&self, link: &Link) -> bool {
        self.segments.leads_on(link)
    }
}

/// Per node, the number of its first access or of the one that would follow; one more at the end.
fn first_accesses(function: &Function, segments: &Segments) -> Result<Vec<u32>, TraceError> {
    if function.accesses.is_empty() {
        return Ok(Vec::new());
    }
    let mut first = Vec::with_capacity(segments.nodes.len() + 1);
    let mut next = 0;
    for node in &segments.nodes {
        first.push(next as u32);
        let mut before = node.first_call;
        while let Some(access) = function
            .accesses
            .get(next)
            .filter(|access| access.block == node.block && access.before >= before && access.before <= node.last_call)
        {
            before = access.before;
            next += 1;
        }
    }
    first.push(next as u32);
    if next == function.accesses.len() { Ok(first) } else { Err(TraceError::ForeignKey) }
}
