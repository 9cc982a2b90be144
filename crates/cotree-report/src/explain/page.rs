//! docs/explain.md.

use super::GROUPS;
use std::fmt::Write;

/// What the page says.
#[must_use]
pub fn page() -> String {
    let about = "This page is made from the same table as `cotree explain`. A code stands in brackets behind what the \
        report says of a profile, and behind errors; exports have it in `flaws`, `doubts`, `note_codes` and \
        `not_instrumented` ([json.md](json.md)). Codes keep their meaning. What each flaw rests on is in \
        [exactness.md](exactness.md).";
    let mut page = format!("# What the codes mean\n\n{}\n", lines(about));
    for group in GROUPS {
        write!(page, "\n## {}\n", group.title).expect("writing to memory");
        for explanation in group.explanations {
            write!(page, "\n### `{}`\n\n", explanation.code).expect("writing to memory");
            let mut what = explanation.what.chars();
            let first = what.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
            writeln!(page, "{}", lines(&format!("{first}{}.", what.as_str()))).expect("writing to memory");
            for (name, text) in explanation.parts() {
                write!(page, "\n{}\n", lines(&format!("*{name}:* {}", markdown(text)))).expect("writing to memory");
            }
        }
    }
    page
}

/// A text in which words that Markdown would read are code.
fn markdown(text: &str) -> String {
    let is_code = |word: &str| word.starts_with("__") || word.starts_with("--");
    let mut quoted = false;
    let words = text.split(' ').map(|word| {
        let code = !quoted && is_code(word);
        quoted ^= word.matches('`').count() % 2 == 1;
        let end = word.trim_end_matches(['.', ',', ';', ':', ')']).len();
        if code { format!("`{}`{}", &word[..end], &word[end..]) } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Words in lines of at most 120 columns.
fn lines(text: &str) -> String {
    let mut all = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 {
            let breaks = column + 1 + width > 120;
            all.push(if breaks { '\n' } else { ' ' });
            column = if breaks { 0 } else { column + 1 };
        }
        all.push_str(word);
        column += width;
    }
    all
}
