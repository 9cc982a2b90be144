//! `--trace-addresses`: what a trace says of memory, against a log that clang's `-fsanitize-coverage=trace-loads,trace-stores` keeps
//! in the same process.

use super::executions;
use crate::project::{Project, succeed};
use cotree_core::facts::AccessKind;
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::streams::Streams;
use std::fs;
use std::path::Path;

/// As in `address_log.c`.
const LOGS: usize = 16;
const ENTRIES: usize = 1 << 16;

/// An access: whether it writes, how many bytes it is of, and where.
type Access = (bool, u64, u64);

/// The logs of all threads, and of what handlers did in each of them, but for empty ones.
fn logs(path: &Path) -> Vec<Vec<Access>> {
    let bytes = fs::read(path).expect("a log");
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let log = |number: usize| -> Vec<Access> {
        let start = number * (8 + 16 * ENTRIES);
        let count = usize::try_from(word(start)).expect("a count");
        assert!(count < ENTRIES, "the log is full");
        let entry = |index: usize| {
            let (address, what) = (word(start + 8 + index * 16), word(start + 16 + index * 16));
            (what & 1 != 0, what >> 32, address)
        };
        (0..count).map(entry).collect()
    };
    sorted((0..LOGS).map(log).collect())
}

fn sorted(mut logs: Vec<Vec<Access>>) -> Vec<Vec<Access>> {
    logs.retain(|log| !log.is_empty());
    logs.sort();
    logs
}

/// The same of a trace, as far as clang logs it: loads and stores of a power of two up to 16 bytes, and no atomic operations.
fn traced(project: &Project, profile: &str) -> Vec<Vec<Access>> {
    let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
    let streams = Streams::open(&project.path(profile)).expect("a profile");
    let logged = |event| match event {
        Event::Access { function, access, address, length } => {
            let kind = binary.function(function).accesses[access as usize].kind;
            let logged = matches!(length, 1 | 2 | 4 | 8 | 16) && kind != AccessKind::Update;
            logged.then_some((kind == AccessKind::Store, length, address))
        }
        _ => None,
    };
    let mut threads: Vec<(u64, Vec<Access>)> = Vec::new();
    let mut handlers: Vec<(u64, Vec<Access>)> = Vec::new();
    for (stream, events) in streams.iter().zip(executions(project, "p", profile)) {
        let own = events.into_iter().filter_map(logged);
        match stream.inside {
            None => threads.push((stream.number, own.collect())),
            Some((outer, _)) => match handlers.iter_mut().find(|(thread, _)| *thread == outer) {
                Some((_, all)) => all.extend(own),
                None => handlers.push((outer, own.collect())),
            },
        }
    }
    sorted(threads.into_iter().chain(handlers).map(|(_, log)| log).collect())
}

fn project(sources: &[(&str, &str)]) -> Project {
    let mut sources = sources.to_vec();
    sources.push(("address_log.c", include_str!("address_log.c")));
    let project = Project::new(&sources);
    succeed(project.command("cc").args(["-O2", "-c", "address_log.c"]));
    project
}

const TRACED: &str = "--profile trace --trace-addresses all";
const LOGGED: &str = "-fsanitize-coverage=func,trace-loads,trace-stores";

fn build(project: &Project, compile: &str, source: &str) {
    project.ok(&format!("{compile} -w -g -fno-builtin {LOGGED} -c -o p.o {source}"));
    project.ok(&format!("{compile} -o p p.o address_log.o -lpthread"));
}

fn run(project: &Project, arguments: &[&str]) {
    for old in ["p.cotree", "p.log", "p.log.child"] {
        let _ = fs::remove_file(project.path(old));
    }
    let mut run = project.command(project.path("p"));
    run.args(arguments).env("COTREE_FILE", "p.cotree").env("ADDRESS_LOG", "p.log");
    let _ = run.output().expect("it runs");
}

/// Runs a program with a log, and holds its trace against that. Gives how many accesses were compared.
fn compare(project: &Project, arguments: &[&str]) -> usize {
    run(project, arguments);
    let (log, trace) = (logs(&project.path("p.log")), traced(project, "p.cotree"));
    assert_same(&log, &trace, &format!("{arguments:?}"));
    log.iter().map(Vec::len).sum()
}

fn assert_same(log: &[Vec<Access>], trace: &[Vec<Access>], what: &str) {
    for (log, trace) in log.iter().zip(trace) {
        let same = log.iter().zip(trace).take_while(|(log, trace)| log == trace).count();
        assert!(
            same == log.len() && same == trace.len(),
            "{what}: the same up to {same}: the log {:x?} of {}, the trace {:x?} of {}",
            &log[same.saturating_sub(2)..log.len().min(same + 3)],
            log.len(),
            &trace[same.saturating_sub(2)..trace.len().min(same + 3)],
            trace.len()
        );
    }
    assert_eq!(log.len(), trace.len(), "{what}");
}

#[test]
fn c_programs_access_what_their_traces_say() {
    let project = project(&[("addresses.c", include_str!("addresses.c"))]);
    for level in ["-O0", "-O1", "-O2"] {
        build(&project, &format!("{TRACED} cc {level}"), "addresses.c");
        for how in ["return", "exit", "_exit", "abort", "jump", "fault"] {
            let compared = compare(&project, &[how]);
            assert!(compared > if how == "fault" { 1 } else { 400 }, "{level} {how}: {compared}");
        }
    }
}
