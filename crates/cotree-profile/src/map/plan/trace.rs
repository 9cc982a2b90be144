//! Traces: the key of each function's tokens. Probes are not kept.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::method::trace::{TraceKey, TracePlan, UnitTracePlan};

pub(super) fn write(unit: &UnitTracePlan, w: &mut Writer) {
    for plan in &unit.functions {
        if plan.key == TraceKey::default() {
            w.put(Stream::TraceLength, 0);
            continue;
        }
        let bytes = postcard::to_stdvec(&plan.key).expect("plain data in memory");
        w.put(Stream::TraceLength, bytes.len() as u64);
        w.put_bytes(Stream::TraceKey, &bytes);
    }
}

/// Whether a key fits its function is seen when it is used.
pub(super) fn check(unit: &UnitTracePlan, functions: &[&Function]) -> Result<(), MapError> {
    let fits = unit.functions.len() == functions.len();
    if fits { Ok(()) } else { Err(MapError::Invalid("there is not one plan per function")) }
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitTracePlan, MapError> {
    let read = |_| {
        let length = r.get_count(Stream::TraceLength, Stream::TraceKey)?;
        let key = if length == 0 {
            TraceKey::default()
        } else {
            postcard::from_bytes(r.get_bytes(Stream::TraceKey, length)?)
                .map_err(|_| MapError::Invalid("the key of a trace does not unpack"))?
        };
        Ok(TracePlan { probes: Vec::new(), key })
    };
    Ok(UnitTracePlan { functions: program.functions().map(read).collect::<Result<_, MapError>>()? })
}
