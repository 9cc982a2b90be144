//! Counts of the coverage map where executions left early: programs tally their own lines, and the lines of the map
//! have to say the same.

use crate::lines;
use crate::project::{Project, succeed};
use std::process::Command;

macro_rules! program {
    ($name:literal) => {
        ($name, include_str!(concat!("../programs/coverage/", $name)))
    };
}

const TALLY: (&str, &str) = ("tally.h", include_str!("../programs/tally.h"));

/// Runs a program, which leaves a profile and a tally, and holds the lines of its coverage map against the tally. Gives
/// how many lines were compared.
fn compare(project: &Project, run: &mut Command, (name, source): (&str, &str)) -> usize {
    run.env("COTREE_FILE", "ran.cotree").output().expect("it starts");
    let tallies = std::fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut tallies = tallies.filter(|path| path.extension().is_some_and(|extension| extension == "bin"));
    let tally = tallies.next().expect("a tally");
    let tracefile = project.ok("coverage --lcov ran.cotree");
    let (compared, problems) = lines::compare(name, source, &std::fs::read(&tally).expect("a file"), &tracefile, 0);
    assert!(problems.is_empty(), "{run:?}:\n{}\n{tracefile}", problems.join("\n"));
    std::fs::remove_file(tally).expect("it is there");
    compared
}

/// `exit`, `longjmp`, the end of a thread and signals, deep in calls, and nothing of the kind.
#[test]
fn calls_that_do_not_return_end_what_is_covered() {
    let (name, source) = program!("cuts.c");
    let source = source.replace("../tally.h", "tally.h");
    let project = Project::new(&[(name, &source), TALLY]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage cc -w {level} -pthread cuts.c -o cuts"));
        for kind in ["none", "exit", "_exit", "abort", "term", "jump", "thread"] {
            let compared = compare(&project, project.command(project.path("cuts")).arg(kind), (name, &source));
            assert_eq!(compared, 44, "{level} {kind}");
        }
    }
}

/// Exceptions out of constructors, templates, lambdas, loops, and handlers that return or throw on.
#[test]
fn exceptions_end_what_is_covered() {
    let (name, source) = program!("cuts.cc");
    let source = source.replace("../tally.h", "tally.h");
    let project = Project::new(&[(name, &source), TALLY]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage c++ -w {level} cuts.cc -o cuts"));
        assert_eq!(compare(&project, &mut project.command(project.path("cuts")), (name, &source)), 43, "{level}");
    }
}

/// Scopes that clean up join the paths out of them, which part again: what follows is cut where it was left.
#[test]
fn what_follows_a_scope_that_cleans_up_is_cut() {
    let (name, source) = program!("joined.cc");
    let source = source.replace("../tally.h", "tally.h");
    let project = Project::new(&[(name, &source), TALLY]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage c++ -w {level} joined.cc -o joined"));
        for last in ["0", "5", "23", "60"] {
            let compared = compare(&project, project.command(project.path("joined")).arg(last), (name, &source));
            assert_eq!(compared, 135, "{level} {last}");
        }
        // Outcomes of conditions whose branch is not found are as the counters say, which is told.
        let said = project.cotree("coverage ran.cotree").output().expect("it starts");
        let note = String::from_utf8_lossy(&said.stderr);
        let conditions = if level == "-O2" { 10 } else { 8 };
        let is_told = note.contains(&format!("{conditions} conditions of functions that were left early"));
        assert!(is_told, "{level}: {note}");
        // Of what may be wrong in functions with an `if constexpr`, a note tells, too.
        assert!(
            note.contains("6 functions in which the branch of an `if constexpr` may not come out"),
            "{level}: {note}"
        );
    }
}

