//! LLVM's instrumentation profiles in their text form, of builds with `--coverage`: `llvm-profdata merge` makes of it
//! what `llvm-cov show`, `report` and `export` read (`llvm/ProfileData/InstrProfReader.h`).

use super::format::{Export, ExportError, Format, Needs};
use crate::covered::coverage_counters;
use crate::terminal::counted;
use crate::visible;
use std::io::Write;

/// The name of the format.
pub const NAME: &str = "llvm-profdata";

/// A sentence for the user where such a profile says more than ran: executions left `regions` regions early, for which
/// it has no numbers.
#[must_use]
pub fn remark_on_cuts(regions: u64) -> Option<String> {
    (regions > 0).then(|| {
        let regions = counted(regions.into(), "region");
        format!(
            "{regions} that executions left early, by a call that did not return (exit, an exception, longjmp), count as if \
             it had returned, or, behind a `try` in which nothing can throw, as missed: the format can't say otherwise; \
             `cotree coverage` has them right"
        )
    })
}

/// The format.
pub(super) const FORMAT: Format = Format {
    name: NAME,
    summary: "The counters of a build with --coverage, as text for llvm-profdata merge, and so for llvm-cov",
    needs: Needs::Blocks,
    has_lines: false,
    escapes: false,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let counters = coverage_counters(export.units);
    if counters.functions.is_empty() {
        let reason = "no coverage counters are known of this program: build it with `cotree --coverage cc`";
        return Err(ExportError::Nothing(reason.into()));
    }
    let mut unwritten = 0;
    // The compiler's map has no decisions of Rust.
    for (function, values) in counters.functions.iter().filter(|(function, _)| !function.name.starts_with("decision\t"))
    {
        // The format has no escapes, and LLVM looks for the very name.
        if visible::name(&function.name) != function.name {
            unwritten += 1;
            continue;
        }
        writeln!(out, "{}\n# Func Hash:\n{}\n# Num Counters:\n{}", function.name, function.hash, values.len())?;
        writeln!(out, "# Counter Values:")?;
        for value in values {
            writeln!(out, "{value}")?;
        }
        if function.vectors > 0 {
            let none = vec![0; function.vectors as usize];
            let vectors = counters.vectors.get(function).unwrap_or(&none);
            let bytes: Vec<u8> = vectors.chunks(8).map(bits).collect();
            writeln!(out, "# Num Bitmap Bytes:\n${}\n# Bitmap Byte Values:", bytes.len())?;
            for byte in bytes {
                writeln!(out, "{byte:#x}")?;
            }
        }
        writeln!(out)?;
    }
    let mut remarks: Vec<String> = counters.remark().into_iter().collect();
    if unwritten > 0 {
        let functions = counted(unwritten, "function");
        remarks.push(format!(
            "left out {functions} whose names have control characters, which the format can't hold: llvm-cov shows them \
             as never run; `cotree coverage` has them"
        ));
    }
    Ok(remarks)
}

/// A byte of the bitmap of test vectors: a bit for each of eight, the lowest for the first.
fn bits(vectors: &[u64]) -> u8 {
    vectors.iter().enumerate().fold(0, |byte, (index, &count)| byte | u8::from(count > 0) << index)
}
