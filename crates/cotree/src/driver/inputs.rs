//! Whether a link has bitcode at all. One that has none gets no runtime, and nothing else of ours either.
//!
//! In doubt the answer is yes: the linker plugin then finds out.

use cotree_lto::input::Input;
use cotree_profile::regular;
use object::read::archive::ArchiveFile;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// May one of the files be bitcode that a linker's arguments name, by their path or as a library?
pub fn may_have_bitcode(arguments: &[OsString]) -> bool {
    let joined = |argument: &OsString, option: &[u8]| {
        argument.as_bytes().strip_prefix(option).map(|value| OsStr::from_bytes(value).to_owned())
    };
    let next = arguments.iter().skip(1).map(Some).chain([None]);
    let mut folders: Vec<OsString> = Vec::new();
    let mut libraries: Vec<OsString> = Vec::new();
    for (argument, next) in arguments.iter().zip(next) {
        let value = |value: OsString| if value.is_empty() { next.cloned() } else { Some(value) };
        if let Some(folder) = joined(argument, b"-L").or_else(|| joined(argument, b"--library-path=")) {
            folders.extend(value(folder));
        } else if let Some(library) = joined(argument, b"-l").or_else(|| joined(argument, b"--library=")) {
            libraries.extend(value(library));
        }
    }
    let files = |library: &OsString| -> Vec<PathBuf> {
        let file = match library.as_bytes().strip_prefix(b":") {
            Some(file) => OsStr::from_bytes(file).to_owned(),
            None => format!("lib{}.a", library.to_string_lossy()).into(),
        };
        folders.iter().map(|folder| Path::new(folder).join(&file)).collect()
    };
    let named = arguments.iter().filter(|argument| !argument.as_bytes().starts_with(b"-")).map(PathBuf::from);
    named.chain(libraries.iter().flat_map(files)).any(|path| may_be_bitcode(&path))
}

fn may_be_bitcode(path: &Path) -> bool {
    // What can't be read is for the linker to complain about.
    let Ok(mut file) = regular::open(path) else { return false };
    let mut magic = Vec::new();
    if file.by_ref().take(20).read_to_end(&mut magic).is_err() {
        return false;
    }
    match magic.as_slice() {
        b"" => false,
        // Executables and shared libraries are none, whatever their size.
        [0x7f, b'E', b'L', b'F', rest @ ..] if rest.get(12) != Some(&1) => false,
        [0x7f, b'E', b'L', b'F', ..] | [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => {
            let mut bytes = Vec::new();
            let read = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
            read.is_err() || holds_bitcode(&bytes)
        }
        // Bitcode, a thin archive, a script that names further files.
        _ => true,
    }
}

fn holds_bitcode(bytes: &[u8]) -> bool {
    let native = |data: &[u8]| matches!(Input::recognise(data), Input::Native | Input::Shared | Input::Other);
    match ArchiveFile::parse(bytes) {
        Ok(archive) => !archive.members().all(|member| member.is_ok_and(|member| member.data(bytes).is_ok_and(native))),
        Err(_) => !native(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_libraries_are_looked_into() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).into_os_string();
        let archive = b"!<arch>\nx.o/            0           0     0     644     4         `\nBC\xC0\xDE";
        for (name, bytes) in [
            ("a.o", &b"BC\xC0\xDE"[..]),
            ("libx.a", archive),
            ("empty.a", b"!<arch>\n"),
            ("thin.a", b"!<thin>\n"),
            ("script", b"INPUT(a.o)"),
            ("nothing", b""),
        ] {
            std::fs::write(path(name), bytes).expect("a file");
        }
        let l = [&b"-L"[..], folder.path().as_os_str().as_bytes()].concat();
        let l = OsStr::from_bytes(&l).to_owned();
        for file in ["a.o", "libx.a", "thin.a", "script"] {
            assert!(may_have_bitcode(&["-o".into(), "absent".into(), path(file)]), "{file}");
        }
        assert!(may_have_bitcode(&[l.clone(), "-lx".into()]) && may_have_bitcode(&[l.clone(), "-l:a.o".into()]));
        assert!(!may_have_bitcode(&["-lx".into(), "-L/absent".into()]));
        assert!(!may_have_bitcode(&[l, "-ly".into(), path("empty.a"), path("nothing"), folder.path().into()]));
    }
}
