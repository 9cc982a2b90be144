//! What is published: packages that can be built outside of the repository, and make a cotree that works.

use crate::command;
use crate::deadline::COMPILING;
use crate::suite::Suite;
use crate::workspace;
use anyhow::{Result, ensure};
use std::process::Command;

/// Adds the case, which compiles everything from the packages: three minutes of processor time.
pub fn run(suite: &mut Suite) {
    suite.now_within("cargo package", COMPILING, check);
}

fn check() -> Result<String> {
    let folder = workspace::scratch().join("packaged");
    workspace::fresh(&folder)?;
    let mut package = workspace::cargo();
    package.args(["package", "--workspace", "--exclude", "xtask", "--locked", "--allow-dirty"]);
    command::succeed(package.env("CARGO_TARGET_DIR", &folder).env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    // cargo builds each package from what it has unpacked, and leaves the executable here.
    let cotree = folder.join("debug/cotree");
    let project = folder.join("project");
    workspace::fresh(&project)?;
    let run = |program: &mut Command| command::text(program.current_dir(&project).env("COTREE_FILE", "out.cotree"));
    let source = workspace::root().join("examples/wordfreq.c");
    run(Command::new(&cotree).args(["cc", "-O1", "-o", "wordfreq"]).arg(&source))?;
    run(Command::new("sh").args(["-c", r#"./wordfreq < "$1""#, "sh"]).arg(&source))?;
    let report = run(Command::new(&cotree).args(["report", "out.cotree"]))?;
    ensure!(report.contains("exact: every count below"), "the report does not say that it is exact:\n{report}");
    std::fs::remove_dir_all(&folder)?;
    Ok(String::new())
}
