//! What calls have led to, asked while the program runs (`cotree_event_call_count`). The oracles are the profile of the
//! run, and differences of `cotree_event_count`.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;

/// A text whose lines have names, `/*@name*/`: elsewhere `@name` is the number of the line.
fn numbered(text: &str) -> String {
    let mut text = text.trim_start().to_owned();
    let name_of = |line: &str| Some(line.split_once("/*@")?.1.split_once("*/")?.0.to_owned());
    let names: Vec<(usize, String)> =
        (1..).zip(text.lines()).filter_map(|(n, line)| Some((n, name_of(line)?))).collect();
    for (number, name) in names {
        text = text.replace(&format!("/*@{name}*/"), "").replace(&format!("@{name}@"), &number.to_string());
    }
    text
}

const HEADER: &str = r#"
#include <cotree.h>
#include <stdio.h>
#define ASK(line) printf("%s:%d %llu\n", __FILE_NAME__, line, cotree_event_call_count(COTREE_INSTRUCTIONS, line))
#define APART __attribute__((noinline)) static
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline)) int work(int n);
static inline __attribute__((always_inline)) int in_header(int n) {
  int before = n * 3;
  return work(before) + 1; /*@header*/
}
static inline void ask_header(void) { ASK(@header@); }
"#;

const WORK: &str = r#"
#include "../include/./q.h"
int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }
int other(int n) { return in_header(n) + in_header(n + 1); }
"#;

/// Recursion, threads, jumps and copies. What is printed is complete: no call that is asked for is made later.
const PROGRAM: &str = r#"
#include "q.h"
#include <pthread.h>
#include <setjmp.h>
int other(int n);
static __thread jmp_buf back;
static volatile int sink;
APART int fib(int n) {
  if (n < 2) return 1;
  int one = fib(n - 1); /*@one*/
  sink++;
  int two = fib(n - 2); /*@two*/
  sink++;
  return one + two;
}
APART void deep(int n) {
  sink += work(n); /*@work*/
  if (n == 0) longjmp(back, 1);
  deep(n - 1); /*@deep*/
  sink++;
}
APART void jumps(int n) {
  if (setjmp(back) == 0) {
    sink++;
    deep(n); /*@jumps*/
  }
  sink += work(n); /*@after*/
}
static void *thread(void *argument) {
  int n = (int)(long)argument;
  for (int i = 0; i < n; i++)
    sink += fib(n); /*@threads*/
  jumps(2);
  ASK(@threads@); ASK(@one@); ASK(@two@); ASK(@work@); ASK(@deep@); ASK(@jumps@); ASK(@after@);
  return 0;
}
int main(void) {
  sink += in_header(5);
  sink += other(3); /*@other*/
  sink += fib(9); /*@fib*/
  for (int i = 0; i < 4; i++) {
    jumps(i); /*@main*/
  }
  for (long i = 0; i < 3; i++) {
    pthread_t t;
    pthread_create(&t, 0, thread, (void *)(i + 2));
    pthread_join(t, 0);
  }
  ASK(@other@); ASK(@fib@); ASK(@main@); ASK(@one@); ASK(@two@); ASK(@work@); ASK(@deep@); ASK(@jumps@); ASK(@after@);
  ask_header();
  return 0;
}
"#;

/// Exceptions that leave calls, at landing pads of one call and of several.
const EXCEPTIONS: &str = r#"
#include "q.h"
#include <stdexcept>
extern "C" int other(int n);
static volatile int sink;
struct Guard { ~Guard() { sink += work(2); /*@guard*/ } };
APART int down(int n) {
  Guard guard;
  if (n > 3) throw std::runtime_error("deep");
  int below = down(n + 1); /*@down*/
  sink++;
  return below;
}
APART int attempt(int n) {
  try {
    sink += work(n); /*@work*/
    sink += down(n); /*@attempt*/
    sink += other(n); /*@other*/
  } catch (std::runtime_error &) { return 1; }
  return 0;
}
int main() {
  for (int n = 0; n < 6; n++) sink += attempt(n); /*@main*/
  ASK(@guard@); ASK(@down@); ASK(@work@); ASK(@attempt@); ASK(@main@);
}
"#;

/// Per file and line, what is told, by all threads together.
fn told(output: &str) -> BTreeMap<(String, u64), u64> {
    let mut told = BTreeMap::new();
    for line in output.lines() {
        let (place, events) = line.split_once(' ').expect(line);
        let (file, line) = place.split_once(':').expect(place);
        let place = (file.to_owned(), line.parse().expect("a line"));
        *told.entry(place).or_default() += events.parse::<u64>().expect("a number");
    }
    told
}

