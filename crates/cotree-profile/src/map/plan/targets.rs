//! Targets of indirect calls. Which calls these are follows from the facts, so the section says only whether they are
//! counted, and how many addresses a site knows.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::ProgramMap;
use cotree_core::method::MethodPlan;
use cotree_core::method::targets::{KNOWN_TARGETS, UnitTargetPlan};

pub(super) fn write(plan: Option<&UnitTargetPlan>, w: &mut Writer) {
    if let Some(plan) = plan {
        w.put(Stream::Targets, plan.known().into());
    }
}

pub(super) fn read(
    method: &MethodPlan,
    r: &mut Reader<'_>,
    program: &ProgramMap,
) -> Result<Option<UnitTargetPlan>, MapError> {
    if r.left(Stream::Targets) == 0 {
        return Ok(None);
    }
    if !method.method().counts_targets() {
        return Err(MapError::Invalid("its method counts no targets of calls"));
    }
    let known = u32::try_from(r.get(Stream::Targets)?).ok().filter(|known| (1..=KNOWN_TARGETS).contains(known));
    let known = known.ok_or(MapError::Invalid("its calls through pointers know too many addresses"))?;
    Ok(Some(UnitTargetPlan::of(program.functions().map(|(_, function)| function)).with_known(known)))
}
