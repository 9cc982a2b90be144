//! Decisions of a source file of Rust: what is branched on by `if`, `while` and guards, and every `&&` and `||`.
//!
//! What macros are given is read where it is a list of expressions, as that of `assert!` is, or what `matches!` takes.

use cotree_core::decision::{Decision, Next};
use proc_macro2::{LineColumn, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, Macro, Pat, Token, UnOp};

/// A place in the text: line and column, from 1; a column counts bytes.
pub(super) type Place = (u32, u32);

/// A decision of the source.
#[derive(Clone, Debug)]
pub(super) struct SourceDecision {
    pub(super) start: Place,
    pub(super) end: Place,
    pub(super) conditions: Vec<Condition>,
    pub(super) graph: Decision,
    /// The last condition is not branched on: its value is the decision's.
    pub(super) is_value: bool,
}

/// A condition.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) start: Place,
    pub(super) end: Place,
    /// Where the outermost parenthesis around the condition begins, if there is one: rustc has it begin there.
    pub(super) parenthesis: Option<Place>,
    /// Where the outermost of the negations begins that are directly around the condition, if they negate it.
    pub(super) negated_at: Option<Place>,
    /// Where the name of the method is, if the condition is the call of one.
    pub(super) method: Option<Place>,
    pub(super) kind: Kind,
}

/// What a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A truth value.
    Value,
    /// A comparison by `==` (false) or `!=` (true).
    Comparison { unequal: bool },
    /// A pattern (`let`).
    Pattern,
    /// A literal, or `cfg!`.
    Constant,
}

/// What a file has.
#[derive(Debug, Default)]
pub(super) struct SourceDecisions {
    pub(super) decisions: Vec<SourceDecision>,
    /// Where macros begin that have `&&` or `||` in what they are given, which could not be read.
    pub(super) macros: Vec<Place>,
}

/// Finds the decisions of a file. `None`: it is not Rust.
pub(super) fn decisions(text: &str) -> Option<SourceDecisions> {
    let file = syn::parse_file(text).ok()?;
    let mut finder = Finder { lines: text.lines().collect(), found: SourceDecisions::default() };
    finder.visit_file(&file);
    Some(finder.found)
}

struct Finder<'t> {
    lines: Vec<&'t str>,
    found: SourceDecisions,
}

