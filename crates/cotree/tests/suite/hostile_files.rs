//! Files that are not what they should be: outputs that would take the place of something else, inputs that never end,
//! and a standard output that can't be written.

use crate::project::{Project, succeed};
use std::fs;
use std::process::Command;

const SIMPLE: &str = "int main(void) { return 0; }\n";

fn profiled() -> Project {
    let project = Project::new(&[("main.c", SIMPLE)]);
    project.ok("cc -O0 -g main.c -o program");
    succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
    project
}

#[test]
fn outputs_replace_only_their_own_kind() {
    let project = profiled();
    let refused = |line: &str, file: &str| {
        let before = fs::read(project.path(file)).expect("a file");
        let message = project.fails(line);
        assert!(message.contains("choose another name, or give --force"), "{line}: {message}");
        assert!(fs::read(project.path(file)).expect("a file") == before, "{line}");
    };
    fs::write(project.path("notes"), "precious").expect("a file");
    fs::write(project.path("data"), "a\0b").expect("a file");
    refused("merge -o notes p.cotree", "notes");
    refused("merge -o p.cotree p.cotree", "p.cotree");
    refused("run -o notes ./program", "notes");
    refused("export -o notes p.cotree", "notes");
    refused("export --format lcov -o program p.cotree", "program");
    refused("annotate -o main.c p.cotree", "main.c");
    refused("report -o data p.cotree", "data");
    refused("cfg -o notes main p.cotree", "notes");
    refused("plan --json -o p.cotree program", "p.cotree");
    // The profile of a run, which may be a trace, is more than `cotree run` would put into its place.
    fs::copy(project.path("p.cotree"), project.path("program.cotree")).expect("a file");
    refused("run ./program", "program.cotree");
    project.ok("run --force ./program");
    for turn in 0..2 {
        let force = if turn == 0 { "--force" } else { "" };
        project.ok(&format!("export {force} -o notes p.cotree"));
        project.ok("merge -o sum.cotree p.cotree");
        project.ok("run -o sum.cotree ./program");
        project.ok("export --format lcov -o a.info p.cotree");
        project.ok("export --format pprof -o a.pb.gz p.cotree");
        project.ok("annotate -o a.txt p.cotree");
        project.ok("report -o a.txt p.cotree");
    }
    // A program that is told to write over a file of others writes no profile, and runs.
    fs::write(project.path("notes"), "precious").expect("a file");
    let ran = project.command(project.path("program")).env("COTREE_FILE", "notes").output().expect("it runs");
    assert!(ran.status.success() && !ran.stderr.is_empty());
    assert_eq!(fs::read_to_string(project.path("notes")).expect("a file"), "precious");
}

#[test]
fn inputs_are_files_that_end() {
    let project = profiled();
    succeed(Command::new("mkfifo").arg(project.path("pipe")));
    fs::create_dir(project.path("runs")).expect("a folder");
    succeed(Command::new("mkfifo").arg(project.path("runs/x.cotree")));
    for line in [
        "plan pipe",
        "plan /dev/zero",
        "plan --judge pipe program",
        "instrument pipe -o x.bc",
        "report --stale pipe",
        "--profile events --event-costs pipe cc main.c",
        "--profile events --event-costs /dev/zero cc main.c",
        "--weights pipe cc main.c",
        "--weights /dev/zero cc main.c",
        "--weights runs cc main.c",
        "--use pipe cc main.c",
        "merge -o m.cotree pipe",
        "diff p.cotree pipe",
        "gdb pipe",
        "gdb /dev/zero",
    ] {
        let command = project.cotree(line);
        let mut timed = project.command("timeout");
        let output = timed.arg("60").arg(command.get_program()).args(command.get_args()).output().expect("timeout");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && message.contains("no regular file"), "{line}: {message}");
        assert!(line != "--weights runs cc main.c" || message.contains("runs/x.cotree"), "{message}");
    }
    assert!(project.fails("gdb nosuch").contains("cannot read the program nosuch"));
}

#[test]
fn output_that_is_lost_is_an_error() {
    let project = profiled();
    for line in [
        "report p.cotree",
        "annotate p.cotree",
        "costs p.cotree",
        "export p.cotree",
        "cfg main p.cotree",
        "plan program",
        "plan --explain main program",
        "diff p.cotree p.cotree",
        "gdb --script",
        "cmake-toolchain",
        "--version",
    ] {
        let shell = |to: &str| {
            let mut command = project.command("sh");
            let cotree = env!("CARGO_BIN_EXE_cotree");
            command.arg("-c").arg(format!("{cotree} {line} {to}")).output().expect("a shell")
        };
        for to in [">/dev/full", ">&-"] {
            let output = shell(to);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success(), "{line} {to}");
            assert!(message.contains("standard output: "), "{line} {to}: {message}");
        }
    }
    // Who has read enough goes away.
    let head = project
        .command("bash")
        .arg("-c")
        .arg(format!(
            "set -o pipefail; for c in 'report -v' 'export' 'annotate'; do {} $c p.cotree | head -c 1 || exit 1; done; \
         {} export -o /dev/stdout p.cotree | head -c 1",
            env!("CARGO_BIN_EXE_cotree"),
            env!("CARGO_BIN_EXE_cotree")
        ))
        .output()
        .expect("bash");
    assert!(head.status.success(), "{}", String::from_utf8_lossy(&head.stderr));
}
