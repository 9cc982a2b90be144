//! `--weights PROFILE`: extracts the counts from the profile before the build overwrites the profile's binary.
//!
//! The result stays in the cache under a name made of what the profile holds. So all steps of a build use the same
//! weights, although perhaps only the first of them still finds the old binary. Weights guide what is built, so nobody
//! else may put any there: the cache is a folder of the user's own that others can't write to, or there is none, and
//! each step makes its weights in a private folder.

use super::unpack::{cache_folder, is_private};
use crate::coded;
use crate::folder::{self, Folder};
use cotree_options::{At, BuildOptions};
use cotree_profile::recover::recover_file;
use cotree_profile::weights::Build;
use cotree_profile::{atomic, raw, regular, weights};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::fs::DirBuilder;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Replaces the profiles that options name by files of weights. A file of weights stays what it is. A build by a
/// profile is told its counts where they were counted, if the options don't say where.
pub fn resolve_all(options: &mut BuildOptions) -> Result<Made> {
    let mut made = Made::default();
    for file in [&mut options.weights, &mut options.use_profile].into_iter().flatten() {
        *file = made.resolve(file)?;
    }
    if let (Some(file), None, None | Some(false)) = (&options.use_profile, options.at, options.coverage) {
        let counted = counted_at(&weights::builds(file).map_err(coded::report)?)?;
        options.at = counted.filter(|&at| at != options.place());
    }
    Ok(made)
}

/// Where all builds of a profile were counted, if it has any.
fn counted_at(builds: &[Build]) -> Result<Option<At>> {
    let place = |build: &Build| match build.at.as_deref() {
        None => Ok(At::Late),
        Some(name) => At::from_name(name).ok_or_else(|| {
            miette!(
                "{} was counted --at {name}, which this version does not know: use the version that counted it",
                build.name
            )
        }),
    };
    let mut places = builds.iter().map(place).collect::<Result<Vec<At>>>()?;
    places.sort_by_key(|at| at.name());
    places.dedup();
    match places.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        [first, second, ..] => Err(miette!(
            "the profile has runs of builds that were counted --at {} and --at {}, and a build can be told counts at one \
             place only: say which with --at, or leave the other runs out",
            first.name(),
            second.name()
        )),
    }
}

/// Folders of weights, which are removed when they are no longer used.
#[derive(Default)]
pub struct Made(Vec<TempDir>);

impl Made {
    /// The weights file to use: `file` if it is one, else one made from the profile, or the folder of profiles, that
    /// `file` is.
    fn resolve(&mut self, file: &Path) -> Result<PathBuf> {
        let file = std::path::absolute(file).into_diagnostic()?;
        let unreadable = || unreadable(&file);
        let profiles = if file.is_dir() {
            Folder::read(&file)?.files().to_vec()
        } else {
            let mut head = [0; 1];
            let mut opened = regular::open(&file).into_diagnostic().wrap_err_with(unreadable)?;
            let is_text = opened.read(&mut head).into_diagnostic().wrap_err_with(unreadable)? == 1 && head == *b"{";
            if is_text {
                return Ok(file);
            }
            vec![file.clone()]
        };
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = match cache() {
            Some(folder) => folder,
            None => self.private()?,
        };
        let made = folder.join(format!("{}.weights", key(&name, &profiles)?));
        if made.is_file() {
            return Ok(made);
        }
        let profile = folder::open(&file, &[])?;
        let units = recover_file(&profile, &[]).map_err(coded::report).wrap_err(
            "the weights need the binary of that profile: make a file of them while it is there, with `cotree export --format weights`",
        )?;
        if let Some(why) = units.iter().find_map(|(_, profile)| weights::refused(profile)) {
            return Err(miette!("{why}"));
        }
        let units: Vec<_> = units.iter().map(|(binary, profile)| (binary.map(), profile)).collect();
        atomic::write(&made, |out| weights::write(out, &units, &name)).map_err(coded::report)?;
        Ok(made)
    }

    /// A folder of this process.
    fn private(&mut self) -> Result<PathBuf> {
        let folder = tempfile::Builder::new().prefix("cotree-weights-").tempdir().into_diagnostic();
        let folder = folder.wrap_err("cannot make a temporary folder for the weights")?;
        let path = folder.path().to_owned();
        self.0.push(folder);
        Ok(path)
    }
}

/// The folder of the cache, if it is the user's own.
fn cache() -> Option<PathBuf> {
    let folder = cache_folder()?.join("weights");
    // What is wrong with it shows in the check.
    let _ = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    is_private(&folder).then_some(folder)
}

/// What the weights of profiles are made of.
fn key(name: &str, profiles: &[PathBuf]) -> Result<String> {
    let mut sum = md5::Context::new();
    // Weights that were made before they said where counts are from must not be taken for late ones.
    for text in [weights::SCHEMA, "at", name] {
        sum.consume((text.len() as u64).to_le_bytes());
        sum.consume(text);
    }
    for profile in profiles {
        // A pool's newest profile may stand beside it, and before there is a pool it stands alone.
        let files = [profile.clone(), raw::joining(profile)];
        let mut found = 0;
        for file in &files {
            match add(&mut sum, file) {
                Ok(()) => found += 1,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => sum.consume(0u64.to_le_bytes()),
                Err(error) => return Err(error).into_diagnostic().wrap_err_with(|| unreadable(file)),
            }
        }
        if found == 0 {
            let none: std::io::Error = std::io::ErrorKind::NotFound.into();
            return Err(none).into_diagnostic().wrap_err_with(|| unreadable(profile));
        }
    }
    Ok(format!("{:x}", sum.finalize()))
}

/// Adds the content of a file, which may be larger than memory.
fn add(sum: &mut md5::Context, file: &Path) -> std::io::Result<()> {
    let opened = regular::open(file)?;
    let length = opened.metadata()?.len();
    sum.consume(length.to_le_bytes());
    std::io::copy(&mut opened.take(length), sum).map(drop)
}

fn unreadable(file: &Path) -> String {
    format!("cannot read the weights {}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn keys_are_made_of_what_profiles_hold() {
        let folder = TempDir::new().unwrap();
        let path = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let [one, same, other] = [path("one", "counts"), path("same", "counts"), path("other", "Counts")];
        let of = |path: &PathBuf| key("p", std::slice::from_ref(path)).unwrap();
        assert_eq!(of(&one), of(&same));
        assert_ne!(of(&one), of(&other));
        assert_ne!(key("q", std::slice::from_ref(&one)).unwrap(), of(&one));
        assert_ne!(key("p", &[one.clone(), same]).unwrap(), of(&one));
        path("one.joining", "more");
        assert_ne!(of(&one), of(&path("two", "counts")));
        assert!(key("p", &[folder.path().join("none")]).is_err());
    }
}
