//! Programs that go behind the C library's back: processes and threads by system calls, handlers that others install,
//! calls through null pointers, stacks that nobody can walk.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;

/// Runs the program, which writes `p.profile` anew. Gives what it prints.
fn run(project: &Project, arguments: &[&str]) -> String {
    if project.path("p.profile").exists() {
        fs::remove_file(project.path("p.profile")).expect("a profile");
    }
    succeed(project.command(project.path("program")).args(arguments).env("COTREE_FILE", "p.profile"))
}

/// How often each function ran, by the tally in `expected`, in the profile; and that it vouches for all its counts.
fn exact(project: &Project, file: &str, expected: &[(&str, u64)]) {
    project.ok(&format!("verify --strict {file}"));
    let json: Value = serde_json::from_str(&project.ok(&format!("export --format json {file}"))).expect("JSON");
    for (name, count) in expected {
        let functions = json["units"][0]["functions"].as_array().or(json["functions"].as_array()).expect("functions");
        let function = functions.iter().find(|f| f["name"] == *name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(function["blocks"][0]["count"].as_u64(), Some(*count), "{name} in {file}");
    }
}

/// The profile says what is wrong with it.
fn doubted(project: &Project, file: &str, why: &str) {
    let report = project.ok(&format!("report {file}"));
    assert!(!report.contains("exact: every count"), "{report}");
    assert!(report.contains(why), "{report}");
}

const PROCESSES: &str = r#"#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) __asm__ volatile(""); }
__attribute__((noinline)) void leave(int n) { if (n > 0) leave(n - 1); else syscall(SYS_exit_group, 0); __asm__ volatile(""); }
__attribute__((noinline)) long child_of(const char *how) {
  if (!strcmp(how, "fork")) return syscall(SYS_fork);
  if (!strcmp(how, "clone")) return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  unsigned long arguments[11] = {0, 0, 0, 0, SIGCHLD};
  return syscall(SYS_clone3, arguments, sizeof arguments);
}
int main(int argc, char **argv) {
  (void)argc;
  if (!strcmp(argv[1], "exec")) {
    char *words[] = {"true", 0}, *none[] = {0};
    work(1);
    syscall(SYS_execve, "/no/such/file", words, none);
    work(2);
    syscall(SYS_execveat, -1, "/bin/true", words, none, 0);
    return 1;
  }
  work(1);
  long child = child_of(argv[1]);
  if (child == 0) {
    for (int i = 0; i < 5; i++) work(i);
    leave(3);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
  for (int i = 0; i < 2; i++) work(i);
  leave(1);
}
"#;

#[test]
fn processes_by_system_calls() {
    let project = Project::new(&[("main.c", PROCESSES)]);
    for options in ["--verify cc -O0", "--verify cc -O2", "--verify cc -O2 -static", "--verify --threads on cc -O1"] {
        project.ok(&format!("{options} -g main.c -o program"));
        for how in ["fork", "clone", "clone3"] {
            let mut command = project.command(project.path("program"));
            let run = command.arg(how).env("COTREE_FILE", "%p.profile").spawn().expect("a program");
            let parent = run.id();
            assert!(run.wait_with_output().expect("it ran").status.success(), "{options} {how}");
            let files = fs::read_dir(project.path(".")).expect("a folder").map(|f| f.expect("an entry").file_name());
            let files: Vec<String> = files.map(|f| f.to_string_lossy().into_owned()).collect();
            let profiles: Vec<&String> = files.iter().filter(|name| name.ends_with(".profile")).collect();
            assert_eq!(profiles.len(), 2, "{options} {how}: {files:?}");
            for file in profiles {
                if *file == format!("{parent}.profile") {
                    exact(&project, file, &[("work", 3), ("leave", 2), ("main", 1)]);
                } else {
                    exact(&project, file, &[("work", 5), ("leave", 4), ("main", 0)]);
                }
                fs::remove_file(project.path(file)).expect("a profile");
            }
        }
        run(&project, &["exec"]);
        exact(&project, "p.profile", &[("work", 2), ("main", 1)]);
        fs::remove_file(project.path("p.profile")).expect("a profile");
    }
}

/// What a thread does at the bottom of `deep` is `END`.
const VANISHING: &str = r#"#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef END
#define END __asm__ volatile("syscall" ::"a"(SYS_exit), "D"(0) : "rcx", "r11", "memory")
#endif
__attribute__((noinline)) long deep(long n) {
  if (n == 0) END;
  long below = deep(n - 1);
  __asm__ volatile("");
  return below;
}
static void *vanish(void *p) { return (void *)deep((long)p); }
static void *end(void *p) { return p; }
int main(int argc, char **argv) {
  (void)argv;
  pthread_t t;
  pthread_create(&t, 0, vanish, (void *)3L);
  pthread_join(t, 0);
  /* Has the stack of the one before. */
  if (argc > 1) { pthread_create(&t, 0, end, 0); pthread_join(t, 0); }
  return 0;
}
"#;

#[test]
fn threads_that_end_by_the_system_call() {
    let project = Project::new(&[("main.c", VANISHING)]);
    project.ok("--verify cc -O1 -g -pthread -DEND=syscall(SYS_exit,0) main.c -o program");
    for arguments in [&[][..], &["another"]] {
        run(&project, arguments);
        exact(&project, "p.profile", &[("deep", 4), ("vanish", 1), ("end", arguments.len() as u64)]);
    }
}

#[test]
fn threads_that_vanish_are_missed() {
    let project = Project::new(&[("main.c", VANISHING)]);
    project.ok("cc -O1 -g -pthread main.c -o program");
    for arguments in [&[][..], &["another"]] {
        run(&project, arguments);
        doubted(&project, "p.profile", "1 thread ");
    }
}

#[test]
fn children_that_share_memory_are_not_vouched_for() {
    let program = |clone: &str| {
        format!(
            "#define _GNU_SOURCE\n#include <sched.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n\
             #include <unistd.h>\nstatic volatile long sum;\n\
             static int child(void *p) {{ for (long i = 0; i < (long)p; i++) sum += i; return 0; }}\n\
             int main(void) {{ char *stack = malloc(65536); int status;\n  pid_t p = {clone};\n\
             child((void *)5L);\n  return waitpid(p, &status, 0) != p || status != 0; }}\n"
        )
    };
    let copied = program("clone(child, stack + 65536, SIGCHLD, (void *)7L)");
    let shared = program("clone(child, stack + 65536, CLONE_VM | SIGCHLD, (void *)7L)");
    let fixed = program("clone(child, (static char[65536]){0} + 65536, CLONE_VM | SIGCHLD, (void *)7L)")
        .replace("(static char[65536]){0}", "fixed")
        .replace("static volatile long sum;", "static volatile long sum; static char fixed[65536];");
    let killed = program("clone(child, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)7L)")
        .replace("sum += i; return 0;", "sum += i; if ((long)p == 7) kill(getpid(), SIGKILL); return 0;")
        .replace("status != 0", "!WIFSIGNALED(status)");
    let named = "int clone(int n) { return n + 1; }\nint twice(int n);\n\
                 int main(void) { return twice(3) + clone(1) != 10; }\n";
    let project = Project::new(&[
        ("copied.c", &copied),
        ("shared.c", &shared),
        ("fixed.c", &fixed),
        ("killed.c", &killed),
        ("named.c", named),
        ("twice.c", "int clone(int n);\nint twice(int n) { return clone(n) * 2; }\n"),
    ]);
    for level in ["-O0", "-O2", "-O1 -static"] {
        let sharing = "shared the main thread's counters";
        for (name, why) in [("shared", sharing), ("fixed", sharing), ("killed", "another process")] {
            project.ok(&format!("cc {level} -g {name}.c -o program"));
            run(&project, &[]);
            doubted(&project, "p.profile", why);
        }
        // One with a copy of the memory has a profile of its own.
        project.ok(&format!("--verify cc {level} -g copied.c -o program"));
        run(&project, &[]);
        exact(&project, "p.profile", &[("main", 1)]);
        // A function that only has that name.
        project.ok(&format!("--verify cc {level} -g named.c twice.c -o program"));
        run(&project, &[]);
        project.ok("verify --strict p.profile");
    }
}

/// Who asks the kernel whether it knows a call gets the kernel's answer.
#[test]
fn calls_that_the_kernel_refuses() {
    let project = Project::new(&[(
        "main.c",
        "#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n\
         int main(void) {\n  long a = syscall(SYS_clone3, (void *)0, 0UL); int first = errno;\n\
         long b = syscall(SYS_clone3, (void *)16, 88UL); printf(\"%ld %d %ld %d\\n\", a, first, b, errno);\n  return 0; }\n",
    )]);
    project.ok("--verify cc -O1 -g main.c -o program");
    let said = run(&project, &[]);
    assert_eq!(said, "-1 22 -1 14\n");
    project.ok("verify --strict p.profile");
}

/// An emulator's `syscall`, in another file of the program, in a native object, in a library.
#[test]
fn functions_that_are_only_called_syscall() {
    let project = Project::new(&[
        (
            "main.c",
            "#include <stdio.h>\nlong syscall(long, long);\n\
             int main(void) {\n  for (int i = 0; i < 2; i++) printf(\"%ld %ld %ld\\n\", syscall(231, i), syscall(57, i), syscall(60, i));\n\
             return 0; }\n",
        ),
        ("own.c", "long syscall(long number, long a) { return number * 10 + a; }\n"),
    ]);
    succeed(project.command("gcc").args(["-O2", "-c", "own.c", "-o", "own.o"]));
    succeed(project.command("gcc").args(["-shared", "-fPIC", "own.c", "-o", "libown.so"]));
    for rest in ["own.c", "own.o", "-L. -lown -Wl,-rpath,$ORIGIN", "own.c -static"] {
        project.ok(&format!("--verify cc -O1 -g main.c {rest} -o program"));
        let said = run(&project, &[]);
        assert_eq!(said, "2310 570 600\n2311 571 601\n", "{rest}");
        project.ok("verify --strict p.profile");
    }
}

/// A function of the program's own in front of one that the runtime stands in front of.
#[test]
fn wraps_of_the_programs_own() {
    let project = Project::new(&[(
        "main.c",
        "#include <stdlib.h>\n#include <unistd.h>\nvoid __real_exit(int);\nlong __real_syscall(long, ...);\nstatic int calls;\n\
         void __wrap_exit(int n) { __real_exit(n - calls); }\n\
         long __wrap_syscall(long number) { calls++; return __real_syscall(number); }\n\
         __attribute__((noinline)) static void deep(int n) { if (n > 0) deep(n - 1); else exit(4); __asm__ volatile(\"\"); }\n\
         int main(void) { syscall(39); deep(calls + 1); return 1; }\n",
    )]);
    for linker in ["", "-fuse-ld=gold", "-fuse-ld=mold", "-static"] {
        project.ok(&format!("--verify cc -O1 -g {linker} -Wl,--wrap=exit -Wl,--wrap,syscall main.c -o program"));
        let mut command = project.command(project.path("program"));
        let status = command.env("COTREE_FILE", "p.profile").status().expect("a program");
        assert_eq!(status.code(), Some(3), "{linker}");
        exact(&project, "p.profile", &[("deep", 3), ("main", 1)]);
        fs::remove_file(project.path("p.profile")).expect("a profile");
    }
}

#[test]
fn handlers_that_libraries_install_are_seen_at_the_end() {
    let project = Project::new(&[
        ("library.c", "#include <signal.h>\nvoid install(void (*handler)(int)) { signal(SIGUSR1, handler); }\n"),
        (
            "main.c",
            "#include <stdlib.h>\nvoid install(void (*)(int));\nint kill(int, int);\nint getpid(void);\n\
             static volatile long sum;\nstatic void add(int n) { for (int i = 0; i < n; i++) sum += i; }\n\
             int execl(const char *, const char *, ...);\n\
             int main(int argc, char **argv) { (void)argv; if (argc > 1) { install(add); kill(getpid(), 10); } add(3);\n\
             if (argc > 2) execl(\"/bin/true\", \"true\", (char *)0);\n  return 0; }\n",
        ),
    ]);
    succeed(project.command("gcc").args(["-shared", "-fPIC", "library.c", "-o", "liblibrary.so"]));
    project.ok("cc -O1 -g main.c -o program -L. -llibrary -Wl,-rpath,$ORIGIN");
    run(&project, &[]);
    assert!(project.ok("report p.profile").contains("exact: every count"));
    for arguments in [&["install"][..], &["install", "exec"]] {
        run(&project, arguments);
        doubted(&project, "p.profile", "behind its back");
    }
}

#[test]
fn a_call_through_a_null_pointer_is_a_call() {
    let project = Project::new(&[(
        "main.c",
        r#"#include <signal.h>
#include <stdlib.h>
static void handler(int number) { exit(number == SIGSEGV ? 0 : 1); }
typedef void function(int);
static function *volatile nowhere;
__attribute__((noinline)) void call(int n) { if (n > 0) call(n - 1); else nowhere(n); __asm__ volatile(""); }
__attribute__((noinline)) void jump(int n) { nowhere(n); }
int main(int argc, char **argv) {
  (void)argv;
  signal(SIGSEGV, handler);
  if (argc > 1) jump(3); else call(3);
  return 2;
}
"#,
    )]);
    for level in ["-O0", "-O2", "-O1 -static"] {
        project.ok(&format!("--verify cc {level} -g main.c -o program"));
        run(&project, &[]);
        exact(&project, "p.profile", &[("call", 4), ("jump", 0), ("main", 1), ("handler", 1)]);
        run(&project, &["jump"]);
        exact(&project, "p.profile", &[("call", 0), ("jump", 1), ("main", 1), ("handler", 1)]);
    }
}

/// The unwind tables know nothing of what the assembly does to the stack pointer; where they look for a return address,
/// there is zero.
#[test]
fn a_stack_that_ends_in_zeros_is_not_taken_for_walked() {
    let project = Project::new(&[(
        "main.c",
        r#"#include <stdlib.h>
__attribute__((noinline, used)) void leave(void) { exit(0); }
__attribute__((noinline)) void off(int n) {
  if (n > 0) off(n - 1);
  else __asm__ volatile("and $-16, %%rsp\nmov $16, %%ecx\n1: pushq $0\ndec %%ecx\njnz 1b\ncall leave" ::: "rcx", "memory");
  __asm__ volatile("");
}
int main(void) { off(3); return 1; }
"#,
    )]);
    for level in ["-O0 -fomit-frame-pointer", "-O2"] {
        project.ok(&format!("cc {level} -g main.c -o program"));
        run(&project, &[]);
        doubted(&project, "p.profile", "could not be walked");
    }
}
