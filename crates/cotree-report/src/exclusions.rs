//! What markers in comments exclude from coverage: those of lcov and of gcovr.
//!
//! | marker | what is excluded |
//! | --- | --- |
//! | `LCOV_EXCL_LINE` | the line |
//! | `LCOV_EXCL_START` … `LCOV_EXCL_STOP` | from the first line up to the one before the last |
//! | `LCOV_EXCL_BR_LINE`, `LCOV_EXCL_BR_START` … `_STOP` | only the branches of those lines |
//! | `LCOV_EXCL_EXCEPTION_BR_LINE`, … `_START` … `_STOP` | only the branches of those lines that exceptions take |
//! | `LCOV_UNREACHABLE_LINE`, `LCOV_UNREACHABLE_START` … `_STOP` | as without `UNREACHABLE`; but none may have run |
//!
//! `GCOV`, `GCOVR` and `LCOVR` mean what `LCOV` means. Regions nest. A marker that begins or ends nothing excludes
//! nothing, and is a [`Mistake`].

use crate::files::is_foreign;
use crate::source::{SourceText, Sources};
use crate::terminal::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What markers exclude, file by file.
#[derive(Clone, Debug, Default)]
pub struct Markers {
    files: BTreeMap<String, Arc<Exclusions>>,
    /// Files whose text is not there.
    absent: Vec<String>,
}

impl Markers {
    /// Looks for markers in source files.
    #[must_use]
    pub fn read<'p>(paths: impl IntoIterator<Item = &'p str>, sources: &dyn Sources) -> Self {
        let mut markers = Self::default();
        for path in paths {
            match sources.text(path) {
                Some(text) => drop(markers.files.insert(path.to_owned(), Arc::new(Exclusions::new(&text)))),
                None => markers.absent.push(path.to_owned()),
            }
        }
        markers.files.retain(|_, exclusions| !exclusions.is_empty() || !exclusions.mistakes.is_empty());
        markers
    }

    /// What is excluded in a file. `None`: nothing.
    #[must_use]
    pub fn of(&self, path: &str) -> Option<&Arc<Exclusions>> {
        self.files.get(path)
    }

    /// Sentences for the user: markers that make no sense, and files of the project in which none could be looked for.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mistakes = self.files.iter().flat_map(|(path, exclusions)| {
            exclusions.mistakes.iter().map(move |Mistake { line, marker, missing }| {
                format!("{path}:{line}: {marker} without {missing} excludes nothing")
            })
        });
        let absent: Vec<_> = self.absent.iter().filter(|path| !is_foreign(path)).collect();
        let unread = absent.first().map(|first| {
            let files = counted(absent.len() as u128, "source file");
            format!(
                "{files} not on this machine, such as {first}: what markers in them exclude (LCOV_EXCL_LINE) is counted; \
                 --source-prefix OLD=NEW says where they are"
            )
        });
        mistakes.chain(unread).collect()
    }
}

/// The sentence that a line ran which nobody should come to.
#[must_use]
pub fn reached(path: &str, line: u32, count: u64) -> String {
    let times = counted(count.into(), "time");
    format!("{path}:{line} ran {times}, and is marked as unreachable (LCOV_UNREACHABLE)")
}

/// The lines and branches of a file that markers exclude.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclusions {
    lines: Ranges,
    branches: Ranges,
    exceptions: Ranges,
    unreachable: Ranges,
    /// The lines on which regions of excluded lines end, which are not excluded.
    ends: BTreeSet<u32>,
    /// Markers that make no sense.
    pub mistakes: Vec<Mistake>,
}

/// A marker without its other half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line that the marker is on.
    pub line: u32,
    /// The marker.
    pub marker: String,
    /// The marker that is missing.
    pub missing: String,
}

/// What a marker is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Lines,
    Branches,
    Exceptions,
    Unreachable,
}

/// The middles of markers. The longest ones come first, as they begin like others.
const SUBJECTS: [(&str, Subject); 4] = [
    ("_EXCL_EXCEPTION_BR_", Subject::Exceptions),
    ("_EXCL_BR_", Subject::Branches),
    ("_EXCL_", Subject::Lines),
    ("_UNREACHABLE_", Subject::Unreachable),
];

const TOOLS: [&str; 4] = ["LCOVR", "GCOVR", "LCOV", "GCOV"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Line,
    Start,
    Stop,
}

