//! Counters in registers in compiled programs: they agree with counters in memory, also where signal handlers run the
//! same code, and what is lost when a loop is interrupted for good is flagged.

use crate::project::{Project, succeed};
use cotree_core::probe::Probe;
use cotree_profile::binary::BinaryFile;
use std::fs;
use std::process::Command;

/// Loops that wait for counters in memory: a state machine over bytes, a list, bits of a number.
const LOOPS: &str = r#"
#define ALONE __attribute__((noinline)) static
struct node { struct node *next; long value; };
static unsigned char out[256];
ALONE int words(const unsigned char *text, int n) {
    int words = 0, inside = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] <= ' ') inside = 0;
        else if (!inside) { inside = 1; words++; out[text[i]]++; }
    }
    return words;
}
ALONE long sum(const struct node *list) {
    long sum = 0;
    while (list) { sum ^= list->value; list = list->next; }
    return sum;
}
ALONE int bits(unsigned long x) {
    int n = 0;
    while (x) { n++; out[x & 255] ^= n; x &= x - 1; }
    return n;
}
ALONE long all(int n) {
    static const unsigned char text[] = "the quick brown  fox\njumps over   the lazy dog ";
    struct node list[40];
    for (int i = 0; i < 40; i++) list[i] = (struct node){i < 39 ? list + i + 1 : 0, i * n};
    long total = 0;
    for (int i = 0; i < n; i++)
        total += words(text, i % (int)sizeof text) + sum(i % 3 ? list : 0) * 3 + bits(0x123456789abcul * i);
    return total;
}
"#;

const MAIN: &str = "#include <stdio.h>\nint main(void) { printf(\"%ld %d\\n\", all(500), out['q']); return 0; }\n";

fn program(main: &str) -> Project {
    Project::new(&[("p.c", &format!("{LOOPS}{main}"))])
}

/// How many registers are added to counters in a program.
fn promoted(project: &Project, program: &str) -> usize {
    let binary = BinaryFile::open(&project.path(program)).expect("a profiled binary");
    let plans = binary.map().plan.method.functions();
    plans.flat_map(|plan| plan.probes).filter(|p| matches!(p.probe, Probe::AddTo(..))).count()
}

fn run(project: &Project, program: &str) -> Command {
    let mut command = project.command(project.path(program));
    command.env("COTREE_FILE", format!("{program}.cotree"));
    command
}

#[test]
fn registers_count_as_memory_does() {
    let project = program(MAIN);
    let counts = |options: &str, level: &str| {
        project.ok(&format!("{options} cc {level} -g -w -o p p.c"));
        let printed = succeed(&mut run(&project, "p"));
        let lcov = project.ok("export --format lcov p.cotree");
        let counts: Vec<_> = lcov
            .lines()
            .filter(|l| ["DA:", "FNDA:", "BRDA:"].iter().any(|k| l.starts_with(k)))
            .map(String::from)
            .collect();
        assert!(counts.len() > 20, "{lcov}");
        (printed, counts)
    };
    for level in ["-O1", "-O2", "-O3"] {
        let truth = counts("--profile block", level);
        for options in ["", "--threads on", "--threads word", "--affine off"] {
            assert_eq!(counts(options, level), truth, "{options} {level}");
            assert!(promoted(&project, "p") >= 3, "{options} {level}");
        }
        assert_eq!(counts("--promote off", level), truth, "{level}");
        assert_eq!(promoted(&project, "p"), 0, "{level}");
    }
    counts("", "-O0");
    assert_eq!(promoted(&project, "p"), 0, "variables are in memory then");
}

#[test]
fn weights_of_a_run_tell_where_registers_pay() {
    let project = program(MAIN);
    project.ok("--promote off cc -O2 -g -w -o first p.c");
    succeed(&mut run(&project, "first"));
    project.ok("--verify --weights first.cotree cc -O2 -g -w -o p p.c");
    succeed(&mut run(&project, "p"));
    assert!(promoted(&project, "p") >= 1);
    project.ok("verify --strict p.cotree");
}

/// A handler that interrupts such a loop anywhere, and runs it itself, has registers of its own.
#[test]
fn handlers_run_the_same_loops() {
    let main = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int ticks; static volatile long seen;
static void on_tick(int signal) { (void)signal; seen += all(20); ticks++; }
int main(void) {
    struct sigaction action = {0};
    action.sa_handler = on_tick;
    sigaction(SIGALRM, &action, 0);
    struct itimerval often = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, 0);
    long total = 0;
    while (ticks < 200) total = all(3000);
    often = (struct itimerval){0};
    setitimer(ITIMER_REAL, &often, 0);
    printf("%ld\n", total);
    return 0;
}
"#;
    let project = program(main);
    for options in ["--verify", "--verify --threads on"] {
        project.ok(&format!("{options} cc -O2 -g -w -o p p.c"));
        assert!(promoted(&project, "p") >= 3, "{options}");
        succeed(&mut run(&project, "p"));
        project.ok("verify --strict p.cotree");
    }
}

