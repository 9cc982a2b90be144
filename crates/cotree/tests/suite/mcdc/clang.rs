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
