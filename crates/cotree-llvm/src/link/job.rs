//! The job: what is linked, and what the linker knows about it.

use super::native;
use crate::emit::sanitizer_object;
use crate::error::Error;
use crate::module::Module;
use crate::options::LinkOptions;
use cotree_lto::protocol::{LinkRequest, OutputKind};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// One link.
pub struct LinkJob<'a> {
    /// What the linker plugin asks for, in the linker's terms.
    pub request: &'a LinkRequest,
    /// What the user asked for: the request's options, understood.
    pub options: LinkOptions,
    /// The runtime, as a relocatable object.
    pub runtime: &'a [u8],
}

impl LinkJob<'_> {
    /// The functions that sanitizers stand in front of, where the runtime has to stand in front of these: what the
    /// program itself defines is left out.
    pub(super) fn fronted(&self) -> Vec<&str> {
        let defined_by_module = |name: &str| {
            let symbols = self.request.modules.iter().flat_map(|module| &module.symbols);
            symbols.filter(|symbol| symbol.name == name).any(|symbol| !symbol.resolution.is_reference())
        };
        let names =
            self.request.of_sanitizers.iter().filter_map(|name| name.strip_prefix(sanitizer_object::INTERCEPTOR));
        let mut names: Vec<&str> = names.filter(|name| !defined_by_module(name)).collect();
        if !names.is_empty() {
            let defined: BTreeSet<String> = self.request.natives.iter().flat_map(native::strong_definitions).collect();
            names.retain(|name| !defined.contains(*name));
        }
        names
    }

    /// Writes a file into the work folder.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.request.work_dir.join(name);
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

/// The setting of a unit besides its bitcode. All stages carry it.
#[derive(Clone)]
pub(crate) struct Setting<'a> {
    /// The unit's name, for reports.
    pub(crate) name: String,
    /// What the user asked for.
    pub(crate) options: &'a LinkOptions,
    /// The unit is a shared library: who starts threads or installs signal handlers in its process is unknown.
    pub(crate) shared: bool,
    /// What the linker knows. Bitcode that is instrumented outside of a link has none.
    pub(crate) link: Option<&'a LinkJob<'a>>,
}

impl<'a> Setting<'a> {
    /// The setting of a link.
    pub(crate) fn of_link(job: &'a LinkJob<'a>) -> Self {
        Self {
            name: job.request.output.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
            options: &job.options,
            shared: job.request.kind == OutputKind::Shared,
            link: Some(job),
        }
    }

    /// Names of interest that native objects refer to, as far as that is known.
    pub(crate) fn native_references(&self) -> &'a [String] {
        self.link.map_or(&[], |job| &job.request.native_references)
    }
}
