//! The job: what is linked, and what the linker knows about it.

use crate::emit::sanitizer_object;
use crate::error::Error;
use crate::module::Module;
use crate::options::Options;
use crate::stacks::NativeObject;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What kind of file is being linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// `ld -r`
    Relocatable,
    /// A position-dependent executable.
    Executable,
    /// A position-independent executable.
    Pie,
    /// A shared library.
    Shared,
}

/// The linker's verdict on a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Not defined anywhere.
    Undefined,
    /// The definition here is the one, and others may see it.
    Prevailing,
    /// The definition here is the one, and only bitcode sees it.
    PrevailingInternal,
    /// The definition here is the one, only bitcode of this link refers to it, but it is exported.
    PrevailingExported,
    /// The definition, if there is one here, is not the one.
    Elsewhere,
}

impl Resolution {
    /// Does the module refer to what others define?
    pub(crate) fn is_reference(self) -> bool {
        matches!(self, Self::Undefined | Self::Elsewhere)
    }
}

/// One symbol of a module.
#[derive(Clone, Debug)]
pub struct JobSymbol {
    /// The linker symbol.
    pub name: String,
    /// The IR name; empty for symbols of module assembly.
    pub ir_name: String,
    /// The verdict.
    pub resolution: Resolution,
}

/// One module.
#[derive(Clone, Debug)]
pub struct JobModule {
    /// For people.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Where the bitcode starts.
    pub offset: u64,
    /// How long it is.
    pub size: u64,
    /// The module's symbols with verdicts.
    pub symbols: Vec<JobSymbol>,
}

/// One link.
pub struct LinkJob<'a> {
    /// The file being linked.
    pub output: PathBuf,
    /// The kind of the output.
    pub kind: OutputKind,
    /// What the user asked for.
    pub options: Options,
    /// The modules.
    pub modules: Vec<JobModule>,
    /// Names of interest that native objects refer to.
    pub native_references: Vec<String>,
    /// Symbols of sanitizers that native objects define.
    pub of_sanitizers: Vec<String>,
    /// Native objects of the link whose code we do not know.
    pub natives: Vec<NativeObject>,
    /// Where objects go.
    pub work_dir: PathBuf,
    /// The runtime, as a relocatable object.
    pub runtime: &'a [u8],
}

impl LinkJob<'_> {
    /// The functions that sanitizers stand in front of, where the runtime has to stand in front of these: what the
    /// program itself defines is left out.
    pub(super) fn fronted(&self) -> Vec<&str> {
        let defined_by_module = |name: &str| {
            let symbols = self.modules.iter().flat_map(|module| &module.symbols);
            symbols.filter(|symbol| symbol.name == name).any(|symbol| !symbol.resolution.is_reference())
        };
        let names = self.of_sanitizers.iter().filter_map(|name| name.strip_prefix(sanitizer_object::INTERCEPTOR));
        let mut names: Vec<&str> = names.filter(|name| !defined_by_module(name)).collect();
        if !names.is_empty() {
            let defined: BTreeSet<String> = self.natives.iter().flat_map(NativeObject::strong_definitions).collect();
            names.retain(|name| !defined.contains(*name));
        }
        names
    }

    /// Writes a file into the work folder.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.work_dir.join(name);
        std::fs::write(&path, bytes).map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(path)
    }

    /// Writes a module as text into the work folder if the user wants to see it.
    pub(super) fn keep(&self, name: &str, module: &Module) -> Result<(), Error> {
        if self.options.keep_temps {
            self.write(name, module.to_text().as_bytes())?;
        }
        Ok(())
    }
}

/// The result of a link.
#[derive(Debug, Default)]
pub struct LinkOutput {
    /// Objects to link, the modules' first.
    pub objects: Vec<PathBuf>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

/// The setting of a unit besides its bitcode. All stages carry it.
#[derive(Clone)]
pub(crate) struct Setting<'a> {
    /// The unit's name, for reports.
    pub(crate) name: String,
    /// What the user asked for.
    pub(crate) options: &'a Options,
    /// The unit is a shared library: who starts threads or installs signal handlers in its process is unknown.
    pub(crate) shared: bool,
    /// What the linker knows. Bitcode that is instrumented outside of a link has none.
    pub(crate) link: Option<&'a LinkJob<'a>>,
}

impl<'a> Setting<'a> {
    /// The setting of a link.
    pub(crate) fn of_link(job: &'a LinkJob<'a>) -> Self {
        Self {
            name: job.output.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
            options: &job.options,
            shared: job.kind == OutputKind::Shared,
            link: Some(job),
        }
    }

    /// Names of interest that native objects refer to, as far as that is known.
    pub(crate) fn native_references(&self) -> &'a [String] {
        self.link.map_or(&[], |job| &job.native_references)
    }
}
