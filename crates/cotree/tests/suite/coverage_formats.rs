//! What `cotree coverage` writes for other programs, held against the compiler's own tool.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::path::Path;

macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../programs/coverage/", $name)))
    };
}

/// The tool of the newest version that is installed.
fn newest(tool: &str) -> String {
    let found = |version: &u32| Path::new(&format!("/usr/bin/{tool}-{version}")).exists();
    format!("{tool}-{}", (14..40).rev().find(found).expect("one is installed"))
}

fn project() -> Project {
    let project = Project::new(&[source!("a.cc"), source!("b.cc"), source!("lib.h")]);
    project.ok("--coverage c++ -O1 a.cc b.cc -o ours");
    succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
    project
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// A list in an order of its own.
fn sorted(list: &Value) -> Vec<String> {
    let mut items: Vec<String> = list.as_array().expect("a list").iter().map(Value::to_string).collect();
    items.sort();
    items
}

/// Sums but for what other versions of llvm-cov have, and with shares that are rounded.
fn sums(summary: &Value) -> Vec<(String, u64, u64)> {
    let kinds = summary.as_object().expect("kinds").iter().filter(|(kind, _)| *kind != "mcdc");
    let number = |value: &Value| value.as_u64().expect("a number");
    kinds.map(|(kind, sum)| (kind.clone(), number(&sum["count"]), number(&sum["covered"]))).collect()
}

const LOOPS: &str = "
#define BOTH(x, y) ((x) && (y))
#define ANY(x, y) (BOTH(x, 2) || (y))
static int unused(int n) { return n; }
static int some(int n) {
    if (BOTH(n > 6, n != 7) || ANY(n < -3, n > 50)) return 1;
    return n % 2 == 1 && n > 2 ? 2 : 3;
}
int main(int count, char **words) {
    int sum = words == 0;
    for (int n = 0; n < 9; n++) {
        switch (n) {
        case 1: sum += some(n); break;
        default: if (n == 4) continue;
        }
        while (sum > 20) sum -= some(n) + count;
        sum += some(n);
    }
    return sum == 0;
}
";

/// Nothing leaves this program early, so that llvm-cov has the same counts.
#[test]
fn llvm_json_is_that_of_llvm_cov() {
    let project = Project::new(&[("loops.c", LOOPS)]);
    project.ok("--coverage cc -O1 loops.c -o ours");
    succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
    project.ok("export --format llvm-profdata -o ours.proftext ours.cotree");
    succeed(project.command(newest("llvm-profdata")).args(["merge", "ours.proftext", "-o", "merged"]));
    let mut export = project.command(newest("llvm-cov"));
    let theirs =
        json(&succeed(export.args(["export", "ours", "-instr-profile=merged", "-skip-expansions"])))["data"][0].clone();
    let ours = json(&project.ok("coverage --llvm-json ours.cotree"));
    assert_eq!(ours["type"], "llvm.coverage.json.export");
    let ours = &ours["data"][0];
    assert_eq!(sums(&ours["totals"]), sums(&theirs["totals"]));
    let list = |value: &Value| value.as_array().expect("a list").clone();
    assert_eq!(list(&ours["files"]).len(), list(&theirs["files"]).len());
    for (ours, theirs) in list(&ours["files"]).iter().zip(list(&theirs["files"])) {
        assert_eq!(ours["filename"], theirs["filename"]);
        assert_eq!(ours["segments"], theirs["segments"], "{}", ours["filename"]);
        assert_eq!(sorted(&ours["branches"]), sorted(&theirs["branches"]), "{}", ours["filename"]);
        assert_eq!(sums(&ours["summary"]), sums(&theirs["summary"]));
    }
    let functions = |document: &Value| {
        let mut functions = list(&document["functions"]);
        functions.sort_by_key(|function| function["name"].to_string());
        functions
    };
    let (ours, theirs) = (functions(ours), functions(&theirs));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        for what in ["name", "count", "filenames"] {
            assert_eq!(ours[what], theirs[what]);
        }
        for what in ["regions", "branches"] {
            assert_eq!(sorted(&ours[what]), sorted(&theirs[what]), "{}", ours["name"]);
        }
    }
}

