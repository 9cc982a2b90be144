//! Random C++ programs full of exceptions: calls that share a landing pad, destructors that throw, handlers that
//! rethrow or return, exceptions and jumps through callbacks of the C library. Events of functions and calls have to be
//! those that the blocks of the same run have had, and those that a trace tells, which knows nothing of sums.
//!
//! Every program ends: calls use up fuel. No function is recursive, so what happens during a call happens once.

use super::functions::Random;
use super::{keeping, seeds};
use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "#include <exception>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long u64;
static jmp_buf back;
static volatile u64 seen;
static long fuel = 4000, jumps = 3;
static void leave(u64 x) { if (x % 61 == 17 && jumps > 0) { jumps--; longjmp(back, 1); } }
static u64 leaf(u64 x) { seen += x; if (x % 11 == 4) throw (int)(x & 7); return x * 7 + 3; }
struct D {
    u64 x;
    D(u64 x) : x(x) { seen++; if (x % 13 == 5) throw 2; }
    ~D() noexcept(false) { seen ^= x; if (x % 7 == 3 && !std::uncaught_exceptions()) throw (int)(x & 3); }
};
struct Quiet { u64 x; ~Quiet() { seen += x; } };
";

/// A program under construction.
struct Writer {
    random: Random,
    text: String,
    /// How many functions may be called.
    callees: u64,
    objects: u64,
}

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(depth));
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(4) {
            self.statement(depth);
        }
    }

    fn call(&mut self) -> String {
        if self.callees == 0 || self.random.one_in(3) {
            return "leaf(x)".to_owned();
        }
        let callee = self.random.below(self.callees);
        match self.random.below(6) {
            0 => format!("table[{callee}](x)"),
            1 => format!("by_search(compare{callee}, x)"),
            _ => format!("f{callee}(x + {})", self.random.below(9)),
        }
    }

    fn block(&mut self, depth: usize, head: &str, tail: &str) {
        self.line(depth, &format!("{head}{{"));
        self.statements(depth + 1);
        self.line(depth, &format!("}}{tail}"));
    }

    fn statement(&mut self, depth: usize) {
        let kind = if depth > 4 { self.random.below(4) } else { self.random.below(9) };
        let (k, object) = (self.random.below(16), self.objects);
        match kind {
            0 | 1 => {
                let call = self.call();
                self.line(depth, &format!("x += {call};"));
            }
            2 => {
                self.objects += 1;
                let class = self.random.of(&["D", "D", "Quiet"]);
                self.line(depth, &format!("{class} d{object}{{x + {k}}};"));
            }
            3 => {
                let what = self.random.of(&["throw (int)(x & 3)", "leave(x)", "return x ^ 5", "seen += x"]);
                self.line(depth, &format!("if (x % 17 == {k}) {what};"));
            }
            4 => self.block(depth, &format!("if (x & {})", 1 << (k & 3)), ""),
            5 => self.block(depth, &format!("for (int i = 0; i < {}; i++) ", 1 + (k & 3)), ""),
            6 => self.block(depth, "", ""),
            _ => {
                self.block(depth, "try ", "");
                let whom = self.random.of(&["catch (int e) ", "catch (...) ", "catch (char *) "]);
                self.line(depth, &format!("{whom}{{"));
                self.line(depth + 1, "x += 3;");
                if self.random.one_in(2) {
                    self.statements(depth + 1);
                }
                let last = self.random.of(&["", "", "throw;", "return x;", "if (x & 1) throw;"]);
                self.line(depth + 1, last);
                self.line(depth, "}");
            }
        }
    }
}

