//! Strongly connected components (Tarjan 1972), with a stack of its own in place of recursion.

/// Per node of `0..count`, the number of its strongly connected component. `target(node, n)` is where the `n`-th arrow
/// of a node leads: `Some(None)` is out of the graph, and `None` says that there are no more arrows.
///
/// Arrows between components lead to lower numbers.
pub fn components(count: usize, target: impl Fn(usize, usize) -> Option<Option<usize>>) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut found = vec![NONE; count];
    let (mut index, mut low) = (vec![NONE; count], vec![0u32; count]);
    let (mut next, mut components) = (0u32, 0u32);
    let mut path: Vec<usize> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for root in 0..count {
        if index[root] != NONE {
            continue;
        }
        open.push((root, 0));
        while let Some((node, arrow)) = open.last_mut() {
            let node = *node;
            if *arrow == 0 {
                (index[node], low[node]) = (next, next);
                next += 1;
                path.push(node);
            }
            let ahead = target(node, *arrow);
            *arrow += 1;
            match ahead {
                Some(Some(to)) if index[to] == NONE => open.push((to, 0)),
                Some(Some(to)) if found[to] == NONE => low[node] = low[node].min(index[to]),
                Some(_) => {}
                None => {
                    open.pop();
                    if let Some(&(before, _)) = open.last() {
                        low[before] = low[before].min(low[node]);
                    }
                    if low[node] == index[node] {
                        while let Some(member) = path.pop() {
                            found[member] = components;
                            if member == node {
                                break;
                            }
                        }
                        components += 1;
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn components_are_numbered_from_the_end() {
        let arrows: [&[usize]; 6] = [&[1], &[2, 3], &[1], &[4], &[4, 9], &[0]];
        let found = components(6, |node, n| arrows[node].get(n).map(|&to| (to < 6).then_some(to)));
        // 4 turns upon itself and leads out, 3 leads to 4; 1 and 2 are one.
        assert_eq!(found, [3, 2, 2, 1, 0, 4]);
    }
}
