//! Options, patterns and variables that change nothing: whoever gives them hears of it.

use crate::project::Project;

const PROGRAM: &str = "#include <stdio.h>\n\
static int small(int x) { return x * 2; }\n\
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += small(i) ^ i; return s; }\n\
int main(void) { printf(\"%d\\n\", work(10)); return 0; }\n";

/// What cotree and the linker say, which writes its warnings to standard output; they must end well.
fn said(project: &Project, line: &str) -> String {
    let output = project.cotree(line).output().expect("cotree starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
}

#[test]
fn patterns_that_match_nothing_are_told() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let link = said(&project, "--include wrk cc -O2 -g -o p p.c");
    assert!(link.contains("--include 'wrk' does not match any of the 2 functions of p"), "{link}");
    assert!(link.contains("nothing is counted in p: your patterns leave out all of its 2 functions"), "{link}");
    project.run("p");
    let report = project.ok("report");
    assert!(report.contains("NOTHING WAS COUNTED: none of its 2 functions has counters"), "{report}");
    assert!(report.contains("excluded by your patterns"), "{report}");
    assert!(!report.contains("exact:") && !report.contains("Every block ran"), "{report}");
    let lines = project.fails("annotate");
    assert!(lines.contains("nothing was counted"), "{lines}");
    for view in ["costs", "export --format lcov"] {
        let seen = said(&project, view);
        assert!(seen.contains("cotree: warning: nothing was counted in"), "{view}: {seen}");
    }
    let verified = project.fails("verify");
    assert!(verified.contains("--verify"), "{verified}");

    let link = said(&project, "--exclude small --exclude-file nowhere.c --include work cc -O2 -g -o p p.c");
    assert!(link.contains("--exclude 'small' does not match any of the 2 functions of p: it is inlined"), "{link}");
    assert!(link.contains("--exclude-file 'nowhere.c'") && link.contains("'*nowhere.c*'"), "{link}");
    assert!(!link.contains("nothing is counted") && !link.contains("'work'"), "{link}");
    for path in ["path", "calls", "trace", "events"] {
        let link = said(&project, &format!("--exclude * --profile {path} cc -O2 -g -o p p.c"));
        assert!(link.contains("nothing is counted in p"), "{path}: {link}");
        project.run("p");
        let report = project.ok("report");
        assert!(report.contains("NOTHING WAS COUNTED"), "{path}: {report}");
        std::fs::read_dir(project.path("."))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|end| end == "cotree"))
            .for_each(|path| std::fs::remove_file(path).expect("a profile"));
    }
}

#[test]
fn options_of_the_compilation_alone_are_told() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("--profile trace --exclude small cc -O1 -c p.c -o p.o");
    let link = said(&project, "cc p.o -o p");
    assert!(link.contains("p.o was compiled with --exclude, --profile, and the link was not"), "{link}");
    let link = said(&project, "--profile path --exclude small cc p.o -o p");
    assert!(!link.contains("was compiled with"), "{link}");
    // What clang hands on by itself is no such option.
    project.ok("cc -O1 -flto -c p.c -o p.o");
    let link = said(&project, "cc -flto p.o -o p");
    assert!(!link.contains("was compiled with"), "{link}");
}

#[test]
fn options_without_effect_are_told() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let link = said(&project, "--profile none --verify cc -O1 -o p p.c");
    assert!(link.contains("--verify changes nothing: --profile none counts nothing"), "{link}");
    let refused = project.fails("--path-array 3 cc -O1 -o p p.c");
    assert!(
        refused.contains("--path-array is about path profiles: it needs --profile path or path-context"),
        "{refused}"
    );
    project.ok("cc -O1 -flto -c -o p.o p.c");
    let plan = said(&project, "--profile path --path-array 3 plan p.o");
    assert_eq!(plan.matches("--profile changes nothing in the table of all methods").count(), 1, "{plan}");
    assert!(!plan.contains("--path-array"), "the table looks at that: {plan}");
    let made = said(&project, "--lto on instrument p.o -o q.bc");
    assert!(made.contains("--lto changes nothing in `cotree instrument`"), "{made}");
}

#[test]
fn cargo_tells_too() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", "fn main() {}\n")]);
    let build = said(&project, "cargo --include tiny::man build");
    assert!(build.contains("--include 'tiny::man' does not match any of the"), "{build}");
    let refused = project.fails("cargo --path-array 3 build");
    assert!(refused.starts_with("cotree: error: --path-array is about path profiles"), "before cargo: {refused}");
    let misplaced = project.fails("cargo build --profile path");
    assert!(misplaced.contains("as in `cargo cotree --profile path build`"), "{misplaced}");
}

#[test]
fn variables_are_ours_or_told() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let with = |name: &str, value: &str, line: &str| {
        let output = project.cotree(line).env(name, value).output().expect("cotree starts");
        (output.status.success(), String::from_utf8(output.stderr).expect("text"))
    };
    let (good, said) = with("COTREE_PROFIL", "path", "cc -O1 -o p p.c");
    let wanted =
        "cotree: warning: COTREE_PROFIL in the environment is no variable of cotree: did you mean COTREE_PROFILE?\n";
    assert!(good);
    assert_eq!(said, wanted, "once, though clang, the linker and its plugin are started");
    let (good, said) = with("COTREE_PROFILE", "pth", "cc -O1 -o p p.c");
    assert!(!good && said.starts_with("cotree: error: COTREE_PROFILE=pth in the environment"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let (good, said) = with("COTREE_PROFILE", "pth", "--profile edge cc -O1 -o p p.c");
    assert!(good && said.is_empty(), "the command line wins: {said}");
    let (good, said) = with("COTREE_KEEP_TEMPS", "1", "cc -O1 -o p p.c");
    assert!(good, "{said}");
    let kept = std::fs::read_dir(project.path("tmp")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let kept = kept.filter(|path| path.join("0.final.ll").exists()).last().expect("the modules are kept as text");
    let output = project.cotree("cc -O1 -o p p.c").env("COTREE_KEEP_TEMPS", "1").output().expect("cotree starts");
    let all = [output.stdout, output.stderr].concat();
    let all = String::from_utf8(all).expect("text");
    assert!(
        all.contains("the files of this link are in") && all.contains(kept.parent().unwrap().to_str().unwrap()),
        "{all}"
    );
    let none = project.fails("--profile path");
    assert!(none.contains("a command is missing") && !none.contains("lto-link"), "{none}");
}
