//! First stage: each module is parsed, gets the linker's verdicts on its symbols, and is turned into facts.

use super::compiled::Marks;
use super::harness;
use super::job::{LinkJob, Setting};
use super::linkage::{self, SymbolVerdict, Verdict};
use crate::child::refuse_damaged;
use crate::coverage;
use crate::emit::{self, Level, Target};
use crate::error::Error;
use crate::extract::{self, COROUTINE, Extracted};
use crate::ir::{At, Function};
use crate::module::Module;
use crate::options::LinkOptions;
use crate::{ffi, lower};
use cotree_core::facts::hints::Hints;
use cotree_core::method::Family;
use cotree_core::place::affine::AffineVariable;
use cotree_lto::protocol::{ModuleInput, Resolution};
use cotree_profile::weights::module_name;
use rayon::prelude::*;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

/// A module with its facts.
pub(crate) struct Prepared {
    pub(crate) module: Module,
    pub(crate) extracted: Extracted,
}

impl Prepared {
    /// Extracts the facts of a module that nothing but the linker's verdicts has changed. The unit defines the
    /// functions in `defined`.
    ///
    /// # Errors
    /// The module asks for coverage of a kind that is not counted.
    pub(super) fn new(mut module: Module, options: &LinkOptions, defined: &HashSet<&str>) -> Result<Self, Error> {
        if !options.method.is_none() {
            lower::strip_attributes(&module, defined);
            lower::make_calls_of_builtin_jumps(&mut module);
        } else {
            lower::answer_no_call_queries(&module);
        }
        // Notes stand at instructions: nothing may replace these any more.
        coverage::take_counters(&mut module, options.asked.mcdc == Some(true))?;
        let prepared = Self::of_changed(module, options);
        if options.promotes_variables() { prepared.with_variables_in_registers(options) } else { Ok(prepared) }
    }

    /// Moves local variables from memory into registers, as the compiler's first pass would do later: a loop variable
    /// in memory counts nothing. Blocks, edges and calls stay as they are. The facts stay those of the code as it was
    /// compiled, since instructions that go have lines, and coverage counters stand at them.
    ///
    /// # Errors
    /// LLVM's own; also if it has changed more than that.
    fn with_variables_in_registers(self, options: &LinkOptions) -> Result<Self, Error> {
        let Self { mut module, extracted: compiled } = self;
        emit::promote_variables(&mut module, &target(options))?;
        let mut prepared = Self::of_changed(module, options);
        prepared.extracted.take_facts_of(compiled).map_err(|function| Error::Internal {
            module: prepared.module.name.clone(),
            reason: format!("variables were moved into registers, and {function} has other blocks or calls since"),
        })?;
        Ok(prepared)
    }

    /// Extracts the facts of a module as it is now.
    pub(super) fn of_changed(module: Module, options: &LinkOptions) -> Self {
        let sites = match options.method.family() {
            Family::Traces => extract::Sites::All,
            Family::Counters(_) => extract::Sites::Faulting { everywhere: options.level == Level::O0 },
            _ => extract::Sites::Abandoned,
        };
        let mut extracted = extract::extract_with(&module, &options.selection, sites, options.accesses());
        if let Some(costs) = &options.costs {
            extract::add_costs(&module, &mut extracted, costs);
        }
        if options.finds_affine() {
            extract::find_affine(&module, &mut extracted);
        }
        Self { module, extracted }
    }
}

/// A unit whose modules are prepared.
pub(super) struct PreparedUnit<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) modules: Vec<Prepared>,
}

