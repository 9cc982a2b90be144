//! Compiles one link unit from bitcode to objects, stage by stage.
//!
//! Each stage takes the result of the stage before and adds its own: [`prepared`] parses modules and extracts facts,
//! [`analysed`] looks at all of them together, [`planned`] decides where counters go, [`built`] compiles, and
//! [`written`] writes objects. Bitcode that is instrumented outside of a link ([`standalone`]) goes through the first
//! three.

mod access;
mod analysed;
mod built;
mod built_module;
mod call_queries;
mod callers;
mod compiled;
mod harness;
mod instrumented;
mod job;
mod joined;
mod known_callers;
mod linkage;
mod native;
mod planned;
mod pointers;
mod prepared;
mod program;
mod safe_points;
mod selected;
mod signals;
pub mod standalone;
mod written;

pub use compiled::{ASKED, Compiled, MARK};
pub use job::LinkJob;

use crate::error::Error;
use crate::options::LinkOptions;
use cotree_lto::protocol::LinkOutput;
use prepared::PreparedUnit;

/// The sentence that paths at faults can't be told.
fn without_debug_information(prepared: &PreparedUnit<'_>, options: &LinkOptions) -> Option<String> {
    let asked = options.asked.fault_paths == Some(true) && !options.method.is_none();
    let has_none = prepared.modules.iter().all(|prepared| prepared.module.has_lines_for_reports_only());
    (asked && has_none)
        .then(|| "--fault-paths tells nothing of a program without debug information: compile it with -g".to_owned())
}

/// Compiles a link unit.
///
/// # Errors
/// See [`Error`].
pub fn link_unit(job: &LinkJob<'_>) -> Result<LinkOutput, Error> {
    let (prepared, marks) = PreparedUnit::of_link(job)?;
    let mut warnings = job.options.asked.idle();
    warnings.extend(without_debug_information(&prepared, &job.options));
    let analysed = prepared.analyse();
    warnings.extend(selected::warnings(&analysed.program, &job.options));
    let planned = analysed.plan()?;
    warnings.extend(call_queries::warnings(&planned.planned.call_queries));
    let mut output = planned.build(job)?.write()?;
    output.warnings.splice(..0, warnings);
    output.warnings.extend(compiled::left_unsaid(&marks, &job.options.asked.asked_of_links()));
    if !job.options.method.is_none() {
        let foreign = marks.iter().filter(|(_, marks)| marks.foreign).map(|(name, _)| name.as_str());
        output.warnings.extend(compiled::compiled_elsewhere(&foreign.collect::<Vec<_>>()));
    }
    Ok(output)
}
