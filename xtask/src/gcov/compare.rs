//! Where line counts differ.
//!
//! gcov *has one value* for a line if only one of the two knows it, or both say the same. That value has to be
//! cotree's. Where clang's gcov and gcc's contradict each other, cotree has to agree with one of them. What meets
//! neither is put into classes.

use super::classes::Class;
use super::lines::Lines;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Result, Write};
use std::path::{Path, PathBuf};

/// What the three say of one line.
pub struct Line<'a> {
    /// The file of the line.
    pub file: &'a Path,
    /// The number of the line, from 1.
    pub number: u32,
    /// cotree's count.
    pub ours: Option<u64>,
    /// That of clang's gcov.
    pub clang: Option<u64>,
    /// That of gcc's gcov.
    pub gcc: Option<u64>,
}

impl Line<'_> {
    /// The counts of the gcovs that know the line.
    pub fn peers(&self) -> impl Iterator<Item = u64> {
        self.clang.into_iter().chain(self.gcc)
    }

    /// Some gcov contradicts us about whether the line ran.
    fn is_contradicted(&self) -> bool {
        self.ours.is_some_and(|ours| self.peers().any(|theirs| (theirs == 0) != (ours == 0)))
    }
}

/// How many lines are in a class.
#[derive(Clone, Copy, Default)]
struct Tally {
    lines: usize,
    /// On these, some gcov contradicts cotree about whether they ran.
    contradicted: usize,
}

/// The outcome.
pub struct Comparison<'a> {
    /// All lines that anybody knows, in order, with the classes of those that differ.
    lines: Vec<(Line<'a>, Option<Class>)>,
    classes: BTreeMap<Class, Tally>,
    sources: Sources<'a>,
}

/// The texts of files, by lines.
type Sources<'a> = BTreeMap<&'a Path, Vec<String>>;

fn text<'s>(sources: &'s Sources<'_>, file: &Path, number: u32) -> &'s str {
    sources.get(file).and_then(|lines| lines.get((number as usize).checked_sub(1)?)).map_or("", String::as_str)
}

impl<'a> Comparison<'a> {
    /// Compares.
    pub fn new(ours: &'a Lines, clang: &'a Lines, gcc: &'a Lines) -> std::io::Result<Comparison<'a>> {
        let keys: BTreeSet<&'a (PathBuf, u32)> =
            [ours, clang, gcc].into_iter().flat_map(|lines| lines.counts.keys()).collect();
        let of = |lines: &Lines, key| lines.counts.get(key).copied();
        let lines: Vec<Line<'a>> = keys
            .into_iter()
            .map(|key| Line {
                file: &key.0,
                number: key.1,
                ours: of(ours, key),
                clang: of(clang, key),
                gcc: of(gcc, key),
            })
            .collect();
        let mut sources = Sources::new();
        for line in &lines {
            if !sources.contains_key(line.file) {
                let bytes = std::fs::read(line.file)?;
                sources.insert(line.file, String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect());
            }
        }
        let class = |index: usize| Class::of(&lines, index, &|number| text(&sources, lines[index].file, number));
        let found: Vec<Option<Class>> = (0..lines.len()).map(class).collect();
        let mut classes: BTreeMap<Class, Tally> = BTreeMap::new();
        for (line, class) in lines.iter().zip(&found) {
            if let Some(class) = class {
                let tally = classes.entry(*class).or_default();
                tally.lines += 1;
                tally.contradicted += usize::from(line.is_contradicted());
            }
        }
        Ok(Comparison { lines: lines.into_iter().zip(found).collect(), classes, sources })
    }

    /// How many lines we and some gcov know.
    pub fn common(&self) -> usize {
        self.lines.iter().filter(|(line, _)| line.ours.is_some() && line.peers().next().is_some()).count()
    }

    /// The share of these lines whose count is gcov's: the one value that it has, or one of two that contradict each
    /// other.
    pub fn share_as_gcov(&self) -> f64 {
        let against: usize =
            self.classes.iter().filter(|(c, _)| c.is_against_gcov()).map(|(_, tally)| tally.lines).sum();
        1.0 - share(against, self.common())
    }

    /// Lines in no class.
    pub fn unexplained(&self) -> usize {
        self.classes.get(&Class::Unexplained).map_or(0, |tally| tally.lines)
    }

    /// Two columns of counts: lines that both know, the share that ran or not for both, the share of equal counts.
    fn pair(&self, one: fn(&Line<'a>) -> Option<u64>, other: fn(&Line<'a>) -> Option<u64>) -> (usize, f64, f64) {
        let pairs: Vec<(u64, u64)> = self.lines.iter().filter_map(|(line, _)| one(line).zip(other(line))).collect();
        let executed = pairs.iter().filter(|(one, other)| (*one == 0) == (*other == 0)).count();
        let equal = pairs.iter().filter(|(one, other)| one == other).count();
        (pairs.len(), share(executed, pairs.len()), share(equal, pairs.len()))
    }

    /// All of it, with the sources, for people: the class, the line, and ours, clang's and gcc's count.
    pub fn differences(&self) -> String {
        let mut list = format!("{self}\n\nclass: file:line: ours clang gcc: source\n");
        let show = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        for (line, class) in &self.lines {
            let kind = match class {
                Some(class) => class.name(),
                None if line.ours.is_none() => "not ours",
                None if line.peers().next().is_none() => "only ours",
                None => continue,
            };
            let source = text(&self.sources, line.file, line.number);
            let name = line.file.file_name().unwrap_or_default().to_string_lossy();
            let (ours, clang, gcc) = (show(line.ours), show(line.clang), show(line.gcc));
            let _ = writeln!(list, "{kind}: {name}:{}: {ours} {clang} {gcc}: {source}", line.number);
        }
        list
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The raw percentages, and the table of classes.
impl Display for Comparison<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let percent = |share: f64| format!("{:.3} %", share * 100.0);
        let pairs = [
            ("cotree and clang's gcov", self.pair(|l| l.ours, |l| l.clang)),
            ("cotree and gcc's gcov", self.pair(|l| l.ours, |l| l.gcc)),
            ("clang's gcov and gcc's", self.pair(|l| l.clang, |l| l.gcc)),
        ];
        for (name, (lines, executed, equal)) in pairs {
            write!(f, "\n    {name}: {lines} lines, executed {}, counts {}", percent(executed), percent(equal))?;
        }
        write!(f, "\n    as gcov: {} of {} lines", percent(self.share_as_gcov()), self.common())?;
        for class in Class::ALL {
            let Some(tally) = self.classes.get(&class) else { continue };
            write!(f, "\n    {}: {} lines", class.name(), tally.lines)?;
            if tally.contradicted > 0 {
                write!(f, ", {} of them on whether they ran", tally.contradicted)?;
            }
        }
        Ok(())
    }
}
