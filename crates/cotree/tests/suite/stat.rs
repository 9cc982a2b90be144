//! `cotree stat`: exact counts of several runs, and a gate against a baseline.

use crate::project::Project;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

/// `hot` has nearly all of the work and `cold` hardly any; the numbers of their turns are the source's.
fn program(hot: u32, cold: u32) -> String {
    format!(
        "#include <stdio.h>\n\
         static volatile unsigned sink;\n\
         __attribute__((noinline)) static void hot(void) {{ for (int i = 0; i < {hot}; i++) sink += i; }}\n\
         static inline void cold(void) {{ for (int i = 0; i < {cold}; i++) sink ^= i; }}\n\
         int main(void) {{ for (int i = 0; i < 10; i++) hot(); cold(); printf(\"done\\n\"); return 0; }}\n"
    )
}

fn stat(project: &Project, line: &str) -> (Output, String) {
    let output = project.cotree(&format!("stat {line}")).output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

fn json(project: &Project, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(project.path(name)).expect("a file")).expect("JSON")
}

fn build(project: &Project, options: &str, source: &str) {
    fs::write(project.path("p.c"), source).expect("a file");
    project.ok(&format!("{options} -g -o p p.c"));
}

/// One counter of events, which the program keeps by itself, has as many as blocks tell.
fn instructions_by_one_counter(project: &Project) -> u64 {
    project.ok("--profile events cc -O2 -g -o one p.c");
    let output = project.cotree("run --count --event instructions ./one").output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let row = said.lines().find_map(|line| line.strip_suffix("instructions")).expect("a row of them");
    row.trim_end_matches("IR ").trim().replace(',', "").parse().expect("a number")
}

#[test]
fn a_planted_regression_closes_the_gate() {
    let project = Project::new(&[]);
    build(&project, "cc -O2", &program(1000, 40));
    let (output, said) = stat(&project, "--save-baseline base.json -- ./p");
    assert!(output.status.success(), "{said}");
    assert_eq!(output.stdout, b"done\n".repeat(3), "its output is its own");
    assert!(said.contains("Counts of 'p', 3 runs") && said.contains("equal in all runs"), "{said}");
    let recorded = json(&project, "base.json");
    assert_eq!(recorded["schema"], "cotree-baseline/1");
    let bench = &recorded["benchmarks"]["p"];
    let instructions = bench["totals"]["instructions"].as_u64().expect("an amount");
    assert_eq!(instructions, instructions_by_one_counter(&project));
    let functions = bench["functions"].as_object().expect("amounts");
    assert_eq!(functions.values().map(|amount| amount.as_u64().expect("equal")).sum::<u64>(), instructions);
    assert!(functions.contains_key("cold"), "inlined functions have their own: {functions:?}");
    let unit = &bench["builds"]["p"][0];
    assert_eq!((&unit["method"], &unit["options"]["level"]), (&"edge".into(), &"O2".into()));
    assert!(unit["compilers"][0].as_str().is_some_and(|compiler| compiler.contains("clang version")), "{unit}");

    // The program as it was passes any gate.
    let (output, said) = stat(&project, "-n 1 --baseline base.json --fail-above 0 --fail-function-above 0 -- ./p");
    assert!(output.status.success() && said.contains("Nothing has changed"), "{said}");

    // One percent more in the hot function.
    build(&project, "cc -O2", &program(1010, 40));
    let (output, said) = stat(&project, "-n 2 --baseline base.json --fail-above 0.9% -- ./p");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("'p' is above the limit: instructions +"), "{said}");
    assert!(said.contains("Functions whose instructions changed (1)"), "{said}");
    let row = said.lines().find(|line| line.contains(" hot")).expect("the function");
    assert!(row.contains("+1.00%") || row.contains("+0.99%"), "{row}");
    let (output, said) = stat(&project, "-n 2 --baseline base.json --fail-above 2% -- ./p");
    assert!(output.status.success(), "{said}");

    // Much more of next to nothing.
    build(&project, "cc -O2", &program(1000, 44));
    let (output, said) = stat(&project, "-n 1 --baseline base.json --fail-above 1% -- ./p");
    assert!(output.status.success(), "{said}");
    let (output, said) = stat(&project, "-n 1 --baseline base.json --fail-function-above 1% -- ./p");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("above the limit: cold +"), "{said}");
}

