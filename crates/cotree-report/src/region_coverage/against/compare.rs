//! Holds the coverage of one file against what it was before.
//!
//! Lines are matched by a [`LineMap`]. Functions are the same if name and line are; else if the name is; else if the
//! line is; of each as many as before. Outcomes of conditions are matched in their order on a line, if there are as
//! many as before.

use super::category::Category;
use super::line_map::LineMap;
use crate::region_coverage::ratio::Ratio;
use crate::tracefile::{BranchRecord, FileRecords, FunctionRecord};
use std::collections::BTreeMap;

/// How many lines, functions or outcomes there are of each category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Categories {
    counts: [u64; 12],
    /// How much there was before, and how much of it ran.
    pub before: Ratio,
    /// How much there is now, and how much of it ran.
    pub now: Ratio,
}

impl Categories {
    /// How many are of a category.
    #[must_use]
    pub fn of(&self, category: Category) -> u64 {
        self.counts[category as usize]
    }

    /// Adds those of another file.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, count)| *sum += count);
        self.before.add(other.before);
        self.now.add(other.now);
    }

    /// Whether anything is not as it was.
    #[must_use]
    pub fn any_change(&self) -> bool {
        Category::all().any(|category| !matches!(category, Category::Cbc | Category::Ubc) && self.of(category) > 0)
    }

    fn count(&mut self, category: Category) {
        self.counts[category as usize] += 1;
    }
}

/// A function, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFunction {
    /// What became of it.
    pub category: Category,
    /// The line that it begins on.
    pub line: u32,
    /// The name.
    pub name: String,
}

/// A file, held against what it was before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedFile {
    /// Lines.
    pub lines: Categories,
    /// Functions.
    pub functions: Categories,
    /// Outcomes of conditions.
    pub branches: Categories,
    /// Each line with its category. Categories of what is no more are at lines of the source before.
    pub each_line: Vec<(u32, Category)>,
    /// Each function.
    pub each_function: Vec<ComparedFunction>,
    /// Lines with outcomes of a category.
    pub each_branch: Vec<(u32, Category)>,
}

/// What of the two coverages can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparable {
    /// Both know functions.
    pub functions: bool,
    /// Both know branches.
    pub branches: bool,
    /// The coverage before is a tracefile, in which no outcome is seen on a line that did not run.
    pub by_lines: bool,
}

impl ComparedFile {
    /// Compares a file. `None`: the file is not in that coverage.
    #[must_use]
    pub fn new(
        before: Option<&FileRecords>,
        now: Option<&FileRecords>,
        lines: &LineMap,
        comparable: Comparable,
    ) -> Self {
        let nothing = FileRecords::default();
        let (before, now) = (before.unwrap_or(&nothing), now.unwrap_or(&nothing));
        let mut file = Self::default();
        file.compare_lines(before, now, lines);
        if comparable.functions {
            file.compare_functions(before, now, lines);
        }
        if comparable.branches {
            file.compare_branches(before, now, lines, comparable.by_lines);
        }
        file
    }

    fn compare_lines(&mut self, before: &FileRecords, now: &FileRecords, lines: &LineMap) {
        let ran = |count: u64| count > 0;
        let mut moved: BTreeMap<u32, bool> = BTreeMap::new();
        let mut gone = Vec::new();
        for (&line, &count) in &before.lines {
            self.lines.before.count(ran(count));
            match lines.after(line) {
                Some(after) if now.lines.contains_key(&after) => drop(moved.insert(after, ran(count))),
                after => gone.push((line, Category::of_uncounted(ran(count), after.is_none()))),
            }
        }
        for (&line, &count) in &now.lines {
            self.lines.now.count(ran(count));
            let category = Category::of_counted(ran(count), moved.get(&line).copied(), lines.is_new(line));
            self.each_line.push((line, category));
        }
        self.each_line.extend(gone);
        self.each_line.iter().for_each(|&(_, category)| self.lines.count(category));
    }

