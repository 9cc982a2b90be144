//! Ranges of counts, and what sums say of their parts.

/// Stands for the upper end of a range that has none. Sums of some thousand of them fit 64 bits.
pub const UNBOUNDED: i128 = 1 << 48;

/// Between which numbers a count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest number that it may be.
    pub least: i128,
    /// The greatest number that it may be, or [`UNBOUNDED`].
    pub most: i128,
}

impl Range {
    /// Anything.
    pub(super) const ANY: Self = Self { least: 0, most: UNBOUNDED };

    pub(super) fn exactly(count: i128) -> Self {
        Self { least: count, most: count }
    }
}

/// Narrows a range to what is in another one, too. `None`: nothing is in both.
pub(super) fn narrow(range: &mut Range, other: Range) -> Option<bool> {
    let both = Range { least: range.least.max(other.least), most: range.most.min(other.most) };
    let changed = both != *range;
    *range = both;
    (both.least <= both.most).then_some(changed)
}

/// Narrows a sum by its parts, and each part by the sum and the others. `false`: no numbers fit.
pub(super) fn reconcile(sum: &mut Range, parts: &mut [&mut Range]) -> bool {
    let least: i128 = parts.iter().map(|part| part.least).sum();
    let unbounded = parts.iter().filter(|part| part.most >= UNBOUNDED).count();
    let most: i128 = parts.iter().filter(|part| part.most < UNBOUNDED).map(|part| part.most).sum();
    let all = Range { least, most: if unbounded > 0 { UNBOUNDED } else { most.min(UNBOUNDED) } };
    if narrow(sum, all).is_none() {
        return false;
    }
    parts.iter_mut().all(|part| {
        let is_unbounded = part.most >= UNBOUNDED;
        let of_others =
            (unbounded - usize::from(is_unbounded) == 0).then(|| most - if is_unbounded { 0 } else { part.most });
        let at_least = of_others.map_or(0, |others| sum.least - others);
        let at_most = if sum.most >= UNBOUNDED { UNBOUNDED } else { sum.most - (least - part.least) };
        narrow(part, Range { least: at_least, most: at_most }).is_some()
    })
}
