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
    /// Fail if the counts of any function may not be exact
    #[arg(long)]
    pub strict: bool,
}

/// Functions that are not vouched for, of several units.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubted {
    doubtful: u128,
    functions: u128,
    /// What functions and calls had of events is in doubt.
    sums: bool,
}

impl Doubted {
    /// Adds the functions of a unit, if one of them is not vouched for.
    pub fn add(&mut self, (binary, profile): &Recovery) {
        self.sums |= !profile.sums_exact();
        if !profile.exact() {
            let vouched = functions::Vouched::of_unit(&Unit::new(binary.map(), profile));
            self.doubtful += u128::from(vouched.doubtful);
            self.functions += u128::from(vouched.functions);
        }
    }
}

impl Vouched {
    /// Says how many functions of these units are not vouched for, if any.
    pub fn check<'a>(self, units: impl IntoIterator<Item = &'a Recovery>) -> Result<()> {
        self.check_of(None, units)
    }

    /// Checks one of several profiles.
    pub fn check_of<'a>(self, path: Option<&Path>, units: impl IntoIterator<Item = &'a Recovery>) -> Result<()> {
        let mut doubted = Doubted::default();
        units.into_iter().for_each(|unit| doubted.add(unit));
        self.say(path, doubted)
    }

    /// Says how many functions are not vouched for, if any.
    pub fn say(self, path: Option<&Path>, doubted: Doubted) -> Result<()> {
        let what = match doubted {
            Doubted { doubtful: 0, sums: false, .. } => return Ok(()),
            Doubted { doubtful: 0, .. } => "what each function and call had of events".to_owned(),
            Doubted { doubtful, functions, .. } => {
                format!("{} of {}", grouped(doubtful), counted(functions, "function"))
            }
        };
        let of = path.map(|path| format!(" of {}", path.display())).unwrap_or_default();
        let sentence = format!("{what}{of} cannot be vouched for: `cotree report` says which and why");
        if self.strict {
            return Err(miette!("{sentence}"));
        }
        lines::note(format_args!("note: {sentence}"));
        Ok(())
    }
}
