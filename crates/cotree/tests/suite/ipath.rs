//! Paths across functions: the paper's example through clang, and programs that end in every way against their
//! redundant counters.

use crate::project::{Project, succeed};
use serde_json::{Value, json};

/// Melski & Reps 1998, Fig. 4.
pub const POW: &str = r#"
double power(double base, long exp) {
  double power = 1.0;
  while (exp > 0) {
    power *= base;
    exp--;
  }
  return power;
}

int main() {
  double t, result = 0.0;
  int i = 1;
  while (i <= 18) {
    if ((i % 2) == 0) {
      t = power(i, 2);
      result += t;
    }
    if ((i % 3) == 0) {
      t = power(i, 2);
      result += t;
    }
    i++;
  }
  return 0;
}
"#;

/// The unit in the JSON of its paths.
fn paths(project: &Project, options: &str) -> Value {
    paths_of(project, options, "p.c")
}

/// The unit in the JSON of the paths of a program that is built of these sources.
fn paths_of(project: &Project, options: &str, sources: &str) -> Value {
    project.ok(&format!("--profile {options} -g -w -o p {sources}"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let json: Value = serde_json::from_str(&project.ok("paths --json p.cotree")).expect("JSON");
    assert_eq!(json["schema"], "cotree-ipaths/1");
    json["units"][0].clone()
}

/// How often its paths ran, by count.
fn counts(unit: &Value) -> Vec<u64> {
    let paths = unit["paths"].as_array().expect("paths");
    let mut counts: Vec<u64> = paths.iter().map(|path| path["count"].as_u64().expect("a count")).collect();
    counts.sort_unstable();
    counts
}

#[test]
fn the_papers_program_has_the_papers_paths() {
    let project = Project::new(&[("p.c", POW)]);
    // Figs 4 to 9, and 14 to 17.
    let unit = paths(&project, "ipath cc -O0");
    assert_eq!(unit["possible"], 36);
    assert_eq!(counts(&unit), [1, 1, 3, 3, 3, 3, 3, 3, 5, 6, 9, 9]);
    let unit = paths(&project, "ipath-piecewise cc -O0");
    assert_eq!(unit["possible"], 21);
    assert_eq!(counts(&unit), [1, 1, 3, 3, 5, 6, 6, 9, 15]);
    // Without a crossed call, power's paths are those of Ball & Larus: 4, and main's 8.
    let unit = paths(&project, "ipath-hybrid=budget=20 cc -O0");
    assert!(unit["possible"].as_u64().is_some_and(|paths| paths <= 20), "{unit}");
    let text = project.ok("paths p.cotree");
    assert!(text.contains("left out, so that numbers fit") && text.contains("power  p.c:"), "{text}");
    let refused = project.cotree("--profile ipath-hybrid=budget=1 cc -O0 -w -o p p.c").output().expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("allow more with a larger budget"), "{said}");
}

/// A piecewise profile takes the strategies of hybrid ones, and is exact with each.
#[test]
fn pieces_cross_what_a_strategy_says() {
    let main = r#"
int elsewhere(int n);
__attribute__((noinline)) static int leaf(int n) { int s = 0; while (n > 0) { s += n & 1; n /= 2; } return s; }
__attribute__((noinline)) static int inner(int n) { return n > 3 ? leaf(n) : n; }
__attribute__((noinline)) int visible(int n) { return n & 1 ? leaf(n) : n; }
int main(void) { int s = 0; for (int i = 0; i < 10; i++) s += inner(i) + visible(i) + elsewhere(i); return s == 0; }
"#;
    let other = r#"
int visible(int n);
__attribute__((noinline)) int elsewhere(int n) { if (n & 2) return visible(n); return n + 1; }
"#;
    let project = Project::new(&[("p.c", main), ("q.c", other)]);
    // Of 47 calls inner gets 10, elsewhere 10, visible 10 of main and 4 of elsewhere, and leaf 6 of inner and 7 of
    // visible. A budget is no promise of which calls are crossed.
    for (strategy, crossed) in [
        ("leaf", Some(13)),
        ("file", Some(10 + 13)),
        ("local", Some(10 + 10 + 13)),
        ("budget=100000", Some(47)),
        ("budget=40", None),
    ] {
        let unit = paths_of(&project, &format!("ipath-piecewise={strategy} --verify cc -O1"), "p.c q.c");
        assert_eq!(unit["method"], "ipath-piecewise");
        let made = |reason: &str| unit["calls"][reason]["made"].as_u64().expect("a number");
        assert_eq!(made("crossed") + made("left_out"), 47, "{strategy}: {}", unit["calls"]);
        assert_eq!(made("crossed"), crossed.unwrap_or(made("crossed")), "{strategy}: {}", unit["calls"]);
        assert!(unit["possible"].as_u64() <= Some(40) || crossed.is_some(), "{strategy}: {}", unit["possible"]);
        assert!(unit["paths"].as_array().is_some_and(|paths| paths.iter().all(|path| path["context"] == json!([]))));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{strategy}: {said}");
    }
    let refused = project.cotree("--profile ipath-piecewise=most cc -o p p.c q.c").output().expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("invalid strategy 'most' of ipath-piecewise: expected leaf, file, local or budget=N"),
        "{said}"
    );
}

