//! Runs of a program, and what each of them has cost.

use crate::commands::into_report;
use crate::commands::profiled_run::{ProfiledRun, signal_of};
use cotree_core::facts::events::EventKind;
use cotree_profile::counts::UnitCounts;
use cotree_profile::entries::{Entries, EntryError, STATUS, VARIABLE, WHOLE};
use cotree_profile::file::ProfileFile;
use cotree_profile::recover::{Recovery, recover_remaining};
use cotree_report::benchmark::Run;
use cotree_report::unit::Unit;
use cotree_rt::layout::Flags;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus};

/// What is run, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How often.
    pub count: usize,
    /// The kind of events that functions are told by.
    pub of_functions: EventKind,
    /// Whether hash tables get the same seeds each time.
    pub pinned: bool,
}

/// The part of a run that is measured, in values of [`VARIABLE`].
#[derive(Clone, Debug)]
pub struct Part {
    /// What has a process count the part alone.
    alone: String,
    /// What has it end where the part begins, if it does not begin with the process.
    before: Option<String>,
    /// What has it end where the part ends, if it does not end with the process.
    through: String,
    /// Whether the part ends before the process does.
    ends: bool,
}

impl Part {
    /// The part from where the last function of `from` is entered to where the last one of `to` is after that; nothing
    /// if both are empty.
    ///
    /// # Errors
    /// If the executable has no such functions.
    pub fn between(entries: &Entries, from: &[&str], to: &[&str]) -> Result<Option<Self>, EntryError> {
        if from.is_empty() && to.is_empty() {
            return Ok(None);
        }
        let ends = !to.is_empty();
        let through = if ends { entries.part(&[], &[from, to].concat())? } else { WHOLE.to_owned() };
        let before = if from.is_empty() { None } else { Some(entries.part(&[], from)?) };
        let mut part = Self { alone: entries.part(from, to)?, before, through, ends };
        // The environment lies above the stack: its size is part of all addresses there.
        let values = || [&part.alone, &part.through].into_iter().chain(&part.before);
        let size = values().map(String::len).max().unwrap_or(0);
        let padded = |value: &String| format!("{value:0>size$}");
        (part.alone, part.through) = (padded(&part.alone), padded(&part.through));
        part.before = part.before.as_ref().map(padded);
        Ok(Some(part))
    }
}

/// Runs, and the profiles of the first and of the first that differs from it.
#[derive(Default)]
pub struct Runs {
    pub all: Vec<Run>,
    pub first: Vec<Recovery>,
    /// The number of the run, from 0, and its profile.
    pub other: Option<(usize, Vec<Recovery>)>,
    /// The profile of the first, as it was written.
    pub kept: Option<ProfileFile>,
}

/// A run that went as it should.
struct Counted {
    run: Run,
    /// The profile in full.
    recovered: Vec<Recovery>,
    /// The profile as it was written.
    profile: ProfileFile,
}

/// A run that did not go as it should, and is no benchmark.
pub struct Badly {
    /// The number of the run, from 1.
    pub number: usize,
    pub status: ExitStatus,
    /// Somebody at the keyboard has interrupted it.
    pub interrupted: bool,
    /// What is wrong with it, in a few words.
    pub how: String,
}

/// Runs a command some times, or until it goes wrong. Of a part, a process counts that alone. Where it can't do so
/// exactly, since there are other threads when the part begins, each time is two runs: one to the part's beginning,
/// and one to its end, of which the difference is the part.
pub fn measure(command: impl Fn() -> Command, plan: &Plan, part: Option<&Part>) -> Result<Result<Runs, Badly>> {
    let mut runner = Runner { command, plan, input: Input::new() };
    let mut runs = Runs::default();
    let mut first: Option<(Vec<UnitCounts>, Run)> = None;
    let mut by_difference = None;
    for number in 0..plan.count {
        if by_difference.is_none() {
            let (value, ends) = part.map_or((None, false), |part| (Some(&*part.alone), part.ends));
            let profile = match runner.run(number, value, ends)? {
                Ok(profile) => profile,
                Err(badly) => return Ok(Err(badly)),
            };
            let counts = without_times(&profile);
            if let Some((_, run)) = first.as_ref().filter(|(known, _)| *known == counts) {
                runs.all.push(run.clone());
                continue;
            }
            let (run, recovered) = runner.costs(&profile)?;
            let inexact = part.filter(|_| !run.exact);
            by_difference = inexact.and_then(|part| Some((part, part.before.as_deref()?)));
            if by_difference.is_none() {
                first.get_or_insert_with(|| (counts, run.clone()));
                runs.add(Counted { run, recovered, profile });
            }
        }
        if let Some((part, before)) = by_difference {
            match runner.difference(number, before, part)? {
                Ok(counted) => runs.add(counted),
                Err(badly) => return Ok(Err(badly)),
            }
        }
    }
    Ok(Ok(runs))
}