#[test]
fn results_have_forms_for_other_programs() {
    let project = Project::new(&[]);
    build(&project, "cc -O2", &program(1000, 40));
    stat(&project, "-n 1 --name a|b --save-baseline base.json -- ./p");
    stat(&project, "-n 1 --name other --save-baseline base.json -- ./p");
    build(&project, "cc -O2", &program(1100, 40));
    let asked = "-n 2 --name a|b --baseline base.json --fail-above 1";
    let (output, _) = stat(&project, &format!("{asked} --format json -o out.json -- ./p"));
    assert_eq!(output.status.code(), Some(1));
    let told = json(&project, "out.json");
    assert_eq!(
        (&told["schema"], &told["verdict"], &told["equal"]),
        (&"cotree-stat/1".into(), &"fail".into(), &true.into())
    );
    let before = json(&project, "base.json")["benchmarks"]["a|b"]["totals"].clone();
    assert_eq!(json(&project, "base.json")["benchmarks"]["other"]["totals"], before);
    let kinds = told["changes"]["totals"].as_array().expect("a list");
    for change in kinds {
        let kind = change["name"].as_str().expect("a name");
        assert_eq!((&change["before"], &change["now"]), (&before[kind], &told["totals"][kind]), "{kind}");
    }
    assert_eq!(told["changes"]["functions"][0]["name"], "hot");

    stat(&project, &format!("{asked} --format bencher -o bmf.json -- ./p"));
    assert_eq!(json(&project, "bmf.json")["a|b"]["instructions"]["value"], told["totals"]["instructions"]);

    let summary = project.path("summary.md");
    fs::write(&summary, "before\n").expect("a file");
    let mut command = project.cotree(&format!("stat {asked} --format github -- ./p"));
    let output = command.env("GITHUB_STEP_SUMMARY", &summary).output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("::error title=cotree stat::'a|b' is above the limit: instructions +"), "{said}");
    let told = fs::read_to_string(&summary).expect("text");
    assert!(told.starts_with("before\n### a\\|b\n"), "{told}");
    assert!(told.contains("**above the limit**") && told.contains("\n| hot | "), "{told}");
}

/// What closes the gate is not recorded: else the next run would find it open.
#[test]
fn a_closed_gate_leaves_its_baseline_alone() {
    let project = Project::new(&[]);
    build(&project, "cc -O2", &program(1000, 40));
    stat(&project, "-n 1 --save-baseline base.json -- ./p");
    let before = json(&project, "base.json");
    build(&project, "cc -O2", &program(1200, 40));
    for _ in 0..2 {
        let (output, said) =
            stat(&project, "-n 1 --baseline base.json --save-baseline base.json --fail-above 1% -- ./p");
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("'p' is not recorded in base.json"), "{said}");
        assert_eq!(json(&project, "base.json"), before);
    }
    let (output, said) = stat(&project, "-n 1 --baseline base.json --save-baseline base.json -- ./p");
    assert!(output.status.success() && json(&project, "base.json") != before, "{said}");
}

/// Benchmarks that run side by side are all in the file.
#[test]
fn one_file_takes_benchmarks_that_end_at_once() {
    let project = Project::new(&[("base.json", "")]);
    build(&project, "cc -O2", &program(1000, 40));
    let start = |number: u32| {
        let mut command = project.cotree(&format!("stat -n 1 --name b{number} --save-baseline base.json -- ./p"));
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().expect("cotree starts")
    };
    let all: Vec<_> = (0..8).map(start).collect();
    for mut one in all {
        assert!(one.wait().expect("it ends").success());
    }
    assert_eq!(json(&project, "base.json")["benchmarks"].as_object().expect("benchmarks").len(), 8);
}

/// A unit is compared only if all programs of its name are built as they were, in whichever run they were started.
#[test]
fn programs_of_one_name_are_told_apart_by_their_builds() {
    let shell = "#include <stdlib.h>\nint main(int n, char **v) { for (int i = 1; i < n; i++) if (system(v[i])) return 1; return 0; }\n";
    let project = Project::new(&[("s.c", shell), ("a/keep", ""), ("b/keep", "")]);
    project.ok("cc -O2 -o s s.c");
    fs::write(project.path("p.c"), program(1000, 40)).expect("a file");
    project.ok("cc -O2 -g -o a/p p.c");
    project.ok("cc -O0 -g -o b/p p.c");
    let (output, said) = stat(&project, "-n 1 --name s --save-baseline base.json -- ./s a/p b/p");
    assert!(output.status.success(), "{said}");
    let (output, said) = stat(&project, "-n 1 --name s --baseline base.json --fail-above 90% -- ./s b/p b/p");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("other builds of p ran then, 2, and now, 1"), "{said}");
    // Cargo's hash changes with the version of a package, and is no part of the name.
    project.ok("cc -O2 -g -o bench-0123456789abcdef p.c");
    project.ok("cc -O2 -g -o bench-fedcba9876543210 p.c");
    stat(&project, "-n 1 --save-baseline hash.json -- ./bench-0123456789abcdef");
    let (output, said) = stat(&project, "-n 1 --baseline hash.json --fail-above 0 -- ./bench-fedcba9876543210");
    assert!(output.status.success() && said.contains("Nothing has changed"), "{said}");
}

