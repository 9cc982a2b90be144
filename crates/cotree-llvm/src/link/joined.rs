//! Modules that are compiled as one, as with `-flto`: functions are inlined and values known across them.
//!
//! Facts and plans are made, and probes put in, module by module and each in a context of its own, as ever. Then the
//! modules are written as bitcode and read into one context, where LLVM's linker joins them. What only these modules
//! refer to is internal from then on, and the pipeline of full link-time optimisation runs on the whole. (Thin and full
//! are the same here.)
//!
//! Two things limit what can be one. Probe numbers have 16 bits: a program with more call sites becomes several groups
//! of modules, in the order of the link. And some modules stay alone, since joining could break them: those with
//! assembly of their own, whose names LLVM does not know, and those that speak of their own functions in assembly. A
//! module that LLVM refuses to link to the others, because they are compiled by incompatible options, is compiled alone
//! as well.

use super::built_module::BuiltModule;
use super::instrumented::{Contents, InstrumentedModule, PlannedModule};
use super::job::LinkJob;
use super::linkage;
use super::planned::PlannedProgram;
use crate::emit::Target;
use crate::error::Error;
use crate::extract::NO_SITE;
use crate::module::Module;
use cotree_lto::protocol::Resolution;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};

/// At most this many modules may refuse to be linked to the others before all are compiled alone.
const MOST_REFUSALS: usize = 8;

/// Modules that are compiled as one.
pub(super) struct Group {
    modules: Vec<PlannedModule>,
    /// The highest probe number.
    probes: u16,
    /// How many instructions may fault.
    faults: u32,
    data_layout: String,
}

/// Decides which modules are compiled as one. Without probes there is no limit.
pub(super) fn groups(modules: Vec<PlannedModule>, have_probes: bool) -> Vec<Group> {
    let mut alone = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    // The next module starts a group, so that static constructors run in the order of the link.
    let mut starts = true;
    for mut module in modules {
        let (probes, faults) = if have_probes { probes_of(&module) } else { (0, 0) };
        let data_layout = module.module.data_layout();
        if must_stay_alone(&module) {
            starts |= module.module.variable(c"llvm.global_ctors").is_some();
            alone.push(Group { modules: vec![module], probes, faults, data_layout });
            continue;
        }
        let fits = |group: &&mut Group| {
            let sum = group.probes.checked_add(probes).filter(|&sum| sum < NO_SITE);
            sum.is_some() && group.data_layout == data_layout
        };
        if let Some(group) = groups.last_mut().filter(fits).filter(|_| !starts) {
            (module.first.probe, module.first.fault) = (group.probes, group.faults);
            group.probes += probes;
            group.faults += faults;
            group.modules.push(module);
        } else {
            groups.push(Group { modules: vec![module], probes, faults, data_layout });
        }
        starts = false;
    }
    groups.iter_mut().for_each(Group::make_names_unique);
    groups.extend(alone);
    groups.sort_by_key(|group| group.modules[0].number);
    groups
}

/// The highest number of a call site, and how many instructions may fault.
fn probes_of(module: &PlannedModule) -> (u16, u32) {
    let sites = || module.extracted.facts.functions.iter().flat_map(|function| function.sites());
    let faults = sites().filter(|site| site.is_fault()).count();
    (sites().map(|site| site.probe).max().unwrap_or(0), u32::try_from(faults).unwrap_or(u32::MAX))
}

/// Could joining the module to others break it?
fn must_stay_alone(planned: &PlannedModule) -> bool {
    let PlannedModule { module, extracted, .. } = planned;
    let names_own_functions = || {
        let pinned = linkage::pinned(module);
        let locals = module.functions().filter(|function| function.is_local() && !function.is_declaration());
        locals.map(|function| function.name()).any(|n| pinned.contains(&n) && extracted.named_in_assembly.contains(&n))
    };
    !module.assembly().is_empty() || names_own_functions()
}

