//! What a program was at when it ended: `cotree paths --pending`.

use crate::project::{Project, succeed};
use serde_json::Value;

const PROGRAM: &str = r#"
#include <stdlib.h>
#include <signal.h>
static volatile int sink;
__attribute__((noinline)) static int check(int n, int how) {
  if (n > 40) {
    if (how == 0)
      abort();
    if (how == 1)
      exit(3);
    if (how == 2)
      *(volatile int *)0 = n;
    if (how == 3)
      raise(SIGKILL);
  }
  return n & 1;
}
__attribute__((noinline)) static int sum(int n, int how) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0)
      s += i;
    else
      s -= 1;
    s += check(s, how);
  }
  return s;
}
__attribute__((noinline)) static int deep(int n, int how) {
  if (n == 0)
    return sum(30, how);
  sink = n;
  return deep(n - 1, how) + 1;
}
int main(int argc, char **argv) {
  int how = argc > 1 ? atoi(argv[1]) : 9;
  for (int i = 0; i < 4; i++) {
    if (i == 2)
      sink = deep(3, how);
    else
      sink = sum(i, how);
  }
  return 0;
}
"#;

/// The activations at the end of a run: for each its function, the line where it was, and the lines of its path; and a
/// note, where there is nothing to tell.
struct Story {
    functions: Vec<String>,
    lines: Vec<u64>,
    paths: Vec<Vec<u64>>,
    known: Vec<String>,
    note: Option<String>,
    text: String,
}

fn story(project: &Project, how: &str) -> Story {
    let mut command = project.command(project.path("p"));
    let _ = command.arg(how).env("COTREE_FILE", "p.cotree").status().expect("it runs");
    let file = std::fs::read_dir(project.path(".")).expect("the folder").map(|file| file.expect("a file").file_name());
    let file = file.into_iter().find(|name| name.to_string_lossy().starts_with("p.cotree")).expect("a profile");
    let file = file.to_string_lossy().into_owned();
    let json: Value = serde_json::from_str(&project.ok(&format!("paths --pending --json {file}"))).expect("JSON");
    let text = project.ok(&format!("paths --pending {file}"));
    std::fs::remove_file(project.path(&file)).expect("it was there");
    assert_eq!(json["schema"], "cotree-pending/1");
    let unit = &json["units"][0];
    let at = unit["activations"].as_array().expect("activations");
    let name = |at: &Value| match at["function"].as_u64() {
        Some(function) => {
            unit["functions"][usize::try_from(function).expect("small")].as_str().unwrap_or("").to_owned()
        }
        None => String::new(),
    };
    let lines = |part: &Value| {
        let lines = part["lines"].as_array().expect("lines").iter().filter_map(|line| line[1].as_u64());
        lines.collect::<Vec<u64>>()
    };
    let path = |at: &Value| at["active"].as_array().expect("parts").iter().flat_map(lines).collect::<Vec<u64>>();
    Story {
        functions: at.iter().map(name).collect(),
        lines: at.iter().map(|at| at["line"][1].as_u64().unwrap_or(0)).collect(),
        paths: at.iter().map(path).collect(),
        known: at.iter().map(|at| at["path"].as_str().unwrap_or("").to_owned()).collect(),
        note: unit["note"].as_str().map(str::to_owned),
        text,
    }
}

const STACK: [&str; 7] = ["main", "deep", "deep", "deep", "deep", "sum", "check"];

#[test]
fn a_crash_is_told_from_main_to_the_fault() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("--profile path --fault-paths cc -O0 -g -w -o p p.c");
    let aborted = story(&project, "0");
    assert_eq!(aborted.functions, STACK);
    assert_eq!(aborted.lines, [39, 33, 33, 33, 31, 25, 8]);
    assert_eq!(aborted.paths[1], [30, 32, 33]);
    assert_eq!(aborted.paths[4], [30, 31]);
    assert_eq!(aborted.paths[6], [6, 7, 8]);
    assert!(aborted.text.contains("when the program aborted"), "{}", aborted.text);
    let exited = story(&project, "1");
    assert_eq!((exited.functions, exited.lines[6]), (STACK.map(str::to_owned).to_vec(), 10));
    let crashed = story(&project, "2");
    assert_eq!((crashed.functions, crashed.lines[6]), (STACK.map(str::to_owned).to_vec(), 12));
    assert_eq!(crashed.known[6], "known");
    assert_eq!(crashed.paths[6], [6, 7, 9, 11, 12]);
    let killed = story(&project, "3");
    assert!(killed.functions.is_empty() && killed.note.is_some_and(|note| note.contains("killed")), "{}", killed.text);
    let returned = story(&project, "9");
    assert!(returned.note.is_some_and(|note| note.contains("no path was pending")), "{}", returned.text);
}

