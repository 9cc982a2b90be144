//! The coverage maps of clang and rustc, as we read and count them, beside `llvm-cov`; and damaged ones.

mod peer;
mod random;

use crate::project::{Project, succeed};
use cotree_profile::coverage::{CounterTable, CoverageMap, CoverageMapError, Sections};
use cotree_report::region_coverage::{FileSummary, RegionCoverage};
use object::read::{Object, ObjectSection};
use random::Random;
use std::path::{Path, PathBuf};

macro_rules! sources {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../programs/coverage/", $name)))),*]
    };
}

const C: [(&str, &str); 4] = sources!["regions.c", "second.c", "regions.h", "body.inc"];
const CLANG: &str = "-w -fprofile-instr-generate -fcoverage-mapping";

/// Builds a program by a compiler's own coverage and runs it; gives what llvm-profdata makes of its profile.
fn run(project: &Project, compiler: &str, arguments: &str, program: &str, profdata: &str) -> PathBuf {
    succeed(project.command(compiler).args(arguments.split_whitespace()).args(["-o", program]));
    let raw = project.path("raw");
    succeed(project.command(project.path(program)).env("LLVM_PROFILE_FILE", &raw));
    let merged = project.path(&format!("{program}.profdata"));
    succeed(project.command(profdata).arg("merge").arg(&raw).arg("-o").arg(&merged));
    merged
}

/// Holds all that llvm-cov says of these programs, each with its profile, against what we say.
fn compare(project: &Project, programs: &[(&str, &Path)]) -> FileSummary {
    let sum = project.path("sum.profdata");
    let merge = |arguments: &[&str], profiles: &[&Path]| {
        succeed(project.command("llvm-profdata-22").arg("merge").args(arguments).args(profiles))
    };
    merge(&["-o", "sum.profdata"], &programs.iter().map(|(_, profile)| *profile).collect::<Vec<_>>());
    let export = |format: &str| {
        let mut command = project.command("llvm-cov-22");
        command.arg("export").arg(format!("-format={format}")).arg("-instr-profile").arg(&sum).arg(programs[0].0);
        programs[1..].iter().for_each(|(program, _)| _ = command.args(["-object", program]));
        succeed(&mut command)
    };
    let open = |(program, profile): &(&str, &Path)| {
        let map = CoverageMap::open(&project.path(program)).expect("a map");
        (map, peer::counters(&merge(&["-text", "-o", "-"], &[profile])))
    };
    let opened: Vec<(CoverageMap, CounterTable)> = programs.iter().map(open).collect();
    let executables: Vec<_> = opened.iter().map(|(map, table)| (map, table)).collect();
    let exported = serde_json::from_str(&export("text")).expect("JSON");
    peer::compare(&executables, &exported, &export("lcov"))
}

/// Headers in two units, text that replaces macros of the same and of other files, functions that nobody uses.
#[test]
fn numbers_of_c_are_those_of_llvm_cov() {
    let project = Project::new(&C);
    let older = format!("{CLANG} regions.c second.c");
    let profile = run(&project, "clang-14", &older, "older", "llvm-profdata-14");
    assert_eq!(compare(&project, &[("older", &profile)]).functions.total, 8);
    let newer = format!("{CLANG} -fcoverage-mcdc -O1 -Wl,--gc-sections regions.c second.c");
    let profile = run(&project, "clang-22", &newer, "newer", "llvm-profdata-22");
    assert_eq!(compare(&project, &[("newer", &profile)]).functions.total, 8);
}

/// Templates, lambdas and exceptions; two executables that share sources.
#[test]
fn numbers_of_cpp_are_those_of_llvm_cov() {
    let project = Project::new(&sources!["regions.cpp"]);
    let options = format!("{CLANG} -fcoverage-mcdc -std=c++17 regions.cpp");
    let other = run(&project, "clang++-22", &format!("{options} -O1"), "other", "llvm-profdata-22");
    let profile = run(&project, "clang++-22", &options, "first", "llvm-profdata-22");
    let alone = compare(&project, &[("first", &profile)]);
    assert!(alone.instantiations.total > alone.functions.total, "{alone:?}");
    let both = compare(&project, &[("first", &profile), ("other", &other)]);
    assert_eq!(both.lines.total, alone.lines.total);
}

