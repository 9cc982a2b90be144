//! Decisions in other forms than the table: gates, tracefiles, and what is written in macros.

use crate::project::{Project, succeed};
use serde_json::Value;

/// A build that counts decisions and has none passes gates, as one without branches does.
#[test]
fn no_decision_is_none_that_is_missed() {
    let project = Project::new(&[("a.c", "int main(int n, char **v) { return v[0] == 0 ? n : 0; }\n")]);
    for (build, counts) in [("--coverage --mcdc", true), ("--coverage", false)] {
        project.ok(&format!("{build} cc -O1 a.c -o a"));
        succeed(project.command(project.path("a")).env("COTREE_FILE", "a.cotree"));
        let table = project.ok("coverage --fail-under-branches 50 a.cotree");
        assert_eq!(table.contains("mcdc"), counts, "{table}");
        for asks in ["--fail-under-mcdc 100", "--show-mcdc"] {
            if counts {
                let table = project.ok(&format!("coverage {asks} a.cotree"));
                assert!(table.contains("-       0  a.c"), "{table}");
            } else {
                let refused = project.fails(&format!("coverage {asks} a.cotree"));
                assert!(
                    refused.contains("no decisions are counted: build with `cotree --coverage --mcdc`"),
                    "{refused}"
                );
            }
        }
    }
}

/// Conditions in macros are in the order of the text, and decisions at the lines that use them. What lcov counts of
/// them is twice what the table does: each condition is true and false.
#[test]
fn tracefiles_have_decisions_at_their_lines() {
    let header = "#define ANY(x, y) ((x) || (y))\n#define BOTH(x, y) ((x) && (y))\n";
    let source = "#include \"m.h\"\n\
        template <typename T> static bool in(T a, T b) { return a > 1 && b > 1; }\n\
        int main(int n, char **) {\n\
        \tint r = 0;\n\
        \tif (n < 9 && ANY(n > 3,\n\t\tn == 1)) r = 1;\n\
        \tr += ANY(n > 3, BOTH(n > 0, n < 3)) + BOTH(n, n > 3);\n\
        \treturn r + in(2, n) + in(2, 2) + in(0.5, 2.5) - 2;\n}\n";
    let project = Project::new(&[("m.h", header), ("m.cc", source)]);
    project.ok("--coverage --mcdc c++ -O1 -w m.cc -o m");
    assert!(
        project.command(project.path("m")).env("COTREE_FILE", "m.cotree").status().expect("it runs").code().is_some()
    );
    let traced = project.ok("coverage --lcov m.cotree");
    let records: Vec<&str> = traced.lines().filter(|line| line.starts_with("MC")).collect();
    let of = |line: &str| records.iter().filter(|record| record.starts_with(&format!("MCDC:{line},"))).count();
    assert_eq!(["2,2", "5,3", "7,3", "7,2"].map(of), [4, 6, 6, 4], "{traced}");
    assert!(records.contains(&"MCDC:5,3,t,0,0,n < 9") && records.contains(&"MCDC:2,2,t,1,1,b > 1"), "{traced}");
    let json: Value = serde_json::from_str(&project.ok("coverage --json m.cotree")).expect("JSON");
    let mcdc = |part: &str| 2 * json["total"]["mcdc"][part].as_u64().expect("a number");
    let sums = [format!("MCF:{}", mcdc("total")), format!("MCH:{}", mcdc("covered"))];
    assert_eq!(records[records.len() - 2..], sums, "{traced}");
    let text = project.ok("coverage --show-mcdc m.cotree");
    assert!(text.contains("    C1 n < 9: ") && text.contains("    C2 at 1:20: "), "{text}");
}
