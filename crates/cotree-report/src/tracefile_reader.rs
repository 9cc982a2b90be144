//! Reads tracefiles of lcov, of whatever tool: those of lcov 1 and 2, of `llvm-cov`, gcovr, and our own.
//!
//! A file may have several records of one source file, one for each test (`TN:`); they are added up. Summaries (`LF:`
//! and the like) are not read, since the lines say it all. Conditions of decisions (`MCDC:`) are left out.

use crate::tracefile::{BranchRecord, FileRecords, FunctionRecord, OutcomeRecord};
use std::collections::BTreeMap;

/// Why a text is no tracefile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no record of a tracefile ({what}): {text}")]
pub struct TracefileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
    /// The line itself.
    pub text: String,
}

/// What a tracefile says of a source file, while it is read.
#[derive(Debug, Default)]
struct Source {
    lines: BTreeMap<u32, u64>,
    /// First and last line, and entries, by name.
    functions: BTreeMap<(u32, String), (u32, u64)>,
    /// By line: blocks in the order of their first appearance, each with its outcomes.
    branches: BTreeMap<u32, Vec<(String, Vec<Outcome>)>>,
}

#[derive(Debug)]
struct Outcome {
    name: String,
    /// `None`: control did not come to the block.
    count: Option<u64>,
    exceptional: bool,
}

/// Functions of the record that is being read: names are said once with the line and once with the entries.
#[derive(Default)]
struct Names {
    /// Lines by names (`FN`).
    lines: BTreeMap<String, (u32, u32)>,
    /// Lines by numbers (`FNL`).
    numbered: BTreeMap<u32, (u32, u32)>,
}

/// Tracefiles while they are read. What several say of one source file is added up.
#[derive(Debug, Default)]
pub struct TracefileReader {
    sources: BTreeMap<String, Source>,
}

impl TracefileReader {
    /// Reads a tracefile, whose source files get the names that `name` gives them.
    ///
    /// # Errors
    /// If a line of it can't be read.
    pub fn read(&mut self, text: &str, name: impl Fn(&str) -> String) -> Result<(), TracefileError> {
        let mut path: Option<String> = None;
        let mut names = Names::default();
        for (number, line) in (1..).zip(text.lines()) {
            let refused = |what| TracefileError { line: number, what, text: line.chars().take(80).collect() };
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line == "end_of_record" {
                (path, names) = (None, Names::default());
                continue;
            }
            let (key, value) = line.split_once(':').ok_or_else(|| refused("it has no `:`"))?;
            if key == "SF" {
                let name = name(value);
                self.sources.entry(name.clone()).or_default();
                path = Some(name);
                continue;
            }
            if !matches!(key, "DA" | "FN" | "FNDA" | "FNL" | "FNA" | "BRDA") {
                continue;
            }
            let source = path.as_ref().and_then(|path| self.sources.get_mut(path));
            let source = source.ok_or_else(|| refused("no SF before it"))?;
            source.add(key, value, &mut names).ok_or_else(|| refused("a number is missing"))?;
        }
        Ok(())
    }

    /// What they say, in the order of the paths.
    #[must_use]
    pub fn finish(self) -> Vec<FileRecords> {
        self.sources.into_iter().map(|(path, source)| source.records(path)).collect()
    }
}

/// A count. gcov writes negative ones where threads raced; nothing is known of these.
fn count(text: &str) -> Option<u64> {
    match text.trim().parse::<i128>() {
        Ok(count) => Some(u64::try_from(count.max(0)).unwrap_or(u64::MAX)),
        // Some tools write large counts as 1e+06.
        Err(_) => text.trim().parse::<f64>().ok().filter(|count| count.is_finite()).map(|count| count.max(0.0) as u64),
    }
}

