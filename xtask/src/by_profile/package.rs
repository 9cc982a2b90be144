//! `cargo cotree pgo` on a package as it was published: the one command builds, trains, builds by the profile and
//! measures.

use crate::real::{self, Context};
use crate::rust_programs::Package;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;

/// Trains and measures with the package's first run.
pub fn check(package: &Package, context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("use").join(name.replace(' ', "_"));
    let source = folder.join("source");
    workspace::fresh(&folder)?;
    package.unpack(&source)?;
    let (arguments, _) = package.runs.first().context("the package has a run")?;
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    let bench = format!("{} {} > /dev/null", package.executable, quoted.join(" "));
    let pgo = || {
        let mut pgo = context.cotree();
        pgo.args(["cargo", "pgo", "--bench", &bench, "--locked"]).current_dir(&source);
        pgo.env("CARGO_TARGET_DIR", folder.join("target"))
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        command::text(&mut pgo)
    };
    let told = pgo()?;
    let lines: Vec<&str> = told.lines().collect();
    let [code, instructions, optimised] = lines[..] else { anyhow::bail!("it tells something else:\n{told}") };
    ensure!(code.starts_with(&format!("{}: ", package.executable)) && code.contains(" bytes of code ("), "{code}");
    let figures = instructions.strip_prefix("the workload: ").and_then(|line| line.split_once(" instructions "));
    let figures = figures.and_then(|(figures, _)| figures.split_once(" -> ")).context("no instructions")?;
    let [before, after] = [figures.0, figures.1].map(|figure| figure.replace(',', "").parse::<u64>());
    ensure!(after? < before?, "the profile makes the workload dearer: {instructions}");
    ensure!(pgo()? == told, "the same command, given again, tells something else");
    let plain = folder.join("target/cotree/pgo/before/release").join(package.executable);
    for index in 0..package.runs.len() {
        let run = |executable: PathBuf| package.run(&executable, index, &folder, &folder.join("none.cotree"));
        real::same(&run(plain.clone())?, &run(optimised.into())?).with_context(|| format!("run {index}"))?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(format!("{code}; {instructions}"))
}
