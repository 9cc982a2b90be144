//! Traces of processes that were killed or ended by a signal, against a log that the program keeps of its own lines
//! (`line_log.h`): the log outlives the process, too.
//!
//! What a trace says for certain has run and is in the log. What comes behind it in the log is what follows in the
//! trace "if the program got that far", as far as both go.

use crate::project::Project;
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::Streams;
use cotree_profile::method::trace::thread::{Survey, Thread};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

const SOURCE: &str = include_str!("killed.c");
const LOG: &str = include_str!("line_log.h");
/// As in `line_log.h` and `killed.c`.
const SLOTS: u64 = 1 << 21;
const LOGS: u64 = 4;

/// At most this many lines run between two tokens: a token of eight bytes may tell of 63 turns of a loop.
const MOST_SILENT: usize = 400;

/// The log of one thread.
struct Log {
    /// How many lines it has had.
    count: u64,
    /// The newest of them.
    newest: Vec<u16>,
}

fn logs(project: &Project) -> Vec<Log> {
    let bytes = fs::read(project.path("p.log")).expect("a log");
    let log = |index: u64| {
        let bytes = &bytes[(index * (8 + 2 * SLOTS)) as usize..][..(8 + 2 * SLOTS) as usize];
        let count = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let slot = |number: u64| {
            let at = 8 + (number % SLOTS) as usize * 2;
            u16::from_le_bytes([bytes[at], bytes[at + 1]])
        };
        // The oldest slot may just have been written to again.
        Log { count, newest: ((count + 1).saturating_sub(SLOTS)..count).map(slot).collect() }
    };
    (0..LOGS).map(log).collect()
}

/// The lines of a log that a trace has.
#[derive(Default)]
struct Traced {
    /// The lines that ran.
    certain: Vec<u16>,
    /// The lines that ran if the program got that far.
    uncertain: Vec<u16>,
    /// Nothing of the thread comes before.
    from_start: bool,
}

fn traced(tables: &UnitTables<'_>, streams: &Streams, part: &Survey<'_>) -> Traced {
    let logged: BTreeSet<u32> =
        (1..).zip(SOURCE.lines()).filter(|(_, line)| line.trim() == "L;").map(|it| it.0).collect();
    let files = &tables.binary().map().program.files;
    let lines = |function: &cotree_core::facts::Function| -> Vec<Vec<u16>> {
        let of_block = |block: &cotree_core::facts::BlockFacts| {
            let is_logged = |at: &cotree_core::facts::Position| {
                files[at.file as usize].ends_with("killed.c") && logged.contains(&at.line)
            };
            let spans = block.lines.iter().filter(|span| is_logged(&span.at));
            let mut lines: Vec<u16> = spans.map(|span| span.at.line as u16).collect();
            lines.dedup();
            lines
        };
        function.blocks.iter().map(of_block).collect()
    };
    let lines: Vec<_> = tables.binary().map().program.functions().map(|(_, function)| lines(function)).collect();
    let mut traced = Traced { from_start: !part.starts_late, ..Traced::default() };
    let Ok(()) = part.follow(tables, streams, 0, u64::MAX, |moment| {
        if let Event::Block { function, block, .. } = moment.event {
            let to = if moment.certain { &mut traced.certain } else { &mut traced.uncertain };
            to.extend(&lines[function.index()][block.index()]);
        }
        Ok::<_, Infallible>(true)
    });
    traced
}

/// How many lines of the log come behind what the trace says for certain; `None` if that is not the end of the log.
fn behind(log: &Log, traced: &Traced) -> Option<usize> {
    let (newest, certain) = (&log.newest, &traced.certain);
    let fits = |&behind: &usize| {
        // The log of another thread may be ahead by more than it keeps.
        let Some(left) = newest.len().checked_sub(behind) else { return false };
        let log = &newest[..left];
        let common = log.len().min(certain.len());
        log[log.len() - common..] == certain[certain.len() - common..]
    };
    if traced.from_start {
        let behind = usize::try_from(log.count.checked_sub(certain.len() as u64)?).ok()?;
        return Some(behind).filter(fits);
    }
    let most = newest.len().min(MOST_SILENT + traced.uncertain.len());
    (0..=most).find(fits)
}

/// Compares a part of a thread's stream with its log. Gives how many lines were found to be the same, and how many came
/// after the last token.
fn compare(log: &Log, traced: &Traced) -> Result<(usize, usize), String> {
    let Some(behind) = behind(log, traced) else {
        let tail = |lines: &[u16]| lines[lines.len().saturating_sub(12)..].to_vec();
        return Err(format!(
            "{} lines of {} are not the log's: {:?} and {:?}",
            traced.certain.len(),
            log.count,
            tail(&traced.certain),
            tail(&log.newest)
        ));
    };
    let rest = &log.newest[log.newest.len() - behind..];
    let common = rest.len().min(traced.uncertain.len());
    if rest[..common] != traced.uncertain[..common] || behind > traced.uncertain.len() + MOST_SILENT {
        return Err(format!("behind the last token {rest:?} ran and not {:?}", traced.uncertain));
    }
    Ok((traced.certain.len(), behind))
}

