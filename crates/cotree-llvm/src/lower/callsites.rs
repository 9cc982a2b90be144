//! Numbers call sites, so that a machine return address leads back to its call, through inlining.
//!
//! The number sits in the discriminator of the call's debug location, in the encoding of LLVM's pseudo probes. The code
//! generator writes it with the call's address and inlining chain into `.pseudo_probe`; nothing is executed for it.
//! Where the program has no debug information, we make just enough of it: a compile unit that emits nothing.
//!
//! Instructions that may fault have pseudo probes before them, with numbers above those of calls. That is for code
//! which is compiled as it is written: where the code generator may move instructions, it could not move them past such
//! a probe.

use super::unit::First;
use crate::extract::{Extracted, FunctionIr, NO_SITE, faults_at_once};
use crate::ir::{
    At, Builder, Call, DebugInfoBuilder, Function, FunctionType, Instruction, Location, Scope, SourceFile,
};
use crate::module::Module;
use cotree_core::facts::{self, Callee};
use llvm_sys::LLVMVisibility;
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

/// Unwind tables that are right at every instruction (`llvm::UWTableKind::Async`).
const ASYNCHRONOUS: u64 = 2;
/// Probe types of the encoding.
const INDIRECT_CALL: u32 = 1;
const DIRECT_CALL: u32 = 2;

/// The discriminator of pseudo probe `number`: tag 7 in bits 0–2, the number in 3–18, a distribution factor of 100 % in
/// 19–25 and the type in 26–28.
fn discriminator(number: u16, kind: u32) -> u32 {
    7 | u32::from(number) << 3 | 100 << 19 | kind << 26
}

/// The numbers of instructions that may fault, in the order of the module; `before` are of modules that it is joined
/// to.
pub(crate) fn fault_numbers(before: u32) -> impl Iterator<Item = u32> {
    u32::from(NO_SITE) + 1 + before..
}

/// The attribute of a probe before an instruction that may fault: several instructions of machine code may.
pub(crate) const SEVERAL: u32 = 1;

/// Numbers the call sites of a module higher than in its facts, by what `first` says, and puts a marker call before
/// each `resume`. Gives the calls of each function's sites.
pub(super) fn number<'m>(module: &'m Module, extracted: &Extracted, first: First) -> Vec<Vec<Call<'m>>> {
    let numbering = Numbering::new(module, first);
    let functions = extracted.facts.functions.iter().zip(&extracted.handles);
    functions.map(|(function, handles)| numbering.function(function, handles.open(module))).collect()
}

/// The location of a call that is no call site, in a function that has been numbered: it leads to the functions that
/// this one is inlined into.
pub(super) fn location_of_no_site<'m>(module: &'m Module, function: Function<'m>) -> Location<'m> {
    let builder = DebugInfoBuilder::new(module);
    let scope = function.scope().expect("functions with numbered calls have scopes");
    let file = scope.file().unwrap_or_else(|| builder.file("cotree"));
    let scope = builder.discriminated(scope, file, discriminator(NO_SITE, DIRECT_CALL));
    builder.location(0, 0, scope, None)
}

/// Debug information under construction.
struct Numbering<'m> {
    module: &'m Module,
    builder: DebugInfoBuilder<'m>,
    file: SourceFile<'m>,
    /// The highest number of the modules that this one is joined to.
    before: u16,
    /// The type of the functions whose scopes we make; with it comes a compile unit that emits nothing.
    function_type: OnceCell<FunctionType<'m>>,
    /// The number of the next instruction that may fault.
    next_fault: Cell<u32>,
}

impl<'m> Numbering<'m> {
    fn new(module: &'m Module, first: First) -> Self {
        let builder = DebugInfoBuilder::new(module);
        let file = builder.file("cotree");
        module.declare_debug_info_version();
        // The code generator writes call addresses only for modules that describe their probes.
        let zero = module.int64().constant(0).as_metadata();
        let description = module.node(&[zero, zero, module.metadata_string("cotree")]);
        module.add_named_metadata("llvm.pseudo_probe_desc", description);
        let first_fault = fault_numbers(first.fault).next().expect("numbers without end");
        let next_fault = Cell::new(first_fault);
        Self { module, builder, file, before: first.probe, function_type: OnceCell::new(), next_fault }
    }

