//! Pending paths as a story for the terminal, from `main` to where the program ended, or was when its profile was
//! copied.

use super::{PathTaken, Pending, StoppedAt, pending};
use crate::method::ipath::lines::{line, write_lines};
use crate::method::path::text::PathsOptions;
use crate::report::write_head;
use crate::terminal::{counted, grouped};
use crate::unit::Unit;
use cotree_core::facts::Callee;
use cotree_core::ids::{CallId, FunctionId};
use std::io::{self, Write};

/// The most activations that are shown, unless everything was asked for.
const MOST: usize = 30;

/// Why nothing is told of a unit; `None` if there is something.
pub(super) fn silence(unit: &Unit<'_>) -> Option<&'static str> {
    let runs = unit.profile.runs;
    if runs.total() != 1 {
        return Some("A merged profile says nothing of how its runs ended: ask the profile of one run.");
    }
    if runs.cut_off == 1 {
        return Some("The program was killed, or still runs: nobody was left to write down its stack.");
    }
    if !unit.profile.stack.is_empty() {
        return None;
    }
    if runs.snapshots == 1 {
        return Some(
            "The profile was copied from outside, or while no profiled function was alive: cotree_dump in the program, \
             or cotree-paths in cotree gdb, writes down the stack of the thread, too.",
        );
    }
    Some(match runs.finished {
        1 => "The program returned from main, or ended in code that is not profiled: no path was pending.",
        _ => "No stack was written down: the file had no room for it, or no profiled function was alive.",
    })
}

/// Writes what was pending in one unit, if its paths were counted.
///
/// # Errors
/// If the output can't be written.
pub fn write(unit: &Unit<'_>, options: &PathsOptions, out: &mut dyn Write) -> io::Result<()> {
    let Some(pending) = pending(unit) else { return Ok(()) };
    write_head(unit, options.style, out)?;
    if let Some(silence) = silence(unit) {
        return writeln!(out, "{}", options.style.wrap(silence, 0));
    }
    let teller = Teller { unit, options };
    let title = format!("Pending paths when {}, outermost first", moment(unit));
    let hidden = if options.verbose { 0 } else { pending.len().saturating_sub(MOST) };
    let cut = if hidden > 0 { format!(" ({MOST} of {})", grouped(pending.len() as u128)) } else { String::new() };
    writeln!(out, "{}{}", options.style.heading(&title), options.style.faint(&cut))?;
    for (index, at) in pending.iter().enumerate() {
        if hidden > 0 && index == MOST / 2 {
            let more = format!("  … {} more (-v)", counted(hidden as u128, "activation"));
            writeln!(out, "{}", options.style.faint(&more))?;
        }
        if hidden == 0 || index < MOST / 2 || index >= pending.len() - MOST / 2 {
            teller.activation(at, out)?;
        }
    }
    writeln!(out)
}

/// What happened when the stack was written down.
fn moment(unit: &Unit<'_>) -> &'static str {
    let runs = unit.profile.runs;
    match (runs.aborted, runs.snapshots) {
        (1, _) => "the program aborted",
        (_, 1) => "the profile was copied",
        _ => "the program exited",
    }
}

struct Teller<'a> {
    unit: &'a Unit<'a>,
    options: &'a PathsOptions,
}

impl Teller<'_> {
    fn activation(&self, at: &Pending, out: &mut dyn Write) -> io::Result<()> {
        let style = self.options.style;
        let place = match (&at.place, at.function) {
            (StoppedAt::Call(call), Some(function)) => self.call(function, *call),
            (StoppedAt::Instruction(Some((file, line))), _) => {
                format!("{} at {}:{line}", self.verb(), file.rsplit('/').next().unwrap_or(file))
            }
            (StoppedAt::Instruction(None), _) => {
                format!("{} between two calls (build with -g to see the line)", self.verb())
            }
            (StoppedAt::SomeCall(Some((file, line))), _) => {
                format!("in a call at {}:{line}", file.rsplit('/').next().unwrap_or(file))
            }
            (StoppedAt::SomeCall(None) | StoppedAt::Call(_), _) => "in a call (build with -g to see the line)".into(),
        };
        writeln!(out, "  {}  {}", self.name(at.function), style.faint(&place))?;
        match &at.path {
            PathTaken::Path(parts) => {
                for (context, title) in [(true, "      after"), (false, "      by")] {
                    let of = parts.iter().filter(|part| part.context == context);
                    let lines: Vec<String> = of.map(|part| line(self.unit, self.options, part)).collect();
                    let both = parts.iter().any(|part| part.context);
                    if both && !lines.is_empty() {
                        writeln!(out, "{}", style.faint(title))?;
                    }
                    write_lines(self.options, &lines, context, out)?;
                }
                Ok(())
            }
            PathTaken::OfTheNext => Ok(()),
            PathTaken::OneOf(paths) => {
                let say = format!("        by one of {} that led there", counted(*paths as u128, "path"));
                writeln!(out, "{}", style.faint(&say))
            }
            PathTaken::NotHeld => {
                let say =
                    "        by a path that the machine code did not hold there (it may with --fault-paths and -g)";
                writeln!(out, "{}", style.faint(say))
            }
            PathTaken::Unknown => writeln!(out, "{}", style.faint("        by a path that was not kept")),
        }
    }

    /// What an activation did between two calls.
    fn verb(&self) -> &'static str {
        if self.unit.profile.runs.snapshots == 1 { "stopped" } else { "ended" }
    }

    fn name(&self, function: Option<FunctionId>) -> String {
        let facts = function.and_then(|function| self.unit.function(function));
        facts.map_or_else(|| "(some function)".into(), |of| self.options.names.show(&of.facts.symbol))
    }

    /// Where an activation was in a call, and of what.
    fn call(&self, function: FunctionId, call: CallId) -> String {
        let Some(facts) = self.unit.function(function).map(|of| of.facts) else { return String::new() };
        let callee = match facts.calls.get(call).map(|call| &call.callee) {
            Some(Callee::Symbol(symbol)) => self.options.names.show(symbol),
            Some(_) => "what a pointer leads to".into(),
            None => return String::new(),
        };
        match facts.call_position(call) {
            Some(position) => format!("called {callee} at {}", self.unit.brief(Some(position))),
            None => format!("called {callee}"),
        }
    }
}
