//! The words of a slab in which a thread's stream grows.

use crate::slab::Words;

/// Bytes of a window.
pub const WINDOW: u64 = 1 << 16;
/// Bytes behind it that are written to before anyone looks whether it is full.
pub const SLACK: u64 = 1 << 12;
/// Words before the window.
pub const HEADER: u64 = 8;

/// The words of the trace, behind one for the open byte and one for the address that was told last: the cursor, seven
/// that are the runtime's, the window, and the slack behind it. The cursor is the distance of the next byte from the
/// window's end, so it is negative while there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceWords {
    /// The first of them: the cursor.
    pub first: u64,
}

impl TraceWords {
    /// The word with the address that was told last, if addresses are told.
    #[must_use]
    pub const fn last_address(self) -> u64 {
        self.first - 1
    }

    /// The word that says which byte is open, as the cursor says where the next one goes ([`super::stream`]); 0: none.
    #[must_use]
    pub const fn open_byte(self) -> u64 {
        self.first - 2
    }

    /// The word that begins where the window ends.
    #[must_use]
    pub const fn window_end(self) -> u64 {
        self.first + HEADER + WINDOW / 8
    }
}

/// Assigns the words, in cache lines of their own. The cursor is never word 0: that number says that nothing is traced.
/// The two words before it are the trace's, too.
pub(crate) fn lay_out(words: &mut Words) -> TraceWords {
    words.end_counters();
    let taken = words.take(2) + 2;
    words.take(taken.next_multiple_of(8) - taken);
    TraceWords { first: words.take(HEADER + (WINDOW + SLACK) / 8) }
}