impl Group {
    /// Gives functions that only their module sees new names where another module has the same.
    fn make_names_unique(&mut self) {
        if self.modules.len() == 1 {
            return;
        }
        let names_of = |module: &Module| -> Vec<String> {
            let functions = module.functions().map(|function| function.name());
            let variables = module.variables().map(|variable| variable.name());
            functions.chain(variables).chain(module.aliases().map(|alias| alias.name())).collect()
        };
        let mut modules_with: HashMap<String, usize> = HashMap::new();
        for name in self.modules.iter().flat_map(|planned| names_of(&planned.module)) {
            *modules_with.entry(name).or_default() += 1;
        }
        for planned in &mut self.modules {
            for function in planned.module.functions().filter(|f| f.is_local() && !f.is_declaration()) {
                let name = function.name();
                if modules_with.get(&name).is_some_and(|&modules| modules > 1) {
                    let is_free = |name: &String| !modules_with.contains_key(name);
                    let new = (1..).map(|number| format!("{name}.{number}")).find(is_free).expect("there is no end");
                    modules_with.insert(new.clone(), 1);
                    planned.renamed.insert(name, new);
                }
            }
        }
    }

    /// Instruments the modules, joins them and compiles the whole. More than one is left if LLVM refuses to link some.
    pub(super) fn build(
        self,
        job: &LinkJob<'_>,
        planned: &PlannedProgram<'_>,
        target: &Target,
    ) -> Result<Vec<BuiltModule>, Error> {
        let instrument = |module: PlannedModule| module.instrument(job, planned, target);
        if self.modules.len() == 1 {
            let only = self.modules.into_iter().map(instrument).next().expect("there is one")?;
            return Ok(vec![only.compile(job, target)?]);
        }
        let write = |module| instrument(module).map(Written::of);
        let written: Vec<Written> = self.modules.into_par_iter().map(write).collect::<Result<_, Error>>()?;
        let (mut joined, refused) = join(&planned.program.name, written)?;
        if let Some(InstrumentedModule { module, contents }) = &mut joined {
            let members: HashSet<usize> = contents.members.iter().copied().collect();
            linkage::internalise(module, internal_names(job, &members));
            module.verify().map_err(|reason| Error::Internal {
                module: module.name.clone(),
                reason: format!("the joined module is not valid: {reason}"),
            })?;
            job.keep(&format!("{}.joined.ll", contents.members[0]), module)?;
        }
        let alone = refused.into_iter().map(Written::read);
        let all = joined.into_iter().map(Ok).chain(alone);
        all.map(|module| module?.compile(job, target)).collect()
    }
}

/// An instrumented module as bitcode.
struct Written {
    name: String,
    bitcode: Vec<u8>,
    contents: Contents,
}

impl Written {
    fn of(module: InstrumentedModule) -> Self {
        let InstrumentedModule { module, contents } = module;
        Self { name: module.name.clone(), bitcode: module.to_bitcode(), contents }
    }

    fn read(self) -> Result<InstrumentedModule, Error> {
        Ok(InstrumentedModule { module: Module::parse(&self.name, &self.bitcode)?, contents: self.contents })
    }
}

/// Joins modules in one context. Gives those apart that LLVM refuses to link to those before them.
fn join(name: &str, modules: Vec<Written>) -> Result<(Option<InstrumentedModule>, Vec<Written>), Error> {
    let (mut modules, mut refused) = (modules, Vec::new());
    while refused.len() < MOST_REFUSALS && modules.len() > 1 {
        let mut joined = Module::parse(name, &modules[0].bitcode)?;
        let refuses = (1..modules.len()).find(|&n| joined.join(&modules[n].name, &modules[n].bitcode).is_err());
        if let Some(refuses) = refuses {
            refused.push(modules.remove(refuses));
            continue;
        }
        let contents = modules.into_iter().map(|written| written.contents).reduce(Contents::and);
        let contents = contents.expect("there are several");
        return Ok((Some(InstrumentedModule { module: joined, contents }), refused));
    }
    refused.append(&mut modules);
    refused.sort_by_key(|written| written.contents.members[0]);
    Ok((None, refused))
}