/// What one executable only declares, another one uses: it is there once, as it is used. The `main` of each is its own.
#[test]
fn executables_add_up() {
    let shared = "inline int f(int x) { return x > 1 ? 2 : 3; }\n";
    let main = |body: &str| format!("#include \"shared.h\"\nint main(int argc, char **) {{ {body} }}\n");
    let (first, second) = (main("return 0;"), main("return f(argc) + f(argc) - 6;"));
    let sources = [("shared.h", shared), ("first.cpp", &first), ("second.cpp", &second), ("third.cpp", &second)];
    let project = Project::new(&sources);
    let mut opened = Vec::new();
    for name in ["first", "second", "third"] {
        let profile = run(&project, "clang++-22", &format!("{CLANG} {name}.cpp"), name, "llvm-profdata-22");
        let text = succeed(project.command("llvm-profdata-22").args(["merge", "-text", "-o", "-"]).arg(profile));
        opened.push((CoverageMap::open(&project.path(name)).expect("a map"), peer::counters(&text)));
    }
    // With and without the counters of the others.
    let empty = CounterTable::default();
    for (tables, expected) in [([0, 1, 2], 4), ([0, 1, 3], 2), ([3, 3, 3], 0)] {
        let with_table = |((map, table), own): (&(CoverageMap, CounterTable), usize)| {
            (map.clone(), if own < 3 { table.clone() } else { empty.clone() })
        };
        let parts: Vec<(CoverageMap, CounterTable)> = opened.iter().zip(tables).map(with_table).collect();
        let executables: Vec<_> = parts.iter().map(|(map, table)| (map, table)).collect();
        let coverage = RegionCoverage::new(&executables);
        let header = project.path("shared.h").display().to_string();
        let summary = coverage.summary(&header);
        assert_eq!((summary.functions.total, summary.instantiations.total, summary.branches.total), (1, 1, 2));
        assert!(summary.regions.total > 1);
        let count = coverage.file(&header).lines().lines().next();
        assert_eq!(count, Some((1, expected)));
        let mains = coverage.functions.iter().filter(|f| f.function.name == "main" && f.entries() == 1);
        assert_eq!(mains.count(), tables.iter().filter(|&&own| own < 3).count());
    }
}

/// Generic functions that are never instantiated, closures, and functions that nobody uses.
#[test]
fn numbers_of_rust_are_those_of_llvm_cov() {
    let project = Project::new(&sources!["regions.rs"]);
    let options = "-Awarnings --edition 2024 -Cinstrument-coverage regions.rs";
    let profile = run(&project, "rustc", options, "program", "llvm-profdata-22");
    let summary = compare(&project, &[("program", &profile)]);
    assert!(summary.functions.covered < summary.functions.total, "{summary:?}");
}

