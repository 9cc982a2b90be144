//! Exports for compilers and linkers, which have to take them: sample profiles, and orders of functions.

use crate::project::{Project, succeed};
use std::fs;

/// A function that is inlined, one that is called from hot code, one from cold code, and one that never runs.
const PROGRAM: &str = "#include <stdio.h>
#define ALONE __attribute__((noinline))
ALONE static long rare(long x) { return x * 7; }
ALONE static long never(long x) { return x - 1; }
static long twice(long x) {
    if (x % 2)
        return x * 2;
    return x + 1;
}
ALONE static long step(long x) {
    long sum = 0;
    for (int i = 0; i < 50; i++)
        sum += twice(x + i);
    return sum;
}
int main(int argc, char **argv) {
    long sum = 0;
    for (int i = 0; i < 400; i++)
        sum ^= step(sum % 1000);
    if (argc > 5) sum = never(sum);
    printf(\"%ld\\n\", rare(sum));
    return 0;
}
";

fn profiled(options: &str) -> Project {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok(&format!("{options} cc -O2 -g -o p p.c"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    project
}

/// The tool of a version that is installed, newest first.
fn newest(tool: &str) -> String {
    let found = |version: &u32| std::path::Path::new(&format!("/usr/bin/{tool}-{version}")).exists();
    format!("{tool}-{}", (14..40).rev().find(found).expect("one is installed"))
}

#[test]
fn samples_are_exact_counts_by_line() {
    let project = profiled("--at early");
    let samples = project.ok("export --format llvm-sample p.cotree");
    // Older clangs have an instruction in the line of the closing brace, too.
    assert!(samples.contains("main:805:1\n") || samples.contains("main:806:1\n"), "{samples}");
    let expected = "\
 1: 1
 2: 401
 3: 400 step:400
 4: 1
 5: 1 printf:1 rare:1
 6: 1
";
    assert!(samples.contains(expected), "{samples}");
    assert!(samples.contains("twice:") && samples.contains(" 1: 20000\n 2: 10000\n 3: 10000\n"), "{samples}");
    assert!(samples.contains(" 2: 20400\n 3: 20000 twice:20000\n"), "{samples}");
    assert!(samples.starts_with("twice:") || samples.starts_with("step:"), "hot ones first: {samples}");
    assert!(!samples.contains("never:"), "it did not run: {samples}");
}

#[test]
fn what_was_inlined_stands_below_the_line_of_its_call() {
    let project = profiled("");
    let output = project.cotree("export --format llvm-sample p.cotree").output().expect("cotree starts");
    let (samples, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    // `twice` is gone, and with it the line in which it begins.
    assert!(said.contains("left out what was inlined at 1 place"), "{said}");
    assert!(samples.contains("step:") && samples.contains("\n 3: 400 step:400\n"), "{samples}");
    // Here it is still there, since others may call it.
    fs::write(project.path("p.c"), PROGRAM.replace("static long twice", "long twice")).expect("a file");
    project.ok("cc -O2 -g -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let samples = project.ok("export --format llvm-sample p.cotree");
    assert!(samples.contains("\n 3: twice:") && samples.contains("\n  1: "), "{samples}");
}

#[test]
fn clang_compiles_by_samples() {
    let project = profiled("--at early");
    fs::write(project.path("p.afdo"), project.ok("export --format llvm-sample p.cotree")).expect("a file");
    succeed(project.command(newest("llvm-profdata")).args(["merge", "--sample", "p.afdo", "-o", "p.profdata"]));
    let shown = succeed(project.command(newest("llvm-profdata")).args(["show", "--sample", "p.profdata"]));
    assert!(shown.contains("Function: main") && shown.contains("Function: step"), "{shown}");
    let clang = newest("clang");
    let mut entries = Vec::new();
    for profile in ["-fprofile-sample-use=p.afdo", "-fprofile-sample-use=p.profdata", "-w"] {
        let mut compile = project.command(&clang);
        compile.args(["-O2", "-g", profile, "-S", "-emit-llvm", "-o", "p.ll", "p.c"]);
        let output = compile.output().expect("clang starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{profile}: {said}");
        let text = fs::read_to_string(project.path("p.ll")).expect("text");
        // Older versions add one to the counts of entries that they read.
        let counted =
            ["i64 400}", "i64 401}"].iter().any(|n| text.contains(&format!("!{{!\"function_entry_count\", {n}")));
        entries.push((counted, text.contains("SampleProfile")));
        succeed(project.command(&clang).args(["-O2", "-g", profile, "-o", "q", "p.c"]));
        assert_eq!(project.run("q"), project.run("p"));
    }
    assert_eq!(entries, [(true, true), (true, true), (false, false)]);
}

#[test]
fn linkers_put_functions_in_order() {
    let project = profiled("");
    let symbols = project.ok("export --format symbol-order p.cotree");
    let order: Vec<&str> = symbols.lines().collect();
    // `step` executes nearly everything; who calls it stands before it. What never ran is not there.
    assert_eq!(order, ["main", "step", "rare"], "{symbols}");
    let sections = project.ok("export --format section-order p.cotree");
    assert_eq!(
        sections.lines().collect::<Vec<_>>(),
        order.iter().flat_map(|s| [format!(".text.hot.{s}"), format!(".text.{s}")]).collect::<Vec<_>>()
    );
    fs::write(project.path("order"), ".text.rare\n.text.step\n.text.main\n").expect("a file");
    fs::write(project.path("ours"), sections).expect("a file");
    let address = |program: &str, symbol: &str| {
        let table = succeed(project.command("nm").arg(project.path(program)));
        let line = table.lines().find(|line| line.split_whitespace().last() == Some(symbol)).expect("it is there");
        u64::from_str_radix(line.split_whitespace().next().expect("an address"), 16).expect("a number")
    };
    for (file, expected) in [("order", ["rare", "step", "main"]), ("ours", ["main", "step", "rare"])] {
        let mut link = project.command(newest("clang"));
        link.args(["-O2", "-ffunction-sections", "-fuse-ld=gold", "-o", "q", "p.c"]);
        succeed(link.arg(format!("-Wl,--section-ordering-file={file}")));
        let found = expected.map(|symbol| address("q", symbol));
        assert!(found.is_sorted(), "{file}: {found:x?}");
    }
}
