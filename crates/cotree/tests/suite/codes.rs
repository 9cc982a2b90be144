//! Codes of flaws, notes and errors, and what `cotree explain` says of them.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;

const PROGRAM: &str = "#include <signal.h>\n\
__attribute__((noinline)) static int deep(int n) { if (n > 3) raise(SIGKILL); return n + 1; }\n\
int main(void) { int n = 0; for (int i = 0; i < 9; i++) n += deep(i); return n; }\n";

/// The codes that `cotree explain` lists.
fn listed(project: &Project) -> Vec<String> {
    let list = project.ok("explain");
    let rows = list.lines().filter_map(|line| line.strip_prefix("  "));
    rows.filter_map(|row| row.split_whitespace().next()).filter(|word| *word != "code").map(str::to_owned).collect()
}

#[test]
fn what_is_flagged_is_explained() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("cc -O1 -o p p.c");
    let status = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").status().expect("it starts");
    assert!(!status.success());
    let entries = fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let live = entries.map(|name| name.into_string().expect("text")).find(|name| name.ends_with(".live"));
    let live = live.expect("the profile of a killed run");

    let report = project.ok(&format!("report {live}"));
    assert!(report.contains("[cut-off]") && report.contains("functions [live-frames]: "), "{report}");
    let json: Value = serde_json::from_str(&project.ok(&format!("export --format json {live}"))).expect("JSON");
    let unit = &json["units"][0];
    assert_eq!(unit["note_codes"][0], "cut-off");
    assert_eq!(unit["note_codes"].as_array().map(Vec::len), unit["notes"].as_array().map(Vec::len));
    let known = listed(&project);
    let flaws = unit["functions"]
        .as_array()
        .expect("functions")
        .iter()
        .flat_map(|function| function["flaws"].as_array().expect("flaws").iter().filter_map(Value::as_str));
    let flaws: Vec<&str> = flaws.collect();
    assert!(!flaws.is_empty() && flaws.iter().all(|&flaw| known.iter().any(|code| code == flaw)), "{flaws:?}");

    let said = project.ok("explain cut-off [live-frames]");
    for part in ["cut-off: runs were cut off", "live-frames: ", "Why:", "What to do:", "Still true:", "SIGTERM"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn errors_have_codes() {
    let project = Project::new(&[("p.c", "int main(void) { return 0; }\n"), ("broken.cotree", "no profile")]);
    project.ok("cc -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let ends = |line: &str, code: &str| {
        let said = project.fails(line);
        assert!(said.ends_with(&format!("[{code}]")), "{line}: {said}");
        assert!(project.ok(&format!("explain {code}")).starts_with(code));
    };
    ends("report broken.cotree", "not-a-profile");
    ends("export --format json absent.cotree", "profile-not-read");
    ends("coverage broken.cotree", "not-a-profile");
    ends("merge -o all.cotree broken.cotree", "not-a-profile");
    ends("report p.cotree --binary p.c", "not-a-program");
    ends("report p.cotree --binary /bin/true", "no-map");
    project.ok("cc -O2 -o p p.c");
    ends("report p.cotree", "other-build");
    fs::remove_file(project.path("p")).expect("the program");
    ends("report p.cotree", "binary-gone");
    let full = fs::read(project.path("p.cotree")).expect("a profile");
    fs::write(project.path("p.cotree"), &full[..full.len() / 2]).expect("a file");
    ends("report p.cotree", "profile-truncated");
    fs::write(project.path("p.cotree"), "").expect("a file");
    ends("report p.cotree", "profile-empty");
    let unknown = project.fails("explain cutoff");
    assert!(unknown.contains("there is no code cutoff: did you mean cut-off"), "{unknown}");
}

#[test]
fn errors_of_builds_have_codes() {
    let program = "int main(void) { return 0; }\n";
    let project = Project::new(&[("p.c", program), ("cut.o", "BC\u{c0}\u{de}"), ("w.json", "no weights")]);
    for (line, code) in [
        ("--at late --coverage cc -o p p.c", "bad-options"),
        ("cc -fuse-ld=lld -o p p.c", "lld-plugin"),
        ("cargo clippy", "cargo-command"),
        ("cargo build", "no-package"),
        ("--profile events=cost --event-costs w.json cc -o p p.c", "bad-costs"),
        ("coverage p.cotree", "profile-not-read"),
        ("dump 999999999", "no-process"),
    ] {
        let said = project.fails(line);
        assert!(said.contains(&format!("[{code}]")), "{line}: {said}");
        assert!(project.ok(&format!("explain {code}")).starts_with(code));
    }
    let gcc = project.cotree("cc -o p p.c").env("COTREE_CC", "gcc").output().expect("it starts");
    assert!(String::from_utf8_lossy(&gcc.stderr).contains("[not-clang]"));
}
