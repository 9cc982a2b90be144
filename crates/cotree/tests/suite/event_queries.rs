//! Events while the program runs: `cotree_event_count`, `cotree_event_limit`, and the debugger.
//!
//! The oracle of queries is the same program with an addition at every stretch of code: there nothing is ever lacking.

use crate::project::{Project, succeed};

const NAIVE: &str = "--cotree-event-placement=blocks";

/// Asks everywhere: in recursion, callbacks, handlers, and behind jumps. Prints what it was told.
const QUERIES: &str = r#"
#include <cotree.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static __thread unsigned long long last;
static void ask(const char *where) {
  unsigned long long all = 0;
  for (int kind = 0; kind <= COTREE_COST; kind++) all = all * 31 + cotree_event_count(kind);
  if (all != last) printf("%s %llu %llu\n", where, cotree_event_count(COTREE_INSTRUCTIONS), all);
  last = all;
}
static int by_value(const void *a, const void *b) { ask("compare"); return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int even(int n);
__attribute__((noinline)) static int odd(int n) { if (n == 0) return 0; if (n % 3 == 0) ask("odd"); return even(n - 1); }
__attribute__((noinline)) static int even(int n) { return n == 0 ? 1 : 1 + odd(n - 1); }
__attribute__((noinline)) static int quiet(int n) { int s = 0; for (int i = 0; i < n; i++) s += i % 7 ? i : -i; return s; }
static jmp_buf out;
__attribute__((noinline)) static void deep(int n) {
  if (n % 4 == 1) ask("deep");
  if (n == 0) longjmp(out, 3);
  if (quiet(n) % 2) deep(n - 1);
  deep(n - 1);
}
static void handler(int signal) { ask("handler"); if (signal == SIGUSR2) longjmp(out, 4); }
static void *thread(void *argument) {
  ask("thread");
  for (int i = 0; i < 5; i++) { even(i + (int)(long)argument); ask("in thread"); }
  return 0;
}
static int (*const way[])(int) = {odd, even, quiet};
static void at_exit(void) { ask("exit"); }
int main(int argc, char **argv) {
  int numbers[] = {5, 3, 9, 1, 7, 2}, got;
  unsigned seed = 12345;
  atexit(at_exit);
  ask("main");
  qsort(numbers, 6, sizeof *numbers, by_value);
  for (int i = 0; i < 40; i++) {
    seed = seed * 1103515245 + 12345;
    way[(seed >> 16) % 3](seed >> 20 & 15);
    if (seed >> 28 & 1) ask("loop");
  }
  signal(SIGUSR1, handler);
  signal(SIGUSR2, handler);
  if ((got = setjmp(out)) == 0) deep(9);
  ask("jumped");
  raise(SIGUSR1);
  if (setjmp(out) == 0) { quiet(11); raise(SIGUSR2); }
  ask("out of a handler");
  for (long i = 0; i < 3; i++) {
    pthread_t t;
    pthread_create(&t, 0, thread, (void *)(i * 3 + argc));
    pthread_join(t, 0);
  }
  if (argc > 1) { cotree_reset(); last = 0; ask("reset"); }
  quiet(got);
  ask("end");
  return 0;
}
"#;

const BUILTIN: &str = r#"
#include <cotree.h>
#include <stdio.h>
static void *buffer[5];
static volatile int turns;
__attribute__((noinline)) static void back(void) { __builtin_longjmp(buffer, 1); }
__attribute__((noinline)) static int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }
__attribute__((noinline)) static void jump(int n) {
  if (n & 1) turns += work(n) & 1;
  if (__builtin_setjmp(buffer) == 0) {
    printf("first %llu\n", cotree_event_count(COTREE_INSTRUCTIONS));
    if (n == 3) back();
  }
  work(turns);
  printf("then %llu\n", cotree_event_count(COTREE_INSTRUCTIONS));
  if (turns++ % 4) back();
}
int main(void) { for (int i = 0; i < 6; i++) jump(i); printf("%llu\n", cotree_event_count(COTREE_INSTRUCTIONS)); return 0; }
"#;

