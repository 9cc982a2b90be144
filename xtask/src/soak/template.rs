//! From an ingredient's file to the source of one piece: markers become random code, tallies, and calls of other
//! pieces.
//!
//! | marker | becomes |
//! | --- | --- |
//! | `$` | the piece's number, so that names of two pieces differ |
//! | `NUM(a,b)` | a number from `a` to `b` |
//! | `ANY(x\|y\|z)` | one of these texts |
//! | `CALLEE` | the name of another piece, or of this one |
//! | `CALL(x)` | a call of a piece with the argument `x`, as an expression; in any of several ways |
//! | `TAIL(x)` | the bare call of a piece |
//! | `ENTRY(f);` on a line | a tally of the entries of function `f`, which is not inlined |
//! | `T();` on a line | a tally of the line, or the call of a function that has one |
//! | `COUNTED(x);` on a line | adds `x` to the tally of the next line that ends with `/* COUNTED */` |
//! | `BODY();` on a line | a random statement or two |
//! | `STAY();` on a line | the same, but for a return |
//! | `#optional` … `#end` | lines that are there or not |
//! | `#library` on a line | what follows is part of the shared library `library.so` |

use super::random::Random;
use std::collections::BTreeSet;

/// What one slot of the tally counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The line of the piece, from 0.
    pub line: usize,
    /// The function whose entries are counted, if the line is the first of one.
    pub entries_of: Option<String>,
}

/// A piece of a program that is being written.
pub struct Writer<'a> {
    pub random: Random,
    number: usize,
    pieces: &'a [bool],
    dropped: &'a BTreeSet<usize>,
    next_part: usize,
    /// The parts that are there, and could be dropped.
    pub parts: Vec<usize>,
    /// Statements may return from the function.
    pub returns: bool,
    first_slot: usize,
    pub slots: Vec<Slot>,
    pub lines: Vec<String>,
    /// Where the part begins that belongs to the shared library.
    pub library: Option<usize>,
    /// Functions that count, which stand behind all others.
    markers: Vec<usize>,
    next_marker: usize,
    names: usize,
}