impl Source {
    /// Adds a record. `None`: it can't be read.
    fn add(&mut self, key: &str, value: &str, names: &mut Names) -> Option<()> {
        match key {
            "DA" => {
                let mut parts = value.splitn(3, ',');
                let line = parts.next()?.parse().ok()?;
                let sum = self.lines.entry(line).or_default();
                *sum = sum.saturating_add(count(parts.next()?)?);
            }
            "FN" => {
                let (line, rest) = value.split_once(',')?;
                let line: u32 = line.parse().ok()?;
                // lcov 2.0 has the last line before the name.
                let with_end = rest.split_once(',').and_then(|(end, name)| Some((end.parse::<u32>().ok()?, name)));
                let (end, name) = with_end.unwrap_or((line, rest));
                names.lines.insert(name.to_owned(), (line, end));
                self.functions.entry((line, name.to_owned())).or_insert((end, 0));
            }
            "FNDA" => {
                let (entries, name) = value.split_once(',')?;
                let (line, end) = names.lines.get(name).copied().unwrap_or_default();
                self.enter((line, name), end, count(entries)?);
            }
            "FNL" => {
                let mut parts = value.split(',');
                let (number, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
                let end = parts.next().and_then(|end| end.parse().ok()).unwrap_or(line);
                names.numbered.insert(number, (line, end));
            }
            "FNA" => {
                let mut parts = value.splitn(3, ',');
                let (number, entries) = (parts.next()?.parse().ok()?, count(parts.next()?)?);
                let (line, end) = *names.numbered.get(&number)?;
                self.enter((line, parts.next()?), end, entries);
            }
            _ => self.branch(value)?,
        }
        Some(())
    }

    fn enter(&mut self, (line, name): (u32, &str), end: u32, entries: u64) {
        let (_, sum) = self.functions.entry((line, name.to_owned())).or_insert((end, 0));
        *sum = sum.saturating_add(entries);
    }

    /// Adds `LINE,BLOCK,OUTCOME,COUNT`. An outcome may be an expression with commas.
    fn branch(&mut self, value: &str) -> Option<()> {
        let (line, rest) = value.split_once(',')?;
        let (block, rest) = rest.split_once(',')?;
        let (name, taken) = rest.rsplit_once(',')?;
        let taken = if taken.trim() == "-" { None } else { Some(count(taken)?) };
        let exceptional = block.starts_with('e');
        let block = block.trim_start_matches('e');
        let blocks = self.branches.entry(line.parse().ok()?).or_default();
        let found = blocks.iter().position(|(known, _)| known == block);
        let index = found.unwrap_or(blocks.len());
        if found.is_none() {
            blocks.push((block.to_owned(), Vec::new()));
        }
        let outcomes = &mut blocks[index].1;
        match outcomes.iter_mut().find(|outcome| outcome.name == name) {
            Some(known) => {
                known.count = match (known.count, taken) {
                    (Some(one), Some(other)) => Some(one.saturating_add(other)),
                    (one, other) => one.or(other),
                };
            }
            None => outcomes.push(Outcome { name: name.to_owned(), count: taken, exceptional }),
        }
        Some(())
    }

    fn records(self, path: String) -> FileRecords {
        let functions = self.functions.into_iter();
        let functions = functions.map(|((line, name), (end, entries))| FunctionRecord { line, end, name, entries });
        let branch = |line, outcomes: Vec<Outcome>| BranchRecord {
            line,
            reached: outcomes.iter().any(|outcome| outcome.count.is_some()),
            outcomes: outcomes
                .into_iter()
                .map(|Outcome { count, exceptional, .. }| OutcomeRecord { count: count.unwrap_or(0), exceptional })
                .collect(),
        };
        let branches = self.branches.into_iter();
        let branches =
            branches.flat_map(|(line, blocks)| blocks.into_iter().map(move |(_, outcomes)| branch(line, outcomes)));
        FileRecords {
            path,
            functions: functions.collect(),
            branches: branches.collect(),
            decisions: Vec::new(),
            lines: self.lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracefile::{Numbering, TracefileForm};

    fn read(text: &str) -> Result<Vec<FileRecords>, TracefileError> {
        let mut reader = TracefileReader::default();
        reader.read(text, str::to_owned)?;
        Ok(reader.finish())
    }

    #[test]
    fn all_that_is_written_is_read() {
        let function = |line, name: &str, entries| FunctionRecord { line, end: line + 2, name: name.into(), entries };
        let branch = |line, reached, counts: &[u64]| BranchRecord {
            line,
            reached,
            outcomes: counts.iter().map(|&count| OutcomeRecord { count, exceptional: count == 7 }).collect(),
        };
        let records = FileRecords {
            decisions: Vec::new(),
            path: "/p/a:b.c".into(),
            functions: vec![function(1, "f(int; int)", 0), function(5, "main", 3)],
            branches: vec![branch(2, true, &[0, 4]), branch(2, true, &[7]), branch(6, false, &[0, 0])],
            lines: [(1, 4), (2, 4), (6, 0)].into(),
        };
        for function_ends in [true, false] {
            for numbering in [Numbering::ByLine, Numbering::ByBranch] {
                let mut out = b"TN:\n".to_vec();
                records.write(TracefileForm { function_ends, numbering }, &mut out).expect("memory");
                let mut read = read(std::str::from_utf8(&out).expect("text")).expect("a tracefile");
                if !function_ends {
                    read[0].functions.iter_mut().for_each(|function| function.end = function.line + 2);
                }
                assert_eq!(read, std::slice::from_ref(&records));
            }
        }
    }

    #[test]
    fn records_of_several_tests_add_up() {
        let text = "# written by hand\nTN:one\nSF:a.c\nVER:x\nFN:3,9,f\nFNDA:1,f\nBRDA:4,0,a, b,1\nBRDA:4,0,c,-\n\
            DA:4,1,checksum==\nDA:5,-2\nLF:2\nend_of_record\nTN:two\nSF:a.c\nFN:3,f\nFNDA:2,f\nBRDA:4,0,a, b,-\n\
            DA:4,2e+3\nend_of_record\n";
        let files = read(text).expect("a tracefile");
        let [file] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!(file.lines, [(4, 2001), (5, 0)].into());
        assert_eq!(file.functions, [FunctionRecord { line: 3, end: 9, name: "f".into(), entries: 3 }]);
        let counts: Vec<u64> = file.branches[0].outcomes.iter().map(|outcome| outcome.count).collect();
        assert_eq!((file.branches.len(), counts), (1, vec![1, 0]));
    }

    #[test]
    fn what_is_no_record_is_named() {
        for (text, line) in [("SF:a.c\nDA:x,1\n", 2), ("DA:1,1\n", 1), ("hello\n", 1), ("SF:a\nBRDA:1,0,1\n", 2)] {
            assert_eq!(read(text).expect_err("no tracefile").line, line, "{text}");
        }
    }
}