impl Finder<'_> {
    fn place(&self, at: LineColumn) -> Place {
        let line = self.lines.get(at.line.wrapping_sub(1)).copied().unwrap_or_default();
        let column = line.char_indices().nth(at.column).map_or(line.len(), |(byte, _)| byte);
        (u32::try_from(at.line).unwrap_or(0), u32::try_from(column + 1).unwrap_or(0))
    }

    /// Takes an expression as a decision, and looks into its conditions.
    fn decide(&mut self, root: &Expr, is_value: bool) {
        let mut leaves = Vec::new();
        let mut graph = Vec::new();
        add(Leaf::new(root), [Next::Made(false), Next::Made(true)], 0, &mut leaves, &mut graph);
        let conditions = leaves.iter().map(|&leaf| self.condition(leaf)).collect();
        let span = root.span();
        if let Ok(graph) = Decision::new(graph) {
            let (start, end) = (self.place(span.start()), self.place(span.end()));
            self.found.decisions.push(SourceDecision { start, end, conditions, graph, is_value });
        }
        leaves.into_iter().for_each(|leaf| self.visit_expr(leaf.condition));
    }

    fn condition(&self, Leaf { condition: leaf, parenthesis, outermost, negated }: Leaf<'_>) -> Condition {
        let span = leaf.span();
        let method = match leaf {
            Expr::MethodCall(call) => Some(self.place(call.method.span().start())),
            _ => None,
        };
        let kind = match leaf {
            Expr::Let(_) => Kind::Pattern,
            Expr::Lit(literal) if matches!(literal.lit, Lit::Bool(_)) => Kind::Constant,
            Expr::Macro(call) if call.mac.path.is_ident("cfg") => Kind::Constant,
            Expr::Binary(binary) if matches!(binary.op, BinOp::Eq(_)) => Kind::Comparison { unequal: false },
            Expr::Binary(binary) if matches!(binary.op, BinOp::Ne(_)) => Kind::Comparison { unequal: true },
            _ => Kind::Value,
        };
        let [parenthesis, outermost] =
            [parenthesis, outermost].map(|outer| outer.map(|outer| self.place(outer.span().start())));
        let (start, end) = (self.place(span.start()), self.place(span.end()));
        Condition { start, end, parenthesis, negated_at: outermost.filter(|_| negated), method, kind }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::If(branch) => {
                self.decide(&branch.cond, false);
                self.visit_block(&branch.then_branch);
                if let Some((_, otherwise)) = &branch.else_branch {
                    self.visit_expr(otherwise);
                }
            }
            Expr::While(turn) => {
                self.decide(&turn.cond, false);
                self.visit_block(&turn.body);
            }
            _ if is_logical(expression) => self.decide(expression, true),
            _ => visit::visit_expr(self, expression),
        }
    }

    fn visit_pat(&mut self, pattern: &'a Pat) {
        match pattern {
            Pat::Guard(guarded) => {
                self.visit_pat(&guarded.pat);
                self.decide(&guarded.guard, false);
            }
            _ => visit::visit_pat(self, pattern),
        }
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        if name == "matches" {
            if let Ok(Matches { value, pattern }) = syn::parse2(call.tokens.clone()) {
                self.visit_expr(&value);
                self.visit_pat(&pattern);
                return;
            }
        } else if let Ok(arguments) = list.parse2(call.tokens.clone()) {
            let asserts = matches!(name.as_str(), "assert" | "debug_assert");
            for (index, argument) in arguments.iter().enumerate() {
                if asserts && index == 0 {
                    self.decide(argument, false);
                } else {
                    self.visit_expr(argument);
                }
            }
            return;
        }
        if has_logic(call.tokens.clone()) {
            let place = self.place(call.span().start());
            self.found.macros.push(place);
        }
    }
}

/// What `matches!` is given.
struct Matches {
    value: Expr,
    pattern: Pat,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let pattern = match input.parse::<Option<Token![if]>>()? {
            Some(if_token) => {
                Pat::Guard(syn::PatGuard { attrs: Vec::new(), pat: pattern.into(), if_token, guard: input.parse()? })
            }
            None => pattern,
        };
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { value, pattern })
    }
}

/// A condition of an expression, and what is directly around it.
#[derive(Clone, Copy)]
struct Leaf<'e> {
    condition: &'e Expr,
    /// The outermost parenthesis that has nothing but the condition in it.
    parenthesis: Option<&'e Expr>,
    /// The outermost of the negations and parentheses that have nothing but the condition in them.
    outermost: Option<&'e Expr>,
    /// There is an odd number of negations among them.
    negated: bool,
}

impl<'e> Leaf<'e> {
    fn new(condition: &'e Expr) -> Self {
        Self { condition, parenthesis: None, outermost: None, negated: false }
    }
}

/// Adds the conditions of an expression, from number `first` on, and what follows each. `leaf` is the expression with
/// what is around it.
fn add<'e>(leaf: Leaf<'e>, after: [Next; 2], first: u16, leaves: &mut Vec<Leaf<'e>>, graph: &mut Vec<[Next; 2]>) {
    let expression = leaf.condition;
    let outermost = leaf.outermost.or(Some(expression));
    match expression {
        Expr::Paren(inner) => {
            let parenthesis = leaf.parenthesis.or(Some(expression));
            add(Leaf { condition: &inner.expr, parenthesis, outermost, ..leaf }, after, first, leaves, graph);
        }
        Expr::Group(inner) => add(Leaf { condition: &inner.expr, ..leaf }, after, first, leaves, graph),
        Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => {
            let inner = Leaf { condition: &not.expr, parenthesis: None, outermost, negated: !leaf.negated };
            add(inner, [after[1], after[0]], first, leaves, graph);
        }
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
            let second = first.saturating_add(count(&binary.left));
            let on = Next::Condition(second);
            let of_left = if matches!(binary.op, BinOp::And(_)) { [after[0], on] } else { [on, after[1]] };
            add(Leaf::new(&binary.left), of_left, first, leaves, graph);
            add(Leaf::new(&binary.right), after, second, leaves, graph);
        }
        _ => {
            leaves.push(leaf);
            graph.push(after);
        }
    }
}

