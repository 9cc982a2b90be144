//! Builds with sanitizers: their handlers, their own `pthread_create` and their way to end a process are no reason for
//! doubt. And valgrind's detectors of races report what the program does, and not what the runtime does.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;

const THREADS: &str = include_str!("../programs/sanitizers/threads.cpp");
const REPORTED: &str = include_str!("../programs/sanitizers/reported.c");
const FUZZ: &str = include_str!("../programs/sanitizers/fuzz.c");

/// How often a function was entered; the profile must be exact.
fn entries(project: &Project, profile: &str, name: &str, what: &str) -> u64 {
    let report = project.ok(&format!("report {profile}"));
    assert!(report.contains("exact: every count"), "{what}: {report}");
    let json: Value = serde_json::from_str(&project.ok(&format!("export --format json {profile}"))).expect("JSON");
    let functions = json["units"][0]["functions"].as_array().expect("functions");
    let function = functions.iter().find(|function| function["name"] == name).expect(name);
    function["entries"].as_u64().expect("a number")
}

#[test]
fn threads_of_the_cpp_library_handlers_and_jumps() {
    let project = Project::new(&[("threads.cpp", THREADS)]);
    for (options, level) in [
        ("--profile trace", "-O0 -fsanitize=thread -fuse-ld=mold"),
        ("--verify", "-O1 -fsanitize=thread"),
        ("--profile trace", "-O1 -fsanitize=address"),
    ] {
        let what = format!("{options} {level}");
        project.ok(&format!("{options} c++ {level} -g -o program threads.cpp"));
        let said = succeed(project.command(project.path("program")).env("COTREE_FILE", "p%p.cotree"));
        let ticks = said.lines().find_map(|line| line.strip_prefix("ticks ")).expect("a tally").parse().ok();
        assert!(said.contains("\n") && said.contains(" 3 4\n"), "{what}: {said}");
        let mut profiles = 0;
        for entry in fs::read_dir(project.path(".")).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "cotree" || extension == "live") {
                let profile = path.display().to_string();
                // The child has called none.
                let count = entries(&project, &profile, "tick", &what);
                assert!(Some(count) == ticks || count == 0, "{what}: {count} of {ticks:?}");
                profiles += 1;
                if options == "--verify" {
                    project.ok(&format!("verify --strict {profile}"));
                }
                fs::remove_file(path).expect("a file");
            }
        }
        assert_eq!(profiles, 2, "{what}");
    }
}

/// A report ends the process by a system call of the sanitizer's.
#[test]
fn reports_leave_finished_profiles() {
    let project = Project::new(&[("reported.c", REPORTED), ("fuzz.c", FUZZ)]);
    for (sanitizer, options) in [
        ("address", "-DSPARE=0 -O2"),
        ("address", "-DSPARE=0 -DCALLBACK -O0"),
        ("leak", "-DSPARE=1 -O1 -fuse-ld=gold"),
        ("undefined -fno-sanitize-recover", "-DSPARE=0 -DOVERFLOW -O1"),
        ("memory", "-DSPARE=1 -DUNINITIALISED -O1"),
    ] {
        let what = format!("{sanitizer} {options}");
        let said = project.ok(&format!("--verify cc -g -fsanitize={sanitizer} {options} -o program reported.c"));
        assert!(!said.contains("did not compile"), "{what}: {said}");
        let mut run = project.command(project.path("program"));
        let output = run.env("COTREE_FILE", "p.cotree").output().expect("it starts");
        assert!(!output.status.success(), "{what}");
        assert_eq!(entries(&project, "p.cotree", "step", &what), 11, "{what}");
        project.ok("verify --strict p.cotree");
        if options.contains("CALLBACK") {
            assert_eq!(output.stdout, b"dying\ndying\ndying\n", "the program's own callback runs, too");
            assert_eq!(entries(&project, "p.cotree", "say", &what), 1);
        }
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
    // It ends itself by libFuzzer's way when it has found what it looks for.
    project.ok("--verify cc -g -fsanitize=fuzzer -O1 -o program fuzz.c");
    let mut run = project.command(project.path("program"));
    let output = run.args(["-runs=1000000", "-seed=1"]).env("COTREE_FILE", "p.cotree").output().expect("it starts");
    assert!(!output.status.success(), "it finds `abort`");
    assert!(entries(&project, "p.cotree", "LLVMFuzzerTestOneInput", "libFuzzer") > 3);
    project.ok("verify --strict p.cotree");
}

/// Threads that come and go have the same slabs and records one after the other.
#[test]
fn detectors_of_races_report_those_of_the_program() {
    let threads = r#"
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *work(void *argument) {
    long sum = 0;
    for (long i = 0; i < 100; i++) sum += i % 3 ? i : -i;
#ifndef RACE
    pthread_mutex_lock(&mutex);
#endif
    total += sum;
#ifndef RACE
    pthread_mutex_unlock(&mutex);
#endif
    return argument;
}
int main(void) {
    for (int round = 0; round < 3; round++) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    }
    return total == 0;
}
"#;
    let project = Project::new(&[("threads.c", threads)]);
    for (options, flags, races) in [("", "", false), ("--profile trace", "", false), ("", "-DRACE", true)] {
        // Valgrind 3.19 does not read clang's debug information of today.
        project.ok(&format!("{options} cc {flags} -o program threads.c"));
        for tool in ["helgrind", "drd"] {
            let mut valgrind = project.command("valgrind");
            valgrind
                .args([&format!("--tool={tool}"), "--error-exitcode=9", "./program"])
                .env("COTREE_FILE", "p.cotree");
            let output = valgrind.output().expect("valgrind starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(if races { 9 } else { 0 }), "{tool} {options} {flags}: {said}");
            assert!(!races || said.contains("work"), "{tool}: {said}");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}
