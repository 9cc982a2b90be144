//! One link unit from bitcode to objects.

use crate::apply::{Access, Layer, Paths};
use crate::code_map::{self, Sites};
use crate::codegen::{self, Target};
use crate::error::Error;
use crate::extract::{self, Extracted};
use crate::linkage::{self, SymbolVerdict, Verdict};
use crate::module::Module;
use crate::options::{Options, Threads};
use crate::signals::Handlers;
use crate::stack_maps::{Point, RegisterTable};
use crate::stacks::{self, NativeObject};
use crate::unit_object::{self, Nature};
use crate::unit_plan::plan_unit;
use crate::{apply, branch_weights, callers, entries, runtime_object};
use cotree_core::affine::AffineVariable;
use cotree_core::facts::{Doubt, Function, ProgramMap, Untouched};
use cotree_core::hints::Hints;
use cotree_core::ids::Site;
use cotree_core::method::path::windows::Room;
use cotree_core::plan::{Layout, Method, UnitPlan};
use cotree_profile::binary::{BinaryMap, CodeFunction, CodeMap};
use cotree_profile::weights::Weights;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

/// What kind of file is being linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// `ld -r`
    Relocatable,
    /// A position-dependent executable.
    Executable,
    /// A position-independent executable.
    Pie,
    /// A shared library.
    Shared,
}

/// The linker's verdict on a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Not defined anywhere.
    Undefined,
    /// The definition here is the one, and others may see it.
    Prevailing,
    /// The definition here is the one, and only bitcode sees it.
    PrevailingInternal,
    /// The definition here is the one, only bitcode of this link refers to it, but it is exported.
    PrevailingExported,
    /// The definition, if there is one here, is not the one.
    Elsewhere,
}

/// One symbol of a module.
#[derive(Clone, Debug)]
pub struct JobSymbol {
    /// The linker symbol.
    pub name: String,
    /// The IR name; empty for symbols of module assembly.
    pub ir_name: String,
    /// The verdict.
    pub resolution: Resolution,
}

/// One module.
#[derive(Clone, Debug)]
pub struct JobModule {
    /// For people.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Where the bitcode starts.
    pub offset: u64,
    /// How long it is.
    pub size: u64,
    /// Its symbols with verdicts.
    pub symbols: Vec<JobSymbol>,
}

/// One link.
pub struct LinkJob<'a> {
    /// The file being linked.
    pub output: PathBuf,
    /// Its kind.
    pub kind: OutputKind,
    /// What the user asked for.
    pub options: Options,
    /// The modules.
    pub modules: Vec<JobModule>,
    /// Names of interest that native objects refer to.
    pub native_references: Vec<String>,
    /// Native objects of the link whose code nobody vouches for.
    pub natives: Vec<NativeObject>,
    /// Where objects go.
    pub work_dir: PathBuf,
    /// The runtime, as a relocatable object.
    pub runtime: &'a [u8],
}

