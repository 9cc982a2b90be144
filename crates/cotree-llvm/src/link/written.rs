//! Last stage: writes the objects, among them one with the unit's counters, descriptor and map, and the runtime.

use super::built::BuiltUnit;
use super::planned::PlannedProgram;
use crate::emit::stack_maps::RegisterTable;
use crate::emit::unit_object::{self, UnitParts};
use crate::emit::{code_map, runtime_object, sanitizer_object, used_object};
use crate::error::Error;
use crate::lower::Access;
use cotree_core::facts::{Doubt, ProgramMap};
use cotree_core::ids::FunctionId;
use cotree_lto::protocol::LinkOutput;
use cotree_profile::binary::{BinaryMap, CodeMap};
use cotree_profile::weights::module_name;
use std::collections::HashSet;
use std::path::Path;

impl BuiltUnit<'_> {
    /// Writes all objects.
    pub(super) fn write(self) -> Result<LinkOutput, Error> {
        let Self { job, mut planned, modules } = self;
        let mut output = LinkOutput::default();
        let mut code = CodeMap::default();
        let (mut objects, mut registers, mut thread_word_counters) = (Vec::new(), Vec::new(), Vec::new());
        let unmapped: HashSet<FunctionId> = modules.iter().flat_map(|built| built.unmapped.iter().copied()).collect();
        doubt(&mut planned.program, &unmapped);
        for (number, mut built) in modules.into_iter().enumerate() {
            let base = u32::try_from(code.functions.len()).unwrap_or(u32::MAX);
            code_map::finish(&built.name, &mut built.object, base, built.lines_for_reports_only)?;
            code.functions.append(&mut built.code);
            registers.append(&mut built.registers);
            thread_word_counters.append(&mut built.thread_word_counters);
            output.warnings.extend(built.without_notes.iter().map(|function| {
                format!(
                    "LLVM crashes over the notes at calls of {function} ({}), which is compiled without them: activations that end \
                     early in it are not vouched for",
                    built.name
                )
            }));
            output.objects.push(job.write(&object_name(number, &built.name), &built.object)?);
            objects.push(built.object);
        }
        if let Some(used) = &planned.used {
            output.warnings.extend(used.warning(&planned.program.name));
            output.objects.push(job.write("used.o", &used_object::write(used.used())?)?);
        }
        if job.options.method.is_none() {
            return Ok(output);
        }
        let contents: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
        let unit = planned.unit_object(code, &contents, &RegisterTable::new(&registers), &thread_word_counters)?;
        output.objects.push(job.write("unit.o", &unit)?);
        let runtime = runtime_object::prepared(job.runtime, &job.options.foreign, &job.fronted())
            .map_err(|error| Error::Internal { module: "the runtime".into(), reason: error.to_string() })?;
        output.objects.push(job.write("runtime.o", &runtime)?);
        if let Some(slots) = sanitizer_object::write(&runtime, &job.request.of_sanitizers)? {
            output.objects.push(job.write("sanitizer.o", &slots)?);
        }
        Ok(output)
    }
}

impl PlannedProgram<'_> {
    /// The object with the unit's counters, descriptor and map, to be linked with `contents`.
    pub(super) fn unit_object(
        self,
        code: CodeMap,
        contents: &[&[u8]],
        registers: &RegisterTable,
        thread_word_counters: &[u64],
    ) -> Result<Vec<u8>, Error> {
        let Self { setting, program, handlers, access, plan, layout, asked_lines, .. } = self;
        let map = BinaryMap { program, plan, code, threaded: access != Access::Direct };
        unit_object::write(&UnitParts {
            map: &map,
            layout: &layout,
            contents,
            access,
            executable: !setting.shared,
            handlers_foreseen: handlers.foreseen,
            registers,
            thread_word_counters,
            trace_ring: setting.options.asked.trace_ring.unwrap_or(0),
            trace_off: setting.options.asked.trace_off == Some(true),
            fault_paths: setting.options.asked.fault_paths == Some(true),
            event_limits: setting.options.events().limits,
            asked_lines: &asked_lines,
            file_pattern: setting.options.asked.profile_file.as_deref().and_then(Path::to_str),
        })
    }
}

/// What the object of a module is called: linkers name it in their messages, so it tells the module.
fn object_name(number: usize, module: &str) -> String {
    let name = module_name(module);
    let stem: String = name.strip_suffix(".o").unwrap_or(name).chars().map(in_file_name).take(60).collect();
    format!("{number}.{stem}.o")
}

fn in_file_name(sign: char) -> char {
    if sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_' | '-' | '+') { sign } else { '_' }
}

/// The call sites of functions whose call addresses are not known can't be vouched for.
fn doubt(program: &mut ProgramMap, unmapped: &HashSet<FunctionId>) {
    if unmapped.is_empty() {
        return;
    }
    let functions = program.modules.iter_mut().flat_map(|module| &mut module.functions);
    for (_, function) in FunctionId::all().zip(functions).filter(|(id, _)| unmapped.contains(id)) {
        if !function.doubts.contains(&Doubt::UnmappedCallSites) {
            function.doubts.push(Doubt::UnmappedCallSites);
        }
    }
}
