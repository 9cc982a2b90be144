//! What markers in comments exclude from coverage: those of lcov and of gcovr.
//!
//! | marker | what is excluded |
//! | --- | --- |
//! | `LCOV_EXCL_LINE` | the line |
//! | `LCOV_EXCL_START` … `LCOV_EXCL_STOP` | from the first line up to the one before the last |
//! | `LCOV_EXCL_BR_LINE`, `LCOV_EXCL_BR_START` … `_STOP` | only the branches of those lines |
//! | `LCOV_EXCL_EXCEPTION_BR_LINE`, … `_START` … `_STOP` | only the branches of those lines that exceptions take |
//! | `GCOVR_EXCL_FUNCTION` | the function whose definition begins there |
//! | `LCOV_UNREACHABLE_LINE`, `LCOV_UNREACHABLE_START` … `_STOP` | as without `UNREACHABLE`; but none may have run |
//!
//! `GCOV`, `GCOVR` and `LCOVR` mean what `LCOV` means. Regions nest. A marker that begins or ends nothing excludes
//! nothing, and is a [`Mistake`]; so is one that is not known here. gcovr's `EXCL_BR_SOURCE` and `EXCL_BR_WITHOUT_HIT`
//! go by the blocks and the branches that gcov counts, which are not those of conditions.

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

    /// Whether any marker excludes a function.
    #[must_use]
    pub fn have_functions(&self) -> bool {
        self.files.values().any(|exclusions| !exclusions.functions.is_empty())
    }

    /// Excludes the functions at which markers for functions stand. `functions` gives the first and last lines of all
    /// functions that are written in a file.
    pub fn exclude_functions(&mut self, functions: impl Fn(&str) -> Vec<(u32, u32)>) {
        let marked = self.files.iter_mut().filter(|(_, exclusions)| !exclusions.functions.is_empty());
        for (path, exclusions) in marked {
            Arc::make_mut(exclusions).exclude_functions(&functions(path));
        }
    }

    /// Sentences for the user: markers that make no sense, and files of the project in which none could be looked for.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mistakes = self.files.iter().flat_map(|(path, exclusions)| {
            exclusions.mistakes.iter().map(move |Mistake { line, marker, fault }| {
                let fault = match fault {
                    Fault::Missing(missing) => format!("without {missing} excludes nothing"),
                    Fault::NoFunction => "excludes nothing: no function begins there".into(),
                    Fault::Unknown => "excludes nothing: cotree does not know this marker (docs/coverage.md)".into(),
                };
                format!("{path}:{line}: {marker} {fault}")
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
    /// The lines of markers for functions, each with the line on which the body of the function begins, and the marker.
    functions: Vec<(u32, u32, String)>,
    /// The lines on which regions of excluded lines end, which are not excluded.
    ends: BTreeSet<u32>,
    /// Markers that make no sense.
    pub mistakes: Vec<Mistake>,
}

/// A marker that excludes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line that the marker is on.
    pub line: u32,
    /// The marker.
    pub marker: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Why a marker excludes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This marker, the other half, is missing.
    Missing(String),
    /// No function begins there.
    NoFunction,
    /// What looks like a marker is none of those that are known.
    Unknown,
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
            for marker in markers(line) {
                let (prefix, subject, extent) = match marker {
                    Marker::Lines(prefix, subject, extent) => (prefix, subject, extent),
                    Marker::Function(marker) => {
                        exclusions.functions.push((number, body_of(text, number), marker.to_owned()));
                        continue;
                    }
                    Marker::Unknown(marker) => {
                        let marker = marker.to_owned();
                        exclusions.mistakes.push(Mistake { line: number, marker, fault: Fault::Unknown });
                        continue;
                    }
                };
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
        self.mistakes.push(Mistake { line, marker, fault: Fault::Missing(missing) });
    }

    /// Excludes the functions, of these first and last lines, that begin at markers for functions.
    fn exclude_functions(&mut self, functions: &[(u32, u32)]) {
        for (line, body, marker) in std::mem::take(&mut self.functions) {
            let begins = |(first, _): &&(u32, u32)| (line..=body).contains(first);
            match functions.iter().filter(begins).map(|(_, last)| *last).max() {
                Some(last) => self.lines.add(line, last),
                None => self.mistakes.push(Mistake { line, marker, fault: Fault::NoFunction }),
            }
        }
        self.lines.join();
        self.mistakes.sort_by_key(|mistake| mistake.line);
    }

    /// Whether there is nothing excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let ranges = [&self.lines, &self.branches, &self.exceptions, &self.unreachable];
        self.functions.is_empty() && ranges.iter().all(|ranges| ranges.0.is_empty())
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

/// A marker in a line.
enum Marker<'l> {
    /// What stands before `LINE`, `START` or `STOP`, and what it means.
    Lines(&'l str, Subject, Extent),
    /// One for the function that begins here.
    Function(&'l str),
    /// What looks like a marker.
    Unknown(&'l str),
}

/// The markers of a line.
fn markers(line: &str) -> impl Iterator<Item = Marker<'_>> {
    let starts = line.match_indices("COV").map(|(at, _)| at.saturating_sub(1));
    starts.filter_map(|start| {
        let marker = line.get(start..)?;
        let tool = TOOLS.iter().find(|tool| marker.starts_with(**tool))?;
        let rest = &marker[tool.len()..];
        let known = SUBJECTS.iter().filter(|(middle, _)| rest.starts_with(middle)).find_map(|(middle, subject)| {
            let length = tool.len() + middle.len();
            let (_, extent) = EXTENTS.iter().find(|(end, _)| marker[length..].starts_with(end))?;
            Some(Marker::Lines(&marker[..length], *subject, *extent))
        });
        if known.is_some() {
            return known;
        }
        let end = marker.find(|sign: char| !sign.is_ascii_uppercase() && sign != '_').unwrap_or(marker.len());
        let marker = &marker[..end];
        match ["_EXCL_", "_UNREACHABLE_"]
            .into_iter()
            .find_map(|middle| rest[..end - tool.len()].strip_prefix(middle))?
        {
            "FUNCTION" => Some(Marker::Function(marker)),
            // Prose speaks of `LCOV_EXCL_*`.
            "" => None,
            _ => Some(Marker::Unknown(marker)),
        }
    })
}

/// The line on which the body of a function may begin that is defined on a line.
fn body_of(text: &SourceText, line: u32) -> u32 {
    /// The lines of the longest list of parameters.
    const MOST: u32 = 20;
    let last = line.saturating_add(MOST).min(text.len());
    (line..=last).find(|&line| text.line(line).is_some_and(|text| text.contains('{'))).unwrap_or(line)
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
        let exclusions = exclusions("COV_EXCL_LINE LCOV_EXCL LCOV_EXCL_BR XCOV_EXCL_LINE LCOV_EXCL_* LCOV_EXCLUDE\n");
        assert!(exclusions.is_empty());
        let unknown = exclusions.mistakes.iter().map(|mistake| (mistake.marker.as_str(), &mistake.fault));
        assert_eq!(unknown.collect::<Vec<_>>(), [("LCOV_EXCL_BR", &Fault::Unknown)]);
    }

    #[test]
    fn functions_are_excluded_from_their_markers_on() {
        let text = "int f(int a, // GCOVR_EXCL_FUNCTION\n    int b)\n{\n    return a;\n}\nint g; // GCOV_EXCL_FUNCTION\n\
            // GCOVR_EXCL_BR_WITHOUT_HIT: 1/2\nint h(void) {\n}\n";
        let mut exclusions = exclusions(text);
        exclusions.exclude_functions(&[(3, 5), (9, 10)]);
        let excluded: Vec<u32> = (1..=10).filter(|&line| exclusions.line(line)).collect();
        assert_eq!(excluded, [1, 2, 3, 4, 5]);
        let faults: Vec<_> = exclusions.mistakes.iter().map(|m| (m.line, m.marker.as_str(), &m.fault)).collect();
        let expected =
            [(6, "GCOV_EXCL_FUNCTION", &Fault::NoFunction), (7, "GCOVR_EXCL_BR_WITHOUT_HIT", &Fault::Unknown)];
        assert_eq!(faults, expected);
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
        let missing = |fault: &Fault| if let Fault::Missing(missing) = fault { missing.clone() } else { String::new() };
        let text: Vec<String> =
            mistakes.iter().map(|m| format!("{}: {} {}", m.line, m.marker, missing(&m.fault))).collect();
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
