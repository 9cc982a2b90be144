//! Coverage counters of the compiler's own: they become notes of where they stood, and no code.
//!
//! clang's front end asks for each counter by a call of `llvm.instrprof.increment` with the name of the function, a
//! hash of its structure, how many counters it has, and which one counts. LLVM would make additions to memory of these
//! calls, and needs a runtime of its own for them. Here each call becomes metadata of the instruction behind it, from
//! which the facts get anchors ([`cotree_core::facts::Anchor`]). The coverage map stays as it is: its sections
//! (`__llvm_covmap`, `__llvm_covfun`) are data that is kept anyway. The names that it refers to, which LLVM's pass
//! would write, stand in a section of ours of the same form (LLVM Code Coverage Mapping Format, "Profile names").
//!
//! What comes from rustc has been through that pass ([`lowered`]).

mod increments;
mod lowered;
mod parts;
mod rust;
mod section;
mod split;
mod steps;
mod text;
mod vectors;

use crate::error::Error;
use crate::ir::{Call, Instruction, Location, MetadataKind, Value};
use crate::module::Module;
use cotree_core::facts::CoveredFunction;
use parts::PARTS;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use text::text_of;

/// What the metadata is called.
const ANCHORS: &str = "cotree.coverage";

/// A list of names of functions that have no code.
const UNUSED_NAMES: &std::ffi::CStr = c"__llvm_coverage_names";

/// The intrinsics of the front end's instrumentation, for which LLVM's pass makes code.
const PREFIX: &str = "llvm.instrprof.";

