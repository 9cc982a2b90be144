//! Plans become IR: call sites get their numbers, edges their blocks, and probes their instructions.

mod affine;
mod attributes;
mod bundles;
mod callsites;
mod counters;
mod edges;
mod hashed;
mod meter;
mod paths;
mod phis;
mod registers;

pub(crate) use attributes::strip as strip_attributes;
pub(crate) use bundles::{HAS_NONE, IS_ADDRESS, NOT_SAID, carry_on_stack, drop_empty as drop_empty_bundles};
pub(crate) use counters::{COUNTERS, SLAB};
pub use paths::Paths;

use crate::error::Error;
use crate::extract::{Extracted, FunctionIr};
use crate::ffi::*;
use crate::module::Module;
use crate::walk;
use cotree_core::facts::Function;
use cotree_core::ids::Block;
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, Probe};
use counters::Counters;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTailCallKind};
use paths::PathRegisters;
use registers::CounterRegisters;
use std::cell::{OnceCell, RefCell};
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
    /// Relative to the segment register GS, whose base the runtime sets for each thread to its slab's distance from slab
    /// 0: one instruction, in executables that have no other use for the register.
    Segment,
}

/// The plans of one function with the places of their counters in the unit's array.
pub struct Layer<'a> {
    /// The plan.
    pub plan: FunctionPlan<'a>,
    /// Where its counters begin.
    pub base: u64,
    /// If it counts paths: how.
    pub paths: Option<Paths<'a>>,
}

/// A probe of a plan whose counters begin at `base`.
#[derive(Clone, Copy)]
struct Step {
    base: u64,
    probe: Probe,
}

/// What holds for the whole link unit.
pub struct Unit<'a> {
    /// How counters are reached.
    pub access: Access,
    /// A counter that nobody reads.
    pub spare: u64,
    /// Functions that signal handlers may run, by number in the unit.
    pub interruptible: &'a [bool],
    /// Calls tell where path registers are.
    pub registers_at_calls: bool,
    /// Functions that code outside the unit's profiled functions may call, by number in the unit.
    pub foreign: &'a [bool],
    /// Functions that may run before thread-local variables have values, by number in the unit.
    pub resolving: &'a [bool],
}

impl Unit<'_> {
    /// Whether a function begins with a write to the slab that the TLS word leads to ([`counters::announce`]).
    pub(crate) fn announces(&self, number: usize, function: &Function) -> bool {
        self.access == Access::Segment && self.foreign[number] && function.untouched.is_none()
    }
}

/// The counter of a function's entries, if it has one: it can be what that write goes to.
pub(crate) fn entry_counter(layers: &[Layer<'_>]) -> Option<u64> {
    let of = |layer: &Layer<'_>| {
        layer.plan.probes.iter().find_map(|placed| match (placed.place, placed.probe) {
            (Place::Start(Block(0)), Probe::Count(counter)) => Some(layer.base + u64::from(counter.0)),
            _ => None,
        })
    };
    layers.iter().find_map(of)
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
    let calls = callsites::number(module, extracted);
    let functions = extracted.facts.functions.iter().zip(&extracted.handles).zip(layers);
    for (number, (((function, handles), layers), calls)) in functions.zip(calls).enumerate() {
        let number = first + number;
        let lowering = Lowering {
            module,
            function,
            handles: handles.open(module),
            unit,
            numbers: OnceCell::new(),
            initial: OnceCell::new(),
            rebuilt: RefCell::default(),
        };
        let announces = unit.announces(number, function);
        let announcing = if announces { entry_counter(layers) } else { None };
        if announces && announcing.is_none() {
            // SAFETY: the handles are of this very module, unchanged since extraction but for call site numbers.
            unsafe {
                counters::announce(module, lowering.first_position(Block(0)), unit.spare, unit.resolving[number]);
            }
        }
        let bare = function.untouched.is_some() || layers.iter().all(|l| l.plan.probes.is_empty());
        if bare && unit.registers_at_calls {
            // SAFETY: a function of this module.
            unsafe { bundles::add_unknown(module, lowering.handles.function.raw()) };
        }
        if bare {
            continue;
        }
        let mut at: BTreeMap<Place, Vec<Step>> = BTreeMap::new();
        for layer in layers {
            for placed in layer.plan.probes {
                at.entry(placed.place).or_default().push(Step { base: layer.base, probe: placed.probe });
            }
        }
        let paths = layers.iter().find_map(|layer| layer.paths);
        // SAFETY: the handles are of this very module, unchanged since extraction but for call site numbers.
        unsafe { lowering.run(at, number, announcing, paths, &calls)? };
    }
    Ok(())
}

/// Emits probes of one function.
struct Emitter<'a> {
    counters: Counters,
    /// The counter of entries that tells whose thread it is, and how it is reached.
    announcing: Option<(u64, Counters)>,
    registers: Option<PathRegisters<'a>>,
    /// Where no paths are counted: the registers of counters.
    kept: Option<CounterRegisters>,
}

struct Lowering<'a> {
    module: &'a Module,
    function: &'a Function,
    handles: &'a FunctionIr<'a>,
    unit: &'a Unit<'a>,
    numbers: OnceCell<HashMap<LLVMBasicBlockRef, usize>>,
    /// What affine variables were when their loops were entered.
    initial: OnceCell<affine::Initial>,
    /// Phis that have been built anew, by the ones that were there before.
    rebuilt: RefCell<HashMap<LLVMValueRef, LLVMValueRef>>,
}

