//! Random programs of several functions that call each other: directly, through pointers, recursively and from inside
//! their loops, with small functions that only have known callers. Some are left early, from wherever they are: by
//! `exit`, `_exit`, `abort`, or by a jump or an exception that `main` catches; some do the same in several threads.
//!
//! All end: calls that might go on for ever use up a number of them.

use super::functions::{Function, Outside, Random, TALLIES};
use std::fmt::Write;

/// How a program of some seed ends, or how its functions are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leaving {
    /// Functions only return.
    Never,
    /// By `exit`, with a handler that runs more of the program.
    Exit,
    /// By `_exit`.
    AtOnce,
    /// By `abort`.
    Abort,
    /// By `longjmp` in C, by exceptions in C++; the program goes on.
    Thrown,
}

/// A program.
pub struct Program {
    pub text: String,
    /// Compiled as C++.
    pub cxx: bool,
    /// Functions run in several threads at once.
    pub threads: bool,
    pub leaving: Leaving,
}

const HEAD: &str = "#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long u64;
typedef struct { char byte[12]; } twelve;
typedef struct { char byte[7]; } seven;
static u8 data[1 << 16];
OWN u8 out[256], marks[16];
OWN u64 left = 400, sum;
OWN u32 patience = PATIENCE, round_of_calls;
OWN jmp_buf back;
";

/// Functions that others see, and that they don't; the compiler may make copies of some.
const LINKAGES: [&str; 5] = [
    "static __attribute__((noinline))",
    "__attribute__((noinline))",
    "static",
    "static inline",
    "static __attribute__((cold))",
];

/// The program of that seed; `tally` makes it tally lines of its own (`tally.h`).
pub fn program(seed: u64, tally: bool) -> Program {
    let mut random = Random(seed ^ 0x5EED << 40);
    let cxx = random.one_in(3);
    let threads = random.one_in(5);
    let leaving = match random.below(if threads { 4 } else { 10 }) {
        0 | 1 => Leaving::Never,
        2 | 3 => Leaving::Thrown,
        4 | 5 => Leaving::AtOnce,
        6 | 7 => Leaving::Abort,
        _ => Leaving::Exit,
    };
    let (functions, leaves) = (3 + random.below(6), 1 + random.below(4));
    let magnitude = random.below(12);
    let patience = 1 + random.below(1 << magnitude);
    let own = if threads { "static __thread" } else { "static" };
    let mut text = HEAD.replace("OWN", own).replace("PATIENCE", &patience.to_string());
    if tally {
        let _ = writeln!(text, "#define TALLY_SLOTS {}\n#include \"tally.h\"", TALLIES * (functions + 1));
    }
    let linkages: Vec<&str> = (0..functions).map(|_| random.of(&LINKAGES)).collect();
    for (number, linkage) in linkages.iter().enumerate() {
        let _ = writeln!(text, "{linkage} u64 f{number}(const u8 *data, u64 n, u8 *out);");
    }
    let table: Vec<String> = (0..functions).filter(|_| random.one_in(2)).map(|number| format!("f{number}")).collect();
    if !table.is_empty() {
        let _ = writeln!(text, "static u64 (*const table[])(const u8 *, u64, u8 *) = {{{}}};", table.join(", "));
    }
    // The last function's slots are followed by those of the leaves.
    let slots = tally.then_some(TALLIES * functions);
    text += &leave(leaving, cxx, &mut random);
    for number in 0..leaves {
        text += &leaf(number, leaving, slots.map(|first| first + number), &mut random);
    }
    for (number, linkage) in (0..).zip(&linkages) {
        let outside = Outside {
            leaves,
            callees: number,
            own: number,
            table: table.len() as u64,
            cxx,
            leaves_early: leaving != Leaving::Never,
            calls_nothing: random.one_in(3),
            tally: tally.then_some(TALLIES * number),
        };
        text += &Function::of(random.next(), outside).written(number, linkage);
    }
    text += &main(functions, leaving, cxx, threads, &mut random);
    Program { text, cxx, threads, leaving }
}

