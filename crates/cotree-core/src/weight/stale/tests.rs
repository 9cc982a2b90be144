use super::*;

/// Versions of a function from lines `block: calls@line -> successors`, where a successor that is no block is EXIT.
fn outline(text: &str) -> Outline {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let names: Vec<&str> = lines.iter().map(|line| line.split_once(':').expect("a name").0).collect();
    let mut outline = Outline::default();
    for (number, line) in (0..).zip(&lines) {
        let (anchors, successors) = line.split_once(':').expect("a name").1.split_once("->").expect("successors");
        let (calls, at) = anchors.trim().split_once('@').expect("a line");
        let hash = calls.bytes().fold(Fnv::default(), |mut hash, byte| {
            hash.eat(&[byte]);
            hash
        });
        let calls = if calls.is_empty() { 0 } else { hash.folded() };
        outline.blocks.push(Anchors { calls, line: at.parse().ok(), text: 0 });
        for (branch, successor) in (0..).zip(successors.split_whitespace()) {
            let dst = names.iter().position(|name| *name == successor).unwrap_or(names.len());
            outline.edges.push((number, u32::try_from(dst).expect("few"), branch));
        }
    }
    outline
}

fn matched(earlier: &str, later: &str) -> Vec<Option<u32>> {
    Matching::new(&outline(earlier), &outline(later)).earlier
}

const LOOP: &str = "entry: @0 -> head
    head: @1 -> body out
    body: read@2 -> odd even
    odd: @3 -> head
    even: store@4 -> head
    out: close@6 -> EXIT";

#[test]
fn versions_are_alike_as_far_as_they_are() {
    let same = outline(LOOP);
    let likeness = |other: &str| same.likeness(&outline(other));
    assert_eq!(likeness(LOOP), Likeness::All);
    assert_eq!(likeness(&LOOP.replace("@6", "@7")), Likeness::Calls);
    assert_eq!(likeness(&LOOP.replace("store", "load")), Likeness::Graph);
    assert_eq!(likeness(&LOOP.replace("odd even", "even odd")), Likeness::None);
    // Without debug information lines say nothing.
    let without_lines = outline(&LOOP.chars().map(|c| if c.is_ascii_digit() { 'x' } else { c }).collect::<String>());
    assert_eq!(same.likeness(&without_lines), Likeness::All);
}

#[test]
fn blocks_that_moved_are_found() {
    assert_eq!(matched(LOOP, LOOP), [0, 1, 2, 3, 4, 5].map(Some));
    // A check in front of all, which moves every line.
    let checked = "entry: @0 -> bad fine
        bad: abort@1 -> EXIT
        fine: @3 -> head
        head: @4 -> body out
        body: read@5 -> odd even
        odd: @6 -> head
        even: store@7 -> head
        out: close@9 -> EXIT";
    // `fine` is what the entry was, but the edge out of it is that of a block in the loop, too.
    let found = matched(LOOP, checked);
    assert_eq!((found[0], found[1]), (Some(0), None));
    assert_eq!(found[3..], [1, 2, 3, 4, 5].map(Some));
}

#[test]
fn code_that_was_taken_out_or_changed_has_no_pair() {
    let shorter = "entry: @0 -> head
        head: @1 -> body out
        body: read@2 -> head
        out: close@4 -> EXIT";
    assert_eq!(matched(LOOP, shorter), [0, 1, 2, 5].map(Some));
    let other = LOOP.replace("store", "load").replace("@4", "@5");
    // The same place in the graph, and another callee: another block.
    assert_eq!(matched(LOOP, &other), [Some(0), Some(1), Some(2), Some(3), None, Some(5)]);
}

#[test]
fn counts_go_where_the_branches_are_the_same() {
    let shorter = "entry: @0 -> head
        head: @1 -> body out
        body: read@2 -> head
        out: close@4 -> EXIT";
    let (earlier, later) = (outline(LOOP), outline(shorter));
    let counts = FunctionProfile {
        entries: 2,
        blocks: vec![2, 12, 10, 7, 3, 2].into(),
        edges: Some(vec![2, 10, 2, 7, 3, 7, 3, 2].into()),
        ..FunctionProfile::default()
    };
    let guess = Matching::new(&earlier, &later).transfer(&earlier, &later, &counts);
    assert_eq!(guess.blocks, [2, 12, 10, 2]);
    // Nothing is known of the edge out of `body`, which had two.
    assert_eq!(guess.edges, Some(vec![2, 10, 2, 0, 2].into()));
    // Fewer counts than blocks and edges are counts that are not known.
    let short = FunctionProfile { blocks: vec![2].into(), edges: Some(vec![2].into()), ..FunctionProfile::default() };
    let guess = Matching::new(&earlier, &later).transfer(&earlier, &later, &short);
    assert_eq!((guess.blocks, guess.edges), (vec![2, 0, 0, 0].into(), Some(vec![2, 0, 0, 0, 0].into())));
}

#[test]
fn the_longest_rising_part() {
    let pairs = |text: &str| -> Vec<(usize, usize)> { text.bytes().map(|b| usize::from(b - b'0')).zip(0..).collect() };
    let firsts = |text: &str| rising(pairs(text)).iter().map(|(first, _)| first.to_string()).collect::<String>();
    assert_eq!(firsts("012345"), "012345");
    assert_eq!(firsts("543210").len(), 1);
    assert_eq!(firsts("91283456"), "123456");
    assert_eq!(firsts(""), "");
}

/// Whatever files say, pairs are one to one, and nothing panics.
#[test]
fn random_outlines() {
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let small = |n: u64| u32::try_from(n).expect("small");
    for _ in 0..2000 {
        let mut random = || {
            let blocks = below(12);
            let anchors = |below: &mut dyn FnMut(u64) -> u64| Anchors {
                calls: small(below(3)),
                line: (below(3) > 0).then(|| i64::try_from(below(9)).expect("small")),
                text: small(below(2)),
            };
            Outline {
                blocks: (0..blocks).map(|_| anchors(&mut below)).collect(),
                // Some lead from nowhere to nowhere.
                edges: (0..below(20)).map(|_| (small(below(14)), small(below(14)), small(below(3)))).collect(),
            }
        };
        let (earlier, later) = (random(), random());
        let matching = Matching::new(&earlier, &later);
        let mut partners: Vec<u32> = matching.earlier.iter().flatten().copied().collect();
        assert_eq!((matching.earlier.len(), partners.len()), (later.blocks.len(), matching.pairs()));
        partners.sort_unstable();
        assert!(partners.windows(2).all(|two| two[0] < two[1]), "{matching:?}");
        assert!(partners.iter().all(|&block| (block as usize) < earlier.blocks.len()));
        let counts = FunctionProfile {
            blocks: vec![u64::MAX; 5].into(),
            edges: Some(vec![3; 5].into()),
            ..FunctionProfile::default()
        };
        let guess = matching.transfer(&earlier, &later, &counts);
        assert_eq!(guess.blocks.len(), later.blocks.len());
        assert_eq!(Matching::new(&later, &later).pairs(), later.blocks.len());
    }
}
