//! Files of earlier cotrees are read: some of each version of each format, as the cotree of their time wrote them, and
//! what they say.
//!
//! The files are in `tests/golden` and begin with the format and its version. They are never written anew: that they
//! are read and say the same is the promise that `docs/formats.md` makes. `map-1.bin`, `raw-1.bin` and `merged-1.bin`
//! have something in each part. Where the one of a new version is missing, a test writes it and fails;
//! `INSTA_UPDATE=always` writes the text beside it. The others come from a program that `cotree cc` built, a map per
//! family of methods (its section of the binary), and the profile of a run.

use crate::unit::Raw;
use cotree_core::facts::{Function, Position};
use cotree_core::ids::{FunctionId, Site};
use cotree_core::method::MethodPlan;
use cotree_core::method::counters::UnitCounterPlan;
use cotree_core::method::path::{PathMetric, UnitPathPlan};
use cotree_core::plan::FunctionPlan;
use cotree_profile::binary::{BinaryMap, UnitId};
use cotree_profile::counts::UnitCounts;
use cotree_profile::file::ProfileFile;
use cotree_profile::method::path::PathCounts;
use cotree_profile::weights::Weights;
use cotree_profile::{map, merged};
use cotree_rt::layout::{ABANDONED, AT_LANDING_PAD, Flags, VALUE_SHIFT};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect()
}

/// Compares what a file says with the text beside it.
fn assert_says(name: &str, text: &str) {
    insta::with_settings!({ snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Names of the files of a format that have this ending, without it.
fn names(format: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(golden("")).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("ASCII"));
    let names = names.filter(|name| name.starts_with(format)).filter_map(|n| n.strip_suffix(ending).map(str::to_owned));
    names.collect()
}

#[test]
fn maps_are_read() {
    let names = names("map-", ".bin");
    assert!(names.len() > 5, "one per family: {names:?}");
    for name in names {
        let bytes = std::fs::read(golden(&format!("{name}.bin"))).expect("it is kept");
        let (map, unit) = map::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_says(&name, &format!("unit {unit}\n{}", map_text(&map)));
    }
}

#[test]
fn profiles_are_read() {
    for format in ["raw-", "merged-"] {
        let names = names(format, ".bin");
        assert!(!names.is_empty(), "{format}");
        for name in names {
            let profile = ProfileFile::open(&golden(&format!("{name}.bin"))).unwrap_or_else(|error| panic!("{error}"));
            assert_says(&name, &profile.units.iter().map(counts_text).collect::<String>());
        }
    }
}

/// A profile that a program wrote, not this test: its length, then those of its lines of 64 bytes that are not all
/// zeros.
#[test]
fn the_profile_of_a_run_is_read() {
    let name = "raw-1-of-a-run";
    let text = std::fs::read_to_string(golden(&format!("{name}.txt"))).expect("it is kept");
    let (length, lines) = text.split_once('\n').expect("lines follow");
    let mut bytes = vec![0; usize::from_str_radix(length, 16).expect("a length")];
    for line in lines.lines() {
        let (at, hex) = line.split_once(' ').expect("an offset and bytes");
        let at = usize::from_str_radix(at, 16).expect("an offset");
        for (place, digits) in hex.as_bytes().chunks(2).enumerate() {
            let digits = std::str::from_utf8(digits).expect("digits");
            bytes[at + place] = u8::from_str_radix(digits, 16).expect("a byte");
        }
    }
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), &bytes).expect("it can be written");
    let profile = ProfileFile::open(file.path()).expect("it is read");
    assert_says(name, &profile.units.iter().map(counts_text).collect::<String>());
}

#[test]
fn weights_are_read() {
    let weights = Weights::open(&golden("weights-1.jsonl")).expect("they are read");
    let mut text = String::new();
    let out = &mut text;
    line(out, 0, format_args!("profile {}", weights.profile));
    for build in &weights.builds {
        line(out, 0, format_args!("{build:?}"));
    }
    let mut functions: Vec<String> =
        weights.functions().map(|function| format!("{:?} {:?}", function.blocks, function.edges)).collect();
    functions.sort();
    functions.iter().for_each(|function| line(out, 1, format_args!("{function}")));
    assert_says("weights-1", &text);
}

