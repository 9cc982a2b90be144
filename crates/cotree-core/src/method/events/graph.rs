//! The graph on which events are propagated: points of a function, and the stretches of code between them.
//!
//! Points are the beginnings of blocks, and the places behind calls that can reach a query. All places where nothing
//! may be lacking are one point, [`REST`]: the entry, EXIT, and those calls. A spanning tree of this graph is one of
//! the control-flow graph with the edge EXIT→entry, in which each such call is split off and is joined to the entry.
//!
//! Edges of computed jumps can't carry probes. All that leave or enter the same blocks meet in one point: their probes
//! are where their sources end and where their targets begin.

use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, CallId, Edge, IdMap, id};
use crate::place::affine::Replacements;
use crate::place::placement::Placer;
use crate::place::spanning::TreePriority;
use crate::probe::Place;
use crate::weight::weighting::Weighting;
use std::cmp::Reverse;

id!(
    /// A point of the function.
    pub(super) Point,
    "p"
);

/// Where nothing is lacking.
pub(super) const REST: Point = Point(0);

/// A place within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Beginning,
    /// While the call is under way.
    Call(CallId),
    /// Where it has returned.
    Behind(CallId),
    End,
}

/// A stretch of code from one point to another.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    pub from: Point,
    pub to: Point,
    /// The block whose events happen along it.
    pub block: Block,
    /// From where to where.
    pub span: [Within; 2],
    /// Where its probe would be.
    pub place: Place,
    /// The edge of the control-flow graph that it goes along, if any.
    pub edge: Option<Edge>,
    price: f64,
    priority: TreePriority,
    /// In how many loops of known length it lies.
    pub depth: u32,
    /// The edge is the backedge of such a loop, which needs no probe.
    pub fixed: bool,
    pub in_tree: bool,
}

/// Where a part of a block begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub point: Point,
    pub within: Within,
}

/// See the file's description.
pub(super) struct EventGraph {
    pub arcs: Vec<Arc>,
    pub points: usize,
    /// Where the function returns; [`REST`] if nothing may be lacking there.
    pub returned: Point,
    /// Per block, where it begins.
    pub blocks: IdMap<Block, Point>,
    /// Per call, the part of its block that it ends; `None` where nothing is lacking during the call.
    pub calls: IdMap<CallId, Option<Part>>,
}

/// What a graph is made of.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub function: &'a Function,
    pub cfg: &'a Cfg,
    pub weighting: &'a Weighting,
    pub replacements: &'a Replacements,
    /// Per call, whether nothing may be lacking during it.
    pub resting: &'a IdMap<CallId, bool>,
    /// May something be lacking where the function returns?
    pub adjusted: bool,
}

impl EventGraph {
    pub fn new(input: Input<'_>) -> Self {
        let mut builder = Builder::new(input);
        for block in input.cfg.blocks().filter(|&b| b != input.cfg.exit()) {
            builder.parts(block);
        }
        builder.edges();
        let Builder { mut graph, .. } = builder;
        graph.span();
        graph
    }

    /// Chooses the greatest spanning tree by price, those of loops of known length first. The order of arcs is then the
    /// one in which the tree grew.
    fn span(&mut self) {
        self.arcs.sort_by(|a, b| {
            let rank = |arc: &Arc| (Reverse(arc.depth), arc.priority != TreePriority::Forced);
            rank(a)
                .cmp(&rank(b))
                .then(b.price.total_cmp(&a.price))
                .then(a.priority.cmp(&b.priority))
                .then(a.edge.cmp(&b.edge))
        });
        let mut joined = UnionFind::new(self.points);
        for arc in self.arcs.iter_mut().filter(|arc| !arc.fixed) {
            arc.in_tree = joined.union(arc.from.index(), arc.to.index());
        }
    }
}

struct Builder<'a> {
    input: Input<'a>,
    placer: Placer<'a>,
    prices: Weighting,
    graph: EventGraph,
    /// Per block, where all its computed jumps meet.
    leaving: IdMap<Block, Option<Point>>,
    /// Per block, where all computed jumps into it meet.
    entering: IdMap<Block, Option<Point>>,
    /// Per block, where its last part begins.
    last: IdMap<Block, Part>,
}

impl<'a> Builder<'a> {
    fn new(input: Input<'a>) -> Self {
        let Input { function, cfg, weighting, replacements, adjusted, .. } = input;
        let placer = Placer::new(function, cfg);
        let prices = replacements.prices(cfg, &placer.prices(cfg, weighting));
        let graph = EventGraph {
            arcs: Vec::new(),
            points: 1,
            returned: REST,
            blocks: IdMap::default(),
            calls: IdMap::filled(None, function.calls.len()),
        };
        let (leaving, entering) = (cfg.per_block(None), cfg.per_block(None));
        let mut builder = Self { input, placer, prices, graph, leaving, entering, last: IdMap::default() };
        if adjusted {
            builder.graph.returned = builder.point();
        }
        let begin = |block: Block| if block == cfg.entry() { REST } else { builder.point() };
        builder.graph.blocks = cfg.blocks().filter(|&b| b != cfg.exit()).map(begin).collect();
        builder.meet();
        builder
    }