const EXTENTS: [(&str, Extent); 3] = [("LINE", Extent::Line), ("START", Extent::Start), ("STOP", Extent::Stop)];

impl Exclusions {
    /// Looks for markers in a text.
    #[must_use]
    pub fn new(text: &SourceText) -> Self {
        let mut exclusions = Self::default();
        // The lines of markers that have begun regions, with the beginnings of their names.
        let mut open: [Vec<(u32, &str)>; 4] = Default::default();
        for number in 1..=text.len() {
            let line = text.line(number).unwrap_or_default();
            for (prefix, subject, extent) in markers(line) {
                let open = &mut open[subject as usize];
                match extent {
                    Extent::Line => exclusions.of(subject).add(number, number),
                    Extent::Start => open.push((number, prefix)),
                    Extent::Stop => match open.pop() {
                        Some((start, _)) => {
                            exclusions.of(subject).add(start, number.saturating_sub(1));
                            if matches!(subject, Subject::Lines | Subject::Unreachable) {
                                exclusions.ends.insert(number);
                            }
                        }
                        None => exclusions.mistake(number, prefix, ["STOP", "START"]),
                    },
                }
            }
        }
        for (line, prefix) in open.into_iter().flatten() {
            exclusions.mistake(line, prefix, ["START", "STOP"]);
        }
        exclusions.mistakes.sort_by_key(|mistake| mistake.line);
        for ranges in
            [&mut exclusions.lines, &mut exclusions.branches, &mut exclusions.exceptions, &mut exclusions.unreachable]
        {
            ranges.join();
        }
        exclusions
    }

    fn of(&mut self, subject: Subject) -> &mut Ranges {
        match subject {
            Subject::Lines => &mut self.lines,
            Subject::Branches => &mut self.branches,
            Subject::Exceptions => &mut self.exceptions,
            Subject::Unreachable => &mut self.unreachable,
        }
    }

    fn mistake(&mut self, line: u32, prefix: &str, [is, missing]: [&str; 2]) {
        let [marker, missing] = [is, missing].map(|end| format!("{prefix}{end}"));
        self.mistakes.push(Mistake { line, marker, missing });
    }

    /// Whether there is nothing excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [&self.lines, &self.branches, &self.exceptions, &self.unreachable].iter().all(|ranges| ranges.0.is_empty())
    }

    /// Whether a line is excluded.
    #[must_use]
    pub fn line(&self, line: u32) -> bool {
        self.lines.contains(line) || self.unreachable.contains(line)
    }

    /// Whether the branches of a line are excluded.
    #[must_use]
    pub fn branch(&self, line: u32) -> bool {
        self.line(line) || self.branches.contains(line)
    }

    /// Whether the branches of a line that only exceptions take are excluded.
    #[must_use]
    pub fn exception(&self, line: u32) -> bool {
        self.branch(line) || self.exceptions.contains(line)
    }

    /// Whether nobody should ever come to a line.
    #[must_use]
    pub fn unreachable(&self, line: u32) -> bool {
        self.unreachable.contains(line)
    }

    /// Whether a region of excluded lines ends on a line, which is not excluded.
    #[must_use]
    pub fn ends(&self, line: u32) -> bool {
        self.ends.contains(&line)
    }

    /// The last of the lines from `first` on, up to `last`, that are all excluded or all not excluded.
    #[must_use]
    pub fn alike(&self, first: u32, last: u32) -> u32 {
        let end = |ranges: &Ranges| ranges.alike(first).min(last);
        end(&self.lines).min(end(&self.unreachable))
    }
}

/// The markers of a line: what stands before `LINE`, `START` or `STOP`, and what they mean.
fn markers(line: &str) -> impl Iterator<Item = (&str, Subject, Extent)> {
    let starts = line.match_indices("COV").map(|(at, _)| at.saturating_sub(1));
    starts.filter_map(|start| {
        let marker = line.get(start..)?;
        let tool = TOOLS.iter().find(|tool| marker.starts_with(**tool))?;
        let rest = &marker[tool.len()..];
        let (middle, subject) = SUBJECTS.iter().find(|(middle, _)| rest.starts_with(middle))?;
        let length = tool.len() + middle.len();
        let (_, extent) = EXTENTS.iter().find(|(end, _)| marker[length..].starts_with(end))?;
        Some((&marker[..length], *subject, *extent))
    })
}

