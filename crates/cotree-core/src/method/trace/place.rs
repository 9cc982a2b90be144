//! The probes that write a function's tokens.

use super::segments::{Link, Node, NodeEnd, Segments, Target};
use super::stream::ControlByte;
use super::types::{TraceError, TraceKey, Way};
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge};
use crate::probe::{Place, PlacedProbe, Probe, Reg};

/// The probes of a function with this key.
pub(super) fn probes(
    function: &Function,
    cfg: &Cfg,
    key: &TraceKey,
    segments: &Segments,
) -> Result<Vec<PlacedProbe>, TraceError> {
    let mut placing = Placing { function, cfg, key, segments, probes: Vec::new() };
    for node in 0..segments.nodes.len() {
        placing.behind_call(node);
        for link in segments.links(node) {
            placing.link(node, link)?;
        }
    }
    placing.landings();
    placing.starts();
    Ok(placing.probes)
}

struct Placing<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    key: &'a TraceKey,
    segments: &'a Segments,
    probes: Vec<PlacedProbe>,
}

impl Placing<'_> {
    fn add(&mut self, place: Place, probe: Probe) {
        self.probes.push(PlacedProbe { place, probe });
    }

    /// A segment starts at the node: the register is what it is at first.
    fn start(&mut self, place: Place, node: Node) {
        if self.segments.nodes[node].undecided {
            self.add(place, Probe::Set(Reg::Token, self.segments.initial(node).cast_signed()));
        }
    }

    fn behind_call(&mut self, node: Node) {
        let NodeEnd::Call(call, Some(behind)) = self.segments.nodes[node].end else { return };
        if self.key.call(call).is_confirmed() {
            let plus = i64::from(ControlByte::RETURNED);
            self.add(Place::After(call), Probe::Emit { reg: None, plus, bytes: 1 });
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
            if self.segments.ticks(to) {
                self.add(place, Probe::Emit { reg: None, plus: 0, bytes: 1 });
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
        if self.segments.way == Way::Paths {
            plus = link.value.cast_signed();
        } else if link.bits > 0 {
            let (times, plus) = (1 << link.bits, link.value.cast_signed());
            self.add(place, Probe::Linear { to: reg, from: reg, times, plus });
        }
        if !self.segments.leads_on(link) {
            self.add(place, Probe::Emit { reg: Some(reg), plus, bytes: facts.bytes });
            return;
        }
        if plus != 0 {
            self.add(place, Probe::Add(reg, plus));
        }
        if let Target::Packed(_) = link.target {
            self.add(place, Probe::EmitFull { reg, limit: self.segments.limit(node), bytes: facts.bytes });
            let times = facts.base.cast_signed();
            self.add(place, Probe::Linear { to: reg, from: reg, times, plus: 0 });
        }
    }

    /// Segments start where exceptions land.
    fn landings(&mut self) {
        for edge in (0..self.function.edges.len()).map(Edge::new) {
            let dst = self.cfg.dst(edge);
            if dst != self.cfg.exit() && self.segments.is_landing(self.function, edge) {
                let node = self.segments.node(dst);
                if self.target_number(node).is_none() {
                    self.start(self.place(edge), node);
                }
            }
        }
    }

    /// Segments start where the function is entered, and where indirect branches lead to.
    fn starts(&mut self) {
        let entry = Place::Start(self.cfg.entry());
        if self.key.announces {
            self.add(entry, Probe::Announce);
        }
        for (number, &block) in self.key.targets.iter().enumerate() {
            let place = Place::Start(block);
            let plus = number as i64;
            self.add(place, Probe::Emit { reg: None, plus, bytes: self.key.target_bytes() });
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

    /// Where probes run exactly when the edge is taken, after all calls of its source. The edge is none of an indirect branch.
    fn place(&self, edge: Edge) -> Place {
        let (src, dst) = (self.cfg.src(edge), self.cfg.dst(edge));
        if self.cfg.succs(src).len() == 1 && !self.ends_in_call(src) {
            Place::End(src)
        } else if dst != self.cfg.exit() && self.cfg.preds(dst).len() == 1 {
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
    pub(super) fn is_landing(&self, function: &Function, edge: Edge) -> bool {
        let facts = &function.edges[edge.index()];
        facts.kind == EdgeKind::InvokeUnwind && self.throws(function, facts.src)
    }
}