/// Per file and line, what the profile says of its calls.
fn recovered(project: &Project, file: &str) -> BTreeMap<(String, u64), u64> {
    let json: Value = serde_json::from_str(&project.ok(&format!("export --format json {file}"))).expect("JSON");
    assert_eq!(json["units"][0]["exact"], true);
    let mut sums = BTreeMap::new();
    for function in json["units"][0]["functions"].as_array().expect("functions") {
        for call in function["events"]["calls"].as_array().into_iter().flatten() {
            let Some(file) = call["position"]["file"].as_u64() else { continue };
            let file = &json["units"][0]["files"][usize::try_from(file).expect("an index")];
            let path = file.as_str().or_else(|| file["path"].as_str()).expect("a path");
            let file = path.rsplit('/').next().unwrap_or_default().to_owned();
            let line = call["position"]["line"].as_u64().unwrap_or(0);
            *sums.entry((file, line)).or_default() += call["inclusive"]["instructions"].as_u64().expect("a number");
        }
    }
    sums
}

fn project(program: (&str, &str)) -> Project {
    let [header, work] = [HEADER, WORK].map(numbered);
    Project::new(&[(program.0, &numbered(program.1)), ("include/q.h", &header), ("src/work.c", &work)])
}

#[test]
fn answers_in_the_end_are_those_of_the_report() {
    for (compiler, name, text, lines) in [("cc", "p.c", PROGRAM, 11), ("c++", "p.cpp", EXCEPTIONS, 5)] {
        let project = project((name, text));
        for (level, more, link) in [
            ("-O0", "", ""),
            ("-O2", "", ""),
            ("-O2", "--threads word", ""),
            ("-O2", "--event-placement blocks", ""),
            ("-O1", "", "-static"),
            ("-O2", "", "-flto"),
        ] {
            let options = format!("-pthread -g -w {level} -Iinclude");
            project.ok(&format!("--profile events-calls {more} cc {options} -c src/work.c -o work.o"));
            project.ok(&format!("--profile events-calls {more} {compiler} {options} {link} -o p {name} work.o"));
            let output = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
            let (told, recovered) = (told(&output), recovered(&project, "p.cotree"));
            assert_eq!(told.len(), lines, "{output}");
            for (place, events) in told {
                assert!(events > 0, "{name} {level} {more} {link}: {place:?}");
                assert_eq!(recovered.get(&place), Some(&events), "{name} {level} {more} {link}: {place:?}");
            }
        }
    }
}

/// While a call is under way its answer moves with the thread's count, but for what handlers do, and only then.
const UNDER_WAY: &str = r#"
#include <cotree.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline)) static
static volatile int sink;
static unsigned long long answer, count;
static int failures;
APART int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }
/* Whether the answer has moved as far as the count since the last time, or (0) not at all. */
APART void moved(const char *where, int under_way) {
  unsigned long long a = cotree_event_call_count(COTREE_INSTRUCTIONS, @call@), c = cotree_event_count(COTREE_INSTRUCTIONS);
  if (under_way >= 0 && a - answer != (under_way ? c - count : 0)) {
    printf("%s: %llu and %llu\n", where, a - answer, c - count);
    failures++;
  }
  answer = a;
  count = c;
}
static void handler(int signal) {
  unsigned long long a = cotree_event_call_count(COTREE_INSTRUCTIONS, @call@);
  sink += work(50);
  if (a != cotree_event_call_count(COTREE_INSTRUCTIONS, @call@)) failures++, printf("moves in the handler\n");
  if (a < answer || a > answer + 100) failures++, printf("%llu behind %llu in a handler\n", a, answer);
}
APART void inner(int n) {
  moved("inner", -1);
  sink += work(n);
  moved("work", 1);
  if (n == 3) {
    unsigned long long before = answer;
    raise(SIGUSR1);
    raise(SIGUSR1);
    moved("raise", -1);
    if (answer - before > 100) failures++, printf("a handler counts for what it interrupts\n");
  }
  if (n == 4 && fork() == 0) {
    if (cotree_event_call_count(COTREE_INSTRUCTIONS, @call@) > 100) failures++, printf("a child begins with more\n");
    moved("child", -1);
    sink += work(n);
    moved("work of the child", 1);
    fflush(stdout);
    _exit(failures);
  }
  if (n > 0) inner(n - 1); /*@inner*/
  moved("out again", -1);
  sink += work(n);
  moved("out", 1);
}
int main(int argc, char **argv) {
  signal(SIGUSR1, handler);
  moved("first", -1);
  if (answer != 0) failures++, printf("begins with %llu\n", answer);
  for (int i = 0; i < 3; i++) {
    sink += work(9);
    moved("between", i == 0 ? 0 : -1);
    inner(5 + i); /*@call*/
    moved("behind", -1);
    sink += work(9);
    moved("later", 0);
  }
  if (cotree_event_call_count(COTREE_INSTRUCTIONS, @inner@) >= answer) failures++, printf("a part is more\n");
  if (cotree_event_call_count(COTREE_LOADS, @call@) != 0) failures++, printf("loads are not counted\n");
  if (argc > 1) { cotree_reset(); moved("reset", -1); if (answer != 0) failures++, printf("%llu\n", answer); }
  int status;
  while (wait(&status) > 0) failures += WEXITSTATUS(status);
  return failures;
}
"#;

