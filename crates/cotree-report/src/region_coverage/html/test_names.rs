//! Which tests ran what: beside lines and functions of a file, and the list of all tests.
//!
//! Each set of tests stands once on a page, as numbers of the page's own list; lines and functions refer to it. Without
//! scripts a link leads there; with scripts the tests are named where one is.

use crate::html::frame::Frame;
use crate::region_coverage::by_test::{CoverageByTest, TestTotals};
use crate::terminal::{counted, grouped};
use crate::visible;
use maud::{Markup, PreEscaped, html};
use std::collections::{BTreeMap, BTreeSet};

/// The page of all tests.
pub(super) const TESTS: &str = "tests.html";

/// The tests that ran a file, and its sets of tests.
pub(super) struct FileTests<'t> {
    by_test: &'t CoverageByTest,
    /// The tests that ran anything of it, by their places in the list of all; the page counts them from 1.
    tests: Vec<usize>,
    /// Sets of tests in the order of their first lines, by numbers of the page.
    sets: Vec<Vec<usize>>,
    /// First and last lines, each with its set.
    lines: Vec<(u32, u32, usize)>,
    /// Sets of functions, by line and symbol.
    functions: BTreeMap<(u32, String), usize>,
    /// The lines and functions that each of the tests ran.
    totals: Vec<(u64, u64)>,
}

impl<'t> FileTests<'t> {
    /// The tests of a file.
    pub(super) fn new(by_test: &'t CoverageByTest, path: &str) -> Self {
        let lines = by_test.lines(path);
        let functions = by_test.functions(path);
        let of_lines = lines.iter().flat_map(|part| part.tests.iter().copied());
        let all: BTreeSet<usize> =
            of_lines.chain(functions.iter().flat_map(|(_, tests)| tests.iter().copied())).collect();
        let tests: Vec<usize> = all.into_iter().collect();
        let numbers: BTreeMap<usize, usize> = tests.iter().copied().zip(1..).collect();
        let mut file = Self {
            by_test,
            totals: vec![(0, 0); tests.len()],
            tests,
            sets: Vec::new(),
            lines: Vec::new(),
            functions: BTreeMap::new(),
        };
        let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut set_of = |tests: Vec<usize>, sets: &mut Vec<Vec<usize>>| {
            *known.entry(tests.clone()).or_insert_with(|| {
                sets.push(tests);
                sets.len()
            })
        };
        for part in &lines {
            let set: Vec<usize> = part.tests.iter().map(|test| numbers[test]).collect();
            set.iter().for_each(|&number| file.totals[number - 1].0 += u64::from(part.last - part.first) + 1);
            let set = set_of(set, &mut file.sets);
            file.lines.push((part.first, part.last, set));
        }
        for (function, tests) in functions.into_iter().filter(|(_, tests)| !tests.is_empty()) {
            let set: Vec<usize> = tests.iter().map(|test| numbers[test]).collect();
            set.iter().for_each(|&number| file.totals[number - 1].1 += 1);
            let set = set_of(set, &mut file.sets);
            file.functions.insert(function, set);
        }
        file
    }

    /// A link to the tests that ran a line.
    pub(super) fn of_line(&self, line: u32) -> Markup {
        let index = self.lines.partition_point(|&(first, ..)| first <= line);
        let part = self.lines[..index].last().filter(|(_, last, _)| line <= *last);
        html! { @if let Some(&(.., set)) = part { (self.link(set)) } @else { span title="No test with a name" { "–" } } }
    }

    /// A link to the tests that entered a function.
    pub(super) fn of_function(&self, line: u32, symbol: &str) -> Option<Markup> {
        let set = *self.functions.get(&(line, symbol.to_owned()))?;
        Some(html! { a.tests href={ "#s" (set) } { (counted(self.sets[set - 1].len() as u128, "test")) } })
    }

    fn link(&self, set: usize) -> Markup {
        let count = grouped(self.sets[set - 1].len() as u128);
        html! { a.tests href={ "#s" (set) } { (count) } }
    }

    /// What stands below the lines: the tests of the file by their numbers, and the sets.
    pub(super) fn below(&self) -> Markup {
        html! {
            section.tests id="tests" aria-labelledby="tests-title" {
                h2 id="tests-title" { "Tests that ran this file" }
                table.by-test {
                    thead { tr { th scope="col" { "No." } th scope="col" { "Test" } th scope="col" { "Lines" } th scope="col" { "Functions" } } }
                    tbody {
                        @for ((number, &test), (lines, functions)) in (1..).zip(&self.tests).zip(&self.totals) {
                            tr id={ "t" (number) } {
                                td { (number) }
                                th scope="row" { (visible::name(&self.by_test.tests()[test])) }
                                td { (grouped((*lines).into())) }
                                td { (grouped((*functions).into())) }
                            }
                            (PreEscaped("\n"))
                        }
                    }
                }
                details.sets {
                    summary { "Sets of tests, by their numbers" }
                    ol { @for (number, set) in (1..).zip(&self.sets) { li id={ "s" (number) } { (ranges(set)) } (PreEscaped("\n")) } }
                }
            }
        }
    }
}

/// Rising numbers as people write them: `1–4, 9`.
fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let shown = parts
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}–{last}") });
    shown.collect::<Vec<_>>().join(", ")
}

/// The page of all tests.
pub(super) fn page(by_test: &CoverageByTest, title: &str) -> String {
    let totals = by_test.totals();
    let main = html! {
        section.tests aria-labelledby="tests-title" {
            h2 id="tests-title" { "Tests" }
            table.by-test data-filter="tests" {
                thead {
                    tr {
                        th scope="col" { "Test" } th scope="col" { "Lines" } th scope="col" { "By no other" }
                        th scope="col" { "Functions" } th scope="col" { "Files" }
                    }
                }
                tbody {
                    @for (name, TestTotals { lines, alone, functions, files }) in by_test.tests().iter().zip(&totals) {
                        tr {
                            th scope="row" { (visible::name(name)) }
                            @for number in [lines, alone, functions, files] { td { (grouped((*number).into())) } }
                        }
                        (PreEscaped("\n"))
                    }
                }
            }
        }
    };
    let bar = html! {
        nav.crumbs aria-label="Breadcrumb" {
            a.home href=(super::tree::OVERVIEW) { "Overview" }
            h1 { span { "Tests of " } (title) }
        }
        div.tools {}
    };
    let footer = html! { p { (counted(totals.len() as u128, "test")) } };
    Frame { title: &format!("Tests – coverage of {title}"), root: "", kind: "list", bar, main, footer }.page()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1–3, 7, 9–10");
        assert_eq!(ranges(&[]), "");
    }
}
