//! Path profiles: paths are counted, and something is added up along them.

use cotree_core::method::path::UnitPathPlan;
use cotree_rt::layout::UnitDescriptor;
use std::mem::offset_of;

pub(super) fn describe(unit: &UnitPathPlan, mut put: impl FnMut(usize, &[u8])) {
    put(offset_of!(UnitDescriptor, counts_paths), &1u32.to_le_bytes());
    put(offset_of!(UnitDescriptor, path_metric), &unit.metric.number().to_le_bytes());
}
