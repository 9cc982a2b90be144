//! Pools: profiles that are added to one file at the end of each process.

use crate::support::{Folder, Profile, Program, check};
use cotree_rt::layout::{Flags, State};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

fn program(folder: &Folder) -> Program {
    folder.build("pools.c", &["-w", "-include", "stdlib.h", "-include", "sys/wait.h", "-include", "unistd.h"])
}

fn run(program: &Program, number: usize, more: &[&str]) -> Command {
    let mut command = program.command();
    command.arg(number.to_string()).args(more).env("COTREE_FILE", "%n.%3m.cotree").stdout(Stdio::null());
    command
}

/// All profiles there: pools by name, profiles of single processes, and those that are running or were killed.
fn files(folder: &Folder) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("prog.ab010203"));
    files.sort();
    files
}

fn is_pool(path: &std::path::Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.ends_with(".cotree") && name.contains('_')
}

fn sum(profiles: &[Profile]) -> Vec<u64> {
    let mut sum = vec![0; 1024];
    for profile in profiles {
        sum.iter_mut().zip(&profile.counters).for_each(|(sum, count)| *sum += count);
    }
    sum
}

#[test]
fn runs_add_up_in_a_few_files() {
    let folder = Folder::new("pools");
    let program = program(&folder);
    let mut site = 0;
    for number in 1..=24 {
        let mut command = run(&program, number, if number % 6 == 0 { &["abort"] } else { &[] });
        let output = command.stdout(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.success(), number % 6 != 0, "{output:?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        site = printed.trim().strip_prefix("site leave ").map_or(site, |site| site.parse().unwrap());
    }
    let files = files(&folder);
    assert!((1..=3).contains(&files.len()) && files.iter().all(|path| is_pool(path)), "{files:?}");
    let profiles: Vec<_> = files.iter().map(|path| Profile::read(path)).collect();
    let counts = sum(&profiles);
    assert_eq!(counts[0], 24);
    assert!(counts[1..=24].iter().all(|&count| count == 1), "{counts:?}");
    assert_eq!(profiles.iter().map(|profile| profile.at(site)).sum::<i64>(), 24);
    let runs = |of: fn(&Profile) -> u64| profiles.iter().map(of).sum::<u64>();
    assert_eq!(runs(|profile| profile.header.runs_finished), 20);
    assert_eq!(runs(|profile| profile.header.runs_aborted), 4);
    for profile in &profiles {
        assert_eq!((profile.state(), profile.flags()), (State::FINISHED, Flags::NONE));
        assert_eq!(std::fs::metadata(&profile.path).unwrap().permissions().mode() & 0o022, 0);
    }
}

#[test]
fn children_and_many_at_once() {
    let folder = Folder::new("pools_at_once");
    let program = program(&folder);
    let started: Vec<_> = (1..=60).map(|number| run(&program, number, &["exit", "fork"]).spawn().unwrap()).collect();
    for mut child in started {
        assert!(child.wait().unwrap().success());
    }
    // On a busy machine some wait for the lock in vain, and leave a profile of their own.
    let files = files(&folder);
    let pools = files.iter().filter(|path| is_pool(path)).count();
    assert!((1..=3).contains(&pools), "{files:?}");
    let counts = sum(&files.iter().map(|path| Profile::read(path)).collect::<Vec<_>>());
    assert_eq!([counts[0], counts[1000]], [60, 60]);
    assert!(counts[1..=60].iter().all(|&count| count == 1), "{counts:?}");
}

/// A pipe, a link, a folder or an empty file that has the name of the pool stays what it is, and profiles stay by
/// themselves.
#[test]
fn names_that_are_taken() {
    for taken in ["pipe", "link", "folder", "empty file"] {
        let folder = Folder::new(&format!("pools_taken_by_a_{}", taken.replace(' ', "_")));
        let program = program(&folder);
        let pool = folder.0.join("prog.ab010203000000000000000000000000_0.cotree");
        let elsewhere = folder.0.join("elsewhere");
        std::fs::write(&elsewhere, "what a link leads to").unwrap();
        match taken {
            "pipe" => assert!(Command::new("mkfifo").arg(&pool).status().unwrap().success()),
            "link" => std::os::unix::fs::symlink(&elsewhere, &pool).unwrap(),
            "folder" => std::fs::create_dir(&pool).unwrap(),
            _ => std::fs::write(&pool, "").unwrap(),
        }
        let before = std::fs::symlink_metadata(&pool).unwrap().file_type();
        for number in 1..=2 {
            let mut child = run(&program, number, &[]).env("COTREE_FILE", "%n.%1m.cotree").spawn().unwrap();
            let began = Instant::now();
            let status = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break status;
                }
                if began.elapsed() > DEADLINE {
                    child.kill().unwrap();
                    panic!("it waits for a {taken}");
                }
                std::thread::sleep(Duration::from_millis(2));
            };
            assert!(status.success(), "{taken}");
        }
        assert_eq!(std::fs::symlink_metadata(&pool).unwrap().file_type(), before, "{taken}");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "what a link leads to");
        let own: Vec<_> = files(&folder).into_iter().filter(|path| *path != pool).collect();
        assert!(
            own.len() == 2 && own.iter().all(|path| !is_pool(path) && path.extension().unwrap() == "cotree"),
            "{own:?}"
        );
        let counts = sum(&own.iter().map(|path| Profile::read(path)).collect::<Vec<_>>());
        assert_eq!(counts[..4], [2, 1, 1, 0], "{taken}");
    }
}

