//! `--profile trace`: what a trace says of the order of blocks, against a log that the program itself keeps.
//!
//! clang's `-fsanitize-coverage=trace-pc-guard` has each block call a function of ours with a number of the block. The trace has
//! these calls too. So the call that the trace says came k-th must have logged the k-th number, the same number each
//! time.

use crate::project::{Project, succeed};
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::Streams;
use std::collections::HashMap;

const LOGGED: &str = "__sanitizer_cov_trace_pc_guard";

/// What each thread did, in the order of their streams; every stream is whole.
fn executions(project: &Project, program: &str, profile: &str) -> Vec<Vec<Event>> {
    let binary = BinaryFile::open(&project.path(program)).expect("a profiled program");
    let tables = UnitTables::new(&binary).expect("a traced program");
    let streams = Streams::open(&project.path(profile)).expect("a profile");
    let read = |stream: &cotree_profile::method::trace::streams::Stream| {
        assert!(!stream.cut);
        let parts: Vec<_> = stream.parts().collect();
        let mut events = Vec::new();
        for part in &parts {
            assert_eq!((parts.len(), part.start()), (1, 0), "a whole stream");
            let mut reader = tables.read(&streams, *part, 0);
            while let Some(event) = reader.next().expect("a stream of this program") {
                events.push(event);
            }
            assert_eq!(reader.checkpoint().position(), part.end(), "all of it means something");
        }
        events
    };
    streams.iter().map(read).collect()
}

/// Builds a program with a log, runs it, and holds its trace against the log. Gives how many blocks were compared.
fn compare(project: &Project, compile: &str, source: &str, arguments: &[&str]) -> usize {
    project.ok(&format!("{compile} -w -g -fsanitize-coverage=trace-pc-guard -c -o p.o {source}"));
    let compiler = compile.split_whitespace().position(|word| word == "cc" || word == "c++").expect("a compiler");
    let link: Vec<&str> = compile.split_whitespace().collect();
    project.ok(&format!("{} {} -o p p.o block_log.o", link[..compiler].join(" "), link[compiler..].join(" ")));
    let mut run = project.command(project.path("p"));
    run.args(arguments).env("COTREE_FILE", "p.cotree").env("BLOCK_LOG", "p.log");
    let _ = run.output().expect("it runs");
    let log: Vec<u32> = std::fs::read(project.path("p.log"))
        .expect("a log")
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
        .collect();
    let log = &log[1..=log[0] as usize];
    let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
    let executions = executions(project, "p", "p.cotree");
    let logs = |event: &Event| match *event {
        Event::Call { function, call } => {
            let callee = binary.function(function).calls[call].callee_name();
            (callee == Some(LOGGED)).then_some((function, call))
        }
        _ => None,
    };
    let traced: Vec<(FunctionId, CallId)> = executions.iter().flatten().filter_map(logs).collect();
    let mut numbers: HashMap<(FunctionId, CallId), u32> = HashMap::new();
    for (place, (call, &number)) in traced.iter().zip(log).enumerate() {
        let known = *numbers.entry(*call).or_insert(number);
        let symbol = &binary.function(call.0).symbol;
        assert_eq!(known, number, "{compile} {arguments:?}: block {place} is none of {symbol}");
    }
    assert_eq!(traced.len(), log.len(), "{compile} {arguments:?}: as many blocks");
    log.len()
}

fn project(source: (&str, &str)) -> Project {
    let project = Project::new(&[source, ("block_log.c", include_str!("block_log.c"))]);
    succeed(project.command("cc").args(["-O2", "-c", "block_log.c"]));
    project
}

const LEAVES: &str = include_str!("leaves.c");
const THROWS: &str = include_str!("throws.cc");

#[test]
fn c_programs_run_as_their_traces_say() {
    let project = project(("leaves.c", LEAVES));
    for level in ["-O0", "-O1", "-O2"] {
        for how in ["return", "exit", "_exit", "abort", "jump", "callback", "recurse"] {
            let compared = compare(&project, &format!("--profile trace cc {level}"), "leaves.c", &[how]);
            assert!(compared > 20, "{level} {how}: {compared}");
        }
    }
}

#[test]
fn each_way_to_tell_ways_apart_does() {
    let project = project(("leaves.c", LEAVES));
    for by in ["auto", "paths", "bits", "witness"] {
        for how in ["return", "jump", "recurse"] {
            let options = format!("--profile trace --trace-by {by} cc -O2");
            assert!(compare(&project, &options, "leaves.c", &[how]) > 20, "{by} {how}");
        }
    }
}

#[test]
fn exceptions_land_where_traces_say() {
    let project = project(("throws.cc", THROWS));
    for level in ["-O0", "-O2"] {
        assert!(compare(&project, &format!("--profile trace c++ {level}"), "throws.cc", &[]) > 100);
    }
}
