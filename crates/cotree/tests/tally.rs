//! Programs that end in every way a program can end, each against two oracles of the same run: the redundant counters
//! of `--verify`, and a tally that the program keeps of its own lines.
//!
//! `T(k);` alone on a line of a program in `tests/programs` counts that line in `tally.PID.bin`; the line's count in
//! the exported profile must be the same number, and so must that of a line that ends with `/* as T(k) */`. Lines are
//! compared where the profile speaks of the source as written: at `-O0`, and at any level with `--at early`. Otherwise
//! the compiler has unrolled and merged lines before us.

mod lines;

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Case {
    program: &'static str,
    arguments: &'static [&'static str],
    flags: &'static [&'static str],
    /// How the program ends: an exit status, or minus a signal.
    ends: i32,
    /// Processes that leave a profile.
    processes: usize,
    /// Lines are exact too: not after SIGKILL, of which nobody is told.
    exact: bool,
    /// What is known of its trace.
    trace: Trace,
}

/// What is known of the trace of a program.
#[derive(PartialEq)]
enum Trace {
    /// All that ran.
    Whole,
    /// Not all: a signal handler leaves what it interrupted for good, or code runs before the program begins. So it is
    /// declared.
    Declared,
    /// The trace is not looked at: the program goes round until some time has passed, or forgets its counts, which
    /// leaves the trace as it is.
    Apart,
}

const fn case(program: &'static str) -> Case {
    Case { program, arguments: &[], flags: &[], ends: 0, processes: 1, exact: true, trace: Trace::Whole }
}

const CASES: &[Case] = &[
    case("return_main.c"),
    case("lines.c"),
    Case { ends: 7, ..case("exit_deep.c") },
    case("longjmp.c"),
    Case { ends: 7, trace: Trace::Declared, ..case("jump_interrupted.c") },
    Case { ends: 7, trace: Trace::Declared, ..case("context_interrupted.c") },
    case("throw.cpp"),
    case("throw_inlined.cpp"),
    Case { trace: Trace::Apart, ..case("signal_storm.c") },
    Case { trace: Trace::Apart, ..case("signal_cast.c") },
    case("fork_unwritable.c"),
    Case { ends: -libc::SIGABRT, ..case("terminate.cpp") },
    Case { ends: -libc::SIGABRT, ..case("abort_deep.c") },
    Case { flags: &["-pthread"], ..case("threads.c") },
    Case { flags: &["-pthread"], trace: Trace::Declared, ..case("allocator.c") },
    Case { processes: 8, ..case("fork.c") },
    case("signals.c"),
    case("computed_goto.c"),
    case("recursion.c"),
    case("interpreter.c"),
    Case { ends: 5, ..case("many_paths.c") },
    Case { ends: 9, ..case("frames.c") },
    Case { ends: 5, processes: 4, ..case("callees.c") },
    case("callees_thrown.cpp"),
    Case { flags: &["-pthread"], ..case("callees_threads.c") },
    Case { trace: Trace::Apart, ..case("callees_reset.c") },
    Case { arguments: &["9"], ends: -libc::SIGKILL, exact: false, ..case("callees_killed.c") },
    Case { arguments: &["11"], ends: -libc::SIGSEGV, ..case("callees_killed.c") },
    Case { arguments: &["9"], ends: -libc::SIGKILL, exact: false, ..case("killed.c") },
    Case { arguments: &["11"], ends: -libc::SIGSEGV, ..case("killed.c") },
];

