//! What paths across functions add up, against the program's own tally.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;

/// Each turn of the loop in `work` is a path, but where a mark says that one begins anew. The program tallies what it
/// has reported since by the mark that it has passed.
const PROGRAM: &str = r#"
#include <cotree.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

static const int MARKS = 12;
static unsigned long long tally[MARKS];
struct Thread {
  unsigned long long now, began, tally[MARKS];
  int mark;
  jmp_buf place;
};
static thread_local Thread own;
static volatile int sink;

static void say(int n) {
  own.now += n;
  cotree_events(n);
}
static void begin() { own.began = own.now; }
static void end() {
  own.tally[own.mark] += own.now - own.began;
  begin();
}

__attribute__((noinline)) static void report(int n) {
  if (n & 1) say(n & 15);
  else say(n & 7);
}
__attribute__((noinline)) static int recurse(int n) {
  report(n);
  if (n == 0) return 1;
  int deeper = recurse(n - 1);
  sink = deeper; /* So that it remains a call. */
  return deeper + 1;
}
static int compare(const void *a, const void *b) {
  report(3);
  return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static void thrower(int n) {
#ifdef LOOP
  for (int i = 0; i < 4; i++) {
    if (i == 2 && n & 16) throw std::runtime_error("thrown");
    report(i);
    end();
  }
#else
  report(n);
  if (n & 16) throw std::runtime_error("thrown");
#endif
  report(9);
}
__attribute__((noinline)) static void jumper(int n) {
  report(n);
  if (n & 8) longjmp(own.place, 1);
}
static void handler(int) { report(5); }
__attribute__((noinline)) static int wide(unsigned bits) {
  int n = 0;
#define BIT(k) if (bits >> k & 1) n += k; else n ^= k;
  BIT(0) BIT(1) BIT(2) BIT(3) BIT(4) BIT(5) BIT(6) BIT(7) BIT(8) BIT(9) BIT(10) BIT(11)
  BIT(12) BIT(13) BIT(14) BIT(15) BIT(16) BIT(17) BIT(18) BIT(19) BIT(20) BIT(21) BIT(22) BIT(23)
  say(n & 31);
  return n;
}
typedef void Function(int);
static Function *volatile chosen = report;

__attribute__((noinline)) static void work(int turns) {
  unsigned random = 1;
  for (int i = 0; i < turns; i++) {
    random = random * 1103515245 + 12345;
    switch ((random >> 20) % 9) {
    case 0:
      own.mark = 0; report(i); /* MARK(0) */
      break;
    case 1:
      own.mark = 1; sink = recurse(i & 3); /* MARK(1) */
      break;
    case 2: {
      int few[3] = {3, 1, 2};
      own.mark = 2; qsort(few, 3, sizeof *few, compare); /* MARK(2) */
      break;
    }
    case 3:
      own.mark = 3; raise(SIGUSR1); /* MARK(3) */
      break;
    case 4:
      own.mark = 4; sink = wide(random >> 3); /* MARK(4) */
      break;
    case 5:
      own.mark = 5; chosen(i); /* MARK(5) */
      break;
    case 6:
      own.mark = 6; report(1); /* MARK(6) */
      try {
        thrower(i);
      } catch (std::runtime_error &) {
        begin();
        own.mark = 7; report(2); /* MARK(7) */
      }
      break;
    case 7:
      own.mark = 8; report(1); /* MARK(8) */
      end();
      if (setjmp(own.place) == 0) {
        own.mark = 9; jumper(i); /* MARK(9) */
      } else {
        begin();
        own.mark = 10; report(3); /* MARK(10) */
      }
      break;
    default:
      own.mark = 11; say(4); /* MARK(11) */
    }
    end();
  }
}
static void *thread(int turns) {
  work(turns);
  for (int i = 0; i < MARKS; i++) __atomic_fetch_add(&tally[i], own.tally[i], __ATOMIC_RELAXED);
  return nullptr;
}
int main(int count, char **) {
  signal(SIGUSR1, handler);
  std::vector<std::thread> all;
  for (int i = 0; i < (count > 1 ? 4 : 1); i++) all.emplace_back(thread, 2000);
  for (auto &one : all) one.join();
  for (int i = 0; i < MARKS; i++) printf("%llu\n", tally[i]);
}
"#;

/// The sums of paths through `work`, or through the loop in `thrower`, by the mark that they passed last.
fn sums(json: &Value, source: &str) -> BTreeMap<usize, u64> {
    let unit = &json["units"][0];
    assert_eq!((&unit["metric"], &unit["measured"]), (&"events".into(), &false.into()));
    let functions = unit["functions"].as_array().unwrap();
    let files = unit["files"].as_array().unwrap();
    let mark = |line: &Value| -> Option<usize> {
        let file = &files[usize::try_from(line[0].as_u64()?).unwrap()];
        file.as_str()?.strip_suffix("p.cpp")?;
        let text = source.lines().nth(usize::try_from(line[1].as_u64()?).unwrap() - 1)?;
        text.split_once("MARK(")?.1.split_once(')')?.0.parse().ok()
    };
    let mut sums = BTreeMap::new();
    for path in unit["paths"].as_array().unwrap() {
        let [context, active] = ["context", "active"].map(|parts| path[parts].as_array().unwrap().as_slice());
        let is_of = |part: &Value| {
            let name = functions[usize::try_from(part["function"].as_u64().unwrap()).unwrap()].as_str().unwrap();
            ["work", "thrower"].iter().any(|function| name.contains(function))
        };
        if active.iter().any(is_of) {
            let lines = context.iter().chain(active).flat_map(|part| part["lines"].as_array().unwrap());
            if let Some(mark) = lines.filter_map(mark).next_back() {
                *sums.entry(mark).or_default() += path["sum"].as_u64().unwrap();
            }
        }
    }
    sums
}

fn check(method: &str, flags: &str) {
    let project = Project::new(&[("p.cpp", PROGRAM)]);
    project.ok(&format!("--profile {method} --path-metric events c++ {flags} -g -w -pthread -o p p.cpp"));
    for threads in [false, true] {
        let mut program = project.command(project.path("p"));
        let printed = succeed(program.args(threads.then_some("threads")).env("COTREE_FILE", project.path("p.cotree")));
        let tally: BTreeMap<usize, u64> = printed.lines().map(|number| number.parse().unwrap()).enumerate().collect();
        assert_eq!(tally.len(), 12);
        assert!(tally.values().all(|&sum| sum > 100), "{tally:?}");
        let json = serde_json::from_str(&project.ok("paths --json p.cotree")).unwrap();
        assert_eq!(sums(&json, PROGRAM), tally, "{method} {flags} {threads}");
        let text = project.ok("paths --by metric p.cotree");
        assert!(text.contains("Hottest paths, by events"), "{text}");
    }
    let merged = project.ok("merge -o merged.cotree p.cotree p.cotree");
    let [once, twice] = ["p.cotree", "merged.cotree"]
        .map(|profile| sums(&serde_json::from_str(&project.ok(&format!("paths --json {profile}"))).unwrap(), PROGRAM));
    assert!(once.iter().all(|(mark, sum)| twice[mark] == 2 * sum), "{merged}");
}

#[test]
fn sums_of_paths_with_contexts_are_what_the_program_reports() {
    check("ipath", "-O0 -DLOOP");
    check("ipath", "-O2 -DLOOP");
}

#[test]
fn sums_of_pieces_and_hybrids_are_what_the_program_reports() {
    check("ipath-piecewise", "-O0");
    check("ipath-piecewise", "-O2");
    check("ipath-hybrid", "-O1");
}

/// What is added up does not change the counts, and a profile without sums can't be sorted by them.
#[test]
fn metrics_change_no_counts() {
    let project = Project::new(&[("p.cpp", PROGRAM)]);
    for metric in ["events", "cycles"] {
        project.ok(&format!("--profile ipath --path-metric {metric} --verify c++ -O2 -g -w -pthread -o p p.cpp"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", project.path("p.cotree")));
        let said = project.ok("verify --strict p.cotree");
        assert!(said.contains("0 functions not vouched for, 0 counts differ"), "{said}");
    }
    let text = project.ok("paths --by metric p.cotree");
    assert!(text.contains("measured, not exact"), "{text}");
    project.ok("--profile ipath c++ -O2 -g -w -pthread -o p p.cpp");
    succeed(project.command(project.path("p")).env("COTREE_FILE", project.path("p.cotree")));
    let said = project.fails("paths --by metric p.cotree");
    assert!(said.contains("nothing is added up along the paths of"), "{said}");
}

/// What an exception leaves in a shared library: the paths that ended before it have their sums, and the one behind it.
#[test]
fn exceptions_in_shared_libraries_lose_no_sums() {
    let library = r#"
#include <cotree.h>
#include <stdexcept>
extern "C" long tally;
long tally;
__attribute__((noinline)) static void inner(int n) {
  for (int i = 0; i < 4; i++) {
    if (i == 2 && n & 1) throw std::runtime_error("x");
    cotree_events(i + 1);
  }
}
extern "C" long work(int turns) {
  long caught = 0;
  for (int i = 0; i < turns; i++) {
    try {
      cotree_events(100);
      inner(i);
      tally += 100 + 10;
    } catch (std::runtime_error &) {
      cotree_events(7);
      caught++;
      tally += 100 + 1 + 2 + 7;
    }
  }
  return caught;
}
"#;
    let main = "#include <cstdio>\nextern \"C\" long work(int), tally;\n\
                int main() { long caught = work(1000); printf(\"%ld %ld\\n\", caught, tally); }\n";
    let project = Project::new(&[("work.cpp", library), ("p.cpp", main)]);
    project.ok("--profile ipath --path-metric events c++ -O0 -g -shared -fPIC -o libwork.so work.cpp");
    project.ok("--profile ipath --path-metric events c++ -O0 -g -o p p.cpp -L. -lwork -Wl,-rpath,.");
    let mut program = project.command(project.path("p"));
    let printed = succeed(program.env("COTREE_FILE", project.path("%n.cotree")));
    let numbers: Vec<u64> = printed.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers[0], 500);
    for unit in ["p", "libwork.so"] {
        let json: Value = serde_json::from_str(&project.ok(&format!("paths --json {unit}.cotree"))).unwrap();
        assert_eq!(json["units"][0]["exact"], true);
        let sum: u64 = json["units"][0]["paths"].as_array().unwrap().iter().map(|p| p["sum"].as_u64().unwrap()).sum();
        assert_eq!(sum, numbers[1], "{unit}");
    }
}
