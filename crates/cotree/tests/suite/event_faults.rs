//! What other people's programs have shown of counted events.

use crate::project::{Project, succeed};
use serde_json::Value;

/// Per function, its own instructions and its entries.
fn told(project: &Project, profile: &str, name: &str) -> (u64, u64) {
    let file: Value = serde_json::from_str(&project.ok(&format!("export --format json {profile}"))).expect("JSON");
    let functions = file["units"][0]["functions"].as_array().expect("functions");
    let function = functions.iter().find(|function| function["name"] == name).expect("the function");
    let number = |value: &Value| value.as_u64().expect("a number");
    (number(&function["events"]["exclusive"]["instructions"]), number(&function["events"]["entries"]))
}

/// An exception arrives at a landing pad that two calls share: sums of calls are read before the pad counts anything.
#[test]
fn calls_that_share_a_landing_pad() {
    let project = Project::new(&[
        ("p.cpp", include_str!("../programs/findings/events-calls-shared-landing-pad.cpp")),
        ("src/main.rs", include_str!("../programs/findings/events-calls-shared-landing-pad.rs")),
        ("Cargo.toml", "[package]\nname = \"panics\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n"),
    ]);
    let verified = || {
        let verdict = project.ok("verify --strict p.cotree");
        assert!(verdict.starts_with("OK: ") && verdict.contains(" calls, 1 kind of events compared"), "{verdict}");
        assert!(verdict.contains("; 0 functions not vouched for, 0 counts differ"), "{verdict}");
    };
    for level in ["-O0", "-O1", "-O2"] {
        project.ok(&format!("--verify --profile events-calls=instructions c++ {level} -w -o p p.cpp"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        verified();
        if level == "-O0" {
            assert_eq!(told(&project, "p.cotree", "g()"), (19, 1));
            assert_eq!(told(&project, "p.cotree", "X::~X()"), (13, 1));
        }
    }
    for (release, folder) in [("", "debug"), (" --release", "release")] {
        project.ok(&format!("--verify --profile events-calls=instructions cargo build -q{release}"));
        let program = project.path(&format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/panics"));
        succeed(project.command(program).env("COTREE_FILE", "p.cotree"));
        verified();
    }
}

/// A signal ends a loop whose counts are in a register: beside the numbers it says so, and how to build so that none is
/// missing.
#[test]
fn a_loop_under_way_is_missed_aloud() {
    let project = Project::new(&[("p.c", include_str!("../programs/findings/sigterm-in-hot-loop.c"))]);
    let report = |options: &str| {
        project.ok(&format!("{options} cc -O1 -g -o p p.c"));
        let mut program = project.command("timeout");
        program.arg("1").arg(project.path("p")).arg("100000000000").env("COTREE_FILE", "p.cotree");
        assert_eq!(program.status().expect("it starts").code(), Some(124));
        [project.ok("report p.cotree"), project.ok("annotate p.cotree --file p.c")]
    };
    let missing = "(what a loop under way had counted is missing)";
    let [table, page] = report("");
    let advice = "build with --affine off --promote off to have every turn counted in memory";
    assert!(table.split_whitespace().collect::<Vec<_>>().join(" ").contains(advice), "{table}");
    assert!(table.contains("main *") && table.contains(&format!("\n  * {missing}\n")), "{table}");
    let under_loop = page.lines().skip_while(|line| !line.contains("step(i);")).nth(1).expect("a line");
    assert_eq!(under_loop.trim(), missing, "{page}");
    let [table, page] = report("--affine off --promote off");
    assert!(!table.contains("is missing") && !page.contains("is missing"), "{table}{page}");
    let turns = page.lines().find(|line| line.contains("step(i);")).and_then(|line| line.split_whitespace().next());
    let turns = turns.expect("a count").trim_start_matches('~').replace(',', "").parse::<u64>().expect("a number");
    assert!(turns > 1_000, "{page}");
}

/// A handler that returns passes its closing brace, where its end is called; the line of a mere jump is none.
#[test]
fn the_closing_brace_of_a_handler_is_counted() {
    let project = Project::new(&[("p.cc", include_str!("../programs/findings/closing-brace-of-catch.cc"))]);
    project.ok("c++ -O0 -g -o p p.cc");
    let mut program = project.command(project.path("p"));
    assert_eq!(program.env("COTREE_FILE", "p.cotree").output().expect("it starts").status.code(), Some(1));
    let lcov = project.ok("export --format lcov p.cotree --file p.cc");
    assert!(lcov.contains("DA:11,1\nDA:12,1\nDA:13,0\n"), "{lcov}");
    let page = project.ok("annotate p.cotree");
    assert!(page.contains("branch at column 9: true 1 (to line 4), false 0 (to line 5)"), "{page}");
}

/// Lines that only cleanups of exceptions are on are no lines that could have run.
#[test]
fn lines_of_unwinding_are_not_missed() {
    let source = "#include <cstdio>\nstruct A { int x; ~A(); };\nA::~A() { if (x) puts(\"a\"); }\n\
                  void call(int n) { if (n > 5) throw n; }\nvoid endless(int n) {\n    A a{n};\n    for (;;) {\n        call(n);\n        \
                  if (n++ == 9) __builtin_abort();\n    }\n}\nint main(int c, char **) {\n    if (c > 1) endless(c);\n    return 0;\n}\n";
    let project = Project::new(&[("p.cc", source)]);
    project.ok("c++ -O0 -g -o p p.cc");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let lcov = project.ok("export --format lcov p.cotree --file p.cc");
    // The closing brace of `endless` is where the destructor is called if an exception passes, and nothing else.
    assert!(lcov.contains("DA:9,0\n") && !lcov.contains("DA:11,"), "{lcov}");
}

/// What is left without the checks that the compiler puts in are the branches that the source has.
#[test]
fn checks_of_rust_are_left_out_of_branches() {
    let source = "fn half(n: usize, of: &[usize]) -> usize {\n    if n % 2 == 1 {\n        return of[n] + 1;\n    }\n    of[n / 2]\n}\n\
                  fn main() {\n    let n = std::env::args().count();\n    println!(\"{}\", half(n, &[1, 2]));\n}\n";
    let manifest = "[package]\nname = \"checks\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", source)]);
    project.ok("cargo build -q");
    let program = project.path("target/cotree/x86_64-unknown-linux-gnu/debug/checks");
    succeed(project.command(program).env("COTREE_FILE", "p.cotree"));
    let branches = |line: &str| project.ok(line).lines().filter(|line| line.contains("branch at")).count();
    assert_eq!(branches("annotate p.cotree --file main.rs --no-checks"), 1);
    assert!(branches("annotate p.cotree --file main.rs") >= 4, "bounds twice and an overflow");
    let outcomes = |line: &str| project.ok(line).lines().filter(|line| line.starts_with("BRDA:")).count();
    let export = "export --format lcov --no-exceptions p.cotree --file main.rs";
    assert_eq!(outcomes(&format!("{export} --no-checks")), 2);
    assert!(outcomes(export) >= 8);
}
