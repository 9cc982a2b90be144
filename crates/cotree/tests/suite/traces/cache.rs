//! `cotree trace --cache`: a model of caches, against one that keeps a list for each set, fed with rows of the trace.

use crate::project::Project;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Two arrays that are read along rows and along columns, a copy, and a thread.
const SOURCE: &str = "
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
enum { N = 64 };
double a[N][N], b[N][N];
char from[3000], to[3000];
static volatile double sink;
__attribute__((noinline)) static void rows(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sink += a[i][j]; }
__attribute__((noinline)) static void columns(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sink += b[j][i]; }
__attribute__((noinline)) static void copies(int n) { for (int i = 0; i < n; i++) memcpy(to + i, from + 1, 1000 + i * n); }
static void *other(void *p) { columns(); return p; }
int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  rows(), columns(), copies(argc * 7);
  return 0;
}
";

/// Lines by set, those first that were used last.
struct Sets {
    sets: HashMap<u64, VecDeque<u64>>,
    count: u64,
    ways: usize,
}

impl Sets {
    fn new(bytes: u64, ways: u64) -> Self {
        Self { sets: HashMap::new(), count: bytes / 64 / ways, ways: ways as usize }
    }

    fn hits(&mut self, address: u64, length: u64) -> bool {
        let mut hit = true;
        for line in address / 64..=(address + length - 1) / 64 {
            let set = self.sets.entry(line % self.count).or_default();
            let known = set.len();
            set.retain(|&other| other != line);
            hit &= set.len() < known;
            set.push_front(line);
            set.truncate(self.ways);
        }
        hit
    }
}

/// Accesses, and those that miss each of two caches.
type Costs = [u64; 3];

#[test]
fn a_model_of_caches_counts_misses() {
    let project = Project::new(&[("p.c", SOURCE)]);
    for (level, small) in [("-O0", ("4K,2,64", 4096, 2)), ("-O2", ("8K,4,64", 8192, 4))] {
        project.ok(&format!("--profile trace --trace-addresses all cc {level} -g -pthread -o p p.c"));
        let status = project.command(project.path("p")).env("COTREE_FILE", "p.cotree").status().expect("it runs");
        assert!(status.success());
        let (mut functions, mut lines) = (BTreeMap::<String, Costs>::new(), BTreeMap::<String, Costs>::new());
        let mut caches: HashMap<u64, [Sets; 2]> = HashMap::new();
        for row in project.ok("trace p.cotree --by address --json").lines() {
            let row: Value = serde_json::from_str(row).expect("JSON");
            let (Some(address), Some(size)) = (row["address"].as_u64(), row["size"].as_u64()) else { continue };
            let thread = row["thread"].as_u64().expect("a thread");
            let [first, last] =
                caches.entry(thread).or_insert_with(|| [Sets::new(small.1, small.2), Sets::new(32 << 10, 8)]);
            let (mut at, end) = (address, address + size);
            while at < end {
                let next = if size > 64 { end.min((at / 64 + 1) * 64) } else { end };
                let first = !first.hits(at, next - at);
                let last = first && !last.hits(at, next - at);
                let name = row["function"].as_str().expect("a name").to_owned();
                let place = row["line"].as_u64().map_or("(no line)".to_owned(), |line| format!("p.c:{line}"));
                for costs in [functions.entry(name).or_default(), lines.entry(place).or_default()] {
                    *costs = [costs[0] + 1, costs[1] + u64::from(first), costs[2] + u64::from(last)];
                }
                at = next;
            }
        }
        let told = |options: &str, parts: &str| {
            let line = format!("trace p.cotree --cache --cache-l1 {} --cache-ll 32K,8,64 {options} --json", small.0);
            let told: Value = serde_json::from_str(&project.ok(&line)).expect("JSON");
            assert_eq!(told["schema"], "cotree-cache/1");
            let of = |value: &Value| {
                ["accesses", "l1_misses", "ll_misses"].map(|key| value[key].as_u64().expect("a number"))
            };
            let parts = told[parts].as_array().expect("a list");
            let parts: BTreeMap<String, Costs> =
                parts.iter().map(|part| (part["name"].as_str().expect("a name").to_owned(), of(part))).collect();
            let sum = parts.values().fold([0; 3], |sum: Costs, costs| std::array::from_fn(|at| sum[at] + costs[at]));
            assert_eq!(of(&told), sum, "{level}");
            let cycles = told["instructions"].as_u64().expect("a number") + sum[0] + 4 * sum[1] + 30 * sum[2];
            assert_eq!(told["estimated_cycles"], cycles);
            parts
        };
        assert_eq!(told("", "functions"), functions, "{level}");
        assert_eq!(told("--by line", "lines"), lines, "{level}");
        let along = functions["rows"][1];
        assert!(functions["columns"][1] > 3 * along && functions["copies"][0] > 100, "{level}: {functions:?}");
    }
    // Parts of a thread have its accesses between them, and each begins with empty caches.
    let accesses = |options: &str| {
        let told: Value =
            serde_json::from_str(&project.ok(&format!("trace p.cotree --cache --thread 1 --json {options}")))
                .expect("JSON");
        ["accesses", "l1_misses", "instructions"].map(|key| told[key].as_u64().expect("a number"))
    };
    let (all, before, after) = (accesses(""), accesses("--to columns"), accesses("--from columns"));
    assert_eq!([before[0] + after[0], before[2] + after[2]], [all[0], all[2]]);
    assert!(before[1] + after[1] >= all[1] && before[0] > 0 && after[0] > 0);
    let text = project.ok("trace p.cotree --cache --thread 1 --top 1");
    assert!(
        text.contains("L1: 32 KiB, 8 ways, lines of 64 bytes") && text.contains("more: --top 0 shows all"),
        "{text}"
    );
    let said = |line: &str| {
        let output = project.cotree(line).output().expect("cotree starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(!said("trace p.cotree --cache").contains("alone"));
    project.ok("--profile trace --trace-addresses loads cc -O1 -g -pthread -o q p.c");
    let loads = project.command(project.path("q")).env("COTREE_FILE", "q.cotree").status().expect("it runs");
    assert!(loads.success());
    assert!(said("trace q.cotree --cache").contains("the trace has loads alone"));
    for (options, why) in [
        ("--cache --by block", "--cache counts by function, or --by line"),
        ("--cache --cache-l1 1,2,3", "lines have a power of two"),
        ("--cache-ll 8M,16,64", "--cache"),
    ] {
        let refused = project.fails(&format!("trace p.cotree {options}"));
        assert!(refused.contains(why), "{options}: {refused}");
    }
}
