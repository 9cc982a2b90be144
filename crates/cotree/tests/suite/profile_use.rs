//! Programs compiled by a profile (`--use`): nothing is counted, and they do what they did, whatever the profile says.

use crate::project::Project;
use std::fs;

/// A switch, loops, calls through pointers, `longjmp`, and code that no run reaches; the argument chooses what is hot.
const PROGRAM: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#define ALONE __attribute__((noinline)) static
static jmp_buf out;
ALONE long add(long x) { return x + 3; }
ALONE long twice(long x) { return x * 2 % 1000003; }
ALONE long jump(long x) { if (x % 97 == 5) longjmp(out, (int)(x % 7) + 1); return x ^ 1; }
ALONE long never(long x) { long sum = 0; for (int i = 0; i < x; i++) sum += i * x; return sum; }
static long (*const operations[])(long) = {add, twice, jump};
ALONE long step(int kind, long x) {
    switch (kind) {
    case 0: return add(x);
    case 1: return twice(x) + 1;
    case 2: case 3: return x / 2;
    case 7: return never(x);
    default: return operations[x % 3](x);
    }
}
ALONE int collatz(unsigned long n) { int steps = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; } return steps; }
ALONE long all(int kind, int n) {
    volatile long sum = 1;
    for (volatile int i = 1; i < n; i++) {
        int code = setjmp(out);
        sum += code ? code : step(i % 2 ? kind : 5, sum & 65535) + collatz(i);
    }
    return sum;
}
int main(int argc, char **argv) { printf("%ld\n", all(argc > 1 ? atoi(argv[1]) : 0, 4000)); return 0; }
"#;

/// A program with the profile of a run with this argument.
fn profiled(argument: &str) -> Project {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("cc -O2 -g -w -o counted p.c");
    let mut run = project.command(project.path("counted"));
    assert!(run.arg(argument).env("COTREE_FILE", "p.cotree").status().expect("it runs").success());
    project
}

/// What a program says for each of some arguments.
fn outputs(project: &Project, program: &str) -> Vec<String> {
    let run = |argument: &str| {
        let output = project.command(project.path(program)).arg(argument).output().expect("it runs");
        assert!(output.status.success(), "{program} {argument}");
        String::from_utf8(output.stdout).expect("text")
    };
    ["0", "1", "2", "4", "7"].map(run).to_vec()
}

/// Builds by a profile; what the build says.
fn build(project: &Project, options: &str, program: &str) -> String {
    let output = project.cotree(&format!("{options} cc -O2 -w -o {program} p.c")).output().expect("cotree starts");
    // GNU ld prints what plugins warn of to standard output.
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{said}");
    assert!(!project.is_profiled(program), "nothing is counted");
    said
}

#[test]
fn programs_do_the_same_whatever_profile_they_are_compiled_by() {
    let project = profiled("1");
    build(&project, "--profile none", "plain");
    let truth = outputs(&project, "plain");
    assert_eq!(build(&project, "--use p.cotree", "used"), "", "each function has its counts");
    assert_eq!(outputs(&project, "used"), truth);
    assert_ne!(fs::read(project.path("used")).ok(), fs::read(project.path("plain")).ok(), "counts tell LLVM something");
    build(&project, "--use p.cotree --at early", "early");
    assert_eq!(outputs(&project, "early"), truth);

    // Counts that no run can have, of the right graphs.
    let weights = project.ok("export --format weights p.cotree");
    for count in ["0", "1", "4294967295", "9223372036854775807", "18446744073709551615"] {
        let hostile: String = (weights.lines().enumerate())
            .map(|(number, line)| {
                let Some((head, counts)) = line.split_once("\"blocks\":") else { return format!("{line}\n") };
                let (mut digit, mut changed) = (0, String::new());
                let mut inside = false;
                for c in counts.chars() {
                    match (c.is_ascii_digit(), inside) {
                        (true, false) => {
                            digit += 1;
                            changed.push_str(if (digit + number) % 3 == 0 { "2" } else { count });
                        }
                        (true, true) => {}
                        (false, _) => changed.push(c),
                    }
                    inside = c.is_ascii_digit();
                }
                format!("{head}\"blocks\":{changed}\n")
            })
            .collect();
        fs::write(project.path("hostile"), hostile).expect("a file");
        build(&project, "--use hostile", "used");
        assert_eq!(outputs(&project, "used"), truth, "{count}");
    }
    // As many numbers as it pleases.
    let short: String =
        weights.lines().map(|line| format!("{}\n", line.replace("\"blocks\":[", "\"blocks\":[5,"))).collect();
    fs::write(project.path("hostile"), short).expect("a file");
    build(&project, "--use hostile", "used");
    assert_eq!(outputs(&project, "used"), truth);
}

#[test]
fn functions_that_have_changed_are_said() {
    let project = profiled("0");
    let changed = PROGRAM.replace("return x / 2;", "while (x % 5 == 1) x = add(x); return x / 2;");
    fs::write(project.path("p.c"), changed).expect("a file");
    build(&project, "--profile none", "plain");
    let said = build(&project, "--use p.cotree", "used");
    assert!(said.contains("have changed since the profile (step)"), "{said}");
    assert_eq!(outputs(&project, "used"), outputs(&project, "plain"));
}

#[test]
fn the_profile_of_another_program_is_refused() {
    let project = profiled("0");
    let renamed = ["add", "twice", "jump", "never", "step", "collatz", "all", "main"]
        .iter()
        .fold(PROGRAM.to_owned(), |text, name| text.replace(&format!("{name}("), &format!("{name}_of_another(")));
    let renamed = renamed.replace("{add, twice, jump}", "{add_of_another, twice_of_another, jump_of_another}");
    fs::write(
        project.path("p.c"),
        format!("{renamed}\nint main(int n, char **v) {{ return main_of_another(n, v); }}\n"),
    )
    .expect("a file");
    let said = project.fails("--use other cc -O2 -w -o used p.c");
    assert!(said.contains("cannot read"), "{said}");
    // Of its nine functions `main` alone has a namesake: that is little, but it may be a program that has changed much.
    project.ok("--use p.cotree cc -O2 -w -o used p.c");
    let library = "--use p.cotree cc -O2 -w -fPIC -shared -Dmain=main_of_yet_another -o used.so p.c";
    let said = project.fails(library);
    assert!(said.contains("is a profile of another program"), "{said}");
    let said = project.fails("--use p.cotree --profile edge cc -O2 -w -o used p.c");
    assert!(said.contains("counts nothing"), "{said}");
}