/// Kinds that are asked for are all that is shown and compared.
#[test]
fn kinds_are_chosen() {
    let project = Project::new(&[]);
    build(&project, "cc -O2", &program(1000, 40));
    stat(&project, "-n 1 --save-baseline base.json -- ./p");
    build(&project, "cc -O2", &program(1100, 40));
    let asked = "-n 1 --event loads --baseline base.json --fail-above 1%";
    let (output, said) = stat(&project, &format!("{asked} -- ./p"));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("'p' is above the limit: loads +") && !said.contains("stores"), "{said}");
    stat(&project, &format!("{asked} --format json -o out.json -- ./p"));
    let told = json(&project, "out.json");
    assert_eq!(told["totals"].as_object().expect("amounts").keys().collect::<Vec<_>>(), ["loads"]);
    assert_eq!(told["changes"]["totals"].as_array().expect("changes").len(), 1);
    let (_, said) = stat(&project, &format!("{asked} --fail-function-above 1% -- ./p"));
    assert!(said.contains("functions had their instructions counted then, and have their loads now"), "{said}");
}

/// Where runs differ there is no verdict that another run could overturn, and it is said what did something else.
#[test]
fn runs_that_differ_are_told_and_not_judged() {
    let source = "#include <stdio.h>\n\
        static volatile unsigned sink;\n\
        __attribute__((noinline)) static void steady(void) { for (int i = 0; i < 1000; i++) sink += i; }\n\
        __attribute__((noinline)) static void fickle(int n) { for (int i = 0; i < 40 * n; i++) sink ^= i; }\n\
        int main(void) { int n = 0; FILE *f = fopen(\"turn\", \"r\"); if (f) { fscanf(f, \"%d\", &n); fclose(f); }\n\
          f = fopen(\"turn\", \"w\"); fprintf(f, \"%d\", n + 1); fclose(f); steady(); fickle(n); return 0; }\n";
    let project = Project::new(&[]);
    build(&project, "cc -O2 -w", source);
    fs::write(project.path("turn"), "1").expect("a file");
    let (output, said) = stat(&project, "-n 1 --save-baseline base.json -- ./p");
    assert!(output.status.success(), "{said}");
    fs::write(project.path("turn"), "1").expect("a file");
    let (output, said) = stat(&project, "-n 3 --baseline base.json --fail-above 4% -- ./p");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("runs differ") && said.contains("Run 2 did something else than run 1"), "{said}");
    let functions = said.split("Functions that changed").nth(1).expect("a table of the runs' difference");
    assert!(functions.contains("fickle") && !functions.contains("steady"), "{said}");
    assert!(said.contains("above the limit in some runs and within it in others"), "{said}");
    // Certain, whichever run one looks at.
    fs::write(project.path("turn"), "30").expect("a file");
    let (_, said) = stat(&project, "-n 3 --baseline base.json --fail-above 4% -- ./p");
    assert!(said.contains("'p' is above the limit: instructions +"), "{said}");
    fs::write(project.path("turn"), "0").expect("a file");
    let (output, said) = stat(&project, "-n 2 --baseline base.json --fail-above 4% -- ./p");
    assert!(output.status.success(), "{said}");
}

