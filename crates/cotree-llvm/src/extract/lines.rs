//! Source positions: debug locations as plain data, and the tree of functions that were inlined before us.

use crate::ffi::*;
use cotree_core::facts::{CallLine, Inlined, LineSpan, Position};
use llvm_sys::debuginfo::LLVMMetadataKind;
use llvm_sys::prelude::*;
use std::collections::HashMap;
use std::ffi::c_char;
use std::ptr;

/// Reads debug locations; files are numbered per module, inlined copies per function.
pub(super) struct Lines {
    context: LLVMContextRef,
    files: Vec<String>,
    file_of: HashMap<LLVMMetadataRef, u32>,
    file_number: HashMap<String, u32>,
    symbols: HashMap<LLVMMetadataRef, String>,
    inlined: Vec<Inlined>,
    inlined_of: HashMap<LLVMMetadataRef, u32>,
    locations: HashMap<LLVMMetadataRef, (Option<Position>, Option<u32>)>,
}

impl Lines {
    pub(super) fn new(context: LLVMContextRef) -> Self {
        Self {
            context,
            files: Vec::new(),
            file_of: HashMap::new(),
            file_number: HashMap::new(),
            symbols: HashMap::new(),
            inlined: Vec::new(),
            inlined_of: HashMap::new(),
            locations: HashMap::new(),
        }
    }

