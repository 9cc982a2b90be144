//! The pages of a file: its lines beside the list of its functions.

use super::about::Pages;
use super::below::{self, ByLine, add_conditions, add_instances, rows, rows_of_source};
use super::decisions::{add_decisions, add_source_decisions};
use super::listing::{Listing, PART, listing, part_of};
use super::marks::Noted;
use super::overview::totals;
use super::sidebar::{functions, sidebar};
use super::test_names::FileTests;
use super::text::Text;
use super::tree::{FILES, FileEntry, OVERVIEW};
use crate::html::figures::{level, short, times};
use crate::html::frame::Frame;
use crate::html::put::Put;
use crate::region_coverage::conditions::Condition;
use crate::region_coverage::program::{FileView, RegionCoverage};
use crate::region_coverage::unsure::Unsure;
use crate::terminal::{counted, grouped, percent};
use crate::visible;
use cotree_profile::coverage::{Place, RegionKind};
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

/// Browsers lay out only those lines of a longer file that are seen.
const LARGE: u32 = 1000;

/// Writes the pages of a file.
pub(super) fn write(
    coverage: &RegionCoverage<'_>,
    file: &FileEntry<'_>,
    pages: &Pages<'_>,
    put: &mut Put<'_>,
) -> io::Result<()> {
    let text = pages.sources.bytes(file.path).map(Text::new);
    let groups = coverage.groups(file.path);
    let view = coverage.file(file.path);
    let conditions = below::of_groups(&groups);
    let mut below = ByLine::new();
    groups.iter().for_each(|group| add_instances(group, pages.names, &mut below));
    let of_rust = &coverage.source_decisions;
    add_conditions(rows(&conditions, file.path, text.as_ref()), &mut below);
    add_conditions(rows_of_source(of_rust, file.path, text.as_ref()), &mut below);
    add_decisions(&groups, pages.sources, pages.names, &mut below);
    add_source_decisions(of_rust, file.path, pages.sources, &mut below);
    let listed = functions(&groups, pages.names);
    let tests = pages.tests.map(|by_test| FileTests::new(by_test, file.path));
    let tests = tests.as_ref();
    let mut notes: Vec<String> = Vec::new();
    if let Some(found) = of_rust.not_followed(file.path).find(|found| found.place.is_none()) {
        notes.push(format!("No decision is counted: one {}.", found.reason));
    }
    let Some(text) = text else {
        notes.push("The source is not there, so its lines are shown by their numbers.".into());
        let main = html! {
            (sidebar(file, &listed, 0, 1, 0, tests))
            div.content { (warnings(&notes)) (ranges(&view)) (below_lines(tests)) }
        };
        return put(&file.part(1), &page(file, bar(file, None, &[]), main));
    };
    if let Some(fault) = (pages.fault)(file.path) {
        notes.push(format!("Careful: {fault}. Counts stand on the lines that it had then."));
    }
    let last = text.len();
    if view.segments.last().is_some_and(|segment| segment.start.line > last) {
        notes.push(format!(
            "The compiler saw a longer file: counts behind line {} are not shown.",
            grouped(last.into())
        ));
    }
    let noted = noted(coverage, file.path, &conditions);
    let unsure = coverage.unsure(file.path, &file.summary);
    if unsure != Unsure::default() {
        notes.push(
            "Counts with ≥ are the least that is certain: executions were not accounted for, or left a macro or text without code."
                .into(),
        );
    }
    let listing = listing(&text, &view, &unsure, &noted, &below, tests);
    if listing.cut > 0 {
        notes.push(format!("{} too long to be shown whole.", counted(listing.cut.into(), "line")));
    }
    let parts = listing.parts.len().max(1);
    for part in 0..parts {
        let main = html! {
            (sidebar(file, &listed, part, parts, last, tests))
            div.content {
                (warnings(&notes))
                (table(file, &listing, part, last, tests.is_some()))
                (below_lines(tests))
            }
        };
        put(&file.part(part + 1), &page(file, bar(file, Some(part), &listing.places), main))?;
    }
    Ok(())
}

fn page(file: &FileEntry<'_>, bar: Markup, main: Markup) -> String {
    let name = file.shown.rsplit('/').next().unwrap_or_default();
    let footer = html! {
        p.legend {
            span.r { "ran" } span.p { "ran in part" } span.u { "did not run" }
            span.e { "excluded by a marker" }
            span.s { "comments, and what the preprocessor leaves out" }
        }
    };
    Frame { title: &format!("{name} – coverage"), root: "../", kind: "source", bar, main, footer }.page()
}

