//! An execution as rows of text: by block, by line or by call.
//!
//! Rows by line follow what ran. What stands behind a call in its block is shown when the call has returned, which is
//! known from whatever its activation does next. So a block that was left in a call shows only what ran of it.

use super::left_out::left_out;
use crate::files::FilePattern;
use crate::names::{Names, matches};
use crate::terminal::shortened;
use crate::visible;
use cotree_core::facts::{Access, AccessKind, Function, Position};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::trace::{Checkpoint, Event, ReadError};
use cotree_profile::binary::BinaryMap;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::ending::Taken;
use cotree_profile::method::trace::thread::{Moment, Survey};
use serde_json::{Value, json};

/// How much of an execution is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Every block.
    #[default]
    Block,
    /// Every line.
    Line,
    /// Functions as they begin, and calls of others.
    Call,
    /// Every access of memory that tells its address.
    Address,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Begin(FunctionId),
    Block(FunctionId, Block),
    Line(FunctionId, Position),
    Call(FunctionId, CallId),
    Abandoned(FunctionId, Option<CallId>),
    Interrupted(u64),
    Catch(FunctionId, CallId),
    GoesOn(FunctionId),
    Ended(bool),
    Off,
    On,
    Time(u64),
    Access { function: FunctionId, access: u32, address: u64, length: u64 },
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The number of the block.
    pub block: u64,
    depth: usize,
    certain: bool,
    what: What,
}

/// A line of a source file.
#[derive(Clone, Debug)]
pub struct SourceLine {
    /// The file.
    pub file: FilePattern,
    /// The line.
    pub line: u32,
}

/// Makes rows of moments.
pub struct Rows<'a> {
    tables: &'a UnitTables<'a>,
    map: &'a BinaryMap,
    facts: Vec<&'a Function>,
    names: Names,
    by: By,
    /// Only rows of these functions are shown.
    functions: Option<Vec<bool>>,
    /// Only rows of these files are shown.
    files: Option<Vec<bool>>,
    /// Columns of the terminal, if names are shortened for it.
    width: Option<usize>,
}

/// The least that is left of a name.
const LEAST: usize = 6;

/// Deeper activations are not indented any further.
const DEEPEST: usize = 40;

