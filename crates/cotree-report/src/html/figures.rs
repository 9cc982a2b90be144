//! How counts and shares look on pages.

use crate::terminal::{grouped, percent};
use maud::{Markup, html};

/// A large count in short, for a hover; `None` if the digits are as easy to read.
#[must_use]
pub fn short(count: u64) -> Option<String> {
    const NAMES: [(u64, &str); 5] = [
        (1_000_000_000_000_000_000, "quintillion"),
        (1_000_000_000_000_000, "quadrillion"),
        (1_000_000_000_000, "trillion"),
        (1_000_000_000, "billion"),
        (1_000_000, "million"),
    ];
    let (unit, name) = NAMES.into_iter().find(|(unit, _)| count >= *unit)?;
    // Cut off, not rounded: it is never more than there was.
    Some(format!("{}.{} {name}", count / unit, count % unit / (unit / 10)))
}

/// How often something happened, in words.
#[must_use]
pub fn times(count: u64) -> String {
    match count {
        0 => "never".into(),
        1 => "once".into(),
        2 => "twice".into(),
        more => format!("{} times", grouped(more.into())),
    }
}

/// The class of a bar by the share that is done, in whole percent. It is full, or empty, only if all is done, or
/// nothing.
#[must_use]
pub fn bar_class(part: u64, whole: u64) -> String {
    let share = (u128::from(part) * 100).checked_div(whole.into()).unwrap_or(0);
    format!("w{}", if part > 0 { share.max(1) } else { 0 })
}

/// What a share says by its colour and its sign: `full`, `part`, `none`, or `void` where there is nothing to do.
#[must_use]
pub fn level(part: u64, whole: u64) -> &'static str {
    match part {
        _ if whole == 0 => "void",
        0 => "none",
        _ if part == whole => "full",
        _ => "part",
    }
}

/// A cell of a table with a share: percent, a bar, and both numbers.
#[must_use]
pub fn share_cell(part: u64, whole: u64) -> Markup {
    html! {
        td class={ "share " (bar_class(part, whole)) " " (level(part, whole)) } {
            @if whole > 0 {
                b { (percent(part.into(), whole.into())) } small { (grouped(part.into())) "/" (grouped(whole.into())) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_never_say_more_than_there_is() {
        assert_eq!(short(999_999), None);
        assert_eq!(short(1_999_999).as_deref(), Some("1.9 million"));
        assert_eq!(short(u64::MAX).as_deref(), Some("18.4 quintillion"));
        assert_eq!([bar_class(1, 1000), bar_class(999, 1000), bar_class(0, 0)], ["w1", "w99", "w0"]);
        assert_eq!([level(0, 0), level(0, 3), level(1, 3), level(3, 3)], ["void", "none", "part", "full"]);
    }
}
