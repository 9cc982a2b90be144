//! Random programs, whose profiles must agree with the redundant counters of the same run: hundreds, and thousands
//! where the environment asks for them.

mod by_profiles;
mod exceptions;
mod functions;
mod programs;

use crate::lines;
use crate::project::{Project, succeed};
use cotree_core::probe::Probe;
use cotree_profile::binary::BinaryFile;
use programs::Leaving;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers from `FROM..TO` in that variable of the environment.
fn seeds(variable: &str, unless_given: Range<u64>) -> Range<u64> {
    let Ok(given) = std::env::var(variable) else { return unless_given };
    let (from, to) = given.split_once("..").expect("FROM..TO");
    from.parse().expect("a number")..to.parse().expect("a number")
}

/// How many closings a program has, how many loops of known length, how many additions of registers, and how many
/// closings under a condition.
fn tried(binary: &Path) -> [usize; 4] {
    let binary = BinaryFile::open(binary).expect("a profiled binary");
    let plans = || binary.map().plan.method.functions();
    let probes = |wanted: fn(&Probe) -> bool| plans().flat_map(|p| p.probes).filter(|p| wanted(&p.probe)).count();
    [
        probes(|p| matches!(p, Probe::Close(..))),
        plans().map(|p| p.fixed.len()).sum(),
        probes(|p| matches!(p, Probe::AddTo(..))),
        probes(|p| matches!(p, Probe::CloseIf(..))),
    ]
}

/// Keeps the folder of what failed, so that somebody can look at it.
fn keeping<R>(project: Project, check: impl FnOnce(&Project) -> R) -> R {
    catch_unwind(AssertUnwindSafe(|| check(&project)))
        .unwrap_or_else(|_| panic!("see above (kept in {})", project.keep().display()))
}

/// Functions of one file.
const FUNCTIONS: u64 = 30;

/// Compiles, runs and verifies a program; gives what it printed and what was tried.
fn check_file(source: &str, options: &str, level: &str) -> (String, [usize; 4]) {
    keeping(Project::new(&[("p.c", source)]), |project| {
        project.ok(&format!("--verify {options} cc {level} -g -w -o p p.c"));
        let printed = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        project.ok("verify --strict p.cotree");
        (printed, tried(&project.path("p")))
    })
}

/// One file of functions, in all builds; so many closings, loops of known length, additions of registers and closings
/// under a condition have to be in it at each level.
fn check_functions(seed: u64, least: [usize; 4]) {
    let source = functions::program(seed, FUNCTIONS);
    let mut printed = Vec::new();
    for (options, level) in [("", "-O1"), ("", "-O2"), ("--threads on", "-O3")] {
        let (output, found) = check_file(&source, options, level);
        let tried = found.iter().zip(least).all(|(&found, least)| found >= least);
        assert!(
            tried,
            "{found:?} closings, loops, registers and conditions of seed {seed} at {level}: too little was tried"
        );
        printed.push(output);
    }
    // Of path profiles it is the loops of a single block.
    for (method, level) in [("path", "-O1"), ("path", "-O2"), ("path-context", "-O2")] {
        let (output, [closings, ..]) = check_file(&source, &format!("--profile {method}"), level);
        assert!(closings >= least[0] / 5, "{closings} closings of seed {seed} at {level} by {method}");
        printed.push(output);
    }
    for method in ["edge", "path"] {
        let (output, found) = check_file(&source, &format!("--affine off --profile {method}"), "-O2");
        assert_eq!((found[..2].to_vec(), found[3]), (vec![0, 0], 0));
        printed.push(output);
    }
    let (output, found) = check_file(&source, "--affine off --promote off", "-O2");
    assert_eq!(found, [0; 4]);
    printed.push(output);
    // Where code lies has nothing to do with what is counted.
    let (output, found) = check_file(&source, "--branch-hints off", "-O2");
    assert!(found.iter().zip(least).all(|(&found, least)| found >= least), "{found:?}");
    printed.push(output);
    assert!(printed.iter().all(|p| *p == printed[0]), "{printed:?}");
}

/// The seeds to try: 1 and 2, unless the environment says `COTREE_SEEDS=10..50`.
fn check_seeds(belongs: impl Fn(u64) -> bool) {
    let usual = 1..3;
    let seeds = seeds("COTREE_SEEDS", usual.clone());
    assert!(seeds.start + 1 < seeds.end, "two seeds at least, one for each test");
    let least = if seeds == usual { [25, 3, 2, 0] } else { [12, 1, 0, 0] };
    for seed in seeds.filter(|&seed| belongs(seed)) {
        check_functions(seed, least);
    }
}

#[test]
fn random_loops_1() {
    check_seeds(|seed| seed % 2 == 1);
}

/// Beside the other.
#[test]
fn random_loops_2() {
    check_seeds(|seed| seed % 2 == 0);
}

/// Every second program is built as users do, with everything on.
const USUAL: [&str; 5] = ["cc -O2", "cc -O1", "cc -O3", "cc -Os", "--threads on cc -O2"];

/// The others in one of these ways.
const OTHER: [&str; 20] = [
    "--coverage cc -O2",
    "--coverage cc -O0",
    "--profile block cc -O2",
    "--profile vertex cc -O2",
    "--profile vertex-edge cc -O2",
    "--profile path cc -O2",
    "--profile path cc -O1",
    "--profile path-context cc -O2",
    "--affine off cc -O2",
    "--promote off cc -O3",
    "--interprocedural-flow off cc -O2",
    "--branch-hints off cc -O2",
    "--spanning-tree min cc -O1",
    "--at early cc -O2",
    "--at early cc -O1",
    "--at early --profile path cc -O3",
    "--at inlined cc -O2",
    "--at inlined --profile path cc -O1",
    "cc -O0",
    "--profile path cc -O0",
];

