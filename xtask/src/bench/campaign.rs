//! Everything that is measured of one program: each variant is built, run under the counter of instructions, compared with the
//! others in what it prints, and timed.

use super::build::{Builder, Subject};
use super::instructions::Counter;
use super::store::{self, Known, Store};
use super::variants::{self, Tool, Variant};
use super::{plans, workers};
use crate::measure;
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What one build of one program costs.
#[derive(Clone)]
pub struct Cell {
    /// Instructions of all runs.
    pub instructions: u64,
    /// Processor time that it took to build.
    pub build: Duration,
    /// Bytes of the executable without debug information.
    pub file: u64,
    /// How long it ran.
    pub times: Times,
}

/// Processor times, the system's included, round by round; none where they were not taken.
#[derive(Clone, Default)]
pub struct Times {
    /// Of the workload for taking times.
    pub long: Vec<Duration>,
    /// Of one that is next to nothing: the program's beginning and end.
    pub short: Vec<Duration>,
    /// In how many layouts, by turns; 0 is one.
    pub layouts: usize,
}

impl Times {
    /// What the workload takes beyond beginning and end, undisturbed.
    pub fn work(&self) -> Option<Duration> {
        self.mean(&self.long)?.checked_sub(self.ends()?)
    }

    /// Beginning and end, undisturbed.
    pub fn ends(&self) -> Option<Duration> {
        self.mean(&self.short)
    }

    /// The mean of all layouts.
    fn mean(&self, times: &[Duration]) -> Option<Duration> {
        let layouts = self.layouts.max(1);
        let of = |layout: usize| undisturbed(times.iter().copied().skip(layout).step_by(layouts).collect());
        let sum = (0..layouts).map(of).sum::<Option<Duration>>()?;
        Some(sum / u32::try_from(layouts).ok()?)
    }
}

/// What was found of one program.
pub struct Measured {
    /// The program.
    pub name: &'static str,
    /// By name of the variant.
    pub cells: BTreeMap<&'static str, Cell>,
    /// What its profiles and plans tell.
    pub plans: plans::Plans,
    /// What went wrong.
    pub failures: Vec<String>,
}

impl Measured {
    /// A number of the variant over that of its base.
    pub fn ratio(&self, variant: &Variant, number: impl Fn(&Cell) -> f64) -> Option<f64> {
        Some(number(self.cells.get(variant.name)?) / number(self.cells.get(variant.tool.base())?))
    }

    /// Processor time of work over that of the base, where that is long enough to mean anything.
    pub fn slowdown(&self, variant: &Variant) -> Option<f64> {
        let of = |name| Some(self.cells.get(name)?.times.work()?.as_secs_f64());
        let (own, base): (f64, f64) = (of(variant.name)?, of(variant.tool.base())?);
        (base >= LEAST_TIME).then(|| own / base)
    }

    /// Seconds that beginning and end take beyond those of the base.
    pub fn longer_ends(&self, variant: &Variant) -> Option<f64> {
        let of = |name| Some(self.cells.get(name)?.times.ends()?.as_secs_f64());
        Some(of(variant.name)? - of(variant.tool.base())?)
    }

    /// Instructions over those of the base.
    pub fn overhead(&self, variant: &Variant) -> Option<f64> {
        self.ratio(variant, |cell| cell.instructions as f64)
    }
}

/// How to measure.
pub struct Campaign<'a> {
    /// Tools and sources.
    pub context: &'a Context,
    /// What is to be built.
    pub variants: &'a [Variant],
    /// Who counts instructions.
    pub counter: Counter,
    /// How often times are taken.
    pub rounds: usize,
    /// In how many layouts of their code cotree's builds of C programs are timed, [`LAYOUT`] bytes apart: by turns, since processors of
    /// virtual machines are slower for some seconds, and each layout shall see as much of that.
    pub layouts: usize,
    /// How many builds go on at once.
    pub jobs: usize,
}

/// Functions begin at multiples of this.
const LAYOUT: usize = 16;

/// An executable that ran.
struct Ran {
    cell: Cell,
    /// In all its layouts; none if its numbers are those of an earlier run.
    executables: Vec<PathBuf>,
    /// A hash of all output and exit codes.
    output: u64,
}

