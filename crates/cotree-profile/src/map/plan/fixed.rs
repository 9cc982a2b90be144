//! Edges that need no counter because each runs a fixed number of times for each time that another edge runs.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::ids::Edge;
use cotree_core::plan::{CounterPlan, FixedEdge};

pub(super) fn write(plans: &[CounterPlan], w: &mut Writer) {
    let with = || (0u32..).zip(plans).filter(|(_, plan)| !plan.key.fixed.is_empty());
    if with().next().is_none() {
        return;
    }
    w.put(Stream::Fixed, with().count() as u64);
    let mut last = 0;
    for (number, plan) in with() {
        w.put_step(Stream::Fixed, last, number);
        last = number;
        w.put(Stream::Fixed, plan.key.fixed.len() as u64);
        let mut before = 0;
        for FixedEdge { edge, times, of, depth } in &plan.key.fixed {
            w.put_step(Stream::Fixed, before, edge.0);
            before = edge.0;
            w.put_step(Stream::Fixed, edge.0, of.0);
            w.put(Stream::Fixed, *times);
            w.put(Stream::Fixed, u64::from(*depth));
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, plans: &mut [CounterPlan]) -> Result<(), MapError> {
    if r.left(Stream::Fixed) == 0 {
        return Ok(());
    }
    let mut last = 0;
    for _ in 0..r.get_count(Stream::Fixed, Stream::Fixed)? {
        last = r.get_step(Stream::Fixed, last)?;
        let plan = plans.get_mut(last as usize).ok_or(MapError::Invalid("a loop of known length is in no function"))?;
        let mut before = 0;
        for _ in 0..r.get_count(Stream::Fixed, Stream::Fixed)? {
            before = r.get_step(Stream::Fixed, before)?;
            let of = Edge(r.get_step(Stream::Fixed, before)?);
            let times = r.get(Stream::Fixed)?;
            plan.key.fixed.push(FixedEdge { edge: Edge(before), times, of, depth: r.get_u32(Stream::Fixed)? });
        }
    }
    Ok(())
}
