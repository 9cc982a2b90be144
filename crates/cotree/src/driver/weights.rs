//! `--weights PROFILE`: extracts the counts from the profile before the build overwrites the profile's binary.
//!
//! The result stays in the cache under a name made of the profile's path, size and time. So all steps of a build
//! use the same weights, although perhaps only the first of them still finds the old binary.

use super::options::InstrumentOptions;
use super::unpack::cache_folder;
use crate::folder::{self, Folder};
use cotree_profile::recover::recover_file;
use cotree_profile::{atomic, weights};
use miette::{IntoDiagnostic, Result, WrapErr};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Replaces the profiles that options name by files of weights. A file of weights stays what it is.
pub fn resolve_all(options: &mut InstrumentOptions) -> Result<()> {
    for file in [&mut options.weights, &mut options.use_profile].into_iter().flatten() {
        *file = resolve(file)?;
    }
    Ok(())
}

/// The weights file to use: `file` if it is one, else one made from the profile, or the folder of profiles, that `file` is.
fn resolve(file: &Path) -> Result<PathBuf> {
    let file = std::path::absolute(file).into_diagnostic()?;
    let unreadable = || format!("cannot read the weights {}", file.display());
    let mut head = [0; 1];
    let profiles = if file.is_dir() {
        Folder::read(&file)?.files().to_vec()
    } else {
        let mut opened = fs::File::open(&file).into_diagnostic().wrap_err_with(unreadable)?;
        let is_text = opened.read(&mut head).into_diagnostic().wrap_err_with(unreadable)? == 1 && head == *b"{";
        if is_text {
            return Ok(file);
        }
        vec![file.clone()]
    };
    let mut hasher = DefaultHasher::new();
    weights::SCHEMA.hash(&mut hasher);
    for profile in &profiles {
        let known = fs::metadata(profile).into_diagnostic().wrap_err_with(unreadable)?;
        (profile, known.len(), known.modified().ok()).hash(&mut hasher);
    }
    let folder = cache_folder().unwrap_or_else(std::env::temp_dir).join("weights");
    let made = folder.join(format!("{:016x}.weights", hasher.finish()));
    if made.is_file() {
        return Ok(made);
    }
    let profile = folder::open(&file, &[])?;
    let units = recover_file(&profile, &[]).into_diagnostic().wrap_err(
        "the weights need the binary of that profile: make a file of them while it is there, with `cotree export --format weights`",
    )?;
    fs::create_dir_all(&folder).into_diagnostic().wrap_err_with(|| format!("cannot create {}", folder.display()))?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    atomic::write(&made, |out| weights::write(out, &units, &name)).into_diagnostic()?;
    Ok(made)
}
