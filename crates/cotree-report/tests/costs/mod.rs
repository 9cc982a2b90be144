//! Costs of lines, functions and calls, and what their exports say of them.

use crate::sample::{Sample, sample, with_runs};
use cotree_core::facts::events::EventKind;
use cotree_core::facts::*;
use cotree_core::ids::Block;
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_report::costs::Costs;
use cotree_report::costs::contexts::Contexts;
use cotree_report::export::{callgrind, firefox_profiler, flamegraph, folded, pprof, speedscope};
use cotree_report::names::Names;
use cotree_report::unit::Unit;
use std::io;

const KINDS: [EventKind; 3] = [EventKind::Instructions, EventKind::Loads, EventKind::Branches];

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written to");
    String::from_utf8(out).expect("it is text")
}

/// Does something with the costs of a sample.
fn with<T>(sample: &Sample, use_it: impl FnOnce(&Costs<'_>) -> T) -> T {
    let units = [Unit::new(&sample.map, &sample.profile)];
    use_it(&Costs::new(&units))
}

/// A program from lines `name entries: callee*calls …`: each function has a block of ten instructions, and one without
/// instructions for each call, which is made that often (without `*`: once). `?` is a call through a pointer.
fn program(text: &str) -> Sample {
    let mut sample = sample();
    let (mut functions, mut profiles) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (head, callees) = line.split_once(':').expect("a colon");
        let (name, entries) = head.split_once(' ').expect("a name and a number");
        let count = |text: &str| text.parse::<u64>().expect("a number");
        let callees: Vec<(&str, u64)> = callees
            .split_whitespace()
            .map(|call| call.split_once('*').map_or((call, 1), |(name, calls)| (name, count(calls))))
            .collect();
        let exit = callees.len() as u32 + 1;
        let edge = |src, dst, kind| EdgeFacts { src: Block(src), dst: Block(dst), kind, successor: dst };
        let mut function = Function { symbol: name.into(), linkage: Linkage::External, ..Function::default() };
        let mut add = |instructions: InstructionCounts| {
            let runs = vec![Run { instructions, ..Run::default() }];
            function.blocks.push(BlockFacts { instructions, runs, ..BlockFacts::default() });
        };
        add(InstructionCounts { total: 10, ..InstructionCounts::default() });
        callees.iter().for_each(|_| add(InstructionCounts { calls: 1, ..InstructionCounts::default() }));
        function.edges.push(edge(0, exit, EdgeKind::Return));
        let mut blocks = vec![count(entries)];
        for (block, &(callee, calls)) in (1..).zip(&callees) {
            function.edges.push(edge(0, block, EdgeKind::IndirectBranch));
            function.edges.push(edge(block, exit, EdgeKind::Return));
            let callee = if callee == "?" { Callee::Indirect } else { Callee::Symbol(callee.into()) };
            function.calls.push(Call::site(Block(block), callee));
            blocks.push(calls);
        }
        functions.push(function);
        profiles.push(Some(FunctionProfile {
            entries: count(entries),
            blocks: blocks.into(),
            ..FunctionProfile::default()
        }));
    }
    sample.map.program.modules = vec![Module { name: "a.o".into(), functions, ..Module::default() }];
    sample.profile.functions = profiles;
    sample
}

fn stacks(text: &str) -> Vec<String> {
    with(&program(text), |costs| folded::lines(&Contexts::new(costs, Names::Raw), EventKind::Instructions).collect())
}

