//! Running other programs: all output is kept, a failure says what was run, and none runs longer than its case may.

use crate::deadline::{self, Deadline};
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Runs to the end with nothing on standard input.
pub fn output(command: &mut Command) -> Result<Output> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = watch(command, |stream, bytes| match stream {
        Stream::Output => stdout.extend_from_slice(bytes),
        Stream::Errors => stderr.extend_from_slice(bytes),
    })?;
    match ended {
        Ended::With(status) => Ok(Output { status, stdout, stderr }),
        Ended::Late(deadline) => {
            let output = Output { status: ExitStatus::default(), stdout, stderr };
            bail!("{} {}", line(command), late(deadline, &last_lines(&output, 1)));
        }
    }
}

/// Describes the end of a program that was killed.
pub fn late(deadline: Deadline, last_line: &str) -> String {
    match last_line {
        "" => format!("did not end within {deadline}, and was killed; it wrote nothing"),
        line => format!("did not end within {deadline}, and was killed; the last line it wrote: {line}"),
    }
}

/// Where a program writes.
#[derive(Clone, Copy)]
pub enum Stream {
    /// Standard output
    Output,
    /// Standard error
    Errors,
}

/// How a program ended that was watched.
pub enum Ended {
    /// By itself, or by a signal of others.
    With(ExitStatus),
    /// By us.
    Late(Deadline),
}

/// Runs a program and shows all that it writes to its pipes, until it has ended, and all that hold its pipes; at the
/// deadline of the case it is killed.
pub fn watch(command: &mut Command, mut show: impl FnMut(Stream, &[u8])) -> Result<Ended> {
    let mut child = command.stdin(Stdio::null()).spawn().with_context(|| format!("can't start {}", line(command)))?;
    let (sender, receiver) = mpsc::channel();
    if let Some(pipe) = child.stdout.take() {
        pass_on(pipe, Stream::Output, sender.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        pass_on(pipe, Stream::Errors, sender.clone());
    }
    drop(sender);
    let Some(deadline) = Deadline::current() else {
        receiver.iter().for_each(|(stream, bytes): (Stream, Vec<u8>)| show(stream, &bytes));
        return Ok(Ended::With(child.wait()?));
    };
    loop {
        match receiver.recv_timeout(deadline.left()) {
            Ok((stream, bytes)) => show(stream, &bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => return end(child, deadline),
        }
    }
    // A program may close its pipes and run on.
    while child.try_wait()?.is_none() {
        if deadline.left().is_zero() {
            return end(child, deadline);
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(Ended::With(child.wait()?))
}

/// Kills it. Whoever escapes may hold the pipes open for as long as it likes: we don't wait for them.
fn end(mut child: Child, deadline: Deadline) -> Result<Ended> {
    deadline::kill_tree(child.id());
    child.wait()?;
    Ok(Ended::Late(deadline))
}

/// Sends what comes out of a pipe, from a thread of its own.
fn pass_on(mut pipe: impl Read + Send + 'static, stream: Stream, sender: Sender<(Stream, Vec<u8>)>) {
    thread::spawn(move || {
        let mut buffer = [0; 64 << 10];
        loop {
            match pipe.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    if sender.send((stream, buffer[..count].to_vec())).is_err() {
                        break;
                    }
                }
            }
        }
    });
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::time::Instant;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn all_output_is_kept() {
        let ended = output(&mut shell("echo out; echo err >&2; exit 3")).unwrap();
        assert_eq!((ending(&ended), &*ended.stdout, &*ended.stderr), (3, &b"out\n"[..], &b"err\n"[..]));
        let lines = text(&mut shell("seq 1 100000")).unwrap();
        assert_eq!(lines.lines().count(), 100_000);
    }

    #[test]
    fn what_hangs_is_killed_with_all_that_it_started() {
        let start = Instant::now();
        let script = "sleep 1000 & echo $!; (sleep 1000 & echo $!; wait); echo never";
        let run = || deadline::within(Duration::from_secs(5), || succeed(&mut shell(script)));
        let error = run().unwrap_err().to_string();
        assert!(error.contains("did not end within 5s"), "{error}");
        let (_, last) = error.rsplit_once("wrote: ").expect("the last line");
        assert!(start.elapsed() < Duration::from_secs(100));
        // It has been killed, but a busy machine may take a while to end it. Whoever adopts it will wait for it soon.
        let state = || std::fs::read_to_string(Path::new("/proc").join(last).join("stat")).unwrap_or_default();
        let has_ended = || state().is_empty() || state().contains(") Z ");
        while !has_ended() {
            assert!(start.elapsed() < Duration::from_secs(100), "{}", state());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(Deadline::current().is_none());
    }

    #[test]
    fn closed_pipes_are_no_end() {
        let run = || output(&mut shell("exec >&- 2>&-; exec sleep 1000"));
        let error = deadline::within(Duration::from_millis(200), run).unwrap_err().to_string();
        assert!(error.ends_with("it wrote nothing"), "{error}");
    }
}
