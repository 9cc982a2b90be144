//! Emits increments: the counters' symbols, and the instructions that bump them.

use super::unit::{Access, Unit};
use crate::extract::GS;
use crate::ir::{At, Block, Builder, Call, Function, Instruction, Type, Value, Variable};
use crate::module::Module;
use llvm_sys::{LLVMIntPredicate, LLVMThreadLocalMode, LLVMVisibility};
use std::rc::Rc;

/// The unit's counters, slab 0.
pub(crate) const COUNTERS: &str = "__cotree_counters";
/// The thread's slab pointer.
pub(crate) const SLAB: &str = "__cotree_slab";

/// Emits increments in one function.
#[derive(Clone)]
pub(super) struct Counters<'m> {
    pub(super) module: &'m Module,
    pub(super) builder: Rc<Builder<'m>>,
    pub(super) int64: Type<'m>,
    /// The array, or the slab that the function loaded when it was entered.
    slab: Value<'m>,
    constant: bool,
    /// The address for assembly, and what it writes before the address.
    in_assembly: (Value<'m>, &'static str),
    /// A signal handler may bump the same counters at any moment: every increment must be one instruction.
    pub(super) interruptible: bool,
    /// Every increment is made one instruction explicitly, because the code generator does not do so by itself.
    whole: bool,
}

impl<'m> Counters<'m> {
    /// Prepares the function `code` with that number in the unit; `entry` is where its slab pointer is loaded, if it
    /// needs one.
    pub(super) fn new(
        module: &'m Module,
        unit: &Unit<'_>,
        number: usize,
        code: Function<'m>,
        entry: Instruction<'m>,
    ) -> Self {
        let (access, interruptible) = (unit.access, unit.interruptible[number]);
        let builder = Builder::before(module, entry);
        let array = || Value::from(hidden(module, COUNTERS, module.int64().array(0)));
        let (slab, constant) = match access {
            Access::Direct => (array(), true),
            Access::Segment => (array().constant_address_in(module.pointer(GS)), true),
            Access::ThreadInExecutable | Access::ThreadInLibrary => {
                let mode = if access == Access::ThreadInExecutable {
                    LLVMThreadLocalMode::LLVMLocalExecTLSModel
                } else {
                    LLVMThreadLocalMode::LLVMInitialExecTLSModel
                };
                (load_slab(&builder, mode, unit.resolving[number]), false)
            }
        };
        let in_assembly = if access == Access::Segment { (array(), "%gs:") } else { (slab, "") };
        let whole = interruptible || is_left_unoptimised(code);
        let (builder, int64) = (Rc::new(builder), module.int64());
        Self { module, builder, int64, slab, constant, in_assembly, interruptible, whole }
    }

    /// The pointers that a function needs to emit increments on behalf of this one: see [`Self::in_block`].
    pub(super) fn pointers(&self) -> [Value<'m>; 2] {
        [self.slab, self.in_assembly.0]
    }