/// Where one is, how much ran, and the steps from one place that did not run to the next.
fn bar(file: &FileEntry<'_>, part: Option<usize>, places: &[u32]) -> Markup {
    let (folder, name) = file.shown.rsplit_once('/').map_or(("", &*file.shown), |(folder, name)| (folder, name));
    let here = part.unwrap_or(0);
    let first = places.iter().find(|&&line| part_of(line) == here);
    let next = first.or_else(|| places.iter().find(|&&line| part_of(line) > here));
    html! {
        nav.crumbs aria-label="Breadcrumb" {
            a.home href={ "../" (OVERVIEW) } { "Overview" }
            h1 { @if !folder.is_empty() { span { (folder) "/" } } (name) }
        }
        dl.shares {
            @for (what, ratio) in totals(&file.summary) {
                @if ratio.total > 0 {
                    div class=(level(ratio.covered, ratio.total)) {
                        dt { (what) } " "
                        dd title={ (grouped(ratio.covered.into())) " of " (grouped(ratio.total.into())) } {
                            (percent(ratio.covered.into(), ratio.total.into()))
                        }
                    }
                }
            }
        }
        div.tools {
            a.to-functions href="#functions" { "Functions" }
            @if let Some(next) = next {
                a.next id="next" href=(link(file, here, *next)) { "Next not run" }
            } @else if part.is_some() { span { "All of it ran" } }
        }
    }
}

/// A link to a line from a page of the same file.
fn link(file: &FileEntry<'_>, here: usize, line: u32) -> String {
    let part = part_of(line);
    let other = file.part(part + 1);
    let page = if part == here { "" } else { other.strip_prefix(FILES).unwrap_or(&other).trim_start_matches('/') };
    format!("{page}#L{line}")
}

fn warnings(notes: &[String]) -> Markup {
    html! { @if !notes.is_empty() { ul.notes { @for note in notes { li { (note) } } } } }
}

/// The lines of a page, with what a script needs to go on to other pages of the file.
fn table(file: &FileEntry<'_>, listing: &Listing, part: usize, last: u32, by_test: bool) -> Markup {
    let before = listing.places.iter().rev().find(|&&line| part_of(line) < part);
    let behind = listing.places.iter().find(|&&line| part_of(line) > part);
    let stem = file.page.rsplit('/').next().unwrap_or_default();
    let digits = |number: u64| grouped(number.into()).len();
    html! {
        table class={ "code l" (last.to_string().len()) " n" (digits(listing.most)) @if last > LARGE { " big" } }
            data-page=(stem) data-part=(part + 1) data-lines=(PART) data-last=(last)
            data-before=[before.map(|line| link(file, part, *line))]
            data-behind=[behind.map(|line| link(file, part, *line))] {
            caption { "Lines of " (file.shown) }
            thead { tr { th { "Line" } th { "Count" } th { "Text" } @if by_test { th { "Tests" } } } }
            @if let Some(rows) = listing.parts.get(part) { (rows) }
        }
    }
}

/// The tests of a file.
fn below_lines(tests: Option<&FileTests<'_>>) -> Markup {
    html! { @if let Some(tests) = tests { (tests.below()) } }
}

/// The lines of a file whose text is not there.
fn ranges(view: &FileView<'_>) -> Markup {
    html! {
        table.ranges {
            caption { "Lines by their numbers" }
            thead { tr { th { "Lines" } th { "Count" } } }
            tbody {
                @for run in view.lines() {
                    tr class=(if run.count == 0 { "u" } else { "r" }) {
                        th { (run.first) @if run.last > run.first { "–" (run.last) } }
                        td title=[short(run.count)] { (grouped(run.count.into())) }
                    }
                }
            }
        }
    }
}

/// The texts of a file that have a note: conditions with an outcome that was not seen, and uses of macros.
fn noted(coverage: &RegionCoverage<'_>, path: &str, conditions: &[Condition<'_>]) -> Vec<Noted> {
    let mut all: Vec<Noted> = macros(coverage, path);
    for counted in coverage.source_decisions.conditions(path).filter(|counted| counted.outcomes().contains(&0)) {
        let note = format!("true {}, false {}", times(counted.taken), times(counted.not_taken));
        all.push(Noted { start: counted.condition.start, end: counted.condition.end, class: "c", note });
    }
    for condition in conditions.iter().filter(|condition| !condition.expanded && condition.outcomes().any(|n| n == 0)) {
        let outcome = |count: Option<u64>| count.map_or_else(|| "never possible".into(), times);
        let note = format!("true {}, false {}", outcome(condition.taken), outcome(condition.not_taken));
        all.push(Noted { start: condition.region.start, end: condition.region.end, class: "c", note });
    }
    all.sort_by_key(|noted| (noted.start, Reverse(noted.end)));
    all
}

/// The uses of macros in a file.
fn macros(coverage: &RegionCoverage<'_>, path: &str) -> Vec<Noted> {
    let mut uses: BTreeMap<(Place, Place), String> = BTreeMap::new();
    for function in coverage.functions_in(path) {
        for region in &function.function.regions {
            let RegionKind::Expansion { into, .. } = region.kind else { continue };
            if function.path(region.file) != path {
                continue;
            }
            uses.entry((region.start, region.end)).or_insert_with(|| {
                let other = function.path(into);
                let line = function.function.regions.iter().find(|region| region.file == into);
                let line = line.map(|region| region.start.line).unwrap_or_default();
                let name = visible::name(other.rsplit('/').next().unwrap_or_default()).into_owned();
                format!("Its text is in {name}, line {line}")
            });
        }
    }
    uses.into_iter().map(|((start, end), note)| Noted { start, end, class: "m", note }).collect()
}