#[test]
fn paths_across_functions_tell_a_crash_where_calls_keep_them() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    for (method, level) in
        [("ipath", "-O0"), ("ipath", "-O2"), ("ipath-piecewise", "-O0"), ("ipath-hybrid=leaf", "-O2")]
    {
        project.ok(&format!("--profile {method} --verify cc {level} -g -w -o p p.c"));
        let aborted = story(&project, "0");
        assert_eq!(aborted.functions.first().map(String::as_str), Some("main"), "{}", aborted.text);
        assert_eq!(aborted.functions.last().map(String::as_str), Some("check"), "{}", aborted.text);
        assert!(aborted.known.iter().all(|path| path == "known" || path == "of the next"), "{}", aborted.text);
        // Into the turn of the loop in which the sum is above 40, up to the call of abort.
        let last = aborted.paths.last().expect("check's");
        assert!(last.ends_with(&[8]) || last.ends_with(&[7, 8]), "{level}: {last:?}");
        if level == "-O0" {
            assert_eq!(
                (aborted.functions, aborted.lines),
                (STACK.map(str::to_owned).to_vec(), vec![39, 33, 33, 33, 31, 25, 8])
            );
            assert_eq!(last[last.len() - 3..], [6, 7, 8]);
        }
        assert_eq!(story(&project, "2").lines.last(), Some(&12), "{method} {level}");
    }
    // Where calls keep nothing, what can only have been so is told.
    project.ok("--profile ipath cc -O0 -g -w -o p p.c");
    let aborted = story(&project, "0");
    assert_eq!(aborted.functions, STACK);
    assert!(aborted.known.iter().filter(|path| *path == "known").count() >= 2, "{}", aborted.text);
}

/// Calls that keep paths end in every way as those that don't.
#[test]
fn keeping_paths_at_calls_changes_no_count() {
    let source = r#"
#include <cstdio>
#include <csetjmp>
#include <stdexcept>
static volatile int sink;
static jmp_buf place;
__attribute__((noinline)) static int thrower(int n) { if (n % 3 == 1) throw n; if (n % 5 == 2) throw std::runtime_error("x"); return n; }
__attribute__((noinline)) static int middle(int n) { try { return thrower(n) + thrower(n + 1); } catch (int k) { return k; } }
__attribute__((noinline)) static void jumper(int n) { if (n % 4 == 3) longjmp(place, 1); sink = middle(n); }
int main() {
  int caught = 0;
  for (volatile int i = 0; i < 50; i++) {
    if (setjmp(place)) continue;
    try { jumper(i); } catch (std::runtime_error &) { caught++; }
  }
  printf("%d\n", caught);
}
"#;
    let project = Project::new(&[("p.cpp", source)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile ipath --verify c++ {level} -g -w -o p p.cpp"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{level}: {said}");
    }
}

#[test]
fn the_thread_that_faults_is_told_in_static_programs_too() {
    let source = r#"
#include <pthread.h>
__attribute__((noinline)) static void fail(int n) { if (n > 2) *(volatile int *)0 = n; }
static void *work(void *p) {
  for (int i = 0; i < 9; i++)
    fail(i);
  return p;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
}
"#;
    let project = Project::new(&[("p.c", source)]);
    for link in ["", "-static"] {
        project.ok(&format!("--profile path cc -O1 -g -w -pthread {link} -o p p.c"));
        let crashed = story(&project, "0");
        assert_eq!(crashed.functions, ["work", "fail"], "{link}");
        assert_eq!(crashed.lines, [6, 3], "{link}");
    }
}

/// Branches that lead to one line, which faults in some manner.
const BRANCHES: &str = r#"
#include <stdlib.h>
#include <string.h>
static int *volatile null;
static volatile int zero, a, b, c, d, e;
NOINLINE static void fail(int n) {
  for (int i = 0; i < 3; i++) {
    if (n & 1)
      a = 1;
    else
      b = 2;
    if (n & 2)
      c = 3;
    if (n & 4)
      d = n;
    else
      e = i;
    if (i == 1) {
      FAULT;
    }
  }
}
NOINLINE static void middle(int n) {
  fail(n);
  a = 5;
}
int main(int count, char **arguments) {
  middle(atoi(arguments[1]));
  return 0;
}
"#;

