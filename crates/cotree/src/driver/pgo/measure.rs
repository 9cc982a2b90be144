//! Figures of programs: bytes of code, and instructions that they execute, by the processor's own counters (`perf`) or
//! else by valgrind.

use super::shell::{shell, succeed};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use object::{Object, ObjectSection, SectionKind};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Instructions of a workload.
pub(super) enum Measured {
    /// How many, and who counted them.
    Counted(u64, String),
    /// Why they were not counted.
    Not(String),
}

/// The bytes of a program's sections of code.
pub(super) fn size_of_code(program: &Path) -> Result<u64> {
    let bytes = fs::read(program).into_diagnostic().wrap_err_with(|| format!("cannot read {}", program.display()))?;
    let file = object::File::parse(&*bytes).into_diagnostic()?;
    Ok(file.sections().filter(|section| section.kind() == SectionKind::Text).map(|section| section.size()).sum())
}

/// The instructions of a workload with these executables, in user mode, with all processes that it starts. `folder` is
/// for what is needed.
pub(super) fn instructions(bench: &str, executables: &[PathBuf], folder: &Path) -> Result<Measured> {
    if folder.exists() {
        fs::remove_dir_all(folder).into_diagnostic()?;
    }
    fs::create_dir_all(folder).into_diagnostic()?;
    // A first run shows whether it works at all.
    if by_perf(&mut Command::new("true"), folder).is_some() {
        let mut workload = shell(bench, executables)?;
        let count = by_perf(workload.stdout(Stdio::null()), folder);
        return Ok(count.map_or_else(
            || Measured::Not("the workload does not succeed under perf".into()),
            |count| Measured::Counted(count, "perf".into()),
        ));
    }
    by_valgrind(bench, executables, folder)
}

/// What `perf stat` counts.
fn by_perf(command: &mut Command, folder: &Path) -> Option<u64> {
    let out = folder.join("perf");
    let mut perf = Command::new("perf");
    perf.args(["stat", "-x", ",", "-e", "instructions:u", "-o"]).arg(&out).arg("--");
    perf.arg(command.get_program()).args(command.get_args()).stdout(Stdio::null()).stderr(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => perf.env(name, value),
            None => perf.env_remove(name),
        };
    }
    let succeeded = perf.status().is_ok_and(|status| status.success());
    let text = fs::read_to_string(out).ok().filter(|_| succeeded)?;
    let counts = text.lines().filter(|line| line.contains("instructions"));
    counts.map(|line| line.split(',').next()?.parse::<u64>().ok()).next().flatten()
}

/// What callgrind counts, of copies without debug information, which old versions of it refuse.
fn by_valgrind(bench: &str, executables: &[PathBuf], folder: &Path) -> Result<Measured> {
    let is_there = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        return Ok(Measured::Not("perf counts no instructions here, and valgrind is not installed".into()));
    }
    let mut copies = Vec::new();
    for executable in executables {
        let copy = folder.join(executable.file_name().unwrap_or_default());
        succeed(Command::new("strip").arg("-g").arg("-o").arg(&copy).arg(executable))?;
        copies.push(copy);
    }
    let workload = shell(bench, &copies)?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind", "--trace-children=yes"]);
    valgrind.arg(format!("--callgrind-out-file={}", folder.join("out.%p").display()));
    valgrind.arg("sh").args(workload.get_args()).stdout(Stdio::null());
    for (name, value) in workload.get_envs() {
        match value {
            Some(value) => valgrind.env(name, value),
            None => valgrind.env_remove(name),
        };
    }
    let status = valgrind.status().into_diagnostic()?;
    if !status.success() {
        return Ok(Measured::Not(format!("the workload ended with {status} under valgrind")));
    }
    let mut sum = 0;
    for entry in fs::read_dir(folder).into_diagnostic()? {
        let path = entry.into_diagnostic()?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("out.")) {
            let text = fs::read_to_string(&path).into_diagnostic()?;
            let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok());
            sum += total.ok_or_else(|| miette!("{} has no totals", path.display()))?;
        }
    }
    Ok(Measured::Counted(sum, "valgrind with the shell's own".into()))
}