/// A process that is not to outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the program, and kills it when `when` says so of its log's count and last line.
fn kill(project: &Project, arguments: &[&str], when: impl Fn(u64, u16) -> bool) {
    let mut run = program(project, arguments);
    let mut run = Running(run.spawn().expect("it starts"));
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(60), "the log does not grow");
        if let Ok(log) = File::open(project.path("p.log")) {
            let (mut count, mut last) = ([0; 8], [0; 2]);
            if log.read_exact_at(&mut count, 0).is_ok() {
                let count = u64::from_le_bytes(count);
                let slot = 8 + count.wrapping_sub(1) % SLOTS * 2;
                if count > 0 && log.read_exact_at(&mut last, slot).is_ok() && when(count, u16::from_le_bytes(last)) {
                    return run.0.kill().expect("it runs");
                }
            }
        }
        assert!(run.0.try_wait().expect("our child").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn program(project: &Project, arguments: &[&str]) -> Command {
    for left in profiles(project).into_iter().chain([project.path("p.log")]) {
        // The first run finds none.
        let _ = fs::remove_file(left);
    }
    let mut command = project.command(project.path("p"));
    command.args(arguments).env("COTREE_FILE", "p.cotree").env("LINE_LOG", "p.log");
    command
}

fn profiles(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("p.cotree"))).collect()
}

/// What was compared.
#[derive(Default)]
struct Compared {
    lines: usize,
    /// Streams of which only the newest part was there.
    starts_late: usize,
    /// What the log has behind what is certain, and what the traces have there.
    behind: Vec<usize>,
    uncertain: Vec<usize>,
}

/// Compares all streams of the program's last run with its logs.
fn compare_all(project: &Project, what: &str) -> Compared {
    let profiles = profiles(project);
    let [profile] = profiles.as_slice() else { panic!("{what}: {profiles:?}") };
    let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
    let tables = UnitTables::new(&binary).expect("a traced program");
    let streams = Streams::open(profile).expect("a profile");
    let logs = logs(project);
    let mut compared = Compared::default();
    for stream in streams.iter() {
        let thread = Thread::new(&tables, &streams, stream);
        // Of a thread that was silent for long, only the last part has an end that the log knows.
        let Some(part) = thread.parts.last() else { continue };
        let traced = traced(&tables, &streams, part);
        let outcomes: Vec<_> = logs.iter().map(|log| self::compare(log, &traced)).collect();
        // Nobody else's log is as that of the thread, unless it has hardly begun.
        let Some((lines, behind)) = outcomes.iter().flatten().max() else {
            panic!("{what}, stream {}: {:?}", stream.number, outcomes[0]);
        };
        compared.lines += lines;
        compared.starts_late += usize::from(!traced.from_start);
        compared.behind.push(*behind);
        compared.uncertain.push(traced.uncertain.len());
    }
    assert!(!compared.behind.is_empty(), "{what}: no stream");
    compared
}

fn project() -> Project {
    Project::new(&[("killed.c", SOURCE), ("line_log.h", LOG)])
}

fn build(project: &Project, options: &str, level: &str) {
    project.ok(&format!("--profile trace {options} cc {level} -w -g -pthread -o p killed.c"));
}

const RING: &str = "--trace-ring 1M";
const BITS_IN_RING: &str = "--trace-ring 1M --trace-by bits";
const WITNESSES: &str = "--trace-by witness";

/// SIGKILL at any moment: 20 of them, or as many as `COTREE_KILLS` says.
#[test]
fn what_a_killed_process_did_is_in_its_trace() {
    let kills: u32 = std::env::var("COTREE_KILLS").map_or(20, |kills| kills.parse().expect("a number"));
    let project = project();
    let builds = [
        ("-O0", RING, ""),
        ("-O2", RING, ""),
        ("-O2", RING, "2"),
        ("-O2", "", ""),
        ("-O0", RING, "2"),
        ("-O2", BITS_IN_RING, "2"),
        ("-O2", WITNESSES, ""),
    ];
    let mut random = 20_241_125_u64;
    let (mut lines, mut starts_late) = (0, 0);
    for (index, (level, options, threads)) in builds.into_iter().enumerate() {
        build(&project, options, level);
        for _ in 0..(kills as usize + builds.len() - 1 - index) / builds.len() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let wanted = 1 + (random >> 33) % 3_000_000;
            let turns = u64::MAX.to_string();
            let arguments = ["kill", &turns, threads];
            kill(&project, &arguments[..if threads.is_empty() { 2 } else { 3 }], |count, _| count >= wanted);
            let what = format!("{level} {options} {threads}, killed after {wanted}");
            let compared = compare_all(&project, &what);
            lines += compared.lines;
            starts_late += compared.starts_late;
        }
    }
    assert!(
        lines > kills as usize * 20_000 && starts_late * 8 > kills as usize,
        "{lines} lines, {starts_late} cut off"
    );
}

