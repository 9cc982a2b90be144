//! Options of a benchmark that is held against a baseline, and the baseline itself.

use super::measure::Plan;
use crate::commands::export::event_kind;
use crate::commands::into_report;
use crate::commands::output::{Looks, Output};
use clap::{Args, ValueEnum};
use cotree_core::facts::events::EventKind;
use cotree_profile::atomic::{self, Over};
use cotree_profile::regular;
use cotree_report::benchmark::{Baseline, Comparison, Limit, Measured};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use nix::sys::personality::{self, Persona};
use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Forms of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, on standard error unless -o is given
    #[default]
    Text,
    /// JSON (docs/json.md)
    Json,
    /// A step summary for GitHub Actions: in $GITHUB_STEP_SUMMARY unless -o is given
    Github,
    /// Bencher's Metric Format
    Bencher,
}

/// Options of what is measured, and of what it is held against.
#[derive(Args, Debug)]
pub struct Gate {
    /// How often to run the program
    #[arg(short = 'n', long, value_name = "N", default_value = "3")]
    pub runs: NonZeroUsize,
    /// The kinds of events that are shown and held against the baseline; functions by the first of them [default: all
    /// are shown, instructions are held against the baseline]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = event_kind)]
    pub event: Vec<EventKind>,
    /// Run the program where addresses and the seeds of hash tables are the same each time: without address space
    /// layout randomisation, and with fixed numbers from getrandom
    #[arg(long)]
    pub pin: bool,
    /// Record the benchmark in FILE, beside others or in place of what it was, unless the gate closes
    #[arg(long, value_name = "FILE")]
    pub save_baseline: Option<PathBuf>,
    /// Show what has changed since FILE was saved
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Fail if the benchmark has this much more events than in the baseline, as 1%
    #[arg(long, value_name = "PERCENT", requires = "baseline")]
    pub fail_above: Option<Limit>,
    /// Fail if any function has this much more events than in the baseline, as 1%
    #[arg(long, value_name = "PERCENT", requires = "baseline")]
    pub fail_function_above: Option<Limit>,
    /// How to tell the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    /// Rows per list; 0 shows all
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub top: usize,
    #[command(flatten)]
    pub looks: Looks,
    #[command(flatten)]
    pub output: Output,
}

/// The status of commands that an interrupt has ended, as shells have it.
pub const INTERRUPTED: u8 = 128 + 2;

/// The variable that names a file for `--save-baseline`, of whatever a command runs.
pub const SAVE_BASELINE: &str = "COTREE_SAVE_BASELINE";

/// Baselines are small.
const LARGEST_BASELINE: u64 = 64 << 20;

impl Gate {
    /// Refuses what would be noticed only after the runs, pins what is to be pinned, and reads the baseline. `further`
    /// are files that are written besides.
    pub fn open(&self, further: &[&Path]) -> Result<Option<Baseline>> {
        let saved = self.saved_baseline();
        if let Some(path) = &saved {
            self.baseline_to_extend(path)?;
        }
        let own = saved.iter().chain(&self.output.output).map(PathBuf::as_path);
        let outputs: Vec<&Path> = further.iter().copied().chain(own).collect();
        for (number, path) in outputs.iter().enumerate() {
            if outputs[..number].contains(path) {
                return Err(miette!("{} is to be written twice: give each result a file of its own", path.display()));
            }
            let folder = atomic::folder_of(path);
            if !folder.is_dir() {
                return Err(miette!("cannot write {}: there is no folder {}", path.display(), folder.display()));
            }
        }
        let before = self.baseline.as_deref().map(read_baseline).transpose()?;
        if self.pin {
            pin_addresses()?;
        }
        Ok(before)
    }

    /// The file that benchmarks are recorded in, if any.
    pub fn saved_baseline(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os(SAVE_BASELINE).filter(|path| !path.is_empty()).map(PathBuf::from);
        self.save_baseline.clone().or_else(variable)
    }

