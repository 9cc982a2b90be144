//! What is covered that was not before, and what is no more.

use crate::project::{Project, succeed};
use serde_json::{Value, json};

const BEFORE: &str = "#include <stdio.h>
static int often(int n) {
    return n + 1;
}
static int lost(int n) {
    return n + 2;
}
static int gained(int n) {
    return n + 3;
}
static int old(int n) {
    return n + 4;
}
int main(int count, char **words) {
    (void)words;
    int sum = often(count) + old(count);
    if (count > 1 && sum)
        sum += gained(sum);
    else
        sum += lost(sum);
    printf(\"%d\\n\", sum);
    return 0;
}
";

/// Two lines more before all, one function less, and one that is new and does not run.
fn after() -> String {
    let new = "static int fresh(int n) {\n    return n + 5;\n}\n";
    let text = BEFORE.replace("static int old(int n) {\n    return n + 4;\n}\n", new);
    let text = text.replace("old(count)", "(count > 7 ? fresh(count) : 0)");
    format!("/* What follows\n   was edited. */\n{text}")
}

fn run(project: &Project, words: &[&str], profile: &str) {
    succeed(project.command(project.path("app")).args(words).env("COTREE_FILE", profile));
}

#[test]
fn what_is_lost_and_gained_is_told_across_edits() {
    let project = Project::new(&[("app.c", BEFORE)]);
    let git = |words: &str| {
        let mut git = project.command("git");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        succeed(git.args(identity).args(words.split_whitespace()).env("GIT_CONFIG_GLOBAL", "/dev/null"))
    };
    git("init -q");
    git("add app.c");
    git("commit -q -m before");
    project.ok("--coverage cc -g -O2 app.c -o app");
    run(&project, &[], "old.cotree");
    project.ok("coverage --lcov -o old.info old.cotree");
    // A tracefile says the same as the profile that it was made of.
    for old in ["old.info", "old.cotree"] {
        let same = project.ok(&format!("coverage --against {old} --fail-on LBC,UNC,UIC old.cotree"));
        assert!(same.ends_with("\nNothing is covered otherwise than before.\n"), "{same}");
    }

    std::fs::create_dir(project.path("last")).expect("a folder");
    std::fs::rename(project.path("app"), project.path("last/app")).expect("moved");
    std::fs::write(project.path("app.c"), after()).expect("written");
    project.ok("--coverage cc -g -O2 app.c -o app");
    run(&project, &["x"], "new.cotree");
    let compared = |more: &str| {
        let output = project.cotree(&format!("coverage --json {more} new.cotree")).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        (document, said)
    };
    // The text before is in git's history, and its checksum in the program.
    let (document, said) = compared("--against old.cotree --binary last");
    assert_eq!(document["schema"], "cotree-coverage-against/1");
    assert!(!said.contains("by their numbers"), "{said}");
    let file = &document["files"][0];
    assert_eq!(file["lines_matched"], "edited");
    // The brace of line 15 was that of `old`, for any diff.
    let parts = json!({
        "LBC": [[7, 9], [15, 15], [21, 22]], "GBC": [[10, 12], [20, 20]], "GNC": [[18, 18]], "UNC": [[13, 14]],
        "DCB": [[11, 12], [16, 16]],
    });
    assert_eq!(file["parts"], parts);
    let functions = json!([
        { "category": "LBC", "line": 7, "name": "lost" },
        { "category": "GBC", "line": 10, "name": "gained" },
        { "category": "UNC", "line": 13, "name": "fresh" },
        { "category": "DCB", "line": 11, "name": "old" },
    ]);
    assert_eq!(file["changed_functions"], functions);
    assert_eq!(file["branch_lines"]["LBC"], json!([[19, 19]]));
    assert_eq!(document["total"]["lines"]["before"], json!({ "covered": 18, "total": 22 }));

    // A tracefile does not know the edit; a diff does.
    let (by_diff, said) = compared("--against old.info --diff HEAD");
    assert_eq!((&by_diff["files"][0]["parts"], said.contains("by their numbers")), (&parts, false), "{said}");
    let (by_number, said) = compared("--against old.info");
    assert_eq!(by_number["files"][0]["lines_matched"], "by number");
    assert!(said.contains("lines of 1 file are compared by their numbers: a tracefile does not say"), "{said}");

    let refused = project.fails("coverage --against old.info --diff HEAD --fail-on lbc,UIC new.cotree");
    assert!(
        refused.contains("LBC (lost baseline coverage), which --fail-on refuses: 6 lines, 1 function, 1 outcome"),
        "{refused}"
    );
    project.ok("coverage --against old.info --diff HEAD --fail-on UIC new.cotree");
    let remarks = project.ok("coverage --against old.info --diff HEAD --annotations github new.cotree");
    assert!(remarks.starts_with("::warning file=app.c,line=7,endLine=9,title=Lost coverage::Lines 7-9"), "{remarks}");
    assert!(remarks.contains("file=app.c,line=13,endLine=14,title=Not covered::Lines 13-14: new"), "{remarks}");
    let refused = project.fails("coverage --against app.c new.cotree");
    assert!(refused.contains("app.c is neither a profile (*.cotree) nor a tracefile"), "{refused}");

    // Other folders, as of a service that builds, and a history that is not there.
    let elsewhere = std::fs::read_to_string(project.path("old.info")).expect("a tracefile");
    let elsewhere = elsewhere.replace(&format!("SF:{}", project.path("").display()), "SF:/elsewhere/");
    std::fs::write(project.path("ci.info"), elsewhere).expect("written");
    let (document, said) = compared("--against ci.info --diff HEAD");
    assert_eq!(document["files"][0]["parts"], parts);
    assert!(said.contains("such as ") && said.contains(" with /elsewhere/app.c"), "{said}");
    std::fs::remove_dir_all(project.path(".git")).expect("removed");
    let (document, said) = compared("--against old.cotree --binary last");
    assert_eq!(document["files"][0]["lines_matched"], "by number");
    assert!(said.contains("app.c were edited since") || said.contains("app.c was edited since"), "{said}");
}
