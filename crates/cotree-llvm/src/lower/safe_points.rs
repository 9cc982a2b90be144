//! Safe points, at which programs learn that a limit of events is reached: marks them with calls, and makes these calls
//! conditional in the end.
//!
//! The call leads to the runtime, which calls the program back. It is made if a limit has been reached: counters and
//! the word of the limit add up to a negative number ([`QueryWord::LIMIT`]). Until then the block ends in a branch that
//! is never taken.

use super::code::{Code, first_position};
use super::unit::Limits;
use crate::extract::{Extracted, is_safe_point};
use crate::ir::phis::{self, Move};
use crate::ir::{At, Builder, Function, Instruction};
use crate::module::Module;
use cotree_core::facts::SAFE_POINT;
use cotree_core::facts::quiet::is_quiet;
use cotree_core::ids::Block;
use cotree_rt::layout::QueryWord;
use llvm_sys::{LLVMIntPredicate, LLVMVisibility};
use std::collections::{BTreeSet, HashSet};

/// Puts a call where these blocks begin, per function of the module.
pub(crate) fn mark(module: &Module, extracted: &Extracted, points: &[BTreeSet<Block>]) {
    let ty = module.void().function(&[]);
    for (handles, points) in extracted.handles.iter().zip(points).filter(|(_, points)| !points.is_empty()) {
        let ir = handles.open(module);
        for &block in points {
            let callee = module.function_or_declare(SAFE_POINT, ty, |callee| {
                callee.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
                callee.add_attribute(At::Function, module.attribute("cold"));
            });
            let position = first_position(ir, block);
            let builder = Builder::before(module, position);
            builder.set_location(position.location());
            builder.call(ty, callee, &[]);
        }
    }
    distrust(module);
}

/// What a callback may do, functions of the unit do: throw, jump, never return, call anything.
fn distrust(module: &Module) {
    const PROMISES: [&str; 4] = ["nounwind", "willreturn", "nofree", "norecurse"];
    let ours = |function: Function<'_>| !function.is_intrinsic() && !is_quiet(&function.name());
    for function in module.functions() {
        if ours(function) {
            PROMISES.iter().for_each(|promise| function.remove_attribute(At::Function, promise));
        }
        for call in function.instructions().filter_map(|instruction| instruction.as_call()) {
            let called = call.called();
            if !called.is_assembly() && call.callee().is_none_or(ours) {
                PROMISES.iter().for_each(|promise| call.remove_attribute(At::Function, promise));
            }
        }
    }
}

/// The safe points of a function.
pub(super) fn find<'m>(code: &crate::extract::FunctionIr<'m>) -> Vec<Instruction<'m>> {
    code.calls.iter().copied().filter(|&call| is_safe_point(call)).collect()
}

/// Makes the calls conditional. All other code of the function is there by then.
pub(super) fn lower<'m>(code: &Code<'_, 'm>, points: &[Instruction<'m>], limits: Limits) {
    for &point in points {
        let (module, counters) = (code.module, &code.counters);
        let builder = &counters.builder;
        let block = point.block().expect("it stands in a block");
        let targets: HashSet<_> = block.terminator().successors().collect();
        let struck = {
            builder.move_before(point);
            builder.set_location(point.location());
            let word = |number: u64| counters.load_fresh(counters.int64.constant(number));
            let left = |kind: u64| {
                let [up, down] = [0, 1].map(|which| word(limits.counters + 2 * kind + which));
                let limit = word(limits.words + QueryWord::COUNT * kind + QueryWord::LIMIT);
                builder.add(builder.sub(up, down), limit)
            };
            // The sign of any of them.
            let all = (1..limits.kinds).fold(left(0), |all, kind| builder.or(all, left(kind)));
            builder.compare(LLVMIntPredicate::LLVMIntSLT, all, counters.int64.constant(0))
        };
        // What follows the call gets a block of its own, and so does the call.
        let (cold, rest) = (module.append_block(block.function()), module.append_block(block.function()));
        let followers: Vec<Instruction<'m>> =
            std::iter::successors(point.next(), |instruction| instruction.next()).collect();
        for follower in followers {
            module.move_to_end(follower, rest);
        }
        module.move_to_end(point, cold);
        builder.move_to_end(cold);
        builder.set_location(None);
        builder.jump(rest);
        builder.move_to_end(block);
        let branch = builder.branch(struck, cold, rest);
        module.set_branch_weights(branch, &[1, 1 << 20]);
        for target in targets {
            // A switch may lead there several times.
            let times = target.phis().next().map_or(0, |phi| phi.entries().filter(|&(_, from)| from == block).count());
            let moves: Vec<Move<'m>> = (0..times).map(|_| Move { from: block, to: rest, all: false }).collect();
            phis::redirect(target, &moves, builder);
        }
    }
}
