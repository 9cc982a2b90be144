//! `--trace-addresses`: what a trace says of memory, against a log that clang's
//! `-fsanitize-coverage=trace-loads,trace-stores` keeps in the same process.

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

/// The logs as far as the log goes.
fn logs_as_far(path: &Path) -> Vec<Vec<Access>> {
    read_logs(path, false)
}

/// The logs of all threads, and of what handlers did in each of them, but for empty ones.
fn logs(path: &Path) -> Vec<Vec<Access>> {
    read_logs(path, true)
}

fn read_logs(path: &Path, whole: bool) -> Vec<Vec<Access>> {
    let bytes = fs::read(path).expect("a log");
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let log = |number: usize| -> Vec<Access> {
        let start = number * (8 + 16 * ENTRIES);
        let count = usize::try_from(word(start)).expect("a count");
        assert!(!whole || count < ENTRIES, "the log is full");
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

/// The accesses of a trace, as far as clang logs it: loads and stores of a power of two up to 16 bytes, and no atomic
/// operations.
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

/// The profile, which has another name until the process ends.
fn profile(project: &Project) -> Option<String> {
    let files = fs::read_dir(project.path(".")).expect("a folder").map(|file| file.expect("a file").file_name());
    files.map(|name| name.to_string_lossy().into_owned()).find(|name| name.starts_with("p.cotree"))
}

fn clean(project: &Project) {
    let old = profile(project).into_iter().chain(["p.log", "p.log.child"].map(str::to_owned));
    old.for_each(|old| drop(fs::remove_file(project.path(&old))));
}

fn run(project: &Project, arguments: &[&str]) {
    clean(project);
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
    for level in ["-O0", "-O1", "-O2", "-O2 --trace-by bits", "-O2 --trace-by witness"] {
        let (level, by) = level.split_once(' ').unwrap_or((level, ""));
        build(&project, &format!("{TRACED} {by} cc {level}"), "addresses.c");
        for how in ["return", "exit", "_exit", "abort", "jump", "fault"] {
            let compared = compare(&project, &[how]);
            assert!(compared > if how == "fault" { 1 } else { 400 }, "{level} {by} {how}: {compared}");
        }
    }
}

/// Threads, handlers that return or jump out of a fault, and forked children.
#[test]
fn threads_handlers_and_children_tell_their_own_addresses() {
    let project = project(&[("addresses.c", include_str!("addresses.c"))]);
    for (level, by) in [("-O0", "auto"), ("-O2", "auto"), ("-O2", "bits"), ("-O2", "witness")] {
        build(&project, &format!("{TRACED} --trace-by {by} cc {level}"), "addresses.c");
        for how in ["threads", "signals"] {
            assert!(compare(&project, &[how]) > 400, "{level} {by} {how}");
        }
        compare_children(&project);
    }
}

fn compare_children(project: &Project) {
    let _ = fs::remove_dir_all(project.path("runs"));
    fs::create_dir(project.path("runs")).expect("a folder");
    let mut run = project.command(project.path("p"));
    run.arg("fork").env("COTREE_FILE", "runs/%p.cotree").env("ADDRESS_LOG", "p.log");
    let _ = run.output().expect("it runs");
    let files = fs::read_dir(project.path("runs")).expect("a folder").map(|file| file.expect("a file").file_name());
    let names: Vec<String> = files.map(|name| format!("runs/{}", name.to_string_lossy())).collect();
    let traces: Vec<_> = names.iter().map(|name| traced(project, name)).collect();
    assert_eq!(traces.len(), 2, "{names:?}");
    for log in ["p.log", "p.log.child"] {
        let log = logs(&project.path(log));
        assert!(log[0].len() > 400 && traces.contains(&log), "{names:?}");
    }
}

/// What is in the file when the process is killed is whole: all but an access that is about to be told.
#[test]
fn killed_programs_have_told_all_but_one() {
    let project = project(&[("addresses.c", include_str!("addresses.c"))]);
    build(&project, &format!("{TRACED} cc -O1"), "addresses.c");
    run(&project, &["kill"]);
    let traced_by = |profile: Option<String>| traced(&project, &profile.expect("a profile"));
    assert_same(&logs(&project.path("p.log")), &traced_by(profile(&project)), "by itself");
    for wait in [3, 5, 8, 13, 21] {
        clean(&project);
        let mut run = project.command(project.path("p"));
        run.args(["endless"]).env("COTREE_FILE", "p.cotree").env("ADDRESS_LOG", "p.log");
        let mut child = run.spawn().expect("it runs");
        let has_begun = || fs::read(project.path("p.log")).is_ok_and(|log| log.iter().take(8).any(|&byte| byte > 0));
        while !has_begun() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().and_then(|()| child.wait()).expect("it is killed");
        let (logs, traces) = (logs_as_far(&project.path("p.log")), traced_by(profile(&project)));
        assert!(!logs.is_empty(), "something ran");
        for (log, trace) in logs.iter().zip(&traces) {
            let both = log.len().min(trace.len());
            assert_eq!(log[..both], trace[..both], "{wait}");
            assert!(log.len() == ENTRIES || log.len().abs_diff(trace.len()) <= 1, "{} {}", log.len(), trace.len());
        }
    }
}

#[test]
fn exceptions_leave_no_address_behind() {
    let project = project(&[("thrown.cc", include_str!("addresses_thrown.cc"))]);
    for (level, by) in [("-O0", "auto"), ("-O2", "auto"), ("-O2", "bits"), ("-O2", "witness")] {
        build(&project, &format!("{TRACED} --trace-by {by} c++ {level}"), "thrown.cc");
        assert!(compare(&project, &[]) > 20, "{level} {by}");
    }
}

/// Without the log's calls, which cut tokens themselves: what is accessed in variables is what is accessed in those of
/// a program with a log, by kind, line and distance from the variable.
#[test]
fn programs_without_a_log_tell_the_same() {
    let project = project(&[("addresses.c", include_str!("addresses.c"))]);
    for level in ["-O0", "-O1"] {
        build(&project, &format!("{TRACED} cc {level}"), "addresses.c");
        let with_log = in_variables(&project);
        project.ok(&format!("{TRACED} cc {level} -w -g -fno-builtin -o p addresses.c address_log.o -lpthread"));
        let without = in_variables(&project);
        assert_eq!(with_log, without, "{level}");
        assert!(without.len() > 500, "{level}: {}", without.len());
    }
}

/// Rows of `--by address` in variables that the program names with their addresses.
fn in_variables(project: &Project) -> Vec<String> {
    let mut run = project.command(project.path("p"));
    let output = run.arg("jump").env("COTREE_FILE", "p.cotree").output().expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("text");
    let sizes = [256, 64, 128];
    let variables: Vec<(&str, u64)> = printed
        .lines()
        .map(|line| line.split_once(" 0x").expect("a name and an address"))
        .map(|(name, address)| (name, u64::from_str_radix(address, 16).expect("an address")))
        .collect();
    assert_eq!(variables.len(), 3);
    let rows = project.ok("trace p.cotree --by address --json");
    let row = |row: &str| {
        let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
        let address = row["address"].as_u64()?;
        let mut sized = variables.iter().zip(sizes);
        let ((name, start), _) = sized.find(|((_, start), size)| (*start..start + size).contains(&address))?;
        Some(format!("{} {} {name}+{} {}", row["event"], row["size"], address - start, row["line"]))
    };
    rows.lines().filter_map(row).collect()
}

const SMALL: &str = "
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
struct big { char text[100]; };
static struct big from, to;
static _Atomic int turns;
__attribute__((noinline)) static int first(struct big copy) { return copy.text[0]; }
int main(int argc, char **argv) {
  memcpy(&to, &from, 50 * argc);
  memset(&from, argc, sizeof from);
  turns += 3;
  printf(\"%p %p %p\\n\", (void *)&from, (void *)&to, (void *)&turns);
  return first(to) - first(from);
}
";

/// Copies, atomic operations, and the format of Dinero.
#[test]
fn copies_and_updates_are_told_with_their_lengths() {
    let project = Project::new(&[("p.c", SMALL)]);
    project.ok(&format!("{TRACED} cc -O1 -g -o p p.c"));
    let output = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").output().expect("it runs");
    let printed = String::from_utf8(output.stdout).expect("text");
    let at: Vec<&str> = printed.split_whitespace().collect();
    let rows = project.ok("trace p.cotree --by address");
    for row in [
        format!("load 50 at {}  p.c:10", at[0]),
        format!("store 50 at {}  p.c:10", at[1]),
        format!("store 100 at {}  p.c:11", at[0]),
        format!("update 4 at {}  p.c:12", at[2]),
        format!("load 100 at {}  p.c:14", at[1]),
    ] {
        assert!(rows.contains(&row), "{row}: {rows}");
    }
    let din = project.ok("trace p.cotree --format din");
    let hex = |at: &str| at.trim_start_matches("0x").to_owned();
    let expected = [("0", at[0]), ("1", at[1]), ("1", at[0]), ("0", at[2]), ("1", at[2])];
    let expected = expected.map(|(label, at)| format!("{label} {}\n", hex(at))).concat();
    assert!(din.contains(&expected), "{din}");
    assert_eq!(project.ok("trace p.cotree --format din --function =first --thread 1").lines().count(), 2, "{din}");
    let count = rows.lines().filter(|row| row.contains(" at 0x")).count();
    assert!(project.ok("trace p.cotree").contains(&format!("{count} addresses, in ")), "{count}");

    let stores = |options: &str| {
        project.ok(&format!("--profile trace --trace-addresses {options} cc -O1 -g -o p p.c"));
        let _ = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").output().expect("it runs");
        project.ok("trace p.cotree --by address")
    };
    let (loads, stores) = (stores("loads"), stores("stores"));
    assert!(loads.contains("load 4 at") && !loads.contains("store ") && !loads.contains("update"), "{loads}");
    assert!(stores.contains("store 4 at") && !stores.contains("load ") && !stores.contains("update"), "{stores}");
}

#[test]
fn what_has_no_addresses_says_so() {
    let project = Project::new(&[("p.c", SMALL)]);
    assert!(project.fails("--trace-addresses all cc -O1 -o p p.c").contains("it needs --profile trace"));
    let ring = project.fails("--profile trace --trace-ring 1M --trace-addresses all cc -O1 -o p p.c");
    assert!(ring.contains("a ring keeps no addresses"), "{ring}");
    project.ok("--profile trace cc -O1 -o p p.c");
    let _ = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").output().expect("it runs");
    for how in ["--by address", "--format din"] {
        let why = project.fails(&format!("trace p.cotree {how}"));
        assert!(why.contains("has no addresses"), "{why}");
    }
}
