//! The subcommands that read profiles, from the outside: exit status, messages, files.

use crate::unit::{Raw, UNIT, counters, executable, map};
use cotree_core::method::Method;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with a binary `prog` and a profile `prog.cotree` of it.
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let (map, truth) = map(Method::Edge, true);
        fs::write(folder.path("prog"), executable(&map, UNIT)).unwrap();
        let raw = Raw { binary: folder.path("prog").into(), ..Raw::new(counters(&map, &truth)) };
        raw.write(Path::new(&folder.path("prog.cotree")));
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn cotree(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cotree"));
        command.args(arguments).current_dir(self.0.path()).env_remove("COLUMNS");
        command
    }

    /// Runs it; says whether it succeeded, and what it printed and complained about.
    fn run(&self, arguments: &[&str]) -> (bool, String, String) {
        let Output { status, stdout, stderr } = self.cotree(arguments).output().unwrap();
        // Messages are wrapped to the terminal.
        let words = String::from_utf8(stderr).unwrap().replace(['│', '×'], " ");
        let stderr = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!stderr.contains("panicked"), "{stderr}");
        (status.success(), String::from_utf8(stdout).unwrap(), stderr)
    }

    fn good(&self, arguments: &[&str]) -> String {
        let (success, stdout, stderr) = self.run(arguments);
        assert!(success, "{arguments:?}: {stderr}");
        stdout
    }

    /// A copy of the profile as a process leaves it that is killed.
    fn cut_off(&self, name: &str) {
        const STATE: std::ops::Range<usize> = 12..16;
        let mut bytes = fs::read(self.path("prog.cotree")).unwrap();
        bytes[STATE].copy_from_slice(&1_u32.to_le_bytes());
        fs::write(self.path(name), bytes).unwrap();
    }

    fn bad(&self, arguments: &[&str]) -> String {
        let (success, _, stderr) = self.run(arguments);
        assert!(!success, "{arguments:?} must fail");
        stderr
    }
}

