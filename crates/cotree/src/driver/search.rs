//! Finds tools in PATH.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first executable file of that name in PATH; a name with a slash is a path already.
pub fn in_path(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let name = Path::new(name.as_ref());
    if name.components().count() > 1 {
        return is_executable(name).then(|| name.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The newest versioned `NAME` (`clang-22`, `clang-21`, …), unless plain `NAME` is there.
pub fn newest(name: &str) -> Option<PathBuf> {
    // Future versions cost one lookup each.
    in_path(name).or_else(|| (14..=40).rev().find_map(|version| in_path(format!("{name}-{version}"))))
}
