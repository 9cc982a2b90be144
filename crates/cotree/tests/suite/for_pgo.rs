//! `--for-pgo`: what is counted for `--use`, and that the compiler is told it where it was counted.

use crate::project::{Project, succeed};
use std::collections::HashMap;
use std::fs;

/// Turns of the loop.
const TURNS: u32 = 700;

const C: &str = "
static volatile int sink;
__attribute__((noinline)) static int one(int n) { sink += n; return n & 3; }
__attribute__((noinline)) static int two(int n) { sink -= n; return n & 5; }
static int (*volatile table[2])(int) = { one, two };
__attribute__((noinline)) static int small(int n) { return n % 10 == 3 ? sink : n; }
__attribute__((noinline)) int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 10 == 3) sum += sink; else if (i % 7 == 2) sink = i;
        switch (i % 5) { case 0: sum++; sink++; break; case 1: sink = sum; break; default: sink = i * sum; }
        sum += table[i % 4 == 0](i);
    }
    return sum + small(n);
}
int main(void) { return work(700) == 1; }
";

const CXX: &str = "
static volatile int sink;
struct Base { virtual int of(int) = 0; };
struct One : Base { int of(int n) override { sink = sink + n; return n & 3; } };
struct Two : Base { int of(int n) override { sink = sink - n; return n & 5; } };
static One one; static Two two;
static Base *volatile table[2] = { &one, &two };
template <typename T> static T &at(T *all, int i) { return all[i]; }
extern \"C\" __attribute__((noinline)) int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 10 == 3) sum += sink; else if (i % 7 == 2) sink = i;
        switch (i % 5) { case 0: sum++; sink = sink + 1; break; case 1: sink = sum; break; default: sink = i * sum; }
        sum += at(table, i % 4 == 0)->of(i);
    }
    return sum;
}
int main() { return work(700) == 1; }
";

const RUST: &str = "
use std::hint::black_box;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
static SINK: AtomicI32 = AtomicI32::new(0);
fn sink(n: i32) { SINK.store(n, Relaxed) }
#[inline(never)] fn one(n: i32) -> i32 { sink(n); n & 3 }
#[inline(never)] fn two(n: i32) -> i32 { sink(-n); n & 5 }
#[unsafe(no_mangle)] #[inline(never)]
extern \"C\" fn work(n: i32) -> i32 {
    let table: [fn(i32) -> i32; 2] = black_box([one, two]);
    let (mut sum, mut i) = (0i32, 0);
    while i < n {
        if i % 10 == 3 { sum = sum.wrapping_add(SINK.load(Relaxed)) } else if i % 7 == 2 { sink(i) }
        match i % 5 { 0 => { sum = sum.wrapping_add(1); sink(1) } 1 => sink(sum), _ => sink(i) }
        let f = if i % 4 == 0 { table[1] } else { table[0] };
        sum = sum.wrapping_add(f(i));
        i += 1;
    }
    sum
}
fn main() { std::process::exit(i32::from(work(700) == 1)) }
";

/// The counts of the outcomes of each branch of `work`, sorted, and how often its pointers led to whom: found by doing
/// what it does.
fn truth() -> (Vec<Vec<u64>>, Vec<u64>) {
    let count = |is: &dyn Fn(u32) -> bool| (0..TURNS).filter(|&i| is(i)).count() as u64;
    let turns = u64::from(TURNS);
    let threes = count(&|i| i % 10 == 3);
    let twos = count(&|i| i % 10 != 3 && i % 7 == 2);
    let [zero, one] = [0, 1].map(|rest| count(&|i| i % 5 == rest));
    let fours = count(&|i| i % 4 == 0);
    let mut branches = vec![
        vec![1, turns],
        vec![threes, turns - threes],
        vec![twos, turns - threes - twos],
        vec![zero, one, turns - zero - one],
    ];
    branches.iter_mut().for_each(|counts| counts.sort_unstable());
    branches.sort();
    (branches, vec![turns - fours, fours])
}

