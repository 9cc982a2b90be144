//! Coverage of several builds: what `merge` refuses to add up, coverage adds up by file, function and version.

use crate::project::{Project, succeed};
use serde_json::Value;

/// `pick` is the same in both builds, `feature` differs, and `never` is another program.
const SOURCE: &str = r#"#include <stdio.h>
static int pick(int n) { return n > 1 ? 10 : 20; }
#ifdef MORE
static int feature(int n) {
    if (n > 2)
        return 1;
    return pick(n);
}
#else
static int feature(int n) {
    return n;
}
#endif
int main(int count, char **words) {
    (void)words;
    printf("%d\n", pick(count) + feature(count));
    return 0;
}
"#;

#[test]
fn builds_add_up() {
    let never = "int unused(int n) { return n ? 3 : 4; }\nint main(void) { return unused(0); }\n";
    let project = Project::new(&[("app.c", SOURCE), ("never.c", never)]);
    let programs = [("app", ""), ("more", "-DMORE")];
    for (program, define) in programs {
        // Both are the same file when they run.
        project.ok(&format!("--coverage cc -O1 {define} app.c -o app"));
        for words in [&[][..], &["x"]] {
            succeed(project.command(project.path("app")).args(words).env("COTREE_FILE", "profiles/%n.%2m.cotree"));
        }
        std::fs::create_dir_all(project.path("built")).expect("a folder");
        std::fs::rename(project.path("app"), project.path(&format!("built/{program}"))).expect("a program");
    }
    project.ok("--coverage cc -O1 never.c -o built/never");
    let refused = project.fails("merge -o sum.cotree --several-units profiles --binary built/app --binary built/more");
    assert!(refused.contains("was built anew between the runs"), "{refused}");
    // Both versions of `feature` stand beside each other. (llvm-cov with two objects keeps that of the first alone.)
    let json: Value =
        serde_json::from_str(&project.ok("coverage --json --file app.c --binary built profiles")).unwrap();
    let share = |what: &str| (json["total"][what]["covered"].as_u64(), json["total"][what]["total"].as_u64());
    let wanted = [("lines", 13, 14), ("functions", 4, 4), ("regions", 9, 10), ("branches", 3, 4)];
    for (what, covered, total) in wanted {
        assert_eq!(share(what), (Some(covered), Some(total)), "{what}");
    }
    let tracefile = project.ok("coverage --lcov --binary built/app --binary built/more profiles");
    assert!(tracefile.contains("FNDA:4,main\n") && tracefile.contains("DA:2,6\n"), "{tracefile}");

    // A program that never ran counts, too.
    let table = project.ok("coverage --show-missing-lines --binary built profiles");
    assert!(table.contains("  app.c: 6\n") && table.contains("  never.c: 1-2\n"), "{table}");
    // Each profile with the binary that it is of; without one it is refused, or left out of a folder.
    assert!(project.ok("coverage --binary built/app --binary built/more profiles").contains("app.c"));
    let part = project.cotree("coverage --binary built/app profiles").output().expect("it starts");
    let said = String::from_utf8_lossy(&part.stderr);
    assert!(part.status.success() && said.contains("warning: left out: the binary"), "{said}");
    assert!(project.fails("coverage profiles").contains("no longer there"));
}
