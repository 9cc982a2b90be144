//! `cotree html`: pages that show a whole profile in a browser; `cotree open` writes and opens them.

use super::coverage_html::Ran;
use super::input::{Input, Reader};
use super::output::answer;
use super::sources::{FileSources, SourceArgs};
use super::vouched::Vouched;
use super::{browser, edited, into_report};
use crate::progress;
use clap::{Args, ValueHint};
use cotree_profile::atomic_folder::NewFolder;
use cotree_report::names::Names;
use cotree_report::pages::{self, PAGE, Pages};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::path::{Path, PathBuf};

/// The name of the folder, where none is given.
const FOLDER: &str = "cotree-html";

/// What the pages show.
#[derive(Args, Debug)]
struct Shown {
    #[command(flatten)]
    input: Input,
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
        let loaded = self.input.load_with(Reader::Person, &self.sources)?;
        edited::note(loaded.binaries(), None);
        self.vouched.check(loaded.recovered())?;
        let names = if self.no_demangle { Names::Raw } else { Names::Demangled };
        let mut ran = Ran::default();
        ran.profiles.push(loaded.path().to_owned());
        loaded.recovered().iter().for_each(|recovery| ran.add(recovery));
        let folder = folder(loaded.path());
        let mut new = NewFolder::create(&folder)
            .map_err(|error| miette!(help = "--output-dir names another folder", "{error}"))?;
        loaded.with_costs(|costs| {
            let facts = ran.about(names).facts.into_iter().map(|fact| (fact.name.to_owned(), fact.value)).collect();
            let pages = Pages { costs, names, sources: &FileSources::default(), facts };
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
}
