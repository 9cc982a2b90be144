//! The processed profile of <https://profiler.firefox.com>, as JSON: the types in `src/types/profile.ts` of
//! <https://github.com/firefox-devtools/profiler>, in version 60, which later ones take as well.
//!
//! A link unit is a process there, and a kind of events is a thread of it. A sample is a line that has cost something,
//! with the frames around it; its weight is the exact cost. Samples stand in the order of functions, not of time: the
//! time of a sample is what those before it cost, an event a nanosecond, so that widths are costs in every panel.
//!
//! (The crate fxprof-processed-profile holds weights in 32 bits, and no source lines.)

use super::exact::exact_in_json;
use super::format::{Export, ExportError, Format, Needs};
use super::remarks::{meaning_of_stacks, remarks};
use crate::costs::Costs;
use crate::costs::contexts::{Contexts, Frame, FrameAt, SEVERAL_CALLERS, Stack};
use cotree_core::facts::events::EventKind;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "firefox-profiler",
    summary: "Costs by line, with stacks, for profiler.firefox.com",
    needs: Needs::Costs,
    has_lines: true,
    escapes: true,
    write: export,
};

/// The version of processed profiles that is written: the first one whose threads share their stacks.
const VERSION: u32 = 60;

/// Categories of frames, by which graphs are coloured: name and colour.
const CATEGORIES: [(&str, &str); 3] = [("Not known", "grey"), ("Function", "yellow"), ("Inlined copy", "lightblue")];

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let (costs, contexts) = export.stacks()?;
    let kinds = export.kinds();
    if !contexts.stacks.iter().any(|stack| kinds.iter().any(|&kind| stack.cost.of(kind) > 0)) {
        return Err(ExportError::Nothing("the profile has no events of these kinds".into()));
    }
    write(costs, &contexts, &kinds, out)?;
    Ok(Vec::new())
}

#[derive(Serialize)]
struct Profile {
    meta: Value,
    libs: [(); 0],
    shared: Shared,
    threads: Vec<Thread>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shared {
    stack_table: StackTable,
    frame_table: FrameTable,
    func_table: FuncTable,
    resource_table: ResourceTable,
    native_symbols: NativeSymbols,
    string_array: Vec<String>,
    sources: SourceTable,
}

/// Stacks as a tree: a frame, and the stack around it.
#[derive(Default, Serialize)]
struct StackTable {
    frame: Vec<usize>,
    prefix: Vec<Option<usize>>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameTable {
    /// −1 is no address.
    address: Vec<i32>,
    inline_depth: Vec<u32>,
    category: Vec<usize>,
    subcategory: Vec<u32>,
    func: Vec<usize>,
    native_symbol: Vec<Option<u32>>,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Vec<Option<u32>>,
    line: Vec<Option<u32>>,
    column: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    name: Vec<usize>,
    #[serde(rename = "isJS")]
    is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Vec<bool>,
    /// −1 is no resource.
    resource: Vec<i32>,
    source: Vec<Option<usize>>,
    line_number: Vec<Option<u32>>,
    column_number: Vec<Option<u32>>,
    length: usize,
}

#[derive(Default, Serialize)]
struct ResourceTable {
    lib: [(); 0],
    name: [(); 0],
    host: [(); 0],
    r#type: [(); 0],
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NativeSymbols {
    lib_index: [(); 0],
    address: [(); 0],
    name: [(); 0],
    function_size: [(); 0],
    length: usize,
}

#[derive(Default, Serialize)]
struct SourceTable {
    uuid: Vec<Option<String>>,
    filename: Vec<usize>,
    length: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    process_type: &'static str,
    process_startup_time: f64,
    process_shutdown_time: Option<f64>,
    register_time: f64,
    unregister_time: Option<f64>,
    paused_ranges: [(); 0],
    name: &'static str,
    is_main_thread: bool,
    process_name: String,
    pid: String,
    tid: usize,
    samples: Samples,
    markers: Markers,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    stack: Vec<Option<usize>>,
    /// In milliseconds.
    time: Vec<f64>,
    weight: Vec<u64>,
    weight_type: &'static str,
    length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Markers {
    data: [(); 0],
    name: [(); 0],
    start_time: [(); 0],
    end_time: [(); 0],
    phase: [(); 0],
    category: [(); 0],
    length: usize,
}

/// Writes the stacks of these kinds.
///
/// # Errors
/// If the output can't be written, and if an amount has more than 53 bits, which readers would round.
pub fn write(costs: &Costs<'_>, contexts: &Contexts, kinds: &[EventKind], out: &mut dyn Write) -> io::Result<()> {
    let mut tables = Tables::new(&contexts.frames);
    let stacks: Vec<Option<usize>> = contexts.stacks.iter().map(|stack| tables.stack(&stack.frames)).collect();
    let mut threads = Vec::new();
    for (unit, of_unit) in costs.units.iter().enumerate() {
        let mut is_main_thread = true;
        for &kind in kinds {
            let samples =
                Samples::new(contexts.stacks.iter().zip(&stacks).filter(|(stack, _)| stack.unit == unit), kind)?;
            if samples.length > 0 {
                threads.push(Thread {
                    process_type: "default",
                    process_startup_time: 0.0,
                    process_shutdown_time: None,
                    register_time: 0.0,
                    unregister_time: None,
                    paused_ranges: [],
                    name: kind.title(),
                    is_main_thread: std::mem::take(&mut is_main_thread),
                    process_name: of_unit.map.program.name.clone(),
                    pid: (unit + 1).to_string(),
                    tid: threads.len() + 1,
                    samples,
                    markers: Markers::default(),
                });
            }
        }
    }
    let profile = Profile { meta: meta(costs, threads.len()), libs: [], shared: tables.shared, threads };
    serde_json::to_writer(&mut *out, &profile)?;
    writeln!(out)
}

fn meta(costs: &Costs<'_>, threads: usize) -> Value {
    let category = |(name, color): (&str, &str)| json!({ "name": name, "color": color, "subcategories": ["Other"] });
    let notes = std::iter::once(meaning_of_stacks(costs).to_owned()).chain(remarks(costs));
    let note = |note: String| json!({ "label": "Note", "format": "string", "value": note });
    json!({
        "version": 24,
        "preprocessedProfileVersion": VERSION,
        "product": costs.units.first().map_or("", |unit| unit.map.program.name.as_str()),
        "importedFrom": format!("cotree {}", env!("CARGO_PKG_VERSION")),
        "startTime": 0,
        "interval": 1e-6,
        "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
        "processType": 0,
        "stackwalk": 1,
        "debug": false,
        "symbolicated": true,
        "symbolicationNotSupported": true,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "keepProfileThreadOrder": true,
        "initialVisibleThreads": (0..threads).collect::<Vec<_>>(),
        "initialSelectedThreads": [0],
        "categories": CATEGORIES.map(category),
        "markerSchema": [],
        "extra": [{ "label": "What the numbers are", "entries": notes.map(note).collect::<Vec<_>>() }],
    })
}

impl Samples {
    /// The samples of one kind. The last one, without a stack, says where the one before ends.
    fn new<'a>(stacks: impl Iterator<Item = (&'a Stack, &'a Option<usize>)>, kind: EventKind) -> io::Result<Self> {
        let mut samples = Self { weight_type: "samples", ..Self::default() };
        let mut before = 0;
        for (stack, &number) in stacks.filter(|(stack, _)| stack.cost.of(kind) > 0) {
            samples.add(number, before, exact_in_json(stack.cost.of(kind))?);
            before = exact_in_json(u128::from(before) + stack.cost.of(kind))?;
        }
        if samples.length > 0 {
            samples.add(None, before, 0);
        }
        Ok(samples)
    }