#[test]
fn runs_are_compared_by_their_paths() {
    let source = r#"
static int leaf(int n) { return n > 3 ? n - 3 : n; }
static int twice(int n) { return leaf(n) + leaf(n + 1); }
int main(int argc, char **argv) { return twice(argc) > 99; }
"#;
    let project = Project::new(&[("p.c", source)]);
    project.ok("--profile ipath cc -O0 -g -w -o p p.c");
    let run = |file: &str, arguments: &[&str]| {
        succeed(project.command(project.path("p")).args(arguments).env("COTREE_FILE", file));
    };
    run("a.cotree", &[]);
    run("b.cotree", &["x", "y"]);
    run("c.cotree", &["x"]);
    // leaf(1) and leaf(2) take one path, leaf(3) and leaf(4) two: no profile of single functions would tell which call
    // went where.
    let json: Value = serde_json::from_str(&project.ok("diff --paths --json a.cotree b.cotree")).expect("JSON");
    assert_eq!(json["schema"], "cotree-ipath-diff/1");
    let only = |list: &str| json["units"][0][list].as_array().expect("paths").len();
    assert_eq!((only("new"), only("gone")), (1, 1));
    let text = project.ok("diff --paths a.cotree b.cotree");
    assert!(text.contains("1 path only now, 1 path only before."), "{text}");
    assert!(project.ok("diff --paths a.cotree c.cotree").contains("Both runs took the same paths."));
}

/// Two branches of one activation are told together, whatever is called between them.
#[test]
fn paths_run_on_past_calls_that_they_do_not_cross() {
    let source = r#"
#include <stdio.h>
volatile int sink;
static int (*volatile pointer)(const char *) = puts;
__attribute__((noinline)) static void by_library(int n) { if (n & 1) sink = 1; else sink = 2; printf("%d", n); if (n & 2) sink = 3; else sink = 4; }
__attribute__((noinline)) static void by_pointer(int n) { if (n & 1) sink = 1; else sink = 2; pointer("x"); if (n & 2) sink = 3; else sink = 4; }
__attribute__((noinline)) static void by_itself(int n) { if (n & 1) sink = 1; else sink = 2; if (n > 3) by_itself(n - 4); if (n & 2) sink = 3; else sink = 4; }
int main(void) { for (int i = 0; i < 8; i++) { int n = i < 6 ? 0 : 3; by_library(n); by_pointer(n); by_itself(n + 4); } return 0; }
"#;
    let project = Project::new(&[("p.c", source)]);
    // Each function's whole ways, those of activations that paths come back from.
    let unit = paths(&project, "ipath cc -O0");
    let functions: Vec<&str> =
        unit["functions"].as_array().expect("symbols").iter().filter_map(Value::as_str).collect();
    for name in ["by_library", "by_pointer", "by_itself"] {
        let mut ways: std::collections::BTreeMap<Vec<u64>, u64> = std::collections::BTreeMap::new();
        for path in unit["paths"].as_array().expect("paths") {
            for part in path["active"].as_array().expect("parts") {
                if functions[part["function"].as_u64().expect("an index") as usize] == name {
                    let blocks = part["blocks"].as_array().expect("blocks").iter().filter_map(Value::as_u64).collect();
                    *ways.entry(blocks).or_default() += path["count"].as_u64().expect("a count");
                }
            }
        }
        // Zero or three: both bits or none. Recursion makes two activations of each call.
        let expected = if name == "by_itself" { vec![2, 2, 6, 6] } else { vec![2, 6] };
        let mut counts: Vec<u64> = ways.values().copied().collect();
        counts.sort_unstable();
        assert_eq!(counts, expected, "{name}: {ways:?}");
    }
    let calls = |reason: &str| unit["calls"][reason]["made"].as_u64().expect("a number");
    assert_eq!((calls("recursive"), calls("pointer"), calls("outside"), calls("left_out")), (8, 8, 8, 0), "{unit}");
    assert_eq!((calls("crossed"), calls("callers_unknown")), (24, 0), "{unit}");
}

