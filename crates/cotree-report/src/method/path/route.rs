//! The source lines that a path runs through, in order and in a short notation.
//!
//! `main.c:12-14 18 [square 3] 19 12`: from line 12 every line with code up to 14, then 18, where the inlined `square`
//! runs its line 3, then 19, then 12 again. Files are named where they change.

use crate::names::demangle;
use crate::unit::Unit;
use cotree_core::facts::{Function, LineSpan};
use cotree_core::ids::{Block, Site};
use std::collections::{BTreeSet, HashMap, HashSet};

/// One line of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stop {
    /// An index into the unit's files.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The inlined copy that it belongs to.
    pub inlined: Option<u32>,
}

impl From<&LineSpan> for Stop {
    fn from(span: &LineSpan) -> Self {
        Self { file: span.at.file, line: span.at.line, inlined: span.inlined }
    }
}

/// The lines of some blocks in order. With `until`, the last block counts only up to that call.
#[must_use]
pub fn along(function: &Function, blocks: &[Block], until: Option<Site>) -> Vec<Stop> {
    let mut stops: Vec<Stop> = Vec::new();
    for (index, &block) in blocks.iter().enumerate() {
        let Some(facts) = function.blocks.get(block) else { continue };
        let before = until.filter(|_| index + 1 == blocks.len()).map(|until| {
            let earlier = function.sites_of(block).take_while(|(site, _)| *site != until);
            u32::try_from(earlier.count()).unwrap_or(u32::MAX)
        });
        for span in facts.lines.iter().filter(|s| before.is_none_or(|calls| s.after_sites <= calls)) {
            let stop = Stop::from(span);
            if stops.last() != Some(&stop) {
                stops.push(stop);
            }
        }
    }
    stops
}

/// Writes routes through one function.
#[derive(Clone, Debug)]
pub struct Writer<'a> {
    unit: &'a Unit<'a>,
    function: &'a Function,
    /// The lines with code, by file and inlined copy.
    code: HashMap<(u32, Option<u32>), BTreeSet<u32>>,
}

impl<'a> Writer<'a> {
    /// For one function.
    #[must_use]
    pub fn new(unit: &'a Unit<'a>, function: &'a Function) -> Self {
        let mut code: HashMap<_, BTreeSet<u32>> = HashMap::new();
        for span in function.blocks.iter().flat_map(|b| &b.lines) {
            code.entry((span.at.file, span.inlined)).or_default().insert(span.at.line);
        }
        Self { unit, function, code }
    }

    /// The lines of some blocks; see [`along`].
    #[must_use]
    pub fn blocks(&self, blocks: &[Block], until: Option<Site>) -> String {
        self.write(&along(self.function, blocks, until))
    }

    /// A block by its first line; by its number if it has none.
    #[must_use]
    pub fn block(&self, block: Block) -> String {
        let first = self.function.blocks.get(block).and_then(|b| b.lines.first());
        first.map_or_else(|| format!("block {}", block.0), |span| self.write(&[span.into()]))
    }

    /// Writes lines.
    #[must_use]
    pub fn write(&self, stops: &[Stop]) -> String {
        self.write_on(stops, &mut None)
    }

