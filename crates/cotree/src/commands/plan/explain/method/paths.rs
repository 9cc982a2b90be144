//! Explains how the paths of a function are counted.

use super::super::code::Code;
use cotree_core::ids::Table;
use cotree_core::method::path::{PathKey, PathPlan, Window};
use cotree_core::probe::{PlacedProbe, Probe};
use cotree_report::terminal::grouped;
use std::fmt::Write;

/// The paths of one function.
pub(super) struct Paths<'a> {
    pub(super) code: Code<'a>,
    pub(super) plan: &'a PathPlan,
    /// Functions with at most this many paths count them in an array.
    pub(super) array: u64,
}

impl Paths<'_> {
    /// How many paths there are, where they are cut, and what the probes do.
    pub(super) fn write(&self, out: &mut String) -> std::fmt::Result {
        let PathKey { cuts, paths, context, .. } = &self.plan.key;
        let number = if *paths == 1 { "1 path".into() } else { format!("{} paths", grouped(u128::from(*paths))) };
        writeln!(out, "  {number}, {}", self.table())?;
        for &edge in &cuts.edges {
            writeln!(out, "    paths end and begin anew on the edge {}", self.code.edge(edge))?;
        }
        for &edge in &cuts.loops {
            let edge = self.code.edge(edge);
            writeln!(out, "    paths end and begin anew on the edge {edge}, and remember how the loop was reached")?;
        }
        for &block in &cuts.blocks {
            writeln!(out, "    paths end and begin anew where {} is entered", self.code.block(block))?;
        }
        if *context && cuts.loops.is_empty() {
            writeln!(out, "    there is no loop to remember the path to")?;
        }
        self.plan.probes.iter().try_for_each(|placed| self.write_probe(placed, out))
    }

    fn table(&self) -> String {
        let key = &self.plan.key;
        if key.in_array(self.array) {
            return "each with a word of its own".into();
        }
        match key.words_of_windows() {
            0 => "counted in a hash table".into(),
            words => {
                format!("{} of them with words of their own, the others in a hash table", grouped(u128::from(words)))
            }
        }
    }

    fn write_probe(&self, placed: &PlacedProbe, out: &mut String) -> std::fmt::Result {
        let place = self.code.place(placed.place);
        match placed.probe {
            Probe::Set(register, value) => writeln!(out, "    {place}: {register} = {value}"),
            Probe::Add(register, value) => writeln!(out, "    {place}: {register} += {value}"),
            Probe::Linear { to, from, times, plus } => {
                let from = if times == 1 { from.to_string() } else { format!("{from} × {times}") };
                writeln!(out, "    {place}: {to} = {}", sum(&from, plus))
            }
            Probe::CountPath(table, register, plus) => {
                let (number, table) = (sum(&register.to_string(), plus), self.counted_in(table));
                writeln!(out, "    {place}: the path with the number {number} is counted{table}")
            }
            // Self-loops are listed with their counters.
            Probe::Count(_)
            | Probe::CountIfTaken(..)
            | Probe::AddTo(..)
            | Probe::Close(..)
            | Probe::CloseIf(..)
            | Probe::Emit { .. }
            | Probe::EmitFull { .. }
            | Probe::EmitBits { .. }
            | Probe::RecordEntry
            | Probe::AddProduct { .. }
            | Probe::Read(..)
            | Probe::Write { .. }
            | Probe::SetUnless(..)
            | Probe::AddUnless(..)
            | Probe::Claim { .. }
            | Probe::ClaimByAddress { .. }
            | Probe::NameCallee { .. }
            | Probe::CopyUnless { .. }
            | Probe::Meter { .. }
            | Probe::CountPathUnless { .. }
            | Probe::CountBy(..)
            | Probe::AddCounter { .. }
            | Probe::Outermost { .. }
            | Probe::CloseBy { .. } => Ok(()),
        }
    }

    /// Where a path is counted in a function that has no array for all its paths.
    fn counted_in(&self, table: Table) -> String {
        let key = &self.plan.key;
        match Window::of(&key.windows, table) {
            _ if key.in_array(self.array) => String::new(),
            Some((_, window)) => format!(", in words if it is one of {} to {}", window.first, window.numbers().end - 1),
            None => ", in the hash table".into(),
        }
    }
}

/// `of + plus`.
fn sum(of: &str, plus: i64) -> String {
    match plus {
        0 => of.to_owned(),
        1.. => format!("{of} + {plus}"),
        _ => format!("{of} − {}", plus.unsigned_abs()),
    }
}
