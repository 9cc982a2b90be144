//! Tells LLVM whom indirect calls led to, as its own value profiles do (`InstrProf.cpp`, `annotateValueSite`).
//!
//! LLVM makes guarded direct calls of them (`IndirectCallPromotion.cpp`), which it may inline:
//! `if (p == f) f(x) else p(x)`. It does that for hot calls, for at most three targets each, and only where a direct
//! call is right; a target that a profile names wrongly is one that the comparison never finds.
//!
//! Functions have numbers there, made of their names. Names that only a module sees begin with that of its source file.
//! The pipelines of link-time optimisation read them from `PGOFuncName`, since functions have become local or got other
//! names by then.

use crate::extract::Extracted;
use crate::ir::{Call, Metadata};
use crate::module::Module;
use cotree_core::facts::{Linkage, ProgramMap, linker_name};
use cotree_profile::coverage::name_hash;
use cotree_profile::weights::module_name;
use cotree_profile::weights::targets::{CallTargets, Target};
use llvm_sys::LLVMLinkage;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;

/// `IPVK_IndirectCallTarget`
const INDIRECT_CALL: u64 = 0;

/// LLVM reads so many targets of a call.
const MOST_TARGETS: usize = 3;

/// The most calls that are told to LLVM, which multiplies counts by a hundred.
const MOST_CALLS: u64 = u64::MAX / 100;

/// A function that a pointer may lead to.
struct Definition {
    /// The number of its module.
    module: usize,
    is_local: bool,
}

/// The functions of a unit, as targets of calls.
pub(super) struct Definitions {
    by_symbol: HashMap<String, Vec<Definition>>,
    /// Each module's name, and that of its source file.
    modules: Vec<[String; 2]>,
}

impl Definitions {
    /// Collects the definitions of a unit; per module, `sources` has the name of its source file.
    pub(super) fn of(program: &ProgramMap, sources: Vec<String>) -> Self {
        let mut by_symbol: HashMap<String, Vec<Definition>> = HashMap::new();
        for (module, facts) in program.modules.iter().enumerate() {
            for function in &facts.functions {
                let is_local = function.linkage == Linkage::Internal;
                by_symbol.entry(function.symbol.clone()).or_default().push(Definition { module, is_local });
            }
        }
        let names = program.modules.iter().map(|module| module_name(&module.name).to_owned());
        Self { by_symbol, modules: names.zip(sources).map(<[String; 2]>::from).collect() }
    }

    /// The definition of a target that the calls of a module have.
    fn find(&self, target: &Target, caller: usize) -> Option<&Definition> {
        let all = self.by_symbol.get(&target.symbol)?;
        let in_module = |definition: &&Definition| match &target.module {
            None => definition.module == caller,
            Some(name) => self.modules.get(definition.module).is_some_and(|[own, _]| own == name),
        };
        // A function may have moved to another module since, but local ones of one name are different functions.
        let only = || if let [only] = &**all { Some(only) } else { all.iter().find(|one| !one.is_local) };
        all.iter().find(in_module).or_else(only)
    }

    /// The name by which LLVM numbers a function.
    fn name(&self, symbol: &str, definition: &Definition) -> String {
        let symbol = linker_name(symbol);
        let source = self.modules.get(definition.module).map_or("", |[_, source]| source);
        match (definition.is_local, source) {
            (false, _) => symbol.to_owned(),
            (true, "") => format!("<unknown>;{symbol}"),
            (true, source) => format!("{source};{symbol}"),
        }
    }
}

/// A module of a unit whose calls are told their targets.
pub(super) struct Caller<'m, 'a> {
    pub(super) module: &'m Module,
    /// The number of the module in the unit.
    pub(super) number: usize,
    pub(super) definitions: &'a Definitions,
    /// The module is compiled with the other modules of the unit as one.
    pub(super) across_modules: bool,
}

