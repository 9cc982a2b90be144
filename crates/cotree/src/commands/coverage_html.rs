//! `cotree coverage --html`: the pages of coverage, in a folder.

use super::edited::Edited;
use super::output::answer;
use super::sources::FileSources;
use super::{browser, into_report};
use crate::{progress, utc};
use clap::Args;
use cotree_profile::atomic_folder::NewFolder;
use cotree_profile::recover::Recovery;
use cotree_report::names::Names;
use cotree_report::region_coverage::html::{self, About, Doubtful, Fact, OVERVIEW, Pages};
use cotree_report::region_coverage::{CoverageByTest, RegionCoverage};
use cotree_report::shell::command_line;
use cotree_report::terminal::grouped;
use cotree_report::unit::{Unit, flaw_reason};
use cotree_report::visible;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Whether pages are written, and where.
#[derive(Args, Clone, Debug, Default)]
#[command(group(clap::ArgGroup::new("pages").args(["html", "open"]).multiple(true).conflicts_with_all(["json", "lcov", "output"])))]
pub struct HtmlArgs {
    /// Write pages for browsers, into the folder `html` of --output-dir
    #[arg(long)]
    pub html: bool,
    /// Write pages as --html does, and open them
    #[arg(long)]
    pub open: bool,
    /// The folder in which the folder `html` is written or replaced [default: coverage]
    #[arg(long, value_name = "DIR", requires = "pages", hide_short_help = true)]
    pub output_dir: Option<PathBuf>,
}

/// What the pages show.
pub struct Shown<'s> {
    /// The counts.
    pub coverage: &'s RegionCoverage<'s>,
    /// Which files are shown.
    pub wanted: &'s dyn Fn(&str) -> bool,
    /// How names of functions are shown.
    pub names: Names,
    /// Where the counts come from.
    pub ran: &'s Ran,
    /// Which tests ran what, if that is asked for.
    pub by_test: Option<&'s CoverageByTest>,
    /// Which sources are not what was built.
    pub edited: &'s Edited,
}

/// What pages say of the runs besides counts.
#[derive(Default)]
pub struct Ran {
    /// The profiles, and folders of profiles.
    pub profiles: Vec<PathBuf>,
    /// Sentences on what is not vouched for.
    pub notes: Vec<String>,
    programs: Vec<PathBuf>,
    /// The build, and the command line, of the program that was added last.
    last: (String, String),
    runs: u128,
    /// By symbol: why the counts of a function are not vouched for.
    doubtful: BTreeMap<String, BTreeSet<&'static str>>,
}

impl Ran {
    /// Adds a program that has run.
    pub fn add(&mut self, (binary, profile): &Recovery) {
        // Runs that were cut off are added up apart from the others.
        if !self.programs.contains(&profile.binary) {
            self.programs.push(profile.binary.clone());
        }
        self.last = (profile.unit.to_string(), command_line(&profile.command));
        self.runs += u128::from(profile.runs.total());
        for note in profile.notes.iter().map(ToString::to_string) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let failed: BTreeSet<_> = profile.failures.iter().map(|(function, _)| *function).collect();
        for function in Unit::new(binary.map(), profile).functions() {
            let failed = failed.contains(&function.index).then_some("its counts contradict each other");
            let mut reasons = function.flaws().iter().copied().map(flaw_reason).chain(failed).peekable();
            if reasons.peek().is_some() {
                self.doubtful.entry(function.facts.symbol.clone()).or_default().extend(reasons);
            }
        }
    }

    /// What the overview says.
    pub fn about(&self, names: Names) -> About {
        let shown = |text: &str| visible::name(text).into_owned();
        // Of several, the names say enough.
        let name = |path: &PathBuf| PathBuf::from(path.file_name().unwrap_or(path.as_os_str()));
        let mut programs = self.programs.clone();
        if let [_, _, ..] = programs.as_slice() {
            programs = programs.iter().map(name).collect();
        }
        let list = |paths: &[PathBuf]| {
            let named = paths.iter().take(MOST_NAMED).map(|path| shown(&path.to_string_lossy()));
            let more = paths.len().saturating_sub(MOST_NAMED);
            let more = (more > 0).then(|| format!("and {} more", grouped(more as u128)));
            named.chain(more).collect::<Vec<_>>().join(", ")
        };
        let plural = |paths: &[PathBuf], one, many| if paths.len() == 1 { one } else { many };
        let modified = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
        let taken = self.profiles.iter().filter_map(modified).max();
        let (build, command) = &self.last;
        let alone = |text: &String| Some(shown(text)).filter(|text| self.programs.len() == 1 && !text.is_empty());
        let facts = [
            (plural(&self.profiles, "Profile", "Profiles"), Some(list(&self.profiles))),
            ("Taken", taken.map(utc::text)),
            (plural(&self.programs, "Program", "Programs"), Some(list(&programs))),
            ("Build", alone(build)),
            ("Command", alone(command)),
            ("Runs", Some(grouped(self.runs))),
        ];
        let here = std::env::current_dir().unwrap_or_default();
        let title = if let [program] = self.programs.as_slice() { program } else { &here };
        let doubtful = self.doubtful.iter().map(|(symbol, reasons)| Doubtful {
            name: shown(&names.show(symbol)),
            reasons: reasons.iter().copied().collect(),
        });
        About {
            title: shown(&title.file_name().unwrap_or_default().to_string_lossy()),
            facts: facts.into_iter().filter_map(|(name, value)| Some(Fact { name, value: value? })).collect(),
            notes: self.notes.iter().map(|note| shown(note)).collect(),
            doubtful: doubtful.collect(),
        }
    }
}

/// The most profiles, or programs, that are named.
const MOST_NAMED: usize = 8;

impl HtmlArgs {
    /// Whether pages are asked for.
    pub fn wanted(&self) -> bool {
        self.html || self.open
    }

    /// Writes the pages, says where the first one is, and opens it if that is asked for.
    pub fn write(&self, shown: &Shown<'_>) -> Result<()> {
        let folder = self.output_dir.clone().unwrap_or_else(|| "coverage".into()).join("html");
        write(&folder, shown)?;
        let page = folder.join(OVERVIEW);
        answer(format_args!("{}", page.display()))?;
        if self.open { browser::open(&page) } else { Ok(()) }
    }
}

/// Writes pages into a folder, which is replaced if it has pages.
fn write(folder: &Path, shown: &Shown<'_>) -> Result<()> {
    let here = std::env::current_dir().unwrap_or_default().display().to_string();
    let pages = Pages {
        about: shown.ran.about(shown.names),
        wanted: shown.wanted,
        root: &format!("{}/", here.trim_end_matches('/')),
        names: shown.names,
        sources: &FileSources::default(),
        tests: shown.by_test,
        fault: &|path| shown.edited.fault(path),
    };
    let mut new = NewFolder::create(folder).map_err(into_report)?;
    let writing = progress::phase("writing pages");
    let mut put = |path: &str, content: &str| {
        writing.step();
        new.write(path, content.as_bytes())
    };
    html::write(shown.coverage, &pages, &mut put)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", folder.display()))?;
    new.finish().map_err(into_report)
}
