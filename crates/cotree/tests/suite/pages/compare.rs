//! Whether a command prints what the page shows.
//!
//! Lines are compared as they are, but for blanks at their end and empty lines behind them. In the page a line `…`
//! stands for any lines, and `…` within a line for any text. What differs from one run or machine to the next by its
//! nature is left out on both sides, and nothing else is: [`BY_NATURE`] has it all.

use regex_lite::Regex;
use std::sync::LazyLock;

/// What differs by its nature, and what stands for it.
const BY_NATURE: [(&str, &str); 5] = [
    // Build ids.
    (r"\b(?:[0-9a-f]{32}|[0-9a-f]{12})(_|\b)", "BUILD$1"),
    // Processes in the names of profiles.
    (r"\.[0-9]+\.(cotree|live)\b", ".PID.$1"),
    // The time that a run took.
    (r"[0-9]+\.[0-9]{6}  seconds", "N  seconds"),
    // Lines of the system's headers.
    (r"\b(ctype|stdio|stdlib)\.h:[0-9-]+", "$1.h:N"),
    // The time that cargo took.
    (r"target\(s\) in .*$", "target(s) in TIME"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    BY_NATURE.map(|(pattern, stands_for)| (Regex::new(pattern).expect("a pattern"), stands_for)).into()
});

/// A line without what differs by its nature.
fn plain(line: &str) -> String {
    let replace = |line: String, (pattern, by): &(Regex, &str)| pattern.replace_all(&line, *by).into_owned();
    PATTERNS.iter().fold(line.trim_end().to_owned(), replace)
}

/// The lines without empty ones at their end.
pub fn without_end(lines: &[String]) -> &[String] {
    &lines[..lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1)]
}

/// Whether `printed` is what the page shows.
pub fn alike(shown: &[String], printed: &[String]) -> bool {
    let plain = |lines: &[String]| without_end(lines).iter().map(|line| plain(line)).collect::<Vec<_>>();
    lines_alike(&plain(shown), &plain(printed))
}

fn lines_alike(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "…" => (0..=printed.len()).any(|n| lines_alike(rest, &printed[n..])),
        Some((first, rest)) => {
            printed.split_first().is_some_and(|(line, more)| line_alike(first, line) && lines_alike(rest, more))
        }
    }
}

fn line_alike(shown: &str, printed: &str) -> bool {
    match shown.split_once('…') {
        None => shown == printed,
        Some((before, behind)) => printed.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_alike(behind, &rest[at..]))
        }),
    }
}

#[test]
fn lines_are_compared() {
    let lines = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
    for (shown, printed, alike) in [
        ("a 12|b", "a 12|b", true),
        ("a 12|b", "a 13|b", false),
        ("a|b", "a|b|c", false),
        ("a|…|c", "a|b|b|c", true),
        ("a|…", "a", true),
        ("a|…|c", "a|b", false),
        ("a … c", "a b c", true),
        ("a … c", "a b d", false),
        ("p.12.cotree", "p.7.cotree", true),
        ("p.12.cotree", "q.7.cotree", false),
        ("getchar  stdio.h:49", "getchar  stdio.h:50", true),
        ("main  app.c:49", "main  app.c:50", false),
    ] {
        assert_eq!(super::compare::alike(&lines(shown), &lines(printed)), alike, "{shown} {printed}");
    }
}
