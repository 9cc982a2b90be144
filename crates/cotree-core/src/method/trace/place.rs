//! The probes that write a function's tokens.

use super::segments::{Link, Node, NodeEnd, Segments, Target};
use super::stream::ControlByte;
use super::types::{Encoding, TraceError, TraceKey};
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge};
use crate::probe::{Place, PlacedProbe, Probe, Reg};

/// Where an activation is that has just written something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// At the entry: it records that it has been entered.
    Entry,
    /// While the link is crossed.
    Link(Node, Link),
    /// Behind a call, where this node begins.
    Behind(Node),
    /// In a block that indirect branches lead to.
    Target(Block),
}

/// The probes of a function, and what each place says where something is written; at no place there are two such
/// probes.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    pub probes: Vec<PlacedProbe>,
    pub written: Vec<(Place, Written)>,
}

/// Places the probes of a function with this key.
pub(super) fn place(function: &Function, cfg: &Cfg, key: &TraceKey, segments: &Segments) -> Result<Placed, TraceError> {
    let mut placing = Placing { function, cfg, key, segments, placed: Placed::default() };
    for node in 0..segments.nodes.len() {
        placing.behind_call(node);
        for link in segments.links(node) {
            placing.link(node, link)?;
        }
    }
    placing.landing_pads();
    placing.starts();
    Ok(placing.placed)
}

struct Placing<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    key: &'a TraceKey,
    segments: &'a Segments,
    placed: Placed,
}

impl Placing<'_> {
    fn add(&mut self, place: Place, probe: Probe) {
        self.placed.probes.push(PlacedProbe { place, probe });
    }

    /// Adds a probe that writes something.
    fn write(&mut self, place: Place, probe: Probe, written: Written) {
        self.placed.written.push((place, written));
        self.add(place, probe);
    }

    /// A segment starts at the node: the register is what it is at first.
    fn start(&mut self, place: Place, node: Node) {
        if self.segments.nodes[node].undecided && self.segments.encoding.has_register() {
            self.add(place, Probe::Set(Reg::Token, self.segments.initial(node).cast_signed()));
        }
    }

    fn behind_call(&mut self, node: Node) {
        let NodeEnd::Call(call, Some(behind)) = self.segments.nodes[node].end else { return };
        if self.key.call(call).is_confirmed() {
            let plus = i64::from(ControlByte::RETURNED);
            self.write(Place::After(call), Probe::Emit { reg: None, plus, bytes: 1 }, Written::Behind(behind));
        }
        self.start(Place::After(call), behind);
    }

    fn link(&mut self, node: Node, link: &Link) -> Result<(), TraceError> {
        let undecided = self.segments.nodes[node].undecided;
        if link.target == Target::Dispatch {
            return if undecided { Err(TraceError::ForeignKey) } else { Ok(()) };
        }
        let place = self.place(link.edge);
        if undecided {
            self.token(place, node, link);
        }
        if let Target::Cut(to) = link.target
            && self.target_number(to).is_none()
        {
            if !undecided && self.segments.ticks(to) {
                self.write(place, Probe::Emit { reg: None, plus: 0, bytes: 1 }, Written::Link(node, *link));
            }
            self.start(place, to);
        }
        Ok(())
    }

    /// What the link does to the token.
    fn token(&mut self, place: Place, node: Node, link: &Link) {
        let facts = self.segments.nodes[node];
        let reg = Reg::Token;
        let mut plus = 0;
        if !self.segments.encoding.has_register() {
            let probe = match facts.bits {
                0 => Probe::Emit { reg: None, plus: link.value.cast_signed(), bytes: facts.bytes },
                bits => Probe::EmitBits { value: link.value as u8, bits },
            };
            if link.bits > 0 {
                self.write(place, probe, Written::Link(node, *link));
            }
            return;
        }
        if self.segments.encoding == Encoding::Paths {
            plus = link.value.cast_signed();
        } else if link.bits > 0 {
            let (times, plus) = (1 << link.bits, link.value.cast_signed());
            self.add(place, Probe::Linear { to: reg, from: reg, times, plus });
        }
        if !self.segments.leads_on(link) {
            let probe = Probe::Emit { reg: Some(reg), plus, bytes: facts.bytes };
            self.write(place, probe, Written::Link(node, *link));
            return;
        }
        if plus != 0 {
            self.add(place, Probe::Add(reg, plus));
        }
        if let Target::Packed(_) = link.target {
            let probe = Probe::EmitFull { reg, limit: self.segments.limit(node), bytes: facts.bytes };
            self.write(place, probe, Written::Link(node, *link));
            let times = facts.base.cast_signed();
            self.add(place, Probe::Linear { to: reg, from: reg, times, plus: 0 });
        }
    }

    /// Segments start at landing pads: mostly in blocks that nothing else leads to.
    fn landing_pads(&mut self) {
        let unwinds = |edge: &Edge| self.segments.unwinds_segment(self.function, *edge);
        for block in self.cfg.blocks().filter(|&block| block != self.cfg.exit()) {
            let node = self.segments.node(block);
            let edges = self.cfg.preds(block);
            let to_pads: Vec<Edge> =
                edges.iter().copied().filter(|&edge| edge != self.cfg.exit_edge() && unwinds(&edge)).collect();
            if to_pads.is_empty() || self.target_number(node).is_some() {
                continue;
            }
            let places = match to_pads.len() == edges.len() {
                true => vec![Place::Start(block)],
                false => to_pads.into_iter().map(Place::Edge).collect(),
            };
            for place in places {
                self.start(place, node);
            }
        }
    }

    /// Segments start where the function is entered, and where indirect branches lead to.
    fn starts(&mut self) {
        let entry = Place::Start(self.cfg.entry());
        if self.key.records_entry {
            self.write(entry, Probe::RecordEntry, Written::Entry);
        }
        for (number, &block) in self.key.targets.iter().enumerate() {
            let place = Place::Start(block);
            let plus = number as i64;
            let probe = Probe::Emit { reg: None, plus, bytes: self.key.target_bytes() };
            self.write(place, probe, Written::Target(block));
            self.start(place, self.segments.node(block));
        }
        let node = self.segments.node(self.cfg.entry());
        if self.target_number(node).is_none() && self.segments.initial(node) != 0 {
            self.start(entry, node);
        }
    }

    fn target_number(&self, node: Node) -> Option<usize> {
        self.key.targets.binary_search(&self.segments.nodes[node].block).ok()
    }

    /// Where probes run exactly when the edge is taken, after all calls of its source. The edge is none of an indirect
    /// branch.
    fn place(&self, edge: Edge) -> Place {
        let (src, dst) = (self.cfg.src(edge), self.cfg.dst(edge));
        if self.cfg.succs(src).len() == 1 && !self.ends_in_call(src) {
            Place::End(src)
        } else if dst != self.cfg.exit()
            && self.cfg.preds(dst).len() == 1
            && self.key.targets.binary_search(&dst).is_err()
        {
            Place::Start(dst)
        } else {
            Place::Edge(edge)
        }
    }

    fn ends_in_call(&self, block: Block) -> bool {
        let calls = &self.function.calls;
        let last = self.segments.calls_of(block).next_back();
        last.is_some_and(|call| calls[call].terminator || calls[call].must_tail)
    }
}

impl Segments {
    /// Is it an edge by which the exceptions of a call that ends a segment leave?
    pub(super) fn unwinds_segment(&self, function: &Function, edge: Edge) -> bool {
        let facts = &function.edges[edge];
        facts.kind == EdgeKind::InvokeUnwind && self.throws(function, facts.src)
    }
}
