//! Edges of a function and their kinds.

use crate::ffi::*;
use cotree_core::facts::{EdgeFacts, EdgeKind};
use cotree_core::ids::Block;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::collections::HashMap;

/// The edges in block order, successors in order; switch cases with the same target are one edge. The flag is false
/// where some terminator has no model (Windows exception funclets).
///
/// # Safety
/// `blocks` must be the reachable blocks of one verified function, numbered by `numbers`.
pub(super) unsafe fn edges(
    blocks: &[LLVMBasicBlockRef],
    numbers: &HashMap<LLVMBasicBlockRef, Block>,
) -> (Vec<EdgeFacts>, bool) {
    let exit = Block::new(blocks.len());
    let mut edges = Vec::new();
    let mut modelled = true;
    for (number, &block) in blocks.iter().enumerate() {
        let src = Block::new(number);
        // SAFETY: every block of a verified function has a terminator, whose successors are reachable blocks.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(block);
            let successors = LLVMGetNumSuccessors(terminator);
            let mut add =
                |dst: Block, kind: EdgeKind, successor: u32| edges.push(EdgeFacts { src, dst, kind, successor });
            let target = |i: u32| numbers[&LLVMGetSuccessor(terminator, i)];
            match LLVMGetInstructionOpcode(terminator) {
                LLVMOpcode::LLVMBr if successors == 1 => add(target(0), EdgeKind::Jump, 0),
                LLVMOpcode::LLVMBr => {
                    add(target(0), EdgeKind::True, 0);
                    add(target(1), EdgeKind::False, 1);
                }
                LLVMOpcode::LLVMSwitch => switch(terminator, successors, &target, &mut add),
                LLVMOpcode::LLVMIndirectBr => {
                    let mut seen = Vec::new();
                    for i in 0..successors {
                        // A target listed twice is one edge: the address decides, not the position.
                        if !seen.contains(&target(i)) {
                            seen.push(target(i));
                            add(target(i), EdgeKind::IndirectBranch, i);
                        }
                    }
                }
                LLVMOpcode::LLVMInvoke => {
                    add(target(0), EdgeKind::InvokeNormal, 0);
                    add(target(1), EdgeKind::InvokeUnwind, 1);
                }
                LLVMOpcode::LLVMCallBr => {
                    add(target(0), EdgeKind::CallBrFallthrough, 0);
                    for i in 1..successors {
                        add(target(i), EdgeKind::CallBrIndirect, i);
                    }
                }
                LLVMOpcode::LLVMRet => add(exit, EdgeKind::Return, 0),
                LLVMOpcode::LLVMResume => add(exit, EdgeKind::Resume, 0),
                LLVMOpcode::LLVMUnreachable => add(exit, EdgeKind::Unreachable, 0),
                _ => {
                    modelled = false;
                    if successors == 0 {
                        add(exit, EdgeKind::Unreachable, 0);
                    }
                    for i in 0..successors {
                        add(target(i), EdgeKind::Jump, i);
                    }
                }
            }
        }
    }
    (edges, modelled)
}

/// A switch has one edge per target: `case 'a': … case 'z':` is one way to go, and its range test stays one test.
///
/// # Safety
/// `terminator` must be a switch.
unsafe fn switch(
    terminator: LLVMValueRef,
    successors: u32,
    target: &impl Fn(u32) -> Block,
    add: &mut impl FnMut(Block, EdgeKind, u32),
) {
    struct Way {
        dst: Block,
        first: u32,
        cases: u32,
    }
    let default = target(0);
    let mut ways: Vec<Way> = Vec::new();
    let mut of_target: HashMap<Block, usize> = HashMap::new();
    for i in 1..successors {
        let dst = target(i);
        if dst == default {
            continue;
        }
        let way = *of_target.entry(dst).or_insert_with(|| {
            ways.push(Way { dst, first: i, cases: 0 });
            ways.len() - 1
        });
        ways[way].cases += 1;
    }
    add(default, EdgeKind::Default, 0);
    for way in ways {
        // SAFETY: operand 2i of a switch is the value of its i-th case, a constant integer; wide ones have no 64-bit form
        // and get 0.
        let value = unsafe {
            let value = LLVMGetSwitchCaseValue(terminator, way.first);
            if LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64 { LLVMConstIntGetSExtValue(value) } else { 0 }
        };
        let kind = if way.cases == 1 { EdgeKind::Case(value) } else { EdgeKind::Cases(way.cases, value) };
        add(way.dst, kind, way.first);
    }
}