/// Lines: the first and the last of each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    fn add(&mut self, first: u32, last: u32) {
        // A region that ends on the line of its beginning is empty.
        if first <= last {
            self.0.push((first, last));
        }
    }

    /// Sorts the ranges, and makes one of those that meet.
    fn join(&mut self) {
        self.0.sort_unstable();
        self.0.dedup_by(|next, kept| {
            let meet = next.0 <= kept.1.saturating_add(1);
            if meet {
                kept.1 = kept.1.max(next.1);
            }
            meet
        });
    }

    fn contains(&self, line: u32) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= line);
        after.checked_sub(1).is_some_and(|before| line <= self.0[before].1)
    }

    /// The last line of those from `line` on that are all within one range, or all outside.
    fn alike(&self, line: u32) -> u32 {
        let after = self.0.partition_point(|&(first, _)| first <= line);
        let within = after.checked_sub(1).map(|before| self.0[before].1).filter(|&last| line <= last);
        within.unwrap_or_else(|| self.0.get(after).map_or(u32::MAX, |&(first, _)| first - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exclusions(text: &str) -> Exclusions {
        Exclusions::new(&SourceText::new(text.as_bytes()))
    }

    fn lines(text: &str, excluded: impl Fn(&Exclusions, u32) -> bool) -> Vec<u32> {
        let exclusions = exclusions(text);
        (1..=text.lines().count() as u32 + 1).filter(|&line| excluded(&exclusions, line)).collect()
    }

    #[test]
    fn markers_exclude_what_lcov_and_gcovr_say() {
        let text = "a /* LCOV_EXCL_LINE */\nb\nc // GCOVR_EXCL_START\nd\ne # LCOV_EXCL_STOP\nf GCOV_EXCL_BR_LINE\n\
            g LCOV_EXCL_BR_START\nh\ni LCOV_EXCL_BR_STOP\nj LCOV_EXCL_EXCEPTION_BR_LINE\nk LCOV_UNREACHABLE_LINE\n";
        assert_eq!(lines(text, Exclusions::line), [1, 3, 4, 11]);
        assert_eq!(lines(text, Exclusions::branch), [1, 3, 4, 6, 7, 8, 11]);
        assert_eq!(lines(text, Exclusions::exception), [1, 3, 4, 6, 7, 8, 10, 11]);
        assert_eq!(lines(text, Exclusions::unreachable), [11]);
        assert_eq!(exclusions(text).mistakes, []);
        assert!(exclusions("COV_EXCL_LINE LCOV_EXCL LCOV_EXCL_BR XCOV_EXCL_LINE\n").is_empty());
    }

    #[test]
    fn regions_nest_and_may_be_on_one_line() {
        let text =
            "LCOV_EXCL_START\nLCOV_EXCL_START\nLCOV_EXCL_STOP\nx\nLCOV_EXCL_STOP LCOV_EXCL_START\nLCOV_EXCL_STOP\n";
        assert_eq!(lines(text, Exclusions::line), [1, 2, 3, 4, 5]);
        assert!(exclusions("LCOV_EXCL_START LCOV_EXCL_STOP\n").is_empty());
    }

    #[test]
    fn halves_exclude_nothing() {
        let text = "LCOV_EXCL_STOP\nLCOV_EXCL_START\nLCOV_EXCL_BR_STOP\n";
        assert_eq!(lines(text, Exclusions::exception), [0u32; 0]);
        let mistakes = exclusions(text).mistakes;
        let text: Vec<String> = mistakes.iter().map(|m| format!("{}: {} {}", m.line, m.marker, m.missing)).collect();
        assert_eq!(
            text,
            [
                "1: LCOV_EXCL_STOP LCOV_EXCL_START",
                "2: LCOV_EXCL_START LCOV_EXCL_STOP",
                "3: LCOV_EXCL_BR_STOP LCOV_EXCL_BR_START"
            ]
        );
    }

    #[test]
    fn parts_of_lines_are_alike() {
        let exclusions = exclusions("a\nLCOV_EXCL_START\nb\nLCOV_EXCL_STOP\nc\n");
        let ends: Vec<u32> = (1..=5).map(|line| exclusions.alike(line, 9)).collect();
        assert_eq!(ends, [1, 3, 3, 9, 9]);
    }
}
