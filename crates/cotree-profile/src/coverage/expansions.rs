//! What counts the expansions of a function: the first region of the text that replaces them.

use super::counters::Counter;
use super::error::CoverageFault;
use super::function::{Region, RegionKind};

/// Gives each expansion its counter. The function has `files` files.
///
/// # Errors
/// If a file replaces several regions, or a region of its own.
pub(super) fn count(regions: &mut [Region], files: usize) -> Result<(), CoverageFault> {
    // By file: its first region, and the region that it replaces.
    let mut first = vec![None; files];
    let mut replaced = vec![None; files];
    for (index, region) in regions.iter().enumerate() {
        first[region.file.0 as usize].get_or_insert(index);
        if let RegionKind::Expansion { into, .. } = region.kind
            && replaced[into.0 as usize].replace(index).is_some()
        {
            return Err(CoverageFault::Invalid("a file replaces more than one region"));
        }
    }
    // From each file on, the way leads through the regions that it replaces to a file that replaces none.
    let mut ends = vec![false; files];
    let mut way = Vec::new();
    for start in 0..files {
        let mut file = start;
        way.clear();
        while !ends[file] {
            way.push(file);
            if way.len() > files {
                return Err(CoverageFault::Invalid("a file replaces a region of its own"));
            }
            match replaced[file] {
                Some(region) => file = regions[region].file.0 as usize,
                None => break,
            }
        }
        way.iter().for_each(|&file| ends[file] = true);
    }
    // The first region of a file may be an expansion itself: all on the way have the counter that is found at its end.
    let mut done = vec![false; regions.len()];
    for start in 0..regions.len() {
        let mut at = Some(start);
        let mut counter = Counter::Zero;
        way.clear();
        while let Some(region) = at {
            (counter, at) = match regions[region].kind {
                RegionKind::Expansion { count, .. } if done[region] => (count, None),
                RegionKind::Expansion { into, .. } => {
                    way.push(region);
                    (Counter::Zero, first[into.0 as usize])
                }
                RegionKind::Code(counter) | RegionKind::Gap(counter) => (counter, None),
                RegionKind::Branch { taken, .. } | RegionKind::Condition { taken, .. } => (taken, None),
                RegionKind::Skipped | RegionKind::Decision { .. } => (Counter::Zero, None),
            };
        }
        for &region in &way {
            done[region] = true;
            if let RegionKind::Expansion { count, .. } = &mut regions[region].kind {
                *count = counter;
            }
        }
    }
    Ok(())
}
