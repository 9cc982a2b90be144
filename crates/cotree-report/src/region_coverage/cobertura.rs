//! Coverage as Cobertura's XML (`coverage-04.dtd`), which Jenkins, GitLab, Azure, gcovr and pycobertura read.
//!
//! A folder is a package, a file a class, a function a method. Each condition of a line is a `condition`, of which all,
//! half or none of the outcomes were seen.

use super::program::RegionCoverage;
use super::ratio::Ratio;
use super::records::records;
use crate::names::Names;
use crate::tracefile::{BranchRecord, FileRecords, FunctionRecord};
use crate::visible;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use std::collections::BTreeMap;
use std::io::{self, Write};

const DTD: &str = "coverage SYSTEM 'http://cobertura.sourceforge.net/xml/coverage-04.dtd'";

/// What a document says besides what ran.
#[derive(Clone, Debug)]
pub struct CoberturaOptions {
    /// The folder that paths are relative to. Files elsewhere have their whole paths.
    pub root: String,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// How functions are named.
    pub names: Names,
}

/// Lines and outcomes of conditions.
#[derive(Clone, Copy, Default)]
struct Rates {
    lines: Ratio,
    branches: Ratio,
}

impl Rates {
    fn of<'r>(
        lines: impl Iterator<Item = (&'r u32, &'r u64)>,
        branches: impl Iterator<Item = &'r BranchRecord>,
    ) -> Self {
        let mut rates = Self::default();
        lines.for_each(|(_, &count)| rates.lines.count(count > 0));
        let outcomes = branches.flat_map(|branch| &branch.outcomes);
        outcomes.for_each(|outcome| rates.branches.count(outcome.count > 0));
        rates
    }

    fn of_file(file: &FileRecords) -> Self {
        let there = file.branches.iter().filter(|branch| file.lines.contains_key(&branch.line));
        Self::of(file.lines.iter(), there)
    }

    fn add(&mut self, other: Self) {
        self.lines.add(other.lines);
        self.branches.add(other.branches);
    }
}

/// Without any there is nothing that did not run.
fn rate(ratio: Ratio) -> String {
    if ratio.total == 0 { "1".into() } else { (ratio.covered as f64 / ratio.total as f64).to_string() }
}

/// Writes the document of the files whose paths are wanted and that have functions.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    coverage: &RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool,
    options: &CoberturaOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let root = options.root.trim_end_matches('/');
    let mut packages: BTreeMap<String, Vec<FileRecords>> = BTreeMap::new();
    for mut file in records(coverage, wanted, options.names) {
        let short = file.path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        file.path = short.unwrap_or(&file.path).to_owned();
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        packages.entry(folder.to_owned()).or_default().push(file);
    }
    let mut all = Rates::default();
    packages.values().flatten().for_each(|file| all.add(Rates::of_file(file)));
    let mut document = Document { xml: Writer::new_with_indent(&mut *out, b' ', 1) };
    document.xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    document.xml.write_event(Event::DocType(BytesText::from_escaped(DTD)))?;
    let numbers = [all.lines.covered, all.lines.total, all.branches.covered, all.branches.total, options.timestamp];
    let [covered, valid, branches_covered, branches_valid, timestamp] = numbers.map(|number| number.to_string());
    document.open(
        "coverage",
        &[
            ("line-rate", &rate(all.lines)),
            ("branch-rate", &rate(all.branches)),
            ("lines-covered", &covered),
            ("lines-valid", &valid),
            ("branches-covered", &branches_covered),
            ("branches-valid", &branches_valid),
            ("complexity", "0"),
            ("version", concat!("cotree ", env!("CARGO_PKG_VERSION"))),
            ("timestamp", &timestamp),
        ],
    )?;
    document.open("sources", &[])?;
    document.open("source", &[])?;
    document.xml.write_event(Event::Text(BytesText::new(&visible::name(&options.root))))?;
    document.close("source")?;
    document.close("sources")?;
    document.open("packages", &[])?;
    for (folder, files) in &packages {
        document.package(folder, files)?;
    }
    document.close("packages")?;
    document.close("coverage")?;
    writeln!(out)
}

