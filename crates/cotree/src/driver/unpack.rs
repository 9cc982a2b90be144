//! Unpacks what the executable carries: the plugin as a file, and tools' names that link back to this executable.
//!
//! The place is `$XDG_CACHE_HOME/cotree/KEY/`, where KEY is made from the content and from the path of this
//! executable, so that different builds do not share it. Files appear by renaming and are compared before use. Where
//! the cache can't be written, or is not ours, a private folder for this process is used.

use super::embedded;
use super::error::Error;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The names under which compilers look for a linker, and build systems for the tools beside it.
const TOOL_NAMES: [&str; 10] =
    ["ld", "ld.bfd", "ld.gold", "ld.mold", "ar", "nm", "ranlib", COMPILERS[0], COMPILERS[1], RUSTC_NAME];
/// The compilers, for build systems that want a path.
const COMPILERS: [&str; 2] = ["cotree-cc", "cotree-c++"];
/// What cargo starts in front of rustc.
const RUSTC_NAME: &str = "cotree-rustc";
const CMAKE_NAME: &str = "cotree.cmake";
const PLUGIN_NAME: &str = "libcotree_lto.so";
const PASSTHROUGH_NAME: &str = "libcotree_passthrough.a";
const HEADER_NAME: &str = "include/cotree.h";
const PASSTHROUGH_THREADS_NAME: &str = "libcotree_passthrough_threads.a";

/// What is laid out.
static FILES: [(&str, &[u8]); 4] = [
    (PLUGIN_NAME, embedded::PLUGIN),
    (HEADER_NAME, embedded::HEADER),
    (PASSTHROUGH_NAME, embedded::PASSTHROUGH),
    (PASSTHROUGH_THREADS_NAME, embedded::PASSTHROUGH_THREADS),
];

/// The unpacked files.
pub struct Toolkit {
    dir: PathBuf,
    cotree: PathBuf,
    /// A private folder, removed at the end; `None` if the cache is used.
    private: Option<TempDir>,
}

impl Toolkit {
    /// Makes sure that everything is in place.
    ///
    /// # Errors
    /// If neither the cache nor a temporary folder can be written.
    pub fn unpack() -> Result<Toolkit, Error> {
        let cotree = std::env::current_exe().map_err(Error::file("find", "the cotree executable"))?;
        if let Some(cache) = cache_folder() {
            let dir = cache.join(key(&cotree));
            if lay_out(&dir, &cotree).is_ok() {
                return Ok(Toolkit { dir, cotree, private: None });
            }
        }
        let private = tempfile::Builder::new()
            .prefix("cotree-tools-")
            .tempdir()
            .map_err(Error::file("create a folder in", std::env::temp_dir()))?;
        let dir = private.path().to_owned();
        lay_out(&dir, &cotree).map_err(Error::file("write to", &dir))?;
        Ok(Toolkit { dir, cotree, private: Some(private) })
    }

    /// The linker plugin.
    pub fn plugin(&self) -> PathBuf {
        self.dir.join(PLUGIN_NAME)
    }

    /// The archive that undoes `--wrap` where there is no runtime.
    pub fn passthrough(&self) -> PathBuf {
        self.dir.join(PASSTHROUGH_NAME)
    }

    /// The one member of it that libgcc defines too.
    pub fn passthrough_threads(&self) -> PathBuf {
        self.dir.join(PASSTHROUGH_THREADS_NAME)
    }

    /// The folder of `cotree.h`.
    pub fn include(&self) -> PathBuf {
        self.dir.join("include")
    }

    /// The folder of tools that link to this executable.
    pub fn tools(&self) -> PathBuf {
        self.dir.join("bin")
    }

    /// One of these tools, if it will still be there when this process is gone.
    pub fn lasting_tool(&self, name: &str) -> Option<PathBuf> {
        (TOOL_NAMES.contains(&name) && self.private.is_none()).then(|| self.tools().join(name))
    }