/// A loop that does not end in anybody's lifetime, in a function that only registers count in.
const SPIN: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
ALONE void spin(unsigned long x) {
    for (int i = 0; x; i++) { out[i & 255]++; x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
}
"#;

/// Is a loop under way flagged by default, and is it not with every count in memory?
fn flagged(main: &str, ends_well: bool) {
    let project = program(&format!("{SPIN}{main}"));
    for (options, lost) in [("--affine off", true), ("--affine off --promote off", false)] {
        project.ok(&format!("{options} cc -O2 -g -w -pthread -o p p.c"));
        let status = run(&project, "p").status().expect("it starts");
        assert_eq!(status.success(), ends_well, "{options}: {status}");
        let profiles = fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
        let name = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "live" || e == "cotree");
        let profile = profiles.into_iter().find(name).expect("a profile");
        let json = project.ok(&format!("export --format json {}", profile.display()));
        assert_eq!(json.contains("loops-under-way"), lost, "{options}: {json}");
        assert!(json.contains("live-frames") || json.contains("unknown-exit"), "{options}: {json}");
        fs::remove_file(profile).expect("it was there");
    }
}

#[test]
fn what_a_handler_ends_for_good_is_flagged() {
    flagged(
        "static void on_alarm(int signal) { (void)signal; exit(0); }
         int main(int argc, char **argv) { signal(SIGALRM, on_alarm); spin(0); alarm(1); spin(argc); return 0; }",
        true,
    );
}

#[test]
fn what_is_killed_is_flagged() {
    flagged("int main(int argc, char **argv) { spin(0); alarm(1); spin(argc); return 0; }", false);
}

#[test]
fn a_thread_that_still_runs_is_flagged() {
    flagged(
        "static void *thread(void *of) { spin((unsigned long)of); return 0; }
         int main(int argc, char **argv) {
             pthread_t id;
             pthread_create(&id, 0, thread, (void *)(unsigned long)argc);
             usleep(200000);
             return (int)sum(0);
         }",
        true,
    );
}

#[test]
fn plans_say_what_is_in_registers() {
    let project = program(MAIN);
    project.ok("cc -O2 -g -w -c -o p.o p.c");
    let said = project.ok("plan p.o --explain =words");
    assert!(said.contains("counted in a register, ") && said.contains("; added "), "{said}");
    assert!(!project.ok("--promote off plan p.o --explain =words").contains("register"));
    project.ok("cc -O2 -g -w -o p p.c");
    assert!(project.ok("plan p --explain =words").contains("counted in a register, "));
    assert!(project.fails("--promote maybe cc -o p p.c").contains("invalid value 'maybe'"));
}

#[test]
fn plans_say_what_is_out_of_line() {
    let loops = "volatile int seen; int sum(const int *of, int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) { if (of[i] >= 0) seen = i; sum ^= of[i]; }
        return sum;
    }";
    let project = Project::new(&[("p.c", loops)]);
    project.ok("cc -O2 -g -w -c -o p.o p.c");
    let aside = ", out of line since that is expected to run rarely";
    let said = project.ok("--promote off plan p.o --explain =sum");
    let places: Vec<&str> = said.lines().filter(|line| line.contains(aside)).collect();
    assert!(!places.is_empty() && places.iter().all(|place| place.contains("counted on the edge ")), "{said}");
    assert_eq!(said.replace(aside, ""), project.ok("--promote off --branch-hints off plan p.o --explain =sum"));
}

/// A division by zero ends the loop's 100,001st turn: what it counted until then must be there, for nothing else is
/// said.
#[test]
fn what_crashes_has_counted() {
    let crash = "
        ALONE unsigned turn(unsigned x, unsigned turns) {
            unsigned sum = 0;
            while (x != 5) {
                if (x & 1) x = x * 3 + 1; else x >>= 1;
                sum += 1000 / turns--;
            }
            return sum;
        }
        int main(int argc, char **argv) { (void)argv; return (int)turn(7 + (unsigned)argc, 100000u * argc); }";
    let project = program(crash);
    let source = format!("{LOOPS}{crash}");
    let line = 1 + source.lines().position(|l| l.contains("sum += 1000")).expect("the division");
    for options in [
        "--affine off --promote off",
        "--profile block",
        "--profile vertex",
        "--profile vertex-edge --affine off --promote off",
    ] {
        project.ok(&format!("{options} cc -O2 -g -w -o p p.c"));
        assert!(!run(&project, "p").status().expect("it starts").success());
        let profiles = fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
        let profile = profiles.into_iter().find(|p| p.extension().is_some_and(|e| e == "cotree")).expect("a profile");
        let lcov = project.ok(&format!("export --format lcov {}", profile.display()));
        let count = lcov.lines().find_map(|l| l.strip_prefix(&format!("DA:{line},"))).expect("a count");
        assert!(["100000", "100001"].contains(&count), "{options}: {lcov}");
        fs::remove_file(profile).expect("it was there");
    }
}
