//! Children by `clone` with a stack of their own, and other ways to begin and end processes past `fork` and `exit`.

use crate::project::Project;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const WORKS: &str = "#define _GNU_SOURCE\n#include <sched.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    #include <sys/wait.h>\n#include <unistd.h>\n\
    static char stack[1 << 18] __attribute__((aligned(16)));\n\
    __attribute__((noinline)) static int busy(int n) { int t = 0; for (int i = 0; i < n; i++) t += i % 3 ? 1 : 2; return t; }\n\
    __attribute__((noinline)) static int deep(int n, int how) {\n\
      if (n) return deep(n - 1, how) + 1;\n\
      if (how == 1) exit(7);\n\
      if (how == 2) _exit(7);\n\
      if (how == 3) execl(\"/nowhere\", \"nowhere\", (char *)0);\n\
      return 7 - 5;\n\
    }\n\
    static int child(void *p) { int how = *(int *)p; return busy(5) + deep(5, how) - 7 + 7 * (how == 4); }\n\
    int main(int argc, char **argv) {\n\
      int sum = 0;\n\
      for (int how = 0; how < 5; how++) {\n\
        int status = 0, own = 0, vfork = how == 4 ? CLONE_VFORK : 0;\n\
        pid_t pid = clone(child, stack + sizeof stack, SIGCHLD | vfork | CLONE_PARENT_SETTID, &how, &own);\n\
        if (pid < 0 || own != pid || waitpid(pid, &status, 0) != pid) return 9;\n\
        sum += WEXITSTATUS(status);\n\
      }\n\
      if (clone(child, stack + sizeof stack, CLONE_SIGHAND, 0) != -1) return 8;\n\
      printf(\"%d\\n\", sum + busy(20));\n\
      return 0;\n\
    }\n";

/// What each profile in the folder has counted: entries by function.
fn counted(project: &Project, folder: &str) -> Vec<BTreeMap<String, u64>> {
    let mut paths: Vec<_> =
        fs::read_dir(project.path(folder)).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let entries = |path: &std::path::PathBuf| {
        assert!(path.extension().is_some_and(|extension| extension == "cotree"), "{}", path.display());
        let json: Value = serde_json::from_str(&project.ok(&format!("export {}", path.display()))).expect("JSON");
        let unit = &json["units"][0];
        assert_eq!(unit["exact"], true, "{}: {}", path.display(), unit["notes"]);
        let functions = unit["functions"].as_array().expect("functions").iter();
        functions
            .map(|f| (f["name"].as_str().expect("a name").to_owned(), f["entries"].as_u64().expect("a count")))
            .collect()
    };
    paths.iter().map(entries).collect()
}

#[test]
fn children_by_clone_have_profiles_of_their_own() {
    let project = Project::new(&[
        ("works.c", WORKS),
        ("execs.c", include_str!("../programs/findings/clone-own-stack-then-exec.c")),
    ]);
    for (options, level) in [
        ("", "-O0"),
        ("", "-O2"),
        ("--profile path", "-O1"),
        ("--profile trace", "-O0"),
        ("--threads on", "-O2 -static"),
    ] {
        project.ok(&format!("{options} cc {level} works.c -o works"));
        project.ok(&format!("{options} cc {level} execs.c -o execs"));
        for (program, expected, children) in [("works", "69\n", 5), ("execs", "", 1)] {
            let runs = project.path("runs");
            let mut command = project.command(project.path(program));
            let output = command.env("COTREE_FILE", "runs/%n.%p.cotree").output().expect("it starts");
            assert!(output.status.success(), "{options} {level} {program}: {output:?}");
            assert!(String::from_utf8_lossy(&output.stdout).starts_with(expected), "{output:?}");
            let all = counted(&project, "runs");
            assert_eq!(all.len(), 1 + children, "{options} {level} {program}");
            let sum = |name: &str| all.iter().filter_map(|one| one.get(name)).sum::<u64>();
            let parents: Vec<_> = all.iter().filter(|one| one.get("main") == Some(&1)).collect();
            let [parent] = parents[..] else { panic!("{all:?}") };
            if program == "works" && level == "-O0" {
                assert_eq!((parent["child"], parent["busy"], parent["deep"]), (0, 1, 0), "{options}");
                assert_eq!((sum("child"), sum("busy"), sum("deep")), (5, 6, 30), "{options}");
            }
            fs::remove_dir_all(runs).expect("a folder");
        }
    }
}

/// A process ends with its last thread, and by each way to `exec`.
#[test]
fn ends_past_the_library() {
    let project = Project::new(&[(
        "main.c",
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
         extern char **environ;\n\
         int main(int argc, char **argv) {\n\
           char *words[] = {\"true\", 0};\n\
           if (!strcmp(argv[1], \"exit\")) syscall(SYS_exit, 0);\n\
           if (!strcmp(argv[1], \"execveat\")) execveat(AT_FDCWD, \"/bin/true\", words, environ, 0);\n\
           if (!strcmp(argv[1], \"failing\")) return execveat(AT_FDCWD, \"/nowhere\", words, environ, 0) != -1;\n\
           return 1;\n\
         }\n",
    )]);
    for options in ["", "--threads on"] {
        project.ok(&format!("{options} cc -O0 main.c -o program"));
        for how in ["exit", "execveat", "failing"] {
            let mut command = project.command(project.path("program"));
            command.arg(how).env("COTREE_FILE", "runs/%n.%p.cotree");
            assert!(command.status().expect("it starts").success(), "{how}");
            assert_eq!(counted(&project, "runs").len(), 1, "{options} {how}");
            fs::remove_dir_all(project.path("runs")).expect("a folder");
        }
    }
}
