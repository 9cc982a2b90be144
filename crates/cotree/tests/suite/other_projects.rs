//! What building and testing projects of others has shown: each test is a small program for it.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::process::Command;

/// A constructor whose initializers are regions of their own: the record of a program that does not use it has the body
/// alone.
const HEADER: &str = "struct Pair {\n    int a, b;\n    Pair() : a(1), b(2) {}\n};\n";

/// A record that says that a function is not used gives way to those of other programs, also if the function has one
/// counter alone, whose hash is that of no structure, 0.
#[test]
fn functions_that_one_program_does_not_use_count_once() {
    let uses = "#include \"pair.h\"\nint main() {\n    Pair pair;\n    return pair.a + pair.b - 3;\n}\n";
    let other = "#include \"pair.h\"\nint main() {\n    return 0;\n}\n";
    let project = Project::new(&[("pair.h", HEADER), ("uses.cc", uses), ("other.cc", other)]);
    for program in ["uses", "other"] {
        project.ok(&format!("--coverage c++ -O1 {program}.cc -o {program}"));
        succeed(project.command(project.path(program)).env("COTREE_FILE", format!("{program}.cotree")));
    }
    for profiles in ["uses.cotree other.cotree", "other.cotree uses.cotree"] {
        let json: Value =
            serde_json::from_str(&project.ok(&format!("coverage --json --file pair.h {profiles}"))).unwrap();
        for (what, total) in [("lines", 1), ("functions", 1), ("regions", 3)] {
            let share = &json["total"][what];
            assert_eq!((&share["covered"], &share["total"]), (&total.into(), &total.into()), "{what}, {profiles}");
        }
    }
}

/// A program without any function that is counted has a map all the same: its functions are missed. The tests of a
/// procedural macro can be such a program.
#[test]
fn a_program_may_use_no_function_of_its_map() {
    let never = "static inline int never(int n) {\n    return n;\n}\n";
    let project = Project::new(&[("main.c", "int main(void) {\n    return 0;\n}\n"), ("never.c", never)]);
    project.ok("--at early cc -O1 -c main.c");
    project.ok("--coverage cc -O1 -w -c never.c");
    project.ok("--coverage cc main.o never.o -o app");
    succeed(project.command(project.path("app")).env("COTREE_FILE", "app.cotree"));
    let table = project.ok("coverage --show-missing-lines app.cotree");
    assert!(table.contains("  never.c: 1-3\n"), "{table}");
    // Without coverage at all, there is nothing to show.
    project.ok("cc -O1 main.c -o app");
    succeed(project.command(project.path("app")).env("COTREE_FILE", "app.cotree"));
    project.fails("coverage app.cotree");
    // Nor if the compiler's own counters count the map.
    project.ok("cc -O1 -w -fprofile-instr-generate -fcoverage-mapping main.c -o app");
    let mut run = project.command(project.path("app"));
    succeed(run.env("COTREE_FILE", "app.cotree").env("LLVM_PROFILE_FILE", "/dev/null"));
    project.fails("coverage app.cotree");
}

/// Destructors of global objects run at the very end, after clang's own runtime has written its profile.
#[test]
fn what_runs_at_the_end_counts() {
    let source = "#include <cstdio>\nstruct Last {\n    ~Last() { std::puts(\"gone\"); }\n} last;\nint main() {}\n";
    let project = Project::new(&[("last.cc", source)]);
    project.ok("--coverage c++ -O1 last.cc -o last");
    let said = succeed(project.command(project.path("last")).env("COTREE_FILE", "last.cotree"));
    assert_eq!(said, "gone\n");
    let tracefile = project.ok("coverage --lcov last.cotree");
    assert!(tracefile.contains("DA:3,1\n") && tracefile.contains("DA:5,1\n"), "{tracefile}");
}

/// Projects check what their libraries export. Names with two underscores are the implementation's, and left out there.
#[test]
fn libraries_export_no_name_that_a_user_could_have() {
    let project = Project::new(&[("twice.c", "int twice(int n) { return 2 * n; }\n")]);
    project.ok("--coverage cc -O1 -shared -fPIC twice.c -o libtwice.so");
    let names = succeed(
        Command::new("nm").args(["-D", "--defined-only", "--format=just-symbols"]).arg(project.path("libtwice.so")),
    );
    let names: Vec<&str> = names.lines().filter(|name| !name.starts_with("__")).collect();
    assert_eq!(names, ["twice"]);
}
