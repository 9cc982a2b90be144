//! What is added up along the paths of a unit.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::method::path::PathMetric;

pub(super) fn write(metric: PathMetric, w: &mut Writer) {
    if metric.is_summed() {
        w.put(Stream::Metric, metric.number().into());
    }
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<PathMetric, MapError> {
    let number = if r.left(Stream::Metric) == 0 { 0 } else { r.get(Stream::Metric)? };
    PathMetric::from_number(number).ok_or(MapError::Invalid("no such metric of paths"))
}
