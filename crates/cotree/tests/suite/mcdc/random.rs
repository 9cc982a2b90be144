//! Random decisions of up to 12 conditions, whose programs log every condition: vectors and verdicts are those of the
//! log, by brute force. Some dozens, and as many as `COTREE_DECISIONS` says.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most conditions of a decision.
const MOST: usize = 12;

fn decisions() -> u64 {
    std::env::var("COTREE_DECISIONS").map_or(40, |count| count.parse().expect("a number"))
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// An expression of conditions, which are numbered.
#[derive(Clone, Debug)]
enum Expression {
    Condition(usize),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

impl Expression {
    fn new(random: &mut Random, first: usize, conditions: usize) -> Self {
        let inner = match conditions {
            1 => Self::Condition(first),
            _ => {
                let left = 1 + random.below(conditions as u64 - 1) as usize;
                let right = Self::new(random, first + left, conditions - left).into();
                let left = Self::new(random, first, left).into();
                if random.below(2) == 0 { Self::And(left, right) } else { Self::Or(left, right) }
            }
        };
        if random.below(4) == 0 { Self::Not(inner.into()) } else { inner }
    }

    /// The expression as clang has it: a negation of a condition is a part of the condition, and what is around all
    /// conditions is no part of the decision. The second tells whether that negates it.
    fn of_c(self) -> (Self, bool) {
        match self {
            Self::Condition(_) => (self, false),
            Self::Not(inner) => {
                let (inner, negated) = inner.of_c();
                (inner, !negated)
            }
            Self::And(left, right) => (Self::And(left.part_of_c().into(), right.part_of_c().into()), false),
            Self::Or(left, right) => (Self::Or(left.part_of_c().into(), right.part_of_c().into()), false),
        }
    }

    /// Whether each condition is negated by what is directly around it.
    fn negated_conditions(&self, negated: bool, all: &mut Vec<bool>) {
        match self {
            Self::Condition(_) => all.push(negated),
            Self::Not(inner) => inner.negated_conditions(!negated, all),
            Self::And(left, right) | Self::Or(left, right) => {
                left.negated_conditions(false, all);
                right.negated_conditions(false, all);
            }
        }
    }

    fn has_negated_part(&self) -> bool {
        match self {
            Self::Condition(_) => false,
            Self::Not(_) => true,
            Self::And(left, right) | Self::Or(left, right) => left.has_negated_part() || right.has_negated_part(),
        }
    }

    fn part_of_c(self) -> Self {
        match self.of_c() {
            (Self::Condition(number), _) => Self::Condition(number),
            (inner, true) => Self::Not(inner.into()),
            (inner, false) => inner,
        }
    }

    fn text(&self, condition: &impl Fn(usize) -> String) -> String {
        match self {
            Self::Condition(number) => condition(*number),
            Self::Not(inner) => format!("!({})", inner.text(condition)),
            Self::And(left, right) => format!("({} && {})", left.text(condition), right.text(condition)),
            Self::Or(left, right) => format!("({} || {})", left.text(condition), right.text(condition)),
        }
    }

    /// The values that the expression may have: false, true.
    fn possible(&self, values: &[Option<bool>]) -> [bool; 2] {
        match self {
            Self::Condition(number) => values[*number].map_or([true, true], |value| [!value, value]),
            Self::Not(inner) => {
                let [no, yes] = inner.possible(values);
                [yes, no]
            }
            Self::And(left, right) => {
                let (left, right) = (left.possible(values), right.possible(values));
                [left[0] || right[0], left[1] && right[1]]
            }
            Self::Or(left, right) => {
                let (left, right) = (left.possible(values), right.possible(values));
                [left[0] && right[0], left[1] || right[1]]
            }
        }
    }
}

/// What a log says of a decision: how often each vector occurred, by its letters and its outcome.
type Log = BTreeMap<(String, bool), u64>;

/// Reads a log: a line per condition, and one per decision.
fn read_log(text: &str, conditions: &[usize]) -> Vec<Log> {
    let mut logs = vec![Log::new(); conditions.len()];
    let mut letters: BTreeMap<usize, char> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, number, value] = words[..] else { panic!("{line}") };
        let (number, value): (usize, bool) = (number.parse().expect("a number"), value == "1");
        if what == "c" {
            letters.insert(number, if value { 'T' } else { 'F' });
        } else {
            let vector = (0..conditions[number]).map(|at| letters.get(&at).copied().unwrap_or('-')).collect();
            *logs[number].entry((vector, value)).or_default() += 1;
            letters.clear();
        }
    }
    logs
}