/// The lines of [`BRANCHES`] that the second turn goes through.
fn lines_of(n: u32) -> Vec<u64> {
    let branch = |bit: u32, [taken, other]: [Option<u64>; 2]| if n & bit == 0 { other } else { taken };
    let branches = [branch(1, [Some(9), Some(11)]), branch(2, [Some(13), None]), branch(4, [Some(15), Some(17)])];
    branches.into_iter().flatten().collect()
}

#[test]
fn a_fault_between_calls_tells_the_path_that_was_taken() {
    let project = Project::new(&[("p.c", BRANCHES), ("p.cpp", BRANCHES)]);
    let builds = [
        ("path", "cc -O0", "p.c", "*null=n"),
        ("path", "cc -O1", "p.c", "*null=n"),
        ("path", "cc -O2", "p.c", "a=n/zero"),
        ("path", "cc -O0 -fPIE -pie", "p.c", "__builtin_trap()"),
        ("path", "cc -O2 -fPIE -pie", "p.c", "a=*null"),
        ("path-context", "cc -O0", "p.c", "a=n%zero"),
        ("path-context", "cc -O2 -static", "p.c", "*null=n"),
        ("path", "c++ -O2", "p.cpp", "__builtin_trap()"),
        ("path-array=0", "cc -O0", "p.c", "*null=n"),
        ("path-array=0", "cc -O2", "p.c", "a=n%zero"),
        ("ipath", "cc -O0", "p.c", "*null=n"),
        ("ipath", "cc -O1", "p.c", "a=n%zero"),
        ("ipath", "cc -O2 -fPIE -pie", "p.c", "*null=n"),
        ("ipath", "c++ -O2", "p.cpp", "*null=n"),
        ("ipath-piecewise", "cc -O0", "p.c", "__builtin_trap()"),
        ("ipath-piecewise", "cc -O2", "p.c", "*null=n"),
        ("ipath-hybrid=leaf", "cc -O2 -static", "p.c", "a=*null"),
    ];
    let branches = [9, 11, 13, 15, 17];
    for inlined in [false, true] {
        for (method, compile, file, fault) in builds {
            let method = match method.strip_prefix("path-array=") {
                Some(array) => format!("path --path-array {array} --fault-paths"),
                None => format!("{method} --fault-paths"),
            };
            let define = if inlined { "-DNOINLINE=" } else { "-DNOINLINE=__attribute__((noinline))" };
            project.ok(&format!("--profile {method} {compile} -g -w {define} -DFAULT={fault} -o p {file}"));
            for n in 0..8 {
                let crashed = story(&project, &n.to_string());
                let what = format!("{method} {compile} {fault} {n}: {}", crashed.text);
                assert_eq!(crashed.known.last().map(String::as_str), Some("known"), "{what}");
                assert_eq!(crashed.lines.last(), Some(&19), "{what}");
                let path = crashed.paths.last().expect("it is known");
                let taken: Vec<u64> = path.iter().copied().filter(|line| branches.contains(line)).collect();
                // With the context of the loop, or where its turns have become one path, the first turn comes before.
                assert!(taken.ends_with(&lines_of(n)), "{what}: {taken:?}");
                // A path across functions that remembers all goes back to where it was called.
                let remembers = method.starts_with("ipath ") || method.starts_with("ipath-hybrid");
                assert!(!remembers || compile.contains("-O2") || path.len() > taken.len() + 1, "{what}: {path:?}");
            }
        }
    }
}

#[test]
fn without_debug_information_a_fault_tells_no_path() {
    let project = Project::new(&[("p.c", BRANCHES)]);
    for (options, debug) in [("--fault-paths ", ""), ("", "-g "), ("--fault-paths ", "-g1 ")] {
        let linked = format!("--profile path {options}cc -O2 {debug}-w -DNOINLINE= -DFAULT=*null=n -o p p.c");
        let said = project.cotree(&linked).output().expect("cotree starts");
        // bfd writes the plugin's warnings on its standard output.
        let said = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
        assert_eq!(said.contains("compile it with -g"), debug.is_empty(), "{linked}: {said}");
        let crashed = story(&project, "3");
        assert_eq!(crashed.known.last().map(String::as_str), Some("not held"), "{linked}: {}", crashed.text);
        assert!(crashed.text.contains("did not hold"), "{linked}: {}", crashed.text);
    }
}