impl<'a> PreparedUnit<'a> {
    /// Prepares all modules of a link. Gives the name of each with what its functions say, too.
    pub(super) fn of_link(job: &'a LinkJob<'a>) -> Result<(Self, Vec<(String, Marks)>), Error> {
        ffi::ensure_loaded()?;
        let symbols = || job.request.modules.iter().flat_map(|module| &module.symbols);
        // A symbol that a module refers to is not defined there, so any reference is another module's.
        let referenced: HashSet<&str> =
            symbols().filter(|s| s.resolution.is_reference()).map(|s| s.name.as_str()).collect();
        let defined: HashSet<&str> =
            symbols().filter(|s| !s.resolution.is_reference()).map(|s| s.ir_name.as_str()).collect();
        if job.options.careful {
            for input in &job.request.modules {
                refuse_damaged(&input.name, &read(input)?)?;
            }
        }
        let temporary = std::env::temp_dir();
        let prepare = |input: &ModuleInput| {
            let mut module = Module::parse(&input.name, &read(input)?)?;
            let marks = Marks::of(&module);
            marks.check(&module, &job.options)?;
            if marks.foreign {
                extract::mark_optimised_before(&module);
            }
            if splits_coroutines(&module, &job.options) {
                emit::split_coroutines(&mut module, &target(&job.options))?;
            }
            harness::keep_apart(&module);
            inline_first(&mut module, &job.options)?;
            linkage::apply(&mut module, &verdicts(input, &referenced));
            let name = mapped_name(&input.name, &module, &temporary);
            let mut prepared = Prepared::new(module, &job.options, &defined)?;
            prepared.extracted.facts.name = name;
            Ok((prepared, (input.name.clone(), marks)))
        };
        let prepared = job.request.modules.par_iter().map(prepare).collect::<Result<Vec<_>, Error>>()?;
        let (modules, marks) = prepared.into_iter().unzip();
        Ok((Self { setting: Setting::of_link(job), modules }, marks))
    }
}

/// Are there coroutines that get counters, or are compiled by some, and that clang has left whole? Where it prepares
/// thin link-time optimisation, it leaves that to the link. Builds `--at early` leave them whole, without counters, but
/// for those with coverage, which is to have all of the source.
fn splits_coroutines(module: &Module, options: &LinkOptions) -> bool {
    let is_whole = |function: Function<'_>| function.has_attribute(At::Function, COROUTINE);
    let has_counters = !options.method.is_none() || options.uses_profile();
    let waits = options.early() && options.asked.coverage != Some(true);
    !waits && has_counters && module.functions().any(is_whole)
}

/// Inlines small functions if counts are to be those of the code behind that. What the linker has found of symbols must
/// not matter yet: programs that share modules share their profiles.
///
/// # Errors
/// LLVM's own.
pub(super) fn inline_first(module: &mut Module, options: &LinkOptions) -> Result<(), Error> {
    if !options.inlines_first() {
        return Ok(());
    }
    emit::inline_small(module, &target(options))
}

/// What passes have to know that run before anything is counted.
fn target(options: &LinkOptions) -> Target {
    Target { cpu: options.cpu.clone(), ..Target::new(options.level) }
}

/// What the map calls a module. Objects that the compiler makes for one command have a new name each time. They are
/// called after their source, so that the same sources make the same program with the same id.
fn mapped_name(name: &str, module: &Module, temporary: &Path) -> String {
    let path = Path::new(name);
    let is_temporary = path.parent() == Some(temporary) && path.file_name() != Some(OsStr::new(module_name(name)));
    if is_temporary { Path::new(&module.source_file()).with_extension("").display().to_string() } else { name.into() }
}

/// Reads a module's bitcode from its file.
fn read(input: &ModuleInput) -> Result<Vec<u8>, Error> {
    use std::io::{Read, Seek, SeekFrom};
    let failed = |source| Error::Read { path: input.path.clone(), source };
    let mut file = cotree_profile::regular::open(&input.path).map_err(failed)?;
    file.seek(SeekFrom::Start(input.offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(input.size).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The linker's verdicts on a module's symbols; `referenced` are names that modules refer to without defining them.
fn verdicts(input: &ModuleInput, referenced: &HashSet<&str>) -> Vec<SymbolVerdict> {
    let verdict = |resolution| match resolution {
        Resolution::PrevailingInternal => Verdict::OnlyBitcode,
        Resolution::Elsewhere => Verdict::Lost,
        Resolution::Undefined | Resolution::Prevailing | Resolution::PrevailingExported => Verdict::Keep,
    };
    let symbols = input.symbols.iter();
    symbols
        .map(|symbol| SymbolVerdict {
            ir_name: symbol.ir_name.clone(),
            verdict: verdict(symbol.resolution),
            referenced_elsewhere: referenced.contains(symbol.name.as_str()),
        })
        .collect()
}

/// Each function's affine variables, in unit order.
pub(super) fn affine_variables(modules: &[Prepared]) -> Vec<&[AffineVariable]> {
    modules.iter().flat_map(|p| p.extracted.affine.iter().map(Vec::as_slice)).collect()
}

/// What each function's code says about its branches, in unit order.
pub(super) fn hints(modules: &[Prepared]) -> Vec<&Hints> {
    modules.iter().flat_map(|p| &p.extracted.hints).collect()
}
