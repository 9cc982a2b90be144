//! Where the test vectors of a decision are counted.
//!
//! A vector is a path through the decision's conditions. Mostly its last edge tells it: then a counter is anchored
//! there, which costs nothing that the profile does not count anyway. Where several paths share their last edge, a
//! switch on the sum parts them, and each case has a block to be counted.

use super::sums::{Numbers, Step, Sum, Unclear};
use crate::coverage::increments;
use crate::coverage::split;
use crate::ir::phis::{self, Move};
use crate::ir::{Block, Builder, Call, Instruction, Value};
use crate::module::Module;
use llvm_sys::LLVMOpcode;
use std::collections::BTreeMap;

/// Where clang asks for the bit of a vector.
pub(super) struct Update<'m> {
    pub(super) call: Call<'m>,
    pub(super) variable: Value<'m>,
    /// The name and the hash of the function, and how many counters it has besides its vectors.
    pub(super) function: [Value<'m>; 3],
    pub(super) counters: u32,
    /// The number of the decision's first vector.
    pub(super) first: u32,
}

/// How many jumps before the request, one behind the other, are looked through for edges that tell vectors apart. Each
/// condition of a long chain has one.
const MOST_JUMPS: u32 = 500;

/// An edge on which vectors are told apart.
struct Place<'m> {
    from: Block<'m>,
    to: Block<'m>,
    /// What the sum may be on the edge.
    numbers: Numbers,
    /// What is added to it behind the edge.
    added: u32,
}

impl<'m> Update<'m> {
    /// Counts the vectors of the decision, and takes the request for them out.
    pub(super) fn replace(&self, module: &'m Module, sum: &Sum<'m>) -> Result<(), Unclear> {
        let block = self.call.block().ok_or(Unclear::Form)?;
        let numbers = sum.before(*self.call)?;
        let mut places = Vec::new();
        if numbers.len() > 1
            && self.is_reached_from_start(sum)?
            && self.places(sum, block, 0, MOST_JUMPS, &mut places)?
        {
            self.count_at(module, &places);
        } else if let (Some(&number), 1) = (numbers.first(), numbers.len()) {
            self.count(&Builder::before(module, *self.call), number);
        } else if !numbers.is_empty() {
            let head = split::head_before(module, *self.call);
            self.tell_apart(module, head, block, &numbers, 0);
        }
        module.remove(*self.call);
        Ok(())
    }

    /// Whether whoever enters the block gets to the request, with the same sum.
    fn is_reached_from_start(&self, sum: &Sum<'m>) -> Result<bool, Unclear> {
        let block = self.call.block().ok_or(Unclear::Form)?;
        let before = block.instructions().take_while(|&instruction| instruction != *self.call);
        let first = sum.steps(block)?.first().map(|&(step, _)| step);
        Ok(first == Some(*self.call) && before.into_iter().all(always_goes_on))
    }

    /// Finds the edges to `to`, or before it, that tell vectors apart; tells whether all are such as can be split.
    /// What the sum is there, `added` makes the number of the vector. It goes back over `jumps` jumps at most.
    fn places(
        &self,
        sum: &Sum<'m>,
        to: Block<'m>,
        added: u32,
        jumps: u32,
        places: &mut Vec<Place<'m>>,
    ) -> Result<bool, Unclear> {
        let mut users: Vec<_> = to.as_value().users().into_iter().map(Value::as_instruction).collect();
        users.sort_unstable();
        let twice = users.windows(2).any(|pair| pair[0] == pair[1]);
        let mut sources = Vec::new();
        for user in users {
            let is_simple = |end: &Instruction<'m>| matches!(end.opcode(), LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch);
            let Some(from) = user.filter(is_simple).and_then(Instruction::block) else { return Ok(false) };
            sources.push(from);
        }
        // A single conditional edge is no better place than the block that it leads to.
        let [first, ..] = sources[..] else { return Ok(false) };
        if twice || (sources.len() == 1 && first.terminator().successor_count() > 1) {
            return Ok(false);
        }
        for from in sources {
            let numbers = sum.leaving(from)?.into_iter().find(|(next, _)| *next == to).map(|(_, numbers)| numbers);
            let numbers = numbers.unwrap_or_default();
            if numbers.len() > 1 && from.terminator().successor_count() == 1 {
                let mut all = added;
                let mut passes = from.instructions().all(|instruction| always_goes_on(instruction));
                for (_, step) in sum.steps(from)? {
                    match step {
                        Step::Add { if_true, if_false, .. } if if_true == if_false => all += if_true,
                        _ => passes = false,
                    }
                }
                let before = places.len();
                if passes && jumps > 0 && self.places(sum, from, all, jumps - 1, places)? {
                    continue;
                }
                places.truncate(before);
            }
            if !numbers.is_empty() {
                places.push(Place { from, to, numbers, added });
            }
        }
        Ok(true)
    }

