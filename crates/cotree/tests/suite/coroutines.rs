//! Coroutines. With `--at early` they have no counters themselves, since LLVM splits them later; whatever ends in them
//! must not put others in doubt.

use crate::project::Project;
use std::fs;

const SOURCE: &str = include_str!("../programs/coroutines.cc");

/// Where the last coroutine is when the process ends, and the status.
const ENDS: [(&str, i32); 4] = [("Nowhere", 0), ("Body", 3), ("Awaiting", 3), ("Destroying", 3)];

/// Runs the program with these options of cotree, in all its ends: nothing may be flagged or different.
fn all_is_exact(options: &str, flags: &str) {
    let project = Project::new(&[("main.cc", SOURCE)]);
    for (end, status) in ENDS {
        project.ok(&format!("--verify {options} c++ {flags} -g -std=c++20 -DEND={end} main.cc -o program"));
        let mut command = project.command(project.path("program"));
        let output = command.env("COTREE_FILE", "p.cotree").output().expect("it starts");
        assert_eq!(output.status.code(), Some(status), "{options} {flags} {end}");
        let printed = if end == "Nowhere" { "535\n1153\n" } else { "" };
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{options} {flags} {end}");
        let verified = project.ok("verify --strict p.cotree");
        assert!(
            verified.contains("; 0 functions not vouched for, 0 counts differ"),
            "{options} {flags} {end}: {verified}"
        );
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// Whether LLVM reads what clang makes of coroutines before they are split: since clang 22 `llvm.coro.end` has no
/// value, and what older ones do with it is not understood any more.
fn are_current() -> bool {
    let project = Project::new(&[("empty.cc", "")]);
    let macros = project.ok("c++ -std=c++20 -dM -E empty.cc");
    let major = macros.lines().find_map(|line| line.strip_prefix("#define __clang_major__ ")).expect("clang's version");
    major.trim().parse::<u32>().expect("a number") >= 22
}

#[test]
fn what_ends_in_coroutines_without_counters_is_known() {
    if !are_current() {
        let project = Project::new(&[("main.cc", SOURCE)]);
        project.fails("--at early c++ -std=c++20 -DEND=Nowhere main.cc -o program");
        assert!(!project.path("program").exists(), "it is refused, and nothing is made");
        return;
    }
    for profile in ["edge", "path"] {
        for level in ["-O0", "-O2"] {
            all_is_exact(&format!("--profile {profile} --at early"), level);
            all_is_exact(&format!("--profile {profile} --at inlined"), level);
        }
    }
}

#[test]
fn coroutines_that_are_split_have_counters() {
    all_is_exact("--profile edge", "-O0");
    all_is_exact("--profile path", "-O2");
}

/// Optimised coroutines are split before the counters go in, too: their lines count, and so does what is inlined into
/// them and elsewhere.
#[test]
fn lines_of_optimised_coroutines_are_counted() {
    let source = r#"
#include <coroutine>
struct Turns {
    struct promise_type {
        Turns get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int) { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
volatile int sum;
static inline void both() {
    sum = sum + 1; // 13
}
Turns turns(int n) {
    for (int i = 0; i < n; i++) {
        both();
        sum = sum + 2; // 10
        co_yield i;
    }
    sum = sum + 3; // 1
}
int main(int argc, char **) {
    Turns made = turns(9 + argc);
    for (int i = 0; i < 3; i++) both();
    while (!made.handle.done()) made.handle.resume();
    made.handle.destroy();
    return sum == 36 ? 0 : 1;
}
"#;
    let project = Project::new(&[("main.cc", source)]);
    for (method, level) in [("edge", "-O2"), ("trace", "-O2"), ("path", "-O1"), ("edge", "-O0")] {
        project.ok(&format!("--profile {method} c++ {level} -g -std=c++20 main.cc -o program"));
        let status = project.command(project.path("program")).env("COTREE_FILE", "p.cotree").status();
        assert!(status.expect("it starts").success(), "{method} {level}");
        let report = project.ok("report p.cotree");
        assert!(report.contains("\nexact: ") && !report.contains("a coroutine"), "{method} {level}: {report}");
        let lines = project.ok("export --format lcov p.cotree");
        for (line, text) in (1..).zip(source.lines()) {
            let Some((_, count)) = text.split_once("; // ") else { continue };
            assert!(lines.contains(&format!("\nDA:{line},{count}\n")), "{method} {level}, {text}: {lines}");
        }
    }
}
