//! Callgrind's format, for KCachegrind, QCachegrind and `callgrind_annotate`:
//! <https://valgrind.org/docs/manual/cl-format.html>.
//!
//! Costs of inlined code stand in the function that it was inlined into, under its own file (`fi=`, `fe=`), as
//! callgrind has them. Calls with their inclusive costs (`calls=`) are there only if those of all calls are known:
//! viewers would take what is missing for zero. Jumps (`jcnd=`, `jump=`) are those of `callgrind --collect-jumps=yes`
//! ([`super::callgrind_jumps`]).

use super::callgrind_jumps::{FunctionJumps, Jump, JumpKind};
use super::format::{Export, ExportError, Format, Needs};
use super::remarks::remarks;
use crate::costs::{Cost, Costs, FunctionCosts, Line};
use crate::names::Names;
use crate::shell::command_line;
use crate::terminal::counted;
use cotree_core::facts::events::EventKind;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "callgrind",
    summary: "Costs by line for KCachegrind and callgrind_annotate",
    needs: Needs::Costs,
    has_lines: true,
    escapes: false,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let costs = export.costs()?;
    write(costs, &export.kinds(), export.options.names, out)?;
    let own = "the profile does not tell inclusive costs: the file has functions' own costs";
    let own = costs.complete_inclusive().is_none().then(|| own.to_owned());
    Ok(own.into_iter().chain(jumps_left_out(&all_jumps(costs))).collect())
}

/// The jumps of each function.
fn all_jumps(costs: &Costs<'_>) -> Vec<FunctionJumps> {
    costs.functions.iter().map(FunctionJumps::new).collect()
}

/// A sentence for the user if counts of jumps are not known.
fn jumps_left_out(jumps: &[FunctionJumps]) -> Option<String> {
    let unknown: u64 = jumps.iter().map(|jumps| jumps.unknown).sum();
    let jumps = counted(unknown.into(), "jump");
    (unknown > 0).then(|| format!("left out {jumps}: the profile does not tell how often they were taken"))
}

/// What viewers call a file that is not known.
const UNKNOWN: &str = "???";

/// Calls from one line of a function.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// The callee, an index into [`Costs::functions`].
    pub callee: usize,
    /// How many.
    pub calls: u64,
    /// What they cost with all that they led to.
    pub inclusive: Cost,
}

/// The calls of each function by line, for exports; `None` where their costs are not known.
#[must_use]
pub fn known_calls(costs: &Costs<'_>) -> Option<Vec<BTreeMap<Line, Vec<Calls>>>> {
    let inclusive = costs.complete_inclusive()?;
    let mut calls = vec![BTreeMap::<Line, Vec<Calls>>::new(); costs.functions.len()];
    for (arc, inclusive) in costs.graph.arcs().iter().zip(inclusive) {
        let line = costs.functions[arc.caller].line_of_call(arc.call);
        let call = Calls { callee: arc.callee, calls: arc.calls, inclusive };
        calls[arc.caller].entry(line).or_default().push(call);
    }
    Some(calls)
}

/// Writes costs of these kinds.
///
/// # Errors
/// If the output can't be written.
pub fn write(costs: &Costs<'_>, kinds: &[EventKind], names: Names, out: &mut dyn Write) -> io::Result<()> {
    let calls = known_calls(costs);
    let jumps = all_jumps(costs);
    writeln!(out, "# callgrind format\nversion: 1\ncreator: cotree {}", env!("CARGO_PKG_VERSION"))?;
    for unit in costs.units {
        if !unit.profile.command.is_empty() {
            writeln!(out, "cmd: {}", one_line(&command_line(&unit.profile.command)))?;
            break;
        }
    }
    for remark in remarks(costs) {
        writeln!(out, "desc: Note: {}", one_line(&remark))?;
    }
    if calls.is_none() {
        writeln!(
            out,
            "desc: Note: the profile does not tell inclusive costs: all costs are functions' own, and calls are left out"
        )?;
    }
    if let Some(left_out) = jumps_left_out(&jumps) {
        writeln!(out, "desc: Note: {left_out}")?;
    }
    writeln!(out, "positions: line")?;
    for kind in kinds {
        writeln!(out, "event: {} : {}", kind.name(), kind.title())?;
    }
    let list: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    writeln!(out, "events: {}", list.join(" "))?;
    writeln!(out, "summary: {}\n", amounts(&costs.total(), kinds))?;
    let mut writer = Writer {
        costs,
        kinds,
        names,
        files: Compressed::default(),
        functions: Compressed::default(),
        objects: Compressed::default(),
    };
    for (number, function) in costs.functions.iter().enumerate().filter(|(_, function)| function.ran()) {
        writer.function(function, calls.as_ref().map(|calls| &calls[number]), &jumps[number], out)?;
    }
    writeln!(out, "totals: {}", amounts(&costs.total(), kinds))
}

