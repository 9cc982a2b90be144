//! Tracefiles of lcov: what is known of one source file, and how lcov 1, lcov 2 and others read it.
//!
//! lcov 2 holds lines against branches and stops where they differ, so that two things can't be said in a tracefile:
//! that a line ran without coming to any of its branches (they are left out), and that a branch was seen on a line that
//! did not run (a `case` that another value passed by; it is not seen). [`FileRecords::write`] counts both.
//!
//! Last lines of functions have no form that both read: lcov 1 takes the last line in `FN:3,7,name` for the name, and
//! does not know `FNL` and `FNA`. The usual form is `FN:3,name`, which all tools read; lcov 2 then guesses the last
//! lines, with a warning.

use crate::visible;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};

/// What is known of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRecords {
    /// The path.
    pub path: String,
    /// The functions that are written in it.
    pub functions: Vec<FunctionRecord>,
    /// The branches, by lines.
    pub branches: Vec<BranchRecord>,
    /// The decisions of several conditions, by lines.
    pub decisions: Vec<DecisionRecord>,
    /// How often each line ran.
    pub lines: BTreeMap<u32, u64>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRecord {
    /// The first line.
    pub line: u32,
    /// The last line.
    pub end: u32,
    /// The name, as people know it.
    pub name: String,
    /// How often it was entered.
    pub entries: u64,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRecord {
    /// The line.
    pub line: u32,
    /// Whether control came to it.
    pub reached: bool,
    /// The outcomes.
    pub outcomes: Vec<OutcomeRecord>,
}

/// An outcome of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeRecord {
    /// How often it was seen.
    pub count: u64,
    /// Whether only an exception leads to it.
    pub exceptional: bool,
}

/// A decision (MC/DC).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRecord {
    /// The line.
    pub line: u32,
    /// The conditions that are not constant, in the order of the text.
    pub conditions: Vec<ConditionRecord>,
}

/// A condition of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionRecord {
    /// The text, or what else tells it apart.
    pub text: String,
    /// How often it was false, and how often true, in vectors that show it to be independent.
    pub shown: [u64; 2],
}

/// How outcomes of one line are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// From 0 in each branch.
    ByBranch,
    /// From 0 on each line, as `llvm-cov` does.
    ByLine,
}

/// How a tracefile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracefileForm {
    /// With the last lines of functions, for lcov 2 alone.
    pub function_ends: bool,
    /// How outcomes are numbered.
    pub numbering: Numbering,
}

/// Outcomes of branches that a tracefile can't have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Untold {
    /// On lines that ran without coming to any branch: they are left out.
    pub left_out: u64,
    /// On lines that did not run: they are not seen.
    pub unseen: u64,
}

impl Untold {
    /// Adds those of another file.
    pub fn add(&mut self, other: Self) {
        self.left_out += other.left_out;
        self.unseen += other.unseen;
    }

    /// Sentences for the user.
    #[must_use]
    pub fn remarks(self) -> Vec<String> {
        let sentence = |count: u64, what: &str| {
            (count > 0).then(|| {
                let outcomes = crate::terminal::counted(count.into(), "outcome");
                format!("{outcomes} of branches {what}, since lcov 2 refuses what they say")
            })
        };
        let left_out = sentence(self.left_out, "left out, on lines that ran and did not come to any branch");
        let unseen =
            sentence(self.unseen, "written as not seen, on lines that did not run (cases that were passed by)");
        left_out.into_iter().chain(unseen).collect()
    }
}

