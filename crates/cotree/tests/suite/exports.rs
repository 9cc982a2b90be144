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
