//! `@file` arguments of compilers and linkers, read as GNU tools and clang do.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Files may name files; more than this is a mistake or a loop.
const DEPTH: usize = 16;

/// The arguments with response files replaced by what is in them. A file that can't be read stays an argument, as the
/// tools have it.
pub fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::new();
    push(arguments, DEPTH, &mut expanded);
    expanded
}

fn push(arguments: &[OsString], depth: usize, expanded: &mut Vec<OsString>) {
    for argument in arguments {
        let file = argument.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        match file.and_then(|path| std::fs::read(Path::new(OsStr::from_bytes(path))).ok()) {
            Some(text) => push(&split(&text), depth - 1, expanded),
            None => expanded.push(argument.clone()),
        }
    }
}

/// White space separates, both kinds of quotes hold together, a backslash takes the next byte as it is.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => current.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                current.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(byte),
        }
    }
    arguments.extend(current);
    arguments.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes() {
        assert_eq!(split(br#" a "b c" 'd "e' f\ g "" "#), ["a", "b c", "d \"e", "f g", ""]);
    }

    #[test]
    fn files_in_files() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::write(path("inner"), "-S").unwrap();
        std::fs::write(path("outer"), format!("-c @{}", path("inner"))).unwrap();
        std::fs::write(path("loop"), format!("@{}", path("loop"))).unwrap();
        let arguments = [format!("@{}", path("outer")).into(), "@/absent".into()];
        assert_eq!(expand(&arguments), ["-c", "-S", "@/absent"]);
        expand(&[format!("@{}", path("loop")).into()]);
    }
}
