//! Texts that are too long for their column. Of a name, the last part tells the most (`…::call::<impl Engine>::call_fn`), and of a
//! place the line (`…/src/app.c:12`): what is cut is the beginning. Of a sentence it is the end.

use crate::terminal::Column;

/// Stands where something was cut.
const CUT: char = '…';
/// No column of texts is made narrower than this.
const LEAST: usize = 8;

/// Shortens cells so that the table fits `width` columns of a terminal; `padding` are the spaces around each cell of a column.
pub(crate) fn fit(columns: &[Column], rows: &mut [Vec<String>], width: usize, padding: impl Fn(usize) -> usize) {
    let natural: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| length(cell));
            cells.chain([length(column.title)]).max().unwrap_or(0)
        })
        .collect();
    let taken: usize =
        columns.iter().zip(&natural).enumerate().map(|(i, (c, n))| padding(i) + if c.numeric { *n } else { 0 }).sum();
    let mut texts: Vec<usize> = columns.iter().zip(&natural).filter(|(c, _)| !c.numeric).map(|(_, n)| *n).collect();
    texts.sort_unstable();
    let most = level(&texts, width.saturating_sub(taken)).max(LEAST);
    for row in rows {
        for (cell, column) in row.iter_mut().zip(columns).filter(|(_, column)| !column.numeric) {
            *cell = if column.names { shorten_name(cell, most) } else { shorten(cell, most) };
        }
    }
}

/// The greatest width to which all wider columns can be narrowed so that they have room together. Widths are sorted.
fn level(widths: &[usize], room: usize) -> usize {
    let mut left = room;
    for (index, &width) in widths.iter().enumerate() {
        let share = left / (widths.len() - index);
        if width > share {
            return share;
        }
        left -= width;
    }
    usize::MAX
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Cuts the end.
fn shorten(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain([CUT]).collect()
}

/// Cuts arguments first, then the beginning, where a part of the path begins if there is such a place.
fn shorten_name(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let (path, arguments) = text.split_at(end_of_path(text));
    if length(path) < most {
        return shorten(text, most);
    }
    let room = most.saturating_sub(1 + usize::from(!arguments.is_empty()));
    let skipped = length(path).saturating_sub(room);
    let at = path.char_indices().nth(skipped).map_or(path.len(), |(at, _)| at);
    let tail = &path[at..];
    let tail = match tail.find("::").or_else(|| tail.find('/')) {
        Some(part) if part <= tail.len() / 2 => &tail[part..],
        _ => tail,
    };
    format!("{CUT}{tail}{}", if arguments.is_empty() { "" } else { "…" })
}

/// Where the arguments of a C++ function begin: at the last parenthesis that opens outside of all brackets.
fn end_of_path(name: &str) -> usize {
    let (mut depth, mut end) = (0usize, name.len());
    for (at, character) in name.char_indices() {
        match character {
            '(' | '<' | '[' | '{' => {
                if depth == 0 && character == '(' && at > 0 {
                    end = at;
                }
                depth += 1;
            }
            '>' if name[..at].ends_with('-') => {}
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => end = name.len(),
            _ => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{names, number};

    #[test]
    fn names_keep_their_last_part() {
        let name = "rhai::func::call::<impl rhai::engine::Engine>::exec_native_fn_call";
        assert_eq!(shorten_name(name, 80), name);
        assert_eq!(shorten_name(name, 30), "…::exec_native_fn_call");
        assert_eq!(shorten_name(name, 12), "…ive_fn_call");
        assert_eq!(shorten_name("a::b::parse(std::vector<int>, long)", 20), "a::b::parse(std::ve…");
        assert_eq!(shorten_name("outer::inner::parse(std::vector<int>)", 14), "…::parse…");
        assert_eq!(shorten_name("(anonymous namespace)::parse(int)", 12), "…::parse…");
        assert_eq!(shorten_name("/home/user/project/src/app.c:120", 16), "…/src/app.c:120");
        assert_eq!(shorten_name("operator->", 9), "…erator->");
    }

    #[test]
    fn sentences_keep_their_beginning() {
        assert_eq!(shorten("of 12 functions", 8), "of 12 f…");
    }

    #[test]
    fn what_is_short_is_not_cut() {
        assert_eq!(level(&[5, 40, 60], 45), 20);
        assert_eq!(level(&[5, 10], 45), usize::MAX);
        let columns = [number("count"), names("function"), names("where")];
        let mut rows =
            vec![vec!["1,000".to_owned(), "one::two::three::four::five::six::seven".to_owned(), "app.c:12".to_owned()]];
        fit(&columns, &mut rows, 40, |_| 2);
        assert_eq!(rows[0], ["1,000", "…::five::six::seven", "app.c:12"]);
    }
}
