//! Programs of gcc's test suite that run (`gcc.c-torture/execute`), from Debian's package gcc-12-source.

use super::Subject;
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the package is.
pub const PACKAGE: &str = "/usr/src/gcc-12";

/// How many programs are taken, spread over all; and how many a case has.
const PROGRAMS: usize = 300;
const OF_A_CASE: usize = 50;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    for first in (0..PROGRAMS).step_by(OF_A_CASE) {
        let name = format!("gcc's tests, {first}..{}", first + OF_A_CASE);
        let context = context.clone();
        suite.add(name.clone(), move || {
            let all = programs()?;
            let subjects: Vec<Subject> = (first..first + OF_A_CASE)
                .map(|number| Subject {
                    source: all[number * all.len() / PROGRAMS].clone(),
                    flags: vec!["-std=gnu89".into()],
                })
                .collect();
            // Some want a gcc, with nested functions for instance.
            super::check(&context, &name, first, &subjects, OF_A_CASE / 2)
        });
    }
}

/// All programs, unpacked once. The package's archive is compressed as one, so that each time takes ten seconds.
fn programs() -> Result<Vec<PathBuf>> {
    static ONCE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _once = ONCE.lock().expect("nobody panics with it");
    let folder = workspace::scratch().join("sources/gcc-tests");
    if !folder.exists() {
        unpack(&folder)?;
    }
    let entries = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut programs: Vec<PathBuf> = entries.into_iter().filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    // A program as a whole knows that a variable never changes, which this one takes for a fault: gcc has an attribute
    // against that (`externally_visible`), which clang does not know.
    programs.retain(|program| !program.ends_with("bcp-1.c"));
    programs.sort();
    ensure!(programs.len() >= PROGRAMS, "{} has {} programs", folder.display(), programs.len());
    Ok(programs)
}

fn unpack(folder: &Path) -> Result<()> {
    let entries =
        Path::new(PACKAGE).read_dir().context("install gcc-12-source (apt-get), or run without --no-install")?;
    let archive = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("gcc-12")))
        .with_context(|| format!("{PACKAGE} has no archive of gcc's sources"))?;
    let unpacked = folder.with_extension("new");
    workspace::fresh(&unpacked)?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("-C").arg(&unpacked);
    tar.args(["--strip-components=5", "--wildcards", "*/gcc/testsuite/gcc.c-torture/execute/*.c"]);
    command::succeed(&mut tar)?;
    std::fs::rename(unpacked, folder)?;
    Ok(())
}
