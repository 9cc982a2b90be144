//! Line counts, read from gcov's text and from lcov tracefiles.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Counts by file and line. What several objects say of one line is added up.
#[derive(Default)]
pub struct Lines {
    /// Counts by file and line.
    pub counts: BTreeMap<(PathBuf, u32), u64>,
}

impl Lines {
    fn add(&mut self, file: &Path, line: u32, count: u64) {
        // Headers of the system are other people's business, and not the same for all compilers.
        if !file.starts_with("/usr") {
            *self.counts.entry((file.to_owned(), line)).or_default() += count;
        }
    }

    /// `COUNT:LINE:TEXT`; line 0 is a header that names the file. `-` is no code, `#####` and `=====` are code that
    /// never ran, a star behind the count tells of blocks in the line that never ran.
    pub fn add_gcov(&mut self, text: &str) {
        let mut file = PathBuf::new();
        for row in text.lines() {
            let mut parts = row.splitn(3, ':');
            let (Some(count), Some(line), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { continue };
            let Ok(line) = line.trim().parse::<u32>() else { continue };
            let count = count.trim().trim_end_matches('*');
            if line == 0 {
                if let Some(name) = rest.strip_prefix("Source:") {
                    file = normal(Path::new(name));
                }
                continue;
            }
            match count {
                "-" => {}
                "#####" | "=====" => self.add(&file, line, 0),
                _ => {
                    if let Ok(count) = count.parse() {
                        self.add(&file, line, count);
                    }
                }
            }
        }
    }

    /// `SF:FILE` and `DA:LINE,COUNT`.
    pub fn add_lcov(&mut self, text: &str) {
        let mut file = PathBuf::new();
        for row in text.lines() {
            if let Some(name) = row.strip_prefix("SF:") {
                file = normal(Path::new(name));
            } else if let Some((line, count)) = row.strip_prefix("DA:").and_then(|row| row.split_once(','))
                && let (Ok(line), Ok(count)) = (line.parse(), count.parse())
            {
                self.add(&file, line, count);
            }
        }
    }
}

/// Without `.` and `..`, as compilers keep them from include paths.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_say_the_same() {
        let mut gcov = Lines::default();
        gcov.add_gcov("        -:    0:Source:/a/../b/x.c\n        -:    1:int x;\n      12*:    2:f();\n    #####:    3:g(a:b);\n");
        let mut lcov = Lines::default();
        lcov.add_lcov("TN:\nSF:/b/x.c\nDA:2,12\nDA:3,0\nend_of_record\n");
        assert_eq!(gcov.counts, lcov.counts);
        assert_eq!(gcov.counts.len(), 2);
    }
}