impl Campaign<'_> {
    /// Measures one program; `timed` are the same program's runs for taking time, of some work and of next to none, if that is wanted.
    pub fn measure(&self, subject: &Subject, timed: Option<[&Subject; 2]>, store: &Mutex<Store>) -> Result<Measured> {
        let store = || store.lock().expect("nothing panics with it");
        let (name, start) = (subject.name(), Instant::now());
        eprint!("{name}:");
        let folder = workspace::scratch().join("bench").join(name);
        workspace::fresh(&folder)?;
        let builder = Builder::new(self, subject, &folder)?;
        let mut failures = Vec::new();
        let mut ran: BTreeMap<&'static str, Ran> = BTreeMap::new();
        let content = store::content(subject, timed)?;
        for variant in self.variants {
            if let Some(Known { cell, output }) = store().find(subject, content, variant) {
                ran.insert(variant.name, Ran { cell, executables: Vec::new(), output });
            }
        }
        let mut weights = None;
        // Those that need the profile of another come second.
        for second in [false, true] {
            if second {
                weights = self.merged(variants::EDGE, &folder, subject)?;
            }
            let mut now: Vec<&Variant> =
                self.variants.iter().filter(|v| subject.has(v) && v.weights == second).collect();
            now.retain(|variant| !ran.contains_key(variant.name));
            let results = workers::each(self.jobs, &now, |variant| {
                let folder = folder.join(variant.slug());
                let result = self.one(&builder, subject, variant, weights.as_deref(), &folder).and_then(|mut one| {
                    if timed.is_some() && variant.timed {
                        one.executables.append(&mut self.layouts(&builder, variant, &folder)?);
                    }
                    Ok(one)
                });
                if let Ok(one) = &result {
                    let mut store = store();
                    store.keep(subject, content, variant, &one.cell, one.output);
                    store.save()?;
                }
                eprint!(" {}{}", variant.slug(), if result.is_ok() { "" } else { " (failed)" });
                result
            });
            for (variant, result) in now.into_iter().zip(results) {
                match result {
                    Ok(one) => drop(ran.insert(variant.name, one)),
                    Err(error) => failures.push(format!("{name}, {}: {error:#}", variant.name)),
                }
            }
        }
        let reference = ran.get("LLVM").or_else(|| ran.values().next()).context("some variant ran")?.output;
        for (variant, one) in &ran {
            if one.output != reference {
                failures.push(format!("{name} printed something else when built as {variant}"));
            }
        }
        let mut failed = |failure| failures.push(format!("{name}, {failure}"));
        let times = timed.map(|timed| self.times(timed, &ran, &folder, &mut failed)).transpose()?;
        let mut times = times.unwrap_or_default();
        for variant in self.variants {
            if let Some(one) = ran.get_mut(variant.name).filter(|one| !one.executables.is_empty()) {
                one.cell.times = times.remove(variant.name).unwrap_or_default();
                store().keep(subject, content, variant, &one.cell, one.output);
            }
        }
        store().save()?;
        let paths = ran.get(variants::PATH).and_then(|_| self.merged(variants::PATH, &folder, subject).transpose());
        let paths = paths.transpose().unwrap_or_else(|error| {
            failures.push(format!("{name}: {error:#}"));
            None
        });
        let executable = |name: &str| ran.get(name).and_then(|one| one.executables.first()).map(PathBuf::as_path);
        let plans = plans::Plans::new(
            self.context,
            weights.as_deref().zip(executable(variants::EDGE)),
            paths.as_deref(),
            &builder.bitcode()?,
            &mut |error| failures.push(format!("{name}: {error:#}")),
        );
        let cells = ran.into_iter().map(|(name, one)| (name, one.cell)).collect();
        let measured = Measured { name, cells, plans, failures };
        std::fs::remove_dir_all(&folder)?;
        eprintln!(" ({:.0} s)", start.elapsed().as_secs_f64());
        Ok(measured)
    }

    fn one(
        &self,
        builder: &Builder<'_>,
        subject: &Subject,
        variant: &Variant,
        weights: Option<&Path>,
        folder: &Path,
    ) -> Result<Ran> {
        workspace::fresh(folder)?;
        let built = builder.build(variant, weights, folder)?;
        let executable = folder.join("stripped");
        match variant.tool {
            // Old versions of valgrind fail on recent debug information,
            Tool::Cotree | Tool::Passes => strip("-g", &built.executable, &executable)?,
            // and on symbols in the sections of clang's coverage;
            Tool::Llvm | Tool::Gcc => strip("-s", &built.executable, &executable)?,
            // strip doesn't understand what BOLT wrote.
            Tool::Bolt => drop(std::fs::copy(&built.executable, &executable)?),
        }
        std::fs::remove_file(&built.executable)?;
        let (mut instructions, mut output) = (0, Vec::new());
        for (index, arguments) in subject.runs().iter().enumerate() {
            let (count, one) = self.counter.run(&executable, arguments, folder, &environment(folder, index))?;
            instructions += count;
            output.extend(&one.stdout);
            output.extend(command::ending(&one).to_string().into_bytes());
        }
        let file = std::fs::metadata(&executable)?.len();
        let cell = Cell { instructions, build: built.cost, file, times: Times::default() };
        Ok(Ran { cell, executables: vec![executable], output: store::hash(output) })
    }

    /// The build's other layouts: where code lies in lines of cache, and in what is decoded together, decides over some percents of its
    /// time, with counters and without.
    fn layouts(&self, builder: &Builder<'_>, variant: &Variant, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut executables = Vec::new();
        for layout in 1..self.layouts {
            if let Some(built) = builder.moved(variant, folder, layout * LAYOUT)? {
                let stripped = folder.join(format!("stripped-{layout}"));
                strip("-g", &built, &stripped)?;
                std::fs::remove_file(&built)?;
                executables.push(stripped);
            }
        }
        Ok(executables)
    }

    /// The profiles of all runs of that variant, as one.
    fn merged(&self, variant: &str, folder: &Path, subject: &Subject) -> Result<Option<PathBuf>> {
        let Some(variant) = self.variants.iter().find(|v| v.name == variant) else { return Ok(None) };
        let folder = folder.join(variant.slug());
        let profiles: Vec<PathBuf> = (0..subject.runs().len()).map(|index| folder.join(profile(index))).collect();
        if !profiles.iter().all(|profile| profile.exists()) {
            return Ok(None);
        }
        let merged = folder.join("merged.cotree");
        command::succeed(self.context.cotree().arg("merge").args(profiles).arg("-o").arg(&merged))?;
        Ok(Some(merged))
    }

    /// Several rounds, in each of which every build runs once with each workload, in its layouts by turns, on one processor:
    /// another one may be slower all the time, and builds would come to it by turns. Each build begins a round as often as any other.
    ///
    /// A build of which some run can't be started, prints something else than its first one did, or ends in another way, has failed:
    /// it has no times.
    fn times(
        &self,
        [long, short]: [&Subject; 2],
        ran: &BTreeMap<&'static str, Ran>,
        folder: &Path,
        failed: &mut dyn FnMut(String),
    ) -> Result<BTreeMap<&'static str, Times>> {
        let mut timed: Vec<(&Variant, &[PathBuf])> = (self.variants.iter())
            .filter(|variant| variant.timed)
            .filter_map(|variant| Some((variant, ran.get(variant.name)?.executables.as_slice())))
            .filter(|(_, executables)| !executables.is_empty())
            .collect();
        let mut rounds: BTreeMap<&'static str, Times> = BTreeMap::new();
        let all = sched_getaffinity(Pid::from_raw(0))?;
        let mut one = CpuSet::new();
        one.set((0..CpuSet::count()).find(|&cpu| all.is_set(cpu).unwrap_or(false)).context("some processor is ours")?)?;
        sched_setaffinity(Pid::from_raw(0), &one)?;
        let mut printed: BTreeMap<&'static str, [u64; 2]> = BTreeMap::new();
        for round in 1..=self.rounds {
            timed.retain(|(variant, executables)| {
                let folder = folder.join(variant.slug());
                let executable = &executables[(round - 1) % executables.len()];
                let mut turn = || {
                    let (long, of_long) = time(executable, long, &folder)?;
                    let (short, of_short) = time(executable, short, &folder)?;
                    let now = [of_long, of_short];
                    let same = *printed.entry(variant.name).or_insert(now) == now;
                    ensure!(same, "{} does not always print the same", executable.display());
                    Ok([long, short])
                };
                match turn() {
                    Ok([long, short]) => {
                        let times = rounds.entry(variant.name).or_default();
                        times.layouts = executables.len();
                        times.long.push(long);
                        times.short.push(short);
                        true
                    }
                    Err(error) => {
                        rounds.remove(variant.name);
                        failed(format!("{}: {error:#}", variant.name));
                        false
                    }
                }
            });
            let builds = timed.len().max(1);
            timed.rotate_left(1.min(builds - 1));
            if round % builds == 0 {
                timed.reverse();
            }
        }
        sched_setaffinity(Pid::from_raw(0), &all)?;
        Ok(rounds)
    }
}

