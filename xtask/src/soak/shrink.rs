//! From a program that fails to a small one that fails in the same way.

use super::builds::Build;
use super::program::Program;
use super::recipe::{Ending, Recipe};
use super::trial::{Fault, Kind, Workshop};
use std::collections::BTreeSet;

/// How many programs are tried.
const TRIALS: usize = 150;

/// Leaves out pieces, the ending and parts of pieces while the fault stays of its kind.
pub fn shrink(workshop: &Workshop, recipe: &Recipe, build: Build, kind: Kind) -> Recipe {
    let mut shrinking = Shrinking { workshop, build, kind, trials: 0, best: recipe.clone() };
    for piece in (0..recipe.pieces.len()).rev() {
        shrinking.attempt(|recipe| recipe.pieces[piece].kept = false);
    }
    shrinking.attempt(|recipe| recipe.ending = Ending::Return);
    for fuel in [1, 2, 4, 8, 16, 32] {
        if fuel < shrinking.best.fuel && shrinking.attempt(|recipe| recipe.fuel = fuel) {
            break;
        }
    }
    loop {
        let mut smaller = false;
        for piece in 0..recipe.pieces.len() {
            let mut tried = BTreeSet::new();
            // Parts come and go with what is around them.
            while let Some(part) = next_part(&shrinking.best, piece, &tried) {
                tried.insert(part);
                smaller |= shrinking.attempt(|recipe| {
                    recipe.pieces[piece].dropped.insert(part);
                });
            }
        }
        if !smaller || shrinking.trials >= TRIALS {
            return shrinking.best;
        }
    }
}

fn next_part(recipe: &Recipe, piece: usize, tried: &BTreeSet<usize>) -> Option<usize> {
    Program::of(recipe).parts[piece].iter().copied().find(|part| !tried.contains(part))
}

struct Shrinking<'a> {
    workshop: &'a Workshop,
    build: Build,
    kind: Kind,
    trials: usize,
    best: Recipe,
}

impl Shrinking<'_> {
    /// Makes the program smaller if it fails as before.
    fn attempt(&mut self, change: impl FnOnce(&mut Recipe)) -> bool {
        let mut recipe = self.best.clone();
        change(&mut recipe);
        if self.trials >= TRIALS {
            return false;
        }
        self.trials += 1;
        let fails = once(self.workshop, &recipe, self.build).is_err_and(|fault| fault.kind == self.kind);
        if fails {
            self.best = recipe;
        }
        fails
    }
}

/// Checks one build of a program. One that can't be made at all is no fault.
pub fn once(workshop: &Workshop, recipe: &Recipe, build: Build) -> Result<(), Fault> {
    let Ok(subject) = workshop.subject(recipe) else { return Ok(()) };
    workshop.compile(&subject, build.level)?;
    workshop.check(&subject, build).map(drop)
}
