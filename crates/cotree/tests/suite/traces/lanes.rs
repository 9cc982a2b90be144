//! `--trace-addresses` of vectors of which masks say which lanes are accessed: each active lane, at the address that
//! follows from the program's own text.

use crate::project::{Project, succeed};

/// An access: whether it writes, how many bytes it is of, where from the beginning of a variable.
type Access = (bool, u64, &'static str, i64);

const fn load(size: u64, of: &'static str, at: i64) -> Access {
    (false, size, of, at)
}

const fn store(size: u64, of: &'static str, at: i64) -> Access {
    (true, size, of, at)
}

/// What lanes 0, 2 and 7 of 4 bytes each, or of words at places 3, 0 and 2, access.
const AVX2: [(&str, &[Access]); 3] = [
    (
        "masked",
        &[
            load(4, "from", 8),
            load(4, "from", 16),
            load(4, "from", 36),
            store(4, "to", 0),
            store(4, "to", 8),
            store(4, "to", 28),
        ],
    ),
    (
        "gathered",
        &[
            load(4, "numbers", 28),
            load(4, "numbers", 16),
            load(4, "numbers", 24),
            load(4, "from", 56),
            load(4, "from", 28),
            load(4, "from", 40),
            load(4, "from", 32),
        ],
    ),
    ("moved", &[store(1, "bytes", 1), store(1, "bytes", 3), store(1, "bytes", 15)]),
];

/// Lanes 0, 2 and 15; places 3, 0 and -2.
const AVX512: [(&str, &[Access]); 2] = [
    (
        "wide_masked",
        &[
            load(4, "from", 4),
            load(4, "from", 12),
            load(4, "from", 64),
            store(4, "to", 16),
            store(4, "to", 24),
            store(4, "to", 76),
            store(12, "to", 32),
            load(12, "from", 12),
            load(4, "from", 76),
            load(4, "from", 64),
            load(4, "from", 56),
            store(4, "to", 76),
            store(4, "to", 64),
            store(4, "to", 56),
        ],
    ),
    ("none_active", &[]),
];

/// Runs what the processor can; gives what the program prints of its variables.
fn run(project: &Project, sets: &str) -> Vec<(String, i64)> {
    let mut run = project.command(project.path("p"));
    let printed = succeed(run.arg(sets).env("COTREE_FILE", "p.cotree"));
    let words: Vec<&str> = printed.split_whitespace().collect();
    let address = |text: &str| i64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address");
    words.chunks(2).map(|pair| (pair[0].to_owned(), address(pair[1]))).collect()
}

fn assert_accesses(project: &Project, variables: &[(String, i64)], function: &str, expected: &[Access], how: &str) {
    let rows = project.ok(&format!("trace p.cotree --by address --json --function ={function}"));
    let row = |row: &str| -> Option<(bool, u64, i64)> {
        let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
        let (address, size) = (row["address"].as_i64()?, row["size"].as_u64()?);
        // Masks and places are read, too.
        let inside = |(name, start): &(String, i64)| {
            let length = if name == "bytes" {
                16
            } else if name == "numbers" {
                128
            } else {
                192
            };
            (*start..start + length).contains(&address)
        };
        variables.iter().any(inside).then(|| (row["event"] == "store", size, address))
    };
    let start = |name: &str| variables.iter().find(|(known, _)| known == name).expect("it is printed").1;
    let expected: Vec<_> = expected.iter().map(|&(writes, size, of, at)| (writes, size, start(of) + at)).collect();
    assert_eq!(rows.lines().filter_map(row).collect::<Vec<_>>(), expected, "{how} {function}");
}

#[test]
fn active_lanes_tell_their_addresses() {
    let project = Project::new(&[("p.c", include_str!("lanes.c"))]);
    let has = [is_x86_feature_detected!("avx2"), is_x86_feature_detected!("avx512f")];
    let sets = ["2", "5"].iter().zip(has).filter(|(_, has)| *has).map(|(set, _)| *set).collect::<String>() + "-";
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile trace --trace-addresses all cc {level} -w -g -o p p.c"));
        let variables = run(&project, &sets);
        let expected = AVX2.iter().filter(|_| has[0]).chain(AVX512.iter().filter(|_| has[1]));
        for (function, expected) in expected {
            assert_accesses(&project, &variables, function, expected, level);
        }
        let summary = project.ok("trace p.cotree");
        let rows = project.ok("trace p.cotree --by address");
        let told = rows.lines().filter(|row| row.contains(" at 0x")).count();
        assert!(summary.contains(&format!("{told} addresses, in ")), "{told}: {summary}");
    }
}

/// What has no address that anybody knows before is left out, and the views say so.
#[test]
fn what_is_left_out_is_told() {
    let project = Project::new(&[("p.c", include_str!("lanes.c"))]);
    let lines: Vec<usize> = ["_fxsave(state)", "__seg_fs"]
        .iter()
        .map(|text| 1 + include_str!("lanes.c").lines().position(|line| line.contains(text)).expect("a line"))
        .collect();
    project.ok("--profile trace --trace-addresses all cc -O1 -w -g -o p p.c");
    run(&project, "s");
    let told = format!(
        "not recorded: where 2 instructions access memory that take no plain addresses, in special (line {}, {})",
        lines[0], lines[1]
    );
    assert!(project.ok("trace p.cotree").lines().any(|line| line == told), "{told}");
    for view in ["--by address", "--format din", "--json"] {
        let output = project.cotree(&format!("trace p.cotree {view}")).output().expect("cotree runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains(&told), "{view}: {said}");
    }
    // A program without such instructions has nothing to tell.
    let plain =
        Project::new(&[("p.c", "int a[9]; int main(void) { for (int i = 0; i < 9; i++) a[i] = i; return 0; }")]);
    plain.ok("--profile trace --trace-addresses all cc -O1 -w -g -o p p.c");
    succeed(plain.command(plain.path("p")).env("COTREE_FILE", "p.cotree"));
    assert!(!plain.ok("trace p.cotree").contains("not recorded"));
}