fn map_text(map: &BinaryMap) -> String {
    let mut text = String::new();
    let out = &mut text;
    let program = &map.program;
    line(out, 0, format_args!("program {} for {}, threaded: {}", program.name, program.target, map.threaded));
    for (number, file) in (0..).zip(&program.files) {
        line(out, 0, format_args!("file {number}: {file}, {:?}", program.checksums.get(&number)));
    }
    let mut number = 0;
    for module in &program.modules {
        line(out, 0, format_args!("module {}", module.name));
        for function in &module.functions {
            line(out, 1, format_args!("function {number}: {}", function.symbol));
            function_text(out, function);
            number += 1;
        }
    }
    let plan = &map.plan;
    line(out, 0, format_args!("plan: {:?}", plan.method.method()));
    match &plan.method {
        MethodPlan::None => {}
        MethodPlan::Counters(unit) => counters_text(out, unit),
        MethodPlan::Paths(unit) => paths_text(out, unit),
        MethodPlan::Ipath(unit) => {
            line(out, 1, format_args!("{} paths, {} of them in words", unit.paths, unit.array));
            for (number, plan) in unit.functions.iter().enumerate() {
                line(out, 1, format_args!("paths of function {number}: {:?}", plan.key));
            }
        }
        MethodPlan::Events(unit) => {
            line(out, 1, format_args!("events {:?}, queried: {}", unit.kinds, unit.queried));
            for (number, plan) in unit.functions.iter().enumerate() {
                line(out, 1, format_args!("events of function {number}: {:?}", plan.key));
            }
        }
        MethodPlan::Traces(unit) => {
            for (number, plan) in unit.functions.iter().enumerate() {
                line(out, 1, format_args!("trace of function {number}: {:?}", plan.key));
            }
        }
        MethodPlan::Calls(unit) => {
            for (number, plan) in unit.functions.iter().enumerate() {
                line(out, 1, format_args!("calls of function {number}: {:?}", plan.key.counted));
            }
        }
    }
    if let Some(targets) = &plan.targets {
        line(out, 1, format_args!("{targets:?}"));
    }
    for (number, plan) in plan.check.iter().flatten().enumerate() {
        line(out, 1, format_args!("reference of function {number}"));
        plan_text(out, plan.into());
    }
    for (number, code) in map.code.functions.iter().enumerate() {
        line(out, 0, format_args!("code {number}: {} bytes", code.size));
        for point in &code.returns {
            let sites = |sites: &[(FunctionId, Site)]| {
                sites.iter().map(|(function, site)| format!(" {}.{site}", function.index())).collect::<String>()
            };
            let (chain, registers) = (sites(&point.chain), sites(&point.registers));
            line(out, 1, format_args!("+{}:{chain}, registers:{registers}", point.offset));
        }
    }
    text
}

fn counters_text(out: &mut String, unit: &UnitCounterPlan) {
    for (number, plan) in unit.functions.iter().enumerate() {
        line(out, 1, format_args!("function {number}"));
        plan_text(out, plan.into());
    }
    for entry in &unit.entries {
        let calls: Vec<String> =
            entry.calls.iter().map(|c| format!("{}.{}+{}", c.function.index(), c.block, c.after_sites)).collect();
        line(out, 1, format_args!("function {} is entered from {}", entry.function.index(), calls.join(" ")));
    }
}

fn paths_text(out: &mut String, unit: &UnitPathPlan) {
    line(out, 1, format_args!("arrays up to {} paths, metric {}", unit.array, unit.metric.name()));
    for (number, plan) in unit.functions.iter().enumerate() {
        let key = &plan.key;
        line(out, 1, format_args!("function {number}: {} paths, context: {}", key.paths, key.context));
        plan_text(out, plan.into());
        let cuts = &key.cuts;
        line(out, 2, format_args!("cut at {:?} {:?}, loops {:?}", cuts.edges, cuts.blocks, cuts.loops));
        line(out, 2, format_args!("apart {:?}, backward: {}", cuts.rare, cuts.backward));
        let windows: Vec<_> = key.windows.iter().map(|window| window.numbers()).collect();
        line(out, 2, format_args!("windows {windows:?}, behind: {}", key.behind));
        line(out, 2, format_args!("at calls {:?}", key.calls));
    }
}

fn function_text(out: &mut String, function: &Function) {
    let at = |position: Option<Position>| {
        position.map_or_else(|| "nowhere".into(), |p| format!("{}:{}:{}", p.file, p.line, p.column))
    };
    let (linkage, position) = (function.linkage, at(function.position));
    line(out, 2, format_args!("{linkage:?} at {position}, address taken: {}", function.address_taken));
    line(out, 2, format_args!("untouched: {:?}, doubts: {:?}", function.untouched, function.doubts));
    for copy in &function.inlined {
        line(out, 2, format_args!("inlined {} in {:?} at {}", copy.symbol, copy.parent, at(copy.call)));
    }
    for (number, block) in function.blocks.iter().enumerate() {
        let n = block.instructions;
        let numbers = [n.total, n.loads, n.stores, n.calls, n.float];
        line(out, 2, format_args!("b{number}: total, loads, stores, calls, float {numbers:?}"));
        for span in &block.lines {
            line(out, 3, format_args!("{} of {:?} after {}", at(Some(span.at)), span.inlined, span.after_sites));
        }
        for run in &block.runs {
            let n = run.instructions;
            let (numbers, cost) = ([n.total, n.loads, n.stores, n.calls, n.float], run.cost);
            line(out, 3, format_args!("{numbers:?} of span {:?} after {}, cost {cost}", run.span, run.after_calls));
        }
    }
    for (number, edge) in function.edges.iter().enumerate() {
        line(out, 2, format_args!("e{number}: {} to {}, {:?} {}", edge.src, edge.dst, edge.kind, edge.successor));
    }
    for (number, site) in function.sites().enumerate() {
        let flags = [site.terminator, site.no_return, site.returns_twice, site.resume_marker].map(u8::from);
        line(out, 2, format_args!("s{number}: {} {:?} {flags:?} probe {}", site.block, site.callee, site.probe));
    }
    for ((id, call), (_, after)) in function.calls.numbered().zip(function.calls.after_sites()) {
        let site = function.calls.site_of(id);
        let flags = [call.must_tail, call.terminator, call.no_return, call.returns_twice].map(u8::from);
        let place = at(function.call_position(id));
        line(out, 2, format_args!("{id}: {}+{after} {site:?} {:?} {flags:?} at {place}", call.block, call.callee));
        if call.callee_uncertain {
            line(out, 3, format_args!("or another function"));
        }
    }
    for access in &function.accesses {
        line(out, 2, format_args!("{access:?}"));
    }
}

