//! One bitcode module in an LLVM context of its own, so that modules can be worked on in parallel.

use crate::error::Error;
use crate::ffi::*;
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// A parsed module with its context.
pub struct Module {
    pub(crate) name: String,
    pub(crate) context: LLVMContextRef,
    pub(crate) raw: LLVMModuleRef,
    /// Instructions that were taken out of their blocks, to be deleted when no handle can refer to them.
    pub(crate) removed: RefCell<Vec<LLVMValueRef>>,
    /// Locations of instructions that are gone.
    pub(crate) locations: RefCell<Vec<LLVMMetadataRef>>,
    state: State,
    /// Errors that LLVM reported while working on this context.
    diagnostics: Box<Diagnostics>,
}

/// A module between two moments at which objects of it may be deleted: no two modules have the same, nor has one after
/// it was changed by who borrows it exclusively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(u64);

impl State {
    fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Default)]
struct Diagnostics {
    errors: Vec<String>,
}

// SAFETY: a context and all in it may be used by any thread as long as one uses it at a time; `Module` is the only
// handle to both and is not `Sync`.
unsafe impl Send for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        self.sweep();
        // SAFETY: both were made by us and are disposed of once, the module before its context.
        unsafe {
            LLVMDisposeModule(self.raw);
            LLVMContextDispose(self.context);
        }
    }
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, diagnostics: *mut c_void) {
    // SAFETY: LLVM passes the pointer that `parse` registered, which lives as long as the context, and a valid info.
    unsafe {
        if matches!(LLVMGetDiagInfoSeverity(info), LLVMDiagnosticSeverity::LLVMDSError) {
            let diagnostics = &mut *diagnostics.cast::<Diagnostics>();
            diagnostics.errors.push(owned_message(LLVMGetDiagInfoDescription(info)));
        }
    }
}

impl Module {
    /// Parses and verifies bitcode.
    ///
    /// # Errors
    /// The bytes are not bitcode that this LLVM reads, or are for another machine.
    pub fn parse(name: &str, bitcode: &[u8]) -> Result<Self, Error> {
        ensure_loaded()?;
        let mut diagnostics = Box::<Diagnostics>::default();
        let buffer_name = CString::new(name).unwrap_or_default();
        // SAFETY: the buffer only borrows `bitcode` and is disposed of before we return; the diagnostics box is kept
        // beside the context in `Self`.
        unsafe {
            let context = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(context, Some(on_diagnostic), ptr::from_mut(&mut *diagnostics).cast());
            let buffer = LLVMCreateMemoryBufferWithMemoryRange(
                bitcode.as_ptr().cast::<c_char>(),
                bitcode.len(),
                buffer_name.as_ptr(),
                0,
            );
            let mut raw = ptr::null_mut();
            let failed = LLVMParseBitcodeInContext2(context, buffer, &raw mut raw) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            if failed {
                LLVMContextDispose(context);
                let reason = diagnostics.errors.join("; ");
                return Err(bad_bitcode(name, reason, bitcode));
            }
            Self::new(name, context, raw, diagnostics).checked()
        }
    }

    /// Parses and verifies LLVM's textual form.
    ///
    /// # Errors
    /// If the text is not valid IR for this LLVM, or is for another machine.
    pub fn parse_text(name: &str, text: &str) -> Result<Self, Error> {
        ensure_loaded()?;
        let mut diagnostics = Box::<Diagnostics>::default();
        let buffer_name = CString::new(name).unwrap_or_default();
        // The parser wants a terminator behind the text.
        let text = CString::new(text).map_err(|e| Error::BadBitcode { module: name.into(), reason: e.to_string() })?;
        // SAFETY: the parser takes the buffer, which borrows `text` until it returns; the rest is as in `parse`.
        unsafe {
            let context = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(context, Some(on_diagnostic), ptr::from_mut(&mut *diagnostics).cast());
            let len = text.as_bytes().len();
            let buffer = LLVMCreateMemoryBufferWithMemoryRange(text.as_ptr(), len, buffer_name.as_ptr(), 1);
            let mut raw = ptr::null_mut();
            let mut message = ptr::null_mut();
            let failed = LLVMParseIRInContext2(context, buffer, &raw mut raw, &raw mut message) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            let reason = owned_message(message);
            if failed {
                LLVMContextDispose(context);
                return Err(Error::BadBitcode { module: name.into(), reason });
            }
            Self::new(name, context, raw, diagnostics).checked()
        }
    }

    fn new(name: &str, context: LLVMContextRef, raw: LLVMModuleRef, diagnostics: Box<Diagnostics>) -> Self {
        Self {
            name: name.into(),
            context,
            raw,
            removed: RefCell::default(),
            locations: RefCell::default(),
            state: State::new(),
            diagnostics,
        }
    }

    /// Which objects there are: handles that were kept from the same state refer to such.
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// LLVM's pointer, for what may delete any object: handles that were kept are of no use any more.
    pub(crate) fn raw_to_change(&mut self) -> LLVMModuleRef {
        self.sweep();
        self.raw
    }

    /// Objects may have been deleted: handles that were kept are of no use any more.
    pub(crate) fn renew(&mut self) {
        self.state = State::new();
    }

    /// The module, if it is valid and for a machine that we know.
    fn checked(self) -> Result<Self, Error> {
        let triple = self.triple();
        if !(triple.starts_with("x86_64") && triple.contains("linux")) {
            return Err(Error::Target { module: self.name.clone(), triple });
        }
        self.verify().map_err(|reason| Error::BadBitcode { module: self.name.clone(), reason })?;
        Ok(self)
    }

