//! Lines of a path across functions: a function and its route, indented by call depth.

use super::parts::PathPart;
use crate::method::path::route::Writer;
use crate::method::path::text::PathsOptions;
use crate::terminal::Style;
use crate::unit::Unit;
use std::io::{self, Write};

/// The most parts of a path that are shown, unless everything was asked for.
const MOST_STRETCHES: usize = 12;

/// The blanks before a line of the outermost function.
const INDENT: usize = 8;

/// A part: its function, indented by its depth, and its lines.
pub(in crate::method) fn line(unit: &Unit<'_>, options: &PathsOptions, part: &PathPart) -> String {
    let indent = "  ".repeat(part.depth.min(20) as usize);
    let Some(facts) = unit.function(part.function).map(|of| of.facts) else { return indent };
    let route = Writer::new(unit, facts).write(&part.stops(facts));
    format!("{indent}{}  {route}", options.names.show(&facts.symbol))
}

/// Writes the lines of a path; of a long one the beginning and the end, unless everything was asked for.
pub(in crate::method) fn write_lines(
    options: &PathsOptions,
    lines: &[String],
    faint: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = options.style;
    let most = if options.verbose { lines.len() } else { MOST_STRETCHES };
    // How a path ends is what tells it from others with the same beginning.
    let hidden = lines.len().saturating_sub(most);
    for (index, line) in lines.iter().enumerate() {
        if hidden > 0 && index == most / 2 {
            writeln!(out, "{}", style.faint(&format!("        … {hidden} more (-v)")))?;
        }
        if hidden == 0 || index < most / 2 || index >= lines.len() - most.div_ceil(2) {
            let line = folded(style, line);
            writeln!(out, "{}", if faint { style.faint(&line) } else { line })?;
        }
    }
    Ok(())
}

/// The line of a function and its route, indented, and broken into several where the terminal is too narrow for it.
fn folded(style: Style, line: &str) -> String {
    let depth = line.len() - line.trim_start().len();
    let indent = INDENT + depth;
    let whole = format!("{:INDENT$}{line}", "");
    if style.width.is_none_or(|width| whole.chars().count() <= usize::from(width)) {
        return whole;
    }
    let (name, route) = line[depth..].split_once("  ").unwrap_or((&line[depth..], ""));
    let text = style.wrap(&format!("{name} {route}"), indent + 2);
    // Two blanks stand between the name and its route.
    let text = text.strip_prefix(name).map_or(text.clone(), |route| format!("{name} {route}"));
    format!("{:indent$}{text}", "")
}

#[cfg(test)]
mod tests {
    use super::{Style, folded};

    #[test]
    fn long_lines_are_broken_in_a_terminal() {
        let line = "  main  app.c:1 [a_long_name other.c:20] 3";
        assert_eq!(folded(Style { width: None, colour: false }, line), format!("        {line}"));
        assert_eq!(folded(Style { width: Some(80), colour: false }, line), format!("        {line}"));
        let narrow = folded(Style { width: Some(42), colour: false }, line);
        assert_eq!(narrow, "          main  app.c:1 [a_long_name\n            other.c:20] 3");
    }
}
