//! Folders that appear whole or not at all.
//!
//! Files go into a temporary folder beside the target, which takes the target's name when all are written. What stood
//! there is then gone, so only a folder that cotree has written is replaced, or an empty one: a file in it lists what
//! was written, and anything else in there is an error. An error or a kill before the end leaves the old folder in
//! place. Files are not forced to disk one by one, as they can be written again.

use crate::atomic::WriteError;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// The list of what was written: a line that says what it is, then a path per line.
const LIST: &str = ".cotree-folder";
const FIRST_LINE: &str = "cotree-folder/1";

/// A folder that is being written.
pub struct NewFolder {
    target: PathBuf,
    temporary: TempDir,
    written: BTreeSet<String>,
}

impl NewFolder {
    /// Begins a folder that is to take the place of `target`. Folders above it are made.
    ///
    /// # Errors
    /// The kind is `AlreadyExists` if there is something that must not be replaced; other errors are the file system's.
    pub fn create(target: &Path) -> Result<Self, WriteError> {
        let create = || {
            // A link is kept: what it leads to is replaced.
            let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
            check_replaceable(&target)?;
            let above = above(&target);
            fs::create_dir_all(above)?;
            let mut builder = tempfile::Builder::new();
            builder.prefix(".cotree-").suffix(".tmp").permissions(fs::Permissions::from_mode(0o777));
            Ok(Self { temporary: builder.tempdir_in(above)?, written: BTreeSet::new(), target })
        };
        create().map_err(|cause| WriteError { path: target.to_owned(), cause })
    }

    /// Writes a file. Its path is relative, with `/`, and leads nowhere else.
    ///
    /// # Errors
    /// The file system's, and `InvalidInput` for another path.
    pub fn write(&mut self, path: &str, content: &[u8]) -> io::Result<()> {
        let plain = |part| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(plain) || path.is_empty() || path.contains('\n') || path == LIST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?} is no path in a folder")));
        }
        let place = self.temporary.path().join(path);
        fs::create_dir_all(above(&place))?;
        fs::write(&place, content)?;
        self.written.insert(path.to_owned());
        Ok(())
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    /// The file system's; what was in the place is then still there.
    pub fn finish(self) -> Result<(), WriteError> {
        let Self { target, temporary, written } = self;
        let finish = || {
            let mut list = format!("{FIRST_LINE}\n");
            written.iter().for_each(|path| list += &format!("{path}\n"));
            fs::write(temporary.path().join(LIST), list)?;
            check_replaceable(&target)?;
            if fs::symlink_metadata(&target).is_err() {
                fs::rename(temporary.path(), &target)?;
                // Nothing is left that would have to be removed.
                let _ = temporary.keep();
                return Ok(());
            }
            exchange(temporary.path(), &target)?;
            temporary.close()
        };
        finish().map_err(|cause| WriteError { path: target.clone(), cause })
    }
}

/// Lets two folders change places: at once where the file system can do that, and else in three steps.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    let aside = new.with_extension("old");
    fs::rename(old, &aside)?;
    if let Err(error) = fs::rename(new, old) {
        fs::rename(&aside, old)?;
        return Err(error);
    }
    fs::rename(&aside, new)
}

fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks that nothing is in a place but an empty folder, or one whose files are all in its list.
fn check_replaceable(target: &Path) -> io::Result<()> {
    let refused = |why: String| Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(data) if !data.is_dir() => return refused("it is no folder (choose another name)".into()),
        Ok(_) => {}
    }
    if std::env::current_dir().is_ok_and(|here| here.starts_with(target)) && fs::read_dir(target)?.next().is_some() {
        return refused("it is the current folder, or above it (run cotree elsewhere, or choose another name)".into());
    }
    let list = fs::read_to_string(target.join(LIST)).unwrap_or_default();
    let mut lines = list.lines();
    let own = (lines.next() == Some(FIRST_LINE)).then_some(LIST);
    let known: BTreeSet<PathBuf> = own.into_iter().chain(lines).map(|path| target.join(path)).collect();
    let mut folders = vec![target.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if !kind.is_file() || !known.contains(&entry.path()) {
                let name = entry.path();
                let name = name.strip_prefix(target).unwrap_or(&name).display().to_string();
                return refused(format!(
                    "{name} in it was not written by cotree (remove it, or choose another folder)"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(target: &Path, files: &[(&str, &str)]) -> Result<(), WriteError> {
        let mut folder = NewFolder::create(target)?;
        for (path, content) in files {
            folder.write(path, content.as_bytes()).expect("a file");
        }
        folder.finish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_what_was_written_is_replaced() {
        let dir = TempDir::new().expect("a folder");
        let target = dir.path().join("a/html");
        write(&target, &[("index.html", "1"), ("files/x", "2")]).expect("a folder");
        assert_eq!(names(&target), [LIST, "files", "index.html"]);
        write(&target, &[("index.html", "3")]).expect("its own folder");
        assert_eq!(
            (names(&target), names(&dir.path().join("a"))),
            (vec![LIST.into(), "index.html".into()], vec!["html".into()])
        );
        fs::write(target.join("notes"), "mine").expect("a file");
        let refused = write(&target, &[("index.html", "4")]).expect_err("a file of the user's").to_string();
        assert!(refused.contains("notes in it was not written by cotree"), "{refused}");
        assert_eq!(fs::read_to_string(target.join("index.html")).expect("a file"), "3");
        let linked = dir.path().join("b/html");
        fs::create_dir_all(&linked).expect("a folder");
        write(&linked, &[("x", "1")]).expect("an empty folder");
        std::os::unix::fs::symlink("x", linked.join("y")).expect("a link");
        assert!(write(&linked, &[("x", "2")]).is_err());
        fs::write(dir.path().join("file"), "").expect("a file");
        assert!(write(&dir.path().join("file"), &[]).expect_err("a file").to_string().contains("it is no folder"));
    }

    #[test]
    fn paths_stay_in_the_folder() {
        let dir = TempDir::new().expect("a folder");
        let mut folder = NewFolder::create(&dir.path().join("html")).expect("a folder");
        for path in ["", "/etc/x", "../x", "a/../../x", ".", LIST, "a\nb"] {
            assert!(folder.write(path, b"").is_err(), "{path:?}");
        }
        drop(folder);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn folders_change_places_without_the_kernels_help() {
        let dir = TempDir::new().expect("a folder");
        let [new, old] = ["new.tmp", "old"].map(|name| dir.path().join(name));
        for (folder, name) in [(&new, "x"), (&old, "y")] {
            fs::create_dir(folder).expect("a folder");
            fs::write(folder.join(name), "").expect("a file");
        }
        exchange(&new, &old).expect("they change places");
        assert_eq!((names(&old), names(&new)), (vec!["x".into()], vec!["y".into()]));
    }
}
