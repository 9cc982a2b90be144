//! `cargo cotree bench`: benchmarks of a package, each in a process of its own, without their harness.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;
use std::process::Output;

/// What criterion is to us: functions by which it takes the time, and how one benchmark is chosen and run once. It does
/// something else each time before it begins, and prepares much.
const HARNESS: &str = r#"
pub mod measurement {
    pub trait Measurement { fn start(&self) -> u64; fn end(&self, begun: u64) -> u64; }
    pub struct WallTime;
    impl Measurement for WallTime {
        #[inline(never)]
        fn start(&self) -> u64 { std::time::Instant::now().elapsed().as_secs() }
        #[inline(never)]
        fn end(&self, begun: u64) -> u64 { begun + std::time::Instant::now().elapsed().as_secs() }
    }
}
use measurement::{Measurement, WallTime};
pub fn run(benches: &[(&str, &dyn Fn() -> u64)]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has("--list") {
        benches.iter().for_each(|(name, _)| println!("{name}: benchmark"));
        return;
    }
    assert!(has("--bench") && has("--test") && has("--exact"));
    let turns = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos() % 10_000;
    let noise: u64 = (0..u64::from(turns)).map(|turn| std::hint::black_box(turn)).sum();
    for (_, routine) in benches.iter().filter(|(name, _)| arguments.last().is_some_and(|last| last == name)) {
        let begun = WallTime.start();
        let answer = std::hint::black_box(routine());
        println!("{} {answer} {}", WallTime.end(begun), noise % 2);
    }
}
"#;

/// `sum` adds up as many numbers as its name says, and so many more as are planted.
fn library(planted: u64) -> String {
    format!(
        "#[inline(never)]\n\
         pub fn sum(count: u64) -> u64 {{ (0..count + {planted}).map(|n| std::hint::black_box(n)).sum() }}\n\
         #[inline(never)]\n\
         pub fn shared(count: u64) -> u64 {{\n\
           std::thread::scope(|scope| {{\n\
             let other = scope.spawn(|| sum(count));\n\
             sum(count) + other.join().unwrap()\n\
           }})\n\
         }}\n"
    )
}

fn project() -> Project {
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = 'sums'\nversion = '0.1.0'\nedition = '2021'\n[workspace]\n\
             [dev-dependencies]\ncriterion = { path = 'criterion' }\n\
             [[bench]]\nname = 'sums'\nharness = false\n[[bench]]\nname = 'whole'\nharness = false\n",
        ),
        ("criterion/Cargo.toml", "[package]\nname = 'criterion'\nversion = '0.1.0'\nedition = '2021'\n"),
        ("criterion/src/lib.rs", HARNESS),
        (
            "benches/sums.rs",
            "fn main() { criterion::run(&[(\"sum/1000\", &|| sums::sum(1000)), (\"sum/3000\", &|| sums::sum(3000)),\n\
             (\"shared\", &|| sums::shared(1000)), (\"fails\", &|| panic!(\"on purpose\"))]); }\n",
        ),
        (
            "benches/whole.rs",
            "fn main() { assert_eq!(std::env::args().nth(1).as_deref(), Some(\"--bench\")); sums::sum(5000); }\n",
        ),
    ]);
    fs::create_dir_all(project.path("src")).expect("a folder");
    fs::write(project.path("src/lib.rs"), library(0)).expect("a file");
    project
}

fn bench(project: &Project, line: &str) -> (Output, String) {
    let output = project.cotree(&format!("cargo bench {line}")).output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

fn json(project: &Project, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(project.path(name)).expect("a file")).expect("JSON")
}