/// A file that is standard input is read from its beginning by each run.
#[test]
fn each_run_reads_all_of_a_file() {
    let source = "#include <stdio.h>\n\
        int main(void) { int c, n = 0; while ((c = getchar()) != EOF) n += c == 'x'; printf(\"%d\\n\", n); return 0; }\n";
    let project = Project::new(&[("input", "xyxyx\n")]);
    build(&project, "cc -O1", source);
    let input = fs::File::open(project.path("input")).expect("a file");
    let output = project.cotree("stat -n 3 -- ./p").stdin(input).output().expect("cotree starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3\n3\n3\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("equal in all runs"));
}

#[test]
fn addresses_are_pinned() {
    let source = "#include <stdint.h>\n\
        static volatile unsigned sink;\n\
        int main(int argc, char **argv) { unsigned n = (uintptr_t)argv >> 4 & 0xffff;\n\
          for (unsigned i = 0; i < n; i++) sink += i; return 0; }\n";
    let project = Project::new(&[]);
    build(&project, "cc -O1", source);
    let (output, said) = stat(&project, "-n 6 --pin -- ./p");
    assert!(output.status.success() && said.contains("equal in all runs"), "{said}");
    assert!(!said.contains("runs differ"), "{said}");
}

#[test]
fn other_builds_are_not_compared() {
    let project = Project::new(&[]);
    build(&project, "cc -O2", &program(100, 4));
    stat(&project, "-n 1 --save-baseline base.json -- ./p");
    for (options, why) in [
        ("cc -O1", "p: the option level was \"O2\", and is \"O1\""),
        ("--at early cc -O2", "p: the option at was \"\", and is \"early\""),
        ("--profile block cc -O2", "p: the method was \"edge\", and is \"block\""),
    ] {
        build(&project, options, &program(100, 4));
        let (output, said) = stat(&project, "-n 1 --baseline base.json --fail-above 50% -- ./p");
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("error: 'p' is not compared: {why}")), "{said}");
        let (output, said) = stat(&project, "-n 1 --baseline base.json -- ./p");
        assert!(output.status.success() && said.contains(&format!("note: 'p' is not compared: {why}")), "{said}");
    }
    let mut baseline = json(&project, "base.json");
    build(&project, "cc -O2", &program(100, 4));
    baseline["benchmarks"]["p"]["builds"]["p"][0]["compilers"] = serde_json::json!(["clang version 1"]);
    fs::write(project.path("base.json"), baseline.to_string()).expect("a file");
    let (output, said) = stat(&project, "-n 1 --baseline base.json --fail-above 50% -- ./p");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("p: the compiler was \"clang version 1\", and is "), "{said}");
    let (output, said) = stat(&project, "-n 1 --name new --baseline base.json --fail-above 50% -- ./p");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the baseline has no 'new', but p (see --name)"), "{said}");
}

#[test]
fn what_is_no_benchmark_and_no_baseline_is_refused() {
    let fails = "int main(void) { return 3; }\n";
    let project = Project::new(&[
        ("notes.json", "{ \"notes\": [] }\n"),
        ("later.json", "{ \"schema\": \"cotree-baseline/9\" }\n"),
    ]);
    build(&project, "cc -O2", fails);
    let (output, said) = stat(&project, "--save-baseline base.json -- ./p");
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("run 1 of ./p ended with status 3: its counts are no benchmark's"), "{said}");
    assert!(!project.path("base.json").exists());
    build(&project, "cc -O2", &program(10, 1));
    for (line, why) in [
        ("stat --save-baseline notes.json -- ./p", "cannot read the baseline notes.json: it is no baseline"),
        (
            "stat --baseline later.json -- ./p",
            "it is of \"cotree-baseline/9\", and this cotree reads \"cotree-baseline/1\"",
        ),
        ("stat --baseline absent.json -- ./p", "cannot read the baseline absent.json"),
        ("stat -n 0 -- ./p", "invalid value '0'"),
        ("stat --fail-abov 1% -- ./p", "unexpected argument '--fail-abov'"),
        ("stat --name= -- ./p", "a name has at least one sign"),
        ("stat --keep x --save-baseline x -- ./p", "x is to be written twice"),
        ("stat --save-baseline no/x -- ./p", "cannot write no/x: there is no folder no"),
        ("stat --fail-above 1% -- ./p", "--baseline <FILE>"),
        ("stat --baseline later.json --fail-above much -- ./p", "give a percentage, such as 1%"),
        ("stat -- /bin/true", "left no profile: build it with cotree"),
    ] {
        let refused = project.fails(line);
        assert!(refused.contains(why), "{line}: {refused}");
    }
    assert_eq!(fs::read_to_string(project.path("notes.json")).expect("text"), "{ \"notes\": [] }\n");
    project.ok("stat -n1 --save-baseline notes.json --force -- ./p");
    assert_eq!(json(&project, "notes.json")["schema"], "cotree-baseline/1");
    project.ok("--profile calls cc -O2 -o p p.c");
    let refused = project.fails("stat -n 1 -- ./p");
    assert!(refused.contains("no counts of events"), "{refused}");
    // The sum of the program alone would be a sum without the library's part.
    fs::write(project.path("l.c"), "int twice(int n) { return n * 2; }\n").expect("a file");
    fs::write(project.path("p.c"), "int twice(int n);\nint main(void) { return twice(0); }\n").expect("a file");
    project.ok("--profile calls cc -O2 -shared -fPIC -o libl.so l.c");
    project.ok("cc -O2 -o p p.c -L. -ll -Wl,-rpath,.");
    let refused = project.fails("stat -n 1 -- ./p");
    assert!(refused.contains("no counts of events, or not of all libraries: build with --profile edge"), "{refused}");
}