    fn compare_functions(&mut self, before: &FileRecords, now: &FileRecords, lines: &LineMap) {
        let partners = partners(&before.functions, &now.functions, lines);
        let mut matched = vec![false; before.functions.len()];
        for (function, partner) in now.functions.iter().zip(partners) {
            let ran = function.entries > 0;
            self.functions.now.count(ran);
            let before = partner.map(|index| {
                matched[index] = true;
                before.functions[index].entries > 0
            });
            let category = Category::of_counted(ran, before, lines.is_new(function.line));
            self.add_function(category, function);
        }
        for (function, matched) in before.functions.iter().zip(matched) {
            self.functions.before.count(function.entries > 0);
            if !matched {
                let category = Category::of_uncounted(function.entries > 0, lines.after(function.line).is_none());
                self.add_function(category, function);
            }
        }
    }

    fn add_function(&mut self, category: Category, function: &FunctionRecord) {
        self.functions.count(category);
        let FunctionRecord { line, name, .. } = function;
        self.each_function.push(ComparedFunction { category, line: *line, name: name.clone() });
    }

    fn compare_branches(&mut self, before: &FileRecords, now: &FileRecords, lines: &LineMap, by_lines: bool) {
        let mut old = outcomes(&before.branches, |_| true);
        let ran = |line: u32| !by_lines || now.lines.get(&line).is_some_and(|&count| count > 0);
        let new = outcomes(&now.branches, ran);
        let mut moved: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
        old.values().flatten().for_each(|&seen| self.branches.before.count(seen));
        old.retain(|&line, seen| match lines.after(line) {
            Some(after) if new.get(&after).is_some_and(|new| new.len() == seen.len()) => {
                moved.insert(after, std::mem::take(seen));
                false
            }
            _ => true,
        });
        for (line, seen) in new {
            let partners = moved.get(&line);
            for (index, seen) in seen.into_iter().enumerate() {
                self.branches.now.count(seen);
                let before = partners.map(|partners| partners[index]);
                self.each_branch.push((line, Category::of_counted(seen, before, lines.is_new(line))));
            }
        }
        for (line, seen) in old {
            let is_gone = lines.after(line).is_none();
            self.each_branch.extend(seen.into_iter().map(|seen| (line, Category::of_uncounted(seen, is_gone))));
        }
        self.each_branch.iter().for_each(|&(_, category)| self.branches.count(category));
    }
}

/// Whether each outcome was seen, line by line, in the order of the branches.
fn outcomes(branches: &[BranchRecord], ran: impl Fn(u32) -> bool) -> BTreeMap<u32, Vec<bool>> {
    let mut by_line: BTreeMap<u32, Vec<bool>> = BTreeMap::new();
    for branch in branches {
        let seen = branch.outcomes.iter().map(|outcome| outcome.count > 0 && ran(branch.line));
        by_line.entry(branch.line).or_default().extend(seen);
    }
    by_line
}

/// What a function is known by: its line now, its name, or both.
type Key = (Option<u32>, Option<String>);
type KeyOf<'a> = dyn Fn(Option<u32>, &FunctionRecord) -> Key + 'a;

