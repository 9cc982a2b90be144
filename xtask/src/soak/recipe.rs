//! What a seed stands for: which ingredients, in which order, and how the program ends.

use super::builds::Variant;
use super::ingredients::{Doubts, INGREDIENTS, Ingredient, Timing};
use super::random::Random;
use std::collections::BTreeSet;

/// How the first process of a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `main` returns.
    Return,
    /// A call, a statement of C, from wherever the program is.
    Early(&'static str),
    /// By `SIGKILL`: nobody can be exact.
    Killed,
}

const EARLY: [&str; 9] = [
    "exit(41);",
    "_exit(42);",
    "quick_exit(43);",
    "abort();",
    "raise(SIGTERM);",
    "kill(getpid(), SIGALRM);",
    "pthread_kill(pthread_self(), SIGUSR1);",
    "raise(SIGSEGV);",
    "execl(\"/bin/true\", \"true\", (char *)0);",
];

/// One piece of a program.
#[derive(Clone, Debug)]
pub struct Piece {
    pub ingredient: &'static Ingredient,
    pub seed: u64,
    /// The piece is part of the program; else calls of it lead to a leaf.
    pub kept: bool,
    /// Parts of it that are left out.
    pub dropped: BTreeSet<usize>,
}

/// All that a program is made from.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub seed: u64,
    pub pieces: Vec<Piece>,
    pub ending: Ending,
    /// After how many places where the program might end it does.
    pub ends_at: usize,
    /// How many pieces may be entered from `main`, by each of its calls.
    pub fuel: usize,
}

impl Recipe {
    /// The recipe of a seed.
    pub fn of(seed: u64) -> Recipe {
        let mut random = Random::new(seed);
        let count = 2 + random.below(8);
        // Every fourth program is in C alone, whatever comes.
        let c = seed.is_multiple_of(4);
        let pieces = (0..count).map(|_| {
            let ingredient = loop {
                let ingredient = &INGREDIENTS[random.below(INGREDIENTS.len())];
                if !(c && ingredient.cxx) {
                    break ingredient;
                }
            };
            Piece { ingredient, seed: random.next(), kept: true, dropped: BTreeSet::new() }
        });
        let pieces = pieces.collect();
        let ending = match random.below(10) {
            0..=3 => Ending::Return,
            4 => Ending::Killed,
            _ => Ending::Early(EARLY[random.below(EARLY.len())]),
        };
        Recipe { seed, pieces, ending, ends_at: 1 + random.below(30), fuel: 20 + random.below(200) }
    }

    /// What may be declared.
    pub fn doubts(&self) -> Doubts {
        // Nobody asks other threads what they are in when one of them calls `exec`.
        let threads = self.kept().any(|piece| piece.ingredient.threads);
        let unaccounted = match self.ending {
            Ending::Killed => true,
            Ending::Early(ending) => threads && ending.starts_with("exec"),
            Ending::Return => false,
        };
        let killed = if unaccounted { Doubts::Allowed } else { Doubts::Never };
        self.kept().map(|piece| piece.ingredient.doubts).max().unwrap_or(Doubts::Never).max(killed)
    }

    /// What may be declared with this variant.
    pub fn doubts_of(&self, variant: Variant) -> Doubts {
        let threads = self.kept().any(|piece| piece.ingredient.threads);
        match self.doubts() {
            // A ring holds what came last, and says so. Without counters per thread increments of threads are lost.
            _ if variant.options.contains("trace-ring") => Doubts::Allowed,
            _ if variant.options.contains("--threads off") && threads => Doubts::Allowed,
            Doubts::InTraces if !variant.options.contains("trace") => Doubts::Never,
            doubts => doubts,
        }
    }

    /// What depends on time.
    pub fn timing(&self) -> Timing {
        self.kept().map(|piece| piece.ingredient.timing).max().unwrap_or(Timing::Nothing)
    }

    /// What it counts and prints depends on time.
    pub fn varies(&self) -> bool {
        self.timing() >= Timing::Lines
    }

    /// Some of it is in C++.
    pub fn cxx(&self) -> bool {
        self.kept().any(|piece| piece.ingredient.cxx)
    }

    /// Some of it is in a shared library that it loads.
    pub fn has_library(&self) -> bool {
        self.kept().any(|piece| piece.ingredient.has_library())
    }

    /// The pieces that are there.
    pub fn kept(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.kept)
    }

    /// The names of its ingredients.
    pub fn ingredients(&self) -> String {
        let names: BTreeSet<&str> = self.kept().map(|piece| piece.ingredient.name).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }
}