    fn function(&self, facts: &facts::Function, ir: &FunctionIr<'m>) -> Vec<Call<'m>> {
        // Walks of dying stacks need unwind tables, whatever the user's options say about them.
        ir.function.add_attribute(At::Function, self.module.attribute_of("uwtable", ASYNCHRONOUS));
        let (scope, is_new) = self.scope(facts, ir.function);
        self.give_locations(ir.function, scope, is_new);
        if facts.untouched.is_some() && facts.sites().all(|site| site.probe == 0) {
            return Vec::new();
        }
        let number = |(site, &instruction): (&facts::Call, &Instruction<'m>)| {
            if site.is_fault() {
                return self.fault(instruction);
            }
            let call = if site.resume_marker { Some(self.marker(instruction)) } else { instruction.as_call() };
            let call = call.expect("a call site is a call or has a marker");
            call.add_attribute(At::Function, self.module.attribute("nomerge"));
            self.number(call, site, scope);
            call
        };
        facts.calls.iter().zip(&ir.calls).filter(|(call, _)| call.is_site).map(number).collect()
    }

    /// The function's scope, and whether it was made: then locations in the function are of what was inlined into it.
    fn scope(&self, facts: &facts::Function, function: Function<'m>) -> (Scope<'m>, bool) {
        if let Some(scope) = function.scope() {
            return (scope, false);
        }
        let ty = *self.function_type.get_or_init(|| {
            self.builder.silent_unit(self.file, "cotree");
            self.builder.unknown_function_type(self.file)
        });
        (self.builder.give_scope(function, self.file, ty, &facts.symbol), true)
    }

    /// Every call needs a location once functions have scopes: the verifier and the inliner want it.
    fn give_locations(&self, function: Function<'m>, scope: Scope<'m>, is_new: bool) {
        let root = self.builder.location(0, 0, scope, None);
        let mut moved = HashMap::new();
        for instruction in function.instructions() {
            match instruction.location() {
                None if instruction.as_call().is_some() => instruction.set_location(Some(root)),
                Some(location) if is_new => {
                    instruction.set_location(Some(self.inlined_below(location, root, &mut moved)));
                }
                _ => {}
            }
        }
    }

    /// The location with `root` as the outermost place that it is inlined at. A function without a scope may hold
    /// code of functions that have one (a Rust program's C `main` does).
    fn inlined_below(
        &self,
        location: Location<'m>,
        root: Location<'m>,
        moved: &mut HashMap<Location<'m>, Location<'m>>,
    ) -> Location<'m> {
        let mut chain = Vec::new();
        let mut at = Some(location);
        while let Some(place) = at.filter(|place| !moved.contains_key(place)) {
            chain.push(place);
            at = place.inlined_at();
        }
        let mut outer = at.map_or(root, |known| moved[&known]);
        for place in chain.into_iter().rev() {
            outer = self.builder.location(place.line(), place.column(), place.scope(), Some(outer));
            moved.insert(place, outer);
        }
        outer
    }

    /// A call of `__cotree_resuming` before a `resume`.
    fn marker(&self, resume: Instruction<'m>) -> Call<'m> {
        let module = self.module;
        let ty = module.void().function(&[]);
        let callee = module.function_or_declare("__cotree_resuming", ty, |callee| {
            callee.set_visibility(LLVMVisibility::LLVMHiddenVisibility);
            for attribute in ["cold", "nounwind", "willreturn"] {
                callee.add_attribute(At::Function, module.attribute(attribute));
            }
        });
        let builder = Builder::before(module, resume);
        builder.set_location(resume.location());
        builder.call(ty, callee, &[])
    }

    /// A probe before an instruction that may fault.
    fn fault(&self, instruction: Instruction<'m>) -> Call<'m> {
        let (module, long, int) = (self.module, self.module.int64(), self.module.int32());
        let ty = module.void().function(&[long, long, int, long]);
        let callee = module.function_or_declare("llvm.pseudoprobe", ty, |_| ());
        let number = self.next_fault.replace(self.next_fault.get() + 1);
        let several = if faults_at_once(instruction) { 0 } else { SEVERAL };
        let builder = Builder::before(module, instruction);
        builder.set_location(instruction.location());
        // Some function that is none, the number, attributes, and all of the samples that nobody takes.
        let arguments =
            [long.constant(1), long.constant(number.into()), int.constant(several.into()), long.constant(u64::MAX)];
        builder.call(ty, callee, &arguments)
    }

    /// Puts the site's number on the call, leaving line and inlining as they are.
    fn number(&self, call: Call<'m>, site: &facts::Call, own: Scope<'m>) {
        if site.probe == 0 {
            return;
        }
        let kind = if site.callee == Callee::Indirect { INDIRECT_CALL } else { DIRECT_CALL };
        let old = call.location();
        let (line, column) = old.map_or((0, 0), |old| (old.line(), old.column()));
        let scope = old.map_or(own, Location::scope);
        let file = scope.file().unwrap_or(self.file);
        let numbered = self.builder.discriminated(scope, file, discriminator(self.before + site.probe, kind));
        let inlined_at = old.and_then(Location::inlined_at);
        call.set_location(Some(self.builder.location(line, column, numbered, inlined_at)));
    }
}