const EXCEPTIONS: &str = r#"
#include <cotree.h>
#include <cstdio>
#include <stdexcept>
#include <string>
struct Asks { const char *where; ~Asks() { std::printf("~%s %llu\n", where, cotree_event_count(COTREE_INSTRUCTIONS)); } };
static volatile int limit = 3;
__attribute__((noinline)) static int down(int n) {
  Asks asks{"down"};
  if (n > limit) throw std::runtime_error(std::to_string(n));
  return n % 2 ? down(n + 1) + 1 : down(n + 1);
}
__attribute__((noinline)) static int attempt(int n) {
  try { return down(n); }
  catch (std::runtime_error &error) { std::printf("%s %llu\n", error.what(), cotree_event_count(COTREE_INSTRUCTIONS)); return n; }
}
int main() {
  int sum = 0;
  for (int i = 0; i < 5; i++) { try { sum += attempt(i); if (i == 3) down(9); } catch (...) { sum--; } }
  std::printf("%d %llu\n", sum, cotree_event_count(COTREE_INSTRUCTIONS));
}
"#;

/// Builds both ways, at both levels: what they print is the same, and ends at the totals of the run.
fn agree(source: &str, compiler: &str, arguments: &[&str]) {
    let name = if compiler == "cc" { "p.c" } else { "p.cpp" };
    let project = Project::new(&[(name, source)]);
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    for level in ["-O0", "-O2"] {
        let build = |out: &str, options: &str, more: &str| {
            project.ok(&format!(
                "--profile events=instructions,loads,stores,calls,branches,float,allocations,syscalls {options} {compiler} \
                 -I{include} {level} -o {out} {name} -pthread {more}"
            ));
            succeed(project.command("timeout").args(["60", "setarch", "-R"]).arg(project.path(out)).args(arguments))
        };
        let naive = build("naive", "", NAIVE);
        assert!(naive.lines().count() > 12, "{naive}");
        assert_eq!(build("ours", "", ""), naive, "{level}");
        assert_eq!(build("again", "--interprocedural-flow off", ""), naive, "{level}");
        assert_eq!(build("limits", "--event-limit", ""), naive, "{level}");
        let mut program = project.command("timeout");
        program.args(["60", "setarch", "-R"]).arg(project.path("ours")).args(arguments).env("COTREE_FILE", "");
        assert_eq!(succeed(&mut program), naive, "{level}, without a profile");
    }
}

#[test]
fn queries_are_exact_in_recursion_callbacks_jumps_handlers_and_threads() {
    agree(QUERIES, "cc", &[]);
    agree(QUERIES, "cc", &["reset"]);
}

#[test]
fn queries_are_exact_where_a_builtin_setjmp_returns_again() {
    agree(BUILTIN, "cc", &[]);
}

#[test]
fn queries_are_exact_where_exceptions_pass() {
    agree(EXCEPTIONS, "c++", &[]);
}

/// What was asked last is what `cotree run` prints, but for what comes after it.
#[test]
fn the_last_query_is_the_total_of_the_run() {
    let source = "#include <cotree.h>\n#include <stdio.h>\nint main(int n, char **v) {\n  for (int i = 0; i < 1000; i++) putchar(32 + i % n);\n  \
                  printf(\"\\n%llu\\n\", cotree_event_count(COTREE_CALLS));\n}\n";
    let project = Project::new(&[("p.c", source)]);
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    project.ok(&format!("--profile events=calls cc -O2 -I{include} -o p p.c"));
    // putchar, the query, printf.
    let asked: u64 = project.run("p").lines().last().unwrap().parse().unwrap();
    assert_eq!(asked, 1001);
    let output = project.cotree("run --count ./p").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("1,002  calls"), "{text}");
}

