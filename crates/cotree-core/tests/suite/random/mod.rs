//! Random functions and random walks over them, with everything that makes profiling hard: parallel edges, self-loops,
//! irreducible loops, blocks that nothing reaches, loops without exit, branches that can't be split, call sites at
//! which activations end early or come to life.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use cotree_core::facts::{BlockFacts, Call, Callee, EdgeFacts, EdgeKind, Function, InstructionCounts};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge, Site};
use cotree_core::interpret::{From, GraphWalk, Until};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A function from plain lists: edges as (from, to, splittable), call sites as (block, is it the terminator?).
pub fn function(blocks: usize, edges: &[(usize, usize, bool)], sites: &[(usize, bool)]) -> Function {
    let mut next = vec![0; blocks];
    let edges = edges
        .iter()
        .map(|&(src, dst, splittable)| {
            let successor = next[src];
            next[src] += 1;
            let kind = match (splittable, dst == blocks) {
                (false, _) => EdgeKind::IndirectBranch,
                (true, true) => EdgeKind::Return,
                (true, false) => EdgeKind::Jump,
            };
            EdgeFacts { src: Block::new(src), dst: Block::new(dst), kind, successor }
        })
        .collect();
    let site = |&(block, terminator)| Call { terminator, ..Call::site(Block::new(block), Callee::Indirect) };
    let calls = sites.iter().map(site).collect();
    // Every third block is too long for a bare return.
    let block = |i: usize| BlockFacts {
        instructions: InstructionCounts { total: if i % 3 == 2 { 9 } else { 1 }, ..InstructionCounts::default() },
        ..BlockFacts::default()
    };
    Function { blocks: (0..blocks).map(block).collect(), edges, calls, ..Function::default() }
}

/// A function with up to `most` blocks.
pub fn functions(most: usize) -> impl Strategy<Value = Function> {
    (1..=most).prop_flat_map(|blocks| {
        let block = (vec(0..=blocks, 0..4), prop::bool::weighted(0.15), 0..3usize, prop::bool::weighted(0.3));
        (vec(block, blocks), any::<u32>()).prop_map(move |(shape, quiet)| {
            let mut edges = Vec::new();
            let mut sites = Vec::new();
            for (src, (targets, computed, calls, invoke)) in shape.into_iter().enumerate() {
                edges.extend(targets.into_iter().map(|dst| (src, dst, !computed)));
                sites.extend((0..calls).map(|i| (src, i + 1 == calls && invoke && !computed)));
            }
            let mut function = function(blocks, &edges, &sites);
            for (number, block) in function.blocks.iter_mut().enumerate() {
                let sites = sites.iter().filter(|site| site.0 == number).count() as u32;
                // Some calls are no sites: nobody leaves an activation there.
                block.instructions.calls = sites + (quiet >> (number % 32) & 1);
            }
            function
        })
    })
}

/// A random function as LLVM could have made it: computed gotos neither return nor name a target twice.
pub fn functions_of_llvm() -> impl Strategy<Value = Function> {
    (functions(9), any::<u16>(), any::<bool>()).prop_map(|(mut f, twice, connected)| {
        let mut seen = BTreeSet::new();
        let exit = f.exit();
        if connected {
            // As LLVM has it: each block is reached and has a successor, the entry is not branched to.
            let computed = |f: &Function, src| f.edges.iter().any(|e| e.src == src && !e.kind.splittable());
            f.edges.retain(|e| e.dst != Block(0));
            for block in (0..f.blocks.len()).map(Block::new) {
                let kind = if computed(&f, block) { EdgeKind::IndirectBranch } else { EdgeKind::Jump };
                f.edges.push(EdgeFacts { src: block, dst: Block(block.0 + 1), kind, successor: 9 });
            }
        }
        f.edges.retain(|e| e.kind != EdgeKind::IndirectBranch || seen.insert((e.src, e.dst)));
        for e in f.edges.iter_mut().filter(|e| e.dst == exit) {
            e.kind = EdgeKind::Return;
        }
        f.calls.update(|id, site| site.returns_twice = id.index() % 16 == usize::from(twice) % 24);
        f
    })
}

/// Walks that follow a list of choices; what leads nowhere is cut back to the last call site or dropped.
pub fn walks(function: &Function, cfg: &Cfg, choices: &[Vec<u8>]) -> Vec<GraphWalk> {
    choices.iter().filter_map(|choices| walk(function, cfg, choices)).collect()
}

fn walk(function: &Function, cfg: &Cfg, choices: &[u8]) -> Option<GraphWalk> {
    let (&first, rest) = choices.split_first()?;
    let (from, mut at) = match function.sites().len() {
        sites if sites > 0 && first < 64 => {
            let site = Site::new(usize::from(first) % sites);
            (From::Site(site), function.calls[site].block)
        }
        _ => (From::Entry, cfg.entry()),
    };
    let mut edges: Vec<Edge> = Vec::new();
    for &choice in rest {
        if at == cfg.exit() {
            break;
        }
        let successors = cfg.succs(at);
        let choice = usize::from(choice) % (successors.len() + 1 + usize::from(successors.len() > 1));
        let Some(&edge) = successors.get(choice).or(successors.first()) else { break };
        if choice >= successors.len() && choice.is_multiple_of(2) {
            break;
        }
        edges.push(edge);
        at = cfg.dst(edge);
    }
    loop {
        if at == cfg.exit() {
            return Some(GraphWalk { from, edges, until: Until::Exit });
        }
        let early = function.sites_of(at).last().map(|(site, _)| site);
        if let Some(site) = early {
            let sites = function.sites_of(at).count();
            let back = usize::from(first) % sites;
            let site = if edges.is_empty() && from != From::Entry { site } else { Site::new(site.index() - back) };
            return Some(GraphWalk { from, edges, until: Until::Site(site) });
        }
        at = cfg.src(edges.pop()?);
    }
}

/// Choices for some walks.
pub fn choices() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 1..40), 0..8)
}
