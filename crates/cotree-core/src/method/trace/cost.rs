//! What tracing costs: instructions, and bytes of the trace.

use crate::facts::Function;
use crate::probe::{Place, PlacedProbe, Probe};
use crate::weight::weighting::Weighting;

/// What a byte of the trace is worth, in instructions: it has to be copied, compressed and stored.
const BYTE: f64 = 1.0;

/// The expected cost of a plan's probes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TraceCost {
    /// Probes.
    pub probes: u64,
    /// Tokens, entry records and control bytes that are written.
    pub writes: f64,
    /// Bytes of the trace.
    pub bytes: f64,
    /// Instructions.
    pub instructions: f64,
}

impl TraceCost {
    /// Adds up the cost of the probes of a function.
    #[must_use]
    pub fn of(probes: &[PlacedProbe], function: &Function, weighting: &Weighting) -> Self {
        let mut cost = Self { probes: probes.len() as u64, ..Self::default() };
        for placed in probes {
            let times = match placed.place {
                Place::Start(block) | Place::End(block) => weighting.block(block),
                Place::Edge(edge) => weighting.edge(edge),
                Place::Call(call) | Place::After(call) => weighting.block(function.calls[call].block),
            };
            let (writes, bytes, instructions) = match placed.probe {
                Probe::Emit { reg, bytes, .. } => (1.0, f64::from(bytes), if reg.is_some() { 4.0 } else { 3.0 }),
                // A turn fills so many of its bits; it is written when all are full.
                Probe::EmitFull { limit, bytes, .. } => {
                    let turn = (f64::from(bytes) - (limit.max(1) as f64).log2() / 8.0).max(0.125);
                    (turn / f64::from(bytes), turn, 2.0 + 4.0 * turn / f64::from(bytes))
                }
                Probe::EmitBits { bits, .. } => (1.0, f64::from(bits) / 7.0, 7.0),
                Probe::RecordEntry => (1.0, 2.0, 3.0),
                Probe::Linear { times, .. } => (0.0, 0.0, if times.count_ones() == 1 { 1.0 } else { 2.0 }),
                Probe::Add(..) => (0.0, 0.0, 1.0),
                // A constant is known where it is used, mostly.
                Probe::Set(..) => (0.0, 0.0, 0.5),
                _ => (0.0, 0.0, 0.0),
            };
            cost.writes += times * writes;
            cost.bytes += times * bytes;
            cost.instructions += times * instructions;
        }
        cost
    }

    /// What is to be as low as possible.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.instructions + BYTE * self.bytes
    }
}

impl std::ops::AddAssign for TraceCost {
    fn add_assign(&mut self, other: Self) {
        self.probes += other.probes;
        self.writes += other.writes;
        self.bytes += other.bytes;
        self.instructions += other.instructions;
    }
}
