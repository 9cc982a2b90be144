//! Classifies edges by whether probes can be put on them.
//!
//! A computed goto has edges that no probe can be put on, as both its ends have other edges (*unplaceable* edges). They
//! must lie on the spanning tree, so they may not form a cycle. The edges of one such branch never do. Where several
//! share targets, they lead through a *dispatch* node in the path graph, one for all branches that share any: a star
//! has no cycle. Its targets are cut blocks, so paths show which branch went where. (Pairs of branch and target that
//! the program does not have get numbers, too.)

use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, Edge, IdMap};
use crate::place::placement::Placer;
use crate::probe::Place;

/// Where a probe for an edge can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Probes can be put there, and count nothing but this edge.
    Placeable(Place),
    /// Nowhere, but it forms no cycle with other such edges.
    Unplaceable,
    /// Nowhere, and it leads through this dispatch node.
    Dispatched(u32),
    /// A computed goto names the same target twice: this edge can't be distinguished from an earlier one.
    Hidden,
}

/// The classes of a function's edges.
#[derive(Clone, Debug)]
pub struct EdgeClasses {
    classes: IdMap<Edge, Class>,
    targets: Vec<(Block, u32)>,
    dispatches: usize,
}

impl EdgeClasses {
    /// Classifies all edges.
    #[must_use]
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        let placer = Placer::new(function, cfg);
        let mut classes: IdMap<Edge, Class> = cfg
            .edges()
            .map(|edge| {
                let placement = placer.direct(edge);
                match placement.place {
                    place if !placement.if_taken => Class::Placeable(place),
                    _ if cfg.dst(edge) == cfg.exit() => Class::Placeable(Place::Edge(edge)),
                    _ => Class::Unplaceable,
                }
            })
            .collect();

        // Components: out-sides of blocks first, then in-sides.
        let blocks = cfg.block_count();
        let mut sides = UnionFind::new(2 * blocks);
        let mut sources = Vec::new();
        let mut reached_from = cfg.per_block(None);
        for block in cfg.blocks() {
            let mut any = false;
            for &edge in cfg.succs(block) {
                if classes[edge] == Class::Unplaceable {
                    let dst = cfg.dst(edge);
                    if reached_from[dst].replace(block) == Some(block) {
                        classes[edge] = Class::Hidden;
                    } else {
                        any = true;
                        sides.union(block.index(), blocks + dst.index());
                    }
                }
            }
            if any {
                sources.push(block);
            }
        }
        let mut first = vec![None; 2 * blocks];
        let mut number: Vec<Option<u32>> = vec![None; 2 * blocks];
        let mut dispatches = 0u32;
        for block in sources {
            let set = sides.find(block.index());
            if first[set].replace(block).is_some() && number[set].is_none() {
                number[set] = Some(dispatches);
                dispatches += 1;
            }
        }
        let mut targets = Vec::new();
        let mut is_target = cfg.per_block(false);
        for edge in cfg.edges() {
            if classes[edge] == Class::Unplaceable
                && let Some(number) = number[sides.find(cfg.src(edge).index())]
            {
                classes[edge] = Class::Dispatched(number);
                if !std::mem::replace(&mut is_target[cfg.dst(edge)], true) {
                    targets.push((cfg.dst(edge), number));
                }
            }
        }
        Self { classes, targets, dispatches: dispatches as usize }
    }

    /// The class of an edge.
    #[must_use]
    pub fn class(&self, edge: Edge) -> Class {
        self.classes[edge]
    }

    /// The targets of dispatch nodes, with the node's number.
    pub fn dispatch_targets(&self) -> impl Iterator<Item = (Block, u32)> {
        self.targets.iter().copied()
    }

    /// How many dispatch nodes there are.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        self.dispatches
    }
}
