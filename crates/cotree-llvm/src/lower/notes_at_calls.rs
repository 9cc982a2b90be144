//! What calls note of the registers: what the runtime must find when an activation ends early.
//!
//! A call carries the registers in an operand bundle, `"deopt"(i32 function, i32 site, i64 register)`; with
//! [`IS_ADDRESS`] in the function's number, `"deopt"(i32 function, i32 site, i64 first word, i64 address)`. It costs
//! nothing but that the value has to live through the call: the code generator writes down where (`.llvm_stackmaps`).
//! The inliner puts the caller's values before those of the callee's calls, if these have a bundle at all: so every
//! call gets one, where there is no register to note `"deopt"(i32 function, i32 site)` with [`HAS_NONE`] in the
//! function's number. Bundles without any register in the end are taken away again ([`drop_empty`]): a call with a
//! bundle is no tail call. Where one is left, it tells the whole chain of calls, which LLVM's own note is silent of if
//! nothing but the call is in its block.

use crate::ir::{Builder, Bundle, Call, Function, Type, Value};
use crate::module::Module;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

const DEOPT: &str = "deopt";

/// Set in the function's number if the array's first word precedes the register: that holds an address.
pub(crate) const IS_ADDRESS: u32 = 1 << 30;
/// Set in the function's number if no register follows.
pub(crate) const HAS_NONE: u32 = 1 << 29;
/// The function's number where function and site are not said.
pub(crate) const NOT_SAID: u32 = HAS_NONE - 1;

/// What a bundle begins with.
pub(super) fn link(module: &Module, function: u32, site: usize) -> [Value<'_>; 2] {
    let int32 = module.int32();
    [int32.constant(u64::from(function)), int32.constant(site as u64)]
}

/// Whether calls of the function may carry a bundle: there is no code for one that calls through a thunk.
pub(super) fn can_carry(function: Function<'_>) -> bool {
    let features = function.text_attribute("target-features").unwrap_or_default();
    !features.split(',').any(|f| f.starts_with("+retpoline") || f.starts_with("+lvi-cfi"))
}

/// Whether it is a call in which an activation may end, other than those with a meaning of their own.
fn is_plain(call: Call<'_>) -> bool {
    let called = call.called();
    // What asks an awaiter carries no note: LLVM 22 crashes when it splits a coroutine where it does.
    let resumes = matches!(call.intrinsic().as_deref(), Some("llvm.coro.resume" | "llvm.coro.destroy"));
    let intrinsic = call.intrinsic().is_some() && !resumes;
    call.opcode() != LLVMOpcode::LLVMCallBr
        && !call.is_musttail()
        && !intrinsic
        && !called.is_assembly()
        && call.bundle_count() == 0
        && call.called_type().returned().is_some_and(Returned::is_compiled_rightly)
}

/// What a call returns, as the code generator sees it: pieces in registers.
///
/// LLVM's code for a call with a bundle is right only if the result is in general or vector registers. Where it is in
/// memory, or on the stack of the x87 (`long double`), LLVM crashes or calls the function twice.
#[derive(Clone, Copy, Default)]
struct Returned {
    general: u64,
    scalar: u64,
    vector: u64,
}

impl Returned {
    /// Whether results of that type leave code as it has to be. Others carry no note: what ends early in such a call is
    /// not vouched for.
    fn is_compiled_rightly(ty: Type<'_>) -> bool {
        if ty.kind() == LLVMTypeKind::LLVMVoidTypeKind {
            return true;
        }
        let mut pieces = Self::default();
        if !pieces.add(ty) {
            return false;
        }
        let Self { general, scalar, vector } = pieces;
        // Numbers by themselves are in the first two vector registers, whatever else is there.
        general <= 3 && (scalar == 0 || scalar + vector <= 2) && vector <= 4
    }

    /// False if there is no saying, or enough is known.
    fn add(&mut self, ty: Type<'_>) -> bool {
        use LLVMTypeKind::*;
        match ty.kind() {
            LLVMIntegerTypeKind => self.general += u64::from(ty.bits().unwrap_or(u32::MAX)).div_ceil(64),
            LLVMPointerTypeKind => self.general += 1,
            LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind => self.scalar += 1,
            LLVMFP128TypeKind => self.vector += 1,
            LLVMVectorTypeKind => return self.add_vector(ty),
            LLVMStructTypeKind => return ty.fields().unwrap_or_default().into_iter().all(|field| self.add(field)),
            LLVMArrayTypeKind => {
                let Some((element, count)) = ty.array_elements().filter(|&(_, count)| count <= 4) else { return false };
                return (0..count).all(|_| self.add(element));
            }
            _ => return false,
        }
        self.general <= 3 && self.scalar <= 2
    }