/// What came of it.
#[derive(Debug, Default)]
pub struct LinkOutput {
    /// Objects to link, the modules' first.
    pub objects: Vec<PathBuf>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

/// A module with its facts.
pub(crate) struct Prepared {
    pub(crate) module: Module,
    pub(crate) extracted: Extracted,
}

/// As many words of counters, so that code and data of the program are within two gigabytes with them.
const MOST_COUNTERS: u64 = 3 << 26;

/// Compiles a link unit: parse, extract, plan, apply, optimise, emit.
///
/// # Errors
/// See [`Error`].
pub fn link_unit(job: &LinkJob<'_>) -> Result<LinkOutput, Error> {
    crate::ffi::ensure_loaded()?;
    let references = references(&job.modules);
    let defined = defined(&job.modules);
    let mut prepared: Vec<Prepared> =
        job.modules.par_iter().map(|input| prepare(job, input, &references, &defined)).collect::<Result<_, _>>()?;

    callers::complete(&mut prepared, &job.modules);
    let none = job.options.method == Method::None;
    let name = job.output.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let switching = !none && natives_switch_stacks(job);
    let mut program = program_map(name, job.options.method, &mut prepared, switching);
    let calls = if job.options.derives_entries() {
        entries::call_points(&prepared, Some(&job.modules), &job.options.foreign)
    } else {
        Vec::new()
    };
    let room = if job.kind == OutputKind::Shared { Room::Whole } else { Room::AsUsed };
    let (foreign, resolving) = (callers::foreign(&prepared), callers::resolving(&prepared));
    let access = access(job, &prepared);
    let announcing = if access == Access::Segment { &foreign[..] } else { &[] };
    let variables = affine_variables(&prepared);
    let weights = job.options.weights.as_deref().map(Weights::open).transpose()?;
    let options = (&job.options, weights.as_ref());
    let plan = plan_unit(&program, &variables, &hints(&prepared), &calls, announcing, options, room)?;
    let layout = plan.layout();
    let handlers = Handlers::new(&prepared, &job.native_references, job.kind == OutputKind::Shared);
    let spare = layout.counter_count + layout.cache_count;
    if spare > MOST_COUNTERS {
        let [bytes, most] = [spare, MOST_COUNTERS].map(|words| words.saturating_mul(8));
        return Err(Error::TooManyCounters { unit: program.name, bytes, most });
    }
    // Displacements are of 32 bits, and the code has to reach the counters from where it is.
    let far = access == Access::Segment && spare >= 1 << 26;
    let access = if far { Access::ThreadInExecutable } else { access };
    let unit = apply::Unit {
        access,
        spare,
        interruptible: &handlers.may_run,
        foreign: &foreign,
        resolving: &resolving,
        registers_at_calls: job.options.method.counts_paths(),
    };

    // Per module, its functions' plans.
    let mut first = 0;
    let mut work = Vec::new();
    let mut announcing = Vec::new();
    for (number, Prepared { module, extracted }) in prepared.into_iter().enumerate() {
        let functions = first..first + extracted.facts.functions.len();
        let layers = layers(&plan, &layout, functions.clone());
        let facts = &extracted.facts.functions;
        let announced = functions.clone().zip(facts).filter(|&(function, facts)| unit.announces(function, facts));
        announcing.extend(announced.filter_map(|(function, _)| apply::entry_counter(&layers[function - first])));
        work.push((number, module, extracted, layers, first));
        first = functions.end;
    }
    let target = Target {
        level: job.options.level,
        cpu: job.options.cpu.clone(),
        position_independent: job.kind != OutputKind::Executable,
        whole_pipeline: job.options.early,
        mapped: job.kind != OutputKind::Relocatable,
        carry_on_stack: job.options.carry_on_stack,
    };
    let built: Vec<Built> = work
        .into_par_iter()
        .map(|(number, module, extracted, layers, first)| {
            if job.options.hints_branches() {
                branch_weights::keep_out_of_the_way(&module, &extracted, &layers);
            }
            if let Some(weights) = weights.as_ref().filter(|_| !none) {
                branch_weights::tell(&module, &extracted, weights);
            }
            build(job, &target, &unit, number, module, &extracted, &layers, first)
        })
        .collect::<Result<_, _>>()?;

    let mut output = LinkOutput::default();
    let mut code = CodeMap::default();
    let mut objects = Vec::new();
    let mut registers = Vec::new();
    for (number, mut built) in built.into_iter().enumerate() {
        let base = u32::try_from(code.functions.len()).unwrap_or(u32::MAX);
        code_map::finish(&built.name, &mut built.object, base)?;
        for symbol in &built.unmapped {
            doubt(&mut program.modules[number].functions, symbol);
        }
        code.functions.append(&mut built.code);
        registers.append(&mut built.registers);
        output.objects.push(write(job, &format!("{number}.o"), &built.object)?);
        objects.push(built.object);
    }
    if none {
        return Ok(output);
    }
    let sites = program.functions().map(|(_, f)| f.sites().len() as u64).sum();
    let map = BinaryMap { program, plan, code, threaded: access != Access::Direct };
    let contents: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    let registers = RegisterTable::new(&registers);
    let executable = job.kind != OutputKind::Shared;
    let nature = Nature { access, executable, handlers_foreseen: handlers.foreseen };
    let unit = unit_object::of_map(&map, &contents, &layout, &registers, &announcing, sites, nature)?;
    output.objects.push(write(job, "unit.o", &unit)?);
    let runtime = runtime_object::yielding(job.runtime, &job.options.foreign)
        .map_err(|error| Error::Internal { module: "the runtime".into(), reason: error.to_string() })?;
    output.objects.push(write(job, "runtime.o", &runtime)?);
    Ok(output)
}

/// The plans of a range of functions, with the places of their counters.
pub(crate) fn layers<'a>(plan: &'a UnitPlan, layout: &Layout, functions: Range<usize>) -> Vec<Vec<Layer<'a>>> {
    functions
        .map(|f| {
            let paths = plan.paths.get(f).map(|own| Paths {
                plan: own,
                table: layout.tables[f],
                function: u32::try_from(f).unwrap_or(u32::MAX),
                metric: plan.path_metric,
            });
            let plans = plan.plan(f).map(|own| Layer { plan: own, base: layout.main[f], paths });
            let mut layers: Vec<Layer<'a>> = plans.into_iter().collect();
            if let Some(plans) = &plan.check {
                layers.push(Layer { plan: &plans[f], base: layout.check[f], paths: None });
            }
            layers
        })
        .collect()
}