struct Document<'o> {
    xml: Writer<&'o mut dyn Write>,
}

impl Document<'_> {
    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) -> io::Result<()> {
        self.xml.write_event(Event::Start(BytesStart::new(name).with_attributes(attributes.iter().copied())))
    }

    fn close(&mut self, name: &str) -> io::Result<()> {
        self.xml.write_event(Event::End(BytesEnd::new(name)))
    }

    fn package(&mut self, folder: &str, files: &[FileRecords]) -> io::Result<()> {
        let mut rates = Rates::default();
        files.iter().for_each(|file| rates.add(Rates::of_file(file)));
        let name = visible::name(folder).replace('/', ".");
        self.rated("package", &[("name", &name)], rates)?;
        self.open("classes", &[])?;
        for file in files {
            self.class(file)?;
        }
        self.close("classes")?;
        self.close("package")
    }

    fn class(&mut self, file: &FileRecords) -> io::Result<()> {
        let path = visible::name(&file.path);
        let name = path.rsplit('/').next().unwrap_or(&path).replace('.', "_");
        self.rated("class", &[("name", &name), ("filename", &path)], Rates::of_file(file))?;
        self.open("methods", &[])?;
        for function in &file.functions {
            self.method(file, function)?;
        }
        self.close("methods")?;
        self.lines(file, 0, u32::MAX)?;
        self.close("class")
    }

    fn method(&mut self, file: &FileRecords, function: &FunctionRecord) -> io::Result<()> {
        let (first, last) = (function.line, function.end.max(function.line));
        let within = |line: &u32| (first..=last).contains(line);
        let branches = file.branches.iter().filter(|branch| within(&branch.line));
        let rates = Rates::of(file.lines.range(first..=last), branches);
        self.rated("method", &[("name", &visible::name(&function.name)), ("signature", "")], rates)?;
        self.lines(file, first, last)?;
        self.close("method")
    }

    /// Opens an element that has rates.
    fn rated(&mut self, name: &str, attributes: &[(&str, &str)], rates: Rates) -> io::Result<()> {
        let (lines, branches) = (rate(rates.lines), rate(rates.branches));
        let rates = [("line-rate", lines.as_str()), ("branch-rate", &branches), ("complexity", "0")];
        self.open(name, &[attributes, &rates].concat())
    }

    fn lines(&mut self, file: &FileRecords, first: u32, last: u32) -> io::Result<()> {
        self.open("lines", &[])?;
        let mut branches = file.branches.chunk_by(|a, b| a.line == b.line).peekable();
        for (&line, &count) in file.lines.range(first..=last) {
            while branches.next_if(|on_line| on_line[0].line < line).is_some() {}
            let on_line = branches.next_if(|on_line| on_line[0].line == line).unwrap_or_default();
            self.line(line, count, on_line)?;
        }
        self.close("lines")
    }

    fn line(&mut self, line: u32, count: u64, branches: &[BranchRecord]) -> io::Result<()> {
        let (line, count) = (line.to_string(), count.to_string());
        let (number, hits) = (("number", line.as_str()), ("hits", count.as_str()));
        if branches.is_empty() {
            let element = BytesStart::new("line").with_attributes([number, hits, ("branch", "false")]);
            return self.xml.write_event(Event::Empty(element));
        }
        let Ratio { covered, total } = Rates::of(std::iter::empty(), branches.iter()).branches;
        let share = format!("{}% ({covered}/{total})", covered * 100 / total.max(1));
        self.open("line", &[number, hits, ("branch", "true"), ("condition-coverage", &share)])?;
        self.open("conditions", &[])?;
        for (number, branch) in branches.iter().enumerate() {
            let Ratio { covered, total } = Rates::of(std::iter::empty(), std::iter::once(branch)).branches;
            let (number, share) = (number.to_string(), format!("{}%", covered * 100 / total.max(1)));
            let attributes = [("number", number.as_str()), ("type", "jump"), ("coverage", &share)];
            self.xml.write_event(Event::Empty(BytesStart::new("condition").with_attributes(attributes)))?;
        }
        self.close("conditions")?;
        self.close("line")
    }
}
