//! Sources of real programs, by pinned version from the crate registry.
//!
//! A generated package that depends on them makes `cargo vendor` fetch, check and unpack them; nothing of it is ever
//! built as such.

use crate::{command, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Name and exact version. A later version may have other files.
pub const PINNED: [(&str, &str); 14] = [
    ("libsqlite3-sys", "=0.30.1"),
    ("lua-src", "=547.0.0"),
    ("zstd-sys", "=2.0.13"),
    ("bzip2-sys", "=0.1.11"),
    ("ripgrep", "=14.1.1"),
    ("jemalloc-sys", "=0.5.4+5.3.0-patched"),
    ("libz-ng-sys", "=1.1.22"),
    ("libz-sys", "=1.1.20"),
    ("onig_sys", "=69.8.1"),
    ("tree-sitter", "=0.24.7"),
    ("tree-sitter-c", "=0.23.4"),
    ("clipper-sys", "=0.7.2"),
    ("meshopt", "=0.4.1"),
    ("cadical", "=0.1.16"),
];

/// Where the sources are.
#[derive(Clone)]
pub struct Sources {
    vendored: PathBuf,
    /// Whether they are there.
    fetched: bool,
}

impl Sources {
    /// Where sources are to be, for lists of cases: nothing is fetched, and no folder has files.
    pub fn unfetched() -> Sources {
        Sources { vendored: workspace::scratch().join("sources/vendor"), fetched: false }
    }

    /// Fetches what is not there yet.
    pub fn fetch() -> Result<Sources> {
        let folder = workspace::scratch().join("sources");
        let vendored = folder.join("vendor");
        let mut manifest = String::from(
            "[package]\nname = \"sources\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n",
        );
        for (name, version) in PINNED {
            manifest += &format!("{name} = \"{version}\"\n");
        }
        // The manifest is written last of all: it says that the rest is complete.
        let complete = folder.join("complete.toml");
        if fs::read_to_string(&complete).is_ok_and(|before| before == manifest) {
            return Ok(Sources { vendored, fetched: true });
        }
        println!("fetching sources of real programs");
        workspace::fresh(&folder)?;
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fs::write(folder.join("Cargo.toml"), &manifest)?;
        command::succeed(workspace::cargo().args(["vendor", "--quiet", "vendor"]).current_dir(&folder))?;
        fs::write(complete, manifest)?;
        Ok(Sources { vendored, fetched: true })
    }

    /// The files of a folder with one of these extensions, sorted.
    pub fn files(&self, folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
        if self.fetched { files(folder, extensions) } else { Ok(Vec::new()) }
    }

    fn package(&self, name: &str) -> PathBuf {
        self.vendored.join(name)
    }

    /// The folder with `sqlite3.c`.
    pub fn sqlite(&self) -> PathBuf {
        self.package("libsqlite3-sys").join("sqlite3")
    }

    /// The folder with the C files of a Lua that crashes in `debug.getlocal`.
    pub fn lua_that_crashes(&self) -> PathBuf {
        self.package("lua-src").join("lua-5.2.4")
    }

    /// The folder with Lua's C files.
    pub fn lua(&self) -> PathBuf {
        self.package("lua-src").join("lua-5.4.7")
    }

    /// zstd's `lib` folder.
    pub fn zstd(&self) -> PathBuf {
        self.package("zstd-sys").join("zstd/lib")
    }

    /// The folder with bzip2's C files.
    pub fn bzip2(&self) -> PathBuf {
        self.package("bzip2-sys").join("bzip2-1.0.8")
    }

    /// The folder with zlib's C files.
    pub fn zlib(&self) -> PathBuf {
        self.package("libz-sys").join("src/zlib")
    }

    /// The folder with Oniguruma's C files.
    pub fn oniguruma(&self) -> PathBuf {
        self.package("onig_sys").join("oniguruma/src")
    }

    /// The package tree-sitter: `include` and `src`.
    pub fn tree_sitter(&self) -> PathBuf {
        self.package("tree-sitter")
    }

    /// The folder with tree-sitter's parser of C.
    pub fn tree_sitter_c(&self) -> PathBuf {
        self.package("tree-sitter-c").join("src")
    }

    /// The folder with `clipper.cpp`.
    pub fn clipper(&self) -> PathBuf {
        self.package("clipper-sys").join("clipper")
    }

    /// The folder with CaDiCaL's C++ files.
    pub fn cadical(&self) -> PathBuf {
        self.package("cadical").join("cadical/src")
    }

    /// The folder with meshoptimizer's C++ files.
    pub fn meshoptimizer(&self) -> PathBuf {
        self.package("meshopt").join("vendor/src")
    }

    /// zlib-ng with its CMakeLists.txt.
    pub fn zlib_ng(&self) -> PathBuf {
        self.package("libz-ng-sys").join("src/zlib-ng")
    }

    /// jemalloc with its configure.ac.
    pub fn jemalloc(&self) -> PathBuf {
        self.package("jemalloc-sys").join("jemalloc")
    }

    /// The package ripgrep, with the Cargo.lock that it was published with.
    pub fn ripgrep(&self) -> PathBuf {
        self.package("ripgrep")
    }
}

/// The files of a folder with one of the extensions, sorted.
pub fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted)) {
            found.push(path);
        }
    }
    if found.is_empty() {
        bail!("no sources in {}", folder.display());
    }
    found.sort();
    Ok(found)
}
