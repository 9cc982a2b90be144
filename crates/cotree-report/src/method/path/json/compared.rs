//! Comparisons of two path profiles of one build as JSON.

use super::{JsonLine, JsonPath, UnitHead};
use crate::method::path::cover::{self, Common};
use crate::method::path::spectrum::{self, Only};
use crate::method::path::{PathFunction, PathUnit, Paths};
use crate::names::demangle;
use serde::Serialize;
use std::io::{self, Write};

/// The name and version of the form of [`write_cover`].
pub const COVER_SCHEMA: &str = "cotree-path-cover/1";
/// The name and version of the form of [`write_spectrum`].
pub const SPECTRUM_SCHEMA: &str = "cotree-path-diff/1";

/// Writes how much of the first of each pair the second covered.
///
/// # Errors
/// If the output can't be written.
pub fn write_cover(
    pairs: &[(PathUnit<'_>, PathUnit<'_>)],
    wanted: impl Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let units = pairs.iter().map(|(run, other)| {
        let covered = cover::compare(run, other, &wanted);
        let mut totals = Common::default();
        covered.iter().for_each(|c| totals.add(&c.common));
        let functions = covered.into_iter().filter_map(|c| {
            let of = &run.functions()[c.function];
            let paths = of.numbered()?;
            let missed = c.missed.iter().filter_map(|&(number, count)| paths.with_count(number, count));
            Some(JsonCovered {
                function: Name::of(of),
                common: (&c.common).into(),
                missed: missed.map(|e| JsonPath::of(&paths, &e)).collect(),
            })
        });
        JsonCoverUnit {
            head: UnitHead::of(run),
            other_exact: other.unit.profile.exact(),
            totals: (&totals).into(),
            functions: functions.collect(),
        }
    });
    write(COVER_SCHEMA, units.collect(), out)
}

/// Writes the paths that only one of each pair took.
///
/// # Errors
/// If the output can't be written.
pub fn write_spectrum(
    pairs: &[(PathUnit<'_>, PathUnit<'_>)],
    wanted: impl Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let units = pairs.iter().map(|(before, after)| {
        let functions = spectrum::compare(before, after, &wanted).into_iter().filter_map(|s| {
            let at = before.functions().binary_search_by_key(&s.index, |of| of.function.index).ok()?;
            let of = &before.functions()[at];
            let paths = of.numbered()?;
            let list = |only: &[Only]| only.iter().map(|o| JsonOnly::of(&paths, o)).collect();
            Some(JsonSpectrum { function: Name::of(of), common: s.common, gone: list(&s.gone), new: list(&s.new) })
        });
        JsonSpectrumUnit {
            head: UnitHead::of(before),
            exact_both: before.unit.profile.exact() && after.unit.profile.exact(),
            functions: functions.collect(),
        }
    });
    write(SPECTRUM_SCHEMA, units.collect(), out)
}

fn write<U: Serialize>(schema: &'static str, units: Vec<U>, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Whole<U> {
        schema: &'static str,
        units: Vec<U>,
    }
    serde_json::to_writer(&mut *out, &Whole { schema, units })?;
    writeln!(out)
}

#[derive(Serialize)]
struct Name<'a> {
    symbol: &'a str,
    name: String,
    module: &'a str,
}

impl<'a> Name<'a> {
    fn of(of: &PathFunction<'a>) -> Self {
        let symbol = of.function.facts.symbol.as_str();
        Self { symbol, name: demangle(symbol), module: &of.function.module.name }
    }
}

#[derive(Serialize)]
struct JsonCoverUnit<'a> {
    #[serde(flatten)]
    head: UnitHead<'a>,
    other_exact: bool,
    totals: JsonCommon,
    functions: Vec<JsonCovered<'a>>,
}

/// Pairs are what is common, and all.
#[derive(Serialize)]
struct JsonCommon {
    paths: [u64; 2],
    executions: [u128; 2],
    instructions: [u128; 2],
    only_there: u64,
}

impl From<&Common> for JsonCommon {
    fn from(c: &Common) -> Self {
        Self {
            paths: [c.paths_common, c.paths],
            executions: [c.executions_common, c.executions],
            instructions: [c.instructions_common, c.instructions],
            only_there: c.only_there,
        }
    }
}

#[derive(Serialize)]
struct JsonCovered<'a> {
    #[serde(flatten)]
    function: Name<'a>,
    #[serde(flatten)]
    common: JsonCommon,
    missed: Vec<JsonPath>,
}

#[derive(Serialize)]
struct JsonSpectrumUnit<'a> {
    #[serde(flatten)]
    head: UnitHead<'a>,
    exact_both: bool,
    functions: Vec<JsonSpectrum<'a>>,
}

#[derive(Serialize)]
struct JsonSpectrum<'a> {
    #[serde(flatten)]
    function: Name<'a>,
    common: u64,
    gone: Vec<JsonOnly>,
    new: Vec<JsonOnly>,
}

#[derive(Serialize)]
struct JsonOnly {
    #[serde(flatten)]
    executed: JsonPath,
    nearest: Option<JsonFork>,
}

#[derive(Serialize)]
struct JsonFork {
    number: u64,
    count: u64,
    at: u32,
    line: Option<JsonLine>,
    here: Option<u32>,
    there: Option<u32>,
    in_context: bool,
}

impl JsonOnly {
    fn of(paths: &Paths<'_>, only: &Only) -> Self {
        let nearest = only.nearest.as_ref().map(|fork| JsonFork {
            number: fork.number,
            count: fork.count,
            at: fork.at.0,
            line: paths.of.function.facts.blocks[fork.at].lines.last().map(|span| JsonLine(span.into())),
            here: fork.here.map(|b| b.0),
            there: fork.there.map(|b| b.0),
            in_context: fork.in_context,
        });
        Self { executed: JsonPath::of(paths, &only.executed), nearest }
    }
}
