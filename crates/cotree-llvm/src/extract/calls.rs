//! Extracts calls: the callee of each, and whether an activation may be abandoned there.

use crate::ir::{self, Instruction};
use crate::stacks;
use cotree_core::facts::{Call, Callee, Doubt, SAFE_POINT};
use cotree_core::ids::Block;
use llvm_sys::LLVMOpcode;
use std::collections::HashSet;

/// The number of calls that are no call sites, but lead to the functions that they are inlined into.
pub(crate) const NO_SITE: u16 = u16::MAX;

/// Numbers that tie machine return addresses to call sites: 16 bits, unique in a module.
#[derive(Default)]
pub(super) struct ProbeNumbers {
    last: u16,
}

impl ProbeNumbers {
    /// The next number, or 0 when they are used up.
    pub(super) fn next(&mut self) -> u16 {
        match self.last.checked_add(1).filter(|&next| next != NO_SITE) {
            Some(next) => {
                self.last = next;
                next
            }
            None => 0,
        }
    }
}

/// The call that the instruction is, or for a `resume` the marker that comes before it. Its block, its line and its
/// probe number are for the caller to fill in.
pub(super) fn call(instruction: Instruction<'_>) -> Option<Call> {
    if instruction.opcode() == LLVMOpcode::LLVMResume {
        let marker = Call::site(Block(0), Callee::Symbol("__cotree_resuming".into()));
        return Some(Call { resume_marker: true, ..marker });
    }
    let call = instruction.as_call().filter(|&call| intrinsic(call).is_none())?;
    let terminator = call.opcode() != LLVMOpcode::LLVMCall;
    let called = call.called();
    if called.is_assembly() {
        return Some(Call { callee: Callee::Assembly, terminator, ..Call::default() });
    }
    let is_direct = call.intrinsic().is_none() && (call.callee().is_some() || called.is_alias());
    let same_convention = call.callee().is_some_and(|callee| callee.convention() == call.convention());
    let returns = call.has_attribute("nounwind") && call.has_attribute("willreturn");
    Some(Call {
        callee: if is_direct { Callee::Symbol(called.name()) } else { Callee::Indirect },
        callee_uncertain: is_direct && !same_convention,
        terminator,
        must_tail: call.is_musttail(),
        is_site: !call.is_musttail() && !returns,
        no_return: call.has_attribute("noreturn"),
        returns_twice: call.has_attribute("returns_twice"),
        ..Call::default()
    })
}

/// The name of the intrinsic that it calls, if it is one that is no call in the end. Of some, LLVM makes indirect calls
/// when it splits coroutines: those that resume or destroy one, in whatever function holds its handle, and those that
/// ask an awaiter, in the coroutine itself.
pub(super) fn intrinsic(call: ir::Call<'_>) -> Option<String> {
    let is_call = |name: &str| {
        matches!(name, "llvm.coro.resume" | "llvm.coro.destroy") || name.starts_with("llvm.coro.await.suspend.")
    };
    call.intrinsic().filter(|name| !is_call(name))
}

/// Why the instruction makes its function's counts doubtful, if it does.
pub(super) fn doubt(instruction: Instruction<'_>) -> Option<Doubt> {
    let call = instruction.as_call()?;
    if let Some(name) = call.intrinsic() {
        // A call behind a `setjmp` says that it has returned once more (`lower::builtin_jumps`).
        let unseen = name.starts_with("llvm.eh.sjlj.") && name != "llvm.eh.sjlj.setjmp";
        return unseen.then_some(Doubt::BuiltinSetjmp);
    }
    let assembly = call.called().assembly()?;
    stacks::assembly_switches(&assembly).then_some(Doubt::SwitchesStacks)
}

/// The words of inline assembly that the instruction runs, which may be names of functions.
pub(super) fn note_assembly(named: &mut HashSet<String>, instruction: Instruction<'_>) {
    let assembly = instruction.as_call().and_then(|call| call.called().assembly());
    named.extend(assembly.iter().flat_map(|text| words(text)));
}

/// The words of assembly that could be symbols.
pub(super) fn words(assembly: &str) -> impl Iterator<Item = String> {
    let symbol = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '@');
    assembly.split(move |c| !symbol(c)).filter(|word| !word.is_empty()).map(|word| {
        // `foo@PLT`, and `$foo`, which is what an immediate looks like.
        word.split('@').next().unwrap_or_default().trim_start_matches('$').to_owned()
    })
}

/// Is it an intrinsic that stands for no instruction (debug values, lifetimes, assumptions)?
pub(crate) fn is_annotation(instruction: Instruction<'_>) -> bool {
    const PREFIXES: [&str; 6] = [
        "llvm.dbg.",
        "llvm.lifetime.",
        "llvm.assume",
        "llvm.experimental.noalias",
        "llvm.invariant.",
        "llvm.pseudoprobe",
    ];
    let call = instruction.as_call().filter(|call| call.opcode() == LLVMOpcode::LLVMCall);
    let name = call.and_then(|call| call.intrinsic());
    name.is_some_and(|name| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Is it the call that marks a safe point?
pub(crate) fn is_safe_point(instruction: Instruction<'_>) -> bool {
    let callee = instruction.as_call().and_then(|call| call.callee());
    callee.is_some_and(|callee| callee.is_declaration() && callee.name() == SAFE_POINT)
}

/// Is it an intrinsic of floating-point arithmetic? clang makes `a * b + c` one (`llvm.fmuladd`).
pub(super) fn is_float_arithmetic(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "fma",
        "fmuladd",
        "sqrt",
        "fabs",
        "copysign",
        "minnum",
        "maxnum",
        "minimum",
        "maximum",
        "minimumnum",
        "maximumnum",
        "ceil",
        "floor",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
        "vector.reduce.fadd",
        "vector.reduce.fmul",
    ];
    let name = name.strip_prefix("llvm.").unwrap_or_default();
    // Where the rounding mode matters, all arithmetic is an intrinsic.
    let name = name.strip_prefix("experimental.constrained.").unwrap_or(name);
    NAMES.iter().any(|known| name.strip_prefix(known).is_some_and(|rest| rest.starts_with('.')))
}
