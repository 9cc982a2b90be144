//! Output for terminals: width, colours, tables, and readable numbers.

use crate::visible;
use comfy_table::{CellAlignment, Table};

mod column;
mod layout;

pub use column::{Column, number, place, text};

use layout::Layout;
pub(crate) use layout::shortened;

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
        self.paint("1", &visible::name(text))
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
        self.joined(text.split_whitespace(), " ", indent)
    }

    /// Joins the parts by `separator`, in lines that fit. Ends of lines take the place of blanks.
    fn joined<'a>(self, parts: impl Iterator<Item = &'a str>, separator: &str, indent: usize) -> String {
        let room = usize::from(self.width.unwrap_or(PAGE)).saturating_sub(indent).max(20);
        let mut lines = vec![String::new()];
        for whole in parts.map(visible::name) {
            let whole = &*whole;
            // A terminal would break a longer name anywhere.
            let mut part = whole;
            while let Some(end) = self.width.and_then(|_| break_in(part, room)) {
                if lines.last().is_some_and(|last| !last.is_empty()) {
                    if let Some(last) = lines.last_mut().filter(|_| part == whole) {
                        last.push_str(separator.trim_end());
                    }
                    lines.push(String::new());
                }
                lines.last_mut().expect("never empty").push_str(&part[..end]);
                part = &part[end..];
            }
            if part.len() < whole.len() {
                lines.push(part.to_owned());
                continue;
            }
            let last = lines.last_mut().expect("never empty");
            if last.is_empty() {
                last.push_str(part);
                continue;
            }
            last.push_str(separator.trim_end());
            if last.chars().count() + 1 + part.chars().count() + separator.trim_end().len() > room {
                lines.push(part.to_owned());
            } else {
                last.push(' ');
                last.push_str(part);
            }
        }
        lines.join(&format!("\n{}", " ".repeat(indent)))
    }

    /// Rows of a name, a number and a remark. Remarks are broken into lines that fit, behind commas.
    #[must_use]
    pub fn totals(self, rows: &[[String; 3]]) -> String {
        let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (name, number) = (widest(0), widest(1));
        let indent = name + number + 6;
        let remark = |text: &str| {
            if self.width.is_some() { self.joined(text.split(", "), ", ", indent) } else { text.to_owned() }
        };
        let line = |[title, value, more]: &[String; 3]| {
            let line = format!("  {title:name$}  {value:>number$}  {}", remark(more));
            line.trim_end().to_owned() + "\n"
        };
        rows.iter().map(line).collect()
    }

    /// A table that fits the terminal: numbers to the right. What does not fit loses the columns that can be spared,
    /// then the middle of its longest texts.
    #[must_use]
    pub fn table(self, columns: &[Column], mut rows: Vec<Vec<String>>) -> String {
        rows.iter_mut().flatten().for_each(visible::show);
        let layout = Layout::new(columns, &rows, self.width.map(usize::from));
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_header(layout.shown.iter().map(|&(column, _)| columns[column].title));
        for mut row in rows {
            let cell = |&(column, width): &(usize, usize)| {
                row.get_mut(column).map(std::mem::take).map_or_else(String::new, |text| shortened(text, width))
            };
            table.add_row(layout.shown.iter().map(cell).collect::<Vec<_>>());
        }
        for (index, &(column, _)) in layout.shown.iter().enumerate() {
            let Some(shown) = table.column_mut(index) else { continue };
            if columns[column].numeric {
                shown.set_cell_alignment(CellAlignment::Right);
            }
            shown.set_padding((if index == 0 { 2 } else { 1 }, 1));
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

/// Where a word that has no room in a line is broken: behind the last sign in a name that fits.
fn break_in(word: &str, room: usize) -> Option<usize> {
    if word.chars().count() <= room {
        return None;
    }
    let ends = word.char_indices().take(room).filter(|(_, sign)| matches!(sign, ':' | '<' | ',' | '>' | '(' | '/'));
    ends.map(|(at, _)| at + 1).last()
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
        let table =
            |style: Style| style.table(&[number("entries"), text("function")], vec![vec!["1,000".into(), name.into()]]);
        let cut = table(Style { width: Some(40), colour: false });
        assert!(cut.lines().all(|l| l.chars().count() <= 40) && cut.contains('…'), "{cut}");
        let whole = table(Style::default());
        assert!(whole.contains(name), "{whole}");
    }

    #[test]
    fn long_words_are_broken_where_names_have_signs() {
        let style = Style { width: Some(40), colour: false };
        let name = "one, a_namespace::another::Container<a_namespace::Value,another::Value>::add, two";
        let wrapped = "one,\n  a_namespace::another::Container<\n  a_namespace::Value,another::Value>::\n  add, two";
        assert_eq!(style.wrap(name, 2), wrapped);
        assert_eq!(style.wrap(&"x".repeat(50), 2), "x".repeat(50));
    }

    #[test]
    fn narrow_tables_lose_what_can_be_spared_first() {
        let columns = [number("blocks").spare(2), number("inlined").spare(1), text("function"), place("where")];
        let row = ["1,234,567", "89", "alloc::raw_vec::RawVec<T,A>::grow_one", "raw_vec.rs:340"];
        let row = || vec![row.map(str::to_owned).to_vec()];
        let table = |width| Style { width: Some(width), colour: false }.table(&columns, row());
        assert_eq!(
            table(80),
            "     blocks  inlined  function                               where\n  1,234,567       89  alloc::raw_vec::RawVec<T,A>::grow_one  raw_vec.rs:340\n"
        );
        assert_eq!(
            table(70),
            "  inlined  function                               where\n       89  alloc::raw_vec::RawVec<T,A>::grow_one  raw_vec.rs:340\n"
        );
        assert_eq!(
            table(50),
            "  function                         where\n  alloc::raw_vec::RawV…::grow_one  raw_vec.rs:340\n"
        );
    }

    #[test]
    fn remarks_of_totals_are_broken_and_not_cut() {
        let rows = [["instructions", "165", "loads 9, stores 38, calls 22"], ["blocks", "27", "of 143"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(
            Style { width: Some(41), colour: false }.totals(&rows),
            "  instructions  165  loads 9, stores 38,\n                     calls 22\n  blocks         27  of 143\n"
        );
    }
}
