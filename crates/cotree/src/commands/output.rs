//! The output of commands: standard output, or a file that appears whole or not at all.

use super::into_report;
use crate::{lines, progress};
use clap::{Args, ValueEnum};
use cotree_profile::atomic::{self, Over};
use cotree_report::terminal::Style;
use cotree_report::visible::Visible;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use terminal_size::{Height, Width};

/// Prints a line on standard output. A reader that goes away (`| head`) is no error.
pub fn answer(line: std::fmt::Arguments<'_>) -> Result<()> {
    lines::answer(line).into_diagnostic().wrap_err("cannot write to standard output")
}

/// Where output goes.
#[derive(Args, Clone, Debug, Default)]
pub struct Output {
    /// Write to FILE instead of standard output (`-` is standard output)
    #[arg(short, long, value_name = "FILE", alias = "output-path")]
    pub output: Option<PathBuf>,
    /// Overwrite the output even if it is a file of another kind
    #[arg(long, hide_short_help = true)]
    pub force: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How text for people looks.
#[derive(Args, Clone, Debug)]
pub struct Looks {
    /// When to use colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", alias = "colour", hide_short_help = true)]
    color: Colour,
    /// Width in columns [default: that of the terminal, or unlimited if there is none]
    #[arg(long, value_name = "N", hide_short_help = true)]
    width: Option<u16>,
}

impl Looks {
    /// The style for this output.
    pub fn style(&self, output: &Output) -> Style {
        let terminal = output.output.as_ref().is_none_or(|path| path.as_os_str() == "-") && io::stdout().is_terminal();
        self.style_of(terminal, terminal_size::terminal_size)
    }

    fn style_of(&self, terminal: bool, size: impl FnOnce() -> Option<(Width, Height)>) -> Style {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let colour = match self.color {
            Colour::Auto => terminal && !plain,
            Colour::Always => true,
            Colour::Never => false,
        };
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
        let measured = || size().filter(|_| terminal).map(|(width, _)| width.0);
        let width = self.width.or_else(measured).or_else(|| columns().filter(|_| terminal));
        Style { width: width.map(|width| width.max(40)), colour }
    }
}

impl Looks {
    /// The style for text on standard error.
    pub fn style_of_errors(&self) -> Style {
        self.style_of(io::stderr().is_terminal(), || terminal_size::terminal_size_of(io::stderr()))
    }
}

impl Output {
    /// Writes text for people through `fill`: control characters in names and the like are made visible.
    pub fn write_text(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.write(|out| {
            let mut visible = Visible::new(out);
            fill(&mut visible)?;
            visible.finish().map(drop)
        })
    }

    /// Writes JSON as it is, and else text for people.
    pub fn write_either(&self, json: bool, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if json { self.write(fill) } else { self.write_text(fill) }
    }

    /// Writes through `fill`, as it is unless a terminal would read it. A reader that goes away (`| head`) is no error.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if let Some(path) = self.output.as_ref().filter(|path| path.as_os_str() != "-") {
            let _writing = progress::phase(&format!("writing {}", path.display()));
            return match atomic::write_over(path, Over::forced(self.force), fill) {
                Err(error) if error.cause.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                result => result.map_err(into_report),
            };
        }
        lines::check_standard_output().into_diagnostic().wrap_err("cannot write to standard output")?;
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let filled = if io::stdout().is_terminal() {
            let mut visible = Visible::new(&mut out);
            fill(&mut visible).and_then(|()| visible.finish().map(drop))
        } else {
            fill(&mut out)
        };
        match filled.and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                // Nobody reads what is still buffered.
                let _ = out.into_parts();
                Ok(())
            }
            result => result.into_diagnostic().wrap_err("cannot write to standard output"),
        }
    }
}