/// Names that each module refers to without defining them.
fn references(modules: &[JobModule]) -> HashMap<&str, Vec<usize>> {
    let mut references: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, module) in modules.iter().enumerate() {
        for symbol in &module.symbols {
            if matches!(symbol.resolution, Resolution::Undefined | Resolution::Elsewhere) {
                references.entry(&symbol.name).or_default().push(number);
            }
        }
    }
    references
}

/// Names that some module of the unit defines.
fn defined(modules: &[JobModule]) -> HashSet<String> {
    let prevails =
        |r| matches!(r, Resolution::Prevailing | Resolution::PrevailingInternal | Resolution::PrevailingExported);
    modules.iter().flat_map(|m| &m.symbols).filter(|s| prevails(s.resolution)).map(|s| s.ir_name.clone()).collect()
}

fn prepare(
    job: &LinkJob<'_>,
    input: &JobModule,
    references: &HashMap<&str, Vec<usize>>,
    defined: &HashSet<String>,
) -> Result<Prepared, Error> {
    let bitcode = read(input)?;
    let module = Module::parse(&input.name, &bitcode)?;
    let verdicts: Vec<SymbolVerdict> = input
        .symbols
        .iter()
        .map(|symbol| SymbolVerdict {
            ir_name: symbol.ir_name.clone(),
            verdict: match symbol.resolution {
                Resolution::PrevailingInternal => Verdict::OnlyBitcode,
                Resolution::Elsewhere => Verdict::Lost,
                _ => Verdict::Keep,
            },
            referenced_elsewhere: references.contains_key(symbol.name.as_str()),
        })
        .collect();
    linkage::apply(&module, &verdicts);
    if job.options.method != Method::None {
        apply::strip_attributes(&module, defined);
    }
    let mut extracted = extract::extract(&module, &job.options.selection);
    if job.options.finds_affine() {
        extract::find_affine(&module, &mut extracted);
    }
    Ok(Prepared { module, extracted })
}

