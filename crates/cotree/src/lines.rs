//! Single lines for people: answers on standard output, notes and errors on standard error.

use crate::progress;
use cotree_llvm::standard_output;
use cotree_report::visible::{self, Visible};
use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, IsTerminal, Write};

/// An error if standard output was closed when the process began.
///
/// # Errors
/// That one.
pub fn check_standard_output() -> io::Result<()> {
    if standard_output::was_closed() { Err(io::Error::other("it is closed")) } else { Ok(()) }
}

/// Prints a line on standard output. A reader that goes away (`| head`) is no error.
///
/// # Errors
/// If standard output can't be written, as on a full disk.
pub fn answer(line: Arguments<'_>) -> io::Result<()> {
    check_standard_output()?;
    let mut out = io::stdout().lock();
    let line = line.to_string();
    // Programs read paths as they are.
    let line = if out.is_terminal() { visible::name(&line) } else { Cow::Borrowed(&*line) };
    match progress::aside(|| writeln!(out, "{line}").and_then(|()| out.flush())) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a line on standard error. Where that can't be written there is nobody to tell.
pub fn note(line: Arguments<'_>) {
    let line = line.to_string();
    progress::aside(|| {
        let _ = writeln!(io::stderr().lock(), "{}", visible::name(&line));
    });
}

/// Prints text for people on standard error, as [`note`] does with a line: `fill` may colour it.
///
/// # Errors
/// Errors of `fill`.
pub fn notes(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut text = Vec::new();
    let mut shown = Visible::new(&mut text);
    fill(&mut shown)?;
    shown.finish()?;
    progress::aside(|| {
        let _ = io::stderr().lock().write_all(&text);
    });
    Ok(())
}

/// Prints what is wrong: on a terminal in a frame, and else in one line, with one for what to do.
pub fn error(report: &miette::Report) {
    let shown = Shown::new(report);
    let mut out = io::stderr().lock();
    let _ = if out.is_terminal() {
        writeln!(out, "{:?}", miette::Report::new(shown))
    } else {
        writeln!(out, "{}", shown.one_line())
    };
}

/// An error, its causes and its remedy, each in a line of its own, with control characters made visible: they quote
/// names and paths of others.
#[derive(Debug)]
struct Shown {
    message: String,
    code: Option<String>,
    help: Option<String>,
    cause: Option<Box<Shown>>,
}

impl Shown {
    fn new(report: &miette::Report) -> Self {
        let shown = |text: &dyn std::fmt::Display| visible::name(&text.to_string()).into_owned();
        let mut causes: Vec<String> = report.chain().map(|error| shown(&error)).collect();
        // Many an error says what its cause says.
        causes.dedup_by(|cause, error| error.ends_with(cause.as_str()));
        let below = |cause, message| Some(Box::new(Shown { message, code: None, help: None, cause }));
        let mut causes = causes.into_iter();
        let message = causes.next().unwrap_or_default();
        let code = report.code().map(|code| code.to_string());
        Self { message, code, help: report.help().map(|help| shown(&help)), cause: causes.rev().fold(None, below) }
    }

    /// What is wrong, for logs and programs: one line, and one for what to do.
    fn one_line(&self) -> String {
        let causes = std::iter::successors(Some(self), |error| error.cause.as_deref());
        let causes: Vec<&str> = causes.map(|error| error.message.as_str()).collect();
        let help = self.help.as_ref().map(|help| format!("\ncotree: help: {help}")).unwrap_or_default();
        format!("cotree: error: {}{}{help}", causes.join(": "), self.bracketed())
    }

    /// The code as it stands behind a sentence.
    fn bracketed(&self) -> String {
        self.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default()
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.message, self.bracketed())
    }
}

impl std::error::Error for Shown {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

impl miette::Diagnostic for Shown {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{WrapErr, miette};

    #[test]
    fn errors_stay_in_their_lines() {
        let wrong: miette::Result<()> =
            Err(miette!(help = "do\nthis", "it is\nwrong")).wrap_err("cannot read \x1b[31ma");
        let shown = Shown::new(&wrong.expect_err("it is wrong"));
        assert_eq!(shown.one_line(), "cotree: error: cannot read ␛[31ma: it is␊wrong\ncotree: help: do␊this");
    }
}