#[test]
fn answers_move_with_the_count_while_a_call_is_under_way() {
    let project = Project::new(&[("p.c", &numbered(UNDER_WAY))]);
    for options in ["-O0", "-O2", "-O2 -static"] {
        project.ok(&format!("--profile events-calls=instructions cc -g -w {options} -o p p.c"));
        for arguments in [&[][..], &["reset"]] {
            let mut run = project.command(project.path("p"));
            let output = run.args(arguments).env("COTREE_FILE", "p.cotree").output().expect("it starts");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{options} {arguments:?}: {said}");
        }
    }
}

/// Handlers that come at any time see answers that can be, and spoil none.
const STORM: &str = r#"
#include <cotree.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
__attribute__((noinline)) static int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }
static volatile int sink, alarms, failures;
static void handler(int signal) {
  alarms++;
  if (cotree_event_call_count(COTREE_INSTRUCTIONS, @work@) >> 40) failures++;
  sink += work(3);
}
int main(void) {
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, handler);
  unsigned long long first = 0;
  for (int turn = 0; turn < 3000; turn++) {
    if (turn == 2) setitimer(ITIMER_REAL, &often, 0);
    sink += work(turn % 2 ? 4000 : 1); /*@work*/
    if (turn == 1) first = cotree_event_call_count(COTREE_INSTRUCTIONS, @work@);
  }
  setitimer(ITIMER_REAL, &never, 0);
  unsigned long long all = cotree_event_call_count(COTREE_INSTRUCTIONS, @work@);
  printf("%d %d %d\n", alarms > 0, failures, all == 1500 * first);
}
"#;

#[test]
fn handlers_at_any_time_see_answers_that_can_be() {
    let project = Project::new(&[("p.c", &numbered(STORM))]);
    for options in ["-O0", "-O2"] {
        project.ok(&format!("--profile events-calls cc -g -w {options} -o p p.c"));
        assert_eq!(project.run("p"), "1 0 1\n", "{options}");
    }
}

/// Each link unit answers for its own calls.
#[test]
fn libraries_answer_for_themselves() {
    let library = "#include <cotree.h>\n#include <stdio.h>\n\
        __attribute__((noinline)) static int part(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }\n\
        int in_library(int n) {\n  int s = part(n);\n\
        printf(\"library %d\\n\", cotree_event_call_count(0, __LINE__ - 1) > 10);\n  return s;\n}\n";
    let main = "#include <cotree.h>\n#include <stdio.h>\nint in_library(int n);\nstatic volatile int sink;\n\
        __attribute__((noinline)) static void calls(int n) { sink += n; sink += in_library(n); }\n\
        int main(void) {\n  calls(30);\n\
        unsigned long long all = cotree_event_call_count(0, __LINE__ - 1);\n\
        printf(\"main %d\\n\", all > 0 && all < 30);\n}\n";
    let project = Project::new(&[("l.c", library), ("m.c", main)]);
    let method = "--profile events-calls";
    project.ok(&format!("{method} cc -g -O1 -fPIC -shared -o libl.so l.c"));
    project.ok(&format!("{method} cc -g -O1 -o m m.c -L. -ll -Wl,-rpath,$ORIGIN"));
    assert_eq!(project.run("m"), "library 1\nmain 1\n");
}

