//! pprof's format: a gzipped message `perftools.profiles.Profile` of
//! <https://github.com/google/pprof/blob/main/proto/profile.proto>.
//!
//! One sample type per kind of events, and one sample per line that has cost something, with the frames around it. A
//! location is a function with its line and the copies that were inlined there.

use super::format::{Export, ExportError, Format, Needs};
use super::remarks::{meaning_of_stacks, remarks};
use crate::costs::Costs;
use crate::costs::contexts::{Contexts, FrameAt};
use cotree_core::facts::events::EventKind;
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "pprof",
    summary: "Costs by line, for pprof",
    needs: Needs::Costs,
    has_lines: true,
    escapes: true,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let (costs, contexts) = export.stacks()?;
    write(costs, &contexts, &export.kinds(), out)?;
    Ok(Vec::new())
}

/// The message, with the fields that we write.
#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    /// Innermost first: the others were inlined into the last one.
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// Writes the stacks of these kinds.
///
/// # Errors
/// If the output can't be written, and if an amount has more than 63 bits, which the format cannot hold.
pub fn write(costs: &Costs<'_>, contexts: &Contexts, kinds: &[EventKind], out: &mut dyn Write) -> io::Result<()> {
    let mut strings = Strings::default();
    let count = strings.number("count");
    let mut profile = Profile {
        sample_type: kinds.iter().map(|kind| ValueType { r#type: strings.number(kind.name()), unit: count }).collect(),
        ..Profile::default()
    };
    profile.default_sample_type = profile.sample_type.first().map_or(0, |first| first.r#type);
    for (number, frame) in (1..).zip(&contexts.frames) {
        let name = strings.number(&frame.name);
        let system_name = strings.number(&frame.symbol);
        let filename = strings.number(frame.file.as_deref().unwrap_or_default());
        profile.function.push(Function { id: number, name, system_name, filename, start_line: i64::from(frame.line) });
    }
    let mut locations: HashMap<&[FrameAt], u64> = HashMap::new();
    for stack in &contexts.stacks {
        // A new location begins at each frame that is not inlined into the one before.
        let mut rest = stack.frames.as_slice();
        let mut location_id = Vec::new();
        while !rest.is_empty() {
            let inlined = rest[1..].iter().take_while(|at| contexts.frames[at.frame].inlined).count();
            let (frames, others) = rest.split_at(1 + inlined);
            let id = *locations.entry(frames).or_insert_with(|| {
                let id = profile.location.len() as u64 + 1;
                let line = |at: &FrameAt| Line { function_id: at.frame as u64 + 1, line: i64::from(at.line) };
                profile.location.push(Location { id, line: frames.iter().rev().map(line).collect() });
                id
            });
            location_id.push(id);
            rest = others;
        }
        location_id.reverse();
        let value = kinds.iter().map(|&kind| in_range(stack.cost.of(kind))).collect::<io::Result<_>>()?;
        profile.sample.push(Sample { location_id, value });
    }
    let comments = std::iter::once(meaning_of_stacks(costs).to_owned()).chain(remarks(costs));
    profile.comment = comments.map(|comment| strings.number(&comment)).collect();
    profile.string_table = strings.all;
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&profile.encode_to_vec())?;
    gzip.finish()?;
    Ok(())
}

fn in_range(amount: u128) -> io::Result<i64> {
    i64::try_from(amount)
        .map_err(|_| io::Error::other("an amount has more than 63 bits, which pprof's format cannot hold"))
}

/// The string table; string 0 is empty.
struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { all: vec![String::new()], numbers: HashMap::from([(String::new(), 0)]) }
    }
}

impl Strings {
    fn number(&mut self, text: &str) -> i64 {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        let number = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}