/// Whenever processes are killed, nothing that was counted is lost, and nothing is counted twice.
#[test]
fn kills_lose_nothing() {
    let folder = Folder::new("pools_killed");
    let program = program(&folder);
    let began = Instant::now();
    let mut finished = BTreeMap::new();
    let mut number = 0;
    while number < 240 && began.elapsed() < DEADLINE {
        let mut started = Vec::new();
        for _ in 0..4 {
            number += 1;
            started.push((number, run(&program, number, &[]).spawn().unwrap()));
        }
        std::thread::sleep(Duration::from_micros(number as u64 * 7919 % 5000));
        for (number, mut child) in started {
            child.kill().unwrap();
            finished.insert(number, child.wait().unwrap().success());
        }
    }
    let left: Vec<_> = files(&folder).into_iter().filter(|path| path.extension().is_some_and(|e| e != "new")).collect();
    // A profile that is there, but has been added.
    let added = |path: &PathBuf| {
        let text = path.to_str().unwrap();
        let Some(pool) = text.strip_suffix(".joining").filter(|pool| std::fs::exists(pool).unwrap()) else {
            return false;
        };
        let (pool, own) = (Profile::read(pool.as_ref()).header, Profile::read(path).header);
        (pool.pid, pool.last_started_ns) == (own.pid, own.started_ns)
    };
    let begun = |path: &PathBuf| std::fs::read(path).unwrap().starts_with(&cotree_rt::layout::MAGIC);
    let profiles: Vec<_> =
        left.iter().filter(|path| begun(path) && !added(path)).map(|path| Profile::read(path)).collect();
    let counts = sum(&profiles);
    for (&number, &finished) in &finished {
        let count = counts[number];
        assert!(count == 1 || count == 0 && !finished, "process {number} counts {count} times; {left:?}");
    }
    // The next ones finish what was left.
    for number in 1000..1012 {
        assert!(run(&program, number, &[]).status().unwrap().success());
    }
    let pools = files(&folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == "joining")).count();
    assert_eq!(pools, 0);
}

/// What can't be added stays by itself.
#[test]
fn a_damaged_pool_is_left_alone() {
    let folder = Folder::new("pools_damaged");
    let program = program(&folder);
    assert!(run(&program, 1, &[]).env("COTREE_FILE", "%n.%1m.cotree").status().unwrap().success());
    let pool = files(&folder).pop().unwrap();
    let mut bytes = std::fs::read(&pool).unwrap();
    bytes[4100] ^= 1;
    std::fs::write(&pool, &bytes).unwrap();
    assert!(run(&program, 2, &[]).env("COTREE_FILE", "%n.%1m.cotree").status().unwrap().success());
    assert_eq!(std::fs::read(&pool).unwrap(), bytes);
    let own: Vec<_> = files(&folder).into_iter().filter(|path| *path != pool).collect();
    assert_eq!(own.len(), 1, "{own:?}");
    // A folder in which nothing can be locked, since somebody holds on to it: the profile is whole, and by itself.
    check(Command::new("rm").args(&own).arg(&pool));
    let held = std::fs::File::open(&folder.0).unwrap();
    held.lock().unwrap();
    let began = Instant::now();
    assert!(run(&program, 3, &[]).status().unwrap().success());
    assert!(began.elapsed() < DEADLINE);
    let own = files(&folder);
    assert_eq!(own.len(), 1, "{own:?}");
    let profile = Profile::read(&own[0]);
    assert_eq!((profile.counters[3], profile.flags().without(Flags::NOT_MAPPED)), (1, Flags::NONE));
}
