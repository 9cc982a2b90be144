//! The values of witnesses: the same one for several where no predicate has to tell them apart (Ball & Larus 1994,
//! §6.2).

use super::witness_sets::WitnessSets;

/// A value for each witness, by its number in the sets: the smallest that none has with which it may be confused.
pub(super) fn values(count: usize, sets: &WitnessSets) -> Vec<u32> {
    // The sets of nodes with several links that each witness is in. Any two of a set are told apart there or further
    // on.
    let mut members = vec![Vec::new(); count];
    let several = |set: &&Vec<(Option<u64>, u32)>| set.iter().any(|member| member.1 != set[0].1);
    let mut taken: Vec<Vec<u64>> = Vec::new();
    for set in sets.nodes.iter().filter(several) {
        for witness in set.iter().filter_map(|member| member.0) {
            members[witness as usize].push(taken.len());
        }
        taken.push(Vec::new());
    }
    let value = |sets: &Vec<usize>| {
        let is_free = |value: &u32| {
            let (word, bit) = (*value as usize / 64, value % 64);
            sets.iter().all(|&set| taken[set].get(word).is_none_or(|word| word >> bit & 1 == 0))
        };
        let value = (0..).find(is_free).unwrap_or_default();
        let (word, bit) = (value as usize / 64, value % 64);
        for &set in sets {
            let words = &mut taken[set];
            words.resize(words.len().max(word + 1), 0);
            words[word] |= 1 << bit;
        }
        value
    };
    members.iter().map(value).collect()
}