/// What a handler interrupts between a caller's words and the callee that reads them goes on as if nothing had been.
#[test]
fn handlers_run_what_paths_cross() {
    let source = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int sink, turns, handled;
__attribute__((noinline)) static int leaf(int n) { if (n & 1) sink = n; else sink = -n; return n > 7 ? n - 1 : n + 1; }
__attribute__((noinline)) static int mid(int n) { int s = leaf(n); if (n & 2) s += leaf(s); return s; }
static void on(int number) { if (number) handled += mid(number + handled % 5) != 0; }
int main(void) {
  signal(SIGALRM, on);
  struct itimerval often = { { 0, 70 }, { 0, 70 } }, never = { { 0, 0 }, { 0, 0 } };
  setitimer(ITIMER_REAL, &often, 0);
  int s = 0;
  while (handled < 2000) { s += mid(turns % 9); turns++; }
  setitimer(ITIMER_REAL, &never, 0);
  printf("%d\n", s > 0);
}
"#;
    let project = Project::new(&[("p.c", source)]);
    for (method, level) in [("ipath", "-O0"), ("ipath", "-O2"), ("ipath-piecewise", "-O2")] {
        let unit = paths(&project, &format!("{method} --verify cc {level}"));
        assert!(unit["calls"]["crossed"]["calls"].as_u64().is_some_and(|calls| calls >= 3), "{unit}");
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{method} {level}: {said}");
    }
}

