//! Lowers probes on edges: the edge gets a block of its own. Landing pads are the exception: a phi says there which
//! edge was taken.

use super::code::Code;
use super::landing_pad::LandingPad;
use super::lowering::{Lowering, Step};
use crate::error::Error;
use crate::ir::phis::{self, Move};
use crate::ir::{Block as IrBlock, Instruction};
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use cotree_core::probe::{PlacedProbe, Probe};
use llvm_sys::LLVMOpcode;
use std::collections::BTreeMap;

type OnEdge = (Edge, Vec<Step>);

/// Lowers the probes of edges that have no better place.
pub(super) fn lower(lowering: &Lowering<'_, '_>, on_edges: &[OnEdge]) -> Result<(), Error> {
    let edges = &lowering.code.facts.edges;
    let mut into: BTreeMap<Block, Vec<&OnEdge>> = BTreeMap::new();
    for probed in on_edges {
        into.entry(edges[probed.0].dst).or_default().push(probed);
    }
    for (target, probed) in into {
        // All edges into a landing pad are unwind edges and no others are.
        if edges[probed[0].0].kind == EdgeKind::InvokeUnwind {
            at_landing_pad(lowering, target, &probed)?;
        } else {
            split(lowering, target, &probed)?;
        }
    }
    Ok(())
}

/// Gives each edge a block with its probes.
fn split(lowering: &Lowering<'_, '_>, target: Block, probed: &[&OnEdge]) -> Result<(), Error> {
    let code = lowering.code;
    let builder = &code.counters.builder;
    let target_block = code.block(target);
    let mut moves = Vec::with_capacity(probed.len());
    for (edge, steps) in probed {
        let facts = &code.facts.edges[*edge];
        if !facts.kind.splittable() {
            return Err(code.unsupported("on an edge that cannot be split"));
        }
        let whole_group = matches!(facts.kind, EdgeKind::Case(_) | EdgeKind::Cases(..) | EdgeKind::Default);
        let block = code.module.insert_block(target_block);
        builder.move_to_end(block);
        let jump = builder.jump(target_block);
        lowering.emit_before(jump, steps)?;
        let terminator = code.terminator(*edge);
        if whole_group {
            for index in 0..terminator.successor_count() {
                if terminator.successor(index) == Some(target_block) {
                    terminator.set_successor(index, block);
                }
            }
        } else {
            terminator.set_successor(facts.successor, block);
        }
        moves.push(Move { from: code.block(facts.src), to: block, all: whole_group });
    }
    let rebuilt = phis::redirect(target_block, &moves, builder);
    code.rebuilt.borrow_mut().extend(rebuilt.into_iter().map(|(old, new)| (old.into(), new)));
    Ok(())
}

/// Probes of unwind edges are executed after the landing pad: `counters[phi of counter numbers] += 1`, and similarly
/// for the registers of methods. Exceptions are rare, and the control flow is unchanged. Edges without a probe count
/// into the spare counter.
fn at_landing_pad(lowering: &Lowering<'_, '_>, target: Block, probed: &[&OnEdge]) -> Result<(), Error> {
    let code = lowering.code;
    let pad = code.block(target);
    let predecessors = predecessors(pad);
    let sources: Vec<Option<Block>> = predecessors.iter().map(|&block| code.number_of(block)).collect();
    let mut numbers: BTreeMap<Block, Vec<[u64; 2]>> = BTreeMap::new();
    let mut own: Vec<BTreeMap<Block, Vec<Probe>>> = vec![BTreeMap::new(); lowering.layers.len()];
    for (edge, steps) in probed {
        let source = code.facts.edges[*edge].src;
        for &Step { layer, placed: PlacedProbe { probe, .. } } in steps {
            let counted = match probe {
                Probe::Count(counter) => Some((counter, 1)),
                Probe::CountBy(counter, by) => Some((counter, by)),
                _ => None,
            };
            if let Some((counter, by)) = counted {
                let counter = lowering.layers[layer].base + u64::from(counter.0);
                numbers.entry(source).or_default().push([counter, by]);
            } else {
                own[layer].entry(source).or_default().push(probe);
            }
        }
    }
    // A method may add what counters are now to others, so its code stands in front of what the edges count.
    let behind = code.first_position(target);
    for ((method, layer), mut probes) in lowering.methods.iter().zip(lowering.layers).zip(own) {
        if !probes.is_empty() {
            let probes: Vec<Option<Vec<Probe>>> =
                sources.iter().map(|source| source.and_then(|source| probes.remove(&source))).collect();
            let first = pad.first().expect("a block ends in a terminator");
            let pad = LandingPad { predecessors: predecessors.clone(), first, behind };
            let failed = |probe| code.unsupported(&format!("{probe:?} on an unwind edge"));
            method.on_unwind_edges(code, layer.base, &pad, &probes).map_err(failed)?;
        }
    }
    count_at_landing_pad(code, target, behind, &predecessors, &sources, &numbers);
    Ok(())
}

/// Counts, before the instruction `behind`, what the unwind edges into a landing pad count, by the numbers of counters
/// and by how much they rise.
fn count_at_landing_pad<'m>(
    code: &Code<'_, 'm>,
    target: Block,
    behind: Instruction<'m>,
    predecessors: &[IrBlock<'m>],
    sources: &[Option<Block>],
    numbers: &BTreeMap<Block, Vec<[u64; 2]>>,
) {
    let (builder, int64) = (&code.counters.builder, code.counters.int64);
    for layer in 0..numbers.values().map(Vec::len).max().unwrap_or(0) {
        builder.move_before(code.block(target).first().expect("a block ends in a terminator"));
        let phi = builder.phi(int64);
        let all_by_one = numbers.values().filter_map(|counters| counters.get(layer)).all(|&[_, by]| by == 1);
        let rise = if all_by_one { None } else { Some(builder.phi(int64)) };
        for (&predecessor, source) in predecessors.iter().zip(sources) {
            let counters = source.and_then(|source| numbers.get(&source));
            let counted = counters.and_then(|counters| counters.get(layer)).copied();
            let [counter, by] = counted.unwrap_or([code.unit.spare, 1]);
            phi.add_incoming(int64.constant(counter), predecessor);
            if let Some(rise) = rise {
                rise.add_incoming(int64.constant(by), predecessor);
            }
        }
        builder.move_before(behind);
        code.counters.add(phi.into(), rise.map_or(int64.constant(1), Into::into));
    }
}

/// The blocks that unwind to `pad`: those whose invokes name it.
fn predecessors(pad: IrBlock<'_>) -> Vec<IrBlock<'_>> {
    let invokes = pad.as_value().users().into_iter().filter_map(|user| user.as_instruction());
    invokes.filter(|invoke| invoke.opcode() == LLVMOpcode::LLVMInvoke).filter_map(Instruction::block).collect()
}
