//! What other people's code has shown: small programs, each named after what was wrong with them.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

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

/// Builtin jumps from a shared library to the executable, and from code that is left out; and one by code that nobody
/// sees.
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

/// Runs a program until it is ended by a signal; gives which.
fn ended_by(project: &Project, command: &mut Command, signal: Option<&str>) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    match signal {
        Some(signal) => {
            // It has begun its profile, and is somewhere in its loop.
            let begun = || {
                let mut names =
                    fs::read_dir(project.path(".")).expect("a folder").map(|e| e.expect("an entry").file_name());
                names.any(|name| name.to_string_lossy().starts_with("p.cotree"))
            };
            let start = std::time::Instant::now();
            while !begun() {
                assert!(start.elapsed() < std::time::Duration::from_secs(120), "it does not begin");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            succeed(project.command("kill").args([format!("-{signal}"), child.id().to_string()]));
        }
        None => drop(child.stdout.take()),
    }
    let start = std::time::Instant::now();
    while child.try_wait().expect("it is a child").is_none() {
        if start.elapsed() > std::time::Duration::from_secs(120) {
            child.kill().expect("it is a child");
            panic!("signal {signal:?} does not end it");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.wait().expect("it ends").signal().expect("by a signal")
}

/// Signals that the program leaves at their defaults are endings like any other.
#[test]
fn endings_by_default_signals() {
    let project = Project::new(&[("main.c", finding!("ended-by-default-signal.c"))]);
    for (options, link) in [("", ""), ("--threads on", ""), ("--profile path", ""), ("", "-static")] {
        for level in ["-O0", "-O2"] {
            project.ok(&format!("{options} --verify cc {link} {level} -g main.c -o program"));
            let signals = [
                (None, 13),
                (Some("INT"), 2),
                (Some("TERM"), 15),
                (Some("HUP"), 1),
                (Some("QUIT"), 3),
                (Some("USR1"), 10),
            ];
            for (signal, number) in signals {
                // The tests themselves may run where these are ignored, as behind nohup.
                let mut command = project.command("env");
                command.arg("--default-signal=INT,HUP,QUIT,PIPE").arg(project.path("program"));
                command.args(signal.map(|_| "sleep")).env("COTREE_FILE", "p.cotree");
                assert_eq!(ended_by(&project, &mut command, signal), number, "{options} {link} {level}");
                let report = project.ok("report p.cotree");
                assert!(report.contains("exact: every count"), "{options} {link} {level} {signal:?}: {report}");
                project.ok("verify --strict p.cotree");
                fs::remove_file(project.path("p.cotree")).expect("a profile");
            }
        }
    }
}

/// Endings by handlers that are taken away as they are called (`SA_RESETHAND`), in which programs tidy up before they
/// raise the signal again.
#[test]
fn endings_behind_handlers_that_are_called_once() {
    let project = Project::new(&[("main.c", include_str!("../programs/handlers_once.c"))]);
    for (options, link) in [("", ""), ("--profile path", ""), ("--profile trace", ""), ("", "-static")] {
        for level in ["-O0", "-O2"] {
            project.ok(&format!("{options} --verify cc {link} {level} -g main.c -o program"));
            for way in ["0", "1", "2", "3"] {
                let mut command = project.command(project.path("program"));
                assert_eq!(ended_by(&project, command.arg(way).env("COTREE_FILE", "p.cotree"), None), 15, "{way}");
                let report = project.ok("report p.cotree");
                // A handler that is interrupted by itself has a stream of its own, whose end is not known.
                let exact = way != "1" || !options.contains("trace");
                assert_eq!(report.contains("exact: every count"), exact, "{options} {link} {level} {way}: {report}");
                project.ok(if exact { "verify --strict p.cotree" } else { "verify p.cotree" });
                fs::remove_file(project.path("p.cotree")).expect("a profile");
            }
        }
    }
}

/// Functions of a static libc that install handlers call each other: a handler is behind ours once.
#[test]
fn handlers_of_traced_static_executables() {
    let project = Project::new(&[("main.c", include_str!("../programs/handlers_installed.c"))]);
    for link in ["", "-static"] {
        project.ok(&format!("--profile trace --verify cc {link} -O1 -g main.c -o program"));
        let mut command = project.command(project.path("program"));
        let output = run(&mut command, "p.cotree");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "5 handled\n", "{link}: {output:?}");
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// Endings by default signals while other threads run, some of them in the middle of counting.
#[test]
fn endings_by_default_signals_beside_threads() {
    let project = Project::new(&[(
        "main.c",
        "#include <pthread.h>\n#include <unistd.h>\nstatic volatile long sum;\n\
         static int __attribute__((noinline)) odd(int i) { return i & 1; }\n\
         static void *work(void *p) { for (int i = 0;; i++) { if (odd(i)) sum += i; if (i % 50 == 0) usleep(100); } return p; }\n\
         static void *wait_long(void *p) { for (;;) pause(); return p; }\n\
         int main(void) { pthread_t t; for (int i = 0; i < 3; i++) pthread_create(&t, 0, i ? work : wait_long, 0); for (;;) pause(); }\n",
    )]);
    project.ok("--verify cc -O1 -g -pthread main.c -o program");
    for _ in 0..5 {
        let mut command = project.command(project.path("program"));
        assert_eq!(ended_by(&project, command.env("COTREE_FILE", "p.cotree"), Some("TERM")), 15);
        // Nothing is wrong that is not said to be.
        project.ok("verify p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// The program sees nothing of it, nor does its parent.
#[test]
fn default_signals_stay_what_they_are() {
    let project = Project::new(&[("main.c", include_str!("../programs/default_signals.c"))]);
    project.ok("--profile none cc -w -O1 -pthread main.c -o plain");
    // Not the profile's own files: it limits their size.
    let run = |program: &str| succeed(project.command(project.path(program)).env("COTREE_FILE", "%p.cotree"));
    let plain = run("plain");
    for (options, link) in [("", ""), ("--profile path", ""), ("", "-static")] {
        project.ok(&format!("{options} cc -w -O1 -g -pthread {link} main.c -o program"));
        assert_eq!(run("program"), plain, "{options} {link}");
    }
    // Ignored from the start, as by nohup.
    let script = |program: &str| format!("trap '' TERM HUP; exec ./{program}");
    let ignoring = |program: &str| {
        let mut shell = project.command("/bin/sh");
        succeed(shell.args(["-c", &script(program)]).env("COTREE_FILE", "%p.cotree"))
    };
    assert_eq!(ignoring("program"), ignoring("plain"));
}

/// A fault in the middle of profiled code. What is compiled as it is written is exact, to the line; of what is
/// optimised, only functions that may have been there are in doubt.
#[test]
fn endings_by_faults() {
    let project = Project::new(&[("main.c", finding!("ended-by-fault.c"))]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--verify cc {level} -g main.c -o program"));
        let mut command = project.command(project.path("program"));
        let output = run(&mut command, "p.cotree");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(11), "{level}");
        let report = project.ok("report p.cotree");
        assert_eq!(report.contains("exact: every count"), level == "-O0", "{level}: {report}");
        project.ok(if level == "-O0" { "verify --strict p.cotree" } else { "verify p.cotree" });
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// All ways to fault, by instructions, by calls of the C library that the compiler makes or knows to return, and in
/// inlined code.
#[test]
fn faults_are_known_by_their_instructions() {
    let source = include_str!("../programs/faults.c");
    let names = source.split_once("ways[] = {").and_then(|(_, rest)| rest.split_once('}')).expect("a list").0;
    let names: Vec<_> = names.split(',').map(|name| name.trim().trim_start_matches("(way)").to_owned()).collect();
    assert_eq!(names.len(), 18);
    let project = Project::new(&[("main.c", source)]);
    for options in ["", "--threads on --profile block", "--at early --profile vertex"] {
        project.ok(&format!("--verify {options} cc -O0 -g -w main.c -o program"));
        for (number, name) in names.iter().enumerate() {
            let output = run(project.command(project.path("program")).arg(number.to_string()), "p.cotree");
            let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
            assert!(matches!(signal, Some(4 | 8 | 11)), "{options} {name}: {signal:?}");
            let report = project.ok("report p.cotree");
            assert!(report.contains("exact: every count"), "{options} {name}: {report}");
            project.ok("verify --strict p.cotree");
            let page = project.ok("annotate p.cotree");
            let lines = page.lines().filter(|line| !line.contains("branch at"));
            let mut lines = lines.skip_while(|line| !line.contains(&format!("static void {name}(")));
            let mut count = || lines.next().and_then(|line| line.split_whitespace().next().map(str::to_owned));
            let counts = [count().expect("a line"), count().expect("a line")];
            assert_eq!(counts, if name == "in_loop" { ["8", "7"] } else { ["1", "0"] }, "{options} {name}: {page}");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// A library that starts threads is enough for a program of several threads, also one that another library needs.
#[test]
fn threads_that_start_in_libraries() {
    let project = Project::new(&[
        ("lib.c", finding!("threads-in-a-plain-library/lib.c")),
        ("main.c", finding!("threads-in-a-plain-library/main.c")),
        ("via/via.c", "void in_thread(void); void via(void) { in_thread(); }\n"),
        ("indirect.c", "void via(void);\nint main(void) { via(); return 0; }\n"),
        (
            "each.c",
            "#include <pthread.h>\nvoid each(void *(*f)(void *)) {\n  pthread_t t[4];\n\
             for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, f, 0);\n  for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }\n",
        ),
        (
            "calls.c",
            "void each(void *(*)(void *));\nstatic int __attribute__((noinline)) odd(int i) { return i & 1; }\n\
             static void *work(void *p) { volatile long s = 0; for (int i = 0; i < 200000; i++) if (odd(i)) s++; return p; }\n\
             int main(void) { each(work); return 0; }\n",
        ),
    ]);
    let library = |arguments: &str| {
        succeed(project.command("gcc").args(["-shared", "-fPIC"]).args(arguments.split_whitespace()));
    };
    library("lib.c -o liblib.so -pthread");
    library("each.c -o libeach.so -pthread");
    library("via/via.c -o via/libvia.so -L. -llib -Wl,-rpath,$ORIGIN/..");
    for linker in ["bfd", "gold", "mold"] {
        for sources in ["main.c -llib", "indirect.c -Lvia -lvia -Wl,-rpath,via", "calls.c -leach"] {
            project.ok(&format!("--verify cc -fuse-ld={linker} -O1 -g {sources} -L. -Wl,-rpath,. -o program"));
            succeed(project.command("./program").env("COTREE_FILE", "p.cotree"));
            let report = project.ok("report p.cotree");
            assert!(report.contains("exact: every count"), "{linker} {sources}: {report}");
            project.ok("verify --strict p.cotree");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
        // Libraries of the toolchain, and others that start none, change nothing.
        fs::write(project.path("none.c"), "int main(void) { return 0; }\n").expect("a source");
        project.ok(&format!("c++ -fuse-ld={linker} -O1 none.c -lm -lpthread -o program"));
        let code = succeed(project.command("objdump").args(["-d", "--disassemble=main", "program"]));
        assert!(!code.contains("%gs:"), "{linker}: {code}");
    }
    // The library is profiled, too.
    project.ok("--verify cc -O1 -g -fPIC -shared lib.c -o libboth.so -pthread");
    project.ok("--verify cc -O1 -g main.c -L. -lboth -Wl,-rpath,. -o program");
    succeed(project.command("./program").env("COTREE_FILE", "%n.cotree"));
    for profile in ["program.cotree", "libboth.so.cotree"] {
        assert!(project.ok(&format!("report {profile}")).contains("exact: every count"), "{profile}");
        project.ok(&format!("verify --strict {profile}"));
    }
    // Where it slips through, the remedy is named.
    project.ok("--threads off cc -O1 -g calls.c -L. -leach -Wl,-rpath,. -o program");
    succeed(project.command("./program").env("COTREE_FILE", "p.cotree"));
    let report = project.ok("report p.cotree");
    assert!(report.contains("NOT ALL EXACT") && report.contains("--threads on"), "{report}");
}

/// OpenMP has a pool of threads, which never end.
#[test]
fn threads_by_openmp() {
    // The compiler's own, which cotree chooses by the same rule.
    let version = (14..=40)
        .rev()
        .find(|version| fs::exists(format!("/usr/lib/llvm-{version}/lib/libomp.so")).is_ok_and(|there| there));
    let Some(version) = version else { return eprintln!("no OpenMP here") };
    let project = Project::new(&[("main.c", finding!("threads-by-openmp.c"))]);
    for level in ["-O0", "-O2"] {
        let folder = format!("/usr/lib/llvm-{version}/lib");
        project.ok(&format!("--verify cc {level} -g -fopenmp main.c -L{folder} -Wl,-rpath,{folder} -o program"));
        assert_eq!(succeed(project.command("./program").env("COTREE_FILE", "p.cotree")), "500000\n");
        let report = project.ok("report p.cotree");
        assert!(report.contains("exact: every count"), "{level}: {report}");
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn threads_by_glib() {
    let found = Command::new("pkg-config").args(["--cflags", "--libs", "glib-2.0"]).output();
    let Some(found) = found.ok().filter(|found| found.status.success()) else { return eprintln!("no GLib here") };
    let flags = String::from_utf8(found.stdout).expect("flags");
    let project = Project::new(&[("main.c", finding!("threads-by-glib.c"))]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--verify cc {level} -g main.c {} -o program", flags.trim()));
        assert_eq!(succeed(project.command("./program").env("COTREE_FILE", "p.cotree")), "ok\n");
        let report = project.ok("report p.cotree");
        assert!(report.contains("exact: every count"), "{level}: {report}");
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// LLVM can't lower notes at calls whose results are not in plain registers: it crashed, or made one more call, to
/// nowhere.
#[test]
fn calls_with_results_that_llvm_cannot_note() {
    let project = Project::new(&[
        ("complex.c", finding!("path-complex-long-double.c")),
        ("divxc3.c", finding!("path-divxc3.c")),
        (
            "early.c",
            "#include <stdio.h>\n#include <stdlib.h>\nvolatile int more;\n\
             __attribute__((noinline)) long double g(int i) { if (i == 7) exit(0); return i + 1.0L; }\n\
             __attribute__((noinline)) long double h(int i) { long double s = 0; if (more) puts(\"x\"); s += g(i); if (more) puts(\"y\"); return s; }\n\
             int main(void) { long double s = 0; for (int i = 0; i < 9; i++) { if (i & 1) puts(\"o\"); s += h(i); } printf(\"%Lg\\n\", s); return 0; }\n",
        ),
    ]);
    for level in ["-O0", "-O2"] {
        for (source, output) in [("complex.c", "3\n"), ("divxc3.c", "ok\n"), ("early.c", "o\no\no\no\n")] {
            project.ok(&format!("--verify --profile path cc {level} -g {source} -lm -o program"));
            assert_eq!(succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree")), output);
            let report = project.ok("report p.cotree");
            if source == "early.c" {
                // The register is not known of the activation that ended there. With optimisation, neither is that of
                // the caller, whose loop is unrolled after the probes are in.
                let flagged = if level == "-O0" { "NOT ALL EXACT: 1 of 3" } else { "NOT ALL EXACT: 2 of 3" };
                assert!(report.contains(flagged), "{level}: {report}");
                project.ok("verify p.cotree");
            } else {
                assert!(report.contains("exact: every count"), "{level} {source}: {report}");
                project.ok("verify --strict p.cotree");
            }
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// A line of nothing but a call that was inlined ran as often as the copy was entered.
#[test]
fn lines_that_hold_only_an_inlined_call() {
    let wordfreq = include_str!("../../../../examples/wordfreq.c");
    let project = Project::new(&[("main.c", finding!("inlined-call-lines.c")), ("wordfreq.c", wordfreq)]);
    let count_of = |page: &str, line: &str| {
        let found = page.lines().find(|row| row.contains(line)).unwrap_or_else(|| panic!("{line}: {page}"));
        found.split_whitespace().next().expect("a count").to_owned()
    };
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        project.ok(&format!("cc {level} main.c -o program"));
        succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
        let page = project.ok("annotate p.cotree");
        let counts = ["    4:", "    9:", "   11:"].map(|line| count_of(&page, line));
        assert_eq!(counts, ["100", "66", "34"], "{level}: {page}");
        assert!(project.ok("export --format lcov p.cotree").contains("DA:11,34\n"), "{level}");
        let report = project.ok("report p.cotree");
        let bump = report.lines().find(|line| line.contains(" bump ")).expect("the copies' function");
        assert_eq!(bump.split_whitespace().collect::<Vec<_>>()[..2], ["100", "100"], "{level}: {report}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
    // The README's own example.
    project.ok("cc -O2 -o wordfreq wordfreq.c");
    let mut command = project.command(project.path("wordfreq"));
    let text = fs::File::open(project.path("wordfreq.c")).expect("the source");
    succeed(command.stdin(text).env("COTREE_FILE", "p.cotree"));
    assert_eq!(count_of(&project.ok("annotate p.cotree"), "   59:"), "285");
}

/// What is in doubt is marked wherever it stands, and said where it can't be marked.
#[test]
fn doubts_reach_the_page() {
    let project = Project::new(&[(
        "main.c",
        "#include <pthread.h>\nstatic int __attribute__((noinline)) odd(int i) { return i & 1; }\n\
         static void *work(void *p) { volatile long s = 0; for (int i = 0; i < 1000; i++) if (odd(i)) s++; return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }\n",
    )]);
    project.ok("--verify --threads off cc -O0 -g -pthread main.c -o program");
    succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
    let report = project.ok("report p.cotree");
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let table = report.split_once("Hottest functions").expect("functions").1;
    for row in table.lines().filter(|line| line.contains("main.c:")) {
        let unmarked: Vec<_> = row.split_whitespace().filter(|word| is_number(word) && !word.contains('%')).collect();
        assert!(unmarked.is_empty(), "{row}: {report}");
    }
    for total in ["functions run", "blocks run", "function entries", "block executions", "instructions"] {
        let row = report.lines().find(|line| line.trim_start().starts_with(total)).expect("a total");
        assert!(row.contains('~'), "{row}: {report}");
    }
    let page = project.ok("annotate p.cotree");
    assert!(page.contains("true ~500, false ~500"), "{page}");
    for line in [
        "export --format lcov p.cotree",
        "export p.cotree",
        "merge p.cotree -o m.cotree",
        "diff p.cotree p.cotree",
        "cfg odd p.cotree",
    ] {
        let output = project.cotree(line).output().expect("cotree starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && said.contains("3 of 3 functions") && said.contains("cannot be vouched for"),
            "{line}: {said}"
        );
        assert!(project.fails(&format!("{line} --strict")).contains("cannot be vouched for"), "{line}");
    }
}

/// "OK" is said only where nothing differs.
#[test]
fn differences_are_not_ok() {
    let project = Project::new(&[("main.c", "int main(void) { *(volatile int *)0 = 1; return 0; }\n")]);
    project.ok("--verify cc -O0 -g main.c -o program");
    run(&mut project.command(project.path("program")), "p.cotree");
    let said = project.ok("verify p.cotree");
    assert!(!said.contains("OK:") || said.contains(" 0 counts differ"), "{said}");
}

/// Lines that only reports need are in the map, and not in the executable.
#[test]
fn debug_information_that_nobody_asked_for() {
    let project = Project::new(&[
        ("main.c", "int other(int);\nint main(int c, char **v) { return other(c) - 2 + (v == 0); }\n"),
        ("other.c", "int other(int n) { return n + 1; }\n"),
    ]);
    // With these sources' names in it, or not: the C library's own files may have sections of the kind, too.
    let has_lines = |line: &str| {
        project.ok(&format!("{line} main.c other.c -o program"));
        succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
        assert!(project.ok("annotate p.cotree").contains("return n + 1;"), "{line}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
        let lines = succeed(project.command("readelf").args(["--debug-dump=rawline", "program"]));
        lines.contains("other.c")
    };
    for linker in ["bfd", "gold", "mold"] {
        assert!(!has_lines(&format!("cc -O1 -fuse-ld={linker}")), "{linker}");
        assert!(has_lines(&format!("cc -O1 -g -fuse-ld={linker}")), "{linker}");
    }
}
