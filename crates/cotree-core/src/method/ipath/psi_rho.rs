//! The functions ψ of vertices and ρ of edges (Melski & Reps 1998, §5.2).
//!
//! How many completions a path has from a vertex depends on who called the function: it is a linear function, ψ, of
//! the number of completions from the function's EXIT. What an edge adds to the number of a path is one as well: ρ, the
//! sum of the ψ of the successors before its own. Both are the same in all contexts; only their argument differs, which
//! is passed when the program runs.
//!
//! Sums and products saturate, far above all numbers that a plan may have.

use super::graph::{EXIT, FlowGraph, GEXIT, Role};
use super::types::{Groups, Target};
use crate::ids::FunctionId;

/// The most arcs that plans let a path through a function and its callees have.
pub const MOST_LENGTH: u64 = 1 << 14;

/// λx. `times` · x + `plus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    /// The coefficient.
    pub times: u128,
    /// The constant.
    pub plus: u128,
}

impl Linear {
    /// λx. 0.
    pub const ZERO: Self = Self { times: 0, plus: 0 };
    /// λx. 1: the one completion from a vertex at which paths end (Equation 20).
    pub const ONE: Self = Self { times: 0, plus: 1 };
    /// λx. x: the completions from EXIT (Equation 19).
    pub const IDENTITY: Self = Self { times: 1, plus: 0 };

    /// The value at x.
    #[must_use]
    pub const fn at(self, x: u128) -> u128 {
        self.times.saturating_mul(x).saturating_add(self.plus)
    }

    /// λx. self(inner(x)).
    #[must_use]
    pub const fn after(self, inner: Self) -> Self {
        Self { times: self.times.saturating_mul(inner.times), plus: self.at(inner.plus) }
    }

    /// λx. self(x) + other(x).
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { times: self.times.saturating_add(other.times), plus: self.plus.saturating_add(other.plus) }
    }
}

/// The ψ and ρ of one function.
#[derive(Clone, Debug, Default)]
pub struct PsiRho {
    /// Per node.
    pub psi: Vec<Linear>,
    /// Per arc.
    pub rho: Vec<Linear>,
    /// The most arcs that a path from the function's ENTRY to its end can have, those of callees included.
    pub longest: u64,
}

/// What a caller needs to know of a callee.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// The ψ of its ENTRY.
    pub entry: Linear,
    /// See [`PsiRho::longest`].
    pub longest: u64,
}

impl Summary {
    /// What is entered at a call, by what is known of each function. Which member of a group it is does not matter: the
    /// group has the paths of all.
    pub(super) fn of(target: Target, groups: &Groups, function: impl Fn(FunctionId) -> Self) -> Self {
        match target {
            Target::Function(callee) => function(callee),
            Target::Group(_) => groups.functions(target).map(function).fold(Self::default(), |all, member| Self {
                entry: all.entry.and(Linear { times: 0, plus: member.entry.at(1) }),
                longest: all.longest.max(member.longest),
            }),
        }
    }
}

impl PsiRho {
    /// Visits the nodes in reverse topological order (Equations 19 to 22 and 24). The summaries are those of the
    /// functions, and groups of functions, that paths enter.
    #[must_use]
    pub fn new(graph: &FlowGraph, summary: impl Fn(Target) -> Summary) -> Self {
        let mut psi = vec![Linear::ZERO; graph.node_count()];
        let mut longest = vec![0u64; graph.node_count()];
        let mut rho = vec![Linear::ZERO; graph.arc_count()];
        (psi[EXIT], psi[GEXIT]) = (Linear::IDENTITY, Linear::ONE);
        for &node in graph.topological_order().iter().rev().filter(|&&node| node != EXIT && node != GEXIT) {
            let mut sum = Linear::ZERO;
            for &arc in graph.out(node) {
                let (next, beyond) = (psi[graph.dst(arc)], longest[graph.dst(arc)].saturating_add(1));
                let (paths, length) = match graph.role(arc) {
                    Role::Cross(_, function) => {
                        let callee = summary(Target::Function(function));
                        (callee.entry.after(next), beyond.saturating_add(callee.longest))
                    }
                    Role::Descend(_, target) => {
                        let callee = summary(target);
                        (Linear { times: 0, plus: callee.entry.at(1) }, beyond.saturating_add(callee.longest))
                    }
                    _ => (next, beyond),
                };
                rho[arc] = sum;
                sum = sum.and(paths);
                longest[node] = longest[node].max(length);
            }
            psi[node] = sum;
        }
        let longest = longest.into_iter().max().unwrap_or(0);
        Self { psi, rho, longest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_functions_are_composed_and_added() {
        let (f, g) = (Linear { times: 2, plus: 3 }, Linear { times: 5, plus: 7 });
        for x in 0..9 {
            assert_eq!(f.after(g).at(x), f.at(g.at(x)));
            assert_eq!(f.and(g).at(x), f.at(x) + g.at(x));
        }
        let huge = Linear { times: u128::MAX / 2, plus: 1 };
        assert_eq!(huge.after(huge).at(9), u128::MAX);
    }
}