#[test]
fn cobertura_and_codecov_have_the_table_s_numbers() {
    let project = project();
    let table = json(&project.ok("coverage --json ours.cotree"));
    let written = |format: &str| {
        let command = format!("coverage --{format} --output-path out.{format} ours.cotree");
        succeed(project.cotree(&command).env("SOURCE_DATE_EPOCH", "1700000000"));
        std::fs::read_to_string(project.path(&format!("out.{format}"))).expect("a file")
    };
    let xml = written("cobertura");
    let branches = &table["total"]["branches"];
    let (covered, valid) = (&branches["covered"], &branches["total"]);
    assert!(xml.contains(&format!("branches-covered=\"{covered}\" branches-valid=\"{valid}\"")), "{xml}");
    assert!(xml.contains("lines-covered=\"40\" lines-valid=\"42\"") && xml.contains("timestamp=\"1700000000\""));
    assert!(xml.contains("<class name=\"lib_h\" filename=\"lib.h\""), "{xml}");
    assert!(xml.contains("<method name=\"int pick&lt;int&gt;(bool, int, int)\" signature=\"\""), "{xml}");
    let condition = "<line number=\"5\" hits=\"10\" branch=\"true\" condition-coverage=\"100% (2/2)\">";
    assert!(xml.contains(condition), "{xml}");
    let codecov = &json(&written("codecov"))["coverage"];
    let numbers = |file: &str, lines: [&str; 3]| lines.map(|line| codecov[file][line].clone());
    assert_eq!(numbers("a.cc", ["12", "13", "29"]), [Value::from(0), Value::from(1), Value::from("3/5")]);
    assert_eq!(codecov["b.cc"].as_object().map(serde_json::Map::len), Some(3));
    let both = project.fails("coverage --cobertura --codecov ours.cotree");
    assert!(both.contains("cannot be used with"), "{both}");
}

/// The harness of Rust's tests has its `main` at the place of the first line.
#[test]
fn the_harness_of_rust_is_no_code_of_the_crate() {
    let source =
        "pub fn first(n: i32) -> i32 {\n    n + 1\n}\n\n#[test]\nfn one() {\n    assert_eq!(first(1), 2);\n}\n";
    let manifest = "[package]\nname = \"h\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/lib.rs", source)]);
    succeed(project.cotree("cargo test --lib --quiet --offline").env("COTREE_FILE", "h.cotree"));
    let ours = project.ok("export --format lcov --demangle --file src h.cotree");
    let functions: Vec<&str> = ours.lines().filter(|line| line.starts_with("FN:")).collect();
    assert_eq!(functions, ["FN:1,h::first", "FN:6,h::one"], "{ours}");
    assert!(ours.contains("DA:1,1\n"), "{ours}");
}

/// Where executions left early, segments begin that llvm-cov does not have: at places of the text, in order.
#[test]
fn cuts_are_places_in_llvm_s_json() {
    let source = "#include <stdlib.h>\nstatic void leave(void) {\n    exit(0);\n}\n\
        int main(int count, char **arguments) {\n    if (count) leave();\n\n    arguments[0] = 0;\n    return count;\n}\n";
    let project = Project::new(&[("leaves.c", source)]);
    project.ok("--coverage cc -O1 leaves.c -o leaves");
    succeed(project.command(project.path("leaves")).env("COTREE_FILE", "leaves.cotree"));
    let document = json(&project.ok("coverage --llvm-json leaves.cotree"));
    let segments = document["data"][0]["files"][0]["segments"].as_array().expect("a list");
    let places: Vec<(usize, usize)> = segments
        .iter()
        .map(|segment| {
            assert_eq!(segment.as_array().map(Vec::len), Some(6), "{segment}");
            let number =
                |at: usize| segment[at].as_u64().and_then(|number| usize::try_from(number).ok()).expect("a number");
            (number(0), number(1))
        })
        .collect();
    let length = |line: usize| source.lines().nth(line - 1).map_or(0, str::len);
    assert!(places.is_sorted() && places.iter().all(|&(line, column)| column <= length(line) + 1), "{places:?}");
    assert!(segments.iter().any(|segment| segment[0] == 8 || segment[2] == 0), "{segments:?}");
}
