//! Which functions of interest the shared libraries of a link call: those that it names, and those that these need.
//!
//! A library may start threads on behalf of the program (OpenMP's runtime, GLib), and these run the program's code.
//! Where libraries are needed that can't be found, they may do anything. Signal handlers and changes of stacks are not
//! looked for: most libraries that have any run none of the program's code there.

use crate::input;
use memmap2::Mmap;
use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn, ElfFile};
use object::{Object, ObjectSymbol};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What stands for a library that was not found.
const ANY_STARTER: &str = "pthread_create";

/// What one shared library says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct Library {
    /// Names of functions that start threads, or load libraries that may, as far as it calls them.
    starters: Vec<String>,
    /// The libraries that it needs.
    needed: Vec<Vec<u8>>,
    /// Folders in which these are looked for.
    folders: Vec<PathBuf>,
}

/// The names of interest that these libraries, and those that they need, refer to. `folders` are those that the link's
/// command line names.
#[must_use]
pub fn starters(libraries: &BTreeSet<PathBuf>, folders: &[PathBuf]) -> BTreeSet<String> {
    let system = system_folders();
    let mut starters = BTreeSet::new();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut work: Vec<PathBuf> = libraries.iter().cloned().collect();
    while let Some(path) = work.pop() {
        if is_of_toolchain(&path) || !seen.insert(fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
            continue;
        }
        let Some(library) = map(&path).and_then(|data| read(&data, &path)) else { continue };
        starters.extend(library.starters);
        let beside = path.parent().map(Path::to_owned);
        for name in library.needed {
            let name = OsStr::from_bytes(&name);
            if is_of_toolchain(Path::new(name)) {
                continue;
            }
            let folders = library.folders.iter().chain(folders).chain(&beside).chain(&system);
            match folders.map(|folder| folder.join(name)).find(|path| path.is_file()) {
                Some(found) => work.push(found),
                None => _ = starters.insert(ANY_STARTER.to_owned()),
            }
        }
    }
    starters
}

fn map(path: &Path) -> Option<Mmap> {
    let file = fs::File::open(path).ok()?;
    // SAFETY: a file that changes while it is being linked breaks the link in any case.
    unsafe { Mmap::map(&file) }.ok()
}

/// None if it is no shared library of this kind of machine.
fn read(data: &[u8], path: &Path) -> Option<Library> {
    if !input::is_shared(data) {
        return None;
    }
    let file = ElfFile::<FileHeader64<Endianness>>::parse(data).ok()?;
    let symbols = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    let starters = symbols
        .filter_map(|symbol| symbol.name_bytes().ok())
        .filter(|name| input::starts_threads(name))
        .map(|name| String::from_utf8_lossy(name).into_owned());
    let mut library = Library { starters: starters.collect(), ..Library::default() };
    let endian = file.endian();
    let Ok(Some((entries, strings))) = file.elf_section_table().dynamic(endian, data) else { return Some(library) };
    let strings = file.elf_section_table().strings(endian, data, strings).unwrap_or_default();
    for entry in entries {
        let Ok(text) = entry.string(endian, strings) else { continue };
        match entry.tag32(endian) {
            Some(DT_NEEDED) => library.needed.push(text.to_owned()),
            Some(DT_RPATH | DT_RUNPATH) => library.folders.extend(run_path(text, path)),
            _ => {}
        }
    }
    Some(library)
}

/// The folders of a run path, of which some may begin at the library's own.
fn run_path(text: &[u8], library: &Path) -> Vec<PathBuf> {
    let own = library.parent().unwrap_or(Path::new("."));
    let folder = |part: &[u8]| {
        let begins = [&b"$ORIGIN"[..], b"${ORIGIN}"].iter().find_map(|origin| part.strip_prefix(*origin));
        match begins {
            Some(rest) => own.join(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))),
            None => PathBuf::from(OsStr::from_bytes(part)),
        }
    };
    text.split(|&byte| byte == b':').filter(|part| !part.is_empty()).map(folder).collect()
}

/// Where the dynamic linker looks in the end.
fn system_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
        .map(|path| std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect())
        .unwrap_or_default();
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    if let Ok(entries) = fs::read_dir("/etc/ld.so.conf.d") {
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    for text in files.iter().filter_map(|file| fs::read_to_string(file).ok()) {
        folders.extend(text.lines().map(str::trim).filter(|line| line.starts_with('/')).map(PathBuf::from));
    }
    let usual = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
    folders.extend(usual.map(PathBuf::from));
    folders
}

/// Is it a library of the C library or of the compiler's? Whoever has these start threads names a function for it.
fn is_of_toolchain(path: &Path) -> bool {
    const NAMES: [&str; 15] = [
        "libc",
        "libm",
        "libmvec",
        "libpthread",
        "libdl",
        "librt",
        "libutil",
        "libresolv",
        "libanl",
        "libgcc_s",
        "libstdc++",
        "libc++",
        "libc++abi",
        "libunwind",
        "ld-linux-x86-64",
    ];
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // musl's libc is its dynamic linker, too.
    let of_musl = name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
    of_musl || name.split_once(".so").is_some_and(|(stem, _)| NAMES.contains(&stem) || stem.starts_with("libc-2."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_paths_begin_at_the_library() {
        let folders = run_path(b"$ORIGIN/../x:/opt/lib:${ORIGIN}", Path::new("/a/b/lib.so"));
        assert_eq!(folders, ["/a/b/../x", "/opt/lib", "/a/b/"].map(PathBuf::from));
    }

    #[test]
    fn the_toolchain_is_known_by_name() {
        for name in ["libc.so.6", "/lib64/ld-linux-x86-64.so.2", "libstdc++.so.6.0.30", "libc.musl-x86_64.so.1"] {
            assert!(is_of_toolchain(Path::new(name)), "{name}");
        }
        for name in ["libomp.so.5", "libglib-2.0.so.0", "libc.a", "libcurl.so.4"] {
            assert!(!is_of_toolchain(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn no_library_says_nothing() {
        assert_eq!(read(b"\x7fELF", Path::new("x")), None);
        assert_eq!(read(b"", Path::new("x")), None);
        assert!(starters(&BTreeSet::from([PathBuf::from("/nowhere/libx.so")]), &[]).is_empty());
    }
}