    pub(super) fn into_files(self) -> Vec<String> {
        self.files
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
    ///
    /// # Safety
    /// `function` must be valid.
    pub(super) unsafe fn function_position(&mut self, function: LLVMValueRef) -> Option<Position> {
        // SAFETY: a subprogram is a scope with a line.
        unsafe {
            let subprogram = LLVMGetSubprogram(function);
            if subprogram.is_null() {
                return None;
            }
            let line = LLVMDISubprogramGetLine(subprogram);
            let file = self.scope_file(subprogram)?;
            (line > 0).then_some(Position { file, line, column: 0 })
        }
    }

    /// Adds the instruction's position to the spans of its block, and says which span it is in, if its position is known.
    ///
    /// # Safety
    /// `instruction` must be a valid instruction.
    pub(super) unsafe fn add(
        &mut self,
        spans: &mut Vec<LineSpan>,
        instruction: LLVMValueRef,
        after_sites: u32,
    ) -> Option<CallLine> {
        // SAFETY: null or a DILocation.
        let location = unsafe { LLVMInstructionGetDebugLoc(instruction) };
        if location.is_null() {
            return None;
        }
        // SAFETY: not null.
        let (Some(at), inlined) = (unsafe { self.locate(location) }) else { return None };
        let span = LineSpan { at, inlined, after_sites };
        let known = |s: &&LineSpan| {
            s.at.file == at.file && s.at.line == at.line && s.inlined == inlined && s.after_sites == after_sites
        };
        if spans.last().is_none_or(|last| !known(&last)) {
            spans.push(span);
        }
        Some(CallLine { span: u32::try_from(spans.len() - 1).ok()?, column: at.column })
    }

    /// # Safety
    /// `location` must be a `DILocation`.
    unsafe fn locate(&mut self, location: LLVMMetadataRef) -> (Option<Position>, Option<u32>) {
        if let Some(&known) = self.locations.get(&location) {
            return known;
        }
        // SAFETY: a location has a scope, and an inlined-at location or none.
        let result = unsafe {
            let scope = LLVMDILocationGetScope(location);
            let inlined_at = LLVMDILocationGetInlinedAt(location);
            let inlined = (!inlined_at.is_null()).then(|| self.inlined_copy(inlined_at, scope));
            (self.position(location, scope), inlined)
        };
        self.locations.insert(location, result);
        result
    }

    /// # Safety
    /// `location` must be a `DILocation` in `scope`.
    unsafe fn position(&mut self, location: LLVMMetadataRef, scope: LLVMMetadataRef) -> Option<Position> {
        // SAFETY: as the caller promises.
        unsafe {
            let line = LLVMDILocationGetLine(location);
            if line == 0 {
                return None;
            }
            let file = self.scope_file(scope)?;
            Some(Position { file, line, column: LLVMDILocationGetColumn(location) })
        }
    }

    /// The number of the inlined copy whose call is at `inlined_at` and whose body holds `scope`. Parents are numbered
    /// first; the chain is walked with a stack of its own.
    ///
    /// # Safety
    /// `inlined_at` must be a `DILocation`, `scope` a local scope.
    unsafe fn inlined_copy(&mut self, inlined_at: LLVMMetadataRef, scope: LLVMMetadataRef) -> u32 {
        let mut chain = vec![(inlined_at, scope)];
        // SAFETY: each step goes from a location to its scope and to its own inlined-at location.
        unsafe {
            loop {
                let (at, _) = *chain.last().expect("never empty");
                if self.inlined_of.contains_key(&at) {
                    break;
                }
                let outer = LLVMDILocationGetInlinedAt(at);
                if outer.is_null() {
                    break;
                }
                chain.push((outer, LLVMDILocationGetScope(at)));
            }
            let mut parent = None;
            for (at, scope) in chain.into_iter().rev() {
                let number = if let Some(&known) = self.inlined_of.get(&at) {
                    known
                } else {
                    let call_scope = LLVMDILocationGetScope(at);
                    let copy =
                        Inlined { symbol: self.subprogram_symbol(scope), call: self.position(at, call_scope), parent };
                    self.inlined.push(copy);
                    let number = u32::try_from(self.inlined.len() - 1).unwrap_or(u32::MAX);
                    self.inlined_of.insert(at, number);
                    number
                };
                parent = Some(number);
            }
            parent.expect("the chain holds at least the copy itself")
        }
    }

    /// The linkage name (or else the name) of the subprogram that a scope lies in.
    ///
    /// # Safety
    /// `scope` must be a local scope.
    unsafe fn subprogram_symbol(&mut self, scope: LLVMMetadataRef) -> String {
        if let Some(known) = self.symbols.get(&scope) {
            return known.clone();
        }
        // SAFETY: operand 1 of a lexical block is its parent scope; operands 2 and 3 of a subprogram are its names.
        let symbol = unsafe {
            let mut at = scope;
            let mut symbol = String::new();
            while !at.is_null() {
                let operands = operands(self.context, at);
                if matches!(LLVMGetMetadataKind(at), LLVMMetadataKind::LLVMDISubprogramMetadataKind) {
                    symbol = [3, 2]
                        .iter()
                        .filter_map(|&i| string(*operands.get(i)?))
                        .find(|s| !s.is_empty())
                        .unwrap_or_default();
                    break;
                }
                at = operands
                    .get(1)
                    .map_or(ptr::null_mut(), |&v| if v.is_null() { ptr::null_mut() } else { LLVMValueAsMetadata(v) });
            }
            symbol
        };
        self.symbols.insert(scope, symbol.clone());
        symbol
    }

    /// # Safety
    /// `scope` must be a scope.
    unsafe fn scope_file(&mut self, scope: LLVMMetadataRef) -> Option<u32> {
        // SAFETY: null or a DIFile.
        let file = unsafe { LLVMDIScopeGetFile(scope) };
        if file.is_null() {
            return None;
        }
        if let Some(&known) = self.file_of.get(&file) {
            return Some(known);
        }
        // SAFETY: not null.
        let (directory, name) =
            unsafe { (file_part(LLVMDIFileGetDirectory, file), file_part(LLVMDIFileGetFilename, file)) };
        let path = if name.starts_with('/') || directory.is_empty() { name } else { format!("{directory}/{name}") };
        let next = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let number = *self.file_number.entry(path.clone()).or_insert(next);
        if number == next {
            self.files.push(path);
        }
        self.file_of.insert(file, number);
        Some(number)
    }
}

/// # Safety
/// `file` must be a `DIFile` and `get` one of its string getters.
unsafe fn file_part(get: unsafe fn(LLVMMetadataRef, *mut u32) -> *const c_char, file: LLVMMetadataRef) -> String {
    let mut len = 0;
    // SAFETY: LLVM returns a pointer into its own storage with the length.
    unsafe {
        let start = get(file, &raw mut len);
        if start.is_null() {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len as usize)).into_owned()
    }
}

/// The operands of a metadata node as values; absent ones are null.
///
/// # Safety
/// `node` must be an `MDNode` of `context`.
unsafe fn operands(context: LLVMContextRef, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
    // SAFETY: LLVM writes exactly as many operands as it announces.
    unsafe {
        let value = LLVMMetadataAsValue(context, node);
        let count = LLVMGetMDNodeNumOperands(value) as usize;
        let mut operands = vec![ptr::null_mut(); count];
        LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
        operands
    }
}

/// # Safety
/// `value` must be null or metadata wrapped as a value.
unsafe fn string(value: LLVMValueRef) -> Option<String> {
    if value.is_null() {
        return None;
    }
    let mut len = 0;
    // SAFETY: null unless it is a string.
    unsafe {
        let start = LLVMGetMDString(value, &raw mut len);
        (!start.is_null())
            .then(|| String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len as usize)).into_owned())
    }
}
