//! `cotree bisect`: the commit that made a benchmark dearer.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

/// Two benchmarks, of which a commit says how much work they have.
const SOURCE: &str = r#"#include "work.h"
static volatile unsigned sink;
__attribute__((noinline)) static void push(void) { for (unsigned i = 0; i < PUSH; i++) sink += i; }
__attribute__((noinline)) static void pop(void) { for (unsigned i = 0; i < POP; i++) sink -= i; }
int main(int argc, char **argv) { if (argc > 1) pop(); else push(); return 0; }
"#;

/// Builds and measures, and says so in a file besides.
const MEASURE: &str = r#"set -e
echo measured >> "$LOG"
if [ -e "$INTERRUPT" ]; then rm "$INTERRUPT"; kill -INT $PPID; exit 1; fi
"$TOOL" cc -O2 p.c -o p
"$TOOL" stat -n 1 --name push -- ./p
"$TOOL" stat -n 1 --name pop -- ./p 1
"#;

struct Repository {
    project: Project,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { project: Project::new(&[("r/p.c", SOURCE), ("r/measure.sh", MEASURE)]) };
        repository.git("init --quiet --initial-branch main");
        repository
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.project.command(program);
        command.current_dir(self.project.path("r"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "A. U. Thor").env(format!("GIT_{who}_EMAIL"), "a@example.org");
            command.env(format!("GIT_{who}_DATE"), "2026-02-03T04:05:06Z");
        }
        command.env("TOOL", env!("CARGO_BIN_EXE_cotree")).env("LOG", self.project.path("log"));
        command.env("INTERRUPT", self.project.path("interrupt"));
        command
    }

    fn git(&self, line: &str) -> String {
        succeed(self.command("git").args(line.split(' ')))
    }

    /// Commits amounts of work, or whatever the header shall say.
    fn commit(&self, subject: &str, header: &str) -> String {
        fs::write(self.project.path("r/work.h"), format!("// {subject}\n{header}\n")).expect("a file");
        self.git("add .");
        succeed(self.command("git").args(["commit", "--quiet", "-m", subject]));
        self.git("rev-parse HEAD").trim().to_owned()
    }

    fn bisect(&self, line: &str) -> (Output, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_cotree"));
        let words = format!("bisect {line} -- sh measure.sh");
        let output = command.args(words.split_whitespace()).output().expect("cotree starts");
        let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        (output, said)
    }

    /// How many commits have been measured so far.
    fn measured(&self) -> usize {
        fs::read_to_string(self.project.path("log")).unwrap_or_default().lines().count()
    }
}

fn work(push: u32, pop: u32) -> String {
    format!("#define PUSH {push}\n#define POP {pop}")
}

