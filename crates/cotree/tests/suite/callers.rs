//! Functions whose entries follow from their callers, as a user sees them: fewer counters, the same counts, and doubts
//! that are passed on.

use std::fs;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline)) static
static volatile int sink;
APART void leaf(int n) { sink += n; }
APART void twice(int n) { leaf(n); leaf(n + 1); }
APART int fact(int n) { leaf(n); return n < 2 ? 1 : n * fact(n - 1); }
APART void taken(int n) { leaf(n); }
APART void in_assembly(int n) { leaf(n); }
APART void handler(int n) { leaf(n); }
__attribute__((constructor)) static void early_on(void) { leaf(1); }
__attribute__((no_profile_instrument_function)) APART void uncounted(void);
APART void from_uncounted(int n) { leaf(n); }
__attribute__((no_profile_instrument_function)) APART void uncounted(void) { from_uncounted(3); }
/* LLVM makes calls of it. */
__attribute__((noinline)) void *memcpy(void *to, const void *from, unsigned long n) {
    for (unsigned long i = 0; i < n; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
struct large { char bytes[4000]; };
static struct large from, to;
APART void copies(void) { to = from; }
int main(int argc, char **argv) {
    void (*volatile pointer)(int) = taken;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    for (int i = 0; i < 10; i++) {
        twice(i);
        sink += fact(i);
        pointer(i);
        copies();
        taken(i);
        in_assembly(i);
        __asm__ volatile("/* a comment that names in_assembly */");
        uncounted();
        from_uncounted(i);
        if (argc > 1 && i == 7) raise(SIGKILL);
    }
    memcpy(&to, &from, sizeof to);
    return 0;
}
"#;

fn cotree(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cotree")).current_dir(folder).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn build(folder: &Path, options: &[&str], name: &str) {
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    let line = [options, &["--verify", "cc", "-O1", "-g", "-w", "-fno-builtin", "-o", name, "program.c"]].concat();
    cotree(folder, &line);
}

fn run(folder: &Path, program: &str, arguments: &[&str]) {
    let status = Command::new(folder.join(program))
        .current_dir(folder)
        .args(arguments)
        .env("COTREE_FILE", format!("{program}.cotree"))
        .status()
        .unwrap();
    assert_eq!(status.success(), arguments.is_empty(), "{status}");
}

/// Lines of `cotree plan --explain` about one function.
fn explained(folder: &Path, function: &str) -> String {
    cotree(folder, &["plan", "program", "--explain", &format!("={function}")])
}

#[test]
fn callers_count_where_all_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for options in [&["--at", "late"], &["--at", "early"]] {
        build(folder, options, "program");
        let derived = |function| explained(folder, function).contains("entries: derived from");
        assert!(explained(folder, "twice").contains("entries: derived from 1 call site\n"));
        for known in ["leaf", "copies"] {
            assert!(derived(known), "{known}: {}", explained(folder, known));
        }
        for unknown in ["taken", "in_assembly", "handler", "early_on", "from_uncounted", "memcpy", "main"] {
            assert!(!derived(unknown), "{unknown}: {}", explained(folder, unknown));
        }
        run(folder, "program", &[]);
        cotree(folder, &["verify", "--strict", "program.cotree"]);
    }
}

/// Only what is local to its module is certain.
#[test]
fn bitcode_is_explained_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("program.c"), PROGRAM).unwrap();
    cotree(folder, &["cc", "-O1", "-w", "-fno-builtin", "-c", "-o", "program", "program.c"]);
    assert!(explained(folder, "twice").contains("entries: derived from 1 call site\n"));
    assert!(!explained(folder, "taken").contains("entries:"));
    let line = ["--interprocedural-flow", "off", "plan", "program", "--explain", "=twice"];
    assert!(!cotree(folder, &line).contains("entries:"));
}

#[test]
fn counts_are_those_of_a_program_that_counts_everything() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let counts = |name: &str| {
        let text = cotree(folder, &["export", "--format", "lcov", &format!("{name}.cotree")]);
        text.lines().filter(|l| ["DA:", "FNDA:", "BRDA:"].iter().any(|k| l.starts_with(k))).map(str::to_owned).collect()
    };
    let counters = |name: &str| -> u64 {
        let report = cotree(folder, &["report", &format!("{name}.cotree")]);
        let line = report.lines().find_map(|l| l.trim().strip_prefix("counters")).unwrap().trim().to_owned();
        line.split(' ').next().unwrap().parse().unwrap()
    };
    build(folder, &["--interprocedural-flow", "on"], "on");
    build(folder, &["--interprocedural-flow", "off"], "off");
    run(folder, "on", &[]);
    run(folder, "off", &[]);
    let (on, off): (Vec<String>, Vec<String>) = (counts("on"), counts("off"));
    assert!(on.len() > 20);
    assert_eq!(on, off);
    assert!(counters("on") + 3 <= counters("off"), "{} {}", counters("on"), counters("off"));
}

#[test]
fn doubts_are_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    build(folder, &[], "program");
    run(folder, "program", &["killed"]);
    let profile =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|e| e == "live"));
    let profile = profile.expect("a killed process leaves its profile").display().to_string();
    let verdict = cotree(folder, &["verify", &profile]);
    // What was under way when it was killed is declared, and nothing else differs.
    assert!(verdict.contains("DECLARED: "), "{verdict}");
    let json = cotree(folder, &["export", "--format", "json", &profile]);
    let of = |name: &str| {
        let start =
            json.find(&format!("\"symbol\": \"{name}\"")).or_else(|| json.find(&format!("\"symbol\":\"{name}\"")));
        json[start.unwrap()..].chars().take(6000).collect::<String>()
    };
    for name in ["leaf", "twice", "fact"] {
        assert!(of(name).contains("live-frames"), "{name}: {}", of(name));
    }
}