/// What runs a command.
struct Runner<'a, C> {
    command: C,
    plan: &'a Plan,
    input: Input,
}

impl<C: Fn() -> Command> Runner<'_, C> {
    /// Runs it, with a value of [`VARIABLE`], by which the process ends or does not.
    fn run(&mut self, number: usize, value: Option<&str>, ends: bool) -> Result<Result<ProfileFile, Badly>> {
        self.input.rewind()?;
        let mut command = (self.command)();
        if self.plan.pinned {
            command.env("COTREE_PIN", "1");
        }
        if let Some(value) = value {
            command.env(VARIABLE, value);
        }
        let run = ProfiledRun::of(&mut command)?;
        let badly = judged(number, &run, ends, value.is_some_and(|value| value.contains(';')));
        Ok(badly.map_or(Ok(run.profile), Err))
    }

    /// Runs it to where a part begins, and to where it ends or to its own end: gives the costs of the part, and the
    /// profile of the second run.
    fn difference(&mut self, number: usize, before: &str, part: &Part) -> Result<Result<Counted, Badly>> {
        let before = match self.run(number, Some(before), true)? {
            Ok(profile) => self.costs(&profile)?.0,
            Err(badly) => return Ok(Err(badly)),
        };
        let profile = match self.run(number, Some(&part.through), part.ends)? {
            Ok(profile) => profile,
            Err(badly) => return Ok(Err(badly)),
        };
        let (through, recovered) = self.costs(&profile)?;
        let run = through.less(&before).ok_or_else(|| {
            miette!(
                "two runs differ in what they do before the part that is measured, so the part can't be told from it: \
                 make the program do the same each time (--pin takes differences of addresses and of the seeds of hash \
                 tables away)"
            )
        })?;
        Ok(Ok(Counted { run, recovered, profile }))
    }

    /// What a run has cost, and its profile in full.
    fn costs(&self, profile: &ProfileFile) -> Result<(Run, Vec<Recovery>)> {
        let (recovered, gone) = recover_remaining(profile, &[]).map_err(into_report)?;
        if let Some(error) = gone.first() {
            return Err(miette!("{error}; without it the counts are not the whole benchmark's"));
        }
        let run = Run::new(&units(&recovered), self.plan.of_functions).ok_or_else(|| {
            miette!(
                "the profile has no counts of events, or not of all libraries: build with --profile edge, which is the \
                 default"
            )
        })?;
        Ok((run, recovered))
    }
}

/// What is wrong with a run, if anything is: of one that is to end where a function is entered, and of one that is to
/// begin to count there.
fn judged(number: usize, run: &ProfiledRun, ends: bool, begins: bool) -> Option<Badly> {
    let &ProfiledRun { status, interrupted, .. } = run;
    let has_begun = || run.profile.units.iter().any(|unit| unit.flags.has(Flags::RESET));
    let how = match (signal_of(status), status.code()) {
        _ if interrupted => "was interrupted".to_owned(),
        (Some(signal), _) => format!("ended by signal {signal}"),
        (None, Some(STATUS)) if ends => return None,
        (None, Some(0)) if ends || begins && !has_begun() => {
            "ended without entering the functions between which the part is".to_owned()
        }
        (None, Some(0)) => return None,
        (None, code) => format!("ended with status {}", code.unwrap_or(1)),
    };
    Some(Badly { number: number + 1, status, interrupted, how })
}

/// The counts of a run, which are those of another one if both did the same.
fn without_times(profile: &ProfileFile) -> Vec<UnitCounts> {
    let units = profile.units.iter();
    units.map(|unit| UnitCounts { started_ns: 0, ended_ns: 0, ..unit.clone() }).collect()
}

/// The units of a profile.
pub fn units(recovered: &[Recovery]) -> Vec<Unit<'_>> {
    recovered.iter().map(|(binary, profile)| Unit::new(binary.map(), profile)).collect()
}

impl Runs {
    fn add(&mut self, counted: Counted) {
        let Counted { run, recovered, profile } = counted;
        match self.all.first() {
            None => (self.first, self.kept) = (recovered, Some(profile)),
            Some(first) if self.other.is_none() && *first != run => self.other = Some((self.all.len(), recovered)),
            Some(_) => {}
        }
        self.all.push(run);
    }
}

/// Whether each run reads standard input from the same place.
pub fn input_is_read_anew() -> bool {
    Input::new().0.is_some()
}

/// Standard input, which each run shall read from the same place, if it is a file.
struct Input(Option<(File, u64)>);

impl Input {
    fn new() -> Self {
        let place = || {
            let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
            let at = file.metadata().ok()?.is_file().then(|| file.stream_position().ok())??;
            Some((file, at))
        };
        Self(place())
    }

    fn rewind(&mut self) -> Result<()> {
        let Some((file, at)) = &mut self.0 else { return Ok(()) };
        file.seek(SeekFrom::Start(*at)).map(drop).into_diagnostic().wrap_err("cannot rewind standard input")
    }
}
