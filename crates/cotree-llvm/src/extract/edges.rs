//! Extracts the edges of a function with their kinds.

use crate::ir::{self, Instruction};
use cotree_core::facts::{EdgeFacts, EdgeKind};
use cotree_core::ids::Block;
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// The edges of a function in block order, successors in order; switch cases with the same target are one edge. The
/// flag is false where some terminator has no model (Windows exception funclets). `blocks` are its reachable blocks, as
/// `numbers` has them.
pub(super) fn edges<'m>(blocks: &[ir::Block<'m>], numbers: &HashMap<ir::Block<'m>, Block>) -> (Vec<EdgeFacts>, bool) {
    let exit = Block::new(blocks.len());
    let mut edges = Vec::new();
    let mut modelled = true;
    for (number, block) in blocks.iter().enumerate() {
        let src = Block::new(number);
        let terminator = block.terminator();
        let targets: Vec<Block> = terminator.successors().map(|target| numbers[&target]).collect();
        let mut add = |dst: Block, kind: EdgeKind, successor: u32| edges.push(EdgeFacts { src, dst, kind, successor });
        match (terminator.opcode(), &targets[..]) {
            (LLVMOpcode::LLVMBr, &[target]) => add(target, EdgeKind::Jump, 0),
            (LLVMOpcode::LLVMBr, &[on_true, on_false]) => {
                add(on_true, EdgeKind::True, 0);
                add(on_false, EdgeKind::False, 1);
            }
            (LLVMOpcode::LLVMSwitch, &[default, ref cases @ ..]) => switch(terminator, default, cases, &mut add),
            (LLVMOpcode::LLVMIndirectBr, targets) => {
                let mut seen = Vec::new();
                for (i, &target) in (0..).zip(targets) {
                    // A target listed twice is one edge: the address decides, not the position.
                    if !seen.contains(&target) {
                        seen.push(target);
                        add(target, EdgeKind::IndirectBranch, i);
                    }
                }
            }
            (LLVMOpcode::LLVMInvoke, &[normal, unwind]) => {
                add(normal, EdgeKind::InvokeNormal, 0);
                add(unwind, EdgeKind::InvokeUnwind, 1);
            }
            (LLVMOpcode::LLVMCallBr, &[fallthrough, ref indirect @ ..]) => {
                add(fallthrough, EdgeKind::CallBrFallthrough, 0);
                (1..).zip(indirect).for_each(|(i, &target)| add(target, EdgeKind::CallBrIndirect, i));
            }
            (LLVMOpcode::LLVMRet, _) => add(exit, EdgeKind::Return, 0),
            (LLVMOpcode::LLVMResume, _) => add(exit, EdgeKind::Resume, 0),
            (LLVMOpcode::LLVMUnreachable, _) => add(exit, EdgeKind::Unreachable, 0),
            (_, targets) => {
                modelled = false;
                if targets.is_empty() {
                    add(exit, EdgeKind::Unreachable, 0);
                }
                (0..).zip(targets).for_each(|(i, &target)| add(target, EdgeKind::Jump, i));
            }
        }
    }
    (edges, modelled)
}

/// A switch has one edge per target: `case 'a': … case 'z':` is one edge, and its range test stays one test.
fn switch(terminator: Instruction<'_>, default: Block, cases: &[Block], add: &mut impl FnMut(Block, EdgeKind, u32)) {
    struct Successor {
        dst: Block,
        first: u32,
        cases: u32,
    }
    let mut successors: Vec<Successor> = Vec::new();
    let mut of_target: HashMap<Block, usize> = HashMap::new();
    for (first, &dst) in (1..).zip(cases).filter(|&(_, &dst)| dst != default) {
        let successor = *of_target.entry(dst).or_insert_with(|| {
            successors.push(Successor { dst, first, cases: 0 });
            successors.len() - 1
        });
        successors[successor].cases += 1;
    }
    add(default, EdgeKind::Default, 0);
    for successor in successors {
        // Wide values have no form in 64 bits and get 0.
        let value = terminator.case(successor.first).and_then(ir::Value::signed_constant).unwrap_or(0);
        let kind = if successor.cases == 1 { EdgeKind::Case(value) } else { EdgeKind::Cases(successor.cases, value) };
        add(successor.dst, kind, successor.first);
    }
}
