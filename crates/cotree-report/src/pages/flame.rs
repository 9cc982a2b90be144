//! The flame graph: stacks of functions, and what each cost itself.

use super::content::Pages;
use super::data::{Add, Amount, script};
use crate::costs::contexts::Contexts;
use serde::Serialize;
use std::collections::HashMap;
use std::io;

/// A tree of frames, each behind the one around it. Lists of what there are many of are columns.
#[derive(Default, Serialize)]
struct Tree {
    /// Names, each once.
    names: Vec<String>,
    /// Per frame: its name, and the frame around it; -1 for none.
    name: Vec<usize>,
    parent: Vec<i64>,
    /// What it cost itself.
    own: Vec<Amount>,
}

/// Writes the stacks as one script.
///
/// # Errors
/// If it can't be written.
pub(super) fn write(pages: &Pages<'_>, add: &mut Add<'_>) -> io::Result<()> {
    let contexts = Contexts::new(pages.costs, pages.names);
    let mut tree = Tree::default();
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut known: HashMap<(Option<usize>, usize), usize> = HashMap::new();
    for (frames, cost) in contexts.by_function() {
        let amount = cost.of(pages.kind());
        if amount == 0 {
            continue;
        }
        let mut around = None;
        for frame in frames {
            let name = *numbers.entry(frame).or_insert_with(|| {
                let frame = &contexts.frames[frame];
                tree.names.push(if frame.inlined { format!("{} (inlined)", frame.name) } else { frame.name.clone() });
                tree.names.len() - 1
            });
            let at = *known.entry((around, name)).or_insert_with(|| {
                tree.name.push(name);
                tree.parent.push(around.map_or(-1, |around| around as i64));
                tree.own.push(Amount::default());
                tree.own.len() - 1
            });
            around = Some(at);
        }
        if let Some(at) = around {
            tree.own[at].0 += amount;
        }
    }
    add("flame".to_owned(), script("flame", &tree)?)
}