/// Debug information must not change what is measured.
#[test]
fn notes_of_paths_change_no_code() {
    let project = Project::new(&[("p.c", PROGRAM), ("q.c", BRANCHES)]);
    let sources = ["p.c", "q.c -DNOINLINE= -DFAULT=*null=n"];
    let methods = ["path", "ipath", "ipath-piecewise"];
    for (source, method) in sources.into_iter().flat_map(|source| methods.map(|method| (source, method))) {
        for level in ["-O0", "-O1", "-O2", "-O3 -flto"] {
            let text = |debug: &str| {
                project.ok(&format!("--profile {method} --fault-paths cc {level} {debug} -w -o p {source}"));
                let bytes = std::fs::read(project.path("p")).expect("the program");
                let elf = object::File::parse(&*bytes).expect("an executable");
                let section = object::Object::section_by_name(&elf, ".text").expect("code");
                object::ObjectSection::data(&section).expect("its bytes").to_vec()
            };
            assert!(text("") == text("-g"), "{source} {method} {level}");
        }
    }
}

#[test]
fn damaged_debug_information_is_survived() {
    let project = Project::new(&[("p.c", BRANCHES)]);
    project.ok("--profile path --fault-paths cc -O2 -g -w -DNOINLINE= -DFAULT=*null=n -o p p.c");
    let _ = project.command(project.path("p")).arg("5").env("COTREE_FILE", "p.cotree").status().expect("it runs");
    let whole = std::fs::read(project.path("p")).expect("the program");
    let elf = object::File::parse(&*whole).expect("an executable");
    let names = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_loclists", ".debug_rnglists", ".debug_str"];
    let ranges: Vec<(u64, u64)> = names
        .into_iter()
        .filter_map(|name| object::ObjectSection::file_range(&object::Object::section_by_name(&elf, name)?))
        .collect();
    assert!(ranges.len() >= 4, "{ranges:?}");
    let mut seed = 1u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..100 {
        let mut bytes = whole.clone();
        for _ in 0..4 {
            let (start, len) = ranges[usize::try_from(next(ranges.len() as u64)).expect("small")];
            bytes[usize::try_from(start + next(len)).expect("in the file")] = next(256).to_le_bytes()[0];
        }
        std::fs::write(project.path("p"), &bytes).expect("the program is written");
        let told = project.cotree("paths --pending --json p.cotree").output().expect("cotree starts");
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    }
}