/// A program of which a part is to be measured, with a number of turns before it and one in it.
const OF_PARTS: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) void begin(int number) { sink = number; }
__attribute__((noinline)) void end(double number) { printf("%.1f\n", number); }
__attribute__((noinline)) void never(void) { sink = 7; }
static void work(unsigned turns) { for (unsigned i = 0; i < turns; i++) sink += i; }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage;
static unsigned turns;
/* Others go on when this thread waits for them, and not before. */
static void reach(int reached, int wanted) {
  if (THREADS < 2) return;
  stage = reached;
  pthread_cond_broadcast(&changed);
  while (stage < wanted) pthread_cond_wait(&changed, &mutex);
}
static void *thread(void *argument) {
  pthread_mutex_lock(&mutex);
  reach(1, 2);
  work(turns);
  reach(3, 4);
  pthread_mutex_unlock(&mutex);
  return argument;
}
int main(int argc, char **argv) {
  unsigned before = atoi(argv[1]);
  turns = atoi(argv[2]);
  work(before);
  pthread_mutex_lock(&mutex);
  pthread_t other;
  if (THREADS > 1) pthread_create(&other, 0, thread, 0);
  reach(0, 1);
  for (int i = 0; i < 3; i++) begin(i);
  work(turns);
  reach(2, 3);
  end(turns * 0.5);
  begin(9);
  end(1.5);
  work(77);
  reach(4, 4);
  pthread_mutex_unlock(&mutex);
  if (THREADS > 1) pthread_join(other, 0);
  if (argc > 9) never();
  return 0;
}
"#;

#[test]
fn a_part_between_two_functions_is_measured() {
    let project = Project::new(&[]);
    for options in [
        "cc -O2 -DTHREADS=1",
        "cc -O2 -DTHREADS=2",
        "cc -O0 -DTHREADS=1 -static",
        "cc -O1 -DTHREADS=2 -static",
        "c++ -x c++ -O2 -DTHREADS=2 -no-pie",
    ] {
        build(&project, &format!("--parts {options} -pthread"), OF_PARTS);
        let of = |part: &str, arguments: &str| {
            let (output, said) =
                stat(&project, &format!("-n 2 --format json -o r.json --force {part} -- ./p {arguments}"));
            assert!(output.status.success(), "{options} {part}: {said}");
            let told = json(&project, "r.json");
            assert_eq!((&told["exact"], &told["equal"]), (&true.into(), &true.into()), "{options} {part}: {told}");
            told["totals"]["instructions"].as_u64().expect("an amount")
        };
        let part = "--from begin --to end";
        // What comes before it is no part of it, and it has all that more turns take, of both threads.
        assert_eq!(of(part, "10 1000"), of(part, "9999 1000"), "{options}");
        let of_turns = of("", "10 3000") - of("", "10 1000");
        assert_eq!(of(part, "10 3000") - of(part, "10 1000"), of_turns, "{options}");
        // Three parts are the whole.
        let (first, last) = (of("--to begin", "10 1000"), of("--from end", "10 1000"));
        assert_eq!(first + of(part, "10 1000") + last, of("", "10 1000"), "{options}");
        // Functions may be entered one after another.
        assert!(of("--from begin;end --to begin", "10 1000") < 100, "{options}");
        let last = "--from begin;end;begin --to end";
        assert_eq!(of(last, "10 1000"), of(last, "10 5000"), "{options}");
    }
}

