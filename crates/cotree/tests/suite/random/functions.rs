//! Random functions made of loops whose variables count in all kinds of ways: odd steps, unsigned wrap-around, signed
//! and narrow types, pointers, shifts, several exits, zero trips, increments on some paths only, loops in loops,
//! branches that stay as they are while a loop runs.
//!
//! All loops end, and no signed variable overflows. Functions write to bytes that may alias anything, so that the
//! compiler has to leave branches where they are.

use std::fmt::Write;

/// Random numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[usize::try_from(self.below(choices.len() as u64)).expect("short lists")]
    }
}

/// A program of so many functions, each called with several arguments.
pub fn program(seed: u64, functions: u64) -> String {
    let mut text = String::from(
        "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n\
         typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long u64;\n\
         typedef struct { char byte[12]; } twelve;\ntypedef struct { char byte[7]; } seven;\n",
    );
    for number in 0..functions {
        let function = Function::of(seed << 20 | number, Outside::default());
        text += &function.written(number, "__attribute__((noinline))");
    }
    text += "int main(void) {\n    static u8 data[1 << 22], out[256]; u64 sum = 0;\n";
    text += "    for (int i = 0; i < 256; i++) data[i] = (u8)((i * 167 + 13) ^ (i >> 3));\n";
    for number in 0..functions {
        let _ = writeln!(text, "    for (u64 n = 0; n < 9; n++) sum = sum * 31 + f{number}(data, n * n * 3, out);");
    }
    text +=
        "    for (int i = 0; i < 256; i++) sum = sum * 33 + out[i];\n    printf(\"%lu\\n\", sum);\n    return 0;\n}\n";
    text
}

/// Loops of one function.
const MOST_LOOPS: u32 = 6;

/// What a function finds in the program around it; nothing by default.
#[derive(Default)]
pub struct Outside {
    /// Functions that end soon, and may be called anywhere.
    pub leaves: u64,
    /// Functions before this one.
    pub callees: u64,
    /// The number of this one.
    pub own: u64,
    /// Entries of the table of functions.
    pub table: u64,
    /// C++, with exceptions to catch.
    pub cxx: bool,
    /// There is a function that may end the program.
    pub leaves_early: bool,
    /// The function calls none of them: then loops may be counted in registers, by their variables or by their length.
    pub calls_nothing: bool,
    /// The function tallies the beginnings of its bodies (`tally.h`), from that slot on, [`TALLIES`] at most.
    pub tally: Option<u64>,
}

/// Slots of the tally that a function may use.
pub const TALLIES: u64 = 500;

/// A function that is being written.
pub struct Function {
    random: Random,
    outside: Outside,
    text: String,
    names: u32,
    loops: u32,
    tallies: u64,
}

impl Function {
    /// The function of that seed.
    pub fn of(seed: u64, outside: Outside) -> Function {
        Function { random: Random(seed), outside, text: String::new(), names: 0, loops: 0, tallies: 0 }
    }

