//! Commands of the shell that use what was built.

use cotree_options::clear_environment;
use miette::{IntoDiagnostic, Result, miette};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command for the shell, which finds these executables first.
pub fn shell(command: &str, executables: &[PathBuf]) -> Result<Command> {
    let folders = executables.iter().filter_map(|file| file.parent().map(Path::to_owned));
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.dedup();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    clear_environment(&mut shell);
    shell.args(["-c", command]).env("PATH", std::env::join_paths(folders).into_diagnostic()?);
    Ok(shell)
}

/// What a command writes; it has to end well.
pub fn succeed(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.stderr(Stdio::inherit()).output().into_diagnostic()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(miette!("a step ended with {}: its messages stand above", output.status))
    }
}