/// Loops that are under way where a part begins or ends, and functions that begin with one; `in_place` is inlined.
const IN_LOOPS: &str = r#"#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sink;
__attribute__((noinline)) void begin(unsigned n) { do sink += n; while (n-- % 9 > 3); }
__attribute__((noinline)) void end(unsigned n) { for (; n > 90; n--) sink ^= n; }
__attribute__((used)) void in_place(unsigned n) { sink += n; }
__attribute__((noinline)) static void inner(unsigned turns, unsigned at) {
  for (unsigned i = 0; i < turns; i++) {
    if (i % 3 == 1) sink ^= 7;
    if (i == at) begin(i);
    if (i == at + 40) end(i);
    sink += i;
  }
}
int main(int argc, char **argv) {
  unsigned at = atoi(argv[1]);
  if (argc > 2 && fork() == 0) { inner(50, 0); _exit(0); }
  if (argc > 2) wait(0);
  for (unsigned j = 0; j < 5; j++) {
    inner(200, j == 2 ? at : 1000);
    for (unsigned k = 0; k < j; k++) sink += k;
  }
  in_place(at);
  return 0;
}
"#;

#[test]
fn parts_may_begin_amid_loops() {
    let project = Project::new(&[]);
    for options in ["cc -O0", "cc -O1", "cc -O2", "cc -O3", "cc -O2 -static"] {
        build(&project, &format!("--parts {options}"), IN_LOOPS);
        let of = |part: &str, arguments: &str| {
            let (output, said) =
                stat(&project, &format!("-n 1 --format json -o r.json --force {part} -- ./p {arguments}"));
            assert!(output.status.success(), "{options} {part}: {said}");
            let told = json(&project, "r.json");
            assert_eq!(told["exact"], true, "{options} {part}");
            // The function at which the part begins is in it, and that at which it ends is not.
            let has = |name: &str| told["functions"].get(name).is_some();
            match part {
                "--to begin" => assert!(!has("begin") && !has("end"), "{options}: {told}"),
                "--from begin --to end" => assert!(has("begin") && !has("end"), "{options}: {told}"),
                _ => assert!(has("begin") || part == "--from begin;end", "{options} {part}: {told}"),
            }
            told["totals"]["instructions"].as_u64().expect("an amount")
        };
        for at in ["0", "57"] {
            // Each sum of a part that ends and one that begins there: ends are accounted for as at `_exit`.
            let whole = of("", at);
            assert_eq!(of("--to begin", at) + of("--from begin", at), whole, "{options} at {at}");
            assert_eq!(of("--to begin;end", at) + of("--from begin;end", at), whole, "{options} at {at}");
            assert_eq!(
                of("--to begin", at) + of("--from begin --to end", at),
                of("--to begin;end", at),
                "{options} at {at}"
            );
        }
        // Each process of the run counts its own part.
        let (both, parent) = (of("--from begin --to end", "57 fork"), of("--from begin --to end", "57"));
        assert_eq!(
            both - parent,
            of("--from begin --to end", "0 fork") - of("--from begin --to end", "0"),
            "{options}"
        );
        assert!(both > parent, "{options}");
    }
    build(&project, "--parts cc -O2", IN_LOOPS);
    let refused = project.fails("stat --from in_place -- ./p 0");
    assert!(refused.contains("the function 'in_place' is inlined in places"), "{refused}");
}