    /// The text of the function.
    pub fn written(mut self, number: u64, linkage: &str) -> String {
        let _ = writeln!(self.text, "{linkage} u64 f{number}(const u8 *data, u64 n, u8 *out) {{");
        self.tally(1);
        // Counters that live across loops: unsigned ones may wrap.
        let _ = writeln!(self.text, "    u64 h = n; u8 narrow = 250; u16 word = 65500; u32 wide = -9; long far = -5;");
        let kept = self.random.below(256);
        let _ = writeln!(self.text, "    const u8 *reader = data; const u8 kept = data[(u8)(n * 3 + {kept})];");
        for _ in 0..=self.random.below(3) {
            self.repeat(1, &["n".into()]);
        }
        let _ = writeln!(self.text, "    return h ^ narrow ^ word ^ wide ^ (u64)far ^ (u64)(reader - data);\n}}");
        self.text
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 * depth);
    }

    fn tally(&mut self, depth: usize) {
        if let Some(first) = self.outside.tally.filter(|_| self.tallies < TALLIES) {
            self.line(depth, &format!("T({});", first + self.tallies));
            self.tallies += 1;
        }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("i{}", self.names)
    }

    fn condition(&mut self, visible: &[String]) -> String {
        let at = &visible[usize::try_from(self.random.below(visible.len() as u64)).expect("few")].clone();
        let (plus, mask) = (self.random.below(200), 1 << self.random.below(5));
        match self.random.below(7) {
            0 => format!("(u8)({at} + {plus}) % 7 < {}", 1 + self.random.below(5)),
            1 => format!("out[(u8)({at} ^ {plus})] & {mask}"),
            // What does not change while a loop runs, or only while an inner one does.
            2 => format!("(n + {plus}) & {mask}"),
            3 => {
                let outer = &visible[usize::try_from(self.random.below(visible.len().max(2) as u64 - 1)).expect("few")];
                format!("(u8)({outer} + {plus}) & {mask}")
            }
            4 => format!("kept & {mask}"),
            _ => format!("data[(u8)({at} * 5 + {plus})] & {mask}"),
        }
    }

    fn statement(&mut self, depth: usize, visible: &[String], in_loop: bool) {
        // Functions that are alone have neither.
        let whole = if self.outside.leaves > 0 { 10 } else { 0 };
        match self.random.below(12 + whole) {
            17.. if !self.outside.calls_nothing => self.call(depth, visible),
            12.. => self.unusual(depth, visible, in_loop),
            0 | 1 if self.loops < MOST_LOOPS && depth < 5 => self.repeat(depth, visible),
            0..=3 if depth < 6 => {
                let condition = self.condition(visible);
                self.line(depth, &format!("if ({condition}) {{"));
                self.body(depth + 1, visible, in_loop);
                if self.random.one_in(2) {
                    self.line(depth, "} else {");
                    self.body(depth + 1, visible, in_loop);
                }
                self.line(depth, "}");
            }
            4..=6 => {
                let step =
                    self.random.of(&["narrow++", "narrow -= 3", "word += 5", "word -= 1", "wide++", "wide -= 7"]);
                let other =
                    self.random.of(&["far++", "far -= 24", "far += 12", "reader++", "wide += 2", "narrow += 3"]);
                let step = if self.random.one_in(2) { step } else { other };
                self.line(depth, &format!("{step};"));
            }
            7 if in_loop => {
                let condition = self.condition(visible);
                let leave = self.random.of(&["break", "continue", "break", "return h + 1"]);
                self.line(depth, &format!("if ({condition}) {leave};"));
            }
            _ => {
                let at = &visible[usize::try_from(self.random.below(visible.len() as u64)).expect("few")].clone();
                let (plus, factor) = (self.random.below(256), 2 * self.random.below(50) + 1);
                self.line(depth, &format!("out[(u8)({at} + {plus})] ^= (u8)({at} * {factor} + h); h += {factor};"));
            }
        }
    }

    /// What has to do with other functions.
    fn call(&mut self, depth: usize, visible: &[String]) {
        let at = &visible[usize::try_from(self.random.below(visible.len() as u64)).expect("few")].clone();
        let plus = self.random.below(256);
        let Outside { leaves, callees, own, table, cxx, leaves_early, .. } = self.outside;
        match self.random.below(8) {
            0..=2 => {
                let leaf = self.random.below(leaves);
                self.line(depth, &format!("h += leaf{leaf}({at} + {plus});"));
            }
            // A loop that is little more than a call.
            3 if self.loops < MOST_LOOPS => {
                let (leaf, name) = (self.random.below(leaves), self.name());
                let head = format!("for (u32 {name} = 0; {name} < (u32)({at} + {plus}) % 60; {name}++)");
                let condition = self.condition(visible);
                let before =
                    self.random.of(&["", "if (data[(u8)h] & 1) ", "if (data[(u8)h] & 1) h += 3; else wide++; "]);
                let after = self.random.of(&["", "if (out[(u8)h] & 2) narrow++; else h ^= wide; "]);
                let break_when = if self.random.one_in(4) {
                    format!("if ({name} > 30 && ({condition})) break;")
                } else {
                    String::new()
                };
                self.line(depth, &format!("{head} {{ {before}h += leaf{leaf}({name} + n); {after}{break_when} }}"));
            }
            4 | 5 if leaves_early => {
                let condition = self.condition(visible);
                self.line(depth, &format!("if (({condition}) && --patience == 0) leave(h);"));
            }
            _ => {
                let callee = match self.random.below(4) {
                    0 if table > 0 => format!("table[(u8)({at} ^ {plus}) % {table}]"),
                    2.. if callees > 0 => format!("f{}", self.random.below(callees)),
                    _ => format!("f{own}"),
                };
                let call = format!("left--; h ^= {callee}(data, (u8)({at} + {plus}) % 64, out);");
                let guarded = if cxx && self.random.one_in(4) {
                    format!("try {{ {call} }} catch (u64 caught) {{ h += caught & 7; }}")
                } else {
                    format!("{{ {call} }}")
                };
                self.line(depth, &format!("if (left > 0) {guarded}"));
            }
        }
    }

    /// What only whole programs have.
    fn unusual(&mut self, depth: usize, visible: &[String], in_loop: bool) {
        let at = &visible[usize::try_from(self.random.below(visible.len() as u64)).expect("few")].clone();
        let plus = self.random.below(256);
        let name = self.name();
        match self.random.below(11) {
            0 | 1 if depth < 6 => {
                self.line(depth, &format!("switch ((u8)({at} + {plus}) % 6) {{"));
                for label in ["case 0:", "case 1:", "case 3: case 4:", "default:"] {
                    self.line(depth, &format!("{label} {{"));
                    self.body(depth + 1, visible, in_loop);
                    let leave = if self.random.one_in(2) { "break; }" } else { "}" };
                    self.line(depth, leave);
                }
                self.line(depth, "}");
            }
            // A loop with two entries.
            2 if depth < 6 => {
                let (condition, again) = (self.condition(visible), self.condition(visible));
                self.line(depth, &format!("{{ u8 {name} = {plus} % 9;"));
                self.line(depth, &format!("if ({condition}) goto inside_{name};"));
                self.line(depth, &format!("again_{name}: h += {name};"));
                self.line(depth, &format!("inside_{name}: out[(u8)({at} + {name})] ^= (u8)(h + {plus});"));
                self.line(depth, &format!("if ({name} > 0 && --{name} && !({again})) goto again_{name}; }}"));
            }
            3 if in_loop => {
                // There and back in one circuit, which may be left half-way.
                let (condition, leave) = (self.condition(visible), self.random.of(&["break", "continue"]));
                let (there, back) = (self.random.of(&["8", "1", "24"]), self.random.of(&["32", "9", "12"]));
                self.line(depth, &format!("far += {there}; if ({condition}) {leave}; far -= {back};"));
            }
            4 if self.loops < MOST_LOOPS => {
                let bound = self.random.below(200);
                let head = format!("for (u64 {name} = 0; {name} < (n + {bound}) % 300; {name}++)");
                self.line(depth, &format!("{head} h += data[{name}];"));
            }
            5 if self.loops < MOST_LOOPS => {
                self.line(depth, &format!("for (int {name} = 0; {name} < 256; {name}++) out[{name}] += (u8){plus};"));
            }
            // A small loop of known length that may end before.
            6 | 7 if self.loops < MOST_LOOPS => {
                let (unsigned, step) = (self.random.of(&["u8", "u16", "u32"]), self.random.of(&["1", "2", "3", "5"]));
                let end = self.random.below(200);
                let head = format!("for ({unsigned} {name} = {}; {name} < {end}; {name} += {step})", end / 3);
                let leave = self.random.of(&["break", "break", "return h"]);
                let rare = format!("(data[(u8)({name} ^ {plus} ^ n)] & {}) == 3", self.random.of(&["31", "127"]));
                let often = self.random.of(&["", "narrow++; ", "if (data[(u8)h] & 1) wide++; "]);
                self.line(depth, &format!("{head} {{ {often}h += {name} ^ {at}; if ({rare}) {leave}; }}"));
            }
            _ if self.loops < MOST_LOOPS && depth == 1 => self.repeat_long(depth, visible, &name),
            _ => self.line(depth, &format!("narrow += {}; wide -= {plus};", 1 + plus % 9)),
        }
    }

    /// A loop that goes around so often that narrow variables wrap around, with no loop in it.
    fn repeat_long(&mut self, depth: usize, visible: &[String], name: &str) {
        let trips = 260 + self.random.below(500);
        let step = self.random.of(&["1", "3", "8", "24"]);
        let leave = if self.random.one_in(2) { "h & 1023" } else { "1" };
        let head = match self.random.below(4) {
            0 => format!("for (u32 {name} = 0; {name} < {trips} && ({leave}); {name}++) {{"),
            1 => format!("for (u32 {name} = 0; {name} < {trips} + n % 400; {name}++) {{"),
            // The variable comes to the same values again.
            2 => format!(
                "u32 fuel_{name} = {trips}; for (u8 {name} = 5; fuel_{name}-- && ({leave}); {name} += {step}) {{"
            ),
            _ => format!(
                "u32 fuel_{name} = n < 4 ? {trips} * 150 : 20; for (u16 {name} = 9; fuel_{name}--; {name} += {step}) {{"
            ),
        };
        self.line(depth, &head);
        let mut visible = visible.to_vec();
        visible.push(name.to_owned());
        let loops = std::mem::replace(&mut self.loops, MOST_LOOPS);
        if head.contains("* 150") {
            let condition = self.condition(&visible);
            let step = self.random.of(&["narrow++", "word += 5", "word--", "wide++", "narrow += 3"]);
            self.line(depth + 1, &format!("if ({condition}) {step};"));
            if self.random.one_in(2) {
                self.line(depth + 1, &format!("if ({name} == 5000 && n % 3 == 1) break;"));
            }
        } else {
            self.body(depth + 1, &visible, true);
        }
        self.loops = loops + 1;
        self.line(depth, "}");
    }

    fn body(&mut self, depth: usize, visible: &[String], in_loop: bool) {
        self.tally(depth);
        for _ in 0..=self.random.below(3) {
            self.statement(depth, visible, in_loop);
        }
    }

    /// A loop. Its head moves the variable, so that `continue` is safe, or it burns fuel.
    fn repeat(&mut self, depth: usize, visible: &[String]) {
        self.loops += 1;
        let name = self.name();
        let trips = self.random.below(if depth > 2 { 6 } else { 40 });
        let bound = if self.random.one_in(2) { format!("{trips}") } else { format!("(n % {})", trips + 1) };
        let unsigned = self.random.of(&["u8", "u16", "u32", "u64"]);
        let step = self.random.of(&["1", "1", "1", "2", "3", "5", "8", "12", "24"]);
        let signed = self.random.of(&["int", "long", "short", "signed char"]);
        let pointee = self.random.of(&["char", "int", "long", "twelve", "seven", "short"]);
        let mut after = String::from("}");
        let mut seen = name.clone();
        let head = match self.random.below(12) {
            0 => format!("for ({unsigned} {name} = 0; {name} < {bound}; {name}++) {{"),
            1 => format!("for ({signed} {name} = -7; {name} <= (int){bound}; {name} += {step}) {{"),
            2 => format!("for ({unsigned} {name} = {bound} + {step}; {name} >= {step}; {name} -= {step}) {{"),
            3 => {
                // Around the end of the type, until the other value is met.
                let (from, odd) = (self.random.below(256), self.random.of(&["1", "3", "5", "7"]));
                format!(
                    "for ({unsigned} {name} = -{from}, e{name} = {name} + {bound} * {odd}; {name} != e{name}; {name} += {odd}) {{"
                )
            }
            4 => {
                let (stop, by) = (self.random.below(256), self.random.of(&["1", "3", "-1", "-5", "11"]));
                if depth > 1 {
                    format!("for (u8 {name} = {stop} - 9 * {by}; {name} != {stop}; {name} += {by}) {{")
                } else {
                    format!("for (u8 {name} = (u8)n; {name} != {stop}; {name} += {by}) {{")
                }
            }
            5 => {
                seen = format!("(u64)({name} - ({pointee} *)4096)");
                format!(
                    "for ({pointee} *{name} = ({pointee} *)4096, *e{name} = {name} + {bound}; {name} != e{name}; {name}++) {{"
                )
            }
            6 => {
                self.line(depth, &format!("{unsigned} {name} = {bound};"));
                format!("while ({name}-- > 0) {{")
            }
            7 => {
                self.line(depth, &format!("{unsigned} {name} = {bound};"));
                after = format!("}} while ({name} && --{name});");
                "do {".into()
            }
            8 => {
                let (from, fuel) = (self.random.below(250), self.random.below(32));
                self.line(depth, &format!("{unsigned} {name} = {from}; u32 fuel_{name} = {fuel};"));
                format!("while (fuel_{name}-- % 32) {{ {name} += {step};")
            }
            9 | 10 => {
                let (factor, stop) = (2 * self.random.below(1 << 20) + 1, self.random.of(&["0", "0", "1", "2", "127"]));
                let by = if depth > 1 { 3 + self.random.below(5) } else { 1 + self.random.below(7) };
                let first = format!("({unsigned})(({bound} + n) * {factor})");
                if self.random.one_in(2) {
                    format!("for ({unsigned} {name} = {first}; {name} > {stop}; {name} >>= {by}) {{")
                } else {
                    self.line(depth, &format!("{unsigned} {name} = {first};"));
                    after = format!("}} while (({name} >>= {by}) > {stop});");
                    "do {".into()
                }
            }
            _ => {
                let (fuel, spared) = (if depth > 1 { 12 } else { 40 }, self.random.below(40));
                self.line(depth, &format!("u64 {name} = n; u16 fuel_{name} = {fuel};"));
                format!("for (;;) {{ if (fuel_{name}-- < {spared} || {name} > 190) break; {name} += {step};")
            }
        };
        self.line(depth, &head);
        let mut visible = visible.to_vec();
        visible.push(seen);
        self.body(depth + 1, &visible, true);
        self.line(depth, &after);
    }
}
