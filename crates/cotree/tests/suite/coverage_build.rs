//! The coverage map of the compiler with our counts, held against the compiler's own coverage as llvm-cov tells it.

use crate::project::{Project, succeed};
use std::path::Path;

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../programs/coverage/", $name)))
    };
}

/// The tool of the newest version that is installed.
fn newest(tool: &str) -> String {
    let found = |version: &u32| Path::new(&format!("/usr/bin/{tool}-{version}")).exists();
    format!("{tool}-{}", (14..40).rev().find(found).expect("one is installed"))
}

/// What llvm-cov says of a program and a profile: its table, and lines and branches as a tracefile.
fn llvm_cov(project: &Project, program: &str, profile: &str) -> [String; 2] {
    succeed(project.command(newest("llvm-profdata")).args(["merge", profile, "-o", "merged"]));
    ["report", "export"].map(|what| {
        let mut cov = project.command(newest("llvm-cov"));
        cov.args([what, program, "-instr-profile=merged"]);
        succeed(if what == "export" { cov.arg("-format=lcov") } else { &mut cov })
    })
}

/// What llvm-cov says with the compiler's own counters.
fn theirs(project: &Project, compiler: &str, sources: &[&str]) -> [String; 2] {
    let options = ["-O1", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "theirs"];
    succeed(project.command(newest(compiler)).args(options).args(sources));
    succeed(project.command(project.path("theirs")).env("LLVM_PROFILE_FILE", "theirs.profraw"));
    llvm_cov(project, "theirs", "theirs.profraw")
}

/// What it says with ours.
fn ours(project: &Project, options: &str, command: &str) -> [String; 2] {
    project.ok(&format!("{options} --coverage {command} -o ours"));
    succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
    project.ok("export --format llvm-profdata -o ours.proftext ours.cotree");
    llvm_cov(project, "ours", "ours.proftext")
}

#[test]
fn regions_of_cxx_have_the_compilers_counts() {
    let project = Project::new(&[source!("a.cc"), source!("b.cc"), source!("lib.h")]);
    let theirs = theirs(&project, "clang++", &["a.cc", "b.cc"]);
    assert!(theirs[0].contains("lib.h"), "{}", theirs[0]);
    for (options, level) in [("", "-O0"), ("", "-O2"), ("--profile path", "-O2 -flto"), ("--profile vertex", "-O1")] {
        let ours = ours(&project, options, &format!("c++ {level} a.cc b.cc"));
        assert_eq!(ours, theirs, "{options} {level}");
    }
    // No runtime of LLVM's is in the program, and none has written anything.
    assert!(!project.path("default.profraw").exists());
}

#[test]
fn conditions_without_branches_are_counted() {
    let project = Project::new(&[source!("ternary.c")]);
    let theirs = theirs(&project, "clang", &["ternary.c"]);
    for level in ["-O0", "-O2"] {
        assert_eq!(ours(&project, "", &format!("cc {level} ternary.c")), theirs, "{level}");
    }
}

/// Coroutines are split before their counters are looked for.
#[test]
fn regions_of_coroutines_have_the_compilers_counts() {
    let project = Project::new(&[source!("coroutine.cc")]);
    let theirs = theirs(&project, "clang++", &["-std=c++20", "coroutine.cc"]);
    for level in ["-O0", "-O2"] {
        assert_eq!(ours(&project, "", &format!("c++ -std=c++20 {level} coroutine.cc")), theirs, "{level}");
    }
}

#[test]
fn coverage_that_is_not_counted_is_said() {
    let project = Project::new(&[source!("ternary.c")]);
    project.ok("cc -O1 ternary.c -o plain");
    succeed(project.command(project.path("plain")).env("COTREE_FILE", "plain.cotree"));
    let refused = project.fails("export --format llvm-profdata plain.cotree");
    assert!(refused.contains("build it with `cotree --coverage cc`"), "{refused}");
    let refused = project.fails("--coverage --at late cc ternary.c");
    assert!(refused.contains("leave one of them out"), "{refused}");
}

/// Functions that nothing calls, generic ones with several instances and with none, closures, and a second crate.
#[test]
fn regions_of_rust_have_the_compilers_counts() {
    let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", source!("generics.rs").1)]);
    let mut cargo = project.command("cargo");
    cargo.args(["build", "--quiet", "--target-dir", "theirs"]).env("RUSTFLAGS", "-Cinstrument-coverage");
    succeed(cargo.env("LLVM_PROFILE_FILE", "/dev/null"));
    succeed(project.command(project.path("theirs/debug/m")).env("LLVM_PROFILE_FILE", "theirs.profraw"));
    let [theirs, _] = llvm_cov(&project, "theirs/debug/m", "theirs.profraw");
    for level in ["", "--release"] {
        succeed(project.cotree(&format!("--coverage cargo run --quiet {level}")).env("COTREE_FILE", "ours.cotree"));
        project.ok("export --format llvm-profdata -o ours.proftext ours.cotree");
        let folder = if level.is_empty() { "debug" } else { "release" };
        let program = format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/m");
        assert_eq!(llvm_cov(&project, &program, "ours.proftext")[0], theirs, "{level}");
    }
    let table = project.ok("coverage --show-missing-lines ours.cotree");
    assert!(table.contains("80.0%") && table.contains("  src/main.rs: 1\n"), "{table}");
    assert!(!project.path("default.profraw").exists());
}

