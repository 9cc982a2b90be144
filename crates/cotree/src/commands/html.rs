//! `cotree html`: pages that show a whole profile in a browser.

use super::coverage_html::Ran;
use super::input::{Input, Reader};
use super::output::answer;
use super::sources::{FileSources, SourceArgs};
use super::vouched::Vouched;
use super::{browser, edited, into_report};
use clap::Args;
use cotree_profile::atomic_folder::NewFolder;
use cotree_report::names::Names;
use cotree_report::pages::{self, PAGE, Pages};
use miette::{IntoDiagnostic, Result, WrapErr};
use std::path::PathBuf;

/// Arguments of `cotree html`.
#[derive(Args, Debug)]
pub struct HtmlArgs {
    #[command(flatten)]
    input: Input,
    /// The folder that is written, or replaced if it has such pages
    #[arg(short, long, value_name = "DIR", default_value = "cotree-html")]
    output_dir: PathBuf,
    /// Open the pages in a browser
    #[arg(long)]
    open: bool,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    sources: SourceArgs,
}

/// Runs `cotree html`.
pub fn run(args: &HtmlArgs) -> Result<()> {
    let loaded = args.input.load_with(Reader::Person, &args.sources)?;
    edited::note(loaded.binaries(), None);
    args.vouched.check(loaded.recovered())?;
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    let mut ran = Ran::default();
    ran.profiles.push(loaded.path().to_owned());
    loaded.recovered().iter().for_each(|recovery| ran.add(recovery));
    let folder = &args.output_dir;
    let mut new = NewFolder::create(folder).map_err(into_report)?;
    loaded.with_costs(|costs| {
        let facts = ran.about(names).facts.into_iter().map(|fact| (fact.name.to_owned(), fact.value)).collect();
        let pages = Pages { costs, names, sources: &FileSources::default(), facts };
        pages::write(&pages, &mut |path, content| new.write(path, content.as_bytes()))
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", folder.display()))
    })?;
    new.finish().map_err(into_report)?;
    let page = folder.join(PAGE);
    answer(format_args!("{}", page.display()))?;
    if args.open { browser::open(&page) } else { Ok(()) }
}
