//! Output for terminals: width, colours, tables, and readable numbers.

use crate::fit::fit;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// How to write for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal. Without a terminal, tables are as wide as their content, and nothing is cut.
    pub width: Option<u16>,
    /// Use colours.
    pub colour: bool,
}

/// Columns of running text where there is no terminal.
const PAGE: u16 = 100;

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A heading.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Good news.
    #[must_use]
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What needs attention.
    #[must_use]
    pub fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// What never ran.
    #[must_use]
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What matters less.
    #[must_use]
    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Breaks a text into lines that fit.
    #[must_use]
    pub fn wrap(self, text: &str, indent: usize) -> String {
        let room = usize::from(self.width.unwrap_or(PAGE)).saturating_sub(indent).max(20);
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let last = lines.last_mut().expect("never empty");
            if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > room {
                lines.push(word.to_owned());
            } else {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(word);
            }
        }
        lines.join(&format!("\n{}", " ".repeat(indent)))
    }

    /// A table that fits the terminal: numbers to the right, texts cut where they must be.
    #[must_use]
    pub fn table(self, columns: &[Column], mut rows: Vec<Vec<String>>) -> String {
        let left = |index: usize| if index == 0 { 2 } else { 1 };
        if let Some(width) = self.width {
            fit(columns, &mut rows, width.into(), |index| usize::from(left(index)) + 1);
        }
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        if let Some(width) = self.width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        }
        table.set_truncation_indicator("…");
        table.set_header(columns.iter().map(|c| c.title));
        for row in rows {
            let mut row = comfy_table::Row::from(row);
            row.max_height(1);
            table.add_row(row);
        }
        for (index, column) in columns.iter().enumerate() {
            let Some(shown) = table.column_mut(index) else { continue };
            if column.numeric {
                shown.set_cell_alignment(CellAlignment::Right);
                shown.set_constraint(comfy_table::ColumnConstraint::ContentWidth);
            }
            shown.set_padding((left(index), 1));
        }
        let mut text = String::new();
        for (index, line) in table.lines().enumerate() {
            let line = line.trim_end();
            text.push_str(&if index == 0 { self.faint(line) } else { line.to_owned() });
            text.push('\n');
        }
        text
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its title.
    pub title: &'static str,
    /// Aligned to the right, and never cut.
    pub numeric: bool,
    /// Names of functions or places: their ends are kept.
    pub names: bool,
}

/// A column of numbers.
#[must_use]
pub const fn number(title: &'static str) -> Column {
    Column { title, numeric: true, names: false }
}

/// A column of texts.
#[must_use]
pub const fn text(title: &'static str) -> Column {
    Column { title, numeric: false, names: false }
}

/// A column of names of functions, or of places in files. What is too long loses its beginning.
#[must_use]
pub const fn names(title: &'static str) -> Column {
    Column { title, numeric: false, names: true }
}

/// What stands before a number that is not vouched for.
#[must_use]
pub const fn mark(doubtful: bool) -> &'static str {
    if doubtful { "~" } else { "" }
}

/// A number with commas between thousands.
#[must_use]
pub fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A mean with one decimal and commas between thousands.
#[must_use]
pub fn mean(value: f64) -> String {
    // No mean of counts is negative, and one beyond 128 bits stays the largest.
    let tenths = (value * 10.0).round() as u128;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// A number with its noun: `1 function`, `2,000 functions`.
#[must_use]
pub fn counted(value: u128, thing: &str) -> String {
    format!("{} {thing}{}", grouped(value), if value == 1 { "" } else { "s" })
}

/// A share in percent.
#[must_use]
pub fn percent(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "-".into();
    }
    let share = part as f64 * 100.0 / whole as f64;
    // A part must not be rounded to 100 %.
    format!("{:.1}%", if part < whole { share.min(99.9) } else { share })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_said_of_nothing_less() {
        assert_eq!(percent(1, 0), "-");
        assert_eq!(percent(0, 7), "0.0%");
        assert_eq!(percent(7, 7), "100.0%");
        assert_eq!(percent(99_999, 100_000), "99.9%");
        assert_eq!(percent(1, 3), "33.3%");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(mean(0.0), "0.0");
        assert_eq!(mean(3.46), "3.5");
        assert_eq!(mean(1965.96), "1,966.0");
    }

    #[test]
    fn tables_fit_the_width() {
        let name = "a_function_with_a_name_that_is_much_too_long_for_the_terminal";
        let table = |style: Style| {
            style.table(&[number("entries"), names("function")], vec![vec!["1,000".into(), name.into()]])
        };
        let cut = table(Style { width: Some(40), colour: false });
        assert!(cut.lines().all(|l| l.chars().count() <= 40) && cut.contains('…'), "{cut}");
        let whole = table(Style::default());
        assert!(whole.contains(name), "{whole}");
    }
}