/// The table has llvm-cov's numbers, its lines, and gates on them.
#[test]
fn a_table_has_the_numbers_of_llvm_cov() {
    let project = Project::new(&[source!("a.cc"), source!("b.cc"), source!("lib.h")]);
    let [theirs, tracefile] = theirs(&project, "clang++", &["a.cc", "b.cc"]);
    project.ok("--coverage c++ -O2 a.cc b.cc -o ours");
    succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
    let total = theirs.lines().last().expect("a total").split_whitespace().collect::<Vec<_>>();
    let json: serde_json::Value = serde_json::from_str(&project.ok("coverage --json ours.cotree")).expect("JSON");
    for (column, what) in [(1, "regions"), (4, "functions"), (7, "lines"), (10, "branches")] {
        let share = &json["total"][what];
        let [all, missed] = [column, column + 1].map(|column| total[column].parse::<u64>().expect("a number"));
        assert_eq!(share["total"].as_u64(), Some(all), "{what}");
        assert_eq!(share["covered"].as_u64(), Some(all - missed), "{what}");
    }
    let missing = tracefile.lines().filter(|line| line.starts_with("DA:") && line.ends_with(",0")).count();
    let parts =
        json["files"].as_array().into_iter().flatten().flat_map(|file| file["missing_lines"].as_array()).flatten();
    assert_eq!(parts.count(), missing, "each stands alone");
    let text = project.ok("coverage --show-missing-lines ours.cotree");
    assert!(text.contains("  a.cc: 12\n") && text.contains("  lib.h: 12\n"), "{text}");
    let fewer = project.ok("coverage --ignore-filename-regex lib[.]h$ --fail-under-functions 100 ours.cotree");
    assert!(!fewer.contains("lib.h"), "{fewer}");
    let refused = project.fails("coverage --fail-under-lines 97 ours.cotree");
    assert!(refused.contains("lines ran, less than 97 %"), "{refused}");
    assert!(project.fails("coverage --fail-under-lines 101 ours.cotree").contains("from 0 to 100"));
}

/// The tracefile has llvm-cov's lines, and as many functions and branches as the table.
#[test]
fn a_tracefile_agrees_with_the_table() {
    let project = Project::new(&[source!("a.cc"), source!("b.cc"), source!("lib.h")]);
    let [_, theirs] = theirs(&project, "clang++", &["a.cc", "b.cc"]);
    project.ok("--coverage c++ -O1 a.cc b.cc -o ours");
    succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
    project.ok("coverage --lcov -o ours.info ours.cotree");
    let ours = std::fs::read_to_string(project.path("ours.info")).expect("a tracefile");
    let of = |text: &str, record: &str| {
        let wanted = |line: &&str| line.starts_with(record) || line.starts_with("SF:");
        text.lines().filter(wanted).map(str::to_owned).collect::<Vec<_>>()
    };
    // Of ten calls on line 21 four throw, and do not come to line 7; of six on line 23 four: llvm-cov does not know.
    let known = [
        ("DA:7,10", "DA:7,6"),
        ("DA:22,10", "DA:22,6"),
        ("DA:23,10", "DA:23,6"),
        ("DA:24,10", "DA:24,4"),
        ("BRDA:22,0,1,5", "BRDA:22,0,1,1"),
    ];
    let theirs = known.into_iter().fold(theirs, |all, (theirs, ours)| all.replacen(theirs, ours, 1));
    assert_eq!(of(&ours, "DA:"), of(&theirs, "DA:"));
    // A case that another value passed by was seen, but lcov 2 does not take that of a line that did not run.
    let passed_by = ["BRDA:12,0,0,0\nBRDA:12,0,1,2\n", "BRDA:12,0,0,-\nBRDA:12,0,1,-\n"];
    assert!(theirs.contains(passed_by[0]), "{theirs}");
    assert_eq!(of(&ours, "BRDA:"), of(&theirs.replacen(passed_by[0], passed_by[1], 1), "BRDA:"));
    assert!(ours.contains("FNDA:5,int pick<int>(bool; int; int)\n"), "{ours}");
    let sum =
        |record: &str| ours.lines().filter_map(|line| line.strip_prefix(record)?.parse::<u64>().ok()).sum::<u64>();
    let json: serde_json::Value = serde_json::from_str(&project.ok("coverage --json ours.cotree")).expect("JSON");
    for (what, all, ran, unseen) in [("functions", "FNF:", "FNH:", 0), ("branches", "BRF:", "BRH:", 1)] {
        let share = &json["total"][what];
        let expected = (Some(sum(all)), Some(sum(ran) + unseen));
        assert_eq!((share["total"].as_u64(), share["covered"].as_u64()), expected, "{what}");
    }
    let ends = project.ok("coverage --lcov --function-ends ours.cotree");
    assert!(ends.contains("FNL:0,5,5\nFNA:0,5,int pick<int>(bool; int; int)\n"), "{ends}");
    assert!(!ends.contains("FN:") && !ends.contains("FNDA:"), "{ends}");
    let summary = succeed(project.command("lcov").args(["--summary", "ours.info"]));
    assert!(summary.contains("(10 of 11 functions)"), "{summary}");
}
