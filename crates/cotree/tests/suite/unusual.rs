//! Programs that do what few do: changes of stacks, sections by name, code without unwind tables, exceptions through
//! shared libraries of another linker, jumps out of handlers, profiles written to devices.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;

/// A switch of stacks by assembly, in one of its guises; the coroutine is still suspended when the process ends.
const COROUTINE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
extern void change(void **from, void *to);
static void *outside, *inside;
static int turns;
static void body(void) { for (;;) { turns++; change(&inside, outside); } }
int main(void) {
  void **top = (void **)((char *)aligned_alloc(4096, 65536) + 65536 - 64);
  *top = (void *)body;
  inside = top;
  for (int i = 0; i < 3; i++) change(&outside, inside);
  printf("%d\n", turns);
  return 0;
}
"#;

/// Saves what a callee must preserve, but for the very first change, whose target is a bare return address.
const CHANGE: &str = "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n\
                      cmpq $0, seen(%rip)\nmovq %rsp, (%rdi)\nmovq %rsi, %rsp\nje 1f\n\
                      pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n\
                      1: movq $1, seen(%rip)\nret\n";

#[test]
fn programs_that_change_stacks_are_not_vouched_for() {
    let lines = |text: &str| text.lines().map(|line| format!("\"{line}\\n\"\n")).collect::<String>();
    let data = ".data\nseen: .quad 0\n.text\n";
    let of_file = format!("{data}.globl change\nchange: {CHANGE}.section .note.GNU-stack,\"\",@progbits\n");
    let of_module = format!("__asm__({});\n", lines(&format!("{data}.globl change\nchange: {CHANGE}")));
    let of_function = format!(
        "__attribute__((used)) long seen;\n__attribute__((naked)) void change(void **from, void *to) {{ __asm__({}); }}\n",
        lines(CHANGE)
    );
    let project = Project::new(&[
        ("main.c", COROUTINE),
        ("change.s", &of_file),
        ("module.c", &of_module),
        ("function.c", &of_function),
    ]);
    project.ok("cc -c change.s -o change.o");
    succeed(project.command("ar").args(["rcs", "libchange.a", "change.o"]));
    for parts in ["module.c", "function.c", "change.s", "change.o", "-L. -lchange", "-fuse-ld=mold change.o"] {
        project.ok(&format!("cc -O1 -g main.c {parts} -o program"));
        assert_eq!(succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree")), "3\n", "{parts}");
        let report = project.ok("report p.cotree");
        assert!(!report.contains("exact: every count"), "{parts}: {report}");
        assert!(report.contains("changes stacks"), "{parts}: {report}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn arrays_of_variable_length_are_no_change_of_stacks() {
    let project = Project::new(&[
        ("main.c", "#include <stdio.h>\nint f(int n);\nint main(void) { printf(\"%d\\n\", f(5)); return 0; }\n"),
        (
            "native.c",
            "int g(char *p, int n) { for (int i = 0; i < n; i++) p[i] = i; return p[n - 1]; }\n\
             int f(int n) { int s = 0; for (int i = 1; i < n; i++) { char a[i * 100]; s += g(a, i); } return s; }\n",
        ),
    ]);
    for compiler in ["gcc", "cc"] {
        for level in ["-O0", "-O2"] {
            succeed(project.command(compiler).args([level, "-c", "native.c", "-o", "native.o"]));
            project.ok("cc -O1 -g main.c native.o -o program");
            assert_eq!(succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree")), "6\n");
            assert!(project.ok("report p.cotree").contains("exact: every count"), "{compiler} {level}");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// A handler that jumps out of the very moment in which another jump is accounted for.
#[test]
fn jumps_out_of_handlers_that_interrupt_jumps() {
    let project = Project::new(&[(
        "main.c",
        r#"#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
static sigjmp_buf out;
static volatile int ticks;
static volatile long sink;
__attribute__((noinline)) void handler(int n) { (void)n; ticks++; siglongjmp(out, 1); }
__attribute__((noinline)) void middle(jmp_buf b, int d) { if (d == 0) longjmp(b, 1); else middle(b, d - 1); __asm__ volatile(""); }
__attribute__((noinline)) void turn(int d) { jmp_buf b; if (!_setjmp(b)) middle(b, d); else sink++; }
__attribute__((noinline)) void loop(void) { for (;;) turn(60); }
int main(void) {
  signal(SIGALRM, handler);
  struct itimerval often = {{0, 1000}, {0, 1000}};
  sigsetjmp(out, 1);
  if (ticks == 0) setitimer(ITIMER_REAL, &often, 0);
  if (ticks < 10) loop();
  signal(SIGALRM, SIG_IGN);
  return 0;
}
"#,
    )]);
    project.ok("--verify cc -O1 -g main.c -o program");
    for _ in 0..5 {
        succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
        // Nothing is wrong that is not said to be.
        project.ok("verify p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn functions_in_sections_of_their_authors_choice() {
    let project = Project::new(&[(
        "main.c",
        r#"#include <stdio.h>
#include <stdlib.h>
typedef int (*task)(int);
#define TASK(n) \
  static int do_##n(int x) { if (x > n) exit(x - n - 3); return x + n; } \
  __attribute__((section("tasks"), used)) static task task_##n = do_##n;
TASK(1) TASK(2) TASK(3)
extern task __start_tasks[], __stop_tasks[];
__attribute__((section("shared_text"), noinline)) static int first(int x) { for (int i = 0; i < 3; i++) x += abs(i - x); return x; }
__attribute__((section("shared_text"), noinline)) static int second(int x) { if (x > 100) exit(9); return x * 2; }
int main(void) {
  int x = second(first(1));
  printf("%d\n", x);
  fflush(stdout);
  for (task *t = __start_tasks; t < __stop_tasks; t++) x = (*t)(x % 4);
  return x == 77;
}
"#,
    )]);
    for linker in ["bfd", "gold", "mold"] {
        for level in ["-O0", "-O2", "-O2 -Wl,--gc-sections"] {
            project.ok(&format!("--verify cc {level} -g -fuse-ld={linker} main.c -o program"));
            let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
            assert_eq!(printed, "8\n", "{linker} {level}");
            project.ok("verify --strict p.cotree");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// At `-O0` the second module's copy of the inline function is dropped in the end, and with it all that refers to the
/// thread's counters.
#[test]
fn functions_that_another_module_provides() {
    let inline = "inline int twice(int x) { return x > 6 ? 0 : x + x; }\nint other(int x);\n";
    let main =
        "#include <stdio.h>\nint main() { int (*volatile f)(int) = twice; printf(\"%d\\n\", f(4) + other(5)); }\n";
    let other = "int other(int x) { int (*volatile f)(int) = twice; return f(x) + 1; }\n";
    let project = Project::new(&[("main.cc", &format!("{inline}{main}")), ("other.cc", &format!("{inline}{other}"))]);
    for threads in ["on", "word", "off"] {
        for level in ["-O0", "-O2"] {
            project.ok(&format!("--verify --threads {threads} c++ {level} main.cc other.cc -o program"));
            let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
            assert_eq!(printed, "19\n", "{threads} {level}");
            project.ok("verify --strict p.cotree");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// Both modules define the same weak names of static code and data, and one of them a strong name for a function of
/// which the other's copy is the one that counts: by that name it is still its own.
#[test]
fn aliases_that_another_module_provides() {
    let one = r#"
#include <stdio.h>
static int real(int x) { int s = 0; for (int i = 0; i < x; i++) s += i % 3 ? i : 2; return s; }
int shared(int) __attribute__((weak, alias("real")));
int again(int) __attribute__((alias("shared")));
static _Thread_local int tls = 3;
extern _Thread_local int tls_name __attribute__((weak, alias("tls")));
static int words[3] = {1, 2, 3};
extern int words_name[3] __attribute__((weak, alias("words")));
__attribute__((weak)) int replaced(int x) { return x > 3 ? x * 2 : x + 9; }
int kept(int) __attribute__((alias("replaced")));
int other(int);
int main(int c, char **v) {
  tls_name += c;
  printf("%d %d %d %d %d", shared(c + 9), again(c + 9), tls_name, words_name[1], replaced(c));
  printf(" %d %d\n", kept(c), other(c));
  return 0;
}
"#;
    let two = r#"
static int real(int x) { int s = 0; for (int i = 0; i < x; i++) s += i % 5 ? i : 7; return s; }
int shared(int) __attribute__((weak, alias("real")));
static _Thread_local int tls = 4;
extern _Thread_local int tls_name __attribute__((weak, alias("tls")));
static int words[3] = {4, 5, 6};
extern int words_name[3] __attribute__((weak, alias("words")));
int replaced(int x) { return x > 3 ? x * 5 : x + 90; }
int other(int x) { tls_name++; words_name[0]++; return shared(x + 3) + replaced(x) + tls_name + words_name[0]; }
"#;
    let project = Project::new(&[("one.c", one), ("two.c", two)]);
    for level in ["-O0", "-O2"] {
        for order in ["one.c two.c", "two.c one.c"] {
            project.ok(&format!("--profile none cc {level} {order} -o plain"));
            let plain = succeed(&mut project.command(project.path("plain")));
            // `again` stands for what `shared` was in its own module.
            let expected = if order.starts_with("one") { "35 35 4 2 91 10 105\n" } else { "54 35 5 5 91 10 115\n" };
            assert_eq!(plain, expected, "{level} {order}");
            for method in ["edge", "path"] {
                project.ok(&format!("--verify --profile {method} cc -g {level} {order} -o program"));
                let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
                assert_eq!(printed, expected, "{method} {level} {order}");
                project.ok("verify --strict p.cotree");
                fs::remove_file(project.path("p.cotree")).expect("a profile");
            }
        }
    }
}

/// A call that became a jump is its function's return (docs/exactness.md), also if nobody comes back; where it remains
/// a call, the activation that dies in it is seen.
#[test]
fn tail_calls_are_returns() {
    let project = Project::new(&[(
        "main.c",
        "#include <stdlib.h>\nstatic volatile int sink;\n\
         __attribute__((noinline)) static int last(int n) { if (n > 6) exit(4); return n + sink; }\n\
         __attribute__((noinline)) static int caller(int n) { sink = n; return last(n * 2); }\n\
         int main(void) { for (int i = 0;; i++) sink += caller(i); }\n",
    )]);
    for (flag, returns, died) in [("", 5, 0), ("-fno-optimize-sibling-calls", 4, 1)] {
        project.ok(&format!("cc -O2 {flag} main.c -o program"));
        let status = project.command(project.path("program")).env("COTREE_FILE", "p.cotree").status();
        assert_eq!(status.expect("it starts").code(), Some(4));
        let export: Value = serde_json::from_str(&project.ok("export --format json p.cotree")).expect("JSON");
        let functions = export["units"][0]["functions"].as_array().expect("functions");
        let of = |name: &str| functions.iter().find(|f| f["symbol"] == name).expect("the function");
        let caller = of("caller");
        assert_eq!(caller["entries"], 5, "{flag}");
        assert_eq!(caller["edges"][0]["count"], returns, "{flag}");
        assert_eq!(caller["early_exits"].as_array().map(Vec::len), Some(died), "{flag}");
        assert_eq!(of("last")["early_exits"][0]["count"], 1, "{flag}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn code_that_was_told_to_have_no_unwind_tables() {
    let project = Project::new(&[(
        "main.c",
        "#include <stdlib.h>\n#include <stdio.h>\n\
         __attribute__((noinline)) static int deep(int n) { if (n == 0) { puts(\"out\"); exit(0); } return deep(n - 1) + n; }\n\
         int main(int argc, char **argv) { (void)argv; return deep(argc + 5); }\n",
    )]);
    for level in ["-O0", "-O2"] {
        let flags = "-fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer";
        project.ok(&format!("--verify cc {level} -g {flags} main.c -o program"));
        assert_eq!(succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree")), "out\n");
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

#[test]
fn exceptions_through_shared_libraries_of_every_linker() {
    let project = Project::new(&[
        (
            "library.cpp",
            "#include <stdexcept>\nstruct Guard { int &n; ~Guard() { n++; } };\n\
             int called;\n\
             int through(int x, int (*f)(int)) { Guard g{called}; return f(x) + 1; }\n",
        ),
        (
            "main.cpp",
            r#"#include <cstdio>
#include <stdexcept>
extern int called;
int through(int x, int (*f)(int));
static int thrower(int x) { if (x % 3 == 0) throw std::runtime_error("three"); return x; }
int main() {
  int sum = 0;
  for (int i = 0; i < 10; i++) {
    try { sum += through(i, thrower); } catch (const std::exception &) { sum -= 1; }
  }
  std::printf("%d %d\n", sum, called);
}
"#,
        ),
    ]);
    for linker in ["bfd", "gold", "mold"] {
        for level in ["-O0", "-O2"] {
            let flags = format!("{level} -g -fuse-ld={linker}");
            project.ok(&format!("--verify c++ {flags} -shared -fPIC library.cpp -o libthrough.so"));
            project.ok(&format!("--verify c++ {flags} main.cpp -L. -lthrough -Wl,-rpath,$ORIGIN -o program"));
            let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "%n.cotree"));
            assert_eq!(printed, "29 10\n", "{linker} {level}");
            for unit in ["program", "libthrough.so"] {
                project.ok(&format!("verify --strict {unit}.cotree"));
                fs::remove_file(project.path(&format!("{unit}.cotree"))).expect("a profile");
            }
        }
    }
}

#[test]
fn personality_routines_of_the_programs_own() {
    let project = Project::new(&[
        (
            "personality.c",
            r#"#define _GNU_SOURCE
#include <dlfcn.h>
int calls;
int __gxx_personality_v0(int version, int actions, unsigned long class, void *exception, void *context) {
  static int (*real)(int, int, unsigned long, void *, void *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "__gxx_personality_v0");
  int reason = real(version, actions, class, exception, context);
  calls++;
  return reason;
}
"#,
        ),
        (
            "main.cpp",
            r#"#include <cstdio>
extern "C" int calls;
struct Guard { int &n; ~Guard() { n++; } };
__attribute__((noinline)) static int thrower(int x, int &n) { Guard g{n}; if (x % 2) throw x; return x; }
__attribute__((noinline)) static int passed(int x, int &n) { return thrower(x, n) + 1; }
int main() {
  int sum = 0, n = 0;
  for (int i = 0; i < 6; i++) try { sum += passed(i, n); } catch (int x) { sum -= x; }
  std::printf("%d %d %s\n", sum, n, calls > 6 ? "ours" : "another");
}
"#,
        ),
    ]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--verify cc {level} -g -c personality.c"));
        project.ok(&format!("--verify c++ {level} -g main.cpp personality.o -ldl -o program"));
        let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
        assert_eq!(printed, "0 6 ours\n", "{level}");
        project.ok("verify --strict p.cotree");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// Cleanups and handlers that are left out, and inlined into what is counted: no count is wrong, though some are not
/// vouched for.
#[test]
fn exceptions_pass_functions_left_out() {
    let project = Project::new(&[(
        "main.cpp",
        "#include <cstdio>\n\
         volatile int sink;\n\
         struct Guard { ~Guard() { sink = sink + 1; } };\n\
         __attribute__((noinline)) void thrower(int n) { if (n % 3 == 0) throw n; sink = n; }\n\
         static inline void cleans(int n) { Guard g; thrower(n); sink = sink + 2; }\n\
         static inline void handles(int n) { try { thrower(n); } catch (long l) { sink = (int)l; }\n\
           catch (int i) { if (i % 2) throw; sink = i; } }\n\
         __attribute__((noinline)) int first(int n) { sink = n; cleans(n); sink = sink + 3; return n; }\n\
         __attribute__((noinline)) int second(int n) { Guard g; cleans(n); handles(n + 1); return sink; }\n\
         __attribute__((noinline)) int third(int n) { int s = 0; for (int i = 0; i < 6; i++) { sink = i; s += i; }\n\
           try { cleans(n); } catch (long) { s++; } return s; }\n\
         int main() { int c = 0; for (int i = 0; i < 60; i++) {\n\
           try { first(i); c++; } catch (int) {}\n  try { second(i); c++; } catch (int) {}\n\
           try { third(i); c++; } catch (int) {}\n } std::printf(\"%d\\n\", c); }\n",
    )]);
    for filter in
        ["--exclude *cleans*", "--exclude *first* --exclude *thrower*", "--include main", "--exclude *handles*"]
    {
        for options in ["-O0", "-O2", "--at early -O1", "--profile path -O2"] {
            let (options, level) = options.rsplit_once(' ').unwrap_or(("", options));
            project.ok(&format!("--verify {options} {filter} c++ {level} -g main.cpp -o program"));
            let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
            assert_eq!(printed, "110\n");
            let verdict = project.ok("verify p.cotree");
            assert!(
                verdict.contains("OK: ") || verdict.contains("DECLARED: "),
                "{filter} {options} {level}: {verdict}"
            );
        }
    }
}

#[test]
fn a_device_is_never_replaced_by_a_profile() {
    let project = Project::new(&[("main.c", "int main(void) { return 0; }\n")]);
    project.ok("cc -O1 main.c -o program");
    let say = |name: &str| {
        let output = project.command(project.path("program")).env("COTREE_FILE", name).output().expect("a program");
        assert!(output.status.success() && output.stdout.is_empty(), "{name}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(say("/dev/null"), "");
    let said = say("/dev/full");
    assert!(said.lines().count() == 1 && said.contains("no profile") && said.contains("/dev/full"), "{said}");
    let kind = fs::metadata("/dev/null").expect("a device").file_type();
    assert!(!kind.is_file() && !kind.is_dir());
}
