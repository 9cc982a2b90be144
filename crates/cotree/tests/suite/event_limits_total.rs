//! Limits of the events of all threads together: `cotree_event_limit_total`.

use crate::project::{Project, succeed};

/// Strikes, sets the next limit, and prints where: by a limit of the thread or of all.
const ONE: &str = r#"
#include <cotree.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static int (*set)(int, unsigned long long, void (*)(void));
static int of_thread(int kind, unsigned long long n, void (*callback)(void)) { return cotree_event_limit(kind, n, callback); }
static int of_all(int kind, unsigned long long n, void (*callback)(void)) { return cotree_event_limit_total(kind, n, callback); }
static int (*const ways[])(int, unsigned long long, void (*)(void)) = {of_thread, of_all};
static volatile int sink, alarms;
static unsigned long long next = 1000;
static void strike(void) {
  printf("%llu: %llu\n", next, cotree_event_count(0));
  if (next < 400000) set(0, next = next * 3 / 2, strike);
}
static void never(void) { printf("never\n"); }
static void alarmed(int signal) { alarms++; }
static void raised(int signal) { set(0, next = cotree_event_count(0) + 1000, strike); }
__attribute__((noinline)) static int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }
int main(int argc, char **argv) {
  set = ways[argv[1][0] == 'a'];
  if (argc > 2) {
    struct itimerval often = {{0, 300}, {0, 300}};
    signal(SIGALRM, alarmed);
    setitimer(ITIMER_REAL, &often, 0);
  }
  if (set(0, next, strike) != 0 || set(COTREE_COST, 1, strike) != 1) return 1;
  for (int i = 0; i < 3000; i++) sink += work(i % 200);
  set(0, cotree_event_count(0) + 5000, never);
  set(0, 0, 0);
  sink += work(3000);
  signal(SIGUSR1, raised);
  raise(SIGUSR1);
  sink += work(3000);
  next = 400000;
  set(0, cotree_event_count(0) + 500, never);
  fflush(stdout);
  if (fork() == 0) {
    sink += work(5000);
    next = 400000;
    cotree_event_limit_total(0, cotree_event_count_total(0) + 100, strike);
    sink += work(1000);
    fflush(stdout);
    _exit(0);
  }
  set(0, 0, 0);
  wait(0);
  /* Both kinds of limits side by side. */
  unsigned long long now = cotree_event_count(0);
  next = 500000;
  cotree_event_limit(0, now + 400, strike);
  cotree_event_limit_total(0, now + 200, strike);
  sink += work(1000);
  return 0;
}
"#;

#[test]
fn with_one_thread_it_strikes_where_a_limit_of_the_thread_does() {
    let project = Project::new(&[("p.c", ONE)]);
    for options in ["-O0", "-O2", "-O2 -static", "-O2 -pthread"] {
        project.ok(&format!("--profile events --event-limit --threads on cc -g -w {options} -o threaded p.c"));
        project.ok(&format!("--profile events --event-limit cc -g -w {options} -o p p.c"));
        let run = |program: &str, arguments: &[&str]| succeed(project.command(project.path(program)).args(arguments));
        let expected = run("p", &["thread"]);
        assert!(expected.lines().count() > 15 && !expected.contains("never"), "{expected}");
        for program in ["p", "threaded"] {
            assert_eq!(run(program, &["all"]), expected, "{options} {program}");
        }
    }
    // Signals that come at any time have events of their own, and lose no limit.
    for _ in 0..3 {
        let said = succeed(project.command(project.path("threaded")).args(["all", "storm"]));
        let strikes = said.lines().filter_map(|line| line.split_once(": ")).take(16);
        let strikes: Vec<(u64, u64)> = strikes.map(|(n, at)| (n.parse().unwrap(), at.parse().unwrap())).collect();
        assert_eq!(strikes.len(), 16, "{said}");
        assert!(strikes.iter().all(|&(n, at)| (n..n + 200).contains(&at)), "{said}");
    }
}