impl Writer<'_> {
    /// The piece of that number. `pieces` says which are there; parts that are `dropped` are left out.
    pub fn new<'a>(
        number: usize,
        seed: u64,
        pieces: &'a [bool],
        dropped: &'a BTreeSet<usize>,
        first_slot: usize,
    ) -> Writer<'a> {
        Writer {
            random: Random::new(seed),
            number,
            pieces,
            dropped,
            next_part: 0,
            parts: Vec::new(),
            returns: true,
            first_slot,
            slots: Vec::new(),
            lines: Vec::new(),
            library: None,
            markers: Vec::new(),
            next_marker: 0,
            names: 0,
        }
    }

    /// Writes the text of an ingredient, and the functions that its tallies call.
    pub fn write(&mut self, text: &str) {
        let (text, library) = text.split_once("#library\n").map_or((text, None), |(text, more)| (text, Some(more)));
        self.write_file(text);
        if let Some(library) = library {
            self.library = Some(self.lines.len());
            self.write_file(library);
        }
    }

    fn write_file(&mut self, text: &str) {
        self.template(text);
        for marker in std::mem::take(&mut self.markers) {
            let at = self.slots.len();
            self.slots.push(Slot { line: self.lines.len() + 1, entries_of: Some(format!("m{marker}")) });
            self.lines.push(format!("static __attribute__((noinline)) void m{marker}(void) {{"));
            self.lines.push(format!("  T({});", self.first_slot + at));
            self.lines.push("}".into());
        }
    }

    fn template(&mut self, text: &str) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.trim() == "#optional" {
                let part: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "#end").collect();
                let part = part.join("\n");
                if self.random.one_in(2) {
                    self.part(|writer| writer.template(&part));
                }
                continue;
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            let line = self.expand(line);
            self.marked(line.trim(), indent, &line);
        }
    }

    fn marked(&mut self, trimmed: &str, indent: &str, line: &str) {
        let argument = |name: &str| trimmed.strip_prefix(name)?.strip_suffix(");");
        if trimmed == "T();" {
            self.tally(indent);
        } else if trimmed == "BODY();" || trimmed == "STAY();" {
            let returns = std::mem::replace(&mut self.returns, trimmed == "BODY();");
            self.statements(indent, 0);
            self.returns = returns;
        } else if let Some(function) = argument("ENTRY(") {
            self.slot(indent, Some(function.to_owned()));
        } else if let Some(turns) = argument("COUNTED(") {
            let slot = self.first_slot + self.slots.len();
            self.slots.push(Slot { line: usize::MAX, entries_of: None });
            self.line(indent, &format!("N({slot}, {turns});"));
        } else {
            if trimmed.ends_with("/* COUNTED */") {
                let counted = self.slots.iter_mut().rfind(|slot| slot.line == usize::MAX);
                counted.expect("COUNTED(x) stands before").line = self.lines.len();
            }
            self.lines.push(line.to_owned());
        }
    }

    /// Adds a line.
    pub fn line(&mut self, indent: &str, text: &str) {
        self.lines.push(format!("{indent}{text}"));
    }

    /// Writes something that shrinking may leave out. What comes after it is the same with it and without.
    pub fn part(&mut self, write: impl FnOnce(&mut Self)) {
        let seed = self.random.next();
        let mine = self.next_part;
        self.next_part += 1;
        if !self.dropped.contains(&mine) {
            self.parts.push(mine);
            let outer = std::mem::replace(&mut self.random, Random::new(seed));
            // Parts of a part have numbers that don't depend on other parts.
            let next = std::mem::replace(&mut self.next_part, (mine + 1) * 1000);
            write(self);
            self.next_part = next;
            self.random = outer;
        }
    }

    /// Counts this line, in one way or another.
    pub fn tally(&mut self, indent: &str) {
        if self.random.one_in(4) {
            let marker = self.number * 1000 + self.next_marker;
            self.next_marker += 1;
            self.markers.push(marker);
            self.line(indent, &format!("m{marker}();"));
        } else {
            self.slot(indent, None);
        }
    }

    fn slot(&mut self, indent: &str, entries_of: Option<String>) {
        let slot = self.first_slot + self.slots.len();
        self.slots.push(Slot { line: self.lines.len(), entries_of });
        self.line(indent, &format!("T({slot});"));
    }

    /// A name that nothing else has.
    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}_{}", self.number, self.names)
    }

    /// The prototypes of what [`Self::tally`] calls.
    pub fn prototypes(&self) -> String {
        let names = self.slots.iter().filter_map(|slot| slot.entries_of.as_ref());
        let markers = names.filter(|name| name.starts_with('m') && name[1..].parse::<usize>().is_ok());
        markers.map(|name| format!("static void {name}(void); ")).collect()
    }

    /// Replaces the markers within a line.
    fn expand(&mut self, line: &str) -> String {
        let mut line = line.replace('$', &self.number.to_string());
        // Innermost and last first, so that markers may stand in the arguments of others.
        while let Some((at, name)) = last_of(&line, &["NUM(", "ANY(", "CALL(", "TAIL("]) {
            let open = at + name.len();
            let close = open + closing(&line[open..]).expect("a marker's parentheses are closed");
            let argument = line[open..close].to_owned();
            let text = match name {
                "NUM(" => {
                    let (from, to) = argument.split_once(',').expect("two numbers");
                    let [from, to]: [usize; 2] = [from, to].map(|number| number.trim().parse().expect("a number"));
                    (from + self.random.below(to - from + 1)).to_string()
                }
                "ANY(" => self.random.of(&argument.split('|').collect::<Vec<_>>()).to_owned(),
                "CALL(" => self.call(&argument),
                _ => format!("{}({argument})", self.callee()),
            };
            line.replace_range(at..=close, &text);
        }
        while let Some(at) = line.find("CALLEE") {
            let callee = self.callee();
            line.replace_range(at..at + "CALLEE".len(), &callee);
        }
        line
    }

    /// The name of a piece that is there.
    pub fn callee(&mut self) -> String {
        let piece = self.random.below(self.pieces.len());
        if self.pieces[piece] { format!("p{piece}") } else { "leaf".into() }
    }

    /// A call of a piece, as an expression whose value is small.
    pub fn call(&mut self, argument: &str) -> String {
        let callee = self.callee();
        match self.random.below(6) {
            0 => format!("(soak_native({callee}, {argument}) & 4095)"),
            1 => format!("(pieces[soak_number({})]({argument}) & 4095)", self.random.below(self.pieces.len())),
            _ => format!("({callee}({argument}) & 4095)"),
        }
    }
}

/// The last of these in the text, and where it is.
fn last_of<'a>(text: &str, names: &[&'a str]) -> Option<(usize, &'a str)> {
    names.iter().filter_map(|&name| text.rfind(name).map(|at| (at, name))).max()
}

/// Where the parenthesis closes that was opened just before this text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, character)| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth < 0).then_some(at)
    })
}
