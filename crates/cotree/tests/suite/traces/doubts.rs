//! What a trace does not vouch for.

use crate::project::{Project, succeed};

/// A stream is of one stack: a program that changes stacks by itself is flagged, as by all other methods.
#[test]
fn programs_that_change_stacks_are_flagged() {
    let project = Project::new(&[(
        "p.c",
        "#include <ucontext.h>\nstatic ucontext_t inside, outside;\nstatic char stack[65536];\n\
         static void body(void) { for (;;) swapcontext(&inside, &outside); }\n\
         int main(void) {\n  getcontext(&inside);\n  inside.uc_stack.ss_sp = stack;\n  inside.uc_stack.ss_size = sizeof stack;\n\
         makecontext(&inside, body, 0);\n  for (int i = 0; i < 3; i++) swapcontext(&outside, &inside);\n  return 0;\n}\n",
    )]);
    project.ok("--profile trace cc -O0 -g -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let report = project.ok("report p.cotree");
    assert!(report.contains("NOT ALL EXACT") && report.contains("~"), "{report}");
}

/// A process that is killed may have gone on in the block of the call that its trace knows last.
#[test]
fn the_innermost_activation_of_a_killed_process_is_flagged() {
    let project = Project::new(&[(
        "p.c",
        "#include <signal.h>\n#include <unistd.h>\n__attribute__((noinline)) static int callee(int n) { return n + 1; }\n\
         int main(void) {\n  int n = callee(2);\n  volatile int here = n;\n  here++;\n  kill(getpid(), SIGKILL);\n  return here;\n}\n",
    )]);
    project.ok("--profile trace cc -O0 -g -o p p.c");
    let ended = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").output().expect("it starts");
    assert!(!ended.status.success());
    let entries = std::fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let live = entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "live")).expect("a profile");
    let json = project.ok(&format!("export --format json {}", live.display()));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let functions = json["units"][0]["functions"].as_array().expect("functions");
    let main = functions.iter().find(|function| function["name"] == "main").expect("main");
    assert_eq!(main["flaws"], serde_json::json!(["live-frames"]));
}
