//! Progress: on a terminal alone, after a second, and gone when it is done.

use crate::project::{Project, succeed};
use std::fs::File;
use std::process::Command;
use std::thread;
use std::time::Duration;

const PROGRAM: &str = "int main(int c, char **v) { return c > 1; }\n";

/// A folder whose lock is held for a while is read by a command, which waits. Returns what it has written.
fn waited(project: &Project, mut command: Command, seconds: f64) -> String {
    let folder = File::open(project.path("runs")).expect("a folder");
    folder.lock().expect("nobody else has it");
    let holder = thread::spawn(move || {
        thread::sleep(Duration::from_secs_f64(seconds));
        drop(folder);
    });
    let output = command.output().expect("it starts");
    holder.join().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A command that `script` runs in a terminal.
fn in_terminal(project: &Project, line: &str) -> Command {
    let mut command = project.command("script");
    command.args(["-qec", &format!("'{}' {line}", env!("CARGO_BIN_EXE_cotree")), "/dev/null"]);
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command
}

#[test]
fn progress_is_for_people_who_wait() {
    const SAID: &str = "waiting for a process";
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("cc -O1 -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "runs/p.cotree"));
    let piped = waited(&project, project.cotree("report runs"), 1.6);
    assert!(piped.contains("functions run") && !piped.contains(SAID), "{piped}");
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("passed over: there is no script");
        return;
    }
    let shown = waited(&project, in_terminal(&project, "report runs"), 2.5);
    let (before, after) = shown.rsplit_once(SAID).unwrap_or_else(|| panic!("{shown}"));
    assert!(!before.contains("functions run") && after.contains("functions run"), "{shown}");
    // The line is removed before anything else is written.
    let removed = after.find("\x1b[2K").or_else(|| after.find("\x1b[K")).unwrap_or_else(|| panic!("{shown:?}"));
    assert!(removed < after.find("functions run").expect("a report"), "{shown:?}");
    let early = waited(&project, in_terminal(&project, "report runs"), 0.3);
    assert!(!early.contains(SAID), "{early}");
    let quiet = waited(&project, in_terminal(&project, "--quiet report runs"), 1.6);
    assert!(!quiet.contains(SAID), "{quiet}");
    let mut plain = in_terminal(&project, "report runs");
    plain.env("NO_COLOR", "1");
    let plain = waited(&project, plain, 2.5);
    assert!(plain.contains(SAID) && !plain.contains("\x1b[3"), "{plain:?}");
}
