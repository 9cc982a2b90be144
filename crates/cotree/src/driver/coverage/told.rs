//! What builds with coverage are told, whether we start cargo or another command does.

use super::line::Asked;
use super::place::Place;
use crate::driver::cargo_build::Further;
use cotree_options::BuildOptions;

/// What builds with coverage are told: options of ours, and what is besides.
pub fn of_build(options: &BuildOptions, asked: &Asked, place: &Place, for_shell: bool) -> (BuildOptions, Further) {
    let options = BuildOptions { profile_file: Some(place.pattern().into()), ..options.clone() };
    let further = Further {
        members_only: asked.values("dep-coverage").next().is_none(),
        coverage_cfg: !asked.has("no-cfg-coverage"),
        doc_tests: Some(place.programs()),
        for_shell,
    };
    (options, further)
}
