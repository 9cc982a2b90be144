//! Frenot & Pereira 2024, *Reducing the overhead of exact profiling by reusing affine variables*: Figures 9 to 13.
//!
//! Their KS counters are those of [`PLAIN`], their SESE counters those of [`AFFINE`].

use super::program::{Program, known, mean, percent, ratio};
use super::sheet::{Column, Line, Part, Sheet};
use crate::bench::results::median;
use crate::bench::variants::{AFFINE, NONE, PLAIN};

/// Why Rust programs are in none of the tables.
const LACKING: &str = "Rust programs are not built with loop variables alone";

/// All figures; `sets` are our sets of small functions, which are the likest to the paper's Jotai programs.
pub fn write(programs: &[Program<'_>], sets: &[Program<'_>], sheet: &mut Sheet) {
    sheet.paper("Frenot & Pereira 2024", "Reducing the overhead of exact profiling by reusing affine variables");
    figure_9(programs, sheet);
    figure_10(programs, sets, sheet);
    figure_11(programs, sheet);
    figure_12(programs, sheet);
    figure_13(programs, sheet);
}

fn bytes(p: &Program<'_>, build: &str) -> Option<f64> {
    p.size(AFFINE)?;
    Some(p.size(build)?.bytes as f64)
}

fn distinct(p: &Program<'_>, build: &str) -> Option<f64> {
    Some(p.size(build)?.distinct? as f64)
}

fn larger(p: &Program<'_>, build: &str) -> Option<f64> {
    ratio(bytes(p, build)?, bytes(p, NONE)?)
}

fn more_distinct(p: &Program<'_>, build: &str) -> Option<f64> {
    ratio(distinct(p, build)?, distinct(p, NONE)?)
}

/// Instructions over the base, of the programs that are built with loop variables.
fn over(p: &Program<'_>, build: &str) -> Option<f64> {
    p.over(AFFINE)?;
    p.over(build)
}

/// Both counters' medians.
fn medians(programs: &[Program<'_>], number: impl Fn(&Program<'_>, &str) -> Option<f64>) -> Option<String> {
    let of = |build: &str| median(known(programs, |p| number(p, build))).map(percent);
    let count = known(programs, |p| number(p, AFFINE)).len();
    Some(format!("{}, {} ({count} programs)", of(PLAIN)?, of(AFFINE)?))
}