#[test]
fn what_cannot_be_answered_fails_at_the_link() {
    let program = |query: &str, more: &str| {
        format!(
            "#include <cotree.h>\n#include <stdio.h>\n{more}\n\
             static int leaf(int n) {{ puts(\"leaf\"); return n + 1; }}\n\
             __attribute__((noinline)) static int work(int n) {{ return printf(\"%d\\n\", n); }}\n\
             int main(int argc, char **argv) {{\n  int s = work(argc);\n  s += leaf(argc);\n  s += argc;\n\
             return (int){query} + s;\n}}\n"
        )
    };
    let refused = |query: &str, more: &str| {
        let project = Project::new(&[("p.c", &program(query, more))]);
        let said = project.fails("--profile events-calls cc -O1 -g -o p p.c");
        // Other builds do not care.
        project.ok("--profile edge cc -O1 -g -o p p.c");
        said
    };
    let variable = refused("cotree_event_call_count(0, argc)", "");
    assert!(variable.contains("in main") && variable.contains("no constants"), "{variable}");
    let inlined = refused("cotree_event_call_count(0, 8)", "");
    assert!(inlined.contains("line 8 is inlined into main"), "{inlined}");
    let none = refused("cotree_event_call_count(0, 9)", "");
    assert!(none.contains("line 9 has no call"), "{none}");
    let own = refused("cotree_event_call_count(0, __LINE__)", "");
    assert!(own.contains("line 10 has no call"), "{own}");
    let pointer = "unsigned long long (*pointer)(int, int) = (cotree_event_call_count);";
    let taken = refused("pointer(0, 7)", pointer);
    assert!(taken.contains("does not call it by name"), "{taken}");
}

/// Where nothing is measured the answer is 0.
#[test]
fn other_builds_answer_nothing() {
    let text = "#include <cotree.h>\n#include <stdio.h>\n\
        __attribute__((noinline)) static int work(int n) { return puts(\"w\") + n; }\n\
        int main(int argc, char **argv) {\n  int s = work(argc);\n\
        printf(\"%llu %d\\n\", cotree_event_call_count(0, 5), s > 0);\n}\n";
    let project = Project::new(&[("p.c", text)]);
    for method in ["edge", "events", "path", "none"] {
        project.ok(&format!("--profile {method} cc -O1 -g -o p p.c"));
        assert_eq!(project.run("p"), "w\n0 1\n", "{method}");
    }
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    succeed(project.command("gcc").args(["-O1", "-o", "p", "p.c", "-I", include]));
    assert_eq!(project.run("p"), "w\n0 1\n");
}

const RUST: &str = r#"
use cotree_api::{EventKind, event_call_count};
use std::hint::black_box;

#[inline(never)]
fn work<T: Into<u64>>(n: T) -> u64 {
    (0..n.into()).map(|i| i * black_box(3)).sum()
}

#[inline(never)]
fn fib(n: u32) -> u64 {
    if n < 2 {
        return 1;
    }
    let one = fib(n - 1); /*@one*/
    let two = black_box(fib(black_box(n - 2)));
    one + two
}

fn main() {
    let mut sum = fib(9);
    println!("main.rs:{} {}", line!() - 1, event_call_count!(EventKind::Instructions, line!() - 1));
    println!("main.rs:{} {}", @one@, event_call_count!(EventKind::Instructions, @one@));
    for n in 0..4u32 {
        sum += work(n);
    }
    println!("main.rs:{} {}", line!() - 2, event_call_count!(EventKind::Instructions, line!() - 2));
    assert!(sum > 0);
}
"#;

#[test]
fn a_rust_program_asks() {
    let api = concat!(env!("CARGO_MANIFEST_DIR"), "/../cotree-api");
    let manifest = format!(
        "[package]\nname = \"asks\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         cotree-api = {{ path = \"{api}\" }}\n"
    );
    let project = Project::new(&[("Cargo.toml", &manifest), ("src/main.rs", &numbered(RUST))]);
    for (profile, folder) in [("", "debug"), (" --release", "release")] {
        let program = project.path(&format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/asks"));
        for method in ["none", "events-calls"] {
            let mut cotree = project.cotree(&format!("--profile {method} cargo build -q{profile}"));
            succeed(cotree.env("RUSTFLAGS", ""));
            let output = succeed(project.command(&program).env("COTREE_FILE", "p.cotree"));
            let told = told(&output);
            assert_eq!(told.len(), 3, "{output}");
            if method == "none" {
                assert!(told.values().all(|&events| events == 0), "{folder}: {output}");
                continue;
            }
            let recovered = recovered(&project, "p.cotree");
            for (place, events) in told {
                assert!(events > 0, "{folder}: {place:?}");
                assert_eq!(recovered.get(&place), Some(&events), "{folder}: {place:?}");
            }
        }
    }
}
