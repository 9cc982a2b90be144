//! Single lines for people: answers on standard output, notes and errors on standard error.

use cotree_report::visible;
use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write};

/// Prints a line on standard output. A reader that goes away (`| head`) is no error.
///
/// # Errors
/// If standard output can't be written, as on a full disk.
pub fn answer(line: Arguments<'_>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let line = line.to_string();
    let line = if out.is_terminal() { visible::text(&line) } else { line.into() };
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a line on standard error. Where that can't be written there is nobody to tell.
pub fn note(line: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{}", visible::text(&line.to_string()));
}
