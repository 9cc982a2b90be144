//! `cotree demo`: builds, runs and reports a bundled example, and prints each command that a user would type.

use super::output::answer;
use super::report::{self, ReportArgs};
use clap::{Args, Parser};
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

const SOURCE: &str = include_str!("../../carried/queens.rs");
const MANIFEST: &str = "[package]\nname = \"queens\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// Arguments of `cotree demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Build here and leave everything there; otherwise a temporary folder is used and removed
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// Runs `cotree demo`.
pub fn run(args: &DemoArgs) -> Result<()> {
    let temporary;
    let folder = match &args.keep {
        Some(folder) => folder.clone(),
        None => {
            temporary = tempfile::tempdir().into_diagnostic().wrap_err("cannot make a temporary folder")?;
            temporary.path().to_owned()
        }
    };
    put(&folder.join("Cargo.toml"), MANIFEST)?;
    put(&folder.join("src/main.rs"), SOURCE)?;
    answer(format_args!("A program that counts the ways to place queens on a chess board (examples/queens.rs)."))?;
    answer(format_args!(""))?;

    answer(format_args!("$ cargo cotree build --release"))?;
    let cotree = std::env::current_exe().into_diagnostic().wrap_err("cannot find cotree's own executable")?;
    let built = Command::new(cotree)
        .args(["cargo", "build", "--release", "--quiet", "--offline"])
        // The user's own target folder stays out of it.
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .current_dir(&folder)
        .status()
        .into_diagnostic()
        .wrap_err("cannot start cargo")?;
    if !built.success() {
        bail!("the example could not be built; what cargo said stands above");
    }

    answer(format_args!("$ ./queens"))?;
    let profile = folder.join("queens.cotree");
    let program = executable(&folder)?;
    let ran = Command::new(&program)
        .current_dir(&folder)
        .env("COTREE_FILE", &profile)
        .status()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {}", program.display()))?;
    if !ran.success() {
        bail!("the example ended with {ran}");
    }

    answer(format_args!(""))?;
    answer(format_args!("$ cotree report"))?;
    let profile = profile.to_str().ok_or_else(|| miette::miette!("the folder's name is not UTF-8"))?;
    report::run(&Report::parse_from(["report", profile]).arguments)?;
    if args.keep.is_some() {
        answer(format_args!(""))?;
        answer(format_args!("Next: cotree annotate {profile}"))?;
    }
    Ok(())
}

#[derive(Parser)]
struct Report {
    #[command(flatten)]
    arguments: ReportArgs,
}

/// The example's executable: cargo puts it below a folder named for the target.
fn executable(folder: &Path) -> Result<PathBuf> {
    let targets = folder.join("target/cotree");
    fs::read_dir(&targets)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", targets.display()))?
        .flatten()
        .map(|entry| entry.path().join("release/queens"))
        .find(|path| path.is_file())
        .ok_or_else(|| miette::miette!("cargo built no executable below {}", targets.display()))
}

fn put(path: &Path, text: &str) -> Result<()> {
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        // A project of the user's own stays what it is.
        match fs::read(path) {
            Ok(there) if there != text.as_bytes() => {
                Err(io::Error::other("there is another one already (choose another folder)"))
            }
            Ok(_) => Ok(()),
            Err(_) => fs::write(path, text),
        }
    };
    write().into_diagnostic().wrap_err_with(|| format!("cannot write {}", path.display()))
}
