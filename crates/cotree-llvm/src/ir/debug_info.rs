//! Debug information: where instructions come from, and the scopes that say so.

use super::{Function, Metadata, Value, kind, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::LLVMModuleFlagBehavior;
use llvm_sys::debuginfo::{LLVMDIFlagZero, LLVMDWARFEmissionKind, LLVMDWARFSourceLanguage, LLVMMetadataKind};
use llvm_sys::prelude::*;
use std::ffi::c_char;
use std::ptr;

kind! {
    /// A place in the source, with the calls through which it was inlined.
    Location is a Metadata
}

impl<'m> Location<'m> {
    /// The handle of a location, none for null.
    ///
    /// # Safety
    /// `raw` must be null, or a `DILocation` of the context of a module that is borrowed for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMMetadataRef) -> Option<Self> {
        // SAFETY: as the caller promises; a location is metadata.
        unsafe { Metadata::from_raw(raw) }.map(Self)
    }

    /// LLVM's pointer, null for none.
    pub(super) fn raw_or_null(location: Option<Self>) -> LLVMMetadataRef {
        location.map_or(ptr::null_mut(), |location| location.raw())
    }

    /// The line; 0 if there is none.
    #[must_use]
    pub fn line(self) -> u32 {
        // SAFETY: a location.
        unsafe { LLVMDILocationGetLine(self.raw()) }
    }

    /// The column; 0 if there is none.
    #[must_use]
    pub fn column(self) -> u32 {
        // SAFETY: a location.
        unsafe { LLVMDILocationGetColumn(self.raw()) }
    }

    /// What it is in.
    ///
    /// # Panics
    /// Never: locations have scopes.
    #[must_use]
    pub fn scope(self) -> Scope<'m> {
        // SAFETY: a location.
        Scope(unsafe { Metadata::from_raw(LLVMDILocationGetScope(self.raw())) }.expect("locations have scopes"))
    }

    /// The call through which it was inlined.
    #[must_use]
    pub fn inlined_at(self) -> Option<Self> {
        // SAFETY: a location, whose inlined-at is one or null.
        unsafe { Self::from_raw(LLVMDILocationGetInlinedAt(self.raw())) }
    }
}

impl Module {
    /// Keeps a location of an instruction that goes; gives a number for it.
    pub fn keep_location(&self, location: Location<'_>) -> usize {
        let mut kept = self.locations.borrow_mut();
        kept.push(location.raw());
        kept.len() - 1
    }

    /// The location that was kept under this number.
    #[must_use]
    pub fn kept_location(&self, number: usize) -> Option<Location<'_>> {
        let raw = self.locations.borrow().get(number).copied()?;
        // SAFETY: a location of the module's context, which keeps all its metadata as long as it lives.
        unsafe { Location::from_raw(raw) }
    }
}

kind! {
    /// A function or block of the source.
    Scope is a Metadata
}

impl<'m> Scope<'m> {
    /// The file of the scope.
    #[must_use]
    pub fn file(self) -> Option<SourceFile<'m>> {
        // SAFETY: a scope.
        unsafe { Metadata::from_raw(LLVMDIScopeGetFile(self.raw())) }.map(SourceFile)
    }

    /// The line at which it begins, if it is a function's; 0 if there is none.
    #[must_use]
    pub fn function_line(self) -> Option<u32> {
        let function = matches!(self.kind(), LLVMMetadataKind::LLVMDISubprogramMetadataKind);
        // SAFETY: a subprogram.
        function.then(|| unsafe { LLVMDISubprogramGetLine(self.raw()) })
    }

    /// The linker's name of the function that it is in, or else its name in the source; empty if it has none.
    #[must_use]
    pub fn function_symbol(self, module: &'m Module) -> String {
        let mut at = *self;
        loop {
            let operands = module.metadata_value(at).node_operands().unwrap_or_default();
            let operand = |index: usize| operands.get(index).copied().flatten();
            if matches!(at.kind(), LLVMMetadataKind::LLVMDISubprogramMetadataKind) {
                // The two names of a function are its operands 3 and 2.
                let mut names = [3, 2].into_iter().filter_map(|index| operand(index)?.metadata_string());
                return names.find(|name| !name.is_empty()).unwrap_or_default();
            }
            // What a block is in is its operand 1.
            let Some(around) = operand(1) else { return String::new() };
            at = around.as_metadata();
        }
    }
}

kind! {
    /// A source file.
    SourceFile is a Metadata
}

