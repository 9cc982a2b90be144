//! Where line counts differ.

use super::lines::Lines;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Result, Write};
use std::path::{Path, PathBuf};

/// What the three say of one line.
struct Line<'a> {
    file: &'a Path,
    number: u32,
    ours: Option<u64>,
    clang: Option<u64>,
    gcc: Option<u64>,
    /// gcc's count of the nearest line above that it knows: the same statement, where gcc gives it one line only.
    gcc_above: Option<u64>,
}

impl Line<'_> {
    fn peers(&self) -> impl Iterator<Item = u64> {
        self.clang.into_iter().chain(self.gcc)
    }

    /// Some peer has our count.
    fn is_backed(&self) -> bool {
        self.ours.is_some_and(|ours| self.peers().any(|theirs| theirs == ours))
    }

    /// On whether the line ran, no peer agrees with us.
    fn is_alone(&self) -> bool {
        let witnesses = || self.clang.into_iter().chain(self.gcc.or(self.gcc_above));
        self.ours.is_some_and(|ours| witnesses().all(|theirs| (theirs == 0) != (ours == 0)))
    }
}

/// The outcome.
pub struct Comparison<'a> {
    /// All lines that anybody knows.
    lines: Vec<Line<'a>>,
}

impl<'a> Comparison<'a> {
    /// Compares.
    pub fn new(ours: &'a Lines, clang: &'a Lines, gcc: &'a Lines) -> Comparison<'a> {
        let keys: BTreeSet<&'a (PathBuf, u32)> =
            [ours, clang, gcc].into_iter().flat_map(|lines| lines.counts.keys()).collect();
        let of = |lines: &Lines, key| lines.counts.get(key).copied();
        let above = |key: &'a (PathBuf, u32)| {
            let (at, count) = gcc.counts.range(..key).next_back()?;
            (at.0 == key.0).then_some(*count)
        };
        let lines = keys.into_iter().map(|key| Line {
            file: &key.0,
            number: key.1,
            ours: of(ours, key),
            clang: of(clang, key),
            gcc: of(gcc, key),
            gcc_above: above(key),
        });
        Comparison { lines: lines.collect() }
    }

    /// Lines that we and some peer know.
    fn shared(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| line.ours.is_some() && line.peers().next().is_some())
    }

    /// How many lines we and some peer know.
    pub fn common(&self) -> usize {
        self.shared().count()
    }

    /// Lines on which all peers that know them contradict us about whether they ran.
    pub fn alone(&self) -> usize {
        self.shared().filter(|line| line.is_alone()).count()
    }

    /// The share of lines with the count of some peer.
    pub fn share_backed(&self) -> f64 {
        share(self.shared().filter(|line| line.is_backed()).count(), self.common())
    }

    /// Agreement with one peer: lines that both know, the share that ran or not for both, the share of equal counts.
    fn with(&self, peer: impl Fn(&Line<'a>) -> Option<u64>) -> (usize, f64, f64) {
        let pairs: Vec<(u64, u64)> = self.lines.iter().filter_map(|line| line.ours.zip(peer(line))).collect();
        let executed = pairs.iter().filter(|(ours, theirs)| (*ours == 0) == (*theirs == 0)).count();
        let equal = pairs.iter().filter(|(ours, theirs)| ours == theirs).count();
        (pairs.len(), share(executed, pairs.len()), share(equal, pairs.len()))
    }

    /// All of it, with the sources, for people: what kind of difference, the line, and ours, clang's and gcc's count.
    pub fn differences(&self) -> String {
        let mut sources: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
        let mut text = String::from("kind: file:line: ours clang gcc: source\n");
        let show = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        for line in &self.lines {
            let kind = match line.ours {
                None => "not ours",
                Some(_) if line.peers().next().is_none() => "only ours",
                Some(_) if line.is_alone() => "ALONE",
                Some(_) if !line.is_backed() => "count",
                Some(_) if line.clang.is_some() && line.clang != line.ours => "as gcc",
                Some(_) if line.gcc.is_some() && line.gcc != line.ours => "as clang",
                Some(_) => continue,
            };
            let source = sources.entry(line.file).or_insert_with(|| {
                let bytes = std::fs::read(line.file).unwrap_or_default();
                String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
            });
            let source = source.get(line.number as usize - 1).map_or("", String::as_str);
            let name = line.file.file_name().unwrap_or_default().to_string_lossy();
            let (ours, clang, gcc) = (show(line.ours), show(line.clang), show(line.gcc));
            let _ = writeln!(text, "{kind}: {name}:{}: {ours} {clang} {gcc}: {source}", line.number);
        }
        text
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Display for Comparison<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let percent = |share: f64| format!("{:.3} %", share * 100.0);
        for (name, (lines, executed, equal)) in
            [("clang", self.with(|line| line.clang)), ("gcc", self.with(|line| line.gcc))]
        {
            write!(f, "{name} {lines} lines, executed {}, counts {}; ", percent(executed), percent(equal))?;
        }
        write!(f, "counts of either {}, {} lines alone", percent(self.share_backed()), self.alone())
    }
}