/// How many conditions an expression has.
fn count(expression: &Expr) -> u16 {
    match expression {
        Expr::Paren(inner) => count(&inner.expr),
        Expr::Group(inner) => count(&inner.expr),
        Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => count(&not.expr),
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
            count(&binary.left).saturating_add(count(&binary.right))
        }
        _ => 1,
    }
}

/// Whether an expression is made by `&&` or `||`, perhaps negated.
fn is_logical(expression: &Expr) -> bool {
    match expression {
        Expr::Paren(inner) => is_logical(&inner.expr),
        Expr::Group(inner) => is_logical(&inner.expr),
        Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => is_logical(&not.expr),
        Expr::Binary(binary) => matches!(binary.op, BinOp::And(_) | BinOp::Or(_)),
        _ => false,
    }
}

/// Whether there is a `&&` or `||` that is no reference and no closure.
fn has_logic(tokens: TokenStream) -> bool {
    let mut last_is_value = false;
    let mut joint: Option<char> = None;
    for token in tokens {
        let value = match &token {
            TokenTree::Punct(punct) => {
                let sign = punct.as_char();
                if joint == Some(sign) && matches!(sign, '&' | '|') {
                    return true;
                }
                joint = (last_is_value && punct.spacing() == proc_macro2::Spacing::Joint).then_some(sign);
                false
            }
            TokenTree::Group(group) => {
                if has_logic(group.stream()) {
                    return true;
                }
                true
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => true,
        };
        if value {
            joint = None;
        }
        last_is_value = value;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let found = decisions(text).expect("valid Rust");
        let show = |decision: &SourceDecision| {
            let starts: Vec<String> = decision.conditions.iter().map(|c| c.start.1.to_string()).collect();
            format!("{} {}{}", decision.start.1, starts.join(","), if decision.is_value { " value" } else { "" })
        };
        found.decisions.iter().map(show).chain(found.macros.iter().map(|at| format!("macro {}", at.1))).collect()
    }

    #[test]
    fn decisions_are_found_where_they_stand() {
        assert_eq!(shown("fn f() { if a && !(b || c) {} }"), ["13 13,20,25"]);
        assert_eq!(shown("fn f() { g(a && b, c); }"), ["12 12,17 value"]);
        assert_eq!(
            shown("fn f() { while f(a || b) { x = !(c && d) } }"),
            ["16 16", "18 18,23 value", "32 34,39 value"]
        );
        assert_eq!(shown("fn f() { match x { A if b && c => 1, _ => 2 }; }"), ["25 25,30"]);
        assert_eq!(shown("fn f() { if let A = b && c {} }"), ["13 13,26"]);
        assert_eq!(shown("fn f() { assert!(a && b, \"{}\", c || d); }"), ["18 18,23", "32 32,37 value"]);
        assert_eq!(shown("fn f() { matches!(x, A | B if c || d) }"), ["31 31,36"]);
        assert_eq!(shown("fn f() { my!(a => b && c); my!(x => || 1); my!(&&x => 1) }"), ["macro 10"]);
        // Columns count bytes.
        assert_eq!(shown("fn f() { g(\"ä\", a && b) }"), ["18 18,23 value"]);
    }
}