pub(crate) fn read(input: &JobModule) -> Result<Vec<u8>, Error> {
    use std::io::{Read, Seek, SeekFrom};
    let failed = |source| Error::Read { path: input.path.clone(), source };
    let mut file = std::fs::File::open(&input.path).map_err(failed)?;
    file.seek(SeekFrom::Start(input.offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(input.size).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Joins the modules' facts; source files are numbered over the unit, and what changes stacks anywhere concerns all of it.
pub(crate) fn program_map(
    name: String,
    method: Method,
    prepared: &mut [Prepared],
    natives_switch_stacks: bool,
) -> ProgramMap {
    let mut files: Vec<String> = Vec::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut modules = Vec::new();
    let switches_stacks = natives_switch_stacks || prepared.iter().any(|p| p.extracted.switches_stacks);
    for Prepared { extracted, .. } in prepared.iter_mut() {
        let renumber: Vec<u32> = extracted
            .files
            .iter()
            .map(|path| {
                *numbers.entry(path.clone()).or_insert_with(|| {
                    files.push(path.clone());
                    u32::try_from(files.len() - 1).unwrap_or(u32::MAX)
                })
            })
            .collect();
        for function in &mut extracted.facts.functions {
            renumber_files(function, &renumber);
            if switches_stacks && !function.doubts.contains(&Doubt::SwitchesStacks) {
                function.doubts.push(Doubt::SwitchesStacks);
            }
            if method == Method::None && function.untouched.is_none() {
                function.untouched = Some(Untouched::NotAsked);
            }
        }
        modules.push(extracted.facts.clone());
    }
    let target = prepared.first().map(|p| p.module.triple()).unwrap_or_default();
    ProgramMap { name, target, files, modules, all_calls: true }
}

/// Does some native code of the link change stacks by itself?
fn natives_switch_stacks(job: &LinkJob<'_>) -> bool {
    job.native_references.iter().any(|name| stacks::switches(name))
        || job.natives.par_iter().any(NativeObject::switches_stacks)
}

fn renumber_files(function: &mut Function, renumber: &[u32]) {
    let positions = function
        .position
        .iter_mut()
        .chain(function.inlined.iter_mut().filter_map(|i| i.call.as_mut()))
        .chain(function.blocks.iter_mut().flat_map(|b| &mut b.lines).map(|l| &mut l.at));
    for position in positions {
        position.file = renumber[position.file as usize];
    }
}

/// Each function's affine variables, in unit order.
pub(crate) fn affine_variables(prepared: &[Prepared]) -> Vec<&[AffineVariable]> {
    prepared.iter().flat_map(|p| p.extracted.affine.iter().map(Vec::as_slice)).collect()
}

/// What each function's code says about its branches, in unit order.
pub(crate) fn hints(prepared: &[Prepared]) -> Vec<&Hints> {
    prepared.iter().flat_map(|p| &p.extracted.hints).collect()
}

/// Names whose presence means that threads may run our code.
const THREAD_STARTERS: [&str; 4] = ["pthread_create", "thrd_create", "dlopen", "_ZNSt6thread15_M_start_thread*"];

/// Names whose presence means that threads may come about past `pthread_create`.
const HIDDEN_STARTERS: [&str; 10] = [
    "clone",
    "__clone",
    "__clone2",
    "clone3",
    "timer_create",
    "mq_notify",
    "aio_*",
    "lio_listio",
    "getaddrinfo_a",
    "dlmopen",
];

/// Names whose presence means that the segment register has other uses.
const SEGMENT_USERS: [&str; 2] = ["arch_prctl", "modify_ldt"];

/// Is it one of these names, the 64-bit twin of one, or a version of either? A `*` stands for any end.
fn is_one_of(name: &str, names: &[&str]) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let name = name.strip_suffix("64").unwrap_or(name);
    names.iter().any(|known| known.strip_suffix('*').map_or(*known == name, |start| name.starts_with(start)))
}

/// How the unit's code reaches its counters if there are not too many.
fn access(job: &LinkJob<'_>, prepared: &[Prepared]) -> Access {
    let refers_to = |names: &[&str]| {
        let undefined = job
            .modules
            .iter()
            .flat_map(|m| &m.symbols)
            .filter(|s| matches!(s.resolution, Resolution::Undefined | Resolution::Elsewhere))
            .map(|s| s.name.as_str());
        undefined.chain(job.native_references.iter().map(String::as_str)).any(|n| is_one_of(n, names))
    };
    let shared = job.kind == OutputKind::Shared;
    match job.options.threads {
        Threads::Off => return Access::Direct,
        Threads::Auto if !shared && !refers_to(&THREAD_STARTERS) && !refers_to(&HIDDEN_STARTERS) => {
            return Access::Direct;
        }
        _ => {}
    }
    let strange = || {
        refers_to(&HIDDEN_STARTERS) || refers_to(&SEGMENT_USERS) || prepared.iter().any(|p| p.extracted.uses_segment)
    };
    if shared {
        Access::ThreadInLibrary
    } else if job.options.threads == Threads::Word || strange() {
        Access::ThreadInExecutable
    } else {
        Access::Segment
    }
}

struct Built {
    name: String,
    object: Vec<u8>,
    code: Vec<CodeFunction>,
    /// Where path registers are.
    registers: Vec<Vec<Point>>,
    /// Symbols of machine functions whose call addresses are not known.
    unmapped: Vec<String>,
}

#[allow(clippy::too_many_arguments)]
fn build(
    job: &LinkJob<'_>,
    target: &Target,
    unit: &apply::Unit<'_>,
    number: usize,
    mut module: Module,
    extracted: &Extracted,
    layers: &[Vec<Layer<'_>>],
    first: usize,
) -> Result<Built, Error> {
    keep(job, &format!("{number}.before.ll"), &module)?;
    if job.options.method != Method::None {
        apply::apply(&module, extracted, layers, unit, first)?;
        module.verify().map_err(|reason| Error::Internal {
            module: module.name.clone(),
            reason: format!("the instrumented module is not valid: {reason}"),
        })?;
        keep(job, &format!("{number}.after.ll"), &module)?;
    }
    let sites = numbered_sites(extracted, first);
    let module_number = u32::try_from(number).unwrap_or(u32::MAX);
    let object = codegen::compile(&mut module, target, module_number)?;
    keep(job, &format!("{number}.final.ll"), &module)?;
    let symbol_of = |function: u32| {
        let local = (function as usize).checked_sub(first)?;
        extracted.facts.functions.get(local).map(|f| f.symbol.as_str())
    };
    let calls = code_map::read(&module.name, &object.bytes, &object.functions, &sites, symbol_of)?;
    let unmapped = calls.unmapped.iter().map(|&n| object.functions[n].clone()).collect();
    let name = module.name.clone();
    if job.modules.len() <= rayon::current_num_threads() {
        // The process ends soon: taking a large module apart piece by piece would cost a tenth of the link.
        std::mem::forget(module);
    }
    Ok(Built { name, object: object.bytes, code: calls.functions, registers: calls.registers, unmapped })
}

fn numbered_sites(extracted: &Extracted, first: usize) -> Sites {
    let mut sites = Sites::new();
    for (index, function) in extracted.facts.functions.iter().enumerate() {
        let number = u32::try_from(first + index).unwrap_or(u32::MAX);
        for (site, facts) in function.sites().enumerate().filter(|(_, s)| s.probe != 0) {
            sites.insert(facts.probe, (number, Site::new(site)));
        }
    }
    sites
}

fn doubt(functions: &mut [Function], symbol: &str) {
    for function in functions.iter_mut().filter(|f| f.symbol == symbol) {
        if !function.doubts.contains(&Doubt::UnmappedCallSites) {
            function.doubts.push(Doubt::UnmappedCallSites);
        }
    }
}

fn write(job: &LinkJob<'_>, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    let path = job.work_dir.join(name);
    std::fs::write(&path, bytes).map_err(|source| Error::Write { path: path.clone(), source })?;
    Ok(path)
}

fn keep(job: &LinkJob<'_>, name: &str, module: &Module) -> Result<(), Error> {
    if job.options.keep_temps {
        write(job, name, module.to_text().as_bytes())?;
    }
    Ok(())
}