/// What there was to see of one program.
struct Seen {
    tried: [usize; 4],
    /// Lines that agree with the program's own tally of them.
    tallied: usize,
    /// The program ended or was left as [`Leaving`] says, and did not only have the code for it.
    left: Option<Leaving>,
    cxx: bool,
    threads: bool,
}

/// Builds, runs and verifies the program of that seed, which has to print and end as gcc's does without optimisations.
/// Where the profile is one of the source as written, lines are compared with a tally of the program's own, too.
fn check_program(seed: u64) -> Seen {
    let at = usize::try_from(seed / 2).expect("small");
    let build = if seed.is_multiple_of(2) { USUAL[at % USUAL.len()] } else { OTHER[at % OTHER.len()] };
    let coverage = build.contains("--coverage");
    let tally = build.contains("--at early") || build.contains("-O0") || coverage;
    let program = programs::program(seed, tally);
    let name = if program.cxx { "p.cpp" } else { "p.c" };
    keeping(Project::new(&[(name, &program.text), ("tally.h", include_str!("../programs/tally.h"))]), |project| {
        let build = if program.cxx { build.replace("cc ", "c++ ") } else { build.to_owned() };
        let compiler = if program.cxx { "g++" } else { "gcc" };
        succeed(project.command(compiler).args(["-O0", "-w", "-pthread", "-o", "truth", name]));
        project.ok(&format!("--verify {build} -g -w -pthread -o p {name}"));
        let run = |program: &str| {
            let mut command = project.command(project.path(program));
            let output = command.env("COTREE_FILE", "p.cotree").output().expect("it starts");
            (String::from_utf8(output.stdout).expect("text"), output.status)
        };
        let ran = run("p");
        let tallied = if tally { check_lines(project, name, &program.text, coverage) } else { 0 };
        assert_eq!(ran, run("truth"), "seed {seed}, {build}: what it prints, and how it ends");
        let verdict = project.cotree("verify --strict p.cotree").output().expect("it starts");
        let said = [verdict.stdout, verdict.stderr].concat();
        assert!(verdict.status.success(), "seed {seed}, {build}: {}", String::from_utf8_lossy(&said));
        let left = match program.leaving {
            Leaving::Thrown => ran.0.contains("caught").then_some(Leaving::Thrown),
            leaving => ran.0.contains("early").then_some(leaving),
        };
        Seen { tried: tried(&project.path("p")), tallied, left, cxx: program.cxx, threads: program.threads }
    })
}

/// Compares the lines of the one program that ran so far with its tally, also those of its coverage map if it has one;
/// gives how many there are.
fn check_lines(project: &Project, name: &str, source: &str, coverage: bool) -> usize {
    let names = std::fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let tallies: Vec<_> = names.filter(|path| path.extension().is_some_and(|extension| extension == "bin")).collect();
    let [tally] = &*tallies else { panic!("one tally, and not {tallies:?}") };
    let tally = std::fs::read(tally).expect("a file");
    let exports = if coverage { &["coverage --lcov", "export --format lcov"][..] } else { &["export --format lcov"] };
    let compared = exports.iter().map(|export| {
        let lcov = project.ok(&format!("{export} p.cotree"));
        let (compared, problems) = lines::compare(name, source, &tally, &lcov, 0);
        assert!(problems.is_empty(), "{export}: {}", problems.join("\n"));
        compared
    });
    compared.sum()
}

/// Seeds 0 to 119, unless the environment says `COTREE_PROGRAMS=1000..3000`.
#[test]
fn random_programs() {
    let seeds = seeds("COTREE_PROGRAMS", 0..120);
    let (next, seen, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| seeds.contains(seed)) {
            match catch_unwind(|| check_program(seed)) {
                Ok(one) => seen.lock().expect("nothing panics with it").push(one),
                Err(_) => failed.lock().expect("nothing panics with it").push(seed),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    let (seen, failed) = (seen.into_inner().expect("no panic"), failed.into_inner().expect("no panic"));
    assert!(failed.is_empty(), "seeds that failed: {failed:?}");
    let mut sums = [0; 4];
    let mut left: BTreeMap<Leaving, usize> = BTreeMap::new();
    for one in &seen {
        sums.iter_mut().zip(one.tried).for_each(|(sum, tried)| *sum += tried);
        one.left.into_iter().for_each(|leaving| *left.entry(leaving).or_default() += 1);
    }
    let tallied: Vec<usize> = seen.iter().map(|one| one.tallied).filter(|&lines| lines > 0).collect();
    let (cxx, threads) = (seen.iter().filter(|one| one.cxx).count(), seen.iter().filter(|one| one.threads).count());
    println!(
        "{} programs; {cxx} are C++, {threads} have threads; left by {left:?}; {sums:?} closings, loops of known length, additions of \
         registers and conditions; {} lines of {} programs agree with their own tallies",
        seen.len(),
        tallied.iter().sum::<usize>(),
        tallied.len()
    );
    if seeds.count() >= 120 {
        let few = seen.len() / 40;
        assert!(
            sums.into_iter().chain([cxx, threads, tallied.len()]).all(|tried| tried >= few),
            "too little was tried"
        );
        assert!(
            left.len() == 4 && left.values().all(|&programs| programs >= few),
            "some way of leaving was hardly tried"
        );
    }
}
