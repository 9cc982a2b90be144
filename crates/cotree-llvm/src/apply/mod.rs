//! Plans become IR: call sites get their numbers, edges their blocks, and probes their instructions.

mod attributes;
mod callsites;
mod counters;
mod edges;
mod phis;

pub(crate) use attributes::strip as strip_attributes;
pub(crate) use counters::{COUNTERS, SLAB};

use crate::error::Error;
use crate::extract::{Extracted, Handles};
use crate::ffi::*;
use crate::module::Module;
use cotree_core::facts::Function;
use cotree_core::ids::Block;
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, Probe};
use counters::Counters;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

/// How generated code reaches the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As globals: one instruction, for link units that run one thread.
    Direct,
    /// Through the thread's slab pointer, a TLS word of an executable.
    ThreadInExecutable,
    /// The same in a shared library.
    ThreadInLibrary,
}

/// The plans of one function with the places of their counters in the unit's array.
pub struct Layer<'a> {
    /// The plan.
    pub plan: &'a FunctionPlan,
    /// Where its counters begin.
    pub base: u64,
}

/// What holds for the whole link unit.
pub struct Unit<'a> {
    /// How counters are reached.
    pub access: Access,
    /// A counter that nobody reads.
    pub spare: u64,
    /// Functions that signal handlers may run, by number in the unit.
    pub interruptible: &'a [bool],
}

/// Applies plans to a module whose first function has number `first` in the unit. `layers[i]` are the plans of function
/// `i` (the method's own, and with `--verify` the redundant one).
///
/// # Errors
/// A probe cannot be expressed, which is a defect of its planner.
pub fn apply(
    module: &Module,
    extracted: &Extracted,
    layers: &[Vec<Layer<'_>>],
    unit: &Unit<'_>,
    first: usize,
) -> Result<(), Error> {
    callsites::number(module, extracted);
    let functions = extracted.facts.functions.iter().zip(&extracted.handles).zip(layers);
    for (number, ((function, handles), layers)) in functions.enumerate() {
        if function.untouched.is_some() || layers.iter().all(|l| l.plan.probes.is_empty()) {
            continue;
        }
        let mut at: BTreeMap<Place, Vec<(u64, Probe)>> = BTreeMap::new();
        for layer in layers {
            for placed in &layer.plan.probes {
                at.entry(placed.place).or_default().push((layer.base, placed.probe));
            }
        }
        let lowering = Lowering { module, function, handles, spare: unit.spare, numbers: OnceCell::new() };
        // SAFETY: the handles are of this very module, unchanged since extraction but for call site numbers.
        unsafe { lowering.run(at, unit.access, unit.interruptible[first + number])? };
    }
    Ok(())
}

struct Lowering<'a> {
    module: &'a Module,
    function: &'a Function,
    handles: &'a Handles,
    spare: u64,
    numbers: OnceCell<HashMap<LLVMBasicBlockRef, usize>>,
}

impl Lowering<'_> {
    /// # Safety
    /// The handles must match the module's IR.
    unsafe fn run(
        &self,
        at: BTreeMap<Place, Vec<(u64, Probe)>>,
        access: Access,
        interruptible: bool,
    ) -> Result<(), Error> {
        // SAFETY: as the caller promises. Positions inside blocks are taken before any edge is split, and splitting an
        // edge moves no instruction of an existing block.
        unsafe {
            let entry = self.first_position(Block(0));
            let counters = Counters::new(self.module, access, interruptible, entry);
            let mut on_edges = Vec::new();
            for (place, probes) in at {
                let position = match place {
                    // Behind the load of the slab pointer.
                    Place::Start(Block(0)) => entry,
                    Place::Start(block) => self.first_position(block),
                    Place::End(block) => self.last_position(block),
                    Place::Edge(edge) => {
                        let facts = &self.function.edges[edge.index()];
                        if facts.dst == self.function.exit() {
                            self.last_position(facts.src)
                        } else {
                            on_edges.push((edge, probes));
                            continue;
                        }
                    }
                };
                counters.position_before(position);
                self.emit(&counters, &probes)?;
            }
            edges::lower(self, &counters, &on_edges)
        }
    }

    /// Emits probes at the builder's position.
    ///
    /// # Safety
    /// The builder must be positioned in this function.
    unsafe fn emit(&self, counters: &Counters, probes: &[(u64, Probe)]) -> Result<(), Error> {
        for &(base, probe) in probes {
            // SAFETY: as the caller promises; the branch of `CountIfTaken` ends the block that the builder is in.
            unsafe {
                match probe {
                    Probe::Count(counter) => counters.increment(base + u64::from(counter.0)),
                    Probe::CountIfTaken(counter, edge) => {
                        let facts = &self.function.edges[edge.index()];
                        let target = self.handles.blocks[facts.dst.index()];
                        let branch = LLVMGetBasicBlockTerminator(self.handles.blocks[facts.src.index()]);
                        counters.increment_if_branching_to(
                            base + u64::from(counter.0),
                            branch,
                            self.handles.function,
                            target,
                        );
                    }
                    other => return Err(self.unsupported(&format!("{other:?}"))),
                }
            }
        }
        Ok(())
    }

    /// The number of a reachable block.
    fn number_of(&self, block: LLVMBasicBlockRef) -> Option<usize> {
        let numbers =
            self.numbers.get_or_init(|| self.handles.blocks.iter().enumerate().map(|(i, &b)| (b, i)).collect());
        numbers.get(&block).copied()
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::Internal {
            module: self.module.name.clone(),
            reason: format!("no code for probe {what} in {}", self.function.symbol),
        }
    }

    /// Where `Start` probes go: after phis, the landing pad and, in the entry, static allocations.
    ///
    /// # Safety
    /// The handles must match the IR.
    unsafe fn first_position(&self, block: Block) -> LLVMValueRef {
        // SAFETY: every block has a terminator, so the walk ends in the block.
        unsafe {
            let mut instruction = LLVMGetFirstInstruction(self.handles.blocks[block.index()]);
            while matches!(
                LLVMGetInstructionOpcode(instruction),
                LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMAlloca
            ) {
                instruction = LLVMGetNextInstruction(instruction);
            }
            instruction
        }
    }

    /// Where `End` probes go: before the terminator, or before the `musttail` call that must stay next to it.
    ///
    /// # Safety
    /// The handles must match the IR.
    unsafe fn last_position(&self, block: Block) -> LLVMValueRef {
        // SAFETY: the verifier allows only a bitcast between a musttail call and its `ret`.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(self.handles.blocks[block.index()]);
            let mut before = LLVMGetPreviousInstruction(terminator);
            if !before.is_null() && LLVMGetInstructionOpcode(before) == LLVMOpcode::LLVMBitCast {
                before = LLVMGetPreviousInstruction(before);
            }
            let musttail = !before.is_null()
                && LLVMGetInstructionOpcode(before) == LLVMOpcode::LLVMCall
                && LLVMGetTailCallKind(before) == LLVMTailCallKind::LLVMTailCallKindMustTail;
            // A resume's marker call stays next to it as well: an exception goes on from there.
            if musttail { before } else { terminator }
        }
    }
}
