//! The page of all files: sums, what a reader must know, and a table of files by folders.

use super::about::{About, Doubtful};
use super::test_names::TESTS;
use super::tree::{FileEntry, Row, rows};
use crate::html::figures::{bar_class, level, share_cell};
use crate::html::frame::Frame;
use crate::region_coverage::summary::{FileSummary, Ratio};
use crate::terminal::{counted, grouped, percent};
use maud::{Markup, PreEscaped, html};

/// The rows of a group. Browsers lay out only the groups that are seen.
const GROUP: usize = 100;

/// What is summed up, with its title.
pub(super) fn totals(summary: &FileSummary) -> [(&'static str, Ratio); 5] {
    [
        ("Lines", summary.lines),
        ("Functions", summary.functions),
        ("Regions", summary.regions),
        ("Branches", summary.branches),
        ("MC/DC", summary.mcdc),
    ]
}

/// The page.
pub(super) fn page(files: &[FileEntry<'_>], about: &About, by_test: bool) -> String {
    let mut total = FileSummary::default();
    files.iter().for_each(|file| total.add(&file.summary));
    let main = html! {
        section.totals aria-label="Totals" {
            @for (what, Ratio { covered, total }) in totals(&total).into_iter().filter(is_there) {
                div class={ "total " (bar_class(covered, total)) " " (level(covered, total)) } {
                    h2 { (what) }
                    b { (percent(covered.into(), total.into())) }
                    small { (grouped(covered.into())) " of " (grouped(total.into())) }
                    span.bar {}
                }
            }
        }
        (about_profile(about))
        section.files aria-labelledby="files-title" {
            h2 id="files-title" { "Files" }
            (table(files, &total))
        }
    };
    let bar = html! {
        nav.crumbs aria-label="Breadcrumb" { h1 { span { "Coverage of " } (about.title) } }
        div.tools { @if by_test { a href=(TESTS) { "Tests" } } }
    };
    let footer = html! { p { (counted(files.len() as u128, "file")) } };
    Frame { title: &format!("Coverage of {}", about.title), root: "", kind: "overview", bar, main, footer }.page()
}

fn about_profile(about: &About) -> Markup {
    html! {
        section.about aria-label="The profile" {
            dl.facts {
                @for fact in &about.facts { div { dt { (fact.name) } dd { (fact.value) } } }
            }
            @if about.notes.is_empty() && about.doubtful.is_empty() {
                p.exact { "Every count is the number of times that it happened." }
            } @else {
                ul.notes { @for note in &about.notes { li { (note) } } }
                (doubtful(&about.doubtful))
            }
        }
    }
}

/// The functions that are not vouched for, behind a fold.
fn doubtful(functions: &[Doubtful]) -> Markup {
    html! {
        @if !functions.is_empty() {
            details.doubtful {
                summary { (counted(functions.len() as u128, "function")) " that cannot be vouched for, and why" }
                ul {
                    @for function in functions {
                        li { code { (function.name) } ": " (function.reasons.join("; ")) }
                    }
                }
            }
        }
    }
}

/// Whether there is any of it: a language, or a build, may have no branches or decisions.
fn is_there((_, ratio): &(&'static str, Ratio)) -> bool {
    ratio.total > 0
}

fn table(files: &[FileEntry<'_>], total: &FileSummary) -> Markup {
    let rows = rows(files);
    let mut others = totals(total)[1..].to_vec();
    others.retain(is_there);
    let shown: Vec<&str> = others.iter().map(|(what, _)| *what).collect();
    let cells = |summary: &FileSummary| cells(summary, &shown);
    html! {
        table class={ "tree t" (shown.len()) } id="files" {
            caption { "Files by folders" }
            thead {
                tr {
                    th scope="col" { "File" }
                    th scope="col" { "Lines" }
                    th scope="col" { "Missed" }
                    @for what in &shown { th scope="col" { (what) } }
                }
            }
            @for group in rows.chunks(GROUP) {
                tbody {
                    @for row in group {
                        @match row {
                            Row::Folder { depth, path, files, summary } => {
                                tr class={ "d " (indent(*depth)) } {
                                    th { span { (path) } small { (counted(*files as u128, "file")) } }
                                    (cells(summary))
                                }
                            },
                            Row::File { depth, index, name } => {
                                @let file = &files[*index];
                                tr class={ "f " (indent(*depth)) } {
                                    th { a href=(file.part(1)) { span { (file.shown[..*name]) } (file.shown[*name..]) } }
                                    (cells(&file.summary))
                                }
                            },
                        }
                        (PreEscaped("\n"))
                    }
                }
            }
        }
    }
}

/// The class of a row by its depth.
fn indent(depth: usize) -> String {
    const DEEPEST: usize = 9;
    format!("i{}", depth.min(DEEPEST))
}

/// The cells of a row: lines, and what is shown besides.
fn cells(summary: &FileSummary, shown: &[&str]) -> Markup {
    let [(_, lines), others @ ..] = totals(summary);
    let others = others.into_iter().filter(|(what, _)| shown.contains(what));
    html! {
        (share_cell(lines.covered, lines.total))
        td.missed { (grouped(lines.missed().into())) }
        @for (_, ratio) in others { (share_cell(ratio.covered, ratio.total)) }
    }
}
