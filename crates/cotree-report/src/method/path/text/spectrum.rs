//! The text on paths that only one of two runs took.

use super::options::PathsOptions;
use super::rows::{self, Row};
use super::view::View;
use super::{class_name, metric};
use crate::method::path::route::{Stop, along};
use crate::method::path::spectrum::{Fork, Only, compare};
use crate::method::path::totals::What;
use crate::method::path::{PathUnit, Paths};
use crate::terminal::{counted, grouped, number, text};
use cotree_core::facts::Position;
use cotree_core::ids::{Block, FunctionId};
use std::io::{self, Write};

/// Writes the paths that only one of two runs of one build took.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    before: &PathUnit<'_>,
    after: &PathUnit<'_>,
    options: &PathsOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = options.style;
    if !before.unit.profile.exact() || !after.unit.profile.exact() {
        writeln!(out, "{}", style.warning("Not all counts are exact: `cotree report` says which."))?;
    }
    metric::ignored([before, after], options, out)?;
    let spectra = compare(before, after, |symbol| options.wanted(symbol));
    if spectra.is_empty() {
        return writeln!(out, "Both runs took the same paths.");
    }
    let sides = [("Paths that run now and did not", after, true), ("Paths that ran and no longer do", before, false)];
    for (title, unit, new) in sides {
        let mut all: Vec<(FunctionId, &Only)> = Vec::new();
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
                let route = view.described(&paths, &What::Path(e.number, e.path.class()));
                let more = only.nearest.as_ref().map_or_else(
                    || "no path began there in the other run".into(),
                    |fork| fork_text(&view, &paths, e.number, fork),
                );
                Some(Row { cells, text: route, more: Some(more) })
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

/// The lines at which a path parts from the nearest one of the other run.
fn fork_text(view: &View<'_>, paths: &Paths<'_>, number: u64, fork: &Fork) -> String {
    let stops = |number: u64| {
        let path = paths.path(number)?;
        let blocks: Vec<Block> = paths.context(&path).into_iter().chain(path.blocks).collect();
        Some(along(paths.of.function.facts, &blocks, None))
    };
    let (here, there) = (stops(number).unwrap_or_default(), stops(fork.number).unwrap_or_default());
    let at = |stop: &Stop| view.unit.unit.brief(Some(Position { file: stop.file, line: stop.line, column: 0 }));
    let nearest = format!("nearest is #{} (ran {}×)", fork.number, grouped(fork.count.into()));
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let Some(last) = shared.checked_sub(1).map(|at| here[at]) else {
        return format!("{nearest}, by other lines from the start");
    };
    if here.len() == shared && there.len() == shared {
        let branch = paths.of.function.facts.blocks.get(fork.at).and_then(|b| b.lines.last());
        let branch = branch.map_or_else(String::new, |span| format!(", by another branch at {}", at(&span.into())));
        return format!("{nearest}, on the same lines{branch}");
    }
    let next = |stops: &[Stop]| match stops.get(shared) {
        Some(stop) if stop.file == last.file => format!("goes to {}", stop.line),
        Some(stop) => format!("goes to {}", at(stop)),
        None => "ends".into(),
    };
    format!("{nearest}: after {} that one {}, this one {}", at(&last), next(&there), next(&here))
}
