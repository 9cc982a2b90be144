//! Tables in Markdown.

use std::fmt::Write;

/// A table with a header; all columns but the first are aligned right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Table {
        Table { rows: vec![header.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
                .max(4)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::from("|");
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                if column == 0 { write!(line, " {cell:<width$} |")? } else { write!(line, " {cell:>width$} |")? }
            }
            writeln!(f, "{line}")?;
            if index == 0 {
                let rule = widths.iter().enumerate().map(|(column, width)| {
                    let dashes = "-".repeat(width - usize::from(column > 0));
                    if column == 0 { format!(" {dashes} |") } else { format!(" {dashes}: |") }
                });
                writeln!(f, "|{}", rule.collect::<String>())?;
            }
        }
        Ok(())
    }
}