impl SourceFile<'_> {
    /// The folder that its name is relative to.
    #[must_use]
    pub fn directory(self) -> String {
        // SAFETY: a file, and a getter of its texts.
        unsafe { self.part(LLVMDIFileGetDirectory) }
    }

    /// The name of the subprogram.
    #[must_use]
    pub fn name(self) -> String {
        // SAFETY: a file, and a getter of its texts.
        unsafe { self.part(LLVMDIFileGetFilename) }
    }

    /// The MD5 of its text, if the compiler says it. (Sums of other kinds have other lengths.)
    #[must_use]
    pub fn md5(self, module: &Module) -> Option<[u8; 16]> {
        /// The operand of a file that is its checksum.
        const CHECKSUM: usize = 2;
        let text = module.metadata_value(*self).node_operands()?.get(CHECKSUM).copied().flatten()?.metadata_string()?;
        let digits = text.as_bytes();
        if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u128::from_str_radix(&text, 16).ok().map(u128::to_be_bytes)
    }

    /// # Safety
    /// `get` must be a getter of a file's texts.
    unsafe fn part(self, get: unsafe fn(LLVMMetadataRef, *mut u32) -> *const c_char) -> String {
        let mut len = 0;
        // SAFETY: LLVM gives its own storage with the length, which we copy.
        unsafe { text(get(self.raw(), &raw mut len), len as usize) }
    }
}

impl<'m> Function<'m> {
    /// The scope of the location in the source.
    #[must_use]
    pub fn scope(self) -> Option<Scope<'m>> {
        // SAFETY: a function; LLVM has nothing but subprograms there.
        unsafe { Metadata::from_raw(LLVMGetSubprogram(self.raw())) }.map(Scope)
    }
}

/// Makes debug information for a module.
pub struct DebugInfoBuilder<'m> {
    module: &'m Module,
    raw: LLVMDIBuilderRef,
}

impl Drop for DebugInfoBuilder<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, finalised and disposed of once.
        unsafe {
            LLVMDIBuilderFinalize(self.raw);
            LLVMDisposeDIBuilder(self.raw);
        }
    }
}

impl<'m> DebugInfoBuilder<'m> {
    /// Begins.
    #[must_use]
    pub fn new(module: &'m Module) -> Self {
        // SAFETY: a valid module, which outlives the builder.
        Self { module, raw: unsafe { LLVMCreateDIBuilder(module.raw) } }
    }

    /// LLVM's builder.
    pub(super) fn raw(&self) -> LLVMDIBuilderRef {
        self.raw
    }