impl<'a> Rows<'a> {
    /// What the trace leaves out of accesses of memory, in a sentence.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        left_out(&self.map.program, self.names)
    }

    /// Rows of a program.
    #[must_use]
    pub fn new(tables: &'a UnitTables<'a>, by: By, names: Names) -> Self {
        let map = tables.binary().map();
        let facts = map.program.functions().map(|(_, function)| function).collect();
        Self { tables, map, facts, names, by, functions: None, files: None, width: None }
    }

    /// Names in rows of text are shortened so that these fit as many columns.
    pub fn fit(&mut self, width: Option<u16>) {
        self.width = width.map(usize::from);
    }

    /// Only rows of functions that match. Gives how many there are.
    pub fn only_functions(&mut self, pattern: &str) -> usize {
        let functions: Vec<bool> = self.facts.iter().map(|function| matches(pattern, &function.symbol)).collect();
        let found = functions.iter().filter(|&&matches| matches).count();
        self.functions = Some(functions);
        found
    }

    /// Only rows of files that match. Gives how many there are.
    pub fn only_files(&mut self, pattern: &FilePattern) -> usize {
        let files: Vec<bool> = self.map.program.files.iter().map(|file| pattern.matches(file)).collect();
        let found = files.iter().filter(|&&matches| matches).count();
        self.files = Some(files);
        found
    }

    fn facts(&self, function: FunctionId) -> Option<&'a Function> {
        self.facts.get(function.index()).copied()
    }

    /// What people call a function.
    pub(super) fn name(&self, function: FunctionId) -> String {
        self.facts(function).map_or_else(|| function.to_string(), |facts| self.names.show(&facts.symbol))
    }

    /// Where a function stands.
    pub(super) fn position(&self, function: FunctionId) -> Option<String> {
        self.brief(self.facts(function)?.position)
    }

    /// Where a function begins: the file, and the line.
    pub(super) fn place(&self, function: FunctionId) -> Option<(&str, u32)> {
        let at = self.facts(function)?.position?;
        Some((self.map.program.files.get(at.file as usize).map_or("?", String::as_str), at.line))
    }

    /// A line of a file, by its number in the map, as rows show it.
    pub(super) fn line(&self, file: u32, line: u32) -> String {
        brief(self.map.program.files.get(file as usize).map_or("?", String::as_str), line)
    }

    fn brief(&self, at: Option<Position>) -> Option<String> {
        let at = at?;
        let path = self.map.program.files.get(at.file as usize).map_or("?", String::as_str);
        Some(brief(path, at.line))
    }

    /// The line of an instruction that was interrupted.
    pub(super) fn line_at(&self, address: u64) -> Option<String> {
        self.place_at(address).map(|(path, line)| brief(&path, line))
    }

    /// The file and line of an instruction that was interrupted.
    pub(crate) fn place_at(&self, address: u64) -> Option<(String, u32)> {
        self.tables.line_at(address).map(|(path, line)| (visible::name(&path).into_owned(), line))
    }

    /// Appends the rows of a moment.
    pub fn add(&self, moment: &Moment<'_>, to: &mut Vec<Row>) {
        let row = |what| Row { block: moment.block, depth: moment.depth, certain: moment.certain, what };
        let start = to.len();
        match moment.event {
            Event::Begin(function) => to.push(row(What::Begin(function))),
            Event::Block { function, block, edge } => {
                if self.by == By::Line {
                    if let Some(edge) = edge {
                        self.rest(function, edge, |at| to.push(row(What::Line(function, at))));
                        // They ran before the block was entered.
                        to[start..].iter_mut().for_each(|row| row.block = row.block.saturating_sub(1).max(1));
                    }
                    self.lines(function, block, 0, |at| to.push(row(What::Line(function, at))));
                } else if self.by == By::Block {
                    to.push(row(What::Block(function, block)));
                }
            }
            Event::Call { function, call } => {
                let Some(facts) = self.facts(function).and_then(|facts| facts.calls.get(call).map(|it| (facts, it)))
                else {
                    return;
                };
                if self.by == By::Line {
                    let before = sites_before(facts.0, facts.1.block, call);
                    if before > 0 {
                        self.lines(function, facts.1.block, before, |at| to.push(row(What::Line(function, at))));
                    }
                }
                if self.by == By::Call && !facts.1.resume_marker {
                    to.push(row(What::Call(function, call)));
                }
            }
            Event::Access { function, access, address, length } => {
                if self.by == By::Address {
                    to.push(row(What::Access { function, access, address, length }));
                }
            }
            Event::Leave { function, edge } => {
                if self.by == By::Line {
                    self.rest(function, edge, |at| to.push(row(What::Line(function, at))));
                }
            }
            Event::Abandoned(function, call) => to.push(row(What::Abandoned(function, call))),
            Event::Interrupted(address) => to.push(row(What::Interrupted(address))),
            Event::Catch(function, call) => to.push(row(What::Catch(function, call))),
            Event::Revived(calling) => to.push(row(What::GoesOn(calling.function))),
            Event::Resumed(function) => to.push(row(What::GoesOn(function))),
            Event::Ended(ending) => to.push(row(What::Ended(ending.0 == 0))),
            Event::SwitchedOff => to.push(row(What::Off)),
            Event::SwitchedOn => to.push(row(What::On)),
            Event::Time(stamp) => to.push(row(What::Time(stamp))),
            Event::Restarted => {}
        }
        let mut at = start;
        while at < to.len() {
            if self.wanted(&to[at]) {
                at += 1;
            } else {
                to.remove(at);
            }
        }
    }

    /// The lines of a block behind so many of its call sites, without repetitions.
    fn lines(&self, function: FunctionId, block: Block, sites: u32, mut show: impl FnMut(Position)) {
        let Some(facts) = self.facts(function).and_then(|facts| facts.blocks.get(block)) else { return };
        let mut last = None;
        for span in facts.lines.iter().filter(|span| span.after_sites == sites) {
            if last.replace((span.at.file, span.at.line)) != Some((span.at.file, span.at.line)) {
                show(span.at);
            }
        }
    }

    /// The lines behind the last call of a block that is left by an edge.
    fn rest(&self, function: FunctionId, edge: cotree_core::ids::Edge, show: impl FnMut(Position)) {
        let Some(facts) = self.facts(function) else { return };
        let Some(block) = facts.edges.get(edge).map(|edge| edge.src) else { return };
        let sites = facts.sites_of(block).count() as u32;
        if sites > 0 {
            self.lines(function, block, sites, show);
        }
    }

    fn wanted(&self, row: &Row) -> bool {
        let function = match row.what {
            What::Begin(function)
            | What::Block(function, _)
            | What::Line(function, _)
            | What::Call(function, _)
            | What::Abandoned(function, _)
            | What::Catch(function, _)
            | What::GoesOn(function)
            | What::Access { function, .. } => function,
            What::Interrupted(_) | What::Ended(_) | What::Off | What::On | What::Time(_) => return true,
        };
        let marked = |marks: &Vec<bool>, index: usize| marks.get(index).copied().unwrap_or(false);
        self.functions.as_ref().is_none_or(|functions| marked(functions, function.index()))
            && self.files.as_ref().is_none_or(|files| {
                let facts = self.facts(function);
                let block = match row.what {
                    What::Access { function, access, .. } => {
                        let at = self.position_of_access(function, access);
                        return at.is_some_and(|at| marked(files, at.file as usize));
                    }
                    What::Line(_, at) => return marked(files, at.file as usize),
                    What::Block(_, block) => facts.and_then(|facts| facts.blocks.get(block)),
                    _ => None,
                };
                match block {
                    Some(block) => block.lines.iter().any(|span| marked(files, span.at.file as usize)),
                    None => facts.and_then(|facts| facts.position).is_some_and(|at| marked(files, at.file as usize)),
                }
            })
    }

    /// Is it about this line?
    #[must_use]
    pub fn is_at(&self, row: &Row, line: &SourceLine) -> bool {
        match row.what {
            What::Line(_, at) => {
                at.line == line.line
                    && self.map.program.files.get(at.file as usize).is_some_and(|file| line.file.matches(file))
            }
            _ => false,
        }
    }

    /// Is there code of this line?
    #[must_use]
    pub fn has_line(&self, line: &SourceLine) -> bool {
        let mut spans = self.facts.iter().flat_map(|facts| &facts.blocks).flat_map(|block| &block.lines);
        let files = &self.map.program.files;
        spans.any(|span| {
            span.at.line == line.line && files.get(span.at.file as usize).is_some_and(|file| line.file.matches(file))
        })
    }

    /// The lines of a file that some block has, in order.
    #[must_use]
    pub fn lines_of(&self, file: &FilePattern) -> Vec<u32> {
        let spans = self.facts.iter().flat_map(|facts| &facts.blocks).flat_map(|block| &block.lines);
        let files = &self.map.program.files;
        let of_file = spans.filter(|span| files.get(span.at.file as usize).is_some_and(|path| file.matches(path)));
        let mut lines: Vec<u32> = of_file.map(|span| span.at.line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The lines of a block, as few as tell them: `parser.c:10-12`.
    fn extent(&self, function: FunctionId, block: Block) -> Option<String> {
        let spans = &self.facts(function)?.blocks.get(block)?.lines;
        let first = spans.first()?.at;
        let of_file = spans.iter().map(|span| span.at).filter(|at| at.file == first.file).map(|at| at.line);
        let (low, high) = of_file.fold((first.line, first.line), |(low, high), line| (low.min(line), high.max(line)));
        let text = self.brief(Some(Position { line: low, ..first }))?;
        Some(if low == high { text } else { format!("{text}-{high}") })
    }

    /// What an access does, and where, if the row is of one.
    pub(super) fn access_of(&self, row: &Row) -> Option<(AccessKind, u64)> {
        match row.what {
            What::Access { function, access, address, .. } => Some((self.access(function, access)?.kind, address)),
            _ => None,
        }
    }

    fn access(&self, function: FunctionId, access: u32) -> Option<&'a Access> {
        self.facts(function)?.accesses.get(access as usize)
    }

    /// Where an access stands.
    pub(super) fn position_of_access(&self, function: FunctionId, access: u32) -> Option<Position> {
        let access = self.access(function, access)?;
        let block = self.facts(function)?.blocks.get(access.block)?;
        Some(block.lines.get(access.span? as usize)?.at)
    }

    fn kind(&self, function: FunctionId, access: u32) -> &'static str {
        self.access(function, access).map_or("access", |access| access.kind.name())
    }

    fn callee(&self, function: FunctionId, call: CallId) -> String {
        let call = self.facts(function).and_then(|facts| facts.calls.get(call));
        let name = call.and_then(|call| call.callee_name());
        name.map_or_else(|| "a function through a pointer".to_owned(), |name| self.names.show(name))
    }

    /// The row as text.
    #[must_use]
    pub fn text(&self, row: &Row) -> String {
        self.numbered(row, row.block.into())
    }

    /// The row as text, with the number of its block counted back from the last one, which is 0.
    pub(super) fn text_before(&self, row: &Row, last: u64) -> String {
        self.numbered(row, i128::from(row.block) - i128::from(last))
    }

    fn numbered(&self, row: &Row, number: i128) -> String {
        let whole = self.text_with(row, number, usize::MAX);
        let Some(width) = self.width.filter(|&width| whole.chars().count() > width) else { return whole };
        let names = match row.what {
            What::Abandoned(_, Some(_)) | What::Catch(..) => 2,
            _ => 1,
        };
        let shortest = self.text_with(row, number, LEAST).chars().count();
        self.text_with(row, number, LEAST + width.saturating_sub(shortest) / names)
    }

    /// The row as text, with names of at most so many columns.
    fn text_with(&self, row: &Row, number: i128, most: usize) -> String {
        let name = |function| shortened(self.name(function), most);
        let callee = |function, call| shortened(self.callee(function, call), most);
        let at = |position: Option<String>| position.map(|at| format!("  {at}")).unwrap_or_default();
        let line_of_call = |function: FunctionId, call: CallId| {
            at(self.facts(function).and_then(|facts| self.brief(facts.call_position(call))))
        };
        let in_call = |function, call: Option<CallId>| {
            call.map(|call| format!(" in its call of {}{}", callee(function, call), line_of_call(function, call)))
                .unwrap_or_default()
        };
        let text = match row.what {
            What::Begin(function) => {
                let position = self.facts(function).and_then(|facts| self.brief(facts.position));
                format!("{}{}", name(function), at(position))
            }
            What::Block(function, block) => format!("{block}{}", at(self.extent(function, block))),
            What::Line(_, position) => self.brief(Some(position)).unwrap_or_default(),
            What::Call(function, call) => {
                format!("calls {}{}", callee(function, call), line_of_call(function, call))
            }
            What::Abandoned(function, call) => {
                format!("{} ends without a return{}", name(function), in_call(function, call))
            }
            What::Catch(function, call) => {
                format!("{} catches an exception{}", name(function), in_call(function, Some(call)))
            }
            What::GoesOn(function) => format!("{} goes on", name(function)),
            What::Interrupted(address) => format!("interrupted by a signal{}", at(self.line_at(address))),
            What::Ended(true) => "the thread ends".to_owned(),
            What::Ended(false) => "the process ends".to_owned(),
            What::Off => "recording stops".to_owned(),
            What::On => "recording starts".to_owned(),
            What::Time(stamp) => format!("time {stamp}"),
            What::Access { function, access, address, length } => {
                let position = at(self.brief(self.position_of_access(function, access)));
                format!("{} {length} at {address:#x}{position}", self.kind(function, access))
            }
        };
        let deeper = if row.depth > DEEPEST { format!("({}) ", row.depth) } else { String::new() };
        let doubt = if row.certain { "" } else { "  ?" };
        format!("{number:>10}  {:1$}{deeper}{text}{doubt}", "", row.depth.min(DEEPEST))
    }

    /// The row for other programs.
    #[must_use]
    pub fn json(&self, row: &Row, thread: u64) -> Value {
        let (event, function) = match row.what {
            What::Begin(function) => ("begin", Some(function)),
            What::Block(function, _) => ("block", Some(function)),
            What::Line(function, _) => ("line", Some(function)),
            What::Call(function, _) => ("call", Some(function)),
            What::Abandoned(function, _) => ("abandoned", Some(function)),
            What::Catch(function, _) => ("catch", Some(function)),
            What::GoesOn(function) => ("goes-on", Some(function)),
            What::Interrupted(_) => ("interrupted", None),
            What::Ended(true) => ("thread-ends", None),
            What::Ended(false) => ("process-ends", None),
            What::Off => ("recording-stops", None),
            What::On => ("recording-starts", None),
            What::Time(_) => ("time", None),
            What::Access { function, access, .. } => (self.kind(function, access), Some(function)),
        };
        let facts = function.and_then(|function| self.facts(function));
        let mut value = json!({
            "thread": thread, "number": row.block, "depth": row.depth, "certain": row.certain, "event": event,
        });
        if let Some(facts) = facts {
            value["function"] = facts.symbol.as_str().into();
            value["index"] = function.map(|function| function.0).into();
        }
        let position = match row.what {
            What::Begin(_) => facts.and_then(|facts| facts.position),
            What::Block(_, block) => {
                value["block"] = block.0.into();
                facts.and_then(|facts| Some(facts.blocks.get(block)?.lines.first()?.at))
            }
            What::Line(_, at) => Some(at),
            What::Call(_, call) | What::Catch(_, call) | What::Abandoned(_, Some(call)) => {
                let callee = facts.and_then(|facts| facts.calls.get(call)).and_then(|call| call.callee_name());
                value["callee"] = callee.into();
                value["call"] = call.0.into();
                facts.and_then(|facts| facts.call_position(call))
            }
            What::Time(stamp) => {
                value["time"] = stamp.into();
                None
            }
            What::Access { function, access, address, length } => {
                value["block"] = self.access(function, access).map(|access| access.block.0).into();
                (value["address"], value["size"]) = (address.into(), length.into());
                self.position_of_access(function, access)
            }
            What::Interrupted(address) => {
                if let Some((file, line)) = self.tables.line_at(address) {
                    (value["file"], value["line"]) = (file.into(), line.into());
                }
                None
            }
            _ => None,
        };
        if let Some(at) = position {
            value["file"] = self.map.program.files.get(at.file as usize).map_or("?", String::as_str).into();
            value["line"] = at.line.into();
        }
        value
    }

    /// The activations at a moment, innermost first, one per row of text.
    #[must_use]
    pub fn stack(&self, tables: &UnitTables<'_>, at: &Checkpoint) -> Vec<String> {
        tables.stack(at).rev().map(|(function, block, call)| self.frame(function, block, call)).collect()
    }

    fn frame(&self, function: FunctionId, block: Block, call: Option<CallId>) -> String {
        let facts = self.facts(function);
        let of_call = call.and_then(|call| self.brief(facts?.call_position(call)));
        let position = of_call.or_else(|| self.extent(function, block));
        let calls = call.map(|call| format!(", calling {}", self.callee(function, call))).unwrap_or_default();
        let place = position.map(|at| format!("  {at}")).unwrap_or_default();
        format!("{} {block}{place}{calls}", self.name(function))
    }

    /// What is wrong with a stream.
    pub(super) fn describe(&self, error: &ReadError) -> String {
        self.tables.describe(error, |facts| self.names.show(&facts.symbol))
    }

    /// What was under way when a part of a thread ended, innermost first, as lines: with what the ending took with it.
    #[must_use]
    pub fn under_way(&self, tables: &UnitTables<'_>, part: &Survey<'_>) -> Vec<String> {
        let taken = |taken: &Taken| match (taken.function, taken.call) {
            (Some(function), Some(call)) => {
                let block = self.facts(function).map_or(Block(0), |facts| facts.calls[call].block);
                self.frame(function, block, Some(call))
            }
            (function, _) => {
                let name = function.map_or_else(|| "?".to_owned(), |function| self.name(function));
                let line = taken.instruction.and_then(|address| self.line_at(address));
                format!("{name}{}", line.map(|line| format!("  {line}")).unwrap_or_default())
            }
        };
        part.taken.iter().map(taken).chain(self.stack(tables, &part.end)).collect()
    }
}

fn brief(path: &str, line: u32) -> String {
    format!("{}:{line}", path.rsplit('/').next().unwrap_or(path))
}

/// How many call sites of a block come before a call.
pub(crate) fn sites_before(facts: &Function, block: Block, call: CallId) -> u32 {
    let first = facts.sites_of(block).take_while(|(site, _)| facts.calls.call_of(*site).is_some_and(|it| it < call));
    first.count() as u32
}