/// Without cotree nothing is left of it; with another profile it answers that nothing is counted.
#[test]
fn queries_cost_nothing_where_nothing_is_counted() {
    let source = "#include <cotree.h>\n#include <stdio.h>\nstatic void strike(void) {}\nint main(void) {\n  \
                  printf(\"%llu %d\\n\", cotree_event_count(COTREE_LOADS), cotree_event_limit(COTREE_LOADS, 5, strike));\n}\n";
    let project = Project::new(&[("p.c", source)]);
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    succeed(project.command("cc").args(["-O2", "-o", "plain", "p.c", "-I", include]));
    assert_eq!(project.run("plain"), "0 1\n");
    let names = succeed(project.command("nm").arg("plain"));
    assert!(!names.contains("cotree") && !names.contains("strike"), "{names}");
    project.ok(&format!("cc -O2 -I{include} -o edges p.c"));
    assert_eq!(project.run("edges"), "0 1\n");
    project.ok(&format!("--profile events=calls --event-limit cc -O2 -I{include} -o calls p.c"));
    assert_eq!(project.run("calls"), "0 1\n");
    project.ok(&format!("--profile events=loads cc -O2 -I{include} -o loads p.c"));
    assert!(project.run("loads").ends_with(" 2\n"));
    project.ok(&format!("--profile events=loads --event-limit cc -O2 -I{include} -o limited p.c"));
    assert!(project.run("limited").ends_with(" 0\n"));
    for nowhere in ["", "/dev/null"] {
        let told = succeed(project.command(project.path("limited")).env("COTREE_FILE", nowhere));
        assert_eq!(told, project.run("limited"), "a process that leaves no profile: {nowhere}");
    }
    assert!(project.fails(&format!("--event-limit cc -I{include} -o x p.c")).contains("it needs --profile events"));
}

const LIMITS: &str = r#"
#include <cotree.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static __thread sigjmp_buf out;
static __thread unsigned long long next;
static __thread int strikes, nested;
static volatile unsigned turns;
static unsigned long long now(void) { return cotree_event_count(COTREE_INSTRUCTIONS); }
static void limit(unsigned long long n, void (*strike)(void)) {
  if (cotree_event_limit(COTREE_INSTRUCTIONS, n, strike) != 0) printf("no limit\n");
}
static void leave(void) { siglongjmp(out, 1); }
static void again(void) {
  printf("strike %d at %llu, turns %u\n", strikes, now(), turns);
  if (++strikes < 6) limit(next += 5000, again);
}
static void inner(void) { nested++; }
static void outer(void) {
  limit(now() + 200, inner);
  for (int i = 0; i < 100; i++) turns++;
  printf("nested %d at %llu\n", nested, now());
}
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static void forever(void) { for (;;) turns++; }
static void on_signal(int signal) { printf("signal at %llu\n", now()); siglongjmp(out, signal); }
static void raises(void) { raise(SIGUSR1); }
static void *run(void *argument) {
  turns = strikes = nested = 0;
  next = 7000;
  limit(next, again);
  fib(22);
  printf("fib %d at %llu\n", strikes, now());
  if (!sigsetjmp(out, 1)) { limit(now() + 100000, leave); forever(); }
  printf("left at %llu, turns %u\n", now(), turns);
  limit(now() + 1000, outer);
  fib(15);
  limit(now() + 1000, leave);
  limit(0, 0);
  fib(15);
  limit(now() + 3000, raises);
  if (!sigsetjmp(out, 1)) forever();
  printf("end at %llu, turns %u\n", now(), turns);
  return 0;
}
int main(void) {
  signal(SIGUSR1, on_signal);
  run(0);
  for (int i = 0; i < 2; i++) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0); }
  return 0;
}
"#;

