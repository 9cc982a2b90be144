//! Random structured programs: sequences, conditionals, loops with the test first or last, `break` and `return`.

use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::Block;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Statement {
    Plain,
    IfElse(Vec<Statement>, Vec<Statement>),
    While(Vec<Statement>),
    DoWhile(Vec<Statement>),
    /// A loop whose body may be left by `if (…) break;` (`true`: by `if (…) return;`) after its first part.
    Leaving(Vec<Statement>, bool, Vec<Statement>),
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = Just(vec![Statement::Plain]);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let statement = prop_oneof![
            Just(Statement::Plain),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Statement::IfElse(a, b)),
            inner.clone().prop_map(Statement::While),
            inner.clone().prop_map(Statement::DoWhile),
            (inner.clone(), any::<bool>(), inner).prop_map(|(a, returns, b)| Statement::Leaving(a, returns, b)),
        ];
        prop::collection::vec(statement, 0..4)
    })
}

#[derive(Default)]
struct Lowering {
    blocks: usize,
    edges: Vec<(usize, usize)>,
    returns: Vec<usize>,
}

impl Lowering {
    fn block_after(&mut self, before: usize) -> usize {
        let block = self.block();
        self.edges.push((before, block));
        block
    }

    fn block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    /// Lowers statements into the open block `at`; gives the block that is open after them.
    fn lower(&mut self, statements: &[Statement], mut at: usize) -> usize {
        for statement in statements {
            at = match statement {
                Statement::Plain => self.block_after(at),
                Statement::IfElse(yes, no) => {
                    let (yes_block, no_block) = (self.block_after(at), self.block_after(at));
                    let (yes_end, no_end) = (self.lower(yes, yes_block), self.lower(no, no_block));
                    let join = self.block_after(yes_end);
                    self.edges.push((no_end, join));
                    join
                }
                Statement::While(body) => {
                    let header = self.block_after(at);
                    let body_block = self.block_after(header);
                    let end = self.lower(body, body_block);
                    self.edges.push((end, header));
                    self.block_after(header)
                }
                Statement::DoWhile(body) => {
                    let header = self.block_after(at);
                    let end = self.lower(body, header);
                    self.edges.push((end, header));
                    self.block_after(end)
                }
                Statement::Leaving(first, returns, second) => {
                    let header = self.block_after(at);
                    let test = self.lower(first, header);
                    let rest = self.block_after(test);
                    let end = self.lower(second, rest);
                    self.edges.push((end, header));
                    let after = self.block_after(end);
                    if *returns {
                        self.returns.push(test);
                    } else {
                        self.edges.push((test, after));
                    }
                    after
                }
            }
        }
        at
    }
}

/// The graphs of random programs.
pub fn programs() -> impl Strategy<Value = Cfg> {
    statements().prop_map(graph)
}

/// Structured graphs without `break` and `return`.
pub fn programs_without_jumps() -> impl Strategy<Value = Cfg> {
    let jumps = |program: &Vec<Statement>| program.iter().any(Statement::jumps);
    statements().prop_filter("jumps", move |program| !jumps(program)).prop_map(graph)
}

impl Statement {
    fn jumps(&self) -> bool {
        match self {
            Self::Plain => false,
            Self::IfElse(a, b) => a.iter().chain(b).any(Self::jumps),
            Self::While(body) | Self::DoWhile(body) => body.iter().any(Self::jumps),
            Self::Leaving(..) => true,
        }
    }
}

fn graph(program: Vec<Statement>) -> Cfg {
    let mut lowering = Lowering::default();
    let entry = lowering.block();
    let last = lowering.lower(&program, entry);
    let exit = lowering.blocks;
    lowering.edges.extend(lowering.returns.iter().copied().chain([last]).map(|b| (b, exit)));
    Cfg::new(exit, lowering.edges.into_iter().map(|(a, b)| (Block::new(a), Block::new(b)))).unwrap()
}