#[test]
fn benchmarks_are_measured_without_their_harness() {
    let project = project();
    let (output, said) = bench(&project, "--list");
    let listed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(listed, "sums: sum/1000\nsums: sum/3000\nsums: shared\nsums: fails\nwhole\n", "{said}");

    let (output, said) = bench(&project, "-n 2 --format json -o all.json --keep profiles -- sum/ shared whole");
    assert!(output.status.success(), "{said}");
    let all = json(&project, "all.json");
    assert_eq!(all["schema"], "cotree-bench/1");
    let of = |number: usize, name: &str| {
        let one = &all["benchmarks"][number];
        assert_eq!((&one["name"], &one["exact"]), (&name.into(), &true.into()), "{one}");
        assert_eq!(one["equal"], true, "the harness does something else each time: {one}");
        one["totals"]["instructions"].as_u64().expect("an amount")
    };
    let (small, large, shared) = (of(0, "sums: sum/1000"), of(1, "sums: sum/3000"), of(2, "sums: shared"));
    let per_turn = (large - small) / 2000;
    assert!(per_turn > 0 && (large - small) % 2000 == 0, "{small} {large}");
    assert!(small - 1000 * per_turn < 100, "the harness is not in it: {small}, {per_turn} per turn");
    assert!(shared > 2 * small && shared < 2 * small + 1000, "both threads are in it: {shared}");
    assert!(of(3, "whole") > 5000 * per_turn);
    assert!(project.path("profiles/sums: sum_1000.cotree").exists());
    project.ok("report profiles/whole.cotree");

    let (output, said) = bench(&project, "--whole -n 1 --format json -o whole.json sum/1000");
    assert!(output.status.success(), "{said}");
    let whole = json(&project, "whole.json")["benchmarks"][0]["totals"]["instructions"].as_u64().expect("an amount");
    assert!(whole > small + 100, "{whole} with the harness, {small} without");
    let off = project.cotree("--parts=off cargo bench -n 1 sum/1000").output().expect("cotree starts");
    let said = String::from_utf8_lossy(&off.stderr);
    assert!(said.contains("note: benchmarks of sums are measured with their harness: the program counts"), "{said}");

    // One that fails is told, and the others are measured.
    let (output, said) = bench(&project, "-n 1 sums");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: 'sums: fails' was not measured: it ended with status 101"), "{said}");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.lines().any(|line| line.ends_with(" sums: sum/1000")), "{table}");
    let refused = project.fails("cargo bench nosuch");
    assert!(refused.contains("no benchmark was found of such a name"), "{refused}");
    let refused = project.fails("cargo bench -- --quick");
    assert!(refused.contains("--quick: harnesses take their options from cotree here"), "{refused}");
    let refused = project.fails("--profile calls cargo bench");
    assert!(refused.contains("benchmarks need counts of blocks"), "{refused}");
}

#[test]
fn a_regression_of_one_benchmark_closes_the_gate() {
    let project = project();
    let (output, said) = bench(&project, "--save-baseline base.json -- sum/ whole");
    assert!(output.status.success() && said.contains("3 benchmarks are recorded in base.json"), "{said}");
    let (output, said) = bench(&project, "-n 1 --baseline base.json --fail-above 0 -- sum/ whole");
    assert!(output.status.success(), "{said}");
    fs::write(project.path("src/lib.rs"), library(20)).expect("a file");
    let (output, said) = bench(&project, "-n 1 --baseline base.json --fail-above 1% -- sum/ whole");
    assert_eq!(output.status.code(), Some(1), "{said}");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("'sums: sum/1000' is above the limit: instructions +"), "{said}");
    assert!(!said.contains("'sums: sum/3000' is above the limit"), "a smaller share of it: {said}");
    assert!(told.contains("Changes of 'sums: sum/1000'") && told.contains("sums::sum"), "{told}");
    let row = told.lines().find(|line| line.contains("sums: sum/1000") && line.contains('%')).expect("a row");
    assert!(row.contains("above the limit"), "{row}");
}

/// A target without a harness, by `cotree_api::bench`.
const OWN: &str = "fn main() {
    let numbers: Vec<u64> = (0..std::process::id() as u64 % 997).collect();
    cotree_api::bench(\"sum/1000\", || sums::sum(1000));
    cotree_api::bench(\"sum/3000\", || { sums::sum(3000); vec![Noisy(numbers.len()); 3] });
}
#[derive(Clone)]
struct Noisy(usize);
impl Drop for Noisy {
    fn drop(&mut self) { for turn in 0..self.0 { std::hint::black_box(turn); } }
}
";

#[test]
fn benchmarks_need_no_harness() {
    let project = project();
    let api = concat!(env!("CARGO_MANIFEST_DIR"), "/../cotree-api");
    let manifest = format!(
        "[package]\nname = 'sums'\nversion = '0.1.0'\nedition = '2021'\nautobenches = false\n[workspace]\n\
         [dev-dependencies]\ncotree-api = {{ path = '{api}' }}\n[[bench]]\nname = 'own'\nharness = false\n"
    );
    fs::write(project.path("Cargo.toml"), manifest).expect("a file");
    fs::write(project.path("benches/own.rs"), OWN).expect("a file");
    let (output, said) = bench(&project, "-n 3 --format json -o all.json");
    assert!(output.status.success(), "{said}");
    let all = json(&project, "all.json");
    let of = |number: usize, name: &str| {
        let one = &all["benchmarks"][number];
        assert_eq!((&one["name"], &one["equal"]), (&name.into(), &true.into()), "{one}");
        one["totals"]["instructions"].as_u64().expect("an amount")
    };
    let (small, large) = (of(0, "own: sum/1000"), of(1, "own: sum/3000"));
    let per_turn = (large - small) / 2000;
    assert!(per_turn > 0 && large - 3000 * per_turn < 200, "what is around it is not in it: {small} {large}");
    // Without cotree the program runs them, and says how long they take.
    let plain = succeed(project.command("cargo").args(["bench", "--offline", "--bench", "own", "--", "3000"]));
    assert!(plain.starts_with("sum/3000: ") && plain.lines().count() == 1, "{plain}");
}
