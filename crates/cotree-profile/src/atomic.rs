//! Files that appear whole or not at all.
//!
//! Output goes to a temporary file beside the target, which takes the target's name only when everything is on disk. A
//! full disk, an error or a kill leaves the old file in place.
//!
//! A link with the target's name is followed if it is the user's own, or root's. Others may have put theirs there to
//! have a file overwritten that only the user may write to, so such a link is an error.
//!
//! What a user names by mistake is not replaced, either: only what is of the kind that is written ([`Over::Own`]).

use crate::content::Content;
use crate::regular;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
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

/// What a file that is written may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// An empty file, and one whose content is of the same kind ([`Content`]).
    Own,
    /// Any file.
    Anything,
}

impl Over {
    /// What the user wants.
    #[must_use]
    pub fn forced(force: bool) -> Self {
        if force { Self::Anything } else { Self::Own }
    }
}

/// Writes a file through `fill`, atomically, with mode 0644 less the umask. A target that is no regular file
/// (`/dev/stdout`, a pipe) is written directly.
///
/// # Errors
/// The first error of the file system or of `fill`; the target is then as it was.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    write_over(path, Over::Anything, fill)
}

/// Writes a file as [`write()`] does, if there is nothing in its place that must not be replaced.
///
/// # Errors
/// As [`write()`], and of kind `AlreadyExists` for what must not be replaced.
pub fn write_over(
    path: &Path,
    over: Over,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    try_write(path, over, fill).map_err(|cause| WriteError { path: path.to_owned(), cause })
}

/// Writes a file through `fill` where nothing is yet, atomically, with mode 0644 less the umask.
///
/// # Errors
/// The first error of the file system or of `fill`, and then there is no file; of kind `AlreadyExists` if the name is
/// taken.
pub fn write_new(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let write = || {
        let temporary = filled(folder_of(path), fill)?;
        temporary.persist_noclobber(path).map_err(|e| e.error)
    };
    write().map(drop).map_err(|cause| WriteError { path: path.to_owned(), cause })
}

fn try_write(path: &Path, over: Over, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    check_links(path)?;
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => {
            return fill_and_flush(OpenOptions::new().write(true).open(path)?, fill).map(drop);
        }
        _ => {}
    }
    // A symbolic link is kept: replace the file that it points to.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut made = filled(folder_of(&target), fill)?;
    if over == Over::Own {
        made.as_file_mut().rewind()?;
        check_content(&target, Content::of(&head(made.as_file())?))?;
    }
    made.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

/// Checks that something of this kind may take the place of what is there now: before work whose result could then not
/// be written.
///
/// # Errors
/// The kind is `AlreadyExists`.
pub fn check(path: &Path, new: Content, over: Over) -> Result<(), WriteError> {
    let checked = if over == Over::Own && path.is_file() { check_content(path, new) } else { Ok(()) };
    checked.map_err(|cause| WriteError { path: path.to_owned(), cause })
}

fn check_content(path: &Path, new: Content) -> io::Result<()> {
    let old = match regular::open(path) {
        Ok(file) => head(&file)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    new.check_replaces(Content::of(&old), path).map_err(|why| {
        io::Error::new(io::ErrorKind::AlreadyExists, format!("{why} (choose another name, or give --force)"))
    })
}

/// The beginning of a file.
fn head(file: &fs::File) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(Content::HEAD).read_to_end(&mut head)?;
    Ok(head)
}

/// Are the links by which the path's last part leads elsewhere all the user's own, or root's?
fn check_links(path: &Path) -> io::Result<()> {
    /// The kernel follows no more.
    const MOST_LINKS: usize = 40;
    let user = rustix::process::geteuid().as_raw();
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(found) = fs::symlink_metadata(&place) else { return Ok(()) };
        if !found.is_symlink() {
            return Ok(());
        }
        if found.uid() != user && found.uid() != 0 {
            return Err(io::Error::other(
                "it is a symbolic link of another user, which is not followed (give the name of the file that it leads to)",
            ));
        }
        place = folder_of(&place).join(fs::read_link(&place)?);
    }
    Ok(())
}

/// The folder that a file is in.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A temporary file of a folder, with its content on disk.
fn filled(folder: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cotree-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o644));
    let temporary = builder.tempfile_in(folder)?;
    fill_and_flush(temporary.as_file(), fill)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

fn fill_and_flush<W: Write>(file: W, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)
}