    /// Without AVX a vector takes a register per 16 bytes.
    fn add_vector(&mut self, ty: Type<'_>) -> bool {
        let Some((element, count)) = ty.vector_elements() else { return false };
        let bits = match element.kind() {
            LLVMTypeKind::LLVMIntegerTypeKind => element.bits().filter(|bits| matches!(bits, 8 | 16 | 32 | 64)),
            LLVMTypeKind::LLVMFloatTypeKind => Some(32),
            LLVMTypeKind::LLVMDoubleTypeKind => Some(64),
            _ => None,
        };
        let Some(bits) = bits.filter(|_| count.is_power_of_two()) else { return false };
        self.vector += (u64::from(bits) * u64::from(count)).div_ceil(128);
        self.vector <= 4
    }
}

/// Gives all calls of a function without probes a bundle that says nothing: it may be inlined.
pub(super) fn add_unknown<'m>(module: &'m Module, function: Function<'m>) {
    let calls: Vec<Call<'m>> = function.instructions().filter_map(|instruction| instruction.as_call()).collect();
    for call in calls {
        carry(module, call, &link(module, NOT_SAID | HAS_NONE, 0));
    }
}

/// Gives the call a bundle with these values, unless it can't carry one. The call is replaced.
pub(super) fn carry<'m>(module: &'m Module, call: Call<'m>, values: &[Value<'m>]) {
    if is_plain(call) {
        module.rebundle(call, &[Bundle::new(DEOPT, values)]);
    }
}

/// Takes bundles away that have nothing to say; gives whether any is left in the function.
pub(crate) fn drop_empty<'m>(module: &'m Module, function: Function<'m>) -> bool {
    let mut left = false;
    for call in function.instructions().filter_map(|instruction| instruction.as_call()) {
        match notes(call).map(|notes| has_register(&notes)) {
            None => {}
            Some(false) => {
                module.rebundle(call, &[]);
            }
            Some(true) => left = true,
        }
    }
    left
}

/// Takes all our bundles away.
pub(crate) fn drop_all<'m>(module: &'m Module, function: Function<'m>) {
    let calls: Vec<Call<'m>> = function.instructions().filter_map(|instruction| instruction.as_call()).collect();
    for call in calls.into_iter().filter(|&call| notes(call).is_some()) {
        module.rebundle(call, &[]);
    }
}

/// Has all that calls of the function carry stored before each of them, so that the bundles hold but addresses of the
/// function's frame: no register is taken by them.
pub(crate) fn carry_on_stack<'m>(module: &'m Module, function: Function<'m>) {
    let mut slots = Vec::new();
    let calls: Vec<Call<'m>> = function.instructions().filter_map(|instruction| instruction.as_call()).collect();
    for call in calls {
        let Some(mut values) = notes(call).filter(|notes| has_register(notes)) else { continue };
        let registers = values.iter_mut().filter(|value| !value.is_constant_int());
        for (number, value) in registers.enumerate() {
            if slots.len() == number {
                slots.extend(slot(module, function));
            }
            // Nobody that the code generator knows reads it.
            Builder::before(module, *call).store(*value, slots[number]).set_volatile(true);
            *value = slots[number];
        }
        module.rebundle(call, &[Bundle::new(DEOPT, &values)]);
    }
}

/// A word of the function's frame.
fn slot<'m>(module: &'m Module, function: Function<'m>) -> Option<Value<'m>> {
    Some(Builder::before(module, function.entry()?.first()?).variable(module.int64()))
}

/// What the only bundle of a call notes, if that is ours.
fn notes(call: Call<'_>) -> Option<Vec<Value<'_>>> {
    if call.opcode() == LLVMOpcode::LLVMCallBr || call.bundle_count() != 1 {
        return None;
    }
    call.bundle(0).filter(|bundle| bundle.tag() == DEOPT).map(|bundle| bundle.values())
}

/// Whether any register is noted. Up to the first one each link of the chain is two constants.
fn has_register(notes: &[Value<'_>]) -> bool {
    let mut functions = notes.iter().step_by(2);
    functions.any(|function| function.constant().is_none_or(|function| function & u64::from(HAS_NONE) == 0))
}