/// Holds what is told of a decision against its log.
fn check(told: &Value, expression: &Expression, conditions: usize, log: &Log) {
    let list = |key: &str| told[key].as_array().expect("a list").clone();
    let vector = |vector: &Value| {
        let letters = vector["conditions"].as_str().expect("letters").to_owned();
        ((letters, vector["outcome"].as_bool().expect("an outcome")), vector["count"].as_u64().expect("a count"))
    };
    let vectors: Log = list("vectors").iter().map(vector).collect();
    assert_eq!(&vectors, log, "{expression:?}");
    let value = |letters: &str, at: usize| match letters.as_bytes()[at] {
        b'T' => Some(true),
        b'F' => Some(false),
        _ => None,
    };
    assert_eq!(list("conditions").len(), conditions);
    for (at, verdict) in list("conditions").iter().enumerate() {
        let agree = |a: &str, b: &str| {
            let others = (0..conditions).filter(|&other| other != at);
            others.into_iter().all(|at| value(a, at).zip(value(b, at)).is_none_or(|(a, b)| a == b))
        };
        let shows = |(a, left): &(String, bool), (b, right): &(String, bool)| {
            value(a, at) == Some(false) && value(b, at) == Some(true) && left != right && agree(a, b)
        };
        let unique = log.keys().any(|a| log.keys().any(|b| shows(a, b)));
        assert_eq!(verdict["unique_cause"].is_array(), unique, "condition {at} of {expression:?}: {log:?}");
        let decides = |(letters, outcome): &(String, bool), wanted: bool| {
            let mut values: Vec<_> = (0..conditions).map(|at| value(letters, at)).collect();
            values[at] == Some(wanted) && {
                values[at] = Some(!wanted);
                expression.possible(&values)[usize::from(!outcome)]
            }
        };
        let masking = [false, true].iter().all(|&wanted| log.keys().any(|vector| decides(vector, wanted)));
        assert_eq!(verdict["masking"].is_array(), masking, "condition {at} of {expression:?}: {log:?}");
        let occurred = |letter| {
            let with = log.iter().filter(|((letters, _), _)| value(letters, at) == Some(letter));
            with.map(|(_, count)| count).sum::<u64>()
        };
        assert_eq!([&verdict["false"], &verdict["true"]].map(Value::as_u64), [false, true].map(|v| Some(occurred(v))));
    }
}

/// Decisions with the inputs that they are made with.
struct Program {
    expressions: Vec<(Expression, usize)>,
    inputs: Vec<Vec<u64>>,
}

impl Program {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut program = Self { expressions: Vec::new(), inputs: Vec::new() };
        for _ in 0..decisions() {
            let conditions = 2 + random.below(MOST as u64 - 1) as usize;
            program.expressions.push((Expression::new(&mut random, 0, conditions), conditions));
            let runs = random.below(30);
            program.inputs.push((0..runs).map(|_| random.below(1 << conditions)).collect());
        }
        program
    }

    fn check(&self, log: &str, told: impl Fn(usize) -> Value) {
        let conditions: Vec<usize> = self.expressions.iter().map(|&(_, conditions)| conditions).collect();
        for (number, log) in read_log(log, &conditions).iter().enumerate() {
            let (expression, conditions) = &self.expressions[number];
            check(&told(number), expression, *conditions, log);
        }
    }
}

/// All decisions of a profile.
fn decisions_of(project: &Project, profile: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(&project.ok(&format!("coverage --json {profile}"))).expect("JSON");
    let files = json["files"].as_array().expect("files").iter();
    files.flat_map(|file| file["decisions"].as_array().cloned().unwrap_or_default()).collect()
}