fn figure_9(programs: &[Program<'_>], sheet: &mut Sheet) {
    let text =
        |p: &Program<'_>, build: &str| ratio(p.size(AFFINE).and(p.size(build))?.text as f64, p.size(NONE)?.text as f64);
    sheet.part(
        programs,
        Part {
            place: "Figure 9",
            about: "Sizes of executables and of their code over those without counters, and processor time of \
                    spanning trees alone.",
            lines: vec![
                Line {
                    quantity: "size with KS and with SESE counters, medians",
                    theirs: "+15.3 %, +15.8 % (LLVM test suite)",
                    ours: medians(programs, larger),
                    why: "Ours has a runtime of 180 kB and a compressed map of the program in the executable; theirs \
                          has neither.",
                },
                Line {
                    quantity: "time with KS and with SESE counters, medians",
                    theirs: "+1.3 %, about 0 (LLVM test suite)",
                    ours: mean(known(programs, |p| p.time(PLAIN)), percent)
                        .map(|time| format!("{time} in the geometric mean; loop variables alone are not timed")),
                    why: "Theirs is at -O1 on other programs, with a variance of which the paper warns.",
                },
            ],
            columns: vec![
                Column::new("bytes, KS", |p| larger(p, PLAIN).map(percent)),
                Column::new("bytes, SESE", |p| larger(p, AFFINE).map(percent)),
                Column::new("code, KS", move |p| text(p, PLAIN).map(percent)),
                Column::new("code, SESE", move |p| text(p, AFFINE).map(percent)),
                Column::new("time, KS", |p| p.size(AFFINE).and(p.time(PLAIN)).map(percent)),
            ],
            facts: true,
            lacking: LACKING,
            ..Part::default()
        },
    );
}

fn figure_10(programs: &[Program<'_>], sets: &[Program<'_>], sheet: &mut Sheet) {
    let of_set = |name: &str| {
        let set = sets.iter().find(|set| set.name() == name)?;
        Some(format!("{}, {}", percent(set.over(PLAIN)?), percent(set.over(AFFINE)?)))
    };
    sheet.part(
        programs,
        Part {
            place: "Figure 10",
            about: "Different instructions of the program that were executed, and all that were, over those without \
                    counters. The runtime and its work at start and end are among ours.",
            lines: vec![
                Line {
                    quantity: "different instructions with KS and with SESE counters, medians",
                    theirs: "+43.9 %, +51.1 % (Jotai)",
                    ours: medians(programs, more_distinct),
                    why: "The runtime's own 5,000 instructions are most of what kernels execute once; Figure 13's \
                          total is mostly of large programs.",
                },
                Line {
                    quantity: "executed instructions with KS and with SESE counters, medians",
                    theirs: "+18.9 %, +11.4 % (Jotai)",
                    ours: medians(programs, over),
                    why: "Theirs are loops of a few instructions at -O1, ours programs at -O2.",
                },
                Line {
                    quantity: "executed instructions of over a hundred small functions at -O1, in one program",
                    theirs: "+18.9 %, +11.4 % (Jotai)",
                    ours: of_set("small functions"),
                    why: "In these loops a variable costs about as much to read as its counter costs.",
                },
                Line {
                    quantity: "executed instructions of two dozen numeric kernels at -O2, in one program",
                    theirs: "+18.9 %, +11.4 % (Jotai)",
                    ours: of_set("numeric kernels"),
                    why: "A counter keeps a loop from being vectorised; a loop variable in its place does not.",
                },
            ],
            columns: vec![
                Column::new("different, none", |p| distinct(p, NONE).filter(|_| p.size(AFFINE).is_some()).map(whole)),
                Column::new("different, KS", |p| p.size(AFFINE).and(more_distinct(p, PLAIN)).map(percent)),
                Column::new("different, SESE", |p| more_distinct(p, AFFINE).map(percent)),
                Column::new("executed, KS", |p| over(p, PLAIN).map(percent)),
                Column::new("executed, SESE", |p| over(p, AFFINE).map(percent)),
            ],
            builds: &[PLAIN, AFFINE],
            facts: true,
            lacking: LACKING,
            ..Part::default()
        },
    );
}

fn whole(number: f64) -> String {
    format!("{number:.0}")
}

/// Pearson's r of two quantities.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let means = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / count, sum.1 + pair.1 / count));
    let (mut both, mut first, mut second) = (0.0, 0.0, 0.0);
    for (a, b) in pairs.iter().map(|pair| (pair.0 - means.0, pair.1 - means.1)) {
        both += a * b;
        first += a * a;
        second += b * b;
    }
    ratio(both, f64::sqrt(first * second))
}

fn figure_11(programs: &[Program<'_>], sheet: &mut Sheet) {
    let files = || programs.iter().filter_map(|p| p.facts).flat_map(|facts| &facts.files);
    let pairs: Vec<(f64, f64)> = files().map(|file| (file.loops as f64, file.usable as f64)).collect();
    let sums = files().fold([0, 0, 0, 0], |[loops, counters, usable, used], file| {
        [loops + file.loops, counters + file.counters, usable + file.usable, used + file.used]
    });
    let sum = |p: &Program<'_>, number: fn(&super::facts::LoopsOfFile) -> u64| {
        let files = &p.facts?.files;
        (!files.is_empty()).then(|| files.iter().map(number).sum::<u64>().to_string())
    };
    sheet.part(
        programs,
        Part {
            place: "Figure 11",
            about: "Loops, counters on the chords of spanning trees, variables that could take the place of one, and \
                    counters that are replaced, of all code, run or not.",
            lines: vec![
                Line {
                    quantity: "r of loops and possible SESE counters by source file",
                    theirs: "0.98 (525 files of the LLVM test suite)",
                    ours: correlation(&pairs).map(|r| format!("{r:.2} ({} files)", pairs.len())),
                    why: "Ours are those alone that are proven exact: with bounds, in the right type, in loops with \
                          one way through.",
                },
                Line {
                    quantity: "possible SESE counters for each loop",
                    theirs: "about 1",
                    ours: ratio(sums[2] as f64, sums[0] as f64).map(|each| format!("{each:.2}")),
                    why: "Loops that chase pointers or read until some value have none that can be proven.",
                },
            ],
            columns: vec![
                Column::new("loops", move |p| sum(p, |file| file.loops)),
                Column::new("KS counters", move |p| sum(p, |file| file.counters)),
                Column::new("possible SESE", move |p| sum(p, |file| file.usable)),
                Column::new("used SESE", move |p| sum(p, |file| file.used)),
            ],
            facts: true,
            lacking: "their bitcode is not at hand when cargo has built them",
            ..Part::default()
        },
    );
}