/// Panics that are caught, that end a thread, and an end of the process; of inlined functions, too.
#[test]
fn panics_end_what_is_covered() {
    let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", program!("cuts.rs").1)]);
    for (level, folder) in [("", "debug"), (" --release", "release")] {
        project.ok(&format!("--coverage cargo build --quiet{level}"));
        let program = project.path(&format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/m"));
        for arguments in [&[][..], &["exit"]] {
            let compared =
                compare(&project, project.command(&program).args(arguments), ("main.rs", program!("cuts.rs").1));
            assert_eq!(compared, 38, "{level} {arguments:?}");
        }
    }
}

/// An assertion that holds has run, also if the code that fails it is all that has its place, and a panic follows.
#[test]
fn assertions_that_hold_have_run() {
    let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let source = "use std::cell::Cell;\nuse std::panic::{AssertUnwindSafe, catch_unwind};\n\
        struct Guard<'a>(&'a Cell<usize>);\n\
        impl Drop for Guard<'_> {\n    fn drop(&mut self) {\n        self.0.set(1);\n    }\n}\n\
        fn main() {\n    let drops = Cell::new(0);\n    let _ = catch_unwind(AssertUnwindSafe(|| {\n        \
        let _guard = Guard(&drops);\n        assert_eq!(drops.get(), 0);\n        panic!(\"failure\")\n    }));\n    \
        assert_eq!(drops.get(), 1);\n}\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", source)]);
    project.ok("--coverage cargo build --quiet");
    let program = project.path("target/cotree/x86_64-unknown-linux-gnu/debug/m");
    succeed(project.command(&program).env("COTREE_FILE", "ran.cotree"));
    let document: serde_json::Value = serde_json::from_str(&project.ok("coverage --json ran.cotree")).expect("JSON");
    let regions = &document["total"]["regions"];
    assert_eq!(regions["covered"], regions["total"], "{document}");
    assert_eq!(regions["total"], 19, "{document}");
}

/// A line that is a macro of a system header counts as often as the macro was reached, and not as what is around it.
#[test]
fn lines_of_assertions_count_as_they_ran() {
    let (name, source) = program!("asserts.c");
    let project = Project::new(&[(name, source)]);
    project.ok("--coverage cc -w -O0 asserts.c -o asserts");
    succeed(project.command(project.path("asserts")).env("COTREE_FILE", "ran.cotree"));
    let tracefile = project.ok("coverage --lcov ran.cotree");
    let of_line =
        |line: &str| line.split_once(',').and_then(|(line, count)| Some((line.parse().ok()?, count.parse().ok()?)));
    let counts: Vec<(usize, u64)> =
        tracefile.lines().filter_map(|line| line.strip_prefix("DA:")).filter_map(of_line).collect();
    let expected = [11, 11, 2, 9, 19, 10, 7, 7, 7, 9, 1, 1, 1, 1, 9, 9, 33, 33, 9, 0, 9, 9, 27, 18, 9, 0, 0, 0, 1, 11];
    // Clang gives no line to an assertion that ends a function.
    let expected: Vec<(usize, u64)> = (3..).zip(expected).chain([(34, 1)]).collect();
    assert_eq!(counts, expected, "{tracefile}");
}

/// Threads that count the same lines at once lose none.
#[test]
fn threads_lose_no_counts() {
    let (name, source) = program!("threads.c");
    let source = source.replace("../tally.h", "tally.h");
    let project = Project::new(&[(name, &source), TALLY]);
    project.ok("--coverage cc -O2 -pthread threads.c -o threads");
    assert_eq!(compare(&project, &mut project.command(project.path("threads")), (name, &source)), 9);
}

/// llvm-cov can't be told: that is said, with how many regions it is about.
#[test]
fn llvm_is_not_left_in_the_dark() {
    let source = "#include <stdlib.h>\n\
        static void leave(int n) { if (n) exit(0); }\n\
        static void step(int n) {\n    leave(n);\n    leave(0);\n}\n\
        int main(int n, char **v) {\n    (void)v;\n    step(n);\n    return 1;\n}\n";
    let project = Project::new(&[("leaves.c", source)]);
    project.ok("--coverage cc -O1 leaves.c -o leaves");
    succeed(project.command(project.path("leaves")).env("COTREE_FILE", "leaves.cotree"));
    let output = project.cotree("coverage --show-missing-lines leaves.cotree").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.stderr.is_empty() && said.contains("leaves.c: 5-6, 10-11"), "{output:?}");
    let output = project.cotree("export --format llvm-profdata leaves.cotree").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("regions that executions left early") && said.contains("`cotree coverage` has them"),
        "{said}"
    );
}