    /// The target triple.
    #[must_use]
    pub fn triple(&self) -> String {
        // SAFETY: LLVM returns a NUL-terminated string that it owns.
        unsafe { CStr::from_ptr(LLVMGetTarget(self.raw)) }.to_string_lossy().into_owned()
    }

    /// The source file that it was compiled from, as the compiler was told of it.
    #[must_use]
    pub(crate) fn source_file(&self) -> String {
        let mut len = 0;
        // SAFETY: LLVM returns bytes that it owns, as many as it says.
        let bytes = unsafe { std::slice::from_raw_parts(LLVMGetSourceFileName(self.raw, &raw mut len).cast(), len) };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// How types lie in memory.
    #[must_use]
    pub(crate) fn data_layout(&self) -> String {
        // SAFETY: LLVM returns a NUL-terminated string that it owns.
        unsafe { CStr::from_ptr(LLVMGetDataLayoutStr(self.raw)) }.to_string_lossy().into_owned()
    }

    /// Links another module into this one, as LLVM's linker does: what is external in both is one. If that fails, this
    /// module is of no use any more.
    ///
    /// # Errors
    /// The bitcode cannot be read, or the two do not go together.
    pub(crate) fn join(&mut self, name: &str, bitcode: &[u8]) -> Result<(), Error> {
        self.sweep();
        self.renew();
        let buffer_name = CString::new(name).unwrap_or_default();
        // SAFETY: the buffer only borrows `bitcode` and is disposed of before we return; the other module is of this
        // context, and LLVM's linker takes it.
        let joined = unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRange(
                bitcode.as_ptr().cast::<c_char>(),
                bitcode.len(),
                buffer_name.as_ptr(),
                0,
            );
            let mut other = ptr::null_mut();
            let read = LLVMParseBitcodeInContext2(self.context, buffer, &raw mut other) == 0;
            LLVMDisposeMemoryBuffer(buffer);
            read && LLVMLinkModules2(self.raw, other) == 0
        };
        let reasons = self.take_errors();
        if joined && reasons.is_empty() {
            return Ok(());
        }
        Err(Error::Llvm { module: name.into(), step: "link modules", reason: reasons.join("; ") })
    }

    /// Runs LLVM's verifier.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let mut message = ptr::null_mut();
        // SAFETY: the module is valid; LLVM hands us the message to free.
        unsafe {
            let broken = LLVMVerifyModule(
                self.raw,
                llvm_sys::analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &raw mut message,
            ) != 0;
            let text = owned_message(message);
            // One broken rule is told of once per instruction: the first few lines say it all.
            if broken { Err(text.trim().lines().take(4).collect::<Vec<_>>().join("; ")) } else { Ok(()) }
        }
    }

    /// The errors that LLVM reported since the last call.
    pub(crate) fn take_errors(&mut self) -> Vec<String> {
        std::mem::take(&mut self.diagnostics.errors)
    }

    /// The module as bitcode, with a current symbol table.
    #[must_use]
    pub fn to_bitcode(&self) -> Vec<u8> {
        // SAFETY: the buffer is ours to read and dispose of.
        unsafe {
            let buffer = LLVMWriteBitcodeToMemoryBuffer(self.raw);
            let bytes = buffer_bytes(buffer).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            bytes
        }
    }

    /// The module as text, for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        // SAFETY: LLVM hands us the string to free.
        unsafe { owned_message(LLVMPrintModuleToString(self.raw)) }
    }
}

/// # Safety
/// `buffer` must be valid; the slice must not outlive it.
pub(crate) unsafe fn buffer_bytes<'a>(buffer: LLVMMemoryBufferRef) -> &'a [u8] {
    // SAFETY: start and size describe the buffer's memory.
    unsafe { std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast::<u8>(), LLVMGetBufferSize(buffer)) }
}

/// Takes over a message that LLVM allocated; empty for none.
///
/// # Safety
/// `message` is null or a string to be freed with `LLVMDisposeMessage`.
pub(crate) unsafe fn owned_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: not null, so NUL-terminated and ours.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Tells "too new" from "broken": LLVM's reader names unknown records, attributes or types, and the identification
/// block at the start of the file names the producer.
fn bad_bitcode(module: &str, reason: String, bitcode: &[u8]) -> Error {
    let reason = reason.replace('\n', " ");
    let producer = reason
        .split_once("Producer: '")
        .and_then(|(_, rest)| rest.split_once('\''))
        .map(|(p, _)| p.to_owned())
        .or_else(|| producer_in(bitcode));
    let reader = loaded_version();
    let major = |text: &str| text.trim_start_matches("LLVM").split('.').next().and_then(|n| n.parse::<u32>().ok());
    match producer {
        Some(producer) if major(&producer) > major(&reader) => {
            Error::TooNew { module: module.into(), producer, reader, reason }
        }
        _ => Error::BadBitcode { module: module.into(), reason },
    }
}

/// The producer string of the identification block (`LLVM22.1.2-…`), whose characters are plain bytes or 6-bit codes;
/// LLVM's error message normally names it, so this only looks for the byte form.
fn producer_in(bitcode: &[u8]) -> Option<String> {
    let head = &bitcode[..bitcode.len().min(256)];
    let at = head.windows(4).position(|w| w == b"LLVM")?;
    let text: Vec<u8> = head[at..].iter().copied().take_while(|b| b.is_ascii_graphic()).collect();
    String::from_utf8(text).ok()
}
