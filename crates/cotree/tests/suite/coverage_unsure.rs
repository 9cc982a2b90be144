//! Coverage of what is not known, as of processes that were killed: no line is said to have run which did not, and what
//! is not known is said.

use crate::project::Project;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const TALLY: (&str, &str) = ("tally.h", include_str!("../programs/tally.h"));
const KILLED: &str = include_str!("../programs/coverage/killed.c");
const MACROS: &str = include_str!("../programs/coverage/macros.c");

/// What was said of the lines of a run, and what the program has counted itself.
struct Run {
    /// By line.
    counts: BTreeMap<u32, u64>,
    unsure: BTreeSet<u32>,
    tally: Vec<u64>,
    document: Value,
}

impl Run {
    /// The lines whose counts are said to be known. Fails if one of them is wrong, or a line is said to have run more
    /// often than it did.
    fn known(&self, source: &str, what: &str) -> Vec<u32> {
        let mut known = Vec::new();
        for (line, slot) in tallied(source) {
            let (said, ran) = (self.counts[&line], self.tally[slot]);
            assert!(said <= ran, "{what}: line {line} ran {ran} times, not {said}");
            if !self.unsure.contains(&line) {
                assert_eq!(said, ran, "{what}: line {line}");
                known.push(line);
            }
        }
        known
    }
}

/// The lines with a tally, each with its number.
fn tallied(source: &str) -> Vec<(u32, usize)> {
    let slot = |line: &str| line.trim().strip_prefix("T(")?.split_once(");")?.0.parse().ok();
    (1..).zip(source.lines()).filter_map(|(number, line)| Some((number, slot(line)?))).collect()
}

fn lines(parts: &Value) -> impl Iterator<Item = u32> {
    let parts: Vec<[u32; 2]> =
        if parts.is_null() { Vec::new() } else { serde_json::from_value(parts.clone()).expect("parts") };
    parts.into_iter().flat_map(|[first, last]| first..=last)
}

fn run(project: &Project, program: &str, arguments: &[&str]) -> Run {
    project
        .command(project.path(program))
        .args(arguments)
        .env("COTREE_FILE", "ran.cotree")
        .output()
        .expect("it starts");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(project.path(".")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with("ran.cotree") || name.starts_with("tally.") && name.ends_with(".bin") {
            found.insert(name.starts_with("ran."), path);
        }
    }
    let profile = found[&true].display().to_string();
    let document: Value = serde_json::from_str(&project.ok(&format!("coverage --json {profile}"))).expect("JSON");
    let file = &document["files"][0];
    let tracefile = project.ok(&format!("coverage --lcov {profile}"));
    let count = |line: &str| {
        let (number, count) = line.strip_prefix("DA:")?.split_once(',')?;
        Some((number.parse().ok()?, count.parse().ok()?))
    };
    let bytes = std::fs::read(&found[&false]).expect("a tally");
    let run = Run {
        counts: tracefile.lines().filter_map(count).collect(),
        unsure: lines(&file["may_have_run_lines"]).chain(lines(&file["uncertain_counts"])).collect(),
        tally: bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect(),
        document: document.clone(),
    };
    found.into_values().for_each(|path| std::fs::remove_file(path).expect("it is there"));
    run
}

/// Kills the program in different places. Gives how many lines were known in all of them.
fn check(project: &Project) -> usize {
    let mut known = 0;
    let places = ["straight 0", "once 0", "third 0", "third 2", "deep 0", "choose 0", "handler 0", "thread 0", "end 0"];
    for place in places {
        let run = run(project, "killed", &place.split(' ').collect::<Vec<_>>());
        known += run.known(KILLED, place).len();
        assert!(run.unsure.iter().any(|line| run.counts[line] == 0), "{place}: {}", run.document);
    }
    known
}

#[test]
fn no_line_is_covered_that_may_not_have_run() {
    let source = KILLED.replace("../tally.h", "tally.h");
    let project = Project::new(&[("killed.c", &source), TALLY]);
    for options in ["-O0", "-O2"] {
        project.ok(&format!("--coverage cc -w {options} -pthread killed.c -o killed"));
        let whole = run(&project, "killed", &[]);
        assert!(whole.unsure.is_empty(), "{}", whole.document);
        let known = check(&project);
        assert!(known >= 110, "{options}: {known} lines of 396");
    }
    // Counters at every block say nearly all.
    project.ok("--coverage --profile block cc -w -O0 -pthread killed.c -o killed");
    let known = check(&project);
    assert!(known >= 340, "{known} lines of 396");
}

#[test]
fn what_is_not_known_is_said_and_no_gate_passes_by_it() {
    let source = "#include <signal.h>\n#include <stdio.h>\n\
        static void helper(void) {\n    puts(\"x\");\n}\n\
        int main(int count, char **arguments) {\n    helper();\n    if (count > 1) {\n        helper();\n        \
        raise(SIGKILL);\n        puts(\"never\");\n    }\n    return 0;\n}\n";
    let project = Project::new(&[("ends.c", source)]);
    project.ok("--coverage cc -O1 ends.c -o ends");
    let run = |argument: &[&str]| {
        project.command(project.path("ends")).args(argument).env("COTREE_FILE", "runs/one.cotree").output().expect("it")
    };
    run(&["kill"]);
    let killed =
        std::fs::read_dir(project.path("runs")).expect("a folder").next().expect("a profile").expect("an entry");
    let killed = killed.path().display().to_string();
    let line = format!("coverage --show-missing-lines --fail-under-lines 99 {killed}");
    let output = project.cotree(&line).output().expect("it starts");
    let (said, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && why.contains("it is not known whether"), "{why}");
    assert!(why.contains("not known, since executions were not accounted for"), "{why}");
    assert!(said.contains("unknown") && said.contains("Lines that may have run"), "{said}");
    project.ok(&format!("coverage --html {killed}"));
    let pages = project.path("coverage/html/files");
    let page = std::fs::read_dir(pages).expect("pages").next().expect("a page").expect("an entry").path();
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("≥ 0") && page.contains("the least that is certain"), "{page}");
    // Whole runs beside it are exact: what they ran has run.
    run(&[]);
    let said = project.ok(&format!("coverage --show-missing-lines {killed} runs/one.cotree"));
    assert!(said.contains("Lines that may have run\n  ends.c: 11-12\n"), "{said}");
}

/// Instructions of a macro have the place where it is used, so that nothing says in which of its lines it was left.
#[test]
fn text_of_macros_that_was_left_is_not_said_to_have_run() {
    let source = MACROS.replace("../tally.h", "tally.h");
    let project = Project::new(&[("macros.c", &source), TALLY]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage cc -w {level} macros.c -o macros"));
        for (arguments, open) in [(&[][..], 2), (&["x"][..], 3)] {
            let run = run(&project, "macros", arguments);
            let known = run.known(MACROS, level);
            // Of text that is used where nothing left it, all is known, and so are all lines that are no macro's.
            assert_eq!(tallied(MACROS).len() - known.len(), open, "{level} {arguments:?} {known:?} {:?}", run.unsure);
        }
    }
}
