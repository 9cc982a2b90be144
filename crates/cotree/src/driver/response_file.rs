//! Reads `@file` arguments of compilers and linkers as GNU tools and clang do.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Response files may name response files; deeper nesting is a mistake or a loop.
const DEPTH: usize = 16;

/// The arguments with response files replaced by their contents. A file that can't be read stays an argument, as with
/// the tools themselves.
pub fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::new();
    push(arguments, DEPTH, &mut expanded);
    expanded
}

/// A shell's `@<(…)` is a pipe, so that any file will do, but not one without an end.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    /// In bytes; the kernel takes no more from one command to another.
    const LARGEST: u64 = 64 << 20;
    let mut text = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

fn push(arguments: &[OsString], depth: usize, expanded: &mut Vec<OsString>) {
    for argument in arguments {
        let file = argument.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        match file.and_then(|path| read(Path::new(OsStr::from_bytes(path))).ok()) {
            Some(text) => push(&split(&text), depth - 1, expanded),
            None => expanded.push(argument.clone()),
        }
    }
}

/// Splits a text into arguments: white space separates, both kinds of quotes group, a backslash escapes the next byte.
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
