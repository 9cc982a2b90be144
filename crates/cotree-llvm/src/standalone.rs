//! Work on bitcode files outside of a link.

use crate::error::Error;
use crate::extract::{self, Selection};
use crate::link::{Prepared, program_map};
use crate::module::Module;
use cotree_core::facts::ProgramMap;
use cotree_core::plan::Method;
use rayon::prelude::*;
use std::path::Path;

/// The program map of some bitcode files, as if they were one link unit in which all is visible.
///
/// # Errors
/// A file cannot be read or is not bitcode of this LLVM.
pub fn map_of_files<P: AsRef<Path> + Sync>(paths: &[P]) -> Result<ProgramMap, Error> {
    let mut prepared: Vec<Prepared> = paths
        .par_iter()
        .map(|path| {
            let path = path.as_ref();
            let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.into(), source })?;
            let module = Module::parse(&path.display().to_string(), &bytes)?;
            let extracted = extract::extract(&module, &Selection::default());
            Ok(Prepared { module, extracted })
        })
        .collect::<Result<_, Error>>()?;
    let name = paths.first().map(|p| p.as_ref().display().to_string()).unwrap_or_default();
    Ok(program_map(name, Method::Edge, &mut prepared))
}

/// The same bitcode as this LLVM writes it, which includes a symbol table of the current form.
///
/// # Errors
/// The bytes are not bitcode of this LLVM.
pub fn rewrite(name: &str, bitcode: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(Module::parse(name, bitcode)?.to_bitcode())
}
