//! Random programs of csmith, which print a checksum of all that they computed.

use super::Subject;
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::Result;
use std::process::Command;

/// Where Debian puts its headers.
const HEADERS: &str = "/usr/include/csmith";

const PROGRAMS: usize = 120;
const OF_A_CASE: usize = 40;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    for first in (0..PROGRAMS).step_by(OF_A_CASE) {
        let name = format!("csmith, seeds {first}..{}", first + OF_A_CASE);
        let context = context.clone();
        suite.add(name.clone(), move || {
            let subjects = (first..first + OF_A_CASE).map(program).collect::<Result<Vec<_>>>()?;
            // Some go on for long.
            super::check(&context, &name, first, &subjects, OF_A_CASE / 2)
        });
    }
}

/// The program of a seed.
fn program(seed: usize) -> Result<Subject> {
    let folder = workspace::scratch().join("sources/csmith");
    std::fs::create_dir_all(&folder)?;
    let source = folder.join(format!("{seed}.c"));
    let mut csmith = Command::new("csmith");
    csmith.args(["--seed", &seed.to_string(), "--max-funcs", "8", "--output"]).arg(&source).current_dir(&folder);
    command::succeed(&mut csmith)?;
    Ok(Subject { source, flags: vec!["-I".into(), HEADERS.into()] })
}
