//! Says where output goes that can't mark numbers how much of it is not vouched for.

use crate::lines;
use clap::Args;
use cotree_profile::recover::UnitProfile;
use cotree_report::terminal::{counted, grouped};
use miette::{Result, miette};
use std::path::Path;

/// What to do about functions that are not vouched for.
#[derive(Args, Clone, Copy, Debug)]
pub struct Vouched {
    /// Fail if there is a function whose counts cannot be vouched for
    #[arg(long)]
    pub strict: bool,
}

impl Vouched {
    /// Says how many functions of these units are not vouched for, if any.
    pub fn check<'a>(self, units: impl IntoIterator<Item = &'a UnitProfile>) -> Result<()> {
        self.check_of(None, units)
    }

    /// The same of one of several profiles.
    pub fn check_of<'a>(self, path: Option<&Path>, units: impl IntoIterator<Item = &'a UnitProfile>) -> Result<()> {
        let (mut flawed, mut all) = (0u128, 0u128);
        for unit in units {
            flawed += unit.all_flaws().filter(|flaws| !flaws.is_empty()).count() as u128 + unit.failures.len() as u128;
            all += unit.all_flaws().count() as u128 + unit.failures.len() as u128;
        }
        if flawed == 0 {
            return Ok(());
        }
        let sentence = format!(
            "{} of {}{} cannot be vouched for: `cotree report` says which and why",
            grouped(flawed),
            counted(all, "function"),
            path.map(|path| format!(" of {}", path.display())).unwrap_or_default()
        );
        if self.strict {
            return Err(miette!("{sentence}"));
        }
        lines::note(format_args!("note: {sentence}"));
        Ok(())
    }
}
