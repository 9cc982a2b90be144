//! Work on bitcode files outside of a link.

use super::job::Setting;
use super::planned::PlannedUnit;
use super::prepared::{Prepared, PreparedUnit, affine_variables};
use super::program::program_map;
use crate::emit::stack_maps::RegisterTable;
use crate::error::Error;
use crate::extract::{self, Selection};
use crate::module::Module;
use crate::options::Options;
use crate::{branch_weights, entries, lower};
use cotree_core::affine::AffineVariable;
use cotree_core::cfg::CfgError;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::hints::Hints;
use cotree_core::method::Method;
use cotree_core::plan::DerivedEntry;
use cotree_core::weighting::Weighting;
use cotree_profile::binary::CodeMap;
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::Path;

/// What there is to plan from.
pub struct BitcodeFacts {
    /// The program map.
    pub program: ProgramMap,
    /// What the code of each function says about its branches.
    pub hints: Vec<Hints>,
    /// The affine variables of each function.
    pub variables: Vec<Vec<AffineVariable>>,
    /// The functions whose entries follow from their callers, as far as that is known without a linker.
    pub entries: Vec<DerivedEntry>,
}

/// The facts of some bitcode files, as if they were one link unit in which all is visible; with variables and entries if
/// it is `planned`.
///
/// # Errors
/// A file cannot be read or is not bitcode of this LLVM.
pub fn facts_of_files<P: AsRef<Path> + Sync>(paths: &[P], planned: bool) -> Result<BitcodeFacts, Error> {
    let mut prepared: Vec<Prepared> = paths
        .par_iter()
        .map(|path| {
            let path = path.as_ref();
            let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.into(), source })?;
            let module = Module::parse(&path.display().to_string(), &bytes)?;
            let mut extracted = extract::extract(&module, &Selection::default());
            if planned {
                extract::find_affine(&module, &mut extracted);
            }
            Ok(Prepared { module, extracted })
        })
        .collect::<Result<_, Error>>()?;
    let name = paths.first().map(|p| p.as_ref().display().to_string()).unwrap_or_default();
    let program = program_map(name, Method::default(), &mut prepared, false);
    let hints: Vec<_> = prepared.iter_mut().flat_map(|p| std::mem::take(&mut p.extracted.hints)).collect();
    if !planned {
        return Ok(BitcodeFacts { program, hints, variables: Vec::new(), entries: Vec::new() });
    }
    let calls = entries::call_points(&prepared, None, &[]);
    let functions: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
    let graph = |number: usize| {
        let function: &Function = functions[number];
        let failed = |e: CfgError| Error::Internal { module: function.symbol.clone(), reason: e.to_string() };
        let cfg = function.cfg().map_err(failed)?;
        let weighting = Weighting::predicted(function, &cfg, &hints[number]);
        Ok((cfg, weighting))
    };
    let means = entries::Means { trades: true, promotes: false, announcing: &[] };
    let (_, entries) = entries::plan(&functions, graph, &affine_variables(&prepared), &calls, means)?;
    let variables = prepared.into_iter().flat_map(|p| p.extracted.affine).collect();
    Ok(BitcodeFacts { program, hints, variables, entries })
}

/// A module with its probes, and what has to be linked with it.
pub struct Instrumented {
    /// The module as bitcode.
    pub bitcode: Vec<u8>,
    /// Counters, descriptor and map, as an object.
    pub unit: Vec<u8>,
}

/// Puts probes into one bitcode file that is compiled and linked by other means. Its call sites are unknown in machine
/// code, so functions that are left early can't be vouched for; their doubts say so.
///
/// # Errors
/// See [`Error`].
pub fn instrument(name: &str, bitcode: &[u8], options: &Options, executable: bool) -> Result<Instrumented, Error> {
    let modules = vec![Prepared::new(Module::parse(name, bitcode)?, options, &HashSet::new())];
    let unit = Path::new(name).file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let setting = Setting { name: unit, options, shared: !executable, link: None };
    let PlannedUnit { mut modules, planned } = PreparedUnit { setting, modules }.analyse().plan()?;
    let Prepared { module, extracted } = &mut modules[0];
    if !options.method.is_none() {
        if let Some(weights) = &planned.weights {
            branch_weights::set_from_counts(module, extracted, weights);
        }
        let layers = planned.layers(0..extracted.facts.functions.len());
        lower::lower(module, extracted, &layers, &planned.to_lower(), 0)?;
        module.verify().map_err(|reason| Error::Internal { module: name.into(), reason })?;
    }
    let bitcode = module.to_bitcode();
    let unit = planned.unit_object(CodeMap::default(), &[&bitcode], &RegisterTable::default(), &[])?;
    Ok(Instrumented { bitcode, unit })
}

/// The same bitcode as this LLVM writes it, which includes a symbol table of the current form.
///
/// # Errors
/// The bytes are not bitcode of this LLVM.
pub fn rewrite(name: &str, bitcode: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(Module::parse(name, bitcode)?.to_bitcode())
}
