//! The programs of documentation tests. rustdoc removes them when they have run, and without its program a profile says
//! nothing. So rustdoc starts them through us (`--test-runtool`, which is stable since Rust 1.89), and we keep a copy.

use crate::driver::Error;
use cotree_profile::binary::BinaryFile;
use object::read::{Object, ObjectSection};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Where rustdoc says that one program has all tests, and is to be started for each. It does not say so to programs
/// that are started by others, and the tests would run in one process.
const PROGRAM_OF_ALL: &str = "RUSTDOC_DOCTEST_BIN_PATH";

/// Keeps a program in a folder, and becomes it: `arguments` are the folder, the program, and what is for it.
pub fn run(arguments: &[OsString]) -> Result<ExitCode, Error> {
    let [folder, program, arguments @ ..] = arguments else {
        let reason = "rustdoc starts it, with a program".into();
        return Err(Error::Answer { command: "cotree doc-test".into(), reason });
    };
    // A program that can't be kept is missing later on, and that is said then.
    let _ = keep(Path::new(program), Path::new(folder));
    let error = Command::new(program).args(arguments).env(PROGRAM_OF_ALL, program).exec();
    Err(Error::Start { tool: program.to_string_lossy().into_owned(), error })
}

fn keep(program: &Path, folder: &Path) -> io::Result<()> {
    let Ok(unit) = BinaryFile::unit_of(program) else { return Ok(()) };
    let kept = folder.join(format!("{unit}-rust_out"));
    if kept.exists() {
        return Ok(());
    }
    let data = fs::read(program)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.as_file().set_len(data.len() as u64)?;
    let mut from = 0;
    for hole in debug_sections(&data) {
        write_at(file.as_file_mut(), &data, from..hole.start.max(from))?;
        from = hole.end.max(from);
    }
    write_at(file.as_file_mut(), &data, from..data.len())?;
    file.persist(kept)?;
    Ok(())
}

fn write_at(file: &mut fs::File, data: &[u8], range: Range<usize>) -> io::Result<()> {
    file.seek(SeekFrom::Start(range.start as u64))?;
    file.write_all(&data[range])
}

/// Where the debug information is, in order: most of a program, and nothing that we read. A copy has holes there.
fn debug_sections(data: &[u8]) -> Vec<Range<usize>> {
    let Ok(file) = object::File::parse(data) else { return Vec::new() };
    let debug = file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".debug")));
    let ranges = debug.filter_map(|section| section.file_range());
    let within = |(start, size): (u64, u64)| {
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(start.checked_add(size)?).ok()?);
        (end <= data.len()).then_some(start..end)
    };
    let mut ranges: Vec<_> = ranges.filter_map(within).collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}
