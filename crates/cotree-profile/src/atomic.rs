//! Files that appear whole or not at all.
//!
//! Output goes to a temporary file beside the target, which takes the target's name only when everything is on disk. A
//! full disk, an error or a kill leaves the old file in place.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An output file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {cause}{remedy}", path = .path.display(), remedy = remedy(.cause))]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub cause: io::Error,
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (make room, or write elsewhere; nothing was left behind)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (choose a place that you may write to)"
        }
        io::ErrorKind::IsADirectory => " (give the name of a file)",
        io::ErrorKind::NotFound => " (its folder does not exist)",
        _ => "",
    }
}

/// Writes a file through `fill`, atomically, with mode 0644 less the umask. A target that is no regular file (`/dev/stdout`, a pipe) is written
/// directly.
///
/// # Errors
/// The first error of the file system or of `fill`; the target is then as it was.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    try_write(path, fill).map_err(|cause| WriteError { path: path.to_owned(), cause })
}

fn try_write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => {
            return fill_and_flush(OpenOptions::new().write(true).open(path)?, fill).map(drop);
        }
        _ => {}
    }
    // A symbolic link is kept: replace the file that it points to.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cotree-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o644));
    let temporary = builder.tempfile_in(folder)?;
    fill_and_flush(temporary.as_file(), fill)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

fn fill_and_flush<W: Write>(file: W, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}
