//! Which columns of a table are shown, how wide they are, and how texts are shortened to that.

use super::column::Column;
use std::ops::Range;

/// The blanks around a column.
const PADDING: usize = 2;
/// The blanks that stand before a table besides.
const INDENT: usize = 1;
/// The least that is left of a text.
const LEAST: usize = 10;

/// The columns that are shown, each with its width.
pub(super) struct Layout {
    pub(super) shown: Vec<(usize, usize)>,
}

impl Layout {
    pub(super) fn new(columns: &[Column], rows: &[Vec<String>], room: Option<usize>) -> Layout {
        let natural = |(index, column): (usize, &Column)| {
            let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.chars().count());
            (index, cells.chain([column.title.chars().count()]).max().unwrap_or(0))
        };
        let mut shown: Vec<(usize, usize)> = columns.iter().enumerate().map(natural).collect();
        let Some(room) = room else { return Layout { shown } };
        let total = |shown: &[(usize, usize)]| INDENT + shown.iter().map(|(_, width)| width + PADDING).sum::<usize>();
        while total(&shown) > room {
            let spared = shown.iter().enumerate().max_by_key(|(_, (column, _))| columns[*column].spare);
            let Some((at, _)) = spared.filter(|(_, (column, _))| columns[*column].spare > 0) else { break };
            shown.remove(at);
        }
        // The widest text gives first, until all are of one width.
        for _ in room..total(&shown) {
            let texts = shown.iter_mut().filter(|(column, width)| !columns[*column].whole && *width > LEAST);
            let Some((_, width)) = texts.max_by_key(|(_, width)| *width) else { break };
            *width -= 1;
        }
        Layout { shown }
    }
}

/// The text in as many columns as that. Of a qualified name the beginning is kept, and the function's own name; of a
/// path, the file's name.
pub(crate) fn shortened(text: String, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text;
    }
    let own = own_name(&text);
    // Parameters are what matters least: where they alone do not fit, the name stays whole.
    let fits = |end: usize| text[..end].chars().count() < width;
    let end = own.clone().filter(|own| !fits(own.end) && own.len() + LEAST / 2 <= width);
    let end = end.map_or("", |own| &text[own]);
    let start = width.saturating_sub(end.chars().count() + 1);
    text.chars().take(start).chain(['…']).chain(end.chars()).collect()
}

/// Where the last component of a name is, without parameters: `::pad` in `core::fmt::Formatter::pad(&str)`, `/pad.c` in
/// `/usr/src/pad.c`.
fn own_name(text: &str) -> Option<Range<usize>> {
    let mut depth = 0i32;
    let mut last = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' if depth == 0 && last.is_some() => return Some(last?..at),
            b'<' | b'(' | b'[' => depth += 1,
            // `->` closes nothing.
            b'>' if at > 0 && text.as_bytes()[at - 1] == b'-' => {}
            b'>' | b')' | b']' => depth -= 1,
            b':' if depth == 0 && text[at..].starts_with("::") => last = Some(at),
            _ => {}
        }
    }
    let of_path = || text.rfind('/').filter(|_| !text.contains('('));
    last.or_else(of_path).map(|at| at..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_beginning_and_their_end() {
        assert_eq!(shortened("/usr/src/packages/format/pad.c".to_owned(), 20), "/usr/src/pack…/pad.c");
        let name = "<alloc::string::String as core::fmt::Display>::fmt";
        assert_eq!(shortened(name.to_owned(), 24), "<alloc::string::St…::fmt");
        let name = "rhai::func::call::<impl rhai::Engine>::call_fn_raw";
        assert_eq!(shortened(name.to_owned(), 30), "rhai::func::call…::call_fn_raw");
        assert_eq!(shortened("foo::bar::baz(int, std::string const&)".into(), 12), "foo::b…::baz");
        assert_eq!(shortened("foo::bar(int)".into(), 10), "foo::bar(…");
        assert_eq!(shortened("a_function_with_a_long_name".into(), 12), "a_function_…");
        assert_eq!(shortened("short".into(), 5), "short");
    }
}