/// A limit strikes at the first safe point at or after its event: in all runs and threads at the same.
#[test]
fn limits_strike_where_they_should() {
    let project = Project::new(&[("p.c", LIMITS), ("file", "")]);
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile events --event-limit cc -I{include} {level} -o p p.c -pthread"));
        let run = || succeed(project.command("timeout").args(["60"]).arg(project.path("p")));
        let text = run();
        assert_eq!(text, run(), "{level}");
        // Nor does it matter whether a profile is left.
        for nowhere in ["", "file/p.cotree"] {
            let mut program = project.command("timeout");
            let told = succeed(program.arg("60").arg(project.path("p")).env("COTREE_FILE", nowhere));
            assert_eq!(told, text, "{level}: {nowhere}");
        }
        let count =
            |line: &str| -> u64 { line.split(" at ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap() };
        let strikes: Vec<u64> = text.lines().filter(|line| line.starts_with("strike")).map(count).collect();
        assert_eq!(strikes.len(), 18, "{text}");
        for (number, strike) in strikes.iter().enumerate() {
            let limit = 7000 + 5000 * (number as u64 % 6);
            assert!((limit..limit + 60).contains(strike), "{level}: {strike} for {limit}\n{text}");
        }
        // All threads do the same; the first has done a little more before.
        let lines: Vec<&str> = text.lines().collect();
        let third = lines.len() / 3;
        assert_eq!(lines[third..2 * third], lines[2 * third..], "{level}");
        assert_eq!(text.matches("nested 1").count(), 3, "{text}");
        assert_eq!(text.matches("signal at").count(), 3, "{text}");
        // The repairs of what was left are in the total, and the path to the same point does not change it.
        let output = project.cotree("run --count ./p").output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stderr).contains("not exact"), "{output:?}");
    }
}

/// A callback may throw to whoever has called, by a pointer, what goes on for ever.
#[test]
fn a_limit_may_throw() {
    let source = r#"
#include <cotree.h>
#include <cstdio>
struct Timeout { unsigned long long at; };
static volatile unsigned turns;
static void strike() { throw Timeout{cotree_event_count(COTREE_INSTRUCTIONS)}; }
__attribute__((noinline)) static void forever() { for (;;) turns++; }
static void (*volatile job)() = forever;
int main() {
  for (int i = 0; i < 3; i++) {
    unsigned long long end = cotree_event_count(COTREE_INSTRUCTIONS) + 20000;
    cotree_event_limit(COTREE_INSTRUCTIONS, end, strike);
    try { job(); } catch (Timeout &timeout) { std::printf("%d late %u\n", timeout.at >= end && timeout.at < end + 60, turns); }
  }
}
"#;
    let project = Project::new(&[("p.cpp", source)]);
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile events --event-limit c++ -I{include} {level} -o p p.cpp"));
        let run = || succeed(project.command("timeout").args(["60"]).arg(project.path("p")));
        let text = run();
        assert_eq!(text.matches("1 late").count(), 3, "{level}: {text}");
        assert_eq!(text, run());
    }
}

/// The page's time-out of an interpreter, as it stands there.
#[test]
fn the_interpreter_of_the_documentation_times_out() {
    let page = include_str!("../../../../docs/events.md");
    let begin = page.find("```c file=interpreter.c\n").expect("the page has a program");
    let begin = begin + page[begin..].find('\n').expect("a line") + 1;
    let program = &page[begin..begin + page[begin..].find("```").expect("it ends")];
    let project = Project::new(&[("interpreter.c", program)]);
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile events --event-limit cc -I{include} {level} -o interpreter interpreter.c"));
        let run =
            |script: &str| succeed(project.command("timeout").arg("60").arg(project.path("interpreter")).arg(script));
        assert_eq!(run("+++p"), "3\nended\n");
        let endless = run("+[]");
        assert!(endless.starts_with("timed out"), "{endless}");
        assert_eq!(endless, run("+[]"));
    }
}

