//! Extracts source positions: debug locations as plain data, and the tree of functions that were already inlined.

use crate::ir::{self, Instruction, Location, Scope, SourceFile};
use crate::module::Module;
use cotree_core::facts::{CallLine, Checksums, Inlined, LineSpan, Position};
use std::collections::HashMap;

/// Reads debug locations; files are numbered per module, inlined copies per function.
pub(super) struct Lines<'m> {
    module: &'m Module,
    files: Vec<String>,
    file_of: HashMap<SourceFile<'m>, u32>,
    file_number: HashMap<String, u32>,
    checksums: Checksums,
    symbols: HashMap<Scope<'m>, String>,
    inlined: Vec<Inlined>,
    inlined_of: HashMap<Location<'m>, u32>,
    locations: HashMap<Location<'m>, (Option<Position>, Option<u32>)>,
}

impl<'m> Lines<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self {
            module,
            files: Vec::new(),
            file_of: HashMap::new(),
            file_number: HashMap::new(),
            checksums: Checksums::new(),
            symbols: HashMap::new(),
            inlined: Vec::new(),
            inlined_of: HashMap::new(),
            locations: HashMap::new(),
        }
    }

    /// The files, and the checksums of their texts.
    pub(super) fn into_files(self) -> (Vec<String>, Checksums) {
        (self.files, self.checksums)
    }

    pub(super) fn file(&self, number: u32) -> &str {
        &self.files[number as usize]
    }

    pub(super) fn begin_function(&mut self) {
        self.inlined.clear();
        self.inlined_of.clear();
        self.locations.clear();
    }

    pub(super) fn end_function(&mut self) -> Vec<Inlined> {
        std::mem::take(&mut self.inlined)
    }

    /// Where the function begins.
    pub(super) fn function_position(&mut self, function: ir::Function<'m>) -> Option<Position> {
        let scope = function.scope()?;
        let file = self.scope_file(scope)?;
        let line = scope.function_line().filter(|&line| line > 0)?;
        Some(Position { file, line, column: 0 })
    }

    /// Adds the instruction's position to the spans of its block, and says which span it is in, if its position is
    /// known.
    pub(super) fn add(
        &mut self,
        spans: &mut Vec<LineSpan>,
        instruction: Instruction<'m>,
        after_sites: u32,
    ) -> Option<CallLine> {
        let (Some(at), inlined) = self.locate(instruction.location()?) else { return None };
        let span = LineSpan { at, inlined, after_sites };
        let known = |s: &&LineSpan| {
            s.at.file == at.file && s.at.line == at.line && s.inlined == inlined && s.after_sites == after_sites
        };
        if spans.last().is_none_or(|last| !known(&last)) {
            spans.push(span);
        }
        Some(CallLine { span: u32::try_from(spans.len() - 1).ok()?, column: at.column })
    }

    /// The inlined copy that a location is in.
    pub(super) fn copy_of(&mut self, location: Location<'m>) -> Option<u32> {
        self.locate(location).1
    }

    fn locate(&mut self, location: Location<'m>) -> (Option<Position>, Option<u32>) {
        if let Some(&known) = self.locations.get(&location) {
            return known;
        }
        let inlined = location.inlined_at().map(|at| self.inlined_copy(at, location.scope()));
        let result = (self.position(location), inlined);
        self.locations.insert(location, result);
        result
    }

    fn position(&mut self, location: Location<'m>) -> Option<Position> {
        let line = location.line();
        if line == 0 {
            return None;
        }
        let file = self.scope_file(location.scope())?;
        Some(Position { file, line, column: location.column() })
    }

    /// The number of the inlined copy whose call is at `inlined_at` and whose body holds `scope`. Parents are numbered
    /// first; the chain is walked with a stack of its own.
    fn inlined_copy(&mut self, inlined_at: Location<'m>, scope: Scope<'m>) -> u32 {
        let mut chain = vec![(inlined_at, scope)];
        let mut at = inlined_at;
        while !self.inlined_of.contains_key(&at)
            && let Some(outer) = at.inlined_at()
        {
            chain.push((outer, at.scope()));
            at = outer;
        }
        let mut parent = None;
        for (at, scope) in chain.into_iter().rev() {
            let number = if let Some(&known) = self.inlined_of.get(&at) {
                known
            } else {
                let copy = Inlined { symbol: self.function_symbol(scope), call: self.position(at), parent };
                self.inlined.push(copy);
                let number = u32::try_from(self.inlined.len() - 1).unwrap_or(u32::MAX);
                self.inlined_of.insert(at, number);
                number
            };
            parent = Some(number);
        }
        parent.expect("the chain holds at least the copy itself")
    }

    /// See [`Scope::function_symbol`].
    fn function_symbol(&mut self, scope: Scope<'m>) -> String {
        self.symbols.entry(scope).or_insert_with(|| scope.function_symbol(self.module)).clone()
    }

    fn scope_file(&mut self, scope: Scope<'m>) -> Option<u32> {
        let file = scope.file()?;
        if let Some(&known) = self.file_of.get(&file) {
            return Some(known);
        }
        let (directory, name) = (file.directory(), file.name());
        let path = if name.starts_with('/') || directory.is_empty() { name } else { format!("{directory}/{name}") };
        let next = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let number = *self.file_number.entry(path.clone()).or_insert(next);
        if number == next {
            self.files.push(path);
        }
        if let Some(sum) = file.md5(self.module) {
            self.checksums.entry(number).or_default().insert(sum);
        }
        self.file_of.insert(file, number);
        Some(number)
    }
}
