//! `cargo cotree pgo`: a package is built by the profile of a workload, in one command that can be repeated.

use crate::project::Project;

const MANIFEST: &str = "[package]\nname = \"tri\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";

const MAIN: &str = "fn step(x: u64) -> u64 { if x % 3 == 0 { x / 3 } else if x % 7 == 1 { x * 5 + 1 } else { x + 1 } }
fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let mut sum = 0u64;
    for i in 0..n { let mut x = i; for _ in 0..20 { x = step(x); } sum = sum.wrapping_add(x); }
    println!(\"{sum}\");
}
";

#[test]
fn a_package_is_built_by_the_profile_of_a_workload() {
    let project = Project::new(&[("Cargo.toml", MANIFEST), ("src/main.rs", MAIN)]);
    let pgo = |workload: &str| {
        let mut command = project.cotree("cargo pgo --bench");
        let output = command.arg(workload).output().expect("cotree starts");
        let [told, said] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        (output.status.success(), told, said)
    };
    let (succeeds, told, said) = pgo("tri 3000");
    assert!(succeeds, "{said}");
    for step in ["[1/5]", "[2/5]", "[3/5] running the workload: tri 3000", "[4/5]", "[5/5]"] {
        assert!(said.contains(step), "{step}: {said}");
    }
    assert!(told.starts_with("409983\n") && told.contains("tri: ") && told.contains(" bytes of code ("), "{told}");
    assert!(told.contains(" instructions (") || said.contains("instructions were not measured"), "{told}{said}");
    let program = told.lines().last().expect("where it is");
    assert!(!project.is_profiled(program), "it counts nothing");
    assert!(!project.run(program).is_empty());
    let view = project.ok(&format!("report --stale {program}"));
    assert!(view.contains("counted") && view.contains("tri"), "{view}");

    let (succeeds, told, said) = pgo("tri 3000");
    assert!(succeeds && said.contains("[3/5] the workload ran before"), "{said}");
    assert!(!told.contains("409983"), "it did not run: {told}");
    let (succeeds, _, said) = pgo("tri 3000; exit 4");
    assert!(!succeeds && said.contains("the workload ended with"), "{said}");
    let (succeeds, _, said) = pgo("true");
    assert!(!succeeds && said.contains("the workload left no profile"), "{said}");
}
