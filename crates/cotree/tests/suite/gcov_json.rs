//! gcov's JSON has what the tracefile has: lines, branches and functions.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// Conditions, an exception, a `switch`, a template with two instances, and a function that does not run.
const PROGRAM: &str = "#include <cstdio>
#include <stdexcept>
static int sort_of(int x) {
  if (x > 2 && x < 5) throw std::runtime_error(\"x\");
  switch (x) { case 0: return 1; case 1: return 5; default: break; }
  return x;
}
template <class T> __attribute__((noinline)) T one_if_none(T x) { return x ? x : 1; }
int unused(int x) { return x * 2; }
int main() {
  int sum = 0;
  for (int i = 0; i < 6; i++)
    try {
      sum += sort_of(i) + one_if_none(i) + one_if_none(1.0 * i);
    } catch (std::exception &) {
      sum--;
    }
  std::printf(\"%d\\n\", sum);
  return sum == 0; // LCOV_EXCL_LINE
}
";

fn read(project: &Project, options: &str) -> (Value, String) {
    let mut export =
        project.cotree(&format!("export p.cotree --format gcov-json -o p.gcov.json.gz --file p.cc{options}"));
    let output = export.output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let packed = std::fs::read(project.path("p.gcov.json.gz")).expect("a file");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("gzip");
    (serde_json::from_str(&text).expect("JSON"), said)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The records of a tracefile that begin so, as numbers.
fn records(tracefile: &str, start: &str) -> Vec<Vec<String>> {
    let rows = tracefile.lines().filter_map(|line| line.strip_prefix(start));
    rows.map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn gcov_json_has_what_the_tracefile_has() {
    let project = Project::new(&[("p.cc", PROGRAM)]);
    for level in ["-O0", "-O1"] {
        project.ok(&format!("c++ {level} -g -o p p.cc"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        for options in ["", " --no-exceptions", " --no-markers"] {
            let tracefile = project.ok(&format!("export p.cotree --format lcov --function-ends --file p.cc{options}"));
            let (json, _) = read(&project, options);
            assert_eq!(json["format_version"], "2");
            let [file] = json["files"].as_array().expect("files").as_slice() else { panic!("one file") };
            let lines = file["lines"].as_array().expect("lines");
            let counts: Vec<Vec<String>> =
                lines.iter().map(|line| vec![line["line_number"].to_string(), line["count"].to_string()]).collect();
            assert_eq!(counts, records(&tracefile, "DA:"), "{level}{options}");

            // lcov leaves out the branches that it refuses; all others are the same.
            let mut outcomes: BTreeMap<u64, Vec<String>> = BTreeMap::new();
            let mut blocks = std::collections::HashSet::new();
            for line in lines {
                for branch in line["branches"].as_array().expect("branches") {
                    let exceptional = if branch["throw"] == true { "e" } else { "" };
                    let all = outcomes.entry(number(&line["line_number"])).or_default();
                    all.push(format!("{exceptional}{}", branch["count"]));
                    let source = number(&branch["source_block_id"]);
                    assert!(line["block_ids"].as_array().expect("blocks").contains(&source.into()));
                    assert!(blocks.insert((source, number(&branch["destination_block_id"]))), "told apart");
                }
            }
            let mut expected: BTreeMap<u64, Vec<String>> = BTreeMap::new();
            for record in records(&tracefile, "BRDA:") {
                let exceptional = if record[1].starts_with('e') { "e" } else { "" };
                let count = if record[3] == "-" { "0" } else { record[3].as_str() };
                let line = record[0].parse().expect("a line");
                expected.entry(line).or_default().push(format!("{exceptional}{count}"));
            }
            assert!(!expected.is_empty());
            expected
                .iter()
                .for_each(|(line, expected)| assert_eq!(&outcomes[line], expected, "{level}{options} {line}"));

            let functions = file["functions"].as_array().expect("functions");
            let ours: BTreeMap<String, (u64, u64, u64)> = functions
                .iter()
                .map(|function| {
                    let name = function["name"].as_str().expect("a name").to_owned();
                    let (start, end) = (number(&function["start_line"]), number(&function["end_line"]));
                    assert!(number(&function["blocks_executed"]) <= number(&function["blocks"]));
                    (name, (start, end, number(&function["execution_count"])))
                })
                .collect();
            let mut entries = BTreeMap::new();
            let ranges = records(&tracefile, "FNL:");
            for record in records(&tracefile, "FNA:") {
                let range = ranges.iter().find(|range| range[0] == record[0]).expect("the range");
                let [start, end, count] =
                    [&range[1], &range[2], &record[1]].map(|text| text.parse::<u64>().expect("a number"));
                // Functions of a line have one range there, the largest.
                entries.insert(record[2].split(':').next().expect("a name").to_owned(), (start, end, count));
            }
            assert_eq!(ours.keys().collect::<Vec<_>>(), entries.keys().collect::<Vec<_>>());
            ours.iter()
                .for_each(|(name, ours)| assert_eq!((ours.0, ours.2), (entries[name].0, entries[name].2), "{name}"));
            let unused = functions.iter().find(|function| function["name"] == "_Z6unusedi").expect("it is there");
            assert_eq!((&unused["demangled_name"], &unused["blocks_executed"]), (&"unused(int)".into(), &0.into()));
            let of = |number: u64| lines.iter().find(|line| line["line_number"] == number).expect("the line");
            assert_eq!((&of(9)["unexecuted_block"], &of(9)["function_name"]), (&true.into(), &"_Z6unusedi".into()));
            assert_eq!(of(18)["unexecuted_block"], false);
        }
    }
    // A method that does not measure edges may not know how often an outcome occurred.
    let branches = "static volatile int sink;
int main() {
  for (int i = 0; i < 9; i++) {
    if (i % 3) { if (sink & 1) goto up; else goto down; }
    else { if (sink & 2) goto up; else goto down; }
  up: sink = sink + 5;
  down: sink = sink + 3;
  }
}
";
    std::fs::write(project.path("p.cc"), branches).expect("a file");
    project.ok("--profile vertex c++ -O1 -g -o p p.cc");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let (_, said) = read(&project, "");
    assert!(said.contains("left out 4 outcomes of branches: the profile does not tell"), "{said}");
}
