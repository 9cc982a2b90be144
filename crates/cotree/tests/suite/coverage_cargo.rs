//! `cargo cotree coverage`: one command that builds, runs the tests, and shows what ran.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::process::Command;

const LIBRARY: &str = r#"/// Doubles.
///
/// ```
/// assert_eq!(app::double(2), 4);
/// ```
///
/// ```should_panic
/// assert_eq!(app::double(2), 5);
/// ```
pub fn double(n: i32) -> i32 {
    n * 2
}

#[cfg(feature = "extra")]
pub fn halve(n: i32) -> i32 {
    n / 2
}

#[cfg(not(feature = "extra"))]
pub fn third(n: i32) -> i32 {
    n / 3
}

pub fn untested<T: Into<i64>>(n: T) -> i64 {
    n.into() + 1
}

#[cfg(not(coverage))]
pub fn absent() -> i32 {
    3
}

#[cfg(test)]
mod tests {
    #[test]
    fn of_features() {
        #[cfg(feature = "extra")]
        assert_eq!(crate::halve(2), 1);
        #[cfg(not(feature = "extra"))]
        assert_eq!(crate::third(3), 1);
    }
}

/// Gives back what is not too much. Its instance in the documentation test is left by a panic.
///
/// ```should_panic
/// app::checked(3, 2);
/// ```
pub fn checked<T: PartialOrd>(n: T, most: T) -> T {
    assert!(n <= most);
    n
}
"#;

const PROGRAM: &str = r#"fn main() {
    if std::env::args().count() > 1 {
        for _ in 0..3 {
            ready();
        }
        let own = std::process::id().to_string();
        std::process::Command::new("kill").args(["-9", &own]).status().unwrap();
    }
    loud::upper!(loud);
    other::greet();
}

fn ready() {
    println!("ready");
}
"#;

/// Starts the program without an environment, in another folder; once it is killed.
const TESTS: &str = r#"#[test]
fn starts() {
    let folder = std::env::temp_dir();
    let start = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_app"));
        command.args(words).env_clear().current_dir(&folder).status().unwrap()
    };
    assert!(start(&[]).success());
    assert!(!start(&["die"]).success());
}
"#;

const MACRO: &str = r#"use proc_macro::TokenStream;

fn shout(text: &str) -> String {
    if text.is_empty() {
        return "EMPTY".into();
    }
    text.to_uppercase()
}

#[proc_macro]
pub fn upper(input: TokenStream) -> TokenStream {
    format!("\"{}\"", shout(&input.to_string())).parse().unwrap()
}

#[test]
fn shouts() {
    assert_eq!(shout("a"), "A");
}
"#;

/// A workspace of a library with a program, and a procedural macro. What the program depends on besides is no member.
fn workspace() -> Project {
    let package = |name: &str| format!("[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2024'\n");
    let app = package("app")
        + "[features]\nextra = []\n[dependencies]\nloud = { path = '../loud' }\nother = { path = '../vendor/other' }\n";
    Project::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['app', 'loud']\nexclude = ['vendor']\nresolver = '2'\n"),
        ("vendor/other/Cargo.toml", &package("other")),
        ("vendor/other/src/lib.rs", "pub fn greet() {\n    #[cfg(coverage)]\n    panic!();\n}\n"),
        ("app/Cargo.toml", &app),
        ("app/src/lib.rs", LIBRARY),
        ("app/src/main.rs", PROGRAM),
        ("app/tests/cli.rs", TESTS),
        ("loud/Cargo.toml", &(package("loud") + "[lib]\nproc-macro = true\n")),
        ("loud/src/lib.rs", MACRO),
    ])
}

/// What both streams say of a command, and whether it succeeds.
fn said(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.success(), text)
}