/// Nothing in the program says that a handler calls it: a library that has no counters does.
#[test]
fn handlers_of_libraries_run_what_paths_cross() {
    let library = r#"
#include <signal.h>
#include <sys/time.h>
static void (*back)(int);
static int turns;
static void handler(int number) { back(turns++); }
void install(void (*call)(int)) {
  back = call;
  signal(SIGALRM, handler);
  struct itimerval often = { { 0, 60 }, { 0, 60 } };
  setitimer(ITIMER_REAL, &often, 0);
}
"#;
    let program = r#"
extern void install(void (*)(int));
static volatile int sink, handled;
__attribute__((noinline)) static int leaf(int n) { if (n & 1) return n + 1; return n; }
__attribute__((noinline)) static void back(int n) { sink += leaf(n); handled++; }
int main(void) { install(back); for (int i = 0; handled < 2000; i++) sink += leaf(i) + leaf(i + 1); return 0; }
"#;
    let project = Project::new(&[("l.c", library), ("p.c", program)]);
    succeed(project.command("gcc").args(["-O1", "-shared", "-fPIC", "l.c", "-o", "libl.so"]));
    for method in ["ipath", "ipath-piecewise"] {
        project.ok(&format!("--profile {method} --verify cc -O1 -g p.c -L. -ll -Wl,-rpath,. -o p"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{method}: {said}");
    }
}

/// The runtime does not see a handler begin that a system call has installed. Where it is a function that others name,
/// no path is vouched for.
#[test]
fn handlers_that_nobody_sees_leave_doubt() {
    let source = r#"
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
volatile int sink, handled;
struct action { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; };
__asm__(".text\nback: mov $15, %eax\n syscall\n");
extern void back(void);
__attribute__((noinline)) void f(int n) { if (n == SIGALRM) handled++; else sink++; }
int main(void) {
  struct action action = { f, 0x04000000, back, 0 };
  register long size __asm__("r10") = 8;
  long result;
  __asm__ volatile("syscall" : "=a"(result)
    : "a"((long)SYS_rt_sigaction), "D"((long)SIGALRM), "S"(&action), "d"(0L), "r"(size) : "rcx", "r11", "memory");
  struct itimerval often = { { 0, 70 }, { 0, 70 } }, never = { { 0, 0 }, { 0, 0 } };
  setitimer(ITIMER_REAL, &often, 0);
  while (handled < 1000) f(0);
  setitimer(ITIMER_REAL, &never, 0);
  return result != 0;
}
"#;
    let project = Project::new(&[("p.c", source)]);
    let unit = paths(&project, "ipath cc -O1");
    assert_eq!(unit["exact"], false, "{unit}");
    let text = project.ok("paths p.cotree");
    let notes = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(notes.contains("paths of a signal handler may go on with those that it interrupted"), "{text}");
}

/// The compiler calls hooks before a function has read what its caller says, and behind what it has written.
#[test]
fn hooks_where_functions_begin_and_end_run_what_paths_cross() {
    let source = r#"
#define HOOK __attribute__((no_instrument_function, noinline))
volatile int sink;
HOOK static int deep(int n) { if (n & 1) sink++; return n; }
HOOK static void hook(int n) { if (n & 2) sink += deep(n); else sink -= deep(n + 1); }
HOOK void __cyg_profile_func_enter(void *f, void *c) { static int k; hook(k++); }
HOOK void __cyg_profile_func_exit(void *f, void *c) { static int k; hook(k++); }
__attribute__((noinline)) static int leaf(int n) { if (n & 1) return n * 3; if (n & 2) sink++; return n; }
__attribute__((noinline)) static int mid(int n) { if (n & 4) return leaf(n) + leaf(n + 1); return leaf(n ^ 1); }
int main(void) { for (int i = 0; i < 100; i++) sink += mid(i); return 0; }
"#;
    let project = Project::new(&[("p.c", source)]);
    for hooks in ["-finstrument-functions-after-inlining", "-finstrument-functions"] {
        paths(&project, &format!("ipath --verify cc -O2 {hooks}"));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{hooks}: {said}");
    }
}

/// Functions that are exported, called through pointers, from a library and from a handler that interrupts them.
#[test]
fn functions_that_others_call_are_crossed_by_name() {
    let source = r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
volatile int sink, handled;
__attribute__((noinline)) int leaf(int n) { if (n & 1) sink = n; else sink = -n; return n > 7 ? n - 1 : n + 1; }
__attribute__((noinline)) int mid(int n) { int s = leaf(n); if (n & 2) s += leaf(s); return s; }
static int (*volatile by_pointer[])(int) = { leaf, mid };
static int compare(const void *a, const void *b) { return leaf(*(const int *)a) - mid(*(const int *)b); }
static void on(int number) { handled += mid(number + handled % 5) != 0; if (handled % 3) by_pointer[handled & 1](handled); }
static void *thread(void *p) { for (int i = 0; i < 50; i++) sink += mid(i) + by_pointer[i & 1](i); return p; }
int main(int argc, char **argv) {
  pthread_t other;
  int a[16];
  pthread_create(&other, 0, thread, 0);
  for (int i = 0; i < 40; i++) {
    sink += mid(i % 9) + leaf(i & 7) + by_pointer[i & 1](i);
    for (int j = 0; j < 16; j++) a[j] = i * j * 7 % 5;
    qsort(a, 16, sizeof *a, compare);
  }
  pthread_join(other, 0);
  if (argc > 1) {
    signal(SIGALRM, on);
    struct itimerval often = { { 0, 70 }, { 0, 70 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &often, 0);
    for (int i = 0; handled < 2000; i++) sink += mid(i % 9) + leaf(i & 7);
    setitimer(ITIMER_REAL, &never, 0);
  }
  return 0;
}
"#;
    let project = Project::new(&[("p.c", source)]);
    for (method, level) in [("ipath", "-O0"), ("ipath", "-O2 -rdynamic"), ("ipath-piecewise", "-O2 -fPIE -pie")] {
        let unit = paths(&project, &format!("{method} --verify cc {level}"));
        // Of 40 turns: `mid`, one or two of `leaf` in it, and `leaf`; the thread's 50; and what compares.
        let calls = |reason: &str| unit["calls"][reason]["calls"].as_u64().expect("a number");
        assert_eq!((calls("callers_unknown"), calls("left_out"), calls("recursive")), (0, 0, 0), "{level}: {unit}");
        assert!(calls("crossed") >= 7 && calls("pointer") + calls("pointer_one_way") >= 3, "{level}: {unit}");
        succeed(project.command(project.path("p")).arg("x").env("COTREE_FILE", "p.cotree"));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{method} {level}: {said}");
    }
}

/// A function with far too many paths calls others: these know by which path, and what is behind the calls is not
/// multiplied.
#[test]
fn paths_descend_where_there_are_too_many_to_cross() {
    let branches: String = (0..18).map(|bit| format!("  if (n & {}) sink++; else sink--;\n", 1 << bit)).collect();
    let source = format!(
        "volatile int sink;
__attribute__((noinline)) static int sign(int n) {{ if (n < 0) return -1; return n > 0; }}
__attribute__((noinline)) static int many(int n) {{
  int first = 0;
  if (n & 1) first = sign(n); else first = sign(-n);
{branches}  return first + sign(0);
}}
int main(void) {{ int s = 0; for (int i = 0; i < 40; i++) s += many(i); return s > 99; }}
"
    );
    let project = Project::new(&[("p.c", &source)]);
    for level in ["-O0", "-O1"] {
        let unit = paths(&project, &format!("ipath --verify cc {level}"));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{level}: {said}");
        let made = |reason: &str| unit["calls"][reason]["made"].as_u64().expect("a number");
        assert_eq!(made("crossed") + made("one_way"), 40 * 3, "{level}: {unit}");
        assert!(made("one_way") > 0 && made("left_out") == 0, "{level}: {unit}");
        // 20 odd numbers, 19 even ones, and 0: each by its own call; and 40 times 0 behind all branches.
        let functions = unit["functions"].as_array().expect("symbols");
        let sign = functions.iter().position(|name| name == "sign").expect("it is there") as u64;
        let entered = |part: &Value| part["function"] == sign && part["enters"] == true;
        let mut entries = 0;
        for path in unit["paths"].as_array().expect("paths") {
            let count = path["count"].as_u64().expect("a count");
            entries +=
                count * path["active"].as_array().expect("parts").iter().filter(|part| entered(part)).count() as u64;
        }
        assert_eq!(entries, 40 * 2, "{level}: {unit}");
        let text = project.ok("paths p.cotree");
        assert!(text.contains("crossed on the way in only"), "{text}");
    }
    let by_count = project.ok("paths --by count p.cotree");
    assert!(by_count.contains("Hottest paths, by executions"), "{by_count}");
    let same = project.ok("paths p.cotree --against p.cotree");
    assert!(same.contains("Every path of this run was taken by the other one."), "{same}");
    let json: Value = serde_json::from_str(&project.ok("paths p.cotree --against p.cotree --json")).expect("JSON");
    assert_eq!(
        (&json["schema"], json["units"][0]["missed"].as_array().map(Vec::len)),
        (&"cotree-ipath-cover/1".into(), Some(0))
    );
}

/// Calls of a function that is declared to have no effect stay where they are: a name that a caller has left for it
/// must not wait for the next call from elsewhere.
#[test]
fn calls_of_functions_without_effect_are_made() {
    let main = r#"
#include <stdio.h>
extern int triple(int) __attribute__((const));
extern int leaf(int);
extern int (*volatile pointer)(int);
int main(void) {
  int s = 0;
  for (int i = 0; i < 300; i++) {
    triple(i);
    if (triple(i & 3) != triple(i & 3)) s++;
    s += leaf(i);
    if (i % 3 == 0) s += pointer(i) + triple(7);
  }
  printf("%d\n", s);
  return 0;
}
"#;
    let other = r#"
__attribute__((const, noinline)) int triple(int n) { if (n & 1) return n * 3; return n; }
__attribute__((noinline)) int leaf(int n) { if (n & 2) return triple(n); return triple(n + 1) + 1; }
int (*volatile pointer)(int) = triple;
"#;
    let project = Project::new(&[("p.c", main), ("q.c", other)]);
    for options in ["ipath --verify cc -O2", "ipath --verify cc -O3 -fPIC -rdynamic", "ipath-piecewise --verify cc -O1"]
    {
        project.ok(&format!("--profile {options} -g -w -o p p.c q.c"));
        let output = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        assert_eq!(output, "122100\n", "{options}");
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{options}: {said}");
    }
}

/// A function with too many paths for words counts them by hashing, also where nobody has said with which path it is
/// called.
#[test]
fn functions_that_others_call_count_by_hashing() {
    let branches: String = (0..18).map(|bit| format!("  if (n & {}) sink++; else sink--;\n", 1 << bit)).collect();
    let source = format!(
        "volatile int sink;
__attribute__((noinline)) int many(int n) {{
{branches}  return n;
}}
int (*volatile pointer)(int) = many;
int main(void) {{ int s = 0; for (int i = 0; i < 40; i++) s += many(i) + pointer(i * i); return s == 7; }}
"
    );
    let project = Project::new(&[("p.c", &source)]);
    for (method, level) in [("ipath", "-O0"), ("ipath", "-O1"), ("ipath-piecewise", "-O0"), ("ipath-hybrid", "-O0")] {
        let unit = paths(&project, &format!("{method} --verify cc {level}"));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{method} {level}: {said}");
        let made = |reason: &str| unit["calls"][reason]["made"].as_u64().expect("a number");
        let expected = if method == "ipath" { (40, 0) } else { (0, 40) };
        assert_eq!((made("pointer_one_way"), made("pointer")), expected, "{method} {level}: {unit}");
    }
}

/// A library's own functions may be replaced where it exports them, and not where it hides them.
#[test]
fn hidden_functions_of_libraries_are_crossed() {
    let library = r#"
volatile int sink;
__attribute__((noinline)) int exported(int n) { if (n & 1) sink++; return n + 1; }
__attribute__((noinline, visibility("hidden"))) int hidden(int n) { if (n & 1) sink++; return n + 1; }
int (*volatile pointer)(int) = hidden;
int use(int n) { return exported(n) + hidden(n) + pointer(n); }
"#;
    let program = r#"
#include <stdio.h>
extern int use(int);
int exported(int n) { return -n; }
int main(void) { int s = 0; for (int i = 0; i < 10; i++) s += use(i); printf("%d\n", s); return 0; }
"#;
    let project = Project::new(&[("l.c", library), ("p.c", program)]);
    project.ok("--profile ipath --verify cc -O1 -g -shared -fPIC l.c -o libl.so");
    succeed(project.command("gcc").args(["-O1", "p.c", "-L.", "-ll", "-Wl,-rpath,.", "-rdynamic", "-o", "p"]));
    let output = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    assert_eq!(output, "65\n");
    let said = project.ok("verify p.libl.so.cotree");
    assert!(said.contains(" 0 counts differ"), "{said}");
    let json: Value = serde_json::from_str(&project.ok("paths --json p.libl.so.cotree")).expect("JSON");
    let made = |reason: &str| json["units"][0]["calls"][reason]["made"].as_u64().expect("a number");
    assert_eq!((made("crossed"), made("callers_unknown"), made("pointer_one_way")), (10, 10, 10), "{json}");
}

/// What a fault ends between two calls takes the path with it, and so whatever else is on that path.
#[test]
fn a_fault_leaves_doubt_about_all_that_its_path_may_have_crossed() {
    let source = r#"
int *volatile null; volatile int sink;
__attribute__((noinline)) static int leaf(int n) { if (n & 1) sink = 1; else sink = 2; return n + 1; }
__attribute__((noinline)) static void boom(int n) { if (n & 2) *null = 3; sink = 4; }
__attribute__((noinline)) static void mid(int n) { n = leaf(n); boom(n); }
int main(int c, char **v) { mid(c); return 0; }
"#;
    let project = Project::new(&[("p.c", source)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile ipath --verify cc {level} -g -w -o p p.c"));
        project.command(project.path("p")).env("COTREE_FILE", "p.cotree").output().expect("it runs");
        // Some counts differ, and each of them is declared.
        let said = project.ok("verify p.cotree");
        assert!(said.contains("DECLARED: ") && said.contains("leaf: entries: 0 instead of 1 (declared)"), "{said}");
    }
}

/// Recursion, a jump, exceptions through several functions, threads, a handler, a fork, and an exit deep in calls.
const ENDINGS: &str = r#"
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline)) static
static jmp_buf place;
static volatile int sink;
struct Guard { std::string s; Guard(int n) : s(n % 5, 'x') {} ~Guard() { sink = s.size(); } };
APART int leaf(int n) { int s = 0; while (n > 0) { s += n & 1; n >>= 1; } return s; }
APART int thrower(int n) {
  Guard g(n);
  if (n % 7 == 3) throw std::runtime_error("three");
  if (n % 11 == 5) throw n;
  return leaf(n) + leaf(n ^ 5);
}
APART int middle(int n) { Guard g(n); int r = thrower(n); return r > 2 ? r + thrower(n - 1) : r; }
APART int catcher(int n) { try { return middle(n); } catch (std::runtime_error &) { return -1; } }
APART int recursive(int n) {
  if (n <= 0) return catcher(5);
  try { return recursive(n - 1) + recursive(n - 2); } catch (int k) { return k + leaf(n); }
}
APART void jumper(int n) { if (n % 3 == 0) longjmp(place, n + 1); sink = leaf(n); }
APART void stop(int n) { if (leaf(n) == 3) exit(3); }
static void handler(int n) { sink = leaf(n); }
static void work(int k) { for (int i = 0; i < 40; i++) try { sink = catcher(i + k); } catch (int) {} }
int main() {
  volatile int total = 0;
  signal(SIGALRM, handler);
  ualarm(700, 700);
  for (volatile int i = 0; i < 10; i++) { if (setjmp(place) == 0) jumper(i); else total = total + 1; }
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; k++) threads.emplace_back(work, k);
  for (auto &t : threads) t.join();
  try { total = total + recursive(6); } catch (...) {}
  for (int i = 0; i < 100000; i++) sink = leaf(i);
  ualarm(0, 0);
  int child = fork();
  if (child == 0) { sink = catcher(9); _exit(leaf(8)); }
  waitpid(child, nullptr, 0);
  printf("%d\n", total);
  for (int i = 0;; i++) stop(i);
}
"#;

#[test]
fn blocks_and_edges_are_exact_however_activations_end() {
    let project = Project::new(&[("p.cpp", ENDINGS)]);
    for (method, level) in
        ["ipath -O0", "ipath -O2", "ipath-piecewise -O1", "ipath-hybrid=leaf -O2", "ipath-piecewise=local -O2"]
            .map(|build| build.split_once(' ').expect("two words"))
    {
        project.ok(&format!("--profile {method} --verify c++ {level} -g -w -pthread -o p p.cpp"));
        let status = project.command(project.path("p")).env("COTREE_FILE", "p-%p.cotree").status().expect("it runs");
        assert_eq!(status.code(), Some(3), "{method} {level}");
        let folder = std::fs::read_dir(project.path(".")).expect("the folder");
        let files = folder.map(|file| file.expect("a file").path());
        let profiles: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "cotree")).collect();
        assert_eq!(profiles.len(), 2, "its own and its child's");
        for profile in profiles {
            let said = project.ok(&format!("verify {}", profile.display()));
            assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{method} {level}: {said}");
            std::fs::remove_file(profile).expect("it was there");
        }
    }
}
