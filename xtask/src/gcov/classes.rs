//! What kind of difference it is: each class has a rule that a line and its neighbours meet or do not.
//!
//! The rules look at what the two gcovs say and at the text of the line, and are narrow on purpose: a line that meets
//! none is a failure. `docs/gcov.md` says what is behind each class.

use super::compare::Line;

/// Why a count is not that of every gcov that knows the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The gcovs contradict each other, and cotree has gcc's count.
    AsGcc,
    /// The gcovs contradict each other, and cotree has clang's count.
    AsClang,
    /// Nothing but closing braces is on the line: gcc has no count for it, clang's is higher.
    ClosingBrace,
    /// gcc has no count for the line; on the line before or after it, it has cotree's.
    Neighbour,
    /// An operand of `&&` or `||` that was evaluated less often than the whole condition.
    Operand,
    /// `} else if (…) {`: what the gcovs count more often is the block above, which ends on the line, or the one below.
    ElseIf,
    /// The head of an endless loop: clang counts it too often by as much as a line above, where gcc has cotree's count.
    LoopHead,
    /// The first line of a macro over several lines: cotree and gcc have the same count, cotree on the next line.
    MacroHead,
    /// A statement over several lines, which control comes back to; it ran, for all.
    SeveralLines,
    /// None of these.
    Unexplained,
}

impl Class {
    /// All of them, in the order of the table.
    pub const ALL: [Class; 10] = [
        Class::AsGcc,
        Class::AsClang,
        Class::ClosingBrace,
        Class::Neighbour,
        Class::Operand,
        Class::ElseIf,
        Class::LoopHead,
        Class::MacroHead,
        Class::SeveralLines,
        Class::Unexplained,
    ];

    /// As tables call it.
    pub fn name(self) -> &'static str {
        match self {
            Class::AsGcc => "contested, as gcc",
            Class::AsClang => "contested, as clang",
            Class::ClosingBrace => "closing brace",
            Class::Neighbour => "as gcc beside it",
            Class::Operand => "operand",
            Class::ElseIf => "else if",
            Class::LoopHead => "head of a loop",
            Class::MacroHead => "head of a macro",
            Class::SeveralLines => "several lines",
            Class::Unexplained => "UNEXPLAINED",
        }
    }

    /// Does gcov have one value for the line, which is not cotree's? (Where the gcovs contradict each other, and cotree
    /// has the count of one of them, there is no such value.)
    pub fn is_against_gcov(self) -> bool {
        !matches!(self, Class::AsGcc | Class::AsClang)
    }

    /// The class of the line at `index`, if its count is not that of all gcovs that know it. `source` gives the text of
    /// any line of the same file.
    pub fn of<'s>(lines: &[Line<'_>], index: usize, source: &dyn Fn(u32) -> &'s str) -> Option<Class> {
        let line = &lines[index];
        let ours = line.ours?;
        if line.peers().all(|theirs| theirs == ours) {
            return None;
        }
        let code = code(source(line.number));
        let same_file = |other: &&Line<'_>| other.file == line.file;
        let mut above = lines[..index].iter().rev().take_while(same_file);
        let mut below = lines[index + 1..].iter().take_while(same_file);
        let agreed = |l: &Line<'_>| l.gcc.filter(|gcc| l.ours == Some(*gcc));
        Some(if line.gcc == Some(ours) {
            Class::AsGcc
        } else if line.gcc.is_some() && line.clang == Some(ours) {
            Class::AsClang
        } else if line.gcc.is_none() && is_brace(code) && line.clang.is_some_and(|clang| ours < clang) {
            Class::ClosingBrace
        } else if line.gcc.is_none()
            && [above.clone().find(|l| l.gcc.is_some()), below.clone().find(|l| l.gcc.is_some())]
                .into_iter()
                .flatten()
                .any(|l| l.number.abs_diff(line.number) <= NEAR && l.gcc == Some(ours))
        {
            Class::Neighbour
        } else if is_operand(line.number, source)
            && let Some(whole) = above.clone().filter(|l| !is_operand(l.number, source)).find_map(|l| l.ours)
            && line.peers().all(|theirs| ours < theirs && theirs <= whole)
        {
            Class::Operand
        } else if code.starts_with('}')
            && code.trim_start_matches(['}', ' ']).starts_with("else if")
            && let (Some(over), Some(under)) = (above.clone().find_map(agreed), below.clone().find_map(agreed))
            && line.peers().all(|theirs| [ours, ours + over, ours + under].contains(&theirs))
        {
            Class::ElseIf
        } else if is_endless(code)
            && let Some(excess) = line.clang.and_then(|clang| clang.checked_sub(ours))
            && above
                .find(|l| l.ours.is_some() && l.ours == l.gcc && l.clang != l.gcc)
                .is_some_and(|l| l.clang.zip(l.gcc).and_then(|(clang, gcc)| clang.checked_sub(gcc)) == Some(excess))
        {
            Class::LoopHead
        } else if code.ends_with('(')
            && code.trim_end_matches('(').chars().all(|c| c == '_' || c.is_ascii_uppercase())
            && line.gcc.is_some()
            && below.find_map(|l| l.ours) == line.gcc
        {
            Class::MacroHead
        } else if ours > 0
            && line.clang.is_none_or(|clang| clang > 0)
            && (line.gcc.is_none_or(|gcc| gcc > 0)
                || below.any(|l| l.gcc == Some(ours) && l.number - line.number <= NEAR))
            && is_part(line.number, source)
        {
            Class::SeveralLines
        } else {
            Class::Unexplained
        })
    }
}

