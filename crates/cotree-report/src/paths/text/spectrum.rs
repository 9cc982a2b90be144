//! Paths that only one of two runs took, for people.

use super::rows::{self, Row};
use super::{Options, View, class_name};
use crate::paths::spectrum::{Fork, Only, compare};
use crate::paths::totals::What;
use crate::paths::{PathUnit, Paths};
use crate::terminal::{counted, grouped, number, text};
use std::io::{self, Write};

/// Writes the paths that only one of two runs of one build took.
///
/// # Errors
/// Those of the output.
pub fn write(before: &PathUnit<'_>, after: &PathUnit<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    if !before.unit.profile.exact() || !after.unit.profile.exact() {
        writeln!(out, "{}", style.warning("Not all counts are exact: `cotree report` says which."))?;
    }
    let spectra = compare(before, after, |symbol| options.wanted(symbol));
    if spectra.is_empty() {
        return writeln!(out, "Both runs took the same paths.");
    }
    let sides = [("Paths that run now and did not", after, true), ("Paths that ran and no longer do", before, false)];
    for (title, unit, new) in sides {
        let mut all: Vec<(u32, &Only)> = Vec::new();
        for spectrum in &spectra {
            let only = if new { &spectrum.new } else { &spectrum.gone };
            all.extend(only.iter().map(|o| (spectrum.index, o)));
        }
        if all.is_empty() {
            continue;
        }
        let executed = |o: &Only| std::cmp::Reverse((o.executed.executed(), o.executed.count));
        all.sort_by_key(|&(index, o)| (executed(o), index, o.executed.number));
        let shown = options.shown(all.len());
        rows::heading(options, title, shown, all.len(), out)?;
        let view = View { unit, options };
        let list: Vec<Row> = all[..shown]
            .iter()
            .filter_map(|&(index, only)| {
                let at = unit.functions().binary_search_by_key(&index, |of| of.function.index).ok()?;
                let paths = unit.functions()[at].numbered()?;
                let e = &only.executed;
                let cells = vec![
                    grouped(e.executed()),
                    grouped(e.count.into()),
                    grouped(e.path.blocks.len() as u128),
                    class_name(e.path.class()).to_owned(),
                ];
                let way = view.way_of(&paths, &What::Path(e.number, e.path.class()));
                let fork = only.nearest.as_ref().map_or_else(
                    || "no path began there in the other run".into(),
                    |fork| fork_text(&view, &paths, fork),
                );
                Some(Row { cells, text: format!("{way}; {fork}") })
            })
            .collect();
        let columns = [number("instructions"), number("count"), number("blocks"), text("from→to")];
        rows::write(options, &columns, &list, out)?;
    }
    let [gone, new] = spectra.iter().fold([0, 0], |[a, b], s| [a + s.gone.len(), b + s.new.len()]);
    let text = format!(
        "In {}: {} only now, {} only before.",
        counted(spectra.len() as u128, "function"),
        counted(new as u128, "path"),
        counted(gone as u128, "path")
    );
    writeln!(out, "{text}")
}

fn fork_text(view: &View<'_>, paths: &Paths<'_>, fork: &Fork) -> String {
    let writer = view.writer(&paths.of);
    let goes = |to: Option<cotree_core::ids::Block>| {
        to.map_or_else(|| "leaves".into(), |block| format!("goes to {}", writer.block(block)))
    };
    let nearest = format!("nearest is #{} (ran {}×)", fork.number, grouped(fork.count.into()));
    let at = writer.end_of(fork.at);
    if fork.in_context {
        return format!("{nearest}, which came to its loop another way, from {at}");
    }
    if fork.here == fork.there {
        return format!("{nearest}, which parts from it after {at}");
    }
    format!(
        "{nearest}, which after {at} {}, not to {}",
        goes(fork.there),
        fork.here.map_or("EXIT".into(), |b| writer.block(b))
    )
}
