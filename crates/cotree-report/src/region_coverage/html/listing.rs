//! The lines of a file as rows of a table: number, count, text with its marks, and what can be unfolded.
//!
//! A file of more than [`PART`] lines has several pages. Rows stand in groups, of which browsers lay out only those
//! that are seen.

use super::below::{Below, ByLine};
use super::marks::{Marker, Noted, Piece, State};
use super::test_names::FileTests;
use super::text::{Text, boundary, shown};
use crate::html::figures::short;
use crate::region_coverage::program::FileView;
use crate::region_coverage::unsure::Unsure;
use crate::terminal::grouped;
use maud::{Markup, PreEscaped, html};

/// The lines of a page.
pub(super) const PART: u32 = 20_000;
/// The lines of a group of rows.
const GROUP: u32 = 100;
/// The bytes of a line that are shown.
const LONGEST: usize = 20_000;

/// The lines of a file.
pub(super) struct Listing {
    /// The groups of rows of each page.
    pub(super) parts: Vec<Markup>,
    /// The lines at which something begins that did not run, or only in part.
    pub(super) places: Vec<u32>,
    /// The largest count of a line.
    pub(super) most: u64,
    /// How many lines are too long to be shown whole.
    pub(super) cut: u32,
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The line has no code.
    Plain,
    /// All of it ran.
    Ran,
    /// Something of it ran.
    Partly,
    /// None of it ran.
    Missed,
    /// The preprocessor left it out.
    Skipped,
    /// A marker in the source excludes it.
    Excluded,
}

impl Kind {
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Ran => Some("r"),
            Self::Partly => Some("p"),
            Self::Missed => Some("u"),
            Self::Skipped => Some("s"),
            Self::Excluded => Some("e"),
        }
    }
}

/// The page, from 0, that a line is on.
pub(super) fn part_of(line: u32) -> usize {
    (line.saturating_sub(1) / PART) as usize
}

/// Lists the lines of a file.
pub(super) fn listing(
    text: &Text,
    view: &FileView<'_>,
    unsure: &Unsure,
    noted: &[Noted],
    below: &ByLine,
    tests: Option<&FileTests<'_>>,
) -> Listing {
    let mut listing = Listing { parts: Vec::new(), places: Vec::new(), most: 0, cut: 0 };
    let mut marker = Marker::new(&view.segments, noted);
    let mut runs = view.lines().peekable();
    let mut rows = String::new();
    let mut last = Kind::Plain;
    for line in 1..=text.len() {
        while runs.next_if(|run| run.last < line).is_some() {}
        let count = runs.peek().filter(|run| run.first <= line).map(|run| run.count);
        let bytes = text.line(line);
        let pieces = marker.line(line, bytes);
        let below = below.get(&line).map(Vec::as_slice).unwrap_or_default();
        let excluded = view.exclusions().is_some_and(|exclusions| exclusions.line(line));
        let kind = if excluded { Kind::Excluded } else { kind(count, bytes, &pieces, below) };
        if matches!(kind, Kind::Partly | Kind::Missed) && kind != last {
            listing.places.push(line);
        }
        // A line without code goes on with what is before it.
        if !matches!(kind, Kind::Plain | Kind::Skipped | Kind::Excluded) {
            last = kind;
        }
        listing.most = listing.most.max(count.unwrap_or(0));
        listing.cut += u32::from(bytes.len() > LONGEST);
        if (line - 1) % GROUP == 0 {
            rows.push_str("<tbody>");
        }
        let tests =
            tests.map(|tests| html! { @if count > Some(0) && kind != Kind::Excluded { (tests.of_line(line)) } });
        rows.push_str(&row(line, (count, unsure.has(line)), kind, bytes, &pieces, below, tests).0);
        if line % GROUP == 0 || line == text.len() {
            rows.push_str("</tbody>");
        }
        if line % PART == 0 || line == text.len() {
            listing.parts.push(PreEscaped(std::mem::take(&mut rows)));
        }
    }
    listing
}

fn kind(count: Option<u64>, bytes: &[u8], pieces: &[Piece<'_>], below: &[Below]) -> Kind {
    let mut start = 0;
    let mut missed = false;
    for piece in pieces {
        missed |= piece.state == State::Missed && !bytes[start..piece.end].trim_ascii().is_empty();
        start = piece.end;
    }
    let incomplete = below.iter().any(|below| below.of_line && matches!(below.level, "part" | "none"));
    match count {
        None if pieces.last().is_some_and(|piece| piece.state == State::Skipped) => Kind::Skipped,
        None => Kind::Plain,
        Some(0) => Kind::Missed,
        Some(_) if missed || incomplete => Kind::Partly,
        Some(_) => Kind::Ran,
    }
}

fn row(
    line: u32,
    (count, unsure): (Option<u64>, bool),
    kind: Kind,
    bytes: &[u8],
    pieces: &[Piece<'_>],
    below: &[Below],
    tests: Option<Markup>,
) -> Markup {
    let title = if unsure { Some("the least that is certain".into()) } else { count.and_then(short) };
    html! {
        tr id={ "L" (line) } class=[kind.class()] {
            th { a href={ "#L" (line) } { (line) } }
            td title=[title] { @if let Some(count) = count { @if unsure { "≥ " } (grouped(count.into())) } }
            td {
                (line_text(count, kind, bytes, pieces))
                @for below in below {
                    details class=(below.level) {
                        summary title=(below.title) { (below.label) }
                        (below.body)
                    }
                }
            }
            @if let Some(tests) = tests { td { (tests) } }
        }
        "\n"
    }
}

/// The blanks that a piece begins with, and the rest: blanks are not marked.
fn blank_and_text(piece: &[u8]) -> (String, String) {
    let (blank, text) = piece.split_at(piece.len() - piece.trim_ascii_start().len());
    (shown(blank), shown(text))
}

/// The text of a line with its marks. Counts of regions stand where they differ from that of the line; where nothing of
/// it ran, or it is excluded, the whole row says so.
fn line_text(line: Option<u64>, kind: Kind, bytes: &[u8], pieces: &[Piece<'_>]) -> Markup {
    let most = boundary(bytes, LONGEST);
    let starts = std::iter::once(0).chain(pieces.iter().map(|piece| piece.end));
    let pieces = starts.zip(pieces).take_while(|(start, _)| *start < most);
    html! {
        @for (start, piece) in pieces {
            @let missed = piece.state == State::Missed && !matches!(kind, Kind::Missed | Kind::Excluded);
            @let (blank, text) = blank_and_text(&bytes[start..piece.end.min(most)]);
            (blank)
            @if let Some(count) = piece.count.filter(|_| piece.count != line && kind != Kind::Excluded) { i data-n=(grouped(count.into())) {} }
            @match (missed && !text.is_empty(), piece.noted) {
                (true, None) => mark { (text) },
                (true, Some(noted)) => mark class=(noted.class) title=(noted.note) { (text) },
                (false, Some(noted)) => span class=(noted.class) title=(noted.note) { (text) },
                (false, None) => (text),
            }
        }
        @if most < bytes.len() { em { " … " (grouped((bytes.len() - most) as u128)) " more bytes" } }
    }
}