    /// Counts vectors on edges.
    fn count_at(&self, module: &'m Module, places: &[Place<'m>]) {
        let mut moves: BTreeMap<Block<'m>, Vec<Move<'m>>> = BTreeMap::new();
        for Place { from, to, numbers, added } in places {
            let end = from.terminator();
            let alone = end.successor_count() == 1;
            let only = numbers.first().filter(|_| numbers.len() == 1);
            if let (Some(number), true) = (only, alone) {
                self.count(&Builder::before(module, end), number + added);
                continue;
            }
            let block = if alone {
                module.remove(end);
                *from
            } else {
                let block = module.insert_block(*to);
                let index = end.successors().position(|next| next == *to).expect("the edge is there");
                end.set_successor(index as u32, block);
                block
            };
            let last = match only {
                Some(number) => {
                    let builder = Builder::at_end(module, block);
                    self.count(&builder, number + added);
                    builder.jump(*to);
                    block
                }
                None => {
                    let joined = module.insert_block(*to);
                    self.tell_apart(module, block, joined, numbers, *added);
                    Builder::at_end(module, joined).jump(*to);
                    joined
                }
            };
            moves.entry(*to).or_default().push(Move { from: *from, to: last, all: false });
        }
        for (to, moves) in moves {
            let Some(first) = to.first() else { continue };
            phis::redirect(to, &moves, &Builder::before(module, first));
        }
    }

    /// Ends a block with a switch on the sum; each case counts its vector and jumps to `next`.
    fn tell_apart(&self, module: &'m Module, block: Block<'m>, next: Block<'m>, numbers: &Numbers, added: u32) {
        let case = |&number: &u32| {
            let case = module.insert_block(next);
            let builder = Builder::at_end(module, case);
            self.count(&builder, number + added);
            builder.jump(next);
            (u64::from(number), case)
        };
        let mut cases: Vec<_> = numbers.iter().map(case).collect();
        let Some((_, last)) = cases.pop() else { return };
        let builder = Builder::at_end(module, block);
        let number = builder.load(module.int32(), self.variable);
        builder.switch(number.into(), &cases, last);
    }

    fn count(&self, builder: &Builder<'m>, number: u32) {
        let [name, hash, counters] = self.function;
        let index = builder.module().int32().constant(u64::from(self.counters) + u64::from(self.first + number));
        increments::ask(builder, &[name, hash, counters, index]);
    }
}

/// Whether what stands behind an instruction always runs if it does.
fn always_goes_on(instruction: Instruction<'_>) -> bool {
    use LLVMOpcode as Op;
    match instruction.opcode() {
        Op::LLVMPHI | Op::LLVMBr | Op::LLVMZExt | Op::LLVMTrunc | Op::LLVMXor | Op::LLVMAdd | Op::LLVMICmp => true,
        Op::LLVMSelect | Op::LLVMFreeze => true,
        Op::LLVMLoad => instruction.operand(0).and_then(Value::as_instruction).is_some_and(is_variable),
        Op::LLVMStore => instruction.operand(1).and_then(Value::as_instruction).is_some_and(is_variable),
        Op::LLVMCall => {
            let called = instruction.as_call().and_then(|call| call.intrinsic());
            called.is_some_and(|name| ["llvm.instrprof.", "llvm.lifetime."].iter().any(|start| name.starts_with(start)))
        }
        _ => false,
    }
}

fn is_variable(address: Instruction<'_>) -> bool {
    address.opcode() == LLVMOpcode::LLVMAlloca
}