/// Per file the lines that did not run.
fn missing(report: &str) -> Vec<(String, String)> {
    let lines = report.lines().skip_while(|line| !line.starts_with("Lines that did not run")).skip(1);
    let lines = lines.map_while(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let pairs = lines.filter_map(|line| line.split_once(": "));
    pairs.map(|(file, lines)| (file.to_owned(), lines.to_owned())).collect()
}

#[test]
fn one_command_tests_a_workspace() {
    let project = workspace();
    let (fine, text) = said(&mut project.cotree("cargo coverage --no-report --workspace"));
    assert!(fine && text.contains("test result: ok") && !text.contains("missed"), "{text}");
    // Procedural macros have no documentation tests; the tests of the library ran in programs of their own.
    assert!(!text.contains("left out") && !text.contains("same process"), "{text}");
    let (fine, report) = said(&mut project.cotree("cargo coverage report --html"));
    assert!(fine && project.path("target/cotree/coverage/html/index.html").exists(), "{report}");
    let (_, report) = said(&mut project.cotree("cargo coverage report --show-missing-lines"));
    assert!(report.contains("note: 1 process did not end") && !report.contains("left out"), "{report}");
    assert!(!report.contains("no known lines"), "{report}");
    let of = |file: &str, lines: &str| (file.to_owned(), lines.to_owned());
    let of_macro = of("loud/src/lib.rs", "5, 11-13");
    // What a process does when it is killed may be off by one; what it has done is not.
    let found: Vec<_> = missing(&report).into_iter().filter(|(file, _)| file != "app/src/main.rs").collect();
    assert_eq!(found, [of("app/src/lib.rs", "24-26, 51-52"), of_macro], "{report}");
    let of_program = missing(&report).into_iter().find(|(file, _)| file == "app/src/main.rs");
    assert!(!of_program.is_some_and(|(_, lines)| lines.contains("14")), "{report}");

    // Another build adds up, though it has replaced the program; what is shown is written as well.
    let line = "cargo coverage --no-clean --features app/extra --lib --bins --tests --lcov --output-path all.info";
    let (fine, text) = said(&mut project.cotree(line));
    assert!(fine, "{text}");
    let tracefile = std::fs::read_to_string(project.path("all.info")).expect("a tracefile");
    for (line, counted) in [(11, true), (16, true), (21, true), (25, false)] {
        let found = tracefile.lines().find(|text| text.starts_with(&format!("DA:{line},"))).expect("a line");
        assert_eq!(!found.ends_with(",0"), counted, "{found}");
    }
    let json: Value = serde_json::from_str(&project.ok("cargo coverage report --json")).expect("JSON");
    let files: Vec<_> = json["files"].as_array().expect("files").iter().map(|file| file["path"].as_str()).collect();
    assert_eq!(files.len(), 3, "neither tests nor other packages: {files:?}");
    let fewer = project.ok("cargo coverage report --exclude-from-report loud --ignore-filename-regex main[.]rs$");
    assert!(fewer.contains("lib.rs") && !fewer.contains("loud") && !fewer.contains("main.rs"), "{fewer}");
    let refused = project.fails("cargo coverage --no-run --fail-under-lines 99");
    assert!(refused.contains("lines ran, less than 99 %"), "{refused}");

    // A test that fails shows nothing, unless it may.
    std::fs::write(project.path("loud/src/lib.rs"), MACRO.replace("\"A\"", "\"B\"")).expect("a file");
    let (fine, text) = said(&mut project.cotree("cargo coverage -p loud"));
    assert!(
        !fine && text.contains("nothing is shown, since `cargo test` failed") && !text.contains("missed"),
        "{text}"
    );
    let (fine, text) = said(&mut project.cotree("cargo coverage -p loud --ignore-run-fail --show-missing-lines"));
    assert!(fine && missing(&text) == [of("loud/src/lib.rs", "5, 11-13, 18")], "{text}");
    project.ok("cargo coverage clean");
    assert!(!project.path("target/cotree/coverage").exists());
    assert!(project.fails("cargo coverage report").contains("nothing has been run yet"));
}

/// Any command that starts cargo, and any that starts what it built.
#[test]
fn a_shell_builds_and_runs_with_coverage() {
    let project = workspace();
    let shell = |script: &str| {
        let mut command = project.command("bash");
        let cotree = std::path::Path::new(env!("CARGO_BIN_EXE_cotree")).parent().expect("a folder");
        let path = std::env::var("PATH").expect("a path");
        succeed(command.args(["-euc", script]).env("PATH", format!("{}:{path}", cotree.display())))
    };
    let report = shell(
        "source <(cargo cotree coverage show-env --export-prefix)
        cargo build -q
        (cd / && $CARGO_TARGET_DIR/$CARGO_BUILD_TARGET/debug/app)
        cargo test -q -p loud
        cargo cotree coverage report --show-missing-lines",
    );
    let files: Vec<_> = missing(&report).into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, ["app/src/main.rs", "loud/src/lib.rs"], "{report}");
    assert!(missing(&report)[0].1.starts_with('3'), "{report}");
    assert!(report.contains("loud/src/lib.rs: 5, 11-13"), "{report}");
}