/// The program of that seed.
fn program(seed: u64) -> String {
    let mut writer = Writer { random: Random(seed ^ 0xCA7C << 40), text: HEAD.to_owned(), callees: 0, objects: 0 };
    let functions = 3 + writer.random.below(5);
    writer.text += "static u64 by_search(int (*compare)(const void *, const void *), u64 x) {\n\
                    \x20   u64 all[] = {1, 5, 9};\n\
                    \x20   return bsearch(&x, all, 3, sizeof *all, compare) != nullptr;\n}\n";
    let _ = writeln!(writer.text, "static u64 (*volatile table[{functions}])(u64);");
    for number in 0..functions {
        writer.callees = number;
        let linkage = writer.random.of(&["static __attribute__((noinline)) ", "static ", ""]);
        writer.line(0, &format!("{linkage}u64 f{number}(u64 x) {{"));
        writer.line(1, "if (fuel-- <= 0) return x;");
        writer.statements(1);
        writer.statements(1);
        writer.line(1, "return x;");
        writer.line(0, "}");
        writer.line(0, &format!("static int compare{number}(const void *key, const void *) {{"));
        writer.line(1, &format!("return f{number}(*(const u64 *)key) & 1 ? 1 : -1;"));
        writer.line(0, "}");
    }
    writer.line(0, "int main() {");
    for number in 0..functions {
        writer.line(1, &format!("table[{number}] = f{number};"));
    }
    writer.line(1, "static u64 round, sum;");
    writer.line(1, "for (round = 0; round < 40; round++) {");
    writer.line(2, "if (setjmp(back)) { sum ^= 77; continue; }");
    writer.line(2, "fuel = 100;");
    writer.line(2, "try {");
    for number in 0..functions {
        writer.line(3, &format!("sum += f{number}(round * 5 + sum % 1000);"));
    }
    writer.line(2, "} catch (...) { sum = sum * 3 + 1; }");
    writer.line(1, "}");
    writer.line(1, "printf(\"%lu %lu\\n\", sum, seen);");
    writer.line(0, "}");
    writer.text
}

/// Per caller and line, how many instructions happened during its calls; what is 0 is left out.
type Inclusive = BTreeMap<(String, u64), u64>;

/// The counts of an export of event counts.
fn of_sums(export: &str) -> Inclusive {
    let file: Value = serde_json::from_str(export).expect("JSON");
    let mut lines = Inclusive::new();
    for function in file["units"][0]["functions"].as_array().expect("functions") {
        for call in function["events"]["calls"].as_array().into_iter().flatten() {
            let line = call["position"]["line"].as_u64().unwrap_or(0);
            let events = call["inclusive"]["instructions"].as_u64().expect("a number");
            *lines.entry((function["symbol"].as_str().expect("a symbol").to_owned(), line)).or_default() += events;
        }
    }
    lines.retain(|_, events| *events > 0);
    lines
}

/// The counts of the costs of a trace.
fn of_trace(costs: &str) -> Inclusive {
    let costs: Value = serde_json::from_str(costs).expect("JSON");
    let symbol = |number: &Value| {
        let number = usize::try_from(number.as_u64().expect("a number")).expect("a small one");
        costs["functions"][number]["symbol"].as_str().expect("a symbol").to_owned()
    };
    let mut lines = Inclusive::new();
    for call in costs["calls"].as_array().expect("calls") {
        let events = call["inclusive"]["instructions"].as_u64().unwrap_or(0);
        *lines.entry((symbol(&call["caller"]), call["line"].as_u64().unwrap_or(0))).or_default() += events;
    }
    lines.retain(|_, events| *events > 0);
    lines
}

/// How programs are built.
const BUILDS: [&str; 6] =
    ["-O0", "-O2", "-O1", "--threads on -O2", "--interprocedural-flow off -O2", "--threads word -O1"];

fn check_program(seed: u64) {
    let build = BUILDS[usize::try_from(seed).expect("small") % BUILDS.len()];
    let (options, level) = build.rsplit_once(' ').unwrap_or(("", build));
    keeping(Project::new(&[("p.cpp", &program(seed))]), |project| {
        let run = |method: &str| {
            project.ok(&format!("--profile {method} {options} c++ {level} -g -w -o p p.cpp"));
            succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"))
        };
        let printed = run("events-calls=instructions --verify");
        let verdict = project.ok("verify --strict p.cotree");
        assert!(
            verdict.contains(" calls, 1 kind of events compared; 0 functions not vouched for, 0 counts differ"),
            "{verdict}"
        );
        let sums = of_sums(&project.ok("export --format json p.cotree"));
        assert_eq!(printed, run("trace"), "seed {seed}, {build}");
        assert_eq!(sums, of_trace(&project.ok("costs --strict --json p.cotree")), "seed {seed}, {build}");
    });
}

/// Seeds 0 and 1, unless the environment says `COTREE_EXCEPTIONS=10..200`.
#[test]
fn events_of_random_exceptions() {
    let seeds = seeds("COTREE_EXCEPTIONS", 0..2);
    seeds.for_each(check_program);
}
