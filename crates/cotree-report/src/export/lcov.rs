//! Coverage of lines, functions and branches.

use super::format::{Export, ExportError, ExportOptions, Format, Needs};
use crate::files::no_lines;
use crate::lcov::{LcovOptions, Tracefile};
use crate::terminal::counted;
use std::io::Write;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "lcov",
    summary: "A tracefile for genhtml and coverage services",
    needs: Needs::Blocks,
    has_lines: true,
    escapes: false,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let options = options(export.options);
    let tracefile = Tracefile::new(export.units, export.sources, &options);
    let mut notes = what_is_left_out(export, &tracefile)?;
    notes.extend(tracefile.write(out)?);
    Ok(notes)
}

/// What is asked of coverage.
pub(super) fn options(asked: &ExportOptions) -> LcovOptions {
    LcovOptions {
        test_name: asked.test_name.clone(),
        file: asked.file.clone(),
        absent: asked.absent,
        exceptions: asked.exceptions,
        checks: asked.checks,
        markers: asked.markers,
        function_ends: asked.function_ends,
        names: asked.names_in_tracefiles,
    }
}

/// Sentences about the files that are left out, and about markers; an error if no files remain.
pub(super) fn what_is_left_out(export: &Export<'_>, tracefile: &Tracefile<'_>) -> Result<Vec<String>, ExportError> {
    let left_out = tracefile.left_out();
    let mut notes: Vec<String> = left_out
        .first()
        .map(|first| {
            let files = counted(left_out.len() as u128, "source file");
            let say = "--source-prefix OLD=NEW says where they are, --absent-sources keeps them";
            format!("left out {files} not on this machine, such as {first}: {say}")
        })
        .into_iter()
        .collect();
    if tracefile.paths().is_empty() {
        let why = notes.into_iter().next();
        let why = why.unwrap_or_else(|| no_lines(export.units, export.options.file.as_ref()));
        return Err(ExportError::Nothing(why));
    }
    notes.extend(tracefile.markers().remarks());
    Ok(notes)
}