impl<'m> Caller<'m, '_> {
    /// Writes down the names of functions that only the module sees.
    pub(super) fn name_locals(&self, extracted: &Extracted) {
        let kind = self.module.metadata_kind("PGOFuncName");
        for (facts, handles) in extracted.facts.functions.iter().zip(&extracted.handles) {
            if facts.linkage == Linkage::Internal {
                let definition = Definition { module: self.number, is_local: true };
                let name = self.module.metadata_string(&self.definitions.name(&facts.symbol, &definition));
                handles.open(self.module).function.set_metadata(kind, self.module.node(&[name]));
            }
        }
    }

    /// Says whom a call led to.
    pub(super) fn tell(&self, call: Call<'m>, targets: &CallTargets) {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for target in &targets.functions {
            if let Some(number) = self.known(target) {
                let count = counts.entry(number).or_default();
                *count = count.saturating_add(target.count);
            }
        }
        let total = targets.total();
        let mut counts: Vec<(u64, u64)> = counts.into_iter().filter(|&(_, count)| count > 0).collect();
        counts.sort_by_key(|&(number, count)| (std::cmp::Reverse(count), number));
        if counts.is_empty() || total > MOST_CALLS {
            return;
        }
        let module = self.module;
        let word = |value: u64| module.int64().constant(value).as_metadata();
        let kind = module.int32().constant(INDIRECT_CALL).as_metadata();
        let mut operands: Vec<Metadata<'m>> = vec![module.metadata_string("VP"), kind, word(total)];
        operands.extend(counts.into_iter().take(MOST_TARGETS).flat_map(|(number, count)| [word(number), word(count)]));
        call.set_metadata(module.metadata_kind("prof"), module.node(&operands));
    }

    /// The number of a target, if what is compiled with the caller defines it: LLVM stops at the first one that it does
    /// not find.
    fn known(&self, target: &Target) -> Option<u64> {
        let definition = self.definitions.find(target, self.number)?;
        let name = self.definitions.name(&target.symbol, definition);
        let is_here = definition.module == self.number || self.across_modules;
        let has_copy = || {
            let function = self.module.function(&CString::new(target.symbol.as_str()).ok()?)?;
            (function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage).then_some(())
        };
        (is_here || has_copy().is_some()).then(|| name_hash(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::facts;

    #[test]
    fn numbers_are_those_of_llvm() {
        // As `llvm-profdata show --counts --all-functions` has them.
        assert_eq!(name_hash("main"), 0xDB95_6436_E78D_D5FA);
    }

    #[test]
    fn local_functions_of_one_name_are_different_targets() {
        let function = |symbol: &str, linkage| facts::Function { symbol: symbol.into(), linkage, ..Default::default() };
        let module = |name: &str, functions| facts::Module { name: name.into(), functions, ..facts::Module::default() };
        let (local, global) = (Linkage::Internal, Linkage::External);
        let program = ProgramMap {
            modules: vec![
                module("/tmp/a-012345.o", vec![function("f", local), function("g", global), function("h", local)]),
                module("b.o", vec![function("f", local), function("\u{1}main", global)]),
            ],
            ..ProgramMap::default()
        };
        let definitions = Definitions::of(&program, vec!["src/a.c".into(), String::new()]);
        let name = |symbol: &str, module: Option<&str>, caller| {
            let target = Target { symbol: symbol.into(), module: module.map(str::to_owned), count: 1 };
            definitions.find(&target, caller).map(|found| definitions.name(symbol, found))
        };
        assert_eq!(name("f", None, 0).as_deref(), Some("src/a.c;f"));
        assert_eq!(name("f", None, 1).as_deref(), Some("<unknown>;f"));
        assert_eq!(name("f", Some("a"), 1).as_deref(), Some("src/a.c;f"));
        assert_eq!(name("f", Some("c.o"), 1), None, "one of two");
        assert_eq!(name("h", Some("c.o"), 1).as_deref(), Some("src/a.c;h"), "the only one");
        assert_eq!(name("g", Some("c.o"), 1).as_deref(), Some("g"));
        assert_eq!(name("\u{1}main", None, 1).as_deref(), Some("main"));
        assert_eq!(name("i", None, 1), None);
    }
}
