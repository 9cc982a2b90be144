//! Sums of traces have what each run counted, and say that the order is gone.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;

/// Ends by `return`, `longjmp` over a call or `exit` in one, by its number of arguments.
const SOURCE: &str = "\
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf back;
__attribute__((noinline)) static int f(int n) {
    int s = 0;
    for (int i = 0; i < n * 9; i++)
        s += i;
    if (n == 2)
        longjmp(back, 1);
    if (n == 3)
        exit(0);
    return s;
}
int main(int c, char **v) {
    (void)v;
    if (setjmp(back))
        return 0;
    return f(c) == 1;
}
";

fn json(project: &Project, line: &str) -> Value {
    serde_json::from_str(&project.ok(line)).expect("JSON")
}

/// Entries, blocks and edges of each function.
fn counts(project: &Project, profile: &str) -> Vec<u64> {
    let json = json(project, &format!("export --strict --format json {profile}"));
    let mut counts = Vec::new();
    for function in json["units"][0]["functions"].as_array().expect("functions") {
        counts.push(function["entries"].as_u64().expect("a count"));
        for kind in ["blocks", "edges"] {
            let parts = function[kind].as_array().expect("a list");
            counts.extend(parts.iter().map(|part| part["count"].as_u64().expect("a count")));
        }
    }
    counts
}

/// The cost of everything.
fn cost(project: &Project, profile: &str) -> Vec<u64> {
    let json = json(project, &format!("costs --strict --json {profile}"));
    json["total"].as_object().expect("kinds").values().map(|total| total.as_u64().expect("a number")).collect()
}

#[test]
fn sums_of_traces_count() {
    let project = Project::new(&[("p.c", SOURCE)]);
    project.ok("--profile trace --verify cc -O0 -g -o p p.c");
    fs::create_dir(project.path("runs")).expect("a folder");
    let runs = ["runs/a.cotree", "runs/b.cotree", "runs/c.cotree"];
    for (number, profile) in runs.iter().enumerate() {
        succeed(project.command("./p").args(&["x", "y"][..number]).env("COTREE_FILE", profile));
    }
    let output = project.cotree("merge --strict -o m.cotree runs/a.cotree:3 runs/b.cotree runs/c.cotree").output();
    let said = String::from_utf8(output.expect("cotree starts").stderr).expect("text");
    assert_eq!(said.matches("the order in which things happened").count(), 1, "{said}");
    let weighted = |of: &dyn Fn(&str) -> Vec<u64>, weights: [u64; 3]| {
        let all = runs.map(of);
        (0..all[0].len()).map(|at| (0..3).map(|run| all[run][at] * weights[run]).sum()).collect::<Vec<u64>>()
    };
    assert_eq!(counts(&project, "m.cotree"), weighted(&|run| counts(&project, run), [3, 1, 1]));
    assert_eq!(counts(&project, "runs"), weighted(&|run| counts(&project, run), [1, 1, 1]));
    assert_eq!(cost(&project, "m.cotree"), weighted(&|run| cost(&project, run), [3, 1, 1]));
    project.ok("merge --strict -o twice.cotree m.cotree runs/a.cotree");
    assert_eq!(counts(&project, "twice.cotree"), weighted(&|run| counts(&project, run), [4, 1, 1]));
    assert_eq!(project.ok("report m.cotree").matches("the order in which").count(), 1);
    for line in [
        "annotate",
        "export --strict --format lcov",
        "export --strict --format folded",
        "export --strict --format callgrind",
        "export --strict --format speedscope",
        "export --strict --format weights -o w",
        "export --strict --format symbol-order",
        "verify --strict",
    ] {
        project.ok(&format!("{line} m.cotree"));
    }
    project.ok("cfg f m.cotree");
    let difference = project.ok("diff --strict runs/a.cotree m.cotree");
    assert!(difference.contains('f'), "{difference}");
    project.ok("--use m.cotree cc -O2 -o q p.c");
    succeed(&mut project.command("./q"));
    assert!(project.fails("trace m.cotree").contains("name the profile of one run"));

    // `cotree run` adds up what its processes leave.
    succeed(&mut project.cotree("run -o r.cotree ./p x"));
    assert_eq!(counts(&project, "r.cotree"), counts(&project, "runs/b.cotree"));

    // Without its binary a trace can't be counted; that is said, and where it is may be said.
    fs::rename(project.path("p"), project.path("moved")).expect("a file");
    let error = project.fails("merge -o n.cotree runs/a.cotree runs/b.cotree");
    assert!(error.contains("cannot be counted") && error.contains("--binary"), "{error}");
    project.ok("merge --strict --binary moved -o n.cotree runs/a.cotree:3 runs/b.cotree runs/c.cotree");
    assert_eq!(
        fs::read(project.path("n.cotree")).expect("a file"),
        fs::read(project.path("m.cotree")).expect("a file")
    );
}
