//! docs/options.md.

use crate::options::TESTS;
use crate::shape::{declared, name};
use crate::travel::variable;
use crate::variables::VARIABLES;
use clap::Arg;
use std::fmt::Write;

/// What the page says.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "# Options of builds\n\n\
         This page is made from the same declarations as `cotree --help`. Options stand before the subcommand\n\
         (`cotree --profile path cc …`, `cargo cotree --profile path build`), among clang's arguments as\n\
         `--cotree-NAME=VALUE`, or in the environment. The command line wins over the environment.\n",
    );
    let options = declared();
    let mut headings: Vec<&str> = Vec::new();
    for heading in options.iter().filter_map(Arg::get_help_heading).filter(|&heading| heading != TESTS) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        write!(page, "\n## {heading}\n").expect("writing to memory");
        options
            .iter()
            .filter(|option| option.get_help_heading() == Some(heading))
            .for_each(|option| page.push_str(&entry(option)));
    }
    page.push_str("\n## Other environment variables\n\n| variable | meaning |\n| --- | --- |\n");
    for (variable, meaning) in VARIABLES {
        writeln!(page, "| `{variable}` | {meaning} |").expect("writing to memory");
    }
    page.push_str(
        "\nThe commands warn once of any other variable whose name begins with `COTREE_`, since nothing reads it. A profiled\n\
         program does not warn: its output is its own.\n",
    );
    page
}

/// An option's part of the page.
fn entry(option: &Arg) -> String {
    let value = option.get_value_names().map_or("", |names| names[0].as_str());
    let takes_none = option.get_num_args().is_some_and(|number| number.min_values() == 0);
    let usage = if takes_none { format!("[={value}]") } else { format!(" {value}") };
    let help = option.get_long_help().or(option.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut entry = format!("\n### `--{}{usage}`\n\n`{}`\n", name(option), variable(name(option)));
    for paragraph in help.split("\n\n") {
        let stop = if paragraph.ends_with(['.', ']', ')']) { "" } else { "." };
        write!(entry, "\n{}\n", lines(&format!("{paragraph}{stop}"), "")).expect("writing to memory");
    }
    let values = option.get_possible_values();
    // Switches have the values of any switch.
    if values.iter().any(|value| value.get_help().is_some()) {
        entry.push('\n');
        for value in values {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(entry, "{}", lines(&format!("- `{}`: {help}", value.get_name()), "  "))
                .expect("writing to memory");
        }
    }
    entry
}

/// Words in lines of at most 120 columns; all but the first begin with `indent`.
fn lines(text: &str, indent: &str) -> String {
    let mut all = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 120 {
            write!(all, "\n{indent}").expect("writing to memory");
            column = indent.len();
        } else if column > 0 {
            all.push(' ');
            column += 1;
        }
        all.push_str(word);
        column += width;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `COTREE_WRITE_DOCS=1 cargo test -p cotree-options` writes the page.
    #[test]
    fn the_page_is_what_the_options_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/options.md");
        if std::env::var_os("COTREE_WRITE_DOCS").is_some() {
            std::fs::write(path, page()).expect("docs/ can be written");
        }
        let is = std::fs::read_to_string(path).unwrap_or_default();
        assert!(is == page(), "docs/options.md is out of date: COTREE_WRITE_DOCS=1 cargo test -p cotree-options");
    }
}
