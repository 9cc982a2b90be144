//! Profiles that are no weights: methods that count blocks, calls or events say nothing of edges.

use crate::unit_profile::UnitProfile;
use cotree_core::method::Method;

/// Why this profile cannot be taken as weights, in a sentence with the remedy; `None` if it can. A program of which no
/// function is measured has no edges, and can.
#[must_use]
pub fn refused(profile: &UnitProfile) -> Option<String> {
    let method = profile.method.method();
    let mut functions = profile.functions.iter().flatten().peekable();
    let counts_edges = method.promises().edges || method == Method::Trace;
    let usable = counts_edges && functions.peek().is_none() || functions.any(|function| function.edges.is_some());
    (!usable).then(|| {
        format!(
            "weights are counts of edges, and the {} of {} has none: build it with --profile {}",
            method.title(),
            profile.binary.display(),
            Method::names(|entry| entry.promises.edges)
        )
    })
}