#[test]
fn callgrind_has_costs_by_line() {
    let file = with(&with_runs(), |costs| text(|out| callgrind::write(costs, &KINDS, Names::Demangled, out)));
    insta::assert_snapshot!(file.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn stacks_have_inlined_copies() {
    let lines = with(&with_runs(), |costs| {
        folded::lines(&Contexts::new(costs, Names::Demangled), EventKind::Instructions).collect::<Vec<_>>()
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn speedscope_has_a_profile_per_kind() {
    let file = with(&with_runs(), |costs| {
        text(|out| speedscope::write(costs, &Contexts::new(costs, Names::Demangled), &KINDS, out))
    });
    let value: serde_json::Value = serde_json::from_str(&file).expect("it is JSON");
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&value).expect("it is JSON").replace(env!("CARGO_PKG_VERSION"), "VERSION")
    );
}

#[test]
fn firefox_profiler_has_a_thread_per_kind() {
    let file = with(&with_runs(), |costs| {
        let contexts = Contexts::new(costs, Names::Demangled);
        text(|out| firefox_profiler::write(costs, &contexts, &KINDS, out))
    });
    let value: serde_json::Value = serde_json::from_str(&file).expect("it is JSON");
    insta::assert_snapshot!(value.to_string().replace("{\"", "\n{\"").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// `classify` calls `exit` once: what follows the call did not run.
#[test]
fn what_follows_a_call_that_did_not_return_costs_nothing() {
    let sample = with_runs();
    with(&sample, |costs| {
        let main = costs.functions.iter().find(|costs| costs.function.facts.symbol == "main").expect("it has one");
        let at = |line| {
            main.lines
                .iter()
                .filter(move |(key, _)| key.at == Some((0, line)))
                .map(|(_, cost)| cost.of(EventKind::Instructions))
        };
        // Line 18 comes after the call, which returned five times out of six.
        assert_eq!(at(18).sum::<u128>(), 5);
        assert_eq!(main.calls.iter().map(|&(_, count)| count).collect::<Vec<_>>(), [6]);
    });
}

#[test]
fn a_function_with_one_caller_runs_inside_of_it() {
    assert_eq!(stacks("main 1: a\na 1: b b*2\nb 3:"), ["main 10", "main;a 10", "main;a;b 30"]);
}

#[test]
fn a_function_with_several_callers_runs_inside_of_what_they_have_in_common() {
    let program = "main 1: a b\na 1: c\nb 1: c\nc 2: d*2\nd 2:";
    assert_eq!(
        stacks(program),
        ["main 10", "main;a 10", "main;b 10", "main;[several callers];c 20", "main;[several callers];c;d 20"]
    );
}

#[test]
fn recursion_is_one_frame() {
    assert_eq!(stacks("main 1: f\nf 6: f*5"), ["main 10", "main;f 60"]);
    // Directly and through g, which is only called from there.
    assert_eq!(stacks("main 1: f\nf 10: f*5 g*4\ng 4: f*4"), ["main 10", "main;f 100", "main;f;g 40"]);
    // f and g call each other, and main calls both.
    assert_eq!(
        stacks("main 1: f g\nf 3: g*2\ng 3: f*2"),
        ["main 10", "main;[several callers];f 30", "main;[several callers];g 30"]
    );
}

#[test]
fn calls_through_pointers_have_no_known_caller() {
    assert_eq!(
        stacks("main 1: ?*2 a\na 3: b*3\nb 3:"),
        ["main 10", "[several callers];a 30", "[several callers];a;b 30"]
    );
    // Nobody calls it by name.
    assert_eq!(stacks("main 1: ?*3\na 3: b*3\nb 3:"), ["main 10", "a 30", "a;b 30"]);
}

#[test]
fn doubtful_callers_are_no_callers() {
    let mut sample = program("main 1: a\na 1:");
    sample.profile.functions[0].as_mut().expect("it has one").flaws.push(Flaw::LiveFrames);
    with(&sample, |costs| {
        let contexts = Contexts::new(costs, Names::Raw);
        let lines: Vec<String> = folded::lines(&contexts, EventKind::Instructions).collect();
        assert_eq!(lines, ["main 10", "[several callers];a 10"]);
        assert_eq!(costs.doubtful(), 1);
        let callgrind = text(|out| callgrind::write(costs, &KINDS, Names::Raw, out));
        assert!(callgrind.contains("desc: Note: NOT ALL EXACT: 1 function cannot be vouched for"), "{callgrind}");
    });
}

#[test]
fn inclusive_costs_are_there_where_they_follow() {
    let callgrind = |program_text: &str| {
        with(&program(program_text), |costs| {
            text(|out| callgrind::write(costs, &[EventKind::Instructions], Names::Raw, out))
        })
    };
    let tree = callgrind("main 1: a b\na 1: c\nb 1:\nc 1:");
    assert!(tree.contains("calls=1 0\n0 20\n"), "{tree}");
    let shared = callgrind("main 1: a b\na 1: c\nb 1: c\nc 2:");
    assert!(shared.contains("calls are left out") && !shared.contains("calls="), "{shared}");
    // A call through a pointer may have led to a function that nobody calls by name.
    assert!(!callgrind("main 1: ?\na 1:").contains("calls="));
}

#[test]
fn totals_are_the_sum_of_lines_in_every_format() {
    with(&with_runs(), |costs| {
        let total = costs.total().of(EventKind::Instructions);
        let contexts = Contexts::new(costs, Names::Demangled);
        let amount = |line: String| line.rsplit_once(' ').expect("an amount").1.parse::<u128>().expect("a number");
        assert_eq!(folded::lines(&contexts, EventKind::Instructions).map(amount).sum::<u128>(), total);
        let svg = text(|out| flamegraph::write(costs, &contexts, EventKind::Instructions, out));
        assert!(svg.contains(&format!("total_samples=\"{total}\"")), "{svg}");
        let mut bytes = Vec::new();
        pprof::write(costs, &contexts, &KINDS, &mut bytes).expect("memory can be written to");
        assert_eq!(bytes[..2], [0x1f, 0x8b], "gzip");
    });
}
