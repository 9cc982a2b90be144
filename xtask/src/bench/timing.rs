//! `--time`: how long builds run, taken on one processor, by turns, many times.
//!
//! Executables of `none` stand in the queue twice, as `cotree none` and as a copy of it: what the copy takes more or
//! less is noise, and is printed with the times.

use super::build::{Builder, Parts};
use super::campaign::{self, Campaign};
use super::instructions::environment;
use super::store::{self, Store, Timed};
use super::subject::{Subject, Workloads};
use super::variants::{self, Tool, Variant};
use super::workers;
use crate::{command, measure, workspace};
use anyhow::{Context as _, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How thoroughly times are taken.
#[derive(Clone, Copy)]
pub struct Thoroughness {
    /// How often each build runs.
    pub rounds: usize,
    /// In how many layouts of their code cotree's builds of C programs run, [`LAYOUT`] bytes apart: by turns, since
    /// processors of virtual machines are slower for some seconds at times, and each layout shall see as much of that.
    pub layouts: usize,
}

/// Functions begin at multiples of this.
const LAYOUT: usize = 16;

/// Seconds below which a ratio of processor times says nothing.
const LEAST_TIME: f64 = 0.02;

/// A build that is timed: its executables are those of all layouts.
struct Contestant {
    variant: Variant,
    executables: Vec<PathBuf>,
    times: Times,
    /// A hash of what it printed at first.
    printed: Option<[String; 2]>,
}

/// Processor times, the system's included, round by round.
#[derive(Default)]
struct Times {
    /// The times of the workload for taking times.
    long: Vec<Duration>,
    /// The times of one that is next to nothing: the program's beginning and end.
    short: Vec<Duration>,
    /// In how many layouts, by turns; 0 is one.
    layouts: usize,
}

impl Times {
    /// What the workload takes beyond beginning and end, undisturbed.
    fn work(&self) -> Option<Duration> {
        self.mean(&self.long)?.checked_sub(self.ends()?)
    }

    /// Beginning and end, undisturbed.
    fn ends(&self) -> Option<Duration> {
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

/// Times all builds of all programs that are wanted, one program after the other. Says what failed.
pub fn time(
    campaign: &Campaign<'_>,
    programs: &[&Workloads],
    thoroughness: Thoroughness,
    store: &mut Store,
) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let Some(timed) = &program.timed else { continue };
        let start = Instant::now();
        eprint!("[{}/{}] times of {}", index + 1, programs.len(), program.name());
        let mut failed = |failure: String| failures.push(format!("{}, {failure}", program.name()));
        let result = self::program(campaign, &program.counted, timed, thoroughness, store, &mut failed);
        eprintln!(" ({:.0} s)", start.elapsed().as_secs_f64());
        if let Err(error) = result {
            failed(format!("times: {error:#}"));
        }
    }
    Ok(failures)
}

fn program(
    campaign: &Campaign<'_>,
    counted: &Subject,
    timed: &[Subject; 2],
    thoroughness: Thoroughness,
    store: &mut Store,
    failed: &mut dyn FnMut(String),
) -> Result<()> {
    let folder = workspace::scratch().join("bench").join(counted.name());
    workspace::fresh(&folder)?;
    let mut contestants = build(campaign, counted, thoroughness.layouts, &folder, failed)?;
    run(&mut contestants, timed, thoroughness.rounds, &folder, failed)?;
    for Contestant { variant, times, .. } in &contestants {
        let base = contestants.iter().find(|base| base.variant.name == variant.tool.base());
        let seconds = |times: &Times| times.work().map(|work| work.as_secs_f64());
        let base = base.and_then(|base| seconds(&base.times)).filter(|&base| base >= LEAST_TIME);
        let milliseconds = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        let timed = Timed {
            over_base: seconds(times).zip(base).map(|(own, base)| (own / base * 1e5).round() / 1e5),
            work_ms: times.work().map(milliseconds),
            ends_ms: times.ends().map(milliseconds),
            from: campaign.today.clone(),
        };
        store.keep_timed(counted, variant, timed)?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Builds all that is timed, in all layouts; the copy of the build without counters is one more.
fn build(
    campaign: &Campaign<'_>,
    subject: &Subject,
    layouts: usize,
    folder: &Path,
    failed: &mut dyn FnMut(String),
) -> Result<Vec<Contestant>> {
    let wanted = |variant: &&Variant| {
        variant.timed && subject.has(variant) && (campaign.wanted)(variant) && (campaign.peers || !variant.is_peer())
    };
    let mut builds: Vec<&Variant> = campaign.variants.iter().filter(wanted).collect();
    let shared = builds.iter().any(|variant| variant.shares_objects());
    let builder = Builder::new(campaign.context, subject, shared, folder, campaign.jobs)?;
    // Weights are a profile of the workload that instructions are counted of.
    let edge = campaign.variants.iter().find(|variant| variant.name == variants::EDGE);
    let mut weights = None;
    if let Some(edge) = edge.filter(|_| builds.iter().any(|variant| variant.weights)) {
        let built = builder.build(edge, None, Parts::Dropped, &folder.join("weights"))?;
        weights = Some(campaign::profiles(campaign.context, subject, &built.executable)?);
    }
    if weights.is_none() {
        builds.retain(|variant| !variant.weights);
    }
    let results = workers::each(campaign.jobs, &builds, |variant| -> Result<Vec<PathBuf>> {
        let folder = folder.join(variant.slug());
        let parts = if variant.tool == Tool::Cotree { Parts::Kept } else { Parts::Dropped };
        let mut executables = vec![builder.build(variant, weights.as_deref(), parts, &folder)?.executable];
        for layout in 1..layouts {
            executables.extend(builder.moved(variant, &folder, layout * LAYOUT)?);
        }
        Ok(executables)
    });
    let mut contestants = Vec::new();
    for (variant, result) in builds.into_iter().zip(results) {
        match result {
            Ok(executables) => {
                let contestant = |variant| Contestant {
                    variant,
                    times: Times { layouts: executables.len(), ..Times::default() },
                    executables: executables.clone(),
                    printed: None,
                };
                contestants.push(contestant(variant.clone()));
                if variant.name == variants::NONE {
                    contestants.push(contestant(variants::copy_of_none()));
                }
            }
            Err(error) => failed(format!("{}: {error:#}", variant.name)),
        }
    }
    Ok(contestants)
}

/// Several rounds, in each of which every build runs once with each workload, in its layouts by turns, on one
/// processor: another one may be slower all the time, and builds would come to it by turns. Each build begins a round
/// as often as any other.
///
/// A build of which some run can't be started, prints something else than its first one did, or ends in another way,
/// has failed: it has no times.
fn run(
    contestants: &mut Vec<Contestant>,
    workloads: &[Subject; 2],
    rounds: usize,
    folder: &Path,
    failed: &mut dyn FnMut(String),
) -> Result<()> {
    let all = sched_getaffinity(Pid::from_raw(0))?;
    let mut one = CpuSet::new();
    one.set((0..CpuSet::count()).find(|&cpu| all.is_set(cpu).unwrap_or(false)).context("some processor is ours")?)?;
    sched_setaffinity(Pid::from_raw(0), &one)?;
    for round in 1..=rounds {
        contestants.retain_mut(|contestant| {
            let result = turn(contestant, round - 1, workloads, folder);
            if let Err(error) = &result {
                failed(format!("{}: {error:#}", contestant.variant.name));
            }
            result.is_ok()
        });
        let builds = contestants.len().max(1);
        contestants.rotate_left(1.min(builds - 1));
        if round % builds == 0 {
            contestants.reverse();
        }
    }
    sched_setaffinity(Pid::from_raw(0), &all)?;
    Ok(())
}

fn turn(contestant: &mut Contestant, round: usize, [long, short]: &[Subject; 2], folder: &Path) -> Result<()> {
    let folder = folder.join(contestant.variant.slug());
    std::fs::create_dir_all(&folder)?;
    let executable = &contestant.executables[round % contestant.executables.len()];
    let (long, long_printed) = once(executable, long, &folder)?;
    let (short, short_printed) = once(executable, short, &folder)?;
    let now = [long_printed, short_printed];
    let same = *contestant.printed.get_or_insert_with(|| now.clone()) == now;
    ensure!(same, "{} does not always print the same", executable.display());
    contestant.times.long.push(long);
    contestant.times.short.push(short);
    Ok(())
}

/// The processor time of all runs of a workload, and a hash of what they print and how they end.
fn once(executable: &Path, subject: &Subject, folder: &Path) -> Result<(Duration, String)> {
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
        printed.extend(command::ending(&output).to_le_bytes());
        printed.extend(output.stdout);
    }
    Ok((sum, store::hash(&printed)))
}

/// How long something takes while nobody else slows it down, from how long it took many times: the mean of the fastest
/// quarter, but for the very fastest twentieth.
///
/// Processors of virtual machines share their units with those of others: a run is slowed down by a quarter or it is
/// not, for some tenths of a second each. The median of nine ratios wanders with that (−3 to +7 % for a copy of one and
/// the same program); of a hundred runs of a twentieth of a second this repeats within one percent. The division
/// between the program's time and the system's is too coarse for such runs: beginning and end are measured apart
/// instead.
fn undisturbed(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    let fast = times.get(times.len() / 20..times.len().div_ceil(4)).filter(|fast| !fast.is_empty())?;
    Some(fast.iter().sum::<Duration>() / u32::try_from(fast.len()).ok()?)
}

/// What the copy of the build without counters takes, over the build itself, by program.
fn noise(store: &Store, programs: &[&Workloads]) -> BTreeMap<&'static str, f64> {
    let copy = variants::copy_of_none();
    let ratio = |program: &&Workloads| Some((program.name(), store.timed(&program.counted, &copy)?.over_base?));
    programs.iter().filter_map(ratio).collect()
}

/// A sentence about the noise of the times that are kept; `None` if nobody has measured it.
pub fn describe_noise(store: &Store, programs: &[&Workloads]) -> Option<String> {
    let logarithms: Vec<f64> = noise(store, programs).into_values().map(f64::ln).collect();
    let count = logarithms.len() as f64;
    if logarithms.is_empty() {
        return None;
    }
    let mean = logarithms.iter().sum::<f64>() / count;
    let deviation = (logarithms.iter().map(|log| log * log).sum::<f64>() / count).sqrt();
    Some(format!(
        "Noise: a second copy of `cotree none`, timed like any other build, came out at {:+.1} % (geometric mean of {} programs) \
         where 0 is right; single programs are off by {:.1} % (root of the mean square).",
        100.0 * mean.exp_m1(),
        logarithms.len(),
        100.0 * deviation
    ))
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
