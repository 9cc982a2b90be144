//! Coverage of Rust's expressions around calls that panic or end the process, and of coroutines: programs tally their
//! own lines, also those without code of their own, and the lines of the map have to say the same.

use crate::lines;
use crate::project::Project;

const SOURCE: &str = include_str!("../programs/coverage/tails.rs");

#[test]
fn expressions_behind_calls_that_left_have_not_run() {
    let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", SOURCE)]);
    for (level, folder) in [("", "debug"), (" --release", "release")] {
        project.ok(&format!("--coverage cargo build --quiet{level}"));
        let program = project.path(&format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/m"));
        // Without a number every call panics once; with one, the process ends in that call.
        for arguments in [&[][..], &["20"], &["50"], &["70"]] {
            project.command(&program).args(arguments).env("COTREE_FILE", "ran.cotree").output().expect("it starts");
            let tally = std::fs::read(project.path("tally.1.bin")).expect("a tally");
            let tracefile = project.ok("coverage --lcov ran.cotree");
            let (compared, problems) = lines::compare("main.rs", SOURCE, &tally, &tracefile, 0);
            assert!(problems.is_empty(), "{level} {arguments:?}:\n{}\n{tracefile}", problems.join("\n"));
            assert_eq!(compared, 91, "{level} {arguments:?}");
        }
    }
}

/// Builds a program of these options and runs it; the lines of its coverage map have to be those of its tally. Gives
/// the tracefile.
fn compare(project: &Project, compile: &str, source: &str, tallied: usize) -> String {
    project.ok(&format!("--coverage {compile} -w left.cc -o left"));
    project.command(project.path("left")).env("COTREE_FILE", "ran.cotree").output().expect("it starts");
    let files = std::fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let tally = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "bin")).expect("a tally");
    let tracefile = project.ok("coverage --lcov ran.cotree");
    let read = std::fs::read(&tally).expect("a file");
    let (compared, problems) = lines::compare("left.cc", source, &read, &tracefile, 0);
    assert!(problems.is_empty(), "{compile}:\n{}\n{tracefile}", problems.join("\n"));
    assert_eq!(compared, tallied, "{compile}");
    std::fs::remove_file(tally).expect("it is there");
    tracefile
}

fn with_tally(source: &str) -> (String, Project) {
    let source = source.replace("../tally.h", "tally.h");
    let project = Project::new(&[("left.cc", &source), ("tally.h", include_str!("../programs/tally.h"))]);
    (source, project)
}

/// Exceptions out of coroutines, and coroutines that are destroyed while they are suspended.
#[test]
fn coroutines_that_were_left_have_not_run() {
    let (source, project) = with_tally(include_str!("../programs/coverage/coroutines_left.cc"));
    for level in ["-O0", "-O2"] {
        let tracefile = compare(&project, &format!("c++ -std=c++20 {level}"), &source, 31);
        // clang's counter of the whole is bumped by exceptions, too.
        assert!(tracefile.contains("FNDA:64,numbers(int)\n"), "{tracefile}");
    }
}

/// What stands before a `setjmp` did not run because `setjmp` returned again.
#[test]
fn a_second_return_says_nothing_of_what_comes_before() {
    let (source, project) = with_tally(include_str!("../programs/coverage/revived.c"));
    for level in ["-O0", "-O2"] {
        compare(&project, &format!("cc -x c {level}"), &source, 20);
    }
}
