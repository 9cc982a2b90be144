//! The text on how much of one run another one covered.

use super::metric;
use super::options::PathsOptions;
use super::rows::{self, Row};
use super::view::View;
use crate::filtered::{self, Shares};
use crate::method::path::PathUnit;
use crate::method::path::cover::{Common, compare};
use crate::method::path::totals::{What, gather};
use crate::report::write_head;
use crate::terminal::{counted, grouped, number, percent, text};
use crate::unit::Unit;
use std::io::{self, Write};

/// Writes how much of `run` was covered by `other`, a run of the same build.
///
/// # Errors
/// If the output can't be written.
pub fn write(run: &PathUnit<'_>, other: &PathUnit<'_>, options: &PathsOptions, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    write_head(run.unit, style, out)?;
    metric::ignored([run, other], options, out)?;
    let view = View { unit: run, options };
    let mut covered = compare(run, other, |symbol| options.wanted(symbol));
    let mut whole = Common::default();
    covered.iter().for_each(|c| whole.add(&c.common));
    if let Some(pattern) = &options.function {
        let run = gather(run, |_| true).1.iter().flatten().map(|totals| totals.instructions).sum();
        filtered::write(pattern, [whole.instructions, run], "instructions", Shares::OfShown, style, out)?;
    }
    write_common(&whole, other.unit, options, out)?;
    covered.retain(|c| !c.missed.is_empty());
    covered.sort_by_key(|c| (std::cmp::Reverse(c.common.missed()), c.function));
    if covered.is_empty() {
        return writeln!(out, "Every path of this run was taken by the other one.");
    }
    let shown = options.shown(covered.len());
    rows::heading(options, "Functions with paths that the other run did not take", shown, covered.len(), out)?;
    let table = covered[..shown].iter().map(|c| {
        let of = &run.functions()[c.function];
        let Common { paths, paths_common, executions, executions_common, .. } = c.common;
        vec![
            grouped(c.common.missed()),
            percent(c.common.missed(), whole.instructions),
            format!("{} of {}", grouped((paths - paths_common).into()), grouped(paths.into())),
            percent(executions - executions_common, executions),
            view.name(of),
        ]
    });
    let columns = [number("instructions"), number("share"), number("paths"), number("executions"), text("function")];
    writeln!(out, "{}", style.table(&columns, table.collect()))?;
    // The paths themselves.
    let mut missed = Vec::new();
    for c in &covered {
        let Some(paths) = run.functions()[c.function].numbered() else { continue };
        missed.extend(
            c.missed.iter().filter_map(|&(number, count)| Some((c.function, paths.with_count(number, count)?))),
        );
    }
    missed.sort_by_key(|(function, e)| (std::cmp::Reverse(e.executed()), *function, e.number));
    let shown = options.shown(missed.len());
    rows::heading(options, "Hottest paths that the other run did not take", shown, missed.len(), out)?;
    let list: Vec<Row> = missed[..shown]
        .iter()
        .filter_map(|(function, e)| {
            let paths = run.functions()[*function].numbered()?;
            let cells = vec![
                grouped(e.executed()),
                percent(e.executed(), whole.instructions),
                grouped(e.count.into()),
                super::class_name(e.path.class()).to_owned(),
            ];
            Some(Row::new(cells, view.described(&paths, &What::Path(e.number, e.path.class()))))
        })
        .collect();
    rows::write(options, &[number("instructions"), number("share"), number("count"), text("from→to")], &list, out)
}

/// Writes how much two runs have in common.
pub(in crate::method) fn write_common(
    whole: &Common,
    other: &Unit<'_>,
    options: &PathsOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = options.style;
    writeln!(out, "{}", style.heading("Covered by the other run"))?;
    let row = |name: &str, [common, all]: [u128; 2]| {
        vec![name.to_owned(), percent(common, all), grouped(common), format!("of {}", grouped(all))]
    };
    let table = vec![
        row("different paths", [whole.paths_common.into(), whole.paths.into()]),
        row("executions", [whole.executions_common, whole.executions]),
        row("instructions", [whole.instructions_common, whole.instructions]),
    ];
    write!(out, "{}", style.table(&[text(""), number("share"), number("covered"), text("")], table))?;
    if !other.profile.exact() {
        let said = style.wrap("The other run is not exact: `cotree paths` of it says why.", 2);
        writeln!(out, "  {}", style.warning(&said))?;
    }
    let only = counted(whole.only_there.into(), "path");
    writeln!(out, "  {}\n", style.wrap(&format!("The other run took {only} that this one did not."), 2))
}