    fn add(&mut self, stack: Option<usize>, nanoseconds: u64, weight: u64) {
        self.stack.push(stack);
        self.time.push(nanoseconds as f64 / 1e6);
        self.weight.push(weight);
        self.length += 1;
    }
}

/// What threads share, while it is made.
struct Tables {
    shared: Shared,
    /// Numbers of frames,
    frames: HashMap<FrameAt, usize>,
    /// of stacks,
    stacks: HashMap<(Option<usize>, usize), usize>,
    /// and of strings.
    strings: HashMap<String, usize>,
    categories: Vec<usize>,
}

impl Tables {
    fn new(frames: &[Frame]) -> Self {
        let mut tables = Self {
            shared: Shared::default(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            strings: HashMap::new(),
            categories: Vec::new(),
        };
        let mut sources = HashMap::new();
        for frame in frames {
            let name = tables.string(&frame.label());
            let source = frame.file.as_deref().map(|file| tables.string(file));
            let shared = &mut tables.shared;
            let source = source.map(|filename| {
                *sources.entry(filename).or_insert_with(|| {
                    shared.sources.uuid.push(None);
                    shared.sources.filename.push(filename);
                    shared.sources.length += 1;
                    shared.sources.length - 1
                })
            });
            shared.func_table.name.push(name);
            shared.func_table.is_js.push(false);
            shared.func_table.relevant_for_js.push(false);
            shared.func_table.resource.push(-1);
            shared.func_table.source.push(source);
            shared.func_table.line_number.push((frame.line > 0).then_some(frame.line));
            shared.func_table.column_number.push(None);
            shared.func_table.length += 1;
            let known = if frame.inlined { 2 } else { 1 };
            tables.categories.push(if frame.name == SEVERAL_CALLERS { 0 } else { known });
        }
        tables
    }

    fn string(&mut self, text: &str) -> usize {
        if let Some(&known) = self.strings.get(text) {
            return known;
        }
        let number = self.strings.len();
        self.strings.insert(text.to_owned(), number);
        self.shared.string_array.push(text.to_owned());
        number
    }

    fn frame(&mut self, at: FrameAt) -> usize {
        let table = &mut self.shared.frame_table;
        *self.frames.entry(at).or_insert_with(|| {
            table.address.push(-1);
            table.inline_depth.push(0);
            table.category.push(self.categories[at.frame]);
            table.subcategory.push(0);
            table.func.push(at.frame);
            table.native_symbol.push(None);
            table.inner_window_id.push(None);
            table.line.push((at.line > 0).then_some(at.line));
            table.column.push(None);
            table.length += 1;
            table.length - 1
        })
    }

    /// The number of a stack; `None` for one without frames.
    fn stack(&mut self, frames: &[FrameAt]) -> Option<usize> {
        let mut prefix = None;
        for &at in frames {
            let frame = self.frame(at);
            let table = &mut self.shared.stack_table;
            prefix = Some(*self.stacks.entry((prefix, frame)).or_insert_with(|| {
                table.frame.push(frame);
                table.prefix.push(prefix);
                table.length += 1;
                table.length - 1
            }));
        }
        prefix
    }
}
