//! Columns of tables.

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The title of the column.
    pub title: &'static str,
    /// Aligned to the right, and never cut.
    pub numeric: bool,
    /// A text that is never cut.
    pub(super) whole: bool,
    /// Columns of the highest rank are left out first where there is no room. Those of rank 0 stay.
    pub(super) spare: u8,
}

impl Column {
    /// The column, which can be left out in a narrow terminal. The highest rank goes first.
    #[must_use]
    pub const fn spare(self, rank: u8) -> Column {
        Column { spare: rank, ..self }
    }
}

/// A column of numbers.
#[must_use]
pub const fn number(title: &'static str) -> Column {
    Column { title, numeric: true, whole: true, spare: 0 }
}

/// A column of texts.
#[must_use]
pub const fn text(title: &'static str) -> Column {
    Column { title, numeric: false, whole: false, spare: 0 }
}

/// A column of places in sources, whose line numbers are at their ends.
#[must_use]
pub const fn place(title: &'static str) -> Column {
    Column { title, numeric: false, whole: true, spare: 0 }
}