#[test]
fn the_commits_that_made_benchmarks_dearer_are_found() {
    let repository = Repository::new();
    let commits: Vec<String> = (0..21)
        .map(|number| {
            let header = work(if number < 13 { 1000 } else { 1010 }, if number < 4 { 500 } else { 600 });
            let header = if number == 5 { "#error it does not compile".to_owned() } else { header };
            repository.commit(&format!("Change {number}"), &header)
        })
        .collect();
    // Somebody interrupts the first commit.
    fs::write(repository.project.path("interrupt"), "").expect("a file");
    let (output, said) = repository.bisect("--good HEAD~20");
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("The same command goes on from here"), "{said}");

    let (output, said) = repository.bisect("--good HEAD~20 --format json");
    assert!(output.status.success(), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&told["schema"], &told["event"]), (&"cotree-bisect/1".into(), &"instructions".into()));
    let ids: Vec<&str> = told["commits"].as_array().expect("a list").iter().filter_map(|c| c["id"].as_str()).collect();
    assert_eq!(ids, commits);
    let all = told["benchmarks"].as_array().expect("a list");
    let [pop, push] = &all[..] else { panic!("both are dearer: {told}") };
    for (benchmark, name, first, function) in [(pop, "pop", 4, "pop"), (push, "push", 13, "push")] {
        assert_eq!((&benchmark["name"], &benchmark["first_bad"]), (&name.into(), &first.into()), "{told}");
        assert_eq!(benchmark["last_good"], first - 1);
        assert_eq!(benchmark["changes"]["functions"][0]["name"], function);
        for measured in benchmark["amounts"].as_array().expect("a list") {
            let is_first = measured["amount"] == benchmark["amounts"][0]["amount"];
            assert_eq!(is_first, measured["commit"].as_u64() < Some(first), "{measured}");
        }
    }
    assert!(repository.measured() < 18, "{} of 21 commits were measured", repository.measured());
    // What the builds were made in is gone, and what was measured is not.
    assert_eq!(repository.git("worktree list").lines().count(), 1);
    let before = repository.measured();
    let (output, said) = repository.bisect("--good HEAD~20");
    assert!(output.status.success(), "{said}");
    assert_eq!(repository.measured(), before + 1, "what could not be measured is tried again");
    let text = String::from_utf8_lossy(&output.stdout);
    for part in ["20 commits since", "More instructions in 'pop'", "Change 4", "A. U. Thor, 2026-02-03", "+1.00%"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (output, _) = repository.bisect("--good HEAD~20 --benchmark push --again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("'pop'") && repository.measured() > before, "{text}");
}

#[test]
fn commits_that_cannot_be_measured_are_suspects() {
    let repository = Repository::new();
    repository.commit("First", &work(100, 100));
    let bad: Vec<String> = ["#error a", "#error b"].iter().map(|text| repository.commit(text, text)).collect();
    repository.commit("Last", &work(200, 100));
    let (output, said) = repository.bisect("--good HEAD~3");
    assert!(output.status.success(), "{said}");
    assert!(said.contains("#error b was not measured: the command ended with exit status: 1"), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("since one of these, of which not all could be measured"), "{text}");
    assert!(bad.iter().all(|id| text.contains(&id[..7])) && text.contains("Last"), "{text}");
    let (output, said) = repository.bisect("--good HEAD~1");
    assert!(!output.status.success() && said.contains("#error b was not measured"), "{said}");
}

#[test]
fn stale_builds_are_noticed() {
    // A build that does not know of the header.
    let stale = "set -e\nif [ ! -e p ]; then \"$TOOL\" cc -O2 p.c -o p; fi\n\"$TOOL\" stat -n 1 --name push -- ./p\n";
    let repository = Repository::new();
    for number in 0..9 {
        if number == 5 {
            fs::write(repository.project.path("r/measure.sh"), stale).expect("a file");
        }
        repository.commit(&format!("Change {number}"), &work(if number < 3 { 100 } else { 200 }, 100));
    }
    // What is left of the last commit, which is built from nothing, stands for all behind the fifth.
    let (output, said) = repository.bisect("--good HEAD~8");
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("  Change 3\n"), "{said}");
    let script = fs::read_to_string(repository.project.path("r/measure.sh")).expect("a script");
    for number in 9..18 {
        repository.commit(&format!("Change {number}"), &work(if number < 16 { 200 } else { 300 }, 100));
    }
    let (output, said) = repository.bisect("--good HEAD~8");
    assert!(!output.status.success(), "{script}");
    assert!(said.contains("has other counts when it is built from nothing"), "{said}");
}

#[test]
fn a_merge_is_one_commit() {
    let repository = Repository::new();
    repository.commit("First", &work(100, 100));
    repository.git("checkout --quiet -b side");
    repository.commit("Side 1", &work(100, 100));
    repository.commit("Side 2", &work(300, 100));
    repository.git("checkout --quiet main");
    repository.git("merge --quiet --no-ff -m Merge side");
    repository.commit("Last", &work(300, 100));
    let (output, said) = repository.bisect("--good HEAD~2");
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("  Merge\n") && text.contains("a merge; to look into it: --good $(git merge-base"), "{text}");
    assert!(!text.contains("Side"), "{text}");
    let (output, said) = repository.bisect("--good main~2 --bad main^^2");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Side 2"), "{said}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let repository = Repository::new();
    repository.commit("First", &work(100, 100));
    repository.commit("Second", &work(100, 100));
    for (line, why) in [
        ("--good nosuch", "there is no commit nosuch"),
        ("--good HEAD", "HEAD and HEAD are the same commit"),
        ("--good HEAD --bad HEAD~1", "HEAD does not lead to HEAD~1"),
        ("--good HEAD~1", "no benchmark has more instructions in HEAD than in HEAD~1: there is nothing to find"),
    ] {
        let (output, said) = repository.bisect(line);
        assert!(!output.status.success() && said.contains(why), "{line}: {said}");
    }
    let with = |program: &str| {
        let mut command = repository.command(env!("CARGO_BIN_EXE_cotree"));
        let output = command.args(["bisect", "--good", "HEAD~1", "--", program]).output().expect("cotree starts");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(with("true").contains("the command recorded no benchmark: it must run `cotree stat`"));
    assert!(with("nosuch-command").contains("cannot start nosuch-command"));
    assert_eq!(repository.git("worktree list").lines().count(), 1, "nothing is left in the repository");
    let outside = repository.project.fails("bisect --good HEAD~1 -- true");
    assert!(outside.contains("git: not a git repository"), "{outside}");
}
