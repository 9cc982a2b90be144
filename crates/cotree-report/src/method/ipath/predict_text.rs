//! The text on predictions of paths across functions from edge counts.

use super::IpathUnit;
use super::lines::{line, write_lines};
use super::parts::PathPart;
use super::predict::{Beginning, predict};
use crate::method::path::route::Writer;
use crate::method::path::text::{PathsOptions, write_heading, write_score};
use crate::terminal::{counted, grouped};
use std::cmp::Reverse;
use std::io::{self, Write};

/// Writes how good predictions are, and the beginnings whose hottest path they miss.
pub(super) fn write(of: &IpathUnit<'_>, options: &PathsOptions, out: &mut dyn Write) -> io::Result<()> {
    let prediction = predict(of, |symbol| options.wanted(symbol));
    write_score(&prediction.score, options.style, out)?;
    let mut wrong: Vec<&Beginning> = prediction.beginnings.iter().filter(|beginning| !beginning.right()).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.sort_by_key(|beginning| Reverse(beginning.instructions));
    let shown = options.shown(wrong.len());
    write_heading(options, "Beginnings whose hottest path edge counts miss", shown, wrong.len(), out)?;
    wrong[..shown].iter().try_for_each(|beginning| write_beginning(of, options, beginning, out))?;
    writeln!(out)
}

fn write_beginning(
    of: &IpathUnit<'_>,
    options: &PathsOptions,
    beginning: &Beginning,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(function) = of.unit.function(beginning.function) else { return Ok(()) };
    let place = match beginning.after_cut {
        None => "entry".into(),
        Some(block) => Writer::new(of.unit, function.facts).block(block),
    };
    let doubt = if function.flaws().is_empty() { "" } else { "~" };
    let sentence = format!(
        "{} from {} {place}: hottest {doubt}{}, predicted {}",
        counted(beginning.executions, "execution"),
        options.names.show(&function.facts.symbol),
        times(beginning.hottest_count),
        times(beginning.predicted_count),
    );
    writeln!(out, "  {}", options.style.wrap(&sentence, 2))?;
    let hottest = of.path(beginning.hottest, beginning.hottest_count).map(|path| path.parts).unwrap_or_default();
    let style = options.style;
    let titles = [format!("      hottest  #{}", beginning.hottest), "      predicted".into()];
    for (title, parts) in titles.iter().zip([&hottest, &beginning.predicted]) {
        writeln!(out, "{}", style.faint(title))?;
        let active: Vec<&PathPart> = parts.iter().filter(|part| !part.context).collect();
        let outermost = active.iter().map(|part| part.depth).min().unwrap_or(0);
        let from_there = |part: &&PathPart| PathPart { depth: part.depth - outermost, ..(*part).clone() };
        let lines: Vec<String> = active.iter().map(|part| line(of.unit, options, &from_there(part))).collect();
        write_lines(options, &lines, false, out)?;
    }
    Ok(())
}

/// How often, in words.
fn times(count: u64) -> String {
    match count {
        0 => "never".into(),
        1 => "once".into(),
        _ => format!("{} times", grouped(count.into())),
    }
}