/// What ends it; it may do so at its second call only.
fn leave(leaving: Leaving, cxx: bool, random: &mut Random) -> String {
    let how = match leaving {
        Leaving::Never => return String::new(),
        Leaving::Exit => "exit(42)",
        Leaving::AtOnce => "_exit(43)",
        Leaving::Abort => "abort()",
        Leaving::Thrown if cxx => "throw h",
        Leaving::Thrown => "longjmp(back, 7)",
    };
    let tell = if leaving == Leaving::Thrown { "marks[3]++;" } else { "printf(\"%lu early\\n\", h); fflush(stdout);" };
    let spared = if random.one_in(2) { "    if (h & 1) { patience = 40; return; }\n" } else { "" };
    let linkage = random.of(&["static __attribute__((noinline))", "static", "static __attribute__((cold))"]);
    format!("{linkage} void leave(u64 h) {{\n{spared}    patience = 90;\n    {tell}\n    {how};\n}}\n")
}

/// A function that ends soon.
fn leaf(number: u64, leaving: Leaving, slot: Option<u64>, random: &mut Random) -> String {
    let (factor, mask) = (2 * random.below(1000) + 1, 1 << random.below(6));
    let mut body = match random.below(6) {
        0 | 1 => format!("    return n * {factor} ^ n >> 3;\n"),
        2 => format!("    if (n & {mask}) {{ marks[n & 15]++; return n + {factor}; }}\n    return n ^ 5;\n"),
        3 => "    u64 h = 0;\n    while (n) { n >>= 3; h++; }\n    return h;\n".to_owned(),
        4 => format!(
            "    u64 h = n;\n    for (int i = 0; i < 16; i++) h += marks[i] & {mask} ? i : {factor};\n    return h;\n"
        ),
        _ => format!("    marks[n & 15] += (u8)n;\n    return n & {mask} ? n + 1 : n;\n"),
    };
    if number > 0 && random.one_in(2) {
        body = format!("    n += leaf{}(n);\n    n += leaf{}(n / 2);\n{body}", number - 1, random.below(number));
    }
    if leaving != Leaving::Never && random.one_in(3) {
        body = format!("    if (n % 5 == 4 && --patience == 0) leave(n);\n{body}");
    }
    let tally = slot.map_or(String::new(), |slot| format!("    T({slot});\n"));
    format!("{} u64 leaf{number}(u64 n) {{\n{tally}{body}}}\n", random.of(&LINKAGES))
}

/// Calls all functions, several times.
fn main(functions: u64, leaving: Leaving, cxx: bool, threads: bool, random: &mut Random) -> String {
    let mut text = String::from("static void *rounds(void *argument) {\n");
    let factor = 1 + random.below(5);
    text += "    for (round_of_calls = 0; round_of_calls < 5; round_of_calls++) {\n        u64 n = round_of_calls + (u64)(uintptr_t)argument;\n";
    text += match (leaving, cxx) {
        (Leaving::Thrown, true) => "        try {\n",
        (Leaving::Thrown, false) => "        if (setjmp(back) == 0) {\n",
        _ => "        {\n",
    };
    for number in 0..functions {
        let _ = writeln!(text, "            sum = sum * 31 + f{number}(data, n * n * {factor}, out);");
    }
    text += match (leaving, cxx) {
        (Leaving::Thrown, true) => "        } catch (u64 thrown) { sum ^= thrown; printf(\"caught\\n\"); }\n",
        (Leaving::Thrown, false) => "        } else { sum ^= 77; printf(\"caught\\n\"); }\n",
        _ => "        }\n",
    };
    text +=
        "    }\n    for (int i = 0; i < 256; i++) sum = sum * 33 + out[i];\n    return (void *)(uintptr_t)sum;\n}\n";
    if leaving == Leaving::Exit {
        text += "static void at_exit(void) { left = 20; patience = 0; sum = f0(data, 9, out); printf(\"%lu at exit\\n\", sum); }\n";
    }
    text += "int main(void) {\n    for (int i = 0; i < 1 << 16; i++) data[i] = (u8)((i * 167 + 13) ^ (i >> 3));\n    u64 all = 0;\n";
    if leaving == Leaving::Exit {
        text += "    atexit(at_exit);\n";
    }
    text += if threads {
        "    pthread_t thread[3]; void *result;
    for (int wave = 0; wave < 2; wave++) {
        for (int i = 0; i < 3; i++) pthread_create(&thread[i], 0, rounds, (void *)(uintptr_t)(i * 2 + wave));
        for (int i = 0; i < 3; i++) { pthread_join(thread[i], &result); all = all * 7 + (u64)(uintptr_t)result; }
    }\n"
    } else {
        "    all = (u64)(uintptr_t)rounds(0);\n"
    };
    text += "    printf(\"%lu\\n\", all);\n    return (int)(all % 3);\n}\n";
    text
}
