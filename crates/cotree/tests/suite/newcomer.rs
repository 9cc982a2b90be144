//! What somebody meets who uses cotree for the first time, in a narrow terminal or in a pipe.

use crate::project::Project;
use std::fs;

/// A C++ program with long names.
const PROGRAM: &str = "#include <cstdio>\n\
namespace a_namespace_with_a_long_name { template <class T> struct Container {\n\
__attribute__((noinline)) T add_all_of_these(T from, T to) const { T sum = 0; for (T i = from; i < to; i++) sum += i % 7; return sum; }\n\
}; }\n\
int main() { a_namespace_with_a_long_name::Container<long long> c; std::printf(\"%lld\\n\", c.add_all_of_these(0, 1000)); }\n";

#[test]
fn reports_fit_eighty_columns_and_keep_names_and_lines() {
    let project = Project::new(&[("program.cpp", PROGRAM)]);
    project.ok("--profile trace c++ -O1 -g -o program program.cpp");
    project.run("program");
    let report = project.ok("report --width 80");
    assert!(report.lines().skip(3).all(|line| line.chars().count() <= 80), "{report}");
    let row = report.lines().find(|line| line.contains("add_all_of_these")).expect("a row");
    assert!(row.contains("a_namespace") && row.ends_with("program.cpp:3"), "{report}");
    let wide = project.ok("report");
    assert!(wide.contains("blocks  entries  inlined  function"), "{wide}");
    let costs = project.ok("costs --width 80");
    assert!(costs.lines().all(|line| line.chars().count() <= 80), "{costs}");
    assert!(costs.contains("::add_all_of_these") && costs.contains("program.cpp:5"), "{costs}");

    // A label that has no room for all of a name shows its beginning.
    let graph = project.ok("export --format flamegraph");
    assert!(graph.contains("var truncate_text_right = true;"), "the script does so when one zooms");

    let nowhere = project.fails("trace --first program.cpp:4");
    assert!(nowhere.contains("no code is of program.cpp:4: the nearest lines with code are 3 and 5"), "{nowhere}");
    let nowhere = project.fails("trace --first other.cpp:4");
    assert!(nowhere.contains("the traced program has no lines of that file"), "{nowhere}");
}

#[test]
fn errors_in_a_pipe_are_lines() {
    let project = Project::new(&[]);
    let said = |line: &str| {
        let output = project.cotree(line).output().expect("cotree starts");
        assert!(!output.status.success(), "{line}");
        String::from_utf8(output.stderr).expect("text")
    };
    let error = said("report");
    assert!(error.starts_with("cotree: error: there is no profile (*.cotree) in the current directory"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    let error = said("cargo clippy");
    assert_eq!(
        error,
        "cotree: error: `cargo clippy` builds no program that could be profiled [cargo-command]\n\
         cotree: help: run it without cotree\n"
    );
    fs::write(project.path("broken.cotree"), "no profile").expect("a file");
    let error = said("report broken.cotree");
    assert!(error.starts_with("cotree: error: ") && !error.contains(['×', '│', '╰']), "{error}");
    for (line, tip) in [("export a b", "cotree merge -o all.cotree"), ("report --json", "cotree export --format json")]
    {
        assert!(said(line).contains(tip), "{line}: {}", said(line));
    }
}