    /// Writes lines that come after others in the file in force.
    #[must_use]
    pub fn write_on(&self, stops: &[Stop], in_force: &mut Option<u32>) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut open: Vec<u32> = Vec::new();
        // The file in force at each depth.
        let mut files: Vec<Option<u32>> = vec![*in_force];
        let with_lines: HashSet<u32> = stops.iter().filter_map(|stop| stop.inlined).collect();
        let mut rest = stops;
        while let Some(&first) = rest.first() {
            let mut chain = self.chain(first.inlined);
            // Copies between the call and the lines would only lengthen the text.
            let mut outermost = true;
            chain.retain(|copy| std::mem::take(&mut outermost) || with_lines.contains(copy));
            let common = open.iter().zip(&chain).take_while(|(a, b)| a == b).count();
            for _ in common..open.len() {
                open.pop();
                files.pop();
                if let Some(word) = words.last_mut() {
                    word.push(']');
                }
            }
            let mut opening = String::new();
            for &copy in &chain[common..] {
                open.push(copy);
                files.push(files.last().copied().flatten());
                opening.push('[');
                opening.push_str(&short(&demangle(&self.function.inlined[copy as usize].symbol)));
                words.push(std::mem::take(&mut opening));
            }
            let run = 1 + rest.windows(2).take_while(|pair| self.follows(pair[0], pair[1])).count();
            let last = rest[run - 1].line;
            let lines = if run == 1 { format!("{}", first.line) } else { format!("{}-{last}", first.line) };
            if files.last() == Some(&Some(first.file)) {
                words.push(lines);
            } else {
                // The first file that is named holds around the copy too.
                let unnamed = files.iter().rposition(Option::is_some).map_or(0, |at| at + 1);
                let depth = files.len() - 1;
                files[unnamed.min(depth)..].fill(Some(first.file));
                let path = self.unit.file(first.file);
                words.push(format!("{}:{lines}", path.rsplit('/').next().unwrap_or(path)));
            }
            rest = &rest[run..];
        }
        if let Some(word) = words.last_mut() {
            word.extend(open.iter().map(|_| ']'));
        }
        *in_force = files[0];
        if words.is_empty() { "(no source lines)".into() } else { words.join(" ") }
    }

    /// Is `b` the next line with code after `a`?
    fn follows(&self, a: Stop, b: Stop) -> bool {
        let same = (a.file, a.inlined) == (b.file, b.inlined) && a.line < b.line;
        same && self.code.get(&(a.file, a.inlined)).is_some_and(|l| l.range(a.line + 1..).next() == Some(&b.line))
    }

    /// The inlined copies around a line, outermost first.
    fn chain(&self, inlined: Option<u32>) -> Vec<u32> {
        let copies = &self.function.inlined;
        let known = |copy: u32| copies.get(copy as usize);
        let mut chain: Vec<u32> = std::iter::successors(inlined, |&c| known(c).and_then(|i| i.parent))
            .filter(|&c| known(c).is_some())
            .collect();
        chain.reverse();
        chain
    }
}

/// A source name without its scope and its parameters: `core::iter::Range<u32>::next` is `next`.
#[must_use]
pub fn short(name: &str) -> String {
    let mut depth = 0u32;
    let (mut from, mut before) = (0, 0);
    let mut to = name.len();
    let bytes = name.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        // Behind a colon that is skipped, and within a character, there is no word.
        let word = name.get(from..at).unwrap_or_default();
        match byte {
            b'(' if depth == 0 && at > from && !word.ends_with("operator") && !word.starts_with('(') => {
                to = at;
                break;
            }
            b'<' | b'(' | b'[' | b'{' if !word.ends_with("operator") => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' | b'}' if !word.contains("operator") => depth = depth.saturating_sub(1),
            b':' if depth == 0 && name[at..].starts_with("::") && !name[at + 2..].starts_with('<') => {
                (before, from) = (from, at + 2);
            }
            b' ' if depth == 0 && !word.starts_with("operator") && !name[at + 1..].starts_with('[') => {
                (before, from) = (at + 1, at + 1);
            }
            _ => {}
        }
    }
    let mut word = &name[from..to];
    if word.starts_with('{') {
        // A closure is named by the function that it is in.
        word = &name[before..to];
    } else if !word.contains("operator") {
        let end = word.find('<').filter(|&at| at > 0).unwrap_or(word.len());
        word = word[..end].trim_end_matches(':');
    }
    if word.is_empty() { name.to_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_are_shortened_to_what_is_called() {
        for (name, expected) in [
            ("getchar", "getchar"),
            ("core::str::len", "len"),
            ("foo::bar(int, std::vector<int> const&)", "bar"),
            ("void foo<int>(int)", "foo"),
            ("<core::ops::Range<u32> as core::iter::Iterator>::next", "next"),
            ("core::iter::Map<I, F>::fold::<u32, Fn() -> u32>", "fold"),
            ("queens::main::{closure#0}", "main::{closure#0}"),
            ("ns::T::operator()(int) const", "operator()"),
            ("ns::T::operator<(ns::T const&) const", "operator<"),
            ("", ""),
            ("größe::länge(ä)", "länge"),
            ("(anonymous namespace)::helper(int)", "helper"),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }
}