/// How far away a neighbour may be.
const NEAR: u32 = 4;

/// The line without white space and comments.
fn code(line: &str) -> &str {
    let line = line.split("//").next().unwrap_or_default();
    let mut line = line.trim();
    if ["*", "**"].contains(&line.split(' ').next().unwrap_or_default()) || line.starts_with("*/") {
        // Within a comment of several lines.
        return "";
    }
    while let Some((before, after)) = line.split_once("/*") {
        // Only comments at the ends are cut off.
        match after.split_once("*/") {
            None => line = before.trim_end(),
            Some((_, "")) => line = before.trim_end(),
            Some((_, rest)) if before.is_empty() => line = rest.trim_start(),
            Some(_) => break,
        }
    }
    line
}

fn is_brace(code: &str) -> bool {
    code.starts_with('}') && code.chars().all(|c| matches!(c, '}' | ';' | ' '))
}

/// Does the line begin with an operand that may not be evaluated?
fn is_operand<'s>(number: u32, source: &dyn Fn(u32) -> &'s str) -> bool {
    let code_of = |number| code(source(number));
    let before = (1..number).rev().map(code_of).find(|code| !code.is_empty());
    ["&&", "||"].iter().any(|mark| code_of(number).starts_with(mark) || before.is_some_and(|code| code.ends_with(mark)))
}

fn is_endless(code: &str) -> bool {
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let head = ["while(1)", "while(True)", "for(;;)"].iter().any(|head| code.starts_with(head));
    head || (code.starts_with("for(") && (code.contains(";1;") || code.contains(";;")))
}

/// Does the line begin or end in the middle of a statement?
fn is_part<'s>(number: u32, source: &dyn Fn(u32) -> &'s str) -> bool {
    let ends = |code: &str| code.ends_with([';', '{', '}', ':']) || code.starts_with('#');
    let before = (1..number).rev().map(|n| code(source(n))).find(|code| !code.is_empty());
    let line = code(source(number));
    let open = line.matches('(').count() > line.matches(')').count();
    open || !ends(line) || before.is_some_and(|before| !ends(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The text of a line, with ours, clang's and gcc's counts.
    type Row<'s> = (&'s str, Option<u64>, Option<u64>, Option<u64>);

    fn class(lines: &[Row<'_>], number: u32) -> Option<Class> {
        let known: Vec<Line<'_>> = (1..)
            .zip(lines)
            .filter(|(_, l)| l.1.is_some() || l.2.is_some() || l.3.is_some())
            .map(|(number, l)| Line { file: Path::new("x.c"), number, ours: l.1, clang: l.2, gcc: l.3 })
            .collect();
        let index = known.iter().position(|l| l.number == number).unwrap();
        Class::of(&known, index, &|n| lines[n as usize - 1].0)
    }

    #[test]
    fn a_line_gets_the_class_whose_rule_it_meets() {
        assert_eq!(class(&[("f();", Some(3), Some(3), Some(3))], 1), None);
        assert_eq!(class(&[("f();", Some(3), Some(4), Some(3))], 1), Some(Class::AsGcc));
        assert_eq!(class(&[("f();", Some(3), Some(3), Some(4))], 1), Some(Class::AsClang));
        assert_eq!(class(&[("f();", Some(3), Some(4), Some(4))], 1), Some(Class::Unexplained));
        assert_eq!(class(&[("f();", Some(0), Some(4), None)], 1), Some(Class::Unexplained));
        assert_eq!(class(&[("} /* f */", Some(3), Some(4), None)], 1), Some(Class::ClosingBrace));
        assert_eq!(class(&[("} else {", Some(3), Some(4), None)], 1), Some(Class::Unexplained));
        let beside = [("f();", Some(3), Some(4), Some(3)), ("UNUSED(x);", Some(3), Some(4), None)];
        assert_eq!(class(&beside, 2), Some(Class::Neighbour));
        let operand = [("while (a", Some(5), Some(5), Some(5)), ("  && b) {", Some(0), Some(5), Some(5))];
        assert_eq!(class(&operand, 2), Some(Class::Operand));
        let call = [("x = f(a, // first", Some(5), Some(10), Some(10)), ("  b);", Some(5), Some(5), Some(5))];
        assert_eq!(class(&call, 1), Some(Class::SeveralLines));
        let never = [("x = f(a,", Some(0), Some(10), Some(10)), ("  b);", Some(5), Some(5), Some(5))];
        assert_eq!(class(&never, 1), Some(Class::Unexplained));
        let other = [
            ("f();", Some(2), Some(2), Some(2)),
            ("} else if (a) {", Some(3), Some(5), Some(4)),
            ("g();", Some(1), Some(1), Some(1)),
        ];
        assert_eq!(class(&other, 2), Some(Class::ElseIf));
        let endless = [("int f() {", Some(2), Some(7), Some(2)), ("for (;;) {", Some(9), Some(14), Some(4))];
        assert_eq!(class(&endless, 2), Some(Class::LoopHead));
        let check = [("CHECK_IF(", Some(0), Some(10), Some(5)), ("  a);", Some(5), Some(5), None)];
        assert_eq!(class(&check, 1), Some(Class::MacroHead));
    }
}
