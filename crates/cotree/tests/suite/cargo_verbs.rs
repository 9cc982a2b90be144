//! What `cargo cotree` takes besides a plain build: options behind the word, nextest, aliases, unit tests of procedural
//! macros.

use crate::project::{Project, succeed};
use std::fs;
use std::process::Command;

const TESTS: &str = r#"
use std::process::Command;
fn bin() -> Command { Command::new(env!("CARGO_BIN_EXE_spawned")) }
#[test]
fn usage() { assert!(bin().output().unwrap().status.success()); }
#[test]
fn empty_folder() {
    let dir = std::env::temp_dir().join("spawned");
    std::fs::create_dir_all(&dir).unwrap();
    let out = bin().arg("list").env_clear().current_dir(&dir).output().unwrap();
    let left = std::fs::read_dir(&dir).unwrap().count();
    assert_eq!((String::from_utf8(out.stdout).unwrap().as_str(), left), ("0 files\n", 0));
}
"#;

const MACRO: &str = r#"
use proc_macro::TokenStream;
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
fn shouts() { assert_eq!(shout("a"), "A"); }
"#;

/// A workspace of a program that is tested by starting it, and a procedural macro with a unit test.
fn workspace() -> Project {
    let manifest =
        |name: &str, more: &str| format!("[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2021'\n{more}");
    Project::new(&[
        ("Cargo.toml", "[workspace]\nmembers = ['spawned', 'loud']\nresolver = '2'\n"),
        ("spawned/Cargo.toml", &manifest("spawned", "")),
        (
            "spawned/src/main.rs",
            "fn main() {\n    let n = std::fs::read_dir(\".\").unwrap().count();\n    println!(\"{n} files\");\n}\n",
        ),
        ("spawned/tests/cli.rs", TESTS),
        ("loud/Cargo.toml", &manifest("loud", "[lib]\nproc-macro = true\n")),
        ("loud/src/lib.rs", MACRO),
        (".cargo/config.toml", "[alias]\nspawn = ['run', '-q', '-p', 'spawned']\n"),
    ])
}

/// The profiles in a folder, by the programs' names without hashes.
fn profiles(project: &Project, folder: &str) -> Vec<String> {
    let names = fs::read_dir(project.path(folder)).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let profiles = names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.ends_with(".cotree"));
    let mut names: Vec<_> = profiles.map(|name| name.split(['-', '.']).next().unwrap_or_default().to_owned()).collect();
    names.sort();
    names
}

/// Removes them.
fn remove_profiles(project: &Project) {
    for entry in fs::read_dir(project.path("")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "cotree") {
            fs::remove_file(path).expect("a profile");
        }
    }
}

/// What both streams say of a command that must succeed.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// Options behind `cargo` are the ones in front of it: a profile becomes weights, names of files mean the folder where
/// the user stands, and what does not go together is refused before anything is built.
#[test]
fn options_behind_cargo_are_read_like_those_before_it() {
    let project = workspace();
    let manifest = "--release --manifest-path spawned/Cargo.toml";
    project.ok(&format!("cargo build -q {manifest}"));
    let built = "target/cotree/x86_64-unknown-linux-gnu/release/spawned";
    succeed(project.command(project.path(built)).env("COTREE_FILE", "p.cotree"));
    for options in ["--use p.cotree", "--weights p.cotree"] {
        // The second finds no binary to the profile any more: its weights have been made.
        let text = said(&mut project.cotree(&format!("cargo {options} build {manifest}")));
        assert!(!text.contains("cotree:"), "{options}: {text}");
        assert_eq!(project.is_profiled(built), options.starts_with("--weights"));
    }
    for (line, why) in [
        ("cargo --use p.cotree --profile path build", "leave out --profile"),
        ("cargo --use absent.cotree build", "absent.cotree"),
        ("cargo --event-costs absent build", "absent"),
        ("cargo --use p.cotree pgo", "pgo makes the profile that it builds by"),
    ] {
        let text = project.fails(line);
        assert!(text.contains(why), "{line}: {text}");
    }
}

/// Tests run in the folders of their packages, and start programs in folders that they look into. Procedural macros are
/// built for cargo itself, without flags of ours, but their unit tests are counted.
#[test]
fn tests_of_a_workspace_leave_their_profiles_in_one_folder() {
    let project = workspace();
    let text = said(&mut project.cotree("cargo test --lib --bins --tests"));
    assert_eq!(text.matches("test result: ok").count(), 3, "{text}");
    assert_eq!(profiles(&project, ""), ["cli", "loud", "spawned", "spawned", "spawned"]);
    assert_eq!(profiles(&project, "spawned"), [""; 0]);
    let names = fs::read_dir(project.path("")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let loud = names.map(|path| path.display().to_string()).find(|path| path.contains("/loud-")).expect("a profile");
    let lines = project.ok(&format!("annotate --file lib.rs -f shout {loud}"));
    assert!(lines.lines().any(|line| line.contains("text.to_uppercase()") && line.contains(" 1 ")), "{lines}");

    // Another option is another build.
    remove_profiles(&project);
    project.ok("cargo --profile block test -q -p loud --lib");
    assert_eq!(profiles(&project, ""), ["loud"]);
    let report = project.ok("report");
    assert!(report.contains("block profile"), "{report}");

    // What stands in front of rustc already stays there.
    remove_profiles(&project);
    fs::write(project.path("tmp/sccache"), "#!/bin/sh\necho \"$@\" >> $LOG\nexec \"$@\"\n").expect("a file");
    succeed(project.command("chmod").args(["+x", "tmp/sccache"]));
    let wrapped = |wrapper: &str| {
        let mut command = project.cotree("cargo test -q -p loud --lib");
        said(command.env("RUSTC_WRAPPER", wrapper).env("LOG", project.path("log")))
    };
    wrapped(&project.path("tmp/sccache").display().to_string());
    assert!(fs::read_to_string(project.path("log")).expect("a log").contains("--crate-name loud"));
    assert_eq!(profiles(&project, ""), ["loud"]);
    let text = wrapped("./tmp/sccache");
    assert!(text.contains("unit tests of procedural macros are not counted, since ./tmp/sccache"), "{text}");
}

#[test]
fn verbs_work_or_are_refused() {
    let project = workspace();
    assert!(project.ok("cargo spawn").contains("files"), "an alias");
    assert_eq!(profiles(&project, ""), ["spawned"]);
    for (line, why) in [
        ("cargo publish", "`cargo publish` builds no program"),
        ("cargo clippy", "`cargo clippy` builds no program"),
        ("cargo install --path spawned", "does not install programs"),
        ("cargo criterion", "does not know how `cargo criterion` builds"),
        ("cargo nextest show-config version", "run, list, bench and archive"),
        ("cargo nextest run --archive-file a.tar.zst", "builds nothing"),
    ] {
        let text = project.fails(line);
        assert!(text.contains(why), "{line}: {text}");
    }
}

#[test]
fn nextest_runs_profiled_tests() {
    if Command::new("cargo-nextest").arg("--version").output().is_err() {
        return;
    }
    let project = workspace();
    let text = said(project.cotree("cargo nextest run -p spawned --no-pager").env("HOME", project.path("")));
    assert!(text.contains("2 tests run: 2 passed"), "{text}");
    // Each program is started to list its tests, each test is a process, and both start the program.
    let found = profiles(&project, "");
    assert_eq!(found.iter().filter(|name| *name == "cli").count(), 4, "{found:?}");
    let report = project.ok("report .");
    assert!(report.contains("spawned"), "{report}");
}