impl Lowering<'_> {
    /// # Safety
    /// The handles must match the module's IR.
    unsafe fn run(
        &self,
        at: BTreeMap<Place, Vec<Step>>,
        number: usize,
        announcing: Option<u64>,
        paths: Option<Paths<'_>>,
        calls: &[LLVMValueRef],
    ) -> Result<(), Error> {
        // SAFETY: as the caller promises. Positions inside blocks are taken before any edge is split, and splitting an
        // edge moves no instruction of an existing block.
        unsafe {
            let entry = self.first_position(Block(0));
            let counters = Counters::new(self.module, self.unit, number, self.handles.function.raw(), entry);
            let probes = || at.values().flatten().map(|step| &step.probe);
            let beginning = [LLVMGetFirstInstruction(self.handles.blocks[0].raw()), entry];
            let registers = paths.map(|paths| {
                PathRegisters::new(self.module, &counters, paths, self.unit.spare, self.function, beginning)
            });
            let kept = registers.is_none().then(|| CounterRegisters::new(&counters, probes(), beginning));
            let announcing = announcing.map(|counter| {
                let resolving = self.unit.resolving[number];
                (counter, counters.of_thread_word(self.module, entry, resolving))
            });
            let emitter = Emitter { counters, announcing, registers, kept };
            let counters = &emitter.counters;
            let _ = self.initial.set(affine::open(self, counters, probes())?);
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
                self.emit(&emitter, &probes)?;
                if let Place::Start(block) = place {
                    self.set_again(&emitter, block, &probes, calls)?;
                }
            }
            edges::lower(self, &emitter, &on_edges)?;
            if let Some(registers) = &emitter.registers
                && self.unit.registers_at_calls
                && bundles::can_carry(self.handles.function.raw())
            {
                registers.at_calls(counters, self.function, calls);
            }
            Ok(())
        }
    }

    /// A path begins with the block of a `setjmp` call: when that returns once more, what is in the register's place is
    /// what was there last.
    ///
    /// # Safety
    /// The handles must match the IR.
    unsafe fn set_again(
        &self,
        emitter: &Emitter<'_>,
        block: Block,
        steps: &[Step],
        calls: &[LLVMValueRef],
    ) -> Result<(), Error> {
        let sets: Vec<Step> = steps.iter().copied().filter(|step| matches!(step.probe, Probe::Set(..))).collect();
        for (site, &call) in self.function.sites().zip(calls) {
            if site.block == block && site.returns_twice && !site.terminator && !sets.is_empty() {
                // SAFETY: as the caller promises; a terminator follows the call.
                unsafe {
                    emitter.counters.position_before(LLVMGetNextInstruction(call));
                    self.emit(emitter, &sets)?;
                }
            }
        }
        Ok(())
    }

    /// Emits probes at the builder's position.
    ///
    /// # Safety
    /// The builder must be positioned in this function.
    unsafe fn emit(&self, emitter: &Emitter<'_>, steps: &[Step]) -> Result<(), Error> {
        let counters = &emitter.counters;
        for &Step { base, probe } in steps {
            // SAFETY: as the caller promises; the branch of `CountIfTaken` ends the block that the builder is in.
            unsafe {
                match probe {
                    Probe::Count(counter) => {
                        let counter = base + u64::from(counter.0);
                        let announcing = emitter.announcing.as_ref().filter(|(announcing, _)| *announcing == counter);
                        announcing.map_or(counters, |(_, by_word)| by_word).increment(counter);
                    }
                    Probe::CountIfTaken(counter, edge) => {
                        let facts = &self.function.edges[edge.index()];
                        let target = self.handles.blocks[facts.dst.index()].raw();
                        let branch = LLVMGetBasicBlockTerminator(self.handles.blocks[facts.src.index()].raw());
                        counters.increment_if_branching_to(
                            base + u64::from(counter.0),
                            branch,
                            self.handles.function.raw(),
                            target,
                        );
                    }
                    Probe::Close(counter, closing) => {
                        affine::close(self, counters, base + u64::from(counter.0), closing, None)?;
                    }
                    Probe::CloseIf(counter, closing, way) => {
                        affine::close(self, counters, base + u64::from(counter.0), closing, Some(way))?;
                    }
                    other if emitter.kept.as_ref().is_some_and(|kept| kept.probe(counters, base, other)) => {}
                    other => {
                        if !emitter.registers.as_ref().is_some_and(|registers| registers.probe(counters, other)) {
                            return Err(self.unsupported(&format!("{other:?}")));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// What has become of a value. A phi is built anew once at most, so this is the end of it.
    fn present(&self, value: LLVMValueRef) -> LLVMValueRef {
        self.rebuilt.borrow().get(&value).copied().unwrap_or(value)
    }

    /// The number of a reachable block.
    fn number_of(&self, block: LLVMBasicBlockRef) -> Option<usize> {
        let numbers =
            self.numbers.get_or_init(|| self.handles.blocks.iter().enumerate().map(|(i, &b)| (b.raw(), i)).collect());
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
            let stays_in_front = |&instruction: &LLVMValueRef| {
                let opcode = LLVMGetInstructionOpcode(instruction);
                matches!(opcode, LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMAlloca)
            };
            let mut rest = walk::instructions(self.handles.blocks[block.index()].raw()).skip_while(stays_in_front);
            rest.next().expect("a block ends in a terminator")
        }
    }

    /// Where `End` probes go: before the terminator, or before the `musttail` call that must stay next to it.
    ///
    /// # Safety
    /// The handles must match the IR.
    unsafe fn last_position(&self, block: Block) -> LLVMValueRef {
        // SAFETY: the verifier allows only a bitcast between a musttail call and its `ret`.
        unsafe {
            let terminator = LLVMGetBasicBlockTerminator(self.handles.blocks[block.index()].raw());
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
