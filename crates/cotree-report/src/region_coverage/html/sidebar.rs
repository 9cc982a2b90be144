//! The functions of a file, for the list beside its lines.

use super::listing::part_of;
use super::test_names::FileTests;
use super::tree::FileEntry;
use crate::html::figures::{bar_class, level, times};
use crate::names::Names;
use crate::region_coverage::program::Group;
use crate::region_coverage::summary::Ratio;
use crate::terminal::percent;
use crate::visible;
use maud::{Markup, html};

/// A function of a file; the instances of a template are one.
pub(super) struct ListedFunction {
    line: u32,
    symbol: String,
    name: String,
    /// How many instances there are besides the one that is named.
    others: usize,
    entries: u64,
    /// Whether a marker in the source excludes it.
    excluded: bool,
    /// The lines of the instance that has most, and of the one in which most ran.
    lines: Ratio,
}

/// The functions of groups.
pub(super) fn functions(groups: &[Group<'_, '_>], names: Names) -> Vec<ListedFunction> {
    let functions = groups.iter().filter_map(|group| {
        let first = group.functions.first()?;
        let lines = group.functions.iter().map(|function| function.summary().lines);
        Some(ListedFunction {
            line: group.start.line,
            symbol: first.function.symbol().to_owned(),
            name: visible::name(&names.show(first.function.symbol())).into_owned(),
            others: group.functions.len() - 1,
            entries: group.functions.iter().fold(0, |sum, function| sum.saturating_add(function.entries())),
            excluded: group.functions.iter().all(|function| function.is_excluded()),
            lines: lines.fold(Ratio::default(), |most, lines| Ratio {
                covered: most.covered.max(lines.covered),
                total: most.total.max(lines.total),
            }),
        })
    });
    functions.collect()
}

/// The list on a page: functions of this part of the file, and links to the other parts. Functions on lines that the
/// page does not have (`last` is the last one) are named without a link.
pub(super) fn sidebar(
    file: &FileEntry<'_>,
    functions: &[ListedFunction],
    part: usize,
    parts: usize,
    last: u32,
    tests: Option<&FileTests<'_>>,
) -> Markup {
    let here = functions.iter().filter(|function| part_of(function.line).min(parts.saturating_sub(1)) == part);
    let link = |number: usize| file.part(number).rsplit('/').next().unwrap_or_default().to_owned();
    html! {
        nav.side id="functions" aria-label="Functions" {
            a.close href="#main" { "Close" }
            h2 { "Functions" }
            @if parts > 1 {
                p.parts {
                    "Part "
                    @for number in 1..=parts {
                        @if number == part + 1 { b aria-current="page" { (number) } }
                        @else { a href=(link(number)) { (number) } }
                        " "
                    }
                }
            }
            ul data-filter="functions" {
                @for function in here {
                    @let Ratio { covered, total } = function.lines;
                    li class={ (level(covered, total)) " " (bar_class(covered, total)) } {
                        @if function.line <= last {
                            a href={ "#L" (function.line) } { (function.name) }
                        } @else { span { (function.name) } }
                        small {
                            @if function.others > 0 { (function.others + 1) " instances, " }
                            @if function.excluded { "excluded by a marker, " }
                            @if function.entries == 0 { "never entered" } @else { "entered " (times(function.entries)) }
                            " · " (percent(covered.into(), total.into())) " of lines"
                            @if let Some(tests) = tests.and_then(|tests| tests.of_function(function.line, &function.symbol)) {
                                " · " (tests)
                            }
                        }
                    }
                }
            }
        }
    }
}
