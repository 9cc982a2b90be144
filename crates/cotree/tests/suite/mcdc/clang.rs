//! Test vectors of C and C++ are those of clang's own bitmap, as llvm-cov shows them.

use crate::project::{Project, succeed};
use std::path::Path;

/// The tool of the newest version that is installed.
fn newest(tool: &str) -> String {
    let found = |version: &u32| Path::new(&format!("/usr/bin/{tool}-{version}")).exists();
    format!("{tool}-{}", (19..40).rev().find(found).expect("one is installed"))
}

/// What llvm-cov says of all decisions: its summary, and its tables of vectors.
fn llvm_cov(project: &Project, program: &str, profile: &str) -> [String; 2] {
    succeed(project.command(newest("llvm-profdata")).args(["merge", profile, "-o", "merged"]));
    [["report", "--show-mcdc-summary"], ["show", "--show-mcdc"]].map(|options| {
        succeed(project.command(newest("llvm-cov")).args(options).args([program, "-instr-profile=merged"]))
    })
}

#[test]
fn vectors_are_clangs() {
    let project = Project::new(&[("forms.cc", include_str!("../../programs/mcdc/forms.cc"))]);
    let options = ["-O1", "-w", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc", "-o", "theirs"];
    succeed(project.command(newest("clang++")).args(options).arg("forms.cc"));
    succeed(project.command(project.path("theirs")).env("LLVM_PROFILE_FILE", "theirs.profraw"));
    let theirs = llvm_cov(&project, "theirs", "theirs.profraw");
    assert!(theirs[0].contains("MC/DC Conditions") && theirs[1].contains("C12-Pair"), "{}", theirs[1]);
    for build in ["--coverage --mcdc c++ -O0", "--coverage --profile vertex c++ -O2 -fcoverage-mcdc"] {
        project.ok(&format!("{build} -w forms.cc -o ours"));
        succeed(project.command(project.path("ours")).env("COTREE_FILE", "ours.cotree"));
        project.ok("export --format llvm-profdata -o ours.proftext ours.cotree");
        assert_eq!(llvm_cov(&project, "ours", "ours.proftext"), theirs, "{build}");
    }
    // Our own table has llvm-cov's numbers.
    let total = theirs[0].lines().last().expect("a total").split_whitespace().collect::<Vec<_>>();
    let [all, missed] = [13, 14].map(|column| total[column].parse::<u64>().expect("a number"));
    let json: serde_json::Value = serde_json::from_str(&project.ok("coverage --json ours.cotree")).expect("JSON");
    let mcdc = &json["total"]["mcdc"];
    assert_eq!([&mcdc["covered"], &mcdc["total"]].map(serde_json::Value::as_u64), [Some(all - missed), Some(all)]);
    let refused = project.fails("coverage --fail-under-mcdc 99 ours.cotree");
    assert!(refused.contains("conditions are shown to be independent, less than 99 %"), "{refused}");
}

/// The findings' program: its table of vectors, and what is missing.
#[test]
fn a_decision_is_shown() {
    let project = Project::new(&[("mcdc.c", include_str!("../../programs/findings/mcdc.c"))]);
    project.ok("--coverage --mcdc cc -O2 mcdc.c -o mcdc");
    let arguments = ["15", "12", "3", "0", "8", "8", "8"];
    succeed(project.command(project.path("mcdc")).args(arguments).env("COTREE_FILE", "mcdc.cotree"));
    let text = project.ok("coverage --show-mcdc mcdc.cotree");
    let decision = text.split_once("Decisions\n").expect("decisions").1;
    assert_eq!(
        decision,
        "  mcdc.c:4:9 in gate: 3 of 4 conditions are shown to be independent\n    \
         1  F - F - -> F  1 times\n    2  T F F - -> F  3 times\n    \
         3  F - T T -> T  1 times\n    4  T T - - -> T  2 times\n    \
         C1 a: independent by 1 and 4\n    C2 b: independent by 2 and 4\n    C3 c: independent by 1 and 3\n    \
         C4 d: not shown; missing F - T F -> F\n"
    );
    let none = project.ok("--coverage cc mcdc.c -o plain");
    assert!(none.is_empty(), "{none}");
    succeed(project.command(project.path("plain")).env("COTREE_FILE", "plain.cotree"));
    assert!(project.fails("coverage --show-mcdc plain.cotree").contains("build with `cotree --coverage --mcdc`"));
}

#[test]
fn what_cannot_be_counted_is_said() {
    let project = Project::new(&[("a.c", "int main(int n, char **v) { return n > 1 && v[1] && n < 3; }")]);
    let refused = project.fails("--mcdc cc a.c -o a");
    assert!(refused.contains("say --coverage --mcdc"), "{refused}");
    let old = project.cotree("--coverage --mcdc cc a.c -o a").env("COTREE_CC", "clang-14").output().expect("it runs");
    let old = String::from_utf8_lossy(&old.stderr).into_owned();
    assert!(old.contains("--mcdc needs clang 19 or newer, and ") && old.contains("clang-14 is clang 14"), "{old}");
}

/// What is around several conditions of a decision, and that the map does not have, is read off the code.
#[test]
fn outcomes_of_negated_parts_are_those_of_the_code() {
    let source = "#include <cstdlib>\n#define NEITHER(x, y) (!((x) || (y)))\n\
        template <typename T> static bool e(T a, T b, bool c) { return !(a < 1 && b < 1) || c; }\n\
        inline int guarded(bool a, bool b, bool c) { return (NEITHER(a, b) && c) ? std::abs(-1) : std::abs(-2); }\n\
        int main(int n, char **) {\n\
        bool t = n > 0, f = n > 9;\n\
        e(0, 0, f), e(1, 0, f), e(0.0, 0.0, f), e(0.0, 0.0, t);\n\
        return guarded(f, f, t) - guarded(t, f, t) - guarded(f, f, f) + 3; }\n";
    let project = Project::new(&[("a.cc", source)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage --mcdc c++ -w {level} a.cc -o a"));
        succeed(project.command(project.path("a")).env("COTREE_FILE", "p.cotree"));
        let text = project.ok("coverage --show-mcdc p.cotree");
        for (decision, vectors) in [
            ("3:64 in bool e<int>(int, int, bool): 1 of 3", "    1  F - - -> T  1 times\n    2  T T F -> F  1 times\n"),
            (
                "3:64 in bool e<double>(double, double, bool): 1 of 3",
                "    1  T T F -> F  1 times\n    2  T T T -> T  1 times\n",
            ),
            (
                "4:54 in guarded(bool, bool, bool): 2 of 3",
                "    1  T - - -> F  1 times\n    2  F F F -> F  1 times\n    3  F F T -> T  1 times\n",
            ),
        ] {
            let wanted = format!("a.cc:{decision} conditions are shown to be independent\n{vectors}");
            assert!(text.contains(&wanted), "{wanted}\n{text}");
        }
        assert!(!text.contains("negated"), "{text}");
    }
    // llvm-cov has the map alone.
    project.ok("export --format llvm-profdata -o a.proftext p.cotree");
    let [_, theirs] = llvm_cov(&project, "a", "a.proftext");
    assert!(theirs.contains("{ F,  -,  -  = F      }") && !theirs.contains("{ F,  -,  -  = T      }"), "{theirs}");
}

/// clang does not ask for the vectors of decisions that choose between objects, references or complex numbers, and of
/// those that are negated before they choose.
#[test]
fn vectors_that_clang_forgets_are_counted() {
    let source = "struct S { S(int); ~S(); int i; };\nS::S(int i) : i(i) {}\nS::~S() {}\n\
        static int twice(int n) { return 2 * n; }\n\
        static S object(bool a, bool b, bool c) { return (a && b) || c ? S(1) : S(2); }\n\
        static int &reference(bool a, bool b, int &x, int &y) { return a || b ? x : y; }\n\
        static double number(bool a, bool b, _Complex double z) { return __real__(a && b ? z : -z); }\n\
        static int negated(bool a, bool b, bool c) { return !((a || b) && c) ? twice(1) : twice(2); }\n\
        static S both(bool a, bool b) { return (a && b ? 1 : 0) ? S(1) : a && !b ? S(2) : S(3); }\n\
        static S folded(bool a, bool b) { return a && (sizeof(int) == 4 || b) ? S(1) : S(2); }\n\
        int main() {\n    int x = 0, y = 0;\n    for (int n = 0; n < 8; n++) {\n\
        bool a = n & 1, b = n & 2, c = n & 4;\n\
        object(a, b, c), reference(a, b, x, y), number(a, b, 1), negated(a, b, c), both(a, b), folded(a, b);\n    }\n}\n";
    let project = Project::new(&[("a.cc", source)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage --mcdc c++ -w {level} a.cc -o a"));
        succeed(project.command(project.path("a")).env("COTREE_FILE", "p.cotree"));
        let json: serde_json::Value = serde_json::from_str(&project.ok("coverage --json p.cotree")).expect("JSON");
        let decisions = json["files"][0]["decisions"].as_array().expect("decisions");
        let vectors = |line: u64| {
            let of_line = decisions.iter().filter(|decision| decision["start"][0] == line);
            let vectors = of_line.flat_map(|decision| decision["vectors"].as_array().expect("vectors"));
            let shown = vectors.map(|vector| {
                let outcome = if vector["outcome"] == true { "T" } else { "F" };
                format!("{}{outcome} {}", vector["conditions"].as_str().expect("letters"), vector["count"])
            });
            let mut shown: Vec<String> = shown.collect();
            shown.sort();
            shown.join(", ")
        };
        assert_eq!(vectors(5), "F-FF 2, F-TT 2, TFFF 1, TFTT 1, TT-T 2", "{level}");
        assert_eq!(vectors(6), "FFF 2, FTT 2, T-T 4", "{level}");
        assert_eq!(vectors(7), "F-F 4, TFF 2, TTT 2", "{level}");
        assert_eq!(vectors(8), "FF-F 2, FTFF 1, FTTT 1, T-FF 2, T-TT 2", "{level}");
        assert_eq!(vectors(9), "F-F 4, F-F 4, TFF 2, TTT 2, TTT 2", "{level}");
        // With a constant that hides where the decision is made, it is said.
        assert_eq!(vectors(10), "", "{level}");
        let said = project.cotree("coverage p.cotree").output().expect("it runs").stderr;
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("1 decision made whose vectors are not counted") && !said.contains("negated"), "{said}");
    }
}

/// Where the code does not tell, it is said in every form.
#[test]
fn negated_parts_that_are_not_known_are_told_in_every_form() {
    let source = "int main(int n, char **v) {\n    (void)v;\n    if (!(n > 1 && n < 5) || n == 3)\n        return 0;\n\
        return 1;\n}\n";
    let project = Project::new(&[("a.c", source)]);
    project.ok("--coverage --mcdc cc a.c -o a");
    succeed(project.command(project.path("a")).env("COTREE_FILE", "p.cotree"));
    for told in [false, true] {
        for form in ["", "--json", "--show-mcdc", "--fail-under-mcdc 0"] {
            let output = project.cotree(&format!("coverage {form} p.cotree")).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
            assert_eq!(said.contains("1 decision with a negated part"), told, "{form}: {said}");
        }
        // As if the code had been of another form.
        let mut program = std::fs::read(project.path("a")).expect("the program");
        let known: &[u8] = b"\t0\t0\t1\n";
        if let Some(at) = program.windows(known.len()).position(|bytes| bytes == known) {
            program[at..at + known.len()].copy_from_slice(b"\t0\t?\n\0\0");
            std::fs::write(project.path("a"), program).expect("it is written");
        } else {
            assert!(told, "a line of the section");
        }
    }
    let text = project.ok("coverage --show-mcdc p.cotree");
    assert!(text.contains("with a negated part, whose ! is not known"), "{text}");
}
