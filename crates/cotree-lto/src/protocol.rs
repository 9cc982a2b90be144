//! The messages between the plugin and the `cotree` process that it starts: one JSON file in each direction.
//!
//! These are the terms in which `cotree-llvm` knows a link, too. Both sides are always of one build, so this is not a
//! public format.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What kind of file is being linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputKind {
    /// `ld -r`.
    Relocatable,
    /// A position-dependent executable.
    Executable,
    /// A position-independent executable.
    Pie,
    /// A shared library.
    Shared,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRequest {
    /// The file being linked.
    #[serde(with = "any_path")]
    pub output: PathBuf,
    /// The kind of the output.
    pub kind: OutputKind,
    /// An executable without a dynamic linker.
    pub is_static: bool,
    /// `-plugin-opt` values, in order, uninterpreted (`O2`, `mcpu=…`, `cotree-profile=edge`, …).
    pub options: Vec<String>,
    /// Claimed bitcode, in link order.
    pub modules: Vec<ModuleInput>,
    /// Names of interest that native objects of the link refer to (thread creation, `dlopen`, …).
    pub native_references: Vec<String>,
    /// Symbols of sanitizers that native objects of the link define (`__interceptor_…`, …).
    pub of_sanitizers: Vec<String>,
    /// Native objects of the link, without those of the C and compiler libraries. Their code is inspected, since their
    /// source is unknown.
    pub natives: Vec<NativeInput>,
    /// A folder for objects; the plugin removes it in the end.
    #[serde(with = "any_path")]
    pub work_dir: PathBuf,
}

/// One native object or archive member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NativeInput {
    /// The file.
    #[serde(with = "any_path")]
    pub path: PathBuf,
    /// Where the object starts.
    pub offset: u64,
    /// How long it is.
    pub size: u64,
}

/// One claimed bitcode file or archive member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleInput {
    /// For people: the path, with the member's offset where it is in an archive.
    pub name: String,
    /// The file.
    #[serde(with = "any_path")]
    pub path: PathBuf,
    /// Where the bitcode starts.
    pub offset: u64,
    /// How long it is.
    pub size: u64,
    /// The file's symbols, in the order of its symbol table.
    pub symbols: Vec<SymbolInput>,
}

/// One symbol with the linker's verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymbolInput {
    /// The linker symbol.
    pub name: String,
    /// The name of the IR value; empty for symbols of module assembly.
    pub ir_name: String,
    /// The verdict.
    pub resolution: Resolution,
}

/// The linker's verdict on a symbol (`plugin-api.h`, `ld_plugin_symbol_resolution`, condensed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    /// Not defined anywhere.
    Undefined,
    /// This definition is the one, and native code or the outside may refer to it.
    Prevailing,
    /// This definition is the one, and only bitcode refers to it (`PREVAILING_DEF_IRONLY`).
    PrevailingInternal,
    /// This definition is the one, only bitcode of this link refers to it, but it is exported
    /// (`PREVAILING_DEF_IRONLY_EXP`).
    PrevailingExported,
    /// Another definition was preferred, or the reference is resolved elsewhere (preempted, resolved in IR, executable
    /// or shared library).
    Elsewhere,
}

impl Resolution {
    /// Does the file refer to what others define?
    #[must_use]
    pub fn is_reference(self) -> bool {
        matches!(self, Self::Undefined | Self::Elsewhere)
    }
}

/// What a link makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkOutput {
    /// Native objects to link, the modules' first.
    pub objects: Vec<PathBuf>,
    /// Warnings for the linker to print.
    pub warnings: Vec<String>,
}

/// The answer, in `response.json` of the work folder: what was made, or the reason of a failure, as one sentence. The
/// process also exits 0 on success.
pub type LinkResponse = Result<LinkOutput, String>;

/// Paths as text, or as bytes if they are not UTF-8.
mod any_path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Spelling {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let spelling = match path.to_str() {
            Some(text) => Spelling::Text(text.into()),
            None => Spelling::Bytes(path.as_os_str().as_bytes().into()),
        };
        spelling.serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Spelling::deserialize(deserializer)? {
            Spelling::Text(text) => text.into(),
            Spelling::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}