#[test]
fn a_part_that_cannot_be_told_is_refused() {
    let project = Project::new(&[("sh", "#!/bin/sh\n./p 1 1\n")]);
    build(&project, "cc -O2 -pthread -DTHREADS=2", OF_PARTS);
    let refused = project.fails("stat --from begin -- ./p 1 1");
    assert!(refused.contains("the program counts its runs as wholes: build it with --parts"), "{refused}");
    build(&project, "--parts cc -O2 -pthread -DTHREADS=2", OF_PARTS);
    for (line, why) in [
        ("--from nosuch -- ./p 1 1", "no function of the program is called 'nosuch'"),
        ("--to begin;begin -- ./p 1 1", "not the same twice in a row"),
        ("--from begin -- ./sh", "is not an ELF file"),
        ("--from begin -- /bin/true", "carries no cotree map"),
    ] {
        let refused = project.fails(&format!("stat {line}"));
        assert!(refused.contains(why), "{line}: {refused}");
    }
    for ends in ["--to never", "--from never", "--from begin --to never", "--from never --to begin"] {
        let refused = project.fails(&format!("stat {ends} -- ./p 1 1"));
        assert!(refused.contains("run 1 of ./p ended without entering the functions"), "{refused}");
    }
    // Only programs that are told to end so do.
    let status = project.command(project.path("p")).args(["1", "1"]).env("COTREE_UNTIL", "nowhere").output();
    let status = status.expect("a program");
    assert!(status.status.success());
    assert!(String::from_utf8_lossy(&status.stderr).contains("cannot heed COTREE_UNTIL"));
    let other = format!("{}:1000", "00".repeat(16));
    let ran = project.command(project.path("p")).args(["1", "1"]).env("COTREE_UNTIL", other).output();
    let ran = ran.expect("a program");
    assert!(ran.status.success() && ran.stderr.is_empty());
    // What comes before the part may differ where nothing else runs, else only so that there is no less of it.
    let source = "#include <pthread.h>\n#include <stdint.h>\n\
         static volatile unsigned sink;\n\
         static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
         static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;\n\
         static int there;\n\
         static void *wait_forever(void *p) {\n\
           pthread_mutex_lock(&mutex); there = 1; pthread_cond_signal(&changed);\n\
           for (;;) pthread_cond_wait(&changed, &mutex); return p; }\n\
         __attribute__((noinline)) void begin(void) { sink = 1; }\n\
         __attribute__((noinline)) void end(void) { sink = 2; }\n\
         int main(int argc, char **argv) { unsigned n = (uintptr_t)argv >> 4 & 0xffff;\n\
           pthread_t t; pthread_mutex_lock(&mutex);\n\
           if (argc > 1) { pthread_create(&t, 0, wait_forever, 0);\n\
             while (!there) pthread_cond_wait(&changed, &mutex); }\n\
           for (unsigned i = 0; i < n; i++) sink += i; begin(); end(); return 0; }\n";
    build(&project, "--parts cc -O2 -pthread", source);
    let (output, said) = stat(&project, "-n 9 --from begin --to end -- ./p");
    assert!(output.status.success() && said.contains("equal in all runs"), "{said}");
    let (output, said) = stat(&project, "-n 9 --from begin --to end -- ./p with-a-thread");
    assert!(!output.status.success() || said.contains("runs differ"), "{said}");
    assert!(output.status.success() || said.contains("two runs differ in what they do before the part"), "{said}");
    let (output, said) = stat(&project, "-n 3 --pin --from begin --to end -- ./p with-a-thread");
    assert!(output.status.success() && said.contains("equal in all runs"), "{said}");
    // What tells the runs where to end does not make them differ: addresses on the stack depend on its length.
    let source = source.replace("(uintptr_t)argv >> 4 & 0xffff", "(uintptr_t)argv & 0xffff");
    let longer = source.replace("i < n", "i < 0x10000 - n");
    for source in [source, longer] {
        build(&project, "--parts cc -O2 -pthread", &source);
        let mut amounts = BTreeSet::new();
        for name in ["A", "AB", "ABCDEFGHIJKL", "ABCDEFGHIJKLMNOPQRSTUV"] {
            let line = "stat -n 1 --pin --event instructions --format json --from begin";
            let mut command = project.cotree(&format!("{line} -- ./p with-a-thread"));
            let output = command.env(name, "").output().expect("a run");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            amounts.insert(told["totals"]["instructions"].as_u64());
        }
        assert_eq!(amounts.len(), 1, "{amounts:?}");
    }
}

#[test]
fn seeds_of_hash_tables_are_pinned() {
    let source = "#include <stdio.h>\n#include <sys/random.h>\n\
        static volatile unsigned sink;\n\
        int main(void) { unsigned char seed[13] = {0}; unsigned n = 0;\n\
          for (int i = 0; i < 3; i++) { if (getrandom(seed, sizeof seed, 0) != sizeof seed) return 1;\n\
            for (int j = 0; j < 13; j++) n += seed[j] << j % 4; }\n\
          for (unsigned i = 0; i < n; i++) sink += i; return 0; }\n";
    for options in ["cc -O2", "cc -O2 -static"] {
        let project = Project::new(&[]);
        build(&project, options, source);
        let (output, said) = stat(&project, "-n 4 --event instructions --pin -- ./p");
        assert!(output.status.success() && said.contains("equal in all runs"), "{said}");
        let (output, said) = stat(&project, "-n 4 --event instructions -- ./p");
        assert!(output.status.success() && said.contains("runs differ"), "{said}");
    }
}
