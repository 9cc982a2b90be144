//! Running other programs: all output is kept, and a failure says what was run.

use anyhow::{Context, Result, bail};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

/// Runs to the end with nothing on standard input.
pub fn output(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("can't start {}", line(command)))
}

/// Runs to the end, and wants success; gives standard output.
pub fn succeed(command: &mut Command) -> Result<Vec<u8>> {
    let output = output(command)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    bail!("{} ended with {}\n{}", line(command), ending(&output), last_lines(&output, 25));
}

/// [`succeed`], as text.
pub fn text(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8_lossy(&succeed(command)?).into_owned())
}

/// Exit status, or minus the signal.
pub fn ending(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0))
}

/// The end of what a command wrote.
pub fn last_lines(output: &Output, count: usize) -> String {
    let all = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    let lines: Vec<&str> = all.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// A command line as one would type it, shortened.
pub fn line(command: &Command) -> String {
    let mut line = String::new();
    if let Some(folder) = command.get_current_dir() {
        line += &format!("(in {}) ", folder.display());
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            line += &format!("{}={} ", name.display(), value.display());
        }
    }
    line += &command.get_program().to_string_lossy();
    for argument in command.get_args() {
        line += " ";
        line += &argument.to_string_lossy();
    }
    let cut = line.char_indices().nth(1500).map(|(at, _)| at);
    cut.map_or(line.clone(), |at| format!("{} …", &line[..at]))
}
