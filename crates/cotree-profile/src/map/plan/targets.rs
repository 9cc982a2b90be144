//! Targets of indirect calls. Which calls these are follows from the facts, so the section says only whether they are
//! counted.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::ProgramMap;
use cotree_core::method::MethodPlan;
use cotree_core::method::targets::UnitTargetPlan;

pub(super) fn write(plan: Option<&UnitTargetPlan>, w: &mut Writer) {
    if plan.is_some() {
        w.put(Stream::Targets, 1);
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
    if r.get(Stream::Targets)? != 1 || !method.method().counts_targets() {
        return Err(MapError::Invalid("its method counts no targets of calls"));
    }
    Ok(Some(UnitTargetPlan::of(program.functions().map(|(_, function)| function))))
}
