//! Pools as readers find them: in the middle of joining, after kills, and while others add to them.

use crate::project::Project;
use serde_json::Value;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const SOURCE: &str = "#include <stdio.h>\n\
    int main(void) {\n\
      int s = 0;\n\
      for (int i = 0; i < 7; i++) s += i % 3 ? 1 : 2;\n\
      return s == 3;\n\
    }\n";

const POOL: &str = "runs/pool.%1m.cotree";

struct Pools {
    project: Project,
}

impl Pools {
    fn new() -> Self {
        let project = Project::new(&[("main.c", SOURCE), ("runs/.keep", "")]);
        project.ok("cc -O0 main.c -o program");
        Self { project }
    }

    fn start(&self, pattern: &str) -> Child {
        let mut command = self.project.command(self.project.path("program"));
        command.env("COTREE_FILE", pattern).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    fn run(&self, pattern: &str) {
        assert!(self.start(pattern).wait().expect("it ends").success());
    }

    /// The names in the folder that end so.
    fn names(&self, ending: &str) -> Vec<String> {
        let entries = fs::read_dir(self.project.path("runs")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(ending)).collect()
    }

    /// How often `main` began, which is how many runs there are, all of them exact.
    fn runs(&self, of: &str) -> u64 {
        let export = self.project.ok(&format!("export {of} -o sum.json"));
        let json: Value = serde_json::from_str(&fs::read_to_string(self.project.path("sum.json")).expect("a file"))
            .unwrap_or_else(|error| panic!("{export}: {error}"));
        let unit = &json["units"][0];
        assert_eq!((&unit["exact"], unit["runs"]["cut_off"].as_u64()), (&Value::Bool(true), Some(0)), "{unit}");
        let functions = unit["functions"].as_array().expect("functions");
        let main = functions.iter().find(|function| function["symbol"] == "main").expect("main");
        assert_eq!(main["entries"], unit["runs"]["finished"], "{of}");
        main["entries"].as_u64().expect("a count")
    }

    /// The folder, by itself and merged.
    fn both(&self) -> u64 {
        self.project.ok("merge -o merged.cotree runs");
        let runs = self.runs("runs");
        assert_eq!(self.runs("merged.cotree"), runs);
        runs
    }
}

#[test]
fn what_is_being_added_counts_once() {
    let pools = Pools::new();
    let path = |name: &str| pools.project.path(&format!("runs/{name}"));
    (0..3).for_each(|_| pools.run(POOL));
    let [pool] = &pools.names(".cotree")[..] else { panic!("{:?}", pools.names("")) };
    let joining = path(&format!("{pool}.joining"));
    assert_eq!(pools.both(), 3);

    // Killed before the sum took the pool's place; a part of it has been written.
    pools.run("single.cotree");
    fs::copy(pools.project.path("single.cotree"), &joining).expect("a copy");
    fs::write(path(&format!("{pool}.new")), b"COTREERW and no more").expect("a file");
    assert_eq!(pools.both(), 4);
    assert_eq!(pools.runs(&format!("runs/{pool}")), 4);

    // Killed behind that: the next one finishes what was left, and so the last that was added is its own.
    pools.run(POOL);
    assert!(!joining.exists());
    assert_eq!(pools.both(), 5);

    // Killed when the pool had just been made: its only run is that of the profile beside it.
    fs::remove_file(path(pool)).expect("a pool");
    pools.run(POOL);
    fs::copy(path(pool), &joining).expect("a copy");
    assert_eq!(pools.both(), 1);

    // Killed before there was a pool.
    fs::remove_file(path(pool)).expect("a pool");
    fs::write(path(&format!("{pool}.new")), b"").expect("a file");
    assert_eq!(pools.both(), 1);
    assert_eq!(pools.runs(&format!("runs/{pool}")), 1);

    // What can't be read is not passed over.
    let whole = fs::read(&joining).expect("a profile");
    fs::write(&joining, &whole[..whole.len() - 8]).expect("a file");
    for command in ["report runs", "merge -o merged.cotree runs"] {
        let text = pools.project.fails(command);
        assert!(text.contains("joining is cut off"), "{text}");
    }
}

/// Four processes at a time, of which most are killed. Readers look on.
#[test]
fn kills_never_make_a_sum_wrong() {
    const KILLS: u64 = 50;
    let pools = Pools::new();
    let began = Instant::now();
    let (mut succeeded, mut killed, mut seen) = (0, 0, 0);
    while killed < KILLS && began.elapsed() < Duration::from_secs(120) {
        let started: Vec<_> = (0..4).map(|_| pools.start(POOL)).collect();
        std::thread::sleep(Duration::from_micros(killed * 7919 % 6000));
        for mut child in started {
            child.kill().expect("it is our child");
            if child.wait().expect("it ends").success() { succeeded += 1 } else { killed += 1 }
        }
        if killed % 10 == 0 && succeeded > 0 {
            let runs = pools.both();
            assert!((seen.max(succeeded)..=succeeded + killed).contains(&runs), "{runs}: {succeeded} and {killed}");
            seen = runs;
        }
    }
    pools.run(POOL);
    succeeded += 1;
    assert!(pools.names(".joining").is_empty());
    let runs = pools.both();
    assert!((seen.max(succeeded)..=succeeded + killed).contains(&runs), "{runs}: {succeeded} and {killed}");
}

#[test]
fn pools_are_read_while_others_add_to_them() {
    let pools = Pools::new();
    pools.run(POOL);
    let mut before = 1;
    let mut all = 1;
    for _ in 0..6 {
        let started: Vec<_> = (0..10).map(|_| pools.start(POOL)).collect();
        all += 10;
        let runs = pools.runs("runs");
        assert!((before..=all).contains(&runs), "{runs} of {before} to {all}");
        for mut child in started {
            assert!(child.wait().expect("it ends").success());
        }
        before = all;
        assert_eq!(pools.both(), all);
    }
}

/// A file counts once, whatever names it has; pipes and empty files are left out, and all of that is said.
#[test]
fn each_file_counts_once() {
    let pools = Pools::new();
    pools.run(POOL);
    pools.run(POOL);
    pools.run("runs/own.cotree");
    let runs = pools.project.path("runs");
    fs::hard_link(runs.join("own.cotree"), runs.join("same.cotree")).expect("a second name");
    let pool = pools.names(".cotree").into_iter().find(|name| name.starts_with("pool")).expect("a pool");
    std::os::unix::fs::symlink(pool, runs.join("z-link.cotree")).expect("a link");
    fs::write(runs.join("empty.cotree"), "").expect("a file");
    assert!(std::process::Command::new("mkfifo").arg(runs.join("pipe.cotree")).status().expect("mkfifo").success());
    assert_eq!(pools.both(), 3);
    let told = pools.project.cotree("report runs").output().expect("it runs");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    for sentence in [
        "runs/same.cotree is runs/own.cotree by another name",
        "runs/z-link.cotree is runs/pool",
        "runs/pipe.cotree is no file",
    ] {
        assert!(told.contains(sentence), "{sentence}: {told}");
    }
    assert!(told.contains("runs/empty.cotree is empty"), "{told}");
}
