//! Which functions with many paths get an array.

use crate::random;
use cotree_core::facts::Function;
use cotree_core::method::MethodPlan;
use cotree_core::method::path::windows::{Room, worth_arrays, worth_windows};
use cotree_core::method::path::{
    self, MOST_PATH_ARRAY, PATH_ARRAY, PATH_CACHE, PathKey, PathMethod, PathMetric, PathOptions, PathPlan, PathTable,
    UnitPathPlan, Window,
};
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;

/// A chain of so many diamonds: 2^n paths.
fn diamonds(count: usize) -> (Function, PathPlan) {
    let edges: Vec<(usize, usize, bool)> = (0..count)
        .map(|i| 3 * i)
        .flat_map(|a| [(a, a + 1, true), (a, a + 2, true), (a + 1, a + 3, true), (a + 2, a + 3, true)])
        .chain([(3 * count, 3 * count + 1, true)])
        .collect();
    let function = random::function(3 * count + 1, &edges, &[]);
    let cfg = function.cfg().unwrap();
    let plan = path::plan(&function, &cfg, &Weighting::heuristic(&cfg), PathOptions::default()).unwrap();
    assert_eq!(plan.key.paths, 1 << count);
    (function, plan)
}

fn chosen(functions: &[(usize, f64)], array: u64, room: Room) -> Vec<usize> {
    let made: Vec<_> = functions.iter().map(|&(count, counts)| (diamonds(count), counts)).collect();
    let functions: Vec<_> = made.iter().map(|((function, plan), counts)| (function, &plan.key, *counts)).collect();
    worth_arrays(&functions, array, room)
}

#[test]
fn what_counts_most_per_word_comes_first() {
    // 2^10 paths have an array anyway, 2^23 are too many for any.
    assert_eq!(chosen(&[(10, 1.0), (11, 1.0), (21, 1.0), (23, 1e9)], 1024, Room::AsUsed), [1, 2]);
    // Two of 2^21 words are all that there is room for.
    assert_eq!(chosen(&[(21, 1.0), (21, 3.0), (21, 2.0)], 1024, Room::AsUsed), [1, 2]);
    // What is left is for those that fit.
    assert_eq!(chosen(&[(21, 9.0), (20, 4.0), (21, 3.0), (20, 1.0)], 1024, Room::AsUsed), [0, 1, 3]);
}

/// Words of large arrays come last, whatever function they belong to.
#[test]
fn large_arrays_lie_behind_others() {
    let array = |count: usize, behind: bool| {
        let plan = diamonds(count).1;
        let windows = vec![Window { first: 0, len: plan.key.paths }];
        PathPlan { key: PathKey { windows, behind, ..plan.key }, ..plan }
    };
    let functions = vec![array(12, true), array(3, false), array(11, true), diamonds(13).1, array(4, false)];
    let paths = UnitPathPlan { method: PathMethod::Plain, functions, array: PATH_ARRAY, metric: PathMetric::Count };
    let windows = paths.functions[3].key.words_of_windows();
    let layout = UnitPlan::new(MethodPlan::Paths(paths)).layout();
    let places = [8 + windows + 16, 0, 8 + windows + 16 + 4096, 8, 8 + windows];
    for (table, place) in layout.tables.paths().iter().zip(places) {
        match *table {
            PathTable::Array { base } => assert_eq!(base, place),
            PathTable::Hashed { windows, cache, .. } => assert_eq!((windows, cache), (place, layout.counter_count)),
            PathTable::None => panic!("{layout:?}"),
        }
    }
    assert_eq!(layout.counter_count, 8 + windows + 16 + 4096 + 2048);
    assert_eq!((layout.path_words, layout.cache_count), (0, PATH_CACHE));
}

#[test]
fn the_usual_array_sets_the_measure() {
    assert_eq!(chosen(&[(11, 1.0)], 0, Room::AsUsed), [0; 0]);
    assert_eq!(chosen(&[(16, 1.0), (17, 1.0)], 16, Room::AsUsed), [0]);
    // Where all of it takes memory: 16 words per block, of which four times 31 and 34 are enough for 2^11 words, but
    // three are not.
    let few = [(10, 1.0); 4];
    assert_eq!(chosen(&[&few[..], &[(11, 1.0)]].concat(), 1024, Room::Whole), [4]);
    assert_eq!(chosen(&[&few[1..], &[(11, 1.0)]].concat(), 1024, Room::Whole), [0; 0]);
    // And none of more than 64 times the measure.
    assert_eq!(chosen(&[(10, 1.0), (11, 1.0)], 16, Room::Whole), [0; 0]);
}

/// Where memory is taken as used, the functions with most paths per activation have wide windows; those that count one
/// at most have few words.
#[test]
fn windows_are_wide_where_most_paths_are_counted() {
    let counts: Vec<f64> = (0..200).map(|i| f64::from(i) / 2.0).collect();
    let words = worth_windows(&counts, 1024, Room::AsUsed);
    assert!(words[..=2].iter().all(|&few| few == 64));
    assert!(words[3..96].iter().all(|&usual| usual == 1024));
    assert!(words[96..192].iter().all(|&wide| wide == 1 << 16));
    assert!(words[192..].iter().all(|&widest| widest == 1 << 18));
    let bounded = worth_windows(&counts, 1 << 20, Room::AsUsed);
    assert_eq!(bounded.iter().max(), Some(&MOST_PATH_ARRAY), "no reader takes more");
    let everywhere = worth_windows(&counts, 1024, Room::Whole);
    assert!(everywhere[..=2].iter().all(|&few| few == 64) && everywhere[3..].iter().all(|&usual| usual == 1024));
}