/// Makes notes of all coverage counters, and writes the names of the coverage map.
///
/// # Errors
/// A counter is of a form that is not known: what the map says of it would be wrong.
pub(crate) fn take_counters(module: &mut Module, decisions: bool) -> Result<(), Error> {
    if !asks_for_counters(module) {
        return Ok(());
    }
    steps::branch_on_conditions(module);
    let of_rust = if decisions && lowered::has_counters(module) { rust::count(module) } else { Vec::new() };
    let vectors::Counted { vectors, outcomes } = vectors::count(module)?;
    let unchanged: &Module = module;
    let kind = unchanged.metadata_kind(ANCHORS);
    let mut names = BTreeSet::new();
    for function in unchanged.functions().filter(|function| !function.is_declaration()) {
        let mut pending: Vec<([String; PARTS], Option<Location<'_>>)> = Vec::new();
        let mut counters: Vec<Instruction<'_>> = Vec::new();
        for instruction in function.instructions() {
            let asks = |call: &Call<'_>| call.intrinsic().is_some_and(|name| name.starts_with(PREFIX));
            if let Some(call) = instruction.as_call().filter(asks) {
                let parts = parts_of(call, &vectors, &of_rust).ok_or_else(|| unknown(unchanged, call))?;
                if call.arguments().next().is_some_and(|name| name.ty().is_pointer()) {
                    names.insert(parts[0].clone());
                }
                pending.push((parts, instruction.location()));
                counters.push(*call);
            } else if lowered::is_counter(instruction) {
                let parts = lowered::parts(unchanged, instruction).ok_or_else(|| unknown_addition(unchanged))?;
                pending.push((parts, instruction.location()));
                counters.push(instruction);
            } else if !pending.is_empty() {
                let mut notes = Vec::new();
                for (parts, location) in pending.drain(..) {
                    notes.extend(parts.iter().map(|part| unchanged.metadata_string(part)));
                    let kept = location.map(|location| unchanged.keep_location(location).to_string());
                    notes.push(unchanged.metadata_string(&kept.unwrap_or_default()));
                }
                instruction.set_metadata(kind, unchanged.node(&notes));
            }
        }
        counters.into_iter().for_each(|counter| unchanged.remove(counter));
    }
    if let Some(unused) = unchanged.variable(UNUSED_NAMES).and_then(|list| list.initial_value()) {
        names.extend(unused.operands().filter_map(text_of));
    }
    if !names.is_empty() {
        let section = section_of_names(&names);
        module.append_assembly(&section);
    }
    if decisions || !vectors.is_empty() {
        module.append_assembly(&section::of_map(&outcomes));
    }
    module.sweep();
    module.delete_variable(UNUSED_NAMES);
    lowered::delete_variables(module);
    Ok(())
}

/// Was the module compiled for coverage? Most are not, and are not looked through.
fn asks_for_counters(module: &Module) -> bool {
    let has_intrinsics = || module.functions().any(|f| f.is_declaration() && f.name().starts_with(PREFIX));
    module.variable(UNUSED_NAMES).is_some() || lowered::has_counters(module) || has_intrinsics()
}

/// The parts of a counter that is added 1 to.
fn parts_of(call: Call<'_>, vectors: &HashMap<String, u32>, of_rust: &[rust::Counted]) -> Option<[String; PARTS]> {
    if call.intrinsic().as_deref() != Some(increments::INCREMENT) {
        return None;
    }
    let mut arguments = call.arguments();
    let named = arguments.next()?;
    let (name, vectors) = match named.constant().filter(|_| named.is_constant_int()) {
        Some(decision) => of_rust.get(usize::try_from(decision).ok()?).map(|d| (d.name.clone(), d.vectors))?,
        None => text_of(named).map(|name| (name.clone(), vectors.get(&name).copied().unwrap_or_default()))?,
    };
    let mut number = || arguments.next()?.constant().map(|number| number.to_string());
    let (hash, counters, index) = (number()?, number()?, number()?);
    Some([name, hash, counters, vectors.to_string(), index])
}

fn unknown(module: &Module, call: Call<'_>) -> Error {
    Error::UnknownCoverage { module: module.name.clone(), intrinsic: call.intrinsic().unwrap_or_default() }
}

fn unknown_addition(module: &Module) -> Error {
    Error::UnknownCoverage { module: module.name.clone(), intrinsic: "an addition of another form".into() }
}

/// Assembly that writes names: the length of them all, 0 for "not compressed", and the names with a byte 1 between.
fn section_of_names(names: &BTreeSet<String>) -> String {
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = all.join("\x01");
    let mut text = String::from("\t.pushsection __llvm_prf_names,\"aR\",@progbits\n\t.uleb128 ");
    let _ = write!(text, "{}\n\t.byte 0\n", all.len());
    for line in all.as_bytes().chunks(64) {
        let bytes: Vec<String> = line.iter().map(u8::to_string).collect();
        let _ = writeln!(text, "\t.byte {}", bytes.join(","));
    }
    text.push_str("\t.popsection\n");
    text
}

/// Reads the notes back.
pub(crate) struct Counters(MetadataKind);

impl Counters {
    /// The reader for a module.
    pub(crate) fn of(module: &Module) -> Self {
        Self(module.metadata_kind(ANCHORS))
    }

    /// The counters that stood before an instruction.
    pub(crate) fn before<'m>(&self, module: &'m Module, instruction: Instruction<'m>) -> Vec<StoodBefore<'m>> {
        let Some(note) = instruction.metadata(self.0).and_then(Value::node_operands) else { return Vec::new() };
        let parts: Vec<String> = note.into_iter().flatten().filter_map(Value::metadata_string).collect();
        let counter = |parts: &[String]| {
            let hash = parts[1].parse().ok()?;
            let (counters, vectors) = (parts[2].parse().ok()?, parts[3].parse().ok()?);
            let function = CoveredFunction { name: parts[0].clone(), hash, counters, vectors };
            let location = parts[PARTS].parse().ok().and_then(|number| module.kept_location(number));
            Some(StoodBefore { function, counter: parts[4].parse().ok()?, location })
        };
        parts.chunks_exact(PARTS + 1).filter_map(counter).collect()
    }
}

/// A counter that stood before an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoodBefore<'m> {
    /// The function of the source that it is of.
    pub(crate) function: CoveredFunction,
    /// Which of that function's counters it is.
    pub(crate) counter: u32,
    /// The place that the compiler gave it, which says of which inlined copy it is.
    pub(crate) location: Option<Location<'m>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"target triple = "x86_64-unknown-linux-gnu"
@__profn_f = private constant [1 x i8] c"f"
@__profn_g = private constant [5 x i8] c"a.c:g"
@__llvm_coverage_names = internal constant [1 x ptr] [ptr @__profn_g]
declare void @llvm.instrprof.increment(ptr, i64, i32, i32)
define void @f() {
  call void @llvm.instrprof.increment(ptr @__profn_f, i64 -1, i32 2, i32 0)
  call void @llvm.instrprof.increment(ptr @__profn_f, i64 -1, i32 2, i32 1)
  ret void
}"#;

    #[test]
    fn counters_become_notes_of_what_follows() {
        let mut module = Module::parse_text("m", TEXT).expect("valid IR");
        take_counters(&mut module, false).expect("known counters");
        let counters = Counters::of(&module);
        let function = module.function(c"f").expect("it is defined");
        let instructions: Vec<_> = function.instructions().collect();
        assert_eq!(instructions.len(), 1);
        let covered = CoveredFunction { name: "f".into(), hash: u64::MAX, counters: 2, vectors: 0 };
        let stood = |counter| StoodBefore { function: covered.clone(), counter, location: None };
        assert_eq!(counters.before(&module, instructions[0]), [stood(0), stood(1)]);
        assert!(module.assembly().contains(".uleb128 7\n\t.byte 0\n\t.byte 97,46,99,58,103,1,102\n"));
        assert!(module.variable(UNUSED_NAMES).is_none());
    }

    #[test]
    fn other_counters_are_refused() {
        let text = TEXT.replace(
            "llvm.instrprof.increment(ptr @__profn_f, i64 -1, i32 2, i32 1)",
            "llvm.instrprof.cover(ptr @__profn_f, i64 -1, i32 2, i32 1)",
        );
        let text = format!("{text}\ndeclare void @llvm.instrprof.cover(ptr, i64, i32, i32)");
        let mut module = Module::parse_text("m", &text).expect("valid IR");
        let error = take_counters(&mut module, false).expect_err("another kind").to_string();
        assert!(error.contains("llvm.instrprof.cover"), "{error}");
    }
}