fn figure_12(programs: &[Program<'_>], sheet: &mut Sheet) {
    let of = |build: &'static str| {
        let chase = programs.iter().find(|p| p.name() == "chase")?;
        chase.over(build).map(percent)
    };
    sheet.part(
        programs,
        Part {
            place: "Figure 12, Ptrdist/ks",
            about: "Ptrdist is not among our programs. `chase` is like it: it follows pointers in inner loops that \
                    have no affine variable. Figure 10 has its row.",
            lines: vec![Line {
                quantity: "a program that follows pointers: KS and SESE counters",
                theirs: "+474 %, +373 % in time (1.13 s, 6.49 s, 5.34 s)",
                ours: of(PLAIN).zip(of(AFFINE)).map(|(ks, sese)| format!("{ks}, {sese} by instructions (chase)")),
                why: "As there, loop variables hardly help. The paper does not say what makes it six times slower; \
                      the instructions of counters alone do not.",
            }],
            ..Part::default()
        },
    );
}

fn figure_13(programs: &[Program<'_>], sheet: &mut Sheet) {
    let total = |number: &dyn Fn(&Program<'_>, &str) -> Option<f64>| {
        let sum = |build: &str| known(programs, |p| number(p, AFFINE).and(number(p, build))).iter().sum::<f64>();
        let none = sum(NONE);
        Some(format!("{}, {}", percent(ratio(sum(PLAIN), none)?), percent(ratio(sum(AFFINE), none)?)))
    };
    let executed = |p: &Program<'_>, build: &str| p.instructions(AFFINE).and(p.instructions(build));
    sheet.part(
        programs,
        Part {
            place: "Figure 13",
            about: "The numbers behind the figures before, without counters, with KS and with SESE counters.",
            lines: vec![
                Line {
                    quantity: "different instructions in total, KS and SESE",
                    theirs: "+38.9 %, +45.9 % (48,217; 66,960; 70,331)",
                    ours: total(&distinct),
                    why: "See Figure 10.",
                },
                Line {
                    quantity: "executed instructions in total, KS and SESE",
                    theirs: "+12.8 %, +3.7 % (2,965 M; 3,345 M; 3,075 M)",
                    ours: total(&executed),
                    why: "See Figure 10. A total is mostly of the programs that run longest.",
                },
                Line {
                    quantity: "bytes in total, KS and SESE",
                    theirs: "+24.8 %, +24.3 % (4,595 K; 5,736 K; 5,713 K)",
                    ours: total(&bytes),
                    why: "See Figure 9.",
                },
                Line {
                    quantity: "time in total, KS and SESE",
                    theirs: "+26.1 %, +13.9 % (648 s, 817 s, 739 s)",
                    ours: mean(known(programs, |p| p.time(PLAIN)), percent)
                        .map(|time| format!("{time} with KS in the geometric mean; SESE alone is not timed")),
                    why: "Ptrdist/ks and the like are a large part of theirs.",
                },
            ],
            columns: vec![
                Column::new("different", |p| distinct(p, AFFINE).and(distinct(p, NONE)).map(whole)),
                Column::new("KS", |p| distinct(p, AFFINE).and(distinct(p, PLAIN)).map(whole)),
                Column::new("SESE", |p| distinct(p, AFFINE).map(whole)),
                Column::new("kB", |p| bytes(p, NONE).map(|bytes| whole(bytes / 1e3))),
                Column::new("KS, kB", |p| bytes(p, PLAIN).map(|bytes| whole(bytes / 1e3))),
                Column::new("SESE, kB", |p| bytes(p, AFFINE).map(|bytes| whole(bytes / 1e3))),
                Column::new("executed, M", move |p| executed(p, NONE).map(|n| format!("{:.2}", n / 1e6))),
                Column::new("KS, M", move |p| executed(p, PLAIN).map(|n| format!("{:.2}", n / 1e6))),
                Column::new("SESE, M", move |p| executed(p, AFFINE).map(|n| format!("{:.2}", n / 1e6))),
            ],
            builds: &[NONE, PLAIN, AFFINE],
            facts: true,
            lacking: LACKING,
            ..Part::default()
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_together_correlates() {
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]), Some(1.0));
        assert_eq!(correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        assert_eq!(correlation(&[(1.0, 2.0)]), None);
    }
}