impl FileRecords {
    /// Writes the records of the file, from its name on.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write(&self, form: TracefileForm, out: &mut dyn Write) -> io::Result<Untold> {
        writeln!(out, "SF:{}", visible::name(&self.path))?;
        self.write_functions(form, out)?;
        let untold = self.write_branches(form, out)?;
        self.write_decisions(out)?;
        for (line, count) in &self.lines {
            writeln!(out, "DA:{line},{count}")?;
        }
        let ran = self.lines.values().filter(|count| **count > 0).count();
        writeln!(out, "LF:{}\nLH:{ran}\nend_of_record", self.lines.len())?;
        Ok(untold)
    }

    fn write_functions(&self, form: TracefileForm, out: &mut dyn Write) -> io::Result<()> {
        let functions = self.named();
        if form.function_ends {
            let mut by_line: BTreeMap<u32, Vec<&(String, &FunctionRecord)>> = BTreeMap::new();
            functions.iter().for_each(|named| by_line.entry(named.1.line).or_default().push(named));
            for (index, (line, functions)) in by_line.iter().enumerate() {
                let end = functions.iter().map(|(_, function)| function.end.max(*line)).max().unwrap_or(*line);
                writeln!(out, "FNL:{index},{line},{end}")?;
                for (name, function) in functions {
                    writeln!(out, "FNA:{index},{},{name}", function.entries)?;
                }
            }
        } else {
            for (name, function) in &functions {
                writeln!(out, "FN:{},{name}", function.line)?;
            }
            for (name, function) in &functions {
                writeln!(out, "FNDA:{},{name}", function.entries)?;
            }
        }
        let ran = functions.iter().filter(|(_, function)| function.entries > 0).count();
        writeln!(out, "FNF:{}\nFNH:{ran}", functions.len())
    }

    /// The functions with names that are different from each other and that end at no comma.
    fn named(&self) -> Vec<(String, &FunctionRecord)> {
        let mut known = HashSet::new();
        let named = self.functions.iter().map(|function| {
            let plain = visible::name(&function.name).replace(',', ";");
            let with_line = format!("{plain}:{}", function.line);
            let numbered = (2..).map(|number| format!("{with_line}:{number}"));
            let mut names = [plain, with_line.clone()].into_iter().chain(numbered);
            let name = names.find(|name| known.insert(name.clone())).unwrap_or_default();
            (name, function)
        });
        named.collect()
    }

    fn write_branches(&self, form: TracefileForm, out: &mut dyn Write) -> io::Result<Untold> {
        let mut untold = Untold::default();
        let (mut found, mut hit) = (0, 0);
        for on_line in self.branches.chunk_by(|a, b| a.line == b.line) {
            let line = on_line[0].line;
            let outcomes = || on_line.iter().flat_map(|branch| &branch.outcomes);
            let seen = outcomes().any(|outcome| outcome.count > 0);
            let ran = self.lines.get(&line).copied();
            if ran.is_none() || (ran > Some(0) && !seen) {
                untold.left_out += outcomes().count() as u64;
                continue;
            }
            let mut number = 0;
            for (block, branch) in on_line.iter().enumerate() {
                if form.numbering == Numbering::ByBranch {
                    number = 0;
                }
                for outcome in &branch.outcomes {
                    let mark = if outcome.exceptional { "e" } else { "" };
                    let reached = branch.reached && ran > Some(0);
                    untold.unseen += u64::from(branch.reached && !reached && outcome.count > 0);
                    let count = if reached { outcome.count.to_string() } else { "-".into() };
                    writeln!(out, "BRDA:{line},{mark}{block},{number},{count}")?;
                    number += 1;
                    found += 1;
                    hit += u64::from(reached && outcome.count > 0);
                }
            }
        }
        writeln!(out, "BRF:{found}\nBRH:{hit}")?;
        Ok(untold)
    }
}

