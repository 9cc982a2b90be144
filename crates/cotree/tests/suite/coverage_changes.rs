//! How much of what a change adds ran.

use crate::project::{Project, succeed};
use serde_json::{Value, json};

const BEFORE: &str = "#include <stdio.h>
int main(int count, char **words) {
    (void)words;
    printf(\"%d\\n\", count);
    return 0;
}
";

const AFTER: &str = "#include <stdio.h>
/* What is rare is not tested. */
static int rare(int n) {
    n *= 3;
    return n;
}
int main(int count, char **words) {
    (void)words;
    if (count > 5)
        count = rare(count);
    printf(\"%d\\n\", count);
    return 0;
}
";

#[test]
fn added_lines_have_their_own_coverage_and_gate() {
    let project = Project::new(&[("src/app.c", BEFORE), ("src/other.c", "int other;\n")]);
    let git = |words: &str| {
        let mut git = project.command("git");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        succeed(git.args(identity).args(words.split_whitespace()).env("GIT_CONFIG_GLOBAL", "/dev/null"))
    };
    git("init -q");
    git("add src");
    git("commit -q -m before");
    std::fs::write(project.path("src/app.c"), AFTER).expect("written");
    std::fs::write(project.path("src/other.c"), "int other = 1;\n").expect("written");
    project.ok("--coverage cc -O2 src/app.c -o app");
    succeed(project.command(project.path("app")).env("COTREE_FILE", "app.cotree"));

    // Lines 3 to 6 are the function, 9 and 10 its call. Line 2 is a comment; the other file has no code.
    let coverage = |more: &str| project.cotree(&format!("coverage {more} app.cotree")).output().expect("it starts");
    let since = coverage("--json --diff HEAD");
    let said = String::from_utf8_lossy(&since.stderr);
    assert!(said.contains("1 changed file with no code that was counted: src/other.c"), "{said}");
    let document: Value = serde_json::from_slice(&since.stdout).expect("JSON");
    assert_eq!(document["schema"], "cotree-coverage-changes/1");
    assert_eq!(document["total"], json!({ "lines": { "covered": 1, "total": 6 } }));
    let file =
        json!({ "path": "src/app.c", "lines": { "covered": 1, "total": 6 }, "missing_lines": [[3, 6], [10, 10]] });
    assert_eq!(document["files"], json!([file]));

    std::fs::write(project.path("change.diff"), git("diff")).expect("written");
    let text = project.ok("coverage --diff change.diff app.cotree");
    assert!(text.contains("16.7%") && text.contains("src/app.c  3-6, 10\n"), "{text}");
    let remarks = project.ok("coverage --diff change.diff --annotations github app.cotree");
    assert!(remarks.contains("::warning file=src/app.c,line=3,endLine=6,title=Not covered::"), "{remarks}");
    assert_eq!(remarks.lines().count(), 2, "{remarks}");
    let refused = project.fails("coverage --diff change.diff --fail-under-lines 50 app.cotree");
    assert!(refused.contains("1 of 6 changed lines ran, less than 50 %"), "{refused}");
    project.ok("coverage --diff change.diff --fail-under-lines 16 app.cotree");
    assert!(
        project.fails("coverage --diff no-such-thing app.cotree").contains("git knows no changes since no-such-thing")
    );
    git("add src");
    git("commit -q -m after");
    let nothing = project.ok("coverage --diff HEAD --fail-under-lines 100 app.cotree");
    assert_eq!(nothing, "The change adds no line with code.\n");
}
