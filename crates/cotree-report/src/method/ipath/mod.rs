//! What views show of paths across functions.

use super::Total;
use crate::unit::Unit;
use cotree_profile::method::MethodProfile;

/// How many paths of the unit ran: they belong to no function alone.
pub(super) fn total(unit: &Unit<'_>) -> Total {
    let run = match &unit.profile.method {
        MethodProfile::Ipath { profile: Some(profile), .. } => profile.paths.len(),
        _ => 0,
    };
    ("paths run", run as u128, "across functions".into())
}