impl FileRecords {
    /// Writes MC/DC as lcov 2 reads it; others skip it. lcov tells the decisions of a line apart by how many conditions
    /// they have, so that those of a line that have equally many are written as one.
    fn write_decisions(&self, out: &mut dyn Write) -> io::Result<()> {
        let (mut found, mut hit) = (0, 0);
        for on_line in self.decisions.chunk_by(|a, b| a.line == b.line) {
            let line = on_line[0].line;
            let mut sizes: Vec<usize> = on_line.iter().map(|decision| decision.conditions.len()).collect();
            sizes.sort_unstable();
            let groups: Vec<Vec<&ConditionRecord>> = if sizes.windows(2).any(|pair| pair[0] == pair[1]) {
                vec![on_line.iter().flat_map(|decision| &decision.conditions).collect()]
            } else {
                on_line.iter().map(|decision| decision.conditions.iter().collect()).collect()
            };
            for group in groups {
                for (index, ConditionRecord { text, shown }) in group.iter().enumerate() {
                    for (sense, count) in [('t', shown[1]), ('f', shown[0])] {
                        writeln!(out, "MCDC:{line},{},{sense},{count},{index},{}", group.len(), visible::name(text))?;
                        found += 1;
                        hit += u64::from(count > 0);
                    }
                }
            }
        }
        if found > 0 {
            writeln!(out, "MCF:{found}\nMCH:{hit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(records: &FileRecords, function_ends: bool) -> (String, Untold) {
        let mut out = Vec::new();
        let form = TracefileForm { function_ends, numbering: Numbering::ByLine };
        let untold = records.write(form, &mut out).expect("memory");
        (String::from_utf8(out).expect("text"), untold)
    }

    fn function(line: u32, end: u32, name: &str, entries: u64) -> FunctionRecord {
        FunctionRecord { line, end, name: name.into(), entries }
    }

    fn branch(line: u32, reached: bool, counts: &[u64]) -> BranchRecord {
        let outcome = |&count: &u64| OutcomeRecord { count, exceptional: false };
        BranchRecord { line, reached, outcomes: counts.iter().map(outcome).collect() }
    }

    #[test]
    fn names_differ_and_have_no_commas() {
        let functions = [(3, "f(int, int)"), (9, "f(int, int)"), (9, "f(int, int)"), (9, "f(int, int)")];
        let functions = functions.map(|(line, name)| function(line, line + 2, name, 1)).to_vec();
        let records = FileRecords { path: "a.c".into(), functions, ..FileRecords::default() };
        let (form, _) = text(&records, false);
        assert!(form.starts_with("SF:a.c\nFN:3,f(int; int)\nFN:9,f(int; int):9\nFN:9,f(int; int):9:2\n"), "{form}");
        let (form, _) = text(&records, true);
        let expected = "SF:a.c\nFNL:0,3,5\nFNA:0,1,f(int; int)\nFNL:1,9,11\nFNA:1,1,f(int; int):9\n";
        assert!(form.starts_with(expected), "{form}");
    }

    #[test]
    fn decisions_of_a_line_are_told_apart_by_their_sizes() {
        let decision = |line, conditions: &[(&str, [u64; 2])]| DecisionRecord {
            line,
            conditions: conditions.iter().map(|&(text, shown)| ConditionRecord { text: text.into(), shown }).collect(),
        };
        let (ab, cd) = ([("a", [1, 2]), ("b", [0, 0])], [("c,d", [0, 3]), ("e", [1, 1])]);
        let decisions = vec![decision(3, &ab), decision(3, &[("f", [0, 1])]), decision(4, &ab), decision(4, &cd)];
        let records = FileRecords { path: "a.c".into(), decisions, ..FileRecords::default() };
        let (form, _) = text(&records, false);
        let expected = "MCDC:3,2,t,2,0,a\nMCDC:3,2,f,1,0,a\nMCDC:3,2,t,0,1,b\nMCDC:3,2,f,0,1,b\n\
            MCDC:3,1,t,1,0,f\nMCDC:3,1,f,0,0,f\n\
            MCDC:4,4,t,2,0,a\nMCDC:4,4,f,1,0,a\nMCDC:4,4,t,0,1,b\nMCDC:4,4,f,0,1,b\n\
            MCDC:4,4,t,3,2,c,d\nMCDC:4,4,f,0,2,c,d\nMCDC:4,4,t,1,3,e\nMCDC:4,4,f,1,3,e\nMCF:14\nMCH:8\n";
        assert!(form.contains(expected), "{form}");
    }

    #[test]
    fn lines_and_branches_agree() {
        let branches = vec![
            branch(1, true, &[1, 0]),
            branch(1, false, &[0, 0]),
            branch(2, false, &[0, 0]),
            branch(3, true, &[0, 2]),
            branch(4, true, &[1, 1]),
        ];
        let lines = [(1, 1), (2, 1), (3, 0)].into();
        let records = FileRecords { path: "a.c".into(), branches, lines, ..FileRecords::default() };
        let (form, untold) = text(&records, false);
        let expected =
            "BRDA:1,0,0,1\nBRDA:1,0,1,0\nBRDA:1,1,2,-\nBRDA:1,1,3,-\nBRDA:3,0,0,-\nBRDA:3,0,1,-\nBRF:6\nBRH:1\n";
        assert!(form.contains(expected), "{form}");
        assert_eq!(untold, Untold { left_out: 4, unseen: 1 });
        assert_eq!(untold.remarks().len(), 2);
    }
}