    /// Emits increments in a block of another function of the module, which gets [`Self::pointers`] as arguments.
    pub(super) fn in_block(&self, block: Block<'m>, [slab, in_assembly]: [Value<'m>; 2]) -> Self {
        let builder = Rc::new(Builder::at_end(self.module, block));
        let in_assembly = (in_assembly, self.in_assembly.1);
        Self { builder, slab, constant: false, in_assembly, ..*self }
    }

    /// Emits increments of the slab that the TLS word leads to, which is loaded at `entry`; the function's other
    /// increments go by the segment register. In a thread without a slab, such a counter is one of slab 0 and so
    /// reveals the thread, as [`write_by_thread_word`] does.
    pub(super) fn of_thread_word(&self, entry: Instruction<'m>, resolving: bool) -> Self {
        self.builder.move_before(entry);
        let slab = load_slab(&self.builder, LLVMThreadLocalMode::LLVMLocalExecTLSModel, resolving);
        Self { slab, constant: false, in_assembly: (slab, ""), ..self.clone() }
    }

    /// `counter += 1`.
    pub(super) fn increment(&self, counter: u64) {
        self.add(self.int64.constant(counter), self.int64.constant(1));
    }

    /// `counter += amount` as one instruction that the optimiser can't change: it would collect amounts in registers,
    /// and neighbouring counters in vectors.
    pub(super) fn add_whole(&self, counter: u64, amount: Value<'m>) {
        self.add_at_once(self.address(self.in_assembly.0, self.int64.constant(counter)), amount);
    }

    /// Whether the addresses of counters are constants, which [`Self::fixed`] gives.
    pub(super) fn are_fixed(&self) -> bool {
        self.constant
    }

    /// The address of the counter with this number, which need not be one of the unit's: something may be added to it.
    /// The address may leave the array, so nothing is promised.
    pub(super) fn fixed(&self, counter: i64) -> Value<'m> {
        self.array().constant_element(self.int64, self.int64.signed(counter), false)
    }

    /// What increments take addresses relative to, [`Self::fixed`] among them.
    fn array(&self) -> Value<'m> {
        if self.whole { self.in_assembly.0 } else { self.slab }
    }

    /// The type of [`Self::fixed`].
    pub(super) fn address_type(&self) -> Type<'m> {
        self.array().ty()
    }

    /// `counter += 1`, by an address that was computed from [`Self::fixed`].
    pub(super) fn increment_at(&self, at: Value<'m>) {
        self.add_to(at, self.int64.constant(1));
    }

    /// `counters[index] += amount` for 64-bit values.
    pub(super) fn add(&self, index: Value<'m>, amount: Value<'m>) {
        self.add_to(self.address(self.array(), index), amount);
    }

    /// The word of the slab with this index, as a value of some type.
    pub(super) fn load(&self, index: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.builder.load(ty, self.address(self.slab, index)).into()
    }

    /// A word of the slab as it is now: code that interrupts this one may have written it.
    pub(super) fn load_fresh(&self, index: Value<'m>) -> Value<'m> {
        let load = self.builder.load(self.int64, self.address(self.slab, index));
        load.make_atomic();
        load.into()
    }

    /// Writes a word of the slab.
    pub(super) fn store(&self, index: Value<'m>, value: Value<'m>) {
        self.builder.store(value, self.address(self.slab, index));
    }

    /// What is so many bytes behind the word with this index.
    pub(super) fn load_behind(&self, index: Value<'m>, bytes: Value<'m>) -> Value<'m> {
        self.builder.load(self.int64, self.behind(self.slab, index, bytes)).into()
    }

    /// Stores a value so many bytes behind the word with this index. The optimiser leaves it there.
    pub(super) fn store_behind(&self, index: Value<'m>, bytes: Value<'m>, value: Value<'m>) {
        self.builder.store(value, self.behind(self.slab, index, bytes)).make_atomic();
    }

    /// Adds to what is so many bytes behind the word with this index.
    pub(super) fn add_behind(&self, index: Value<'m>, bytes: Value<'m>, amount: Value<'m>) {
        self.add_to(self.behind(self.array(), index, bytes), amount);
    }

    /// `*at += amount`, at an address relative to [`Self::array`].
    fn add_to(&self, at: Value<'m>, amount: Value<'m>) {
        if self.whole {
            self.add_at_once(at, amount);
            return;
        }
        let old = self.builder.load(self.int64, at);
        let store = self.builder.store(self.builder.add(old, amount), at);
        // The optimiser does not combine atomic accesses. Otherwise it would keep counters in registers while
        // loops run, and these counts would be missing if the process is killed there.
        old.make_atomic();
        store.make_atomic();
    }

    /// The address so many bytes behind a word. It may be far from the slab, so nothing is promised.
    fn behind(&self, slab: Value<'m>, index: Value<'m>, bytes: Value<'m>) -> Value<'m> {
        let word = self.address(slab, index);
        self.builder.element(self.module.int8(), word, bytes, false)
    }

    /// The address of a word of the slab.
    fn address(&self, slab: Value<'m>, index: Value<'m>) -> Value<'m> {
        if self.constant && index.is_constant_int() {
            slab.constant_element(self.int64, index, true)
        } else {
            self.builder.element(self.int64, slab, index, true)
        }
    }

    /// `*at += amount` in one instruction. Assembly, since the code generator folds a load and a store into one only
    /// when it optimises.
    fn add_at_once(&self, at: Value<'m>, amount: Value<'m>) {
        let text = format!("addq $2, {}$0", self.in_assembly.1);
        self.add_by(&text, "=*m,*m,re,~{dirflag},~{fpsr},~{flags}", self.module.void(), at, amount);
    }

    /// `counter += amount` as one instruction, and whether the sum, taken as a signed number, is not negative: the
    /// instruction tells that by a flag.
    pub(super) fn add_and_test(&self, counter: u64, amount: Value<'m>) -> Value<'m> {
        let at = self.address(self.in_assembly.0, self.int64.constant(counter));
        let text = format!("addq $3, {}$1", self.in_assembly.1);
        let constraints = "={@ccns},=*m,*m,re,~{dirflag},~{fpsr},~{flags}";
        let flag = self.add_by(&text, constraints, self.module.int8(), at, amount);
        self.builder.compare(LLVMIntPredicate::LLVMIntNE, **flag, self.module.int8().constant(0))
    }

    fn add_by(&self, text: &str, constraints: &str, result: Type<'m>, at: Value<'m>, amount: Value<'m>) -> Call<'m> {
        let ty = result.function(&[at.ty(), at.ty(), self.int64]);
        let call = self.builder.assembly(ty, text, constraints, true, &[at, at, amount]);
        let element = self.module.type_attribute("elementtype", self.int64);
        for operand in [0, 1] {
            call.add_attribute(At::Parameter(operand), element);
        }
        call.add_attribute(At::Function, self.module.attribute("nounwind"));
        call
    }

    /// `counter += (address that the indirect branch jumps to == target)`: the builder stands before the branch.
    pub(super) fn increment_if_branching_to(
        &self,
        counter: u64,
        branch: Instruction<'m>,
        target: Block<'m>,
    ) -> Option<()> {
        let address = branch.operand(0)?;
        let label = target.function().block_address(target);
        let taken = self.builder.compare(LLVMIntPredicate::LLVMIntEQ, address, label);
        let amount = self.builder.widen(taken, self.int64);
        self.add(self.int64.constant(counter), amount);
        Some(())
    }
}

/// Whether a function is compiled without optimisation: at `-O0`, or by itself among others.
fn is_left_unoptimised(function: Function<'_>) -> bool {
    function.has_attribute(At::Function, "optnone")
}

/// Writes to the spare counter of the slab that the TLS word leads to, at the beginning of a function that unknown code
/// may call. In a thread without a slab this is slab 0, so the write reveals the thread. Otherwise the thread would
/// count unnoticed in the slab of its creator, from which it inherits the segment base.
pub(super) fn write_by_thread_word<'m>(module: &'m Module, entry: Instruction<'m>, spare: u64, resolving: bool) {
    let builder = Builder::before(module, entry);
    let slab = load_slab(&builder, LLVMThreadLocalMode::LLVMLocalExecTLSModel, resolving);
    let at = builder.element(module.int64(), slab, module.int64().constant(spare), true);
    builder.store(module.int8().constant(1), at);
}

