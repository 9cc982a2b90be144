//! Affine variables in compiled programs: the papers' own, and loops that are interrupted. (Random ones are in
//! `random.rs`.)

use crate::project::{Project, succeed};
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::Place;
use cotree_profile::binary::BinaryFile;

fn counts_inside(function: &Function, plan: FunctionPlan<'_>, cfg: &Cfg) -> usize {
    assert!(!function.blocks.is_empty());
    let loops = LoopForest::new(cfg, &Dfs::new(cfg));
    let inside = |place: Place| match place {
        Place::Start(b) | Place::End(b) => loops.innermost(b).is_some(),
        Place::Edge(e) => loops.innermost(cfg.src(e)).is_some() && loops.innermost(cfg.dst(e)).is_some(),
        Place::Call(call) | Place::After(call) => panic!("edges are not counted at {call}"),
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
    let project = Project::new(&[("p.c", source)]);
    for level in ["-O1", "-O2"] {
        project.ok(&format!("cc {level} -fno-unroll-loops -w -o p p.c"));
        project.run("p");
        let binary = BinaryFile::open(&project.path("p")).expect("a profiled binary");
        for (function, plan) in
            binary.map().program.functions().map(|(_, f)| f).zip(binary.map().plan.method.functions())
        {
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
    let project = Project::new(&[("p.c", source)]);
    for (options, lost) in [
        ("", true),
        ("--affine off --promote off", false),
        ("--profile path", true),
        ("--profile path --affine off", false),
    ] {
        project.ok(&format!("{options} cc -O2 -fno-unroll-loops -w -o p p.c"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let json = project.ok("export --format json p.cotree");
        assert_eq!(json.contains("loops-under-way"), lost, "{options:?}: {json}");
        assert!(json.contains("unknown-exit"), "{json}");
    }
}
