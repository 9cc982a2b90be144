//! Notes on path profiles: counts that are not vouched for, and paths that differ from those of the paper.

use super::view::View;
use crate::explain;
use crate::terminal::counted;
use crate::unit::flaw_reason;
use cotree_core::method::path::PathMethod;
use cotree_core::method::path::classes::EdgeClasses;
use cotree_core::method::path::cuts;
use cotree_core::profile::Flaw;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let style = view.options.style;
    let context = view.unit.method == PathMethod::Context;
    let (mut cut, mut plain) = (Vec::new(), Vec::new());
    let mut by_flaw: BTreeMap<Flaw, Vec<String>> = BTreeMap::new();
    for of in view.wanted().filter(|of| of.ran()) {
        for &flaw in of.function.flaws() {
            by_flaw.entry(flaw).or_default().push(view.name(of));
        }
        if context && !of.key.context {
            plain.push(view.name(of));
        }
        let Ok(cfg) = of.function.facts.cfg() else { continue };
        let needed = cuts::necessary(of.function.facts, &cfg, &EdgeClasses::new(of.function.facts, &cfg)).edges;
        if of.key.cuts.edges.iter().any(|edge| needed.binary_search(edge).is_err()) {
            cut.push(view.name(of));
        }
    }
    let list = |names: &[String]| {
        let shown = if view.options.verbose { names.len() } else { names.len().min(5) };
        let more = if shown < names.len() { format!(", and {} more (-v)", names.len() - shown) } else { String::new() };
        format!("{}{more}", names[..shown].join(", "))
    };
    if !plain.is_empty() {
        let text = format!(
            "{} with loops that are also entered beside their header, whose paths do not tell how the loop was reached: {}",
            counted(plain.len() as u128, "function"),
            list(&plain)
        );
        writeln!(out, "{}\n", style.wrap(&text, 0))?;
    }
    if !cut.is_empty() {
        let text = format!(
            "{} with so many paths that some also end in the middle, where few go: {}",
            counted(cut.len() as u128, "function"),
            list(&cut)
        );
        writeln!(out, "{}\n", style.wrap(&text, 0))?;
    }
    if !by_flaw.is_empty() {
        writeln!(out, "{} ({})", style.heading("Not vouched for:"), explain::HINT)?;
        for (flaw, names) in by_flaw {
            let text = format!(
                "{} [{}]: {}: {}",
                counted(names.len() as u128, "function"),
                explain::of_flaw(flaw).code,
                flaw_reason(flaw),
                list(&names)
            );
            writeln!(out, "  {}", style.wrap(&text, 4))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
