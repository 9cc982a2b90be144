//! Markers in comments exclude lines, branches, functions and regions from coverage.

use crate::project::{Project, succeed};
use serde_json::Value;

const EXCLUDED: &str = include_str!("../programs/findings/excluded-lines.c");

fn records(tracefile: &str, kind: &str) -> Vec<String> {
    tracefile.lines().filter_map(|line| line.strip_prefix(kind).map(str::to_owned)).collect()
}

/// Lines of the records of one kind.
fn lines(tracefile: &str, kind: &str) -> Vec<u32> {
    let number = |record: &String| record.split(',').next()?.parse().ok();
    let mut lines: Vec<u32> = records(tracefile, kind).iter().filter_map(number).collect();
    lines.dedup();
    lines
}

fn notes(project: &Project, line: &str) -> String {
    String::from_utf8(project.cotree(line).output().expect("it starts").stderr).expect("text")
}

#[test]
fn excluded_lines_are_none() {
    let project = Project::new(&[("x.c", EXCLUDED)]);
    project.ok("--coverage cc -O0 -g x.c -o x");
    succeed(project.command(project.path("x")).env("COTREE_FILE", "x.cotree"));
    for tracefile in ["export --format lcov x.cotree", "coverage --lcov x.cotree"] {
        let ours = project.ok(tracefile);
        assert!(lines(&ours, "DA:").iter().all(|line| ![5, 6, 7, 8, 12].contains(line)), "{ours}");
        assert_eq!(lines(&ours, "BRDA:"), [0u32; 0], "{ours}");
        assert_eq!(records(&ours, "FNDA:"), ["1,need", "1,main"], "{ours}");
        let all = project.ok(&format!("{tracefile} --no-markers"));
        assert!([5, 6, 7, 12].iter().all(|line| lines(&all, "DA:").contains(line)), "{all}");
        assert_eq!(lines(&all, "BRDA:"), [5, 12, 14], "{all}");
        assert_eq!(notes(&project, tracefile), "");
    }
    let total = |options: &str| -> Value {
        let json: Value =
            serde_json::from_str(&project.ok(&format!("coverage --json {options} x.cotree"))).expect("JSON");
        ["lines", "functions", "regions", "branches"].map(|what| json["total"][what]["total"].clone()).into()
    };
    // Regions that begin on excluded lines: two conditions, what they lead to, and what follows `abort`.
    assert_eq!(
        (total("--no-markers"), total("")),
        (serde_json::json!([16, 2, 11, 6]), serde_json::json!([11, 2, 6, 0]))
    );
    let text = project.ok("coverage --show-missing-lines x.cotree");
    assert!(text.contains("  x.c: 15\n"), "{text}");
}

/// Functions, templates, macros, code that should not run, and markers without their other halves.
#[test]
fn markers_of_all_kinds() {
    let source = "#define TWICE(x) ((x) > 2 ? (x) * 2 : (x)) // LCOV_EXCL_BR_LINE\n\
        template <class T> T pick(T a, T b) { // GCOVR_EXCL_START\n    return a < b ? a : b;\n}\n\
        // GCOVR_EXCL_STOP\n\
        static int gone(int n) { return n; } // LCOVR_EXCL_LINE\n\
        int never(int n) {\n    return n + 1; // LCOV_UNREACHABLE_LINE\n}\n\
        int main(int n, char **) {\n    n = pick(n, 3) + (int)pick(1.5, 2.5) + TWICE(n);\n\
        \x20   if (n > 1) // GCOV_EXCL_BR_START\n        n = gone(n);\n    // GCOV_EXCL_BR_STOP\n\
        \x20   if (n > 9) n = 0; // LCOV_UNREACHABLE_LINE\n    return n > 100 ? never(n) : 0; // LCOV_EXCL_STOP\n}\n\
        // LCOV_EXCL_START\n\
        int bounded(int n) // GCOVR_EXCL_FUNCTION\n{\n    return n ? 1 : 2;\n}\n\
        // GCOVR_EXCL_BR_SOURCE GCOV_EXCL_FUNCTION\n";
    let project = Project::new(&[("m.cc", source)]);
    project.ok("--coverage c++ -O0 -g m.cc -o m");
    succeed(project.command(project.path("m")).env("COTREE_FILE", "m.cotree"));
    for tracefile in ["export --format lcov --demangle m.cotree", "coverage --lcov m.cotree"] {
        let ours = project.ok(tracefile);
        let functions: Vec<u32> = lines(&ours, "FN:");
        assert_eq!(functions, [7, 10], "{ours}");
        assert!(lines(&ours, "DA:").iter().all(|line| ![2, 3, 4, 6, 8, 15, 19, 20, 21, 22].contains(line)), "{ours}");
        // The condition of a macro is at the line that uses the macro.
        let branches = lines(&ours, "BRDA:");
        assert!(![12, 15, 21].iter().any(|line| branches.contains(line)) && branches.contains(&16), "{ours}");
        let said = notes(&project, tracefile);
        assert!(said.contains("m.cc:16: LCOV_EXCL_STOP without LCOV_EXCL_START excludes nothing"), "{said}");
        assert!(said.contains("m.cc:18: LCOV_EXCL_START without LCOV_EXCL_STOP excludes nothing"), "{said}");
        assert!(said.contains("m.cc:23: GCOVR_EXCL_BR_SOURCE excludes nothing: cotree does not know"), "{said}");
        assert!(said.contains("m.cc:23: GCOV_EXCL_FUNCTION excludes nothing: no function begins there"), "{said}");
        assert!(said.contains("m.cc:15 ran 1 time, and is marked as unreachable"), "{said}");
        assert!(!said.contains("m.cc:8 "), "{said}");
        assert_eq!(notes(&project, &format!("{tracefile} --no-markers")), "");
    }
    assert_eq!(lines(&project.ok("coverage --lcov m.cotree"), "BRDA:"), [16]);
    std::fs::rename(project.path("m.cc"), project.path("n.cc")).expect("a file");
    let said = notes(&project, "coverage m.cotree");
    assert!(said.contains("1 source file not on this machine"), "{said}");
}
