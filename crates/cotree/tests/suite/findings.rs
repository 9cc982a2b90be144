//! What other people's code has shown: small programs, each named after what was wrong with them.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// The source of a finding.
macro_rules! finding {
    ($name:literal) => {
        include_str!(concat!("../programs/findings/", $name))
    };
}

/// Runs a program with a fresh profile of that name; gives its output, whatever its end.
fn run(command: &mut Command, profile: &str) -> std::process::Output {
    command.env("COTREE_FILE", profile).output().expect("it starts")
}

/// Jumps by the compiler's own `longjmp` are accounted for like those of the C library.
#[test]
fn builtin_longjmp() {
    let project = Project::new(&[
        ("chain.c", finding!("builtin-longjmp-chain.c")),
        ("pointers.c", finding!("builtin-longjmp-pointers.c")),
    ]);
    for options in [
        "",
        "--interprocedural-flow off",
        "--profile vertex",
        "--profile block",
        "--profile path",
        "--profile path-context --threads on",
    ] {
        for (source, level) in [("chain.c", "-O0"), ("chain.c", "-O2"), ("pointers.c", "-O0"), ("pointers.c", "-O2")] {
            project.ok(&format!("{options} --verify cc {level} -g {source} -o program"));
            run(&mut project.command(project.path("program")), "p.cotree");
            let report = project.ok("report p.cotree");
            assert!(report.contains("exact: every count"), "{options} {level} {source}: {report}");
            project.ok("verify --strict p.cotree");
            let json: Value = serde_json::from_str(&project.ok("export --format json p.cotree")).expect("JSON");
            let functions = json["units"][0]["functions"].as_array().expect("functions");
            for name in ["foo", "b1", "b2", "baz"] {
                let function = functions.iter().find(|f| f["name"] == name).expect("a function");
                assert_eq!(function["entries"], 5, "{options} {level} {source}: {name}");
            }
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// The same from a shared library to the executable, and from code that is left out; and one by code that nobody sees.
#[test]
fn builtin_longjmp_across_units() {
    let project = Project::new(&[
        ("lib.c", "void leap(void **b, int n) { if (n) leap(b, n - 1); __builtin_longjmp(b, 1); }\n"),
        (
            "main.c",
            "#include <stdio.h>\nvoid leap(void **, int);\nvoid *buffer[5];\n\
             __attribute__((noinline)) void middle(int n) { if (n > 2) leap(buffer, n); puts(\"back\"); }\n\
             __attribute__((noinline)) int turn(int n) { if (__builtin_setjmp(buffer) == 0) { middle(n); return 1; } return 0; }\n\
             int main(void) { int s = 0; for (volatile int i = 0; i < 6; i++) s += turn(i); return s != 3; }\n",
        ),
    ]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--verify cc {level} -g -fPIC -shared lib.c -o libleap.so"));
        project.ok(&format!("--verify cc {level} -g main.c -L. -lleap -Wl,-rpath,. -o program"));
        succeed(project.command("./program").env("COTREE_FILE", "%n.cotree"));
        for profile in ["program.cotree", "libleap.so.cotree"] {
            project.ok(&format!("verify --strict {profile}"));
            fs::remove_file(project.path(profile)).expect("a profile");
        }
        project.ok(&format!("--exclude leap --verify cc {level} -g main.c lib.c -o program"));
        succeed(project.command("./program").env("COTREE_FILE", "p.cotree"));
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");

        succeed(project.command("gcc").args([level, "-c", "lib.c", "-o", "lib.o"]));
        project.ok(&format!("cc {level} -g main.c lib.o -o program"));
        succeed(project.command("./program").env("COTREE_FILE", "p.cotree"));
        let report = project.ok("report p.cotree");
        assert!(report.contains("NOT ALL EXACT: 3 of 3"), "{level}: {report}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// The program's own stack is misaligned: ours must not be.
#[test]
fn exit_on_a_misaligned_stack() {
    let project = Project::new(&[("main.c", finding!("exit-on-misaligned-stack.c"))]);
    for options in ["", "--profile block", "--profile path", "--threads on"] {
        project.ok(&format!("{options} cc -O2 main.c -o program"));
        succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
        // Assembly has moved the stack pointer: no walk finds out of there.
        assert!(project.ok("report p.cotree").contains("NOT ALL EXACT"), "{options}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// Where a program does what it must not, the profile says that something is wrong.
#[test]
fn an_executed_edge_to_unreachable() {
    let project = Project::new(&[(
        "main.c",
        "#include <stdlib.h>\nstatic int next(int n) { if (n == 3) { __asm__ volatile(\"\"); __builtin_unreachable(); } return n + 1; }\n\
         int other(int n) { return n * 2; }\n\
         int main(int argc, char **argv) { for (int i = argc; i < atoi(argv[1]); i = next(i)) other(i); exit(0); }\n",
    )]);
    project.ok("cc -O0 -fno-sanitize=all main.c -o program");
    for (argument, exact) in [("3", true), ("5", false)] {
        // What comes after it is the next function in the file, which may end well or not.
        run(project.command(project.path("program")).arg(argument), "p.cotree");
        let report = project.ok("report p.cotree");
        assert_eq!(report.contains("exact: every count"), exact, "{report}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}
