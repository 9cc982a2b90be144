//! Archives that the linker can't look into.
//!
//! An `ar` that does not know bitcode puts it into archives all the same, but not into their index of symbols; the
//! linker then misses every symbol of theirs, and says nothing of the reason.

use cotree_lto::input::Input;
use cotree_profile::regular;
use object::read::archive::ArchiveFile;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The first archive of a link that holds bitcode of which its index says nothing.
pub fn without_index(arguments: &[OsString]) -> Option<PathBuf> {
    named(arguments)
        .into_iter()
        .find(|path| regular::read(path, regular::LARGEST_INPUT).is_ok_and(|bytes| leaves_bitcode_out(&bytes)))
}

/// The archives that a linker's arguments name, by their path or as a library.
fn named(arguments: &[OsString]) -> Vec<PathBuf> {
    let joined = |argument: &OsString, option: &[u8]| {
        argument.as_bytes().strip_prefix(option).map(|value| OsStr::from_bytes(value).to_owned())
    };
    let folders: Vec<OsString> = arguments.iter().filter_map(|argument| joined(argument, b"-L")).collect();
    let mut archives = Vec::new();
    for argument in arguments {
        if let Some(library) = joined(argument, b"-l") {
            let file = format!("lib{}.a", library.to_string_lossy());
            archives.extend(folders.iter().map(|folder| Path::new(folder).join(&file)).find(|path| path.exists()));
        } else if Path::new(argument).extension().is_some_and(|extension| extension == "a") {
            archives.push(argument.into());
        }
    }
    archives
}

fn leaves_bitcode_out(archive: &[u8]) -> bool {
    let Ok(file) = ArchiveFile::parse(archive) else { return false };
    let symbols = file.symbols().ok().flatten().into_iter().flatten().flatten();
    let indexed: HashSet<(u64, u64)> =
        symbols.filter_map(|symbol| file.member(symbol.offset()).ok()).map(|member| member.file_range()).collect();
    let is_bitcode = |data: &[u8]| match Input::recognise(data) {
        Input::Bitcode(range, _) => range == (0..data.len()),
        _ => false,
    };
    let mut bitcode = file.members().flatten().filter(|member| member.data(archive).is_ok_and(is_bitcode)).peekable();
    // A member may well define nothing that others can use, but hardly all of them.
    bitcode.peek().is_some() && bitcode.all(|member| !indexed.contains(&member.file_range()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_by_path_and_as_libraries() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libz.a");
        std::fs::write(&library, "").unwrap();
        let option = |name: &str| OsString::from(format!("{name}{}", folder.path().display()));
        let arguments =
            ["-o".into(), "out".into(), "a.o".into(), "x/liby.a".into(), option("-L"), "-lz".into(), "-lc".into()];
        assert_eq!(named(&arguments), [PathBuf::from("x/liby.a"), library]);
    }

    #[test]
    fn nothing_is_said_of_what_is_no_archive() {
        assert!(!leaves_bitcode_out(b"GROUP ( libc.so.6 )"));
        assert!(!leaves_bitcode_out(b"!<arch>\n"));
        assert!(!leaves_bitcode_out(b""));
    }
}