/// The processor time of all runs of a workload, and a hash of what they print and how they end.
fn time(executable: &Path, subject: &Subject, folder: &Path) -> Result<(Duration, u64)> {
    let (mut sum, mut printed) = (Duration::ZERO, Vec::new());
    for arguments in subject.runs() {
        let environment = environment(folder, usize::MAX);
        for (_, profile) in &environment {
            // Some file systems write to the disk what replaces a file.
            let _ = std::fs::remove_file(profile);
        }
        let before = measure::of_children();
        let mut command = Command::new(executable);
        command.args(arguments).current_dir(folder).envs(environment);
        let output = command::output(&mut command)?;
        sum += measure::of_children() - before;
        printed.push((command::ending(&output), store::hash(output.stdout)));
    }
    Ok((sum, store::hash(printed)))
}

/// Seconds below which a ratio of processor times says nothing.
const LEAST_TIME: f64 = 0.02;

fn strip(what: &str, from: &Path, to: &Path) -> Result<()> {
    command::succeed(Command::new("strip").arg(what).arg("-o").arg(to).arg(from)).map(drop)
}

fn profile(index: usize) -> String {
    format!("run-{index}.cotree")
}

/// Where the run of that number leaves its profile.
fn environment(folder: &Path, index: usize) -> [(&'static str, OsString); 3] {
    [
        ("COTREE_FILE", folder.join(profile(index)).into()),
        ("LLVM_PROFILE_FILE", folder.join("profile.profraw").into()),
        ("RUST_BACKTRACE", "0".into()),
    ]
}

/// How long something takes while nobody else slows it down, from how long it took many times: the mean of the fastest quarter, but for
/// the very fastest twentieth.
///
/// Processors of virtual machines share their units with those of others: a run is slowed down by a quarter or it is not, for some tenths
/// of a second each. The median of nine ratios wanders with that (−3 to +7 % for a copy of one and the same program); of a hundred
/// runs of a twentieth of a second this repeats within one percent. The division between the program's time and the system's is too coarse
/// for such runs: beginning and end are measured apart instead.
pub fn undisturbed(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    let fast = times.get(times.len() / 20..times.len().div_ceil(4)).filter(|fast| !fast.is_empty())?;
    Some(fast.iter().sum::<Duration>() / u32::try_from(fast.len()).ok()?)
}

/// The one in the middle, or between the two in the middle.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    Some(if numbers.len() % 2 == 1 { upper } else { f64::midpoint(numbers[middle - 1], upper) })
}