/// Level, method (`path-hashed`: every function counts its paths in a hash table), and where probes go in. The other
/// methods differ from `edge` in plan and recovery only: one level shows it. With `lto` another module is compiled with
/// the program as one.
const BUILDS: &[(&str, &str, &str)] = &[
    ("-O0", "edge", "late"),
    ("-O1", "edge", "late"),
    ("-O2", "edge", "late"),
    ("-O3", "edge", "late"),
    ("-O2", "vertex", "late"),
    ("-O2", "vertex-edge", "late"),
    ("-O1", "edge", "early"),
    ("-O2", "edge", "early"),
    ("-O3", "vertex", "early"),
    ("-O0", "path", "late"),
    ("-O2", "path", "late"),
    ("-O2", "path", "early"),
    ("-Os", "path-hashed", "late"),
    ("-O2", "path-context", "late"),
    ("-O0", "ipath", "late"),
    ("-O2", "ipath-piecewise", "late"),
    ("-O2", "ipath-piecewise", "early"),
    ("-O2", "ipath-hybrid=leaf", "late"),
    ("-O2", "edge", "late lto"),
    ("-O1", "edge", "early lto"),
    ("-O2", "path", "late lto"),
    ("-O0", "trace", "late"),
    ("-O2", "trace", "late"),
    ("-O2", "trace", "early"),
];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for case in CASES {
        for &(level, method, at) in BUILDS {
            if method == "trace" && case.trace == Trace::Apart {
                continue;
            }
            let name =
                format!("{}{}{level}::{method}::{}", case.program, case.arguments.concat(), at.replace(' ', "_"));
            trials.push(Trial::test(name, move || run(case, level, method, at)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn run(case: &Case, level: &str, method: &str, at: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(case.program);
    let compiler = if case.program.ends_with(".cpp") { "c++" } else { "cc" };
    let table: &[&str] = if method == "path-hashed" { &["--path-array", "0"] } else { &[] };
    let method = method.strip_suffix("-hashed").unwrap_or(method);
    let (at, lto) = at.strip_suffix(" lto").map_or((at, false), |at| (at, true));
    let mut build = cotree(folder.path());
    build.args(table).args(["--profile", method, "--at", at, "--verify"]);
    if lto {
        let beside = source.with_file_name("beside.c");
        succeed(cotree(folder.path()).args(["--at", at, "cc", "-O2", "-g", "-c", "-o", "beside.o"]).arg(beside))?;
        build.args(["--lto", "on", compiler, "beside.o"]);
    } else {
        build.arg(compiler);
    }
    succeed(build.args([level, "-g", "-w", "-o", "program"]).args(case.flags).arg(&source))?;
    let output = Command::new(folder.path().join("program"))
        .args(case.arguments)
        .current_dir(folder.path())
        .env("COTREE_FILE", "%p.cotree")
        .output()?;
    let ends = ending(&output);
    if ends != case.ends {
        return Err(
            format!("it ended with {ends}, not {}: {}", case.ends, String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    let profiles = profiles(folder.path())?;
    if profiles.len() != case.processes {
        return Err(format!("{} processes left profiles, not {}: {profiles:?}", profiles.len(), case.processes).into());
    }
    let mut problems = Vec::new();
    for (pid, profile) in &profiles {
        if case.exact {
            // No count of a path profile or a trace is off even where one would be allowed to be, nor are those of
            // functions that are counted by their callers.
            let replayed = method == "trace" && case.trace == Trace::Whole;
            let strict = method.contains("path") || replayed || case.program.starts_with("callees");
            let strict: &[&str] = if strict { &["--strict"] } else { &[] };
            let verdict = cotree(folder.path()).arg("verify").args(strict).arg(profile).output()?;
            if !verdict.status.success() {
                problems.push(format!("process {pid}: {}{}", text(&verdict.stdout), text(&verdict.stderr)));
            }
        } else if profile.extension().is_none_or(|e| e != "live") {
            problems.push(format!("{} was killed, but its profile says that it finished", profile.display()));
        }
        let declared = method == "trace" && case.trace == Trace::Declared;
        if (level == "-O0" || at == "early") && !declared {
            problems.extend(compare(case, folder.path(), &source, *pid, profile)?);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Compares the tally of one process with the line counts of its profile.
fn compare(case: &Case, folder: &Path, source: &Path, pid: u32, profile: &Path) -> Result<Vec<String>, Failed> {
    let tally = fs::read(folder.join(format!("tally.{pid}.bin")))?;
    let lcov = succeed(cotree(folder).args(["export", "--format", "lcov"]).arg(profile))?;
    // After a kill only lines that return flow does not pass through are certain: the counts may be one off.
    let tolerance = if case.exact { 0 } else { 2 };
    let (compared, problems) = lines::compare(case.program, &fs::read_to_string(source)?, &tally, &lcov, tolerance);
    if compared == 0 {
        return Err("the source has no tally: nothing was compared".into());
    }
    Ok(problems.into_iter().map(|problem| format!("process {pid}, {problem}")).collect())
}

/// Finished and unfinished profiles in a folder, by process.
fn profiles(folder: &Path) -> Result<Vec<(u32, PathBuf)>, Failed> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((pid, _)) = name.split_once(".cotree") {
            found.push((pid.parse()?, path));
        }
    }
    found.sort();
    Ok(found)
}

fn cotree(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cotree"));
    command.current_dir(folder);
    command
}

fn succeed(command: &mut Command) -> Result<String, Failed> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(format!("{command:?} failed: {}{}", text(&output.stdout), text(&output.stderr)).into())
}

fn ending(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