fn plan_text(out: &mut String, plan: FunctionPlan<'_>) {
    line(out, 2, format_args!("counters {:?}", plan.measures));
    for probe in plan.probes {
        line(out, 2, format_args!("{:?}: {:?}", probe.place, probe.probe));
    }
    for fixed in plan.fixed {
        line(out, 2, format_args!("{} = {} × {}, depth {}", fixed.edge, fixed.times, fixed.of, fixed.depth));
    }
}

fn counts_text(counts: &UnitCounts) -> String {
    let mut text = String::new();
    let out = &mut text;
    line(out, 0, format_args!("unit {} of {}", counts.unit, counts.binary.display()));
    line(out, 1, format_args!("command {:?}", counts.command));
    line(out, 1, format_args!("{:?}", counts.runs));
    line(out, 1, format_args!("weight {}, flags {:#x}", counts.weight, counts.flags.bits()));
    line(out, 1, format_args!("threads alive {}, saturated: {}", counts.threads_alive, counts.saturated));
    line(out, 1, format_args!("from {} to {}", counts.started_ns, counts.ended_ns));
    line(out, 1, format_args!("counters {:?}", counts.counters));
    for (address, count) in &counts.early {
        line(out, 1, format_args!("early {address:#x}: {count}"));
    }
    let none = PathCounts::default();
    let paths = counts.method.paths().unwrap_or(&none);
    for (key, count) in paths.counts.entries() {
        line(out, 1, format_args!("path {} of function {}: {count}", key.path, key.function.index()));
    }
    line(out, 1, format_args!("metric {}", paths.metric.name()));
    for (key, sum) in paths.sums.entries() {
        line(out, 1, format_args!("sum of path {} of function {}: {sum}", key.path, key.function.index()));
    }
    for (key, count) in paths.registers.entries() {
        line(out, 1, format_args!("register {} at {:#x}.{}: {count}", key.register, key.address, key.value));
    }
    if let Some(traces) = counts.method.trace() {
        line(out, 1, format_args!("{traces:?}"));
    }
    text
}

fn line(out: &mut String, depth: usize, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{:1$}{text}", "", 2 * depth).expect("strings take everything");
}

/// A raw profile with something in each of its parts.
fn telling_raw() -> Raw {
    let abandoned = |address: u64, value: u64| ABANDONED | value << VALUE_SHIFT | address;
    let mut raw = Raw { flags: Flags::RESET, metric: PathMetric::Events.number(), ..Raw::new(vec![]) };
    raw.slabs = vec![vec![1, 0, 300, u64::MAX / 2], vec![0, 5, 7, 1 << 40]];
    raw.early.push((0x40_1010 | AT_LANDING_PAD, -2));
    raw.segments = vec![
        vec![[1, 4, 11, 3], [1, 0, 2, 0], [2, 1 << 62, 9, 1 << 33]],
        vec![
            [1, 4, 1, 1],
            [abandoned(0x40_1020, 1), (-5i64).cast_unsigned(), 1, 0],
            [abandoned(0x40_1010 | AT_LANDING_PAD, 0), 77, (-2i64).cast_unsigned(), 0],
        ],
    ];
    raw
}

/// Files of a new version are written here, once; maps have a test of the same kind.
#[test]
fn this_version_has_golden_profiles() {
    let write = |name: String, write: &dyn Fn(&Path)| {
        let path = golden(&name);
        if !path.exists() {
            write(&path);
            panic!("{name} was missing and has been written: review the text that it decodes to, and commit both");
        }
    };
    write(format!("raw-{}.bin", cotree_rt::layout::VERSION), &|path| telling_raw().write(path));
    write(format!("merged-{}.bin", merged::VERSION), &|path| {
        let read = |raw: &Raw| {
            let file = tempfile::NamedTempFile::new().expect("a temporary file");
            raw.write(file.path());
            ProfileFile::open(file.path()).expect("it is read").units.remove(0)
        };
        let mut sum = read(&telling_raw());
        sum.add(&sum.clone(), 3).expect("as many counters");
        let plain = read(&Raw { segments: vec![], metric: 0, ..telling_raw() });
        let other = UnitCounts { unit: UnitId([9; 16]), binary: "/build/libx.so".into(), ..plain };
        merged::write(path, &[sum, other]).expect("it can be written");
    });
}
