//! What markers in the sources leave out.

use cotree_report::exclusions::Markers;
use cotree_report::region_coverage::RegionCoverage;
use cotree_report::source::Sources;

/// Leaves out what markers in the sources exclude. Gives sentences on markers that make no sense.
pub fn exclude(coverage: &mut RegionCoverage<'_>, sources: &dyn Sources, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut markers = Markers::read(coverage.paths().filter(|path| wanted(path)), sources);
    markers.exclude_functions(|path| coverage.function_lines(path));
    let remarks = markers.remarks();
    coverage.exclude(markers);
    remarks.into_iter().chain(coverage.reached()).collect()
}