/// Regions as no compiler makes them are cut into the segments that llvm-cov cuts them into.
#[test]
fn numbers_of_random_maps_are_those_of_llvm_cov() {
    let source = "int f(int x) { return x > 1 && x < 5 ? x : 3; }\nint main(void) { return f(3) + f(2) - 5; }\n";
    let project = Project::new(&[("main.c", source)]);
    let profile = run(&project, "clang-22", &format!("{CLANG} main.c"), "program", "llvm-profdata-22");
    let data = std::fs::read(project.path("program")).expect("a program");
    let elf = object::File::parse(data.as_slice()).expect("an ELF file");
    let records = elf.section_by_name("__llvm_covfun").expect("a section").data().expect("data");
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let (mut rest, mut section) = (records, Vec::new());
        while let Some((head, body)) = rest.split_at_checked(28) {
            let length = u32::from_le_bytes(head[8..12].try_into().expect("four bytes")) as usize;
            rest = body.get((28 + length).next_multiple_of(8) - 28..).unwrap_or_default();
            // `main` has one counter, `f` has three.
            let of_main = head[..8] == md5::compute("main").0[..8];
            let record = random.record(if of_main { 1 } else { 3 });
            section.extend(&head[..8]);
            section.extend((record.len() as u32).to_le_bytes());
            section.extend(&head[12..]);
            section.extend(record);
            section.resize(section.len().next_multiple_of(8), 0);
        }
        std::fs::write(project.path("section"), section).expect("a file");
        let update = ["--update-section", "__llvm_covfun=section", "program", "changed"];
        succeed(project.command("objcopy").args(update));
        assert_eq!(compare(&project, &[("changed", &profile)]).instantiations.total, 2, "{seed}");
    }
}

/// Whatever bytes of a map change or are missing, the reader and those who count by the map end, and do not panic.
#[test]
fn damaged_maps_are_errors() {
    let project = Project::new(&C);
    let options = format!("{CLANG} -fcoverage-mcdc regions.c second.c -o program");
    succeed(project.command("clang-22").args(options.split_whitespace()));
    let data = std::fs::read(project.path("program")).expect("a program");
    let elf = object::File::parse(data.as_slice()).expect("an ELF file");
    let section = |name| elf.section_by_name(name).expect("a section").data().expect("data").to_vec();
    let whole = [section("__llvm_covmap"), section("__llvm_covfun"), section("__llvm_prf_names")];
    let decode = |[covmap, covfun, names]: &[Vec<u8>; 3]| {
        CoverageMap::decode(&Sections { covmap, covfun, names, little_endian: true })
    };
    // The sections do not tell that clang's own counters are in the program.
    let sections = CoverageMap { has_own_counters: true, ..decode(&whole).expect("a map") };
    assert_eq!(sections, CoverageMap::open(&project.path("program")).expect("a map"));
    let (mut random, mut usable, mut refused) = (Random::new(1), 0, 0);
    for turn in 0..1200 {
        let mut sections = whole.clone();
        // Most bytes that matter are in the records of functions.
        let changed = &mut sections[[1, 1, 1, 0, 2][turn % 5]];
        let at = random.below(changed.len() as u64) as usize;
        match random.below(4) {
            0 => changed.truncate(at),
            1 => changed[at] = [0x80, 0xFF, 0, 1][random.below(4) as usize],
            _ => changed[at] ^= 1 << random.below(8),
        }
        let Ok(map) = decode(&sections) else {
            refused += 1;
            continue;
        };
        usable += 1;
        let mut table = CounterTable::default();
        for function in &map.functions {
            table.add(function.name_hash, function.structural_hash, &[1, 3, 2, 7, 5, u64::MAX]).expect("once each");
        }
        let coverage = RegionCoverage::new(&[(&map, &table)]);
        for path in coverage.paths() {
            let lines = coverage.file(path).lines().map(|run| run.len()).sum::<u64>();
            assert!(lines <= u64::from(u32::MAX) + 1);
            let summary = coverage.summary(path);
            assert!(summary.lines.covered <= summary.lines.total && summary.regions.covered <= summary.regions.total);
        }
    }
    assert!(usable > 100 && refused > 100, "{usable} {refused}");
}

/// A program without a map, and a map of another format, are told from damaged ones.
#[test]
fn programs_without_coverage_say_so() {
    let project = Project::new(&[("main.c", "int main(void) { return 0; }\n")]);
    succeed(project.command("clang-22").args(["main.c", "-o", "program"]));
    let error = CoverageMap::open(&project.path("program")).expect_err("no map");
    assert!(matches!(error, CoverageMapError::NoMap { .. }));
    assert!(error.to_string().contains("carries no coverage map: build it with coverage"), "{error}");
}
