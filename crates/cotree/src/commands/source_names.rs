//! One name for each source file, however compilers have spelt it: `./a.h`, `sub/../a.h` and `/home/me/project/a.h` are
//! one file.
//!
//! A `..` takes the folder before it away, unless that is a symbolic link on this machine: then it leads up from where
//! the link leads to. Folders that are gone are taken for folders. Other symbolic links stay as they are, unless they
//! are to be resolved (`--resolve-symlinks`): where a path leads may differ from machine to machine, but names should
//! not.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How source files are named.
#[derive(Clone, Debug, Default)]
pub struct SourceNames {
    /// Prefixes of recorded paths and their replacements.
    moved: Vec<(String, String)>,
    /// Symbolic links are resolved.
    resolved: bool,
}

impl SourceNames {
    /// Sources that were at the first path of a pair are at the second one now.
    pub fn new(moved: Vec<(String, String)>, resolved: bool) -> Self {
        Self { moved, resolved }
    }

    /// The names of all source files of a profile, as compilers have recorded them. A relative name and an absolute one
    /// that mean one file of the current folder become the absolute one.
    pub fn of_all<'a>(&self, recorded: impl IntoIterator<Item = &'a String>) -> Vec<String> {
        let mut names: Vec<String> = recorded.into_iter().map(|path| self.of(path)).collect();
        let Ok(here) = env::current_dir() else { return names };
        let absolute: HashSet<PathBuf> =
            names.iter().filter(|name| name.starts_with('/')).map(|name| self.final_name(name.into())).collect();
        for name in names.iter_mut().filter(|name| !name.starts_with('/')) {
            let whole = self.final_name(plain(&here.join(&*name)));
            if absolute.contains(&whole)
                && whole.exists()
                && let Some(whole) = whole.to_str()
            {
                whole.clone_into(name);
            }
        }
        names
    }

    /// The name of one source file.
    fn of(&self, recorded: &str) -> String {
        let moved = self.moved(recorded).unwrap_or_else(|| {
            let name = plain(Path::new(recorded));
            name.to_str().and_then(|name| self.moved(name)).unwrap_or_else(|| recorded.to_owned())
        });
        let name = self.final_name(plain(Path::new(&moved)));
        // What is nothing but dots has no better name.
        name.to_str().filter(|name| !name.is_empty()).map_or(moved.clone(), str::to_owned)
    }

    /// Replaces the prefix of a path, if one of those that were moved fits: whole folders only.
    fn moved(&self, path: &str) -> Option<String> {
        self.moved.iter().find_map(|(old, new)| {
            let rest = path.strip_prefix(old.as_str())?;
            (rest.is_empty() || rest.starts_with('/') || old.ends_with('/')).then(|| format!("{new}{rest}"))
        })
    }

    fn final_name(&self, name: PathBuf) -> PathBuf {
        if self.resolved { fs::canonicalize(&name).unwrap_or(name) } else { name }
    }
}

/// A path without `.`, and without each `..` behind the name of a folder.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if fs::symlink_metadata(&plain).is_ok_and(|data| data.is_symlink())
                    && let Ok(target) = fs::canonicalize(&plain)
                {
                    plain = target;
                }
                match plain.components().next_back() {
                    Some(Component::Normal(_)) => drop(plain.pop()),
                    // There is nothing above the root.
                    Some(Component::RootDir) => {}
                    _ => plain.push(part),
                }
            }
            _ => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn named(names: &SourceNames, recorded: &[&str]) -> Vec<String> {
        names.of_all(&recorded.iter().map(|&path| path.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn spellings_of_one_path_are_one() {
        let spelt = ["/gone/a.h", "/gone/./a.h", "/gone/b/../a.h", "//gone/b/c/../../a.h", "/../gone/a.h"];
        assert_eq!(named(&SourceNames::default(), &spelt), ["/gone/a.h"; 5]);
        let relative = ["./a.h", "b/../a.h", "../a.h", "b/../../a.h", "."];
        assert_eq!(named(&SourceNames::default(), &relative), ["a.h", "a.h", "../a.h", "../a.h", "."]);
    }

    #[test]
    fn prefixes_are_whole_folders() {
        let names = SourceNames::new(vec![("/build".into(), "/home/me".into()), (".".into(), "/src".into())], false);
        let recorded = ["/build/a.c", "/builder/a.c", "/x/../build/a.c", "./a.c"];
        assert_eq!(named(&names, &recorded), ["/home/me/a.c", "/builder/a.c", "/home/me/a.c", "/src/a.c"]);
    }

    #[test]
    fn symbolic_links_lead_up_from_where_they_lead_to() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a path");
        fs::create_dir_all(root.join("real/deep")).expect("a folder");
        fs::write(root.join("real/a.h"), "").expect("a file");
        symlink(root.join("real/deep"), root.join("link")).expect("a link");
        symlink(root.join("real"), root.join("other")).expect("a link");
        let path = |end: &str| root.join(end).to_str().expect("text").to_owned();
        let recorded = [path("link/../a.h"), path("real/a.h"), path("other/a.h"), path("none/../a.h")];
        let expected = |third: &str| [path("real/a.h"), path("real/a.h"), path(third), path("a.h")];
        assert_eq!(SourceNames::default().of_all(&recorded), expected("other/a.h"));
        assert_eq!(SourceNames::new(Vec::new(), true).of_all(&recorded), expected("real/a.h"));
    }
}