    /// A CMake toolchain file with all of our tools, if it will still be there when this process is gone.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn cmake_toolchain(&self) -> Result<PathBuf, Error> {
        if self.private.is_some() {
            return Err(Error::NoCache);
        }
        let path = self.dir.join(CMAKE_NAME);
        let tool = |name: &str| self.tools().join(name).display().to_string();
        let text = format!(
            "# Compilers and tools of cotree, for `cmake -DCMAKE_TOOLCHAIN_FILE=`.\n\
             set(CMAKE_C_COMPILER [==[{}]==])\nset(CMAKE_CXX_COMPILER [==[{}]==])\n\
             set(CMAKE_AR [==[{}]==] CACHE FILEPATH \"\")\nset(CMAKE_RANLIB [==[{}]==] CACHE FILEPATH \"\")\n\
             set(CMAKE_NM [==[{}]==] CACHE FILEPATH \"\")\n\
             # Those for INTERPROCEDURAL_OPTIMIZATION.\n\
             foreach(language C CXX)\n  set(CMAKE_${{language}}_COMPILER_AR \"${{CMAKE_AR}}\" CACHE FILEPATH \"\")\n  \
             set(CMAKE_${{language}}_COMPILER_RANLIB \"${{CMAKE_RANLIB}}\" CACHE FILEPATH \"\")\nendforeach()\n",
            tool(COMPILERS[0]),
            tool(COMPILERS[1]),
            tool("ar"),
            tool("ranlib"),
            tool("nm")
        );
        put(&self.dir, CMAKE_NAME, text.as_bytes()).map_err(Error::file("write", &path))?;
        Ok(path)
    }

    /// The link to this executable that cargo starts in front of rustc.
    pub fn rustc_wrapper(&self) -> PathBuf {
        self.tools().join(RUSTC_NAME)
    }

    /// The linker that links to this executable.
    pub fn linker(&self) -> PathBuf {
        self.tools().join("ld")
    }

    /// This executable.
    pub fn cotree(&self) -> &Path {
        &self.cotree
    }
}

/// The folder for files that can be made again.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?.join("cotree"))
}

/// Whether a folder is the user's own and others can't write to it.
pub fn is_private(folder: &Path) -> bool {
    let (data, own) = (fs::symlink_metadata(folder), fs::metadata("/proc/self"));
    data.is_ok_and(|data| data.is_dir() && data.mode() & 0o022 == 0 && own.is_ok_and(|own| own.uid() == data.uid()))
}

/// A name for what this executable makes: another one has another.
pub fn key(cotree: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    (FILES, cotree).hash(&mut hasher);
    format!("{}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish())
}

fn lay_out(dir: &Path, cotree: &Path) -> io::Result<()> {
    let [bin, include] = ["bin", "include"].map(|name| dir.join(name));
    for folder in [&bin, &include] {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // Others must not be able to write what we load: their folder could hold a file of the right content now and of
    // another later.
    if ![dir, &bin, &include].into_iter().all(is_private) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    for (name, content) in FILES {
        put(dir, name, content)?;
    }
    for name in TOOL_NAMES {
        let link = bin.join(name);
        if !fs::read_link(&link).is_ok_and(|target| target == cotree) {
            let temporary = tempfile::TempDir::new_in(dir)?;
            let made = temporary.path().join(name);
            symlink(cotree, &made)?;
            fs::rename(made, link)?;
        }
    }
    Ok(())
}

/// Writes a file unless it is there already.
fn put(dir: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let path = dir.join(name);
    if !fs::read(&path).is_ok_and(|found| found == content) {
        let temporary = tempfile::NamedTempFile::new_in(dir)?;
        fs::write(temporary.path(), content)?;
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755))?;
        temporary.persist(&path).map_err(|error| error.error)?;
    }
    Ok(())
}

/// The option that names the `cotree` that the plugin starts: this executable, unless the environment names another.
pub fn driver_option(cotree: &Path) -> String {
    let other = std::env::var_os(cotree_lto::worker::DRIVER_ENV).filter(|path| !path.is_empty());
    format!("cotree-driver={}", other.map_or_else(|| cotree.to_owned(), PathBuf::from).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_repaired_and_foreign_folders_are_refused() {
        let base = TempDir::new().unwrap();
        let dir = base.path().join("x");
        let cotree = Path::new("/somewhere/cotree");
        lay_out(&dir, cotree).unwrap();
        fs::write(dir.join(PLUGIN_NAME), "damage").unwrap();
        lay_out(&dir, cotree).unwrap();
        assert_eq!(fs::read(dir.join(PLUGIN_NAME)).unwrap(), embedded::PLUGIN);
        assert_eq!(fs::read_link(dir.join("bin/ld.bfd")).unwrap(), cotree);
        assert_eq!(fs::read_dir(&dir).unwrap().count(), FILES.len() + 1);
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(lay_out(&dir, cotree).is_err());
    }
}
