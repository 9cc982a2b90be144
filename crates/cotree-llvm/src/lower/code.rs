//! The state of one function that gets its probes, shared by the lowerings of all methods.

use super::counters::Counters;
use super::unit::Unit;
use crate::error::Error;
use crate::extract::FunctionIr;
use crate::ir::{Block as IrBlock, Call, Instruction, Phi, Value};
use crate::module::Module;
use cotree_core::facts::Function;
use cotree_core::ids::{Block, Edge, Variable};
use llvm_sys::LLVMOpcode;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};

/// The values that affine variables have where their loops are entered.
pub(super) type Initial<'m> = BTreeMap<Variable, Value<'m>>;

/// A function between its facts and its code.
pub(super) struct Code<'a, 'm> {
    pub(super) module: &'m Module,
    pub(super) facts: &'a Function,
    pub(super) ir: &'a FunctionIr<'m>,
    pub(super) unit: &'a Unit<'a>,
    /// The first instruction of its own code: code that is built before it comes after the load of the slab pointer.
    entry: Instruction<'m>,
    /// How its counters are reached; its builder is the one that all probes are built with.
    pub(super) counters: Counters<'m>,
    /// The number of its first block in the unit, if debug information is to say where the program was.
    pub(super) first_block: Option<u32>,
    /// The calls of its call sites.
    pub(super) calls: &'a [Call<'m>],
    /// The counter of entries that shows which thread runs, and how it is reached.
    pub(super) entry_counter: OnceCell<(u64, Counters<'m>)>,
    /// What affine variables were when their loops were entered.
    pub(super) initial: OnceCell<Initial<'m>>,
    /// Phis that have been built anew, by the ones that were there before.
    pub(super) rebuilt: RefCell<HashMap<Value<'m>, Phi<'m>>>,
    numbers: OnceCell<HashMap<IrBlock<'m>, Block>>,
}

impl<'a, 'm> Code<'a, 'm> {
    /// The function with this number in the unit.
    pub(super) fn new(
        module: &'m Module,
        facts: &'a Function,
        ir: &'a FunctionIr<'m>,
        (unit, number): (&'a Unit<'a>, usize),
        calls: &'a [Call<'m>],
    ) -> Self {
        let entry = first_position(ir, Block(0));
        Self {
            module,
            facts,
            ir,
            unit,
            entry,
            counters: Counters::new(module, unit, number, ir.function, entry),
            first_block: None,
            calls,
            entry_counter: OnceCell::new(),
            initial: OnceCell::new(),
            rebuilt: RefCell::default(),
            numbers: OnceCell::new(),
        }
    }

    /// `counter += 1` where the builder stands.
    pub(super) fn count(&self, counter: u64) {
        let of_entries = self.entry_counter.get().filter(|(entries, _)| *entries == counter);
        of_entries.map_or(&self.counters, |(_, by_word)| by_word).increment(counter);
    }

    /// Adds another number than 1 to a counter.
    pub(super) fn count_by(&self, counter: u64, by: u64) {
        let int64 = self.counters.int64;
        self.counters.add(int64.constant(counter), int64.constant(by));
    }

    /// `to += from` or `to -= from`.
    pub(super) fn add_counter(&self, to: u64, from: u64, minus: bool) {
        let int64 = self.counters.int64;
        let amount = self.counters.load(int64.constant(from), int64);
        let builder = &self.counters.builder;
        let amount = if minus { builder.sub(int64.constant(0), amount) } else { amount };
        self.counters.add(int64.constant(to), amount);
    }

    /// The current form of a value. A phi is rebuilt at most once, so one lookup is enough.
    pub(super) fn present(&self, value: Value<'m>) -> Value<'m> {
        self.rebuilt.borrow().get(&value).map_or(value, |&phi| phi.into())
    }

    /// The block of the code that the facts have under this number.
    pub(super) fn block(&self, block: Block) -> IrBlock<'m> {
        self.ir.blocks[block.index()]
    }

    /// The number of a reachable block.
    pub(super) fn number_of(&self, block: IrBlock<'m>) -> Option<Block> {
        let number = |(i, &block): (usize, &IrBlock<'m>)| (block, Block::new(i));
        self.numbers.get_or_init(|| self.ir.blocks.iter().enumerate().map(number).collect()).get(&block).copied()
    }

    /// Where the instruction that takes an edge is.
    pub(super) fn terminator(&self, edge: Edge) -> Instruction<'m> {
        self.block(self.facts.edges[edge].src).terminator()
    }

    /// The error of a probe that there is no code for.
    pub(super) fn unsupported(&self, what: &str) -> Error {
        Error::Internal {
            module: self.module.name.clone(),
            reason: format!("no code for probe {what} in {}", self.facts.symbol),
        }
    }

    /// Where `Start` probes go.
    pub(super) fn first_position(&self, block: Block) -> Instruction<'m> {
        if block == Block(0) { self.entry } else { first_position(self.ir, block) }
    }

    /// Where `End` probes go: before the terminator, or before the `musttail` call that must stay next to it.
    pub(super) fn last_position(&self, block: Block) -> Instruction<'m> {
        let terminator = self.block(block).terminator();
        let mut before = terminator.previous();
        // The verifier allows only a bitcast between a musttail call and its `ret`.
        if before.is_some_and(|before| before.opcode() == LLVMOpcode::LLVMBitCast) {
            before = before.and_then(Instruction::previous);
        }
        // A resume's marker call stays next to it as well: an exception goes on from there.
        before.filter(|before| before.as_call().is_some_and(Call::is_musttail)).unwrap_or(terminator)
    }
}

/// Where a block's code begins: after phis, the landing pad and, in the entry, static allocations.
pub(super) fn first_position<'m>(ir: &FunctionIr<'m>, block: Block) -> Instruction<'m> {
    let stays_in_front = |instruction: &Instruction<'m>| {
        matches!(instruction.opcode(), LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMAlloca)
    };
    let mut rest = ir.blocks[block.index()].instructions().skip_while(stays_in_front);
    rest.next().expect("a block ends in a terminator")
}
