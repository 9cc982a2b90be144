//! Paths that go on where pointers lead: which calls are told, what the paths have of their callers, and that counts
//! are those of the redundant counters however such calls end.

use crate::project::{Project, succeed};
use serde_json::Value;

const POINTERS: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
typedef int (*operation)(int, int);
static jmp_buf back;
static int add(int a, int b) { return a > b ? a + b : b - a; }
static int multiply(int a, int b) { if (a & 1) return a * b; return a + 2; }
static int jump(int a, int b) { if (b == 6) longjmp(back, 1); return a; }
static int forks(int a, int b) {
  if (b != 7) return a;
  if (fork() == 0) return a + 1;
  wait(0);
  return a;
}
static operation operations[] = {add, multiply, jump, forks};
/* Calls what pointers lead to, and is called by a pointer of that type itself. */
static int again(int a, int b) { return b > 0 ? operations[b & 1](a, b) : a; }
static int of_another_type(int a) { return a < 3 ? a : 3; }
static operation volatile others[] = {again, (operation)(void *)of_another_type, (operation)(void *)abs};
int main(int count, char **arguments) {
  (void)arguments;
  volatile int sum = 0;
  for (volatile int i = 0; i < 8; i++)
    if (!setjmp(back)) sum += operations[i & 3](i, i);
  for (volatile int i = 0; i < 6; i++) sum += others[i % 3](i, 1);
  if (count > 1) exit(add(sum, 1) & 0);
  printf("%d\n", sum);
  return 0;
}
"#;

/// How often calls were made, by what paths do there, in each profile of a run. All have been verified.
fn calls_made(project: &Project, arguments: &[&str]) -> Vec<[u64; 2]> {
    let mut run = project.command(project.path("p"));
    succeed(run.args(arguments).env("COTREE_FILE", "p-%p.cotree"));
    let entries = std::fs::read_dir(project.path(".")).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let files: Vec<String> = names.filter(|name| name.ends_with(".cotree")).collect();
    let made = |file: &String| {
        project.ok(&format!("verify --strict {file}"));
        let json: Value = serde_json::from_str(&project.ok(&format!("paths --json {file}"))).expect("JSON");
        std::fs::remove_file(project.path(file)).expect("removed");
        let unit = &json["units"][0];
        assert_eq!(unit["exact"], true);
        ["pointer_one_way", "pointer"].map(|reason| unit["calls"][reason]["made"].as_u64().expect("a number"))
    };
    files.iter().map(made).collect()
}

/// Each call that is made is told once, and those that led to a function of the pointer's type are crossed.
#[test]
fn calls_through_pointers_are_crossed_on_the_way_in() {
    let project = Project::new(&[("p.c", POINTERS)]);
    for (level, more) in [("-O0", ""), ("-O2 -fno-inline", ""), ("-O2 -fno-inline", "--lto on"), ("-O1", "--at early")]
    {
        project.ok(&format!("--profile ipath --verify {more} cc {level} -g -w -o p p.c"));
        for arguments in [&[][..], &["exit"]] {
            // `again` calls through pointers of its own type, so paths do not go on there; the others that are not
            // crossed are of another type, or have no counters. The child has what came after the fork.
            let made = calls_made(&project, arguments);
            assert_eq!(made.len(), 2, "{level} {more}");
            for expected in [[8 + 2, 6], [2, 6]] {
                assert!(made.contains(&expected), "{level} {more} {arguments:?}: {made:?}");
            }
        }
    }
}

/// A path tells through which call it was entered.
#[test]
fn callees_know_which_call_led_to_them() {
    let source = r#"
static int low(int n) { return n > 2 ? n : 2; }
static int high(int n) { return n < 2 ? n : -n; }
int (*volatile chosen[])(int) = {low, high};
__attribute__((noinline)) static int one(int n) { return chosen[n & 1](n); }
__attribute__((noinline)) static int other(int n) { return n ? chosen[0](n + 7) : 0; }
int main(void) {
  int sum = 0;
  for (int i = 0; i < 10; i++) sum += one(i) + other(i);
  return sum == 0;
}
"#;
    let project = Project::new(&[("p.c", source)]);
    project.ok("--profile ipath cc -O0 -g -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let table = project.ok("paths p.cotree --function =low");
    let rows = |from: &str| table.lines().find(|line| line.contains(from)).unwrap_or_else(|| panic!("{from}: {table}"));
    assert!(rows("one:5 → low").split_whitespace().any(|word| word == "5"), "{table}");
    assert!(rows("other:6 → low").split_whitespace().any(|word| word == "9"), "{table}");
    let explained = project.ok("paths p.cotree --json");
    let json: Value = serde_json::from_str(&explained).expect("JSON");
    assert_eq!(json["units"][0]["calls"]["pointer"]["made"], 0);
}

/// One address may have several names, or be found when the program starts: counts are those of the redundant counters.
#[test]
fn addresses_with_other_names_are_called() {
    let source = r#"
#include <stdio.h>
typedef int (*operation)(int);
__attribute__((noinline)) int low(int n) { return n > 2 ? n : 2; }
__attribute__((noinline)) int _Reserved(int n) { return n & 1 ? n : -n; }
__attribute__((weak, alias("low"))) int alias(int n);
static operation resolve(void) { return low; }
__attribute__((ifunc("resolve"))) int chosen(int n);
int __real_wrapped(int n);
__attribute__((noinline)) int wrapped(int n) { return n < 4 ? n : 4; }
__attribute__((noinline)) int __wrap_wrapped(int n) { return n == 3 ? 0 : n + 1; }
operation volatile operations[] = {low, alias, chosen, wrapped, _Reserved};
int main(void) {
  int sum = 0;
  for (int i = 0; i < 20; i++) sum += operations[i % 5](i) + low(i) + alias(i) + chosen(i) + wrapped(i) + _Reserved(i);
  printf("%d\n", sum);
  return 0;
}
"#;
    let project = Project::new(&[("p.c", source)]);
    for options in ["-O0", "-O2", "-O2 -fPIE -pie", "-O2 -no-pie -static", "-O2 -Wl,--wrap=wrapped"] {
        project.ok(&format!("--profile none cc {options} -w -o plain p.c"));
        project.ok(&format!("--profile ipath --verify cc {options} -g -w -o p p.c"));
        let plain = succeed(&mut project.command(project.path("plain")));
        let output = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        assert_eq!(output, plain, "{options}");
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{options}: {said}");
    }
}