#[test]
fn random_decisions_of_c() {
    let mut program = Program::new(1);
    let mut source = String::from(
        "#include <stdio.h>\nstatic int c(int i, unsigned v) { printf(\"c %d %u\\n\", i, v & 1); return v & 1; }\n\
         static int n(int i, unsigned v) { printf(\"c %d %u\\n\", i, ~v & 1); return v & 1; }\n\
         static int same(int v) { return v; }\n",
    );
    let mut negated = Vec::new();
    for (number, (expression, _)) in program.expressions.iter_mut().enumerate() {
        let mut leaves = Vec::new();
        expression.negated_conditions(false, &mut leaves);
        let condition = |at: usize| {
            let log = if leaves[at] { "n" } else { "c" };
            match (at + number) % 3 {
                0 => format!("{log}({at}, x >> {at})"),
                1 => format!("{log}({at}, x >> {at}) != 0"),
                _ => format!("{log}({at}, x >> {at}) == 1"),
            }
        };
        let text = expression.text(&condition);
        // The outcomes of `!(!(a && b) || c) ? d : e` are not known.
        let unknown = matches!(expression, Expression::Not(_)) && expression.clone().of_c().0.has_negated_part();
        let form = if number % 7 == 4 && unknown { 3 } else { number % 7 };
        let body = match form {
            0 => format!("int r = 0; if ({text}) r = 1;"),
            1 => format!("int r = {text};"),
            2 => format!("int r = 0; while ({text}) {{ r = 1; break; }}"),
            3 => format!("int r = {text} ? 1 : 0;"),
            4 => format!("int r = {text} ? same(1) : same(0);"),
            5 => format!("int r = 0; do {{ if (r++) break; }} while ({text}); r = r > 1;"),
            _ => format!("int r = 0; for (; {text};) {{ r = 1; break; }}"),
        };
        let (inner, is_negated) = std::mem::replace(expression, Expression::Condition(0)).of_c();
        *expression = inner;
        negated.push(is_negated);
        let (value, inputs) = (if is_negated { "!r" } else { "r" }, &program.inputs[number]);
        writeln!(source, "static void d{number}(unsigned x) {{ {body} printf(\"d {number} %d\\n\", {value}); }}")
            .expect("text");
        writeln!(source, "static void m{number}(void) {{").expect("text");
        inputs.iter().for_each(|input| writeln!(source, "d{number}({input}u);").expect("text"));
        writeln!(source, "(void)d{number}; }}").expect("text");
    }
    assert!(negated.contains(&true), "some are negated as a whole");
    source.push_str("int main(void) {\n");
    (0..program.expressions.len()).for_each(|number| writeln!(source, "m{number}();").expect("text"));
    source.push_str("}\n");
    let project = Project::new(&[("p.c", &source)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--coverage --mcdc cc -w {level} p.c -o p"));
        let log = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let told = decisions_of(&project, "p.cotree");
        let of = |number: usize| {
            let name = format!("d{number}");
            told.iter().find(|decision| decision["function"] == name.as_str()).expect("the decision").clone()
        };
        program.check(&log, of);
        let output = project.cotree("coverage p.cotree").output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("negated"), "{said}");
    }
}

#[test]
fn random_decisions_of_rust() {
    let program = Program::new(2);
    let mut source = String::from(
        "fn c(i: u32, v: u32) -> bool { println!(\"c {i} {}\", v & 1); v & 1 == 1 }\n\
         struct At(u32);\nimpl At { fn is(&self, x: u32) -> bool { c(self.0, x >> self.0) } }\n\
         fn same(b: bool) -> bool { b }\n",
    );
    let mut lines = Vec::new();
    for (number, (expression, _)) in program.expressions.iter().enumerate() {
        let condition = |at: usize| match (at + number) % 5 {
            0 => format!("c({at}, x >> {at})"),
            1 => format!("u8::from(c({at}, x >> {at})) != 0"),
            2 => format!("At({at}).is(x)"),
            3 => format!("u8::from(c({at}, x >> {at})) == 1"),
            _ => format!("matches!(c({at}, x >> {at}), true)"),
        };
        let text = expression.text(&condition);
        let body = match number % 6 {
            0 => format!("let mut r = false; if {text} {{ r = true; }}"),
            1 => format!("let r = {text};"),
            2 => format!("let mut r = false; while {text} {{ r = true; break; }}"),
            3 => format!("let r = match x {{ _ if {text} => true, _ => false }};"),
            4 => format!("let r = same({text});"),
            _ => format!("let f = |x: u32| {text}; let r = f(x);"),
        };
        writeln!(source, "fn d{number}(x: u32) {{ {body} println!(\"d {number} {{}}\", r as u8); }}").expect("text");
        lines.push(source.lines().count() as u64);
    }
    source.push_str("fn main() {\n");
    for (number, inputs) in program.inputs.iter().enumerate() {
        writeln!(source, "for x in {inputs:?} as [u32; {}] {{ d{number}(x); }}", inputs.len()).expect("text");
    }
    source.push_str("}\n");
    let manifest = "[package]\nname = \"p\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", &source)]);
    let levels: &[&str] = if decisions() > 100 { &["", "--release"] } else { &[""] };
    for level in levels {
        let mut cargo = project.cotree(&format!("--coverage --mcdc cargo run --quiet {level}"));
        let log = succeed(cargo.env("COTREE_FILE", "p.cotree").env("RUSTFLAGS", "-Awarnings"));
        let told = decisions_of(&project, "p.cotree");
        let of = |number: usize| {
            let at = |decision: &&Value| decision["start"][0].as_u64() == Some(lines[number]);
            told.iter().find(at).unwrap_or_else(|| panic!("decision {number} in {source}")).clone()
        };
        program.check(&log, of);
        std::fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}
