//! The text on predictions from edge counts.

use super::rows::{self, Row};
use super::view::View;
use crate::method::path::Paths;
use crate::method::path::predict::{Beginning, Score, predict};
use crate::terminal::{Style, grouped, number, percent, text};
use cotree_core::method::path::PathStart;
use std::io::{self, Write};

pub fn write(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut score = Score::default();
    let mut wrong: Vec<(usize, Beginning)> = Vec::new();
    for (function, of) in view.unit.functions().iter().enumerate() {
        if !view.options.wanted(&of.function.facts.symbol) || of.profile.paths.is_empty() {
            continue;
        }
        let Some(paths) = of.numbered() else { continue };
        let prediction = predict(&paths);
        score.add(&prediction.score);
        wrong.extend(prediction.beginnings.into_iter().filter(|b| !b.right()).map(|b| (function, b)));
    }
    write_score(&score, view.options.style, out)?;
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.sort_by_key(|(function, b)| (std::cmp::Reverse(b.instructions), *function, b.start));
    let shown = view.options.shown(wrong.len());
    rows::heading(view.options, "Beginnings whose hottest path edge counts miss", shown, wrong.len(), out)?;
    let mut numbered: Option<(usize, Paths<'_>)> = None;
    let mut list = Vec::new();
    for (function, beginning) in &wrong[..shown] {
        let of = &view.unit.functions()[*function];
        if numbered.as_ref().is_none_or(|n| n.0 != *function) {
            numbered = of.numbered().map(|paths| (*function, paths));
        }
        let Some((_, paths)) = &numbered else { continue };
        let writer = view.writer(of);
        let from = match beginning.start {
            PathStart::Entry => "entry".into(),
            PathStart::Cut(block) => writer.block(block),
        };
        let hottest = paths.path(beginning.hottest).map_or_else(Vec::new, |p| p.blocks);
        let doubt = if of.function.flaws().is_empty() { "" } else { "~" };
        let cells = vec![
            grouped(beginning.executions),
            format!("{doubt}{}", grouped(beginning.hottest_count.into())),
            grouped(beginning.predicted_count.into()),
        ];
        let text = format!(
            "{} from {from}: hottest #{}: {}; predicted: {}",
            view.name(of),
            beginning.hottest,
            writer.blocks(&hottest, None),
            writer.blocks(&beginning.predicted.0, None)
        );
        list.push(Row::new(cells, text));
    }
    rows::write(view.options, &[number("executions"), number("hottest"), number("predicted")], &list, out)
}

/// Writes how much was predicted right.
pub(in crate::method) fn write_score(score: &Score, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", style.heading("What edge counts would have predicted"))?;
    let row = |name: &str, [right, all]: [u128; 2]| {
        vec![name.to_owned(), percent(right, all), grouped(right), format!("of {}", grouped(all))]
    };
    let mean = |sum: u128| if score.executions == 0 { 0.0 } else { sum as f64 / score.executions as f64 };
    let table = vec![
        row("hottest path of a beginning", [score.hottest_right.into(), score.beginnings.into()]),
        row("different paths", [score.paths_right.into(), score.paths.into()]),
        row("executions", [score.executions_right, score.executions]),
        row("instructions", [score.instructions_right, score.instructions]),
    ];
    write!(out, "{}", style.table(&[text(""), number("share"), number("right"), text("")], table))?;
    let lengths = format!(
        "On average a path has {:.1} edges and {:.1} instructions; up to the first edge that was predicted wrongly, {:.1} and {:.1}.",
        mean(score.edges),
        mean(score.instructions),
        mean(score.edges_foretold),
        mean(score.instructions_foretold)
    );
    writeln!(out, "  {}\n", style.wrap(&lengths, 2))
}