#[test]
fn gdb_stops_at_an_event_and_goes_back_there() {
    let source = "volatile int sink;\n__attribute__((noinline)) int fib(int n) {\n  return n < 2 ? n : fib(n - 1) + fib(n - 2);\n}\n\
                  int main(void) {\n  sink = fib(20);\n  return 0;\n}\n";
    let project = Project::new(&[("p.c", source)]);
    project.ok("--profile events --event-limit cc -g -O1 -o p p.c");
    let script = project.ok("gdb --script");
    assert!(script.contains("class CotreeStopAt"));
    let gdb = |commands: &[&str], program: &str| {
        let mut gdb = project.command("timeout");
        gdb.args(["120", env!("CARGO_BIN_EXE_cotree"), "gdb", "--batch"]);
        for command in commands {
            gdb.args(["-e", command]);
        }
        let output = gdb.arg(project.path(program)).output().expect("gdb starts");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let text = gdb(
        &["cotree-stop-at 9000", "cotree-count", "backtrace", "kill", "cotree-stop-at instructions 9000", "backtrace"],
        "p",
    );
    let of = |start: &str| text.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect::<Vec<_>>();
    let stops = of("Stopped at ");
    assert_eq!(stops.len(), 2, "{text}");
    assert_eq!(stops[0], stops[1]);
    let count: u64 = stops[0].split(' ').nth(2).unwrap().parse().unwrap();
    assert!((9000..9060).contains(&count), "{text}");
    assert_eq!(of("instructions: "), [format!("instructions: {count}")]);
    let frames: Vec<String> = of("#").iter().filter_map(|line| Some(line.split_once("(n=")?.1.to_owned())).collect();
    assert!(frames.len() > 6 && frames.len().is_multiple_of(2), "{text}");
    let text = gdb(&["cotree-stop-at 900000000"], "p");
    assert!(text.contains("has ended before 900000000 instructions"), "{text}");
    let text = gdb(&["break fib", "run", "cotree-count loads", "cotree-count"], "p");
    assert!(text.contains("loads are not counted: build with cotree --profile events=loads"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("instructions: ")), "{text}");
    project.ok("--profile events cc -g -O1 -o without p.c");
    assert!(
        gdb(&["cotree-stop-at 5"], "without").contains("can't be asked")
            || gdb(&["cotree-stop-at 5"], "without").contains("are not counted")
    );
}

/// A debugger's limit leaves those of the program alone, before, behind and at the same place.
#[test]
fn gdb_stops_in_a_program_with_limits_of_its_own() {
    let source = "#include <cotree.h>\n#include <stdio.h>\nvolatile int sink;\nstatic int strikes;\n\
                  static void strike(void) {\n  printf(\"strike at %llu\\n\", cotree_event_count(COTREE_INSTRUCTIONS));\n  \
                  if (++strikes < 4) cotree_event_limit(COTREE_INSTRUCTIONS, 10000 * (strikes + 1), strike);\n}\n\
                  __attribute__((noinline)) int fib(int n) {\n  return n < 2 ? n : fib(n - 1) + fib(n - 2);\n}\n\
                  int main(void) {\n  cotree_event_limit(COTREE_INSTRUCTIONS, 10000, strike);\n  sink = fib(20);\n  return 0;\n}\n";
    let project = Project::new(&[("p.c", source)]);
    project.ok("--profile events=instructions --event-limit cc -g -O1 -o p p.c");
    let gdb = |commands: &[&str]| {
        let mut gdb = project.command("timeout");
        gdb.args(["120", env!("CARGO_BIN_EXE_cotree"), "gdb", "--batch"]);
        for command in commands {
            gdb.args(["-e", command]);
        }
        String::from_utf8_lossy(&gdb.arg(project.path("p")).output().expect("gdb starts").stdout).into_owned()
    };
    let strikes =
        |text: &str| text.lines().filter(|line| line.starts_with("strike at ")).map(str::to_owned).collect::<Vec<_>>();
    let truth = strikes(&succeed(&mut project.command(project.path("p"))));
    assert_eq!(truth.len(), 4, "{truth:?}");
    let at = |text: &str| -> Vec<u64> {
        let stops = text.lines().filter_map(|line| line.strip_prefix("Stopped at ")?.split(' ').next()?.parse().ok());
        stops.collect()
    };
    for stop in [5_000, 25_000, 10_000, 60_000] {
        let text = gdb(&[&format!("cotree-stop-at {stop}"), "continue"]);
        let stopped = at(&text);
        assert!(matches!(stopped[..], [at] if (stop..stop + 100).contains(&at)), "{stop}: {text}");
        assert_eq!(strikes(&text), truth, "{stop}: {text}");
    }
    let twice = gdb(&["cotree-stop-at 5000", "cotree-stop-at 35000", "cotree-count", "continue"]);
    assert_eq!(at(&twice).len(), 2, "{twice}");
    assert_eq!(strikes(&twice), truth, "{twice}");
}

/// The whole program's count: all threads, those that are gone, too, and a library's.
#[test]
fn totals_add_up_threads_and_libraries() {
    const LIBRARY: &str = r#"
#include <stdlib.h>
void *volatile kept;
void more(int n) { for (int i = 0; i < n; i++) kept = malloc(1); }
"#;
    const PROGRAM: &str = r#"
#include <cotree.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
void more(int n);
static void *volatile kept;
__attribute__((noinline)) static void work(int n) { for (int i = 0; i < n; i++) kept = malloc(1); }
static void *begin(void *n) { work((int)(long)n); more(2); return 0; }
static void tell(void) {
  printf("%llu %llu\n", cotree_event_count(COTREE_ALLOCATIONS), cotree_event_count_total(COTREE_ALLOCATIONS));
}
static void handle(int signal) { tell(); }
int main(void) {
  pthread_t threads[3];
  work(5);
  tell();
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, begin, (void *)(10 * (i + 1)));
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  more(4);
  signal(SIGUSR1, handle);
  raise(SIGUSR1);
  cotree_reset();
  work(3);
  tell();
  printf("%llu\n", cotree_event_count_total(COTREE_LOADS));
  return 0;
}
"#;
    let project = Project::new(&[("more.c", LIBRARY), ("p.c", PROGRAM)]);
    let build = |options: &str| {
        project.ok(&format!("{options} cc -O2 -fPIC -shared -o libmore.so more.c"));
        project.ok(&format!("{options} cc -O2 -pthread -o p p.c libmore.so -Wl,-rpath,."));
        succeed(project.command(project.path("p")).current_dir(project.path(".")).env("COTREE_FILE", "%n.cotree"))
    };
    assert_eq!(build("--profile events=allocations"), "5 5\n5 75\n3 3\n0\n");
    assert_eq!(build("--profile none"), "0 0\n0 0\n0 0\n0\n");
}

