//! Shared libraries that are loaded and unloaded while threads come and go.

use crate::project::{Project, succeed};
use std::fs;

/// A library's function, with a loop.
const TWICE: &str = "int twice(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += 2; return sum; }\n";

/// Builds `main.c` and `library.c`, and runs the program, which ends with a status.
fn runs_with_its_library(project: &Project, profile: &str, code: i32) {
    project.ok(&format!("--profile {profile} cc -O1 -g -shared -fPIC library.c -o library.so"));
    project.ok(&format!("--profile {profile} cc -O1 -g -pthread main.c -ldl -o program"));
    let status = project.command(project.path("program")).env("COTREE_FILE", "%n.cotree").status();
    assert_eq!(status.expect("a program").code(), Some(code), "{profile}");
}

#[test]
fn libraries_that_come_and_go() {
    let project = Project::new(&[
        (
            "library.c",
            r#"static volatile int sink;
__attribute__((noinline)) static int leaf(int n) { sink += n; return n; }
__attribute__((noinline)) static int deep(int n, int (*call)(int)) {
  leaf(n);
  if (n == 0) return call(3);
  int r = deep(n - 1, call);
  leaf(r);
  return r + 1;
}
int entry(int n, int (*call)(int)) { int s = 0; for (int i = 0; i < n; i++) { s += deep(i, call); leaf(s); } return s; }
__attribute__((constructor)) static void comes(void) { leaf(0); }
__attribute__((destructor)) static void goes(void) { leaf(0); leaf(1); }
"#,
        ),
        (
            "main.c",
            r#"#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf back;
static int round;
static int call(int n) {
  if (round == 1) longjmp(back, 1);
  if (round == 3) exit(n);
  return n;
}
int main(void) {
  for (round = 0; round < 4; round++) {
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*entry)(int, int (*)(int)) = (int (*)(int, int (*)(int)))dlsym(library, "entry");
    if (!setjmp(back)) entry(5 + round, call);
    dlclose(library);
  }
  return 0;
}
"#,
        ),
    ]);
    for level in ["cc -O0", "cc -O2", "--threads off cc -O1"] {
        project.ok(&format!("--verify {level} -g -shared -fPIC library.c -o library.so"));
        project.ok(&format!("--verify {level} -g main.c -ldl -o program"));
        let status = project.command(project.path("program")).env("COTREE_FILE", "%n.%p.cotree").status();
        assert_eq!(status.expect("a program").code(), Some(3), "{level}");
        let profiles: Vec<_> = fs::read_dir(project.path(""))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .filter(|name| name.ends_with(".cotree"))
            .collect();
        assert_eq!(profiles.len(), 5, "{level}: {profiles:?}");
        for profile in profiles {
            project.ok(&format!("verify --strict {profile}"));
            fs::remove_file(project.path(&profile)).expect("a profile");
        }
    }
}

/// Whoever loads a library need not be there when it is unloaded. A thread that vanished within it is told of.
#[test]
fn libraries_outlive_the_threads_that_load_them() {
    let project = Project::new(&[
        (
            "library.c",
            r#"#include <sys/syscall.h>
#include <unistd.h>
int entry(int n) { int s = 0; for (int i = 0; i < n; i++) { if (i == 9) syscall(SYS_exit, 0); s += i; } return s; }
"#,
        ),
        (
            "main.c",
            r#"#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
static void *library;
static volatile int turns;
static void *load(void *unused) {
  library = dlopen("./library.so", RTLD_NOW);
  ((int (*)(int))dlsym(library, "entry"))(turns);
  return unused;
}
int main(int count, char **arguments) {
  pthread_t thread;
  (void)arguments;
  turns = count == 1 ? 3 : 12;
  pthread_create(&thread, 0, load, 0);
  if (count == 1) pthread_join(thread, 0);
  else usleep(200000);
  dlclose(library);
  _exit(0);
}
"#,
        ),
    ]);
    project.ok("--verify cc -O1 -g -shared -fPIC library.c -o library.so");
    project.ok("--verify cc -O1 -g main.c -ldl -pthread -o program");
    let run = |arguments: &[&str], name: &str| {
        let mut program = project.command(project.path("program"));
        succeed(program.args(arguments).env("COTREE_FILE", format!("{name}.%n.cotree")));
    };
    run(&[], "joined");
    project.ok("verify --strict joined.library.so.cotree");
    project.ok("verify --strict joined.program.cotree");
    run(&["vanishes"], "vanished");
    let told = project.ok("report vanished.library.so.cotree");
    assert!(told.contains("1 thread gave no account of the last frames"), "{told}");
}

