//! Equal sources make the same program, bit for bit, in one command and in several, wherever the folder is.

use crate::project::{Project, succeed};
use std::fs;

const MAIN: &str = "#include <stdio.h>\nint helper(int);\nstatic int twice(int x) { return helper(x) * 2; }\n\
                    int main(void) { printf(\"%d\\n\", twice(9)); return 0; }\n";
const HELPER: &str = "int helper(int x) { for (int i = 0; i < x; i++) x ^= i * 3; return x; }\n";

#[test]
fn built_again_it_is_the_same() {
    let folder = || Project::new(&[("main.c", MAIN), ("helper.c", HELPER), ("tmp/.keep", "")]);
    let projects = [folder(), folder()];
    for line in [
        "cc -O2 -g main.c helper.c",
        "--profile path cc -O2 main.c helper.c",
        "--profile trace cc -O2 main.c helper.c",
        "cc -O2 -flto main.c helper.c",
        "--at early cc -O2 main.c helper.c",
    ] {
        let build = |project: &Project| {
            project.ok(&format!("{line} -fdebug-compilation-dir=. -o program"));
            fs::read(project.path("program")).expect("a program")
        };
        let first = build(&projects[0]);
        succeed(projects[0].command(projects[0].path("program")).env("COTREE_FILE", "p.cotree"));
        assert!(first == build(&projects[0]), "{line}: built again");
        assert!(first == build(&projects[1]), "{line}: in another folder");
        // The profile of the first one is that of all.
        assert!(projects[0].ok("report p.cotree").contains("main"), "{line}");
        fs::remove_file(projects[0].path("p.cotree")).expect("a profile");
    }
}