/// The part of what is printed that tells the activations.
fn told(text: &str) -> String {
    let told = text.split_once("outermost first\n").map_or_else(|| panic!("{text}"), |found| found.1);
    told.lines().take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

fn gdb(project: &Project, commands: &[&str], program: &[&str]) -> String {
    let mut gdb = project.command("timeout");
    gdb.args(["120", env!("CARGO_BIN_EXE_cotree"), "gdb", "--batch"]);
    for command in commands {
        gdb.args(["-e", command]);
    }
    let output = gdb.args(program).output().expect("gdb starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A debugger that has stopped at a fault tells what the profile tells when the fault has ended the program.
#[test]
fn a_debugger_tells_the_paths_that_are_under_way() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    for method in ["path", "ipath", "ipath-piecewise"] {
        for flags in ["-O0", "-O1", "-O0 -static"] {
            project.ok(&format!("--profile {method} --fault-paths cc {flags} -g -w -o p p.c"));
            let crashed = story(&project, "2");
            let program = project.path("p").display().to_string();
            let stopped = gdb(&project, &["run", "cotree-paths"], &[&program, "2"]);
            let expected = told(&crashed.text).replace("  ended at ", "  stopped at ");
            assert_eq!(told(&stopped), expected, "{method} {flags}: {stopped}");
            // The stack at the call of a function that is not profiled, and a few steps into it. In static programs the
            // runtime has ended the profile before that.
            if !flags.contains("static") {
                let aborted = told(&story(&project, "0").text);
                let commands = ["break abort", "run", "cotree-paths", "stepi 3", "cotree-paths"];
                let stopped = gdb(&project, &commands, &[&program, "0"]);
                assert_eq!(stopped.matches(&aborted).count(), 2, "{method} {flags}: {stopped}\n{aborted}");
            }
            for file in
                std::fs::read_dir(project.path(".")).expect("the folder").map(|file| file.expect("a file").path())
            {
                if file.to_string_lossy().contains(".cotree") {
                    std::fs::remove_file(file).expect("it was there");
                }
            }
        }
    }
}

/// What the debugger is told where it can tell nothing.
#[test]
fn a_debugger_says_why_no_path_is_told() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let program = project.path("p").display().to_string();
    let ask = |commands: &[&str], program: &[&str]| gdb(&project, commands, program);
    project.ok("--profile edge cc -O1 -w -o p p.c");
    let text = ask(&["cotree-paths", "break check", "run", "cotree-paths", "cotree-dump"], &[&program, "9"]);
    for said in ["the program is not running", "has no paths (edge profile)", "cotree-dump FILE"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let nowhere = project.path("no folder/p.cotree").display().to_string();
    let text =
        ask(&["break check", "run", &format!("cotree-dump '{nowhere}'"), "cotree-dump p.cotree"], &[&program, "9"]);
    assert!(text.contains("cannot write") && text.contains("No such file or directory"), "{text}");
    assert!(text.contains("wrote ") && project.ok("report p.cotree").contains("snapshot"), "{text}");
    project.ok("--profile trace cc -O1 -w -o p p.c");
    let text = ask(&["break check", "run", "cotree-paths"], &[&program, "9"]);
    assert!(text.contains("a trace tells nothing of a stopped thread"), "{text}");
    succeed(project.command("gcc").args(["-w", "-o"]).arg(project.path("plain")).arg(project.path("p.c")));
    let plain = project.path("plain").display().to_string();
    let text = ask(&["break check", "run", "cotree-paths"], &[&plain, "9"]);
    assert!(text.contains("was not built with cotree"), "{text}");
}

/// A snapshot that the program takes of itself tells its stack; one that is taken from outside says why it does not.
#[test]
fn a_snapshot_tells_the_stack_of_who_took_it() {
    let source = PROGRAM
        .replace("abort();", "cotree_dump(\"p.cotree\"), abort();")
        .replace("#include <signal.h>", "#include <cotree.h>\n#include <signal.h>");
    let project = Project::new(&[("p.c", &source)]);
    for method in ["path", "ipath"] {
        project.ok(&format!("--profile {method} cc -O1 -g -w -o p p.c"));
        let mut program = project.command(project.path("p"));
        let _ = program.arg("0").env("COTREE_FILE", "ended.cotree").status().expect("it runs");
        let [before, after] =
            ["p.cotree", "ended.cotree"].map(|file| told(&project.ok(&format!("paths --pending {file}"))));
        assert_eq!(before.replace("called cotree_dump at", "called abort at"), after, "{method}");
        let json: Value = serde_json::from_str(&project.ok("paths --pending --json p.cotree")).expect("JSON");
        assert_eq!(json["units"][0]["ended"], "copied");
        assert!(project.ok("paths --pending p.cotree").contains("when the profile was copied, outermost first"));
    }
}

/// A coroutine has a stack that ends nowhere: what is known of it is told, and that is not all.
#[test]
fn a_debugger_in_a_coroutine_says_what_it_knows() {
    let source = r#"
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t back, other;
static char stack[65536];
static int deep(int n) {
  if (n == 0)
    abort();
  return deep(n - 1) + 1;
}
static void coroutine(void) { deep(3); }
int main(void) {
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  other.uc_link = &back;
  makecontext(&other, coroutine, 0);
  swapcontext(&back, &other);
}
"#;
    let project = Project::new(&[("p.c", source)]);
    project.ok("--profile path cc -O0 -g -w -o p p.c");
    let text = gdb(&project, &["break abort", "run", "cotree-paths"], &[&project.path("p").display().to_string()]);
    assert!(text.contains("[walk-incomplete]"), "{text}");
    let told = told(&text);
    let called: Vec<&str> = told.lines().filter(|line| line.contains("  called ")).collect();
    assert_eq!(called.len(), 5, "{text}");
    assert!(called[0].trim_start().starts_with("coroutine") && called[4].contains("called abort"), "{text}");
}

/// A copy that a debugger takes amid the bookkeeping of events of calls says that it is not exact.
#[test]
fn a_copy_amid_the_bookkeeping_of_calls_is_declared() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("--profile events-calls cc -O1 -g -w -o p p.c");
    let program = project.path("p").display().to_string();
    gdb(&project, &["break deep", "run", "stepi 2", "cotree-dump p.cotree"], &[&program, "9"]);
    let report = project.ok("report p.cotree");
    assert!(report.contains("NOT ALL EXACT") && report.contains("[unknown-exit]"), "{report}");
}