/// What a library had counted stays in the total when it is unloaded, until counting begins anew.
#[test]
fn totals_keep_what_unloaded_libraries_had() {
    const LIBRARY: &str = r#"
#include <stdlib.h>
void *volatile kept;
void more(int n) { for (int i = 0; i < n; i++) kept = malloc(1); }
__attribute__((destructor)) static void last(void) { kept = malloc(1); }
"#;
    const PROGRAM: &str = r#"
#include <cotree.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
static void tell(void) { printf("%llu\n", cotree_event_count_total(COTREE_ALLOCATIONS)); fflush(stdout); }
int main(void) {
  for (int turn = 0; turn < 2; turn++) {
    void *library = dlopen("./libmore.so", RTLD_NOW);
    void (*more)(int) = (void (*)(int))dlsym(library, "more");
    kept = malloc(1);
    more(10);
    tell();
    dlclose(library);
    tell();
  }
  if (fork() == 0) { tell(); _exit(0); }
  wait(0);
  cotree_reset();
  tell();
  return 0;
}
"#;
    let project = Project::new(&[("more.c", LIBRARY), ("p.c", PROGRAM)]);
    project.ok("--profile events=allocations --event-queries cc -O2 -fPIC -shared -o libmore.so more.c");
    project.ok("--profile events=allocations cc -O2 -o p p.c -ldl");
    let mut run = project.command(project.path("p"));
    let told = succeed(run.current_dir(project.path(".")).env("COTREE_FILE", "%n.%p.cotree"));
    assert_eq!(told, "11\n12\n23\n24\n0\n0\n");
}
