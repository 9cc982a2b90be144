//! Probes on edges: the edge gets a block of its own, except into landing pads, which tell their predecessors apart
//! with a phi.

use super::paths::Effect;
use super::phis::{self, Move};
use super::{Emitter, Lowering, Step};
use crate::error::Error;
use crate::ffi::*;
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use cotree_core::probe::Probe;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::collections::BTreeMap;

type OnEdge = (Edge, Vec<Step>);

/// Lowers the probes of edges that have no better place.
///
/// # Safety
/// The handles must match the IR.
pub(super) unsafe fn lower(lowering: &Lowering<'_>, emitter: &Emitter<'_>, on_edges: &[OnEdge]) -> Result<(), Error> {
    let mut into: BTreeMap<Block, Vec<&OnEdge>> = BTreeMap::new();
    for probed in on_edges {
        into.entry(lowering.function.edges[probed.0.index()].dst).or_default().push(probed);
    }
    for (target, probed) in into {
        let unwinding = lowering.function.edges[probed[0].0.index()].kind == EdgeKind::InvokeUnwind;
        // SAFETY: as the caller promises. All edges into a landing pad are unwind edges and no others are.
        unsafe {
            if unwinding {
                at_landing_pad(lowering, emitter, target, &probed)?;
            } else {
                split(lowering, emitter, target, &probed)?;
            }
        }
    }
    Ok(())
}

/// Gives each edge a block with its probes.
///
/// # Safety
/// The handles must match the IR.
unsafe fn split(
    lowering: &Lowering<'_>,
    emitter: &Emitter<'_>,
    target: Block,
    probed: &[&OnEdge],
) -> Result<(), Error> {
    let counters = &emitter.counters;
    let target_block = lowering.handles.blocks[target.index()].raw();
    let mut moves = Vec::with_capacity(probed.len());
    for (edge, probes) in probed {
        let facts = &lowering.function.edges[edge.index()];
        if !facts.kind.splittable() {
            return Err(lowering.unsupported("on an edge that cannot be split"));
        }
        let source_block = lowering.handles.blocks[facts.src.index()].raw();
        let whole_group = matches!(facts.kind, EdgeKind::Case(_) | EdgeKind::Cases(..) | EdgeKind::Default);
        // SAFETY: blocks and terminators of this function; the new block ends in a branch to the old target.
        unsafe {
            let block = LLVMInsertBasicBlockInContext(lowering.module.context, target_block, c"".as_ptr());
            LLVMPositionBuilderAtEnd(counters.builder, block);
            LLVMSetCurrentDebugLocation2(counters.builder, std::ptr::null_mut());
            let jump = LLVMBuildBr(counters.builder, target_block);
            counters.position_before(jump);
            lowering.emit(emitter, probes)?;
            let terminator = LLVMGetBasicBlockTerminator(source_block);
            if whole_group {
                for i in 0..LLVMGetNumSuccessors(terminator) {
                    if LLVMGetSuccessor(terminator, i) == target_block {
                        LLVMSetSuccessor(terminator, i, block);
                    }
                }
            } else {
                LLVMSetSuccessor(terminator, facts.successor, block);
            }
            moves.push(Move { from: source_block, to: block, all: whole_group });
        }
    }
    // SAFETY: the moves say exactly how the target's predecessors changed.
    let rebuilt = unsafe { phis::redirect(target_block, &moves, counters.builder) };
    lowering.rebuilt.borrow_mut().extend(rebuilt);
    Ok(())
}

/// What unwind edges ask for is done behind the landing pad: `counters[phi of counter numbers] += 1`, and the like for
/// path registers. Exceptions are rare, and the control flow stays as it was. Edges without a probe count into the spare
/// counter.
///
/// # Safety
/// The handles must match the IR and `target` must be a landing pad.
unsafe fn at_landing_pad(
    lowering: &Lowering<'_>,
    emitter: &Emitter<'_>,
    target: Block,
    probed: &[&OnEdge],
) -> Result<(), Error> {
    let counters = &emitter.counters;
    let pad = lowering.handles.blocks[target.index()].raw();
    let mut numbers: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    let mut effects: BTreeMap<usize, Effect> = BTreeMap::new();
    for (edge, steps) in probed {
        let source = lowering.function.edges[edge.index()].src.index();
        for &Step { base, probe } in steps {
            match probe {
                Probe::Count(counter) => {
                    numbers.entry(source).or_default().push(base + u64::from(counter.0));
                }
                probe => {
                    if !effects.entry(source).or_default().probe(probe) {
                        return Err(lowering.unsupported(&format!("{probe:?} on an unwind edge")));
                    }
                }
            }
        }
    }
    if let (Some(registers), false) = (&emitter.registers, effects.is_empty()) {
        // SAFETY: the landing pad's predecessors, and the place behind it.
        unsafe {
            let of_predecessor: Vec<_> = predecessors(lowering, pad)
                .into_iter()
                .map(|(block, number)| (block, number.and_then(|n| effects.get(&n))))
                .collect();
            let (first, behind) = (LLVMGetFirstInstruction(pad), lowering.first_position(target));
            registers.join(counters, &of_predecessor, first, behind);
        }
    }
    let depth = numbers.values().map(Vec::len).max().unwrap_or(0);
    // SAFETY: every predecessor of a landing pad is an invoke's block, so it appears once; unreachable predecessors are
    // no blocks of ours but need their phi entry too.
    unsafe {
        let predecessors = predecessors(lowering, pad);
        for layer in 0..depth {
            let first = LLVMGetFirstInstruction(pad);
            counters.position_before(first);
            let phi = LLVMBuildPhi(counters.builder, counters.int64, c"".as_ptr());
            for &(predecessor, number) in &predecessors {
                let counter = number
                    .and_then(|n| numbers.get(&n))
                    .and_then(|c| c.get(layer))
                    .copied()
                    .unwrap_or(lowering.unit.spare);
                let mut value = LLVMConstInt(counters.int64, counter, 0);
                let mut block = predecessor;
                LLVMAddIncoming(phi, &raw mut value, &raw mut block, 1);
            }
            counters.position_before(lowering.first_position(target));
            counters.add(phi, LLVMConstInt(counters.int64, 1, 0));
        }
    }
    Ok(())
}

/// The blocks that unwind to `pad`, with their numbers where they are reachable.
///
/// # Safety
/// The handles must match the IR.
unsafe fn predecessors(lowering: &Lowering<'_>, pad: LLVMBasicBlockRef) -> Vec<(LLVMBasicBlockRef, Option<usize>)> {
    let mut found = Vec::new();
    // SAFETY: the users of a block are the terminators that name it (and phis, which are skipped).
    unsafe {
        let mut usage = LLVMGetFirstUse(LLVMBasicBlockAsValue(pad));
        while !usage.is_null() {
            let user = LLVMGetUser(usage);
            if !LLVMIsAInvokeInst(user).is_null() && LLVMGetInstructionOpcode(user) == LLVMOpcode::LLVMInvoke {
                let block = LLVMGetInstructionParent(user);
                found.push((block, lowering.number_of(block)));
            }
            usage = LLVMGetNextUse(usage);
        }
    }
    found
}