    /// The module.
    pub(super) fn module(&self) -> &'m Module {
        self.module
    }

    /// A file of this name, in no folder.
    ///
    /// # Panics
    /// Never: LLVM makes the file.
    #[must_use]
    pub fn file(&self, name: &str) -> SourceFile<'m> {
        // SAFETY: LLVM reads as many bytes as it is told of.
        let file = unsafe { LLVMDIBuilderCreateFile(self.raw, name.as_ptr().cast(), name.len(), c"".as_ptr(), 0) };
        // SAFETY: metadata lives as long as its context.
        SourceFile(unsafe { Metadata::from_raw(file) }.expect("LLVM makes the file"))
    }

    /// A compile unit that emits nothing.
    pub fn silent_unit(&self, file: SourceFile<'m>, producer: &str) {
        // SAFETY: strings with their lengths, a file of this builder's context.
        unsafe {
            LLVMDIBuilderCreateCompileUnit(
                self.raw,
                LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguageC99,
                file.raw(),
                producer.as_ptr().cast(),
                producer.len(),
                0,
                c"".as_ptr(),
                0,
                0,
                c"".as_ptr(),
                0,
                LLVMDWARFEmissionKind::LLVMDWARFEmissionKindNone,
                0,
                0,
                0,
                c"".as_ptr(),
                0,
                c"".as_ptr(),
                0,
            );
        }
    }

    /// The type of a function of which nothing is known.
    ///
    /// # Panics
    /// Never: LLVM makes the type.
    #[must_use]
    pub fn unknown_function_type(&self, file: SourceFile<'m>) -> FunctionType<'m> {
        // SAFETY: no parameters, a file of this builder's context.
        let ty = unsafe { LLVMDIBuilderCreateSubroutineType(self.raw, file.raw(), ptr::null_mut(), 0, LLVMDIFlagZero) };
        // SAFETY: metadata lives as long as its context.
        FunctionType(unsafe { Metadata::from_raw(ty) }.expect("LLVM makes the type"))
    }

    /// Gives a function of the module a scope of its own, of no line.
    ///
    /// # Panics
    /// If the function is of another module.
    pub fn give_scope(
        &self,
        function: Function<'m>,
        file: SourceFile<'m>,
        ty: FunctionType<'m>,
        name: &str,
    ) -> Scope<'m> {
        assert!(self.module.owns(function.into()), "a function of this module");
        // SAFETY: LLVM reads as many bytes as it is told of; file and type are of this builder's context.
        let scope = unsafe {
            let name = (name.as_ptr().cast(), name.len());
            let made = LLVMDIBuilderCreateFunction(
                self.raw,
                file.raw(),
                name.0,
                name.1,
                name.0,
                name.1,
                file.raw(),
                0,
                ty.raw(),
                0,
                1,
                0,
                LLVMDIFlagZero,
                0,
            );
            LLVMSetSubprogram(function.raw(), made);
            Metadata::from_raw(made)
        };
        Scope(scope.expect("LLVM makes the scope"))
    }

    /// The scope with a discriminator.
    ///
    /// # Panics
    /// Never: LLVM makes the scope.
    #[must_use]
    pub fn discriminated(&self, scope: Scope<'m>, file: SourceFile<'m>, discriminator: u32) -> Scope<'m> {
        // SAFETY: a scope and a file of this builder's context.
        let made = unsafe { LLVMDIBuilderCreateLexicalBlockFile(self.raw, scope.raw(), file.raw(), discriminator) };
        // SAFETY: metadata lives as long as its context.
        Scope(unsafe { Metadata::from_raw(made) }.expect("LLVM makes the scope"))
    }

    /// A place in a scope.
    ///
    /// # Panics
    /// Never: LLVM makes the location.
    #[must_use]
    pub fn location(&self, line: u32, column: u32, scope: Scope<'m>, inlined_at: Option<Location<'m>>) -> Location<'m> {
        let inlined_at = Location::raw_or_null(inlined_at);
        // SAFETY: a scope, and null or a location, of this builder's context.
        let location = unsafe {
            let raw = LLVMDIBuilderCreateDebugLocation(self.module.context, line, column, scope.raw(), inlined_at);
            Location::from_raw(raw)
        };
        location.expect("LLVM makes the location")
    }
}

kind! {
    /// The type of a function in debug information.
    FunctionType is a Metadata
}

/// What `cotree cc` has the compiler note in debug information that only reports need.
pub const LINES_FOR_REPORTS: &str = "cotree-lines-for-reports";

impl Module {
    /// Whether the module has debug information only because reports need lines: the user has not asked for any.
    #[must_use]
    pub fn has_lines_for_reports_only(&self) -> bool {
        // Of a compile unit: file, producer, flags, …
        const FLAGS: usize = 2;
        let units = self.named_metadata(c"llvm.dbg.cu");
        let flags = |unit: Value<'_>| (*unit.node_operands()?.get(FLAGS)?)?.metadata_string();
        units.into_iter().filter_map(flags).any(|flags| flags == LINES_FOR_REPORTS)
    }

    /// The compilers of the module's parts, as they name themselves.
    #[must_use]
    pub fn compilers(&self) -> Vec<String> {
        let makers = self.named_metadata(c"llvm.ident");
        let name = |maker: Value<'_>| (*maker.node_operands()?.first()?)?.metadata_string();
        makers.into_iter().filter_map(name).collect()
    }

    /// Whether rustc has made the module.
    #[must_use]
    pub fn is_of_rustc(&self) -> bool {
        self.compilers().iter().any(|name| name.starts_with("rustc"))
    }

    /// Says which version of debug information the module has, unless it says so.
    pub fn declare_debug_info_version(&self) {
        let flag = "Debug Info Version";
        let key = (flag.as_ptr().cast(), flag.len());
        // SAFETY: a valid module; LLVM reads as many bytes as it is told of. The value is a constant of its context.
        unsafe {
            if LLVMGetModuleFlag(self.raw, key.0, key.1).is_null() {
                let version = self.int32().constant(LLVMDebugMetadataVersion().into()).as_metadata();
                let behavior = LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorWarning;
                LLVMAddModuleFlag(self.raw, behavior, key.0, key.1, version.raw());
            }
        }
    }
}
