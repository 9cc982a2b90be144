//! Opens files whose names may come from others: out of a profile, or from a folder that others may write to.
//!
//! Such a name may lead to a pipe, for whose other end one would wait for ever, or to a device, which does something
//! when it is opened. So nothing is waited for, and what is no regular file is an error.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More is no bitcode, object, archive or file of costs.
pub const LARGEST_INPUT: u64 = 4 << 30;

/// Opens a regular file to read it.
///
/// # Errors
/// Errors of the file system, or an error of kind `IsADirectory` or `InvalidInput` for what is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?;
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device, and no regular file"));
    }
    Ok(file)
}

/// Reads a regular file of UTF-8, if it is not larger than this.
///
/// # Errors
/// As [`read`], and of kind `InvalidData` for what is no text.
pub fn read_text(path: &Path, largest: u64) -> io::Result<String> {
    String::from_utf8(read(path, largest)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

/// Reads all of a regular file, if it is not larger than this.
///
/// # Errors
/// As [`open`], and of kind `FileTooLarge`.
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Files that the kernel makes up have no length, and may have no end.
    open(path)?.take(largest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn nothing_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        let kind = |path: &Path| open(path).expect_err("no regular file").kind();
        assert_eq!(kind(&pipe), io::ErrorKind::InvalidInput);
        assert_eq!(kind(Path::new("/dev/null")), io::ErrorKind::InvalidInput);
        assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
        let file = folder.path().join("file");
        std::fs::write(&file, "four").expect("a file");
        assert_eq!(read(&file, 4).expect("its bytes"), b"four");
        assert_eq!(read(&file, 3).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
    }
}