/// What the IR that the optimiser gets says of the branches of `work`, and of its call through a pointer.
fn told(project: &Project) -> (Vec<Vec<u64>>, Vec<u64>) {
    let folders = fs::read_dir(project.path("tmp")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let texts = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten()).filter_map(|file| {
        let path = file.expect("an entry").path();
        path.to_str().is_some_and(|name| name.ends_with(".before.ll")).then(|| fs::read_to_string(path).expect("IR"))
    });
    let text = texts.filter(|text| text.contains(" @work(i32")).last().expect("the IR is kept");
    let nodes: HashMap<&str, &str> = text.lines().filter_map(|line| line.split_once(" = !{!")).collect();
    let work = text.split("\ndefine ").find(|part| part.lines().next().is_some_and(|line| line.contains(" @work(")));
    let body = work.and_then(|text| text.split("\n}").next()).expect("the function");
    let numbers = |node: &str| -> Vec<u64> {
        let words = node.split([',', '}']).filter_map(|word| word.trim().split_once(' '));
        words.filter_map(|(_, number)| number.parse::<i64>().ok()).map(i64::cast_unsigned).collect()
    };
    let (mut branches, mut targets) = (Vec::new(), Vec::new());
    for piece in body.split("!prof ").skip(1) {
        let end = piece.find(|c: char| c != '!' && !c.is_ascii_digit()).unwrap_or(piece.len());
        let node = nodes[&piece[..end]];
        let mut counts = numbers(node);
        if node.starts_with("\"branch_weights\"") {
            counts.sort_unstable();
            branches.push(counts);
        } else if node.starts_with("\"VP\"") {
            // The kind and the sum, then the number of a function and its count, in turn.
            assert_eq!((counts[0], counts[1]), (0, u64::from(TURNS)), "{node}");
            targets.extend(counts[2..].iter().skip(1).step_by(2));
        }
    }
    let conditional = body.matches(" br i1 ").count() + body.matches(" switch ").count();
    assert_eq!(branches.len(), conditional, "every branch that ran has counts: {body}");
    branches.sort();
    (branches, targets)
}

fn run(project: &Project, program: &str, argument: Option<&str>) -> String {
    let mut command = project.command(project.path(program));
    command.args(argument).env("COTREE_FILE", "p.cotree");
    succeed(&mut command)
}

#[test]
fn the_first_pass_finds_exact_counts_and_targets() {
    for (driver, name, source) in [("cc", "p.c", C), ("c++", "p.cpp", CXX)] {
        let project = Project::new(&[(name, source)]);
        for place in ["--for-pgo", "--at inlined --targets"] {
            project.ok(&format!("{place} {driver} -O2 -o counted {name}"));
            run(&project, "counted", None);
            succeed(
                project.cotree(&format!("--use p.cotree {driver} -O2 -o used {name}")).env("COTREE_KEEP_TEMPS", "1"),
            );
            assert!(!project.is_profiled("used"));
            run(&project, "used", None);
            assert_eq!(told(&project), truth(), "{name} {place}");
        }
    }
}

#[test]
fn the_first_pass_finds_exact_counts_and_targets_in_rust() {
    let manifest = "[package]\nname = \"tri\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", RUST)]);
    project.ok("--for-pgo cargo build --release");
    run(&project, "target/cotree/x86_64-unknown-linux-gnu/release/tri", None);
    succeed(project.cotree("--use p.cotree cargo build --release").env("COTREE_KEEP_TEMPS", "1"));
    assert_eq!(told(&project), truth());
}