/// A destructor of a thread's object loads a library, when the thread's start routine is over.
#[test]
fn libraries_are_loaded_by_threads_that_end() {
    let project = Project::new(&[
        ("library.c", TWICE),
        (
            "main.c",
            r#"#include <dlfcn.h>
#include <pthread.h>
static pthread_key_t key;
static volatile int sum;
static void load(void *library) {
  library = dlopen("./library.so", RTLD_NOW);
  int (*twice)(int) = (int (*)(int))dlsym(library, "twice");
  for (int i = 0; i < 4; i++) sum += twice(i);
}
static void *run(void *argument) { pthread_setspecific(key, argument); return argument; }
int main(void) {
  pthread_t thread;
  pthread_key_create(&key, load);
  for (int i = 0; i < 3; i++) {
    pthread_create(&thread, 0, run, &key);
    pthread_join(thread, 0);
  }
  return sum;
}
"#,
        ),
    ]);
    for profile in ["edge", "path", "ipath", "trace"] {
        runs_with_its_library(&project, profile, 36);
        for (unit, calls) in [("program", "load"), ("library.so", "twice")] {
            let told = project.ok(&format!("report {unit}.cotree"));
            assert!(told.contains("exact: every count"), "{profile}, {unit}: {told}");
            assert!(told.contains(calls), "{profile}, {unit}: {told}");
        }
    }
}

/// What a library does in the destructors of a thread that was ending when another thread loaded it has no counters of
/// its own. That is told.
#[test]
fn a_library_is_loaded_while_a_thread_ends() {
    let project = Project::new(&[
        ("library.c", TWICE),
        (
            "main.c",
            r#"#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
static pthread_key_t key;
static sem_t ending, loaded;
static int (*twice)(int);
static int sum;
static void end(void *argument) {
  (void)argument;
  sem_post(&ending);
  sem_wait(&loaded);
  for (int i = 0; i < 4; i++) sum += twice(i);
}
static void *run(void *argument) { pthread_setspecific(key, argument); return argument; }
int main(void) {
  pthread_t thread;
  pthread_key_create(&key, end);
  sem_init(&ending, 0, 0);
  sem_init(&loaded, 0, 0);
  pthread_create(&thread, 0, run, &key);
  sem_wait(&ending);
  twice = (int (*)(int))dlsym(dlopen("./library.so", RTLD_NOW), "twice");
  sem_post(&loaded);
  pthread_join(thread, 0);
  return sum;
}
"#,
        ),
    ]);
    for profile in ["edge", "path", "ipath", "trace"] {
        runs_with_its_library(&project, profile, 12);
        let told = project.ok("report library.so.cotree");
        assert!(told.contains("a thread shared the main thread's counters"), "{profile}: {told}");
        let told = project.ok("report program.cotree");
        assert!(told.contains("exact: every count"), "{profile}: {told}");
    }
}

#[test]
fn stacks_of_threads_that_ended_are_left_alone() {
    let project = Project::new(&[
        ("library.c", TWICE),
        (
            "main.c",
            r#"#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *run(void *p) { return p; }
int main(void) {
  size_t size = 1 << 20;
  unsigned char *stack = aligned_alloc(4096, size);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, size);
  pthread_t thread;
  pthread_create(&thread, &attributes, run, 0);
  pthread_join(thread, 0);
  memset(stack, 0xAA, size);
  int (*twice)(int) = (int (*)(int))dlsym(dlopen("./library.so", RTLD_NOW), "twice");
  long changed = 0;
  for (size_t i = 0; i < size; i++) changed += stack[i] != 0xAA;
  printf("%d %ld\n", twice(3), changed);
  return 0;
}
"#,
        ),
    ]);
    project.ok("cc -O1 -g -shared -fPIC library.c -o library.so");
    project.ok("cc -O1 -g -pthread main.c -ldl -o program");
    let printed = succeed(project.command(project.path("program")).env("COTREE_FILE", "%n.cotree"));
    assert_eq!(printed, "6 0\n");
    for unit in ["program", "library.so"] {
        assert!(project.ok(&format!("report {unit}.cotree")).contains("exact: every count"), "{unit}");
    }
}