    fn point(&mut self) -> Point {
        let point = Point::new(self.graph.points);
        self.graph.points += 1;
        point
    }

    /// Finds out which computed jumps meet.
    fn meet(&mut self) {
        let Input { function, cfg, .. } = self.input;
        let blocks = cfg.block_count();
        let mut met = UnionFind::new(2 * blocks);
        let mut computed = vec![false; 2 * blocks];
        for edge in cfg.edges().filter(|&e| e != cfg.exit_edge() && !function.splittable(e)) {
            let (from, to) = (cfg.src(edge).index(), blocks + cfg.dst(edge).index());
            met.union(from, to);
            computed[from] = true;
            computed[to] = true;
        }
        // Where one of them enters the function anew, or leaves it, nothing may be lacking.
        let mut points = vec![None; 2 * blocks];
        for end in [cfg.entry(), cfg.exit()] {
            points[met.find(blocks + end.index())] = Some(REST);
        }
        for number in (0..2 * blocks).filter(|&number| computed[number]) {
            let set = met.find(number);
            let point = points[set].unwrap_or_else(|| self.point());
            points[set] = Some(point);
            match number.checked_sub(blocks) {
                None => self.leaving[Block::new(number)] = Some(point),
                Some(entered) => self.entering[Block::new(entered)] = Some(point),
            }
        }
        for block in cfg.blocks().filter(|&b| b != cfg.exit() && b != cfg.entry()) {
            if let Some(met) = self.entering[block] {
                let (to, place) = (self.graph.blocks[block], Place::Start(block));
                self.arc(block, met, to, [Within::Beginning; 2], place);
            }
        }
    }

    /// Adds an arc that is executed as often as the block.
    fn arc(&mut self, block: Block, from: Point, to: Point, span: [Within; 2], place: Place) {
        let priority = match place {
            Place::After(call) if !self.input.function.calls[call].comes_back() => TreePriority::Forced,
            Place::After(_) => TreePriority::Preferred,
            _ => TreePriority::Plain,
        };
        let price = self.input.weighting.block(block);
        let (edge, depth, fixed, in_tree) = (None, 0, false, false);
        self.graph.arcs.push(Arc { from, to, block, span, place, edge, price, priority, depth, fixed, in_tree });
    }

    /// Splits a block at the calls during which nothing may be lacking.
    fn parts(&mut self, block: Block) {
        let function = self.input.function;
        let mut part = Part { point: self.graph.blocks[block], within: Within::Beginning };
        let first = function.calls.iter().as_slice().partition_point(|call| call.block < block);
        for (call, facts) in function.calls.numbered().skip(first).take_while(|(_, call)| call.block == block) {
            if !self.input.resting.get(call).copied().unwrap_or(false) || facts.must_tail {
                self.graph.calls[call] = Some(part);
                continue;
            }
            self.arc(block, part.point, REST, [part.within, Within::Call(call)], Place::Call(call));
            if facts.terminator {
                // What comes behind it is on the edges.
                part = Part { point: REST, within: Within::Call(call) };
            } else {
                let behind = self.point();
                self.arc(block, REST, behind, [Within::Call(call), Within::Behind(call)], Place::After(call));
                part = Part { point: behind, within: Within::Behind(call) };
            }
        }
        if let Some(met) = self.leaving[block] {
            self.arc(block, part.point, met, [part.within, Within::End], Place::End(block));
            part = Part { point: met, within: Within::End };
        }
        self.last.push(part);
    }

    fn edges(&mut self) {
        let Input { function, cfg, replacements, resting, .. } = self.input;
        let mut rests = cfg.per_block(false);
        let mut terminators = cfg.per_block(None);
        for (call, facts) in function.calls.numbered() {
            rests[facts.block] |= resting.get(call).copied().unwrap_or(false) && !facts.must_tail;
            terminators[facts.block] = facts.terminator.then_some(call);
        }
        let mut fixed = cfg.per_edge(false);
        replacements.fixed.edges.iter().for_each(|loops| fixed[loops.edge] = true);
        for edge in cfg.edges().filter(|&e| e != cfg.exit_edge() && function.splittable(e)) {
            let (block, target) = (cfg.src(edge), cfg.dst(edge));
            let kind = function.edges[edge].kind;
            let part = self.last[block];
            let to = match self.entering[target] {
                Some(met) => met,
                None if target != cfg.exit() => self.graph.blocks[target],
                None if kind == EdgeKind::Return => self.graph.returned,
                None => REST,
            };
            // A probe at the beginning of the block would come before the calls.
            let placement = if rests[block] { self.placer.direct(edge) } else { self.placer.edge(edge) };
            // An exception comes out of the call.
            let end = match terminators[block] {
                Some(call) if kind == EdgeKind::InvokeUnwind => Within::Call(call),
                _ => Within::End,
            };
            self.graph.arcs.push(Arc {
                from: part.point,
                to,
                block,
                span: [part.within, end],
                place: placement.place,
                edge: Some(edge),
                price: self.prices.edge(edge),
                priority: if placement.needs_jump() { TreePriority::Preferred } else { TreePriority::Plain },
                depth: replacements.fixed.depth(edge),
                fixed: fixed[edge],
                in_tree: false,
            });
        }
    }
}