/// Lists of subjects that belong together.
pub fn triples(subjects: Vec<Subject>, long: Vec<Subject>, short: Vec<Subject>) -> Result<Vec<[Subject; 3]>> {
    let names = |subjects: &[Subject]| subjects.iter().map(Subject::name).collect::<Vec<_>>();
    let same = names(&subjects) == names(&long) && names(&subjects) == names(&short);
    ensure!(same, "workloads are of the same programs");
    Ok(subjects.into_iter().zip(long).zip(short).map(|((subject, long), short)| [subject, long, short]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_slows_down_most_runs_is_left_out() {
        let of = |times: &[u64]| undisturbed(times.iter().copied().map(Duration::from_micros).collect());
        // 32 runs: the fastest one is left out, and the seven behind it count.
        let mut times: Vec<u64> = (0..32).map(|i| if i < 9 { 100 + i } else { 1000 + i }).collect();
        times.reverse();
        assert_eq!(of(&times), Some(Duration::from_micros(104)));
        assert_eq!(of(&[7]), Some(Duration::from_micros(7)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn layouts_count_alike() {
        let micros = |times: &[u64]| times.iter().copied().map(Duration::from_micros).collect::<Vec<_>>();
        let short = micros(&[1; 8]);
        let long = micros(&[11, 31, 11, 31, 11, 31, 11, 31]);
        let of = |layouts| Times { long: long.clone(), short: short.clone(), layouts }.work();
        assert_eq!([of(0), of(1)], [Some(Duration::from_micros(10)); 2]);
        assert_eq!(of(2), Some(Duration::from_micros(20)));
        assert_eq!(of(9), None, "a layout that never ran");
        assert_eq!(Times::default().work(), None);
    }
}
