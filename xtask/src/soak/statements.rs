//! Random statements between what ingredients are about. `s` and `n` are numbers that are there.

use super::template::Writer;

impl Writer<'_> {
    /// Writes one or two statements.
    pub fn statements(&mut self, indent: &str, depth: usize) {
        for _ in 0..=self.random.below(2) {
            self.part(|writer| writer.statement(indent, depth));
        }
    }

    fn nested(&mut self, indent: &str, depth: usize) {
        let indent = format!("{indent}  ");
        self.tally(&indent);
        if self.random.one_in(2) {
            self.statements(&indent, depth + 1);
        }
    }

    fn condition(&mut self) -> String {
        let (mask, value, modulus) = (1 << self.random.below(4), self.random.below(3), 2 + self.random.below(5));
        match self.random.below(4) {
            0 => format!("(s & {mask}) == 0"),
            1 => format!("s % {modulus} == {value}"),
            2 => format!("(n & {mask}) && s % {modulus} != {value}"),
            _ => format!("(s ^ n) & {mask}"),
        }
    }

    fn statement(&mut self, indent: &str, depth: usize) {
        let condition = self.condition();
        let name = self.name();
        let few = 1 + self.random.below(4);
        match self.random.below(if depth < 3 { 13 } else { 5 }) {
            0 => self.line(indent, &format!("s = (s * {} + n) & 0xfffff;", 2 * few + 1)),
            1 | 2 => {
                let call = self.call(&format!("s & {}", (1 << (few + 1)) - 1));
                self.line(indent, &format!("s += {call};"));
                self.tally(indent);
            }
            3 => {
                self.line(indent, "ENDING();");
                self.tally(indent);
            }
            4 if self.returns => {
                self.line(indent, &format!("if ({condition} && soak_fuel % 7 == {few}) return s;"));
                self.tally(indent);
            }
            5 | 6 => {
                self.line(indent, &format!("if ({condition}) {{"));
                self.nested(indent, depth);
                if self.random.one_in(2) {
                    self.line(indent, "} else {");
                    self.nested(indent, depth);
                }
                self.line(indent, "}");
            }
            7 | 8 => {
                self.line(indent, &format!("for (long {name} = 0; {name} < {few}; {name}++) {{"));
                self.nested(indent, depth);
                if self.random.one_in(3) {
                    let leave = self.random.of(&["break", "continue", if self.returns { "return s" } else { "break" }]);
                    self.line(indent, &format!("  if ({condition}) {leave};"));
                    self.tally(&format!("{indent}  "));
                }
                self.line(indent, "}");
            }
            9 => {
                self.line(indent, &format!("switch (s % {}) {{", few + 2));
                for label in ["case 0:", "case 1: case 2:", "default:"] {
                    self.line(indent, &format!("{label} {{"));
                    self.nested(indent, depth);
                    let leave = if self.random.one_in(2) { "} break;" } else { "}" };
                    self.line(indent, leave);
                }
                self.line(indent, "}");
            }
            // A loop with two entries. clang 14 copies the first turn where it knows that one is never used.
            10 => {
                self.line(indent, &format!("long {name}; {name} = {few};"));
                self.line(indent, &format!("if (soak_number({condition})) goto inside_{name};"));
                self.line(indent, &format!("again_{name}:;"));
                self.nested(indent, depth);
                self.line(indent, &format!("inside_{name}:;"));
                self.nested(indent, depth);
                self.line(indent, &format!("if (--{name} > 0) goto again_{name};"));
            }
            11 => {
                self.line(indent, &format!("{{ char {name}[(s & 63) + {few}];"));
                self.line(indent, &format!("  memset({name}, 1, sizeof {name}); soak_sink({name});"));
                self.nested(indent, depth);
                self.line(indent, "}");
            }
            _ => {
                self.line(indent, &format!("long {name}; {name} = s & 31;"));
                self.line(indent, &format!("while ({name} > 0) {{"));
                self.line(indent, &format!("  {name} -= {few};"));
                self.nested(indent, depth);
                self.line(indent, "}");
            }
        }
    }
}