#[test]
fn report_takes_the_newest_profile() {
    let folder = Folder::new();
    let report = folder.good(&["report"]);
    assert!(report.contains("exact: every count") && report.contains("main") && report.contains("work"), "{report}");
    assert!(!report.contains('\x1b'), "no colours but on a terminal");
    // A run that was cut off is not taken where there is a finished one, however old.
    folder.cut_off("prog.cotree.7.live");
    fs::write(folder.path("prog.cotree.8.live"), "no profile").unwrap();
    assert!(folder.good(&["report"]).contains("exact"));
    fs::remove_file(folder.path("prog.cotree")).unwrap();
    assert!(folder.bad(&["report"]).contains("prog.cotree.8.live is not a cotree profile"));
    fs::remove_file(folder.path("prog.cotree.8.live")).unwrap();
    assert!(folder.good(&["report"]).contains("cut off"));
    fs::remove_file(folder.path("prog.cotree.7.live")).unwrap();
    assert!(folder.bad(&["report"]).contains("there is no profile (*.cotree)"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    for arguments in [&["report", "-v"][..], &["export"], &["cfg", "main"]] {
        let mut child = folder.cotree(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert!(child.wait().unwrap().success() && stderr.is_empty(), "{arguments:?}: {stderr}");
    }
}

#[test]
fn output_is_written_whole_or_not_at_all() {
    let folder = Folder::new();
    folder.good(&["export", "-o", "p.json"]);
    let text = fs::read_to_string(folder.path("p.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["schema"] == "cotree-profile/1");
    assert!(folder.bad(&["export", "-o", "."]).contains("give the name of a file"));
    assert!(folder.bad(&["export", "-o", "/dev/full"]).contains("make room"));
    assert!(folder.bad(&["export", "-o", "no/where"]).contains("folder does not exist"));
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["export"][..], &["--help"], &["report", "--help"], &["--version"]] {
        let output = folder.cotree(arguments).stdout(full()).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("write to standard output"), "{arguments:?}");
    }
    let names: Vec<_> = fs::read_dir(folder.0.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn merge_adds_and_refuses() {
    let folder = Folder::new();
    fs::copy(folder.path("prog.cotree"), folder.path("b:2.cotree")).unwrap();
    folder.good(&[
        "merge",
        "-o",
        "sum",
        "prog.cotree",
        "b:2.cotree",
        "prog.cotree:3",
        "--weighted-input",
        "5,prog.cotree",
    ]);
    let report = folder.good(&["report", "sum"]);
    assert!(report.contains("4 runs with a total weight of 10"), "{report}");
    assert!(report.contains("60 "), "six calls of work, ten times: {report}");
    fs::write(folder.path("broken"), "nonsense").unwrap();
    assert!(folder.bad(&["merge", "-o", "x", "prog.cotree", "broken"]).contains("broken is not a cotree profile"));
    assert!(!Path::new(&folder.path("x")).exists());
    let (success, _, warning) = folder.run(&["merge", "-o", "x", "--keep-going", "prog.cotree", "broken"]);
    assert!(success && warning.contains("left out: broken"), "{warning}");
    assert!(folder.bad(&["merge", "-o", "x"]).contains("no profile to merge"));
    assert!(folder.bad(&["merge", "--weighted-input", "0.5,prog.cotree"]).contains("stay exact"));
}

#[test]
fn verify_says_ok_or_fails() {
    let folder = Folder::new();
    assert!(folder.good(&["verify"]).starts_with("OK: 4 functions"));
    let (map, truth) = map(Method::Edge, true);
    let mut raw = Raw { binary: folder.path("prog").into(), ..Raw::new(counters(&map, &truth)) };
    *raw.slabs[0].last_mut().unwrap() += 1;
    raw.write(Path::new(&folder.path("wrong.cotree")));
    let (success, stdout, stderr) = folder.run(&["verify", "wrong.cotree"]);
    assert!(!success && stdout.contains("WRONG") && stdout.contains("instead of"), "{stdout}");
    assert!(stderr.contains("differ from the reference"), "{stderr}");
}

#[test]
fn functions_are_drawn_and_differences_found() {
    let folder = Folder::new();
    assert!(folder.good(&["cfg", "work"]).starts_with("digraph"));
    assert!(folder.bad(&["cfg", "nothing"]).contains("there is no function nothing"));
    assert!(folder.bad(&["cfg", "o"]).contains("functions match o"));
    assert_eq!(folder.good(&["diff", "prog.cotree", "prog.cotree"]), "No count differs.\n");
    let plan = folder.good(&["plan", "prog"]);
    assert!(plan.contains("edge, worst tree") && plan.contains("path-context"), "{plan}");
    let row = |table: &str| table.lines().find(|line| line.trim_start().starts_with("in arrays")).map(str::to_owned);
    assert_ne!(row(&plan), row(&folder.good(&["--path-array", "0", "plan", "prog"])));
    assert!(folder.good(&["plan", "prog", "--judge", "prog.cotree", "--exact"]).contains("increments"));
    let json: serde_json::Value = serde_json::from_str(&folder.good(&["plan", "--json", "prog"])).unwrap();
    assert_eq!(json["schema"], "cotree-plan/1");
    assert!(json["methods"]["edge"]["counters"].as_u64() < json["methods"]["block"]["counters"].as_u64(), "{json}");
    assert!(json["paths"]["path"]["functions"].as_u64() > Some(0) && json.get("affine").is_none(), "{json}");
    assert!(folder.bad(&["annotate"]).contains("debug information"));
}

#[test]
fn a_profile_without_paths_says_how_to_get_them() {
    let folder = Folder::new();
    for arguments in [
        &["paths"][..],
        &["paths", "prog.cotree", "--json"],
        &["paths", "prog.cotree", "--against", "prog.cotree"],
        &["diff", "--paths", "prog.cotree", "prog.cotree"],
    ] {
        let message = folder.bad(arguments);
        assert!(message.contains("has no paths (edge profile): build with `cotree --profile path`"), "{message}");
    }
    assert!(folder.bad(&["paths", "--covering", "101"]).contains("a number from 0 to 100"));
    assert!(folder.bad(&["diff", "-f", "main", "prog.cotree", "prog.cotree"]).contains("--paths"));
}

#[test]
fn a_binary_that_moved_is_named_and_another_build_refused() {
    let folder = Folder::new();
    fs::rename(folder.path("prog"), folder.path("moved")).unwrap();
    assert!(folder.bad(&["report"]).contains("--binary"));
    assert!(folder.good(&["report", "--binary", "moved"]).contains("exact"));
    let (map, _) = map(Method::Edge, false);
    fs::write(folder.path("prog"), executable(&map, cotree_profile::binary::UnitId([3; 16]))).unwrap();
    assert!(folder.bad(&["report"]).contains("built anew"));
    assert!(folder.bad(&["report", "prog"]).contains("it is a program or library"));
    assert!(folder.bad(&["dump", "4294967295"]).contains("cannot look at process"));
}

#[test]
fn one_binary_that_is_gone_does_not_take_the_others_with_it() {
    let folder = Folder::new();
    let id = cotree_profile::binary::UnitId([3; 16]);
    let (map, truth) = map(Method::Edge, true);
    fs::write(folder.path("doctest"), executable(&map, id)).unwrap();
    let raw = Raw { binary: folder.path("doctest").into(), unit: id, ..Raw::new(counters(&map, &truth)) };
    raw.write(Path::new(&folder.path("doctest.cotree")));
    folder.good(&["merge", "--several-units", "-o", "all", "prog.cotree", "doctest.cotree"]);
    fs::remove_file(folder.path("doctest")).unwrap();
    let (success, stdout, stderr) = folder.run(&["report", "all"]);
    assert!(success && stdout.contains("exact") && stdout.matches("Hottest functions").count() == 1, "{stdout}");
    assert!(stderr.contains("warning: left out: the binary") && stderr.contains("doctest of the profile"), "{stderr}");
    // Of the profiles in a folder, the newest that has a binary is shown.
    let old = fs::File::options().write(true).open(folder.path("prog.cotree")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    let (success, stdout, stderr) = folder.run(&["report"]);
    assert!(success && stdout.contains("exact"), "{stderr}");
    assert!(stderr.contains("this is prog.cotree: the binaries of newer profiles are gone"), "{stderr}");
    assert!(folder.bad(&["report", "doctest.cotree"]).contains("is no longer there"));
    fs::remove_file(folder.path("prog")).unwrap();
    assert!(folder.bad(&["report"]).contains("is no longer there"));
}

#[test]
fn what_nothing_matches_is_said() {
    let folder = Folder::new();
    for command in [&["report"][..], &["annotate"]] {
        let stderr = folder.bad(&[command, &["-f", "mian"]].concat());
        assert!(stderr.contains("there is no function mian: did you mean main?"), "{stderr}");
    }
    let stderr = folder.bad(&["report", "-f", "=no::such(thing)"]);
    assert!(stderr.contains("there is no function =no::such(thing): `cotree report -n 0`"), "{stderr}");
    assert!(
        folder.bad(&["export", "--format", "lcov"]).contains("has no source lines: build it with debug information")
    );
    assert!(folder.bad(&["export", "--format", "lcov", "--file", ""]).contains("it is empty"));
}

#[test]
fn names_are_whole_where_there_is_no_terminal() {
    let folder = Folder::new();
    let table = |arguments: &[&str]| folder.cotree(arguments).env("COLUMNS", "40").output().unwrap().stdout;
    let whole = String::from_utf8(table(&["report"])).unwrap();
    assert!(!whole.contains('…') && whole.lines().any(|line| line.chars().count() > 40), "{whole}");
    let cut = String::from_utf8(table(&["report", "--width", "60"])).unwrap();
    let tables = cut.lines().skip_while(|line| !line.contains("functions run"));
    assert!(tables.clone().count() > 5 && tables.clone().all(|line| line.chars().count() <= 60), "{cut}");
}

/// A folder stands for the runs whose profiles are in it, and nothing else in it is taken in silence.
#[test]
fn folders_are_added_up() {
    let folder = Folder::new();
    fs::create_dir(folder.path("runs")).unwrap();
    assert!(folder.bad(&["report", "runs"]).contains("no profile of a run (*.cotree) in the folder runs"));
    // One of them has been finished, whatever its name is.
    for name in ["a.cotree", "b.cotree.11.live", "notes.txt"] {
        fs::copy(folder.path("prog.cotree"), folder.path(&format!("runs/{name}"))).unwrap();
    }
    folder.cut_off("runs/c.cotree.12.live");
    fs::create_dir(folder.path("runs/deeper.cotree")).unwrap();
    fs::write(folder.path("runs/other.cotree"), "a tree of cots").unwrap();
    let (success, report, said) = folder.run(&["report", "runs"]);
    assert!(success && report.contains("2 runs") && report.contains("command: prog -x"), "{report}{said}");
    assert!(said.contains("left out: runs/other.cotree is not a cotree profile"), "{said}");
    assert!(said.contains("left out: 1 unfinished profile (*.live) in runs"), "{said}");

    // A sum in it has the same runs once more.
    folder.good(&["merge", "-o", "runs/sum.cotree", "runs"]);
    let (_, report, said) = folder.run(&["report", "runs"]);
    assert!(report.contains("2 runs"), "{report}");
    assert!(said.contains("left out: runs/sum.cotree is a sum of runs: name it to take it"), "{said}");
    folder.good(&["merge", "-o", "more", "runs:3", "runs/sum.cotree"]);
    assert!(folder.good(&["report", "more"]).contains("4 runs with a total weight of 8"));
    for arguments in [
        &["diff", "runs", "runs/sum.cotree"][..],
        &["export", "runs"],
        &["cfg", "main", "runs"],
        &["verify", "runs"],
        &["plan", "prog", "--judge", "runs"],
    ] {
        folder.good(arguments);
    }
    assert_eq!(folder.good(&["diff", "runs", "runs/sum.cotree"]), "No count differs.\n");

    // Another build of the same binary was run before, and another program beside.
    let (map, truth) = map(Method::Edge, true);
    let old_unit = cotree_profile::binary::UnitId([1; 16]);
    let old = Raw { unit: old_unit, binary: folder.path("prog").into(), ..Raw::new(counters(&map, &truth)) };
    old.write(Path::new(&folder.path("runs/old.cotree")));
    assert!(folder.bad(&["merge", "-o", "x", "runs"]).contains("the binary was built anew between the runs"));
    assert!(folder.run(&["report", "runs"]).2.contains("of an older build of"));
    fs::remove_file(folder.path("runs/old.cotree")).unwrap();
    let id = cotree_profile::binary::UnitId([3; 16]);
    fs::write(folder.path("other"), executable(&map, id)).unwrap();
    let other = Raw { binary: folder.path("other").into(), unit: id, ..Raw::new(counters(&map, &truth)) };
    other.write(Path::new(&folder.path("runs/2.cotree")));
    assert_eq!(folder.good(&["report", "runs"]).matches("Hottest functions").count(), 2);
    assert!(folder.bad(&["merge", "-o", "x", "runs"]).contains("--several-units"));
    folder.good(&["merge", "--several-units", "-o", "x", "runs"]);

    // A run that can't be read is missing in the sum.
    let whole = fs::read(folder.path("prog.cotree")).unwrap();
    fs::write(folder.path("runs/cut.cotree"), &whole[..whole.len() - 1]).unwrap();
    for command in [&["report", "runs"][..], &["merge", "--several-units", "-o", "x", "runs"]] {
        assert!(folder.bad(command).contains("runs/cut.cotree is cut off"), "{command:?}");
    }
    let (success, _, said) = folder.run(&["merge", "--keep-going", "--several-units", "-o", "x", "runs"]);
    assert!(success && said.contains("left out: the profile runs/cut.cotree is cut off"), "{said}");
}

#[test]
fn weights_without_edges_are_refused() {
    let folder = Folder::new();
    assert!(folder.good(&["export", "--format", "weights"]).lines().count() > 1);
    let (map, truth) = map(Method::Vertex, false);
    fs::write(folder.path("prog"), executable(&map, UNIT)).unwrap();
    let raw = Raw { binary: folder.path("prog").into(), ..Raw::new(counters(&map, &truth)) };
    raw.write(Path::new(&folder.path("prog.cotree")));
    let message = folder.bad(&["export", "--format", "weights"]);
    assert!(message.contains("weights are counts of edges, and the vertex profile of"), "{message}");
}

/// An option that would have no effect is no option.
#[test]
fn options_of_builds_are_refused_where_nothing_is_built() {
    let folder = Folder::new();
    for (arguments, option) in [
        (&["--profile", "path", "report"][..], "--profile says how to build"),
        (&["--at", "early", "run", "./prog"], "--at says how to build"),
        (&["--verify", "demo"], "--verify says how to build"),
    ] {
        assert!(folder.bad(arguments).contains(option), "{arguments:?}");
    }
    // The environment is for all that is started in it.
    assert!(folder.cotree(&["report"]).env("COTREE_PROFILE", "path").output().unwrap().status.success());
    folder.good(&["--affine", "off", "plan", "prog"]);
}

#[test]
fn short_help_fits_a_screen() {
    let folder = Folder::new();
    let commands = [
        "cargo", "run", "report", "annotate", "coverage", "paths", "trace", "merge", "diff", "costs", "export", "cfg",
        "verify", "plan",
    ];
    let lines = std::iter::once(&[][..]).chain(commands.chunks(1));
    for command in lines {
        let short = folder.good(&[command, &["-h"]].concat());
        assert!(short.lines().count() <= 50, "{command:?}: {short}");
        assert!(!short.contains("--branch-hints"), "{short}");
    }
    for command in [&[][..], &["cargo"]] {
        let short = folder.good(&[command, &["-h"]].concat());
        assert!(short.contains("--profile") && short.contains("--exclude"), "{short}");
        assert!(short.lines().all(|line| line.chars().count() <= 120), "{short}");
        let long = folder.good(&[command, &["--help"]].concat());
        let (_, experts) = long.split_once("For experts").expect("a heading");
        for option in ["--affine", "--promote", "--branch-hints", "--interprocedural-flow", "--spanning-tree"] {
            assert!(experts.contains(option), "{option}: {long}");
        }
    }
    assert!(folder.good(&["-h"]).contains("More commands: ld, ar,"));
}
