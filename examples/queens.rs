//! Places queens on boards of growing size until a board has more than a thousand solutions, then leaves at once.
//!
//! `cotree demo` builds and profiles this program. Things to look for in its report: `place` calls itself, so its
//! entries add up; the innermost loop's trips; the branch that no board ever takes; and the exit out of the depth of
//! the call chain, after which every count is still exact.

/// Columns and diagonals that are taken.
#[derive(Clone, Copy, Default)]
struct Taken {
    columns: u32,
    rising: u32,
    falling: u32,
}

impl Taken {
    fn allows(self, row: u32, column: u32) -> bool {
        self.columns & 1 << column == 0
            && self.rising & 1 << (row + column) == 0
            && self.falling & 1 << (row + 16 - column) == 0
    }

    fn with(self, row: u32, column: u32) -> Self {
        Self {
            columns: self.columns | 1 << column,
            rising: self.rising | 1 << (row + column),
            falling: self.falling | 1 << (row + 16 - column),
        }
    }
}

fn place(size: u32, row: u32, taken: Taken, solutions: &mut u32) {
    if row == size {
        *solutions += 1;
        if *solutions > 1000 {
            give_up(size);
        }
        return;
    }
    for column in 0..size {
        if taken.allows(row, column) {
            place(size, row + 1, taken.with(row, column), solutions);
        }
    }
}

fn give_up(size: u32) -> ! {
    println!("{size} queens: more than a thousand solutions");
    std::process::exit(0)
}

fn main() {
    for size in 1..16 {
        let mut solutions = 0;
        place(size, 0, Taken::default(), &mut solutions);
        if size == 1 && solutions != 1 {
            println!("one queen has one place");
        }
        println!("{size} queens: {solutions} solutions");
    }
}
