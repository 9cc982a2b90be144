//! How processes end: beside threads that start, jump and throw, under signals, by destructors, in functions that are
//! left out; and how their children and resets begin.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;
use std::process::Child;

/// A process that is not to outlive the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it was ours");
    }
}

#[test]
fn threads_that_start_while_the_process_ends() {
    let project = Project::new(&[(
        "main.c",
        r#"#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile long work;
static void *leaf(void *p) { for (int i = 0; i < 200; i++) work += i; return p; }
static void *spawner(void *p) {
  /* Not by pthread_detach: glibc's reads the record of a thread that may have ended meanwhile. */
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (;;) { pthread_t t; pthread_create(&t, &detached, leaf, p); }
}
int main(int argc, char **argv) {
  (void)argc;
  for (int i = 0; i < 2; i++) { pthread_t t; pthread_create(&t, 0, spawner, 0); }
  usleep(atoi(argv[1]));
  exit(0);
}
"#,
    )]);
    project.ok("--verify cc -O1 -g -pthread main.c -o program");
    // On a busy machine threads are in the middle of something when they are to stop, such as in a lock of libc's.
    let busy = || project.command("/bin/sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
    let busy: Vec<_> = (0..3).map(|_| Killed(busy())).collect();
    // If it is too busy, one may have to be held in the middle of counting code. What differs then is declared.
    let mut declared = 0;
    for round in 0..24 {
        let file = format!("p{round}.cotree");
        succeed(project.command(project.path("program")).arg((round % 8 * 700).to_string()).env("COTREE_FILE", &file));
        project.ok(&format!("verify {file}"));
        let strictly = project.cotree(&format!("verify --strict {file}")).output().expect("cotree starts");
        declared += usize::from(!strictly.status.success());
    }
    drop(busy);
    assert!(declared <= 4, "{declared} of 24 runs were not exact");
}

/// An `exec` that fails has ended the profile for a while: other threads that need more room in the file wait for that.
#[test]
fn threads_go_on_counting_while_an_exec_fails() {
    let project = Project::new(&[(
        "main.c",
        r##"#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int sink, stop;
#define B(i) if (x >> i & 1) sink = i;
__attribute__((noinline)) static void paths(unsigned x) {
  B(0) B(1) B(2) B(3) B(4) B(5) B(6) B(7) B(8) B(9) B(10) B(11) B(12) B(13) B(14) B(15) B(16) B(17) B(18) B(19)
}
static void *counter(void *p) { for (unsigned k = 0; !stop; k++) paths(k * 2654435761u >> 12); return p; }
static void *leaf(void *p) { paths((unsigned)(long)p); return p; }
static void *spawner(void *p) {
  for (long k = 0; !stop; k++) { pthread_t t; pthread_create(&t, 0, leaf, (void *)k); pthread_join(t, 0); }
  return p;
}
int main() {
  /* So many folders to look into take some 20 ms. */
  enum { FOLDERS = 10000 };
  static char path[FOLDERS * 9];
  for (int i = 0; i < FOLDERS; i++) memcpy(path + i * 9, "/nowhere:", 9);
  path[sizeof path - 1] = 0;
  setenv("PATH", path, 1);
  pthread_t t[2];
  pthread_create(&t[0], 0, counter, 0);
  pthread_create(&t[1], 0, spawner, 0);
  for (int i = 0; i < 6; i++) execlp("no-such-program", "x", (char *)0);
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
"##,
    )]);
    for build in ["--verify --profile path --path-array 0", "--verify"] {
        project.ok(&format!("{build} cc -O1 -g -pthread main.c -o program"));
        succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
        project.ok("verify --strict p.cotree");
    }
}

/// Threads that jump and throw without end are hardly ever in a place where they can be stopped: neither in the middle
/// of what the runtime does, nor between that and the jump.
#[test]
fn threads_that_jump_and_throw_while_the_process_ends() {
    let threads = "static void *worker(void *p) { for (;;) turn((int)(long)p); return 0; }\n\
                   int main() {\n  for (int i = 0; i < 4; i++) { pthread_t t; pthread_create(&t, 0, worker, (void *)(long)i); }\n\
                   usleep(2000);\n  _exit(0); }\n";
    let jumps = format!(
        "#include <pthread.h>\n#include <setjmp.h>\n#include <unistd.h>\nstatic volatile long sink;\n\
         __attribute__((noinline)) void jump(jmp_buf b, int d) {{ if (d == 0) longjmp(b, 1); jump(b, d - 1); __asm__ volatile(\"\"); }}\n\
         __attribute__((noinline)) void turn(int d) {{ jmp_buf b; if (!setjmp(b)) jump(b, d); else sink++; }}\n{threads}"
    );
    let throws = format!(
        "#include <pthread.h>\n#include <unistd.h>\n#define NI __attribute__((noinline))\nstatic volatile long sink;\n\
         struct D {{ ~D() {{ sink = sink + 1; }} }};\n\
         NI void jump(int d) {{ D x; if (d == 0) throw 5; jump(d - 1); __asm__ volatile(\"\"); }}\n\
         NI void turn(int d) {{ try {{ jump(d); }} catch (int x) {{ sink = sink + x; }} }}\n{threads}"
    );
    let project = Project::new(&[("jumps.c", &jumps), ("throws.cc", &throws)]);
    for (compiler, source) in [("cc", "jumps.c"), ("c++", "throws.cc")] {
        project.ok(&format!("--verify {compiler} -O1 -g -pthread {source} -o program"));
        for _ in 0..20 {
            succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
            // Nothing is wrong that is not said to be.
            project.ok("verify p.cotree");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}

/// A signal that finds a child on its way into life is the child's.
#[test]
fn signals_to_children_that_were_just_forked() {
    let project = Project::new(&[(
        "main.c",
        r#"#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int got;
__attribute__((noinline)) void handler(int n) { got = n; }
pid_t _Fork(void);
int main(int argc, char **argv) {
  (void)argc;
  signal(SIGUSR1, handler);
  for (int i = 0; i < 10; i++) {
    pid_t child = argv[1][0] == 'f' ? fork() : argv[1][0] == '_' ? _Fork() : syscall(SYS_fork);
    if (child == 0) { while (!got) usleep(100); _exit(0); }
    int status;
    kill(child, SIGUSR1);
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, 0, &mask);
  return !sigisemptyset(&mask);
}
"#,
    )]);
    project.ok("--verify cc -O1 -g main.c -o program");
    for how in ["fork", "_Fork", "syscall"] {
        let mut run = project
            .command(project.path("program"))
            .arg(how)
            .env("COTREE_FILE", "%p.profile")
            .spawn()
            .expect("a program");
        let parent = format!("{}.profile", run.id());
        assert!(run.wait().expect("it ran").success(), "{how}");
        let files = fs::read_dir(project.path(".")).expect("a folder").map(|f| f.expect("an entry").file_name());
        let files = files.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.contains(".profile"));
        let files: Vec<String> = files.collect();
        assert_eq!(files.len(), 11, "{how}: {files:?}");
        for file in files {
            project.ok(&format!("verify --strict {file}"));
            let json: Value = serde_json::from_str(&project.ok(&format!("export --format json {file}"))).expect("JSON");
            let functions = json["units"][0]["functions"].as_array().expect("functions");
            let handler = functions.iter().find(|f| f["name"] == "handler").expect("the handler");
            let expected = u64::from(file != parent);
            assert_eq!(handler["blocks"][0]["count"].as_u64(), Some(expected), "{how}: {file}, parent {parent}");
            fs::remove_file(project.path(&file)).expect("a profile");
        }
    }
}

/// Destructors are the program's last word, and may end threads.
#[test]
fn destructors_count() {
    let project = Project::new(&[(
        "main.c",
        r#"#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static volatile long sink;
static pthread_t thread;
static int ends[2];
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) sink += i; }
static void *wait_for_end(void *p) { struct pollfd f = {ends[0], POLLIN, 0}; while (poll(&f, 1, -1) <= 0) {} work(1); return p; }
__attribute__((destructor)) static void finish(void) { work(5); if (write(ends[1], "x", 1) == 1) pthread_join(thread, 0); }
int main(void) {
  if (pipe(ends)) return 2;
  pthread_create(&thread, 0, wait_for_end, 0);
  work(10);
  usleep(2000);
  return 0;
}
"#,
    )]);
    for link in ["", "-static", "-static-pie", "-fuse-ld=gold -static", "-fuse-ld=mold -static"] {
        project.ok(&format!("--verify cc -O1 -g -pthread {link} main.c -o program"));
        let mut command = project.command("timeout");
        succeed(command.arg("10").arg(project.path("program")).env("COTREE_FILE", "p.cotree"));
        project.ok("verify --strict p.cotree");
        let report = project.ok("report p.cotree");
        let of = |name: &str| report.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{report}"));
        assert!(of(" work ").split_whitespace().any(|word| word == "3"), "{link}: {report}");
        assert!(report.contains(" finish "), "{link}: {report}");
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// What the end of the process does to a signal of libc's is no business of a child that came about meanwhile.
#[test]
fn children_of_a_process_that_ends_keep_libcs_signals() {
    let project = Project::new(&[(
        "main.c",
        r#"#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static volatile long sum;
static void *nap(void *p) { usleep(20000); return p; }
static void *busy(void *p) { for (;;) sum++; return p; }
static void *forker(void *p) {
  for (;;) {
    if (fork() == 0) {
      alarm(5);
      pthread_t t;
      pthread_create(&t, 0, nap, 0);
      usleep(1000);
      if (setuid(getuid())) _exit(1);
      _exit(0);
    }
    usleep(50);
  }
  return p;
}
int main(int argc, char **argv) {
  (void)argc;
  pthread_t t;
  signal(SIGCHLD, SIG_IGN);
  pthread_create(&t, 0, busy, 0);
  pthread_create(&t, 0, forker, 0);
  usleep(atoi(argv[1]));
  return 0;
}
"#,
    )]);
    project.ok("cc -O1 -g -pthread main.c -o program");
    for round in 0..6 {
        // Children have the pipe: it ends with the last of them.
        let began = std::time::Instant::now();
        let mut command = project.command(project.path("program"));
        let output = command.arg((3000 + round * 97).to_string()).output();
        assert!(output.expect("a program").status.success());
        assert!(began.elapsed().as_secs() < 5, "a child hung until its alarm");
    }
}

#[test]
fn a_reset_forgets_what_other_threads_are_in() {
    let project = Project::new(&[
        ("cotree.h", include_str!("../../../../include/cotree.h")),
        (
            "main.c",
            r#"#include "cotree.h"
#include <pthread.h>
static void *reset(void *p) { cotree_reset(); return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, reset, 0);
  pthread_join(t, 0);
  return 0;
}
"#,
        ),
    ]);
    project.ok("--verify cc -O1 -g -pthread main.c -o program");
    succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
    project.ok("verify p.cotree");
}

/// What is left out may end the program, be inlined into what is counted, and be jumped over, without a doubt about the
/// rest.
#[test]
fn functions_left_out_may_end_the_program() {
    let project = Project::new(&[(
        "main.c",
        "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         static jmp_buf place;\n\
         static void end(int n) { printf(\"%d\\n\", n); fflush(stdout); exit(n & 1); }\n\
         static void leap(int n) { if (n > 2) longjmp(place, n); }\n\
         __attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) { leap(i); s += i * i; } return s; }\n\
         __attribute__((noinline)) int twice(int n) { if (n > 5) end(n); return work(n) + work(n); }\n\
         int main(int c, char **v) {\n\
           int n = setjmp(place);\n  if (n) twice(n + 4);\n  if (fork() == 0) end(c);\n  wait(0);\n\
           return twice(c * 9 - 5) + (v == 0); }\n",
    )]);
    for options in [
        "--include work",
        "--exclude main",
        "--exclude end",
        "--exclude leap",
        "--exclude twice --verify",
        "--profile path --exclude end --exclude leap",
        "--profile path --exclude main --verify",
    ] {
        for level in ["-O0", "-O2"] {
            project.ok(&format!("{options} cc {level} -g main.c -o program"));
            let mut program = project.command(project.path("program"));
            let end = program.env("COTREE_FILE", "p-%p.cotree").output().expect("it starts");
            assert_eq!(String::from_utf8_lossy(&end.stdout), "1\n7\n", "{options} {level}");
            let profiles: Vec<_> = fs::read_dir(project.path("."))
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name().into_string().expect("our names"))
                .filter(|name| name.ends_with(".cotree"))
                .collect();
            assert_eq!(profiles.len(), 2, "{options} {level}");
            for profile in profiles {
                let report = project.ok(&format!("report {profile}"));
                assert!(report.contains("exact: every count"), "{options} {level}: {report}");
                assert!(!report.contains("no known call"), "{options} {level}: {report}");
                if options.contains("--verify") {
                    project.ok(&format!("verify {profile}"));
                }
                fs::remove_file(project.path(&profile)).expect("a profile");
            }
        }
    }
}

/// Signals that never stop coming, until the process has ended: what handlers count while the profile is completed.
#[test]
fn signals_while_the_process_ends() {
    let project = Project::new(&[(
        "main.c",
        "#include <signal.h>\n#include <sys/time.h>\nvolatile int sink;\n\
         static void handler(int number) { for (int i = 0; i < sink + 300; i++) __asm__ volatile(\"\"); (void)number; }\n\
         int main(void) { struct itimerval often = {{0, 50}, {0, 50}};\n\
           signal(SIGALRM, handler);\n  setitimer(ITIMER_REAL, &often, 0);\n\
           for (int i = 0; i < 300000; i++) __asm__ volatile(\"\");\n  return 0; }\n",
    )]);
    for options in ["--verify", "--profile block", "--profile path", "--threads on"] {
        project.ok(&format!("{options} cc -O2 main.c -o program"));
        for _ in 0..10 {
            succeed(project.command(project.path("program")).env("COTREE_FILE", "p.cotree"));
            let report = project.ok("report p.cotree");
            assert!(report.contains("exact: every count"), "{options}: {report}");
            if options == "--verify" {
                project.ok("verify p.cotree");
            }
        }
    }
}
