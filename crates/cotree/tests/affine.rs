//! Affine variables in compiled programs: hundreds of random functions made of loops, whose profiles must agree with the
//! redundant counters of the same run.

#[path = "affine/generate.rs"]
mod generate;

use cotree_core::cfg::Cfg;
use cotree_core::dfs::Dfs;
use cotree_core::facts::Function;
use cotree_core::loops::LoopForest;
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, Probe};
use cotree_profile::binary::BinaryFile;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Functions of one program.
const FUNCTIONS: u64 = 120;

fn cotree(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cotree"));
    command.current_dir(folder).env("COTREE_FILE", "p.cotree");
    command
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Compiles, runs and verifies a program; gives what it printed, how many closings it has, how many loops of known length, how
/// many additions of registers, and how many closings under a condition.
fn check(source: &str, options: &[&str], level: &str) -> (String, [usize; 4]) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.c"), source).expect("written");
    succeed(cotree(folder.path()).args(options).args(["cc", level, "-g", "-w", "-o", "p", "p.c"]));
    let mut program = Command::new("./p");
    let printed = succeed(program.current_dir(folder.path()).env("COTREE_FILE", "p.cotree"));
    let verdict = cotree(folder.path()).args(["verify", "p.cotree"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&verdict.stdout).into_owned() + &String::from_utf8_lossy(&verdict.stderr);
    if !verdict.status.success() {
        let kept = folder.keep();
        panic!("{options:?} {level}: {said} (kept in {})", kept.display());
    }
    let binary = BinaryFile::open(&folder.path().join("p")).expect("a profiled binary");
    let plans = || binary.map().plan.plans();
    let probes = || plans().flat_map(|p| &p.probes).map(|p| p.probe);
    let closings = probes().filter(|p| matches!(p, Probe::Close(..))).count();
    let registers = probes().filter(|p| matches!(p, Probe::AddTo(..))).count();
    let conditional = probes().filter(|p| matches!(p, Probe::CloseIf(..))).count();
    (printed, [closings, plans().map(|p| p.fixed.len()).sum(), registers, conditional])
}

/// One program; so many closings, loops of known length, additions of registers and closings under a condition have to be in it at
/// each level.
fn check_seed(seed: u64, least: [usize; 4]) {
    let source = generate::program(seed, FUNCTIONS);
    let mut printed = Vec::new();
    for (options, level) in
        [(&["--verify"][..], "-O1"), (&["--verify"], "-O2"), (&["--verify", "--threads", "on"], "-O3")]
    {
        let (output, found) = check(&source, options, level);
        let tried = found.iter().zip(least).all(|(&found, least)| found >= least);
        assert!(
            tried,
            "{found:?} closings, loops, registers and conditions of seed {seed} at {level}: too little was tried"
        );
        printed.push(output);
    }
    // Of path profiles it is the loops of a single block.
    for (method, level) in [("path", "-O1"), ("path", "-O2"), ("path-context", "-O2")] {
        let (output, [closings, ..]) = check(&source, &["--verify", "--profile", method], level);
        assert!(closings >= least[0] / 5, "{closings} closings of seed {seed} at {level} by {method}");
        printed.push(output);
    }
    for method in ["edge", "path"] {
        let (output, found) = check(&source, &["--verify", "--affine", "off", "--profile", method], "-O2");
        assert_eq!((found[..2].to_vec(), found[3]), (vec![0, 0], 0));
        printed.push(output);
    }
    let (output, found) = check(&source, &["--verify", "--affine", "off", "--promote", "off"], "-O2");
    assert_eq!(found, [0; 4]);
    printed.push(output);
    // Where code lies has nothing to do with what is counted.
    let (output, found) = check(&source, &["--verify", "--branch-hints", "off"], "-O2");
    assert!(found.iter().zip(least).all(|(&found, least)| found >= least), "{found:?}");
    printed.push(output);
    assert!(printed.iter().all(|p| *p == printed[0]), "{printed:?}");
}

/// The seeds to try: 1 and 2, unless the environment says `COTREE_SEEDS=10..50`.
fn check_seeds(belongs: impl Fn(u64) -> bool) {
    let given = std::env::var("COTREE_SEEDS").ok();
    let (from, to) = given.as_deref().unwrap_or("1..3").split_once("..").expect("FROM..TO");
    let (from, to): (u64, u64) = (from.parse().expect("a number"), to.parse().expect("a number"));
    assert!(from + 1 < to, "two seeds at least, one for each test");
    for seed in (from..to).filter(|&seed| belongs(seed)) {
        check_seed(seed, if given.is_some() { [50, 1, 1, 0] } else { [100, 15, 5, 3] });
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

fn counts_inside(function: &Function, plan: &FunctionPlan, cfg: &Cfg) -> usize {
    assert!(!function.blocks.is_empty());
    let loops = LoopForest::new(cfg, &Dfs::new(cfg));
    let inside = |place: Place| match place {
        Place::Start(b) | Place::End(b) => loops.innermost(b).is_some(),
        Place::Edge(e) => loops.innermost(cfg.src(e)).is_some() && loops.innermost(cfg.dst(e)).is_some(),
    };
    plan.probes.iter().filter(|p| inside(p.place)).count()
}

/// Frenot & Pereira 2024, Figs. 1 and 7, as C. (The branch has something to do, so that it stays a branch.)
#[test]
fn the_programs_of_the_paper_have_no_counters_in_their_loops() {
    let source = "
__attribute__((noinline)) int count_zeros(int v[], unsigned N, volatile int *seen) {
    int sum = 0;
    for (int i = 0; i < N; i++) {
        if (!v[i]) {
            *seen = i;
            sum++;
        }
    }
    return sum;
}
__attribute__((noinline)) long *first_occurrence(long v[], long q, int N) {
    long *p = v;
    v[N] = q;
    while (*p != q) { p++; }
    return p;
}
int main(void) {
    static int v[100]; static long u[101]; int seen;
    v[3] = v[50] = 1;
    return count_zeros(v, 100, &seen) + (int)(first_occurrence(u, 5, 100) - u) != 198;
}";
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.c"), source).expect("written");
    for level in ["-O1", "-O2"] {
        succeed(cotree(folder.path()).args(["cc", level, "-fno-unroll-loops", "-w", "-o", "p", "p.c"]));
        succeed(Command::new("./p").current_dir(folder.path()).env("COTREE_FILE", "p.cotree"));
        let binary = BinaryFile::open(&folder.path().join("p")).expect("a profiled binary");
        for (function, plan) in binary.map().program.functions().map(|(_, f)| f).zip(&binary.map().plan.functions) {
            if function.symbol != "main" {
                let cfg = function.cfg().expect("a graph");
                assert_eq!(counts_inside(function, plan, &cfg), 0, "{} {level}: {plan:?}", function.symbol);
            }
        }
    }
}

/// What a loop has counted is lost when it is interrupted for good, and the profile says so.
#[test]
fn a_loop_under_way_is_flagged() {
    let source = "
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static unsigned char out[256];
static void on_alarm(int signal) { if (signal == SIGALRM) exit(0); _exit(1); }
__attribute__((noinline)) static void spin(unsigned long n) {
    for (unsigned long i = 0; i != n; i++) out[i * i & 255] ^= (unsigned char)i;
}
__attribute__((noinline)) static int quick(int n) { return n * 3 + out[n & 255]; }
int main(int argc, char **argv) {
    struct sigaction action = {0};
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, 0);
    alarm(1);
    spin(5);
    spin(argc > 7 ? 0 : ~0ul - argc);
    return quick(argc);
}";
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.c"), source).expect("written");
    for (options, lost) in [
        (&[][..], true),
        (&["--affine", "off", "--promote", "off"], false),
        (&["--profile", "path"], true),
        (&["--profile", "path", "--affine", "off"], false),
    ] {
        succeed(cotree(folder.path()).args(options).args(["cc", "-O2", "-fno-unroll-loops", "-w", "-o", "p", "p.c"]));
        succeed(Command::new("./p").current_dir(folder.path()).env("COTREE_FILE", "p.cotree"));
        let json = succeed(cotree(folder.path()).args(["export", "--format", "json", "p.cotree"]));
        assert_eq!(json.contains("loops-under-way"), lost, "{options:?}: {json}");
        assert!(json.contains("unknown-exit"), "{json}");
    }
}
