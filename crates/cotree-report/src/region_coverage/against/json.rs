//! The comparison for programs: `cotree-coverage-against/1` (docs/json.md).

use super::category::Category;
use super::compare::Categories;
use super::comparison::{Comparison, Matched, NamedFile};
use crate::region_coverage::ratio::Ratio;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the document.
///
/// # Errors
/// If the output can't be written.
pub fn write(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema: "cotree-coverage-against/1",
        total: Total {
            lines: Sum::from(&comparison.lines),
            functions: Sum::from(&comparison.functions),
            branches: Sum::from(&comparison.branches),
        },
        files: comparison.files.iter().map(FileDocument::from).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

type Parts = BTreeMap<&'static str, Vec<[u32; 2]>>;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    total: Total,
    files: Vec<FileDocument<'a>>,
}

#[derive(Serialize)]
struct Total {
    lines: Sum,
    functions: Sum,
    branches: Sum,
}

#[derive(Serialize)]
struct Sum {
    before: Share,
    now: Share,
    categories: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct Share {
    covered: u64,
    total: u64,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_before: Option<&'a str>,
    lines_matched: &'static str,
    #[serde(flatten)]
    sums: Total,
    parts: Parts,
    branch_lines: Parts,
    changed_functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    category: &'static str,
    line: u32,
    name: &'a str,
}

impl From<&Categories> for Sum {
    fn from(categories: &Categories) -> Self {
        let share = |ratio: Ratio| Share { covered: ratio.covered, total: ratio.total };
        let counts = Category::all().map(|category| (category.code(), categories.of(category)));
        Self {
            before: share(categories.before),
            now: share(categories.now),
            categories: counts.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

/// Whether code of a category is as it was.
fn is_unchanged(category: Category) -> bool {
    matches!(category, Category::Cbc | Category::Ubc)
}

impl<'a> From<&'a NamedFile> for FileDocument<'a> {
    fn from(named: &'a NamedFile) -> Self {
        let parts = |of: &dyn Fn(Category) -> Vec<(u32, u32)>| -> Parts {
            let changed = Category::all().filter(|category| !is_unchanged(*category));
            let all = changed.map(|category| {
                (category.code(), of(category).into_iter().map(|(first, last)| [first, last]).collect::<Vec<_>>())
            });
            all.filter(|(_, parts)| !parts.is_empty()).collect()
        };
        let NamedFile { path, before, matched, file } = named;
        let functions = file.each_function.iter().filter(|function| !is_unchanged(function.category));
        Self {
            path,
            path_before: before.as_deref(),
            lines_matched: match matched {
                Matched::Same => "same",
                Matched::Edited => "edited",
                Matched::ByNumber => "by number",
            },
            sums: Total {
                lines: Sum::from(&file.lines),
                functions: Sum::from(&file.functions),
                branches: Sum::from(&file.branches),
            },
            parts: parts(&|category| named.lines(category)),
            branch_lines: parts(&|category| named.lines_of_branches(category)),
            changed_functions: functions
                .map(|function| Function {
                    category: function.category.code(),
                    line: function.line,
                    name: &function.name,
                })
                .collect(),
        }
    }
}