/// Symbols that only these modules refer to, as the linker sees it.
fn internal_names<'a>(job: &'a LinkJob<'_>, members: &HashSet<usize>) -> impl Iterator<Item = &'a str> {
    let (mut inside, mut outside) = (Vec::new(), HashSet::new());
    for (number, module) in job.request.modules.iter().enumerate() {
        let is_member = members.contains(&number);
        for symbol in &module.symbols {
            if is_member && symbol.resolution == Resolution::PrevailingInternal {
                inside.push(symbol);
            } else if !is_member && symbol.resolution.is_reference() {
                outside.insert(symbol.name.as_str());
            }
        }
    }
    inside.into_iter().filter(move |symbol| !outside.contains(symbol.name.as_str())).map(|s| s.ir_name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Selection, extract};
    use crate::lower::First;

    const HEAD: &str = "target triple = \"x86_64-unknown-linux-gnu\"\ndeclare void @leave()\n";

    fn module(number: usize, text: &str) -> PlannedModule {
        let module = Module::parse_text(&format!("m{number}"), &format!("{HEAD}{text}")).expect("valid IR");
        let extracted = extract(&module, &Selection::default());
        let first = First { function: number, ..First::default() };
        PlannedModule { number, first, module, extracted, renamed: HashMap::new() }
    }

    /// A module whose call sites take this many numbers.
    fn with_probes(number: usize, probes: u16) -> PlannedModule {
        let text = format!("define void @f{number}() {{\n  call void @leave()\n  ret void\n}}\n");
        let mut module = module(number, &text);
        module.extracted.facts.functions[0].calls.update(|_, call| call.probe = probes);
        module
    }

    fn numbers(groups: &[Group]) -> Vec<Vec<(usize, u16)>> {
        groups.iter().map(|group| group.modules.iter().map(|m| (m.number, m.first.probe)).collect()).collect()
    }

    #[test]
    fn a_group_has_no_more_call_sites_than_there_are_numbers() {
        let modules = || [40_000, 25_000, 534, 1, 65_534, 3].into_iter().enumerate();
        let modules = || modules().map(|(number, probes)| with_probes(number, probes)).collect();
        let expected = [vec![(0, 0), (1, 40_000), (2, 65_000)], vec![(3, 0)], vec![(4, 0)], vec![(5, 0)]];
        assert_eq!(numbers(&groups(modules(), true)), expected);
        assert_eq!(groups(modules(), false).len(), 1, "without probes there is no limit");
    }

    #[test]
    fn modules_with_assembly_stay_alone_and_constructors_in_order() {
        let asm = "module asm \".globl x\"\n";
        let constructors = "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @leave, ptr null }]\n";
        let texts = ["", asm, "", &format!("{asm}{constructors}"), ""];
        let modules = texts.iter().enumerate().map(|(number, text)| module(number, text)).collect();
        let order: Vec<Vec<usize>> =
            groups(modules, true).iter().map(|g| g.modules.iter().map(|m| m.number).collect()).collect();
        assert_eq!(order, [vec![0, 2], vec![1], vec![3], vec![4]]);
    }

    #[test]
    fn local_functions_of_one_name_are_told_apart() {
        let local =
            "define internal void @f() {\n  ret void\n}\ndefine void @NAME() {\n  call void @f()\n  ret void\n}\n";
        let modules =
            [local.replace("NAME", "a"), local.replace("NAME", "f.1"), "define void @g() {\n  ret void\n}\n".into()];
        let modules = modules.iter().enumerate().map(|(number, text)| module(number, text)).collect();
        let groups = groups(modules, true);
        let renamed: Vec<_> = groups[0].modules.iter().map(|m| m.renamed.get("f").map(String::as_str)).collect();
        assert_eq!(renamed, [Some("f.2"), Some("f.3"), None]);
    }

    #[test]
    fn modules_that_llvm_does_not_link_are_compiled_alone() {
        let written = |number: usize, flag: u32| {
            let text = format!(
                "define void @f{number}() {{\n  ret void\n}}\n!llvm.module.flags = !{{!0}}\n!0 = !{{i32 1, !\"contract\", i32 {flag}}}\n"
            );
            let PlannedModule { module, .. } = module(number, &text);
            let contents = Contents {
                members: vec![number],
                sites: HashMap::new(),
                symbols: Vec::new(),
                thread_word_counters: Vec::new(),
                lines_for_reports_only: number != 2,
            };
            Written::of(InstrumentedModule { module, contents })
        };
        let flags = [1, 2, 1, 2].into_iter().enumerate();
        let (joined, refused) =
            join("all", flags.map(|(number, flag)| written(number, flag)).collect()).expect("they are valid");
        let joined = joined.expect("two go together");
        assert_eq!((joined.contents.members, joined.contents.lines_for_reports_only), (vec![0, 2], false));
        assert!(joined.module.function(c"f0").is_some() && joined.module.function(c"f2").is_some());
        assert_eq!(refused.iter().map(|written| written.contents.members[0]).collect::<Vec<_>>(), [1, 3]);
        let (joined, refused) = join("all", (0..20).map(|n| written(n, n as u32)).collect()).expect("they are valid");
        assert!(joined.is_none() && refused.len() == 20);
    }
}