/// Threads that run, and one that waits with an unused share; part of the work is in a library. With an argument,
/// the threads go in rounds, and none is more than a round ahead of another: only then has the moment between the
/// strike and the look at the total a length that is known.
const THREADS: &str = r#"
#include <cotree.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int in_library(int n);
static volatile int strikes, done, bad, rounds, ended;
static volatile unsigned long long limit = 1000000;
static pthread_barrier_t round_ends, all_know;
static void strike(void) {
  unsigned long long total = cotree_event_count_total(COTREE_INSTRUCTIONS), at = limit;
  __atomic_add_fetch(&strikes, 1, __ATOMIC_SEQ_CST);
  if (total < at) bad = 1;
  if (rounds && total > at + 10000) bad = 2;
  if (strikes < 5) {
    limit = at + 1000000;
    if (cotree_event_limit_total(COTREE_INSTRUCTIONS, limit, strike) != 0) bad = 3;
  } else {
    done = 1;
  }
}
__attribute__((noinline)) static int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }
static int has_ended(void) {
  if (!rounds) return done;
  if (pthread_barrier_wait(&round_ends) == PTHREAD_BARRIER_SERIAL_THREAD) ended = done;
  pthread_barrier_wait(&all_know);
  return ended;
}
static void *run(void *argument) {
  int sum = 0;
  while (!has_ended()) sum += argument ? in_library(50) : work(50);
  return (void *)(long)(sum & 1);
}
static void *waits(void *argument) { while (!done) usleep(1000); return 0; }
int main(int argc, char **argv) {
  pthread_t threads[4];
  rounds = argc > 1;
  pthread_barrier_init(&round_ends, 0, 3);
  pthread_barrier_init(&all_know, 0, 3);
  if (cotree_event_limit_total(COTREE_INSTRUCTIONS, limit, strike) != 0) return 1;
  pthread_create(&threads[0], 0, waits, 0);
  pthread_create(&threads[1], 0, run, 0);
  pthread_create(&threads[2], 0, run, threads);
  pthread_create(&threads[3], 0, run, 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  work(1000);
  printf("%d %d %d\n", strikes, bad, cotree_event_count_total(COTREE_INSTRUCTIONS) >= limit);
}
"#;

const LIBRARY: &str = "int in_library(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }\n";

#[test]
fn all_threads_and_libraries_have_it_together() {
    let project = Project::new(&[("p.c", THREADS), ("l.c", LIBRARY)]);
    let method = "--profile events --event-limit";
    for (threads, options) in [("", "-O0"), ("", "-O2"), ("--threads word", "-O2")] {
        project.ok(&format!("{method} cc {options} -g -w -fPIC -shared -o libl.so l.c"));
        let link = "-L. -ll -Wl,-rpath,$ORIGIN";
        project.ok(&format!("{method} {threads} cc {options} -g -w -pthread -o p p.c {link}"));
        for _ in 0..3 {
            for arguments in [&["60", "./p"][..], &["60", "./p", "rounds"]] {
                let said = succeed(project.command("timeout").args(arguments));
                assert_eq!(said, "5 0 1\n", "{options} {threads} {arguments:?}");
            }
        }
    }
}

#[test]
fn it_is_refused_where_limits_are() {
    let text = "#include <cotree.h>\n#include <stdio.h>\nstatic void never(void) {}\n\
        int main(void) { printf(\"%d\\n\", cotree_event_limit_total(0, 5, never)); }\n";
    let project = Project::new(&[("p.c", text)]);
    for (method, answer) in [("events", 2), ("events=loads", 1), ("edge", 1), ("trace", 1), ("none", 1)] {
        project.ok(&format!("--profile {method} cc -O1 -o p p.c"));
        assert_eq!(project.run("p"), format!("{answer}\n"), "{method}");
    }
}
