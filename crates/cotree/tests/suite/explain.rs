//! `cotree plan --explain` by every family of methods, of bitcode and of what is built from it.

use crate::project::Project;

const PROGRAM: &str = "
#include <stdlib.h>
__attribute__((noinline)) static int walk(const char *text) {
    int words = 0;
    for (int i = 0; text[i]; i++) {
        if (text[i] == ' ') words++;
        else if (text[i] == '!') exit(words);
    }
    return words & 1 ? words : -words;
}
__attribute__((noinline)) static int straight(int n) { return n * 3; }
__attribute__((noinline, no_profile_instrument_function)) int left(int n) { return n ? n : 7; }
int main(int argc, char **argv) { return walk(argv[0]) + straight(argc) + left(argc); }
";

/// The program, as bitcode `p.o` and linked `p`.
fn built(options: &str) -> Project {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok(&format!("{options} cc -O1 -g -c -o p.o p.c"));
    project.ok(&format!("{options} cc -O1 -g -o p p.o"));
    project
}

#[test]
fn paths_are_explained_as_paths() {
    for (option, remembers) in [("--profile path", false), ("--profile path-context", true)] {
        let project = built(option);
        let of_bitcode = project.ok(&format!("{option} plan p.o --explain =walk"));
        let of_binary = project.ok("plan p --explain =walk");
        for said in [&of_bitcode, &of_binary] {
            assert!(said.starts_with("walk: "), "{said}");
            assert!(said.contains(" paths, each with a word of its own\n"), "{said}");
            let cut = if remembers {
                "remember how the loop was reached\n"
            } else {
                "paths end and begin anew on the edge b"
            };
            assert!(said.contains(cut), "{said}");
            assert!(said.contains("the counts of edges and blocks follow from those of the paths\n"), "{said}");
            assert!(!said.contains("not counted"), "that is said of counters: {said}");
        }
        // The probes are in the code, and binaries keep only what recovery needs.
        assert!(of_bitcode.contains("is counted\n") && of_bitcode.contains("path = 0\n"), "{of_bitcode}");
        assert_eq!(of_bitcode.lines().next(), of_binary.lines().next());
        assert!(project.ok("plan p --explain =straight").contains("  1 path, each with a word of its own\n"));
    }
    let hashed = built("--profile path --path-array 0").ok("plan p --explain =walk");
    assert!(hashed.contains(" paths, counted in a hash table\n"), "{hashed}");
}

#[test]
fn counters_are_those_of_the_method() {
    let edges = |said: String| {
        said.lines().filter(|line| line.starts_with("  counter ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let project = built("--profile edge");
    let of_binary = edges(project.ok("plan p --explain =walk"));
    assert_eq!(edges(project.ok("plan p.o --explain =walk")), of_binary);
    for option in ["--profile vertex", "--profile vertex-edge", "--profile block", "--spanning-tree min"] {
        let project = built(option);
        let said = project.ok(&format!("{option} plan p.o --explain =walk"));
        assert_eq!(edges(said.clone()), edges(project.ok("plan p --explain =walk")), "{option}");
        // Every chord of this function is one that its blocks need.
        assert_eq!(edges(said.clone()) == of_binary, option == "--profile vertex-edge", "{option}");
        let rest = if option.contains("vertex") { " blocks are not counted" } else { " edges are not counted" };
        assert!(said.contains(rest), "{option}: {said}");
    }
}

#[test]
fn what_has_no_probes_says_why() {
    let project = built("--profile edge");
    for file in ["p.o", "p"] {
        let said = project.ok(&format!("plan {file} --explain =left"));
        assert!(said.ends_with("  no probes: its author forbids instrumentation\n"), "{said}");
    }
    let said = project.ok("--exclude walk plan p.o --explain =walk");
    assert!(said.ends_with("  no probes: excluded by your patterns\n"), "{said}");
    let said = project.ok("--profile none plan p.o --explain =walk");
    assert!(said.ends_with("  no probes: profiling was not asked for\n"), "{said}");
}
