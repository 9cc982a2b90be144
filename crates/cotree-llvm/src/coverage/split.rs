//! Splits a block before an instruction.

use crate::ir::{Block, Instruction};
use crate::module::Module;

/// Moves what stands before an instruction into a block of its own, which gets no terminator yet. The instruction's
/// block keeps the rest, so that phis behind it need no change.
pub(super) fn head_before<'m>(module: &'m Module, instruction: Instruction<'m>) -> Block<'m> {
    let block = instruction.block().expect("it is in a block");
    let users = block.as_value().users();
    let head = module.insert_block(block);
    for user in users {
        match user.as_instruction() {
            Some(jump) => {
                for index in (0..jump.operand_count()).filter(|&index| jump.operand(index) == Some(block.as_value())) {
                    jump.set_operand(index, head.as_value());
                }
            }
            // The block's address, for computed jumps.
            None => user.replace_uses(head.function().block_address(head)),
        }
    }
    let before: Vec<_> = block.instructions().take_while(|&other| other != instruction).collect();
    for instruction in before {
        module.move_to_end(instruction, head);
    }
    head
}
