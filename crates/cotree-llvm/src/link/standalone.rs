//! Plans and instruments bitcode files outside of a link.

use super::compiled::{Marks, compiled_elsewhere};
use super::job::Setting;
use super::planned::{PlannedProgram, PlannedUnit};
use super::prepared::{Prepared, PreparedUnit, inline_first};
use super::program::program_map;
use super::selected;
use crate::child::refuse_damaged;
use crate::emit::stack_maps::RegisterTable;
use crate::error::Error;
use crate::extract::{self, Selection};
use crate::module::Module;
use crate::options::LinkOptions;
use crate::{branch_weights, lower};
use cotree_core::facts::ProgramMap;
use cotree_core::facts::hints::Hints;
use cotree_core::method::Method;
use cotree_core::place::affine::AffineVariable;
use cotree_core::profile::FunctionProfile;
use cotree_core::unit::UnitPlan;
use cotree_profile::binary::CodeMap;
use cotree_profile::regular;
use cotree_profile::weights::Weights;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;

/// The facts of some bitcode files.
pub struct BitcodeFacts {
    /// The program map.
    pub program: ProgramMap,
    /// What the code of each function says about its branches.
    pub hints: Vec<Hints>,
    /// The affine variables of each function.
    pub variables: Vec<Vec<AffineVariable>>,
}

/// The facts of some bitcode files, as if they were one link unit in which all is visible. Affine variables are found
/// only if they are asked for.
///
/// # Errors
/// A file cannot be read or is not bitcode of this LLVM.
pub fn facts_of_files<P: AsRef<Path> + Sync>(paths: &[P], affine: bool) -> Result<BitcodeFacts, Error> {
    let prepare = |module: Module| {
        let mut extracted = extract::extract(&module, &Selection::default());
        if affine {
            extract::find_affine(&module, &mut extracted);
        }
        Prepared { module, extracted }
    };
    let mut modules: Vec<Prepared> = parse_files(paths)?.into_par_iter().map(prepare).collect();
    let program = program_map(unit_name(paths), Method::default(), &mut modules, false);
    Ok(BitcodeFacts::of(program, modules))
}

impl BitcodeFacts {
    fn of(program: ProgramMap, modules: Vec<Prepared>) -> Self {
        let (mut hints, mut variables) = (Vec::new(), Vec::new());
        for Prepared { extracted, .. } in modules {
            hints.extend(extracted.hints);
            variables.extend(extracted.affine);
        }
        Self { program, hints, variables }
    }
}

/// Bitcode files with the plan that they would get.
pub struct PlannedFiles {
    /// What was planned from.
    pub facts: BitcodeFacts,
    /// The plan.
    pub plan: UnitPlan,
    /// Per function, the counts of the earlier run that it was planned by; empty without such counts.
    pub previous: Vec<Option<FunctionProfile>>,
}

/// Plans some bitcode files as one executable. A linker would know more about who calls whom.
///
/// # Errors
/// See [`Error`].
pub fn plan_files<P: AsRef<Path> + Sync>(paths: &[P], options: &LinkOptions) -> Result<PlannedFiles, Error> {
    let prepare = |mut module| {
        inline_first(&mut module, options)?;
        Prepared::new(module, options, &HashSet::new())
    };
    let modules = parse_files(paths)?.into_par_iter().map(prepare).collect::<Result<_, Error>>()?;
    let setting = Setting { name: unit_name(paths), options, shared: false, link: None };
    let PlannedUnit { modules, planned } = PreparedUnit { setting, modules }.analyse().plan()?;
    let PlannedProgram { program, plan, weights, .. } = planned;
    let counts = |weights: &Weights| program.functions().map(|(m, f)| weights.of(&m.name, f).cloned()).collect();
    let previous = weights.as_ref().map(counts).unwrap_or_default();
    Ok(PlannedFiles { facts: BitcodeFacts::of(program, modules), plan, previous })
}

/// Refuses files of bitcode that LLVM crashes over. No other thread may be at work.
///
/// # Errors
/// If there is such a file, or one that can't be read.
pub fn refuse_damaged_files<P: AsRef<Path>>(paths: &[P]) -> Result<(), Error> {
    paths.iter().try_for_each(|path| {
        let path = path.as_ref();
        refuse_damaged(&path.display().to_string(), &read(path)?)
    })
}

fn parse_files<P: AsRef<Path> + Sync>(paths: &[P]) -> Result<Vec<Module>, Error> {
    let parse = |path: &P| {
        let path = path.as_ref();
        Module::parse(&path.display().to_string(), &read(path)?)
    };
    paths.par_iter().map(parse).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    regular::read(path, regular::LARGEST_INPUT).map_err(|source| Error::Read { path: path.into(), source })
}

/// The name of a unit of such files.
fn unit_name<P: AsRef<Path>>(paths: &[P]) -> String {
    paths.first().map(|path| path.as_ref().display().to_string()).unwrap_or_default()
}

/// A module with its probes, and what has to be linked with it.
pub struct Instrumented {
    /// The module as bitcode.
    pub bitcode: Vec<u8>,
    /// Counters, descriptor and map, as an object.
    pub unit: Vec<u8>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

/// Puts probes into one bitcode file that is compiled and linked by other means. Its call sites are unknown in machine
/// code, so functions that are left early can't be vouched for. They get doubts that say so.
///
/// # Errors
/// See [`Error`].
pub fn instrument(name: &str, bitcode: &[u8], options: &LinkOptions, executable: bool) -> Result<Instrumented, Error> {
    let mut module = Module::parse(name, bitcode)?;
    let foreign = !options.method.is_none() && Marks::of(&module).foreign;
    if foreign {
        extract::mark_optimised_before(&module);
    }
    inline_first(&mut module, options)?;
    let modules = vec![Prepared::new(module, options, &HashSet::new())?];
    let unit = Path::new(name).file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let setting = Setting { name: unit, options, shared: !executable, link: None };
    let analysed = PreparedUnit { setting, modules }.analyse();
    let mut warnings = options.asked.idle_outside_links();
    warnings.extend(foreign.then(|| compiled_elsewhere(&[name])).flatten());
    warnings.extend(selected::warnings(&analysed.program, options));
    let PlannedUnit { mut modules, planned } = analysed.plan()?;
    let Prepared { module, extracted } = &mut modules[0];
    if !options.method.is_none() {
        if let Some(weights) = &planned.weights {
            branch_weights::set_from_counts(module, extracted, weights);
        }
        let layers = planned.layers(0..extracted.facts.functions.len());
        lower::lower(module, extracted, &layers, &planned.to_lower(), lower::First::default())?;
        module.verify().map_err(|reason| Error::Internal { module: name.into(), reason })?;
    }
    let bitcode = module.to_bitcode();
    let unit = planned.unit_object(CodeMap::default(), &[&bitcode], &RegisterTable::default(), &[])?;
    Ok(Instrumented { bitcode, unit, warnings })
}

/// Writes bitcode anew as this LLVM writes it, which includes a symbol table of the current form.
///
/// # Errors
/// The bytes are not bitcode of this LLVM.
pub fn rewrite(name: &str, bitcode: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(Module::parse(name, bitcode)?.to_bitcode())
}