/// Loads the thread's slab pointer at the builder's position. In functions that may run before it has a value, null is
/// slab 0.
fn load_slab<'m>(builder: &Builder<'m>, mode: LLVMThreadLocalMode, resolving: bool) -> Value<'m> {
    let module = builder.module();
    let pointer = module.pointer(0);
    let word = hidden(module, SLAB, pointer);
    if !word.is_thread_local() {
        word.set_thread_local(mode);
        // References mark the symbol as thread-local, but all may be in functions that are dropped in the end; the rest
        // of the object would then not link with the others.
        module.append_assembly(&format!(".type {SLAB}, @tls_object"));
    }
    let slab = builder.load(pointer, word);
    // It changes only before a thread's first instrumented function runs, so the code generator may load it again
    // instead of keeping it in a register.
    slab.set_metadata(module.metadata_kind("invariant.load"), module.node(&[]));
    if !resolving {
        return slab.into();
    }
    let array = hidden(module, COUNTERS, module.int64().array(0));
    let none = builder.compare(LLVMIntPredicate::LLVMIntEQ, slab, pointer.zero());
    builder.select(none, array, slab)
}

/// The hidden variable of this name that the unit's object defines.
fn hidden<'m>(module: &'m Module, name: &str, ty: Type<'m>) -> Variable<'m> {
    module.variable_or_declare(name, ty, |variable| {
        variable.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
        variable.set_alignment(8);
    })
}
