//! `cotree html`: pages that show a whole profile in a browser; `cotree open` writes and opens them.

use super::coverage_html::Ran;
use super::edited::Edited;
use super::input::{Binaries, Input, Loaded, Reader, load_with};
use super::output::answer;
use super::sources::{FileSources, SourceArgs};
use super::vouched::Vouched;
use super::{browser, diff, into_report, trace};
use crate::{folder, progress};
use clap::{Args, ValueHint};
use cotree_core::method::Method;
use cotree_profile::atomic_folder::NewFolder;
use cotree_profile::file::ProfileFormat;
use cotree_report::method::trace::Traced;
use cotree_report::method::trace::rows::{By, Rows};
use cotree_report::names::Names;
use cotree_report::pages::{self, Before, PAGE, Pages, TraceContent};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::path::{Path, PathBuf};

/// The name of the folder, where none is given.
const FOLDER: &str = "cotree-html";

/// What the pages show.
#[derive(Args, Debug)]
struct Shown {
    /// Profiles, and folders of profiles, of which several are added up [default: the newest *.cotree in the current
    /// directory]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
    #[command(flatten)]
    binaries: Binaries,
    /// Show what differs from this profile, or folder of profiles
    #[arg(long, value_name = "PROFILE")]
    against: Option<PathBuf>,
    /// The binary of the profile of --against, if it is no longer where it was
    #[arg(long, value_name = "FILE", requires = "against")]
    binary_against: Vec<PathBuf>,
    /// Traces: show all steps of the last N blocks of each thread; timelines are of the whole trace
    #[arg(long, value_name = "N", default_value_t = 1 << 26)]
    trace_blocks: u64,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    sources: SourceArgs,
}

/// Arguments of `cotree html`.
#[derive(Args, Debug)]
pub struct HtmlArgs {
    #[command(flatten)]
    shown: Shown,
    /// The folder that is written, or replaced if it has such pages
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath, default_value = FOLDER)]
    output_dir: PathBuf,
    /// Open the pages in a browser
    #[arg(long)]
    open: bool,
}

/// Arguments of `cotree open`.
#[derive(Args, Debug)]
pub struct OpenArgs {
    #[command(flatten)]
    shown: Shown,
    /// The folder that is written, or replaced if it has such pages [default: cotree-html beside the profile]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output_dir: Option<PathBuf>,
}

/// Runs `cotree html`.
pub fn run(args: &HtmlArgs) -> Result<()> {
    let page = args.shown.write(|_| args.output_dir.clone())?;
    if args.open { browser::open(&page) } else { Ok(()) }
}

/// Runs `cotree open`.
pub fn open(args: &OpenArgs) -> Result<()> {
    // Browsers in sandboxes see neither hidden folders, such as caches, nor temporary ones.
    let beside = |profile: &Path| profile.with_file_name(FOLDER);
    browser::open(&args.shown.write(|profile| args.output_dir.clone().unwrap_or_else(|| beside(profile)))?)
}

impl Shown {
    /// Writes the pages into the folder that is chosen for the profile, and returns the page to begin with.
    fn write(&self, folder: impl FnOnce(&Path) -> PathBuf) -> Result<PathBuf> {
        let loaded = self.load()?;
        let mut edited = Edited::default();
        edited.add(loaded.binaries());
        edited.note(|_| true);
        self.vouched.check(loaded.recovered())?;
        let names = if self.no_demangle { Names::Raw } else { Names::Demangled };
        let mut ran = Ran::default();
        match self.profiles[..] {
            [] => ran.profiles.push(loaded.path().to_owned()),
            _ => ran.profiles.extend(self.profiles.iter().cloned()),
        }
        loaded.recovered().iter().for_each(|recovery| ran.add(recovery));
        let folder = folder(loaded.path());
        let mut new = NewFolder::create(&folder)
            .map_err(|error| miette!(help = "--output-dir names another folder", "{error}"))?;
        let before = self.against.as_deref().map(|path| self.load_before(path)).transpose()?;
        if let Some(before) = &before {
            diff::of_one_method(before, &loaded)?;
        }
        let units_before = before.as_ref().map(diff::units).transpose()?;
        let binaries = &self.binaries.binaries;
        let traces = match loaded.recovered() {
            [(_, profile)] if profile.method.method() == Method::Trace && loaded.kind() == ProfileFormat::Raw => {
                Some(trace::open(&folder::open(loaded.path(), binaries)?, binaries, Reader::Person)?)
            }
            _ => None,
        };
        let tables = traces.as_ref().map(|(binary, _)| trace::tables(binary)).transpose()?;
        let streams = traces.as_ref().map(|(_, streams)| streams);
        let traced = tables.as_ref().zip(streams).map(|(tables, streams)| {
            let _reading = progress::phase("reading the trace");
            Traced::new(tables, streams, None)
        });
        let rows = tables.as_ref().map(|tables| Rows::new(tables, By::Line, names));
        loaded.with_costs(|costs| {
            let facts = ran.about(names).facts.into_iter().map(|fact| (fact.name.to_owned(), fact.value)).collect();
            let trace = traced.as_ref().zip(rows.as_ref());
            let trace = trace.map(|(traced, rows)| TraceContent { traced, rows, steps: self.trace_blocks });
            let before = before.as_ref().zip(units_before.as_deref());
            let before = before.map(|(loaded, units)| Before { units, name: loaded.path().display().to_string() });
            let sources = &FileSources::default();
            let pages = Pages { costs, names, sources, fault: &|path| edited.fault(path), facts, before, trace };
            let writing = progress::phase("writing pages");
            let mut put = |path: &str, content: &str| {
                writing.step();
                new.write(path, content.as_bytes())
            };
            pages::write(&pages, &mut put)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot write {}", folder.display()))
        })?;
        new.finish().map_err(into_report)?;
        let page = folder.join(PAGE);
        answer(format_args!("{}", page.display()))?;
        Ok(page)
    }

    /// Loads what is shown.
    fn load(&self) -> Result<Loaded> {
        let (profile, binaries) = match &self.profiles[..] {
            several @ [_, _, ..] => {
                let sum = folder::open_several(several, &self.binaries.binaries)?;
                return load_with(&sum, &self.binaries, Reader::Person, &self.sources);
            }
            one => (one.first().cloned(), self.binaries.clone()),
        };
        Input { profile, binaries }.load_with(Reader::Person, &self.sources)
    }

    /// Loads the profile that is compared with.
    fn load_before(&self, path: &Path) -> Result<Loaded> {
        let file = folder::open(path, &self.binary_against)?;
        let binaries = Binaries { binaries: self.binary_against.clone() };
        let before = load_with(&file, &binaries, Reader::Person, &self.sources)?;
        self.vouched.check_of(Some(path), before.recovered())?;
        Ok(before)
    }
}