fn amounts(cost: &Cost, kinds: &[EventKind]) -> String {
    kinds.iter().map(|&kind| cost.of(kind).to_string()).collect::<Vec<_>>().join(" ")
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Names are written once, as `(number) name`, and then as `(number)`.
#[derive(Default)]
struct Compressed {
    numbers: HashMap<String, usize>,
}

impl Compressed {
    fn show(&mut self, name: &str) -> String {
        let next = self.numbers.len() + 1;
        match self.numbers.get(name) {
            Some(number) => format!("({number})"),
            None => {
                self.numbers.insert(name.to_owned(), next);
                format!("({next}) {}", one_line(name))
            }
        }
    }
}

/// What is on a line of a function.
#[derive(Default)]
struct Place<'a> {
    cost: Cost,
    calls: Vec<Calls>,
    jumps: Vec<&'a Jump>,
}

struct Writer<'a> {
    costs: &'a Costs<'a>,
    kinds: &'a [EventKind],
    names: Names,
    files: Compressed,
    functions: Compressed,
    objects: Compressed,
}

impl Writer<'_> {
    fn file(&self, function: &FunctionCosts<'_>) -> String {
        function.function.facts.position.map_or(UNKNOWN, |p| self.costs.file(function, p.file)).to_owned()
    }

    fn object(&self, function: &FunctionCosts<'_>) -> String {
        self.costs.units[function.unit].profile.binary.display().to_string()
    }

    fn function(
        &mut self,
        function: &FunctionCosts<'_>,
        calls: Option<&BTreeMap<Line, Vec<Calls>>>,
        jumps: &FunctionJumps,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let facts = function.function.facts;
        let (object, own_file) = (self.object(function), self.file(function));
        writeln!(out, "ob={}", self.objects.show(&object))?;
        writeln!(out, "fl={}", self.files.show(&own_file))?;
        writeln!(out, "fn={}", self.functions.show(&self.names.show(&facts.symbol)))?;
        // By file and line, those of the function's own file first: copies that were inlined twice are one.
        let start = facts.position.map_or(0, |p| p.line);
        let place = |line: &Line| {
            line.at.map_or((own_file.clone(), start), |(file, line)| (self.costs.file(function, file).to_owned(), line))
        };
        let mut places: BTreeMap<(bool, String, u32), Place<'_>> = BTreeMap::new();
        let key = |(file, line): (String, u32)| (file != own_file, file, line);
        for (line, &cost) in &function.lines {
            places.entry(key(place(line))).or_default().cost += cost;
        }
        for (line, calls) in calls.into_iter().flatten() {
            places.entry(key(place(line))).or_default().calls.extend(calls);
        }
        for jump in &jumps.jumps {
            places.entry(key(place(&jump.from))).or_default().jumps.push(jump);
        }
        let mut current = own_file.clone();
        for ((_, file, line), Place { cost, calls, jumps }) in places {
            if file != current {
                writeln!(out, "{}={}", if file == own_file { "fe" } else { "fi" }, self.files.show(&file))?;
                current = file;
            }
            if !cost.is_none() {
                writeln!(out, "{line} {}", amounts(&cost, self.kinds))?;
            }
            for call in calls {
                let callee = &self.costs.functions[call.callee];
                let (object_of_callee, file_of_callee) = (self.object(callee), self.file(callee));
                if object_of_callee != object {
                    writeln!(out, "cob={}", self.objects.show(&object_of_callee))?;
                }
                writeln!(out, "cfi={}", self.files.show(&file_of_callee))?;
                writeln!(out, "cfn={}", self.functions.show(&self.names.show(&callee.function.facts.symbol)))?;
                writeln!(out, "calls={} {}", call.calls, callee.function.facts.position.map_or(0, |p| p.line))?;
                writeln!(out, "{line} {}", amounts(&call.inclusive, self.kinds))?;
            }
            for jump in jumps {
                let (target_file, target) = place(&jump.to);
                if target_file != current {
                    writeln!(out, "jfi={}", self.files.show(&target_file))?;
                }
                match jump.kind {
                    JumpKind::Conditional { executed } => writeln!(out, "jcnd={}/{executed} {target}", jump.taken)?,
                    JumpKind::Always => writeln!(out, "jump={} {target}", jump.taken)?,
                }
                writeln!(out, "{line}")?;
            }
        }
        writeln!(out)
    }
}
