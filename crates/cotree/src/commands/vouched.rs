//! Says where output goes that can't mark numbers how much of it is not vouched for.

use crate::lines;
use clap::Args;
use cotree_profile::recover::Recovery;
use cotree_report::functions;
use cotree_report::terminal::{counted, grouped};
use cotree_report::unit::Unit;
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
    pub fn check<'a>(self, units: impl IntoIterator<Item = &'a Recovery>) -> Result<()> {
        self.check_of(None, units)
    }

    /// Checks one of several profiles.
    pub fn check_of<'a>(self, path: Option<&Path>, units: impl IntoIterator<Item = &'a Recovery>) -> Result<()> {
        let (mut flawed, mut all) = (0u128, 0u128);
        for (binary, profile) in units.into_iter().filter(|(_, profile)| !profile.exact()) {
            let vouched = functions::Vouched::of_unit(&Unit::new(binary.map(), profile));
            flawed += u128::from(vouched.doubtful);
            all += u128::from(vouched.functions);
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
