//! Source texts: where views get them, and how they are cut into lines.

use crate::visible;
use std::collections::HashMap;
use std::rc::Rc;

/// Where source texts come from.
pub trait Sources {
    /// The text of a source file, if available.
    fn text(&self, path: &str) -> Option<Rc<SourceText>>;

    /// The bytes of a source file, if available: columns of the compiler's coverage map count them.
    fn bytes(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }

    /// Does the file exist?
    fn exists(&self, path: &str) -> bool {
        self.text(path).is_some()
    }
}

/// A source file, cut into lines.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    lines: Vec<String>,
}

impl SourceText {
    /// Cuts a text into lines. Bytes that are not UTF-8 are replaced, and control characters made visible.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self {
            lines: bytes
                .split(|&b| b == b'\n')
                .map(|l| visible::line(String::from_utf8_lossy(l).trim_end_matches('\r')).into_owned())
                .collect(),
        }
    }

    /// A line, from 1.
    #[must_use]
    pub fn line(&self, line: u32) -> Option<&str> {
        (line as usize).checked_sub(1).and_then(|l| self.lines.get(l)).map(String::as_str)
    }

    /// How many lines there are; an empty one after the last line break does not count.
    #[must_use]
    pub fn len(&self) -> u32 {
        let lines = self.lines.len() - usize::from(self.lines.last().is_some_and(String::is_empty));
        u32::try_from(lines).unwrap_or(u32::MAX)
    }

    /// Has it no lines?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// No sources at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSources;

impl Sources for NoSources {
    fn text(&self, _path: &str) -> Option<Rc<SourceText>> {
        None
    }
}

/// Sources in memory.
impl Sources for HashMap<String, Rc<SourceText>> {
    fn text(&self, path: &str) -> Option<Rc<SourceText>> {
        self.get(path).cloned()
    }
}