/// Which function before each function of now is.
fn partners(before: &[FunctionRecord], now: &[FunctionRecord], lines: &LineMap) -> Vec<Option<usize>> {
    let mut partners: Vec<Option<usize>> = vec![None; now.len()];
    let mut free = vec![true; before.len()];
    // Tracefiles have no commas in names.
    let name = |function: &FunctionRecord| function.name.replace(',', ";");
    let by_both = |line: Option<u32>, function: &FunctionRecord| (line, Some(name(function)));
    let by_name = |_: Option<u32>, function: &FunctionRecord| (None, Some(name(function)));
    let by_line = |line: Option<u32>, _: &FunctionRecord| (line, None);
    let keys: [&KeyOf<'_>; 3] = [&by_both, &by_name, &by_line];
    for key in keys {
        let mut known: BTreeMap<Key, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (index, function) in before.iter().enumerate().filter(|(index, _)| free[*index]) {
            known.entry(key(lines.after(function.line), function)).or_default().0.push(index);
        }
        for (index, function) in now.iter().enumerate().filter(|(index, _)| partners[*index].is_none()) {
            known.entry(key(Some(function.line), function)).or_default().1.push(index);
        }
        for (key, (old, new)) in known {
            // Several of one kind, as closures are, are in the order of their lines.
            if old.len() == new.len() && key != (None, None) {
                for (old, new) in old.into_iter().zip(new) {
                    partners[new] = Some(old);
                    free[old] = false;
                }
            }
        }
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracefile::OutcomeRecord;

    const ALL: Comparable = Comparable { functions: true, branches: true, by_lines: false };

    fn records(lines: &[(u32, u64)], functions: &[(u32, &str, u64)], branches: &[(u32, &[u64])]) -> FileRecords {
        let function = |&(line, name, entries): &(u32, &str, u64)| FunctionRecord {
            line,
            end: line,
            name: name.to_owned(),
            entries,
        };
        let branch = |&(line, counts): &(u32, &[u64])| BranchRecord {
            line,
            reached: true,
            outcomes: counts.iter().map(|&count| OutcomeRecord { count, exceptional: false }).collect(),
        };
        FileRecords {
            decisions: Vec::new(),
            path: "a.c".into(),
            functions: functions.iter().map(function).collect(),
            branches: branches.iter().map(branch).collect(),
            lines: lines.iter().copied().collect(),
        }
    }

    fn codes(of: &[(u32, Category)]) -> String {
        of.iter().map(|(line, category)| format!("{line} {}", category.code())).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn every_category_of_lines() {
        // Line 2 was replaced, line 10 is new.
        let map = LineMap::new(vec![(2..3, 2..3), (10..10, 10..11)]);
        let before = records(&[(1, 1), (2, 1), (3, 0), (4, 1), (5, 0), (6, 1), (7, 0)], &[], &[]);
        let now = records(&[(1, 1), (2, 0), (3, 0), (4, 0), (5, 1), (8, 1), (9, 0), (10, 4)], &[], &[]);
        let file = ComparedFile::new(Some(&before), Some(&now), &map, ALL);
        assert_eq!(
            codes(&file.each_line),
            "1 CBC, 2 UNC, 3 UBC, 4 LBC, 5 GBC, 8 GIC, 9 UIC, 10 GNC, 2 DCB, 6 ECB, 7 EUB"
        );
        assert_eq!(file.lines.before, Ratio { covered: 4, total: 7 });
        assert_eq!(file.lines.now, Ratio { covered: 4, total: 8 });
        let gone = ComparedFile::new(Some(&before), None, &LineMap::deleted(), ALL);
        assert_eq!((gone.lines.of(Category::Dcb), gone.lines.of(Category::Dub)), (4, 3));
    }

    #[test]
    fn functions_are_known_by_name_and_line() {
        // A line was added before all.
        let map = LineMap::new(vec![(1..1, 1..2)]);
        let before = records(&[], &[(3, "f(int; int)", 1), (5, "g", 1), (7, "old", 1), (9, "gone", 0)], &[]);
        let now = records(&[], &[(4, "f(int, int)", 0), (6, "g", 1), (8, "renamed", 0), (1, "new", 1)], &[]);
        let file = ComparedFile::new(Some(&before), Some(&now), &map, ALL);
        let each: Vec<_> = file.each_function.iter().map(|f| (f.name.as_str(), f.category.code())).collect();
        let expected = [("f(int, int)", "LBC"), ("g", "CBC"), ("renamed", "LBC"), ("new", "GNC"), ("gone", "EUB")];
        assert_eq!(each, expected);
        // The edit is not known: names tell.
        let file = ComparedFile::new(Some(&before), Some(&now), &LineMap::default(), ALL);
        assert_eq!(file.each_function[0].category, Category::Lbc);
    }

    #[test]
    fn outcomes_are_matched_in_their_order() {
        let before = records(&[(1, 1), (2, 1)], &[], &[(1, &[1, 0]), (1, &[0, 1]), (2, &[1, 1])]);
        let now = records(&[(1, 1), (2, 0)], &[], &[(1, &[0, 0]), (1, &[1, 1]), (2, &[1, 1, 0])]);
        let file = ComparedFile::new(Some(&before), Some(&now), &LineMap::default(), ALL);
        assert_eq!(codes(&file.each_branch), "1 LBC, 1 UBC, 1 GBC, 1 CBC, 2 GIC, 2 GIC, 2 UIC, 2 ECB, 2 ECB");
        let by_lines = Comparable { by_lines: true, ..ALL };
        let file = ComparedFile::new(Some(&before), Some(&now), &LineMap::default(), by_lines);
        assert_eq!(file.branches.of(Category::Gic), 0);
    }
}