/// The number of the line behind the one that begins like this: there stands what is told about it.
fn line_of(text: &str) -> u16 {
    let found = SOURCE.lines().position(|line| line.trim().starts_with(text));
    u16::try_from(found.expect("a line of the source") + 1).expect("a short source")
}

/// How a process ends by itself.
fn ends(project: &Project, how: &str) -> Output {
    program(project, &[how, "800"]).output().expect("it runs")
}

/// Where a process waits, all that ran before is in its trace, and what is left of the log is what the trace says
/// follows.
#[test]
fn nothing_is_missing_of_a_process_that_waited_when_it_was_killed() {
    let project = project();
    let waits = line_of("for (;;) pause();") - 1;
    for (level, options) in [("-O0", RING), ("-O2", RING), ("-O2", ""), ("-O2", BITS_IN_RING), ("-O2", WITNESSES)] {
        build(&project, options, level);
        kill(&project, &["kill", "800"], |_, last| last == waits);
        let compared = compare_all(&project, level);
        assert_eq!(compared.behind, compared.uncertain, "{level} {options}");
        assert!(compared.lines > 10_000, "{level} {options}: {}", compared.lines);
        let profile = profiles(&project).remove(0);
        let shown = project.ok(&format!("trace {} --last 3", profile.display()));
        assert!(shown.contains("the thread was cut off, or still ran"), "{shown}");
        assert!(shown.contains(&format!("killed.c:{}, calling pause", waits + 1)), "{shown}");
    }
}

/// A fault ends an activation in the middle of a block. What it had done since its last token is not known, and shown
/// as such; the line of the fault is.
#[test]
fn faults_are_told_with_their_lines() {
    use std::os::unix::process::ExitStatusExt;
    let project = project();
    let faults = line_of("sink += *nowhere;");
    for (level, options) in [("-O0", RING), ("-O2", RING), ("-O2", ""), ("-O2", BITS_IN_RING), ("-O2", WITNESSES)] {
        build(&project, options, level);
        assert_eq!(ends(&project, "fault").status.signal(), Some(libc::SIGSEGV));
        let compared = compare_all(&project, level);
        assert!(compared.lines > 10_000, "{level} {options}: {}", compared.lines);
        let at = format!("killed.c:{faults}");
        let summary = project.ok("trace p.cotree");
        assert!(summary.contains(&format!("a signal ended what was under way, at {at}\n")), "{summary}");
        let shown = project.ok("trace p.cotree --by line --last 4");
        assert!(shown.contains(&format!("interrupted by a signal  {at}\n")), "{shown}");
        assert!(shown.contains("fault ends without a return\n"), "{shown}");
        // Lines that follow in the block, which did not run.
        let behind = format!("killed.c:{}", faults + 2);
        assert!(shown.lines().filter(|row| row.contains(&behind)).all(|row| row.ends_with('?')), "{shown}");
        let rows = project.ok("trace p.cotree --by line --json");
        let rows = rows.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).expect("JSON"));
        let told: Vec<_> = rows.filter(|row| row["event"] == "interrupted").collect();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["line"], faults, "{}", told[0]);
    }
}

/// `abort` is called, so nothing is in doubt.
#[test]
fn nothing_is_in_doubt_of_a_process_that_aborts() {
    use std::os::unix::process::ExitStatusExt;
    let project = project();
    for (level, options) in [("-O0", RING), ("-O2", RING), ("-O2", ""), ("-O2", BITS_IN_RING), ("-O2", WITNESSES)] {
        build(&project, options, level);
        assert_eq!(ends(&project, "abort").status.signal(), Some(libc::SIGABRT));
        let compared = compare_all(&project, level);
        assert_eq!(
            (compared.behind.as_slice(), compared.uncertain.as_slice()),
            (&[0][..], &[0][..]),
            "{level} {options}"
        );
        let shown = project.ok("trace p.cotree --by line --last 2");
        let ends = format!("end ends without a return in its call of abort  killed.c:{}\n", line_of("abort();"));
        assert!(shown.contains(&ends), "{shown}");
    }
}