/// Small functions, a loop, and an argument that says what is hot.
const PROGRAM: &str = "
#include <stdio.h>
#include <stdlib.h>
static int odd(long n) { return n & 1; }
static long step(long n) { return odd(n) ? 3 * n + 1 : n / 2; }
long steps(long n) { long all = 0; while (n != 1) { n = step(n); all++; } return all; }
int main(int argc, char **argv) {
    long all = 0;
    for (long n = 1; n < atol(argv[1]); n++) all += steps(n);
    printf(\"%ld\\n\", all);
    return 0;
}
";

#[test]
fn a_build_is_told_counts_where_they_were_counted() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let build = |options: &str, program: &str| {
        let output = project.cotree(&format!("{options} cc -O2 -g -o {program} p.c")).output().expect("cotree starts");
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success(), "{said}");
        said
    };
    assert_eq!(build("--for-pgo", "counted"), "");
    let truth = run(&project, "counted", Some("3000"));
    let weights = project.ok("export --format weights p.cotree");
    assert!(weights.lines().next().is_some_and(|head| head.contains("\"at\":\"early\"")), "{weights}");
    let all_have_counts = |program: &str| {
        assert_eq!(run(&project, program, Some("3000")), truth);
        let view = project.ok(&format!("report --stale {program}"));
        assert!(!view.contains("guessed") && !view.contains("changed"), "{program}: {view}");
    };
    assert_eq!(build("--use p.cotree", "used"), "");
    all_have_counts("used");
    // Step by step, and by a folder of profiles.
    fs::create_dir(project.path("folder")).expect("a new folder");
    fs::copy(project.path("p.cotree"), project.path("folder/p.cotree")).expect("a copy");
    project.ok("--use folder cc -O2 -g -c -o p.o p.c");
    project.ok("--use folder cc -O2 -g -o apart p.o");
    all_have_counts("apart");
    // A profile that is named at the link alone comes too late.
    project.ok("cc -O2 -g -c -o p.o p.c");
    let said = project.fails("--use folder cc -O2 -g -o late p.o");
    assert!(said.contains("p.o was compiled for --at late, and this link is --at early"), "{said}");
    // Another place can be named, and the counts are a guess there.
    let said = build("--use p.cotree --at late", "late");
    assert!(said.contains("have changed since the profile"), "{said}");
    assert_eq!(run(&project, "late", Some("3000")), truth);

    build("--for-pgo", "counted");
    run(&project, "counted", Some("3000"));
    fs::rename(project.path("p.cotree"), project.path("early.cotree")).expect("a file");
    build("", "after");
    run(&project, "after", Some("3000"));
    project.ok("merge --several-units -o both.cotree early.cotree p.cotree");
    let said = project.fails("--use both.cotree cc -O2 -g -o used p.c");
    assert!(said.contains("counted --at early and --at late") && said.contains("say which with --at"), "{said}");
    build("--use both.cotree --at early", "used");
    all_have_counts("used");
    fs::write(project.path("other.weights"), weights.replace("\"at\":\"early\"", "\"at\":\"noon\"")).expect("a file");
    let said = project.fails("--use other.weights cc -O2 -g -o used p.c");
    assert!(said.contains("counted was counted --at noon, which this version does not know"), "{said}");
}

#[test]
fn what_does_not_go_with_it_is_said() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let said = project.fails("--for-pgo --profile path cc -O2 -o p p.c");
    assert!(said.contains("--for-pgo changes nothing in a build of --profile path"), "{said}");
    let said = project.fails("--at inlined --coverage cc -O2 -o p p.c");
    assert!(said.contains("--coverage counts before the compiler optimises, and --at inlined behind that"), "{said}");
    // Small functions are inlined, and their copies have counts of their own.
    project.ok("--at inlined cc -O2 -g -o p p.c");
    run(&project, "p", Some("30"));
    let json = project.ok("export --format json p.cotree");
    let function = |name: &str| format!("{{\"symbol\":\"{name}\",\"name\":\"{name}\",\"module\"");
    assert!(json.contains(&function("steps")) && !json.contains(&function("step")), "{json}");
    project.ok("--at inlined --verify cc -O2 -g -o p p.c");
    run(&project, "p", Some("30"));
    assert!(project.ok("verify --strict p.cotree").contains("0 counts differ"));
}

/// An inline function with a destructor in two modules, of which the linker takes one copy. Where both inline it, the
/// copy that was taken stays.
#[test]
fn copies_that_the_linker_has_chosen_stay() {
    let header = "#pragma once
        struct Base { virtual ~Base() {} virtual int of(int n) { return n + 1; } int state = 0; };
        struct Shape : Base { ~Shape() { state = 3; } int of(int n) override { return n * 2; } };
        int other(int);
        ";
    let main = "
        #include \"shape.h\"
        int main() {
            Shape shape;
            int sum = other(4);
            for (int i = 0; i < 9; i++) sum += shape.of(i);
            return sum == 80 ? 0 : sum;
        }
        ";
    let other = "
        #include \"shape.h\"
        int other(int n) { Shape shape; Base *base = &shape; return base->of(n) + shape.of(0); }
        ";
    let project = Project::new(&[("shape.h", header), ("main.cpp", main), ("other.cpp", other)]);
    for level in ["-O1", "-O2", "-Os"] {
        for place in ["--for-pgo", "--at inlined --targets"] {
            project.ok(&format!("{place} c++ {level} -o counted main.cpp other.cpp"));
            run(&project, "counted", None);
            project.ok(&format!("--use p.cotree c++ {level} -o used main.cpp other.cpp"));
            run(&project, "used", None);
        }
    }
}