    /// What is run.
    pub fn plan(&self) -> Plan {
        Plan { count: self.runs.get(), of_functions: self.of_functions(), pinned: self.pin }
    }

    /// The kind of events that functions are told by.
    pub fn of_functions(&self) -> EventKind {
        self.event.first().copied().unwrap_or(EventKind::Instructions)
    }

    /// Leaves out kinds that nobody has asked for.
    pub fn choose(&self, measured: &mut Measured) {
        if !self.event.is_empty() {
            measured.totals.retain(|kind, _| self.event.iter().any(|asked| asked.name() == kind));
        }
    }

    /// Holds a benchmark against its baseline, or says why that can't be done.
    pub fn compare(&self, baseline: &Baseline, measured: &Measured) -> (Option<Comparison>, Vec<String>) {
        let Some(recorded) = baseline.benchmarks.get(&measured.name) else {
            let names: Vec<&str> = baseline.benchmarks.keys().map(String::as_str).collect();
            let known = if names.is_empty() { "no benchmark".to_owned() } else { names.join("; ") };
            return (None, vec![format!("the baseline has no '{}', but {known} (see --name)", measured.name)]);
        };
        if !measured.exact {
            return (None, vec!["not all counts are exact: `cotree report` of a profile (--keep) says why".to_owned()]);
        }
        let mut differences = recorded.differences(measured);
        if self.fail_function_above.is_some() && recorded.of_functions != measured.of_functions {
            let (then, now) = (&recorded.of_functions, &measured.of_functions);
            differences
                .push(format!("functions had their {then} counted then, and have their {now} now (see --event)"));
        }
        if !differences.is_empty() {
            return (None, differences);
        }
        let comparison = Comparison::new(recorded, measured, &self.event, self.fail_above, self.fail_function_above);
        (Some(comparison), Vec::new())
    }

    /// Records benchmarks in a file that others may record theirs in at the same time.
    pub fn record<'a>(&self, path: &Path, all: impl IntoIterator<Item = &'a Measured>) -> Result<()> {
        let folder = atomic::folder_of(path);
        let lock = File::open(folder).and_then(|folder| folder.lock().map(|()| folder));
        let _lock = lock.into_diagnostic().wrap_err_with(|| format!("cannot lock the folder {}", folder.display()))?;
        let mut baseline = self.baseline_to_extend(path)?;
        all.into_iter().for_each(|measured| baseline.record(measured));
        atomic::write_over(path, Over::forced(true), |out| baseline.write(out)).map_err(into_report)
    }

    /// The baseline that a benchmark is to be recorded in: what the file holds, or a new one where there is none, or an
    /// empty one. Nothing else is replaced without `--force`.
    fn baseline_to_extend(&self, path: &Path) -> Result<Baseline> {
        let is_new = fs::metadata(path).map_or(true, |file| file.is_file() && file.len() == 0);
        match if is_new { Ok(Baseline::default()) } else { read_baseline(path) } {
            Err(_) if self.output.force && path.is_file() => Ok(Baseline::default()),
            Err(error) => Err(miette!("{error:#}: name another file, or replace this one with --force")),
            baseline => baseline,
        }
    }
}

/// Has programs that are started from now on find their memory where it was the last time.
pub fn pin_addresses() -> Result<()> {
    let persona = personality::get().into_diagnostic()? | Persona::ADDR_NO_RANDOMIZE;
    let set = personality::set(persona).into_diagnostic();
    set.map(drop).wrap_err("cannot turn the randomisation of addresses off")
}

/// Reads a baseline.
pub fn read_baseline(path: &Path) -> Result<Baseline> {
    let failed = || format!("cannot read the baseline {}", path.display());
    let text = regular::read_text(path, LARGEST_BASELINE).into_diagnostic().wrap_err_with(failed)?;
    Baseline::read(&text).map_err(|error| miette!("{}: {error}", failed()))
}
