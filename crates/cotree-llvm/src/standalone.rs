//! Work on bitcode files outside of a link.

use crate::apply::{self, Access};
use crate::error::Error;
use crate::extract::{self, Selection};
use crate::link::{Prepared, affine_variables, hints, layers, program_map};
use crate::module::Module;
use crate::options::{Options, Threads};
use crate::signals::Handlers;
use crate::stack_maps::RegisterTable;
use crate::unit_object::{self, Nature};
use crate::unit_plan::plan_unit;
use crate::{branch_weights, callers, entries};
use cotree_core::affine::AffineVariable;
use cotree_core::cfg::CfgError;
use cotree_core::facts::{Doubt, Function, ProgramMap};
use cotree_core::hints::Hints;
use cotree_core::method::path::windows::Room;
use cotree_core::plan::{DerivedEntry, Method};
use cotree_core::weighting::Weighting;
use cotree_profile::binary::{BinaryMap, CodeMap};
use cotree_profile::weights::Weights;
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
    let program = program_map(name, Method::Edge, &mut prepared, false);
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
    let module = Module::parse(name, bitcode)?;
    let none = options.method == Method::None;
    if !none {
        apply::strip_attributes(&module, &HashSet::new());
    }
    let mut extracted = extract::extract(&module, &options.selection);
    if options.finds_affine() {
        extract::find_affine(&module, &mut extracted);
    }
    let mut prepared = [Prepared { module, extracted }];
    let base = Path::new(name).file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut program = program_map(base, options.method, &mut prepared, false);
    for function in program.modules.iter_mut().flat_map(|m| &mut m.functions) {
        if function.sites().len() > 0 {
            function.doubts.push(Doubt::UnmappedCallSites);
        }
    }
    let calls =
        if options.derives_entries() { entries::call_points(&prepared, None, &options.foreign) } else { Vec::new() };
    let room = if executable { Room::AsUsed } else { Room::Whole };
    let weights = options.weights.as_deref().map(Weights::open).transpose()?;
    let chosen = (options, weights.as_ref());
    let plan = plan_unit(&program, &affine_variables(&prepared), &hints(&prepared), &calls, &[], chosen, room)?;
    let layout = plan.layout();
    let handlers = Handlers::new(&prepared, &[], !executable);
    let resolving = callers::resolving(&prepared);
    let access = match options.threads {
        Threads::Off => Access::Direct,
        _ if executable => Access::ThreadInExecutable,
        _ => Access::ThreadInLibrary,
    };
    let [Prepared { module, extracted }] = prepared;
    if !none {
        if let Some(weights) = &weights {
            branch_weights::tell(&module, &extracted, weights);
        }
        let layers = layers(&plan, &layout, 0..layout.main.len());
        apply::apply(
            &module,
            &extracted,
            &layers,
            &apply::Unit {
                access,
                spare: layout.counter_count + layout.cache_count,
                interruptible: &handlers.may_run,
                registers_at_calls: false,
                foreign: &[],
                resolving: &resolving,
            },
            0,
        )?;
        module.verify().map_err(|reason| Error::Internal { module: name.into(), reason })?;
    }
    let bitcode = module.to_bitcode();
    let sites = program.functions().map(|(_, f)| f.sites().len() as u64).sum();
    let map = BinaryMap { program, plan, code: CodeMap::default(), threaded: access != Access::Direct };
    let registers = RegisterTable::default();
    let nature = Nature { access, executable, handlers_foreseen: handlers.foreseen };
    let unit = unit_object::of_map(&map, &[&bitcode], &layout, &registers, &[], sites, nature)?;
    Ok(Instrumented { bitcode, unit })
}

/// The same bitcode as this LLVM writes it, which includes a symbol table of the current form.
///
/// # Errors
/// The bytes are not bitcode of this LLVM.
pub fn rewrite(name: &str, bitcode: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(Module::parse(name, bitcode)?.to_bitcode())
}
